// Any answer of an external policy: rejected with its line, or a plan that is valid or rejected, never an internal
// error.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "host/core/engine/run_list.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/exec/exec_answer.hpp"
#include "host/sim/exec/exec_question.hpp"
#include "tests/support/overtaken.hpp"

namespace {

using namespace berth;

// Two types, one closed node. Three jobs run on all but one GPU; four wait, of which "e" is elastic and "z" can never
// run. All are in one queue.
ClusterState busy_state() {
  ClusterState state(io::cluster_from("2x4xA+1x4xB", {}));
  state.apply(delta::SetTime{10 * kSecond});
  Queue queue;
  queue.id = "q";
  state.apply(delta::PutQueue{queue});
  const auto put = [&](const char* id, std::vector<std::int32_t> counts) {
    Job job;
    job.id = id;
    job.queue = "q";
    for (const std::int32_t gpus : counts) {
      Shape shape;
      shape.id = std::to_string(gpus);
      shape.gpus = gpus;
      job.shapes.push_back(std::move(shape));
    }
    state.apply(delta::PutJob{std::move(job)});
  };
  put("a", {4});
  put("b b", {1});
  put("c", {6});
  commit(state, Engine().decide(state, Request{}));
  put("d", {2});
  put("e", {1, 2, 4});
  put("f", {1});
  put("z", {99});
  state.apply(delta::SetNodeState{state.node(0).id, NodeState::kDrain, 0});
  return state;
}

/// A state, and what is kept for it between answers.
struct Asked {
  ClusterState state;
  core::RunList list;
  sim::ExecQuestion question;
};

// The busy state, and states that became illegal after the fact: its limit was lowered, its GPUs and nodes were lost.
std::vector<std::unique_ptr<Asked>> asked_states() {
  std::vector<std::unique_ptr<Asked>> all;
  const auto add = [&](ClusterState state) { all.push_back(std::make_unique<Asked>(Asked{std::move(state), {}, {}})); };
  add(busy_state());
  for (std::uint64_t seed = 1; seed <= 7; ++seed) add(ClusterState(test::overtaken(busy_state().snapshot(), seed)));
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::unique_ptr<Asked>> asked = asked_states();
  auto& [state, list, question] = *asked[size / 3 % asked.size()];
  std::string lines(reinterpret_cast<const char*>(data), size);
  if (!lines.empty() && lines.back() != '\n') lines += '\n';
  const auto placement = static_cast<core::Packing>(size % 3);
  (void)question.write(state, list.begin(state.impl(), placement));
  try {
    const sim::ExecAnswer answer = sim::parse_exec_answer(lines, state, question);
    Plan plan;
    (void)list.plan(state.impl(), answer.run, Request{}, plan);
  } catch (const InvalidArgument&) {
  }
  return 0;
}
