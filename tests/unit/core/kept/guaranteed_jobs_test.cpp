#include "host/core/kept/guaranteed_jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/support/random.hpp"

namespace berth::core::guaranteed_jobs_test {
namespace {

using test::Random;

constexpr std::int32_t kJobs = 48;
constexpr std::int32_t kQueues = 2;

/// Each on a node of its own where it runs.
Snapshot cluster(Random& random) {
  Snapshot s;
  s.gpu_types.resize(1);
  s.gpu_types[0].id = "g";
  for (std::int32_t q = 0; q < kQueues; ++q) {
    Queue queue;
    queue.id = "q" + std::to_string(q);
    queue.quotas = {{"*", random.within(8, 60)}};
    s.queues.push_back(queue);
  }
  for (std::int32_t j = 0; j < kJobs; ++j) {
    Node node;
    node.id = "n" + std::to_string(100 + j);
    node.gpu_type = "g";
    node.gpus = 8;
    s.nodes.push_back(node);
    Job job;
    job.id = "j" + std::to_string(100 + j);
    job.queue = "q" + std::to_string(random.below(kQueues));
    Shape shape;
    shape.id = "s";
    shape.gpus = random.of<std::int32_t>({1, 2, 4, 5, 8});
    job.shapes = {shape};
    if (random.percent(60)) {
      job.state = JobState::kRunning;
      AllocationEntry entry;
      entry.node = node.id;
      for (std::int32_t g = 0; g < shape.gpus; ++g) entry.gpus.push_back(g);
      job.allocation.shape = "s";
      job.allocation.entries = {entry};
    }
    s.jobs.push_back(job);
  }
  return s;
}

/// Keys of jobs that run rest until some instant, then fall, and rest again from another one on.
class Keys final : public FallingKeys {
 public:
  explicit Keys(const ClusterState& state) : state_(state), keys_(kJobs) {}
  void draw(Random& random, std::int32_t job) {
    const TimeUs falls_from = state_.now() + random.below(random.percent(50) ? 4 : 3'000) * kSecond;
    keys_[static_cast<std::size_t>(job)] = {random.within(0, 20'000) * kSecond, random.below(4), falls_from,
                                            falls_from + random.below(random.percent(80) ? 10'000 : 500'000) * kSecond, random.percent(90)};
  }
  std::int64_t key_of(std::int32_t job) override {
    const Key& key = keys_[static_cast<std::size_t>(job)];
    return key.at_first - (runs(job) ? key.falls_by * (std::clamp(state_.now(), key.from, key.to) - key.from) : 0);
  }
  std::int64_t most_fall(std::int32_t job) override {
    const Key& key = keys_[static_cast<std::size_t>(job)];
    return runs(job) && state_.now() < key.to ? key.falls_by : 0;
  }
  std::int64_t lowest_key(std::int32_t job, TimeUs until) override {
    if (until <= state_.now() || most_fall(job) == 0) return key_of(job);
    const bool has_bound = keys_[static_cast<std::size_t>(job)].has_bound;
    return has_bound ? key_of(job) - most_fall(job) * (until - state_.now()) : std::numeric_limits<std::int64_t>::min();
  }

 private:
  struct Key {
    std::int64_t at_first = 0, falls_by = 0;
    TimeUs from = 0, to = 0;
    bool has_bound = true;
  };
  bool runs(std::int32_t job) const { return state_.impl().job.running[static_cast<std::size_t>(job)] != 0; }
  const ClusterState& state_;
  std::vector<Key> keys_;
};

/// In the order of current keys, by what is within the guarantees.
std::set<std::int32_t> by_definition(const StateImpl& s, const QuotaLedger& ledger, const std::vector<std::uint8_t>& is_there, Keys& keys) {
  std::vector<OrderPlace> order;
  for (const std::int32_t job : s.job_order) {
    const auto j = static_cast<std::size_t>(job);
    if (is_there[j] != 0) order.push_back({keys.key_of(job), s.job_label[j], job});
  }
  std::sort(order.begin(), order.end());
  std::vector<std::int64_t> taken(kQueues, 0);
  std::set<std::int32_t> entitled;
  for (const OrderPlace& one : order) {
    const std::int32_t queue = s.job.queue[static_cast<std::size_t>(one.job)];
    const std::int64_t gpus = asked_amount(s.problem(), one.job).gpus;
    std::int64_t& has = taken[static_cast<std::size_t>(queue)];
    if (has + gpus > ledger.entitled(queue, 1, false)) continue;
    has += gpus;
    entitled.insert(one.job);
  }
  return entitled;
}

}  // namespace

// Time passes by seconds, by hours, and by more than a day, keys of running jobs fall, jobs leave, come back, and get other keys.
TEST(GuaranteedJobs, AreThoseOfTheWholeOrder) {
  std::int64_t changes = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    ClusterState state(cluster(random));
    const StateImpl& s = state.impl();
    QuotaLedger ledger;
    ledger.begin(s);
    for (const std::int32_t job : s.job_order) ledger.ask(s.job.queue[static_cast<std::size_t>(job)], asked_amount(s.problem(), job));
    ledger.divide(s, Quotas::kGuarantees);
    Keys keys(state);
    std::vector<std::uint8_t> is_there(kJobs, 1);
    GuaranteedJobs jobs;
    jobs.begin(s, ledger);
    for (const std::int32_t job : s.job_order) {
      keys.draw(random, job);
      ASSERT_TRUE(jobs.follow(s, s.problem(), job, true, keys));
    }
    std::set<std::int32_t> before;
    for (std::int32_t step = 0; step < 200; ++step) {
      for (std::int32_t job = 0; job < kJobs; ++job) {
        if (step == 0 || !random.percent(step % 3 == 0 ? 3 : 0)) continue;
        is_there[static_cast<std::size_t>(job)] = random.percent(80) ? 1 : 0;
        keys.draw(random, job);
        ASSERT_TRUE(jobs.follow(s, s.problem(), job, is_there[static_cast<std::size_t>(job)] != 0, keys));
      }
      jobs.judge(s, keys);
      const std::set<std::int32_t> expected = by_definition(s, ledger, is_there, keys);
      std::set<std::int32_t> changed;
      std::set_symmetric_difference(before.begin(), before.end(), expected.begin(), expected.end(), std::inserter(changed, changed.end()));
      for (std::int32_t job = 0; job < kJobs; ++job) {
        ASSERT_EQ(jobs.level(job) < 0, expected.count(job) > 0) << "seed " << seed << ", step " << step << ", job " << job;
      }
      ASSERT_EQ(std::set<std::int32_t>(jobs.changed().begin(), jobs.changed().end()), changed) << "seed " << seed << ", step " << step;
      before = expected;
      changes += std::ssize(changed);
      const std::int32_t hours = random.percent(3) ? 30 : 0;
      state.apply(delta::SetTime{state.now() + (hours * 3'600 + random.below(random.percent(70) ? 4 : 2'000)) * kSecond});
    }
  }
  EXPECT_GT(changes, 5'000);
}

// A job that comes may have the label and the index of others that left in the same round.
TEST(GuaranteedJobs, AJobThatComesIsNotTakenForOneThatLeft) {
  Random random(1);
  Snapshot first = cluster(random);
  first.queues[0].quotas = {{"*", 4}};
  const Job one = first.jobs[0];
  first.jobs.clear();
  const auto waits = [&](const char* id, TimeUs submit) {
    Job job = one;
    job.id = id;
    job.queue = "q0";
    job.submit_us = submit;
    job.shapes[0].gpus = 4;
    job.state = JobState::kWaiting;
    job.allocation = {};
    return job;
  };
  first.jobs = {waits("a", 0), waits("b", 1), waits("c", 2)};
  first.jobs[0].shapes[0].gpus = 3;
  ClusterState state(std::move(first));
  const StateImpl& s = state.impl();
  QuotaLedger ledger;
  ledger.begin(s);
  for (const std::int32_t job : s.job_order) ledger.ask(0, asked_amount(s.problem(), job));
  ledger.divide(s, Quotas::kGuarantees);
  Keys keys(state);
  GuaranteedJobs jobs;
  jobs.begin(s, ledger);
  for (const std::int32_t job : s.job_order) ASSERT_TRUE(jobs.follow(s, s.problem(), job, true, keys));
  jobs.judge(s, keys);
  const std::int32_t a = state.find_job("a"), b = state.find_job("b"), c = state.find_job("c");
  ASSERT_LT(jobs.level(a), 0);
  const std::int64_t label = s.job_label[static_cast<std::size_t>(c)];
  state.apply(std::vector<Delta>{delta::RemoveJob{"c", ""}, delta::RemoveJob{"a", ""}, delta::PutJob{waits("d", 3)}});
  ASSERT_EQ(state.find_job("d"), a);
  ASSERT_EQ(s.job_label[static_cast<std::size_t>(a)], label);
  ASSERT_TRUE(jobs.follow(s, s.problem(), a, true, keys));
  ASSERT_TRUE(jobs.follow(s, s.problem(), c, false, keys));
  jobs.judge(s, keys);
  EXPECT_LT(jobs.level(b), 0);
  state.apply(delta::RemoveJob{"b", ""});
  ASSERT_TRUE(jobs.follow(s, s.problem(), b, false, keys));
  jobs.judge(s, keys);
  EXPECT_LT(jobs.level(a), 0);
}

}  // namespace berth::core::guaranteed_jobs_test
