#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "tests/reference/solve.hpp"
#include "tests/support/random_problem.hpp"

/// EASY on random problems: when the reservation begins, queues have room for the reserved job. What queues are charged is added up here
/// from the jobs that run then, without the pass.
namespace berth::test::reserved_limits_test {
namespace {

using kernel::kNone;
using kernel::Outcome;

/// A job that runs at an instant, with millionths of GPUs of a type.
struct Running {
  std::int32_t job, type;
  std::int64_t quota;
};

class Queues {
 public:
  explicit Queues(const Problem& p)
      : p_(p), columns_(static_cast<std::size_t>(p.n_types()) + 1), own_(p.queue_cap.size()), charged_(p.queue_cap.size()) {}

  void charge(const std::vector<Running>& running) {
    std::fill(own_.begin(), own_.end(), 0);
    for (const Running& one : running) {
      const std::int32_t queue = p_.job_queue[static_cast<std::size_t>(one.job)];
      if (queue == kNone) continue;
      own_[at(queue, one.type)] += one.quota;
      own_[at(queue, p_.n_types())] += one.quota;
    }
    charged_ = own_;
    for (auto q = static_cast<std::int32_t>(p_.queue_parent.size()); q-- > 0;) {  // parents come before their children
      const std::int32_t parent = p_.queue_parent[static_cast<std::size_t>(q)];
      for (std::int32_t c = 0; parent != kNone && c <= p_.n_types(); ++c) {
        const std::int64_t kept = p_.queue_kept.empty() ? 0 : p_.queue_kept[at(q, c)];
        charged_[at(parent, c)] += std::max(charged_[at(q, c)], kept);
      }
    }
  }
  /// Whether no limit of the job's queue, or above, is exceeded in the columns of a type.
  bool are_within(std::int32_t job, std::int32_t type) const {
    for (std::int32_t q = p_.job_queue[static_cast<std::size_t>(job)]; q != kNone; q = p_.queue_parent[static_cast<std::size_t>(q)]) {
      for (const std::int32_t c : {type, p_.n_types()}) {
        const std::int64_t cap = p_.queue_cap[at(q, c)];
        if (cap != kernel::kNoLimit && charged_[at(q, c)] > cap) return false;
      }
    }
    return true;
  }

 private:
  std::size_t at(std::int32_t queue, std::int32_t column) const {
    return static_cast<std::size_t>(queue) * columns_ + static_cast<std::size_t>(column);
  }
  const Problem& p_;
  std::size_t columns_;
  std::vector<std::int64_t> own_, charged_;
};

class EasyPlan {
 public:
  EasyPlan(const Problem& p, const PassCase& pass) : p_(p), pass_(pass), result_(solve(p, pass)), end_(to(p.n_jobs()), kNever) {
    for (const kernel::ReleaseRow& release : pass.releases) {
      if (release.job >= 0) end_[to(release.job)] = std::max(release.at, pass.now);
    }
    gone_.assign(to(p.n_jobs()), false);
    for (std::size_t i = 0; i < pass.order.size(); ++i) {
      if (result_.displaced_by[i] != kNone) gone_[to(pass.order[i])] = true;
      if (result_.outcome[i] == Outcome::kReserved) reserved_ = static_cast<std::int32_t>(i);
    }
  }

  const ResultBuffers& result() const { return result_; }
  std::int32_t reserved() const { return reserved_; }  // position, kNone
  TimeUs begin() const { return result_.reserve_at[to(reserved_)]; }
  const kernel::DemandRow& demand(std::int32_t i, std::int32_t o) const {
    return p_.demands[to(p_.options[to(p_.option_begin[job(i)] + o)].demand)];
  }
  bool ends_by(std::int32_t i, std::int32_t o, TimeUs then) const {
    const TimeUs run = pass_.option_run[to(p_.option_begin[job(i)] + o)];
    return run != kNever && pass_.now + run <= then;
  }
  /// All that run at an instant; `then` = now: after the pass, also those whose end is overdue.
  std::vector<Running> at(TimeUs then) const {
    const bool now = then == pass_.now;
    std::vector<Running> all;
    for (std::int32_t j = 0; j < p_.n_jobs(); ++j) {
      if (gone_[to(j)] || (!now && end_[to(j)] <= then)) continue;
      for (std::int32_t h = p_.held_begin[to(j)]; h < p_.held_begin[to(j) + 1]; ++h) {
        const kernel::HeldRow& held = p_.held[to(h)];
        all.push_back({j, p_.node_type[to(held.node)], std::int64_t{held.share_ppm} * std::popcount(held.mask)});
      }
    }
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(pass_.order.size()); ++i) {
      const Outcome outcome = result_.outcome[to(i)];
      if (outcome != Outcome::kPlaced && outcome != Outcome::kMoved) continue;
      if (!now && ends_by(i, result_.option[to(i)], then)) continue;
      all.push_back(running(i, result_.option[to(i)]));
    }
    return all;
  }
  Running running(std::int32_t i, std::int32_t o) const { return {pass_.order[to(i)], demand(i, o).gpu_type, demand(i, o).quota}; }

 private:
  static std::size_t to(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::size_t job(std::int32_t i) const { return to(pass_.order[to(i)]); }

  const Problem& p_;
  const PassCase& pass_;
  ResultBuffers result_;
  std::vector<TimeUs> end_;  // [jobs] of those that run
  std::vector<bool> gone_;
  std::int32_t reserved_ = kNone;
};

/// Jobs behind the reservation that wait, though their queues have room now and some option would not end in time.
int held_back(const Problem& p, const PassCase& pass, const EasyPlan& plan) {
  int count = 0;
  for (auto i = plan.reserved() + 1; i < static_cast<std::int32_t>(pass.order.size()); ++i) {
    const std::size_t job = static_cast<std::size_t>(pass.order[static_cast<std::size_t>(i)]);
    if (plan.result().outcome[static_cast<std::size_t>(i)] != Outcome::kQuota) continue;
    bool open = false;
    for (std::int32_t o = 0; o < p.option_begin[job + 1] - p.option_begin[job]; ++o) {
      Queues queues(p);
      std::vector<Running> all = plan.at(pass.now);
      all.push_back(plan.running(i, o));
      queues.charge(all);
      open = open || (!plan.ends_by(i, o, plan.begin()) && queues.are_within(all.back().job, all.back().type));
    }
    count += open ? 1 : 0;
  }
  return count;
}

struct Counts {
  int reserved = 0, exceeded_now = 0, displaced = 0, held_back = 0;
};

/// Expects room for the reserved job, and for what outlasts the instant at which it begins.
void expect_room(const Problem& p, const PassCase& pass, Counts& counts) {
  const EasyPlan plan(p, pass);
  if (plan.reserved() == kNone || plan.begin() == pass.now) return;
  ++counts.reserved;
  const std::int32_t option = plan.result().option[static_cast<std::size_t>(plan.reserved())];
  std::vector<Running> then = plan.at(plan.begin());
  then.push_back(plan.running(plan.reserved(), option));
  Queues queues(p);
  queues.charge(then);
  EXPECT_TRUE(queues.are_within(then.back().job, then.back().type)) << "reserved job " << then.back().job;
  for (auto i = plan.reserved() + 1; i < static_cast<std::int32_t>(pass.order.size()); ++i) {
    const Outcome outcome = plan.result().outcome[static_cast<std::size_t>(i)];
    if (outcome != Outcome::kPlaced && outcome != Outcome::kMoved) continue;
    const Running one = plan.running(i, plan.result().option[static_cast<std::size_t>(i)]);
    if (plan.ends_by(i, plan.result().option[static_cast<std::size_t>(i)], plan.begin())) continue;
    EXPECT_TRUE(queues.are_within(one.job, one.type)) << "job " << one.job << " behind the reservation";
  }
  queues.charge(plan.at(pass.now));
  for (auto i = plan.reserved() + 1; i < static_cast<std::int32_t>(pass.order.size()); ++i) {
    const Outcome outcome = plan.result().outcome[static_cast<std::size_t>(i)];
    if (outcome != Outcome::kPlaced && outcome != Outcome::kMoved) continue;
    const Running one = plan.running(i, plan.result().option[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(queues.are_within(one.job, one.type)) << "job " << one.job << " now";
  }
  // With all that is charged now the reserved job would have none: what ends in time lets others use it.
  std::vector<Running> now = plan.at(pass.now);
  now.push_back(then.back());
  queues.charge(now);
  counts.exceeded_now += queues.are_within(now.back().job, now.back().type) ? 0 : 1;
  for (const std::int32_t by : plan.result().displaced_by) counts.displaced += by > plan.reserved() ? 1 : 0;
  counts.held_back += held_back(p, pass, plan);
}

TEST(RandomPass, QueuesHaveRoomForTheReservedJob) {
  Counts counts;
  for (std::uint64_t seed = 0; seed < 6000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Problem p = seed % 2 == 0 ? random_problem(seed) : random_problem_near_limits(seed);
    expect_room(p, random_easy_pass(seed, p), counts);
  }
  RecordProperty("reserved", counts.reserved);
  RecordProperty("exceeded_now", counts.exceeded_now);
  RecordProperty("displaced", counts.displaced);
  RecordProperty("held_back", counts.held_back);
  EXPECT_GE(counts.reserved, 1000);
  EXPECT_GE(counts.displaced, 200);
  EXPECT_GE(counts.exceeded_now, 20);
  EXPECT_GE(counts.held_back, 20);
}

}  // namespace
}  // namespace berth::test::reserved_limits_test
