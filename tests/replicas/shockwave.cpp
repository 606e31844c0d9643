#include "tests/replicas/shockwave.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "host/io/traces/importers.hpp"
#include "host/io/traces/shockwave_batches.hpp"

namespace berth::test {
namespace {

constexpr double kRound = 120;
constexpr int kWorkers = 32;

struct LiveJob {
  const ShockwaveJob* job = nullptr;
  double done = 0;
  std::size_t batch = 0;
  std::optional<double> share;  // none: it came after the last allocation
  double received = kRound / 2, owed = 0;
  double end_s = 0;  // of its part of the round
  bool runs = false, ran_before = false;

  const ShockwaveJob::Batch& now() const { return job->batches[batch]; }
  double left_s() const { return (job->work - done) / now().rate; }
};

// Jobs of one GPU keep what they got until they end. The others are matched with the rest of the GPUs, one each, so that the sum of times
// until the end is least. GPUs are alike: the shortest come first.
void allocate_allox(std::vector<LiveJob*>& here, const ShockwaveHabits& habits) {
  std::vector<LiveJob*> waiting;
  std::size_t gpus = kWorkers;
  for (LiveJob* job : here) {
    if (!job->share) job->share = 0;
    if (*job->share == 1) {
      --gpus;
    } else {
      waiting.push_back(job);
    }
  }
  const auto part = static_cast<std::size_t>(habits.alpha * static_cast<double>(waiting.size()));
  waiting.resize(std::min(waiting.size(), std::max(part, gpus)));  // they are by arrival
  std::stable_sort(waiting.begin(), waiting.end(), [](const LiveJob* a, const LiveJob* b) { return a->left_s() < b->left_s(); });
  if (waiting.size() > gpus) waiting.resize(gpus);
  for (LiveJob* job : waiting) job->share = habits.share_by_gpus ? 1.0 / job->job->gpus : 1;
}

// A linear program with one constraint: the jobs with the most for a GPU have all the time. Its solver leaves the others a trace.
void allocate_max_sum(std::vector<LiveJob*>& here, const ShockwaveHabits& habits) {
  const auto of_gpu = [&](const LiveJob* job) {
    return (habits.counts_steps ? job->now().steps_rate : job->now().rate / job->job->batches[0].rate) / job->job->gpus;
  };
  std::vector<LiveJob*> order = here;
  std::stable_sort(order.begin(), order.end(), [&](const LiveJob* a, const LiveJob* b) { return of_gpu(a) > of_gpu(b); });
  double left = kWorkers, price = 0;
  for (LiveJob* job : order) {
    job->share = std::min(1.0, left / job->job->gpus);
    left -= *job->share * job->job->gpus;
    if (*job->share > 0 && left <= 0) price = of_gpu(job);
  }
  for (LiveJob* job : order) {
    if (*job->share == 0) job->share = 1e-9 / std::max(1e-9, (price - of_gpu(job)) * job->job->gpus);
  }
}

class ShockwaveReplay {
 public:
  ShockwaveReplay(const std::vector<ShockwaveJob>& jobs, ShockwavePolicy policy, const ShockwaveHabits& habits)
      : policy_(policy), habits_(habits) {
    for (const ShockwaveJob& job : jobs) live_.emplace_back().job = &job;
  }

  ShockwaveFigures run() {
    double now = live_.empty() ? 0 : live_[0].job->submit_s, sum = 0;
    for (std::size_t next = 0; next < live_.size() || !here_.empty();) {
      const bool ran = std::any_of(here_.begin(), here_.end(), [](const LiveJob* job) { return job->runs; });
      if (ran) {
        const double from = std::exchange(now, last_end());
        work(from);
        sum += leave();
      } else {
        if (next == live_.size()) allocated_at_ = 0;  // all wait for an allocation
        if (next < live_.size()) now = std::max(now, live_[next].job->submit_s);
      }
      for (; next < live_.size() && live_[next].job->submit_s <= now; ++next) {
        here_.push_back(&live_[next]);
        changed_ = true;
      }
      if (here_.empty()) continue;
      if (changed_ && (now - allocated_at_ >= habits_.between_allocations_s || allocated_at_ == 0)) allocate(now);
      start_round(now);
    }
    return {sum / static_cast<double>(live_.size()), now};
  }

 private:
  // A round lasts as long as its last job.
  double last_end() const {
    double end = 0;
    for (const LiveJob* job : here_) end = std::max(end, job->runs ? job->end_s : 0);
    return end;
  }

  void work(double from) {
    for (LiveJob* job : here_) {
      const bool runs = std::exchange(job->runs, false);
      if (runs) {
        const double full = job->end_s - from;
        const bool pays = !job->ran_before && full > kRound - 5 && !first_round_;
        const double useful = full - (pays ? habits_.start_s : 0);
        job->done += std::min(job->job->work - job->done, full * job->now().rate) * useful / full;
        job->received += useful;
        time_ += useful;
        std::size_t batch = job->batch;
        while (batch + 1 < job->job->batches.size() && job->job->batches[batch + 1].from <= job->done) ++batch;
        changed_ = changed_ || batch != job->batch;
        job->batch = batch;
      }
      job->ran_before = runs;
    }
    first_round_ = false;
  }

  double leave() {
    double sum = 0;
    std::erase_if(here_, [&](const LiveJob* job) {
      if (job->job->work - job->done > 1e-6) return false;
      sum += job->end_s - job->job->submit_s;
      changed_ = true;
      return true;
    });
    return sum;
  }

  void allocate(double now) {
    time_ = 0;
    for (LiveJob* job : here_) {
      job->owed += job->share.value_or(0) * (now - allocated_at_) - (job->received - kRound / 2);
      job->received = kRound / 2;
      time_ += kRound / 2;
    }
    allocated_at_ = now;
    changed_ = false;
    policy_ == ShockwavePolicy::kAllox ? allocate_allox(here_, habits_) : allocate_max_sum(here_, habits_);
  }

  void start_round(double now) {
    using Rank = std::tuple<double, double, double>;
    std::vector<std::pair<Rank, LiveJob*>> order;
    for (LiveJob* job : here_) {
      const double share = job->share.value_or(0);
      order.push_back({{share * time_ / job->received, job->owed, share}, job});
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    int left = kWorkers;
    for (const auto& [rank, job] : order) {
      if (job->job->gpus > left) continue;
      left -= job->job->gpus;
      if (!job->share && habits_.waits_for_allocation) continue;
      job->runs = true;
      job->end_s = now + std::min(kRound, job->left_s());
    }
  }

  ShockwavePolicy policy_;
  ShockwaveHabits habits_;
  std::vector<LiveJob> live_;
  std::vector<LiveJob*> here_;  // by submission
  bool changed_ = false, first_round_ = true;
  double allocated_at_ = 0;
  double time_ = 0;  // that all jobs have received since then
};

}  // namespace

std::vector<ShockwaveJob> read_shockwave_jobs(const std::vector<std::string>& files) {
  const Trace trace = io::import_trace("shockwave", files);
  const std::map<std::string, Profile> profiles(trace.profiles.begin(), trace.profiles.end());
  std::vector<ShockwaveJob> jobs;
  for (const TraceJob& traced : trace.jobs) {
    ShockwaveJob& job = jobs.emplace_back();
    job.submit_s = static_cast<double>(traced.submit_us) / kSecond;
    job.gpus = traced.gpus;
    job.work = static_cast<double>(traced.work) / 1e6;
    job.run_s = static_cast<double>(traced.run_us) / kSecond;
    const double first = io::batched_model(traced.model).batch;
    const auto add = [&](std::int64_t from, const std::string& name) {
      for (const RatePoint& point : profiles.at(name).points) {
        if (point.gpu_type != "V100" || point.gpus != traced.gpus) continue;
        const double rate = static_cast<double>(point.rate) / 1e6, batch = io::batched_model(name.substr(0, name.find(','))).batch;
        job.batches.push_back({static_cast<double>(from) / 1e6, rate, rate * first / batch});
        return;
      }
      throw std::runtime_error("no rate of " + name);
    };
    add(0, traced.profile);
    for (const TracePhase& phase : traced.phases) add(phase.from, phase.profile);
  }
  return jobs;
}

ShockwaveFigures replay_shockwave(const std::vector<ShockwaveJob>& jobs, ShockwavePolicy policy, const ShockwaveHabits& habits) {
  return ShockwaveReplay(jobs, policy, habits).run();
}

}  // namespace berth::test
