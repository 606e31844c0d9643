// afs: the next GPUs go to the job that two by two comes out on top.
//
// Choice      jobs without GPUs come first, the quickest of them first: each its smallest shape. Then again and again one job gets its next
//             larger and faster shape. Of two jobs, a with less run time left in what it has and b with more, it is b's turn exactly when
//                 (p_b' - p_b) / p_b'  >  (p_a' - p_a) / p_a ,
//             p being the speed in what a job has and p' in its next shape, each side divided by the GPUs that the step adds. As this may
//             go round in a circle, a tournament says who is on top: neighbours by rank meet first, then the winners. Equal run times: a
//             is the lower rank. Who has no next shape that fits is not asked: nobody is to lose to a job that would take nothing. It ends
//             when nobody is left. Weights do not count.
// Time        that is left in a shape, and what changing to it costs. What a change costs is not in p.
// Types       as under `optimus`: a job keeps to one GPU type.
// Cost        O(options + log jobs) for each step given, as only one job of the tournament changed; and for each job that leaves it.
// Source      AFS (NSDI'21, "Elastic Resource Sharing for Distributed Deep Learning"), its rule, not checked against the paper: one GPU at
//             a time, and who is on top by a look at all jobs. Shapes in place of single GPUs, the division by the GPUs of a step, steps
//             that make no faster left out, GPU types, the tournament and the order of equals are our reading.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "host/core/at.hpp"
#include "host/core/shape_policy.hpp"
#include "host/core/wide.hpp"
#include "host/policy/choice_params.hpp"
#include "host/policy/shape_steps.hpp"

namespace berth::policy {
namespace {

class Afs final : public core::ShapePolicy {
 public:
  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    steps_.begin(question, chosen);
    start();
    seat_all();
    while (tree_[1] >= 0) {
      const std::int32_t job = tree_[1], next = growth_[at(job)].next;
      steps_.give(job, next);
      seat(job);
      unseat_who_lacks_room(steps_.type(next));
    }
  }

 private:
  // The step that would be a job's next.
  struct Growth {
    std::int32_t next, added;
    std::int64_t speed, next_speed;
    TimeUs left;
  };
  struct Turn {
    TimeUs left;
    std::int32_t job;
  };
  // What a job of the tournament wants to add. The heap's top is the greatest.
  struct Want {
    std::int32_t added, job, next;
    bool operator<(const Want& b) const { return std::tie(added, job, next) < std::tie(b.added, b.job, b.next); }
  };

  // Who is quick in its smallest shape comes first; what fits shows at its turn.
  void start() {
    turns_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
      const std::int32_t row = steps_.smallest(job);
      if (row >= 0) turns_.push_back({steps_.left(row), job});
    }
    std::sort(turns_.begin(), turns_.end(), [](const Turn& a, const Turn& b) { return std::tie(a.left, a.job) < std::tie(b.left, b.job); });
    for (const Turn& turn : turns_) {
      const std::int32_t row = steps_.smallest(turn.job);
      if (row >= 0) steps_.give(turn.job, row);
    }
  }

  // The fewest GPUs that make the job faster; of equal ones the fastest. False: it has nothing, or no such shape fits.
  bool find_step(std::int32_t job) {
    const std::int32_t has = steps_.row(job);
    if (has < 0) return false;
    std::int32_t next = -1;
    for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
      if (!steps_.follows(job, k) || steps_.speed(k) <= steps_.speed(has)) continue;
      const bool smaller = next < 0 || steps_.gpus(k) < steps_.gpus(next);
      if (smaller || (steps_.gpus(k) == steps_.gpus(next) && steps_.speed(k) > steps_.speed(next))) next = k;
    }
    if (next < 0) return false;
    growth_[at(job)] = {next, steps_.gpus(next) - steps_.gpus(has), steps_.speed(has), steps_.speed(next), steps_.left(has)};
    std::vector<Want>& wants = wants_[at(steps_.type(next))];
    wants.push_back({growth_[at(job)].added, job, next});
    std::push_heap(wants.begin(), wants.end());
    return true;
  }

  // After GPUs of the type were given. Wants of steps that were made since are passed over.
  void unseat_who_lacks_room(std::int32_t type) {
    std::vector<Want>& wants = wants_[at(type)];
    while (!wants.empty() && wants.front().added > steps_.free(type)) {
      const Want want = wants.front();
      std::pop_heap(wants.begin(), wants.end());
      wants.pop_back();
      if (growth_[at(want.job)].next == want.next) seat(want.job);
    }
  }

  // Whether it is the turn of b, the longer one.
  static bool longer_first(const Growth& a, const Growth& b) {
    return core::Wide{b.next_speed - b.speed} * a.speed * a.added > core::Wide{a.next_speed - a.speed} * b.next_speed * b.added;
  }

  std::int32_t winner(std::int32_t x, std::int32_t y) const {
    if (x < 0 || y < 0) return std::max(x, y);
    const Growth& of_x = growth_[at(x)];
    const Growth& of_y = growth_[at(y)];
    const bool x_is_shorter = std::tie(of_x.left, x) < std::tie(of_y.left, y);
    const bool x_first = x_is_shorter ? !longer_first(of_x, of_y) : longer_first(of_y, of_x);
    return x_first ? x : y;
  }

  void seat_all() {
    const auto jobs = static_cast<std::uint32_t>(steps_.jobs());
    growth_.assign(jobs, {});
    if (wants_.size() < at(steps_.types())) wants_.resize(at(steps_.types()));  // never smaller: their memory is kept
    for (std::vector<Want>& wants : wants_) wants.clear();
    const std::size_t seats = std::bit_ceil(std::max(1U, jobs));
    tree_.assign(2 * seats, -1);
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) tree_[seats + at(job)] = find_step(job) ? job : -1;
    for (std::size_t i = seats - 1; i > 0; --i) tree_[i] = winner(tree_[2 * i], tree_[2 * i + 1]);
  }

  // After a change of what the job has.
  void seat(std::int32_t job) {
    std::size_t i = tree_.size() / 2 + at(job);
    tree_[i] = find_step(job) ? job : -1;
    for (i /= 2; i > 0; i /= 2) tree_[i] = winner(tree_[2 * i], tree_[2 * i + 1]);
  }

  ShapeSteps steps_;
  std::vector<Turn> turns_;
  std::vector<Growth> growth_;            // [jobs]
  std::vector<std::vector<Want>> wants_;  // [types]
  std::vector<std::int32_t> tree_;  // the second half are the jobs by rank, before it node i has the winner of 2 i and 2 i + 1; -1: nobody
};

core::ChoiceSettings afs_settings(const core::Params& params) { return choice_settings("afs", params); }
std::unique_ptr<core::ShapePolicy> afs_shapes(const core::Params&) { return std::make_unique<Afs>(); }

}  // namespace

core::PolicyEntry afs_policy() {
  return {{"afs", "next GPUs to the job that two by two gains most from them", "AFS (NSDI'21); our reading", "skip", true,
           with_objective("jct")},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          afs_settings,
          afs_shapes};
}

}  // namespace berth::policy
