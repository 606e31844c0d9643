#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

/// Loads and stores of instrumented code, by kind of memory.
namespace berth::bench {

inline constexpr std::uintptr_t kSector = 32;  // smallest fetch of a GPU's L2 cache, in bytes

struct Traffic {
  std::int64_t loads = 0, stores = 0;          // of threads
  std::int64_t loaded = 0, stored = 0;         // bytes of these
  std::unordered_set<std::uintptr_t> in, out;  // sectors that were read, and written
  Traffic& operator+=(const Traffic& more);
};

/// kAddresses: addresses of columns. On a GPU those of the problem are constants of the launch, those of an individual
/// are in shared memory.
enum Memory { kOwn, kParent, kWorkspace, kAddresses, kProblem, kMemories };

/// Counts of one block.
struct Counts {
  std::int64_t barriers = 0;
  std::int64_t exchanged = 0;  // bytes through shared memory by min, sum and scan
  Traffic of[kMemories];
  std::int64_t alone = 0;         // loads of thread 0
  std::int64_t alone_memory = 0;  // of these, all but addresses
  Counts& operator+=(const Counts& more);
};

struct Range {
  const void* first = nullptr;
  std::size_t bytes = 0;
};

struct Ranges {
  Range own{}, parent{}, workspace{};
  std::vector<Range> addresses;
};

/// Where later accesses are counted; null: nowhere. An address in no range belongs to the problem; stacks of threads
/// are not counted.
void count_into(Counts* counts, const Ranges& ranges);
Counts* counting();

}  // namespace berth::bench
