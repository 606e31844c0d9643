#include "tests/support/fibers/fiber_group.hpp"

#include <algorithm>

namespace berth::test {
bool SyncSites::reach(const char* file, int line) {
  for (const Row& row : rows_) {
    if (row.line == line && row.file == file) return row.skipped;
  }
  rows_.push_back({file, line, std::find(skipped_.begin(), skipped_.end(), Site(file, line)) != skipped_.end()});
  return rows_.back().skipped;
}

std::vector<SyncSites::Site> SyncSites::reached() const {
  std::vector<Site> sites;
  for (const Row& row : rows_) sites.emplace_back(row.file, row.line);
  return sites;
}

std::int32_t FiberGroup::rank() const { return block_->rank(); }
std::int32_t FiberGroup::size() const { return block_->size(); }

void FiberGroup::sync(const char* file, int line) {
  if (!sites_->reach(file, line)) block_->barrier(file, line);
}

kernel::Key FiberGroup::min(kernel::Key v) {
  kernel::Key* const half = exchange_->keys_.data() + (turn_ == 0 ? 0 : size());
  turn_ ^= 1;
  half[rank()] = v;
  block_->barrier("min");
  return *std::min_element(half, half + size());
}

/// Writes the value of this thread, and returns those of all.
const std::int64_t* FiberGroup::share(std::int64_t v, const char* at) {
  std::int64_t* const half = exchange_->values_.data() + (turn_ == 0 ? 0 : size());
  turn_ ^= 1;
  half[rank()] = v;
  block_->barrier(at);
  return half;
}

std::uint32_t FiberGroup::min(std::uint32_t v) {
  const std::int64_t* const values = share(v, "min");
  return static_cast<std::uint32_t>(*std::min_element(values, values + size()));
}

std::int64_t FiberGroup::sum(std::int64_t v) {
  std::int64_t total = 0;
  const std::int64_t* const values = share(v, "sum");
  for (std::int32_t i = 0; i < size(); ++i) total += values[i];
  return total;
}

std::int64_t FiberGroup::scan(std::int64_t v, std::int64_t& total) {
  std::int64_t before = 0;
  std::int64_t all = 0;
  const std::int64_t* const values = share(v, "scan");
  for (std::int32_t i = 0; i < size(); ++i) {
    if (i == rank()) before = all;
    all += values[i];
  }
  total = all;
  return before;
}

std::int64_t FiberGroup::scan_max(std::int64_t v, std::int64_t& greatest) {
  std::int64_t before = INT64_MIN;
  std::int64_t all = INT64_MIN;
  const std::int64_t* const values = share(v, "scan_max");
  for (std::int32_t i = 0; i < size(); ++i) {
    if (i == rank()) before = all;
    all = std::max(all, values[i]);
  }
  greatest = all;
  return before;
}

bool FiberGroup::any(bool v) { return block_->barrier_or(v, "any"); }

}  // namespace berth::test
