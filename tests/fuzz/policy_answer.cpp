// Any answer of an external policy: rejected with its line, or a plan that is valid or rejected, never an internal
// error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "host/core/engine/run_list.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/exec/exec_answer.hpp"
#include "host/sim/exec/exec_question.hpp"

namespace {

using namespace berth;

// Two types, one closed node. Three jobs run on all but one GPU; four wait, of which "e" is elastic and "z" can never
// run.
ClusterState busy_state() {
  ClusterState state(io::cluster_from("2x4xA+1x4xB", {}));
  state.apply(delta::SetTime{10 * kSecond});
  const auto put = [&](const char* id, std::vector<std::int32_t> counts) {
    Job job;
    job.id = id;
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ClusterState state = busy_state();
  static core::RunList list;
  static sim::ExecQuestion question;
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
