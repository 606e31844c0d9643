#include "host/reference/score/score.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "host/reference/place/capacity.hpp"

namespace berth::reference {
namespace {

using kernel::CandidateRow;
using kernel::kNone;
using kernel::ProblemView;
using Wide = __int128;

// The requested domains that have a name, including those without nodes.
std::map<std::int32_t, NodeList> domains_of(const ProblemView& p, const kernel::ScoreQuery& request) {
  std::map<std::int32_t, NodeList> sets;
  const bool cluster = request.level == p.topology[request.topology].levels - 1;
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    const std::int32_t domain = domain_of(p, request.topology, request.level, n);
    if (request.level == 0 || cluster || p.domains.named[domain] != 0) sets[domain].push_back(n);
  }
  return sets;
}

bool holds(const Trial& ask, const State& s, const NodeList& set) {
  for (std::int32_t g = ask.demand->group_begin; g < ask.demand->group_end; ++g) {
    const kernel::GroupRow& group = ask.problem->groups[g];
    if (group.members > 0 && full_size(ask, s, group, set).cap < group.members) return false;
  }
  return free_gpus(ask, s, set) >= ask.demand->gpus;
}

std::int64_t saturated(Wide value, std::int64_t limit) { return static_cast<std::int64_t>(std::clamp<Wide>(value, -Wide{limit}, limit)); }

}  // namespace

void score(const ProblemView& p, const kernel::ScoreQuery& request, CandidateRow* out) {
  const State state(p);
  const auto domains = domains_of(p, request);
  const std::int64_t limit = request.n == 0 ? 0 : kScoreCeiling / request.n;
  const std::int32_t first = request.level == 0 ? 0 : p.topology[request.topology].level_begin[request.level];
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.jobs[i];
    std::vector<CandidateRow> all;
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const kernel::DemandRow& demand = p.demands[p.options[o].demand];
      const TimeUs run = request.option_run[o];
      const Trial ask{&p, &demand, run, request.now};
      for (const auto& domain : domains) {
        if (!holds(ask, state, domain.second)) continue;
        CandidateRow c{};
        c.gpu_time_ms = run == kNever ? 0 : saturated(Wide{demand.gpus} * (run / 1000), limit);
        c.leftover = free_gpus(ask, state, domain.second) - demand.gpus;
        const std::int64_t cost = request.domain_cost == nullptr ? 0 : request.domain_cost[domain.first - first];
        c.score = saturated(Wide{c.gpu_time_ms} + Wide{request.leftover_weight} * c.leftover + cost, limit);
        c.option = o - p.option_begin[job];
        c.where = domain.first;
        all.push_back(c);
      }
    }
    std::sort(all.begin(), all.end(), [](const CandidateRow& a, const CandidateRow& b) {
      return std::tie(a.score, a.option, a.where) < std::tie(b.score, b.option, b.where);
    });
    all.resize(static_cast<std::size_t>(request.k), CandidateRow{0, 0, 0, kNone, kNone});
    std::copy(all.begin(), all.end(), out + static_cast<std::ptrdiff_t>(i) * request.k);
  }
}

}  // namespace berth::reference
