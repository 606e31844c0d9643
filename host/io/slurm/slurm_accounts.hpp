#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/json/json_cursor.hpp"

namespace berth::io {

/// Limits of GPUs by type; "": of all types.
using SlurmGpuLimits = std::map<std::string, std::int64_t>;

/// An association: an account, or a user in an account.
struct SlurmAssociation {
  std::string account, parent, user, partition;
  std::int64_t shares = 1;                                               ///< kSharesOfParent: Fairshare=parent
  SlurmGpuLimits limits;                                                 ///< GrpTRES
  std::int64_t longest_s = 0;                                            ///< MaxWall; 0: none
  bool limits_minutes = false, limits_job = false, limits_jobs = false;  ///< GrpTRESMins, GrpTRESRunMins; MaxTRES: of GPUs; numbers of jobs
  std::string file;
  int line = 0;
};
inline constexpr std::int64_t kSharesOfParent = -1;

struct SlurmQos {
  std::string name;
  std::vector<std::string> preempts;
  std::string preempt_mode, usage_factor;
  std::int64_t grace_s = 0, exempt_s = 0, longest_s = 0;
  SlurmGpuLimits limits, of_account, of_user;  ///< GrpTRES, MaxTRESPA, MaxTRESPU
  bool limits_minutes = false, limits_job = false, limits_jobs = false;
  bool least = false;  ///< MinTRES
  std::string file;
  int line = 0;
};

/// What `sacctmgr -P show qos`, `sacctmgr -P show assoc` and `scontrol show assoc_mgr` print.
struct SlurmAccounts {
  std::vector<SlurmAssociation> associations;
  std::vector<SlurmQos> qos;
  std::string cluster;  ///< of the associations
  bool has_associations = false, has_qos = false, has_parents = false;
};

/// Whether the text begins with a table of sacctmgr, or with the output of scontrol show assoc_mgr.
bool looks_like_slurm_accounts(std::string_view text);
/// Reads it from where the cursor is. @returns the bytes read. @throws InputError naming file and line.
std::size_t read_slurm_accounts(const JsonCursor& in, int line, SlurmAccounts& out);

/// What a QOS means for its jobs.
struct SlurmQosRule {
  std::int32_t preemption_class = 0;
  TimeUs grace_us = 0, minimum_run_us = 0;
  std::int64_t longest_s = 0;  ///< 0: no limit
};
/// By name. A QOS may displace those of a smaller class: the longest chain of Preempt lists below it.
std::map<std::string, SlurmQosRule> slurm_qos_rules(const SlurmAccounts& accounts, ImportNotes& notes);

/// Makes a tree of the queues, with limits and weights. Jobs of users with limits of their own get a queue of their own.
/// @throws InputError for accounts that are no tree.
void add_slurm_accounts(const SlurmAccounts& accounts, Snapshot& snapshot, ImportNotes& notes);

/// The QOS, account and user of a job.
struct SlurmMember {
  std::string qos, account, user;
};
/// Moves jobs of QOS with limits of GPUs to queues with these limits. After `add_slurm_accounts`.
/// @param members  [jobs of the snapshot]
void add_slurm_qos(const SlurmAccounts& accounts, const std::vector<SlurmMember>& members, Snapshot& snapshot, ImportNotes& notes);

/// Columns and keys that limit numbers of jobs or the time of a group.
inline constexpr std::string_view kJobCountLimits[] = {"GrpJobs",         "GrpSubmit",     "GrpSubmitJobs", "GrpWall",        "MaxJobs",
                                                       "MaxSubmit",       "MaxSubmitJobs", "MaxJobsPU",     "MaxJobsPerUser", "MaxSubmitPU",
                                                       "MaxSubmitJobsPU", "MaxJobsPA",     "MaxSubmitPA",   "MaxSubmitJobsPA"};

// slurm_accounts.cpp
/// Limits as quotas. Types that no node has are added.
std::vector<Quota> slurm_quotas(const SlurmGpuLimits& limits, Snapshot& snapshot, ImportNotes& notes);
// slurm_assoc_mgr.cpp
inline constexpr std::string_view kAssocMgrTitle = "Current Association Manager state";
std::size_t read_assoc_mgr(std::string_view text, const std::string& file, int line, SlurmAccounts& out);
// slurm_accounts_read.cpp
[[noreturn]] void fail_accounts(const std::string& file, int line, const std::string& problem);
/// Reads "cpu=8,gres/gpu=4,gres/gpu:h100=2", also with "(used)" and N for no limit after numbers. @returns the problem, or empty.
std::string parse_gpu_limits(std::string_view text, SlurmGpuLimits& out);
/// Reads "[D-]HH:MM:SS", "MM:SS" or minutes in seconds; empty: 0. @returns -1 for anything else.
std::int64_t parse_slurm_duration(std::string_view text);
/// A name that may become that of a queue. @throws InputError
std::string account_name(std::string_view text, const std::string& file, int line);

}  // namespace berth::io
