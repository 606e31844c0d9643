#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

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

/// What Request::changes_only makes of a plan.
inline Plan without_unchanged(Plan plan) {
  plan.changes_only = true;
  std::erase_if(plan.decisions, [](const Decision& d) { return d.action == Action::kKeep || d.action == Action::kWait; });
  return plan;
}

}  // namespace berth::test
