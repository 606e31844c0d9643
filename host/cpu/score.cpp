#include "host/cpu/score.hpp"

#include <algorithm>
#include <vector>

#include "berth/kernel/score/score.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {

/// One demand, on one thread.
template <int kMost, bool kThreshold>
struct ScoreOneRequest {
  kernel::ScoreTableView table;
  kernel::BestPlace* best;

  void operator()(std::int64_t demand) const {
    kernel::SerialGroup group;
    kernel::best_places<kMost, kThreshold>(group, table, static_cast<std::int32_t>(demand), best + demand * table.k);
  }
};

/// All requests, on threads.
struct ScoreAllRequests {
  const kernel::ScoreTableView& table;
  int threads;
  kernel::BestPlace* best;

  template <int kMost, bool kThreshold>
  void run() const {
    // About 100 microseconds of work per run that a thread takes.
    const std::int64_t grain = std::max(1, 50'000 / std::max(1, table.places.n));
    for_each_n(threads, table.n_demands, grain, ScoreOneRequest<kMost, kThreshold>{table, best});
  }
};

struct WriteBest {
  const ScoreTable* table;
  const kernel::BestPlace* best;
  kernel::CandidateRow* out;
  std::int32_t k;

  void operator()(std::int64_t job) const { table->write_best(static_cast<std::int32_t>(job), best, out + job * k); }
};

}  // namespace

void write_candidates(const ScoreTable& table, int threads, std::int32_t n_jobs, const kernel::BestPlace* best, kernel::CandidateRow* out) {
  constexpr std::int64_t kJobsAThread = 4096;  // with fewer jobs a thread costs more than it saves
  for_each_n(threads, n_jobs, kJobsAThread, WriteBest{&table, best, out, table.view().k});
}

void score(ScoreTable& table, const kernel::ProblemView& problem, const kernel::ScoreQuery& request, int threads, Collapse collapse,
           kernel::CandidateRow* out) {
  if (request.n == 0) return;
  table.build(problem, request, collapse);
  const kernel::ScoreTableView view = table.view();
  std::vector<kernel::BestPlace>& best = table.best();
  best.resize(static_cast<std::size_t>(view.n_demands) * static_cast<std::size_t>(view.k));
  kernel::with_score_variant(view, ScoreAllRequests{view, threads, best.data()});
  write_candidates(table, threads, request.n, best.data(), out);
}

}  // namespace berth::cpu
