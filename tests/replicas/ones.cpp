#include "tests/replicas/ones.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include "host/sim/generate/synthetic_jobs.hpp"

namespace berth::test {
namespace {

constexpr int kGpus = 64;
constexpr int kPopulation = 16;
constexpr double kCrossover = 0.5, kMutation = 0.3;
constexpr int kOld = 2;  // epochs from which on a job may change
constexpr int kFree = -1;

using Schedule = std::vector<int>;  // the job on each GPU
using Counts = std::vector<int>;    // of each job

enum class Status { kToCome, kNew, kRunning, kStopped, kComplete };

struct Worker {
  const OnesJob* job = nullptr;
  Status status = Status::kToCome;
  double done = 0, in_epoch = 0;  // samples
  int epochs = 0;                 // completed
  int stamp = 0;                  // epochs when it was last scheduled
  int size = 0;                   // GPUs
  int old_size = 0;               // those on which it trains on until `pauses_s`
  int most = 1;
  int saved = 0;         // of a stopped job: the GPUs it may have
  int head_room = 0;     // of a running job, may be negative
  bool changes = false;  // of GPUs, at `pauses_s`
  double pauses_s = 0, ready_s = 0;
  double began_s = 0, run_s = 0;
  std::set<int> seen;  // sizes at which an epoch was measured
  double left = 0;     // samples, as drawn in this generation

  double total() const { return job->epochs * job->epoch_size; }
  double true_rate(int gpus) const { return gpus == 0 ? 0 : job->rate[std::min(static_cast<std::size_t>(gpus), job->rate.size()) - 1]; }
  /// Straight lines through 0 and the sizes that were seen.
  double rate(int gpus) const {
    if (seen.count(gpus) != 0) return true_rate(gpus);
    int low = 0, high = 0;
    for (const int known : seen) {
      low = std::exchange(high, known);
      if (known > gpus) break;
    }
    const double slope = (true_rate(high) - true_rate(low)) / (high - low);
    return std::max(1e-3, true_rate(low) + slope * (gpus - low));
  }
};

class Cluster {
 public:
  Cluster(const std::vector<OnesJob>& jobs, std::uint64_t seed, const OnesCosts& costs, const OnesHabits& habits)
      : costs_(costs), habits_(habits), random_(seed), deployed_(kGpus, kFree) {
    for (const OnesJob& job : jobs) workers_.emplace_back().job = &job;
  }

  OnesFigures run() {
    std::size_t ended = 0;
    while (ended < workers_.size()) {
      if (now_ > 1e6) throw std::runtime_error("the replay does not end");
      advance(now_ + costs_.period_s);
      bool active = false;
      ended = 0;
      for (const Worker& w : workers_) {
        ended += w.status == Status::kComplete ? 1 : 0;
        active = active || (w.status != Status::kComplete && w.status != Status::kToCome);
      }
      if (active) generation();
    }
    std::sort(figures_.jct_s.begin(), figures_.jct_s.end());
    const auto n = static_cast<double>(workers_.size());
    figures_.mean_s = std::accumulate(figures_.jct_s.begin(), figures_.jct_s.end(), 0.0) / n;
    for (const Worker& w : workers_) figures_.run_s += w.run_s / n;
    figures_.utilisation /= kGpus * figures_.makespan_s;
    return std::move(figures_);
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>()(random_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Worker& at(int job) { return workers_[static_cast<std::size_t>(job)]; }
  bool old(int job) { return at(job).epochs >= kOld; }

  // --- time ---

  void advance(double until) {
    for (Worker& w : workers_) {
      if (w.status == Status::kToCome && w.job->submit_s <= until) w.status = Status::kNew;
      if (w.status != Status::kRunning) continue;
      if (now_ < w.pauses_s) train(w, now_, std::min(until, w.pauses_s), w.old_size);
      if (w.status == Status::kRunning && w.changes && until > w.pauses_s) interrupt(w);
      if (w.status == Status::kRunning && until > w.ready_s) train(w, std::max(now_, w.ready_s), until, w.size);
    }
    now_ = until;
  }

  void train(Worker& w, double from, double until, int size) {
    const double rate = w.true_rate(size);
    while (from < until && rate > 0) {
      const double need = std::min(w.job->epoch_size - w.in_epoch, w.total() - w.done);
      const double worked = std::min(need, (until - from) * rate);
      w.done += worked;
      w.in_epoch += worked;
      from += worked / rate;
      if (worked < need) return;
      end_epoch(w, size);
      if (w.done < w.total() * (1 - 1e-12)) continue;
      w.status = Status::kComplete;
      figures_.jct_s.push_back(from - w.job->submit_s);
      figures_.makespan_s = std::max(figures_.makespan_s, from);
      leave(w, from);
      return;
    }
  }

  static void end_epoch(Worker& w, int size) {
    ++w.epochs;
    w.in_epoch = 0;
    w.seen.insert(size);
  }

  /// A job pauses to change its GPUs: half an epoch counts as one, and less is not counted.
  static void interrupt(Worker& w) {
    if (w.in_epoch * 2 >= w.job->epoch_size) end_epoch(w, w.old_size);
    w.in_epoch = 0;
    w.old_size = w.size;
    w.changes = false;
  }

  void leave(Worker& w, double when) {
    w.run_s += when - w.began_s;
    figures_.utilisation += (when - w.began_s) * w.size;
  }

  // --- limits ---

  double run_time(const Worker& w) const { return w.run_s + (w.status == Status::kRunning ? now_ - w.began_s : 0); }

  double median_run_time() const {
    std::vector<double> times;
    for (const Worker& w : workers_) {
      if (w.status != Status::kToCome && w.status != Status::kNew) times.push_back(run_time(w));
    }
    std::sort(times.begin(), times.end());
    const std::size_t n = times.size();
    return n == 0 ? 0 : (times[(n - 1) / 2] + times[n / 2]) / 2;
  }

  void scale() {
    Worker* largest = nullptr;
    for (Worker& w : workers_) {
      if (w.status != Status::kRunning || w.epochs < kOld) continue;
      if (w.size == w.most) w.most = std::min(kGpus, 2 * w.most);
      w.head_room = std::min(w.most, 4 * w.job->gpus) - w.size;
      if (largest == nullptr || w.size > largest->size) largest = &w;
    }
    if (largest == nullptr || largest->size < kGpus / 2) return;
    const double time = run_time(*largest), median = median_run_time();
    if (time <= median) return;
    const int most = std::max(1, static_cast<int>(2 * largest->size / (time / median + 1)));
    largest->head_room = (most / 2 + most % 2) * 2 - largest->size;
  }

  int limit(int job) {
    const Worker& w = at(job);
    return w.status == Status::kRunning ? w.size + w.head_room : w.status == Status::kStopped ? w.saved : 0;
  }

  // --- evolution ---

  double beta(double a, double b) {
    const double x = std::gamma_distribution<double>(a)(random_), y = std::gamma_distribution<double>(b)(random_);
    return x / (x + y);
  }

  void predict() {
    executed_.clear();
    for (std::size_t j = 0; j < workers_.size(); ++j) {
      Worker& w = workers_[j];
      if ((w.status != Status::kRunning && w.status != Status::kStopped) || w.epochs < kOld) continue;
      const double to_go = costs_.predicts ? std::max(1.0, w.job->epochs - w.done / w.job->epoch_size) : 1;
      w.left = w.done * (1 / (beta(w.done / w.job->epoch_size, to_go) + 1e-12) - 1);
      executed_.push_back(static_cast<int>(j));
    }
    std::stable_sort(executed_.begin(), executed_.end(),
                     [&](int a, int b) { return at(a).left / at(a).rate(1) < at(b).left / at(b).rate(1); });
  }

  Schedule refreshed(Schedule s) {
    Counts counts(workers_.size());
    for (int& job : s) {
      if (job == kFree) continue;
      int& count = counts[static_cast<std::size_t>(job)];
      if (at(job).status == Status::kComplete || (count > 0 && count >= limit(job))) {
        job = kFree;
      } else {
        ++count;
      }
    }
    return s;
  }

  std::pair<Schedule, Schedule> crossed(const Schedule& a, const Schedule& b) {
    std::pair<Schedule, Schedule> both{Schedule(kGpus, kFree), Schedule(kGpus, kFree)};
    Counts first(workers_.size()), second(workers_.size());
    const auto put = [&](Schedule& s, Counts& counts, std::size_t gpu, int job) {
      if (job == kFree || counts[static_cast<std::size_t>(job)] >= limit(job)) return;
      s[gpu] = job;
      ++counts[static_cast<std::size_t>(job)];
    };
    for (std::size_t gpu = 0; gpu < kGpus; ++gpu) {
      const bool swaps = uniform() < kCrossover;
      put(both.first, first, gpu, swaps ? b[gpu] : a[gpu]);
      put(both.second, second, gpu, swaps ? a[gpu] : b[gpu]);
    }
    return both;
  }

  Schedule mutated(Schedule s) {
    std::map<int, bool> stays;
    for (int& job : s) {
      if (job == kFree) continue;
      const auto [known, fresh] = stays.try_emplace(job);
      if (fresh) known->second = uniform() >= kMutation || !old(job);
      if (!known->second) job = kFree;
    }
    return s;
  }

  Counts filled(const Schedule& s) {
    Counts counts(workers_.size());
    int idle = kGpus;
    for (const int job : s) {
      if (job == kFree) continue;
      ++counts[static_cast<std::size_t>(job)];
      --idle;
    }
    for (std::size_t j = 0; j < workers_.size() && idle > 0; ++j) {
      const Worker& w = workers_[j];
      const bool added = w.status == Status::kNew || (!habits_.loses_fresh && w.status == Status::kRunning && w.epochs < kOld);
      if (!added || counts[j] > 0) continue;
      counts[j] = 1;
      --idle;
    }
    for (const bool beyond : {false, true}) {
      for (const int job : executed_) {
        int& count = counts[static_cast<std::size_t>(job)];
        const int more = std::clamp((beyond ? at(job).most : limit(job)) - count, 0, idle);
        count += more;
        idle -= more;
      }
    }
    return counts;
  }

  double score(const Counts& counts) {
    double sum = 0;
    for (const int job : executed_) {
      const int count = counts[static_cast<std::size_t>(job)];
      if (count > 0) sum += count * at(job).left / at(job).rate(count);
    }
    return sum;
  }

  /// Blocks near the deployed ones: the published table, one list for each state.
  Schedule reordered(const Counts& counts) {
    std::vector<int> jobs;
    for (std::size_t j = 0; j < counts.size(); ++j) {
      if (counts[j] > 0) jobs.push_back(static_cast<int>(j));
    }
    const std::size_t m = jobs.size();
    std::vector<std::vector<int>> other(m, std::vector<int>(kGpus + 1));  // deployed to another job, before each GPU
    for (std::size_t k = 0; k < m; ++k) {
      for (std::size_t x = 0; x < kGpus; ++x) {
        other[k][x + 1] = other[k][x] + (deployed_[x] != kFree && deployed_[x] != jobs[k] ? 1 : 0);
      }
    }
    struct State {
      int cost = std::numeric_limits<int>::max();
      std::uint64_t used = 0;
      std::size_t from = 0, last = 0;  // GPUs before the last block, and its place in `jobs`
    };
    // At most kGpus jobs have a block, so that one word holds those of a state.
    std::vector<std::vector<State>> table(kGpus + 1, std::vector<State>(m + 1));
    table[0][0].cost = 0;
    for (std::size_t i = 1; i <= kGpus; ++i) {
      for (std::size_t k = 0; k <= m; ++k) {
        const State* from = &table[i - 1][k];
        int least = from->cost;
        std::size_t placed = m;
        for (std::size_t j = 0; k > 0 && j < m; ++j) {
          const auto count = static_cast<std::size_t>(counts[static_cast<std::size_t>(jobs[j])]);
          if (count > i) continue;
          const State& before = table[i - count][k - 1];
          if (before.cost == std::numeric_limits<int>::max() || (before.used >> j & 1U) != 0) continue;
          const int cost = before.cost + other[j][i] - other[j][i - count];
          if (cost >= least) continue;
          least = cost;
          from = &before;
          placed = j;
        }
        if (least == std::numeric_limits<int>::max()) continue;
        State& state = table[i][k];
        state = *from;
        state.cost = least;
        if (placed == m) continue;
        state.used |= std::uint64_t{1} << placed;
        state.from = i - static_cast<std::size_t>(counts[static_cast<std::size_t>(jobs[placed])]);
        state.last = placed;
      }
    }
    Schedule s(kGpus, kFree);
    if (table[kGpus][m].cost != std::numeric_limits<int>::max()) {
      const State* state = &table[kGpus][m];
      for (std::size_t k = m; k > 0; --k, state = &table[state->from][k]) {
        const int job = jobs[state->last];
        std::fill_n(s.begin() + static_cast<std::ptrdiff_t>(state->from), counts[static_cast<std::size_t>(job)], job);
      }
      return s;
    }
    // Ours: the table holds one list a state and may miss all orders. In the deployed order then, and others after them.
    std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) {
      return std::find(deployed_.begin(), deployed_.end(), a) < std::find(deployed_.begin(), deployed_.end(), b);
    });
    auto to = s.begin();
    for (const int job : jobs) to = std::fill_n(to, counts[static_cast<std::size_t>(job)], job);
    return s;
  }

  void generation() {
    ++figures_.generations;
    predict();
    scale();
    for (int& job : deployed_) {
      if (job != kFree && at(job).status == Status::kComplete) job = kFree;
    }
    if (population_.empty()) population_.assign(kPopulation, Schedule(kGpus, kFree));
    std::vector<Schedule> pool;
    for (const Schedule& s : population_) pool.push_back(refreshed(s));
    for (int pair = 0; pair < kPopulation / 2; ++pair) {
      const int a = below(kPopulation), b = (a + 1 + below(kPopulation - 1)) % kPopulation;
      auto both = crossed(pool[static_cast<std::size_t>(a)], pool[static_cast<std::size_t>(b)]);
      pool.push_back(std::move(both.first));
      pool.push_back(std::move(both.second));
    }
    for (std::size_t k = 0; k < kPopulation; ++k) pool.push_back(mutated(pool[k]));
    std::vector<std::pair<double, Counts>> scored;
    for (const Schedule& s : pool) {
      Counts counts = filled(s);
      const double points = score(counts);
      scored.emplace_back(points, std::move(counts));
    }
    std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::map<Counts, Schedule> known;  // many are alike
    for (std::size_t k = 0; k < kPopulation; ++k) {
      const auto [found, fresh] = known.try_emplace(scored[k].second);
      if (fresh) found->second = reordered(found->first);
      population_[k] = found->second;
    }
    deploy(population_.front());
  }

  // --- deployment ---

  /// The GPUs of each job.
  static std::map<int, std::vector<int>> places(const Schedule& s) {
    std::map<int, std::vector<int>> gpus;
    for (int gpu = 0; gpu < kGpus; ++gpu) {
      const int job = s[static_cast<std::size_t>(gpu)];
      if (job != kFree) gpus[job].push_back(gpu);
    }
    return gpus;
  }

  void deploy(const Schedule& best) {
    const auto now = places(deployed_);
    auto then = places(best);
    std::set<int> changed;
    Schedule next = deployed_;
    for (auto it = then.begin(); it != then.end();) {
      const auto& [job, gpus] = *it;
      const bool idle = std::all_of(gpus.begin(), gpus.end(), [&](int gpu) { return deployed_[static_cast<std::size_t>(gpu)] == kFree; });
      if (!idle || now.count(job) != 0) {
        ++it;
        continue;
      }
      for (const int gpu : gpus) next[static_cast<std::size_t>(gpu)] = job;
      start(job, static_cast<int>(gpus.size()));
      changed.insert(job);
      it = then.erase(it);
    }
    const auto same = [&](int job, const std::vector<int>& gpus) {
      const auto found = then.find(job);
      return found != then.end() && (habits_.moves_count ? found->second == gpus : found->second.size() == gpus.size());
    };
    bool may = true;
    for (const auto& [job, gpus] : now) may = may && (same(job, gpus) || at(job).stamp + 1 <= at(job).epochs);
    if (may) {
      for (const auto& [job, gpus] : now) {
        if (same(job, gpus)) then.erase(job);
      }
      if (habits_.halves_waiting) halve_waiting(then);
      for (const auto& [job, gpus] : now) {
        const bool stays = std::find(best.begin(), best.end(), job) != best.end();
        if (!stays) stop(job);
      }
      for (const auto& [job, gpus] : then) {
        changed.insert(job);
        const auto before = now.find(job);
        if (before == now.end()) {
          start(job, static_cast<int>(gpus.size()));
        } else {
          resize(job, before->second, gpus);
        }
      }
      next = best;
    }
    if (next == deployed_) return;
    ++figures_.updates;
    deployed_ = next;
    double until = now_;
    for (const int job : changed) until = std::max(until, at(job).ready_s);
    if (habits_.blocks) advance(until);
    for (const auto& [job, gpus] : places(deployed_)) {
      if (habits_.stamps_all || changed.count(job) != 0) at(job).stamp = at(job).epochs;
    }
  }

  void halve_waiting(const std::map<int, std::vector<int>>& then) {
    for (std::size_t j = 0; j < workers_.size(); ++j) {
      Worker& w = workers_[j];
      if (w.status != Status::kStopped || w.saved <= 1 || then.count(static_cast<int>(j)) != 0) continue;
      w.saved /= 2;
      w.most = w.saved;
    }
  }

  void start(int job, int size) {
    Worker& w = at(job);
    if (w.done == 0) w.epochs = habits_.counts_first_evaluation ? 1 : 0;
    w.status = Status::kRunning;
    w.size = w.old_size = size;
    w.head_room = 0;
    w.began_s = now_;
    w.pauses_s = now_;
    w.ready_s = now_ + costs_.start_s;
  }

  void stop(int job) {
    ++figures_.stops;
    Worker& w = at(job);
    leave(w, now_);
    interrupt(w);
    w.status = w.epochs < kOld ? Status::kNew : Status::kStopped;
    w.saved = w.most;
  }

  void resize(int job, const std::vector<int>& before, const std::vector<int>& after) {
    Worker& w = at(job);
    ++(before.size() == after.size() ? figures_.moves : figures_.resizes);
    const bool grows = !std::includes(before.begin(), before.end(), after.begin(), after.end());
    leave(w, now_);
    w.began_s = now_;
    if (w.changes) interrupt(w);
    w.old_size = static_cast<int>(before.size());
    w.changes = true;
    w.size = static_cast<int>(after.size());
    w.head_room = 0;
    w.pauses_s = std::max(w.ready_s, now_) + (grows ? costs_.start_s : 0);
    w.ready_s = w.pauses_s + costs_.resize_s;
  }

  const OnesCosts costs_;
  const OnesHabits habits_;
  std::mt19937_64 random_;
  std::vector<Worker> workers_;
  double now_ = 0;
  std::vector<int> executed_;  // jobs with a prediction, by the time left on one GPU
  Schedule deployed_;
  std::vector<Schedule> population_;
  OnesFigures figures_;
};

}  // namespace

std::vector<OnesJob> draw_ones_replica(std::int64_t jobs, std::uint64_t seed) {
  sim::SyntheticOptions options;
  options.workload = sim::Workload::kOnes;
  options.jobs = jobs;
  options.load_ppm = 0;
  options.seed = seed;
  sim::SyntheticJobs drawn(options);
  const TraceProfiles profiles = drawn.profiles();
  std::vector<OnesJob> all;
  while (const TraceJob* const job = drawn.next()) {
    OnesJob& one = all.emplace_back();
    one.submit_s = static_cast<double>(job->submit_us) / 1e6;
    one.gpus = job->gpus;
    one.epochs = static_cast<double>(job->epochs_micro) / 1e6;
    one.epoch_size = static_cast<double>(job->dataset_size);
    for (const auto& [name, profile] : profiles) {
      if (name != job->profile) continue;
      for (const RatePoint& point : profile.points) one.rate.push_back(static_cast<double>(point.rate) / 1e6);
    }
  }
  return all;
}

OnesFigures replay_ones(const std::vector<OnesJob>& jobs, std::uint64_t seed, const OnesCosts& costs, const OnesHabits& habits) {
  return Cluster(jobs, seed, costs, habits).run();
}

}  // namespace berth::test
