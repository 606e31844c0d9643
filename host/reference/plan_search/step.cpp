#include "host/reference/plan_search/step.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "host/reference/base/philox.hpp"
#include "host/reference/plan_search/room.hpp"

namespace berth::reference {
namespace {

using kernel::kNone;
using kernel::PlanSearchOperator;
using kernel::PlanSearchView;

// The holding of a job before the step.
struct PlanSearchTouched {
  std::int32_t job;
  PlanSearchHolding had;
};

class SerialPlanSearchStep {
 public:
  SerialPlanSearchStep(const PlanSearchView& view, std::uint32_t operators, const PlanSearchNumbers& numbers, SearchedPlan& plan)
      : view_(view), operators_(operators), numbers_(numbers), plan_(plan) {}

  void run(bool forced) {
    if (view_.n_jobs == 0) return;
    const std::int32_t job = drawn_job();
    const std::int32_t option = what(job);
    if (option == kNone || (option == plan_.option_of(job) && !plan_.is_away(job))) return;
    const std::int64_t before = plan_.score();
    const std::int64_t than = than_in(job, option);
    touch(job);
    const bool placed = (does(PlanSearchOperator::kGrow) && plan_.place_above(job, option, than)) ||
                        (does(PlanSearchOperator::kMakeRoom) && make_room(job, option, than));
    // A failed step would undo the placement of the jobs that it removed, so none is searched.
    if (placed) {
      sort_sent();
      place_sent();
      if (does(PlanSearchOperator::kOffer)) make_offers();
    }
    if (!placed || (plan_.score() < before && !forced)) undo();
  }

 private:
  bool does(PlanSearchOperator one) const { return kernel::has_operator(operators_, one); }
  std::int32_t open_entry(std::uint32_t number) const { return plan_.open()[drawn_below(number, plan_.open().size())]; }
  const kernel::DemandRow& demand(std::int32_t option) const { return view_.problem.demands[view_.demand[option]]; }
  bool is_touched(std::int32_t job) const {
    return std::any_of(touched_.begin(), touched_.end(), [&](const PlanSearchTouched& one) { return one.job == job; });
  }
  // In its current option a job must gain value.
  std::int64_t than_in(std::int32_t job, std::int32_t option) const {
    return option == plan_.option_of(job) ? plan_.value_of(job) : std::numeric_limits<std::int64_t>::min();
  }
  void touch(std::int32_t job) { touched_.push_back({job, plan_.give_up(job)}); }

  std::int32_t drawn_job() const {
    if (numbers_.a[0] % 4 != 0 && !plan_.open().empty()) return open_entry(numbers_.a[1]);
    return static_cast<std::int32_t>(drawn_below(numbers_.a[1], static_cast<std::size_t>(view_.n_jobs)));
  }

  std::int32_t what(std::int32_t job) const {
    if ((numbers_.a[0] & 4U) != 0 && view_.preferred[job] != kNone) return view_.preferred[job];
    const std::int32_t options = view_.rank_begin[job + 1] - view_.rank_begin[job];
    if (options == 0) return kNone;
    return view_.ranked[view_.rank_begin[job] + static_cast<std::int32_t>(drawn_below(numbers_.a[2], static_cast<std::size_t>(options)))];
  }

  std::int32_t anchor(std::int32_t option) const;
  std::int32_t holder(std::int32_t node, std::int32_t gpu) const;
  bool make_room(std::int32_t job, std::int32_t option, std::int64_t than);
  void sort_sent();
  void place_sent();
  void make_offers();
  void undo();

  const PlanSearchView& view_;
  const std::uint32_t operators_;
  const PlanSearchNumbers& numbers_;
  SearchedPlan& plan_;
  std::vector<PlanSearchTouched> touched_;  // the job of the step first, then the removed jobs, then the jobs that took an offer
};

// kNone where no node has the type.
std::int32_t SerialPlanSearchStep::anchor(std::int32_t option) const {
  const std::int32_t type = demand(option).gpu_type;
  if (numbers_.b[3] % 2 != 0 && !plan_.open().empty()) {
    const std::vector<kernel::PlacedRow>& entries = plan_.held_by(open_entry(numbers_.b[0])).entries;
    if (!entries.empty()) {
      const std::int32_t node = entries[drawn_below(numbers_.b[1], entries.size())].node;
      if (view_.problem.node_type[node] == type) return node;
    }
  }
  const std::int32_t nodes = view_.type_begin[type + 1] - view_.type_begin[type];
  if (nodes == 0) return kNone;
  return view_.type_node[view_.type_begin[type] + static_cast<std::int32_t>(drawn_below(numbers_.b[2], static_cast<std::size_t>(nodes)))];
}

// The job of the choice that holds the GPU.
std::int32_t SerialPlanSearchStep::holder(std::int32_t node, std::int32_t gpu) const {
  for (std::int32_t job = 0; job < view_.n_jobs; ++job) {
    for (const kernel::PlacedRow& entry : plan_.held_by(job).entries) {
      if (entry.node == node && (entry.mask >> gpu & 1U) != 0) return job;
    }
  }
  return kNone;
}

bool SerialPlanSearchStep::make_room(std::int32_t job, std::int32_t option, std::int64_t than) {
  const kernel::ProblemView& p = view_.problem;
  const std::int32_t around = anchor(option);
  if (around == kNone) return false;
  const std::vector<std::int32_t> room = plan_search_room(view_, option, around);
  const auto in_filter = [&](std::int32_t node) {
    return (p.filter_words[std::ptrdiff_t{demand(option).filter} * p.n_words + node / 64] >> (node % 64) & 1U) != 0;
  };
  const auto free_in_room = [&] {
    std::int64_t free = 0;
    for (const std::int32_t node : room) free += std::popcount(plan_.state().free[static_cast<std::size_t>(node)]);
    return free;
  };
  std::int32_t sent = 0;
  for (const std::int32_t node : room) {
    if (!in_filter(node)) continue;
    for (std::int32_t gpu = 0; gpu < kMaxGpusPerNode; ++gpu) {
      const std::int32_t in_the_way = holder(node, gpu);
      if (in_the_way == kNone) continue;
      if (sent == kernel::kMostPlanSearchMoved) return false;
      ++sent;
      touch(in_the_way);
      if (free_in_room() >= demand(option).gpus && plan_.place_above(job, option, than)) return true;
    }
  }
  return false;
}

// At this point those touched after the first are only the removed jobs.
void SerialPlanSearchStep::sort_sent() {
  const auto gpus = [&](const PlanSearchTouched& one) { return demand(one.had.option).gpus; };
  std::sort(touched_.begin() + 1, touched_.end(), [&](const PlanSearchTouched& a, const PlanSearchTouched& b) {
    return std::pair(-gpus(a), a.job) < std::pair(-gpus(b), b.job);
  });
}

void SerialPlanSearchStep::place_sent() {
  for (std::size_t i = 1; i < touched_.size(); ++i) plan_.place_or_other(touched_[i].job, touched_[i].had.option);
}

void SerialPlanSearchStep::make_offers() {
  for (std::size_t i = 0; i < kernel::kPlanSearchOffers; ++i) {
    if (plan_.open().empty()) continue;
    const std::int32_t job = open_entry(numbers_.c[i]);
    if (is_touched(job)) continue;
    if (!plan_.has_something(job)) {
      if (plan_.place_ranked(job)) touched_.push_back({job, {}});
    } else if (view_.preferred[job] != kNone) {
      const std::int64_t than = than_in(job, view_.preferred[job]);
      PlanSearchHolding had = plan_.give_up(job);
      if (plan_.place_above(job, view_.preferred[job], than)) {
        touched_.push_back({job, std::move(had)});
      } else {
        plan_.get(job, std::move(had));
      }
    }
  }
}

// All jobs give up their places before any gets one back, because they may have exchanged places.
void SerialPlanSearchStep::undo() {
  for (auto one = touched_.rbegin(); one != touched_.rend(); ++one) plan_.give_up(one->job);
  for (auto one = touched_.rbegin(); one != touched_.rend(); ++one) plan_.get(one->job, std::move(one->had));
}

}  // namespace

void take_step(const PlanSearchView& view, std::uint32_t operators, const PlanSearchNumbers& numbers, bool forced, SearchedPlan& plan) {
  SerialPlanSearchStep(view, operators, numbers, plan).run(forced);
}

}  // namespace berth::reference
