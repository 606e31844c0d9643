#include "bench/flow/instance.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::bench {
namespace {

std::size_t to_index(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr int kSwitch = static_cast<int>(TopologyKind::kSwitch);
constexpr std::int32_t kRack = 1;  // level above the node

Snapshot idle_cluster(std::int64_t gpus) {
  sim::GenerateOptions o;
  o.nodes = static_cast<std::int32_t>((gpus + kGpusPerNode - 1) / kGpusPerNode);
  o.jobs = 0;
  o.fabric = sim::Fabric::kTree;
  o.gpu_types = {{"V100-32GB", 2}, {"A100-80GB", 2}, {"H100-80GB", 1}};
  o.queues = 0;
  o.history = 0;
  o.outage_ppm = 0;
  o.seed = kSeed;
  return sim::generate(o);
}

/// Ten minutes to five hours on the first type; the others are faster, by a job-specific factor.
Job make_job(std::int64_t number, const std::vector<GpuType>& types, std::mt19937_64& random) {
  Job job;
  job.id = "j" + std::to_string(number);
  job.user = "ann";
  const std::int64_t seconds = 600 + static_cast<std::int64_t>(random() % 17'400);
  job.estimate.run_us = seconds * kSecond;
  job.estimate.source = "user";
  job.progress.work_total = seconds * 1'000'000;
  for (std::size_t t = 0; t < types.size(); ++t) {
    Shape shape;
    shape.id = "s" + std::to_string(t);
    shape.gpu_type = types[t].id;
    shape.gpus = 1;
    shape.rate = 1'000'000 + static_cast<std::int64_t>(t) * (250'000 + static_cast<std::int64_t>(random() % 1'500'000));
    job.shapes.push_back(std::move(shape));
  }
  return job;
}

}  // namespace

Instance::Instance(std::int64_t jobs) {
  Snapshot snapshot = idle_cluster(jobs * 10 / 9);
  std::mt19937_64 random(kSeed);
  for (std::int64_t j = 0; j < jobs; ++j) snapshot.jobs.push_back(make_job(j, snapshot.gpu_types, random));
  gpu_types_ = snapshot.gpu_types;
  state_ = std::make_unique<ClusterState>(std::move(snapshot));
  columns_ = std::make_unique<PassColumns>(*state_);

  const kernel::ProblemView& p = state_->impl().problem();
  const kernel::TopologyView& topology = p.topology[kSwitch];
  const std::int32_t racks = topology.level_begin[kRack + 1] - topology.level_begin[kRack];
  for (std::int32_t r = 0; r < racks; ++r) rack_cost_.push_back(static_cast<std::int64_t>(random() % 3'600'000));
  flow_.jobs = static_cast<int>(jobs);
  flow_.types = p.n_types;
  place_.assign(to_index(std::int64_t{racks} * p.n_types), -1);
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    const std::int32_t rack = topology.node_domain[to_index(std::int64_t{kRack} * p.n_nodes + n)] - topology.level_begin[kRack];
    int& place = place_[to_index(rack * p.n_types + p.node_type[n])];
    if (place < 0) {
      place = static_cast<int>(flow_.place_type.size());
      flow_.place_type.push_back(p.node_type[n]);
      flow_.place_cost.push_back(rack_cost_[to_index(rack)]);
      flow_.place_gpus.push_back(0);
      place_nodes_.emplace_back();
    }
    flow_.place_gpus[to_index(place)] += __builtin_popcountll(p.node_free[n]);
    place_nodes_[to_index(place)].push_back(n);
    node_rack_.push_back(rack);
  }
  flow_.run_cost.assign(to_index(jobs * p.n_types), 0);
  for (std::int64_t j = 0; j < jobs; ++j) {
    run_costs(*state_, columns_->waiting[to_index(j)], &flow_.run_cost[to_index(j * p.n_types)]);
  }
  require(std::count(flow_.run_cost.begin(), flow_.run_cost.end(), 0) == 0, "a job lacks a type");
}

std::int32_t Instance::type_of(const ClusterState& state, std::int32_t job, std::int32_t option) {
  const kernel::ProblemView& p = state.impl().problem();
  return p.demands[p.options[p.option_begin[job] + option].demand].gpu_type;
}

Job Instance::new_job(std::int64_t number, std::mt19937_64& random) const { return make_job(number, gpu_types_, random); }

void Instance::run_costs(const ClusterState& state, std::int32_t job, std::int64_t* out) {
  const kernel::ProblemView& p = state.impl().problem();
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    const std::int32_t option = o - p.option_begin[job];
    out[type_of(state, job, option)] = state.impl().option_run(job, to_index(option)) / 1'000;
  }
}

int Instance::place_of_node(std::int32_t node) const {
  return place_of(state_->impl().problem().node_type[node], node_rack_[to_index(node)]);
}

std::vector<int> Instance::by_score(core::PlacementBackend& backend, int& rounds) const {
  kernel::ProblemView p = state_->impl().problem();
  std::vector<std::uint64_t> free(p.node_free, p.node_free + p.n_nodes);
  p.node_free = free.data();
  std::vector<int> left = flow_.place_gpus;
  std::vector<std::size_t> next_node(left.size(), 0);
  std::vector<int> places(to_index(flow_.jobs), -1);
  std::vector<std::int32_t> waiting = columns_->waiting;
  std::vector<std::int32_t> number(waiting.size());
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::int32_t>(i);
  std::vector<kernel::CandidateRow> best(waiting.size() * kernel::kMaxBest);

  for (rounds = 0; !waiting.empty(); ++rounds) {
    kernel::ScoreQuery r{};
    r.n = static_cast<std::int32_t>(waiting.size());
    r.jobs = waiting.data();
    r.option_run = columns_->option_run.data();
    r.topology = kSwitch;
    r.level = kRack;
    r.domain_cost = rack_cost_.data();
    r.k = kernel::kMaxBest;
    r.now = state_->now();
    backend.score(p, r, best.data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      int place = -1;
      for (int k = 0; k < kernel::kMaxBest && place < 0; ++k) {
        const kernel::CandidateRow& c = best[i * kernel::kMaxBest + to_index(k)];
        if (c.option == kernel::kNone) break;
        const int wanted = place_of(type_of(*state_, waiting[i], c.option), c.where - p.topology[kSwitch].level_begin[kRack]);
        if (left[to_index(wanted)] > 0) place = wanted;
      }
      if (place < 0) {
        number[kept] = number[i];
        waiting[kept++] = waiting[i];
        continue;
      }
      --left[to_index(place)];
      std::size_t& n = next_node[to_index(place)];
      while (free[to_index(place_nodes_[to_index(place)][n])] == 0) ++n;
      std::uint64_t& mask = free[to_index(place_nodes_[to_index(place)][n])];
      mask &= mask - 1;
      places[to_index(number[i])] = place;
    }
    require(kept < waiting.size(), "a round placed no job");
    waiting.resize(kept);
    number.resize(kept);
  }
  return places;
}

std::vector<int> Instance::by_order(core::PlacementBackend& backend) const {
  const kernel::ProblemView& p = state_->impl().problem();
  OwnedPlaceResult output(columns_->waiting.size(), core::entry_bound(p));
  core::PlaceTask scenario{columns_->request(state_->now(), columns_->waiting), {}, nullptr};
  backend.place(p, scenario, output.view());
  std::vector<int> places(to_index(flow_.jobs), -1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (output.outcome[i] != kernel::Outcome::kPlaced) continue;
    const std::int32_t node = output.entries[to_index(output.entry_begin[i])].node;
    places[i] = place_of(p.node_type[node], node_rack_[to_index(node)]);
  }
  return places;
}

std::int64_t flow_cost(const FlowInstance& flow, const std::vector<int>& places) {
  std::int64_t sum = 0;
  std::vector<int> used(flow.place_gpus.size(), 0);
  for (std::size_t j = 0; j < places.size(); ++j) {
    require(places[j] >= 0, "a job has no place");
    const std::size_t place = to_index(places[j]);
    require(++used[place] <= flow.place_gpus[place], "a place has more jobs than GPUs");
    sum += flow.run_cost[j * to_index(flow.types) + to_index(flow.place_type[place])] + flow.place_cost[place];
  }
  return sum;
}

}  // namespace berth::bench
