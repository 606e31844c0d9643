#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/core/policy_api/policy.hpp"

namespace berth::policy {

/// One column of a PolicyState, read in place. Changes of the current decision are kept separately.
/// So a decision costs as much as it changes, not as much as is stored.
class JobColumn {
 public:
  explicit JobColumn(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  void load(const PolicyState& state) {
    changes_.clear();
    from_ = &state;
    const auto found = state.columns.find(name_);
    kept_ = found == state.columns.end() ? nullptr : &found->second;
  }

  std::int64_t get(const std::string& id, std::int64_t otherwise) const {
    if (!changes_.empty()) {
      const auto changed = changes_.find(id);
      if (changed != changes_.end()) return changed->second;
    }
    if (kept_ == nullptr) return otherwise;
    const auto kept = kept_->find(id);
    return kept == kept_->end() ? otherwise : kept->second;
  }

  void set(const std::string& id, std::int64_t value) { changes_[id] = value; }

  void store(PolicyState& state) const {
    auto& column = state.columns[name_];
    if (&state != from_ && kept_ != nullptr) column = *kept_;
    for (const auto& change : changes_) column[change.first] = change.second;
  }

  /// Drops the rows of jobs that left.
  void retain(PolicyState& state, const core::LiveJobs& live) const {
    const auto found = state.columns.find(name_);
    if (found == state.columns.end()) return;
    if (const std::vector<std::string>* const left = live.left(); left != nullptr) {
      for (const std::string& id : *left) found->second.erase(id);
      return;
    }
    for (auto row = found->second.begin(); row != found->second.end();) {
      row = live.has(row->first) ? std::next(row) : found->second.erase(row);
    }
  }

 private:
  std::string name_;
  const PolicyState* from_ = nullptr;
  const std::map<std::string, std::int64_t>* kept_ = nullptr;
  std::unordered_map<std::string, std::int64_t> changes_;
};

}  // namespace berth::policy
