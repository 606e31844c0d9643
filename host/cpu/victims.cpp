#include "host/cpu/victims.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/victims/victims.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {

void sum_victim_rows(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, std::vector<std::int64_t>& rows) {
  rows.assign(1, 0);
  rows.reserve(to_index(request.n_candidates) + 1);
  for (std::int32_t c = 0; c < request.n_candidates; ++c) {
    const std::int32_t job = request.candidate_job[c];
    rows.push_back(rows.back() + problem.held_end[job] - problem.held_begin[job]);
  }
}

kernel::VictimsPositions CpuVictims::positions(const kernel::ProblemView& problem, const kernel::VictimsRequest& request) {
  kernel::VictimsPositions positions{};
  for (std::int32_t q = 0; q < request.n; ++q) {
    if (!kernel::needs_positions(problem, request, q)) continue;
    const std::int32_t topology = request.topology[q];
    std::vector<std::int32_t>& own = position_[topology];
    if (positions.position[topology] != nullptr) continue;
    own.resize(to_index(problem.n_nodes));
    for (std::int32_t i = 0; i < problem.n_nodes; ++i) kernel::VictimsPositionBody{problem.topology[topology].order, own.data()}(i);
    positions.position[topology] = own.data();
  }
  return positions;
}

void CpuVictims::run(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result,
                     int threads) {
  std::fill_n(result.chosen, request.n_chosen, std::uint8_t{0});
  const kernel::VictimsPositions known = positions(problem, request);
  sum_victim_rows(problem, request, rows_before_);
  std::size_t most = 0;
  kernel::VictimsWorkspace unused{};
  for (std::int32_t q = 0; q < request.n; ++q) {
    const kernel::VictimsSizes sizes = kernel::victims_sizes(problem, request, rows_before_.data(), q, 1);
    most = std::max(most, kernel::carve_victims_workspace(nullptr, sizes, 1, unused));
  }
  // A question about one node takes a microsecond or two, and a thread costs more than a few of them.
  const std::int64_t grain = most > 64 * 1024 ? 1 : 32;
  Threads started(std::min<std::int64_t>(threads, (request.n + grain - 1) / grain));
  if (lanes_.size() < started.n()) lanes_.resize(started.n());
  for (std::size_t lane = 0; lane < started.n(); ++lane) {
    if (lanes_[lane].size() < most) lanes_[lane].resize(most);
  }
  for_each_in_lanes(started, request.n, grain, [&](std::int64_t i, std::size_t lane) {
    const auto q = static_cast<std::int32_t>(i);
    kernel::VictimsWorkspace ws{};
    kernel::carve_victims_workspace(lanes_[lane].data(), kernel::victims_sizes(problem, request, rows_before_.data(), q, 1), 1, ws);
    kernel::SerialGroup group;
    kernel::victims(group, problem, known, request, q, ws, result);
  });
}

}  // namespace berth::cpu
