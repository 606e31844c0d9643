#include "host/sim/counts/conservative_decisions.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "berth/kernel/base/bits.hpp"

namespace berth::sim {
namespace {

constexpr TimeUs kUnplanned = -1;

/// Keeps the first of a set.
void keep_lowest(std::span<std::uint64_t> gpus, std::int64_t n) {
  for (std::uint64_t& word : gpus) {
    const std::int64_t here = std::popcount(word);
    if (here > n) word = kernel::lowest_bits(word, static_cast<std::int32_t>(n));
    n -= std::min(here, n);
  }
}

}  // namespace

ConservativeDecisions::ConservativeDecisions(CountRun& run) : run_(run) {
  for (std::int32_t pool = 0; pool < run.nodes().pools(); ++pool) pools_.emplace_back(run.nodes().total(pool));
}

void ConservativeDecisions::look_behind_again(std::int32_t pool, const JobPlace& place) {
  const CountedJob& job = run_.jobs()[place.job];
  const bool fixed = job.releases == CountedJob::Releases::kFixed;
  Pool& of = pools_[to_index(pool)];
  of.more_free = of.more_free || job.releases == CountedJob::Releases::kNever || (fixed && job.release > run_.now());
  of.moved = of.moved || (fixed && job.release < run_.now());
}

void ConservativeDecisions::decide() {
  for (std::int32_t pool = 0; pool < run_.nodes().pools(); ++pool) {
    if (!is_empty(pool)) decide_in(pool);
  }
}

void ConservativeDecisions::decide_in(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  reserved_.resize(to_index(run_.jobs().jobs()));
  std::sort(of.fresh.begin(), of.fresh.end());
  ReleaseProfile& releases = run_.releases(pool);
  releases.advance(run_.jobs(), run_.now());
  const bool at_end = of.fresh.empty() || (!of.planned.empty() && *of.planned.rbegin() < of.fresh.front());
  if (!of.planned.empty() && at_end && !of.more_free && !of.moved && !releases.moves()) {
    of.timeline.advance(run_.now());
    for (const JobPlace& place : of.fresh) {
      of.planned.insert(of.planned.end(), place);
      plan(pool, place, run_.now());
    }
  } else {
    for (const JobPlace& place : of.fresh) {
      of.planned.insert(place);
      reserved_[to_index(place.job)].start = kUnplanned;
    }
    plan_again(pool);
  }
  of.fresh.clear();
  start_due(pool);
  of.more_free = false;
  of.moved = releases.moves();
}

void ConservativeDecisions::plan_again(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  begin_timeline(pool);
  of.starts.clear();
  // While nothing that was taken before is free for a job, it starts no sooner, and where its GPUs are still free it gets those.
  bool more_free = of.more_free;
  for (const JobPlace& place : of.planned) {
    const TimeUs start = reserved_[to_index(place.job)].start;
    if (start == kUnplanned || more_free) {
      plan(pool, place, run_.now());
    } else if (start != kNever && !keep(of, place)) {
      plan(pool, place, std::max(start, run_.now()));
      more_free = true;
    }
  }
}

/// The timeline of the running jobs.
void ConservativeDecisions::begin_timeline(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  gpus_.assign(of.timeline.words(), 0);
  run_.nodes().add_free(pool, gpus_);
  of.timeline.begin(run_.now(), gpus_);
  run_.releases(pool).for_each(run_.now(), [&](TimeUs at, std::int32_t job) {
    std::fill(gpus_.begin(), gpus_.end(), 0);
    run_.nodes().add_to(gpus_, run_.jobs().taken(job));
    of.timeline.release(at, gpus_);
    return true;
  });
}

/// @returns false where another job has its GPUs now.
bool ConservativeDecisions::keep(Pool& of, const JobPlace& place) {
  const TimeUs start = reserved_[to_index(place.job)].start, run = run_.predicted(run_.jobs()[place.job]);
  if (start < run_.now()) return false;
  gpus_.assign(of.timeline.words(), 0);
  run_.nodes().add_to(gpus_, run_.jobs().taken(place.job));
  if (!of.timeline.is_free(start, run, gpus_)) return false;
  of.timeline.reserve(start, run, gpus_);
  of.starts.insert({start, place.rank, place.job});
  return true;
}

/// Makes a reservation. @param from  It starts no sooner.
void ConservativeDecisions::plan(std::int32_t pool, const JobPlace& place, TimeUs from) {
  Pool& of = pools_[to_index(pool)];
  const CountedJob& job = run_.jobs()[place.job];
  const TimeUs run = run_.predicted(job);
  gpus_.resize(of.timeline.words());
  const TimeUs start = of.timeline.find(job.gpus, run, from, gpus_);
  reserved_[to_index(place.job)] = {place, start};
  if (start == kNever) return;
  keep_lowest(gpus_, job.gpus);
  of.timeline.reserve(start, run, gpus_);
  of.starts.insert({start, place.rank, place.job});
  run_.nodes().read_set(pool, gpus_, run_.jobs().taken(place.job));
}

void ConservativeDecisions::start_due(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  while (!of.starts.empty() && of.starts.begin()->key <= run_.now()) {
    const JobPlace& place = reserved_[to_index(of.starts.begin()->job)].place;
    assert(of.starts.begin()->key == run_.now());
    [[maybe_unused]] const bool free = run_.nodes().take_again(run_.jobs().taken(place.job));
    assert(free);
    of.planned.erase(place);
    of.starts.erase(of.starts.begin());
    run_.start(place, true);
  }
}

std::int32_t ConservativeDecisions::take_any() {
  for (Pool& of : pools_) {
    if (!of.fresh.empty()) {
      const std::int32_t job = of.fresh.back().job;
      of.fresh.pop_back();
      return job;
    }
    if (!of.planned.empty()) {
      const std::int32_t job = of.planned.begin()->job;
      of.planned.erase(of.planned.begin());
      return job;
    }
  }
  return -1;
}

}  // namespace berth::sim
