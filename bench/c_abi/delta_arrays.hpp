#pragma once

#include <berth.h>

#include <cstdint>
#include <string>
#include <vector>

#include "berth/delta.hpp"

namespace berth::bench {

/// Concatenated texts in the layout of berth_texts.
class TextColumn {
 public:
  void add(const std::string& text) {
    bytes_ += text;
    begin_.push_back(bytes_.size());
  }
  berth_texts view() const { return {nullptr, bytes_.data(), begin_.data()}; }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> begin_{0};
};

/// A batch of deltas as the arrays that a caller of the C ABI passes. Putting a running job counts as two changes: put
/// and start.
class DeltaArrays {
 public:
  explicit DeltaArrays(const std::vector<Delta>& batch);
  /// Valid as long as this object lives and is not moved.
  const berth_deltas* view();
  std::size_t size() const { return kind_.size(); }

 private:
  void add(std::int32_t kind, const std::string& id, const std::string& text);
  void put(const Job& job);
  void start(const std::string& id, const Allocation& allocation);

  std::vector<std::int32_t> kind_, value_;
  std::vector<std::int64_t> time_;
  std::vector<std::uint64_t> row_, entry_begin_{0};
  TextColumn id_, text_;
  TextColumn job_id_, user_, queue_, virtual_cluster_, shape_type_, shape_id_;
  std::vector<std::int64_t> submit_, estimate_, cpu_, memory_;
  std::vector<std::int32_t> priority_, shape_gpus_;
  std::vector<std::uint64_t> shape_begin_{0};
  TextColumn node_;
  std::vector<std::uint64_t> gpus_;
  berth_entries entries_{};
  berth_jobs jobs_{};
  berth_deltas deltas_{};
};

}  // namespace berth::bench
