#include "host/policy/deadlines/lease_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/end_of.hpp"
#include "host/core/base/wide.hpp"

namespace berth::policy {
bool latest_leases(const CapacityLine& line, TimeUs lease, TimeUs from, const LeaseNeed& need, std::vector<LeaseRun>& out) {
  out.clear();
  if (need.gpus > line.gpus() || need.deadline == kNever) return false;
  const TimeUs first = lease_ceil(from, lease);
  TimeUs left = need.work;
  line.each_free(need.gpus, lease_floor(need.deadline, lease), [&](TimeUs begin, TimeUs end) {
    begin = std::max(lease_ceil(begin, lease), first);
    end = lease_floor(end, lease);
    if (end <= first) return false;
    const TimeUs gain = end - begin - need.cost;
    if (end <= begin || gain <= 0 || (need.whole && gain < left)) return true;
    if (gain >= left) begin = end - lease_ceil(left + need.cost, lease);
    out.push_back({begin, end});
    left -= end - begin - need.cost;
    return left > 0 && out.size() < LeaseTable::kMostRuns;
  });
  std::reverse(out.begin(), out.end());
  if (left > 0) out.clear();
  return left <= 0;
}

TimeUs earliest_lease_end(const CapacityLine& line, TimeUs lease, TimeUs from, const LeaseNeed& need) {
  if (need.gpus > line.gpus()) return kNever;
  TimeUs left = need.work, at = lease_ceil(from, lease);
  std::size_t runs = 0;
  while (runs < LeaseTable::kMostRuns) {
    const TimeUs begin = line.earliest_start(need.gpus, lease, at);
    if (begin == kNever) break;
    const TimeUs end = line.free_until(need.gpus, begin), aligned = lease_ceil(begin, lease);
    const TimeUs gain = end == kNever ? kNever : lease_floor(end, lease) - aligned - need.cost;
    if (gain >= left) return aligned + lease_ceil(left + need.cost, lease);
    if (!need.whole && gain > 0) {
      left -= gain;
      ++runs;
    }
    at = end;
  }
  return kNever;
}

void LeaseTable::grow(std::size_t runs) {
  while (columns_.size() < runs) {
    const std::size_t at = columns_.size();
    columns_.push_back({JobColumn(fmt::format("lease_from_us_{}", at)), JobColumn(fmt::format("lease_to_us_{}", at))});
    if (state_ == nullptr) continue;
    columns_.back().from.load(*state_);
    columns_.back().to.load(*state_);
  }
}

void LeaseTable::load(const PolicyState& state) {
  state_ = &state;
  for (Columns& one : columns_) {
    one.from.load(state);
    one.to.load(state);
  }
  used_ = 0;
  const auto kept = [&](std::size_t at) { return state.columns.find(columns_[at].from.name()) != state.columns.end(); };
  while (used_ < kMostRuns) {
    grow(used_ + 1);
    if (!kept(used_)) break;
    ++used_;
  }
}

void LeaseTable::store(PolicyState& state) const {
  for (std::size_t at = 0; at < used_; ++at) {
    columns_[at].from.store(state);
    columns_[at].to.store(state);
  }
}

void LeaseTable::retain(PolicyState& state, const core::LiveJobs& live) const {
  for (std::size_t at = 0; at < used_; ++at) {
    columns_[at].from.retain(state, live);
    columns_[at].to.retain(state, live);
  }
}

void LeaseTable::read(const std::string& id, std::vector<LeaseRun>& out) const {
  out.clear();
  for (std::size_t at = 0; at < used_; ++at) {
    const TimeUs from = columns_[at].from.get(id, -1), to = columns_[at].to.get(id, -1);
    // Runs of leases ascend. What does not comes from the caller.
    if (from < 0 || to <= from || to > 2 * kMaxTimeUs || (!out.empty() && from < out.back().to)) return;
    out.push_back({from, to});
  }
}

void LeaseTable::set(const std::string& id, const std::vector<LeaseRun>& runs) {
  grow(runs.size());
  used_ = std::max(used_, runs.size());
  for (std::size_t at = 0; at < used_; ++at) {
    if (at >= runs.size() && columns_[at].from.get(id, -1) < 0) return;
    columns_[at].from.set(id, at < runs.size() ? runs[at].from : -1);
    columns_[at].to.set(id, at < runs.size() ? runs[at].to : -1);
  }
}

}  // namespace berth::policy
