#include "tests/support/random_plan_search.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ostream>
#include <tuple>

#include "tests/support/random.hpp"

namespace berth::test {
namespace {

std::size_t plan_search_index(std::int64_t i) { return static_cast<std::size_t>(i); }

bool whole_gpus(const Problem& p, std::int32_t demand) {
  const kernel::DemandRow& d = p.demands[plan_search_index(demand)];
  const auto whole = [](const kernel::GroupRow& row) { return row.share_ppm == kWholeGpu; };
  return d.gpus >= 1 && std::all_of(p.groups.begin() + d.group_begin, p.groups.begin() + d.group_end, whole);
}

// Whether it holds only whole GPUs that all become free when it leaves.
bool may_leave(const Problem& p, std::int32_t job) {
  const auto open = [&](const kernel::HeldRow& h) {
    return h.share_ppm == kWholeGpu && (h.mask & ~p.node_open[plan_search_index(h.node)]) == 0;
  };
  return std::all_of(p.held.begin() + p.held_begin[plan_search_index(job)], p.held.begin() + p.held_begin[plan_search_index(job) + 1],
                     open);
}

void leave(Problem& p, std::int32_t job) {
  std::int64_t quota = 0;
  for (std::int32_t h = p.held_begin[plan_search_index(job)]; h < p.held_begin[plan_search_index(job) + 1]; ++h) {
    const kernel::HeldRow& row = p.held[plan_search_index(h)];
    p.node_free[plan_search_index(row.node)] |= row.mask;
    if (p.node_cpu[plan_search_index(row.node)] != kernel::kNoLimit) p.node_cpu[plan_search_index(row.node)] += row.cpu;
    if (p.node_memory[plan_search_index(row.node)] != kernel::kNoLimit) p.node_memory[plan_search_index(row.node)] += row.memory;
    quota += std::int64_t{kWholeGpu} * std::popcount(row.mask);
  }
  for (const std::int32_t column : {p.held_type[plan_search_index(job)], p.n_types()}) {
    std::int64_t less = quota;
    for (std::int32_t q = p.job_queue[plan_search_index(job)]; q >= 0; q = p.queue_parent[plan_search_index(q)]) {
      const std::size_t cell = plan_search_index(std::int64_t{q} * (p.n_types() + 1) + column);
      const std::int64_t kept = p.queue_kept.empty() ? 0 : p.queue_kept[cell], before = std::max(kept, p.queue_used[cell]);
      p.queue_used[cell] -= less;
      less = before - std::max(kept, p.queue_used[cell]);
    }
  }
}

void add_job(Random& random, PlanSearchProblem& out, std::int32_t job, const RandomPlanSearchSpec& spec, std::int32_t classes) {
  Problem& p = out.problem;
  std::vector<std::int32_t> demands;
  for (std::int32_t o = p.option_begin[plan_search_index(job)]; o < p.option_begin[plan_search_index(job) + 1]; ++o) {
    if (whole_gpus(p, p.options[plan_search_index(o)].demand)) demands.push_back(p.options[plan_search_index(o)].demand);
  }
  const bool running = p.held_begin[plan_search_index(job)] < p.held_begin[plan_search_index(job) + 1];
  if (demands.empty() || !may_leave(p, job)) return;
  const auto same_type = [&](std::int32_t d) { return p.demands[plan_search_index(d)].gpu_type == p.held_type[plan_search_index(job)]; };
  if (running && std::none_of(demands.begin(), demands.end(), same_type)) return;
  out.problem_job.push_back(job);
  out.current.push_back(kernel::kNone);
  if (running) leave(p, job);
  for (const std::int32_t d : demands) {
    const auto option = static_cast<std::int32_t>(out.demand.size());
    if (running && out.current.back() < 0 && same_type(d)) out.current.back() = option;
    out.demand.push_back(d);
    out.run.push_back(random.percent(50) ? kNever : random.within(1, 40) * kSecond);
    const std::int64_t value = random.percent(spec.equal_percent) ? 100 * p.demands[plan_search_index(d)].gpus : random.within(-100, 3000);
    out.value.push_back(value);
    for (std::int32_t c = 0; c < classes; ++c) {
      const std::int64_t most = value > 0 ? value * c / classes : 0;
      out.placed_value.push_back(value - random.within(0, static_cast<std::int32_t>(most)));
    }
  }
  out.option_begin.push_back(static_cast<std::int32_t>(out.demand.size()));
  for (std::int32_t c = 0; c < classes; ++c) {
    const std::int64_t home = running ? out.placed_value[plan_search_index(std::int64_t{out.current.back()} * classes + c)] : 0;
    out.moved_value.push_back(home - random.within(1, 200));
  }
}

void rank_options(Random& random, PlanSearchProblem& out) {
  std::vector<std::int64_t> price(plan_search_index(out.problem.n_types()));
  for (std::int64_t& one : price) one = random.within(0, 200);
  const auto net = [&](std::int32_t k) {
    const kernel::DemandRow& d = out.problem.demands[plan_search_index(out.demand[plan_search_index(k)])];
    return out.value[plan_search_index(k)] - price[plan_search_index(d.gpu_type)] * d.gpus;
  };
  std::vector<std::int64_t> best;
  for (std::int32_t j = 0; j < out.n_jobs(); ++j) {
    std::vector<std::int32_t> options;
    for (std::int32_t k = out.option_begin[plan_search_index(j)]; k < out.option_begin[plan_search_index(j) + 1]; ++k) {
      if (out.value[plan_search_index(k)] > 0) options.push_back(k);
    }
    std::sort(options.begin(), options.end(),
              [&](std::int32_t a, std::int32_t b) { return std::tuple(net(b), a) < std::tuple(net(a), b); });
    best.push_back(options.empty() ? INT64_MIN : net(options.front()));
    out.preferred.push_back(best.back() > 0 ? options.front() : kernel::kNone);
    out.ranked.insert(out.ranked.end(), options.begin(), options.end());
    out.rank_begin.push_back(static_cast<std::int32_t>(out.ranked.size()));
  }
  out.fill_order.resize(plan_search_index(out.n_jobs()));
  std::iota(out.fill_order.begin(), out.fill_order.end(), 0);
  std::sort(out.fill_order.begin(), out.fill_order.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(best[plan_search_index(b)], a) < std::tuple(best[plan_search_index(a)], b);
  });
}

void add_rooms(Random& random, PlanSearchProblem& out) {
  const Problem& p = out.problem;
  out.type_begin = {0};
  for (std::int32_t t = 0; t < p.n_types(); ++t) {
    for (std::int32_t n = 0; n < p.n_nodes(); ++n) {
      if (p.node_type[plan_search_index(n)] == t) out.type_node.push_back(n);
    }
    out.type_begin.push_back(static_cast<std::int32_t>(out.type_node.size()));
  }
  const kernel::ProblemView v = p.view();
  out.room.assign(plan_search_index(v.domains.n_domains), 0);
  for (std::int32_t n = 0; n < p.n_nodes(); ++n) {
    out.node_room.push_back(std::popcount(p.node_free[plan_search_index(n)]));
    for (const kernel::TopologyView& topology : v.topology) {
      for (std::int32_t l = 1; l < topology.levels; ++l) {
        out.room[plan_search_index(topology.node_domain[std::int64_t{l} * p.n_nodes() + n])] += out.node_room.back();
      }
    }
  }
  // Any partition of the nodes is valid.
  out.n_blocks = random.within(1, std::max(1, p.n_nodes()));
  for (std::int32_t n = 0; n < p.n_nodes(); ++n) out.block.push_back(random.below(out.n_blocks));
}

}  // namespace

PlanSearchProblem random_plan_search(std::uint64_t seed, const RandomPlanSearchSpec& spec) {
  Random random(seed * 7919 + 17);
  RandomSpec of_problem = spec.problem;
  of_problem.shares = false;
  PlanSearchProblem out;
  out.problem = random_problem(seed, of_problem);
  out.packing = random.percent(15) ? kernel::Packing::kCount : random.percent(15) ? kernel::Packing::kEmptiest : kernel::Packing::kTopology;
  const std::int32_t classes = spec.classes ? out.problem.view().topology[0].levels + 1 : 1;
  out.n_classes = classes;
  for (std::int32_t job = 0; job < out.problem.n_jobs(); ++job) add_job(random, out, job, spec, classes);
  rank_options(random, out);
  add_rooms(random, out);
  if (spec.fragments) {
    for (std::int32_t t = 0; t < out.problem.n_types(); ++t) {
      for (std::int32_t idle = 0; idle <= kMaxGpusPerNode; ++idle) out.fragment.push_back(idle * random.within(0, 60));
    }
  }
  return out;
}

kernel::PlanSearchView PlanSearchProblem::view() const {
  kernel::PlanSearchView v{};
  v.problem = problem.view();
  v.now = kRandomNow;
  v.packing = packing;
  v.max_tries = 4;
  v.n_jobs = n_jobs();
  v.problem_job = problem_job.data();
  v.option_begin = option_begin.data();
  v.demand = demand.data();
  v.run = run.data();
  v.n_classes = n_classes;
  v.placed_value = placed_value.data();
  v.rank_begin = rank_begin.data();
  v.ranked = ranked.data();
  v.preferred = preferred.data();
  v.fill_order = fill_order.data();
  v.current = current.data();
  v.moved_value = moved_value.data();
  v.fragment = fragment.empty() ? nullptr : fragment.data();
  v.type_begin = type_begin.data();
  v.type_node = type_node.data();
  v.room = room.data();
  v.node_room = node_room.data();
  v.n_blocks = n_blocks;
  v.block = block.data();
  return v;
}

PlanSearching random_searching(std::uint64_t seed, const PlanSearchProblem& problem) {
  Random random(seed * 104729 + 3);
  PlanSearching how;
  how.seed = random.bits();
  how.population = random.of<std::int32_t>({1, 2, 4, 4, 6});
  how.islands = random.of<std::int32_t>({1, 1, 2, 3});
  how.steps = random.of<std::int32_t>({1, 3, 8, 20});
  how.migration = random.within(1, 3);
  how.generations = random.within(0, 6);
  if (random.percent(30)) how.operators = static_cast<std::uint32_t>(random.bits());
  // Some running jobs continue; no other job has GPUs.
  how.entry_begin = {0};
  for (std::int32_t j = 0; j < problem.n_jobs(); ++j) {
    const std::int32_t current = problem.current[plan_search_index(j)];
    how.option.push_back(current >= 0 && random.percent(70) ? current : kernel::kNone);
    const std::int32_t job = problem.problem_job[plan_search_index(j)];
    const std::int32_t first = problem.problem.held_begin[plan_search_index(job)];
    for (std::int32_t h = first; how.option.back() >= 0 && h < problem.problem.held_begin[plan_search_index(job) + 1]; ++h) {
      const kernel::HeldRow& held = problem.problem.held[plan_search_index(h)];
      how.entries.push_back({held.node, 0, h - first, 1, held.mask, kWholeGpu, 0});
    }
    how.entry_begin.push_back(static_cast<std::int32_t>(how.entries.size()));
  }
  how.n_starts = std::min(random.below(4), how.population * how.islands - 1);
  for (std::int32_t g = 0; g < how.n_starts; ++g) {
    std::vector<std::int32_t> order(plan_search_index(problem.n_jobs()));
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(order);
    how.start_order.insert(how.start_order.end(), order.begin(), order.end());
    for (std::int32_t j = 0; j < problem.n_jobs(); ++j) {
      const std::int32_t first = problem.option_begin[plan_search_index(j)],
                         options = problem.option_begin[plan_search_index(j) + 1] - first;
      how.start_option.push_back(random.percent(25) ? kernel::kNone : first + random.below(options));
    }
  }
  return how;
}

kernel::PlanSearchRequest PlanSearching::request() const {
  return {seed,          population,         islands,        steps,    migration,           generations,       operators,
          option.data(), entry_begin.data(), entries.data(), n_starts, start_option.data(), start_order.data()};
}

PlanSearchBuffers::PlanSearchBuffers(const PlanSearchProblem& problem, const PlanSearching& how)
    : option(plan_search_index(problem.n_jobs()), -7),
      entry_begin(option),
      entry_end(option),
      island_option(plan_search_index(std::int64_t{problem.n_jobs()} * how.islands), -7),
      entries(plan_search_index(problem.problem.gpu_begin.back()), kernel::PlacedRow{-7, -7, -7, -7, 7, -7, 0}),
      score(plan_search_index(how.generations) + 1, -7) {}

kernel::PlanSearchResult PlanSearchBuffers::view() {
  return {option.data(), entry_begin.data(), entry_end.data(), entries.data(), score.data(), island_option.data(), &generations};
}

bool PlanSearchBuffers::operator==(const PlanSearchBuffers& o) const {
  if (std::tie(option, entry_begin, entry_end, island_option, generations) !=
      std::tie(o.option, o.entry_begin, o.entry_end, o.island_option, o.generations)) {
    return false;
  }
  if (!std::equal(score.begin(), score.begin() + generations + 1, o.score.begin())) return false;
  const std::size_t n = option.empty() ? 0 : plan_search_index(entry_end.back());
  return std::equal(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(n), o.entries.begin(), [](const auto& a, const auto& b) {
    return std::tie(a.node, a.group, a.member, a.members, a.mask, a.share_ppm) ==
           std::tie(b.node, b.group, b.member, b.members, b.mask, b.share_ppm);
  });
}

std::ostream& operator<<(std::ostream& out, const PlanSearchBuffers& b) {
  out << b.generations << " generations, scores";
  for (std::int32_t g = 0; g <= b.generations; ++g) out << ' ' << b.score[plan_search_index(g)];
  out << ", options";
  for (const std::int32_t k : b.option) out << ' ' << k;
  return out;
}

}  // namespace berth::test
