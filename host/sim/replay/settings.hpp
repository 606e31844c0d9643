#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/events.hpp"
#include "berth/overheads.hpp"
#include "berth/trace.hpp"
#include "host/core/model/queue_changes.hpp"
#include "host/sim/base/decider.hpp"
#include "host/sim/base/failure_rates.hpp"
#include "host/sim/base/job_source.hpp"
#include "host/sim/iterations/iterations.hpp"
#include "host/sim/measures/queues.hpp"

namespace berth::sim {

class Series;
class Stays;

/// Jobs simulated through each iteration (docs/simulation-reference.md, "Iterations").
struct IterationSettings {
  std::int32_t gpu_jobs = 1;  ///< maximum number of jobs per GPU; above 1 only with a `decide` that places them
  NetworkCost network;
  IterationRules rules;
};

/// What links cost gangs on several nodes; docs/simulation-reference.md, "Shared links" and "Tiers".
enum class LinkModel : std::uint8_t {
  kNone,    ///< nothing but what their profiles know of the place
  kTiers,   ///< what each gang sends, as if it were alone on the links
  kShared,  ///< gangs that use the same links slow each other down
};

/// Settings of a simulation; docs/simulation-reference.md defines each.
struct SimulationSettings {
  Request request;                              ///< policy, its parameters, seed, backend
  std::string estimates = "oracle";             ///< see Estimator
  std::string progress = "epochs";              ///< see ProgressReports
  Overheads overheads;                          ///< see overheads.hpp
  ClusterEvents events;                         ///< events that do not depend on the policy
  core::QueueChanges queue_changes;             ///< likewise, of the cluster's queues
  FailureRates failures;                        ///< random events, by the request's seed
  TimeUs round_us = 0;                          ///< > 0: decisions only at its multiples
  bool events_too = false;                      ///< with rounds: decisions also at events
  bool elastic = false;                         ///< elastic jobs may run at every GPU count that was measured
  bool name_nodes = false;                      ///< outcomes name the nodes of a job
  std::optional<IterationSettings> iterations;  ///< empty: jobs work at the rate of their shape and place
  LinkModel links = LinkModel::kNone;           ///< see SharedLinks
  Decider decide;                               ///< empty: the engine decides, by `request`
  std::function<bool()> interrupted;            ///< true: stop and keep the results so far; empty: never
  std::int64_t most_decisions = 0;              ///< > 0: the same after this many
  Series* series = nullptr;                     ///< receives the levels from each instant on; null: none
  Stays* stays = nullptr;                       ///< receives which GPUs each job had when; null: none
  std::vector<QueueFigures>* queues = nullptr;  ///< receives what queues of the cluster got; null: not followed
};

/// "rate", "tiers", "shared_links" or "iteration".
const char* fidelity_name(const SimulationSettings& settings);

/// @throws InvalidArgument for a round under a second, and for iterations that cannot be followed.
void check_settings(const SimulationSettings& settings, const TraceProfiles& profiles);

/// The input of a simulation.
struct Replayed {
  const TraceProfiles& profiles;
  TraceFacts facts;
  JobSource& jobs;
};

}  // namespace berth::sim
