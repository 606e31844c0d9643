#include "host/cpu/place.hpp"

#include <cstdint>
#include <memory>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/place.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {

void place(const kernel::ProblemView& problem, const core::PlaceTask& task, const kernel::PlaceResult& result,
           std::vector<std::byte>& memory) {
  const std::size_t bytes = kernel::place_workspace_bytes(problem, task.request) + 16;
  if (memory.size() < bytes) memory.resize(bytes);
  void* aligned = memory.data();
  std::size_t room = memory.size();
  std::align(16, bytes - 16, aligned, room);
  const kernel::PlaceWorkspace ws = kernel::carve_workspace(aligned, problem, task.request);
  kernel::SerialGroup group;
  const auto n_taken = static_cast<std::int32_t>(task.taken.size());
  if (task.stop_token != nullptr) {
    kernel::place(group, problem, task.request, task.taken.data(), n_taken, ws, result, *task.stop_token);
  } else {
    kernel::place(group, problem, task.request, task.taken.data(), n_taken, ws, result);
  }
}

void place_batch(const kernel::ProblemView& problem, std::span<const core::PlaceTask> tasks, std::span<const kernel::PlaceResult> results,
                 int threads) {
  for_each_n(threads, static_cast<std::int64_t>(tasks.size()), 1, [&](std::int64_t i) {
    thread_local std::vector<std::byte> memory;
    place(problem, tasks[to_index(i)], results[to_index(i)], memory);
  });
}

}  // namespace berth::cpu
