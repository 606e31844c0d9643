#pragma once

#include <string>
#include <vector>

#include "berth/what_if.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Edits in the short forms of the command line and of `berth.edits.v1`: docs/formats/edits.md.
struct ShortEdit {
  std::vector<std::string> add;       ///< "4x8xH100@rack:r9": nodes, GPUs of each, type, domain
  std::vector<std::string> drain;     ///< a node, or LEVEL:DOMAIN such as "rack:r1"
  std::vector<std::string> remove;    ///< the same; jobs there stop first
  std::vector<std::string> quota;     ///< "team=64": the guarantee; "team=x2"; "team.limit=64:H100"
  std::vector<std::string> job;       ///< "16x1h@team:H100": GPUs, run time, queue, type
  std::vector<std::string> cancel;    ///< a job
  std::vector<std::string> priority;  ///< "job=5"
  std::string policy;                 ///< "srsf@discipline=easy"; empty: none
};

/// Puts the deltas of the short forms in front of those of the edit, and sets its policy.
/// @throws InvalidArgument "drain: no node or domain 'r9'; did you mean 'r1'?": the field, the value, and what is wrong. So it
///         does for forms that contradict each other.
void expand_edit(const StateView& state, const ShortEdit& forms, Edit& edit);

/// Domains that `add` names and the state lacks, next to those of their level. Deltas add none: they have to be in the state that is
/// edited.
/// @param found  appended to; what is there counts as known
/// @throws InvalidArgument where it is open below which other domain one is
void new_domains(const StateView& state, const ShortEdit& forms, std::vector<Domain>& found);
/// The state with these domains, which no node is in.
ClusterState with_domains(const ClusterState& state, const std::vector<Domain>& domains);

}  // namespace berth::core
