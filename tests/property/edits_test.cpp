// An edit that is asked about is answered as a new engine decides on a new state that was edited, in any order of edits.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/what_if.hpp"
#include "tests/property/live_loop.hpp"
#include "tests/support/plain_cluster.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/random.hpp"

namespace berth::edits_test {
namespace {

using test::Loop;
using test::Random;

/// What a plan does with each job, with names in the place of indices.
struct PlainAnswer {
  Action action = Action::kWait;
  TimeUs start = kNever;
  std::string shape, reason, starts_if, queue;
  std::vector<std::tuple<std::string, std::uint64_t, std::int32_t>> places;  // node, GPUs, share
  std::int64_t gpus_ppm = 0;
};

using PlainAnswers = std::map<std::string, PlainAnswer>;

PlainAnswers plain_answers(const ClusterState& state, const Plan& plan) {
  PlainAnswers answers;
  for (const Decision& d : plan.decisions) {
    const Job& job = *state.job(d.job);
    PlainAnswer& one = answers[job.id];
    one.action = d.action;
    one.queue = job.queue;
    if (d.action == Action::kStart || d.action == Action::kReserve) one.start = d.start_us;
    if (d.reason.code != ReasonCode::kNone) {
      one.reason = render_reason(state, d.reason, d.job);
      one.starts_if = render_would_start_if(state, d.reason, d.job);
    }
    if (d.action == Action::kKeep) {
      one.shape = job.allocation.shape;
      for (const AllocationEntry& e : job.allocation.entries) {
        std::uint64_t gpus = 0;
        for (const std::int32_t g : e.gpus) gpus |= std::uint64_t{1} << g;
        one.places.emplace_back(e.node, gpus, e.share_ppm);
      }
    } else if (d.entry_begin < d.entry_end) {
      one.shape = job.shapes[static_cast<std::size_t>(d.shape)].id;
      for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
        const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
        one.places.emplace_back(state.node(entry.node).id, entry.gpus, entry.share_ppm);
      }
    }
    for (const auto& [node, gpus, share] : one.places) {
      if (runs_now(d.action)) one.gpus_ppm += std::int64_t{share} * std::popcount(gpus);
    }
  }
  return answers;
}

void expect_answer(const std::optional<JobAnswer>& got, const PlainAnswers& want, const std::string& job, bool reasons) {
  const auto found = want.find(job);
  ASSERT_EQ(got.has_value(), found != want.end()) << job;
  if (!got) return;
  const PlainAnswer& one = found->second;
  EXPECT_EQ(got->action, one.action) << job;
  EXPECT_EQ(got->start_us, one.start) << job;
  EXPECT_EQ(got->gpus_ppm, one.gpus_ppm) << job;
  const bool always = one.action == Action::kPreempt || one.action == Action::kReject;
  EXPECT_EQ(got->reason, reasons || always ? one.reason : "") << job;
  EXPECT_EQ(got->would_start_if, reasons || always ? one.starts_if : "") << job;
  EXPECT_EQ(got->allocation.shape, one.shape) << job;
  std::vector<std::tuple<std::string, std::uint64_t, std::int32_t>> places;
  for (const AllocationEntry& e : got->allocation.entries) {
    std::uint64_t gpus = 0;
    for (const std::int32_t g : e.gpus) gpus |= std::uint64_t{1} << g;
    places.emplace_back(e.node, gpus, e.share_ppm);
  }
  EXPECT_EQ(places, one.places) << job;
}

/// Jobs that both plans treat alike for their users.
bool is_alike(const PlainAnswer& a, const PlainAnswer& b) {
  if (runs_now(a.action) != runs_now(b.action)) return false;
  if (runs_now(a.action)) return a.shape == b.shape && a.places == b.places;
  return (a.action == Action::kReject) == (b.action == Action::kReject) &&
         (a.action == Action::kReserve) == (b.action == Action::kReserve) && (a.action != Action::kReserve || a.start == b.start);
}

std::map<std::string, std::int64_t> plain_use(const Snapshot& s, const PlainAnswers& answers) {
  std::map<std::string, std::int64_t> use;
  std::map<std::string, std::string> parent;
  for (const Queue& queue : s.queues) {
    use[queue.id] = 0;
    parent[queue.id] = queue.parent;
  }
  for (const auto& [job, one] : answers) {
    for (std::string q = one.queue; !q.empty(); q = parent[q]) use[q] += one.gpus_ppm;
  }
  return use;
}

struct SeenEdits {
  std::map<EditEffect, int> effects;
  int answers = 0, refused = 0, queues = 0;
};

Plan decided(const ClusterState& state, const Request& request, PolicyState kept) {
  Plan plan;
  Engine().decide(state, kept, request, plan);
  return plan;
}

void expect_as_from_scratch(WhatIfEngine& engine, const Snapshot& given, const Edit& edit, const WhatIfRequest& asked, SeenEdits& seen) {
  const ClusterState before(given);
  ClusterState after(given);
  Request request = asked.request;
  if (edit.policy) request.policy = *edit.policy;
  if (edit.policy) request.params.clear();
  if (edit.params) request.params = *edit.params;
  try {
    after.apply(edit.deltas);
  } catch (const InputError&) {
    EXPECT_THROW(engine.answer(edit), InputError);
    ++seen.refused;
    return;
  }
  const Plan base = decided(before, asked.request, asked.policy_state);
  const Plan edited = decided(after, request, request.policy == asked.request.policy ? asked.policy_state : PolicyState());
  const EditOutcome got = engine.answer(edit);
  EXPECT_EQ(got.name, edit.name);
  EXPECT_EQ(got.revision, before.revision());
  EXPECT_EQ(got.before, base.totals);
  EXPECT_EQ(got.after, edited.totals);
  const PlainAnswers was = plain_answers(before, base), is = plain_answers(after, edited);
  std::map<std::string, EditEffect> listed;
  for (const JobChange& change : got.jobs) {
    EXPECT_TRUE(listed.emplace(change.job, change.effect).second) << change.job;
    ++seen.effects[change.effect];
    expect_answer(change.before, was, change.job, asked.reasons);
    expect_answer(change.after, is, change.job, asked.reasons);
    if (change.effect == EditEffect::kSame) {
      EXPECT_TRUE(is_alike(was.at(change.job), is.at(change.job))) << change.job;
    }
  }
  for (const auto& [job, one] : is) {
    const auto old = was.find(job);
    const bool differs = old == was.end() || !is_alike(old->second, one);
    const auto found = listed.find(job);
    const bool said = found != listed.end() && found->second != EditEffect::kSame;
    EXPECT_TRUE(said || !differs) << job;
  }
  for (const auto& [job, one] : was) {
    EXPECT_TRUE(is.count(job) != 0 || listed.count(job) != 0) << job;
  }
  std::map<std::string, std::int64_t> use_before = plain_use(given, was);
  std::vector<QueueUse> uses;
  for (const auto& [queue, use] : plain_use(after.snapshot(), is)) {
    if (use_before[queue] != use) uses.push_back({queue, use_before[queue], use});
  }
  EXPECT_EQ(got.queues, uses);
  seen.queues += uses.empty() ? 0 : 1;
  ++seen.answers;
}

Edit random_edit(Loop& loop) {
  Edit edit;
  edit.name = "e" + std::to_string(loop.random.below(1'000));
  for (std::int32_t i = loop.random.percent(70) ? 1 : loop.random.below(4); i > 0; --i) {
    const std::vector<Delta> more = loop.change_and_back().there;
    edit.deltas.insert(edit.deltas.end(), more.begin(), more.end());
  }
  if (loop.random.percent(10)) edit.deltas.emplace_back(delta::SetTime{loop.state.now() + loop.random.below(2'000) * kSecond});
  if (loop.random.percent(15)) {
    Job job = loop.newcomer();
    edit.deltas.emplace_back(delta::PutJob{job});
  }
  if (loop.random.percent(10)) {
    const Snapshot s = loop.state.snapshot();
    if (!s.jobs.empty()) edit.deltas.emplace_back(delta::RemoveJob{loop.random.of(s.jobs).id, loop.random.percent(50) ? "completed" : ""});
  }
  if (loop.random.percent(10)) {  // which the state often refuses
    const Snapshot s = loop.state.snapshot();
    if (!s.nodes.empty()) edit.deltas.emplace_back(delta::RemoveNode{loop.random.of(s.nodes).id});
  }
  if (loop.random.percent(15)) edit.policy = loop.random.of<const char*>({"fifo", "srsf", "priority", "sjf"});
  if (loop.random.percent(5)) edit.params.emplace().emplace_back("packing", "count");
  return edit;
}

SeenEdits ask(const std::string& policy, const std::string& discipline, std::uint64_t seeds) {
  SeenEdits seen;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    WhatIfRequest asked;
    asked.request = test::plain_request(policy, seed, random);
    std::erase_if(asked.request.params, [](const auto& param) { return param.first == "discipline"; });
    if (!discipline.empty()) asked.request.params.emplace_back("discipline", discipline);
    asked.reasons = seed % 2 == 0;
    Loop loop(std::move(random), asked.request, test::plain_cluster(seed, 60), test::plain_newcomers(seed));
    WhatIfEngine engine(ClusterState(loop.state.snapshot()), asked);
    for (int round = 0; round < 3; ++round) {
      const Snapshot given = loop.state.snapshot();
      for (int i = 0; i < 12 && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(policy + " " + discipline + ", seed " + std::to_string(seed) + ", round " + std::to_string(round) + ", edit " +
                     std::to_string(i));
        expect_as_from_scratch(engine, given, random_edit(loop), asked, seen);
        EXPECT_EQ(engine.state().snapshot(), given);
      }
      // What happens in between is followed.
      if (round == 1) {
        const std::vector<Delta> happened{delta::SetTime{loop.state.now() + 100 * kSecond}};
        loop.state.apply(happened);
        engine.follow(happened);
      } else {
        Plan plan;
        Engine().decide(loop.state, asked.policy_state, asked.request, plan);
        commit(loop.state, plan);
        engine.commit_base();
      }
    }
  }
  return seen;
}

void expect_effects(const SeenEdits& seen, std::initializer_list<EditEffect> effects) {
  EXPECT_GT(seen.answers, 100);
  EXPECT_GT(seen.queues, 0);
  for (const EditEffect effect : effects) EXPECT_TRUE(seen.effects.count(effect) > 0) << to_string(effect);
}

TEST(Edits, AreAnsweredAsFromScratch) {
  const SeenEdits seen = ask("fifo", "greedy", 8);
  expect_effects(seen, {EditEffect::kStarts, EditEffect::kNoRoom, EditEffect::kNew, EditEffect::kGone, EditEffect::kSame});
  EXPECT_GT(seen.refused, 0);
}

TEST(Edits, AreAnsweredAsFromScratchWhereJobsAreDisplaced) {
  expect_effects(ask("srsf", "greedy", 8), {EditEffect::kStarts, EditEffect::kRunsOn, EditEffect::kPreempted});
  expect_effects(ask("priority", "strict", 8), {EditEffect::kStarts, EditEffect::kPreempted});
}

TEST(Edits, AreAnsweredAsFromScratchWherePlansReserve) {
  expect_effects(ask("fifo", "conservative", 8), {EditEffect::kSooner, EditEffect::kLater, EditEffect::kPlanned});
  expect_effects(ask("fifo", "easy", 8), {EditEffect::kPlanned, EditEffect::kNotPlanned});
}

TEST(Edits, AreAnsweredAsFromScratchWhereShapesAreChosen) {
  expect_effects(ask("price", "", 4), {EditEffect::kStarts, EditEffect::kElsewhere});
}

// The moves are possible after the base plan, in any state: the state takes them, and the job starts.
TEST(Edits, JobsThatMakeRoomFindAnotherPlace) {
  int found = 0, moved = 0, none = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Snapshot s = ClusterState(test::plain_cluster(seed, 60)).snapshot();
    WhatIfRequest asked;
    asked.request.params = {{"discipline", seed % 3 == 0 ? "conservative" : "greedy"}};
    WhatIfEngine engine{ClusterState(s), asked};
    for (const Job& job : s.jobs) {
      if (job.state == JobState::kRunning) continue;
      const RoomAnswer room = engine.make_room(job.id);
      EXPECT_EQ(engine.state().snapshot(), s);
      found += room.found;
      moved += room.found && !room.moves.empty();
      none += !room.found;
      EXPECT_EQ(room.found, room.note.empty()) << room.note;
      if (!room.found || room.base.action == Action::kStart) continue;
      ClusterState after(s);
      commit(after, engine.base());
      std::vector<Delta> deltas;
      std::int64_t cost = 0;
      for (const RoomMove& move : room.moves) {
        EXPECT_EQ(after.job(after.find_job(move.job))->allocation, move.from);
        EXPECT_TRUE(after.job(after.find_job(move.job))->preemption.preemptible);
        EXPECT_EQ(move.from.shape, move.to.shape);
        cost += move.cost_gpu_us;
        deltas.emplace_back(delta::StopJob{move.job});
      }
      EXPECT_EQ(room.cost_gpu_us, cost);
      deltas.emplace_back(delta::StartJob{job.id, room.allocation});
      for (const RoomMove& move : room.moves) deltas.emplace_back(delta::StartJob{move.job, move.to});
      EXPECT_NO_THROW(after.apply(deltas)) << job.id;
    }
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(moved, 0);
  EXPECT_GT(none, 0);
}

TEST(Edits, LoadNoOtherState) {
  WhatIfEngine engine(ClusterState(test::plain_cluster(1, 20)), {});
  Edit edit;
  edit.deltas.emplace_back(delta::Load{});
  EXPECT_THROW(engine.answer(edit), InvalidArgument);
}

}  // namespace
}  // namespace berth::edits_test
