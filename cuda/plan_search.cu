#include "cuda/plan_search.cuh"

#include <algorithm>
#include <chrono>

#include "berth/kernel/plan_search/plan_search.hpp"
#include "cuda/launch.cuh"
#include "cuda/tuning.hpp"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

[[maybe_unused]] constexpr int kWarpsAtOnce = 16;  // on a multiprocessor: limits registers to 128
constexpr std::chrono::microseconds kBetweenStops{500};

std::size_t round_up(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// State that all threads of a block share. It has the addresses of an individual's columns once instead of on each thread's stack.
/// Every step reads them.
struct PlanSearchShared {
  WarpGroup::Shared group;
  PlanSearchPlace place;
  kernel::PlanSearchIndividual own, parent;
};

/// The individual with its columns moved from `from` to `to`. Columns outside `from`, which all individuals share, are unchanged.
__device__ kernel::PlanSearchIndividual moved(const kernel::PlanSearchView& v, kernel::PlanSearchIndividual x, const std::byte* from,
                                              std::byte* to) {
  const auto move = [&](std::int64_t, auto*& column) {
    column = reinterpret_cast<kernel::ElementOf<decltype(column)>*>(to + (reinterpret_cast<const std::byte*>(column) - from));
  };
  kernel::for_each_column(v, x.s.max_gpus, 0, 0, move, x);
  return x;
}

__device__ void copy_bytes(WarpGroup& group, const std::byte* from, std::byte* to, std::size_t bytes) {
  constexpr std::size_t kWide = sizeof(uint4);
  kernel::copy_column(group, reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to),
                      static_cast<std::int64_t>((bytes + kWide - 1) / kWide));
}

/// Copies the columns of an individual at `from`, except for unused entries. All threads.
__device__ void carry(WarpGroup& group, const PlanSearchMemory& m, const kernel::PlanSearchIndividual& x, const std::byte* from,
                      std::byte* to) {
  const auto entries = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(x.entries + x.counts[0]) - from);
  const auto rest = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(x.open) - from);
  copy_bytes(group, from, to, entries);
  copy_bytes(group, from + rest, to + rest, m.individual_bytes - rest);
  group.sync();
}

/// Sets the addresses for the block: its memory, and an individual stored at `place`.
__device__ void view(WarpGroup& group, const PlanSearchMemory& m, std::int32_t individual, std::byte* place,
                     kernel::PlanSearchIndividual& own) {
  const PlanSearchHome& home = m.homes[individual];
  if (group.rank() == 0) own = moved(m.v, home.individual, home.piece, place);
  group.sync();
}

/// The same, and copies the individual from its home.
__device__ void bring(WarpGroup& group, const PlanSearchMemory& m, std::int32_t individual, std::byte* place,
                      kernel::PlanSearchIndividual& own) {
  const PlanSearchHome& home = m.homes[individual];
  view(group, m, individual, place, own);
  if (place != home.piece) carry(group, m, home.individual, home.piece, place);
}

__device__ void take_home(WarpGroup& group, const PlanSearchMemory& m, std::int32_t individual, std::byte* place,
                          const kernel::PlanSearchIndividual& own) {
  std::byte* const home = m.homes[individual].piece;
  if (place != home) carry(group, m, own, place, home);
}

/// Where an individual is processed: at home, unless that is in host memory.
__device__ std::byte* place_of(const PlanSearchMemory& m, std::int32_t individual, std::byte* away) {
  return individual < m.near ? m.homes[individual].piece : away;
}

__device__ void share_place(WarpGroup& group, const PlanSearchMemory& m, PlanSearchShared& shared) {
  if (group.rank() == 0) shared.place = m.places[blockIdx.x];
  group.sync();
}

// Each block processes one individual after another. There is one block per individual, or as many blocks as have their own memory.

/// The first individual and those of starts are initialised at once; copies of the first wait for the next launch.
__global__ void __launch_bounds__(WarpGroup::kThreads, kWarpsAtOnce) begin_kernel(const __grid_constant__ PlanSearchMemory m) {
  __shared__ PlanSearchShared shared;
  WarpGroup group(shared.group);
  share_place(group, m, shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    const std::int64_t start = std::int64_t{m.start_of[i]} * m.v.n_jobs;
    if (i > 0 && start < 0) continue;
    std::byte* const place = place_of(m, i, shared.place.own);
    view(group, m, i, place, shared.own);
    if (i == 0) {
      kernel::plan_search_begin(group, m.v, m.request, shared.own, shared.place.workspace);
    } else {
      kernel::plan_search_initialise(group, m.v, m.request.start_option + start, m.request.start_order + start, shared.own,
                                     shared.place.workspace);
    }
    take_home(group, m, i, place, shared.own);
  }
}

__global__ void __launch_bounds__(WarpGroup::kThreads) copy_kernel(const __grid_constant__ PlanSearchMemory m) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    if (i > 0 && m.start_of[i] < 0) kernel::plan_search_copy(group, m.v, m.homes[0].individual, m.homes[i].individual);
  }
}

/// Individuals that give do not take, so no block reads what another block writes.
__global__ void __launch_bounds__(WarpGroup::kThreads) cross_kernel(const __grid_constant__ PlanSearchMemory m) {
  __shared__ PlanSearchShared shared;
  WarpGroup group(shared.group);
  share_place(group, m, shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    const std::int32_t parent = kernel::plan_search_crossover(m.request, *m.result.generations, i);
    if (parent < 0) continue;
    std::byte* const place = place_of(m, i, shared.place.own);
    bring(group, m, i, place, shared.own);
    bring(group, m, parent, place_of(m, parent, shared.place.parent), shared.parent);
    kernel::plan_search_offspring(group, m.v, m.request, shared.parent, shared.own, shared.place.workspace);
    take_home(group, m, i, place, shared.own);
  }
}

__global__ void __launch_bounds__(WarpGroup::kThreads, kWarpsAtOnce) improve_kernel(const __grid_constant__ PlanSearchMemory m) {
  BERTH_DYNAMIC_SHARED(uint4, dynamic);
  __shared__ PlanSearchShared shared;
  WarpGroup group(shared.group);
  share_place(group, m, shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    std::byte* const place = m.in_shared != 0 ? reinterpret_cast<std::byte*>(dynamic) : place_of(m, i, shared.place.own);
    bring(group, m, i, place, shared.own);
    kernel::plan_search_improve(group, m.v, m.request, *m.result.generations, i, shared.own, shared.place.workspace);
    take_home(group, m, i, place, shared.own);
  }
}

/// The individual of [first, last) with the greatest score; of equal ones the first. All threads.
__device__ std::int32_t best_of(WarpGroup& group, const PlanSearchMemory& m, std::int32_t first, std::int32_t last) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  kernel::Key best = kernel::kNoKey;
  for (std::int32_t i = first + group.rank(); i < last; i += group.size()) {
    const std::uint64_t score = static_cast<std::uint64_t>(m.score[i]) ^ kSign;  // order as unsigned numbers
    const kernel::Key key{~score, static_cast<std::uint64_t>(i)};
    if (key < best) best = key;
  }
  return static_cast<std::int32_t>(group.min(best).lo);
}

/// One block: records the score of a generation or of the start, and advances to the next.
__global__ void __launch_bounds__(WarpGroup::kThreads) best_kernel(const __grid_constant__ PlanSearchMemory m) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const std::int32_t best = best_of(group, m, 0, m.individuals);
  if (group.rank() != 0) return;
  const std::int32_t made = *m.result.generations + 1;
  m.result.score[made] = m.score[best];
  *m.result.generations = made;
}

/// Writes options and entries of one individual, job after job without gaps. All threads.
__device__ void report(WarpGroup& group, const PlanSearchMemory& m, const kernel::PlanSearchIndividual& x) {
  std::int64_t done = 0;
  for (std::int32_t first = 0; first < m.v.n_jobs; first += group.size()) {
    const std::int32_t job = first + group.rank();
    const bool has = job < m.v.n_jobs && x.option[job] >= 0;
    const std::int32_t n = has ? x.entry_end[job] - x.entry_begin[job] : 0;
    std::int64_t all = 0;
    const auto begin = static_cast<std::int32_t>(done + group.scan(n, all));
    done += all;
    if (job >= m.v.n_jobs) continue;
    m.result.option[job] = x.option[job];
    m.result.entry_begin[job] = begin;
    m.result.entry_end[job] = begin + n;
    for (std::int32_t e = 0; e < n; ++e) m.result.entries[begin + e] = x.entries[x.entry_begin[job] + e];
  }
}

/// One block for the best plan, then one for the shapes of the best of each island.
__global__ void __launch_bounds__(WarpGroup::kThreads) report_kernel(const __grid_constant__ PlanSearchMemory m) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  if (blockIdx.x == 0) {
    report(group, m, m.homes[best_of(group, m, 0, m.individuals)].individual);
    return;
  }
  const auto island = static_cast<std::int32_t>(blockIdx.x) - 1;
  const std::int32_t first = island * m.request.population;
  const kernel::PlanSearchIndividual& best = m.homes[best_of(group, m, first, first + m.request.population)].individual;
  kernel::copy_column(group, best.option, m.result.island_option + std::int64_t{island} * m.v.n_jobs, m.v.n_jobs);
}

}  // namespace

/// Number of blocks of improve_kernel that a device runs at once, and the additional shared memory available to each.
struct DeviceRoom {
  std::int32_t blocks;
  std::size_t shared;
};

DeviceRoom room_of_device(std::size_t shared_bytes) {
  int device = 0, multiprocessors = 0, most = 0, blocks = 0;
  cudaFuncAttributes attributes{};
  check(cudaGetDevice(&device), "query the current device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "query the device's multiprocessors");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "query the device's shared memory");
  check(cudaFuncGetAttributes(&attributes, improve_kernel), "query the size of improve_kernel");
  const std::size_t shared = static_cast<std::size_t>(most) - std::min(static_cast<std::size_t>(most), attributes.sharedSizeBytes);
  const std::size_t dynamic = shared_bytes <= shared ? shared_bytes : 0;
  // The limit belongs to the device, not to this engine: always the same, so that engines do not lower it for each other.
  check(cudaFuncSetAttribute(improve_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
        "reserve shared memory for individuals");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, improve_kernel, WarpGroup::kThreads, dynamic),
        "reserve shared memory for improve_kernel");
  return {std::max(1, blocks * multiprocessors), dynamic};
}

std::size_t PlanSearcher::pieces_bytes() const {
  return static_cast<std::size_t>(memory_.near) * individual_piece_ + static_cast<std::size_t>(blocks_) * place_piece_;
}

// Allocates everything that is written in one block of memory. Only sizes and addresses are computed, so the host's problem suffices.
std::size_t PlanSearcher::carve(const cuda_abi::AbiPlanSearchTask& task, std::byte* block) {
  const kernel::PlanSearchView& v = *task.problem;
  const kernel::PlanSearchRequest& request = *task.request;
  PlanSearchMemory& m = memory_;
  kernel::BumpAllocator allocator{block};
  kernel::for_each_column(v, request, kernel::plan_search_gpus(v.problem), request.generations, kernel::TakeColumns{allocator}, m.result);
  m.score = allocator.take<std::int64_t>(m.individuals);
  m.homes = allocator.take<PlanSearchHome>(m.individuals);
  m.places = allocator.take<PlanSearchPlace>(blocks_);
  allocator.used = round_up(allocator.used);
  pieces_ = allocator.take<std::byte>(static_cast<std::int64_t>(pieces_bytes()));
  return allocator.used;
}

// Individuals have their homes in device memory as far as there is room, and the others in host memory.
// A block that processes one of the latter has a copy of it, and one of its parent.
void PlanSearcher::divide(const cuda_abi::AbiPlanSearchTask& task, std::size_t room, std::int32_t most_blocks) {
  memory_.near = blocks_ = memory_.individuals;
  place_piece_ = workspace_piece_;
  if (carve(task, nullptr) <= room) return;
  memory_.near = blocks_ = 0;
  place_piece_ = workspace_piece_ + 2 * individual_piece_;
  const std::size_t fixed = carve(task, nullptr) + static_cast<std::size_t>(most_blocks) * sizeof(PlanSearchPlace);
  std::size_t left = room > fixed ? room - fixed : 0;
  const std::int32_t most = std::min(most_blocks, memory_.individuals);
  blocks_ = static_cast<std::int32_t>(std::clamp<std::size_t>(left / place_piece_, 1, static_cast<std::size_t>(most)));
  left -= std::min(left, static_cast<std::size_t>(blocks_) * place_piece_);
  memory_.near = static_cast<std::int32_t>(std::min(left / individual_piece_, static_cast<std::size_t>(memory_.individuals)));
}

void PlanSearcher::reserve(const cuda_abi::AbiPlanSearchTask& task, const Tuning& tuning) {
  const kernel::PlanSearchView& v = *task.problem;
  memory_.individuals = kernel::plan_search_individuals(*task.request);
  memory_.individual_bytes = kernel::plan_search_individual_bytes(v);
  individual_piece_ = round_up(memory_.individual_bytes);
  workspace_piece_ = round_up(kernel::plan_search_workspace_bytes(v));
  const bool small = memory_.individual_bytes <= static_cast<std::size_t>(tuning.search_shared);
  const DeviceRoom device = room_of_device(small ? memory_.individual_bytes : 0);
  shared_bytes_ = device.shared;
  memory_.in_shared = shared_bytes_ != 0 ? 1 : 0;

  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "query free device memory");
  for (std::size_t room = (free + block_.capacity()) / 100 * static_cast<std::size_t>(tuning.memory_percent);; room /= 2) {
    divide(task, room, device.blocks);
    try {
      block_.reserve(carve(task, nullptr), "reserve a population of plans");
      break;
    } catch (const CudaError& error) {
      // Other processes may use the device too, so less memory may be available than was free.
      if (error.status() != cuda_abi::Status::kOutOfMemory || (memory_.near == 0 && blocks_ == 1)) throw;
    }
  }
  carve(task, block_.data());
  if (memory_.near == memory_.individuals) {
    far_.release();
  } else {
    far_.reserve(static_cast<std::size_t>(memory_.individuals - memory_.near) * individual_piece_,
                 "reserve host memory for a population of plans");
  }
}

void PlanSearcher::upload(const cuda_abi::AbiPlanSearchTask& task, const DeviceProblem& device, const Stream& stream) {
  const kernel::PlanSearchView& v = *task.problem;
  const kernel::PlanSearchRequest& request = *task.request;
  start_of_.assign(static_cast<std::size_t>(kernel::plan_search_individuals(request)), kernel::kNone);
  for (std::int32_t i = 0; i < request.n_starts; ++i) start_of_[static_cast<std::size_t>(kernel::plan_search_start_at(request, i))] = i;

  inputs_.clear();
  places_.clear();
  const auto add = inputs_.adding(places_);
  kernel::for_each_column(v, add, v);
  kernel::for_each_column(v, request, add, request);
  const std::size_t start_of = inputs_.add(start_of_.data(), start_of_.size() * sizeof(start_of_[0]));
  inputs_.upload(stream.get());

  PlanSearchMemory& m = memory_;
  m.v = v;
  m.v.problem = device.view;
  m.request = request;
  const std::size_t* place = places_.data();
  const auto put = inputs_.placing(place);
  kernel::for_each_column(v, put, m.v);
  kernel::for_each_column(v, request, put, m.request);
  m.start_of = inputs_.at<const std::int32_t>(start_of);
}

void PlanSearcher::upload_homes(const cuda_abi::AbiPlanSearchTask& task, const Stream& stream) {
  const kernel::PlanSearchView& v = *task.problem;
  const PlanSearchMemory& m = memory_;
  host_homes_.reserve(static_cast<std::size_t>(m.individuals), "reserve host memory for a population of plans");
  for (std::int32_t i = 0; i < m.individuals; ++i) {
    std::byte* const first = i < m.near ? pieces_ : far_.data();
    PlanSearchHome& home = host_homes_.data()[i];
    home.piece = first + static_cast<std::size_t>(i < m.near ? i : i - m.near) * individual_piece_;
    home.individual = kernel::carve_plan_search_individual(home.piece, v);
    home.individual.score = m.score + i;  // read for all individuals after each generation, wherever they are
    // Columns of the problem that all individuals read: the allocation above took them from the host's problem.
    home.individual.s.used_ppm = const_cast<std::int32_t*>(m.v.problem.gpu_used_ppm);
    home.individual.s.used_memory = const_cast<std::int64_t*>(m.v.problem.gpu_used_memory);
  }
  host_places_.reserve(static_cast<std::size_t>(blocks_), "reserve host memory for a population of plans");
  for (std::int32_t b = 0; b < blocks_; ++b) {
    std::byte* const piece = pieces_ + static_cast<std::size_t>(m.near) * individual_piece_ + static_cast<std::size_t>(b) * place_piece_;
    host_places_.data()[b] = {kernel::carve_plan_search_workspace(piece, v), piece + workspace_piece_,
                              piece + workspace_piece_ + individual_piece_};
  }
  const auto send = [&](auto* to, const auto* from, std::int32_t n) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyHostToDevice, stream.get()),
          "upload a population of plans");
  };
  send(m.homes, host_homes_.data(), m.individuals);
  send(m.places, host_places_.data(), blocks_);
}

void PlanSearcher::begin(const Stream& stream) {
  const PlanSearchMemory& m = memory_;
  const auto blocks = static_cast<unsigned>(blocks_);
  check(cudaMemsetAsync(m.result.generations, 0xff, sizeof(std::int32_t), stream.get()), "clear a count");  // -1
  // Copies of whole individuals include bytes that were never written.
  check(cudaMemsetAsync(pieces_, 0, pieces_bytes(), stream.get()), "clear a population of plans");
  launch(begin_kernel, blocks, WarpGroup::kThreads, 0, stream.get())(m);
  check_launch(stream.get(), "launch begin_kernel");
  launch(copy_kernel, blocks, WarpGroup::kThreads, 0, stream.get())(m);
  check_launch(stream.get(), "launch copy_kernel");
  launch(best_kernel, 1, WarpGroup::kThreads, 0, stream.get())(m);
  check_launch(stream.get(), "launch best_kernel");
}

// The generation number is in device memory, so that the same launches make every generation.
// Their checks do not wait, because they may be captured.
void PlanSearcher::generation(const Stream& stream) const {
  const PlanSearchMemory& m = memory_;
  const auto blocks = static_cast<unsigned>(blocks_);
  launch(cross_kernel, blocks, WarpGroup::kThreads, 0, stream.get())(m);
  check(cudaGetLastError(), "launch cross_kernel");
  launch(improve_kernel, blocks, WarpGroup::kThreads, shared_bytes_, stream.get())(m);
  check(cudaGetLastError(), "launch improve_kernel");
  launch(best_kernel, 1, WarpGroup::kThreads, 0, stream.get())(m);
  check(cudaGetLastError(), "launch best_kernel");
}

// The first generation is launched kernel by kernel, which loads the kernels. The others are launches of one graph.
// They are launched ahead, for about as long as a caller that stops may have to wait.
void PlanSearcher::generations(const cuda_abi::AbiPlanSearchTask& task, const Stream& stream) {
  using Clock = std::chrono::steady_clock;
  const std::int32_t all = task.request->generations;
  std::int32_t ahead = task.stop == nullptr ? all : 1;
  if (task.stop != nullptr) stream.wait("begin to evolve plans");  // the remaining time is checked after the start
  for (std::int32_t made = 0; made < all;) {
    if (task.stop != nullptr && task.stop(task.stop_of, made) != 0) return;
    const std::int32_t last = made + std::min(ahead, all - made);
    const Clock::time_point before = Clock::now();
    for (; made < last; ++made) {
      if (made == 1) generation_.capture(stream, [&] { generation(stream); });
      if (made == 0) {
        generation(stream);
      } else {
        generation_.launch(stream);
      }
    }
    if (task.stop == nullptr) continue;
    stream.wait("evolve plans");
    if (Clock::now() - before < kBetweenStops) ahead = std::min(2 * ahead, 1 << 16);
  }
}

void PlanSearcher::download(const cuda_abi::AbiPlanSearchTask& task, const Stream& stream) {
  const PlanSearchMemory& m = memory_;
  const kernel::PlanSearchResult& result = task.result;
  launch(report_kernel, static_cast<unsigned>(m.request.islands) + 1, WarpGroup::kThreads, 0, stream.get())(m);
  check_launch(stream.get(), "launch report_kernel");
  const auto fetch = [&](std::int64_t n, const auto* from, auto* to) {
    if (n == 0) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyDeviceToHost, stream.get()), "download a plan");
  };
  kernel::for_each_column(*task.problem, *task.request, 0, -1, fetch, m.result, result);
  stream.wait("evolve plans");
  // As many as there are.
  fetch(result.entry_end[m.v.n_jobs - 1], m.result.entries, result.entries);
  fetch(std::int64_t{*result.generations} + 1, m.result.score, result.score);
  stream.wait("download a plan");
}

void PlanSearcher::run(const cuda_abi::AbiPlanSearchTask& task, const DeviceProblem& device, const Tuning& tuning, const Stream& stream) {
  reserve(task, tuning);
  upload(task, device, stream);
  upload_homes(task, stream);
  begin(stream);
  generations(task, stream);
  download(task, stream);
}

}  // namespace berth::cuda
