#include "host/cli/sweep/sweep_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/sim/base/spread.hpp"

namespace berth::cli {
namespace {

/// Figures of the jobs after the warm-up.
class Counting {
 public:
  Counting(const WarmUp& warm_up, const SweepWorld& world)
      : first_job_(static_cast<std::int64_t>(static_cast<__int128>(world.jobs->count()) * warm_up.jobs_ppm / 1'000'000)),
        from_us_(world.first_submit_us + warm_up.time_us) {}

  void add(const sim::JobOutcome& job) {
    if (job.job < first_job_ || job.submit_us < from_us_) return;
    ++counted_.jobs;
    if (job.end == sim::JobOutcome::End::kRejected) ++counted_.rejected;
    if (job.end == sim::JobOutcome::End::kUnfinished) ++counted_.unfinished;
    if (job.end == sim::JobOutcome::End::kKilled) ++counted_.killed;
    if (job.end != sim::JobOutcome::End::kCompleted) return;
    ++counted_.completed;
    jct_.add(job.jct_us());
    wait_.add(job.waited_us());
    first_.add(job.start_us - job.submit_us);
  }
  results::CountedFigures finish() {
    counted_.jct_us = jct_.finish();
    counted_.wait_us = wait_.finish();
    counted_.first_us = first_.finish();
    return counted_;
  }

 private:
  std::int64_t first_job_;
  TimeUs from_us_;
  results::CountedFigures counted_;
  sim::SpreadOf jct_, wait_, first_;
};

void simulate_cell(const SweepCell& cell, std::int64_t seed, SweepInputs& inputs, const std::function<bool()>& stop, SweepDone& done) {
  const RunDraft& draft = cell.draft;
  const auto begin = std::chrono::steady_clock::now();
  done.world = inputs.world(cell, seed);
  const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  sim::SimulationSettings settings = done.world->settings;
  settings.request = draft.request;
  settings.request.seed = static_cast<std::uint64_t>(seed);
  draft.run.put_into(settings);
  draft.iterations.put_into(settings, done.world->cluster);
  settings.most_decisions = cell.most_decisions;
  sim::MeasuresRequest want;
  if (draft.keeps("groups")) want.groups.fill(true);
  want.queues = draft.keeps("groups");
  want.jobs = draft.keeps("jobs");
  want.series = draft.keeps("series");
  Counting counting(warm_up_of(draft.warm_up), *done.world);
  RunWatch watch;
  const auto late = [&] { return cell.most_us > 0 && std::chrono::steady_clock::now() - begin > std::chrono::microseconds(cell.most_us); };
  watch.stop = [&] { return stop() || late(); };
  watch.job = [&](const sim::JobOutcome& job) { counting.add(job); };
  const auto shown = cell.texts.find("cluster");
  const RunNames names{draft.policy, shown == cell.texts.end() ? "" : shown->second};
  done.run = simulate_policy(std::move(settings), names, *done.world->jobs, done.world->cluster, want, watch);
  done.run.load_s = load_s;
  if (done.run.totals.interrupted && cell.most_decisions > 0 && done.run.totals.decisions >= cell.most_decisions)
    throw InvalidArgument(fmt::format("the run was given up after {} decisions, as one that does not end", cell.most_decisions));
  if (done.run.totals.interrupted && !stop() && late())
    throw InvalidArgument(fmt::format("the run was given up after {} s", core::format_seconds(cell.most_us)));
  done.interrupted = done.run.totals.interrupted;
  done.entry = {sweep_key(cell, seed), RunIdentity::json(cell.texts, seed), counting.finish()};
}

}  // namespace

SweepDone make_run(const SweepPlan& plan, const SweepTask& task, SweepInputs& inputs, const std::function<bool()>& stop) {
  SweepDone done;
  done.task = task;
  try {
    simulate_cell(plan.cells[task.cell], task.seed, inputs, stop, done);
  } catch (const Error& error) {
    done.problem = error.what();
  } catch (const std::bad_alloc&) {
    done.problem = "out of memory";
  }
  return done;
}

}  // namespace berth::cli
