#include "host/reference/ones/reorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "berth/kernel/ones/ones.hpp"
#include "tests/support/random.hpp"
#include "tests/support/thread_group.hpp"

/// docs/ones.md, section 6: a group reorders as one thread does, with any number of threads and blocks.
namespace berth::test::ones_reorder_test {
namespace {

std::size_t to_size(std::int32_t i) { return static_cast<std::size_t>(i); }

struct ReorderSpec {
  std::int32_t jobs;
  std::int32_t most = 9;            // GPUs of a job: more than a node
  std::int32_t gap_percent = 20;    // before a deployed block
  std::int32_t away_percent = 30;   // jobs that are not deployed
  std::int32_t same_percent = 40;   // jobs that keep their count
  std::int32_t spare_percent = 10;  // GPUs beyond those that are deployed
  bool full = false;                // the last job takes all GPUs that are left
};

/// A deployment and new counts, with all columns that a reorder uses.
class ReorderCase {
 public:
  ReorderCase(std::uint64_t seed, const ReorderSpec& spec) : first_(to_size(spec.jobs)), had_(to_size(spec.jobs)) {
    Random random(seed);
    std::vector<std::size_t> order(to_size(spec.jobs));
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(order);
    std::int32_t x = 0;
    for (const std::size_t j : order) {
      first_[j] = random.below(1000);  // an arbitrary value, where it is not deployed
      if (random.percent(spec.away_percent)) continue;
      if (random.percent(spec.gap_percent)) x += random.within(1, spec.most);
      first_[j] = x;
      had_[j] = random.within(1, spec.most);
      x += had_[j];
    }
    n_gpus_ = std::max(1, x + x * spec.spare_percent / 100 + random.below(spec.most));
    std::int32_t left = n_gpus_;
    random.shuffle(order);
    for (const std::size_t j : order) {
      const std::int32_t count = random.percent(spec.same_percent) ? had_[j] : random.within(0, spec.most);
      count_.resize(order.size());
      count_[j] = std::min(left, spec.full && j == order.back() ? left : count);
      left -= count_[j];
    }
    taken_.resize(to_size(n_gpus_) + 1);
    by_home_.resize(order.size());
    deployed_ = kernel::ones_deployed(view(), taken_.data(), by_home_.data());
    kernel::OnesWorkspace ws{};
    memory_.resize(kernel::carve_ones_workspace(nullptr, spec.jobs, ws) / sizeof(std::max_align_t) + 1);
  }

  kernel::OnesView view() const {
    kernel::OnesView v{};
    v.n_gpus = n_gpus_;
    v.n_jobs = static_cast<std::int32_t>(first_.size());
    v.deployed_first = first_.data();
    v.deployed_count = had_.data();
    return v;
  }
  const kernel::OnesDeployed& deployed() const { return deployed_; }
  const std::vector<std::int32_t>& counts() const { return count_; }
  kernel::OnesWorkspace workspace() {
    kernel::OnesWorkspace ws{};
    kernel::carve_ones_workspace(memory_.data(), view().n_jobs, ws);
    return ws;
  }
  kernel::OnesBlocks blocks(const kernel::OnesWorkspace& ws) const {
    kernel::SerialGroup alone;
    return kernel::ones_gather(alone, view(), taken_.data(), count_.data(), ws, ws.other_at);
  }

  /// First GPUs by job, as written out again in section 6.
  std::vector<std::int32_t> expected() const {
    reference::OnesBlockList blocks;
    for (std::size_t j = 0; j < first_.size(); ++j) blocks.push_back({first_[j], had_[j]});
    std::vector<std::int32_t> firsts;
    const reference::OnesBlockList reordered = reference::reorder_ones(n_gpus_, blocks, count_);
    for (const auto& block : reordered) firsts.push_back(block.count > 0 ? block.first : 0);
    return firsts;
  }

 private:
  std::int32_t n_gpus_ = 0;
  std::vector<std::int32_t> first_, had_, count_, taken_, by_home_;
  kernel::OnesDeployed deployed_{};
  std::vector<std::max_align_t> memory_;
};

/// Around the sizes of tiles; full clusters, where no block may wait for its place; many gaps, where all may; new jobs only.
std::vector<ReorderSpec> specs() {
  std::vector<ReorderSpec> all;
  for (const std::int32_t jobs : {0, 1, 2, 5, 31, 32, 33, 64, 65, 100}) {
    all.push_back({.jobs = jobs});
    all.push_back({.jobs = jobs, .most = 3, .gap_percent = 0, .spare_percent = 0, .full = true});
    all.push_back({.jobs = jobs, .most = 30, .gap_percent = 80, .same_percent = 80, .spare_percent = 60});
    all.push_back({.jobs = jobs, .most = 2, .away_percent = 100});
    all.push_back({.jobs = jobs, .away_percent = 0, .same_percent = 0, .spare_percent = 3});
  }
  return all;
}

bool same_step(const kernel::OnesStep& a, const kernel::OnesStep& b) { return a.end == b.end && a.held == b.held && a.cost == b.cost; }

class OnesReorderBy : public testing::TestWithParam<std::int32_t> {};
INSTANTIATE_TEST_SUITE_P(Threads, OnesReorderBy, testing::Values(1, 2, 7, 32), testing::PrintToStringParamName());

// Each state of a layout is `ones_step` of the state before it.
TEST_P(OnesReorderBy, LaysOutAsOneBlockAfterTheOther) {
  std::int32_t waited = 0, pushed = 0;  // blocks for their deployed place, or because others need the rest
  std::uint64_t seed = 0;
  for (const ReorderSpec& spec : specs()) {
    ReorderCase one(++seed, spec);
    const kernel::OnesWorkspace ws = one.workspace();
    const kernel::OnesBlocks blocks = one.blocks(ws);
    std::vector<std::int32_t> order(to_size(blocks.n)), at(order.size(), -1), expected_at(order.size(), -1);
    std::iota(order.begin(), order.end(), 0);
    Random random(seed);
    if (random.percent(50)) random.shuffle(order);
    if (random.percent(50)) {
      std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return blocks[a].home < blocks[b].home; });
    }
    std::vector<kernel::OnesStep> expected{{0, 0, 0}};
    for (const std::int32_t b : order) {
      const kernel::OnesStep before = expected.back();
      expected.push_back(kernel::ones_step(blocks, blocks[b], before));
      expected_at[to_size(b)] = expected.back().end - blocks[b].size;
      waited += expected_at[to_size(b)] > before.end ? 1 : 0;
      pushed += blocks[b].is_deployed() && expected_at[to_size(b)] < blocks[b].home ? 1 : 0;
    }

    std::vector<std::int64_t> costs(to_size(GetParam()), -1);
    run_with_threads(GetParam(),
                     [&](auto& group) { costs[to_size(group.rank())] = kernel::ones_lay(group, blocks, order.data(), at.data()); });

    EXPECT_EQ(costs, std::vector(costs.size(), std::int64_t{expected.back().cost})) << "seed " << seed;
    EXPECT_EQ(at, expected_at) << "seed " << seed;
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), ws.steps, same_step)) << "seed " << seed;
  }
  EXPECT_GT(waited, 20);
  EXPECT_GT(pushed, 20);
}

TEST_P(OnesReorderBy, EqualsReference) {
  std::uint64_t seed = 1000;
  for (const ReorderSpec& spec : specs()) {
    for (std::int32_t again = 0; again < (spec.jobs <= 5 ? 8 : 1); ++again) {
      ReorderCase one(++seed, spec);
      const kernel::OnesWorkspace ws = one.workspace();
      std::vector<std::int32_t> first(to_size(spec.jobs), -1);
      run_with_threads(
          GetParam(), [&](auto& group) { kernel::ones_reorder(group, one.view(), one.deployed(), one.counts().data(), ws, first.data()); });
      EXPECT_EQ(first, one.expected()) << "seed " << seed << ", " << spec.jobs << " jobs";
    }
  }
}

}  // namespace
}  // namespace berth::test::ones_reorder_test
