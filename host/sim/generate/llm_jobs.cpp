#include "host/sim/generate/llm_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/core/base/wide.hpp"
#include "host/sim/base/random.hpp"
#include "host/sim/generate/llm_groups.hpp"
#include "host/sim/generate/workload.hpp"

namespace berth::sim {
namespace {

// How often each kind is drawn: ours. docs/llm-workload.md.
constexpr std::int64_t kSmallPpm = 560'000, kFinetuningPpm = 200'000, kTrainingPpm = 80'000, kExpertsPpm = 40'000, kServicePpm = 120'000;
constexpr Share kTrainingReplicas[] = {{450'000, 1}, {300'000, 2}, {170'000, 4}, {80'000, 8}};
constexpr Share kSmallNodes[] = {{400'000, 1}, {350'000, 2}, {250'000, 4}};
constexpr Share kLargeNodes[] = {{450'000, 4}, {350'000, 8}, {200'000, 16}};
constexpr Share kPrefill[] = {{500'000, 1}, {300'000, 2}, {200'000, 4}};
constexpr Share kOne[] = {{1'000'000, 1}};
constexpr std::int64_t kPrefilledPerDecoded = 4;  // tokens
constexpr std::int32_t kTrainingPriority = 10, kServicePriority = 20;

constexpr std::int64_t kStepOverheadNs = 5'000'000;
constexpr std::int64_t kOverlapPpm = 600'000;
constexpr std::int64_t kAnyTflops = 989;

Shape shape_of(std::string id, std::vector<Group> groups, std::int32_t local_batch) {
  Shape shape;
  shape.id = std::move(id);
  shape.gpus = 0;
  for (const Group& group : groups) shape.gpus += group.members_want * group.gpus_per_member;
  shape.local_batch = local_batch;
  shape.groups = std::move(groups);
  return shape;
}

void add_traffic(Group& group, CommKind kind, const std::string& peer, std::int64_t bytes) {
  if (bytes > 0) group.communication.push_back({kind, peer, bytes});
}

// Time of a token on one GPU: 6 operations for each parameter that it uses, at 40 % of the rate of the type.
std::int64_t token_ns(std::int64_t active, std::int64_t tflops) { return std::max<std::int64_t>(1, 6 * active / (400 * tflops)); }

Profile training_profile(const LlmModelSize& model, std::int64_t gradient_bytes) {
  Profile profile;
  profile.kind = ProfileKind::kClosedForm;
  profile.model = model.name;
  profile.unit = "tokens";
  profile.gradient_bytes = gradient_bytes;
  for (const std::string& type : all_gpu_types()) {
    profile.closed_form.step.push_back({type, token_ns(model.active, dense_tflops(type)), kStepOverheadNs});
  }
  profile.closed_form.step.push_back({"", token_ns(model.active, kAnyTflops), kStepOverheadNs});
  profile.closed_form.overlap_ppm = kOverlapPpm;
  return profile;
}

// Work per second without communication, in millionths of a token.
std::int64_t tokens_micro_per_s(const LlmModelSize& model, std::int32_t gpus, std::int64_t tflops) {
  const std::int64_t step_ns = token_ns(model.active, tflops) * model.tokens_per_gpu + kStepOverheadNs;
  return core::mul_div(std::int64_t{gpus} * model.tokens_per_gpu, 1'000'000'000'000'000, step_ns);
}

// A step of a service is a second.
Profile service_profile(const LlmService& service) {
  Profile profile;
  profile.kind = ProfileKind::kClosedForm;
  profile.model = service.name;
  profile.unit = "steps";
  profile.closed_form.step.push_back({"", 0, 1'000'000'000});
  profile.closed_form.overlap_ppm = kOverlapPpm;
  return profile;
}

std::int32_t nodes_for(std::int32_t gpus, std::int32_t node_gpus) { return (gpus + node_gpus - 1) / node_gpus; }

const WorkloadModel& tables() { return llm_model(); }

}  // namespace

LlmJobs::LlmJobs(const LlmFabric& fabric) : fabric_(fabric) {
  add_small();
  add_finetuning();
  add_training(false, kTrainingPpm);
  add_training(true, kExpertsPpm);
  add_services();
  for (const Kind& kind : kinds_) weights_ += kind.weight;
  std::sort(profiles_.begin(), profiles_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::string LlmJobs::add_profile(std::string name, Profile profile) {
  if (std::none_of(profiles_.begin(), profiles_.end(), [&](const auto& known) { return known.first == name; }))
    profiles_.emplace_back(name, std::move(profile));
  return name;
}

// Evaluation and debugging.
void LlmJobs::add_small() {
  const std::int64_t most = std::int64_t{fabric_.nodes} * fabric_.node_gpus;
  for (const Share& size : tables().gpus) {
    kinds_.push_back(
        {kSmallPpm * size.ppm / 1'000'000, "", "", {}, static_cast<std::int32_t>(std::min<std::int64_t>(size.value, most)), 0, 0});
  }
}

void LlmJobs::add_finetuning() {
  const std::pair<const LlmModelSize*, std::span<const Share>> models[] = {{&kLlama8b, kSmallNodes}, {&kLlama70b, kLargeNodes}};
  const std::int32_t most = std::max(1, fabric_.nodes / 2);
  for (const auto& [model, sizes] : models) {
    const std::string profile = add_profile(fmt::format("{} zero-3", model->name), training_profile(*model, zero3_bytes(*model)));
    for (const Share& size : sizes) {
      const std::int32_t asked = std::min(size.value, most);
      Kind kind{kFinetuningPpm / 2 * size.ppm / 1'000'000, model->name, profile, {}, 0, 0, 0};
      for (const std::int32_t members : {asked, asked / 2, asked * 2}) {
        if (members < 1 || members > most) continue;
        Group group = make_group("workers", "", "worker", members, fabric_.node_gpus);
        group.prefer = fabric_.unit;
        if (members > 1) add_traffic(group, CommKind::kDp, "", zero3_bytes(*model));
        kind.shapes.push_back(shape_of(fmt::format("n{}", members), {std::move(group)}, model->tokens_per_gpu));
      }
      kind.gpus = kind.shapes.front().gpus;
      kind.units_micro_per_s = tokens_micro_per_s(*model, kind.gpus, fabric_.tflops);
      kinds_.push_back(std::move(kind));
    }
  }
}

// Stages of whole nodes, one of each replica, which exchange gradients. Nodes that share experts are a group for each replica.
std::vector<Group> LlmJobs::training_groups(const LlmModelSize& model, const LlmSplit& split, std::int32_t replicas) const {
  std::vector<Group> groups{make_group("job", "", "training", 0, 1)};
  const bool in_pod = fabric_.pod && std::int64_t{replicas} * split.expert_nodes * split.stages <= fabric_.pod_nodes / 2;
  (in_pod ? groups[0].require : groups[0].prefer) = fabric_.pod;
  const bool apart = split.expert_nodes > 1;
  const auto name = [&](std::int32_t s, std::int32_t r) { return apart ? fmt::format("stage{}.{}", s, r) : fmt::format("stage{}", s); };
  for (std::int32_t s = 0; s < split.stages; ++s) {
    for (std::int32_t r = 0; r < (apart ? replicas : 1); ++r) {
      Group stage = make_group(name(s, r), "job", "stage", apart ? split.expert_nodes : replicas, fabric_.node_gpus);
      stage.prefer = fabric_.unit;
      if (apart) add_traffic(stage, CommKind::kEp, "", ep_bytes(model, split));
      if (!apart && fabric_.unit && replicas % 4 == 0 && fabric_.unit_nodes >= 4) stage.segment = Segment{4, *fabric_.unit};
      if (!apart && replicas > 1) add_traffic(stage, CommKind::kDp, "", dp_bytes(model, split));
      // A ring over the replicas, one node of each.
      if (apart && replicas > 1)
        add_traffic(stage, CommKind::kDp, name(s, (r + 1) % replicas), 2 * (replicas - 1) * dp_bytes(model, split) / replicas);
      if (s + 1 < split.stages) add_traffic(stage, CommKind::kPp, name(s + 1, r), pp_bytes(model, split));
      groups.push_back(std::move(stage));
    }
  }
  return groups;
}

void LlmJobs::add_training(bool experts, std::int64_t mix_ppm) {
  std::vector<const LlmModelSize*> models;
  const auto split_of = [&](const LlmModelSize& model) {
    return LlmSplit{model.stages, std::max(1, nodes_for(model.experts_gpus, fabric_.node_gpus)), fabric_.node_gpus};
  };
  const std::int32_t room = std::max(1, fabric_.nodes / 2);
  const auto fits = [&](const LlmModelSize& model) { return split_of(model).stages * split_of(model).expert_nodes <= room; };
  for (const LlmModelSize* model : {&kLlama8b, &kLlama70b, &kLlama405b, &kGpt175b, &kMixtral, &kDeepseek}) {
    if ((model->experts_gpus > 0) == experts && fits(*model)) models.push_back(model);
  }
  for (const LlmModelSize* model : models) {
    const LlmSplit split = split_of(*model);
    const std::string split_name = split.expert_nodes > 1 ? fmt::format("pp{} ep{}", split.stages, split.expert_nodes * split.node_gpus)
                                                          : fmt::format("pp{}", split.stages);
    const std::string profile =
        add_profile(fmt::format("{} {}", model->name, split_name), training_profile(*model, dp_bytes(*model, split)));
    const std::int32_t most = room / (split.stages * split.expert_nodes);
    for (const Share& size : kTrainingReplicas) {
      std::int32_t asked = size.value;
      while (asked > most) asked /= 2;
      Kind kind{
          mix_ppm / static_cast<std::int64_t>(models.size()) * size.ppm / 1'000'000, model->name, profile, {}, 0, kTrainingPriority, 0};
      for (const std::int32_t replicas : {asked, asked / 2, asked * 2}) {
        if (replicas < 1 || replicas > most) continue;
        kind.shapes.push_back(shape_of(fmt::format("dp{}", replicas), training_groups(*model, split, replicas), model->tokens_per_gpu));
      }
      kind.gpus = kind.shapes.front().gpus;
      kind.units_micro_per_s = tokens_micro_per_s(*model, kind.gpus, fabric_.tflops);
      kinds_.push_back(std::move(kind));
    }
  }
}

// Prefill and decode instances in groups of their own; the cache moves from one to the other.
void LlmJobs::add_services() {
  const std::int32_t room = std::max(1, fabric_.nodes / 2);
  std::vector<const LlmService*> services;
  for (const LlmService& service : kServices) {
    const std::int32_t gpus = service.prefill_gpus + service.decode_gpus;
    const bool on_one_node = fabric_.nodes == 1 && gpus <= fabric_.node_gpus;
    const bool apart = nodes_for(service.prefill_gpus, fabric_.node_gpus) + nodes_for(service.decode_gpus, fabric_.node_gpus) <=
                       std::max(room, std::min(2, fabric_.nodes));
    if (on_one_node || apart) services.push_back(&service);
  }
  for (const LlmService* service : services) {
    const std::string profile = add_profile(fmt::format("{} serving", service->name), service_profile(*service));
    for (const Share& size : service->experts ? std::span<const Share>(kOne) : std::span<const Share>(kPrefill)) {
      const auto members_of = [&](std::int32_t gpus, std::int32_t instances) {
        const std::int32_t nodes = nodes_for(gpus, fabric_.node_gpus);
        return make_group("", "service", "", instances * nodes, std::min(gpus, fabric_.node_gpus));
      };
      std::int32_t instances = size.value;
      Group prefill = members_of(service->prefill_gpus, instances), decode = members_of(service->decode_gpus, instances);
      while (instances > 1 && prefill.members_want + decode.members_want > room) {
        instances /= 2;
        prefill = members_of(service->prefill_gpus, instances), decode = members_of(service->decode_gpus, instances);
      }
      prefill.name = prefill.role = "prefill";
      decode.name = decode.role = "decode";
      const std::int64_t tokens = prefill_tokens_per_s(*service, fabric_.tflops) * prefill.gpus_per_member;
      const std::int64_t decoded = tokens * prefill.members_want / kPrefilledPerDecoded / decode.members_want;
      const auto spread_experts = [&](Group& group, std::int64_t of_tokens) {  // dispatch and combine of each layer
        const std::int64_t copies = std::min(4, group.members_want - 1);
        if (service->experts)
          add_traffic(group, CommKind::kEp, "", 2 * kBytesPerValue * copies * of_tokens * service->hidden * service->layers);
      };
      prefill.prefer = fabric_.unit;
      spread_experts(prefill, tokens);
      add_traffic(prefill, CommKind::kKv, "decode", tokens * service->kv_bytes_per_token);
      spread_experts(decode, decoded);
      // The prefilling nodes may fill a fault domain, wherever they are: there must be room beside them.
      const bool spreads = decode.members_want >= 2 && prefill.members_want + decode.members_want <= fabric_.fault_nodes;
      if (fabric_.fault && spreads) decode.spread = berth::Spread{*fabric_.fault, (decode.members_want + 1) / 2};
      Group root = make_group("service", "", "service", 0, 1);
      root.prefer = fabric_.pod;
      Shape shape = shape_of(fmt::format("{}+{}", prefill.members_want, decode.members_want), {root, prefill, decode}, 0);
      const std::int32_t gpus = shape.gpus;
      kinds_.push_back({kServicePpm / static_cast<std::int64_t>(services.size()) * size.ppm / 1'000'000,
                        service->name,
                        profile,
                        {std::move(shape)},
                        gpus,
                        kServicePriority,
                        1'000'000});
    }
  }
}

void LlmJobs::draw(TraceJob& job, ItemDraws& draws) const {
  std::int64_t at = draws.below(weights_);
  const auto* kind = kinds_.data();
  for (; at >= kind->weight; ++kind) at -= kind->weight;
  job.model = kind->model;
  job.profile = kind->profile;
  job.shapes = kind->shapes;
  job.gpus = kind->gpus;
  job.priority = kind->priority;
  job.run_us = std::max<TimeUs>(1, draw_duration(tables().run[static_cast<std::size_t>(size_class(job.gpus))], draws));
  job.work = kind->units_micro_per_s == 0 ? 0 : std::max<std::int64_t>(1, core::mul_div(kind->units_micro_per_s, job.run_us, kSecond));
  if (job.work > kScoreCeiling) {  // more tokens than a trace can state: thousands of GPUs for a week
    job.work = kScoreCeiling;
    job.run_us = core::mul_div(kScoreCeiling, kSecond, kind->units_micro_per_s);
  }
}

std::int64_t LlmJobs::mean_gpu_us() const {
  __int128 sum = 0;
  for (const Kind& kind : kinds_) {
    sum += static_cast<__int128>(kind.weight) * kind.gpus * mean_beyond(tables().run[static_cast<std::size_t>(size_class(kind.gpus))], 0);
  }
  return static_cast<std::int64_t>(sum / weights_);
}

TraceFacts LlmJobs::facts() const {
  TraceFacts facts;
  facts.any_type = facts.profiles = facts.shapes = true;
  for (const Kind& kind : kinds_) facts.by_gpus[static_cast<std::size_t>(std::clamp(kind.gpus, 1, kMaxGpusPerNode) - 1)] += kind.weight;
  return facts;
}

}  // namespace berth::sim
