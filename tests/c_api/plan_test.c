/* A whole session: load, decide, read, explain, commit, continue. */
#include <stddef.h>

#include "check.h"

static berth_state* load(void) {
  berth_state* state = NULL;
  berth_error error = {sizeof error};
  OK(berth_state_from_json(kSmall, strlen(kSmall), "small.json", &state, &error));
  CHECK(error.status == BERTH_OK);
  return state;
}

static void decides_and_commits(void) {
  berth_state* state = load();
  berth_engine* engine = NULL;
  berth_plan* plan = NULL;
  berth_policy_state* memory = NULL;
  berth_request request = {sizeof request};
  berth_plan_info info = {sizeof info};
  int32_t job[3], action[3], shape[3], reason[3];
  uint64_t begin[3], end[3];
  uint8_t certified[3];
  int64_t finish[3], drained[3], failed[3];
  int32_t unavailable_nodes[3], unavailable_on[9];
  berth_decisions columns = {sizeof columns};
  int32_t node[4], members[4];
  uint64_t gpus[4];
  berth_plan_entries entries = {sizeof entries};
  uint64_t revision = 0, violations = 9;
  uint64_t text_begin[4];
  char *bytes = NULL, *lines = NULL;
  int32_t index = -2;

  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
  OK(berth_policy_state_create(&memory, NULL));
  request.policy = "srsf";
  request.seed = 7;
  OK(berth_decide(engine, state, memory, &request, plan, NULL));

  OK(berth_plan_get_info(plan, &info, NULL));
  CHECK(info.n_decisions == 3 && info.starts == 1 && info.keeps == 1 && info.rejects == 1);
  CHECK(info.gpus == 16 && info.gpus_used == 12);
  CHECK(strcmp(info.policy, "srsf") == 0 && strcmp(info.stopped_by, "done") == 0 && info.seed == 7);
  CHECK(info.proof == BERTH_PROOF_PLACED_VALIDATED && info.now_us == 100 * 1000000);

  /* A device is of the backend cuda. A program of an older minor version has no such member: it is neither read nor written. */
  CHECK(info.device != NULL && info.device[0] == '\0');
  request.device = "7";
  OK(berth_decide(engine, state, memory, &request, plan, NULL));
  request.struct_size = offsetof(berth_request, device);
  request.device = kSmall;
  info.struct_size = offsetof(berth_plan_info, device);
  info.device = NULL;
  OK(berth_decide(engine, state, memory, &request, plan, NULL));
  OK(berth_plan_get_info(plan, &info, NULL));
  CHECK(info.device == NULL && info.starts == 1);
  request.struct_size = sizeof request;
  request.device = NULL;

  /* The same without the job that is kept. */
  request.changes_only = 1;
  OK(berth_decide(engine, state, memory, &request, plan, NULL));
  info.struct_size = sizeof info;
  OK(berth_plan_get_info(plan, &info, NULL));
  CHECK(info.n_decisions == 2 && info.starts == 1 && info.keeps == 1 && info.rejects == 1 && info.gpus_used == 12);
  request.changes_only = 0;
  OK(berth_decide(engine, state, memory, &request, plan, NULL));

  columns.job = job;
  columns.action = action;
  columns.shape = shape;
  columns.entry_begin = begin;
  columns.entry_end = end;
  columns.reason = reason;
  columns.certified = certified;
  columns.finish_us = finish;
  columns.drained = drained;
  columns.failed = failed;
  columns.unavailable_nodes = unavailable_nodes;
  columns.unavailable_on = unavailable_on;
  OK(berth_plan_decisions(plan, 0, 3, &columns, NULL));
  CHECK(drained[2] == 0 && failed[2] == 0 && unavailable_nodes[2] == 0 && unavailable_on[0] == -1 && unavailable_on[8] == -1);
  CHECK(action[0] == BERTH_ACTION_KEEP && action[1] == BERTH_ACTION_START && action[2] == BERTH_ACTION_REJECT);
  CHECK(shape[1] == 0 && shape[2] == -1);
  CHECK(reason[2] == BERTH_REASON_INSUFFICIENT_GPUS && certified[2] == 1);
  CHECK(finish[1] == 150 * 1000000 && finish[2] == BERTH_NEVER);
  OK(berth_state_find_job(state, "starts", &index, NULL));
  CHECK(job[1] == index);
  OK(berth_state_find_job(state, "missing", &index, NULL));
  CHECK(index == -1);

  CHECK(end[1] - begin[1] == 1);
  entries.node = node;
  entries.gpus = gpus;
  entries.members = members;
  OK(berth_plan_get_entries(plan, begin[1], 1, &entries, NULL));
  CHECK(gpus[0] == 0xff && members[0] == 8);
  OK(berth_state_find_node(state, "n1", &index, NULL));
  CHECK(node[0] == index);
  OK(berth_plan_texts(plan, state, BERTH_TEXT_NODE, begin[1], 1, &bytes, text_begin, NULL));
  CHECK(strcmp(bytes, "n1") == 0 && text_begin[0] == 0 && text_begin[1] == 2);
  berth_free(bytes);

  OK(berth_plan_texts(plan, state, BERTH_TEXT_JOB, 0, 3, &bytes, text_begin, NULL));
  CHECK(strcmp(bytes, "runsstartsnever") == 0 && text_begin[1] == 4 && text_begin[2] == 10 && text_begin[3] == 15);
  berth_free(bytes);
  OK(berth_plan_texts(plan, state, BERTH_TEXT_SHAPE, 1, 2, &bytes, text_begin, NULL));
  CHECK(strcmp(bytes, "8") == 0 && text_begin[2] == 1);
  berth_free(bytes);
  OK(berth_plan_texts(plan, state, BERTH_TEXT_REASON, 2, 1, &bytes, text_begin, NULL));
  CONTAINS(bytes, "needs 64 GPUs");
  berth_free(bytes);
  OK(berth_plan_texts(plan, state, BERTH_TEXT_EXPLAIN, 2, 1, &bytes, text_begin, NULL));
  CONTAINS(bytes, "never");
  berth_free(bytes);
  OK(berth_plan_texts(plan, state, BERTH_TEXT_QUEUE, 0, 3, &bytes, text_begin, NULL));
  CHECK(bytes[0] == 0 && text_begin[3] == 0); /* no limit of a queue is a reason here */
  berth_free(bytes);
  OK(berth_plan_texts(plan, state, BERTH_TEXT_JOB, 3, 0, &bytes, text_begin, NULL));
  CHECK(bytes[0] == 0 && text_begin[0] == 0);
  berth_free(bytes);

  OK(berth_plan_validate(plan, state, &violations, &lines, NULL));
  CHECK(violations == 0 && lines[0] == 0);
  berth_free(lines);

  OK(berth_commit(state, plan, &revision, NULL));
  CHECK(revision == info.revision + 1);
  GIVES(BERTH_STALE_PLAN, berth_commit(state, plan, &revision, NULL));
  GIVES(BERTH_STALE_PLAN, berth_plan_texts(plan, state, BERTH_TEXT_JOB, 0, 3, &bytes, text_begin, NULL));
  OK(berth_plan_decisions(plan, 0, 3, &columns, NULL)); /* numbers are still readable */

  OK(berth_plan_destroy(&plan, NULL));
  CHECK(plan == NULL);
  OK(berth_policy_state_destroy(&memory, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
  OK(berth_state_destroy(&state, NULL)); /* a second call is allowed */
}

static void counts_what_it_did(void) {
  berth_state* state = load();
  berth_engine* engine = NULL;
  berth_plan* plan = NULL;
  berth_request request = {sizeof request};
  berth_engine_stats stats = {sizeof stats};
  berth_state_info info = {sizeof info};
  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  request.policy = "srsf"; /* which orders the running job too */
  request.max_iterations = 1;
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  request.policy = "no such policy";
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &request, plan, NULL));
  CONTAINS(berth_last_error(), "no such policy");
  OK(berth_engine_get_stats(engine, &stats, NULL));
  CHECK(stats.decisions == 2 && stats.failures == 1 && stats.stopped_by_iterations == 1 && stats.stopped_by_cancel == 0);
  CHECK(stats.decide_ns_total >= stats.decide_ns_last && stats.decide_ns_max >= stats.decide_ns_last);
  OK(berth_state_get_info(state, &info, NULL));
  CHECK(info.nodes == 2 && info.gpus == 16 && info.jobs == 3 && info.running_jobs == 1 && info.revision == 1);
  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
}

/* Written documents read back: the same plan, the same state, the same policy state. */
static void writes_what_it_reads(void) {
  berth_state *state = load(), *again = NULL;
  berth_engine* engine = NULL;
  berth_plan *plan = NULL, *read = NULL;
  berth_policy_state *memory = NULL, *remembered = NULL;
  berth_request request = {sizeof request};
  static const char* const params[] = {"promote_knob=2"};
  char *first = NULL, *second = NULL;
  size_t n_first = 0, n_second = 0;
  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
  OK(berth_plan_create(&read, NULL));
  OK(berth_policy_state_create(&memory, NULL));
  request.policy = "las";
  request.n_params = 1;
  request.params.strings = params;
  OK(berth_decide(engine, state, memory, &request, plan, NULL));

  OK(berth_plan_to_json(plan, state, 0, &first, &n_first, NULL));
  CONTAINS(first, "berth.plan.v1");
  CONTAINS(first, "promote_knob");
  OK(berth_plan_from_json(first, n_first, "p.json", state, read, NULL));
  OK(berth_plan_to_json(read, state, 0, &second, &n_second, NULL));
  CHECK(n_first == n_second && strcmp(first, second) == 0);
  berth_free(first);
  berth_free(second);

  OK(berth_policy_state_to_json(memory, &first, &n_first, NULL));
  OK(berth_policy_state_from_json(first, n_first, NULL, &remembered, NULL));
  OK(berth_policy_state_to_json(remembered, &second, NULL, NULL));
  CHECK(strcmp(first, second) == 0);
  berth_free(first);
  berth_free(second);

  OK(berth_state_to_json(state, &first, &n_first, NULL));
  OK(berth_state_from_json(first, n_first, NULL, &again, NULL));
  OK(berth_state_to_json(again, &second, &n_second, NULL));
  CHECK(n_first == n_second && memcmp(first, second, n_first) == 0);
  berth_free(first);
  berth_free(second);
  GIVES(BERTH_STALE_PLAN, berth_commit(again, plan, NULL, NULL)); /* of the same revision, but another state */
  CONTAINS(berth_last_error(), "another state");

  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_plan_destroy(&read, NULL));
  OK(berth_policy_state_destroy(&memory, NULL));
  OK(berth_policy_state_destroy(&remembered, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
  OK(berth_state_destroy(&again, NULL));
}

int main(void) {
  decides_and_commits();
  counts_what_it_did();
  writes_what_it_reads();
  return 0;
}
