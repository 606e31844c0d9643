/* Plans of changes: what a scheduler that holds the last plan reads, and that half of one is no plan. */
#include <stddef.h>

#include "check.h"

/* One node of 8 GPUs. `runs` has all of them until 150 s, b and c take 10 s each, and `d` a second. */
static const char kQueue[] =
    "{\"schema\": \"berth.snapshot.v1\", \"now_s\": 100, \"gpu_types\": [{\"id\": \"A100\"}],\n"
    " \"nodes\": [{\"id\": \"n0\", \"gpu_type\": \"A100\", \"gpus\": 8}],\n"
    " \"jobs\": [{\"id\": \"runs\", \"submit_s\": 0, \"gpus\": 8, \"state\": \"running\", \"estimate\": {\"run_s\": 150}, \"progress\": "
    "{\"run_s\": 100},\n"
    "   \"allocation\": {\"shape\": \"8\", \"entries\": [{\"node\": \"n0\", \"gpus\": [0, 1, 2, 3, 4, 5, 6, 7]}]}},\n"
    "  {\"id\": \"b\", \"submit_s\": 10, \"gpus\": 8, \"estimate\": {\"run_s\": 10}},\n"
    "  {\"id\": \"c\", \"submit_s\": 20, \"gpus\": 8, \"estimate\": {\"run_s\": 10}},\n"
    "  {\"id\": \"d\", \"submit_s\": 30, \"gpus\": 8, \"estimate\": {\"run_s\": 1}}]}\n";

/* The node is free for a and b, and never for c. */
static const char kTwoStart[] =
    "{\"schema\": \"berth.snapshot.v1\", \"now_s\": 100, \"gpu_types\": [{\"id\": \"A100\"}],\n"
    " \"nodes\": [{\"id\": \"n0\", \"gpu_type\": \"A100\", \"gpus\": 8}],\n"
    " \"jobs\": [{\"id\": \"a\", \"submit_s\": 10, \"gpus\": 4, \"estimate\": {\"run_s\": 10}},\n"
    "  {\"id\": \"b\", \"submit_s\": 20, \"gpus\": 4, \"estimate\": {\"run_s\": 10}},\n"
    "  {\"id\": \"c\", \"submit_s\": 30, \"gpus\": 8, \"estimate\": {\"run_s\": 10}}]}\n";

static berth_state* state;
static berth_engine* engine;
static berth_plan* plan;

static void begin(const char* json) {
  OK(berth_state_from_json(json, strlen(json), NULL, &state, NULL));
  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
}

static void end(void) {
  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
}

static berth_plan_info decide(const berth_request* request) {
  berth_plan_info info = {sizeof info};
  OK(berth_decide(engine, state, NULL, request, plan, NULL));
  OK(berth_plan_get_info(plan, &info, NULL));
  return info;
}

static void apply(const char* deltas) { OK(berth_state_apply_json(state, deltas, strlen(deltas), NULL, NULL, NULL)); }

static void reservations_come_by_difference(void) {
  static const char* const params[] = {"discipline=conservative"};
  berth_request request = {sizeof request};
  berth_plan_info info;
  berth_decisions columns = {sizeof columns};
  int32_t action[4], job[4], index = -1;
  int64_t start[4];
  uint64_t text_begin[4], first;
  char* bytes = NULL;
  columns.job = job;
  columns.action = action;
  columns.start_us = start;
  begin(kQueue);
  request.policy = "fifo";
  request.n_params = 1;
  request.params.strings = params;
  info = decide(&request);
  CHECK(info.changes_only == 0 && info.n_decisions == 4 && info.reserves == 3);
  CHECK(info.reservations_since == 0 && info.n_reservations_dropped == 0);

  /* That plan is the base of the next one, which need not list anything. */
  request.changes_only = 1;
  info = decide(&request);
  CHECK(info.changes_only == 1 && info.n_decisions == 0 && info.reserves == 3);
  CHECK(info.reservations_since == info.revision && info.n_reservations_dropped == 0);
  first = info.revision;

  /* b takes longer. It is described again, and the others start later. */
  apply(
      "{\"schema\": \"berth.deltas.v1\", \"deltas\": [{\"op\": \"put_job\", \"job\":"
      " {\"id\": \"b\", \"submit_s\": 10, \"gpus\": 8, \"estimate\": {\"run_s\": 15}}}]}");
  info = decide(&request);
  CHECK(info.n_decisions == 3 && info.reservations_since == first && info.n_reservations_dropped == 0);
  OK(berth_plan_decisions(plan, 0, 3, &columns, NULL));
  CHECK(action[0] == BERTH_ACTION_RESERVE && start[0] == 150 * 1000000 && start[1] == 165 * 1000000 && start[2] == 175 * 1000000);

  /* A job that leaves takes its reservation with it, and time changes none. */
  apply(
      "{\"schema\": \"berth.deltas.v1\", \"deltas\": [{\"op\": \"remove_job\", \"job\": \"d\"},"
      " {\"op\": \"set_time\", \"now_s\": 110}]}");
  info = decide(&request);
  CHECK(info.n_decisions == 0 && info.n_reservations_dropped == 0 && info.reserves == 2);

  /* Nothing starts on a drained node. */
  first = info.revision;
  apply("{\"schema\": \"berth.deltas.v1\", \"deltas\": [{\"op\": \"set_node_state\", \"node\": \"n0\", \"state\": \"drain\"}]}");
  info = decide(&request);
  CHECK(info.reserves == 0 && info.waits == 2 && info.n_decisions == 0);
  CHECK(info.reservations_since == first && info.n_reservations_dropped == 2);
  OK(berth_plan_reservations_dropped(plan, 0, 2, job, NULL));
  OK(berth_state_find_job(state, "b", &index, NULL));
  CHECK(job[0] == index);
  OK(berth_state_find_job(state, "c", &index, NULL));
  CHECK(job[1] == index);
  job[1] = -7;
  OK(berth_plan_reservations_dropped(plan, 1, 1, job, NULL));
  CHECK(job[0] == index && job[1] == -7);
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_reservations_dropped(plan, 1, 2, job, NULL));
  OK(berth_plan_texts(plan, state, BERTH_TEXT_DROPPED, 0, 2, &bytes, text_begin, NULL));
  CHECK(strcmp(bytes, "bc") == 0 && text_begin[1] == 1 && text_begin[2] == 2);
  berth_free(bytes);

  /* A program of minor version 2 has no such members. */
  info.struct_size = offsetof(berth_plan_info, changes_only);
  info.changes_only = 77;
  OK(berth_plan_get_info(plan, &info, NULL));
  CHECK(info.changes_only == 77);
  end();
}

/* The document of the plan without the decisions from one job on up to another. Free it with free. */
static char* without(const char* json, const char* from, const char* to) {
  const char* const cut = strstr(json, from);
  const char* const on = strstr(json, to);
  char* text = malloc(strlen(json) + 1);
  CHECK(cut != NULL && on != NULL && cut < on && text != NULL);
  sprintf(text, "%.*s%s", (int)(cut - json), json, on);
  return text;
}

static void half_of_the_changes_is_refused(void) {
  berth_request request = {sizeof request};
  berth_plan_info info;
  berth_state_info before = {sizeof before}, after = {sizeof after};
  berth_error error = {sizeof error};
  berth_plan* half = NULL;
  char *json = NULL, *first = NULL, *second = NULL, *part;
  uint64_t revision = 0;
  begin(kTwoStart);
  request.policy = "fifo";
  request.changes_only = 1;
  info = decide(&request);
  CHECK(info.changes_only == 1 && info.n_decisions == 2 && info.starts == 2 && info.waits == 1);
  OK(berth_state_to_json(state, &first, NULL, NULL));
  OK(berth_state_get_info(state, &before, NULL));

  OK(berth_plan_to_json(plan, state, 0, &json, NULL, NULL));
  part = without(json, "{\"job\":\"a\"", "{\"job\":\"b\"");
  OK(berth_plan_create(&half, NULL));
  OK(berth_plan_from_json(part, strlen(part), NULL, state, half, NULL));
  GIVES(BERTH_INPUT_ERROR, berth_commit(state, half, &revision, &error));
  CONTAINS(error.message, "starts is 2; the decisions have 1");
  CHECK(revision == 0);
  OK(berth_state_to_json(state, &second, NULL, NULL));
  OK(berth_state_get_info(state, &after, NULL));
  CHECK(strcmp(first, second) == 0 && after.revision == before.revision && after.batches == before.batches);

  /* The next decision starts both. */
  info = decide(&request);
  CHECK(info.n_decisions == 2 && info.starts == 2 && info.waits == 1);
  OK(berth_commit(state, plan, &revision, NULL));
  CHECK(revision == before.revision + 1);
  info = decide(&request);
  CHECK(info.n_decisions == 0 && info.keeps == 2 && info.waits == 1 && info.gpus_used == 8);

  free(part);
  berth_free(json);
  berth_free(first);
  berth_free(second);
  OK(berth_plan_destroy(&half, NULL));
  end();
}

int main(void) {
  UNUSED_CHECKS();
  reservations_come_by_difference();
  half_of_the_changes_is_refused();
  return 0;
}
