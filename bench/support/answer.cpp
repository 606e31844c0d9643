#include "bench/support/answer.hpp"

#include <cstdio>
#include <cstdlib>

namespace berth::bench {

void require(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "wrong answer, nothing was timed: %s\n", what.c_str());
  std::exit(1);
}

void require_valid(const ClusterState& state, const Plan& plan) {
  const std::vector<std::string> violations = validate_plan(state, plan, 3);
  require(violations.empty(), violations.empty() ? "" : violations.front());
}

void require_equal_to_reference(const ClusterState& state, Request request, const Plan& plan) {
  request.backend = Backend::kReference;
  Engine engine;
  Plan want = engine.decide(state, request);
  want.backend = plan.backend;
  want.backend_note = plan.backend_note;
  require(same_plan(want, plan), "the reference decides otherwise");
}

}  // namespace berth::bench
