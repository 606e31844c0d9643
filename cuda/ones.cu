#include "cuda/ones.cuh"

#include <algorithm>
#include <chrono>
#include <cub/device/device_radix_sort.cuh>

#include "berth/kernel/ones/first.hpp"
#include "berth/kernel/ones/ones.hpp"
#include "cuda/for_each.cuh"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

constexpr std::size_t kShared = 48 * 1024;  // bytes that a block may use without an opt-in, its own and its random bits
constexpr std::chrono::microseconds kBetweenStops{500};

__device__ std::int64_t row(const OnesDeviceMemory& m, std::int64_t individual) { return individual * m.v.n_jobs; }

struct DrawBody {
  OnesDeviceMemory m;
  BERTH_HD void operator()(std::int64_t i) const {
    const std::int32_t job = m.fill_jobs[i];
    m.left[job] = kernel::ones_left(m.v, job, *m.generation);
    m.fill_key[i] = kernel::ones_fill_key(m.v, job, m.left[job]);
  }
};

struct RefreshBody {
  OnesDeviceMemory m;
  BERTH_HD void operator()(std::int64_t i) const {
    m.refreshed[i] = kernel::ones_refreshed(m.v, static_cast<std::int32_t>(i % m.v.n_jobs), m.result.count[i]);
  }
};

__device__ kernel::OnesWorkspace workspace_of(const OnesDeviceMemory& m, std::int32_t individual) {
  kernel::OnesWorkspace ws{};
  kernel::carve_ones_workspace(m.workspace + static_cast<std::size_t>(individual) * m.workspace_piece, m.v.n_jobs, ws);
  return ws;
}

/// One block per individual.
__global__ void __launch_bounds__(WarpGroup::kThreads) first_kernel(const __grid_constant__ OnesDeviceMemory m) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  const kernel::OnesWorkspace ws = workspace_of(m, individual);
  std::int32_t* const count = m.result.count + row(m, individual);
  kernel::ones_first(group, m.v, individual, *m.generation, ws.keys, count);
  kernel::ones_reorder(group, m.v, m.deployed, count, ws, m.result.first + row(m, individual));
}

/// One block per candidate.
__global__ void __launch_bounds__(WarpGroup::kThreads) candidate_kernel(const __grid_constant__ OnesDeviceMemory m) {
  BERTH_DYNAMIC_SHARED(std::uint32_t, shared_bits);
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const auto index = static_cast<std::int32_t>(blockIdx.x);
  const kernel::OnesGeneration of{*m.generation, m.result.first, m.refreshed, m.left, m.fill_order, m.fresh, m.n_fill, m.n_fresh};
  std::uint32_t* const bits = m.bits == nullptr ? shared_bits : m.bits + std::int64_t{index} * kernel::ones_bit_words(m.v.n_gpus);
  const std::int64_t score = kernel::ones_candidate(group, m.v, of, index, bits, m.candidate + row(m, index));
  if (group.rank() == 0) m.score[index] = score;
}

/// One block per survivor.
__global__ void __launch_bounds__(WarpGroup::kThreads) survivor_kernel(const __grid_constant__ OnesDeviceMemory m) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t* const from = m.candidate + row(m, m.sorted[individual]);
  std::int32_t* const count = m.result.count + row(m, individual);
  for (std::int32_t j = group.rank(); j < m.v.n_jobs; j += group.size()) count[j] = from[j];
  group.sync();
  kernel::ones_reorder(group, m.v, m.deployed, count, workspace_of(m, individual), m.result.first + row(m, individual));
  if (group.rank() != 0) return;
  m.result.score[individual] = m.sorted_score[individual];
  if (individual != 0) return;
  m.result.least[*m.result.generations] = m.sorted_score[0];
  *m.result.generations += 1;
  *m.generation = (*m.generation + 1) & INT32_MAX;
}

/// Bytes of random bits that a block of candidate_kernel may keep in shared memory.
std::size_t room_for_bits() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, candidate_kernel), "query the size of candidate_kernel");
  return kShared - std::min(kShared, attributes.sharedSizeBytes);
}

}  // namespace

void OnesSearcher::upload(const cuda_abi::AbiOnesTask& task, const Stream& stream) {
  const kernel::OnesView& v = *task.problem;
  taken_.resize(static_cast<std::size_t>(v.n_gpus) + 1);
  by_home_.resize(static_cast<std::size_t>(v.n_jobs));
  const std::int32_t n_deployed = kernel::ones_deployed(v, taken_.data(), by_home_.data()).n;
  fill_jobs_.clear();
  fresh_.clear();
  for (std::int32_t j = 0; j < v.n_jobs; ++j) (v.fresh[j] != 0 ? fresh_ : fill_jobs_).push_back(j);
  index_.resize(static_cast<std::size_t>(kernel::ones_candidates(v.population)));
  for (std::size_t i = 0; i < index_.size(); ++i) index_[i] = static_cast<std::int32_t>(i);

  inputs_.clear();
  places_.clear();
  const auto add_column = inputs_.adding(places_);
  kernel::for_each_column(v, add_column, v);
  const auto add = [&](const auto& column) { return inputs_.add(column.data(), column.size() * sizeof(column[0])); };
  const std::size_t taken = add(taken_), by_home = add(by_home_), fill_jobs = add(fill_jobs_), fresh_jobs = add(fresh_),
                    index = add(index_);
  inputs_.upload(stream.get());

  OnesDeviceMemory& m = memory_;
  m.v = v;
  const std::size_t* place = places_.data();
  kernel::for_each_column(v, inputs_.placing(place), m.v);
  m.deployed = {inputs_.at<const std::int32_t>(taken), inputs_.at<const std::int32_t>(by_home), n_deployed};
  m.fill_jobs = inputs_.at<const std::int32_t>(fill_jobs);
  m.fresh = inputs_.at<const std::int32_t>(fresh_jobs);
  m.index = inputs_.at<std::int32_t>(index);
  m.n_fill = static_cast<std::int32_t>(fill_jobs_.size());
  m.n_fresh = static_cast<std::int32_t>(fresh_.size());
}

// Allocates everything that is written in one block of memory.
void OnesSearcher::begin(const cuda_abi::AbiOnesTask& task, const Stream& stream) {
  OnesDeviceMemory& m = memory_;
  const std::int64_t jobs = m.v.n_jobs, population = m.v.population, candidates = kernel::ones_candidates(m.v.population);
  const std::int64_t words = kernel::ones_bit_words(m.v.n_gpus);
  const bool shared_bits = static_cast<std::size_t>(words) * sizeof(std::uint32_t) <= room_for_bits();
  kernel::OnesWorkspace unused{};
  m.workspace_piece = (kernel::carve_ones_workspace(nullptr, m.v.n_jobs, unused) + 255) / 256 * 256;
  const auto carve = [&](std::byte* block) {
    kernel::BumpAllocator allocator{block};
    kernel::for_each_column(m.v, task.request->generations, kernel::TakeColumns{allocator}, m.result);
    m.refreshed = allocator.take<std::int32_t>(population * jobs);
    m.candidate = allocator.take<std::int32_t>(candidates * jobs);
    m.left = allocator.take<std::int64_t>(jobs);
    for (std::int64_t** const column : {&m.fill_key, &m.sorted_fill_key}) *column = allocator.take<std::int64_t>(m.n_fill);
    m.fill_order = allocator.take<std::int32_t>(m.n_fill);
    for (std::int64_t** const column : {&m.score, &m.sorted_score}) *column = allocator.take<std::int64_t>(candidates);
    m.sorted = allocator.take<std::int32_t>(candidates);
    m.generation = allocator.take<std::int32_t>(1);
    m.bits = shared_bits ? nullptr : allocator.take<std::uint32_t>(candidates * words);
    allocator.used = (allocator.used + 255) / 256 * 256;
    m.workspace = allocator.take<std::byte>(population * static_cast<std::int64_t>(m.workspace_piece));
    return allocator.used;
  };
  block_.reserve(carve(nullptr), "reserve a population");
  carve(block_.data());
  std::size_t for_fill = 0, for_scores = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, for_fill, m.fill_key, m.sorted_fill_key, m.fill_jobs, m.fill_order, m.n_fill),
        "size a sort of the fill order");
  check(cub::DeviceRadixSort::SortPairs(nullptr, for_scores, m.score, m.sorted_score, m.index, m.sorted, static_cast<int>(candidates)),
        "size a sort of scores");
  sort_.reserve(std::max(for_fill, for_scores), "reserve room to sort");

  const kernel::OnesRequest& request = *task.request;
  const std::size_t bytes = static_cast<std::size_t>(population * jobs) * sizeof(std::int32_t);
  const auto send = [&](void* to, const void* from, std::size_t n) {
    if (n > 0) check(cudaMemcpyAsync(to, from, n, cudaMemcpyHostToDevice, stream.get()), "upload a population");
  };
  send(m.generation, &request.first_generation, sizeof(std::int32_t));
  check(cudaMemsetAsync(m.result.generations, 0, sizeof(std::int32_t), stream.get()), "clear a count");
  check(cudaMemsetAsync(m.result.score, 0, static_cast<std::size_t>(population) * sizeof(std::int64_t), stream.get()), "clear scores");
  if (request.first != nullptr) {
    send(m.result.first, request.first, bytes);
    send(m.result.count, request.count, bytes);
    return;
  }
  launch(first_kernel, static_cast<unsigned>(population), WarpGroup::kThreads, 0, stream.get())(m);
  check_launch(stream.get(), "launch first_kernel");
}

void OnesSearcher::generation(cudaStream_t stream) {
  const OnesDeviceMemory& m = memory_;
  const std::int32_t candidates = kernel::ones_candidates(m.v.population);
  for_each_n(stream, m.n_fill, DrawBody{m}, "launch DrawBody");
  std::size_t room = sort_.capacity();
  if (m.n_fill > 0) {
    check(cub::DeviceRadixSort::SortPairs(sort_.data(), room, m.fill_key, m.sorted_fill_key, m.fill_jobs, m.fill_order, m.n_fill, 0, 64,
                                          stream),
          "sort the fill order");
  }
  for_each_n(stream, std::int64_t{m.v.population} * m.v.n_jobs, RefreshBody{m}, "launch RefreshBody");
  const std::size_t bits = m.bits != nullptr ? 0 : static_cast<std::size_t>(kernel::ones_bit_words(m.v.n_gpus)) * sizeof(std::uint32_t);
  launch(candidate_kernel, static_cast<unsigned>(candidates), WarpGroup::kThreads, bits, stream)(m);
  check_launch(stream, "launch candidate_kernel");
  room = sort_.capacity();
  check(cub::DeviceRadixSort::SortPairs(sort_.data(), room, m.score, m.sorted_score, m.index, m.sorted, candidates, 0, 64, stream),
        "sort scores");
  launch(survivor_kernel, static_cast<unsigned>(m.v.population), WarpGroup::kThreads, 0, stream)(m);
  check_launch(stream, "launch survivor_kernel");
}

// Launched ahead, for about as long as a caller that stops may have to wait.
void OnesSearcher::generations(const cuda_abi::AbiOnesTask& task, const Stream& stream) {
  using Clock = std::chrono::steady_clock;
  const std::int32_t all = task.request->generations;
  std::int32_t ahead = task.stop == nullptr ? all : 1;
  for (std::int32_t made = 0; made < all;) {
    const std::int32_t now = std::min(ahead, all - made);
    const Clock::time_point before = Clock::now();
    for (std::int32_t i = 0; i < now; ++i) generation(stream.get());
    made += now;
    if (task.stop == nullptr) continue;
    stream.wait("evolve");
    if (task.stop(task.stop_of, made) != 0) return;
    if (Clock::now() - before < kBetweenStops) ahead = std::min(2 * ahead, 1 << 16);
  }
}

void OnesSearcher::download(const cuda_abi::AbiOnesTask& task, const Stream& stream) {
  const OnesDeviceMemory& m = memory_;
  const kernel::OnesResult& result = task.result;
  const auto fetch = [&](std::int64_t n, const auto* from, auto* to) {
    if (n == 0) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyDeviceToHost, stream.get()),
          "download a population");
  };
  kernel::for_each_column(m.v, 0, fetch, m.result, result);
  stream.wait("evolve");
  fetch(*result.generations, m.result.least, result.least);  // as many as were made
  stream.wait("evolve");
  const std::int64_t all = std::int64_t{m.v.population} * m.v.n_jobs;
  for (std::int64_t i = 0; i < all; ++i) {
    if (result.count[i] == 0) result.first[i] = 0;
  }
}

void OnesSearcher::run(const cuda_abi::AbiOnesTask& task, const Stream& stream) {
  upload(task, stream);
  begin(task, stream);
  generations(task, stream);
  download(task, stream);
}

}  // namespace berth::cuda
