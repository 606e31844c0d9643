#include <fmt/format.h>

#include <algorithm>

#include "host/sim/generate/llm_groups.hpp"
#include "host/sim/generate/llm_models.hpp"
#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

// Small jobs: evaluation, debugging, fine-tuning. data/SOURCES.md, "llm".
constexpr Share kLlmGpus[] = {{600'000, 1}, {80'000, 2}, {100'000, 4}, {220'000, 8}};
constexpr QuantilePoint kRun[] = {{0, 1},           {100'000, 15},    {250'000, 45},    {500'000, 124},     {750'000, 500},
                                  {900'000, 1'500}, {950'000, 3'500}, {980'000, 9'000}, {1'000'000, 60'000}};
// Pretraining takes days: our assumption, below the published longest run.
constexpr QuantilePoint kLong[] = {{0, 60},
                                   {100'000, 600},
                                   {250'000, 3'600},
                                   {500'000, 43'000},
                                   {750'000, 170'000},
                                   {900'000, 350'000},
                                   {950'000, 450'000},
                                   {980'000, 550'000},
                                   {1'000'000, 625'740}};
constexpr QuantilePoint kLlmWait[] = {{0, 0},         {100'000, 1},   {250'000, 4},     {500'000, 17},     {750'000, 60},
                                      {900'000, 250}, {950'000, 900}, {980'000, 3'000}, {1'000'000, 6'100}};

enum Mix : std::int32_t { kSmall, kFinetune, kTraining, kDisaggregated, kReplicated };
constexpr Share kMix[] = {{500'000, kSmall}, {200'000, kFinetune}, {120'000, kTraining}, {100'000, kDisaggregated}, {80'000, kReplicated}};
constexpr Share kReplicas[] = {{450'000, 1}, {300'000, 2}, {170'000, 4}, {80'000, 8}};
constexpr Share kFinetuneNodes[] = {{250'000, 1}, {250'000, 2}, {250'000, 4}, {150'000, 8}, {100'000, 16}};

constexpr std::int32_t kTokensPerSample = 4096;  // a sample a GPU and step
constexpr LlmModelSize kLlmModels[] = {{"llama-2-7b", 6'700'000'000, 6'700'000'000, 32, 4096, 1, kTokensPerSample, 0, 0},
                                       {"llama-2-13b", 13'000'000'000, 13'000'000'000, 40, 5120, 2, kTokensPerSample, 0, 0},
                                       {"llama-2-70b", 69'000'000'000, 69'000'000'000, 80, 8192, 4, kTokensPerSample, 0, 0},
                                       {"gpt-3-175b", 175'000'000'000, 175'000'000'000, 96, 12288, 8, kTokensPerSample, 0, 0}};
constexpr const LlmService& kServed = kServices[1];
constexpr std::int64_t kPrefilledTokens = 1024;  // of a member in one step

Shape finish(std::string id, std::vector<Group> groups) {
  Shape shape;
  shape.id = std::move(id);
  shape.gpus = 0;
  for (const Group& group : groups) shape.gpus += group.members_want * group.gpus_per_member;
  shape.groups = std::move(groups);
  return shape;
}

// Step time of one sample on one GPU: 6 operations per parameter and token at 40 % of the peak rate of the type.
Profile closed_form(const LlmModelSize& model, const ClusterLayout& layout, std::int32_t model_parallel_gpus) {
  Profile profile;
  profile.kind = ProfileKind::kClosedForm;
  profile.model = model.name;
  profile.unit = "samples";
  profile.gradient_bytes = model.parameters * kBytesPerValue / model_parallel_gpus;
  for (const GpuType& type : layout.gpu_types) {
    StepTime step;
    step.gpu_type = type.id;
    step.alpha_ns = 6 * model.parameters * kTokensPerSample / (400 * dense_tflops(type.id));
    step.beta_ns = 5'000'000;
    profile.closed_form.step.push_back(step);
  }
  profile.closed_form.overlap_ppm = 600'000;
  return profile;
}

// Capacity of the fabric, in whole nodes.
struct FabricRoom {
  std::int32_t node_gpus, nodes, unit_nodes, pod_nodes, faults;
};

FabricRoom room_of(const ClusterLayout& layout) {
  FabricRoom room{};
  room.node_gpus = layout.gpus_per_node;
  room.nodes = std::max(1, layout.most_gpus() / layout.gpus_per_node);
  room.unit_nodes = std::min(room.nodes, layout.unit_begin[1]);
  room.pod_nodes = std::min(room.nodes, layout.unit_begin[static_cast<std::size_t>(layout.pod_begin[1])]);
  room.faults = layout.fault.back() + 1;
  return room;
}

std::int32_t power_of_two_below(std::int32_t most) {
  std::int32_t value = 1;
  while (value <= most / 2) value *= 2;
  return value;
}

// Replicas of the model, each inside one NVLink domain and split into pipeline stages of whole nodes: three levels deep.
std::vector<Group> nvl_training(const LlmModelSize& model, const ClusterLayout& layout, const FabricRoom& room, std::int32_t replicas,
                                bool one_pod) {
  const std::int32_t replica_nodes = power_of_two_below(std::min(16, room.unit_nodes));
  const std::int32_t stages = std::min(model.stages, replica_nodes), stage_nodes = replica_nodes / stages;
  const LlmSplit split{stages, 1, stage_nodes * room.node_gpus};
  std::vector<Group> groups{make_group("job", "", "training", 0, 1)};
  if (one_pod) {
    groups.back().require = layout.pod_level;
  } else {
    groups.back().prefer = layout.pod_level;
  }
  for (std::int32_t r = 0; r < replicas; ++r) {
    const std::string replica = fmt::format("replica{}", r);
    groups.push_back(make_group(replica, "job", "replica", 0, 1));
    groups.back().require = layout.unit_level;
    for (std::int32_t s = 0; s < stages; ++s) {
      groups.push_back(make_group(fmt::format("{}.stage{}", replica, s), replica, "stage", stage_nodes, room.node_gpus));
      Group& stage = groups.back();
      stage.communication.push_back({CommKind::kTp, "", tp_bytes(model, split)});
      if (s + 1 < stages)
        stage.communication.push_back({CommKind::kPp, fmt::format("{}.stage{}", replica, s + 1), pp_bytes(model, split) / stage_nodes});
      if (replicas > 1) {  // a ring over the replicas, one node of each
        stage.communication.push_back({CommKind::kDp, fmt::format("replica{}.stage{}", (r + 1) % replicas, s),
                                       2 * (replicas - 1) * dp_bytes(model, split) / stage_nodes / replicas});
      }
      // One spare node of the domain in addition to those of the replica.
      if (s == 0 && room.unit_nodes > replica_nodes && room.nodes >= replicas * (replica_nodes + 1)) stage.spares = 1;
    }
  }
  return groups;
}

// Pipeline stages, each a set of whole nodes that share leaves in segments. Nodes of a stage exchange gradients.
std::vector<Group> rail_training(const LlmModelSize& model, const ClusterLayout& layout, const FabricRoom& room, std::int32_t replicas,
                                 bool one_pod) {
  const std::int32_t stages = std::min(model.stages, power_of_two_below(std::max(1, room.nodes / replicas)));
  const LlmSplit split{stages, 1, room.node_gpus};
  std::vector<Group> groups{make_group("job", "", "training", 0, 1)};
  if (one_pod) {
    groups.back().require = layout.pod_level;
  } else {
    groups.back().prefer = layout.pod_level;
  }
  for (std::int32_t s = 0; s < stages; ++s) {
    groups.push_back(make_group(fmt::format("stage{}", s), "job", "stage", replicas, room.node_gpus));
    Group& stage = groups.back();
    stage.prefer = layout.unit_level;
    if (replicas >= 4 && room.unit_nodes >= 4) stage.segment = Segment{4, layout.unit_level};
    if (replicas > 1) stage.communication.push_back({CommKind::kDp, "", dp_bytes(model, split)});
    if (s + 1 < stages) stage.communication.push_back({CommKind::kPp, fmt::format("stage{}", s + 1), pp_bytes(model, split)});
  }
  return groups;
}

Demand training(const ClusterLayout& layout, const FabricRoom& room, const GenerateOptions& options, ItemDraws& draws) {
  const LlmModelSize& model = kLlmModels[draws.below(static_cast<std::int64_t>(std::size(kLlmModels)))];
  const bool nvl = layout.fabric == Fabric::kNvl72;
  const std::int32_t replica_nodes = nvl ? power_of_two_below(std::min(16, room.unit_nodes)) : std::min(model.stages, room.nodes);
  const std::int32_t most = power_of_two_below(std::max(1, room.nodes / replica_nodes / 2));
  const std::int32_t asked = std::min(pick(kReplicas, draws) * (nvl ? 1 : 2), most);
  const bool one_pod = asked * (replica_nodes + (nvl ? 1 : 0)) <= room.pod_nodes / 2 && draws.chance(400'000);

  Demand demand;
  const auto add = [&](std::int32_t replicas) {
    auto groups = nvl ? nvl_training(model, layout, room, replicas, one_pod) : rail_training(model, layout, room, replicas, one_pod);
    demand.shapes.push_back(finish(fmt::format("dp{}", replicas), std::move(groups)));
    demand.shapes.back().local_batch = 1;
  };
  add(asked);
  if (options.elastic) {
    if (asked > 1) add(asked / 2);
    if (asked * 2 <= most) add(asked * 2);
  }
  demand.gpus = demand.shapes.front().gpus;
  demand.profile = closed_form(model, layout, replica_nodes * room.node_gpus);
  return demand;
}

Demand finetune(const ClusterLayout& layout, const FabricRoom& room, const GenerateOptions& options, ItemDraws& draws) {
  const LlmModelSize& model = kLlmModels[draws.below(3)];
  const std::int32_t nodes = std::min(pick(kFinetuneNodes, draws), power_of_two_below(room.nodes));
  const std::int64_t style = draws.below(3);
  Demand demand;
  const auto add = [&](std::int32_t members) {
    Group group = make_group("workers", "", "worker", members, room.node_gpus);
    if (style == 0 && members <= room.unit_nodes) {
      group.require = layout.unit_level;
    } else if (style == 1 && members >= 4 && room.unit_nodes >= 2) {
      group.segment = Segment{2, layout.unit_level};
    } else {
      group.prefer = layout.unit_level;
    }
    if (members > 1) group.communication.push_back({CommKind::kDp, "", model.parameters * kBytesPerValue});
    demand.shapes.push_back(finish(fmt::format("n{}", members), {group}));
    demand.shapes.back().local_batch = 1;
  };
  add(nodes);
  if (options.elastic) {
    if (nodes > 1) add(nodes / 2);
    if (nodes * 2 <= room.nodes) add(nodes * 2);
  }
  demand.gpus = demand.shapes.front().gpus;
  demand.profile = closed_form(model, layout, room.node_gpus);
  return demand;
}

// Separate prefill and decode groups; the cache moves between them. Decoding survives the loss of one fault domain.
Demand disaggregated(const ClusterLayout& layout, const FabricRoom& room, ItemDraws& draws) {
  const std::int32_t per = std::min<std::int32_t>(room.node_gpus, 1 << draws.below(3));
  const auto most = static_cast<std::int32_t>(std::max<std::int64_t>(1, std::int64_t{room.nodes} * (room.node_gpus / per) / 3));
  const std::int32_t prefill = std::min<std::int32_t>(most, 1 << draws.below(3));
  const std::int32_t decode = std::min<std::int32_t>(most, 2 << draws.below(3));
  std::vector<Group> groups{make_group("service", "", "service", 0, 1)};
  groups[0].prefer = layout.pod_level;
  groups.push_back(make_group("prefill", "service", "prefill", prefill, per));
  groups[1].prefer = layout.unit_level;
  groups[1].communication.push_back({CommKind::kKv, "decode", kPrefilledTokens * kServed.kv_bytes_per_token});
  groups.push_back(make_group("decode", "service", "decode", decode, per));
  if (room.faults >= 2 && decode >= 2) groups[2].spread = berth::Spread{layout.fault_level, (decode + 1) / 2};
  Demand demand;
  // Both groups must also fit on a cluster of one small node.
  while (prefill + decode > room.nodes * (room.node_gpus / per) && groups.back().members_want > 1) {
    Group& last = groups.back();
    last.spread.reset();
    last.members_min = last.members_want = last.members_max = last.members_want - 1;
    if (last.members_want == 1) break;
  }
  demand.shapes.push_back(finish("prefill-decode", std::move(groups)));
  demand.gpus = demand.shapes.front().gpus;
  demand.kind = JobKind::kService;
  demand.endless = true;
  return demand;
}

// Equal servers, at most one per node.
Demand replicated(const ClusterLayout& layout, const FabricRoom& room, ItemDraws& draws) {
  const std::int32_t per = std::min<std::int32_t>(room.node_gpus, 1 << draws.below(4));
  const std::int32_t members = std::min<std::int32_t>(std::max(1, room.nodes / 2), 1 << draws.below(4));
  Group group = make_group("servers", "", "server", members, per);
  group.spread = berth::Spread{{TopologyKind::kSwitch, "node"}, 1};
  group.prefer = layout.pod_level;
  Demand demand;
  demand.shapes.push_back(finish("servers", {group}));
  demand.gpus = demand.shapes.front().gpus;
  demand.kind = JobKind::kService;
  demand.endless = true;
  return demand;
}

}  // namespace

const WorkloadModel& llm_model() {
  static const WorkloadModel model{kLlmGpus, {}, {kRun, kRun, kRun, kLong}, kLlmWait, 541'000, 62'000, nullptr};
  return model;
}

Demand draw_llm(const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws) {
  const FabricRoom room = room_of(layout);
  switch (pick(kMix, draws)) {
    case kFinetune:
      return finetune(layout, room, options, draws);
    case kTraining:
      return training(layout, room, options, draws);
    case kDisaggregated:
      return disaggregated(layout, room, draws);
    case kReplicated:
      return replicated(layout, room, draws);
    default:
      break;
  }
  Demand demand = draw_gang(llm_model(), layout, options, draws);
  if (draws.chance(300'000)) demand.kind = JobKind::kBatchInference;
  return demand;
}

}  // namespace berth::sim
