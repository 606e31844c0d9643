#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/kernel/base/group.hpp"
#include "tests/support/fibers/fiber_block.hpp"

/// A thread's view of a block of fibers, with the interface of kernel::SerialGroup: bodies run as on a GPU, in a chosen order.
///
/// Promise: `sync` of one call site can be skipped, chosen at run time, as if it were not written. Nothing here is
/// instrumented, so that tests/barriers sees the accesses of bodies and no others.
namespace berth::test {

/// The call sites of `sync`: how often each was reached, and which one is skipped.
class SyncSites {
 public:
  using Site = std::pair<std::string, int>;  // file and line, as __builtin_FILE and __builtin_LINE say

  /// From here on these are skipped.
  void skip(std::vector<Site> sites) { skipped_ = std::move(sites); }
  /// True when it is to be skipped.
  bool reach(const char* file, int line);
  std::vector<Site> reached() const;

 private:
  struct Row {
    const char* file;
    int line;
    bool skipped;
  };
  std::vector<Row> rows_;
  std::vector<Site> skipped_;
};

/// What the threads of a block exchange in collectives.
class FiberExchange {
 public:
  explicit FiberExchange(std::int32_t size) : keys_(2 * static_cast<std::size_t>(size)), values_(2 * static_cast<std::size_t>(size)) {}

 private:
  friend class FiberGroup;
  std::vector<kernel::Key> keys_;
  std::vector<std::int64_t> values_;
};

class FiberGroup {
 public:
  FiberGroup(FiberBlock& block, FiberExchange& exchange, SyncSites& sites) : block_(&block), exchange_(&exchange), sites_(&sites) {}

  std::int32_t rank() const;
  std::int32_t size() const;
  void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE());
  kernel::Key min(kernel::Key v);
  std::uint32_t min(std::uint32_t v);
  std::int64_t sum(std::int64_t v);
  std::int64_t scan(std::int64_t v, std::int64_t& total);
  std::int64_t scan_max(std::int64_t v, std::int64_t& greatest);
  bool any(bool v);

 private:
  const std::int64_t* share(std::int64_t v, const char* at);

  FiberBlock* block_;
  FiberExchange* exchange_;
  SyncSites* sites_;
  int turn_ = 0;
};

}  // namespace berth::test
