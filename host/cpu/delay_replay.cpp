#include "host/cpu/delay_replay.hpp"

#include <cstddef>
#include <vector>

#include "berth/kernel/delay_replay/delay_replay.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {

void delay_replay(const kernel::DelayReplayView& problem, std::span<const core::DelayReplayTask> tasks,
                  std::span<const kernel::DelayReplayResult> results, int threads) {
  const std::int64_t gpus = kernel::gpus_of(problem);
  for_each_n(threads, static_cast<std::int64_t>(tasks.size()), 1, [&](std::int64_t i) {
    thread_local std::vector<std::max_align_t> memory;  // kept between calls
    const core::DelayReplayTask& task = tasks[static_cast<std::size_t>(i)];
    kernel::DelayReplayWorkspace ws{};
    const std::size_t words = kernel::carve_delay_workspace(nullptr, problem, gpus, ws) / sizeof(std::max_align_t) + 1;
    if (memory.size() < words) memory.resize(words);
    kernel::carve_delay_workspace(memory.data(), problem, gpus, ws);
    kernel::SerialGroup group;
    const kernel::DelayReplayResult& result = results[static_cast<std::size_t>(i)];
    if (task.stop_token != nullptr) {
      kernel::delay_replay(group, problem, task.request, ws, result, *task.stop_token);
    } else {
      kernel::delay_replay(group, problem, task.request, ws, result);
    }
  });
}

}  // namespace berth::cpu
