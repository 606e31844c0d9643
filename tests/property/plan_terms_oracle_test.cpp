// A second implementation of the terms `link_load` and `fragmentation`, from docs/objectives.md alone: simple and slow, with public
// structs. It assumes legal states, as it knows no states of GPUs, no reservations and no limits of queues.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/property/profile_oracle.hpp"

namespace berth::test::plan_terms_oracle_test {
namespace {

using kernel::mul_div;

// Elastic gangs on narrow uplinks. Some may be displaced; others, which just began, may not.
Snapshot narrow_cluster(std::uint64_t seed, bool spares) {
  sim::GenerateOptions o;
  o.nodes = 40;
  o.gpus_per_node = seed % 2 == 0 ? 4 : 8;
  o.fabric = seed % 2 == 0 ? sim::Fabric::kNvl72 : sim::Fabric::kTree;
  o.nodes_per_rack = seed % 2 == 0 ? 4 : 3;  // a replica of a model uses a whole rack, so that none has spares
  o.racks_per_pod = 2;
  o.jobs = 60;
  o.seed = seed;
  o.elastic = true;
  o.workload = seed % 3 == 0 ? sim::Workload::kHelios : sim::Workload::kLlm;
  Snapshot s = sim::generate(o);
  for (Domain& domain : s.domains) {
    domain.uplink_bytes_per_s /= seed % 4 < 2 ? 1'000 : 600;
  }
  for (Job& job : s.jobs) {
    for (Shape& shape : job.shapes) {
      // The oracle has the ring of gradients alone; what groups state is in Traffic's own tests.
      for (Group& group : shape.groups) group.communication.clear();
      if (!spares || job.state == JobState::kRunning || !shape.groups.empty() || shape.gpus % 4 != 0) continue;
      Group group;
      group.name = "workers";
      group.members_min = group.members_want = group.members_max = shape.gpus / 4;
      group.gpus_per_member = 4;
      group.spares = 1;
      shape.groups = {group};
    }
  }
  for (std::size_t j = 0; j < s.jobs.size(); ++j) {
    s.jobs[j].weight_ppm = 500'000 + static_cast<std::int64_t>(j) * 77'777;
    // For a table in samples no step is known without a batch.
    for (Shape& shape : s.jobs[j].shapes) shape.local_batch = shape.local_batch == 0 ? 16 : shape.local_batch;
  }
  return s;
}

class Oracle {
 public:
  /// @param snapshot  of the state decided on, so that jobs and decisions have the same order
  Oracle(const Snapshot& snapshot, const Plan& plan) : s_(snapshot), plan_(plan), profiles_(snapshot) {
    Masks held;
    for (const Job& job : s_.jobs) {
      for (const AllocationEntry& entry : job.allocation.entries) {
        for (const std::int32_t gpu : entry.gpus) held[entry.node] |= std::uint64_t{1} << gpu;
      }
    }
    std::int64_t capacity = 0;
    for (const Node& node : s_.nodes) capacity += std::popcount(idle(node, held[node.id]));
    for (const Job& job : s_.jobs) capacity += job.state == JobState::kRunning && may_be_displaced(job) ? gpus_of(job.allocation) : 0;
    for (const Decision& d : plan_.decisions) {
      const Job& job = job_of(d);
      if (d.action == Action::kReject || (job.state == JobState::kRunning && !may_be_displaced(job))) continue;
      for (const Shape& shape : job.shapes) {
        if (shape.gpus <= capacity) choice_[&job].push_back(&shape);
      }
    }
  }

  std::int64_t link_load() const;
  std::int64_t fragmentation() const;
  void check_rates() const {
    for (const Decision& d : plan_.decisions) {
      if (!runs_now(d.action)) continue;
      EXPECT_EQ(d.rate, profiles_.rate(job_of(d), shape_of(d), profiles_.lies(gpus_by_node(d)))) << job_of(d).id;
    }
  }

  /// Number of running gangs with spares.
  std::int64_t with_spares() const {
    return std::count_if(plan_.decisions.begin(), plan_.decisions.end(), [&](const Decision& d) {
      if (!runs_now(d.action)) return false;
      const std::vector<Group>& groups = shape_of(d).groups;
      return std::any_of(groups.begin(), groups.end(), [](const Group& group) { return group.spares > 0; });
    });
  }

 private:
  using Masks = std::map<std::string, std::uint64_t>;  // by node

  const Job& job_of(const Decision& d) const { return s_.jobs[static_cast<std::size_t>(&d - plan_.decisions.data())]; }
  const Shape& shape_of(const Decision& d) const { return job_of(d).shapes[static_cast<std::size_t>(d.shape)]; }
  ProfileOracle::GpusByNode gpus_by_node(const Decision& d) const {
    ProfileOracle::GpusByNode gpus;
    std::map<std::int32_t, std::int32_t> left;  // members of each group; the last ones are its spares
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) left[entry(e).group] += entry(e).members;
    for (std::size_t g = 0; g < shape_of(d).groups.size(); ++g) {
      std::int32_t& members = left[static_cast<std::int32_t>(g)];
      members = std::min(members, std::max(shape_of(d).groups[g].members_want, members - shape_of(d).groups[g].spares));
    }
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const std::int32_t working = std::min(left[entry(e).group], entry(e).members);
      left[entry(e).group] -= working;
      if (working > 0) gpus[entry(e).node] += std::popcount(entry(e).gpus) / entry(e).members * working;
    }
    return gpus;
  }
  const PlanEntry& entry(std::int32_t e) const { return plan_.entries[static_cast<std::size_t>(e)]; }

  static std::uint64_t idle(const Node& node, std::uint64_t held) {
    return node.state == NodeState::kReady ? ((std::uint64_t{1} << node.gpus) - 1) & ~held : 0;
  }
  static std::int64_t gpus_of(const Allocation& allocation) {
    std::int64_t gpus = 0;
    for (const AllocationEntry& entry : allocation.entries) gpus += static_cast<std::int64_t>(entry.gpus.size());
    return gpus;
  }
  static bool may_be_displaced(const Job& job) {
    return job.preemption.preemptible && job.progress.run_us >= job.preemption.minimum_run_us;
  }

  static std::int64_t value(const Job& job, std::int64_t speed) { return mul_div(speed, job.weight_ppm, kMillion); }

  const Snapshot& s_;
  const Plan& plan_;
  const ProfileOracle profiles_;
  std::map<const Job*, std::vector<const Shape*>> choice_;
};

std::int64_t Oracle::link_load() const {
  std::map<std::string, std::int64_t> load;
  std::map<const Decision*, std::vector<std::string>> links;
  for (const Decision& d : plan_.decisions) {
    if (!runs_now(d.action)) continue;
    const ProfileOracle::GpusByNode gpus = gpus_by_node(d);
    const Lies at = profiles_.lies(gpus);
    const std::int64_t step = profiles_.step_ns(job_of(d), shape_of(d), at);
    if (step == 0 || at.nodes == 1 || at.nvlink_domain) continue;
    const std::int64_t bytes = mul_div(job_of(d).profile.gradient_bytes, 2 * (at.nodes - 1), at.nodes);
    const auto need = [&](const std::string& link, std::int64_t bandwidth) {
      links[&d].push_back(link);
      load[link] += mul_div(mul_div(bytes, kNsPerSecond, bandwidth), kMillion, step);
    };
    for (const auto& [rank, n] : gpus) need("NICs of " + profiles_.node(rank).id, ProfileOracle::nics_of(profiles_.node(rank)));
    for (const std::string& path : profiles_.left_by(gpus)) need(path, profiles_.uplink(path));
  }
  std::int64_t loss = 0;
  for (const auto& [d, of_gang] : links) {
    const Job& job = job_of(*d);
    if (choice_.count(&job) == 0) continue;
    std::int64_t most = kMillion;
    for (const std::string& link : of_gang) most = std::max(most, load[link]);
    const std::int64_t speed = profiles_.speed(job, shape_of(*d));
    loss += value(job, speed) - value(job, mul_div(speed, kMillion, most));
  }
  return loss;
}

std::int64_t Oracle::fragmentation() const {
  std::int64_t values = 0, gpus = 0;
  std::vector<std::int32_t> pieces;
  for (const auto& [job, shapes] : choice_) {
    // The option with the least GPU-time for the same work; ties keep their order.
    const Shape& first = **std::min_element(shapes.begin(), shapes.end(), [&, j = job](const Shape* a, const Shape* b) {
      return kernel::Wide{a->gpus} * profiles_.rate(*j, *b, profiles_.tightest(*b)) <
             kernel::Wide{b->gpus} * profiles_.rate(*j, *a, profiles_.tightest(*a));
    });
    values += value(*job, profiles_.speed(*job, first)) + (job->allocation.shape == first.id ? 1 : 0);
    gpus += first.gpus;
    pieces.push_back(first.groups.empty() ? std::min(first.gpus, s_.nodes[0].gpus) : 0);
    for (const Group& group : first.groups) pieces.back() = std::max(pieces.back(), group.members_want > 0 ? group.gpus_per_member : 0);
  }
  Masks held;
  for (const Decision& d : plan_.decisions) {
    for (std::int32_t e = d.entry_begin; runs_now(d.action) && e < d.entry_end; ++e)
      held[profiles_.node(entry(e).node).id] |= entry(e).gpus;
  }
  std::int64_t loss = 0;
  for (const Node& node : s_.nodes) {
    const int f = std::popcount(idle(node, held[node.id]));
    const std::int64_t more = std::count_if(pieces.begin(), pieces.end(), [&](std::int32_t piece) { return piece > f; });
    if (!pieces.empty()) loss += mul_div(values / gpus, f * (more * kMillion / static_cast<std::int64_t>(pieces.size())), kMillion);
  }
  return loss;
}

// Three decisions on each cluster: as generated; while gangs that just began may not be displaced; when they may.
// @returns the number of clusters with a loss
int decide_thrice(const std::string& term, bool spares, std::int64_t (Oracle::*loss)() const) {
  int clusters = 0;
  std::int64_t with_spares = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    ClusterState state(narrow_cluster(seed, spares));
    bool seen = false;
    for (const TimeUs later : {200 * kSecond, 500 * kSecond, kSecond}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", at " << state.now());
      Request request;
      request.policy = "price";
      request.params = {{"terms", term}, {"objective", "throughput"}, {"quotas", "limits"}};
      const Plan plan = Engine().decide(state, request);
      const Snapshot s = state.snapshot();
      const Oracle oracle(s, plan);
      oracle.check_rates();
      with_spares += oracle.with_spares();
      EXPECT_EQ(plan.bound.terms, (decltype(plan.bound.terms){{term, (oracle.*loss)()}}));
      seen = seen || plan.bound.terms.at(0).second > 0;
      commit(state, plan);
      state.apply(delta::SetTime{state.now() + later});
    }
    clusters += seen ? 1 : 0;
  }
  EXPECT_EQ(with_spares > 0, spares);
  return clusters;
}

}  // namespace

TEST(PlanTermsOracle, LinkLoadIsWhatTheDocumentSays) { EXPECT_GT(decide_thrice("link_load", true, &Oracle::link_load), 12); }

TEST(PlanTermsOracle, FragmentationIsWhatTheDocumentSays) { EXPECT_GT(decide_thrice("fragmentation", false, &Oracle::fragmentation), 12); }

}  // namespace berth::test::plan_terms_oracle_test
