#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// The reservations of the last plan that an engine made on a state, so that a plan of changes lists those that differ.
/// Empty where the plan reserves nothing. Memory is kept between plans.
class LastReservations {
 public:
  /// Another state comes, or the last decision failed.
  void forget() { revision_ = 0; }

  /// The whole plan is the last one from now on. A plan of changes then loses jobs that are kept or wait, and reservations that stand.
  void follow(const StateImpl& state, const Request& request, Plan& plan);

 private:
  struct Row {
    std::int32_t job = -1;
    std::int32_t shape = -1;
    std::uint64_t version = 0;  // of the job's description: never given twice
    TimeUs start = kNever, finish = kNever;
    std::int64_t rate = 0;
    std::int32_t entry_begin = 0, entry_end = 0;
  };
  struct Reservations {
    std::vector<Row> rows;
    std::vector<std::string> ids;  // [rows] or more
    std::vector<PlanEntry> entries;

    void read(const StateImpl& state, const Plan& plan);
    std::span<const PlanEntry> entries_of(const Row& row) const;
  };

  bool is_base_of(const StateImpl& state, const Request& request) const;
  static bool same(const Reservations& a, const Row& of_a, const Reservations& b, const Row& of_b);
  void list_differences(const StateImpl& state, Plan& plan);

  Reservations last_, next_;
  std::uint64_t revision_ = 0;  // of the last plan; 0: there is none
  std::uint64_t cluster_ = 0;   // StateImpl::cluster_version: ranks of nodes hold for it
  std::string policy_;
  std::vector<std::pair<std::string, std::string>> params_;
  std::uint64_t seed_ = 0;
  std::int64_t max_iterations_ = 0;
  std::vector<std::int32_t> position_;  // [jobs of the state] in last_.rows, -1: none
};

}  // namespace berth::core
