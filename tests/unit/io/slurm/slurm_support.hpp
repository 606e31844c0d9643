#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "berth/state.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/io/slurm/slurm.hpp"

/// Synthetic documents in Slurm's form: rows of 22.05 (plain numbers, null) and of later data parsers (wrapped numbers,
/// lists of states).
namespace berth::test {

/// One object: fields with their JSON.
class SlurmRow {
 public:
  explicit SlurmRow(std::map<std::string, std::string> fields) : fields_(std::move(fields)) {}
  SlurmRow with(const std::string& key, const std::string& json) const {
    SlurmRow copy = *this;
    copy.fields_[key] = json;
    return copy;
  }
  SlurmRow text(const std::string& key, const std::string& value) const { return with(key, '"' + value + '"'); }
  SlurmRow without(const std::string& key) const {
    SlurmRow copy = *this;
    copy.fields_.erase(key);
    return copy;
  }
  std::string json() const {
    std::string out = "{";
    for (const auto& [key, value] : fields_) out += (out.size() > 1 ? ",\"" : "\"") + key + "\":" + value;
    return out + "}";
  }

 private:
  std::map<std::string, std::string> fields_;
};

inline std::string wrapped(long long number) { return R"({"set":true,"infinite":false,"number":)" + std::to_string(number) + "}"; }
inline const char* const kUnset = R"({"set":false,"infinite":false,"number":0})";

/// A job of 22.05 that waits for one node of 4 GPUs since second 1000.
inline SlurmRow job22(int id) {
  return SlurmRow({{"job_id", std::to_string(id)},
                   {"job_state", "\"PENDING\""},
                   {"state_reason", "\"Priority\""},
                   {"partition", "\"main\""},
                   {"user_name", "\"ann\""},
                   {"account", "\"\""},
                   {"priority", "100"},
                   {"submit_time", "1000"},
                   {"eligible_time", "1000"},
                   {"start_time", "0"},
                   {"end_time", "0"},
                   {"time_limit", "60"},
                   {"node_count", "1"},
                   {"max_nodes", "0"},
                   {"tasks", "1"},
                   {"nodes", "\"\""},
                   {"gres_detail", "[]"},
                   {"tres_per_job", "\"\""},
                   {"tres_per_node", "\"gres:gpu:4\""},
                   {"tres_per_task", "\"\""},
                   {"tres_req_str", "\"cpu=4,mem=400M,node=1,billing=4\""},
                   {"tres_alloc_str", "\"\""},
                   {"array_job_id", "0"},
                   {"array_task_id", "null"},
                   {"array_max_tasks", "0"},
                   {"array_task_string", "\"\""},
                   {"contiguous", "false"},
                   {"cpus_per_tres", "\"\""},
                   {"deadline", "0"},
                   {"dependency", "\"\""},
                   {"excluded_nodes", "\"\""},
                   {"features", "\"\""},
                   {"het_job_id", "0"},
                   {"het_job_offset", "0"},
                   {"last_sched_evaluation", "0"},
                   {"licenses", "\"\""},
                   {"pre_sus_time", "0"},
                   {"prefer", "\"\""},
                   {"required_nodes", "\"\""},
                   {"requeue", "true"},
                   {"restart_cnt", "0"},
                   {"resv_name", "\"\""},
                   {"shared", "null"},
                   {"suspend_time", "0"},
                   {"tres_per_socket", "\"\""}});
}

/// One of 22.05 that runs on `nodes` since second 1000, with these GPUs by node: "gpu:h100:4(IDX:0-3)".
inline SlurmRow running22(int id, const std::string& nodes, const std::vector<std::string>& gpus) {
  std::string detail;
  for (const std::string& one : gpus) detail += (detail.empty() ? "\"" : ",\"") + one + '"';
  return job22(id)
      .text("job_state", "RUNNING")
      .text("state_reason", "None")
      .with("start_time", "1000")
      .with("end_time", "4600")
      .text("nodes", nodes)
      .with("gres_detail", '[' + detail + ']')
      .text("tres_alloc_str", "cpu=4,mem=400M,node=1,billing=4");
}

/// A node of 22.05 with 8 GPUs, 64 CPUs, 1,000 MiB.
inline SlurmRow node22(const std::string& name) {
  return SlurmRow({{"name", '"' + name + '"'},
                   {"state", "\"idle\""},
                   {"state_flags", "[]"},
                   {"partitions", R"(["main"])"},
                   {"features", "\"\""},
                   {"active_features", "\"\""},
                   {"gres", "\"gpu:h100:8(S:0-1)\""},
                   {"gres_used", "\"gpu:h100:0(IDX:N/A)\""},
                   {"gres_drained", "\"N/A\""},
                   {"cpus", "64"},
                   {"real_memory", "1000"},
                   {"alloc_cpus", "0"},
                   {"alloc_memory", "0"},
                   {"last_busy", "900"},
                   {"reason_changed_at", "0"},
                   {"slurmd_start_time", "0"}});
}

inline std::string document(const char* list, const std::vector<SlurmRow>& rows, const std::string& meta) {
  std::string out = "{\n\"meta\":" + meta + ",\n\"errors\":[],\n\"" + list + "\":[";
  for (std::size_t i = 0; i < rows.size(); ++i) out += (i > 0 ? ",\n" : "\n") + rows[i].json();
  return out + "]}\n";
}

inline const char* const kMeta22 = R"({"plugin":{"type":"openapi/v0.0.38","name":"Slurm OpenAPI v0.0.38"},"Slurm":{"release":"22.05.8"}})";
inline std::string meta_of(const std::string& parser) {
  return R"({"plugin":{"type":"","name":"","data_parser":"data_parser/)" + parser + R"("},"slurm":{"release":"24.05.1"}})";
}

inline std::string jobs22(const std::vector<SlurmRow>& rows) { return document("jobs", rows, kMeta22); }
inline std::string nodes22(const std::vector<SlurmRow>& rows) { return document("nodes", rows, kMeta22); }

/// Imports one stream, and checks that a state can be built from it.
inline io::SlurmImport imported(const std::string& text, const io::SlurmOptions& options = {}) {
  io::SlurmImport out = io::import_slurm({{"in", text}}, options);
  EXPECT_NO_THROW(check_snapshot(out.snapshot));
  return out;
}

/// These jobs on two nodes, n1 and n2.
inline io::SlurmImport of_jobs(const std::vector<SlurmRow>& jobs, const io::SlurmOptions& options = {}) {
  return imported(jobs22(jobs) + nodes22({node22("n1"), node22("n2")}), options);
}

inline const Job* find_job(const Snapshot& snapshot, const std::string& id) {
  const auto at = std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const Job& job) { return job.id == id; });
  return at == snapshot.jobs.end() ? nullptr : &*at;
}

/// Whether some note has this part.
inline ::testing::AssertionResult noted(const io::SlurmImport& import, const std::string& part) {
  std::string all;
  for (const std::string& note : import.notes) {
    if (note.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    all += "\n  " + note;
  }
  return ::testing::AssertionFailure() << "no note has '" << part << "' among:" << all;
}

inline std::string refusal(const std::string& text) {
  try {
    io::import_slurm({{"in", text}});
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace berth::test
