#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "berth/kernel/score/score.hpp"
#include "host/core/backend/cuda_backend.hpp"
#include "host/cpu/score.hpp"
#include "tests/support/parity/backends.hpp"
#include "tests/support/random_problem.hpp"
#include "tests/support/result_buffers.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::kernel {
bool operator==(const CandidateRow& a, const CandidateRow& b) {
  return a.score == b.score && a.gpu_time_ms == b.gpu_time_ms && a.leftover == b.leftover && a.option == b.option && a.where == b.where;
}
void PrintTo(const CandidateRow& c, std::ostream* out) {
  *out << "{score " << c.score << " time " << c.gpu_time_ms << " left " << c.leftover << " option " << c.option << " at " << c.where << "}";
}
}  // namespace berth::kernel

namespace berth::test {
namespace {

using cpu::Collapse;

/// Every scoring method that must equal the reference.
struct Way {
  std::string name;
  std::function<void(const kernel::ProblemView&, const kernel::ScoreQuery&, kernel::CandidateRow*)> score;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

Way on_threads(int threads, Collapse collapse) {
  return {"cpu" + std::to_string(threads) + (collapse == Collapse::kOn ? "" : "Uncollapsed"),
          [=](const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) {
            cpu::ScoreTable table;
            cpu::score(table, problem, request, threads, collapse, out);
          }};
}

/// Runs the group body of every request with a block of threads.
struct RunBlocks {
  const kernel::ScoreTableView& table;
  std::int32_t size;
  kernel::BestPlace* best;

  template <int kMost, bool kThreshold>
  void run() const {
    run_with_threads(size, [&](auto& group) {
      for (std::int32_t demand = 0; demand < table.n_demands; ++demand) {
        kernel::best_places<kMost, kThreshold>(group, table, demand, best + std::ptrdiff_t{demand} * table.k);
        group.sync();
      }
    });
  }
};

Way on_block(std::int32_t size) {
  return {"block" + std::to_string(size),
          [=](const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) {
            if (request.n == 0) return;
            cpu::ScoreTable table;
            table.build(problem, request, Collapse::kOn);
            const kernel::ScoreTableView view = table.view();
            table.best().resize(static_cast<std::size_t>(view.n_demands) * static_cast<std::size_t>(view.k));
            kernel::with_score_variant(view, RunBlocks{view, size, table.best().data()});
            cpu::write_candidates(table, 1, request.n, table.best().data(), out);
          }};
}

Way on_cuda(core::CudaBackend& cuda, Collapse collapse) {
  return {collapse == Collapse::kOn ? "cuda" : "cudaUncollapsed",
          [&cuda, collapse](const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) {
            cuda.score(problem, request, collapse, out);
          }};
}

void expect_equals_reference(const Way& way, const Problem& problem, const ScoreCase& asked, const std::string& what) {
  const kernel::ProblemView view = problem.view();
  const kernel::ScoreQuery request = asked.view();
  const std::vector<kernel::CandidateRow> want = score(*core::make_reference_backend(), problem, request);
  std::vector<kernel::CandidateRow> got(want.size(), kernel::CandidateRow{-7, -7, -7, -7, -7});

  way.score(view, request, got.data());

  ASSERT_EQ(got, want) << way.name << ", " << what << ", topology " << asked.topology << " level " << asked.level << " k " << asked.k;
}

/// @param seeds  Problems of each size; there are few large ones.
void sweep(const Way& way) {
  for (const std::int32_t jobs : {0, 1, 31, 32, 33, 257, 4099}) {
    const std::uint64_t seeds = jobs <= 33 ? 40 : jobs <= 257 ? 12 : 2;
    for (std::uint64_t seed = 0; seed < seeds; seed += parity_stride()) {
      RandomSpec spec;
      spec.jobs = jobs;
      spec.nodes = static_cast<std::int32_t>(1 + seed * 7 % 70);
      const Problem problem = random_problem(seed, spec);
      const std::string what = std::to_string(jobs) + " jobs, seed " + std::to_string(seed);
      ASSERT_NO_FATAL_FAILURE(expect_equals_reference(way, problem, random_score(seed, problem), what));
    }
  }
}

/// Every level of every topology of one problem, with every k: random cases may miss a pair.
void every_level(const Way& way) {
  RandomSpec spec;
  spec.nodes = 30;
  const Problem problem = random_problem(99, spec);
  for (std::int32_t topology = 0; topology < 5; ++topology) {
    for (std::int32_t level = 0; level < problem.topology[static_cast<std::size_t>(topology)].levels; ++level) {
      for (const std::int32_t k : {1, 3, 4, 5, kernel::kMaxBest}) {
        ScoreCase asked = random_score(static_cast<std::uint64_t>(topology + 5 * level), problem);
        asked.topology = topology;
        asked.level = level;
        asked.k = k;
        asked.domain_cost.clear();
        asked.leftover_weight = level % 2 == 0 ? 1000 : -1000;
        ASSERT_NO_FATAL_FAILURE(expect_equals_reference(way, problem, asked, "all levels"));
      }
    }
  }
}

class ScoreOnCpu : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, ScoreOnCpu,
                         testing::Values(on_threads(1, Collapse::kOn), on_threads(2, Collapse::kOn), on_threads(5, Collapse::kOn),
                                         on_threads(1, Collapse::kOff), on_threads(5, Collapse::kOff)),
                         [](const auto& one) { return one.param.name; });

TEST_P(ScoreOnCpu, EqualsReferenceAcrossSizes) { sweep(GetParam()); }
TEST_P(ScoreOnCpu, EqualsReferenceAtEveryLevel) { every_level(GetParam()); }

class ScoreOnBlock : public testing::TestWithParam<std::int32_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ScoreOnBlock, testing::Values(2, 7, 32), testing::PrintToStringParamName());

TEST_P(ScoreOnBlock, EqualsReference) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Problem problem = random_problem(seed);
    ASSERT_NO_FATAL_FAILURE(expect_equals_reference(on_block(GetParam()), problem, random_score(seed, problem), std::to_string(seed)));
  }
}

TEST(Score, TiesBetweenKindsFallToTheLowerNode) {
  // Nodes 0, 2, 4 and 1, 3, 5 differ in cores, of which the job needs fewer: all score equal.
  ProblemBuilder builder;
  for (int i = 0; i < 6; ++i) {
    NodeSpec node;
    node.path[kSwitchTopology] = "r";
    node.cpu = i % 2 == 0 ? 4000 : 8000;
    builder.node(node);
  }
  GroupSpec small;
  small.cpu = 1000;
  GroupSpec large;
  large.cpu = 5000;
  builder.ask(small);
  builder.ask(large);
  const Problem problem = builder.build();
  ScoreCase asked;
  asked.jobs = {0, 1};
  asked.option_run = {kNever, kNever};
  asked.k = 4;

  std::vector<kernel::CandidateRow> got(8);
  cpu::ScoreTable table;
  cpu::score(table, problem.view(), asked.view(), 1, Collapse::kOn, got.data());

  std::vector<std::int32_t> where;
  for (const kernel::CandidateRow& candidate : got) where.push_back(candidate.where);
  EXPECT_EQ(where, (std::vector<std::int32_t>{0, 1, 2, 3, 1, 3, 5, kernel::kNone}));
  EXPECT_EQ(table.view().kinds.n, 2);
}

TEST(Score, EqualNodesAndOptionsAreScoredOnce) {
  ProblemBuilder builder;
  builder.rack("a", {8, 8, 8, 4}).rack("b", {8, 8, 8, 4}).rack("c", {8, 8, 4, 4});
  GroupSpec pair;
  pair.members = 2;
  pair.gpus = 4;
  const int demand = builder.demand({{pair}});
  for (int i = 0; i < 10; ++i) builder.job({demand});
  const Problem problem = builder.build();
  ScoreCase asked;
  for (int i = 0; i < 10; ++i) {
    asked.jobs.push_back(i);
    asked.option_run.push_back((i + 1) * kSecond);
  }
  asked.level = 1;
  cpu::ScoreTable table;

  table.build(problem.view(), asked.view(), Collapse::kOn);

  EXPECT_EQ(table.view().kinds.n, 2);
  EXPECT_EQ(table.view().places.n, 2);   // racks a and b are equal
  EXPECT_EQ(table.view().n_demands, 1);  // run times only shift scores
}

class ScoreOnCuda : public testing::TestWithParam<Collapse> {
 protected:
  void SetUp() override {
    std::string why;
    cuda_ = core::CudaBackend::open(why);
    if (cuda_ != nullptr) return;
    if (gpu_is_required()) FAIL() << "cuda is required here and cannot be used: " << why;
    GTEST_SKIP() << "cuda cannot be used here: " << why;
  }
  std::unique_ptr<core::CudaBackend> cuda_;
};
INSTANTIATE_TEST_SUITE_P(Collapse, ScoreOnCuda, testing::Values(Collapse::kOn, Collapse::kOff),
                         [](const auto& one) { return one.param == Collapse::kOn ? "Yes" : "No"; });

TEST_P(ScoreOnCuda, EqualsReferenceAcrossSizes) { sweep(on_cuda(*cuda_, GetParam())); }
TEST_P(ScoreOnCuda, EqualsReferenceAtEveryLevel) { every_level(on_cuda(*cuda_, GetParam())); }

}  // namespace
}  // namespace berth::test
