#include "host/core/engine/make_room.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/releases.hpp"
#include "berth/kernel/victims/columns.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/engine/edit_answers.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/quota/victim_choice.hpp"
#include "host/core/state/suppose.hpp"

namespace berth::core {
namespace {

constexpr std::size_t kMostSets = 64;                  // that are tried
constexpr std::int32_t kWholeCluster = kernel::kNone;  // as a domain

/// A node (topology kNone) or a domain, and the jobs there that may move, as positions in their list.
struct RoomPlace {
  std::int32_t topology = 0, domain = kWholeCluster;
  std::vector<std::int32_t> jobs;
};

/// Questions to the operation `victims`: a demand and a place.
struct RoomQuestion {
  std::int32_t demand = 0;
  std::size_t place = 0;
};

/// Places that a job may use, each once.
class RoomPlaces {
 public:
  explicit RoomPlaces(const kernel::ProblemView& problem) : p_(problem) {}

  // Where the group must be in one domain of a level, the domains of that level. Else nodes, all domains of switches, and the cluster.
  void ask(std::int32_t row) {
    const kernel::DemandRow& demand = p_.demands[row];
    const kernel::GroupRow& group = p_.groups[demand.group_begin];
    const bool anywhere = group.require_level < 0 || group.require_level >= p_.topology[group.require_topology].levels - 1;
    if ((anywhere || group.require_level == 0) && demand.gpus <= kMaxGpusPerNode) {
      for (std::int32_t node = 0; node < p_.n_nodes; ++node) {
        if (p_.node_type[node] == demand.gpu_type) add(row, kernel::kNone, node);
      }
    }
    if (anywhere) {
      const auto switches = static_cast<std::int32_t>(TopologyKind::kSwitch);
      for (std::int32_t level = 1; level + 1 < p_.topology[switches].levels; ++level) ask_level(row, switches, level);
      add(row, 0, kWholeCluster);
    } else if (group.require_level > 0) {
      ask_level(row, group.require_topology, group.require_level);
    }
  }

  /// Notes where the `i`-th job that may move holds GPUs.
  void put(const StateImpl& s, std::int32_t i, std::int32_t job) {
    for (std::int32_t h = p_.held_begin[job]; h < p_.held_end[job]; ++h) {
      const std::int32_t node = p_.held[h].node;
      put_at(kernel::kNone, node, i);
      put_at(0, kWholeCluster, i);
      for (const auto& [topology, level] : levels_) put_at(topology, s.topologies.domain_of(topology, level, node), i);
    }
  }

  const std::vector<RoomPlace>& places() const { return places_; }
  const std::vector<RoomQuestion>& questions() const { return questions_; }

 private:
  void ask_level(std::int32_t row, std::int32_t topology, std::int32_t level) {
    levels_.emplace(topology, level);
    const kernel::TopologyView& tree = p_.topology[topology];
    for (std::int32_t domain = tree.level_begin[level]; domain < tree.level_begin[level + 1]; ++domain) {
      if (p_.domains.named[domain] != 0) add(row, topology, domain);
    }
  }
  void add(std::int32_t row, std::int32_t topology, std::int32_t domain) {
    const auto [at, is_new] = at_.emplace(std::pair(topology, domain), places_.size());
    if (is_new) places_.push_back({topology, domain, {}});
    questions_.push_back({row, at->second});
  }
  void put_at(std::int32_t topology, std::int32_t domain, std::int32_t i) {
    const auto found = at_.find({topology, domain});
    if (found == at_.end()) return;
    std::vector<std::int32_t>& jobs = places_[found->second].jobs;
    if (jobs.empty() || jobs.back() != i) jobs.push_back(i);
  }

  const kernel::ProblemView& p_;
  std::vector<RoomPlace> places_;
  std::vector<RoomQuestion> questions_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> at_;
  std::set<std::pair<std::int32_t, std::int32_t>> levels_;  // topology and level of domains that are asked
};

bool holds_whole_gpus(const kernel::ProblemView& p, std::int32_t job) {
  return std::all_of(p.held + p.held_begin[job], p.held + p.held_end[job],
                     [](const kernel::HeldRow& row) { return row.share_ppm == kWholeGpu; });
}

bool has_room_in_queues(const kernel::ProblemView& p, std::int32_t job, const kernel::DemandRow& demand) {
  const kernel::QueueColumnsOf<const std::int64_t> queues{p.queue_parent, p.queue_cap, p.queue_kept, p.queue_used, p.n_types};
  return kernel::queues_have_room(queues, p.job_queue[job], demand.gpu_type, demand.quota);
}

std::int64_t times_gpus(TimeUs cost, std::int64_t gpus) {
  return static_cast<std::int64_t>(std::min<Wide>(Wide{cost} * gpus, kernel::kMostVictimCost / 4));
}

std::int64_t gpus_held(const StateImpl& s, std::int32_t job) {
  std::int64_t sum = 0;
  for (const PlanEntry& entry : s.jobs[to_index(job)].entries) sum += std::popcount(entry.gpus);
  return sum;
}

}  // namespace

std::vector<RoomFinder::MovableJob> RoomFinder::movable_jobs(const StateImpl& s, const std::vector<std::uint8_t>& runs) const {
  const kernel::ProblemView& p = s.problem();
  std::vector<MovableJob> movable;
  for (const std::int32_t job : s.job_order) {
    const bool may_move = s.job.running[to_index(job)] != 0 && to_index(job) < runs.size() && runs[to_index(job)] != 0 &&
                          s.job.victim_from[to_index(job)] <= s.now && !s.lost_gpus(job) && holds_whole_gpus(p, job);
    if (may_move) movable.push_back({job, times_gpus(migrate_cost(s.jobs[to_index(job)].job->costs), gpus_held(s, job))});
  }
  return movable;
}

std::vector<RoomFinder::JobSet> RoomFinder::ask(const StateImpl& s, std::int32_t job, const std::vector<MovableJob>& movable,
                                                RoomAnswer& answer) {
  const kernel::ProblemView& p = s.problem();
  RoomPlaces places(p);
  bool in_limits = false;
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    const std::int32_t row = p.options[o].demand;
    if (!has_room_in_queues(p, job, p.demands[row])) continue;
    in_limits = true;
    places.ask(row);
  }
  if (!in_limits) answer.note = "a limit of its queue holds it back, which no move changes";
  for (std::size_t i = 0; i < movable.size(); ++i) places.put(s, static_cast<std::int32_t>(i), movable[i].job);
  // Columns of the operation. Questions about one place share its jobs.
  std::vector<std::int32_t> place_begin, jobs;
  std::vector<std::int64_t> costs;
  for (const RoomPlace& place : places.places()) {
    place_begin.push_back(static_cast<std::int32_t>(jobs.size()));
    for (const std::int32_t i : place.jobs) {
      jobs.push_back(movable[to_index(i)].job);
      // One for each job: where moves cost nothing, few jobs move.
      costs.push_back(movable[to_index(i)].cost_gpu_us + 1);
    }
  }
  place_begin.push_back(static_cast<std::int32_t>(jobs.size()));
  const std::size_t n = places.questions().size();
  answer.domains = static_cast<std::int64_t>(n);
  if (n == 0) return {};
  std::vector<std::int32_t> demand, topology, domain, begin, end, out_begin, ranks(jobs.size(), 0);
  std::int32_t n_chosen = 0;
  for (const RoomQuestion& question : places.questions()) {
    const RoomPlace& place = places.places()[question.place];
    demand.push_back(question.demand);
    topology.push_back(place.topology);
    domain.push_back(place.domain);
    begin.push_back(place_begin[question.place]);
    end.push_back(place_begin[question.place + 1]);
    out_begin.push_back(n_chosen);
    n_chosen += end.back() - begin.back();
  }
  const std::vector<TimeUs> ends(n, kNever);
  std::vector<kernel::VictimsOutcome> outcome(n);
  std::vector<std::int32_t> highest(n), count(n);
  std::vector<std::int64_t> sum(n), members(n);
  std::vector<std::uint8_t> chosen(to_index(n_chosen));
  const kernel::VictimsRequest request{static_cast<std::int32_t>(n),
                                       static_cast<std::int32_t>(jobs.size()),
                                       n_chosen,
                                       demand.data(),
                                       topology.data(),
                                       domain.data(),
                                       ends.data(),
                                       begin.data(),
                                       end.data(),
                                       out_begin.data(),
                                       jobs.data(),
                                       ranks.data(),
                                       costs.data()};
  std::string note;
  backends_.run(request_.backend, request_.threads, note, [&](PlacementBackend& backend) {
    backend.victims(p, request, {outcome.data(), highest.data(), sum.data(), count.data(), members.data(), chosen.data()});
  });
  std::vector<JobSet> sets;
  for (std::size_t q = 0; q < n; ++q) {
    if (outcome[q] == kernel::VictimsOutcome::kNoRoom) continue;
    JobSet& set = sets.emplace_back();
    for (std::int32_t i = begin[q]; i < end[q] && outcome[q] == kernel::VictimsOutcome::kChosen; ++i) {
      if (chosen[to_index(out_begin[q] + i - begin[q])] == 0) continue;
      set.jobs.push_back(jobs[to_index(i)]);
      set.cost_gpu_us += costs[to_index(i)] - 1;
    }
  }
  std::sort(sets.begin(), sets.end(), [](const JobSet& a, const JobSet& b) {
    return std::tuple(a.cost_gpu_us, a.jobs.size(), a.jobs) < std::tuple(b.cost_gpu_us, b.jobs.size(), b.jobs);
  });
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

// The jobs of the set wait, and are placed again behind the job, the largest first.
bool RoomFinder::try_set(ClusterState& state, std::int32_t job, const JobSet& set, RoomAnswer& answer) {
  const StateImpl& s = state.impl();
  std::vector<std::int32_t> order = set.jobs;
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return gpus_held(s, a) > gpus_held(s, b); });
  Scenario scenario;
  scenario.params = {{"discipline", "greedy"}, {"quotas", "limits"}};
  scenario.preemptive = false;
  scenario.order.push_back(answer.job);
  std::vector<Delta> stops;
  std::map<std::string, RoomMove> moves;
  for (const std::int32_t one : order) {
    const Job& described = *s.jobs[to_index(one)].job;
    scenario.order.push_back(described.id);
    stops.emplace_back(delta::StopJob{described.id});
    const TimeUs cost = migrate_cost(described.costs);
    moves[described.id] = {described.id, described.allocation, {}, cost, times_gpus(cost, gpus_held(s, one))};
  }
  bool all = true;
  suppose(state.impl(), stops, [&] {
    const std::vector<ScenarioOutcome> outcomes = placement_.place(state, std::span<const Scenario>(&scenario, 1));
    const ScenarioOutcome& outcome = outcomes.front();
    for (std::size_t i = 0; i < outcome.job.size() && all; ++i) {
      const std::int32_t placed = outcome.job[i];
      const bool is_asked = placed == job;
      const auto move = moves.find(s.jobs[to_index(placed)].job->id);
      if (!is_asked && move == moves.end()) continue;
      all = outcome.action[i] == Action::kStart;
      if (!all) return;
      Decision d;
      d.job = placed;
      d.action = Action::kStart;
      d.shape = outcome.shape[i];
      d.entry_begin = outcome.entry_begin[i];
      d.entry_end = outcome.entry_begin[i + 1];
      Plan plan;
      plan.entries = outcome.entries;
      Allocation allocation = answer_of(s, plan, d, false).allocation;
      if (is_asked) {
        answer.allocation = std::move(allocation);
      } else {
        all = allocation.shape == move->second.from.shape;
        move->second.to = std::move(allocation);
      }
    }
  });
  if (!all) return false;
  for (auto& [id, move] : moves) {
    if (move.to == move.from) continue;
    answer.cost_gpu_us += move.cost_gpu_us;
    answer.moves.push_back(std::move(move));
  }
  return true;
}

void RoomFinder::find(ClusterState& state, std::int32_t job, const std::vector<std::uint8_t>& runs, RoomAnswer& answer) {
  const StateImpl& s = state.impl();
  if (s.node.sharing_nodes != 0 || !is_flat_gang(s.problem(), job)) {
    answer.note =
        "moves are looked for where the job is a flat gang of whole GPUs without segments and spreads, no node shares GPUs, "
        "and no node ends";
    return;
  }
  const std::vector<JobSet> sets = ask(s, job, movable_jobs(s, runs), answer);
  for (const JobSet& set : sets) {
    if (static_cast<std::size_t>(answer.sets) == kMostSets) break;
    ++answer.sets;
    answer.found = try_set(state, job, set, answer);
    if (answer.found) return;
  }
  answer.allocation = {};
  if (answer.note.empty()) {
    answer.note = sets.empty() ? "no place has room, whichever jobs that may move leave it"
                               : std::string("the jobs of no set all find another place");
  }
}

}  // namespace berth::core
