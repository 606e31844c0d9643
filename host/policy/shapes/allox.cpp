// allox: jobs are matched with GPU types and queue positions so that the mean JCT is minimal; the first ones start.
//
// Machines    the GPUs of a type form machines of the mean number of GPUs that the waiting jobs request there, rounded down. They
//             become free as running jobs end: the first machine with the first GPUs.
// Matching    each waiting job gets a position in the queue of a machine. Its cost has three parts: the time until the machine, or
//             the job's own number of GPUs of the type, is free; its run time there; and, for each job behind it in the queue, its
//             GPU-time over the size of the machine. The sum of costs is the sum of completion times, which the matching
//             minimises. Time already waited is the same for every matching. Ties depend only on job ranks and the order of
//             GPU types.
// Choice      on each type, jobs start in the order of their start in the matching while GPUs are free. Ties: least GPU-time first,
//             then lower job rank. The first job without enough GPUs blocks those behind it on the type. No other job starts: a
//             job may wait for a type although another has free GPUs. Running jobs stay.
// Shapes      on each type the one with the requested number of GPUs; otherwise the one with the least GPU-time.
// Places      a job that was measured to be slower across nodes (or racks) waits for GPUs of one node (rack): consolidated=measured.
//             The costs are those of its run time there.
// Limits      only the first `window` waiting jobs by rank are matched.
// Cost        O(window^2 x places), places being at most types x window x (1 + ln window).
// Source      AlloX (EuroSys'20): minimum-cost bipartite matching of jobs with (machine, position from the end), cost = position x
//             run time plus time already passed; after Horn (1973) and Bruno, Coffman and Sethi (1974). Where all jobs request
//             the same number of GPUs on a type, the matching is theirs. Our reconstruction: machines, larger and smaller jobs,
//             the order on a type and the window. Missing: its filter that serves the users furthest behind first, and its
//             estimation of run times.

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/core/state/state_view.hpp"
#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/params.hpp"
#include "host/policy/shapes/allox_matching.hpp"

namespace berth::policy {
namespace {

class Allox final : public core::ShapePolicy {
 public:
  explicit Allox(std::size_t window) : window_(window) {}

  bool chosen_only() const override { return true; }

  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    const kernel::PriceView& p = question.problem;
    free_.assign(p.capacity, p.capacity + p.n_types);
    if (released_.size() != to_index(p.n_types)) released_.resize(to_index(p.n_types));
    for (std::vector<AlloxRelease>& type : released_) type.clear();
    jobs_.clear();
    row_.clear();
    work_.clear();
    for (std::int32_t j = 0; j < p.n_jobs; ++j) {
      chosen[to_index(j)] = held(question, j);
      if (chosen[to_index(j)] < 0 && jobs_.size() < window_) enter(question, j);
    }
    for (std::size_t t = 0; t < free_.size(); ++t) released_[t].push_back({0, free_[t]});
    start(p, matching_.match(released_, work_), chosen);
  }

 private:
  static TimeUs left(const core::ShapeQuestion& q, std::int32_t k) {
    return core::saturating_add(q.shapes[to_index(k)].run, q.shapes[to_index(k)].cost);
  }

  // The option in which a job runs, relative to its first; -1: it waits.
  std::int32_t held(const core::ShapeQuestion& q, std::int32_t job) {
    const std::int32_t first = q.problem.option_begin[job];
    for (std::int32_t k = first; k < q.problem.option_begin[job + 1]; ++k) {
      if (!q.options[to_index(k)].current) continue;
      released_[to_index(q.problem.type[k])].push_back({left(q, k), q.problem.gpus[k]});
      free_[to_index(q.problem.type[k])] -= q.problem.gpus[k];
      return k - first;
    }
    return -1;
  }

  // Adds the job to the window, if some type has enough GPUs.
  void enter(const core::ShapeQuestion& q, std::int32_t job) {
    const std::int32_t first = q.problem.option_begin[job];
    const std::int32_t asked = q.state.job().gpus[to_index(q.options[to_index(first)].job)];
    const auto rank = [&](std::int32_t k) { return std::tuple(q.problem.gpus[k] != asked, core::Wide{left(q, k)} * q.problem.gpus[k]); };
    of_type_.assign(to_index(q.problem.n_types), -1);
    for (std::int32_t k = first; k < q.problem.option_begin[job + 1]; ++k) {
      if (q.shapes[to_index(k)].speed <= 0 || q.problem.gpus[k] > q.problem.capacity[q.problem.type[k]]) continue;
      std::int32_t& best = of_type_[to_index(q.problem.type[k])];
      if (best < 0 || rank(k) < rank(best)) best = k;
    }
    if (std::all_of(of_type_.begin(), of_type_.end(), [](std::int32_t k) { return k < 0; })) return;
    jobs_.push_back(job);
    for (const std::int32_t k : of_type_) {
      row_.push_back(k);
      work_.push_back(k < 0 ? AlloxWork{} : AlloxWork{q.problem.gpus[k], left(q, k)});
    }
  }

  void start(const kernel::PriceView& p, std::span<const AlloxPlace> places, std::span<std::int32_t> chosen) {
    order_.clear();
    for (std::size_t i = 0; i < jobs_.size(); ++i) order_.push_back(static_cast<std::int32_t>(i));
    const auto turn = [&](std::int32_t i) {
      const AlloxWork& one = work_[to_index(i) * free_.size() + to_index(places[to_index(i)].type)];
      return std::tuple(places[to_index(i)].start, core::Wide{one.run} * one.gpus, i);
    };
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) { return turn(a) < turn(b); });
    for (const std::int32_t i : order_) {
      const auto type = to_index(places[to_index(i)].type);
      const std::int32_t k = row_[to_index(i) * free_.size() + type];
      if (p.gpus[k] > free_[type]) {
        free_[type] = 0;
        continue;
      }
      free_[type] -= p.gpus[k];
      chosen[to_index(jobs_[to_index(i)])] = k - p.option_begin[jobs_[to_index(i)]];
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

std::optional<core::Consolidation> allox_consolidation(const core::Params& params) {
  return measured_consolidation(Settings(core::find_policy("allox").info, params));
}

}  // namespace

core::PolicyEntry allox_policy() {
  return {.info = {.name = "allox",
                   .rule = "jobs matched with GPU types and places in their queues for the least mean JCT",
                   .source = "AlloX (EuroSys'20); gangs ours",
                   .params = with_objective(
                       "flow_time", {{"window", "128", "waiting jobs that are matched, the earliest first"}, consolidated_parameter()})},
          .choice = allox_settings,
          .shapes = allox_shapes,
          .consolidation = allox_consolidation,
          .leaves_idle = "a job gets as many GPUs as it asks for, and is not moved"};
}

}  // namespace berth::policy
