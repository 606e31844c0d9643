#include "tests/support/random_replay.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <tuple>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "berth/units.hpp"
#include "tests/support/random.hpp"

namespace berth::test {

ReplayBuffers::ReplayBuffers(std::int32_t n_jobs) {
  for (auto* column : {&start, &end, &held, &restarting, &moving}) column->assign(to_index(n_jobs), -7);
  for (auto* column : {&starts, &preemptions, &moves}) column->assign(to_index(n_jobs), -7);
}

kernel::ReplayResult ReplayBuffers::view() {
  return {&totals,       start.data(),  end.data(),         held.data(), restarting.data(),
          moving.data(), starts.data(), preemptions.data(), moves.data()};
}

bool operator==(const ReplayBuffers& a, const ReplayBuffers& b) {
  const auto totals = [](const kernel::ReplayTotals& t) {
    return std::make_tuple(t.jct_us, t.wait_us, t.gpu_us, t.last_end, t.last_release, t.completed, t.rejected, t.starts, t.preemptions,
                           t.moves, t.decisions, t.too_late, t.stopped);
  };
  const auto columns = [](const ReplayBuffers& r) {
    return std::tie(r.start, r.end, r.held, r.restarting, r.moving, r.starts, r.preemptions, r.moves);
  };
  return totals(a.totals) == totals(b.totals) && columns(a) == columns(b);
}

void PrintTo(const ReplayBuffers& result, std::ostream* out) {
  *out << result.totals.completed << " completed, " << result.totals.preemptions << " preemptions, " << result.totals.moves << " moves, "
       << result.totals.decisions << " decisions; start, end, held:";
  for (std::size_t j = 0; j < result.end.size(); ++j)
    *out << "\n  " << j << ": " << result.start[j] << " " << result.end[j] << " " << result.held[j];
}

ReplayCase::ReplayCase(std::uint64_t seed, const RandomReplaySpec& spec) {
  Random random(seed);
  const std::int32_t pools = random.within(1, 3);
  const std::vector<std::int32_t> sizes = random.of<std::vector<std::int32_t>>({{1}, {1, 2, 4, 8}, {1, 1, 1, 3, 7, spec.gpus}});
  const std::int32_t step = random.of<std::int32_t>({0, 1, 3, 20});
  const bool costs = random.percent(50);
  const auto cost = [&] { return costs ? random.below(6) : 0; };
  std::vector<std::pair<std::int32_t, std::int32_t>> lines, distinct;
  std::int64_t at = 0;
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    submit_.push_back(at);
    run_.push_back(random.of<std::int32_t>({0, 1, random.within(1, 20), random.within(1, 200)}));
    start_cost_.push_back(cost());
    restart_cost_.push_back(cost());
    move_cost_.push_back(restart_cost_.back() + cost());
    const std::int32_t pool = random.below(pools);
    lines.emplace_back(pool, random.of(sizes));
    at += random.within(0, step);
  }
  distinct = lines;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  line_begin_.assign(distinct.size() + 1, 0);
  for (const auto& line : lines) {
    line_.push_back(static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), line) - distinct.begin()));
    ++line_begin_[to_index(line_.back()) + 1];
  }
  std::partial_sum(line_begin_.begin(), line_begin_.end(), line_begin_.begin());
  for (const auto& [pool, gpus] : distinct) {
    line_pool_.push_back(pool);
    line_gpus_.push_back(gpus);
  }
  for (std::int32_t p = 0; p <= pools; ++p)
    pool_line_.push_back(static_cast<std::int32_t>(std::lower_bound(line_pool_.begin(), line_pool_.end(), p) - line_pool_.begin()));

  for (std::int32_t i = 0; i < spec.replays; ++i) {
    One& one = replays_.emplace_back();
    one.kind = static_cast<kernel::ReplayKey>(random.below(4));
    one.strict = random.percent(30);
    one.knows_work = random.percent(60);
    one.own_runs = random.percent(30);
    for (std::int32_t p = 0; p < pools; ++p) one.capacity.push_back(random.within(random.percent(10) ? 0 : spec.gpus / 2, spec.gpus));
    for (std::int32_t t = random.within(0, 4), from = 0; t > 0; --t) one.thresholds.push_back(from += random.within(1, 60));
    for (std::int32_t j = 0; j < spec.jobs; ++j) {
      one.run.push_back(random.within(0, 60));
      one.estimate.push_back(random.percent(10) ? kNever : random.within(1, 100));
    }
    sort_jobs(one);
  }
}

// By what the kind reads of a job that has not run.
void ReplayCase::sort_jobs(One& one) const {
  const std::size_t n = submit_.size();
  for (std::size_t j = 0; j < n && one.kind != kernel::ReplayKey::kLevel; ++j) {
    std::int64_t key = one.estimate[j];
    if (one.kind != kernel::ReplayKey::kFixed && one.knows_work) key = std::max<std::int64_t>(1, one.own_runs ? one.run[j] : run_[j]);
    if (one.kind == kernel::ReplayKey::kRemainingService && key != kNever) key *= line_gpus_[to_index(line_[j])];
    one.key.push_back(key);
  }
  one.job_at.resize(n);
  std::iota(one.job_at.begin(), one.job_at.end(), 0);
  std::stable_sort(one.job_at.begin(), one.job_at.end(), [&](std::int32_t a, std::int32_t b) {
    const auto key = [&](std::int32_t j) { return one.key.empty() ? 0 : one.key[to_index(j)]; };
    return line_[to_index(a)] != line_[to_index(b)] ? line_[to_index(a)] < line_[to_index(b)] : key(a) < key(b);
  });
  one.position.resize(n);
  for (std::size_t p = 0; p < n; ++p) one.position[to_index(one.job_at[p])] = static_cast<std::int32_t>(p);
}

kernel::ReplayView ReplayCase::view() const {
  return {static_cast<std::int32_t>(submit_.size()),
          static_cast<std::int32_t>(pool_line_.size()) - 1,
          static_cast<std::int32_t>(line_pool_.size()),
          submit_.data(),
          run_.data(),
          line_.data(),
          start_cost_.data(),
          restart_cost_.data(),
          move_cost_.data(),
          line_pool_.data(),
          line_gpus_.data(),
          line_begin_.data(),
          pool_line_.data()};
}

kernel::ReplayRequest ReplayCase::request(std::int32_t i) const {
  const One& one = replays_[to_index(i)];
  return {one.kind,
          one.strict ? 1 : 0,
          one.knows_work ? 1 : 0,
          static_cast<std::int32_t>(one.thresholds.size()),
          one.own_runs ? one.run.data() : nullptr,
          one.estimate.data(),
          one.key.empty() ? nullptr : one.key.data(),
          one.job_at.data(),
          one.position.data(),
          one.capacity.data(),
          one.thresholds.data()};
}

std::vector<ReplayBuffers> replay(core::PlacementBackend& backend, const ReplayCase& one) {
  std::vector<ReplayBuffers> got(to_index(one.replays()), ReplayBuffers(one.view().n_jobs));
  std::vector<core::ReplayTask> tasks;
  std::vector<kernel::ReplayResult> results;
  for (std::int32_t i = 0; i < one.replays(); ++i) tasks.push_back({one.request(i), nullptr});
  for (ReplayBuffers& buffers : got) results.push_back(buffers.view());
  backend.replay(one.view(), tasks, results);
  return got;
}

}  // namespace berth::test
