#include "tests/support/delays/random_delay_replay.hpp"

#include <algorithm>
#include <bit>
#include <ostream>

#include "tests/support/random.hpp"

namespace berth::test {

DelayReplayBuffers::DelayReplayBuffers(std::int32_t n_jobs) {
  const auto n = static_cast<std::size_t>(n_jobs);
  for (auto* column : {&start, &end, &held, &paid}) column->assign(n, -7);
  for (auto* column : {&starts, &preemptions, &moves}) column->assign(n, -7);
}

kernel::DelayReplayResult DelayReplayBuffers::view() {
  return {&totals, start.data(), end.data(), held.data(), paid.data(), starts.data(), preemptions.data(), moves.data()};
}

bool operator==(const DelayReplayBuffers& a, const DelayReplayBuffers& b) {
  const kernel::DelayReplayTotals &x = a.totals, &y = b.totals;
  return x.jct_us == y.jct_us && x.wait_us == y.wait_us && x.gpu_us == y.gpu_us && x.paid_gpu_us == y.paid_gpu_us &&
         x.last_end == y.last_end && x.completed == y.completed && x.rejected == y.rejected && x.starts == y.starts &&
         x.preemptions == y.preemptions && x.moves == y.moves && x.decisions == y.decisions && x.too_late == y.too_late &&
         x.stopped == y.stopped && a.start == b.start && a.end == b.end && a.held == b.held && a.paid == b.paid && a.starts == b.starts &&
         a.preemptions == b.preemptions && a.moves == b.moves;
}

void PrintTo(const DelayReplayBuffers& result, std::ostream* out) {
  const kernel::DelayReplayTotals& t = result.totals;
  *out << "decisions " << t.decisions << " completed " << t.completed << " starts " << t.starts << " preemptions " << t.preemptions
       << " moves " << t.moves << " last end " << t.last_end << " too late " << t.too_late << " stopped " << t.stopped << "; ends";
  for (std::size_t j = 0; j < result.end.size(); ++j) *out << ' ' << result.start[j] << '-' << result.end[j] << '/' << result.held[j];
}

DelayReplayCase::DelayReplayCase(std::uint64_t seed, const RandomDelayReplaySpec& spec) {
  Random random(seed * 104'729 + 11);
  const auto n_nodes = random.within(1, spec.nodes);
  n_levels_ = random.of<std::int32_t>({2, 3, 3, 4});
  const std::int32_t most = random.of<std::int32_t>({1, 2, 4, 8, 8, 64});
  const bool unequal = random.percent(40), inner = random.percent(30);
  std::int32_t all = 0;
  inner_begin_.push_back(0);
  for (std::int32_t n = 0; n < n_nodes; ++n) {
    std::int32_t gpus = unequal ? random.within(1, most) : most;
    gpu_mask_.push_back(gpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << gpus) - 1);
    if (unequal && random.percent(20)) gpu_mask_.back() &= random.bits() | 1;
    gpus = std::popcount(gpu_mask_.back());
    all += gpus;
    node_gpus_ = std::max(node_gpus_, gpus);
    if (inner && gpus > 1) {
      const std::uint64_t low = (std::uint64_t{1} << random.within(1, gpus - 1)) - 1;
      inner_mask_.push_back(low);
      if (random.percent(80)) inner_mask_.push_back(~low & gpu_mask_.back());
    }
    inner_begin_.push_back(static_cast<std::int32_t>(inner_mask_.size()));
  }
  // Levels from the cluster down, so that domains nest: where one level splits, so do those below.
  const auto nodes = static_cast<std::size_t>(n_nodes), levels = static_cast<std::size_t>(n_levels_);
  node_domain_.assign(levels * nodes, 0);
  std::vector<std::vector<bool>> splits(levels, std::vector<bool>(nodes, false));  // before a node
  for (std::size_t level = levels - 1; level-- > 1;) {
    for (std::size_t n = 1; n < nodes; ++n) splits[level][n] = splits[level + 1][n] || random.percent(level == 1 ? 35 : 20);
  }
  level_begin_.push_back(0);
  std::int32_t domains = 0;
  for (std::size_t level = 1; level < levels; ++level) {
    level_begin_.push_back(domains);
    for (std::size_t n = 0; n < nodes; ++n) {
      const std::int32_t child = level == 1 ? static_cast<std::int32_t>(n) : node_domain_[(level - 1) * nodes + n];
      if (n == 0 || splits[level][n]) {
        child_first_.push_back(child);
        child_last_.push_back(child);
        ++domains;
      }
      child_last_.back() = child + 1;
      node_domain_[level * nodes + n] = domains - 1;
    }
  }
  level_begin_.push_back(domains);
  for (std::int32_t level = 0; level + 1 < n_levels_; ++level) {
    if (level > 0 && random.percent(15)) continue;
    std::int64_t gpus = node_gpus_;
    if (level > 0) {
      std::vector<std::int64_t> sums(static_cast<std::size_t>(domains), 0);
      for (std::size_t n = 0; n < nodes; ++n) {
        sums[static_cast<std::size_t>(node_domain_[static_cast<std::size_t>(level) * nodes + n])] += std::popcount(gpu_mask_[n]);
      }
      gpus = *std::max_element(sums.begin(), sums.end());
    }
    rung_level_.push_back(level);
    rung_gpus_.push_back(gpus);
  }
  const bool even = random.percent(50);
  const std::int64_t unit = even ? 1'000'000 : 1'000;
  const auto time = [&](std::int32_t units) { return std::int64_t{random.within(0, units)} * unit + (even ? 0 : random.below(1000)); };
  std::int64_t submit = 0;
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    if (!random.percent(40)) submit += time(random.of<std::int32_t>({2, 300}));
    submit_.push_back(submit);
    gpus_.push_back(random.percent(2) ? all + 1 : std::min(all, random.of<std::int32_t>({1, 1, 1, 2, 2, 3, 4, 5, 8, 8, 16, 40})));
    timer_class_.push_back(random.below(n_classes_));
    const std::int64_t ideal = random.percent(8) ? 0 : random.of<std::int64_t>({1'000'000, 7'777'777, 123'457});
    ideal_rate_.push_back(ideal);
    work_.push_back(random.percent(3) ? 0 : kernel::mul_div(time(2'000), ideal == 0 ? 1'000'000 : ideal, 1'000'000));
    start_cost_.push_back(random.percent(50) ? 0 : time(20));
    resume_cost_.push_back(random.percent(30) ? 0 : time(40));
    move_cost_.push_back(random.percent(30) ? 0 : time(40));
    rate_begin_.push_back(static_cast<std::int64_t>(rate_.size()));
    const std::int64_t rows = kernel::rate_rows(view(), gpus_.back());
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t best = ideal == 0 ? 1'000'000 : ideal;
      rate_.push_back(std::max<std::int64_t>(1, row == 0 ? best - random.below(9) : best / random.within(1, 9)));
    }
  }
  for (std::int32_t i = 0; i < spec.replays; ++i) {
    One& one = replays_.emplace_back();
    one.lease = even ? random.of<std::int64_t>({41, 300, 3000}) * 1'000'000 : random.within(41'001, 900'000);
    one.most_decisions = random.percent(10) ? random.within(1, 40) : 0;
    one.common = random.percent(25);
    for (std::size_t t = 0; t < static_cast<std::size_t>(n_classes_) * rung_level_.size(); ++t) {
      one.timers.push_back(random.percent(15)   ? INT64_MAX
                           : random.percent(20) ? 0
                                                : one.lease * random.within(0, 12) / random.of<std::int64_t>({1, 2, 3}));
    }
  }
}

kernel::DelayReplayView DelayReplayCase::view() const {
  kernel::DelayReplayView v{};
  v.n_jobs = static_cast<std::int32_t>(submit_.size());
  v.n_nodes = static_cast<std::int32_t>(gpu_mask_.size());
  v.n_levels = n_levels_;
  v.n_domains = static_cast<std::int32_t>(child_first_.size());
  v.n_inner = static_cast<std::int32_t>(inner_mask_.size());
  v.n_rungs = static_cast<std::int32_t>(rung_level_.size());
  v.n_classes = n_classes_;
  v.node_gpus = node_gpus_;
  v.n_rates = static_cast<std::int64_t>(rate_.size());
  v.submit = submit_.data();
  v.work = work_.data();
  v.ideal_rate = ideal_rate_.data();
  v.start_cost = start_cost_.data();
  v.resume_cost = resume_cost_.data();
  v.move_cost = move_cost_.data();
  v.rate_begin = rate_begin_.data();
  v.gpus = gpus_.data();
  v.timer_class = timer_class_.data();
  v.rate = rate_.data();
  v.gpu_mask = gpu_mask_.data();
  v.inner_begin = inner_begin_.data();
  v.inner_mask = inner_mask_.data();
  v.level_begin = level_begin_.data();
  v.node_domain = node_domain_.data();
  v.child_first = child_first_.data();
  v.child_last = child_last_.data();
  v.rung_level = rung_level_.data();
  v.rung_gpus = rung_gpus_.data();
  return v;
}

kernel::DelayReplayRequest DelayReplayCase::request(std::int32_t i) const {
  const One& one = replays_[static_cast<std::size_t>(i)];
  return {one.lease, one.most_decisions, one.common ? 1 : 0, one.timers.data()};
}

std::vector<DelayReplayBuffers> delay_replay(core::PlacementBackend& backend, const DelayReplayCase& one) {
  const kernel::DelayReplayView view = one.view();
  std::vector<DelayReplayBuffers> buffers(static_cast<std::size_t>(one.replays()), DelayReplayBuffers(view.n_jobs));
  std::vector<core::DelayReplayTask> tasks;
  std::vector<kernel::DelayReplayResult> results;
  for (std::int32_t i = 0; i < one.replays(); ++i) {
    tasks.push_back({one.request(i), nullptr});
    results.push_back(buffers[static_cast<std::size_t>(i)].view());
  }
  backend.delay_replay(view, tasks, results);
  return buffers;
}

}  // namespace berth::test
