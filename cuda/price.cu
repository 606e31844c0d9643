#include "cuda/price.cuh"

#include <algorithm>
#include <cstring>

#include "berth/kernel/price/price.hpp"
#include "cuda/chunks.hpp"
#include "cuda/launch.cuh"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

constexpr std::size_t kAlign = 256;

std::size_t round_up(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// One warp per choice.
__global__ void __launch_bounds__(WarpGroup::kThreads) price_kernel(const PriceArguments* arguments) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const PriceArguments& one = arguments[blockIdx.x];
  kernel::price(group, one.problem, one.request, one.workspace, one.result);
}

/// Allocates the result columns of a task; returns the bytes in use after it.
std::size_t carve_result(kernel::BumpAllocator& c, const cuda_abi::AbiPriceTask& task, kernel::PriceResult& result) {
  kernel::for_each_column(*task.problem, kernel::TakeColumns{c}, result);
  return c.used = round_up(c.used);
}

}  // namespace

Pricer::Sizes& Pricer::Sizes::operator+=(const Sizes& more) {
  tasks += more.tasks;
  results += more.results;
  workspace += more.workspace;
  inputs += more.inputs;
  return *this;
}

std::size_t Pricer::Sizes::bytes() const { return workspace + inputs + results + tasks * sizeof(PriceArguments); }

std::size_t Pricer::Sizes::pinned() const { return inputs + results + tasks * sizeof(PriceArguments); }

Pricer::Sizes Pricer::size_of(const cuda_abi::AbiPriceTask& task) {
  const kernel::PriceView& c = *task.problem;
  kernel::PriceWorkspace workspace{};
  kernel::PriceResult result{};
  kernel::BumpAllocator counter{nullptr};
  Sizes sizes{1, carve_result(counter, task, result), round_up(kernel::carve_price_workspace(nullptr, c.n_jobs, c.n_types, workspace)), 0};
  const auto count = [&](std::int64_t n, const auto* column) { sizes.inputs += round_up(static_cast<std::size_t>(n) * sizeof(*column)); };
  kernel::for_each_column(c, count, c);
  kernel::for_each_column(c, count, *task.request);
  return sizes;
}

void Pricer::run(std::span<const cuda_abi::AbiPriceTask> tasks, const Tuning& tuning, const Stream& stream) {
  const std::size_t own = workspace_.capacity() + results_.capacity() + arguments_.capacity() * sizeof(PriceArguments) + inputs_.bytes();
  in_chunks(
      tasks, own, kMostPinned, tuning, [](const cuda_abi::AbiPriceTask& task) { return size_of(task); },
      [&](std::span<const cuda_abi::AbiPriceTask> some, const Sizes& sizes) { run_chunk(some, sizes, stream); });
}

void Pricer::run_chunk(std::span<const cuda_abi::AbiPriceTask> tasks, const Sizes& sizes, const Stream& stream) {
  upload(tasks, sizes, stream);
  launch(price_kernel, static_cast<unsigned>(tasks.size()), WarpGroup::kThreads, 0, stream.get())(arguments_.data());
  check_launch(stream.get(), "launch price_kernel");
  download(tasks, sizes, stream);
}

void Pricer::upload(std::span<const cuda_abi::AbiPriceTask> tasks, const Sizes& sizes, const Stream& stream) {
  workspace_.reserve(sizes.workspace, "reserve the workspace of choices");
  results_.reserve(sizes.results, "reserve the results of choices");
  arguments_.reserve(sizes.tasks, "reserve choices");
  host_arguments_.reserve(sizes.tasks, "reserve choices");
  inputs_.clear();
  places_.clear();
  const auto add = inputs_.adding(places_);
  for (const cuda_abi::AbiPriceTask& task : tasks) {
    kernel::for_each_column(*task.problem, add, *task.problem);
    kernel::for_each_column(*task.problem, add, *task.request);
  }
  inputs_.upload(stream.get());

  kernel::BumpAllocator results{results_.data()};
  std::byte* workspace = workspace_.data();
  const std::size_t* place = places_.data();
  const auto put = inputs_.placing(place);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const cuda_abi::AbiPriceTask& task = tasks[i];
    PriceArguments& one = host_arguments_.data()[i];
    one.problem = *task.problem;
    one.request = *task.request;
    kernel::for_each_column(*task.problem, put, one.problem);
    kernel::for_each_column(*task.problem, put, one.request);
    carve_result(results, task, one.result);
    workspace += round_up(kernel::carve_price_workspace(workspace, task.problem->n_jobs, task.problem->n_types, one.workspace));
  }
  check(cudaMemcpyAsync(arguments_.data(), host_arguments_.data(), tasks.size() * sizeof(PriceArguments), cudaMemcpyHostToDevice,
                        stream.get()),
        "upload choices");
}

void Pricer::download(std::span<const cuda_abi::AbiPriceTask> tasks, const Sizes& sizes, const Stream& stream) {
  host_results_.reserve(sizes.results, "reserve host memory for results");
  check(cudaMemcpyAsync(host_results_.data(), results_.data(), sizes.results, cudaMemcpyDeviceToHost, stream.get()), "download results");
  stream.wait("choose shapes");
  kernel::BumpAllocator results{host_results_.data()};
  const auto copy = [](std::int64_t n, const auto* from, auto* to) {
    if (n > 0) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(*to));
  };
  for (const cuda_abi::AbiPriceTask& task : tasks) {
    kernel::PriceResult here{};
    carve_result(results, task, here);
    kernel::for_each_column(*task.problem, copy, here, task.result);
  }
}

}  // namespace berth::cuda
