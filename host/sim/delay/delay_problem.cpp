#include "host/sim/delay/delay_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "berth/plan.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/base/job_source.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/replay/empty_state.hpp"
#include "host/sim/replay/submitted_job.hpp"

namespace berth::sim {
namespace {

constexpr auto kSwitchTopology = static_cast<std::size_t>(TopologyKind::kSwitch);
constexpr auto kNvlinkTopology = static_cast<std::size_t>(TopologyKind::kNvlink);
constexpr std::int64_t kMostRates = std::int64_t{1} << 24;

[[noreturn]] void refuse(const std::string& why) { throw InvalidArgument(fmt::format("timers are not found by replays here: {}", why)); }
[[noreturn]] void refuse(const TraceJob& job, const char* why) { refuse(fmt::format("job '{}' {}", job.id, why)); }

void check_node(const Node& node, const Node& first) {
  const auto refuse_node = [&](const char* why) { refuse(fmt::format("node '{}' {}", node.id, why)); };
  if (node.gpu_type != first.gpu_type) refuse_node("has GPUs of another type than the first node");
  if (node.nics * node.nic_bytes_per_s != first.nics * first.nic_bytes_per_s) refuse_node("has another bandwidth than the first node");
  if (!node.domain[kNvlinkTopology].empty()) refuse_node("is in a domain of the topology nvlink");
  if (!node.virtual_clusters.empty()) refuse_node("is for some virtual clusters alone");
  if (node.sharing) refuse_node("hosts shares of GPUs");
  if (node.state != NodeState::kReady) refuse_node("is not ready");
  if (node.available_from_us > 0 || node.available_until_us != kNever) refuse_node("comes or goes");
  for (const Gpu& gpu : node.gpu_list) {
    if (gpu.state != GpuState::kOk) refuse_node("has GPUs that do not work");
  }
}

void check_job(const TraceJob& job, const TraceForm& form, const Snapshot& cluster) {
  if (!job.shapes.empty() || form.shapes.size() != 1) refuse(job, "states shapes or groups, or may run in several ways");
  if (!job.phases.empty()) refuse(job, "has phases");
  if (!job.longest_wait.empty()) refuse(job, "states how long it waits for a level itself");
  if (job.deadline_hard) refuse(job, "has a hard deadline");
  if (job.epochs_micro > 0) refuse(job, "trains by epochs");
  const auto limits = [&](const auto& limit) { return std::any_of(cluster.nodes.begin(), cluster.nodes.end(), limit); };
  if (job.cpu_milli > 0 && limits([](const Node& node) { return node.cpu_milli != kUnlimited; })) refuse(job, "asks for cores of nodes");
  if (job.memory_bytes > 0 && limits([](const Node& node) { return node.memory_bytes != kUnlimited; }))
    refuse(job, "asks for memory of nodes");
}

}  // namespace

DelayProblem::DelayProblem(const Trace& trace, const Snapshot& cluster, const Overheads& overheads, std::span<const std::int64_t> most_gpus)
    : cluster_(cluster),
      state_(empty_state(cluster, false)),
      forms_(trace.profiles, cluster),
      n_classes_(static_cast<std::int32_t>(most_gpus.size())) {
  JobsOf sorted(trace);
  while (sorted.next() != nullptr) {
  }
  if (saves_while_running(overheads)) refuse("jobs save their state while they run");
  add_cluster(cluster);
  for (const TraceJob& job : trace.jobs) add_job(job, overheads, most_gpus);
}

void DelayProblem::add_cluster(const Snapshot& cluster) {
  if (cluster.nodes.empty()) refuse("the cluster has no nodes");
  if (!cluster.queues.empty()) refuse("the cluster has queues");
  if (!cluster.reservations.empty()) refuse("the cluster has reservations");
  for (const Node& node : cluster.nodes) check_node(node, cluster.nodes.front());
  const kernel::ProblemView& p = StateView(state_).problem();
  n_nodes_ = p.n_nodes;
  for (std::int32_t n = 0; n < n_nodes_; ++n) {
    gpu_mask_.push_back(p.node_open[n]);
    const std::int32_t gpus = std::popcount(p.node_open[n]);
    n_gpus_ += gpus;
    node_gpus_ = std::max(node_gpus_, gpus);
  }
  inner_begin_.assign(p.inner_begin, p.inner_begin + n_nodes_ + 1);
  inner_mask_.assign(p.inner_mask, p.inner_mask + inner_begin_.back());
  add_levels(cluster);
}

void DelayProblem::check_levels(const Snapshot& cluster) const {
  std::map<std::string_view, const Domain*> first;
  for (const Domain& domain : cluster.domains) {
    if (domain.topology != TopologyKind::kSwitch) continue;
    const Domain& other = *first.try_emplace(domain.level, &domain).first->second;
    if (domain.uplink_bytes_per_s != other.uplink_bytes_per_s || domain.latency_us != other.latency_us) {
      refuse(fmt::format("domain '{}' has another bandwidth or latency than the first of its level", domain.id));
    }
  }
  for (const Node& node : cluster.nodes) {
    if (node.domain[kSwitchTopology].empty() && !first.empty()) refuse(fmt::format("node '{}' is in no domain", node.id));
  }
}

void DelayProblem::add_levels(const Snapshot& cluster) {
  check_levels(cluster);
  const kernel::ProblemView& p = StateView(state_).problem();
  const kernel::TopologyView& f = p.topology[kSwitchTopology];
  n_levels_ = f.levels;
  const std::int32_t base = f.level_begin[1], end = f.level_begin[n_levels_];
  level_begin_.push_back(0);
  for (std::int32_t level = 1; level <= n_levels_; ++level) level_begin_.push_back(f.level_begin[level] - base);
  node_domain_.assign(to_index(n_levels_) * to_index(n_nodes_), 0);
  for (std::size_t i = to_index(n_nodes_); i < node_domain_.size(); ++i) node_domain_[i] = f.node_domain[i] - base;
  for (std::int32_t d = base; d < end; ++d) {
    const bool lowest = d < f.level_begin[2];
    child_first_.push_back(lowest ? p.domains.first[d] : p.domains.child_first[d] - base);
    child_last_.push_back(lowest ? p.domains.last[d] : p.domains.child_last[d] - base);
    if (d < f.level_begin[n_levels_ - 1] && p.domains.named[d] == 0) refuse("a node is in no domain of a level");
  }
  // As DelayTimers::begin: levels that hold more than the one below, and not all.
  const auto add_rung = [&](std::int32_t level, std::int64_t most) {
    if (!rung_gpus_.empty() && (most <= rung_gpus_.back() || most >= n_gpus_)) return;
    rung_level_.push_back(level);
    rung_gpus_.push_back(most);
  };
  add_rung(0, node_gpus_);
  for (std::int32_t level = 1; level < n_levels_ - 1; ++level) {
    std::vector<std::int64_t> gpus(to_index(level_begin_.back()), 0);
    for (std::int32_t n = 0; n < n_nodes_; ++n) {
      gpus[to_index(node_domain_[to_index(level) * to_index(n_nodes_) + to_index(n)])] += std::popcount(gpu_mask_[to_index(n)]);
    }
    add_rung(level, *std::max_element(gpus.begin(), gpus.end()));
  }
}

// Nodes of one domain of the level and of no lower one; empty: there are none.
std::vector<std::int32_t> DelayProblem::example(std::int32_t level, std::int32_t nodes) const {
  const kernel::ProblemView& p = StateView(state_).problem();
  const kernel::TopologyView& f = p.topology[kSwitchTopology];
  for (std::int32_t d = f.level_begin[level]; d < f.level_begin[level + 1]; ++d) {
    const std::int32_t first = p.domains.first[d], last = p.domains.last[d];
    const bool several = level == 1 ? last - first > 1 : p.domains.child_last[d] - p.domains.child_first[d] > 1;
    if (!several || last - first < nodes) continue;
    std::vector<std::int32_t> found;
    for (std::int32_t n = first; n < first + nodes - 1; ++n) found.push_back(n);
    found.push_back(last - 1);
    return found;
  }
  return {};
}

// Where no place is like that, any number does.
std::int64_t DelayProblem::rate_at(const TraceJob& traced, const Job& job, std::int32_t level, std::int32_t nodes,
                                   std::int32_t most) const {
  const std::int32_t gpus = traced.gpus, others = nodes - 1;
  const bool possible =
      level == 0 ? gpus <= node_gpus_ : others >= 1 && gpus - most >= others && gpus - most <= std::int64_t{others} * most;
  if (!possible) return 1;
  const std::vector<std::int32_t> places = level == 0 ? std::vector<std::int32_t>{0} : example(level, nodes);
  if (places.empty()) return 1;
  std::vector<PlanEntry> entries;
  std::int32_t left = gpus;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto after = static_cast<std::int32_t>(places.size() - 1 - i);
    const std::int32_t here = level == 0 ? gpus : std::min(i == 0 ? most : std::min(most, left), left - after);
    PlanEntry entry;
    entry.node = places[i];
    entry.member = gpus - left;
    entry.members = here;
    entry.gpus = here >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    entries.push_back(entry);
    left -= here;
  }
  const std::int64_t rate = core::placed_rate(state_, job, 0, entries);
  if (rate <= 0) refuse(traced, "has no known rate at some places of the cluster");
  return rate;
}

std::int64_t DelayProblem::add_rates(const TraceJob& traced, const Job& job, bool timed) {
  const auto [known, fresh] =
      known_.try_emplace(Kind{traced.profile, traced.gpus, traced.batch, traced.cpu_milli, timed}, static_cast<std::int64_t>(rate_.size()));
  const std::int64_t begin = known->second;
  if (!fresh) return begin;
  const kernel::DelayReplayView v = view();
  const std::int64_t rows = kernel::rate_rows(v, traced.gpus);
  if (static_cast<std::int64_t>(rate_.size()) + rows > kMostRates) refuse("jobs have too many different places on this cluster");
  rate_.resize(rate_.size() + to_index(rows), timed ? kSecond : 1);
  if (timed || traced.gpus > n_gpus_) return begin;
  const auto set = [&](std::int32_t level, std::int32_t nodes, std::int32_t most) {
    rate_[to_index(begin + kernel::rate_row(v, traced.gpus, level, nodes, most))] = rate_at(traced, job, level, nodes, most);
  };
  set(0, 1, traced.gpus);
  for (std::int32_t level = 1; level < n_levels_; ++level) {
    for (std::int32_t nodes = 2; nodes <= std::min(traced.gpus, n_nodes_); ++nodes) {
      for (std::int32_t most = 1; most <= std::min(traced.gpus, node_gpus_); ++most) set(level, nodes, most);
    }
  }
  return begin;
}

void DelayProblem::add_job(const TraceJob& traced, const Overheads& overheads, std::span<const std::int64_t> most_gpus) {
  if (!forms_.missing_on_cluster(traced).empty()) refuse(traced, "asks for GPUs that the cluster does not have");
  const TraceForm form = forms_.of(traced);
  check_job(traced, form, cluster_);
  const Job job = submitted_job(traced, form, Demanded::all(cluster_));
  // As LiveJob::set_work.
  const bool timed = form.profile == nullptr || traced.work == 0;
  const ModelOverheads& costs = overheads.of(traced.model);
  submit_.push_back(traced.submit_us);
  work_.push_back(timed ? traced.run_us : traced.work);
  ideal_rate_.push_back(form.profile != nullptr && timed ? 0 : core::ideal_rate(StateView(state_), job));
  start_cost_.push_back(costs.start_us);
  resume_cost_.push_back(core::displace_cost(costs.costs));
  move_cost_.push_back(core::migrate_cost(costs.costs));
  gpus_.push_back(traced.gpus);
  timer_class_.push_back(static_cast<std::int32_t>(
      std::min(std::lower_bound(most_gpus.begin(), most_gpus.end(), traced.gpus) - most_gpus.begin(), std::ssize(most_gpus) - 1)));
  rate_begin_.push_back(add_rates(traced, job, timed));
}

kernel::DelayReplayView DelayProblem::view() const {
  kernel::DelayReplayView v{};
  v.n_jobs = static_cast<std::int32_t>(submit_.size());
  v.n_nodes = n_nodes_;
  v.n_levels = n_levels_;
  v.n_domains = static_cast<std::int32_t>(child_first_.size());
  v.n_inner = static_cast<std::int32_t>(inner_mask_.size());
  v.n_rungs = rungs();
  v.n_classes = n_classes_;
  v.node_gpus = node_gpus_;
  v.n_rates = static_cast<std::int64_t>(rate_.size());
  v.submit = submit_.data();
  v.work = work_.data();
  v.ideal_rate = ideal_rate_.data();
  v.start_cost = start_cost_.data();
  v.resume_cost = resume_cost_.data();
  v.move_cost = move_cost_.data();
  v.rate_begin = rate_begin_.data();
  v.gpus = gpus_.data();
  v.timer_class = timer_class_.data();
  v.rate = rate_.data();
  v.gpu_mask = gpu_mask_.data();
  v.inner_begin = inner_begin_.data();
  v.inner_mask = inner_mask_.data();
  v.level_begin = level_begin_.data();
  v.node_domain = node_domain_.data();
  v.child_first = child_first_.data();
  v.child_last = child_last_.data();
  v.rung_level = rung_level_.data();
  v.rung_gpus = rung_gpus_.data();
  return v;
}

}  // namespace berth::sim
