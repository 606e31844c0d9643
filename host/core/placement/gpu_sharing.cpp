#include "host/core/placement/gpu_sharing.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/releases.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/deadline_steps.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

bool was_placed(Outcome outcome) { return outcome == Outcome::kPlaced || outcome == Outcome::kMoved; }

/// Run time at a fraction of the rate; kNever: not known.
TimeUs run_at_part(TimeUs alone, std::int64_t kept_ppm) {
  if (alone == kNever || kept_ppm <= 0) return kNever;
  const Wide run = (Wide{alone} * kFullRate + kept_ppm - 1) / kept_ppm;
  return run > kMaxTimeUs ? kNever : static_cast<TimeUs>(run);
}

// The row of the job's own demand, with its shares.
const kernel::DemandRow& own_demand(const StateImpl& s, std::int32_t option) {
  return s.demands.rows()[to_index(s.problem().options[option].demand)];
}

}  // namespace

// Rows of the pass have several GPUs of a node; a member has one.
void GpuSharing::split(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request, const kernel::PlaceResult& r,
                       std::int32_t i) {
  const std::int32_t option = p.option_begin[request.order[i]] + r.option[i];
  if (!s.demands.takes_shares(s.problem().options[option].demand)) return;
  const kernel::DemandRow& own = own_demand(s, option);
  const std::int32_t begin = *r.n_entries;
  for (std::int32_t e = r.entry_begin[i]; e < r.entry_end[i]; ++e) {
    const kernel::PlacedRow whole = r.entries[e];
    const std::int32_t share_ppm = s.demands.groups()[to_index(own.group_begin + whole.group)].share_ppm;
    kernel::PlacedRow row = whole;
    row.share_ppm = share_ppm;
    for (std::uint64_t left = share_ppm < kWholeGpu ? whole.mask : 0; left != 0; left &= left - 1) {
      row.mask = left & (~left + 1);
      row.members = 1;
      assert(*r.n_entries < r.max_entries);
      r.entries[(*r.n_entries)++] = row;
      ++row.member;
    }
    if (share_ppm == kWholeGpu) r.entries[(*r.n_entries)++] = row;
  }
  r.entry_begin[i] = begin;
  r.entry_end[i] = *r.n_entries;
}

// What each job has once the pass is applied.
void GpuSharing::look(const StateImpl& s, const kernel::ProblemView& p, std::span<const std::uint8_t> lost,
                      const kernel::PlaceRequest& request, const kernel::PlaceResult& r) {
  stays_.assign(s.jobs.size(), 0);
  for (const std::int32_t job : s.job_order) stays_[to_index(job)] = s.job.running[to_index(job)] != 0 && lost[to_index(job)] == 0 ? 1 : 0;
  after_.begin(p);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if (stays_[to_index(job)] == 0 || (r.outcome[i] != Outcome::kPreempted && r.outcome[i] != Outcome::kMoved)) continue;
    after_.release(job);
    stays_[to_index(job)] = 0;
  }
  sharers_.begin(s);
  kept_.assign(s.jobs.size(), kFullRate);
  left_.assign(s.jobs.size(), kNever);
  const auto add = [&](std::int32_t job, std::int32_t shape, TimeUs left) {
    sharers_.add(s, job, shape, entries_);
    left_[to_index(job)] = left;
  };
  for (const std::int32_t job : s.job_order) {
    if (stays_[to_index(job)] == 0) continue;
    const std::span<const PlanEntry> held = s.held_entries(job);
    const bool in_time = std::all_of(held.begin(), held.end(), [](const PlanEntry& one) { return one.time_shared; });
    entries_.clear();
    // As the problem has it: a repaired gang holds other GPUs than before.
    for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
      const kernel::HeldRow& row = p.held[h];
      if (row.share_ppm == kWholeGpu) continue;
      entries_.push_back({row.node, 0, 0, std::popcount(row.mask), row.mask, row.share_ppm, in_time});
    }
    if (!entries_.empty()) add(job, s.job.shape[to_index(job)], s.remaining(job));
  }
  for (std::int32_t i = 0; i < request.n; ++i) {
    if (!was_placed(r.outcome[i])) continue;
    const std::int32_t job = request.order[i], option = p.option_begin[job] + r.option[i];
    const kernel::DemandRow& own = own_demand(s, option);
    entries_.clear();
    for (std::int32_t e = r.entry_begin[i]; e < r.entry_end[i]; ++e) {
      const kernel::PlacedRow& row = r.entries[e];
      after_.take(own, row);
      if (row.share_ppm < kWholeGpu) entries_.push_back({row.node, 0, row.member, row.members, row.mask, row.share_ppm, true});
    }
    after_.charge_queue(job, own.gpu_type, own.quota);
    const std::int64_t rate = s.jobs[to_index(job)].option_rate[to_index(r.option[i])];
    if (!entries_.empty()) add(job, p.options[option].shape, s.run_at(job, rate));
  }
  gpus_.assign(sharers_.gpus().begin(), sharers_.gpus().end());
  std::erase_if(gpus_, [&](std::int64_t gpu) { return sharers_.is_partitioned(gpu); });
  std::sort(gpus_.begin(), gpus_.end());
  for (const std::int64_t gpu : gpus_) {
    for (const std::int32_t job : sharers_.jobs_on(gpu)) kept_[to_index(job)] = sharers_.kept(s, job).ppm;
  }
}

bool GpuSharing::would_miss(const StateImpl& s, std::int32_t job, TimeUs left, std::int64_t now_ppm, std::int64_t then_ppm) const {
  const Deadline& deadline = s.jobs[to_index(job)].job->deadline;
  if (deadline.at_us == kNever || left == kNever) return false;
  const std::int32_t now = step_index(deadline, end_of(s.now, run_at_part(left, now_ppm)));
  return now >= 0 && step_index(deadline, end_of(s.now, run_at_part(left, then_ppm))) != now;
}

// The least fraction that a job on the GPU would keep with the guest; 0: the guest may not join. `too_late`: for its own deadline.
std::int64_t GpuSharing::offer(const StateImpl& s, std::int64_t gpu, std::int32_t guest, TimeUs left, std::int64_t least_ppm,
                               bool& too_late) {
  const std::int32_t kind = sharers_.kind_of(s, guest);
  const KeptFraction own = sharers_.kept_by_guest(s, gpu, kind);
  if (!own.known || own.ppm < least_ppm) return 0;
  std::int64_t least = own.ppm;
  for (const std::int32_t job : sharers_.jobs_on(gpu)) {
    const KeptFraction kept = sharers_.kept_on(s, gpu, job, kind);
    if (!kept.known || kept.ppm < least_ppm) return 0;
    const std::int64_t now_ppm = kept_[to_index(job)];
    if (would_miss(s, job, left_[to_index(job)], now_ppm, std::min(now_ppm, kept.ppm))) return 0;
    least = std::min(least, kept.ppm);
  }
  if (would_miss(s, guest, left, kFullRate, own.ppm)) {
    too_late = true;
    return 0;
  }
  return least;
}

bool GpuSharing::join(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::int32_t option, std::int64_t least_ppm,
                      const kernel::PlaceResult& r, std::int32_t i) {
  const Job& described = *s.jobs[to_index(job)].job;
  const std::int32_t own_row = s.problem().options[option].demand;
  const kernel::DemandRow& own = s.demands.rows()[to_index(own_row)];
  const kernel::GroupRow& group = s.demands.groups()[to_index(own.group_begin)];
  const bool plain = own.group_end == own.group_begin + 1 && group.share_ppm < kWholeGpu && group.segment_size == 0 &&
                     group.spread_most == 0 && group.require_level == kernel::kNone && group.members > 0;
  const Shape& shape = described.shapes[to_index(p.options[option].shape)];
  if (!plain || !shape.mig_profile.empty()) return false;
  const std::uint64_t key = (static_cast<std::uint64_t>(sharers_.kind_of(s, job)) << 32) | static_cast<std::uint32_t>(own_row);
  if (hopeless_.count(key) != 0) return false;
  if (!kernel::queues_have_room<const std::int64_t>({p.queue_parent, p.queue_cap, p.queue_kept, after_.queue_used().data(), p.n_types},
                                                    p.job_queue[job], own.gpu_type, own.quota))
    return false;
  const std::int64_t rate = s.jobs[to_index(job)].option_rate[to_index(option - p.option_begin[job])];
  const TimeUs left = s.run_at(job, rate);
  const std::uint64_t* const allowed = p.filter_words + std::int64_t{p.demands[p.options[option].demand].filter} * p.n_words;
  const SupplyView has = after_.supply();
  const std::int64_t memory = group.gpu_memory > 0 ? p.type_memory[own.gpu_type] : 0;
  bool too_late = false;
  offers_.clear();
  std::int32_t node = 0;
  for (const std::int64_t gpu : gpus_) {
    while (p.gpu_begin[node + 1] <= gpu) ++node;
    const auto index = static_cast<std::int32_t>(gpu - p.gpu_begin[node]);
    const bool may_use = (allowed[node / 64] >> (node % 64) & 1) != 0 && p.node_sharing[node] != 0 && p.node_until[node] == kNever &&
                         (p.node_open[node] >> index & 1) != 0;
    if (!may_use || has.gpu_used_ppm[gpu] + group.share_ppm > kWholeGpu) continue;
    if (memory != 0 && has.gpu_used_memory[gpu] + group.gpu_memory > memory) continue;
    if (const std::int64_t kept = offer(s, gpu, job, left, least_ppm, too_late); kept > 0) offers_.push_back({kept, node, index});
  }
  std::stable_sort(offers_.begin(), offers_.end(), [](const Offer& a, const Offer& b) { return a.kept_ppm > b.kept_ppm; });
  taken_.clear();
  const auto fits = [](std::int64_t free, std::int64_t each, std::int64_t members) {
    return each == 0 || free == kernel::kNoLimit || (free >= 0 && free / each >= members);
  };
  on_node_.resize(to_index(p.n_nodes), 0);
  for (const Offer& one : offers_) {
    if (std::ssize(taken_) == group.members) break;
    std::int32_t& members = on_node_[to_index(one.node)];
    if (!fits(has.cpu[one.node], group.cpu, members + 1) || !fits(has.memory[one.node], group.memory, members + 1)) continue;
    ++members;
    taken_.push_back(one);
  }
  for (const Offer& one : taken_) on_node_[to_index(one.node)] = 0;
  if (std::ssize(taken_) < group.members) {
    // A job that comes later finds no more room, and no job there keeps more.
    if (!too_late) hopeless_.insert(key);
    return false;
  }
  std::sort(taken_.begin(), taken_.end(), [](const Offer& a, const Offer& b) { return std::tie(a.node, a.gpu) < std::tie(b.node, b.gpu); });
  r.outcome[i] = Outcome::kPlaced;
  r.option[i] = option - p.option_begin[job];
  r.entry_begin[i] = *r.n_entries;
  entries_.clear();
  for (const Offer& one : taken_) {
    kernel::PlacedRow row{};
    row.node = one.node;
    row.member = *r.n_entries - r.entry_begin[i];
    row.members = 1;
    row.mask = std::uint64_t{1} << one.gpu;
    row.share_ppm = group.share_ppm;
    assert(*r.n_entries < r.max_entries);
    r.entries[(*r.n_entries)++] = row;
    after_.take(own, row);
    entries_.push_back({row.node, 0, row.member, 1, row.mask, row.share_ppm, true});
  }
  r.entry_end[i] = *r.n_entries;
  r.reserve_at[i] = kNever;
  after_.charge_queue(job, own.gpu_type, own.quota);
  sharers_.add(s, job, p.options[option].shape, entries_);
  left_[to_index(job)] = left;
  for (const Offer& one : taken_) {
    for (const std::int32_t other : sharers_.jobs_on(GpuSharers::row_of(s, one.node, one.gpu)))
      kept_[to_index(other)] = sharers_.kept(s, other).ppm;
  }
  return true;
}

void GpuSharing::settle(const StateImpl& s, const kernel::ProblemView& p, const TriedOptions& tried, std::span<const std::uint8_t> lost,
                        std::int64_t least_ppm, const kernel::PlaceRequest& request, const kernel::PlaceResult& r) {
  bool some_wait = false;
  for (std::int32_t i = 0; i < request.n; ++i) {
    if (was_placed(r.outcome[i])) split(s, p, request, r, i);
    const bool waits = request.running[i] == 0 && (r.outcome[i] == Outcome::kWaits || r.outcome[i] == Outcome::kGaveUp);
    some_wait = some_wait || (waits && s.jobs[to_index(request.order[i])].job->sharing);
  }
  if (!some_wait) return;
  look(s, p, lost, request, r);
  if (gpus_.empty()) return;
  hopeless_.clear();
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if (r.outcome[i] != Outcome::kWaits && r.outcome[i] != Outcome::kGaveUp) continue;
    // A job that lost GPUs starts with the next decision.
    if (s.job.running[to_index(job)] != 0 || !s.jobs[to_index(job)].job->sharing) continue;
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const bool is_tried = tried.left_out() == nullptr || tried.left_out()[o] == 0;
      if (is_tried && join(s, p, job, o, least_ppm, r, i)) break;
    }
  }
}

}  // namespace berth::core
