#pragma once

#include <cstdint>

#include "tests/support/fibers/fiber_block.hpp"

/// Finds accesses of two threads of a block, one of them a write, with no barrier between: whatever order the threads ran
/// in, and whether or not the value changed.
///
/// Promise: the block ends before the second access happens, so what follows from a missing barrier never happens. The
/// compiler calls it at every load and store of instrumented files, as for ThreadSanitizer, whose runtime is not linked.
namespace berth::test {

/// From now on accesses are those of threads of that block; null: they are not looked at.
void check_races_of(FiberBlock* block);
/// Accesses looked at so far.
std::int64_t accesses_checked();

}  // namespace berth::test
