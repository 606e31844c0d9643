// Callbacks written in C++ that throw: the exception stops at the boundary of the C ABI.
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/c_api/check.h"

namespace {

struct Lines {
  std::vector<std::string> text;
};

void collect(void* data, int32_t level, const char* message) {
  static_cast<Lines*>(data)->text.push_back(std::to_string(level) + ": " + message);
}

void throw_from_log(void*, int32_t, const char*) { throw std::runtime_error("from the log callback"); }
int32_t throw_from_progress(void*, uint64_t, uint64_t) { throw 42; }

std::string json_of(berth_policy_state* memory) {
  char* json = nullptr;
  OK(berth_policy_state_to_json(memory, &json, nullptr, nullptr));
  std::string copy(json);
  berth_free(json);
  return copy;
}

}  // namespace

int main() {
  berth_state* state = nullptr;
  berth_engine* engine = nullptr;
  berth_plan* plan = nullptr;
  OK(berth_state_from_json(kSmall, strlen(kSmall), nullptr, &state, nullptr));
  OK(berth_engine_create(&engine, nullptr));
  OK(berth_plan_create(&plan, nullptr));

  Lines lines;
  OK(berth_engine_set_log(engine, BERTH_LOG_INFO, collect, &lines, nullptr));
  berth_request request{};
  request.struct_size = sizeof request;
  OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
  CHECK(lines.text.size() == 1);
  CONTAINS(lines.text[0].c_str(), "3: decided by fifo on cpu at revision 1: 1 start");
  request.policy = "missing";
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, nullptr, &request, plan, nullptr));
  CHECK(lines.text.size() == 2);
  CONTAINS(lines.text[1].c_str(), "1: unknown policy 'missing'");
  request.policy = nullptr;
  OK(berth_engine_set_log(engine, BERTH_LOG_WARNING, collect, &lines, nullptr));
  OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
  CHECK(lines.text.size() == 2);

  OK(berth_engine_set_log(engine, BERTH_LOG_INFO, throw_from_log, nullptr, nullptr));
  GIVES(BERTH_CALLBACK_FAILED, berth_decide(engine, state, nullptr, &request, plan, nullptr));
  request.policy = "missing";
  GIVES(BERTH_CALLBACK_FAILED, berth_decide(engine, state, nullptr, &request, plan, nullptr));
  request.policy = nullptr;
  OK(berth_engine_set_log(engine, BERTH_LOG_ERROR, nullptr, nullptr, nullptr));

  request.progress = throw_from_progress;
  GIVES(BERTH_CALLBACK_FAILED, berth_decide(engine, state, nullptr, &request, plan, nullptr));
  request.progress = nullptr;
  OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
  berth_plan_info info{};
  info.struct_size = sizeof info;
  OK(berth_plan_get_info(plan, &info, nullptr));
  CHECK(info.starts == 1);

  // Whichever callback throws, the policy state is unchanged, and nothing counts as decided.
  berth_policy_state* memory = nullptr;
  berth_engine_stats before{}, after{};
  before.struct_size = after.struct_size = sizeof before;
  OK(berth_policy_state_create(&memory, nullptr));
  const std::string empty = json_of(memory);
  OK(berth_engine_get_stats(engine, &before, nullptr));
  request.progress = throw_from_progress;
  GIVES(BERTH_CALLBACK_FAILED, berth_decide(engine, state, memory, &request, plan, nullptr));
  CHECK(json_of(memory) == empty);
  request.progress = nullptr;
  OK(berth_engine_set_log(engine, BERTH_LOG_INFO, throw_from_log, nullptr, nullptr));
  GIVES(BERTH_CALLBACK_FAILED, berth_decide(engine, state, memory, &request, plan, nullptr));
  CHECK(json_of(memory) == empty);
  OK(berth_engine_get_stats(engine, &after, nullptr));
  CHECK(after.decisions == before.decisions && after.failures == before.failures + 2);
  OK(berth_engine_set_log(engine, BERTH_LOG_INFO, collect, &lines, nullptr));
  OK(berth_decide(engine, state, memory, &request, plan, nullptr));
  CHECK(json_of(memory) != empty);
  OK(berth_policy_state_destroy(&memory, nullptr));

  OK(berth_plan_destroy(&plan, nullptr));
  OK(berth_engine_destroy(&engine, nullptr));
  OK(berth_state_destroy(&state, nullptr));
  return 0;
}
