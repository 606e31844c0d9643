#include "host/core/choice/shape_program.hpp"

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/choice/shape_problem_of.hpp"
#include "host/core/choice/shape_view.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

kernel::PriceView ShapeProgram::view() const { return shape_view(capacity, option_begin, type, gpus, value); }

void require_bound(const std::string& policy) {
  if (find_policy(policy).choice != nullptr) return;
  std::string known;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.choice != nullptr) known += (known.empty() ? "" : ", ") + entry.info.name;
  }
  throw InvalidArgument("policy '" + policy + "' orders jobs and has no bound (those that have one: " + known + ")");
}

void require_program(const std::string& policy) {
  require_bound(policy);
  const PolicyEntry& entry = find_policy(policy);
  if (entry.shapes == nullptr || !entry.shapes({})->by_shares()) return;
  throw InvalidArgument("policy '" + policy +
                        "' seeks shares of the time, not a choice of shapes: the least level of the shares and its bound are in what it "
                        "keeps (berth plan --state-out FILE), docs/shares.md has its program");
}

ShapeProgram shape_program(const StateView& state, const std::string& policy, const Params& params) {
  const StateImpl& s = impl_of(state);
  require_program(policy);
  ChosenPolicy chosen;
  chosen.choose(policy, params);
  const ShapeProblem choice = shape_problem_of(s, chosen);
  const kernel::PriceView view = choice.view();
  const ChosenShapes named = choice.chosen();
  ShapeProgram p;
  p.policy = policy;
  p.objective = objective_name(chosen.choice.objective);
  p.capacity.assign(view.capacity, view.capacity + view.n_types);
  for (std::size_t t = 0; t < p.capacity.size(); ++t) p.capacity[t] += choice.beyond()[t];
  p.option_begin = named.option_begin;
  for (const GpuType& type : s.gpu_types) p.type_id.push_back(type.id);
  for (const std::int32_t job : named.jobs) p.job_id.push_back(s.jobs[to_index(job)].job->id);
  for (std::size_t k = 0; k < named.options.size(); ++k) {
    const ChoiceOption& one = named.options[k];
    const JobRecord& record = s.jobs[to_index(one.job)];
    p.type.push_back(one.type);
    p.gpus.push_back(one.gpus);
    p.value.push_back(named.value[k]);
    p.shape_id.push_back(record.job->shapes[to_index(record.options[to_index(one.option)].shape)].id);
  }
  return p;
}

}  // namespace berth::core
