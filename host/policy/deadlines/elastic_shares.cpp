#include "host/policy/deadlines/elastic_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/deadline_steps.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::policy {
namespace {

constexpr std::int64_t kAllWork = std::int64_t{1} << 40;  // what a job has left, whatever it is
constexpr const char* kShareEnd = "promised_end_us";
constexpr const char* kShareGpus = "share_gpus";
constexpr const char* kShareType = "share_type";
// Work is rounded each time that progress is reported, unless the rate says how much a job does in a microsecond. A plan has room for that.
constexpr TimeUs kShareMargin = 1'000;
constexpr TimeUs kPlanRounding = 10;                      // parts of a plan end at whole microseconds
constexpr std::int64_t kNoShare = -1, kBrokenShare = -2;  // in place of an end

using ShareColumn = ElasticShares::ShareColumn;

const ShareColumn* column_of(const PolicyState& kept, const char* name) {
  const auto found = kept.columns.find(name);
  return found == kept.columns.end() ? nullptr : &found->second;
}

std::int64_t row_of(const ShareColumn* column, const std::string& id, std::int64_t otherwise) {
  if (column == nullptr) return otherwise;
  const auto row = column->find(id);
  return row == column->end() ? otherwise : row->second;
}

}  // namespace

std::int64_t ElasticShares::gpu_us(std::int32_t k) const { return core::saturating_mul(run(k), problem_.gpus[k]); }

bool ElasticShares::before(std::int32_t a, std::int32_t b) const {
  return std::tie(of_[to_index(a)].deadline, a) < std::tie(of_[to_index(b)].deadline, b);
}

void ElasticShares::choose(const core::ShapeQuestion& question, bool promises) {
  read(question, promises);
  keep_promises();
  lays_left_ = kMostLays;
  // Jobs that come first, so that those that were asked before do not use up what a decision may try.
  for (const bool asked_before : {false, true}) admit(asked_before);
  if (again_) {
    begin_lines();
    planned_.clear();
    for (const std::int32_t job : promised_) {
      Line& line = lines_[to_index(of_[to_index(job)].type)];
      fits(job, line);
      take(line);
      plan(job);
    }
  }
  next_change_ = kNever;
  for (const std::int32_t job : promised_) {
    Share& share = of_[to_index(job)];
    const bool has = share.begin < share.end && planned_[share.begin].from == now_;
    share.now = has ? largest(job, share.type, planned_[share.begin].gpus) : -1;
    std::int64_t before = 0;
    for (std::size_t i = share.begin; i < share.end; before = planned_[i++].gpus) {
      if (planned_[i].from > now_ && planned_[i].gpus > before) next_change_ = std::min(next_change_, planned_[i].from);
    }
  }
}

// What `fits` found.
void ElasticShares::plan(std::int32_t job) {
  Share& share = of_[to_index(job)];
  share.begin = planned_.size();
  planned_.insert(planned_.end(), taken_.begin(), taken_.end());
  share.end = planned_.size();
}

const ElasticShares::PartNames& ElasticShares::part_names(std::size_t part) {
  while (names_.size() <= part) {
    const std::size_t n = names_.size();
    names_.push_back({fmt::format("share_from_us_{}", n), fmt::format("share_to_us_{}", n), fmt::format("share_gpus_{}", n)});
  }
  return names_[part];
}

void ElasticShares::find_parts(const PolicyState& kept) {
  kept_.clear();
  parts_.clear();
  while (parts_.size() < kMostParts) {
    const PartNames& names = part_names(parts_.size());
    std::array<const ShareColumn*, 3> columns{};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto found = kept.columns.find(names[i]);
      if (found == kept.columns.end()) return;
      columns[i] = &found->second;
    }
    parts_.push_back(columns);
  }
}

// What was planned for it, from now on. What does not ascend comes from the caller.
void ElasticShares::read_kept(std::int32_t job) {
  Share& share = of_[to_index(job)];
  share.kept_begin = share.kept_end = kept_.size();
  TimeUs last = 0;
  for (const auto& [from, to, gpus] : parts_) {
    const Taken one{row_of(from, *share.id, -1), row_of(to, *share.id, -1), row_of(gpus, *share.id, -1)};
    if (one.from < last || one.to <= one.from || one.to > 2 * kMaxTimeUs || one.gpus <= 0 || one.gpus > share.gpus) break;
    last = one.to;
    if (one.to > now_) kept_.push_back({std::max(one.from, now_), one.to, one.gpus});
  }
  share.kept_end = kept_.size();
}

void ElasticShares::read(const core::ShapeQuestion& q, bool promises) {
  problem_ = q.problem;
  shapes_ = q.shapes;
  now_ = q.state.now();
  lines_.resize(to_index(problem_.n_types));
  lanes_.resize(lines_.size());
  of_.assign(to_index(problem_.n_jobs), {});
  promised_.clear();
  live_.clear();
  for (const auto& record : q.state.jobs()) {
    if (record.job != nullptr && record.job->deadline.at_us != kNever) live_.push_back(&record.job->id);
  }
  std::sort(live_.begin(), live_.end(), [](const std::string* a, const std::string* b) { return *a < *b; });
  const ShareColumn* const ends = column_of(q.kept, kShareEnd);
  const ShareColumn* const gpus = column_of(q.kept, kShareGpus);
  const ShareColumn* const types = column_of(q.kept, kShareType);
  find_parts(q.kept);
  for (std::int32_t job = 0; job < problem_.n_jobs; ++job) {
    if (first(job) == last(job)) continue;
    const Job& described = *q.state.jobs()[to_index(q.options[to_index(first(job))].job)].job;
    Share& share = of_[to_index(job)];
    share.steps = &described.deadline;
    share.deadline = core::deadline_at(described.deadline, now_);
    if (share.deadline == kNever) continue;
    share.id = &described.id;
    const std::vector<std::int64_t>& rates = q.state.jobs()[to_index(q.options[to_index(first(job))].job)].option_rate;
    const bool exact = std::all_of(rates.begin(), rates.end(), [](std::int64_t rate) { return rate % kSecond == 0; });
    share.margin = exact ? 0 : kShareMargin;
    share.may = promises && described.constraints.longest_wait.empty();
    const std::int64_t end = row_of(ends, described.id, INT64_MIN);
    share.asked = end != INT64_MIN;
    share.broken = end == kBrokenShare;
    // After a broken promise no later step is promised.
    if (share.broken && !described.deadline.later.empty()) share.may = false;
    if (end < 0) continue;
    const std::int64_t type = row_of(types, described.id, -1);
    share.gpus = std::max<std::int64_t>(0, row_of(gpus, described.id, 0));
    share.type = type >= 0 && type < problem_.n_types ? static_cast<std::int32_t>(type) : -1;
    const std::int32_t step = core::step_index(described.deadline, end);
    const bool known = step >= 0 && end > now_ && core::step_at(described.deadline, step) == end;
    if (known) share.deadline = end;
    if (!known || share.type < 0 || !share.may || share.gpus > problem_.capacity[share.type]) {
      share.gpus = 0;
      share.broken = true;
      share.may = share.may && described.deadline.later.empty();
    }
    if (share.gpus > 0) promised_.push_back(job);
  }
  for (const std::int32_t job : promised_) read_kept(job);
  std::sort(promised_.begin(), promised_.end(), [&](std::int32_t a, std::int32_t b) { return before(a, b); });
}

// The largest shape of the type with at most that number of GPUs, of equal ones the fastest; -1: none.
std::int32_t ElasticShares::largest(std::int32_t job, std::int32_t type, std::int64_t within) const {
  std::int32_t best = -1;
  for (std::int32_t k = first(job); k < last(job); ++k) {
    if (problem_.type[k] != type || shapes_[to_index(k)].speed <= 0 || problem_.gpus[k] > within) continue;
    if (best < 0 || std::tuple(run(k), problem_.gpus[k], k) < std::tuple(run(best), problem_.gpus[best], best)) best = k;
  }
  return best;
}

std::int64_t ElasticShares::least_work(std::int32_t job, std::int32_t type, std::int64_t within) const {
  std::int64_t least = INT64_MAX;
  for (std::int32_t k = first(job); k < last(job); ++k) {
    if (problem_.type[k] == type && shapes_[to_index(k)].speed > 0 && problem_.gpus[k] <= within) least = std::min(least, gpu_us(k));
  }
  return least;
}

void ElasticShares::begin_lines() {
  for (std::size_t type = 0; type < lines_.size(); ++type) {
    lines_[type].line.begin(now_, problem_.capacity[type]);
    lines_[type].full = 0;
  }
}

// From now on, within its share, after the jobs that are laid already. @returns whether it meets its deadline
bool ElasticShares::fits(std::int32_t job, Line& on, TimeUs slop) {
  const Share& share = of_[to_index(job)];
  const std::vector<CapacityLine::Step>& steps = on.line.steps();
  taken_.clear();
  while (on.full < steps.size() && steps[on.full].used >= on.line.gpus()) ++on.full;
  std::int64_t left = kAllWork, room = -1;
  std::int32_t k = -1;
  for (std::size_t i = on.full; i < steps.size(); ++i) {
    const TimeUs from = steps[i].at, next = i + 1 < steps.size() ? steps[i + 1].at : kNever;
    if (from >= share.deadline + slop) break;
    const std::int64_t here = std::min(share.gpus, on.line.gpus() - steps[i].used);
    if (here != room) k = largest(job, share.type, here);
    room = here;
    if (k < 0) continue;
    const core::Wide lasts = core::ceil_div(core::Wide{left} * run(k), core::Wide{kAllWork}) + share.margin;
    const bool ends = next == kNever || lasts <= core::Wide{next} - from + slop;
    const TimeUs end = ends ? std::min(core::saturate(from + lasts), next) : next;
    if (taken_.empty() || taken_.back().to != from || taken_.back().gpus != problem_.gpus[k]) {
      taken_.push_back({from, end, problem_.gpus[k]});
    } else {
      taken_.back().to = end;
    }
    if (ends) return end <= share.deadline + slop;
    left -= core::mul_div(next - from, kAllWork, run(k));
  }
  return false;
}

void ElasticShares::take(Line& on) const {
  for (const Taken& one : taken_) on.line.take(one.from, one.to, one.gpus);
}

// Mostly all can be laid again from now on. Where one is late then, what was planned before is still possible.
void ElasticShares::keep_promises() {
  begin_lines();
  again_ = std::all_of(promised_.begin(), promised_.end(), [&](std::int32_t job) {
    Line& line = lines_[to_index(of_[to_index(job)].type)];
    const bool meets = fits(job, line);
    if (meets) take(line);
    return meets;
  });
  if (!again_) keep_planned();
}

// Each job in turn is laid next to what is planned for all others. It gets at least what was planned for it, as long as no GPU failed, and
// is late only if it needs more than it did: then it loses its promise.
void ElasticShares::keep_planned() {
  begin_lines();
  for (const std::int32_t job : promised_) {
    const Share& share = of_[to_index(job)];
    for (std::size_t i = share.kept_begin; i < share.kept_end; ++i) {
      lines_[to_index(share.type)].line.add(kept_[i].from, kept_[i].to, kept_[i].gpus);
    }
  }
  for (Line& line : lines_) line.line.settle();
  planned_.clear();
  std::erase_if(promised_, [&](std::int32_t job) {
    Share& share = of_[to_index(job)];
    Line& line = lines_[to_index(share.type)];
    for (std::size_t i = share.kept_begin; i < share.kept_end; ++i) line.line.take(kept_[i].from, kept_[i].to, -kept_[i].gpus);
    line.full = 0;
    if (fits(job, line, share.margin + kPlanRounding)) {
      take(line);
      plan(job);
      return false;
    }
    share.gpus = 0;
    share.broken = true;
    share.may = share.may && share.steps->later.empty();
    return true;
  });
}

// The GPU-time that promised jobs leave before the deadlines says at once of most jobs that they do not fit.
void ElasticShares::begin_lanes() {
  for (Lane& lane : lanes_) lane = {std::move(lane.jobs), std::move(lane.room), 0, 0, 0};
  for (Lane& lane : lanes_) lane.jobs.clear();
  for (const std::int32_t job : promised_) {
    Share& share = of_[to_index(job)];
    share.least_work = least_work(job, share.type, share.gpus);
    lanes_[to_index(share.type)].jobs.push_back(job);
  }
  for (std::size_t type = 0; type < lanes_.size(); ++type) {
    Lane& lane = lanes_[type];
    lane.room.assign(lane.jobs.size() + 1, INT64_MAX);
    std::int64_t work = 0;
    for (std::size_t i = 0; i < lane.jobs.size(); ++i) {
      const Share& share = of_[to_index(lane.jobs[i])];
      work = core::saturating_add(work, share.least_work);
      lane.room[i] = core::saturate(core::Wide{problem_.capacity[type]} * (share.deadline - now_) - work);
    }
    for (std::size_t i = lane.jobs.size(); i-- > 0;) lane.room[i] = std::min(lane.room[i], lane.room[i + 1]);
  }
}

// One sweep over all steps of deadlines. A job that comes has the smallest share with which it meets its deadline after those before it,
// and those after it still do.
void ElasticShares::admit(bool asked_before) {
  candidates_.clear();
  for (std::int32_t job = 0; job < problem_.n_jobs; ++job) {
    const Share& share = of_[to_index(job)];
    if (share.id == nullptr || !share.may || share.gpus > 0 || share.asked != asked_before) continue;
    for (std::int32_t step = 0; step <= std::ssize(share.steps->later); ++step) {
      if (const TimeUs at = core::step_at(*share.steps, step); at > now_) candidates_.emplace_back(at, job);
    }
  }
  if (candidates_.empty()) return;
  std::sort(candidates_.begin(), candidates_.end());
  if (again_) {
    begin_lines();
    begin_lanes();
  }
  const std::size_t promised = promised_.size();
  for (const auto& [deadline, job] : candidates_) {
    if (lays_left_ <= 0) break;
    Share& share = of_[to_index(job)];
    if (share.gpus > 0) continue;
    share.deadline = deadline;
    if (try_levels(job)) promised_.push_back(job);
  }
  for (const auto& [deadline, job] : candidates_) {
    Share& share = of_[to_index(job)];
    if (share.gpus == 0) share.deadline = core::deadline_at(*share.steps, now_);
  }
  if (promised_.size() > promised) {
    std::sort(promised_.begin(), promised_.end(), [&](std::int32_t a, std::int32_t b) { return before(a, b); });
  }
}

// Those with which it would meet its deadline alone, the fewest GPUs first.
bool ElasticShares::try_levels(std::int32_t job) {
  const TimeUs in = of_[to_index(job)].deadline - now_;
  levels_.clear();
  for (std::int32_t k = first(job); k < last(job); ++k) {
    const bool alone = shapes_[to_index(k)].speed > 0 && run(k) <= in && problem_.gpus[k] <= problem_.capacity[problem_.type[k]];
    if (alone) levels_.push_back(k);
  }
  std::sort(levels_.begin(), levels_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(problem_.gpus[a], run(a), a) < std::tuple(problem_.gpus[b], run(b), b);
  });
  return std::any_of(levels_.begin(), levels_.end(),
                     [&](std::int32_t k) { return again_ ? try_level(job, k) : try_next_to_planned(job, k); });
}

bool ElasticShares::try_level(std::int32_t job, std::int32_t k) {
  const std::size_t type = to_index(problem_.type[k]);
  Share& share = of_[to_index(job)];
  Lane& lane = lanes_[type];
  Line& line = lines_[type];
  for (; lane.at < lane.jobs.size() && before(lane.jobs[lane.at], job); ++lane.at) {
    fits(lane.jobs[lane.at], line);
    take(line);
    lane.work = core::saturating_add(lane.work, of_[to_index(lane.jobs[lane.at])].least_work);
  }
  share.type = problem_.type[k];
  share.gpus = problem_.gpus[k];
  share.least_work = least_work(job, share.type, share.gpus);
  const core::Wide own = core::Wide{line.line.gpus()} * (share.deadline - now_) - lane.work;
  bool meets = share.least_work <= own && share.least_work <= core::Wide{lane.room[lane.at]} - lane.added && fits(job, line);
  if (meets && lane.at < lane.jobs.size()) {
    spare_ = line;
    take(spare_);
    for (std::size_t i = lane.at; meets && i < lane.jobs.size(); ++i, --lays_left_) {
      meets = fits(lane.jobs[i], spare_);
      if (meets) take(spare_);
    }
    if (meets) fits(job, line);  // what it takes, once more
  }
  if (!meets) {
    share.gpus = 0;
    return false;
  }
  take(line);
  lane.work = core::saturating_add(lane.work, share.least_work);
  lane.added = core::saturating_add(lane.added, share.least_work);
  return true;
}

bool ElasticShares::try_next_to_planned(std::int32_t job, std::int32_t k) {
  Share& share = of_[to_index(job)];
  Line& line = lines_[to_index(problem_.type[k])];
  share.type = problem_.type[k];
  share.gpus = problem_.gpus[k];
  line.full = 0;
  if (!fits(job, line)) {
    share.gpus = 0;
    return false;
  }
  take(line);
  plan(job);
  return true;
}

// Rows of jobs that were not asked about stay: they may have no shape for the moment.
void ElasticShares::store(PolicyState& kept) {
  const auto live = [&](const std::string& id) {
    return std::binary_search(live_.begin(), live_.end(), &id, [](const std::string* a, const std::string* b) { return *a < *b; });
  };
  std::size_t parts = parts_.size();
  for (const std::int32_t job : promised_) parts = std::max(parts, of_[to_index(job)].end - of_[to_index(job)].begin);
  parts = std::min(parts, kMostParts);
  rows_.clear();
  for (const char* name : {kShareEnd, kShareGpus, kShareType}) rows_.push_back(&kept.columns[name]);
  for (std::size_t part = 0; part < parts; ++part) {
    for (const std::string& name : part_names(part)) rows_.push_back(&kept.columns[name]);
  }
  for (ShareColumn* rows : rows_) {
    std::erase_if(*rows, [&](const auto& row) { return !live(row.first); });
  }
  const auto put = [&](std::size_t column, const std::string& id, std::int64_t value, bool known) {
    if (known) {
      (*rows_[column])[id] = value;
    } else {
      rows_[column]->erase(id);
    }
  };
  for (const Share& share : of_) {
    if (share.id == nullptr) continue;
    const bool promised = share.gpus > 0;
    put(0, *share.id, promised ? share.deadline : share.broken ? kBrokenShare : kNoShare, true);
    put(1, *share.id, share.gpus, promised);
    put(2, *share.id, share.type, promised);
    const std::size_t own = promised ? share.end - share.begin : 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const bool known = part < own;
      const Taken planned = known ? planned_[share.begin + part] : Taken{};
      put(3 + 3 * part, *share.id, planned.from, known);
      put(4 + 3 * part, *share.id, planned.to, known);
      put(5 + 3 * part, *share.id, planned.gpus, known);
    }
  }
}

}  // namespace berth::policy
