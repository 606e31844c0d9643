#include "tests/support/random_problem.hpp"

#include <algorithm>
#include <string>

#include "tests/support/random.hpp"

namespace berth::test {
namespace {

using kernel::kNoLimit;
using kernel::kNone;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Free resources while running jobs are created, so that they hold only what exists.
struct Left {
  std::vector<std::uint64_t> free;
  std::vector<std::vector<std::int32_t>> used_ppm;
  std::vector<std::vector<std::int64_t>> used_memory;
  std::vector<std::int64_t> cpu, memory;
};

std::string random_path(Random& random, int levels, std::int32_t branch) {
  std::string path;
  for (int l = 0; l < levels; ++l) {
    if (l > 0) path += '/';
    if (!random.percent(12)) path.append("d").append(std::to_string(random.below(branch)));
  }
  return path;
}

std::vector<NodeSpec> random_nodes(Random& random, const RandomSpec& spec, const std::array<int, 5>& named) {
  std::array<std::int32_t, 5> branch{};
  for (std::size_t f = 0; f < branch.size(); ++f) {
    auto domains = [&](std::int32_t b) {
      std::int64_t n = 1;
      for (int l = 0; l < named[f]; ++l) n *= b;
      return n;
    };
    for (branch[f] = 2; named[f] > 0 && domains(branch[f]) < spec.nodes / 4; ++branch[f]) {
    }
  }
  const bool until = spec.until && random.percent(50);
  const bool alike = random.percent(40);  // equal nodes: all comparisons are ties
  const std::int32_t usual = std::min(random.of<std::int32_t>({2, 4, 8, 8}), spec.max_gpus);
  const std::int32_t busy_percent = random.of<std::int32_t>({0, 0, 20, 50});
  std::vector<NodeSpec> nodes(static_cast<std::size_t>(spec.nodes));
  for (NodeSpec& node : nodes) {
    for (std::size_t f = 0; f < branch.size(); ++f) node.path[f] = random_path(random, named[f], branch[f]);
    node.gpus = alike || random.percent(60) ? usual : random.within(0, spec.max_gpus);
    node.type = random.percent(alike ? 80 : 40) ? 0 : random.below(spec.types);
    if (random.percent(50)) node.busy = random.mask(node.gpus, busy_percent);
    if (spec.cpu_memory && random.percent(60)) node.cpu = std::int64_t{node.gpus} * random.of<std::int32_t>({1000, 2000, 4000});
    if (spec.cpu_memory && random.percent(60)) node.memory = std::int64_t{node.gpus} * random.of<std::int32_t>({8, 16, 64}) * kGiB;
    if (until && random.percent(30)) node.until = kRandomNow + random.within(0, 4) * 50 * kSecond;
    node.sharing = spec.shares && random.percent(50);
    node.spare = random.percent(3);
    node.closed = random.percent(6);
    if (!spec.inner || node.gpus < 2) continue;
    const std::uint64_t all = node.gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1;
    const std::uint64_t half = (std::uint64_t{1} << (node.gpus / 2)) - 1;
    const std::uint64_t odd = 0xaaaaaaaaaaaaaaaaull & all;
    const std::int32_t kind = random.below(5);
    if (kind == 0) node.inner = {half, all & ~half};
    if (kind == 1) node.inner = {all & ~odd, odd};
    if (kind == 2) node.inner = {half};  // some GPUs are in no inner group
  }
  auto key = [&](const NodeSpec& node) { return path_parts(node.path[kSwitchTopology], static_cast<std::size_t>(named[0])); };
  std::stable_sort(nodes.begin(), nodes.end(), [&](const NodeSpec& a, const NodeSpec& b) { return key(a) < key(b); });
  return nodes;
}

At random_level(Random& random, const std::array<int, 5>& named) {
  std::int32_t topology = random.percent(50) ? kSwitchTopology : random.below(5);
  if (named[static_cast<std::size_t>(topology)] == 0 && random.percent(70)) topology = kSwitchTopology;
  return {topology, random.within(0, named[static_cast<std::size_t>(topology)])};
}

GroupSpec random_group(Random& random, const RandomSpec& spec, const std::array<int, 5>& named) {
  GroupSpec group;
  group.members = random.percent(70)   ? random.within(1, 4)
                  : random.percent(80) ? random.within(4, 12)
                                       : random.within(1, 8 * spec.nodes + 8);
  group.gpus = random.of<std::int32_t>({1, 1, 1, 2, 2, 3, 4, 8});
  if (spec.shares && random.percent(20)) {
    group.gpus = 1;
    group.share_ppm = random.of<std::int32_t>({100'000, 250'000, 333'333, 500'000, 700'000});
    if (random.percent(40)) group.gpu_memory = random.of<std::int32_t>({8, 20, 40}) * kGiB;
  }
  if (spec.cpu_memory && random.percent(30)) group.cpu = group.gpus * random.of<std::int32_t>({500, 1000, 3000});
  if (spec.cpu_memory && random.percent(30)) group.memory = group.gpus * random.of<std::int32_t>({4, 8, 30}) * kGiB;
  if (!spec.constraints || random.percent(35)) return group;
  if (random.percent(25)) group.require = random_level(random, named);
  if (random.percent(25)) group.prefer = random_level(random, named);
  if (random.percent(20)) {
    group.segment_size = random.within(1, 4);
    group.members = (group.members + group.segment_size - 1) / group.segment_size * group.segment_size;
    group.segment = random_level(random, named);
  }
  if (random.percent(20)) {
    group.spread_most = random.within(1, 3);
    group.spread = random_level(random, named);
  }
  return group;
}

GroupSpec random_tree(Random& random, const RandomSpec& spec, const std::array<int, 5>& named, int depth) {
  GroupSpec group = random_group(random, spec, named);
  group.members = group.segment_size > 0 ? group.segment_size : random.within(1, 3);
  if (depth == 0 || random.percent(30)) return group;
  if (random.percent(60)) {
    group.members = 0;
    group.segment_size = 0;
  }
  for (int c = random.within(1, 3); c > 0; --c) group.children.push_back(random_tree(random, spec, named, depth - 1));
  return group;
}

Left left_of(const std::vector<NodeSpec>& nodes) {
  Left left;
  for (const NodeSpec& node : nodes) {
    const std::uint64_t all = node.gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1;
    left.free.push_back(node.spare ? 0 : all & ~node.busy);
    left.used_ppm.emplace_back(static_cast<std::size_t>(node.gpus), 0);
    left.used_memory.emplace_back(static_cast<std::size_t>(node.gpus), 0);
    left.cpu.push_back(node.cpu);
    left.memory.push_back(node.memory);
  }
  return left;
}

// Allocates some of a node to a running job; an empty mask where nothing is free.
HeldSpec random_held(Random& random, std::int32_t at, const NodeSpec& node, std::int64_t type_memory, Left& left) {
  const auto n = static_cast<std::size_t>(at);
  HeldSpec held;
  held.node = at;
  if (node.sharing && random.percent(50) && node.gpus > 0) {
    const auto gpu = static_cast<std::size_t>(random.below(node.gpus));
    held.share_ppm = random.of<std::int32_t>({100'000, 250'000, 500'000});
    if (random.percent(30)) held.gpu_memory = 10 * kGiB;
    const bool going = (node.busy >> gpu & 1) != 0 && random.percent(40);  // a GPU that is being released still serves its shares
    const bool open = going || (left.free[n] >> gpu & 1) != 0 || left.used_ppm[n][gpu] > 0;
    const bool room = left.used_ppm[n][gpu] + held.share_ppm <= kWholeGpu;
    const bool memory = type_memory == 0 || left.used_memory[n][gpu] + held.gpu_memory <= type_memory;
    if (!open || !room || !memory) return held;
    held.mask = std::uint64_t{1} << gpu;
    left.used_ppm[n][gpu] += held.share_ppm;
    left.used_memory[n][gpu] += held.gpu_memory;
  } else {
    held.mask = left.free[n] & random.mask(node.gpus, random.of<std::int32_t>({30, 100}));
  }
  left.free[n] &= ~held.mask;
  if (held.mask == 0) return held;
  if (left.cpu[n] != kNoLimit && random.percent(70)) held.cpu = left.cpu[n] / random.within(1, 4);
  if (left.memory[n] != kNoLimit && random.percent(70)) held.memory = left.memory[n] / random.within(1, 4);
  if (left.cpu[n] != kNoLimit) left.cpu[n] -= held.cpu;
  if (left.memory[n] != kNoLimit) left.memory[n] -= held.memory;
  return held;
}

// What became illegal after the fact, in one problem of three: caps lie below what runs, and GPUs do not become free when the jobs that
// hold them leave. Its draws are its own, so that all else is as it is without.
void overtake(std::uint64_t seed, Problem& p) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 19);
  if (!random.percent(33)) return;
  for (std::size_t i = 0; i < p.queue_cap.size(); ++i) {
    const auto gpus = static_cast<std::int32_t>(p.queue_used[i] / kWholeGpu);
    if (gpus > 0 && random.percent(50)) p.queue_cap[i] = std::min(p.queue_cap[i], std::int64_t{kWholeGpu} * random.below(gpus));
  }
  for (const kernel::HeldRow& held : p.held) {
    if (held.share_ppm != kWholeGpu || !random.percent(15)) continue;
    p.node_open[static_cast<std::size_t>(held.node)] &= ~(random.percent(50) ? held.mask : held.mask & random.mask(64, 50));
  }
}

// In one problem of two, queues with a parent keep something. Its draws are its own, too.
void keep(std::uint64_t seed, std::int32_t gpus, Problem& p) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 29);
  if (!random.percent(50)) return;
  const auto columns = static_cast<std::size_t>(p.n_types()) + 1;
  const std::size_t queues = p.queue_parent.size();
  // The usage of a queue without its children's.
  for (std::size_t q = 0; q < queues; ++q) {
    for (std::size_t c = 0; p.queue_parent[q] >= 0 && c < columns; ++c) {
      p.queue_used[static_cast<std::size_t>(p.queue_parent[q]) * columns + c] -= p.queue_used[q * columns + c];
    }
  }
  p.queue_kept.assign(p.queue_used.size(), 0);
  for (std::size_t q = queues; q-- > 0;) {
    for (std::size_t c = 0; p.queue_parent[q] >= 0 && c < columns; ++c) {
      std::int64_t& kept = p.queue_kept[q * columns + c];
      if (random.percent(50)) kept = std::int64_t{kWholeGpu} * random.within(0, gpus / 6 + 1);
      p.queue_used[static_cast<std::size_t>(p.queue_parent[q]) * columns + c] += std::max(p.queue_used[q * columns + c], kept);
    }
  }
  // What is kept matters where a limit is near.
  for (const std::int32_t parent : p.queue_parent) {
    for (std::size_t c = 0; parent >= 0 && c < columns; ++c) {
      const std::size_t cell = static_cast<std::size_t>(parent) * columns + c;
      if (random.percent(30)) p.queue_cap[cell] = p.queue_used[cell] + std::int64_t{kWholeGpu} * random.within(0, gpus / 4 + 1);
    }
  }
}

}  // namespace

Problem random_problem(std::uint64_t seed, const RandomSpec& spec) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 1);
  ProblemBuilder builder;
  std::array<int, 5> named{};
  named[kSwitchTopology] = random.below(4);
  for (std::size_t f = 1; spec.topologies && f < named.size(); ++f) named[f] = random.below(3);
  for (std::size_t f = 0; f < named.size(); ++f) builder.levels(static_cast<int>(f), named[f]);
  std::vector<std::int64_t> type_memory;
  for (std::int32_t t = 0; t < spec.types; ++t) {
    type_memory.push_back(random.percent(30) ? 0 : 40 * kGiB);
    builder.type(type_memory.back());
  }
  const std::vector<NodeSpec> nodes = random_nodes(random, spec, named);
  for (const NodeSpec& node : nodes) builder.node(node);

  std::int32_t total = 0;
  for (const NodeSpec& node : nodes) total += node.gpus;
  for (std::int32_t q = 0; q < spec.queues; ++q) {
    std::vector<std::int64_t> caps;
    for (std::int32_t t = 0; t <= spec.types; ++t) caps.push_back(random.percent(80) ? kNoLimit : random.within(total / 8, total));
    builder.queue(q == 0 || random.percent(30) ? kNone : random.below(q), caps);
  }
  for (std::int32_t d = 0; d < spec.demands; ++d) {
    DemandSpec demand;
    demand.type = random.percent(60) ? 0 : random.below(spec.types);
    if (random.percent(15)) {
      for (std::int32_t n = 0; n < spec.nodes; ++n) {
        if (random.percent(60)) demand.nodes.push_back(n);
      }
    }
    const bool trees = random.percent(spec.tree_percent);
    for (std::int32_t g = trees ? random.within(1, 3) : 1; g > 0; --g) {
      demand.groups.push_back(trees ? random_tree(random, spec, named, 2) : random_group(random, spec, named));
    }
    builder.demand(std::move(demand));
  }
  Left left = left_of(nodes);
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    std::vector<int> demands;
    for (std::int32_t o = random.of<std::int32_t>({1, 1, 1, 2, 3}); o > 0; --o) demands.push_back(random.below(spec.demands));
    const int job = builder.job(demands, spec.queues == 0 || random.percent(25) ? kNone : random.below(spec.queues));
    if (!random.percent(spec.running_percent) || spec.nodes == 0) continue;
    std::int32_t type = kNone;
    for (std::int32_t tries = random.within(1, 3); tries > 0; --tries) {
      const std::int32_t at = random.below(spec.nodes);
      const NodeSpec& node = nodes[static_cast<std::size_t>(at)];
      if (type != kNone && node.type != type) continue;
      const HeldSpec held = random_held(random, at, node, type_memory[static_cast<std::size_t>(node.type)], left);
      if (held.mask == 0) continue;
      type = node.type;
      builder.hold(job, held);
    }
  }
  Problem problem = builder.build();
  overtake(seed, problem);
  keep(seed, total, problem);
  return problem;
}

Problem random_problem_near_limits(std::uint64_t seed, const RandomSpec& spec) {
  Problem p = random_problem(seed, spec);
  Random random(seed * 0x9e3779b97f4a7c15ull + 31);
  const std::int32_t gpus = p.gpu_begin.empty() ? 0 : p.gpu_begin.back();
  for (std::size_t cell = 0; cell < p.queue_cap.size(); ++cell) {
    if (random.percent(50)) p.queue_cap[cell] = p.queue_used[cell] + std::int64_t{kWholeGpu} * random.within(0, gpus / 3 + 1);
  }
  return p;
}

}  // namespace berth::test
