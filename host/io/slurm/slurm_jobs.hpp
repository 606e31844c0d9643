#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/slurm/slurm.hpp"
#include "host/io/slurm/slurm_accounts.hpp"
#include "host/io/slurm/slurm_cluster.hpp"
#include "host/io/slurm/slurm_records.hpp"
#include "host/io/slurm/slurm_request.hpp"
#include "host/io/slurm/slurm_switches.hpp"

namespace berth::io {

/// A complete job: one record, or all components of a heterogeneous job in order.
using SlurmUnit = std::vector<const SlurmJob*>;

std::vector<SlurmUnit> slurm_units(const std::vector<SlurmJob>& jobs);

/// Translates the jobs of an import.
class SlurmJobs {
 public:
  /// @param qos  What each QOS means for its jobs; empty: not known.
  SlurmJobs(Snapshot& snapshot, SlurmCluster& cluster, ImportNotes& notes, bool has_blocks, const std::map<std::string, SlurmQosRule>& qos)
      : snapshot_(snapshot), cluster_(cluster), notes_(notes), has_blocks_(has_blocks), qos_(qos), switches_(snapshot.domains) {}

  /// Must be called first: running jobs hold GPUs. Their cores and memory are what they release.
  void add_running(const std::vector<SlurmUnit>& units);
  void add_waiting(const std::vector<SlurmUnit>& units, const SlurmOptions& options);

  /// Sets priorities and submissions in Slurm's order; see docs/slurm.md.
  void finish();

  /// Two records that give jobs with the same id, or one record that does so twice.
  struct Clash {
    const SlurmJob* first = nullptr;
    const SlurmJob* second = nullptr;
    std::string id;
  };
  std::optional<Clash> clash() const;
  /// [jobs of the snapshot]
  std::vector<SlurmMember> members() const;

 private:
  /// GPUs by node of each component, and why they are unknown.
  struct Held {
    std::vector<std::vector<SlurmHold>> parts;
    std::unordered_map<std::size_t, std::uint64_t> on_node;  // of all components
    std::string problem;
  };

  Held held_by_index(const SlurmUnit& unit) const;
  bool choose_gpus(const SlurmUnit& unit, Held& held);
  void check_held(const SlurmUnit& unit, Held& held) const;
  std::pair<std::int64_t, std::int64_t> held_for_a_gpu(const SlurmUnit& unit, const Held& held) const;
  void keep_running(const SlurmUnit& unit, const Held& held);
  void block(const SlurmUnit& unit, const Held& held, TimeUs free_at);

  std::string hindrance(const SlurmJob& job, const SlurmOptions& options) const;
  std::string request(const SlurmUnit& unit, Job& job);
  void set_amounts(const SlurmJob& part, const SlurmRequest& asked, bool first, Constraints& out);
  void wait_for_switches(const SlurmUnit& unit, Constraints& out);
  void add_tasks(const SlurmJob& from, const Job& job);

  Job common(const SlurmUnit& unit);
  /// Sets what the QOS says. @returns its longest run time in minutes; kSlurmUnset: no limit.
  std::int64_t apply_qos(const SlurmJob& from, Job& job);
  void keep(Job job, const SlurmJob& from, std::int64_t task);
  void leave_out(const SlurmJob& job, const std::string& why);
  void leave_out_rest(SlurmJob one_of, std::span<const std::int64_t> tasks, const std::string& why);

  /// Ties between jobs with equal keys: Slurm numbers jobs in the order of submission. Number and task are the id.
  struct Order {
    std::int64_t priority, number, task;
    const SlurmJob* from;
    std::uint64_t key() const { return static_cast<std::uint64_t>(number) << 32 | static_cast<std::uint32_t>(task); }
  };

  Snapshot& snapshot_;
  SlurmCluster& cluster_;
  ImportNotes& notes_;
  bool has_blocks_;
  const std::map<std::string, SlurmQosRule>& qos_;
  SlurmSwitches switches_;
  std::vector<Order> order_;  // [jobs]
  std::unordered_set<std::string> queues_;
  std::unordered_map<std::int64_t, std::int64_t> tasks_running_;  // by array
  std::size_t task_count_ = 0;                                    // of arrays, expanded
};

}  // namespace berth::io
