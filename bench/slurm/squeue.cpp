#include "bench/slurm/squeue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::bench {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kGpus = 8;

// Fields that the importer skips or that are equal in all records.
constexpr std::pair<const char*, const char*> kOtherJobFields[] = {
    {"accrue_time", "1795299889"},
    {"admin_comment", "\"\""},
    {"array_job_id", "0"},
    {"array_task_id", "null"},
    {"array_max_tasks", "0"},
    {"array_task_string", "\"\""},
    {"association_id", "0"},
    {"batch_features", "\"\""},
    {"batch_flag", "true"},
    {"batch_host", "\"\""},
    {"flags", "[]"},
    {"burst_buffer", "\"\""},
    {"burst_buffer_state", "\"\""},
    {"cluster", "\"main\""},
    {"cluster_features", "\"\""},
    {"command", "\"\""},
    {"comment", "\"\""},
    {"container", "\"\""},
    {"contiguous", "false"},
    {"core_spec", "null"},
    {"thread_spec", "null"},
    {"cores_per_socket", "null"},
    {"billable_tres", "null"},
    {"cpus_per_task", "null"},
    {"cpu_frequency_minimum", "null"},
    {"cpu_frequency_maximum", "null"},
    {"cpu_frequency_governor", "null"},
    {"cpus_per_tres", "\"\""},
    {"deadline", "0"},
    {"delay_boot", "0"},
    {"dependency", "\"\""},
    {"derived_exit_code", "0"},
    {"excluded_nodes", "\"\""},
    {"exit_code", "0"},
    {"features", "\"\""},
    {"federation_origin", "\"\""},
    {"federation_siblings_active", "\"\""},
    {"federation_siblings_viable", "\"\""},
    {"group_id", "0"},
    {"group_name", "\"staff\""},
    {"licenses", "\"\""},
    {"max_cpus", "0"},
    {"max_nodes", "0"},
    {"mcs_label", "\"\""},
    {"memory_per_tres", "\"\""},
    {"nice", "null"},
    {"tasks_per_core", "null"},
    {"tasks_per_node", "0"},
    {"tasks_per_socket", "null"},
    {"tasks_per_board", "0"},
    {"het_job_id", "0"},
    {"het_job_id_set", "\"\""},
    {"het_job_offset", "0"},
    {"prefer", "\"\""},
    {"memory_per_node", "100"},
    {"memory_per_cpu", "null"},
    {"minimum_cpus_per_node", "1"},
    {"minimum_tmp_disk_per_node", "0"},
    {"preempt_time", "0"},
    {"pre_sus_time", "0"},
    {"profile", "null"},
    {"qos", "\"\""},
    {"reboot", "false"},
    {"required_nodes", "\"\""},
    {"requeue", "true"},
    {"resize_time", "0"},
    {"restart_cnt", "0"},
    {"resv_name", "\"\""},
    {"shared", "null"},
    {"show_flags", "[]"},
    {"sockets_per_board", "0"},
    {"sockets_per_node", "null"},
    {"state_description", "\"\""},
    {"standard_error", "\"\""},
    {"standard_input", "\"/dev/null\""},
    {"standard_output", "\"/dev/null\""},
    {"suspend_time", "0"},
    {"system_comment", "\"\""},
    {"time_minimum", "0"},
    {"threads_per_core", "null"},
    {"tres_bind", "\"\""},
    {"tres_freq", "\"\""},
    {"tres_per_job", "\"\""},
    {"tres_per_socket", "\"\""},
    {"tres_per_task", "\"\""},
    {"user_id", "0"},
    {"wckey", "\"\""},
    {"current_working_directory", "\"/home/ann/run\""},
};
constexpr std::pair<const char*, const char*> kOtherNodeFields[] = {
    {"architecture", "\"x86_64\""},
    {"burstbuffer_network_address", "\"\""},
    {"boards", "1"},
    {"boot_time", "1795251487"},
    {"comment", "\"\""},
    {"cores", "1"},
    {"cpu_binding", "0"},
    {"cpu_load", "33"},
    {"extra", "\"\""},
    {"free_memory", "22613"},
    {"features", "\"fast,ib\""},
    {"active_features", "\"fast,ib\""},
    {"gres_drained", "\"N/A\""},
    {"mcs_label", "\"\""},
    {"next_state_after_reboot", "\"invalid\""},
    {"address", "\"127.0.0.1\""},
    {"hostname", "\"vm\""},
    {"next_state_after_reboot_flags", "[]"},
    {"operating_system", "\"Linux 6.1.0\""},
    {"owner", "null"},
    {"port", "17012"},
    {"reason", "\"\""},
    {"reason_changed_at", "0"},
    {"reason_set_by_user", "null"},
    {"slurmd_start_time", "1795299871"},
    {"sockets", "64"},
    {"threads", "1"},
    {"temporary_disk", "0"},
    {"weight", "1"},
    {"tres", "\"cpu=128,mem=1000000M,billing=128\""},
    {"slurmd_version", "\"22.05.8\""},
    {"idle_cpus", "63"},
    {"tres_used", "\"cpu=64,mem=512000M\""},
    {"tres_weighted", "1.0"},
};

constexpr const char* kHead = R"({
  "meta": {
    "plugin": {
      "type": "openapi\/v0.0.38",
      "name": "Slurm OpenAPI v0.0.38"
    },
    "Slurm": {
      "version": {
        "major": 22,
        "micro": 8,
        "minor": 5
      },
      "release": "22.05.8"
    }
  },
  "errors": [
  ],
)";

void field(std::string& out, const char* name, const std::string& json) { fmt::format_to(Out(out), "      \"{}\": {},\n", name, json); }

std::string text(const std::string& value) { return '"' + value + '"'; }

struct Running {
  std::int64_t node = -1, first = 0, gpus = 0;  // node below 0: waits
};

// Cores as the record lists them, one line for each of its brackets.
std::string job_resources(const std::string& node, std::int64_t cores) {
  std::string out = fmt::format(
      "{{\n        \"nodes\": \"{0}\",\n        \"allocated_cores\": {1},\n        \"allocated_hosts\": 1,\n        "
      "\"allocated_nodes\": [\n          {{\n            \"sockets\": {{\n              \"0\": {{\n                \"cores\": {{\n",
      node, cores);
  for (std::int64_t c = 0; c < cores; ++c)
    fmt::format_to(Out(out), "                  \"{}\": \"allocated\"{}\n", c, c + 1 < cores ? "," : "");
  out += "                }\n              }\n            },\n";
  fmt::format_to(Out(out), "            \"nodename\": \"{}\",\n            \"cpus_used\": 0,\n            \"memory_used\": 0,\n", node);
  return out + "            \"memory_allocated\": 8000\n          }\n        ]\n      }";
}

void add_job(std::string& out, std::int64_t id, const Running& at, bool last) {
  const bool runs = at.node >= 0;
  const std::string node = fmt::format("n{:05}", at.node),
                    amounts = fmt::format("cpu={},mem={}M,node=1,billing=1", 4 * at.gpus, 8'000 * at.gpus);
  out += "    {\n";
  for (const auto& [name, json] : kOtherJobFields) field(out, name, json);
  field(out, "name", text(fmt::format("train-{}", id)));
  field(out, "job_state", text(runs ? "RUNNING" : "PENDING"));
  field(out, "state_reason", text(runs ? "None" : "Priority"));
  field(out, "partition", text("main"));
  field(out, "user_name", text(fmt::format("user{}", id % 200)));
  field(out, "account", text(fmt::format("group{}", id % 20)));
  field(out, "priority", fmt::format("{}", 4'294'901'760 - id));
  field(out, "submit_time", fmt::format("{}", kNow - 100'000 + id));
  field(out, "eligible_time", fmt::format("{}", kNow - 100'000 + id));
  field(out, "last_sched_evaluation", fmt::format("{}", kNow));
  field(out, "start_time", fmt::format("{}", runs ? kNow - 3'600 : 0));
  field(out, "end_time", fmt::format("{}", runs ? kNow + 36'000 : 0));
  field(out, "time_limit", fmt::format("{}", 660 + id % 100));
  field(out, "node_count", "1");
  field(out, "cpus", fmt::format("{}", 4 * at.gpus));
  field(out, "tasks", "1");
  field(out, "nodes", text(runs ? node : ""));
  field(out, "gres_detail",
        runs ? fmt::format("[\n        \"gpu:h100:{}(IDX:{}-{})\"\n      ]", at.gpus, at.first, at.first + at.gpus - 1) : "[\n      ]");
  if (runs) field(out, "job_resources", job_resources(node, 4 * at.gpus));
  field(out, "tres_per_node", text(fmt::format("gres:gpu:h100:{}", at.gpus)));
  field(out, "tres_req_str", text(amounts));
  field(out, "tres_alloc_str", text(runs ? amounts : ""));
  fmt::format_to(Out(out), "      \"job_id\": {}\n    }}{}\n", id, last ? "" : ",");
}

}  // namespace

std::string squeue_json(std::int64_t nodes, std::int64_t jobs) {
  std::string out = kHead;
  out += "  \"jobs\": [\n";
  std::int64_t node = 0, used = 0;
  for (std::int64_t id = 1; id <= jobs; ++id) {
    Running at;
    at.gpus = std::int64_t{1} << (id * 7 % 4);
    if (used + at.gpus > kGpus) {
      ++node;
      used = 0;
    }
    if (id <= jobs * 9 / 20 && node < nodes) {
      at.node = node;
      at.first = used;
      used += at.gpus;
    }
    add_job(out, id, at, id == jobs);
  }
  return out + "  ]\n}\n";
}

std::string sinfo_json(std::int64_t nodes) {
  std::string out = kHead;
  out += "  \"nodes\": [\n";
  for (std::int64_t n = 0; n < nodes; ++n) {
    out += "    {\n";
    for (const auto& [name, json] : kOtherNodeFields) field(out, name, json);
    field(out, "state", text("mixed"));
    field(out, "state_flags", "[\n      ]");
    field(out, "partitions", "[\n        \"main\"\n      ]");
    field(out, "gres", text("gpu:h100:8(S:0-1)"));
    field(out, "gres_used", text("gpu:h100:0(IDX:N\\/A)"));
    field(out, "cpus", "128");
    field(out, "real_memory", "1000000");
    field(out, "alloc_cpus", "32");
    field(out, "alloc_memory", "64000");
    field(out, "last_busy", fmt::format("{}", kNow));
    fmt::format_to(Out(out), "      \"name\": \"n{:05}\"\n    }}{}\n", n, n + 1 < nodes ? "," : "");
  }
  return out + "  ]\n}\n";
}

std::string show_topology(std::int64_t nodes) {
  constexpr std::int64_t kLeafNodes = 32;
  std::string out;
  std::int64_t leaves = 0;
  for (std::int64_t first = 0; first < nodes; first += kLeafNodes, ++leaves) {
    fmt::format_to(Out(out), "SwitchName=leaf{} Level=0 LinkSpeed=1 Nodes=n[{:05}-{:05}]\n", leaves, first,
                   std::min(first + kLeafNodes, nodes) - 1);
  }
  fmt::format_to(Out(out), "SwitchName=spine Level=1 LinkSpeed=1 Switches=leaf[0-{}]\n", leaves - 1);
  return out;
}

}  // namespace berth::bench
