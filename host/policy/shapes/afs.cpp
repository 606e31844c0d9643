// afs: the next GPUs go to the job that wins the pairwise comparisons.
//
// Choice      jobs without GPUs come first, the fastest first: each gets its smallest shape. Then, repeatedly, one job gets its next
//             larger and faster shape. Compare two jobs, a with less remaining run time in its shape and b with more. b wins exactly
//             when
//                 (p_b' - p_b) / p_b'  >  (p_a' - p_a) / p_a ,
//             p being the speed in the current shape and p' in the next shape, with each side divided by the GPUs of the step.
//             As this may be cyclic, a tournament decides: neighbours by rank meet first, then the winners. Equal run times: a is
//             the lower rank. A job without a next shape that fits does not take part, since it would take nothing. It ends when
//             no job is left. Weights do not count.
// Time        remaining time in a shape, and the cost of changing to it. p does not include the cost of a change.
// Types       as under `optimus`: a job keeps to one GPU type.
// Cost        O(options + log jobs) per step, as only one job of the tournament changed; and per job that leaves it.
// Source      AFS (NSDI'21, "Elastic Resource Sharing for Distributed Deep Learning"), its rule, not checked against the paper: one
//             GPU at a time, to the winner over all jobs. Our reading: shapes in place of single GPUs, the division by the GPUs of
//             a step, and skipping steps that are not faster. Also GPU types, the tournament and the order of ties.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/shape_steps.hpp"

namespace berth::policy {
namespace {

class Afs final : public core::ShapePolicy {
 public:
  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    steps_.begin(question, chosen);
    start();
    begin_tournament();
    while (tree_[1] >= 0) {
      const std::int32_t job = tree_[1], next = growth_[to_index(job)].next;
      steps_.give(job, next);
      update(job);
      drop_requests_without_room(steps_.type(next));
    }
  }

 private:
  // The next step of a job.
  struct Growth {
    std::int32_t next, added;
    std::int64_t speed, next_speed;
    TimeUs left;
  };
  struct WaitingJob {
    TimeUs left;
    std::int32_t job;
  };
  // The request of a job in the tournament. The heap's top is the greatest.
  struct GrowthRequest {
    std::int32_t added, job, next;
    bool operator<(const GrowthRequest& b) const { return std::tie(added, job, next) < std::tie(b.added, b.job, b.next); }
  };

  // Jobs that are fast in their smallest shape come first; whether a shape fits is tested in that order.
  void start() {
    waiting_jobs_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
      const std::int32_t row = steps_.smallest(job);
      if (row >= 0) waiting_jobs_.push_back({steps_.left(row), job});
    }
    std::sort(waiting_jobs_.begin(), waiting_jobs_.end(),
              [](const WaitingJob& a, const WaitingJob& b) { return std::tie(a.left, a.job) < std::tie(b.left, b.job); });
    for (const WaitingJob& waiting : waiting_jobs_) {
      const std::int32_t row = steps_.smallest(waiting.job);
      if (row >= 0) steps_.give(waiting.job, row);
    }
  }

  // The fewest GPUs that make the job faster; among equals the fastest shape. False: it has no GPUs, or no such shape fits.
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
    growth_[to_index(job)] = {next, steps_.gpus(next) - steps_.gpus(has), steps_.speed(has), steps_.speed(next), steps_.left(has)};
    std::vector<GrowthRequest>& requests = requests_[to_index(steps_.type(next))];
    requests.push_back({growth_[to_index(job)].added, job, next});
    std::push_heap(requests.begin(), requests.end());
    return true;
  }

  // Called after GPUs of the type were given. Skips requests that later steps replaced.
  void drop_requests_without_room(std::int32_t type) {
    std::vector<GrowthRequest>& requests = requests_[to_index(type)];
    while (!requests.empty() && requests.front().added > steps_.free(type)) {
      const GrowthRequest request = requests.front();
      std::pop_heap(requests.begin(), requests.end());
      requests.pop_back();
      if (growth_[to_index(request.job)].next == request.next) update(request.job);
    }
  }

  // Whether b, the job with more remaining time, wins.
  static bool longer_first(const Growth& a, const Growth& b) {
    return core::Wide{b.next_speed - b.speed} * a.speed * a.added > core::Wide{a.next_speed - a.speed} * b.next_speed * b.added;
  }

  std::int32_t winner(std::int32_t x, std::int32_t y) const {
    if (x < 0 || y < 0) return std::max(x, y);
    const Growth& of_x = growth_[to_index(x)];
    const Growth& of_y = growth_[to_index(y)];
    const bool x_is_shorter = std::tie(of_x.left, x) < std::tie(of_y.left, y);
    const bool x_first = x_is_shorter ? !longer_first(of_x, of_y) : longer_first(of_y, of_x);
    return x_first ? x : y;
  }

  void begin_tournament() {
    const auto jobs = static_cast<std::uint32_t>(steps_.jobs());
    growth_.assign(jobs, {});
    if (requests_.size() < to_index(steps_.types())) requests_.resize(to_index(steps_.types()));  // never shrinks, so that memory is kept
    for (std::vector<GrowthRequest>& requests : requests_) requests.clear();
    const std::size_t leaves = std::bit_ceil(std::max(1U, jobs));
    tree_.assign(2 * leaves, -1);
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) tree_[leaves + to_index(job)] = find_step(job) ? job : -1;
    for (std::size_t i = leaves - 1; i > 0; --i) tree_[i] = winner(tree_[2 * i], tree_[2 * i + 1]);
  }

  // Called after the row of the job changed.
  void update(std::int32_t job) {
    std::size_t i = tree_.size() / 2 + to_index(job);
    tree_[i] = find_step(job) ? job : -1;
    for (i /= 2; i > 0; i /= 2) tree_[i] = winner(tree_[2 * i], tree_[2 * i + 1]);
  }

  ShapeSteps steps_;
  std::vector<WaitingJob> waiting_jobs_;
  std::vector<Growth> growth_;                        // [jobs]
  std::vector<std::vector<GrowthRequest>> requests_;  // [types]
  std::vector<std::int32_t> tree_;  // the second half are the jobs by rank; before it node i has the winner of 2 i and 2 i + 1; -1: none
};

core::ChoiceSettings afs_settings(const core::Params& params) { return choice_settings("afs", params); }
std::unique_ptr<core::ShapePolicy> afs_shapes(const core::Params&) { return std::make_unique<Afs>(); }

}  // namespace

core::PolicyEntry afs_policy() {
  return {.info = {.name = "afs",
                   .rule = "next GPUs to the job that two by two gains most from them",
                   .source = "AFS (NSDI'21); our reading",
                   .params = with_objective("flow_time")},
          .preemptive = true,
          .choice = afs_settings,
          .shapes = afs_shapes,
          .leaves_idle = "a running job keeps its GPU type"};
}

}  // namespace berth::policy
