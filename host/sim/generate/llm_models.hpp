#pragma once

#include <algorithm>
#include <cstdint>

/// Published sizes of language models, and the traffic that follows from them. docs/llm-workload.md has sources and formulas.
namespace berth::sim {

struct LlmModelSize {
  const char* name;
  std::int64_t parameters;
  std::int64_t active;  // parameters that a token uses
  std::int32_t layers;
  std::int32_t hidden;
  std::int32_t stages;          // of the pipeline in training
  std::int32_t tokens_per_gpu;  // of one step in training
  std::int32_t experts_gpus;    // GPUs over which the experts of a layer are spread; 0: no experts
  std::int32_t expert_nodes;    // most nodes to which a token is sent
};

inline constexpr LlmModelSize kLlama8b{"llama-3-8b", 8'000'000'000, 8'000'000'000, 32, 4096, 1, 8192, 0, 0};
inline constexpr LlmModelSize kLlama70b{"llama-3-70b", 70'000'000'000, 70'000'000'000, 80, 8192, 4, 8192, 0, 0};
inline constexpr LlmModelSize kLlama405b{"llama-3-405b", 405'000'000'000, 405'000'000'000, 126, 16384, 16, 1024, 0, 0};
inline constexpr LlmModelSize kGpt175b{"gpt-3-175b", 175'000'000'000, 175'000'000'000, 96, 12288, 8, 3072, 0, 0};
inline constexpr LlmModelSize kMixtral{"mixtral-8x7b", 46'700'000'000, 12'900'000'000, 32, 4096, 2, 8192, 8, 2};
inline constexpr LlmModelSize kDeepseek{"deepseek-v3", 671'000'000'000, 37'000'000'000, 61, 7168, 16, 30720, 64, 4};

inline constexpr std::int64_t kBytesPerValue = 2;  // bfloat16

/// How a model is split for training: pipeline stages, each of whole nodes of `node_gpus`.
struct LlmSplit {
  std::int32_t stages;
  std::int32_t expert_nodes;  // nodes of a stage that share the experts; 1: each node has them all
  std::int32_t node_gpus;
};

/// Tokens that a node processes in one step: those of its part of the batch, in every stage.
constexpr std::int64_t tokens_of_node(const LlmModelSize& model, const LlmSplit& split) {
  return std::int64_t{model.tokens_per_gpu} * split.node_gpus * split.stages;
}

/// Gradients of a node, which it reduces with the same nodes of other replicas.
constexpr std::int64_t dp_bytes(const LlmModelSize& model, const LlmSplit& split) {
  return kBytesPerValue * model.parameters / split.stages / split.expert_nodes;
}

/// Activations that a node hands to the next stage; as many gradients come back.
constexpr std::int64_t pp_bytes(const LlmModelSize& model, const LlmSplit& split) {
  return kBytesPerValue * tokens_of_node(model, split) * model.hidden;
}

/// Activations that the GPUs of a stage reduce among each other: four all-reduces a layer, two of them backward.
constexpr std::int64_t tp_bytes(const LlmModelSize& model, const LlmSplit& split) {
  return 4 * kBytesPerValue * tokens_of_node(model, split) * model.hidden * model.layers / split.stages;
}

/// What a node sends to nodes with experts: dispatch and combine, forward and backward, of each layer.
constexpr std::int64_t ep_bytes(const LlmModelSize& model, const LlmSplit& split) {
  const std::int64_t copies = std::min(model.expert_nodes, split.expert_nodes - 1);
  return 4 * kBytesPerValue * copies * tokens_of_node(model, split) * model.hidden * model.layers / split.stages;
}

/// Parameters gathered twice and gradients scattered once (ZeRO stage 3): half as much again as an all-reduce of the gradients.
constexpr std::int64_t zero3_bytes(const LlmModelSize& model) { return kBytesPerValue * model.parameters * 3 / 2; }

/// Model of a service with its prefill and decode instances.
struct LlmService {
  const char* name;
  std::int64_t active;
  std::int64_t kv_bytes_per_token;
  std::int32_t hidden, layers;
  std::int32_t prefill_gpus, decode_gpus;  // of one instance
  bool experts;
};

inline constexpr LlmService kServices[] = {
    {"opt-66b", 66'000'000'000, std::int64_t{2} * 64 * 9216 * kBytesPerValue, 9216, 64, 4, 4, false},
    {"llama-3-70b", 70'000'000'000, std::int64_t{2} * 80 * 8 * 128 * kBytesPerValue, 8192, 80, 8, 8, false},
    {"deepseek-v3", 37'000'000'000, std::int64_t{61} * (512 + 64) * kBytesPerValue, 7168, 61, 32, 320, true},
};

/// Tokens that a GPU of this rate prefills in a second, at 40 % of its rate and half of the time.
constexpr std::int64_t prefill_tokens_per_s(const LlmService& service, std::int64_t tflops) {
  return 400 * tflops * 1'000'000'000 / (2 * service.active) / 2;
}

}  // namespace berth::sim
