// tiresias: the queues of las, with jobs of skewed tensors consolidated.
//
// Key         as las: the queue level by attained GPU-time, then submit (host/policy/queue/las.cpp).
// Places      jobs whose model is in `scattered_models` use any GPUs, as `packing` finds them. All others are consolidated, including
//             those without a model.
//             reading=paper: on the fewest nodes that could hold them, in the lowest domain (rack, pod, ...) that could, if the
//             cluster were empty. Such a job waits until such a place is free.
//             reading=code: inside the lowest domain above the nodes that could hold it, on any nodes there (docs/placement.md,
//             section 10).
// Source      Tiresias (NSDI'19): 2D-LAS; a job is consolidated only if the tensor sizes of its model are skewed. It profiles this;
//             here a list names the models. The list is from a re-implementation in the simulator of Dally (arXiv 2401.16492).
//             Its gate between machine and rack is open to all jobs: reading=code. Ours: the meaning of "fewest nodes" where
//             nodes differ.
// Parameters  those of las, scattered_models, reading, and the common ones.

#include "host/policy/queue/las.hpp"

namespace berth::policy {

namespace {

std::unique_ptr<core::QueuePolicy> make_tiresias(const core::Params& params) {
  return las_queues(Settings(core::find_policy("tiresias").info, params));
}

std::optional<core::Consolidation> tiresias_consolidation(const core::Params& params) {
  const Settings settings(core::find_policy("tiresias").info, params);
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
  return {.info = {.name = "tiresias",
                   .rule = "as las; jobs with skewed tensors close together",
                   .source = "Tiresias (NSDI'19), 2D-LAS and its placement",
                   .params = std::move(own)},
          .preemptive = true,
          .make = make_tiresias,
          .consolidation = tiresias_consolidation};
}

}  // namespace berth::policy
