#include "host/sim/generate/workload.hpp"

#include <algorithm>

namespace berth::sim {
namespace {

Shape flat_shape(std::string id, std::int32_t gpus, std::int32_t share_ppm) {
  Shape shape;
  shape.id = std::move(id);
  shape.gpus = gpus;
  shape.share_ppm = share_ppm;
  return shape;
}

}  // namespace

int size_class(std::int32_t gpus) { return gpus <= 1 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3; }

const WorkloadModel& model_of(Workload workload) {
  switch (workload) {
    case Workload::kPhilly:
      return philly_model();
    case Workload::kHelios:
      return helios_model();
    case Workload::kPai:
      return pai_model();
    case Workload::kOnes:
      return ones_model();
    case Workload::kDally:
    case Workload::kDallyGangs:
      return dally_model(workload == Workload::kDallyGangs);
    case Workload::kLlm:
      break;
  }
  return llm_model();
}

Demand draw_gang(const WorkloadModel& model, const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws) {
  Demand demand;
  const std::int32_t most = layout.most_gpus();
  const std::int32_t count = std::min(pick(model.gpus, draws), most);
  const std::int32_t part = model.share_ppm.empty() ? kWholeGpu : pick(model.share_ppm, draws);
  if (part <= kWholeGpu) {
    demand.gpus = count;
    demand.shapes.push_back(flat_shape("g" + std::to_string(count), count, part));
  } else {
    // An instance of several GPUs is on one node: a group of members.
    const std::int32_t per_member = std::min(part / kWholeGpu, layout.gpus_per_node);
    const std::int32_t members = std::max(1, std::min(count, most / per_member));
    demand.gpus = members * per_member;
    Shape shape = flat_shape("g" + std::to_string(demand.gpus), demand.gpus, kWholeGpu);
    Group group;
    group.name = "instance";
    group.role = "worker";
    group.members_min = group.members_want = group.members_max = members;
    group.gpus_per_member = per_member;
    shape.groups.push_back(group);
    demand.shapes.push_back(shape);
  }
  if (options.elastic) make_elastic(demand, most, draws);
  return demand;
}

}  // namespace berth::sim
