#include "cuda/ones.cuh"

#include <algorithm>
#include <chrono>
#include <cub/device/device_radix_sort.cuh>

#include "berth/kernel/ones_first.hpp"
#include "berth/kernel/ones_search.hpp"
#include "cuda/block_group.cuh"
#include "cuda/for_each.cuh"
#include "cuda/tuning.hpp"

namespace berth::cuda {
namespace {

constexpr std::size_t kSharedBits = 48 * 1024;  // bytes of random bits that a block may have without asking for more
constexpr std::chrono::microseconds kBetweenStops{500};

__device__ std::int64_t row(const OnesMemory& m, std::int64_t individual) { return individual * m.v.n_jobs; }

struct DrawBody {
  OnesMemory m;
  BERTH_HD void operator()(std::int64_t i) const {
    const std::int32_t job = m.turn_jobs[i];
    m.left[job] = kernel::ones_left(m.v, job, *m.generation);
    m.turn[i] = kernel::ones_turn(m.v, job, m.left[job]);
  }
};

struct RefreshBody {
  OnesMemory m;
  BERTH_HD void operator()(std::int64_t i) const {
    m.refreshed[i] = kernel::ones_refreshed(m.v, static_cast<std::int32_t>(i % m.v.n_jobs), m.count[i]);
  }
};

__device__ kernel::OnesWorkspace workspace_of(const OnesMemory& m, std::int32_t individual) {
  kernel::OnesWorkspace ws{};
  kernel::carve_ones_workspace(m.workspace + individual * m.workspace_piece, m.v.n_jobs, ws);
  return ws;
}

/// One block per individual.
__global__ void __launch_bounds__(kOnesThreads) first_kernel(const __grid_constant__ OnesMemory m) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  const kernel::OnesWorkspace ws = workspace_of(m, individual);
  std::int32_t* const count = m.count + row(m, individual);
  kernel::ones_first(group, m.v, individual, *m.generation, ws.keys, count);
  kernel::ones_reorder(group, m.v, m.taken, count, ws, m.first + row(m, individual));
}

/// One block per candidate.
__global__ void __launch_bounds__(kOnesThreads) candidate_kernel(const __grid_constant__ OnesMemory m) {
  extern __shared__ std::uint32_t shared_bits[];
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const auto index = static_cast<std::int32_t>(blockIdx.x);
  const kernel::OnesGeneration of{*m.generation, m.first, m.refreshed, m.left, m.turns, m.fresh, m.n_turns, m.n_fresh};
  std::uint32_t* const bits = m.bits == nullptr ? shared_bits : m.bits + std::int64_t{index} * kernel::ones_bit_words(m.v.slots);
  const std::int64_t score = kernel::ones_candidate(group, m.v, of, index, bits, m.candidate + row(m, index));
  if (group.rank() == 0) m.score[index] = score;
}

/// One block per survivor.
__global__ void __launch_bounds__(kOnesThreads) survivor_kernel(const __grid_constant__ OnesMemory m) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t* const from = m.candidate + row(m, m.sorted[individual]);
  std::int32_t* const count = m.count + row(m, individual);
  for (std::int32_t j = group.rank(); j < m.v.n_jobs; j += group.size()) count[j] = from[j];
  group.sync();
  kernel::ones_reorder(group, m.v, m.taken, count, workspace_of(m, individual), m.first + row(m, individual));
  if (group.rank() != 0) return;
  m.best[individual] = m.sorted_score[individual];
  if (individual != 0) return;
  m.least[*m.made] = m.sorted_score[0];
  *m.made += 1;
  *m.generation = (*m.generation + 1) & INT32_MAX;
}

}  // namespace

// A column that upload does not know would reach the device as a host address.
static_assert(sizeof(kernel::OnesView) == 112, "OnesView changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::OnesRequest) == 24, "OnesRequest changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::OnesResult) == 40, "OnesResult changed: download its new columns, then change this number");

void OnesEvolver::upload(const cuda_abi::EvolveTask& task, const Stream& stream) {
  const kernel::OnesView& v = *task.problem;
  const auto jobs = static_cast<std::size_t>(v.n_jobs);
  taken_.resize(static_cast<std::size_t>(v.slots) + 1);
  kernel::ones_taken(v, taken_.data());
  turn_jobs_.clear();
  fresh_.clear();
  for (std::int32_t j = 0; j < v.n_jobs; ++j) (v.fresh[j] != 0 ? fresh_ : turn_jobs_).push_back(j);
  index_.resize(static_cast<std::size_t>(kernel::ones_candidates(v.population)));
  for (std::size_t i = 0; i < index_.size(); ++i) index_[i] = static_cast<std::int32_t>(i);

  inputs_.clear();
  const auto add = [&](const auto* column, std::size_t n) { return inputs_.add(column, n * sizeof(*column)); };
  const auto steps = static_cast<std::size_t>(v.step_begin[v.n_jobs]);
  const std::size_t step_begin = add(v.step_begin, jobs + 1), step_gpus = add(v.step_gpus, steps), step_rate = add(v.step_rate, steps),
                    fresh = add(v.fresh, jobs), start = add(v.start, jobs), limit = add(v.limit, jobs), most = add(v.most, jobs),
                    work = add(v.work, jobs), progress = add(v.progress, jobs * kernel::kOnesQuantiles),
                    first = add(v.deployed_first, jobs), count = add(v.deployed_count, jobs), taken = add(taken_.data(), taken_.size()),
                    turn_jobs = add(turn_jobs_.data(), turn_jobs_.size()), fresh_jobs = add(fresh_.data(), fresh_.size()),
                    index = add(index_.data(), index_.size());
  inputs_.upload(stream.get());

  OnesMemory& m = memory_;
  m.v = v;
  m.v.step_begin = inputs_.at<const std::int32_t>(step_begin);
  m.v.step_gpus = inputs_.at<const std::int32_t>(step_gpus);
  m.v.step_rate = inputs_.at<const std::int64_t>(step_rate);
  m.v.fresh = inputs_.at<const std::uint8_t>(fresh);
  m.v.start = inputs_.at<const std::int32_t>(start);
  m.v.limit = inputs_.at<const std::int32_t>(limit);
  m.v.most = inputs_.at<const std::int32_t>(most);
  m.v.work = inputs_.at<const std::int64_t>(work);
  m.v.progress = inputs_.at<const std::int32_t>(progress);
  m.v.deployed_first = inputs_.at<const std::int32_t>(first);
  m.v.deployed_count = inputs_.at<const std::int32_t>(count);
  m.taken = inputs_.at<const std::int32_t>(taken);
  m.turn_jobs = inputs_.at<const std::int32_t>(turn_jobs);
  m.fresh = inputs_.at<const std::int32_t>(fresh_jobs);
  m.index = inputs_.at<std::int32_t>(index);
  m.n_turns = static_cast<std::int32_t>(turn_jobs_.size());
  m.n_fresh = static_cast<std::int32_t>(fresh_.size());
}

// All that is written, in one piece of memory.
void OnesEvolver::begin(const cuda_abi::EvolveTask& task, const Stream& stream) {
  OnesMemory& m = memory_;
  const std::int64_t jobs = m.v.n_jobs, population = m.v.population, candidates = kernel::ones_candidates(m.v.population);
  const std::int64_t words = kernel::ones_bit_words(m.v.slots);
  const bool shared_bits = static_cast<std::size_t>(words) * sizeof(std::uint32_t) <= kSharedBits;
  kernel::OnesWorkspace unused{};
  m.workspace_piece = (kernel::carve_ones_workspace(nullptr, m.v.n_jobs, unused) + 255) / 256 * 256;
  const auto carve = [&](std::byte* block) {
    kernel::Carver carver{block};
    for (std::int32_t** const column : {&m.first, &m.count, &m.refreshed}) *column = carver.take<std::int32_t>(population * jobs);
    m.candidate = carver.take<std::int32_t>(candidates * jobs);
    m.left = carver.take<std::int64_t>(jobs);
    for (std::int64_t** const column : {&m.turn, &m.sorted_turn}) *column = carver.take<std::int64_t>(m.n_turns);
    m.turns = carver.take<std::int32_t>(m.n_turns);
    for (std::int64_t** const column : {&m.score, &m.sorted_score}) *column = carver.take<std::int64_t>(candidates);
    m.sorted = carver.take<std::int32_t>(candidates);
    m.best = carver.take<std::int64_t>(population);
    m.least = carver.take<std::int64_t>(task.request->generations);
    m.generation = carver.take<std::int32_t>(1);
    m.made = carver.take<std::int32_t>(1);
    m.bits = shared_bits ? nullptr : carver.take<std::uint32_t>(candidates * words);
    carver.used = (carver.used + 255) / 256 * 256;
    m.workspace = carver.take<std::byte>(population * static_cast<std::int64_t>(m.workspace_piece));
    return carver.used;
  };
  block_.reserve(carve(nullptr), "reserve a population");
  carve(block_.data());
  std::size_t for_turns = 0, for_scores = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, for_turns, m.turn, m.sorted_turn, m.turn_jobs, m.turns, m.n_turns),
        "size a sort of turns");
  check(cub::DeviceRadixSort::SortPairs(nullptr, for_scores, m.score, m.sorted_score, m.index, m.sorted, static_cast<int>(candidates)),
        "size a sort of scores");
  sort_.reserve(std::max(for_turns, for_scores), "reserve room to sort");

  const kernel::OnesRequest& request = *task.request;
  const std::size_t bytes = static_cast<std::size_t>(population * jobs) * sizeof(std::int32_t);
  const auto send = [&](void* to, const void* from, std::size_t n) {
    if (n > 0) check(cudaMemcpyAsync(to, from, n, cudaMemcpyHostToDevice, stream.get()), "upload a population");
  };
  send(m.generation, &request.first_generation, sizeof(std::int32_t));
  check(cudaMemsetAsync(m.made, 0, sizeof(std::int32_t), stream.get()), "clear a count");
  check(cudaMemsetAsync(m.best, 0, static_cast<std::size_t>(population) * sizeof(std::int64_t), stream.get()), "clear scores");
  if (request.first != nullptr) {
    send(m.first, request.first, bytes);
    send(m.count, request.count, bytes);
    return;
  }
  first_kernel<<<static_cast<unsigned>(population), kOnesThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch first_kernel");
}

void OnesEvolver::generation(cudaStream_t stream) {
  const OnesMemory& m = memory_;
  const std::int32_t candidates = kernel::ones_candidates(m.v.population);
  for_each_n(stream, m.n_turns, DrawBody{m}, "launch DrawBody");
  std::size_t room = sort_.capacity();
  if (m.n_turns > 0) {
    check(cub::DeviceRadixSort::SortPairs(sort_.data(), room, m.turn, m.sorted_turn, m.turn_jobs, m.turns, m.n_turns, 0, 64, stream),
          "sort turns");
  }
  for_each_n(stream, std::int64_t{m.v.population} * m.v.n_jobs, RefreshBody{m}, "launch RefreshBody");
  const std::size_t bits = m.bits != nullptr ? 0 : static_cast<std::size_t>(kernel::ones_bit_words(m.v.slots)) * sizeof(std::uint32_t);
  candidate_kernel<<<static_cast<unsigned>(candidates), kOnesThreads, bits, stream>>>(m);
  check_launch(stream, "launch candidate_kernel");
  room = sort_.capacity();
  check(cub::DeviceRadixSort::SortPairs(sort_.data(), room, m.score, m.sorted_score, m.index, m.sorted, candidates, 0, 64, stream),
        "sort scores");
  survivor_kernel<<<static_cast<unsigned>(m.v.population), kOnesThreads, 0, stream>>>(m);
  check_launch(stream, "launch survivor_kernel");
}

// Launched ahead, for about as long as somebody who wants to stop may be kept waiting.
void OnesEvolver::generations(const cuda_abi::EvolveTask& task, const Stream& stream) {
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

void OnesEvolver::download(const cuda_abi::EvolveTask& task, const Stream& stream) {
  const OnesMemory& m = memory_;
  const kernel::OnesResult& result = task.result;
  const auto fetch = [&](auto* to, const auto* from, std::int64_t n) {
    if (n == 0) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyDeviceToHost, stream.get()),
          "download a population");
  };
  const std::int64_t all = std::int64_t{m.v.population} * m.v.n_jobs;
  fetch(result.generations, m.made, 1);
  fetch(result.first, m.first, all);
  fetch(result.count, m.count, all);
  fetch(result.score, m.best, m.v.population);
  stream.wait("evolve");
  fetch(result.least, m.least, *result.generations);
  stream.wait("evolve");
  for (std::int64_t i = 0; i < all; ++i) {
    if (result.count[i] == 0) result.first[i] = 0;
  }
}

void OnesEvolver::run(const cuda_abi::EvolveTask& task, const Stream& stream) {
  upload(task, stream);
  begin(task, stream);
  generations(task, stream);
  download(task, stream);
}

}  // namespace berth::cuda
