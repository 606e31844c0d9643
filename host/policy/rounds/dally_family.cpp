#include "host/policy/rounds/dally_family.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/policy/base/leases.hpp"

namespace berth::policy {

namespace {

constexpr std::int64_t kIdeal = 1'000'000'000;  // Nw_sens in billionths
constexpr std::int64_t kInItsLease = 0;

core::LeaseEnd lease_end_of(const Settings& settings) {
  return static_cast<core::LeaseEnd>(settings.choice("lease_end", {"keep", "move", "offer"}));
}

class DallyOrder final : public core::QueuePolicy {
 public:
  DallyOrder(TimeUs lease, bool common, core::LeaseEnd end) : leases_(lease, common), lease_end_(end) {}

  // Keys are places in the order: it has more parts than a key holds.
  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    leases_.begin(jobs, now, job_indices);
    fresh_.clear();
    ended_.clear();
    ++batch_;
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      const bool running = jobs.running[job] != 0;
      out[i] = kInItsLease;
      if (running && !leases_.ended(job)) continue;
      if (running) ended_.push_back(job);
      const TimeUs waits = jobs.waiting_since[job] == kNever ? jobs.submit[job] : jobs.waiting_since[job];
      put({network_sensitivity(jobs, job), running ? now : waits, jobs.submit[job], job}, i);
    }
    merge();
    // Equal ones stay equal: job ranks tell them apart.
    std::int64_t place = kInItsLease;
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      const bool same = i > 0 && offered_[i].sensitivity == offered_[i - 1].sensitivity && offered_[i].since == offered_[i - 1].since;
      if (!same) ++place;
      out[known_[to_index(offered_[i].job)].at] = place;
    }
  }

  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override {
    // A job that keeps its GPUs does not lose them while no job waits.
    const bool any = lease_end_ != core::LeaseEnd::kKeep ||
                     std::any_of(job_indices.begin(), job_indices.end(), [&](std::int32_t job) { return jobs.running[job] == 0; });
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      out[i] = any && jobs.running[job_indices[i]] != 0 ? leases_.end(job_indices[i], now) : kNever;
    }
  }

  std::span<const std::int32_t> lease_ended() const override { return ended_; }
  TimeUs time_slice() const override { return leases_.length(); }
  TimeUs slice_from(TimeUs assigned, TimeUs now) const override { return leases_.slice_from(assigned, now); }
  bool reads_cluster() const override { return true; }
  bool waiting_order_rests() const override { return true; }
  bool reads_progress() const override { return true; }
  void load(const PolicyState& state) override { leases_.load(state); }
  void store(PolicyState& state) const override { leases_.store(state); }
  void retain(PolicyState& state, const core::LiveJobs& live) const override { leases_.retain(state, live); }

 private:
  struct Offered {
    std::int64_t sensitivity;
    TimeUs since, submit;
    std::int32_t job;
    bool operator==(const Offered&) const = default;
    bool operator<(const Offered& o) const { return std::tuple(sensitivity, since, submit) < std::tuple(o.sensitivity, o.since, o.submit); }
  };
  /// Of a job, by the last batches that had it.
  struct Known {
    TimeUs run = -1, ideal = 0;
    std::int64_t sensitivity = 0;
    std::uint64_t batch = 0;  // in which it was offered
    std::size_t at = 0;       // its position there
    Offered offered{};
  };

  // Progress over that of a run without communication; 0: it has not run.
  std::int64_t network_sensitivity(const core::JobColumns& jobs, std::int32_t job) {
    const TimeUs run = jobs.run[job], ideal = jobs.ideal_run[job];
    if (run <= 0) return 0;
    if (ideal == kNever) return kIdeal;
    if (known_.size() <= to_index(job)) known_.resize(to_index(job) + 1);
    Known& known = known_[to_index(job)];
    if (known.run != run || known.ideal != ideal) {
      known.run = run;
      known.ideal = ideal;
      known.sensitivity = core::mul_div(ideal, kIdeal, run);
    }
    return known.sensitivity;
  }

  // A job that was offered in the last batch with the same numbers has its place already.
  void put(const Offered& one, std::size_t at) {
    if (known_.size() <= to_index(one.job)) known_.resize(to_index(one.job) + 1);
    Known& known = known_[to_index(one.job)];
    if (known.batch + 1 != batch_ || !(known.offered == one)) fresh_.push_back(one);
    known.batch = batch_;
    known.at = at;
    known.offered = one;
  }
  // Most jobs go on waiting: only the others are sorted.
  void merge() {
    std::sort(fresh_.begin(), fresh_.end());
    const auto left = [&](const Offered& one) {
      const Known& known = known_[to_index(one.job)];
      return known.batch != batch_ || !(known.offered == one);
    };
    std::erase_if(offered_, left);
    merged_.clear();
    std::merge(offered_.begin(), offered_.end(), fresh_.begin(), fresh_.end(), std::back_inserter(merged_));
    offered_.swap(merged_);
  }

  Leases leases_;
  core::LeaseEnd lease_end_;
  std::vector<Offered> offered_, fresh_, merged_;  // in order; those that the last batch had not so
  std::vector<Known> known_;                       // [jobs]
  std::uint64_t batch_ = 1;
  std::vector<std::int32_t> ended_;
};

}  // namespace

std::unique_ptr<core::QueuePolicy> dally_order(const Settings& settings) {
  return std::make_unique<DallyOrder>(dally_lease(settings), settings.choice("leases", {"own", "common"}) == 1, lease_end_of(settings));
}

TimeUs dally_lease(const Settings& settings) { return settings.millionths("lease_s", kSecond, kMaxTimeUs); }

std::vector<PolicyParam> dally_leases() {
  return {{"lease_s", "3600", "a running job keeps its GPUs for this time, at least 1 s"},
          {"leases", "own", "own: counted from when the job got its GPUs; common: all end at multiples of lease_s"},
          {"lease_end", "offer",
           "what a job does when its lease has ended and no other job takes its GPUs. keep: it keeps them; move: it moves to a tighter "
           "level, where that saves more time than it costs; offer: it gives them up, and is placed like jobs that wait"}};
}

core::DelayRule dally_rule(const Settings& settings) {
  core::DelayRule rule;
  rule.lease_us = dally_lease(settings);
  rule.lease_end = lease_end_of(settings);
  return rule;
}

std::optional<core::DelayRule> dally_timers(const Settings& settings, TimeUs timer) {
  core::DelayRule rule = dally_rule(settings);
  rule.timers.add(timer);
  return rule;
}

}  // namespace berth::policy
