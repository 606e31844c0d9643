#include "tests/support/delays/random_delays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tests/support/random.hpp"

namespace berth::test {
namespace {

constexpr auto kSwitchTopology = static_cast<std::size_t>(TopologyKind::kSwitch);

/// Nodes of unequal size, perhaps with inner groups, in racks of unequal size, perhaps in pods.
Snapshot random_racks(Random& random) {
  Snapshot cluster;
  cluster.name = "racks";
  cluster.gpu_types.push_back({});
  cluster.gpu_types.back().id = "gpu";
  cluster.gpu_types.back().nvlink_bytes_per_s = random.percent(50) ? 100'000'000'000 : 0;
  const bool pods = random.percent(40), racks = pods || random.percent(85), unequal = random.percent(40), inner = random.percent(25);
  const std::int32_t n_pods = pods ? random.within(1, 3) : 1, gpus = random.of<std::int32_t>({1, 2, 4, 4, 8, 8});
  const std::int64_t rack_uplink = random.of<std::int64_t>({0, 1'000'000'000, 12'000'000'000});
  const TimeUs rack_latency = random.of<TimeUs>({0, 5, 51'000});
  const std::int64_t nic = random.of<std::int64_t>({0, 1'000'000'000, 25'000'000'000});
  std::int32_t n_nodes = 0;
  for (std::int32_t pod = 0; pod < n_pods; ++pod) {
    const std::string pod_path = fmt::format("p{}", pod);
    if (pods) {
      Domain domain;
      domain.id = pod_path;
      domain.level = "pod";
      domain.latency_us = 3;
      cluster.domains.push_back(std::move(domain));
    }
    const std::int32_t n_racks = racks ? random.within(1, 3) : 1;
    for (std::int32_t rack = 0; rack < n_racks; ++rack) {
      Domain domain;
      domain.id = fmt::format("r{}{}", pod, rack);
      domain.level = "rack";
      domain.parent = pods ? pod_path : "";
      domain.uplink_bytes_per_s = rack_uplink;
      domain.latency_us = rack_latency;
      const std::string path = pods ? pod_path + "/" + domain.id : domain.id;
      if (racks) cluster.domains.push_back(std::move(domain));
      for (std::int32_t n = random.within(1, 4); n > 0; --n) {
        Node node;
        node.id = fmt::format("n{:03}", n_nodes++);
        node.gpu_type = "gpu";
        node.gpus = unequal ? random.within(1, gpus) : gpus;
        node.nics = 1;
        node.nic_bytes_per_s = nic;
        if (racks) node.domain[kSwitchTopology] = path;
        for (std::int32_t g = 0; inner && g < node.gpus; ++g) {
          Gpu gpu;
          gpu.index = g;
          gpu.inner_group = g < node.gpus / 2 ? 0 : 1;
          node.gpu_list.push_back(gpu);
        }
        cluster.nodes.push_back(std::move(node));
      }
    }
  }
  return cluster;
}

TraceProfiles profiles() {
  Profile sends;
  sends.kind = ProfileKind::kClosedForm;
  sends.model = "sends";
  sends.gradient_bytes = 200'000'000;
  sends.closed_form.step = {{"", 0, 7'000'003}};
  Profile batches = sends;
  batches.unit = "samples";
  batches.model = "batches";
  batches.closed_form.step = {{"", 130'007, 1'000'001}};
  batches.closed_form.overlap_ppm = 300'000;
  Profile measured;
  measured.kind = ProfileKind::kTable;
  measured.unit = "steps";
  for (const std::int32_t gpus : {1, 2, 3, 4, 6, 8, 16}) {
    measured.points.push_back({"", gpus, 0, "node", 7'654'321 + gpus});
    measured.points.push_back({"", gpus, 0, "", 3'210'987 - gpus});
  }
  return {{"batches", batches}, {"measured", measured}, {"sends", sends}};
}

std::string random_timers(Random& random, std::int32_t rungs) {
  std::string text;
  for (std::int32_t i = random.within(1, rungs); i > 0; --i) {
    text += random.of<std::string>({"0", "0.5", "1", "2", "3.25", "12", "never"});
    if (i > 1) text += ":";
  }
  return text;
}

}  // namespace

RandomDelays::RandomDelays(std::uint64_t seed, const RandomDelaySpec& spec) {
  Random random(seed * 7919 + 17);
  cluster = random_racks(random);
  trace.name = "random";
  trace.profiles = profiles();
  std::int32_t all = 0;
  for (const Node& node : cluster.nodes) all += node.gpus;
  lease_s = random.of<std::int64_t>({61, 600, 3600});
  common = random.percent(20);
  // Whole seconds meet, others are rounded.
  const bool even = random.percent(50);
  const auto time = [&](std::int64_t most_s) {
    return even ? random.within(0, static_cast<std::int32_t>(most_s)) * kSecond
                : static_cast<TimeUs>(random.bits() % static_cast<std::uint64_t>(most_s * kSecond));
  };
  TimeUs submit = 0;
  const std::int64_t gap_s = random.of<std::int64_t>({1, 100, 1000, 3000});
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    TraceJob job;
    job.id = fmt::format("j{:04}", j);
    if (!random.percent(30)) submit += time(gap_s);
    job.submit_us = submit;
    job.gpus = std::min(random.of<std::int32_t>({1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16}), random.percent(3) ? 1000 : std::max(1, all));
    if (random.percent(2)) job.gpus = all + 1;
    job.model = random.of<std::string>({"a", "b"});
    job.run_us = std::max<TimeUs>(1, time(random.of<std::int64_t>({10, 1000, 20'000})));
    job.profile = random.of<std::string>({"", "batches", "sends", "sends", "measured"});
    const bool in_table = std::any_of(trace.profiles[1].second.points.begin(), trace.profiles[1].second.points.end(),
                                      [&](const RatePoint& point) { return point.gpus == job.gpus; });
    if (job.profile == "measured" && !in_table) job.profile = "sends";
    if (job.profile == "batches") job.batch = 64;
    if (!job.profile.empty() && !random.percent(5)) {
      job.work = job.run_us * (job.profile == "batches" ? 600 : job.profile == "measured" ? 5 : 1) + random.below(999);
    }
    trace.jobs.push_back(std::move(job));
  }
  const auto costs = [&] {
    ModelOverheads one;
    one.start_us = random.percent(50) ? 0 : time(20);
    one.costs.restart_us = random.percent(40) ? 0 : time(30);
    one.costs.migrate_us = random.percent(50) ? 0 : time(50);
    one.costs.checkpoint_save_us = random.percent(70) ? 0 : time(5);
    return one;
  };
  overheads.general = costs();
  overheads.models.emplace_back("a", costs());
  for (std::int64_t gpus = 1; gpus <= 8; gpus *= 2) most_gpus.push_back(gpus);
  for (std::int32_t i = 0; i < spec.settings; ++i) {
    if (random.percent(40)) {
      timers.push_back(random_timers(random, 3));
      continue;
    }
    std::string& text = timers.emplace_back();
    for (const std::int64_t gpus : most_gpus) text += fmt::format("{}{}:{}", text.empty() ? "" : "/", gpus, random_timers(random, 3));
  }
}

}  // namespace berth::test
