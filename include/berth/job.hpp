#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/profile.hpp"
#include "berth/units.hpp"

namespace berth {

enum class JobKind : std::uint8_t { kTraining, kService, kBatchInference };
enum class JobState : std::uint8_t { kWaiting, kRunning };

/// What a policy may know about the length of a job. The true length is never in a snapshot.
struct Estimate {
  TimeUs run_us = kNever;  ///< expected run time at the requested shape; kNever: not known
  TimeUs p50_us = kNever;
  TimeUs p90_us = kNever;
  std::string source;  ///< where it comes from: "user", "history-mean", "time_limit", "oracle", ...
  bool operator==(const Estimate&) const = default;
};

struct LevelRef {
  TopologyKind topology = TopologyKind::kSwitch;
  std::string level;  ///< "node" or a level that some domain of the topology has
  bool operator==(const LevelRef&) const = default;
};

/// Limits the members of a group in each domain of a level.
struct Spread {
  LevelRef at;
  std::int32_t max_per_domain = 1;  ///< members
  bool operator==(const Spread&) const = default;
};

/// Keeps members of a group together in segments of equal size.
struct Segment {
  std::int32_t size = 0;  ///< members that must share one domain of `at`; the member count is a multiple of it
  LevelRef at;
  bool operator==(const Segment&) const = default;
};

enum class CommKind : std::uint8_t { kTp, kPp, kDp, kEp, kKv };

/// How the members of a group add up their data among themselves: docs/traffic.md.
enum class CommAlgorithm : std::uint8_t {
  kRing,
  kTree,       ///< double binary tree
  kInNetwork,  ///< switches add up
  kSharded,    ///< parameters are gathered twice, and gradients scattered once, around a ring
};

/// Traffic of the members of a group in one step.
struct Communication {
  CommKind kind = CommKind::kDp;
  std::string peer;  ///< name of the peer group; empty: the members of this group
  std::int64_t bytes_per_step = 0;
  CommAlgorithm algorithm = CommAlgorithm::kRing;  ///< of kDp and kTp without a peer
  bool operator==(const Communication&) const = default;
};

/// A node of the gang's tree. A member is indivisible: all its GPUs are on one node.
struct Group {
  std::string name;
  std::string parent;  ///< name of the parent group, empty for a root
  std::string role;
  std::int32_t members_min = 1;  ///< 0 is allowed for a group that only has child groups
  std::int32_t members_want = 1;
  std::int32_t members_max = 1;
  std::int32_t gpus_per_member = 1;
  std::int32_t share_ppm = kWholeGpu;  ///< below kWholeGpu: each member uses this share of one GPU
  std::optional<Segment> segment;
  std::optional<LevelRef> require;  ///< members and descendants must be in one domain of this level
  std::optional<LevelRef> prefer;
  std::optional<Spread> spread;
  std::int32_t spares = 0;  ///< extra members, placed to replace members that fail
  std::vector<Communication> communication;
  bool operator==(const Group&) const = default;
};

/// One alternative in which the job may run.
struct Shape {
  std::string id;
  std::string gpu_type;   ///< empty: any one type
  std::int32_t gpus = 1;  ///< whole GPUs, or the number of shared GPUs when `share_ppm` is below whole
  std::int32_t share_ppm = kWholeGpu;
  std::int32_t local_batch = 0;         ///< samples per GPU and step; 0: not stated
  std::int64_t learning_rate_pico = 0;  ///< 1e-12; 0: not stated
  std::int64_t rate = 0;                ///< millionths of the profile's unit per second; 0: the profile gives the rate
  std::int64_t power_mw = 0;
  std::string mig_profile;
  std::vector<Group> groups;  ///< empty: one flat group of `gpus` one-GPU members
  bool operator==(const Shape&) const = default;
};

/// Requirements on nodes that hold for all shapes of a job. A node that does not exist matches nothing.
struct Constraints {
  /// Every key must match: the label of the node equals one of the values.
  std::vector<std::pair<std::string, std::vector<std::string>>> labels;
  std::vector<std::string> required_nodes;  ///< empty: any
  std::vector<std::string> excluded_nodes;
  std::int64_t cpu_milli_per_gpu = 0;
  std::int64_t memory_bytes_per_gpu = 0;                  ///< host memory
  std::int64_t gpu_memory_bytes = 0;                      ///< per GPU
  std::vector<std::pair<LevelRef, TimeUs>> longest_wait;  ///< how long the job waits for one domain of this level
  bool operator==(const Constraints&) const = default;
};

/// Run time in which a job holds GPUs without progress, in microseconds.
/// A displaced job pays save, restart and restore; after a failure only restart and restore.
/// A resize costs `scale_us` where it is above 0, else as much as a displacement. A migration costs at least `migrate_us`.
struct Costs {
  TimeUs restart_us = 0;
  TimeUs checkpoint_every_us = 0;  ///< 0: checkpoints only at preemption
  TimeUs checkpoint_save_us = 0;
  TimeUs checkpoint_restore_us = 0;
  TimeUs scale_us = 0;
  TimeUs migrate_us = 0;
  bool operator==(const Costs&) const = default;
};

/// When a job may be displaced. Lost GPUs are no preemption: these limits do not protect from failures.
struct Preemption {
  std::int32_t preemption_class = 0;  ///< a job may displace only jobs of a smaller class (policy `priority`)
  bool preemptible = true;
  TimeUs minimum_run_us = 0;  ///< it is not displaced before it has run this long
  TimeUs grace_us = 0;
  TimeUs guaranteed_until_us = 0;  ///< it is not displaced before this instant
  bool operator==(const Preemption&) const = default;
};

/// A later instant of a deadline, and the value of completing by then.
struct DeadlineStep {
  TimeUs at_us = kNever;
  std::int64_t value = 0;
  bool operator==(const DeadlineStep&) const = default;
};
inline constexpr std::int32_t kMaxLaterSteps = 16;  ///< of one deadline

/// A deadline of a job; `hard`: the job is useless after it. `value` is that of meeting it.
struct Deadline {
  TimeUs at_us = kNever;
  bool hard = false;
  std::int64_t value = 0;
  /// Steps in which the value of a soft deadline falls: ascending instants after `at_us`, values that fall and are at least 1.
  std::vector<DeadlineStep> later = {};
  bool operator==(const Deadline&) const = default;
};

/// The last observed rates at one GPU count, newest last.
struct ObservedRate {
  std::int32_t gpus = 0;
  std::vector<std::int64_t> rates;  ///< at most five; millionths of the unit per second
  bool operator==(const ObservedRate&) const = default;
};

/// Measured progress of a job. Losses, accuracy and gradient statistics are 0 where the job does not report them.
struct Progress {
  std::int64_t work_done = 0;   ///< millionths of the profile's unit
  std::int64_t work_total = 0;  ///< 0: not known, and `estimate` is used
  std::int64_t epochs_done_micro = 0;
  std::int64_t samples_done = 0;
  std::int64_t dataset_size = 0;
  std::int64_t initial_loss_micro = 0;
  std::int64_t loss_micro = 0;
  std::int64_t accuracy_ppm = 0;
  std::int64_t grad_sqr_micro = 0;
  std::int64_t grad_var_micro = 0;
  TimeUs run_us = 0;                 ///< time spent running until the snapshot's `now`
  std::int64_t attained_gpu_us = 0;  ///< GPU-microseconds of service until `now`
  std::vector<ObservedRate> observed;
  std::int32_t restarts = 0;
  bool operator==(const Progress&) const = default;
};

/// GPUs of one node that members of one group hold.
struct AllocationEntry {
  std::string group;        ///< name in the shape, empty for a flat gang
  std::int32_t member = 0;  ///< rank of the first member of this entry within the group
  std::string node;
  std::vector<std::int32_t> gpus;  ///< GPU indices, ascending
  std::int32_t share_ppm = kWholeGpu;
  bool time_shared = false;
  bool operator==(const AllocationEntry&) const = default;
};

struct Allocation {
  std::string shape;                     ///< id of the shape in which the job runs
  std::vector<AllocationEntry> entries;  ///< in rank order
  bool operator==(const Allocation&) const = default;
};

/// A job that waits or runs. It may run in any one of its shapes.
struct Job {
  std::string id;
  std::string user;
  std::string tenant;
  std::string queue;
  std::string virtual_cluster;
  TimeUs submit_us = 0;
  std::int32_t priority = 0;  ///< larger is more important
  std::int64_t weight_ppm = 1'000'000;
  JobKind kind = JobKind::kTraining;
  JobState state = JobState::kWaiting;
  TimeUs time_limit_us = kNever;
  Deadline deadline;
  Estimate estimate;
  std::vector<Shape> shapes;  ///< at least one; unique ids
  bool sharing = false;       ///< tolerates other jobs on the same GPU
  Constraints constraints;
  Costs costs;
  Preemption preemption;
  Profile profile;
  Progress progress;
  Allocation allocation;  ///< of a running job
  TimeUs lease_end_us = kNever;
  TimeUs last_assignment_us = kNever;
  TimeUs waiting_since_us = kNever;  ///< kNever: since submission
  Extensions x;
  bool operator==(const Job&) const = default;
};

/// A finished job in compact form, for predictors of run time.
struct FinishedJob {
  std::string id;
  std::string user;
  std::string virtual_cluster;
  std::int32_t gpus = 0;
  TimeUs submit_us = 0;
  TimeUs run_us = 0;
  std::string status;  ///< "completed", "failed", "cancelled", or empty
  bool operator==(const FinishedJob&) const = default;
};

}  // namespace berth
