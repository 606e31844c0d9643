#include <algorithm>
#include <cstring>

#include "cuda/block_group.cuh"
#include "cuda/chunks.hpp"
#include "cuda/for_each.cuh"
#include "cuda/place.cuh"

namespace berth::cuda {
namespace {

constexpr std::size_t kAlign = 256;

std::size_t round_up(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

constexpr int kMostThreads = 512;  // limits registers; every block size up to it runs the same code

/// One block per scheduling pass. Without the second bound ptxas takes 64 registers in place of 128, and spills more.
__global__ void __launch_bounds__(kMostThreads, 1)
    place_kernel(const __grid_constant__ kernel::ProblemView problem, const PlaceArguments* arguments) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const PlaceArguments one = arguments[blockIdx.x];
  kernel::place(group, problem, one.request, one.taken, one.n_taken, one.workspace, one.result);
}

/// Packs the entries of all scheduling passes without gaps, one block per pass.
__global__ void __launch_bounds__(kForEachThreads)
    pack_entries_kernel(const PlaceArguments* arguments, const std::int64_t* starts, kernel::PlacedRow* packed) {
  const std::int64_t start = starts[blockIdx.x];
  const auto n = static_cast<std::int32_t>(starts[blockIdx.x + 1] - start);
  const kernel::PlacedRow* entries = arguments[blockIdx.x].result.entries;
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < n; i += kForEachThreads) packed[start + i] = entries[i];
}

/// Allocates the result columns of a task, without the entries.
std::size_t carve_result(kernel::BumpAllocator& c, const cuda_abi::AbiPlaceTask& task, kernel::PlaceResult& result) {
  kernel::for_each_column(*task.request, kernel::TakeColumns{c}, result);
  return c.used = round_up(c.used);
}

}  // namespace

Placer::Sizes& Placer::Sizes::operator+=(const Sizes& more) {
  passes += more.passes;
  results += more.results;
  entries += more.entries;
  workspace += more.workspace;
  inputs += more.inputs;
  return *this;
}

std::size_t Placer::Sizes::bytes() const {
  // Entries count twice: as the scheduling pass writes them, and packed.
  return workspace + entries * 2 * sizeof(kernel::PlacedRow) + results + inputs + passes * (sizeof(PlaceArguments) + 8);
}

// Without entries, which are downloaded piece by piece.
std::size_t Placer::Sizes::pinned() const { return inputs + results + passes * (sizeof(PlaceArguments) + sizeof(std::int64_t)); }

Placer::Sizes Placer::size_of(const kernel::ProblemView& problem, const cuda_abi::AbiPlaceTask& task) {
  kernel::PlaceResult result{};
  kernel::BumpAllocator counter{nullptr};
  Sizes sizes{1, carve_result(counter, task, result), static_cast<std::size_t>(task.result.max_entries),
              round_up(static_cast<std::size_t>(kernel::place_workspace_bytes(problem, *task.request))), 0};
  const auto count = [&](std::int64_t n, const auto* column) {
    if (column != nullptr) sizes.inputs += round_up(static_cast<std::size_t>(n) * sizeof(*column));
  };
  kernel::for_each_column(problem, *task.request, count, *task.request);
  count(task.n_taken, task.taken);
  return sizes;
}

void Placer::run(const kernel::ProblemView& host, const DeviceProblem& device, std::span<const cuda_abi::AbiPlaceTask> tasks,
                 const Tuning& tuning, const Stream& stream) {
  host_ = &host;
  device_ = &device;
  stream_ = &stream;
  const std::size_t own = workspace_.capacity() + columns_.capacity() + requests_.bytes() + arguments_.capacity() * sizeof(PlaceArguments) +
                          (entries_.capacity() + packed_.capacity()) * sizeof(kernel::PlacedRow);
  in_chunks(
      tasks, own, kMostPinned - kMostPinnedEntries, tuning, [&](const cuda_abi::AbiPlaceTask& task) { return size_of(host, task); },
      [&](std::span<const cuda_abi::AbiPlaceTask> some, const Sizes& sizes) { run_chunk(some, sizes, tuning); });
}

void Placer::run_chunk(std::span<const cuda_abi::AbiPlaceTask> tasks, const Sizes& sizes, const Tuning& tuning) {
  upload(tasks, sizes);
  const int threads = std::min(tasks.size() == 1 ? tuning.one_threads : tuning.batch_threads, kMostThreads);
  launch(place_kernel, static_cast<unsigned>(tasks.size()), static_cast<unsigned>(threads), 0, stream_->get())(device_->view,
                                                                                                               arguments_.data());
  check_launch(stream_->get(), "launch place_kernel");
  download(tasks, sizes);
}

void Placer::upload(std::span<const cuda_abi::AbiPlaceTask> tasks, const Sizes& sizes) {
  workspace_.reserve(sizes.workspace, "reserve the workspace of passes");
  entries_.reserve(sizes.entries, "reserve the entries of passes");
  columns_.reserve(sizes.results, "reserve the results of passes");
  arguments_.reserve(sizes.passes, "reserve passes");
  host_arguments_.reserve(sizes.passes, "reserve passes");

  requests_.clear();
  places_.clear();
  const auto add = requests_.adding(places_);
  for (const cuda_abi::AbiPlaceTask& task : tasks) {
    kernel::for_each_column(*host_, *task.request, add, *task.request);
    add(task.n_taken, task.taken);
  }
  requests_.upload(stream_->get());

  kernel::BumpAllocator results{columns_.data()};
  std::byte* workspace = workspace_.data();
  kernel::PlacedRow* entries = entries_.data();
  const std::size_t* place = places_.data();
  const auto put = requests_.placing(place);
  for (std::size_t w = 0; w < tasks.size(); ++w) {
    const cuda_abi::AbiPlaceTask& task = tasks[w];
    PlaceArguments& one = host_arguments_.data()[w];
    one.request = *task.request;
    kernel::for_each_column(*host_, *task.request, put, one.request);
    one.taken = task.taken;
    put(task.n_taken, one.taken);
    one.n_taken = task.n_taken;
    // Only addresses are computed here, so the host's problem suffices.
    one.workspace = kernel::carve_workspace(workspace, *host_, *task.request);
    carve_result(results, task, one.result);
    one.result.entries = entries;
    one.result.max_entries = task.result.max_entries;
    const Sizes size = size_of(*host_, task);
    entries += size.entries;
    workspace += size.workspace;
  }
  check(cudaMemcpyAsync(arguments_.data(), host_arguments_.data(), tasks.size() * sizeof(PlaceArguments), cudaMemcpyHostToDevice,
                        stream_->get()),
        "upload passes");
}

void Placer::download(std::span<const cuda_abi::AbiPlaceTask> tasks, const Sizes& sizes) {
  host_columns_.reserve(sizes.results, "reserve host memory for results");
  check(cudaMemcpyAsync(host_columns_.data(), columns_.data(), sizes.results, cudaMemcpyDeviceToHost, stream_->get()), "download results");
  stream_->wait("place in order");

  kernel::BumpAllocator results{host_columns_.data()};
  const auto copy = [](std::int64_t n, const auto* from, auto* to) {
    if (n > 0) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(*to));
  };
  for (const cuda_abi::AbiPlaceTask& task : tasks) {
    kernel::PlaceResult here{};
    carve_result(results, task, here);
    kernel::for_each_column(*task.request, copy, here, task.result);
  }
  download_entries(tasks);
}

void Placer::download_entries(std::span<const cuda_abi::AbiPlaceTask> tasks) {
  host_starts_.reserve(tasks.size() + 1, "reserve host memory for entries");
  std::int64_t* starts = host_starts_.data();
  starts[0] = 0;
  for (std::size_t w = 0; w < tasks.size(); ++w) starts[w + 1] = starts[w] + *tasks[w].result.n_entries;
  const auto total = static_cast<std::size_t>(starts[tasks.size()]);
  if (total == 0) return;
  const kernel::PlacedRow* from = entries_.data();
  if (tasks.size() > 1) {  // the entries of a single scheduling pass have no gaps
    starts_.reserve(tasks.size() + 1, "reserve entries");
    packed_.reserve(total, "reserve entries");
    check(cudaMemcpyAsync(starts_.data(), starts, (tasks.size() + 1) * sizeof(std::int64_t), cudaMemcpyHostToDevice, stream_->get()),
          "upload the starts of entries");
    launch(pack_entries_kernel, static_cast<unsigned>(tasks.size()), kForEachThreads, 0, stream_->get())(arguments_.data(), starts_.data(),
                                                                                                         packed_.data());
    check_launch(stream_->get(), "launch pack_entries_kernel");
    from = packed_.data();
  }
  const std::span<const std::int64_t> all(starts, tasks.size() + 1);
  constexpr auto kMost = static_cast<std::int64_t>(kMostPinnedEntries / sizeof(kernel::PlacedRow));
  std::int64_t largest = 0;
  in_pieces(all, kMost, [&](std::size_t first, std::size_t last) { largest = std::max(largest, all[last] - all[first]); });
  host_entries_.reserve(static_cast<std::size_t>(largest), "reserve host memory for entries");
  in_pieces(all, kMost, [&](std::size_t first, std::size_t last) {
    const auto n = static_cast<std::size_t>(all[last] - all[first]);
    if (n == 0) return;
    check(cudaMemcpyAsync(host_entries_.data(), from + all[first], n * sizeof(kernel::PlacedRow), cudaMemcpyDeviceToHost, stream_->get()),
          "download entries");
    stream_->wait("download entries");
    for (std::size_t w = first; w < last; ++w) {
      const auto own = static_cast<std::size_t>(all[w + 1] - all[w]);
      const kernel::PlacedRow* entries = host_entries_.data() + (all[w] - all[first]);
      if (own != 0) std::memcpy(tasks[w].result.entries, entries, own * sizeof(kernel::PlacedRow));
    }
  });
}

}  // namespace berth::cuda
