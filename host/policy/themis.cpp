// themis: who is treated worst gets the GPUs whose lease has ended.
//
// Measure     finish-time fairness rho = T_shared / T_independent. T_shared: from submission to the end, should the job run from now on.
//             T_independent: its run time on one Nth of the cluster, N being the jobs of the state; a job that asks for more GPUs than
//             that is slower in proportion. In millionths, rounded down; larger is worse. Not known where its run time is not.
// Leases      a job that gets GPUs has them for `lease_s`; until then nobody displaces it. leases=common: they end together, at the
//             multiples of `lease_s`.
// Key         first who is within its lease. Then, of those that wait or whose lease has ended, the worst ceil((1 - f) x their number) by
//             rho, at least one: they take what they need from those behind them. Then who has GPUs and is not among the worst: it keeps
//             what none of those took. Last the other waiting jobs, which take what is left over. By rho in each; equal: by job rank.
// Changes     when a lease ends.
// Keeps       column `lease_from_us`: when the lease of a job began that kept its GPUs beyond the end of an earlier one.
// Source      Themis (NSDI'20): rho, leases, f, GPUs offered to the worst 1 - f. Length of the lease and f as remembered, 20 minutes and
//             0.8. There apps bid for parts of the offer, an auction makes the product of their 1/rho great, and hidden payments keep
//             bids true. A job of fixed size bids for all it needs or nothing: serving by rho instead, who keeps what is left over, N now
//             instead of its mean while the job is there, and leases=common, without which large jobs wait for leases that never end
//             together, are our reconstruction.
// Parameters  lease_s, f, leases, and the common ones.

#include <algorithm>

#include "host/core/at.hpp"
#include "host/core/wide.hpp"
#include "host/policy/job_column.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {

core::PolicyEntry themis_policy();

namespace {

constexpr std::int64_t kWhole = 1'000'000;
// Keys of a class lie in a span of this size.
constexpr std::int64_t kSpan = std::int64_t{1} << 61;
enum : std::int64_t { kLeased = 0, kWorst = 1, kKeeps = 2, kLeftOver = 3 };
constexpr std::int64_t kNoRho = -1;
constexpr std::int64_t kMostGpus = std::int64_t{1} << 48;  // so that products stay within 128 bits

class Themis final : public core::QueuePolicy {
 public:
  struct Rule {
    TimeUs lease;
    std::int64_t fairness_ppm;
    bool common;
  };
  explicit Themis(Rule rule) : rule_(rule) {}

  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> slots, std::span<std::int64_t> out) override {
    begin_leases(jobs, now, slots);
    bidders_.clear();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::int32_t slot = slots[i];
      const bool running = jobs.running[slot] != 0;
      out[i] = kLeased;
      if (running && ended_[at(slot)] == 0) continue;
      const std::int64_t rho = rho_of(jobs, now, slot, static_cast<std::int64_t>(slots.size()));
      out[i] = key(running ? kKeeps : kLeftOver, rho);
      bidders_.push_back({rho, slot, i});
    }
    offer(jobs, out);
  }

  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> slots, std::span<TimeUs> out) override {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::int32_t slot = slots[i];
      // Who starts with this decision has no lease yet.
      const TimeUs from = at(slot) < from_.size() && from_[at(slot)] != kNever ? from_[at(slot)] : now;
      out[i] = jobs.running[slot] != 0 ? end_of(from) : kNever;
    }
  }

  TimeUs turn() const override { return rule_.lease; }
  bool reads_cluster() const override { return true; }
  void load(const PolicyState& state) override { kept_.load(state); }
  void store(PolicyState& state) const override { kept_.store(state); }
  void retain(PolicyState& state, const core::LiveJobs& live) const override { kept_.retain(state, live); }

 private:
  struct Bidder {
    std::int64_t rho;
    std::int32_t slot;
    std::size_t place;  // in the batch
  };

  // Larger rho first; not known: last of the class.
  static std::int64_t key(std::int64_t of, std::int64_t rho) { return of * kSpan + (kSpan - 2 - std::min(rho, kSpan - 2)); }

  TimeUs end_of(TimeUs from) const { return core::saturating_add(rule_.common ? from / rule_.lease * rule_.lease : from, rule_.lease); }

  // When the lease of each running job began. One that has ended begins anew now: whoever is displaced loses it with its GPUs.
  void begin_leases(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> slots) {
    for (const std::int32_t slot : slots) {
      if (from_.size() <= at(slot)) {
        from_.resize(at(slot) + 1);
        ended_.resize(at(slot) + 1);
      }
      TimeUs& from = from_[at(slot)];
      from = kNever;
      ended_[at(slot)] = 0;
      if (jobs.running[slot] == 0) continue;
      const TimeUs kept = kept_.get(*jobs.id[slot], -1), assigned = jobs.assigned[slot];
      from = std::max<TimeUs>(kept, assigned == kNever ? -1 : assigned);
      // What is not known, or lies ahead, is in the hands of whoever asks: such a lease has ended.
      if (from >= 0 && from <= now && end_of(from) > now) continue;
      from = now;
      ended_[at(slot)] = 1;
      kept_.set(*jobs.id[slot], now);
    }
  }

  std::int64_t rho_of(const core::JobColumns& jobs, TimeUs now, std::int32_t slot, std::int64_t n) const {
    const TimeUs left = jobs.remaining[slot];
    if (left == kNever) return kNoRho;
    const std::int64_t gpus = jobs.gpus[slot];
    const TimeUs run = jobs.estimate[slot] != kNever ? jobs.estimate[slot] : core::saturating_add(jobs.attained_gpu_us[slot] / gpus, left);
    const TimeUs alone = std::clamp<TimeUs>(run, 1, kMaxTimeUs);
    const core::Wide shared = core::Wide{std::max<TimeUs>(0, now - jobs.submit[slot])} + left;
    // alone x max(1, gpus x N / cluster), both sides times the cluster.
    const std::int64_t cluster = std::max<std::int64_t>(1, jobs.cluster_gpus);
    const core::Wide independent = core::Wide{alone} * std::max(cluster, std::min(gpus * n, kMostGpus));
    const core::Wide whole = shared * cluster / independent, rest = shared * cluster % independent;
    return core::saturate(whole * kWhole + rest * kWhole / independent);
  }

  // The worst of those that have something to gain.
  void offer(const core::JobColumns& jobs, std::span<std::int64_t> out) {
    const auto worse = [&](const Bidder& a, const Bidder& b) {
      if (a.rho != b.rho) return a.rho > b.rho;
      if (jobs.submit[a.slot] != jobs.submit[b.slot]) return jobs.submit[a.slot] < jobs.submit[b.slot];
      return *jobs.id[a.slot] < *jobs.id[b.slot];
    };
    std::sort(bidders_.begin(), bidders_.end(), worse);
    const auto n = static_cast<std::int64_t>(bidders_.size());
    const std::int64_t offered =
        std::max<std::int64_t>(1, core::saturate(core::ceil_div(core::Wide{kWhole - rule_.fairness_ppm} * n, core::Wide{kWhole})));
    for (std::int64_t i = 0; i < std::min(offered, n); ++i) {
      const Bidder& one = bidders_[static_cast<std::size_t>(i)];
      if (one.rho != kNoRho) out[one.place] = key(kWorst, one.rho);
    }
  }

  Rule rule_;
  std::vector<TimeUs> from_;         // [slots] of the running jobs of the last `keys`; kNever: none
  std::vector<std::uint8_t> ended_;  // [slots] 1: runs, and the lease has ended
  std::vector<Bidder> bidders_;
  JobColumn kept_{"lease_from_us"};
};

std::unique_ptr<core::QueuePolicy> make_themis(const core::Params& params) {
  const Settings settings(themis_policy().info, params);
  return std::make_unique<Themis>(Themis::Rule{settings.millionths("lease_s", 1, kMaxTimeUs), settings.millionths("f", 0, kWhole),
                                               settings.choice("leases", {"own", "common"}) == 1});
}

}  // namespace

core::PolicyEntry themis_policy() {
  return {
      {"themis", "worst finish-time fairness first, where leases end", "Themis (NSDI'20), simplified; leases and order of gangs ours",
       "skip", true,
       with_common("skip", {{"lease_s", "1200", "seconds for which a job keeps GPUs that it gets"},
                            {"f", "0.8", "0 to 1: GPUs whose lease has ended are offered to the worst 1 - f of the jobs"},
                            {"leases", "own", "own: counted from when the job got its GPUs; common: all end at multiples of lease_s"}})},
      kernel::Discipline::kSkip,
      true,
      false,
      make_themis};
}

}  // namespace berth::policy
