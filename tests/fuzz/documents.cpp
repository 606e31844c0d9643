// Any text as each of the smaller documents; an accepted one must read back unchanged after writing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/formats/cluster_json.hpp"
#include "host/io/traces/trace_json.hpp"
#include "tests/fuzz/bytes.hpp"

namespace {

using namespace berth;

// A small cluster that deltas and plans of the corpus refer to.
constexpr std::string_view kState =
    R"({"schema": "berth.snapshot.v1", "now_s": 100, "gpu_types": [{"id": "A"}, {"id": "B", "memory_bytes": 80}],)"
    R"( "domains": [{"id": "r0", "level": "rack"}, {"id": "r1", "level": "rack"}],)"
    R"( "nodes": [{"id": "n0", "gpu_type": "A", "gpus": 4, "domains": {"switch": "r0"}, "sharing": true},)"
    R"(  {"id": "n1", "gpu_type": "B", "gpus": 4, "domains": {"switch": "r1"}, "cpu_cores": 8}],)"
    R"( "queues": [{"id": "q", "quotas": [{"gpu_type": "*", "limit": 4}]}],)"
    R"( "jobs": [{"id": "a", "submit_s": 0, "gpus": 2, "state": "running", "allocation": {"shape": "2", "entries": [{"node": "n0", "gpus": [0, 1]}]}},)"
    R"(  {"id": "b", "submit_s": 1, "gpus": {"min": 1, "max": 4}, "queue": "q"}, {"id": "c", "submit_s": 2, "gpus": 9}]})";

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    const PolicyState read = io::parse_policy_state(text);
    fuzz::hold(io::parse_policy_state(io::to_json(read)) == read, "a policy state changed on its way");
  });
  attempt([&] {
    const Trace read = io::parse_trace(text);
    fuzz::hold(io::to_json(io::parse_trace(io::to_json(read))) == io::to_json(read), "a trace changed on its way");
  });
  attempt([&] { io::parse_cluster(text); });
  ClusterState state = io::parse_state(kState);
  attempt([&] {
    const Plan read = io::parse_plan(text, state);
    const std::string written = io::to_json(read, state);
    fuzz::hold(io::to_json(io::parse_plan(written, state), state) == written, "a plan changed on its way");
    validate_plan(state, read);
    for (const Decision& d : read.decisions) render_reason(state, d.reason, d.job);
  });
  const std::string before = io::to_json(state.snapshot());
  try {
    io::apply_json(state, text);
    ClusterState(state.snapshot());
  } catch (const InputError&) {
    fuzz::hold(io::to_json(state.snapshot()) == before, "a refused batch left a trace");
  }
  return 0;
}
