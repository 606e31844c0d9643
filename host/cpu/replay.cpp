#include "host/cpu/replay.hpp"

#include <cstddef>
#include <vector>

#include "berth/kernel/replay/replay.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {

void replay_one(const kernel::ReplayView& problem, const core::ReplayTask& task, const kernel::ReplayResult& result) {
  thread_local std::vector<std::max_align_t> memory;  // kept between calls
  kernel::ReplayWorkspace ws{};
  const std::int64_t gpus = kernel::gpus_of(problem, task.request);
  const bool displaces = task.request.kind != kernel::ReplayKey::kFixed;
  const std::size_t words = kernel::carve_replay_workspace(nullptr, problem, gpus, displaces, ws) / sizeof(std::max_align_t) + 1;
  if (memory.size() < words) memory.resize(words);
  kernel::carve_replay_workspace(memory.data(), problem, gpus, displaces, ws);
  kernel::SerialGroup group;
  if (task.stop_token != nullptr) {
    kernel::replay(group, problem, task.request, ws, result, *task.stop_token);
  } else {
    kernel::replay(group, problem, task.request, ws, result);
  }
}

}  // namespace

void replay(const kernel::ReplayView& problem, std::span<const core::ReplayTask> tasks, std::span<const kernel::ReplayResult> results,
            int threads) {
  for_each_n(threads, static_cast<std::int64_t>(tasks.size()), 1,
             [&](std::int64_t i) { replay_one(problem, tasks[static_cast<std::size_t>(i)], results[static_cast<std::size_t>(i)]); });
}

}  // namespace berth::cpu
