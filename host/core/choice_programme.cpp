#include "host/core/choice_programme.hpp"

#include "berth/error.hpp"
#include "host/core/at.hpp"
#include "host/core/choice_look.hpp"
#include "host/core/choice_view.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {

kernel::ChoiceView ChoiceProgramme::view() const { return choice_view(capacity, option_begin, type, gpus, value); }

void require_bound(const std::string& policy) {
  if (find_policy(policy).choice != nullptr) return;
  std::string known;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.choice != nullptr) known += (known.empty() ? "" : ", ") + entry.info.name;
  }
  throw InvalidArgument("policy '" + policy + "' orders jobs and has no bound (those that have one: " + known + ")");
}

void require_programme(const std::string& policy) {
  require_bound(policy);
  const PolicyEntry& entry = find_policy(policy);
  if (entry.shapes == nullptr || !entry.shapes({})->by_shares()) return;
  throw InvalidArgument("policy '" + policy +
                        "' seeks shares of the time, not a choice of shapes: the least level of the shares and its bound are in what it "
                        "keeps (berth plan --state-out FILE), docs/shares.md has its programme");
}

ChoiceProgramme choice_programme(const StateImpl& s, const std::string& policy, const Params& params) {
  require_programme(policy);
  ChosenPolicy chosen;
  chosen.choose(policy, params);
  const ShapeChoice choice = look_at_choice(s, chosen);
  const kernel::ChoiceView view = choice.view();
  const ChosenShapes named = choice.chosen();
  ChoiceProgramme p;
  p.policy = policy;
  p.objective = objective_name(chosen.choice.objective);
  p.capacity.assign(view.capacity, view.capacity + view.n_types);
  for (std::size_t t = 0; t < p.capacity.size(); ++t) p.capacity[t] += choice.beyond()[t];
  p.option_begin = named.option_begin;
  for (const GpuType& type : s.gpu_types) p.type_id.push_back(type.id);
  for (const std::int32_t slot : named.slots) p.job_id.push_back(s.jobs[at(slot)].job->id);
  for (std::size_t k = 0; k < named.options.size(); ++k) {
    const ChoiceOption& one = named.options[k];
    const JobRecord& record = s.jobs[at(one.slot)];
    p.type.push_back(one.type);
    p.gpus.push_back(one.gpus);
    p.value.push_back(named.value[k]);
    p.shape_id.push_back(record.job->shapes[at(record.options[at(one.option)].shape)].id);
  }
  return p;
}

}  // namespace berth::core
