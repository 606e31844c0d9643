#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/fibers/fiber_group.hpp"

namespace berth::test {

/// One group body on one problem, with its memory, as a block runs it.
struct BarrierCase {
  std::string name;
  std::function<void(FiberGroup&)> body;  // of each thread; it may run again
};

/// Cases of every group body: from no jobs to more than threads, ties, gangs, displaced jobs, reservations.
const std::vector<BarrierCase>& barrier_cases();

}  // namespace berth::test
