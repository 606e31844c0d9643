#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "berth/kernel/victims/columns.hpp"
#include "host/backend/backend.hpp"
#include "tests/support/problem_builder.hpp"

/// Problems, questions and answers of the operation `victims`.
namespace berth::test {

struct RandomVictimsSpec {
  std::int32_t nodes = 8, jobs = 14, questions = 6;
  std::int32_t max_gpus = 8;       // of a node, up to 64
  std::int32_t gang_percent = 40;  // of the jobs: they hold GPUs of up to `gang_nodes` nodes
  std::int32_t gang_nodes = 4;
  bool limits = true;   // cores and memory, filters, nodes with an end or without open GPUs
  bool scarce = false;  // all nodes state cores, and members need most of them
};

/// Owns all columns of a problem and a request.
struct VictimsCase {
  Problem problem;
  std::vector<std::int32_t> demand, topology, domain, candidate_begin, candidate_end, chosen_begin, candidate_job, candidate_priority;
  std::vector<std::int64_t> candidate_cost;
  std::vector<TimeUs> ends;
  std::int32_t n_chosen = 0;

  /// Adds a candidate behind those that there are.
  void add_candidate(std::int32_t job, std::int32_t priority, std::int64_t cost);
  /// Adds a question with the candidates [begin, end).
  void ask(std::int32_t of_demand, std::int32_t of_topology, std::int32_t of_domain, std::int32_t begin, std::int32_t end,
           TimeUs ends_at = kNever);
  /// A question about the whole cluster and all candidates.
  void ask_all(std::int32_t of_demand);
  kernel::VictimsRequest request() const;
  std::int32_t questions() const { return static_cast<std::int32_t>(demand.size()); }
};

/// A pure function of its arguments.
VictimsCase random_victims(std::uint64_t seed, const RandomVictimsSpec& spec = {});

/// Owns the output columns. They start with invalid values, so that a column that a backend does not write is noticed.
struct VictimsBuffers {
  explicit VictimsBuffers(const VictimsCase& one);
  kernel::VictimsResult view();
  /// The candidates of a question that leave, from its first.
  std::vector<std::int32_t> chosen_of(const VictimsCase& one, std::int32_t question) const;

  std::vector<kernel::VictimsOutcome> outcome;
  std::vector<std::int32_t> priority, count;
  std::vector<std::int64_t> cost, members;
  std::vector<std::uint8_t> chosen;
};
bool operator==(const VictimsBuffers& a, const VictimsBuffers& b);
void PrintTo(const VictimsBuffers& result, std::ostream* out);

VictimsBuffers victims(core::PlacementBackend& backend, const VictimsCase& one);

}  // namespace berth::test
