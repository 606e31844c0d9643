#pragma once

#include <optional>
#include <string_view>

#include "berth/engine.hpp"
#include "berth/job.hpp"
#include "berth/plan.hpp"

/// Names of enumerators in files and on the command line.
namespace berth::core {

std::string_view name(TopologyKind v);
std::string_view name(NodeState v);
std::string_view name(GpuState v);
std::string_view name(JobKind v);
std::string_view name(JobState v);
std::string_view name(CommKind v);
std::string_view name(CommAlgorithm v);
std::string_view name(ProfileKind v);
std::string_view name(Action v);
std::string_view name(ReasonCode v);
std::string_view name(Proof v);
std::string_view name(Backend v);

/// The enumerator of that name. E is any of the types above.
template <class E>
std::optional<E> from_name(std::string_view text);
/// "switch, nvlink, ..." for messages.
template <class E>
std::string_view all_names();

}  // namespace berth::core
