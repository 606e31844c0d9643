#include "host/sim/generate/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/sim/base/quantiles.hpp"
#include "host/sim/base/random.hpp"
#include "host/sim/generate/workload.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::sim::generate_test {
namespace {

GenerateOptions options(std::int32_t nodes, std::int32_t gpus, std::int32_t jobs, Workload workload, std::uint64_t seed = 1) {
  GenerateOptions o;
  o.nodes = nodes;
  o.gpus_per_node = gpus;
  o.jobs = jobs;
  o.workload = workload;
  o.seed = seed;
  return o;
}

constexpr Workload kAll[] = {Workload::kPhilly, Workload::kHelios, Workload::kPai, Workload::kLlm, Workload::kOnes};

// The node's domain of a level: its path cut to the level's depth.
std::string domain_of(const Snapshot& s, const Node& node, const LevelRef& at) {
  if (at.level == "node") return node.id;
  std::string path = node.domain[static_cast<std::size_t>(at.topology)];
  while (!path.empty()) {
    for (const Domain& d : s.domains) {
      if (d.topology == at.topology && (d.parent.empty() ? d.id : d.parent + "/" + d.id) == path && d.level == at.level) return path;
    }
    const auto slash = path.rfind('/');
    path = slash == std::string::npos ? "" : path.substr(0, slash);
  }
  return path;
}

// Everything that synthetic placement guarantees, checked independently.
void expect_consistent(const Snapshot& s) {
  check_snapshot(s);
  std::map<std::string, const Node*> nodes;
  for (const Node& node : s.nodes) nodes[node.id] = &node;
  std::map<std::pair<std::string, int>, std::int64_t> used;  // ppm of each GPU
  std::map<std::string, std::int64_t> cpu, memory, queue_gpus;
  for (const Job& job : s.jobs) {
    SCOPED_TRACE(job.id);
    ASSERT_FALSE(job.shapes.empty());
    EXPECT_LE(job.submit_us, s.now_us);
    if (job.state == JobState::kWaiting) {
      EXPECT_TRUE(job.allocation.entries.empty());
      continue;
    }
    const Shape& shape = job.shapes.front();
    ASSERT_EQ(job.allocation.shape, shape.id);
    std::map<std::string, std::int32_t> members;
    std::map<std::string, std::vector<std::string>> group_nodes;
    std::map<std::pair<std::string, std::string>, std::int32_t> per_domain;  // of the spread or segment
    std::set<std::string> types;
    for (const AllocationEntry& entry : job.allocation.entries) {
      ASSERT_TRUE(nodes.count(entry.node));
      const Node& node = *nodes[entry.node];
      EXPECT_EQ(node.state, NodeState::kReady);
      EXPECT_TRUE(entry.share_ppm == kWholeGpu || (node.sharing && job.sharing));
      if (!job.virtual_cluster.empty()) {
        EXPECT_EQ(node.virtual_clusters, std::vector<std::string>{job.virtual_cluster});
      }
      for (const auto& [key, values] : job.constraints.labels) {
        EXPECT_EQ(node.labels, (std::vector<std::pair<std::string, std::string>>{{key, values.front()}}));
      }
      types.insert(node.gpu_type);
      std::int32_t per_member = 1;
      for (const Group& g : shape.groups) {
        if (g.name != entry.group) continue;
        per_member = g.gpus_per_member;
        const auto count = static_cast<std::int32_t>(entry.gpus.size()) / per_member;
        if (g.spread) per_domain[{g.name, domain_of(s, node, g.spread->at)}] += count;
        if (g.segment) per_domain[{g.name, domain_of(s, node, g.segment->at)}] += count;
      }
      EXPECT_EQ(entry.member, members[entry.group]);
      members[entry.group] += static_cast<std::int32_t>(entry.gpus.size()) / per_member;
      group_nodes[entry.group].push_back(entry.node);
      for (const int gpu : entry.gpus) {
        EXPECT_LT(gpu, node.gpus);
        std::int64_t& gpu_used = used[{entry.node, gpu}];
        gpu_used += entry.share_ppm;
        EXPECT_LE(gpu_used, kWholeGpu);
      }
      cpu[entry.node] += job.constraints.cpu_milli_per_gpu * static_cast<std::int64_t>(entry.gpus.size());
      memory[entry.node] += job.constraints.memory_bytes_per_gpu * static_cast<std::int64_t>(entry.gpus.size());
      queue_gpus[job.queue] += static_cast<std::int64_t>(entry.gpus.size());
    }
    EXPECT_EQ(types.size(), 1U);
    if (!shape.gpu_type.empty()) {
      EXPECT_EQ(*types.begin(), shape.gpu_type);
    }
    if (shape.groups.empty()) {
      EXPECT_EQ(members[""], shape.gpus);
    }
    for (const Group& g : shape.groups) {
      EXPECT_EQ(members[g.name], g.members_want + g.spares) << g.name;
      for (const auto& [key, count] : per_domain) {
        if (key.first != g.name) continue;
        if (g.spread) {
          EXPECT_LE(count, g.spread->max_per_domain);
        }
        if (g.segment) {
          EXPECT_EQ(count % g.segment->size, 0);
        }
      }
      if (!g.require) continue;
      std::set<std::string> domains;
      for (const Group& below : shape.groups) {
        std::string up = below.name;  // whether `below` is the group or a descendant
        while (!up.empty() && up != g.name) {
          up = std::find_if(shape.groups.begin(), shape.groups.end(), [&](const Group& x) { return x.name == up; })->parent;
        }
        if (up.empty()) continue;
        for (const std::string& n : group_nodes[below.name]) domains.insert(domain_of(s, *nodes[n], *g.require));
      }
      EXPECT_EQ(domains.size(), 1U) << g.name;
      EXPECT_FALSE(domains.count(""));
    }
  }
  for (const auto& [id, milli] : cpu) {
    if (nodes[id]->cpu_milli != kUnlimited) {
      EXPECT_LE(milli, nodes[id]->cpu_milli) << id;
    }
  }
  for (const auto& [id, bytes] : memory) {
    if (nodes[id]->memory_bytes != kUnlimited) {
      EXPECT_LE(bytes, nodes[id]->memory_bytes) << id;
    }
  }
  for (const Queue& queue : s.queues) {
    if (queue.quotas.front().limit != kUnlimited) {
      EXPECT_LE(queue_gpus[queue.id], queue.quotas.front().limit) << queue.id;
    }
  }
}

std::int64_t twice_mean_s(Quantiles table) {
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < table.size(); ++i) {
    sum += (table[i].at_ppm - table[i - 1].at_ppm) * (table[i].seconds + table[i - 1].seconds);
  }
  return sum / 1'000'000;
}

std::int64_t running(const Snapshot& s) {
  return std::count_if(s.jobs.begin(), s.jobs.end(), [](const Job& j) { return j.state == JobState::kRunning; });
}

}  // namespace

TEST(Random, EqualsThePublishedKnownAnswerOfPhilox) {
  // Random123's own vector: key and counter zero.
  ItemDraws draws(0, static_cast<RandomStream>(0), 0);

  EXPECT_EQ(draws.next(), 0x6627e8d5U);
  EXPECT_EQ(draws.next(), 0xe169c58dU);
  EXPECT_EQ(draws.next(), 0xbc57ac4cU);
  EXPECT_EQ(draws.next(), 0x9b00dbd8U);
}

TEST(Quantiles, WhatIsBeyondIsExactOnAStraightLine) {
  constexpr QuantilePoint kLine[] = {{0, 0}, {1'000'000, 100}};

  EXPECT_EQ(mean_beyond(kLine, 0), 50 * kSecond);
  EXPECT_EQ(mean_beyond(kLine, 60 * kSecond), 80 * kSecond);
  EXPECT_EQ(mean_beyond(kLine, 100 * kSecond), 100 * kSecond);
  EXPECT_EQ(quantile_beyond(kLine, 0, 250'000), 25 * kSecond);
  EXPECT_EQ(quantile_beyond(kLine, 60 * kSecond, 500'000), 80 * kSecond);
  EXPECT_EQ(quantile_beyond(kLine, 100 * kSecond, 500'000), 100 * kSecond);
}

TEST(Quantiles, LongDurationsAreMetInProportionToTheirLength) {
  constexpr QuantilePoint kLine[] = {{0, 0}, {1'000'000, 90}};
  std::int64_t plain = 0, met = 0;

  for (std::uint64_t i = 0; i < 4000; ++i) {
    ItemDraws draws(3, RandomStream::kTiming, i);
    plain += draw_duration(kLine, draws) / kSecond;
    met += draw_met_duration(kLine, draws) / kSecond;
  }

  // Means 45 and 60, less half a second of rounding down; five standard errors are 2.1 and 1.7.
  EXPECT_NEAR(static_cast<double>(plain) / 4000, 44.5, 2.1);
  EXPECT_NEAR(static_cast<double>(met) / 4000, 59.5, 1.7);
}

TEST(Workload, TablesAddUpAndRise) {
  for (const Workload workload : kAll) {
    SCOPED_TRACE(name(workload));
    const WorkloadModel& model = model_of(workload);
    for (const auto& shares : {model.gpus, model.share_ppm}) {
      std::int64_t sum = 0;
      for (const Share& share : shares) sum += share.ppm;
      EXPECT_TRUE(shares.empty() || sum == 1'000'000);
    }
    for (const Quantiles table : {model.run[0], model.run[1], model.run[2], model.run[3], model.wait}) {
      ASSERT_EQ(table.front().at_ppm, 0);
      ASSERT_EQ(table.back().at_ppm, 1'000'000);
      for (std::size_t i = 1; i < table.size(); ++i) {
        EXPECT_LT(table[i - 1].at_ppm, table[i].at_ppm);
        EXPECT_LE(table[i - 1].seconds, table[i].seconds);
      }
    }
  }
}

TEST(Workload, MeansAreThePublishedOnes) {
  // GPUs per job in thousandths; run times and waits in seconds. data/SOURCES.md.
  struct Row {
    Workload workload;
    std::int64_t gpus_milli, run_s, wait_s;
  };
  for (const Row& row : {Row{Workload::kPhilly, 1928, 18'006, 3760}, Row{Workload::kHelios, 6736, 13'040, 1253}}) {
    SCOPED_TRACE(name(row.workload));
    const WorkloadModel& model = model_of(row.workload);
    std::int64_t gpus = 0, run = 0;
    for (const Share& share : model.gpus) {
      gpus += std::int64_t{share.ppm} * share.value;
      run += share.ppm * (twice_mean_s(model.run[static_cast<std::size_t>(size_class(share.value))]) / 2);
    }

    EXPECT_NEAR(static_cast<double>(gpus / 1000), static_cast<double>(row.gpus_milli), static_cast<double>(row.gpus_milli) / 100);
    EXPECT_NEAR(static_cast<double>(run / 1'000'000), static_cast<double>(row.run_s), static_cast<double>(row.run_s) / 20);
    EXPECT_NEAR(static_cast<double>(twice_mean_s(model.wait) / 2), static_cast<double>(row.wait_s), static_cast<double>(row.wait_s) / 20);
  }
}

TEST(Generate, SameSeedSameSnapshot) {
  for (const Workload workload : kAll) EXPECT_EQ(generate(options(30, 8, 200, workload)), generate(options(30, 8, 200, workload)));
}

TEST(Generate, AnotherSeedIsAnotherSnapshot) {
  const auto sizes = [](const Snapshot& s) {
    std::vector<std::int32_t> gpus;
    for (const Job& job : s.jobs) gpus.push_back(job.shapes.front().gpus);
    return gpus;
  };
  for (const Workload workload : kAll) {
    const Snapshot one = generate(options(30, 8, 200, workload, 1));
    const Snapshot other = generate(options(30, 8, 200, workload, std::uint64_t{1} << 32 | 1));

    EXPECT_NE(sizes(one), sizes(other));
    EXPECT_NE(one.history, other.history);
  }
}

TEST(Generate, IsConsistentForManySizesWorkloadsAndSeeds) {
  using Size = std::tuple<int, int, int>;
  for (const Workload workload : kAll) {
    for (const auto& [nodes, gpus, jobs] :
         {Size{1, 1, 1}, Size{1, 8, 0}, Size{1, 8, 50}, Size{3, 2, 40}, Size{20, 64, 100}, Size{40, 4, 300}, Size{150, 8, 400}}) {
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}}) {
        SCOPED_TRACE(std::string(name(workload)) + " " + std::to_string(nodes) + "x" + std::to_string(gpus) + " " + std::to_string(jobs));
        const Snapshot s = generate(options(nodes, gpus, jobs, workload, seed));

        expect_consistent(s);
        EXPECT_EQ(s.nodes.size(), static_cast<std::size_t>(nodes));
        EXPECT_EQ(s.jobs.size(), static_cast<std::size_t>(jobs));
        EXPECT_LE(running(s), jobs / 2);
      }
    }
  }
}

TEST(Generate, TreesKeepWhatTheyRequireInACrowdedCluster) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const std::int32_t gpus : {4, 8}) {
      SCOPED_TRACE(std::to_string(gpus) + " GPUs a node, seed " + std::to_string(seed));
      GenerateOptions o = options(170, gpus, 250, Workload::kLlm, seed);
      o.nodes_per_rack = 11;  // odd, so that the remainder breaks segments
      o.racks_per_pod = 4;
      o.waiting_ppm = 0;
      o.queues = 1;

      expect_consistent(generate(o));
    }
  }
}

TEST(Generate, IsConsistentWithEveryOption) {
  for (const Workload workload : kAll) {
    for (const Fabric fabric : {Fabric::kTree, Fabric::kNvl72, Fabric::kRail}) {
      SCOPED_TRACE(std::string(name(workload)) + " " + std::string(name(fabric)));
      GenerateOptions o = options(90, 4, 300, workload);
      o.fabric = fabric;
      o.elastic = true;
      o.nodes_per_rack = 9;
      o.racks_per_pod = 3;
      o.gpu_types = {{"A100-80GB", 2}, {"H100-80GB", 1}};
      o.virtual_clusters = 3;
      o.queues = 7;
      o.history = 10;
      o.outage_ppm = 50'000;
      o.spare_ppm = 50'000;
      o.waiting_ppm = 100'000;

      expect_consistent(generate(o));
    }
  }
}

TEST(Generate, LeavesOutWhatItsOptionsSay) {
  GenerateOptions o = options(10, 8, 60, Workload::kHelios);
  o.demands = false;
  o.labels = false;
  o.queues = 0;
  o.history = 0;
  o.outage_ppm = 0;

  const Snapshot s = generate(o);

  expect_consistent(s);
  EXPECT_TRUE(s.queues.empty());
  EXPECT_TRUE(s.history.empty());
  for (const Node& node : s.nodes) {
    EXPECT_EQ(node.cpu_milli, kUnlimited);
    EXPECT_TRUE(node.labels.empty());
    EXPECT_EQ(node.state, NodeState::kReady);
  }
  for (const Job& job : s.jobs) EXPECT_EQ(job.constraints, Constraints{});
}

TEST(Generate, GpuCountsFollowThePublishedShares) {
  for (const Workload workload : {Workload::kPhilly, Workload::kHelios}) {
    const Snapshot s = generate(options(2500, 8, 20'000, workload));
    std::map<std::int32_t, std::int64_t> counts;
    for (const Job& job : s.jobs) ++counts[job.shapes.front().gpus];

    for (const Share& share : model_of(workload).gpus) {
      const std::int64_t expected = 20'000LL * share.ppm / 1'000'000;
      const std::int64_t off = counts[share.value] - expected;
      // Within five standard deviations: off^2 <= 25 n p.
      EXPECT_LE(off * off, 25 * (expected + 1)) << name(workload) << " " << share.value << " GPUs: " << counts[share.value];
    }
  }
}

TEST(Generate, HalfOfTheJobsWaitAndTheClusterIsBusy) {
  const Snapshot s = generate(options(250, 8, 600, Workload::kHelios));
  std::int64_t held = 0;
  for (const Job& job : s.jobs) {
    for (const AllocationEntry& entry : job.allocation.entries) held += static_cast<std::int64_t>(entry.gpus.size());
  }

  EXPECT_GE(running(s), 240);
  EXPECT_LE(running(s), 300);
  EXPECT_GE(held, 1500);
}

TEST(Generate, EstimatesAreNamedAndExceedWhatHasRun) {
  for (const Workload workload : kAll) {
    for (const Job& job : generate(options(60, 8, 400, workload)).jobs) {
      if (job.kind == JobKind::kService) continue;
      SCOPED_TRACE(job.id);
      EXPECT_EQ(job.estimate.source.rfind("generated:", 0), 0U);
      EXPECT_GT(job.estimate.run_us, job.progress.run_us);
      EXPECT_GE(job.estimate.p50_us, job.progress.run_us);
      EXPECT_GE(job.estimate.p90_us, job.estimate.p50_us);
    }
  }
}

TEST(Generate, RatesOfElasticJobsRiseAndFlatten) {
  GenerateOptions o = options(50, 8, 200, Workload::kHelios);
  o.elastic = true;
  std::size_t elastic = 0;

  for (const Job& job : generate(o).jobs) {
    elastic += job.shapes.size() > 1;
    const auto& points = job.profile.points;
    ASSERT_EQ(points.size(), job.shapes.size());
    for (std::size_t i = 1; i < points.size(); ++i) {
      EXPECT_GT(points[i].rate, points[i - 1].rate);
      EXPECT_LT(points[i].rate / points[i].gpus, points[i - 1].rate / points[i - 1].gpus);
    }
  }
  EXPECT_GE(elastic, 150U);
}

TEST(Generate, TheDemoIsWhatItsPageSays) {
  // data/demo/README.md: the command, and six jobs by hand.
  GenerateOptions o = options(12, 8, 34, Workload::kHelios, 770);
  o.gpu_types = {{"A100-80GB", 2}, {"V100-32GB", 1}};
  o.nodes_per_rack = 4;
  o.outage_ppm = 0;
  o.queues = 3;
  o.history = 120;
  Snapshot demo = io::parse_snapshot(io::read_file(test::source_dir() + "/data/demo/snapshot.json"));
  ASSERT_EQ(demo.jobs.size(), 40U);

  std::erase_if(demo.jobs, [](const Job& job) { return job.id.rfind("demo-", 0) == 0; });

  EXPECT_TRUE(demo == generate(o)) << "generate it anew, or bump the seed on the page";
}

TEST(Generate, LlmTreesUseEveryPartOfTheModel) {
  std::set<std::string> seen;
  for (const auto& [gpus, nodes] : {std::pair{4, 288}, std::pair{8, 256}}) {
    for (const Job& job : generate(options(nodes, gpus, 400, Workload::kLlm)).jobs) {
      if (job.profile.kind == ProfileKind::kClosedForm) seen.insert("closed form");
      for (const Group& g : job.shapes.front().groups) {
        if (g.require) seen.insert("require " + g.require->level);
        if (g.prefer) seen.insert("prefer " + g.prefer->level);
        if (g.segment) seen.insert("segment");
        if (g.spread) seen.insert("spread " + g.spread->at.level);
        if (g.spares > 0) seen.insert("spares");
        for (const Group& up : job.shapes.front().groups) {
          if (up.name == g.parent && !up.parent.empty()) seen.insert("third level");
        }
        for (const Communication& c : g.communication) seen.insert("communication " + std::to_string(static_cast<int>(c.kind)));
      }
    }
  }

  EXPECT_EQ(seen, (std::set<std::string>{"closed form", "require nvl_domain", "require pod", "require leaf", "prefer nvl_domain",
                                         "prefer pod", "prefer leaf", "segment", "spread cooling", "spread row", "spread node", "spares",
                                         "third level", "communication 0", "communication 1", "communication 2", "communication 4"}));
}

// docs/llm-workload.md: four stages of a model with 69e9 parameters, 80 layers and a hidden size of 8,192.
TEST(Generate, LlmTrafficFollowsFromTheModel) {
  int stages = 0;
  for (const Job& job : generate(options(256, 8, 400, Workload::kLlm)).jobs) {
    if (job.profile.model != "llama-2-70b" || job.shapes.front().groups.size() != 5) continue;
    const Group& stage = job.shapes.front().groups[1];
    if (stage.members_want == 1) continue;
    constexpr std::int64_t kTokens = 4096 * 8 * 4;
    EXPECT_EQ(stage.communication,
              (std::vector<Communication>{{CommKind::kDp, "", 34'500'000'000}, {CommKind::kPp, "stage1", 2 * kTokens * 8192}}));
    ++stages;
  }
  EXPECT_GT(stages, 0);
}

TEST(Generate, UplinksCarryWhatComesFromBelowOverTheRatio) {
  GenerateOptions o = options(48, 8, 0, Workload::kHelios);
  o.fabric = Fabric::kTree;  // a NIC of 12.5 GB/s each
  o.nodes_per_rack = 4;
  o.racks_per_pod = 3;
  const auto uplinks = [&] {
    std::map<std::string, std::set<std::pair<std::int64_t, std::int64_t>>> seen;
    for (const Domain& d : generate(o).domains) {
      if (d.topology == TopologyKind::kSwitch) seen[d.level].insert({d.uplink_bytes_per_s, d.oversubscription_ppm});
    }
    return seen;
  };
  using Uplinks = std::map<std::string, std::set<std::pair<std::int64_t, std::int64_t>>>;

  o.oversubscription_ppm = {{"rack", 1'000'000}, {"pod", 4'000'000}};
  EXPECT_EQ(uplinks(), (Uplinks{{"rack", {{50'000'000'000, 1'000'000}}}, {"pod", {{37'500'000'000, 4'000'000}}}}));
  o.oversubscription_ppm = {{"rack", 1'500'000}};  // that of pods stays the fabric's
  EXPECT_EQ(uplinks(), (Uplinks{{"rack", {{33'333'333'333, 1'500'000}}}, {"pod", {{49'999'999'999, 2'000'000}}}}));
  o.oversubscription_ppm = {{"rack", 1'000'000'000'000}};
  EXPECT_EQ(uplinks().at("rack"), (Uplinks::mapped_type{{50'000, 1'000'000'000'000}}));
  o.oversubscription_ppm = {{"leaf", 1'000'000}};
  EXPECT_THROW(generate(o), InvalidArgument);
  o.fabric = Fabric::kRail;
  EXPECT_EQ(uplinks().at("leaf"), (Uplinks::mapped_type{{1'600'000'000'000, 1'000'000}}));
}

TEST(Generate, RefusesOptionsOutOfRangeByName) {
  GenerateOptions zero = options(0, 8, 1, Workload::kHelios);
  GenerateOptions wide = options(1, 65, 1, Workload::kHelios);
  GenerateOptions type = options(1, 8, 1, Workload::kHelios);
  type.gpu_types = {{"abacus", 1}};

  EXPECT_THROW(generate(zero), InvalidArgument);
  EXPECT_THROW(generate(wide), InvalidArgument);
  try {
    generate(type);
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find("abacus"), std::string::npos);
  }
}

TEST(Generate, NamesReadBack) {
  for (const Workload workload : kAll) EXPECT_EQ(workload_from_name(name(workload)), workload);
  for (const Fabric fabric : {Fabric::kAuto, Fabric::kTree, Fabric::kNvl72, Fabric::kRail})
    EXPECT_EQ(fabric_from_name(name(fabric)), fabric);
  EXPECT_FALSE(workload_from_name("phily").has_value());
}

}  // namespace berth::sim::generate_test
