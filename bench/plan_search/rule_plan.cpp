#include "bench/plan_search/rule_plan.hpp"

#include "bench/support/answer.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::bench {

core::PassInput::Marks RulePlanner::look(const StateImpl& s, const Plan& by) {
  chosen_.choose(by.policy, by.params);
  problem_.build(s, chosen_.rules);
  core::PassInput::Marks marks{problem_.lost(), problem_.failures(), builder_.reject(s, problem_.view(), certificates_)};
  marks.impossible = builder_.impossible(s, problem_.view());
  return marks;
}

void RulePlanner::warm(const ClusterState& state, const Plan& by) { look(state.impl(), by); }

void RulePlanner::decide(const ClusterState& state, const Plan& by, core::ShapePolicy& rule, Plan& plan) {
  const StateImpl& s = state.impl();
  const core::PassInput::Marks marks = look(s, by);
  input_.look(s);
  core::StopToken never;
  const PolicyState nothing_kept;
  choice_.choose(s, problem_.view(), marks, {chosen_.choice, &rule, nothing_kept, 0, 0}, *backend_, never);

  places_.begin(s);
  pass_.build(s, problem_.view(), marks, choice_.chosen(), chosen_.rules, places_, {});
  kernel::PlaceRequest request = pass_.request();
  kernel::ProblemView visited = pass_.problem();
  const kernel::PlaceResult placed = result_.prepare(request.n, core::entry_bound(visited));
  backend_->place(visited, {request, {}, nullptr}, placed);
  pass_.translate(problem_.view(), visited, request, placed);
  overruns_.withdraw(s, visited, request, placed);

  plan = {};
  plan.revision = s.revision;
  plan.now_us = s.now;
  plan.policy = by.policy;
  plan.params = by.params;
  plan.backend = backend_->name();
  plan.stopped_by = "done";
  plan.tables = s.tables_hash();
  builder_.build(s,
                 {&request, &placed, &visited, &problem_.lost(), &problem_.repaired(), &problem_.repairs(), &input_.remaining(), nullptr,
                  &choice_, &pass_.left()},
                 plan);
  choice_.report(s, chosen_.choice, plan);
  core::ValidateOptions options;
  options.known = &certificates_;
  const std::vector<std::string>& violations = validator_.check(s.facts(), plan, options);
  require(violations.empty(), violations.empty() ? "" : violations.front());
}

}  // namespace berth::bench
