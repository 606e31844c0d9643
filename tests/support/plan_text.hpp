#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "berth/io.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

/// For comparing plans of different states, whose job indices differ.
namespace berth::test {

/// Omits what may differ between equal answers: the revision and the backend.
inline std::string text_of(Plan plan, const ClusterState& state) {
  plan.revision = 0;
  plan.backend = "any";
  plan.backend_note.clear();
  return io::to_json(plan, state, false);
}

/// The first difference of two texts, with its context.
inline std::string parting(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const std::size_t from = i < 200 ? 0 : i - 200;
  return a.substr(from, 400) + "\n--- but ---\n" + b.substr(from, 400);
}

/// What Request::changes_only makes of a plan, where all reservations are listed.
inline Plan without_unchanged(Plan plan) {
  plan.changes_only = true;
  std::erase_if(plan.decisions, [](const Decision& d) { return d.action == Action::kKeep || d.action == Action::kWait; });
  return plan;
}

/// The same, with the reservations that `changes` lists. The two states are alike but for indices.
inline Plan without_unchanged(Plan plan, const ClusterState& state, const Plan& changes, const ClusterState& its_state) {
  std::set<std::string> listed;
  for (const Decision& d : changes.decisions) listed.insert(its_state.job(d.job)->id);
  plan = without_unchanged(std::move(plan));
  std::erase_if(plan.decisions, [&](const Decision& d) { return d.action == Action::kReserve && !listed.contains(state.job(d.job)->id); });
  plan.reservations_since = changes.reservations_since;
  for (const std::int32_t job : changes.reservations_dropped) plan.reservations_dropped.push_back(state.find_job(its_state.job(job)->id));
  return plan;
}

}  // namespace berth::test
