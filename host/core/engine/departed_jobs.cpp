#include "host/core/engine/departed_jobs.hpp"

#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

std::size_t rows_of(const PolicyState& kept) {
  std::size_t rows = 0;
  for (const auto& column : kept.columns) rows += column.second.size();
  return rows;
}

}  // namespace

void DepartedJobs::follow(const StateImpl& s, const PolicyState& kept, std::uint64_t policy) {
  left_.clear();
  const bool as_left = kept_ == &kept && rows_ == rows_of(kept) && policy_ == policy;
  policy_ = policy;
  known_ = false;
  if (kept.columns.empty()) {  // no job has a row: their ids need not be known
    ids_.clear();
    cursor_ = {};
    return;
  }
  jobs_.clear();
  nodes_.clear();
  const bool follows = s.log().read(cursor_, jobs_, nodes_);
  ids_.resize(s.jobs.size());
  const auto look_at = [&](std::int32_t job) {
    std::string& id = ids_[to_index(job)];
    const std::string* const now = s.job.id[to_index(job)];
    if (now != nullptr && id == *now) return;
    std::string before = std::exchange(id, now == nullptr ? std::string() : *now);
    if (!before.empty() && s.index_of_job.count(before) == 0) left_.push_back(std::move(before));
  };
  if (follows) {
    for (const std::int32_t job : jobs_) look_at(job);
  } else {
    for (std::size_t job = 0; job < ids_.size(); ++job) look_at(static_cast<std::int32_t>(job));
  }
  known_ = as_left && follows;
}

void DepartedJobs::settle(const PolicyState& kept) {
  kept_ = &kept;
  rows_ = rows_of(kept);
}

}  // namespace berth::core
