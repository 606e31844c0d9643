#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/profile.hpp"

namespace berth::core {

constexpr std::int64_t kFullRate = 1'000'000;  ///< all of a rate, ppm

/// What jobs on shares of one GPU cost each other, by `Profile::colocation` (docs/profiles.md).
///
/// Jobs with the same model and the same table are of one kind. Kinds are numbered in the order in which they come. A kind stays
/// known for as long as the table lives.
class Colocation {
 public:
  /// The kind of a job. O(kinds), and O(kinds x entries of the table) for a new one.
  std::int32_t kind_of(const Profile& profile);
  /// Fraction of its rate that a job of kind `a` keeps next to one of kind `b`, ppm; kNotKnown: its table does not say.
  std::int64_t kept(std::int32_t a, std::int32_t b) const { return kept_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]; }

  std::size_t kinds() const { return kinds_.size(); }

  static constexpr std::int64_t kNotKnown = -1;

 private:
  struct Kind {
    std::string model;
    std::vector<std::pair<std::string, std::int64_t>> table;
  };
  static std::int64_t stated(const Kind& a, const Kind& b);

  std::vector<Kind> kinds_;
  std::vector<std::vector<std::int64_t>> kept_;  // [kinds][kinds]
};

/// The fraction of its rate that a job keeps on a GPU.
struct KeptFraction {
  std::int64_t ppm = kFullRate;  ///< jobs whose cost is not known cost nothing
  bool known = true;             ///< the job's table has all jobs on the GPU
  bool operator==(const KeptFraction&) const = default;
};

/// Of a job of kind `own` next to jobs of these kinds on one GPU: the product of what it keeps next to each, the smallest first,
/// rounded down each time. So the order of the kinds does not matter. O(n log n) for n kinds.
KeptFraction kept_on_gpu(const Colocation& colocation, std::int32_t own, std::span<const std::int32_t> others);

/// Of a job on several GPUs: its slowest member sets the pace.
inline KeptFraction slower(const KeptFraction& a, const KeptFraction& b) { return {a.ppm < b.ppm ? a.ppm : b.ppm, a.known && b.known}; }

/// A rate at a fraction of it, rounded down.
std::int64_t slowed_rate(std::int64_t rate, std::int64_t kept_ppm);

}  // namespace berth::core
