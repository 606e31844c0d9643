#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/score/columns.hpp"
#include "berth/placement.hpp"
#include "host/backend/backend.hpp"

namespace berth::core {

/// One scoring question: from names to columns, and back. Memory is kept between questions.
class Scoring {
 public:
  /// @throws InvalidArgument naming the value. The request is valid until the next compile or change of the state.
  kernel::ScoreQuery compile(const StateImpl& state, const ScoreRequest& request);
  void run(PlacementBackend& backend, const kernel::ScoreQuery& asked) { backend.score(problem_, asked, best_.data()); }
  void read(const StateImpl& state, const kernel::ScoreQuery& asked, Candidates& out) const;

 private:
  void read_jobs(const StateImpl& state, const std::vector<std::string>& ids);
  void read_costs(const StateImpl& state, const ScoreRequest& request, std::int32_t level);

  kernel::ProblemView problem_{};
  std::vector<std::int32_t> jobs_;
  std::vector<TimeUs> option_run_;  // [options]
  std::vector<std::int64_t> cost_;  // [places of the level], or empty: none
  std::vector<kernel::TakenRow> taken_;
  std::vector<std::uint64_t> free_;         // the problem's, less what is taken
  std::vector<kernel::CandidateRow> best_;  // [jobs * k]
};

}  // namespace berth::core
