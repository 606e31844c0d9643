#include "cuda/plus.cuh"

#include <algorithm>
#include <chrono>

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
  PlusSlot own;
  kernel::PlusIndividual other;
};

/// Copies addresses for the block. @returns the copy, which all may read.
template <class T>
__device__ const T& share(BlockGroup& group, const T& from, T& to) {
  if (group.rank() == 0) to = from;
  group.sync();
  return to;
}

/// One block for each individual. The first and those of genes begin at once; copies of the first wait for the next launch.
__global__ void __launch_bounds__(kPlusThreads) begin_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ PlusShared shared;
  BlockGroup group(shared.group);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  const std::int64_t gene = std::int64_t{m.gene_of[individual]} * m.v.n_jobs;
  if (individual > 0 && gene < 0) return;
  const PlusSlot& own = share(group, m.slots[individual], shared.own);
  if (individual == 0) {
    kernel::plus_begin(group, m.v, m.request, own.individual, own.workspace);
  } else {
    kernel::plus_grow_up(group, m.v, m.request.gene + gene, m.request.order + gene, own.individual, own.workspace);
  }
}

/// One block for each individual.
__global__ void __launch_bounds__(kPlusThreads) copy_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ PlusShared shared;
  BlockGroup group(shared.group);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  if (individual == 0 || m.gene_of[individual] >= 0) return;
  const PlusSlot& own = share(group, m.slots[individual], shared.own);
  kernel::plus_copy(group, m.v, share(group, m.slots[0].individual, shared.other), own.individual);
}

/// One block for each individual. Who gives does not take, so that nobody reads what another block writes.
__global__ void __launch_bounds__(kPlusThreads) cross_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ PlusShared shared;
  BlockGroup group(shared.group);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t mate = kernel::plus_mate(m.request, *m.result.generations, individual);
  if (mate < 0) return;
  const PlusSlot& own = share(group, m.slots[individual], shared.own);
  const kernel::PlusIndividual& other = share(group, m.slots[mate].individual, shared.other);
  kernel::plus_cross(group, m.v, m.request, other, own.individual, own.workspace);
}

/// One block for each individual.
__global__ void __launch_bounds__(kPlusThreads) improve_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ PlusShared shared;
  BlockGroup group(shared.group);
  const auto individual = static_cast<std::int32_t>(blockIdx.x);
  const PlusSlot& own = share(group, m.slots[individual], shared.own);
  kernel::plus_improve(group, m.v, m.request, *m.result.generations, individual, own.individual, own.workspace);
}

/// Of individuals [first, last) the one of the greatest score, of equals the first. All threads.
__device__ std::int32_t best_of(BlockGroup& group, const PlusMemory& m, std::int32_t first, std::int32_t last) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  kernel::Key best = kernel::kNoKey;
  for (std::int32_t i = first + group.rank(); i < last; i += group.size()) {
    const std::uint64_t score = static_cast<std::uint64_t>(*m.slots[i].individual.score) ^ kSign;  // in the order of unsigned numbers
    const kernel::Key key{~score, static_cast<std::uint64_t>(i)};
    if (key < best) best = key;
  }
  return static_cast<std::int32_t>(group.min(best).lo);
}

/// One block: the score of a generation, or of the beginning, and on to the next.
__global__ void __launch_bounds__(kPlusThreads) best_kernel(const __grid_constant__ PlusMemory m) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const std::int32_t best = best_of(group, m, 0, kernel::plus_individuals(m.request));
  if (group.rank() != 0) return;
  const std::int32_t made = *m.result.generations + 1;
  m.result.score[made] = *m.slots[best].individual.score;
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
    report(group, m, m.slots[best_of(group, m, 0, kernel::plus_individuals(m.request))].individual);
    return;
  }
  const auto island = static_cast<std::int32_t>(blockIdx.x) - 1;
  const std::int32_t first = island * m.request.population;
  const kernel::PlusIndividual& best = m.slots[best_of(group, m, first, first + m.request.population)].individual;
  kernel::copy_column(group, best.row, m.result.gene + std::int64_t{island} * m.v.n_jobs, m.v.n_jobs);
}

}  // namespace

// A column that upload does not know would reach the device as a host address.
static_assert(sizeof(kernel::PlusView) == 808, "PlusView changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::PlusRequest) == 80, "PlusRequest changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::PlusResult) == 56, "PlusResult changed: download its new columns, then change this number");
// Nor may a part of the host's problem stay in an individual or a workspace.
static_assert(sizeof(kernel::PlusIndividual) == 176, "PlusIndividual changed: does upload_slots know it, then change this number");
static_assert(sizeof(kernel::PlusWorkspace) == 120, "PlusWorkspace changed: does upload_slots know it, then change this number");

// All that is written, in one piece of memory. Sizes and addresses only are computed here, so the host's problem serves.
void PlanEvolver::reserve(const cuda_abi::PlusTask& task) {
  const kernel::PlusView& v = *task.problem;
  const kernel::PlusRequest& request = *task.request;
  const std::int64_t individuals = kernel::plus_individuals(request);
  individual_piece_ = round_up(kernel::plus_individual_bytes(v));
  workspace_piece_ = round_up(kernel::plus_workspace_bytes(v));
  PlusMemory& m = memory_;
  const auto carve = [&](std::byte* block) {
    kernel::Carver carver{block};
    for (std::int32_t** const column : {&m.result.row, &m.result.entry_begin, &m.result.entry_end}) {
      *column = carver.take<std::int32_t>(v.n_jobs);
    }
    m.result.entries = carver.take<kernel::PlacedRow>(kernel::plus_gpus(v.problem));
    m.result.score = carver.take<std::int64_t>(std::int64_t{request.generations} + 1);
    m.result.gene = carver.take<std::int32_t>(std::int64_t{request.islands} * v.n_jobs);
    m.result.generations = carver.take<std::int32_t>(1);
    m.slots = carver.take<PlusSlot>(individuals);
    carver.used = round_up(carver.used);
    pieces_ = carver.take<std::byte>(individuals * static_cast<std::int64_t>(individual_piece_ + workspace_piece_));
    return carver.used;
  };
  block_.reserve(carve(nullptr), "reserve a population of plans");
  carve(block_.data());
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

void PlanEvolver::upload_slots(const cuda_abi::PlusTask& task, const Stream& stream) {
  const kernel::PlusView& v = *task.problem;
  const auto individuals = static_cast<std::size_t>(kernel::plus_individuals(*task.request));
  host_slots_.reserve(individuals, "reserve host memory for a population of plans");
  for (std::size_t i = 0; i < individuals; ++i) {
    std::byte* const piece = pieces_ + i * (individual_piece_ + workspace_piece_);
    PlusSlot& slot = host_slots_.data()[i];
    slot.individual = kernel::carve_plus_individual(piece, v);
    // What all individuals read of the problem: the carving took it from the host's.
    slot.individual.s.used_ppm = const_cast<std::int32_t*>(memory_.v.problem.gpu_used_ppm);
    slot.individual.s.used_memory = const_cast<std::int64_t*>(memory_.v.problem.gpu_used_memory);
    slot.workspace = kernel::carve_plus_workspace(piece + individual_piece_, v);
  }
  check(cudaMemcpyAsync(memory_.slots, host_slots_.data(), individuals * sizeof(PlusSlot), cudaMemcpyHostToDevice, stream.get()),
        "upload a population of plans");
}

void PlanEvolver::begin(const Stream& stream) {
  const PlusMemory& m = memory_;
  const auto individuals = static_cast<unsigned>(kernel::plus_individuals(m.request));
  check(cudaMemsetAsync(m.result.generations, 0xff, sizeof(std::int32_t), stream.get()), "clear a count");  // -1
  begin_kernel<<<individuals, kPlusThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch begin_kernel");
  copy_kernel<<<individuals, kPlusThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch copy_kernel");
  best_kernel<<<1, kPlusThreads, 0, stream.get()>>>(m);
  check_launch(stream.get(), "launch best_kernel");
}

// Its number is in device memory, so that the same launches make every generation. Their checks do not wait: they may be captured.
void PlanEvolver::generation(const Stream& stream) const {
  const PlusMemory& m = memory_;
  const auto individuals = static_cast<unsigned>(kernel::plus_individuals(m.request));
  cross_kernel<<<individuals, kPlusThreads, 0, stream.get()>>>(m);
  check(cudaGetLastError(), "launch cross_kernel");
  improve_kernel<<<individuals, kPlusThreads, 0, stream.get()>>>(m);
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

void PlanEvolver::run(const cuda_abi::PlusTask& task, const DeviceProblem& device, const Stream& stream) {
  reserve(task);
  upload(task, device, stream);
  upload_slots(task, stream);
  begin(stream);
  generations(task, stream);
  download(task, stream);
}

}  // namespace berth::cuda
