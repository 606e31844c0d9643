#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "berth/kernel/contend/dense.hpp"
#include "berth/kernel/contend/loads.hpp"
#include "berth/kernel/contend/pairs.hpp"
#include "host/backend/check_contend.hpp"
#include "tests/support/contend/random_contend.hpp"
#include "tests/support/parity/backends.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::test::contend_test {
namespace {

/// By seed: no links, jobs or candidates up to more than one block of jobs has, and rows of one link up to all.
RandomContendSpec contend_spec(std::uint64_t seed) {
  constexpr std::int32_t kSizes[] = {33, 0, 1, 31, 32, 257, 90};
  constexpr std::int32_t kLinks[] = {40, 1, 0, 12, 300, 700};
  constexpr std::int32_t kRows[] = {12, 1, 64};
  return {kLinks[seed % 6], kSizes[seed % 7], kSizes[seed / 7 % 7], kRows[seed / 6 % 3]};
}

class ContendOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, ContendOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(ContendOnBackend, EqualsReference) {
  const auto reference = core::make_reference_backend();
  std::int64_t shared = 0, overloaded = 0, failed = 0;
  for (std::uint64_t seed = 0; seed < 294; seed += parity_stride()) {
    const ContendCase one(seed, contend_spec(seed));
    core::check_contend(one.view(), one.request());
    const ContendBuffers want = contend(*reference, one);
    ASSERT_EQ(contend(backend(), one), want) << "seed " << seed;
    shared += std::count_if(want.top_job.begin(), want.top_job.end(), [](std::int32_t job) { return job >= 0; });
    overloaded += std::count_if(want.overload.begin(), want.overload.end(), [](std::int64_t over) { return over > 0; });
    failed += std::count_if(want.failed.begin(), want.failed.end(), [](std::int32_t links) { return links > 0; });
  }
  if (parity_stride() > 1) return;  // too few to count
  EXPECT_GT(shared, 20'000);
  EXPECT_GT(overloaded, 5'000);
  EXPECT_GT(failed, 2'000);
}

/// More candidates, jobs, and jobs than one tile of a backend has.
TEST_P(ContendOnBackend, EqualsReferenceAtLargeSizes) {
  const auto reference = core::make_reference_backend();
  const RandomContendSpec specs[] = {{30, 33, 4099, 8}, {60, 4099, 33, 30}, {20, 13'000, 5, 6}, {40, 30'000, 3, 3}};
  std::uint64_t seed = 1000;
  for (const RandomContendSpec& spec : specs) {
    for (const kernel::ContendMethod method : {kernel::ContendMethod::kSparse, kernel::ContendMethod::kDense}) {
      if (seed % parity_stride() != 0 && parity_stride() > 1 && spec.jobs > 5000) continue;
      ContendCase one(++seed, spec);
      one.method = method;
      ASSERT_EQ(contend(backend(), one), contend(*reference, one)) << "seed " << seed;
    }
  }
}

/// Running jobs next to each other: the candidates are their own rows, and each excludes its own.
TEST_P(ContendOnBackend, RunningJobsNextToEachOtherAreSymmetric) {
  ContendCase one(7, {40, 65, 0, 12});
  one.begin = one.job_begin;
  one.link = one.job_link;
  one.use = one.job_use;
  one.load.clear();
  one.weight.clear();
  one.excluded.clear();
  for (std::int32_t j = 0; j < one.jobs(); ++j) one.excluded.push_back(j);
  one.limbs = 1;

  const ContendBuffers got = contend(backend(), one);

  ASSERT_EQ(got, contend(*core::make_reference_backend(), one));
  const auto jobs = static_cast<std::size_t>(one.jobs());
  for (std::size_t a = 0; a < jobs; ++a) {
    EXPECT_EQ(got.pair_value[a * jobs + a], 0);
    for (std::size_t b = 0; b < a; ++b) EXPECT_EQ(got.pair_value[a * jobs + b], got.pair_value[b * jobs + a]);
  }
}

TEST_P(ContendOnBackend, OnlyTheColumnsThatAreWantedAreWritten) {
  ContendCase one(11, {40, 33, 33, 12});
  ContendBuffers all = contend(*core::make_reference_backend(), one);
  ASSERT_NE(one.k, 0);
  const kernel::ContendResult columns = all.view();
  for (int i = 0; i < 18; ++i) {
    const int only = i / 2;
    one.method = i % 2 == 0 ? kernel::ContendMethod::kSparse : kernel::ContendMethod::kDense;
    ContendBuffers got(one), want(one);
    kernel::ContendResult wanted{};
    int at = 0;
    const auto take = [&](std::int64_t, auto*& column, auto*& buffer) { column = at++ == only ? buffer : nullptr; };
    kernel::ContendResult buffers = got.view();
    kernel::for_each_column(one.view(), one.request(), take, wanted, buffers);
    at = 0;
    kernel::ContendResult from = columns, to = want.view();
    const auto copy = [&](std::int64_t n, const auto* source, auto* target) {
      if (at++ == only) std::copy_n(source, n, target);
    };
    kernel::for_each_column(one.view(), one.request(), copy, from, to);
    backend().contend(one.view(), one.request(), wanted);
    EXPECT_EQ(got, want) << "column " << only;
  }
}

/// A group of threads, as a warp of a GPU, and of one. Tiles of few jobs, so that their largest are merged.
TEST(ContendOnBlock, EqualsReference) {
  const auto reference = core::make_reference_backend();
  for (const std::int32_t threads : {1, 2, 7, 32}) {
    for (std::uint64_t seed = 0; seed < 84; seed += threads == 1 ? 1 : threads == 32 ? 17 : 5) {
      RandomContendSpec spec = contend_spec(seed);
      spec.candidates = std::min(spec.candidates, threads == 1 ? 33 : 3);
      const ContendCase one(seed, spec);
      const kernel::ContendView view = one.view();
      const kernel::ContendRequest request = one.request();
      const IndexedJobs jobs(one, seed % 3 == 0 ? 32 : 64);
      const DenseMatrices matrices(one, seed % 5 == 0);
      kernel::ContendWorkspace ws{};
      std::vector<std::int32_t> memory(
          static_cast<std::size_t>(kernel::carve_contend_workspace(nullptr, jobs.index.tile_jobs, request.k, ws)));
      kernel::carve_contend_workspace(memory.data(), jobs.index.tile_jobs, request.k, ws);
      ContendBuffers got(one);
      const kernel::ContendResult result = got.view();
      std::copy_n(jobs.index.load, view.n_links, result.load);
      const auto run = [&](auto& group) {
        for (std::int32_t i = 0; i < request.n; ++i) {
          kernel::contend_loads(group, view, view.load == nullptr ? jobs.index.load : view.load, request, i, result);
          kernel::contend_pair_sum(group, view, jobs.index, request, i, result.pair_sum);
          if (seed % 2 == 0) {
            kernel::contend_sparse(group, view, jobs.index, request, i, ws, result);
          } else {
            kernel::contend_dense(group, view, matrices.dense, jobs.index.tile_jobs, request, i, ws, result);
          }
          group.sync();
        }
      };
      if (threads == 1) {
        kernel::SerialGroup group;
        run(group);
      } else {
        run_with_threads(threads, run);
      }
      ASSERT_EQ(got, contend(*reference, one)) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace berth::test::contend_test
