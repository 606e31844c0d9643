#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "host/backend/backend.hpp"

namespace berth::cpu {

/// One scheduling pass on one thread. @param memory  workspace, kept between calls
void place(const kernel::ProblemView& problem, const core::PlaceTask& task, const kernel::PlaceResult& result,
           std::vector<std::byte>& memory);

/// Independent scheduling passes, each on one thread. The number of threads does not change the answers.
void place_batch(const kernel::ProblemView& problem, std::span<const core::PlaceTask> tasks, std::span<const kernel::PlaceResult> results,
                 int threads);

}  // namespace berth::cpu
