#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/cli/capacity/capacity_target.hpp"
#include "host/cli/capacity/demand.hpp"
#include "host/cli/capacity/node_mix.hpp"
#include "host/results/sweep_store.hpp"

namespace berth::cli::capacity_input_test {
namespace {

std::string problem_of(const std::string& target) {
  try {
    (void)parse_target(target);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

std::string_view metric_of(const std::string& target) { return results::kSweepMetricTable[parse_target(target).metric].name; }

NodeCount nodes(std::int64_t count, std::int64_t gpus, const std::string& type) {
  NodeCount one;
  one.nodes = count, one.kind.gpus = gpus, one.kind.type = type;
  return one;
}

}  // namespace

TEST(CapacityTargets, MetricsHaveTheNamesOfSweepsAndOfWaits) {
  EXPECT_EQ(metric_of("p90_wait<1h"), "p90_queue");
  EXPECT_EQ(metric_of("wait<1h"), "mean_queue");
  EXPECT_EQ(metric_of("p50_jct <= 2d"), "median_jct");
  EXPECT_EQ(metric_of("jct<1m"), "mean_jct");
  EXPECT_EQ(metric_of("gpu_utilisation>=60%"), "gpu_utilisation");
  EXPECT_EQ(metric_of("utilization>=60%"), "gpu_utilisation");
  EXPECT_EQ(parse_target("p90_wait<1h").value, 3600 * kSecond);
  EXPECT_EQ(parse_target("gpu_utilisation>60%").value, 600'000);
  EXPECT_EQ(parse_target("gpu_utilisation>0.6").value, 600'000);
  EXPECT_EQ(parse_target("mean_rho<2.5").value, 2'500'000);
  EXPECT_EQ(parse_target("hard_missed<=0").value, 0);
  EXPECT_EQ(parse_target("overhead_part<=0").value, 0);
}

TEST(CapacityTargets, SayWhatIsWrong) {
  EXPECT_EQ(problem_of("p90_wait"), "--target 'p90_wait': expected METRIC<VALUE or METRIC>VALUE, such as 'p90_wait<1h'");
  EXPECT_EQ(problem_of("<1h"), "--target '<1h': expected METRIC<VALUE or METRIC>VALUE, such as 'p90_wait<1h'");
  EXPECT_EQ(problem_of("p90_wait<60"), "--target 'p90_wait<60': '60': expected a time with its unit, such as 90s, 30m, 1h or 2d");
  EXPECT_EQ(problem_of("p90_wait<"), "--target 'p90_wait<': '': expected a time with its unit, such as 90s, 30m, 1h or 2d");
  EXPECT_EQ(problem_of("gpu_utilisation>x"),
            "--target 'gpu_utilisation>x': 'x': expected a number such as 0.7, or a percentage such as 70%");
  EXPECT_EQ(problem_of("rejected<1.5"), "--target 'rejected<1.5': '1.5': expected a whole number from 0 to 1000000000");
  EXPECT_EQ(problem_of("p90_jtc<1h"), "--target: unknown metric 'p90_jtc'; did you mean 'p90_jct'?");
  EXPECT_EQ(problem_of("p95_wait<1h"), "--target: unknown metric 'p95_wait'; did you mean 'p90_queue'?");
  EXPECT_NE(problem_of("p90_wait<\x1b[31m"), "");
  EXPECT_EQ(problem_of("p90_wait<\x1b[31m").find('\x1b'), std::string::npos);
}

TEST(CapacityTargets, MeansAreComparedExactly) {
  const CapacityTarget below = parse_target("starts<3"), most = parse_target("starts<=3"), above = parse_target("starts>3");
  const std::vector<std::int64_t> three{2, 3, 4}, less{2, 3, 3}, more{3, 3, 4};
  EXPECT_FALSE(below.holds_on_mean(three));
  EXPECT_TRUE(below.holds_on_mean(less));
  EXPECT_TRUE(most.holds_on_mean(three));
  EXPECT_FALSE(most.holds_on_mean(more));
  EXPECT_FALSE(above.holds_on_mean(three));
  EXPECT_TRUE(above.holds_on_mean(more));
  EXPECT_TRUE(parse_target("starts>=3").holds(3));
  const std::vector<std::int64_t> large(1000, INT64_MAX);
  EXPECT_FALSE(parse_target("starts<=1000000000").holds_on_mean(large)) << "the sum does not overflow";
}

TEST(NodeMixes, KindsAndClustersAreReadAndWritten) {
  EXPECT_EQ(parse_node_kind("--node", "8xH100").text(), "8xH100");
  EXPECT_EQ(parse_node_kind("--node", "4").text(), "4");
  EXPECT_EQ(cluster_text(parse_node_counts("--fixed", "16x8xA100+2x4xT4")), "16x8xA100+2x4xT4");
  EXPECT_EQ(cluster_text({nodes(3, 8, "A"), nodes(0, 8, "B"), nodes(2, 8, "A"), nodes(1, 4, "A")}), "5x8xA+1x4xA");
  EXPECT_EQ(gpus_of(parse_node_counts("--fixed", "16x8xA100+2x4xT4")), 136);
  for (const char* text : {"", "x", "0xH100", "8x", "8xA+B", "H100", "8 xA", "99999999xA", "-1", "2x8xA"})
    EXPECT_THROW(parse_node_kind("--node", text), InvalidArgument) << text;
  for (const char* text : {"8", "0x8", "2x8x", "2x8+", "2x8+x", "2x8 + 1x4"})
    EXPECT_THROW(parse_node_counts("--fixed", text), InvalidArgument) << text;
}

TEST(NodeMixes, CostsArePricesAndEnergy) {
  const CapacityCosts costs = parse_costs({"H100=2.5", "A100=1.25"}, {"H100=700:100", "A100=400"}, "0.1", {"A100", "H100"});
  const MixCost cost = cost_of(costs, {nodes(2, 8, "H100"), nodes(1, 4, "A100")}, 0.5);
  EXPECT_DOUBLE_EQ(cost.power_w, 16 * 400 + 4 * 400);
  EXPECT_DOUBLE_EQ(cost.per_hour, 16 * 2.5 + 4 * 1.25 + 0.8);
  const CapacityCosts any = parse_costs({"3", "H100=4"}, {}, "", {"A100", "H100"});
  EXPECT_DOUBLE_EQ(cost_of(any, {nodes(1, 8, "H100"), nodes(1, 2, "A100")}, 1).per_hour, 38);
  EXPECT_FALSE(any.powered());
}

TEST(NodeMixes, SayWhichCostIsWrong) {
  const auto problem = [](const std::vector<std::string>& prices, const std::vector<std::string>& powers, const std::string& energy) {
    try {
      (void)parse_costs(prices, powers, energy, {"A100", "H100"});
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(problem({"H10=2"}, {}, ""), "--price: no node has GPUs of the type 'H10' (known: A100, H100); did you mean 'H100'?");
  EXPECT_EQ(problem({"H100=2"}, {}, ""), "--price: there is none for 'A100': give each type its own, or one for all");
  EXPECT_EQ(problem({"H100=x", "1"}, {}, ""), "--price: 'H100=x': expected TYPE=PRICE of a GPU-hour, such as H100=2.5");
  EXPECT_EQ(problem({"1", "2"}, {}, ""), "--price: a value for all types is given twice");
  EXPECT_EQ(problem({}, {"100:200"}, ""), "--power: '100:200': expected TYPE=WATTS of a GPU, or TYPE=WATTS:IDLE, such as H100=700:100");
  EXPECT_EQ(problem({}, {}, "0.1"), "--power-price: --power says how much GPUs draw, and is not given");
  EXPECT_EQ(problem({}, {"100"}, "cheap"), "--power-price: 'cheap': expected the price of a kWh, such as 0.12");
}

TEST(GpuDemands, AreThoseOfJobsThatNeverWait) {
  Trace trace;
  const auto add = [&](TimeUs submit, TimeUs run, std::int32_t gpus) {
    TraceJob& job = trace.jobs.emplace_back();
    job.id = std::string(1, static_cast<char>('a' + trace.jobs.size()));
    job.submit_us = submit, job.run_us = run, job.gpus = gpus;
  };
  add(0, 100, 4), add(50, 50, 2), add(100, 100, 8), add(200, 10, 1);
  sim::JobsOf jobs(trace);
  const GpuDemand demand = demand_of(jobs);
  EXPECT_EQ(demand.jobs, 4);
  EXPECT_EQ(demand.peak, 8) << "a job that ends frees its GPUs for one that comes at that instant";
  EXPECT_EQ(demand.largest, 8);
  EXPECT_DOUBLE_EQ(demand.mean, (400 + 100 + 800 + 10) / 200.0);
}

}  // namespace berth::cli::capacity_input_test
