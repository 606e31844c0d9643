// gittins: largest Gittins index of attained service first.
//
// Key         minus the rank of the job's attained GPU-time (gittins_table.hpp), scaled by 2^62. It is 0 beyond the longest
//             service in the history, and for every job while there is no history.
// Changes     when a running job's attained GPU-time reaches the step of the table at which it falls behind a waiting job.
//             No other step changes which waiting job could displace it.
// Source      Tiresias (NSDI'19), 2D-Gittins; delta is that of its simulator. Ours: exact fractions instead of floating point,
//             and the steps at which the rank is computed.
// Parameters  delta_gpu_s, and the common ones.

#include <algorithm>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/policy/base/params.hpp"
#include "host/policy/queue/gittins_table.hpp"

namespace berth::policy {

namespace {

class Gittins final : public core::QueuePolicy {
 public:
  explicit Gittins(std::int64_t delta_gpu_us) : delta_(delta_gpu_us) { table_.build({}, delta_); }

  bool learns() const override { return true; }
  void learn(const core::HistoryColumns& history) override {
    if (table_.build(history.service_gpu_us, delta_)) last_attained_ = -1;
  }

  void keys(const core::JobColumns& jobs, TimeUs, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) out[i] = -rank_of(jobs, job_indices[i]);
  }

  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override {
    waiting_.clear();
    for (const std::int32_t job : job_indices) {
      if (jobs.running[job] == 0) waiting_.push_back({rank_of(jobs, job), job});
    }
    const auto before = [&jobs](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank > b.rank : by_rank(jobs, a.job, b.job);
    };
    if (!std::is_sorted(waiting_.begin(), waiting_.end(), before)) std::sort(waiting_.begin(), waiting_.end(), before);
    TimeUs until = jobs.until;  // a change after another one may be left out, too
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      const std::int64_t have = jobs.attained_gpu_us[job];
      out[i] = kNever;
      if (jobs.running[job] == 0) continue;
      const auto behind = std::upper_bound(waiting_.begin(), waiting_.end(), Ranked{rank_of(jobs, job), job}, before);
      if (behind == waiting_.end()) continue;
      // Of equal ranks the earlier job is first.
      const std::int64_t bound = behind->rank + (by_rank(jobs, behind->job, job) ? 1 : 0);
      const TimeUs gains = core::saturating_mul(std::max<TimeUs>(0, until - 1 - now), jobs.gpus[job]);
      const std::int64_t step =
          until == kNever ? table_.falls_below(have, bound) : table_.falls_below(have, bound, core::saturating_add(have, gains));
      if (step == kNever) continue;
      out[i] = core::saturate(now + core::ceil_div(step - have, jobs.gpus[job]));
      if (until != kNever) until = std::min(until, out[i]);
    }
  }

  bool follows_from_columns() const override { return true; }

 private:
  // Many waiting jobs have never run.
  std::int64_t rank_of(const core::JobColumns& jobs, std::int32_t job) {
    const std::int64_t attained = jobs.attained_gpu_us[job];
    if (attained != last_attained_) {
      last_attained_ = attained;
      last_rank_ = table_.rank(attained);
    }
    return last_rank_;
  }
  struct Ranked {
    std::int64_t rank;  // Gittins index
    std::int32_t job;
  };
  static bool by_rank(const core::JobColumns& jobs, std::int32_t a, std::int32_t b) {
    return jobs.submit[a] != jobs.submit[b] ? jobs.submit[a] < jobs.submit[b] : *jobs.id[a] < *jobs.id[b];
  }

  std::int64_t delta_;
  GittinsTable table_;
  std::int64_t last_attained_ = -1, last_rank_ = 0;
  std::vector<Ranked> waiting_;  // in order
};

std::unique_ptr<core::QueuePolicy> make_gittins(const core::Params& params) {
  const Settings settings(core::find_policy("gittins").info, params);
  return std::make_unique<Gittins>(settings.millionths("delta_gpu_s", 1, kMaxTimeUs));
}

}  // namespace

core::PolicyEntry gittins_policy() {
  return {.info = {.name = "gittins",
                   .rule = "largest Gittins index of attained GPU-time",
                   .source = "Tiresias (NSDI'19), 2D-Gittins",
                   .params = {{"delta_gpu_s", "3250", "service quantum of the index, GPU-seconds"}}},
          .preemptive = true,
          .make = make_gittins};
}

}  // namespace berth::policy
