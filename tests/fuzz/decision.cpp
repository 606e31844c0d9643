// A random cluster, random changes, any policy. Every plan passes the independent validator. The live state decides
// like one built from scratch, the reference agrees with the CPU, and the plan can be applied.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/core/policy_api/objective.hpp"
#include "tests/fuzz/random_cluster.hpp"
#include "tests/support/params.hpp"

namespace {

using namespace berth;

// The guaranteed content of a plan, without backend and revision.
std::string text_of(Plan plan, const ClusterState& state) {
  plan.revision = 0;
  plan.backend = "any";
  plan.backend_note.clear();
  return io::to_json(plan, state, false);
}

Request random_request(fuzz::Bytes& in) {
  static const std::vector<PolicyInfo> all = policies();
  Request request;
  request.policy = in.of(all).name;
  request.params = test::short_search(request.policy);
  static const std::vector<std::string> disciplines{"greedy", "strict", "easy", "conservative"},
      packings{"topology", "count", "consolidate", "emptiest"}, parts{"1", "2", "3", "7"},
      terms{"none", "span,link_load", "restart,tardiness,fragmentation", "migration,restart,span,link_load,fragmentation,tardiness"};
  static const std::vector<std::string> objectives = [] {
    std::vector<std::string> names;
    for (const core::ObjectiveInfo& one : core::objectives()) names.emplace_back(one.name);
    return names;
  }();
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    if (test::has_param(request.policy, name)) request.params.emplace_back(name, in.of(values));
  };
  if (in.one_in(2)) add("discipline", disciplines);
  if (in.one_in(3)) add("packing", packings);
  if (in.one_in(2)) add("objective", objectives);
  if (in.one_in(2)) add("k", parts);
  if (in.one_in(2)) add("terms", terms);
  request.seed = in.byte();
  if (in.one_in(6)) request.max_iterations = in.within(1, 8);
  return request;
}

// Reproduces the failure with `berth plan`: the snapshot, and the plans.
[[noreturn]] void wrong(const std::string& what, const ClusterState& state, const Plan& plan, const Plan& other) {
  fuzz::broken(what + "\n" + io::to_json(state.snapshot()) + io::to_json(plan, state, false) + io::to_json(other, state, false));
}

void check_valid(const ClusterState& state, const Plan& plan) {
  const auto violations = validate_plan(state, plan);
  if (!violations.empty()) wrong("an invalid plan: " + violations.front(), state, plan, plan);
}

void check_round(ClusterState& state, Engine& engine, PolicyState& memory, const Request& request, Plan& plan) {
  PolicyState before = memory, again = memory;
  engine.decide(state, memory, request, plan);
  check_valid(state, plan);

  const ClusterState scratch(state.snapshot());
  Request reference = request;
  reference.backend = Backend::kReference;
  Plan other;
  Engine().decide(scratch, before, request, other);
  check_valid(scratch, other);
  if (text_of(plan, state) != text_of(other, scratch)) wrong("the live decision is not the one from scratch", state, plan, other);
  Engine().decide(scratch, again, reference, other);
  if (text_of(plan, state) != text_of(other, scratch)) wrong("the reference decides otherwise", state, plan, other);
  fuzz::hold(memory == before && memory == again, "policy states differ");
}

// A policy state is a file of the user: it may have any number, and rows of unknown jobs.
void forge(fuzz::Bytes& in, PolicyState& memory) {
  static const std::vector<std::int64_t> odd{INT64_MIN, -1, 0, 1, 999'999, kSecond, kMaxTimeUs, kNever, INT64_MAX};
  for (auto& [name, value] : memory.scalars) {
    if (in.one_in(2)) value = in.of(odd);
  }
  for (auto& [name, column] : memory.columns) {
    for (auto& [job, value] : column) {
      if (in.one_in(2)) value = in.of(odd);
    }
    if (in.one_in(4)) column["missing"] = in.of(odd);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes in(data, size);
  const Request request = random_request(in);
  Snapshot snapshot = fuzz::random_cluster(in);
  try {
    check_snapshot(snapshot);
  } catch (const InputError&) {
    return 0;
  }
  ClusterState state(std::move(snapshot));
  Engine engine;
  PolicyState memory;
  Plan plan;
  for (int round = 0; round < 6; ++round) {
    try {
      check_round(state, engine, memory, request, plan);
    } catch (const InvalidArgument&) {
      return 0;  // parameters that the policy does not accept
    }
    if (!in.one_in(4)) commit(state, plan);
    if (in.empty()) return 0;
    if (in.one_in(4)) forge(in, memory);
    const std::string before = io::to_json(state.snapshot());
    try {
      state.apply(fuzz::random_batch(in, state.snapshot()));
    } catch (const InputError&) {
      fuzz::hold(io::to_json(state.snapshot()) == before, "a refused batch left a trace");
    }
  }
  return 0;
}
