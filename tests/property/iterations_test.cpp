// Iterations beside a simulation of every microsecond, written from docs/simulation-reference.md: no events, and no job is ever alone on
// its GPUs.
#include "host/sim/iterations/iterations.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/random.hpp"

namespace berth::sim::iterations_test {
namespace {

using test::Random;

constexpr std::int64_t kUnit = 1'000'000;
constexpr std::int64_t kByteUs = 1, kContentionUs = 1;

struct TickedJob {
  TimeUs comes = 0, works_from = 0, goes = kNever;
  IterationForm form;
  std::vector<Iterations::Place> places;
  std::int64_t iterations = 0;
  Costs costs;

  std::vector<int> stage;     // [workers]; number of stages: at the barrier
  std::vector<TimeUs> until;  // [workers] end of the stage, 0: does not run
  std::vector<TimeUs> ready;  // [workers] since when it is ready
  std::int64_t done = 0, saved = 0;
  TimeUs begun = 0, since_save = 0, saves_until = 0;
  bool waits_for_cards = false, exchanges = false;
  std::int64_t bytes = 0, sharing = 1;
  TimeUs rate_since = 0;
  TimeUs ended = kNever;
  bool here = false;
  bool spread() const {
    return form.bytes > 0 && std::any_of(places.begin(), places.end(), [&](const auto& p) { return p.node != places[0].node; });
  }
  bool on(int node) const {
    return std::any_of(places.begin(), places.end(), [&](const auto& p) { return p.node == node; });
  }
  std::int64_t service() const {
    TimeUs sum = 0;
    for (const TimeUs s : form.stage_us) sum += s;
    return (iterations - done) * sum * static_cast<std::int64_t>(places.size());
  }
};

class Ticks {
 public:
  Ticks(std::vector<TickedJob>& jobs, IterationRules rules, int nodes, int gpus) : jobs_(jobs), rules_(rules), nodes_(nodes), gpus_(gpus) {}

  void run() {
    for (now_ = 0; std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& j) { return j.ended == kNever && j.goes >= now_; }); ++now_) {
      for (TickedJob& job : jobs_) {
        if (job.here) move(job);
        if (job.here && now_ == job.works_from) begin(job);
      }
      settle_instant();
      for (TickedJob& job : jobs_) {
        if (now_ == job.goes) job.here = false;
      }
      settle_instant();
      for (TickedJob& job : jobs_) {
        if (now_ != job.comes) continue;
        job.here = true;
        if (now_ == job.works_from) begin(job);
      }
      settle_instant();
    }
  }

 private:
  void begin(TickedJob& job) {
    job.begun = now_;
    job.stage.assign(job.places.size(), -1);
    job.until.assign(job.places.size(), 0);
    job.ready.assign(job.places.size(), 0);
    for (std::size_t w = 0; w < job.places.size(); ++w) next(job, w);
  }
  void next(TickedJob& job, std::size_t w) {
    do ++job.stage[w];
    while (job.stage[w] < static_cast<int>(job.form.stage_us.size()) && job.form.stage_us[static_cast<std::size_t>(job.stage[w])] == 0);
    job.until[w] = 0;
    job.ready[w] = now_;
  }
  void finish(TickedJob& job) {
    ++job.done;
    job.since_save += now_ - job.begun;
    job.stage.clear();
    if (job.done == job.iterations) {
      job.ended = now_;
      job.here = false;
    } else if (job.costs.checkpoint_every_us > 0 && job.since_save >= job.costs.checkpoint_every_us) {
      job.saves_until = now_ + job.costs.checkpoint_save_us;
    } else {
      begin(job);
    }
  }
  void move(TickedJob& job) {
    if (job.saves_until == now_ && now_ > 0) {
      job.saved = job.done;
      job.since_save = 0;
      job.saves_until = 0;
      begin(job);
    }
    for (std::size_t w = 0; w < job.stage.size(); ++w) {
      if (job.until[w] == now_ && now_ > 0) next(job, w);
    }
    if (job.exchanges) {
      if (now_ < job.rate_since + job.bytes * cost(job.sharing)) return;
      job.exchanges = false;
      finish(job);
      return;
    }
    const int last = static_cast<int>(job.form.stage_us.size());
    if (job.stage.empty() || job.waits_for_cards || std::any_of(job.stage.begin(), job.stage.end(), [&](int s) { return s < last; }))
      return;
    if (job.spread()) {
      job.waits_for_cards = true;
    } else {
      finish(job);
    }
  }
  static std::int64_t cost(std::int64_t k) { return k * kByteUs + (k - 1) * kContentionUs; }
  std::int64_t active(int node) const {
    return std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& j) { return j.here && j.exchanges && j.on(node); });
  }
  std::int64_t busiest(const TickedJob& job) const {
    std::int64_t most = 0;
    for (const auto& place : job.places) most = std::max(most, active(place.node));
    return most;
  }
  void settle() {
    for (TickedJob& job : jobs_) {
      if (!job.here || !job.exchanges || busiest(job) == job.sharing) continue;
      job.bytes -= (now_ - job.rate_since) / cost(job.sharing);
      job.rate_since = now_;
      job.sharing = busiest(job);
    }
  }
  bool admits(const TickedJob& job) const {
    const std::int64_t most = busiest(job);
    if (rules_.admission == Admission::kAny || most == 0) return true;
    if (rules_.admission == Admission::kOne || most > 1) return false;
    if (rules_.admission == Admission::kTwo) return true;
    return std::all_of(jobs_.begin(), jobs_.end(), [&](const TickedJob& other) {
      const bool meets = other.here && other.exchanges &&
                         std::any_of(job.places.begin(), job.places.end(), [&](const auto& p) { return other.on(p.node); });
      return !meets ||
             job.form.bytes * 2 * (kByteUs + kContentionUs) <= (other.bytes - (now_ - other.rate_since) / cost(other.sharing)) * kByteUs;
    });
  }
  void admit() {
    settle();
    std::vector<TickedJob*> waiting;
    for (TickedJob& job : jobs_) {
      if (job.here && job.waits_for_cards) waiting.push_back(&job);
    }
    std::stable_sort(waiting.begin(), waiting.end(), [](const auto* a, const auto* b) { return a->service() < b->service(); });
    for (TickedJob* job : waiting) {
      if (!admits(*job)) continue;
      job->waits_for_cards = false;
      job->exchanges = true;
      job->bytes = job->form.bytes;
      job->rate_since = now_;
      job->sharing = busiest(*job);
      settle();
    }
  }
  void settle_instant() {
    admit();
    for (int n = 0; n < nodes_; ++n) {
      for (int g = 0; g < gpus_; ++g) dispatch_workers(n, g);
    }
  }
  void dispatch_workers(int node, int gpu) {
    for (;;) {
      // Resources in use: 1, 2, 4 those of stages, 8 computing. Computing overlaps with none of the others.
      int taken = 0;
      TickedJob* best = nullptr;
      std::size_t best_worker = 0;
      const auto each = [&](const auto& use) {
        for (TickedJob& job : jobs_) {
          for (std::size_t w = 0; job.here && w < job.stage.size(); ++w) {
            if (job.places[w].node == node && job.places[w].gpu == gpu && job.stage[w] < static_cast<int>(job.form.stage_us.size()))
              use(job, w);
          }
        }
      };
      const auto needs = [](const TickedJob& job, std::size_t w) { return job.form.on_lanes ? 1 << job.stage[w] : 8; };
      each([&](TickedJob& job, std::size_t w) {
        if (job.until[w] > now_) taken |= needs(job, w);
      });
      each([&](TickedJob& job, std::size_t w) {
        const int needed = needs(job, w);
        if (job.until[w] > now_ || (taken & (needed | 8)) != 0 || (needed == 8 && taken != 0)) return;
        const bool first = best == nullptr || (rules_.gpu_order == GpuOrder::kLeast ? job.service() < best->service()
                                                                                    : job.ready[w] < best->ready[best_worker]);
        if (!first) return;
        best = &job;
        best_worker = w;
      });
      if (best == nullptr) return;
      best->until[best_worker] = now_ + best->form.stage_us[static_cast<std::size_t>(best->stage[best_worker])];
    }
  }

  std::vector<TickedJob>& jobs_;
  IterationRules rules_;
  int nodes_, gpus_;
  TimeUs now_ = 0;
};

std::vector<TickedJob> any_jobs(Random& random, int nodes, int gpus) {
  std::vector<TickedJob> jobs(static_cast<std::size_t>(random.within(1, 5)));
  for (TickedJob& job : jobs) {
    const int stages = random.within(1, 3);
    for (int s = 0; s < stages; ++s) job.form.stage_us.push_back(random.within(s == 0 ? 1 : 0, 9));
    job.form.on_lanes = random.percent(30);
    job.form.bytes = job.form.on_lanes ? 0 : random.of<std::int64_t>({0, 1, 5, 17, 60});
    job.form.step = kUnit;
    job.iterations = random.within(1, 25);
    job.comes = random.percent(40) ? 0 : random.within(0, 150);
    job.works_from = job.comes + (random.percent(70) ? 0 : random.within(1, 30));
    if (random.percent(30)) job.goes = job.comes + random.within(1, 200);
    if (random.percent(30)) job.costs.checkpoint_every_us = random.within(1, 60);
    if (random.percent(70)) job.costs.checkpoint_save_us = random.within(1, 9);
    for (int n = 0; n < nodes; ++n) {
      for (int g = 0; g < gpus; ++g) {
        if (random.percent(35)) job.places.push_back({n, g});
      }
    }
    if (job.places.empty()) job.places.push_back({0, 0});
    if (job.costs.checkpoint_every_us > 0 && job.costs.checkpoint_save_us == 0) job.costs.checkpoint_every_us = 0;
  }
  return jobs;
}

std::string described(const std::vector<TickedJob>& jobs, IterationRules rules) {
  std::string text = fmt::format("admission {} turns {}\n", static_cast<int>(rules.admission), static_cast<int>(rules.gpu_order));
  for (const TickedJob& job : jobs) {
    text += fmt::format("{}-{} works from {}, {} iterations, lanes {}, bytes {}, saves {}/{}, stages {}, on", job.comes, job.goes,
                        job.works_from, job.iterations, job.form.on_lanes, job.form.bytes, job.costs.checkpoint_every_us,
                        job.costs.checkpoint_save_us, fmt::join(job.form.stage_us, " "));
    for (const auto& place : job.places) text += fmt::format(" {}:{}", place.node, place.gpu);
    text += fmt::format("; ended {}\n", job.ended);
  }
  return text;
}

}  // namespace

TEST(Iterations, AreThoseOfASimulationOfEveryMicrosecond) {
  std::int64_t ends = 0, stops = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    Random random(seed);
    const int nodes = random.within(1, 3), gpus = random.within(1, 2);
    const IterationRules rules{random.of<Admission>({Admission::kAny, Admission::kOne, Admission::kTwo, Admission::kAdaDual}),
                               random.of<GpuOrder>({GpuOrder::kFifo, GpuOrder::kLeast})};
    std::vector<TickedJob> jobs = any_jobs(random, nodes, gpus);

    Iterations followed({0, kByteUs * 1'000'000'000, kContentionUs * 1'000'000'000}, rules,
                        std::vector<std::int32_t>(static_cast<std::size_t>(nodes), gpus));
    std::vector<TimeUs> ended(jobs.size(), kNever);
    std::vector<Executed> executed(jobs.size());
    const auto at_instants = [&](TimeUs after) {
      TimeUs next = kNever;
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        if (jobs[j].comes > after) next = std::min(next, jobs[j].comes);
        if (jobs[j].goes > after && ended[j] == kNever) next = std::min(next, jobs[j].goes);
      }
      return next;
    };
    TimeUs now = -1;
    for (;;) {
      now = followed.run_until(std::max<TimeUs>(now, 0), at_instants(now), {});
      if (now == kNever) break;
      for (const std::int32_t job : std::vector<std::int32_t>(followed.ended())) {
        ended[static_cast<std::size_t>(job)] = now;
        executed[static_cast<std::size_t>(job)] = followed.stop(job, now);
        ++ends;
      }
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        const auto job = static_cast<std::int32_t>(j);
        if (jobs[j].goes == now && ended[j] == kNever && jobs[j].comes < now) {
          executed[j] = followed.stop(job, now);
          ++stops;
        }
        if (jobs[j].comes == now)
          followed.start({job, job, jobs[j].iterations * kUnit, jobs[j].works_from, &jobs[j].costs, jobs[j].places}, jobs[j].form, now);
      }
    }
    Ticks(jobs, rules, nodes, gpus).run();

    for (std::size_t j = 0; j < jobs.size(); ++j) {
      SCOPED_TRACE(fmt::format("seed {} job {}, {}", seed, j, described(jobs, rules)));
      ASSERT_EQ(ended[j], jobs[j].ended);
      ASSERT_EQ(executed[j].done, jobs[j].done * kUnit);
      ASSERT_EQ(executed[j].saved, jobs[j].saved * kUnit);
    }
  }
  EXPECT_GT(ends, 3'000);
  EXPECT_GT(stops, 500);
}

}  // namespace berth::sim::iterations_test
