// allox: jobs are matched with GPU types and places in their queues so that the mean JCT is least; who is first starts.
//
// Machines    the GPUs of a type make machines of as many GPUs as the waiting jobs ask for there in the mean, rounded down. They come free
//             as running jobs end: the first of them with the first GPUs.
// Matching    each waiting job gets a place in the queue of a machine. Its cost is the time until the machine is free, or until as many
//             GPUs of the type are as the job asks for; its run time there; and, for each job behind it in the queue, its GPU-time over the
//             size of the machine. The sum of costs is the sum of the times until jobs end; the matching makes it least. What jobs have
//             waited already is the same wherever they go. Where several matchings are least, which one is taken depends on job ranks and
//             the order of GPU types only.
// Choice      on each type, jobs in the order in which the matching has them begin start while their GPUs are free; of those that begin at
//             once the least GPU-time is first, then the lower job rank. The first that finds too few holds up those behind it on the type.
//             Nobody else starts: a job may wait for a type although another has free GPUs. Running jobs stay.
// Shapes      on each type the one with as many GPUs as the job asks for; where there is none, the one that takes the least GPU-time.
// Limits      only the first `window` waiting jobs by rank are matched.
// Cost        O(window^2 x places), places being at most types x window x (1 + ln window).
// Source      AlloX (EuroSys'20): minimum-cost bipartite matching of jobs with (machine, place from the end), cost = place x run time and
//             what has passed already; after Horn (1973) and Bruno, Coffman and Sethi (1974). Where all jobs ask for as many GPUs on a
//             type the matching is theirs. Machines, larger and smaller jobs, the order on a type and the window are our reconstruction.
//             Not here: its filter that serves first the users who are furthest behind, and its estimation of run times.

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "host/core/at.hpp"
#include "host/core/shape_policy.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/wide.hpp"
#include "host/policy/allox_matching.hpp"
#include "host/policy/choice_params.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

class Allox final : public core::ShapePolicy {
 public:
  explicit Allox(std::size_t window) : window_(window) {}

  bool chosen_only() const override { return true; }

  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    const kernel::ChoiceView& p = question.problem;
    free_.assign(p.capacity, p.capacity + p.n_types);
    if (released_.size() != at(p.n_types)) released_.resize(at(p.n_types));
    for (std::vector<AlloxRelease>& type : released_) type.clear();
    jobs_.clear();
    row_.clear();
    work_.clear();
    for (std::int32_t j = 0; j < p.n_jobs; ++j) {
      chosen[at(j)] = held(question, j);
      if (chosen[at(j)] < 0 && jobs_.size() < window_) enter(question, j);
    }
    for (std::size_t t = 0; t < free_.size(); ++t) released_[t].push_back({0, free_[t]});
    start(p, matching_.match(released_, work_), chosen);
  }

 private:
  static TimeUs left(const core::ShapeQuestion& q, std::int32_t k) {
    return core::saturating_add(q.shapes[at(k)].run, q.shapes[at(k)].cost);
  }

  // The option in which a job runs, relative to its first; -1: it waits.
  std::int32_t held(const core::ShapeQuestion& q, std::int32_t job) {
    const std::int32_t first = q.problem.option_begin[job];
    for (std::int32_t k = first; k < q.problem.option_begin[job + 1]; ++k) {
      if (!q.options[at(k)].current) continue;
      released_[at(q.problem.type[k])].push_back({left(q, k), q.problem.gpus[k]});
      free_[at(q.problem.type[k])] -= q.problem.gpus[k];
      return k - first;
    }
    return -1;
  }

  // Into the window, if there is a type that has the GPUs.
  void enter(const core::ShapeQuestion& q, std::int32_t job) {
    const std::int32_t first = q.problem.option_begin[job];
    const std::int32_t asked = q.state.job.gpus[at(q.options[at(first)].slot)];
    const auto rank = [&](std::int32_t k) { return std::tuple(q.problem.gpus[k] != asked, core::Wide{left(q, k)} * q.problem.gpus[k]); };
    of_type_.assign(at(q.problem.n_types), -1);
    for (std::int32_t k = first; k < q.problem.option_begin[job + 1]; ++k) {
      if (q.shapes[at(k)].speed <= 0 || q.problem.gpus[k] > q.problem.capacity[q.problem.type[k]]) continue;
      std::int32_t& best = of_type_[at(q.problem.type[k])];
      if (best < 0 || rank(k) < rank(best)) best = k;
    }
    if (std::all_of(of_type_.begin(), of_type_.end(), [](std::int32_t k) { return k < 0; })) return;
    jobs_.push_back(job);
    for (const std::int32_t k : of_type_) {
      row_.push_back(k);
      work_.push_back(k < 0 ? AlloxWork{} : AlloxWork{q.problem.gpus[k], left(q, k)});
    }
  }

  void start(const kernel::ChoiceView& p, std::span<const AlloxPlace> places, std::span<std::int32_t> chosen) {
    order_.clear();
    for (std::size_t i = 0; i < jobs_.size(); ++i) order_.push_back(static_cast<std::int32_t>(i));
    const auto turn = [&](std::int32_t i) {
      const AlloxWork& one = work_[at(i) * free_.size() + at(places[at(i)].type)];
      return std::tuple(places[at(i)].start, core::Wide{one.run} * one.gpus, i);
    };
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) { return turn(a) < turn(b); });
    for (const std::int32_t i : order_) {
      const auto type = at(places[at(i)].type);
      const std::int32_t k = row_[at(i) * free_.size() + type];
      if (p.gpus[k] > free_[type]) {
        free_[type] = 0;
        continue;
      }
      free_[type] -= p.gpus[k];
      chosen[at(jobs_[at(i)])] = k - p.option_begin[jobs_[at(i)]];
    }
  }

  std::size_t window_;
  std::vector<std::int64_t> free_;                   // [types] GPUs
  std::vector<std::vector<AlloxRelease>> released_;  // [types]
  std::vector<std::int32_t> jobs_;                   // of the window
  std::vector<std::int32_t> row_;                    // [window][types] the option, -1: none
  std::vector<AlloxWork> work_;                      // [window][types]
  std::vector<std::int32_t> of_type_;
  std::vector<std::int32_t> order_;
  AlloxMatching matching_;
};

core::ChoiceSettings allox_settings(const core::Params& params) { return choice_settings("allox", params); }

std::unique_ptr<core::ShapePolicy> allox_shapes(const core::Params& params) {
  const Settings settings(core::find_policy("allox").info, params);
  return std::make_unique<Allox>(static_cast<std::size_t>(settings.integer("window", 1, Assignment::kMostRows)));
}

}  // namespace

core::PolicyEntry allox_policy() {
  return {{"allox", "jobs matched with GPU types and places in their queues for the least mean JCT", "AlloX (EuroSys'20); gangs ours",
           "skip", false, with_objective("jct", {{"window", "128", "waiting jobs that are matched, the earliest first"}})},
          kernel::Discipline::kSkip,
          false,
          false,
          nullptr,
          allox_settings,
          allox_shapes};
}

}  // namespace berth::policy
