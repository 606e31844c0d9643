// las: least attained service, in discrete queues.
//
// Key         the queue level: the number of thresholds that the job's attained GPU-time has reached. Within a level by submit,
//             then id, as job ranks. queue_order=entry: within a level in the order in which jobs came there. queue_order=running: the
//             same, but after each decision jobs that run move to the front (host/policy/queue/queue_entries.hpp).
// Changes     when a running job's attained GPU-time reaches the next threshold. With promotion also when a waiting job is due.
// Source      Tiresias (NSDI'19), discretised 2D-LAS. The thresholds are from its simulator, which lists three and uses two.
//             Promotion: a waiting job returns to level 0 after it has waited `promote_knob` times as long as it ran since its
//             last reset. We compare GPU-time with GPU-time, which is the same for a job whose GPU count does not change.
//             queue_order=running is that of the simulators of Tiresias and Muri, entry that of Pollux' simulator of Tiresias.
// Keeps       with promotion, column `las_reset_gpu_us`: attained GPU-time at the last reset; rows only for reset jobs.
//             With another queue_order, column `las_place` and scalar `las_moves`: the place of each job in its queue.
// Parameters  thresholds_gpu_s, promote_knob, queue_order, and the common ones.

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/base/wide.hpp"
#include "host/policy/base/job_column.hpp"
#include "host/policy/queue/las.hpp"
#include "host/policy/queue/queue_entries.hpp"

namespace berth::policy {

namespace {

class Las final : public core::QueuePolicy {
 public:
  // knob in millionths; 0: no promotion
  Las(std::vector<std::int64_t> thresholds_gpu_us, std::int64_t knob, bool by_entry, bool running_first)
      : thresholds_(std::move(thresholds_gpu_us)), knob_(knob), by_entry_(by_entry), entries_(running_first) {}

  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      out[i] = level(served(jobs, job));
      if (knob_ != 0 && out[i] > 0 && due(jobs, job) <= now) {
        reset_.set(*jobs.id[job], jobs.attained_gpu_us[job]);
        out[i] = 0;
      }
    }
    if (by_entry_) entries_.places(jobs, job_indices, out);
  }

  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      const std::int64_t have = served(jobs, job);
      const auto at = static_cast<std::size_t>(level(have));
      out[i] = kNever;
      if (jobs.running[job] != 0) {
        if (at < thresholds_.size()) out[i] = core::saturating_add(now, (thresholds_[at] - have - 1) / jobs.gpus[job] + 1);
      } else if (knob_ != 0 && at > 0) {
        out[i] = std::max(now, due(jobs, job));
      }
    }
  }

  bool rests_while_waiting() const override { return knob_ == 0 && !by_entry_; }
  bool rises_only_at_changes() const override { return knob_ == 0 && !by_entry_; }
  void load(const PolicyState& state) override {
    if (knob_ != 0) reset_.load(state);
    if (by_entry_) entries_.load(state);
  }
  void store(PolicyState& state) const override {
    if (knob_ != 0) reset_.store(state);
    if (by_entry_) entries_.store(state);
  }
  void retain(PolicyState& state, const core::LiveJobs& live) const override {
    if (knob_ != 0) reset_.retain(state, live);
    if (by_entry_) entries_.retain(state, live);
  }

 private:
  std::int64_t level(std::int64_t gpu_us) const {
    return std::upper_bound(thresholds_.begin(), thresholds_.end(), gpu_us) - thresholds_.begin();
  }
  std::int64_t served(const core::JobColumns& jobs, std::int32_t job) const {
    const std::int64_t attained = jobs.attained_gpu_us[job];
    return knob_ == 0 ? attained : attained - reset_.get(*jobs.id[job], 0);
  }
  // The instant at which a job is promoted if it keeps waiting.
  TimeUs due(const core::JobColumns& jobs, std::int32_t job) const {
    if (jobs.running[job] != 0) return kNever;
    if (jobs.waiting_since == nullptr) throw InternalError("las with promotion needs the column waiting_since");
    const TimeUs since = jobs.waiting_since[job] == kNever ? jobs.submit[job] : jobs.waiting_since[job];
    return core::saturate(since + core::ceil_div(core::Wide{served(jobs, job)} * knob_, core::Wide{jobs.gpus[job]} * 1'000'000));
  }

  std::vector<std::int64_t> thresholds_;
  std::int64_t knob_;
  bool by_entry_;
  JobColumn reset_{"las_reset_gpu_us"};
  QueueEntries entries_;
};

std::unique_ptr<core::QueuePolicy> make_las(const core::Params& params) {
  return las_queues(Settings(core::find_policy("las").info, params));
}

}  // namespace

std::unique_ptr<core::QueuePolicy> las_queues(const Settings& settings) {
  const std::size_t queue_order = settings.choice("queue_order", {"submit", "entry", "running"});
  const bool promotes = settings.text("promote_knob") != "off";
  // GPU-seconds in millionths are GPU-microseconds.
  return std::make_unique<Las>(settings.ascending_millionths("thresholds_gpu_s", 1, kMaxTimeUs, 63),
                               promotes ? settings.millionths("promote_knob", 1, 1'000'000'000'000) : 0, queue_order > 0, queue_order == 2);
}

std::vector<PolicyParam> las_parameters() {
  return {{"thresholds_gpu_s", "3250,7200,18000", "GPU-seconds at which a job sinks one queue, ascending"},
          {"promote_knob", "off", "off, or: a job that waited this many times its run time starts again at the top"},
          {"queue_order", "submit",
           "within a queue, submit: by submission; entry: as jobs came into it; running: the same, but jobs that run first, as in the "
           "simulators of Tiresias and Muri"}};
}

core::PolicyEntry las_policy() {
  return {.info = {.name = "las",
                   .rule = "queue level by attained GPU-time, then submit",
                   .source = "Tiresias (NSDI'19), discretised 2D-LAS",
                   .params = las_parameters()},
          .preemptive = true,
          .make = make_las};
}

}  // namespace berth::policy
