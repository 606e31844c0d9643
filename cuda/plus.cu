#include "cuda/plus.cuh"

#include <algorithm>
#include <chrono>
#include <type_traits>

#include "berth/kernel/plus_search.hpp"
#include "cuda/block_group.cuh"
#include "cuda/for_each.cuh"
#include "cuda/tuning.hpp"

namespace berth::cuda {
namespace {

constexpr std::chrono::microseconds kBetweenStops{500};

std::size_t round_up(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// What all threads of a block have in common. The addresses of an individual's columns stand here once, and not on the stack of each
/// thread: they are read at every step.
struct PlusShared {
  BlockGroup::Shared group;
  PlusPlace place;
  kernel::PlusIndividual own, mate;
};

/// An individual whose columns stand in `to` as they stand in `from`. What is not in there, as what all share, stays where it is.
__device__ kernel::PlusIndividual moved(kernel::PlusIndividual x, const std::byte* from, std::byte* to) {
  const auto move = [&](auto*& column) {
    column = reinterpret_cast<std::remove_reference_t<decltype(column)>>(to + (reinterpret_cast<const std::byte*>(column) - from));
  };
  move(x.s.free);
  move(x.s.cpu);
  move(x.s.memory);
  move(x.s.queue_used);
  move(x.s.bucket);
  move(x.s.bucket_count);
  move(x.s.domain_free);
  move(x.s.type_free);
  move(x.owner);
  move(x.row);
  move(x.entry_begin);
  move(x.entry_end);
  move(x.at_home);
  move(x.worth);
  move(x.entries);
  move(x.open);
  move(x.open_at);
  move(x.counts);
  return x;
}

__device__ void copy_bytes(BlockGroup& group, const std::byte* from, std::byte* to, std::size_t bytes) {
  constexpr std::size_t kWide = sizeof(uint4);
  kernel::copy_column(group, reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to),
                      static_cast<std::int64_t>((bytes + kWide - 1) / kWide));
}

/// Copies the columns of an individual, which stand in `from`, but not the entries that are not in use. All threads.
__device__ void carry(BlockGroup& group, const PlusMemory& m, const kernel::PlusIndividual& x, const std::byte* from, std::byte* to) {
  const auto entries = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(x.entries + x.counts[0]) - from);
  const auto rest = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(x.open) - from);
  copy_bytes(group, from, to, entries);
  copy_bytes(group, from + rest, to + rest, m.individual_bytes - rest);
  group.sync();
}

/// Addresses for the block: its memory, and an individual as it stands at `place`.
__device__ void view(BlockGroup& group, const PlusMemory& m, std::int32_t individual, std::byte* place, kernel::PlusIndividual& own) {
  const PlusHome& home = m.homes[individual];
  if (group.rank() == 0) own = moved(home.individual, home.piece, place);
  group.sync();
}

/// The same, with what stands at home copied there.
__device__ void bring(BlockGroup& group, const PlusMemory& m, std::int32_t individual, std::byte* place, kernel::PlusIndividual& own) {
  const PlusHome& home = m.homes[individual];
  view(group, m, individual, place, own);
  if (place != home.piece) carry(group, m, home.individual, home.piece, place);
}

__device__ void take_home(BlockGroup& group, const PlusMemory& m, std::int32_t individual, std::byte* place,
                          const kernel::PlusIndividual& own) {
  std::byte* const home = m.homes[individual].piece;
  if (place != home) carry(group, m, own, place, home);
}

/// Where an individual is worked on: at home, unless that is in the host's memory.
__device__ std::byte* place_of(const PlusMemory& m, std::int32_t individual, std::byte* away) {
  return individual < m.near ? m.homes[individual].piece : away;
}

__device__ void share_place(BlockGroup& group, const PlusMemory& m, PlusShared& shared) {
  if (group.rank() == 0) shared.place = m.places[blockIdx.x];
  group.sync();
}

// Each block has one individual, or one after another: a block for each of them, or as many blocks as have memory of their own.

/// The first and those of genes begin at once; copies of the first wait for the next launch.
__global__ void __launch_bounds__(kPlusThreads) begin_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ PlusShared shared;
  BlockGroup group(shared.group);
  share_place(group, m, shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    const std::int64_t gene = std::int64_t{m.gene_of[i]} * m.v.n_jobs;
    if (i > 0 && gene < 0) continue;
    std::byte* const place = place_of(m, i, shared.place.own);
    view(group, m, i, place, shared.own);
    if (i == 0) {
      kernel::plus_begin(group, m.v, m.request, shared.own, shared.place.workspace);
    } else {
      kernel::plus_grow_up(group, m.v, m.request.gene + gene, m.request.order + gene, shared.own, shared.place.workspace);
    }
    take_home(group, m, i, place, shared.own);
  }
}

__global__ void __launch_bounds__(kPlusThreads) copy_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    if (i > 0 && m.gene_of[i] < 0) kernel::plus_copy(group, m.v, m.homes[0].individual, m.homes[i].individual);
  }
}

/// Who gives does not take, so that nobody reads what another block writes.
__global__ void __launch_bounds__(kPlusThreads) cross_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ PlusShared shared;
  BlockGroup group(shared.group);
  share_place(group, m, shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    const std::int32_t mate = kernel::plus_mate(m.request, *m.result.generations, i);
    if (mate < 0) continue;
    std::byte* const place = place_of(m, i, shared.place.own);
    bring(group, m, i, place, shared.own);
    bring(group, m, mate, place_of(m, mate, shared.place.mate), shared.mate);
    kernel::plus_cross(group, m.v, m.request, shared.mate, shared.own, shared.place.workspace);
    take_home(group, m, i, place, shared.own);
  }
}

__global__ void __launch_bounds__(kPlusThreads) improve_kernel(const __grid_constant__ PlusMemory m) {
  extern __shared__ uint4 dynamic[];
  __shared__ PlusShared shared;
  BlockGroup group(shared.group);
  share_place(group, m, shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < m.individuals; i += static_cast<std::int32_t>(gridDim.x)) {
    std::byte* const place = m.in_shared != 0 ? reinterpret_cast<std::byte*>(dynamic) : place_of(m, i, shared.place.own);
    bring(group, m, i, place, shared.own);
    kernel::plus_improve(group, m.v, m.request, *m.result.generations, i, shared.own, shared.place.workspace);
    take_home(group, m, i, place, shared.own);
  }
}

/// Of individuals [first, last) the one of the greatest score, of equals the first. All threads.
__device__ std::int32_t best_of(BlockGroup& group, const PlusMemory& m, std::int32_t first, std::int32_t last) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  kernel::Key best = kernel::kNoKey;
  for (std::int32_t i = first + group.rank(); i < last; i += group.size()) {
    const std::uint64_t score = static_cast<std::uint64_t>(m.score[i]) ^ kSign;  // in the order of unsigned numbers
    const kernel::Key key{~score, static_cast<std::uint64_t>(i)};
    if (key < best) best = key;
  }
  return static_cast<std::int32_t>(group.min(best).lo);
}

/// One block: the score of a generation, or of the beginning, and on to the next.
__global__ void __launch_bounds__(kPlusThreads) best_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const std::int32_t best = best_of(group, m, 0, m.individuals);
  if (group.rank() != 0) return;
  const std::int32_t made = *m.result.generations + 1;
  m.result.score[made] = m.score[best];
  *m.result.generations = made;
}

/// Rows and entries of one individual, job after job without gaps. All threads.
__device__ void report(BlockGroup& group, const PlusMemory& m, const kernel::PlusIndividual& x) {
  std::int64_t done = 0;
  for (std::int32_t first = 0; first < m.v.n_jobs; first += group.size()) {
    const std::int32_t job = first + group.rank();
    const bool has = job < m.v.n_jobs && x.row[job] >= 0;
    const std::int32_t n = has ? x.entry_end[job] - x.entry_begin[job] : 0;
    std::int64_t all = 0;
    const auto begin = static_cast<std::int32_t>(done + group.scan(n, all));
    done += all;
    if (job >= m.v.n_jobs) continue;
    m.result.row[job] = x.row[job];
    m.result.entry_begin[job] = begin;
    m.result.entry_end[job] = begin + n;
    for (std::int32_t e = 0; e < n; ++e) m.result.entries[begin + e] = x.entries[x.entry_begin[job] + e];
  }
}

/// One block for the best plan, then one for the shapes of the best of each island.
__global__ void __launch_bounds__(kPlusThreads) report_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  if (blockIdx.x == 0) {
    report(group, m, m.homes[best_of(group, m, 0, m.individuals)].individual);
    return;
  }
  const auto island = static_cast<std::int32_t>(blockIdx.x) - 1;
  const std::int32_t first = island * m.request.population;
  const kernel::PlusIndividual& best = m.homes[best_of(group, m, first, first + m.request.population)].individual;
  kernel::copy_column(group, best.row, m.result.gene + std::int64_t{island} * m.v.n_jobs, m.v.n_jobs);
}

}  // namespace

// A column that upload does not know would reach the device as a host address.
static_assert(sizeof(kernel::PlusView) == 808, "PlusView changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::PlusRequest) == 80, "PlusRequest changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::PlusResult) == 56, "PlusResult changed: download its new columns, then change this number");
// Nor may a part of the host's problem stay in an individual or a workspace.
static_assert(sizeof(kernel::PlusIndividual) == 176, "PlusIndividual changed: do moved and upload_homes know it, then change this number");
static_assert(sizeof(kernel::PlusWorkspace) == 120, "PlusWorkspace changed: does upload_homes know it, then change this number");

/// How many blocks of improve_kernel a device runs at once, and the shared memory that one may have besides its own.
struct Room {
  std::int32_t blocks;
  std::size_t shared;
};

Room room_of_device(std::size_t shared_bytes) {
  int device = 0, multiprocessors = 0, most = 0, blocks = 0;
  cudaFuncAttributes attributes{};
  check(cudaGetDevice(&device), "ask for the current device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "ask for the device's multiprocessors");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "ask for the device's shared memory");
  check(cudaFuncGetAttributes(&attributes, improve_kernel), "ask for the size of improve_kernel");
  const std::size_t shared = static_cast<std::size_t>(most) - std::min(static_cast<std::size_t>(most), attributes.sharedSizeBytes);
  const std::size_t dynamic = shared_bytes <= shared ? shared_bytes : 0;
  check(cudaFuncSetAttribute(improve_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(dynamic)),
        "reserve shared memory for individuals");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, improve_kernel, kPlusThreads, dynamic), "ask for room for improve_kernel");
  return {std::max(1, blocks * multiprocessors), dynamic};
}

std::size_t PlanEvolver::pieces_bytes() const {
  return static_cast<std::size_t>(memory_.near) * individual_piece_ + static_cast<std::size_t>(blocks_) * place_piece_;
}

// All that is written, in one piece of memory. Sizes and addresses only are computed here, so the host's problem serves.
std::size_t PlanEvolver::carve(const cuda_abi::PlusTask& task, std::byte* block) {
  const kernel::PlusView& v = *task.problem;
  const kernel::PlusRequest& request = *task.request;
  PlusMemory& m = memory_;
  kernel::Carver carver{block};
  for (std::int32_t** const column : {&m.result.row, &m.result.entry_begin, &m.result.entry_end}) {
    *column = carver.take<std::int32_t>(v.n_jobs);
  }
  m.result.entries = carver.take<kernel::PlacedRow>(kernel::plus_gpus(v.problem));
  m.result.score = carver.take<std::int64_t>(std::int64_t{request.generations} + 1);
  m.result.gene = carver.take<std::int32_t>(std::int64_t{request.islands} * v.n_jobs);
  m.result.generations = carver.take<std::int32_t>(1);
  m.score = carver.take<std::int64_t>(m.individuals);
  m.homes = carver.take<PlusHome>(m.individuals);
  m.places = carver.take<PlusPlace>(blocks_);
  carver.used = round_up(carver.used);
  pieces_ = carver.take<std::byte>(static_cast<std::int64_t>(pieces_bytes()));
  return carver.used;
}

// Individuals have their homes in device memory, as many as there is room for, and the others in the host's: then a block that works on one
// of these has a copy of it, and one of its mate.
void PlanEvolver::divide(const cuda_abi::PlusTask& task, std::size_t room, std::int32_t most_blocks) {
  memory_.near = blocks_ = memory_.individuals;
  place_piece_ = workspace_piece_;
  if (carve(task, nullptr) <= room) return;
  memory_.near = blocks_ = 0;
  place_piece_ = workspace_piece_ + 2 * individual_piece_;
  const std::size_t fixed = carve(task, nullptr) + static_cast<std::size_t>(most_blocks) * sizeof(PlusPlace);
  std::size_t left = room > fixed ? room - fixed : 0;
  const std::int32_t most = std::min(most_blocks, memory_.individuals);
  blocks_ = static_cast<std::int32_t>(std::clamp<std::size_t>(left / place_piece_, 1, static_cast<std::size_t>(most)));
  left -= std::min(left, static_cast<std::size_t>(blocks_) * place_piece_);
  memory_.near = static_cast<std::int32_t>(std::min(left / individual_piece_, static_cast<std::size_t>(memory_.individuals)));
}

void PlanEvolver::reserve(const cuda_abi::PlusTask& task, const Tuning& tuning) {
  const kernel::PlusView& v = *task.problem;
  memory_.individuals = kernel::plus_individuals(*task.request);
  memory_.individual_bytes = kernel::plus_individual_bytes(v);
  individual_piece_ = round_up(memory_.individual_bytes);
  workspace_piece_ = round_up(kernel::plus_workspace_bytes(v));
  const bool small = memory_.individual_bytes <= static_cast<std::size_t>(tuning.search_shared);
  const Room device = room_of_device(small ? memory_.individual_bytes : 0);
  shared_bytes_ = device.shared;
  memory_.in_shared = shared_bytes_ != 0 ? 1 : 0;

  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "ask for free device memory");
  for (std::size_t room = (free + block_.capacity()) / 100 * static_cast<std::size_t>(tuning.memory_percent);; room /= 2) {
    divide(task, room, device.blocks);
    try {
      block_.reserve(carve(task, nullptr), "reserve a population of plans");
      break;
    } catch (const CudaError& error) {
      // Others may use the device too, so that less is there than was free.
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

void PlanEvolver::upload(const cuda_abi::PlusTask& task, const DeviceProblem& device, const Stream& stream) {
  const kernel::PlusView& v = *task.problem;
  const kernel::PlusRequest& request = *task.request;
  gene_of_.assign(static_cast<std::size_t>(kernel::plus_individuals(request)), kernel::kNone);
  for (std::int32_t i = 0; i < request.n_genes; ++i) gene_of_[static_cast<std::size_t>(kernel::plus_gene_at(request, i))] = i;

  inputs_.clear();
  const auto add = [&](const auto* column, std::int64_t n) { return inputs_.add(column, static_cast<std::size_t>(n) * sizeof(*column)); };
  const std::int64_t jobs = v.n_jobs, nodes = v.problem.n_nodes, types = v.problem.n_types;
  const std::int64_t rows = v.row_begin[jobs], genes = request.n_genes * jobs;
  const std::size_t slot = add(v.slot, jobs), row_begin = add(v.row_begin, jobs + 1), demand = add(v.demand, rows), run = add(v.run, rows),
                    worth = add(v.worth, rows * v.n_classes), rank_begin = add(v.rank_begin, jobs + 1),
                    ranked = add(v.ranked, v.rank_begin[jobs]), want = add(v.want, jobs), turn = add(v.turn, jobs),
                    current = add(v.current, jobs), moved_worth = add(v.moved_worth, jobs * v.n_classes),
                    fragment = add(v.fragment, v.fragment == nullptr ? 0 : types * kernel::kSizesPerNode),
                    type_begin = add(v.type_begin, types + 1), type_node = add(v.type_node, v.type_begin[types]),
                    room = add(v.room, v.problem.domains.n_domains), node_room = add(v.node_room, nodes), block = add(v.block, nodes);
  const std::size_t row = add(request.row, jobs), entry_begin = add(request.entry_begin, jobs + 1),
                    entries = add(request.entries, request.entry_begin[jobs]), gene = add(request.gene, genes),
                    order = add(request.order, genes), gene_of = add(gene_of_.data(), kernel::plus_individuals(request));
  inputs_.upload(stream.get());

  PlusMemory& m = memory_;
  m.v = v;
  m.v.problem = device.view;
  m.v.slot = inputs_.at<const std::int32_t>(slot);
  m.v.row_begin = inputs_.at<const std::int32_t>(row_begin);
  m.v.demand = inputs_.at<const std::int32_t>(demand);
  m.v.run = inputs_.at<const TimeUs>(run);
  m.v.worth = inputs_.at<const std::int64_t>(worth);
  m.v.rank_begin = inputs_.at<const std::int32_t>(rank_begin);
  m.v.ranked = inputs_.at<const std::int32_t>(ranked);
  m.v.want = inputs_.at<const std::int32_t>(want);
  m.v.turn = inputs_.at<const std::int32_t>(turn);
  m.v.current = inputs_.at<const std::int32_t>(current);
  m.v.moved_worth = inputs_.at<const std::int64_t>(moved_worth);
  if (v.fragment != nullptr) m.v.fragment = inputs_.at<const std::int64_t>(fragment);
  m.v.type_begin = inputs_.at<const std::int32_t>(type_begin);
  m.v.type_node = inputs_.at<const std::int32_t>(type_node);
  m.v.room = inputs_.at<const std::int32_t>(room);
  m.v.node_room = inputs_.at<const std::int32_t>(node_room);
  m.v.block = inputs_.at<const std::int32_t>(block);
  m.request = request;
  m.request.row = inputs_.at<const std::int32_t>(row);
  m.request.entry_begin = inputs_.at<const std::int32_t>(entry_begin);
  m.request.entries = inputs_.at<const kernel::PlacedRow>(entries);
  m.request.gene = inputs_.at<const std::int32_t>(gene);
  m.request.order = inputs_.at<const std::int32_t>(order);
  m.gene_of = inputs_.at<const std::int32_t>(gene_of);
}

void PlanEvolver::upload_homes(const cuda_abi::PlusTask& task, const Stream& stream) {
  const kernel::PlusView& v = *task.problem;
  const PlusMemory& m = memory_;
  host_homes_.reserve(static_cast<std::size_t>(m.individuals), "reserve host memory for a population of plans");
  for (std::int32_t i = 0; i < m.individuals; ++i) {
    std::byte* const first = i < m.near ? pieces_ : far_.data();
    PlusHome& home = host_homes_.data()[i];
    home.piece = first + static_cast<std::size_t>(i < m.near ? i : i - m.near) * individual_piece_;
    home.individual = kernel::carve_plus_individual(home.piece, v);
    home.individual.score = m.score + i;  // read of all after each generation, wherever they are
    // What all individuals read of the problem: the carving took it from the host's.
    home.individual.s.used_ppm = const_cast<std::int32_t*>(m.v.problem.gpu_used_ppm);
    home.individual.s.used_memory = const_cast<std::int64_t*>(m.v.problem.gpu_used_memory);
  }
  host_places_.reserve(static_cast<std::size_t>(blocks_), "reserve host memory for a population of plans");
  for (std::int32_t b = 0; b < blocks_; ++b) {
    std::byte* const piece = pieces_ + static_cast<std::size_t>(m.near) * individual_piece_ + static_cast<std::size_t>(b) * place_piece_;
    host_places_.data()[b] = {kernel::carve_plus_workspace(piece, v), piece + workspace_piece_,
                              piece + workspace_piece_ + individual_piece_};
  }
  const auto send = [&](auto* to, const auto* from, std::int32_t n) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyHostToDevice, stream.get()),
          "upload a population of plans");
  };
  send(m.homes, host_homes_.data(), m.individuals);
  send(m.places, host_places_.data(), blocks_);
}

void PlanEvolver::begin(const Stream& stream) {
  const PlusMemory& m = memory_;
  const auto blocks = static_cast<unsigned>(blocks_);
  check(cudaMemsetAsync(m.result.generations, 0xff, sizeof(std::int32_t), stream.get()), "clear a count");  // -1
  // Copies of whole individuals have what nobody has written, too.
  check(cudaMemsetAsync(pieces_, 0, pieces_bytes(), stream.get()), "clear a population of plans");
  begin_kernel<<<blocks, kPlusThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch begin_kernel");
  copy_kernel<<<blocks, kPlusThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch copy_kernel");
  best_kernel<<<1, kPlusThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch best_kernel");
}

// Its number is in device memory, so that the same launches make every generation. Their checks do not wait: they may be captured.
void PlanEvolver::generation(const Stream& stream) const {
  const PlusMemory& m = memory_;
  const auto blocks = static_cast<unsigned>(blocks_);
  cross_kernel<<<blocks, kPlusThreads, 0, stream.get()>>>(m);
  check(cudaGetLastError(), "launch cross_kernel");
  improve_kernel<<<blocks, kPlusThreads, shared_bytes_, stream.get()>>>(m);
  check(cudaGetLastError(), "launch improve_kernel");
  best_kernel<<<1, kPlusThreads, 0, stream.get()>>>(m);
  check(cudaGetLastError(), "launch best_kernel");
}

// The first is launched kernel by kernel, which loads the kernels; all others are launches of one graph of it. They are launched ahead,
// for about as long as somebody who wants to stop may be kept waiting.
void PlanEvolver::generations(const cuda_abi::PlusTask& task, const Stream& stream) {
  using Clock = std::chrono::steady_clock;
  const std::int32_t all = task.request->generations;
  std::int32_t ahead = task.stop == nullptr ? all : 1;
  if (task.stop != nullptr) stream.wait("begin to evolve plans");  // what time is left is asked after the beginning
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

void PlanEvolver::download(const cuda_abi::PlusTask& task, const Stream& stream) {
  const PlusMemory& m = memory_;
  const kernel::PlusResult& result = task.result;
  report_kernel<<<static_cast<unsigned>(m.request.islands) + 1, kPlusThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch report_kernel");
  const auto fetch = [&](auto* to, const auto* from, std::int64_t n) {
    if (n == 0) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyDeviceToHost, stream.get()), "download a plan");
  };
  const std::int64_t jobs = m.v.n_jobs;
  fetch(result.generations, m.result.generations, 1);
  fetch(result.row, m.result.row, jobs);
  fetch(result.entry_begin, m.result.entry_begin, jobs);
  fetch(result.entry_end, m.result.entry_end, jobs);
  fetch(result.gene, m.result.gene, m.request.islands * jobs);
  stream.wait("evolve plans");
  fetch(result.entries, m.result.entries, result.entry_end[jobs - 1]);
  fetch(result.score, m.result.score, std::int64_t{*result.generations} + 1);
  stream.wait("download a plan");
}

void PlanEvolver::run(const cuda_abi::PlusTask& task, const DeviceProblem& device, const Tuning& tuning, const Stream& stream) {
  reserve(task, tuning);
  upload(task, device, stream);
  upload_homes(task, stream);
  begin(stream);
  generations(task, stream);
  download(task, stream);
}

}  // namespace berth::cuda
