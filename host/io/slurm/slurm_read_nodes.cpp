#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "host/io/slurm/slurm_json.hpp"

namespace berth::io {
namespace {

struct NodeRow {
  SlurmNode& node;
  std::int64_t seen_at = 0;
};

void add_states(JsonCursor& in, NodeRow& row) {
  for (std::string& state : read_slurm_names(in)) {
    std::transform(state.begin(), state.end(), state.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    row.node.states.push_back(std::move(state));
  }
}

// The node gets its most frequent type. Slurm numbers the GPUs of all types together, in the order of its list.
void read_gpus(JsonCursor& in, NodeRow& row) {
  const std::string text = read_slurm_text(in);
  std::vector<Gres> list;
  const std::string problem = parse_gres(text, list);
  if (!problem.empty()) in.fail(problem);
  list.erase(std::remove_if(list.begin(), list.end(), [](const Gres& one) { return one.name != "gpu" || one.count == 0; }), list.end());
  if (list.empty()) return;
  const auto most = std::max_element(list.begin(), list.end(), [](const Gres& a, const Gres& b) { return a.count < b.count; });
  if (most->type == "*") in.fail("'*' is no GPU type");
  check_slurm_name(in, most->type);
  std::int64_t gpus = 0;
  for (const Gres& one : list) {
    if (one.count > kMaxGpusPerNode - gpus) in.fail(fmt::format("{} are more than {} GPUs", in.shown(), kMaxGpusPerNode));
    for (std::int64_t i = gpus; i < gpus + one.count && one.type != most->type; ++i) row.node.other_types |= std::uint64_t{1} << i;
    gpus += one.count;
  }
  row.node.gpus = static_cast<std::int32_t>(gpus);
  row.node.gpu_type = most->type.empty() ? "gpu" : most->type;
}

void read_used(JsonCursor& in, NodeRow& row) {
  const std::string text = read_slurm_text(in);
  std::vector<Gres> list;
  const std::string problem = parse_gres(text, list);
  if (!problem.empty()) in.fail(problem);
  for (const Gres& one : list) {
    if (one.name != "gpu") continue;
    row.node.used |= one.indices;
    row.node.used_beyond = row.node.used_beyond || one.beyond;
    row.node.used_count += one.count;
  }
}

std::int64_t read_amount(JsonCursor& in) {
  const std::int64_t number = read_slurm_number(in);
  constexpr std::int64_t kMost = kMaxBytes >> 20;
  if (number != kSlurmUnset && (number < 0 || number > kMost)) in.fail(fmt::format("{} is not within 0 to {}", number, kMost));
  return number;
}

void read_node_name(JsonCursor& in, NodeRow& row) {
  row.node.name = in.string();
  if (row.node.name.empty()) in.fail("a node without a name");
  check_slurm_name(in, row.node.name);
}

void read_partitions(JsonCursor& in, NodeRow& row) {
  row.node.partitions = read_slurm_names(in);
  std::vector<std::string> sorted = row.node.partitions;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) in.fail(fmt::format("duplicate partition '{}'", *twice));
}

void see(JsonCursor& in, NodeRow& row) { row.seen_at = std::max(row.seen_at, read_slurm_instant(in)); }

constexpr Field<NodeRow> kSlurmNodeFields[] = {
    {"name", read_node_name, true},
    {"state", add_states, true},
    {"state_flags", add_states},
    {"partitions", read_partitions, true},
    {"features", [](JsonCursor& in, NodeRow& r) { r.node.features = read_slurm_names(in); }},
    {"active_features", [](JsonCursor& in, NodeRow& r) { r.node.active_features = read_slurm_names(in); }},
    {"gres", read_gpus, true},
    {"gres_used", read_used, true},
    {"gres_drained",
     [](JsonCursor& in, NodeRow& r) {
       const std::string text = read_slurm_text(in);
       r.node.drained_gpus = text.find("gpu") != text.npos;
     }},
    {"cpus", [](JsonCursor& in, NodeRow& r) { r.node.cpus = read_amount(in); }, true},
    {"effective_cpus", [](JsonCursor& in, NodeRow& r) { r.node.effective_cpus = read_amount(in); }},
    {"alloc_cpus", [](JsonCursor& in, NodeRow& r) { r.node.alloc_cpus = std::max<std::int64_t>(read_amount(in), 0); }, true},
    {"real_memory", [](JsonCursor& in, NodeRow& r) { r.node.memory_mib = read_amount(in); }, true},
    {"specialized_memory", [](JsonCursor& in, NodeRow& r) { r.node.reserved_memory_mib = std::max<std::int64_t>(read_amount(in), 0); }},
    {"alloc_memory", [](JsonCursor& in, NodeRow& r) { r.node.alloc_memory_mib = std::max<std::int64_t>(read_amount(in), 0); }, true},
    {"last_busy", see},
    {"slurmd_start_time", see},
    {"reason_changed_at", see},
};

}  // namespace

void read_slurm_nodes(JsonCursor& in, SlurmData& data, SlurmGap& gap) {
  SlurmRows<NodeRow> rows(kSlurmNodeFields);
  std::unordered_map<std::string, std::size_t> names;
  in.array([&] {
    const char* at = in.next_mark();
    if (data.nodes.size() == static_cast<std::size_t>(kMaxNodes)) in.fail(fmt::format("more than {} nodes", kMaxNodes));
    NodeRow row{data.nodes.emplace_back()};
    const std::uint64_t seen = rows.read(in, row);
    const std::string missing = rows.missing(seen);
    if (!missing.empty() && gap.at == nullptr) gap = {at, fmt::format("/nodes/{}", data.nodes.size() - 1), missing};
    if (!missing.empty()) return;
    rows.note_lack(seen, [&] { return row.node.name; });
    if (const auto [first, fresh] = names.emplace(row.node.name, data.nodes.size() - 1); !fresh)
      in.fail_at(at, fmt::format("the name '{}' is that of /nodes/{} too", row.node.name, first->second));
    data.now = std::max(data.now, row.seen_at);
  });
  gap.nodes = rows.lacks();
}

}  // namespace berth::io
