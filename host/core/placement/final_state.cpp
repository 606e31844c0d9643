#include "host/core/placement/final_state.hpp"

#include <bit>
#include <cassert>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/releases.hpp"

namespace berth::core {
namespace {

template <class T>
void copy(std::vector<T>& to, const T* from, std::int64_t n) {
  to.assign(from, from + n);
}

}  // namespace

void FinalState::begin(const kernel::ProblemView& p) {
  problem_ = &p;
  copy(free_, p.node_free, p.n_nodes);
  copy(spare_, p.node_spare, p.n_nodes);
  copy(cpu_, p.node_cpu, p.n_nodes);
  copy(memory_, p.node_memory, p.n_nodes);
  owns_shares_ = false;
  copy(queue_used_, p.queue_used, std::int64_t{p.n_queues} * (p.n_types + 1));
}

void FinalState::own_shares() {
  if (owns_shares_) return;
  const std::int64_t gpus = problem_->gpu_begin[problem_->n_nodes];
  copy(used_ppm_, problem_->gpu_used_ppm, gpus);
  copy(used_memory_, problem_->gpu_used_memory, gpus);
  owns_shares_ = true;
}

void FinalState::release(std::int32_t job) {
  const kernel::ProblemView& p = *problem_;
  std::int64_t quota = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const kernel::HeldRow& row = p.held[h];
    std::uint64_t freed = row.mask;
    if (row.share_ppm < kWholeGpu) {
      own_shares();
      for (std::uint64_t left = row.mask; left != 0; left &= left - 1) {
        const std::size_t g = to_index(p.gpu_begin[row.node] + std::countr_zero(left));
        used_ppm_[g] -= row.share_ppm;
        used_memory_[g] -= row.gpu_memory;
        assert(used_ppm_[g] >= 0);
        if (used_ppm_[g] > 0) freed &= ~(left & (~left + 1));
      }
    }
    quota += std::int64_t{row.share_ppm} * std::popcount(row.mask);
    free_[to_index(row.node)] |= freed & p.node_open[row.node];
    if (cpu_[to_index(row.node)] != kernel::kNoLimit) cpu_[to_index(row.node)] += row.cpu;
    if (memory_[to_index(row.node)] != kernel::kNoLimit) memory_[to_index(row.node)] += row.memory;
  }
  charge_queue(job, p.held_type[job], -quota);
}

void FinalState::take(const kernel::DemandRow& demand, const kernel::PlacedRow& entry) {
  const kernel::ProblemView& p = *problem_;
  const kernel::GroupRow& row = p.groups[demand.group_begin + entry.group];
  const std::size_t n = to_index(entry.node);
  free_[n] &= ~entry.mask;
  spare_[n] &= ~entry.mask;
  if (cpu_[n] != kernel::kNoLimit) cpu_[n] -= entry.members * row.cpu;
  if (memory_[n] != kernel::kNoLimit) memory_[n] -= entry.members * row.memory;
  if (row.share_ppm < kWholeGpu) {
    own_shares();
    const std::size_t g = to_index(p.gpu_begin[entry.node] + std::countr_zero(entry.mask));
    used_ppm_[g] += row.share_ppm;
    used_memory_[g] += row.gpu_memory;
  }
}

void FinalState::charge_queue(std::int32_t job, std::int32_t gpu_type, std::int64_t quota) {
  const kernel::ProblemView& p = *problem_;
  if (gpu_type < 0) return;
  kernel::charge_queues({p.queue_parent, p.queue_cap, p.queue_kept, queue_used_.data(), p.n_types}, p.job_queue[job], gpu_type, quota);
}

kernel::ProblemView FinalState::view() const {
  kernel::ProblemView v = *problem_;
  v.node_free = free_.data();
  v.node_spare = spare_.data();
  v.node_cpu = cpu_.data();
  v.node_memory = memory_.data();
  v.gpu_used_ppm = used_ppm();
  v.gpu_used_memory = used_memory();
  v.queue_used = queue_used_.data();
  return v;
}

SupplyView FinalState::supply() const { return {free_.data(), cpu_.data(), memory_.data(), used_ppm(), used_memory(), nullptr}; }

}  // namespace berth::core
