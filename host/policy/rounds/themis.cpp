// themis: the jobs that are treated worst get the GPUs whose lease has ended.
//
// Measure     finish-time fairness rho = T_shared / T_independent. T_shared: time from submission to the end if the job runs from now
//             on. T_independent: its run time on 1/N of the cluster, N being the jobs of the state; a job with more GPUs than that
//             is slower in proportion. In millionths, rounded down; larger is worse. Not known where its run time is not.
// Leases      a job that gets GPUs has them for `lease_s`; until then no job displaces it. leases=common: all leases end together,
//             at the multiples of `lease_s`.
// Key         first the jobs within their lease. Then, of those that wait or whose lease has ended, the worst ceil((1 - f) x their
//             number) by rho, at least one: they take what they need from the jobs behind them. Then jobs with GPUs that are not
//             among the worst: they keep what is left. Last the other waiting jobs. By rho in each class; equal: by job rank.
// Changes     when a lease ends.
// Keeps       column `lease_from_us`: start of the lease of a job that kept its GPUs beyond the end of an earlier lease.
// Source      Themis (NSDI'20): rho, leases, f, GPUs offered to the worst 1 - f. Lease length and f are remembered values, 20 minutes
//             and 0.8. In the paper apps bid for parts of the offer, an auction maximises the product of their 1/rho, and hidden
//             payments keep bids true. A job of fixed size bids for all it needs or nothing. Our reconstruction: serving by rho
//             instead, which jobs keep what is left, N now instead of its mean over the job's life, and leases=common. Without
//             the latter large jobs wait for leases that never end together.
// Parameters  lease_s, f, leases, and the common ones.

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/policy/base/leases.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {

namespace {

constexpr std::int64_t kWhole = 1'000'000;
// Keys of a class are in a span of this size.
constexpr std::int64_t kSpan = std::int64_t{1} << 61;
enum : std::int64_t { kLeased = 0, kWorst = 1, kKeeps = 2, kLeftOver = 3 };
constexpr std::int64_t kNoRho = -1;
constexpr std::int64_t kMostGpus = std::int64_t{1} << 48;  // keeps products within 128 bits

class Themis final : public core::QueuePolicy {
 public:
  struct Rule {
    TimeUs lease;
    std::int64_t fairness_ppm;
    bool common;
  };
  explicit Themis(Rule rule) : fairness_ppm_(rule.fairness_ppm), leases_(rule.lease, rule.common) {}

  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    leases_.begin(jobs, now, job_indices);
    bidders_.clear();
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      const bool running = jobs.running[job] != 0;
      out[i] = kLeased;
      if (running && !leases_.ended(job)) continue;
      const std::int64_t rho = rho_of(jobs, now, job, static_cast<std::int64_t>(job_indices.size()));
      out[i] = key(running ? kKeeps : kLeftOver, rho);
      bidders_.push_back({rho, job, i});
    }
    offer(jobs, out);
  }

  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      out[i] = jobs.running[job_indices[i]] != 0 ? leases_.end(job_indices[i], now) : kNever;
    }
  }

  TimeUs time_slice() const override { return leases_.length(); }
  bool follows_from_columns() const override { return true; }
  TimeUs slice_from(TimeUs assigned, TimeUs now) const override { return leases_.slice_from(assigned, now); }
  bool reads_cluster() const override { return true; }
  void load(const PolicyState& state) override { leases_.load(state); }
  void store(PolicyState& state) const override { leases_.store(state); }
  void retain(PolicyState& state, const core::LiveJobs& live) const override { leases_.retain(state, live); }

 private:
  struct Bidder {
    std::int64_t rho;
    std::int32_t job;
    std::size_t place;  // position in the batch
  };

  // Larger rho first; not known: last of its class.
  static std::int64_t key(std::int64_t of, std::int64_t rho) { return of * kSpan + (kSpan - 2 - std::min(rho, kSpan - 2)); }

  std::int64_t rho_of(const core::JobColumns& jobs, TimeUs now, std::int32_t job, std::int64_t n) const {
    const TimeUs left = jobs.remaining[job];
    if (left == kNever) return kNoRho;
    const std::int64_t gpus = jobs.gpus[job];
    const TimeUs run = jobs.estimate[job] != kNever ? jobs.estimate[job] : core::saturating_add(jobs.attained_gpu_us[job] / gpus, left);
    const TimeUs alone = std::clamp<TimeUs>(run, 1, kMaxTimeUs);
    const core::Wide shared = core::Wide{std::max<TimeUs>(0, now - jobs.submit[job])} + left;
    // alone x max(1, gpus x N / cluster), with both sides multiplied by the cluster.
    const std::int64_t cluster = std::max<std::int64_t>(1, jobs.cluster_gpus);
    const core::Wide independent = core::Wide{alone} * std::max(cluster, std::min(gpus * n, kMostGpus));
    const core::Wide whole = shared * cluster / independent, rest = shared * cluster % independent;
    return core::saturate(whole * kWhole + rest * kWhole / independent);
  }

  // The worst of the jobs that can gain something.
  void offer(const core::JobColumns& jobs, std::span<std::int64_t> out) {
    const auto worse = [&](const Bidder& a, const Bidder& b) {
      if (a.rho != b.rho) return a.rho > b.rho;
      if (jobs.submit[a.job] != jobs.submit[b.job]) return jobs.submit[a.job] < jobs.submit[b.job];
      return *jobs.id[a.job] < *jobs.id[b.job];
    };
    std::sort(bidders_.begin(), bidders_.end(), worse);
    const auto n = static_cast<std::int64_t>(bidders_.size());
    const std::int64_t offered =
        std::max<std::int64_t>(1, core::saturate(core::ceil_div(core::Wide{kWhole - fairness_ppm_} * n, core::Wide{kWhole})));
    for (std::int64_t i = 0; i < std::min(offered, n); ++i) {
      const Bidder& one = bidders_[static_cast<std::size_t>(i)];
      if (one.rho != kNoRho) out[one.place] = key(kWorst, one.rho);
    }
  }

  std::int64_t fairness_ppm_;
  std::vector<Bidder> bidders_;
  Leases leases_;
};

std::unique_ptr<core::QueuePolicy> make_themis(const core::Params& params) {
  const Settings settings(core::find_policy("themis").info, params);
  return std::make_unique<Themis>(Themis::Rule{settings.millionths("lease_s", 1, kMaxTimeUs), settings.millionths("f", 0, kWhole),
                                               settings.choice("leases", {"own", "common"}) == 1});
}

}  // namespace

core::PolicyEntry themis_policy() {
  return {.info = {.name = "themis",
                   .rule = "worst finish-time fairness first, where leases end",
                   .source = "Themis (NSDI'20), simplified; leases and order of gangs ours",
                   .params = {{"lease_s", "1200", "a running job keeps its GPUs for this time"},
                              {"f", "0.8", "0 to 1: GPUs whose lease has ended are offered to the worst 1 - f of the jobs"},
                              {"leases", "own", "own: counted from when the job got its GPUs; common: all end at multiples of lease_s"}}},
          .preemptive = true,
          .make = make_themis};
}

}  // namespace berth::policy
