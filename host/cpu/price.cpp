#include "host/cpu/price.hpp"

#include <cstddef>
#include <vector>

#include "berth/kernel/price/price.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {

void choose_one(const core::PriceTask& task, const kernel::PriceResult& result) {
  thread_local std::vector<std::max_align_t> memory;  // kept between calls
  kernel::PriceWorkspace ws{};
  const std::size_t bytes = kernel::carve_price_workspace(nullptr, task.problem.n_jobs, task.problem.n_types, ws);
  const std::size_t words = bytes / sizeof(std::max_align_t) + 1;
  if (memory.size() < words) memory.resize(words);
  kernel::carve_price_workspace(memory.data(), task.problem.n_jobs, task.problem.n_types, ws);
  kernel::SerialGroup group;
  if (task.stop_token != nullptr) {
    kernel::price(group, task.problem, task.request, ws, result, *task.stop_token);
  } else {
    kernel::price(group, task.problem, task.request, ws, result);
  }
}

}  // namespace

void price(std::span<const core::PriceTask> tasks, std::span<const kernel::PriceResult> results, int threads) {
  for_each_n(threads, static_cast<std::int64_t>(tasks.size()), 1,
             [&](std::int64_t i) { choose_one(tasks[static_cast<std::size_t>(i)], results[static_cast<std::size_t>(i)]); });
}

}  // namespace berth::cpu
