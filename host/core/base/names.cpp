#include "host/core/base/names.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace berth::core {
namespace {

// In the order of the enumerators.
constexpr std::array kTopologyKind{"switch", "nvlink", "power", "fault", "site"};
constexpr std::array kNodeState{"ready", "drain", "failed", "spare", "releasing"};
constexpr std::array kGpuState{"ok", "failed", "releasing"};
constexpr std::array kJobKind{"training", "service", "batch_inference"};
constexpr std::array kJobState{"waiting", "running"};
constexpr std::array kCommKind{"tp", "pp", "dp", "ep", "kv"};
constexpr std::array kCommAlgorithm{"ring", "tree", "in_network", "sharded"};
constexpr std::array kProfileKind{"opaque", "table", "closed_form"};
constexpr std::array kAction{"start", "keep", "resize", "migrate", "preempt", "wait", "reject", "replace", "reserve"};
constexpr std::array kReasonCode{
    "none",   "no_gpu_type", "node_constraint", "insufficient_gpus", "topology_required", "fragmented",          "quota",       "cpu",
    "memory", "gpu_memory",  "behind",          "reserved_for",      "lost_priority",     "deadline_impossible", "node_failed", "budget",
    "outbid", "not_chosen",  "delay_timer",     "not_admitted",      "promised"};
constexpr std::array kProof{"placed_validated", "infeasible_certified", "budget_exhausted"};
constexpr std::array kBackend{"auto", "reference", "cpu", "cuda"};

template <class E, std::size_t N>
std::optional<E> find(std::string_view text, const std::array<const char*, N>& all) {
  for (std::size_t i = 0; i < N; ++i) {
    if (text == all[i]) return static_cast<E>(i);
  }
  return std::nullopt;
}

template <std::size_t N>
std::string joined(const std::array<const char*, N>& all) {
  std::string text;
  for (const char* one : all) text += (text.empty() ? "" : ", ") + std::string(one);
  return text;
}

}  // namespace
#define BERTH_NAMES(E)                                                        \
  std::string_view name(E v) { return k##E.at(static_cast<std::size_t>(v)); } \
  template <>                                                                 \
  std::optional<E> from_name<E>(std::string_view text) {                      \
    return find<E>(text, k##E);                                               \
  }                                                                           \
  template <>                                                                 \
  std::string_view all_names<E>() {                                           \
    static const std::string all = joined(k##E);                              \
    return all;                                                               \
  }

BERTH_NAMES(TopologyKind)
BERTH_NAMES(NodeState)
BERTH_NAMES(GpuState)
BERTH_NAMES(JobKind)
BERTH_NAMES(JobState)
BERTH_NAMES(CommKind)
BERTH_NAMES(CommAlgorithm)
BERTH_NAMES(ProfileKind)
BERTH_NAMES(Action)
BERTH_NAMES(ReasonCode)
BERTH_NAMES(Proof)
BERTH_NAMES(Backend)

}  // namespace berth::core

namespace berth {

std::string_view to_string(Action action) { return core::name(action); }
std::string_view to_string(ReasonCode code) { return core::name(code); }
std::string_view to_string(Proof proof) { return core::name(proof); }

}  // namespace berth
