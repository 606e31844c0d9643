// Every allocation fails once, in turn. The call reports it and its objects are unchanged (or reported as lost). The
// same call then succeeds with the same result.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "tests/c_api/check.h"

namespace {

long countdown = -1;  // the allocation that fails when it reaches zero; below zero: none

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

std::string json_of(berth_policy_state* memory) {
  char* json = nullptr;
  OK(berth_policy_state_to_json(memory, &json, nullptr, nullptr));
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
    // The standard library tolerates some failed allocations.
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
  // A few of each kind: every allocation of a decision costs a decision.
  for (const char* policy : {"fifo", "srsf", "las", "gittins", "qssf", "price", "gavel-las"}) {
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
    // A new engine each time, so that it has no buffers yet.
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

struct Decided {
  berth_state* state = load();
  berth_engine* engine = nullptr;
  berth_plan* plan = nullptr;
  Decided() {
    berth_request request{};
    request.struct_size = sizeof request;
    OK(berth_engine_create(&engine, nullptr));
    OK(berth_plan_create(&plan, nullptr));
    OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
  }
  ~Decided() {
    OK(berth_plan_destroy(&plan, nullptr));
    OK(berth_engine_destroy(&engine, nullptr));
    OK(berth_state_destroy(&state, nullptr));
  }
  Decided(const Decided&) = delete;
  Decided& operator=(const Decided&) = delete;
};

// A call that returns a text returns all of it or none.
void gives_text(const std::function<berth_status(char**)>& call) {
  char* text = nullptr;
  OK(call(&text));
  const std::string expected = taken(text);
  text = nullptr;
  const long failed = fail_each([&] { return call(&text); },
                                [&](berth_status status) {
                                  CHECK((status == BERTH_OK) == (text != nullptr));
                                  berth_free(text);
                                  text = nullptr;
                                });
  CHECK(failed > 0);
  CHECK(taken(text) == expected);
}

void remembering(bool changes_only) {
  berth_state* state = load();
  berth_policy_state* memory = nullptr;
  OK(berth_policy_state_create(&memory, nullptr));
  const std::string empty = json_of(memory);
  berth_engine* engine = nullptr;
  berth_plan* plan = nullptr;
  OK(berth_plan_create(&plan, nullptr));
  berth_request request{};
  request.struct_size = sizeof request;
  request.policy = "las";
  request.changes_only = changes_only ? 1 : 0;
  const long failed = fail_each(
      [&] {
        if (engine == nullptr) {
          const berth_status status = berth_engine_create(&engine, nullptr);
          if (status != BERTH_OK) return status;
        }
        return berth_decide(engine, state, memory, &request, plan, nullptr);
      },
      [&](berth_status status) {
        CHECK((json_of(memory) == empty) == (status != BERTH_OK));
        OK(berth_engine_destroy(&engine, nullptr));
        OK(berth_policy_state_destroy(&memory, nullptr));
        OK(berth_policy_state_create(&memory, nullptr));
      });
  CHECK(failed > 20);
  const std::string kept = json_of(memory);
  CHECK(kept != empty);
  gives_text([&](char** text) { return berth_policy_state_to_json(memory, text, nullptr, nullptr); });
  berth_policy_state* again = nullptr;
  fail_each([&] { return berth_policy_state_from_json(kept.data(), kept.size(), nullptr, &again, nullptr); },
            [&](berth_status status) {
              CHECK((status == BERTH_OK) == (again != nullptr));
              OK(berth_policy_state_destroy(&again, nullptr));
            });
  CHECK(json_of(again) == kept);
  OK(berth_policy_state_destroy(&again, nullptr));
  fail_each([&] { return berth_policy_state_create(&again, nullptr); }, [&](berth_status) { CHECK(again == nullptr); });
  OK(berth_policy_state_destroy(&again, nullptr));
  OK(berth_policy_state_destroy(&memory, nullptr));
  OK(berth_plan_destroy(&plan, nullptr));
  OK(berth_engine_destroy(&engine, nullptr));
  OK(berth_state_destroy(&state, nullptr));
}

// A decision that fails is no base: the next plan of changes lists all reservations.
void reserving() {
  static const char kWaits[] =
      R"({"schema": "berth.snapshot.v1", "now_s": 100, "gpu_types": [{"id": "A"}], "nodes": [{"id": "n0", "gpu_type": "A", "gpus": 2}],)"
      R"("jobs": [{"id": "a", "submit_s": 0, "gpus": 2, "estimate": {"run_s": 9}}, {"id": "b", "submit_s": 1, "gpus": 2}]})";
  static const char* const params[] = {"discipline=conservative"};
  berth_state* state = nullptr;
  berth_engine* engine = nullptr;
  berth_plan* plan = nullptr;
  OK(berth_state_from_json(kWaits, strlen(kWaits), nullptr, &state, nullptr));
  OK(berth_plan_create(&plan, nullptr));
  berth_request request{};
  request.struct_size = sizeof request;
  request.policy = "fifo";
  request.changes_only = 1;
  request.n_params = 1;
  request.params.strings = params;
  const auto decisions = [&](std::uint64_t since) {
    berth_plan_info info{};
    info.struct_size = sizeof info;
    OK(berth_decide(engine, state, nullptr, &request, plan, nullptr));
    OK(berth_plan_get_info(plan, &info, nullptr));
    CHECK(info.reserves == 1 && info.reservations_since == since);
    return info.n_decisions;
  };
  const auto begin_again = [&] {
    OK(berth_engine_create(&engine, nullptr));
    CHECK(decisions(0) == 2);
    CHECK(decisions(1) == 1);
  };
  begin_again();
  const long failed = fail_each(
      [&] {
        OK(berth_engine_destroy(&engine, nullptr));
        const long k = countdown;
        countdown = -1;
        begin_again();
        countdown = k;
        return berth_decide(engine, state, nullptr, &request, plan, nullptr);
      },
      [&](berth_status status) { CHECK(decisions(status == BERTH_OK ? 1 : 0) == (status == BERTH_OK ? 1 : 2)); });
  CHECK(failed > 0);
  OK(berth_plan_destroy(&plan, nullptr));
  OK(berth_engine_destroy(&engine, nullptr));
  OK(berth_state_destroy(&state, nullptr));
}

void committing() {
  std::string before, after;
  {
    const Decided one;
    before = json_of(one.state);
    OK(berth_commit(one.state, one.plan, nullptr, nullptr));
    after = json_of(one.state);
  }
  std::optional<Decided> one(std::in_place);
  const long failed = fail_each([&] { return berth_commit(one->state, one->plan, nullptr, nullptr); },
                                [&](berth_status status) {
                                  if (status != BERTH_STATE_LOST) CHECK(json_of(one->state) == (status == BERTH_OK ? after : before));
                                  one.emplace();
                                });
  CHECK(failed > 5);
  CHECK(json_of(one->state) == after);
}

void taking_arrays() {
  const char *const types[] = {"A"}, *const nodes[] = {"a", "b"}, *const ids[] = {"c"};
  const std::int32_t type[] = {0, 0}, gpus[] = {4, 4}, asked[] = {2}, kinds[] = {BERTH_PUT_JOB, BERTH_START_JOB};
  const std::uint64_t row[] = {0, 0}, entry_begin[] = {0, 0, 1}, masks[] = {3};
  const char *const changed[] = {"", "c"}, *const shapes[] = {"", "2"};
  berth_jobs jobs{};
  jobs.struct_size = sizeof jobs;
  jobs.n = 1;
  jobs.id.strings = ids;
  jobs.shape_gpus = asked;
  berth_cluster cluster{};
  cluster.struct_size = sizeof cluster;
  cluster.n_gpu_types = 1;
  cluster.gpu_type.strings = types;
  cluster.n_nodes = 2;
  cluster.node.strings = nodes;
  cluster.node_gpu_type = type;
  cluster.node_gpus = gpus;
  berth_state* state = nullptr;
  fail_each([&] { return berth_state_from_arrays(&cluster, &state, nullptr); },
            [&](berth_status status) {
              CHECK((status == BERTH_OK) == (state != nullptr));
              OK(berth_state_destroy(&state, nullptr));
            });
  const std::string before = json_of(state);

  berth_entries entries{};
  entries.struct_size = sizeof entries;
  entries.n = 1;
  entries.node.strings = nodes;
  entries.gpus = masks;
  berth_deltas deltas{};
  deltas.struct_size = sizeof deltas;
  deltas.n = 2;
  deltas.kind = kinds;
  deltas.id.strings = changed;
  deltas.text.strings = shapes;
  deltas.row = row;
  deltas.jobs = &jobs;
  deltas.entry_begin = entry_begin;
  deltas.entries = &entries;
  const long failed = fail_each([&] { return berth_state_apply(state, &deltas, nullptr, nullptr); },
                                [&](berth_status status) {
                                  if (status == BERTH_OUT_OF_MEMORY) {
                                    CHECK(json_of(state) == before);
                                    return;
                                  }
                                  OK(berth_state_destroy(&state, nullptr));
                                  OK(berth_state_from_arrays(&cluster, &state, nullptr));
                                });
  CHECK(failed > 20);
  CHECK(json_of(state).find("\"running\"") != std::string::npos);
  OK(berth_state_destroy(&state, nullptr));
}

void reading() {
  const Decided one;
  berth_state* created = nullptr;
  fail_each([&] { return berth_state_create(&created, nullptr); },
            [&](berth_status status) {
              CHECK((status == BERTH_OK) == (created != nullptr));
              OK(berth_state_destroy(&created, nullptr));
            });
  OK(berth_state_destroy(&created, nullptr));
  const std::string longer_than_what_is_kept_in_place(100, 'x');
  std::int32_t number = 7;
  fail_each([&] { return berth_state_find_job(one.state, longer_than_what_is_kept_in_place.c_str(), &number, nullptr); },
            [&](berth_status) { CHECK(number == 7); });
  fail_each([&] { return berth_state_find_node(one.state, longer_than_what_is_kept_in_place.c_str(), &number, nullptr); },
            [&](berth_status) { CHECK(number == -1); });
  for (int what = BERTH_TEXT_JOB; what <= BERTH_TEXT_NODE; ++what) {
    uint64_t begin[4];
    gives_text([&](char** text) { return berth_plan_texts(one.plan, one.state, what, 0, 2, text, begin, nullptr); });
  }
  uint64_t violations = 0;
  gives_text([&](char** text) { return berth_plan_validate(one.plan, one.state, &violations, text, nullptr); });
  gives_text([&](char** text) { return berth_plan_to_json(one.plan, one.state, 0, text, nullptr, nullptr); });
  gives_text([&](char** text) { return berth_state_to_json(one.state, text, nullptr, nullptr); });
  gives_text([&](char** text) { return berth_policies(text, nullptr, nullptr); });
  const std::string edits = R"({"schema":"berth.edits.v1","edits":[{"name":"longer than what is kept in place","policy":"srsf"}]})";
  berth_request request{};
  request.struct_size = sizeof request;
  gives_text([&](char** text) {
    return berth_state_what_if(one.state, nullptr, &request, edits.data(), edits.size(), nullptr, text, nullptr, nullptr);
  });

  const std::string json = json_of(one.plan, one.state);
  berth_plan* read = nullptr;
  fail_each([&] { return berth_plan_create(&read, nullptr); }, [&](berth_status) { CHECK(read == nullptr); });
  fail_each([&] { return berth_plan_from_json(json.data(), json.size(), nullptr, one.state, read, nullptr); },
            [&](berth_status status) {
              berth_plan_info info{};
              info.struct_size = sizeof info;
              GIVES(status == BERTH_OK ? BERTH_OK : BERTH_INVALID_ARGUMENT, berth_plan_get_info(read, &info, nullptr));
              OK(berth_plan_destroy(&read, nullptr));
              OK(berth_plan_create(&read, nullptr));
            });
  CHECK(json_of(read, one.state) == json);
  OK(berth_plan_destroy(&read, nullptr));
}

}  // namespace

int main() {
  loading();
  deciding();
  remembering(false);
  remembering(true);
  reserving();
  changing();
  committing();
  taking_arrays();
  reading();
  return 0;
}
