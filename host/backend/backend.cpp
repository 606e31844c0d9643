#include "host/backend/backend.hpp"

#include <algorithm>

namespace berth::core {
namespace {

// Maximum number of members of any demand of job j.
std::int64_t most_members(const kernel::ProblemView& p, std::int32_t j) {
  std::int64_t most = 0;
  for (std::int32_t o = p.option_begin[j]; o < p.option_begin[j + 1]; ++o) {
    const kernel::DemandRow& demand = p.demands[p.options[o].demand];
    std::int64_t members = 0;
    for (std::int32_t g = demand.group_begin; g < demand.group_end; ++g) members += p.groups[g].members;
    most = std::max(most, members);
  }
  return most;
}

}  // namespace

std::int32_t entry_bound(const kernel::ProblemView& p) {
  // An entry has at least one member, and a GPU or a share of its own.
  std::int64_t smallest_share = kWholeGpu;
  for (std::int32_t d = 0; d < p.n_demands; ++d) {
    for (std::int32_t g = p.demands[d].group_begin; g < p.demands[d].group_end; ++g) {
      smallest_share = std::min<std::int64_t>(smallest_share, std::max(p.groups[g].share_ppm, 1));
    }
  }
  std::int64_t pieces = 0;
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    const std::int64_t gpus = p.gpu_begin[n + 1] - p.gpu_begin[n];
    pieces += p.node_sharing[n] != 0 ? gpus * (kWholeGpu / smallest_share) : gpus;
  }
  // A placed job keeps its GPUs; the one reservation may overlap others. A job has entries only once, placed or reserved.
  // A gang may have far more members than there are GPUs or shares.
  std::int64_t by_jobs = 0;
  std::int64_t largest = 0;
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const std::int64_t members = std::min(most_members(p, j), pieces);
    by_jobs += members;
    largest = std::max(largest, members);
  }
  return static_cast<std::int32_t>(std::min<std::int64_t>(std::min(by_jobs, pieces + largest), INT32_MAX));
}

}  // namespace berth::core
