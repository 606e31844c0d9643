#include "host/policy/rounds/gavel_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/choice/share_search.hpp"
#include "host/core/state/state_view.hpp"
#include "host/policy/base/params.hpp"
#include "host/policy/rounds/gavel_rounds.hpp"

namespace berth::policy {
namespace {

constexpr std::int32_t kMostTries = 1'000;  // of prices

class Gavel final : public core::ShapePolicy {
 public:
  Gavel(FairBy fair_by, TimeUs round, bool all, double gap) : fair_by_(fair_by), gap_(gap), rounds_(round, all) {}

  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    set_rows(question);
    set_program(question);
    const core::Shares& shares = search_.solve(program_, std::max(gap_, 1e-6), kMostTries);
    level_ = shares.level;
    bound_ = shares.bound;
    share_ppm_.clear();
    for (const double part : shares.share) share_ppm_.push_back(std::llround(part * 1e6));
    rounds_.choose(question, {row_, share_ppm_, order_}, chosen);
  }

  bool by_shares() const override { return true; }
  void store(PolicyState& kept) const override {
    rounds_.store(kept);
    kept.scalars["level"] = trillionths(level_);
    kept.scalars["level_bound"] = trillionths(bound_);
  }

 private:
  static std::int64_t trillionths(double level) { return static_cast<std::int64_t>(std::min(level * 1e12, 9e18)); }
  void set_rows(const core::ShapeQuestion& question);
  void set_program(const core::ShapeQuestion& question);
  double equal_speed(std::size_t job, double gpus) const;

  FairBy fair_by_;
  double gap_;
  core::ShareProblem program_;
  core::ShareSearch search_;
  double level_ = 0, bound_ = 0;
  std::vector<std::int32_t> row_;        // [jobs][types]
  std::vector<std::int64_t> share_ppm_;  // [jobs][types]
  std::vector<std::int32_t> order_;      // [types] the fastest first
  std::vector<double> all_;              // [types] sum of the jobs' speeds
  GavelRounds rounds_;
};

// On each type the shape with the requested number of GPUs, if the job has one; else the one with the highest speed per GPU.
void Gavel::set_rows(const core::ShapeQuestion& q) {
  const auto n_types = to_index(q.problem.n_types);
  row_.assign(to_index(q.problem.n_jobs) * n_types, -1);
  for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
    const std::int32_t first = q.problem.option_begin[j];
    const std::int32_t asked = q.state.job().gpus[to_index(q.options[to_index(first)].job)];
    for (std::int32_t k = first; k < q.problem.option_begin[j + 1]; ++k) {
      if (q.shapes[to_index(k)].speed <= 0 || q.problem.gpus[k] > q.problem.capacity[q.problem.type[k]]) continue;
      std::int32_t& best = row_[to_index(j) * n_types + to_index(q.problem.type[k])];
      const auto better = [&] {
        if ((q.problem.gpus[k] == asked) != (q.problem.gpus[best] == asked)) return q.problem.gpus[k] == asked;
        return kernel::Wide{q.shapes[to_index(k)].speed} * q.problem.gpus[best] >
               kernel::Wide{q.shapes[to_index(best)].speed} * q.problem.gpus[k];
      };
      if (best < 0 || better()) best = k;
    }
  }
}

// The speed of an equal part of the cluster with `gpus` of its GPUs. A job cannot run for more than all of the time.
double Gavel::equal_speed(std::size_t job, double gpus) const {
  const auto n_types = to_index(program_.n_types);
  double time = 0, speed = 0;
  for (std::size_t t = 0; t < n_types; ++t) {
    const double part = program_.capacity[t] / program_.n_jobs / gpus;
    time += part;
    speed += part * program_.speed[job * n_types + t];
  }
  return time > 1 ? speed / time : speed;
}

void Gavel::set_program(const core::ShapeQuestion& q) {
  const auto n_jobs = to_index(q.problem.n_jobs), n_types = to_index(q.problem.n_types);
  core::ShareProblem& p = program_;
  p.n_jobs = q.problem.n_jobs;
  p.n_types = q.problem.n_types;
  p.capacity.assign(q.problem.capacity, q.problem.capacity + n_types);
  p.gpus.assign(n_jobs * n_types, 0);
  p.speed.assign(n_jobs * n_types, 0);
  p.need.assign(n_jobs, 1);
  p.waited.assign(n_jobs, 0);
  all_.assign(n_types, 0);
  for (std::size_t i = 0; i < row_.size(); ++i) {
    if (row_[i] < 0) continue;
    p.gpus[i] = q.problem.gpus[row_[i]];
    p.speed[i] = static_cast<double>(q.shapes[to_index(row_[i])].speed) / static_cast<double>(kernel::kSpeedUnit);
    all_[i % n_types] += p.speed[i];
  }
  for (std::size_t j = 0; j < n_jobs; ++j) {
    const std::int32_t job_index = q.options[to_index(q.problem.option_begin[j])].job;
    const Job& job = *q.state.jobs()[to_index(job_index)].job;
    const double gpus = std::max(1, q.state.job().gpus[to_index(job_index)]);
    // Remaining time at the speed of the requested shape.
    double left = 0;
    for (std::size_t t = 0; t < n_types && left == 0; ++t) {
      const std::size_t i = j * n_types + t;
      if (row_[i] >= 0) left = static_cast<double>(q.shapes[to_index(row_[i])].run) * p.speed[i] / kSecond;
    }
    if (fair_by_ == FairBy::kSpeed) {
      p.need[j] = equal_speed(j, 1) * (static_cast<double>(job.weight_ppm) / 1e6) / gpus;
    } else if (fair_by_ == FairBy::kRunTime) {
      p.need[j] = left;
    } else {
      const double done = static_cast<double>(q.state.run_now(job_index)) / kSecond;
      const double alone = (done + left) / std::max(equal_speed(j, gpus), 1e-9);
      const double elapsed = static_cast<double>(std::max<TimeUs>(0, q.state.now() - q.state.job().submit[to_index(job_index)])) / kSecond;
      p.need[j] = left / std::max(alone, 1e-9);
      p.waited[j] = elapsed / std::max(alone, 1e-9);
    }
    p.need[j] = std::max(p.need[j], 1e-9);
  }
  order_.resize(n_types);
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    return all_[to_index(a)] != all_[to_index(b)] ? all_[to_index(a)] > all_[to_index(b)] : a < b;
  });
}

}  // namespace

std::vector<PolicyParam> gavel_params() {
  return with_objective("throughput",
                        {{"round_s", "360", "a running job keeps its GPUs for this time"},
                         {"received", "recent",
                          "time that a job has had, to which its share is compared; recent: that of 1,920 s, as in Gavel; all: "
                          "all of it, as in Muri's simulator of Themis"}});
}

std::unique_ptr<core::ShapePolicy> gavel_shapes(const GavelRule& rule, const core::Params& params) {
  const Settings settings(core::find_policy(rule.policy).info, params);
  const TimeUs round = settings.millionths("round_s", 0, std::int64_t{1'000'000'000} * 1'000'000);
  const bool all = settings.choice("received", {"recent", "all"}) == 1;
  return std::make_unique<Gavel>(rule.fair_by, round, all, static_cast<double>(settings.millionths("gap", 0, 1'000'000)) / 1e6);
}

}  // namespace berth::policy
