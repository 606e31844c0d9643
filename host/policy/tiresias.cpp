// tiresias: the queues of las, and jobs with skewed tensors close together.
//
// Key         as las: the queue level by attained GPU-time, then submit (host/policy/las.cpp).
// Places      jobs whose model is one of `scattered_models` take any GPUs, as `packing` finds them. All others are consolidated, those
//             without a model too. reading=paper: on as few nodes as could hold them, in the lowest domain (rack, pod, ...) that could,
//             were the cluster empty; such a job waits until there is such a place. reading=code: only inside the lowest domain above
//             the nodes that could hold it, on whatever nodes there (docs/placement.md, section 10).
// Source      Tiresias (NSDI'19): 2D-LAS; a job is consolidated only if the sizes of its model's tensors are skewed. That is profiled
//             there; which models are is a list here, of the re-implementation in the simulator of Dally (arXiv 2401.16492), whose gate
//             between machine and rack is open to all jobs: reading=code. What "as few as could" means where nodes differ is ours.
// Parameters  those of las, scattered_models, reading, and the common ones.

#include "host/policy/las.hpp"

namespace berth::policy {

core::PolicyEntry tiresias_policy();

namespace {

std::unique_ptr<core::QueuePolicy> make_tiresias(const core::Params& params) {
  return las_queues(Settings(tiresias_policy().info, params));
}

core::Consolidation tiresias_consolidation(const core::Params& params) {
  const Settings settings(tiresias_policy().info, params);
  core::Consolidation close;
  close.whole_nodes = settings.choice("reading", {"paper", "code"}) == 0;
  for (const std::string& model : settings.words("scattered_models")) close.scattered.push_back(core::Consolidation::plain(model));
  return close;
}

}  // namespace

core::PolicyEntry tiresias_policy() {
  std::vector<PolicyParam> own = las_parameters();
  own.push_back({"scattered_models", "ResNet50,ResNet18,BERT", "models whose jobs take any GPUs, or none; other jobs are consolidated"});
  own.push_back({"reading", "paper",
                 "paper: consolidated jobs wait for as few nodes as could hold them, in one rack; code: for one rack only, as "
                 "re-implementations do"});
  core::PolicyEntry entry{{"tiresias", "as las; jobs with skewed tensors close together", "Tiresias (NSDI'19), 2D-LAS and its placement",
                           "skip", true, with_common("skip", std::move(own))},
                          kernel::Discipline::kSkip,
                          true,
                          false,
                          make_tiresias};
  entry.consolidation = tiresias_consolidation;
  return entry;
}

}  // namespace berth::policy
