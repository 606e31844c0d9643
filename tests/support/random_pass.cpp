#include <algorithm>
#include <tuple>

#include "tests/support/random.hpp"
#include "tests/support/random_problem.hpp"

namespace berth::test {
namespace {

using kernel::kNone;

TimeUs some_run(Random& random) { return random.percent(25) ? kNever : random.within(1, 5) * 50 * kSecond; }

// GPUs of a node that no job of the problem holds and that are not free.
std::uint64_t idle_mask(const Problem& p, std::int32_t node) {
  const auto n = static_cast<std::size_t>(node);
  std::uint64_t mask = 0;
  for (std::int32_t row = p.gpu_begin[n]; row < p.gpu_begin[n + 1]; ++row) {
    if (p.gpu_used_ppm[static_cast<std::size_t>(row)] == 0) mask |= std::uint64_t{1} << (row - p.gpu_begin[n]);
  }
  mask &= ~p.node_free[n] & ~p.node_spare[n];
  for (const kernel::HeldRow& held : p.held) {
    if (held.node == node) mask &= ~held.mask;
  }
  return mask;
}

std::vector<kernel::ReleaseRow> random_releases(Random& random, const Problem& p, TimeUs now) {
  std::vector<kernel::ReleaseRow> rows;
  for (std::int32_t j = 0; j < p.n_jobs(); ++j) {
    const auto job = static_cast<std::size_t>(j);
    if (p.held_begin[job] == p.held_begin[job + 1] || random.percent(10)) continue;
    rows.push_back({now + random.within(-1, 4) * 50 * kSecond, j, kNone, 0});
  }
  for (std::int32_t n = 0; n < p.n_nodes(); ++n) {
    const std::uint64_t idle = idle_mask(p, n);
    if (idle != 0 && random.percent(30)) rows.push_back({now + random.within(0, 4) * 50 * kSecond, kNone, n, idle & random.mask(64, 70)});
  }
  std::sort(rows.begin(), rows.end(), [](const kernel::ReleaseRow& a, const kernel::ReleaseRow& b) {
    return std::tie(a.at, a.job, a.node) < std::tie(b.at, b.job, b.node);
  });
  return rows;
}

}  // namespace

PassCase random_pass(std::uint64_t seed, const Problem& problem) {
  Random random(seed * 0xbf58476d1ce4e5b9ull + 2);
  PassCase pass = pass_over(problem);
  random.shuffle(pass.order);
  if (random.percent(40)) {  // waiting jobs first, so that there are victims
    std::stable_partition(pass.order.begin(), pass.order.end(), [&](std::int32_t j) {
      const auto job = static_cast<std::size_t>(j);
      return problem.held_begin[job] == problem.held_begin[job + 1];
    });
  }
  if (random.percent(20)) pass.order.resize(pass.order.size() - pass.order.size() / 4);
  const std::int32_t victims = random.of<std::int32_t>({50, 100});
  for (std::size_t i = 0; i < pass.order.size(); ++i) {
    const auto job = static_cast<std::size_t>(pass.order[i]);
    pass.running[i] = problem.held_begin[job] < problem.held_begin[job + 1] ? 1 : 0;
    pass.victim_ok[i] = random.percent(victims) ? 1 : 0;
  }
  pass.running.resize(pass.order.size());
  pass.victim_ok.resize(pass.order.size());
  for (std::int32_t& c : pass.preemption_class) c = random.below(3);
  for (TimeUs& run : pass.option_run) run = some_run(random);
  pass.now = kRandomNow + random.of<std::int32_t>({0, 0, 10, 50}) * kSecond;
  pass.releases = random_releases(random, problem, pass.now);
  pass.discipline = random.of<kernel::Discipline>({kernel::Discipline::kStrict, kernel::Discipline::kGreedy, kernel::Discipline::kGreedy,
                                                   kernel::Discipline::kEasy, kernel::Discipline::kEasy});
  pass.packing = random.of<kernel::Packing>({kernel::Packing::kCount, kernel::Packing::kEmptiest, kernel::Packing::kTopology,
                                             kernel::Packing::kTopology, kernel::Packing::kTopology});
  pass.preemptive = random.percent(60);
  pass.class_rule = random.percent(30);
  if (random.percent(25)) {
    for (std::size_t o = 0; o < problem.options.size(); ++o) pass.may_displace.push_back(random.percent(60) ? 1 : 0);
  }
  if (random.percent(10)) pass.limit = random.below(problem.n_jobs() + 1);
  pass.max_tries = random.of<std::int32_t>({1, 1, 2, 16});
  for (std::size_t i = pass.job_rank.size(); i > 1; --i) {
    std::swap(pass.job_rank[i - 1], pass.job_rank[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(i)))]);
  }
  if (random.percent(40)) {
    for (std::int32_t n = 0; n < problem.n_nodes(); ++n) {
      if (random.percent(25)) pass.taken.push_back({n, random.mask(64, 50)});
    }
  }
  return pass;
}

PassCase random_easy_pass(std::uint64_t seed, const Problem& problem) {
  PassCase pass = random_pass(seed, problem);
  pass.discipline = kernel::Discipline::kEasy;
  return pass;
}

PassCase random_conservative_pass(std::uint64_t seed, const Problem& problem) {
  Random random(seed * 0xd6e8feb86659fd93ull + 4);
  PassCase pass = random_pass(seed, problem);
  pass.discipline = kernel::Discipline::kConservative;
  const std::int32_t unknown = random.of<std::int32_t>({0, 5, 25});
  const std::int32_t step = random.of<std::int32_t>({1, 50});  // many ends at the same instant, or few
  for (TimeUs& run : pass.option_run) run = random.percent(unknown) ? kNever : random.within(0, 5 * 50 / step) * step * kSecond;
  if (random.percent(50)) pass.preemptive = false;
  return pass;
}

kernel::ScoreQuery ScoreCase::view() const {
  kernel::ScoreQuery r{};
  r.n = static_cast<std::int32_t>(jobs.size());
  r.jobs = jobs.data();
  r.option_run = option_run.data();
  r.topology = topology;
  r.level = level;
  r.leftover_weight = leftover_weight;
  r.domain_cost = domain_cost.empty() ? nullptr : domain_cost.data();
  r.k = k;
  r.now = now;
  return r;
}

ScoreCase random_score(std::uint64_t seed, const Problem& problem) {
  Random random(seed * 0x94d049bb133111ebull + 3);
  ScoreCase c;
  for (std::int32_t j = 0; j < problem.n_jobs(); ++j) {
    if (random.percent(90)) c.jobs.push_back(j);
  }
  random.shuffle(c.jobs);
  for (std::size_t o = 0; o < problem.options.size(); ++o) c.option_run.push_back(some_run(random));
  c.topology = random.percent(60) ? kSwitchTopology : random.below(5);
  const TopologyColumns& topology = problem.topology[static_cast<std::size_t>(c.topology)];
  c.level = random.below(topology.levels);
  c.k = random.of<std::int32_t>({1, 2, 5, kernel::kMaxBest});
  c.leftover_weight = random.of<std::int64_t>({0, 1, 100'000, -3, std::int64_t{1} << 61});
  c.now = kRandomNow + random.of<std::int32_t>({0, 50}) * kSecond;
  if (random.percent(50)) {
    const auto level = static_cast<std::size_t>(c.level);
    const std::int32_t n = c.level == 0 ? problem.n_nodes() : topology.level_begin[level + 1] - topology.level_begin[level];
    for (std::int32_t d = 0; d < n; ++d) c.domain_cost.push_back(random.percent(5) ? INT64_MIN : random.within(-2, 2) * 500'000);
  }
  return c;
}

}  // namespace berth::test
