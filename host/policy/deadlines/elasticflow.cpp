// elasticflow: minimum satisfactory shares for deadlines, then spare GPUs by least added GPU-time.
//
// Promise     a job with a deadline gets a share: a number of GPUs q of one type, the fewest with which it and all jobs that have a
//             promise meet their deadlines, when in deadline order each takes from now on the largest of its shapes that is within q
//             and fits. Jobs are asked in order of arrival. A job without such a share gets no promise. A share is kept until the job
//             ends. It is no guarantee: spare GPUs let a job end sooner, and what it leaves may go to a shape that was not planned.
// Choice      each promised job has what that gives it now. Of the GPUs left, jobs without any get their smallest shape, the least
//             GPU-time first. Then, repeatedly, the step to a larger and faster shape that adds the least GPU-time for each GPU.
// Time        remaining time in a shape. Costs of changes are not planned for.
// Keeps       columns `promised_end_us` (the deadline; -1: nothing is promised; -2: a promise was broken), `share_gpus`, `share_type`.
// Source      ElasticFlow (ASPLOS'23): minimum satisfactory share, admission and diminishing returns, by its artifact. Not as there:
//             shares stay, reservations are not trimmed to the latest time, and jobs without a promise run with spare GPUs. The
//             artifact sorts by marginal GPU-time in the other direction; this is the paper's stated intent. Its buddy placement is
//             that of `packing`.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/core/state/state_view.hpp"
#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/shape_steps.hpp"
#include "host/policy/deadlines/capacity_line.hpp"

namespace berth::policy {
namespace {

constexpr std::int64_t kAllWork = std::int64_t{1} << 40;  // what a job has left, whatever it is
constexpr const char* kShareEnd = "promised_end_us";
constexpr const char* kShareGpus = "share_gpus";
constexpr const char* kShareType = "share_type";

std::int64_t kept_value(const PolicyState& kept, const char* column, const std::string& id, std::int64_t otherwise) {
  const auto found = kept.columns.find(column);
  if (found == kept.columns.end()) return otherwise;
  const auto row = found->second.find(id);
  return row == found->second.end() ? otherwise : row->second;
}

class ElasticFlow final : public core::ShapePolicy {
 public:
  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    steps_.begin(question, chosen);
    read(question);
    keep_promises();
    admit();
    lay_all();
    for (const std::int32_t job : promised_) {
      if (of_[to_index(job)].now >= 0) steps_.give(job, of_[to_index(job)].now);
    }
    give_spare();
  }

  void store(PolicyState& kept) const override {
    for (const char* column : {kShareEnd, kShareGpus, kShareType}) kept.columns[column].clear();
    for (const Share& share : of_) {
      if (share.id == nullptr || share.deadline == kNever) continue;
      kept.columns[kShareEnd][*share.id] = share.gpus > 0 ? share.deadline : share.broken ? -2 : -1;
      if (share.gpus == 0) continue;
      kept.columns[kShareGpus][*share.id] = share.gpus;
      kept.columns[kShareType][*share.id] = share.type;
    }
  }

 private:
  struct Share {
    const std::string* id = nullptr;  // null: the job is not asked about
    TimeUs deadline = kNever;
    std::int32_t type = -1;
    std::int64_t gpus = 0;  // 0: nothing is promised
    std::int32_t now = -1;  // row of the shape that it has now; -1: none
    bool broken = false;
  };
  struct Taken {
    TimeUs from, to;
    std::int64_t gpus;
  };
  struct Step {
    std::int64_t added_gpu_us;
    std::int32_t added, job, row;
    // The heap's top is the greatest.
    bool operator<(const Step& b) const {
      const core::Wide here = core::Wide{added_gpu_us} * b.added, there = core::Wide{b.added_gpu_us} * added;
      return here != there ? here > there : std::tuple(added, job, row) > std::tuple(b.added, b.job, b.row);
    }
  };

  std::int64_t gpu_us(std::int32_t k) const { return core::saturating_mul(run(k), steps_.gpus(k)); }
  TimeUs run(std::int32_t k) const { return shapes_[to_index(k)].run; }

  void read(const core::ShapeQuestion& q) {
    shapes_ = q.shapes;
    now_ = q.state.now();
    capacity_.assign(q.problem.capacity, q.problem.capacity + q.problem.n_types);
    lines_.resize(capacity_.size());
    of_.assign(to_index(steps_.jobs()), {});
    promised_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
      if (steps_.first(job) == steps_.last(job)) continue;
      const Job& described = *q.state.jobs()[to_index(q.options[to_index(steps_.first(job))].job)].job;
      Share& share = of_[to_index(job)];
      share.id = &described.id;
      share.deadline = described.deadline.at_us;
      if (share.deadline == kNever) continue;
      const std::int64_t end = kept_value(q.kept, kShareEnd, described.id, -1), type = kept_value(q.kept, kShareType, described.id, -1);
      share.broken = end == -2;
      if (end < 0) continue;
      share.gpus = std::max<std::int64_t>(0, kept_value(q.kept, kShareGpus, described.id, 0));
      share.type = type >= 0 && type < q.problem.n_types ? static_cast<std::int32_t>(type) : -1;
      if (end != share.deadline || share.deadline <= now_ || share.type < 0) {
        share.gpus = 0;
        share.broken = true;
      }
      if (share.gpus > 0) promised_.push_back(job);
    }
    sort_promised();
  }

  void sort_promised() {
    std::sort(promised_.begin(), promised_.end(), [&](std::int32_t a, std::int32_t b) {
      return std::tie(of_[to_index(a)].deadline, a) < std::tie(of_[to_index(b)].deadline, b);
    });
  }

  // The largest shape of the type with at most that number of GPUs, of equal ones the fastest; -1: none.
  std::int32_t largest(std::int32_t job, std::int32_t type, std::int64_t within) const {
    std::int32_t best = -1;
    for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
      if (steps_.type(k) != type || steps_.speed(k) <= 0 || steps_.gpus(k) > within) continue;
      if (best < 0 || std::tuple(run(k), steps_.gpus(k), k) < std::tuple(run(best), steps_.gpus(best), best)) best = k;
    }
    return best;
  }

  // From now on, within its share, after the jobs that are laid already. @returns whether it meets its deadline
  bool lay(std::int32_t job) {
    Share& share = of_[to_index(job)];
    CapacityLine& line = lines_[to_index(share.type)];
    taken_.clear();
    share.now = -1;
    std::int64_t left = kAllWork;
    TimeUs end = kNever;
    for (std::size_t i = 0; i < line.steps().size() && end == kNever; ++i) {
      const TimeUs from = line.steps()[i].at, next = i + 1 < line.steps().size() ? line.steps()[i + 1].at : kNever;
      if (from >= share.deadline) break;
      const std::int32_t k = largest(job, share.type, std::min(share.gpus, line.gpus() - line.steps()[i].used));
      if (k < 0) continue;
      if (i == 0) share.now = k;
      const core::Wide lasts = core::ceil_div(core::Wide{left} * run(k), core::Wide{kAllWork});
      if (next == kNever || lasts <= next - from) {
        end = core::saturate(from + lasts);
      } else {
        left -= core::mul_div(next - from, kAllWork, run(k));
      }
      taken_.push_back({from, end == kNever ? next : end, steps_.gpus(k)});
    }
    for (const Taken& one : taken_) line.take(one.from, one.to, one.gpus);
    return end <= share.deadline;
  }

  bool lay_all() {
    for (std::size_t type = 0; type < lines_.size(); ++type) lines_[type].begin(now_, capacity_[type]);
    return std::all_of(promised_.begin(), promised_.end(), [&](std::int32_t job) { return lay(job); });
  }

  // Jobs that failures or false run times made late lose their promise, the latest deadline first.
  void keep_promises() {
    while (!lay_all()) {
      // All of those laid meet their deadline but the last.
      const auto late = std::find_if(promised_.begin(), promised_.end(), [&](std::int32_t job) { return !meets(job); });
      Share& share = of_[to_index(*late)];
      share.gpus = 0;
      share.broken = true;
      promised_.erase(late);
    }
  }

  // Whether it does after those before it in the order.
  bool meets(std::int32_t until) {
    for (std::size_t type = 0; type < lines_.size(); ++type) lines_[type].begin(now_, capacity_[type]);
    bool met = true;
    for (const std::int32_t job : promised_) {
      met = lay(job);
      if (job == until) break;
    }
    return met;
  }

  void admit() {
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
      const Share& share = of_[to_index(job)];
      if (share.deadline == kNever || share.gpus > 0 || share.deadline <= now_ || steps_.first(job) == steps_.last(job)) continue;
      levels_.clear();
      for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
        const bool alone = steps_.speed(k) > 0 && run(k) <= share.deadline - now_ && steps_.gpus(k) <= capacity_[to_index(steps_.type(k))];
        if (alone) levels_.push_back(k);
      }
      std::sort(levels_.begin(), levels_.end(), [&](std::int32_t a, std::int32_t b) {
        return std::tuple(steps_.gpus(a), run(a), a) < std::tuple(steps_.gpus(b), run(b), b);
      });
      for (const std::int32_t k : levels_) {
        if (try_share(job, k)) break;
      }
    }
  }

  bool try_share(std::int32_t job, std::int32_t k) {
    Share& share = of_[to_index(job)];
    share.type = steps_.type(k);
    share.gpus = steps_.gpus(k);
    promised_.push_back(job);
    sort_promised();
    if (lay_all()) return true;
    share.gpus = 0;
    promised_.erase(std::find(promised_.begin(), promised_.end(), job));
    return false;
  }

  void give_spare() {
    waiting_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
      if (steps_.row(job) >= 0) continue;
      const std::int32_t k = steps_.smallest(job);
      if (k >= 0) waiting_.emplace_back(gpu_us(k), job);
    }
    std::sort(waiting_.begin(), waiting_.end());
    for (const auto& [work, job] : waiting_) {
      const std::int32_t k = steps_.smallest(job);
      if (k >= 0) steps_.give(job, k);
    }
    heap_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) push_best(job);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Step step = heap_.back();
      heap_.pop_back();
      if (steps_.follows(step.job, step.row)) steps_.give(step.job, step.row);
      push_best(step.job);
    }
  }

  void push_best(std::int32_t job) {
    const std::int32_t has = steps_.row(job);
    if (has < 0) return;
    Step best{0, 1, job, -1};
    for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
      if (!steps_.follows(job, k) || run(k) >= run(has)) continue;
      const Step step{gpu_us(k) - gpu_us(has), steps_.gpus(k) - steps_.gpus(has), job, k};
      if (best.row < 0 || best < step) best = step;
    }
    if (best.row < 0) return;
    heap_.push_back(best);
    std::push_heap(heap_.begin(), heap_.end());
  }

  ShapeSteps steps_;
  std::span<const kernel::ShapeTerms> shapes_;
  TimeUs now_ = 0;
  std::vector<std::int64_t> capacity_;  // [types]
  std::vector<CapacityLine> lines_;     // [types]
  std::vector<Share> of_;               // [jobs]
  std::vector<std::int32_t> promised_;  // by deadline
  std::vector<std::int32_t> levels_;
  std::vector<Taken> taken_;
  std::vector<std::pair<std::int64_t, std::int32_t>> waiting_;  // GPU-time, job
  std::vector<Step> heap_;
};

core::ChoiceSettings elasticflow_settings(const core::Params& params) { return choice_settings("elasticflow", params); }
std::unique_ptr<core::ShapePolicy> elasticflow_shapes(const core::Params&) { return std::make_unique<ElasticFlow>(); }

}  // namespace

core::PolicyEntry elasticflow_policy() {
  return {.info = {.name = "elasticflow",
                   .rule = "fewest GPUs that meet promised deadlines, then least added GPU-time",
                   .source = "ElasticFlow (ASPLOS'23); our reading",
                   .params = with_objective("flow_time")},
          .preemptive = true,
          .choice = elasticflow_settings,
          .shapes = elasticflow_shapes,
          .leaves_idle = "a running job keeps its GPU type"};
}

}  // namespace berth::policy
