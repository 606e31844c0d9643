// Every allocation fails once, in turn: the call says so, what it worked on is as before (or said to be lost), and the same call then
// succeeds with the same answer.
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include "tests/c_api/check.h"

namespace {

long countdown = -1;  // the allocation that fails when it gets to zero; below zero: none

void* take(std::size_t n) noexcept {
  if (countdown > 0 && --countdown == 0) return nullptr;
  return std::malloc(n == 0 ? 1 : n);
}

}  // namespace

void* operator new(std::size_t n) {
  if (void* p = take(n)) return p;
  throw std::bad_alloc();
}
void* operator new[](std::size_t n) { return operator new(n); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }

namespace {

std::string taken(char* text) {
  std::string copy(text);
  berth_free(text);
  return copy;
}

std::string json_of(berth_state* state) {
  char* json = nullptr;
  OK(berth_state_to_json(state, &json, nullptr, nullptr));
  return taken(json);
}

std::string json_of(berth_plan* plan, berth_state* state) {
  char* json = nullptr;
  OK(berth_plan_to_json(plan, state, 0, &json, nullptr, nullptr));
  return taken(json);
}

berth_state* load() {
  berth_state* state = nullptr;
  OK(berth_state_from_json(kSmall, strlen(kSmall), nullptr, &state, nullptr));
  return state;
}

// Calls with the k-th allocation failing, for k = 1, 2, ... until a call needs fewer. @returns how many failed.
long fail_each(const std::function<berth_status()>& call, const std::function<void(berth_status)>& after) {
  for (long k = 1;; ++k) {
    countdown = k;
    const berth_status status = call();
    const bool all_given = countdown > 0;
    countdown = -1;
    if (all_given) {
      OK(status);
      return k - 1;
    }
    // One that the standard library can do without is no failure.
    CHECK(status == BERTH_OUT_OF_MEMORY || status == BERTH_STATE_LOST || status == BERTH_OK);
    after(status);
  }
}

void loading() {
  berth_state* state = nullptr;
  const long failed = fail_each([&] { return berth_state_from_json(kSmall, strlen(kSmall), nullptr, &state, nullptr); },
                                [&](berth_status status) {
                                  CHECK(status != BERTH_STATE_LOST);
                                  CHECK((status == BERTH_OK) == (state != nullptr));
                                  OK(berth_state_destroy(&state, nullptr));
                                });
  CHECK(failed > 50);
  OK(berth_state_destroy(&state, nullptr));
}

void deciding() {
  berth_state* state = load();
  for (const char* policy : {"fifo", "srsf", "las", "gittins", "qssf"}) {
    berth_engine* engine = nullptr;
    berth_plan* plan = nullptr;
    OK(berth_engine_create(&engine, nullptr));
    OK(berth_plan_create(&plan, nullptr));
    berth_request request{};
    request.struct_size = sizeof request;
    request.policy = policy;
    OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
    const std::string expected = json_of(plan, state);
    OK(berth_engine_destroy(&engine, nullptr));
    // A new engine each time, so that no buffer is there yet.
    const long failed = fail_each(
        [&] {
          if (engine == nullptr) {
            const berth_status status = berth_engine_create(&engine, nullptr);
            if (status != BERTH_OK) return status;
          }
          return berth_decide(engine, state, nullptr, &request, plan, nullptr);
        },
        [&](berth_status status) {
          CHECK(status != BERTH_STATE_LOST);
          if (engine != nullptr) {
            OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
            CHECK(json_of(plan, state) == expected);
          }
          OK(berth_engine_destroy(&engine, nullptr));
        });
    CHECK(failed > 20);
    OK(berth_engine_destroy(&engine, nullptr));
    OK(berth_plan_destroy(&plan, nullptr));
  }
  OK(berth_state_destroy(&state, nullptr));
}

constexpr char kChanges[] =
    R"({"schema": "berth.deltas.v1", "deltas": [
{"op": "set_time", "now_s": 200},
{"op": "remove_job", "job": "starts", "status": "completed"},
{"op": "put_job", "job": {"id": "new", "submit_s": 150, "gpus": {"min": 1, "max": 8, "step": "pow2"}, "queue": "q"}},
{"op": "stop_job", "job": "runs"},
{"op": "set_node_state", "node": "n1", "state": "drain"},
{"op": "put_node", "node": {"id": "n2", "gpu_type": "A100", "gpus": 2}},
{"op": "put_reservation", "reservation": {"id": "r", "nodes": ["n0"], "from_s": 1000, "to_s": 2000}}]})";
constexpr char kQueue[] = R"({"schema": "berth.deltas.v1", "deltas": [{"op": "put_queue", "queue": {"id": "q"}}]})";

void changing() {
  berth_state* state = load();
  OK(berth_state_apply_json(state, kQueue, sizeof kQueue - 1, nullptr, nullptr, nullptr));
  const std::string before = json_of(state);
  berth_state* changed = load();
  OK(berth_state_apply_json(changed, kQueue, sizeof kQueue - 1, nullptr, nullptr, nullptr));
  OK(berth_state_apply_json(changed, kChanges, sizeof kChanges - 1, nullptr, nullptr, nullptr));
  const std::string after = json_of(changed);
  long lost = 0;
  const long failed =
      fail_each([&] { return berth_state_apply_json(state, kChanges, sizeof kChanges - 1, nullptr, nullptr, nullptr); },
                [&](berth_status status) {
                  if (status == BERTH_OUT_OF_MEMORY) {
                    CHECK(json_of(state) == before);
                  } else if (status == BERTH_OK) {
                    CHECK(json_of(state) == after);
                  } else {
                    ++lost;
                    char* json = nullptr;
                    GIVES(BERTH_STATE_LOST, berth_state_to_json(state, &json, nullptr, nullptr));
                    GIVES(BERTH_STATE_LOST, berth_state_apply_json(state, kQueue, sizeof kQueue - 1, nullptr, nullptr, nullptr));
                    berth_state_info info{};
                    info.struct_size = sizeof info;
                    std::int32_t number = 0;
                    GIVES(BERTH_STATE_LOST, berth_state_get_info(state, &info, nullptr));
                    GIVES(BERTH_STATE_LOST, berth_state_find_job(state, "runs", &number, nullptr));
                    GIVES(BERTH_STATE_LOST, berth_state_find_node(state, "n0", &number, nullptr));
                  }
                  if (status == BERTH_OUT_OF_MEMORY) return;
                  OK(berth_state_destroy(&state, nullptr));
                  state = load();
                  OK(berth_state_apply_json(state, kQueue, sizeof kQueue - 1, nullptr, nullptr, nullptr));
                });
  CHECK(json_of(state) == after);
  printf("changes: %ld allocations failed, %ld of them lost the state\n", failed, lost);
  CHECK(failed > 50 && lost < failed);
  OK(berth_state_destroy(&state, nullptr));
  OK(berth_state_destroy(&changed, nullptr));
}

void reading() {
  berth_state* state = load();
  berth_engine* engine = nullptr;
  berth_plan* plan = nullptr;
  OK(berth_engine_create(&engine, nullptr));
  OK(berth_plan_create(&plan, nullptr));
  berth_request request{};
  request.struct_size = sizeof request;
  OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
  for (int what = BERTH_TEXT_JOB; what <= BERTH_TEXT_NODE; ++what) {
    char* bytes = nullptr;
    uint64_t begin[4];
    fail_each([&] { return berth_plan_texts(plan, state, what, 0, 2, &bytes, begin, nullptr); },
              [&](berth_status status) {
                CHECK((status == BERTH_OK) == (bytes != nullptr));
                berth_free(bytes);
                bytes = nullptr;
              });
    berth_free(bytes);
  }
  berth_memory* memory = nullptr;
  fail_each([&] { return berth_memory_create(&memory, nullptr); }, [&](berth_status) { CHECK(memory == nullptr); });
  OK(berth_memory_destroy(&memory, nullptr));
  OK(berth_plan_destroy(&plan, nullptr));
  OK(berth_engine_destroy(&engine, nullptr));
  OK(berth_state_destroy(&state, nullptr));
}

}  // namespace

int main() {
  loading();
  deciding();
  changing();
  reading();
  return 0;
}
