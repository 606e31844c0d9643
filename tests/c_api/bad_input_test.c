/* Null, ended and foreign handles, sizes of zero and 2^63, structs of other sizes, unknown enumerators and indices. */
#include "check.h"

static berth_state* state;
static berth_engine* engine;
static berth_plan* plan;
static berth_request request = {sizeof(berth_request)};

static void set_up(void) {
  OK(berth_state_from_json(kSmall, strlen(kSmall), NULL, &state, NULL));
  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
}

static void log_nothing(void* data, int32_t level, const char* message) {
  (void)data;
  (void)level;
  (void)message;
}

static void refuses_null(void) {
  berth_error error = {sizeof error};
  berth_state* made = NULL;
  char* json = NULL;
  uint64_t begin[2], count = 0;
  GIVES(BERTH_INVALID_HANDLE, berth_decide(NULL, state, NULL, &request, plan, &error));
  CONTAINS(error.message, "engine is null");
  GIVES(BERTH_INVALID_HANDLE, berth_decide(engine, NULL, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_decide(engine, state, NULL, &request, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, NULL, plan, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_cancel(NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_commit(NULL, plan, NULL, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_plan_get_info(NULL, NULL, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_engine_get_stats(NULL, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_engine_get_stats(engine, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_create(NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_json(NULL, 5, NULL, &made, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_json(kSmall, sizeof kSmall - 1, NULL, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_arrays(NULL, &made, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, NULL, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_to_json(state, NULL, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_find_job(state, NULL, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_policies(NULL, NULL, NULL));
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_texts(plan, state, BERTH_TEXT_JOB, 0, 1, NULL, begin, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_texts(plan, state, BERTH_TEXT_JOB, 0, 1, &json, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_validate(plan, state, NULL, NULL, NULL));
  OK(berth_plan_validate(plan, state, &count, NULL, NULL));
  CHECK(made == NULL && json == NULL);
}

static void refuses_foreign_and_ended_handles(void) {
  berth_engine* ended = NULL;
  berth_engine* copy;
  berth_plan* empty = NULL;
  berth_plan_info info = {sizeof info};
  GIVES(BERTH_INVALID_HANDLE, berth_decide((berth_engine*)(void*)state, state, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_decide(engine, (berth_state*)(void*)engine, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_decide(engine, state, (berth_policy_state*)(void*)plan, &request, plan, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_cancel((berth_engine*)(void*)((char*)(void*)engine + 1)));
  OK(berth_engine_create(&ended, NULL));
  copy = ended;
  OK(berth_engine_destroy(&ended, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_decide(copy, state, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_HANDLE, berth_cancel(copy));
  GIVES(BERTH_INVALID_HANDLE, berth_engine_destroy(&copy, NULL));
  OK(berth_plan_create(&empty, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_get_info(empty, &info, NULL)); /* no decision into it yet */
  GIVES(BERTH_INVALID_ARGUMENT, berth_commit(state, empty, NULL, NULL));
  OK(berth_plan_destroy(&empty, NULL));
  /* A failed decision leaves no plan that looks like one. */
  request.policy = "missing";
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_get_info(plan, &info, NULL));
  request.policy = NULL;
}

static void refuses_impossible_sizes(void) {
  static const uint64_t kHuge = (uint64_t)1 << 63;
  static const int32_t kind[] = {BERTH_STOP_JOB};
  static const uint64_t falling[] = {5, 3}, beyond[] = {0, UINT64_MAX};
  berth_error error = {sizeof error};
  berth_state* made = NULL;
  berth_deltas deltas = {sizeof deltas};
  berth_cluster cluster = {sizeof cluster};
  berth_jobs jobs = {sizeof jobs};
  berth_decisions columns = {sizeof columns};
  char* bytes = NULL;
  uint64_t begin[1];
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_json(kSmall, SIZE_MAX, NULL, &made, &error));
  CONTAINS(error.message, "at most 536870912");
  GIVES(BERTH_INPUT_ERROR, berth_state_from_json(kSmall, 0, NULL, &made, NULL));
  deltas.n = kHuge;
  deltas.kind = kind;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, &error));
  CONTAINS(error.message, "deltas.n is 9223372036854775808");
  deltas.n = 1;
  deltas.kind = NULL;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, NULL));
  deltas.kind = kind;
  deltas.id.bytes = "abcdef";
  deltas.id.begin = falling;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, &error));
  CONTAINS(error.message, "deltas.id.begin[1] is 3");
  deltas.id.begin = NULL;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, &error));
  CONTAINS(error.message, "deltas.id.begin is null");
  deltas.id.begin = beyond;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, NULL));
  cluster.n_nodes = kHuge;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_arrays(&cluster, &made, NULL));
  cluster.n_nodes = 0;
  cluster.jobs = &jobs;
  jobs.n = kHuge;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_arrays(&cluster, &made, NULL));
  jobs.n = 0;
  jobs.shape_begin = beyond;
  jobs.n_shapes = kHuge;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_arrays(&cluster, &made, NULL));
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_decisions(plan, 0, kHuge, &columns, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_decisions(plan, kHuge, kHuge, &columns, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_decisions(plan, 4, 0, &columns, NULL));
  OK(berth_plan_decisions(plan, 3, 0, &columns, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_texts(plan, state, BERTH_TEXT_JOB, 1, UINT64_MAX, &bytes, begin, NULL));
  CHECK(made == NULL && bytes == NULL);
}

/* An empty cluster and an empty batch are valid. */
static void takes_empty_ones(void) {
  berth_cluster cluster = {sizeof cluster};
  berth_deltas deltas = {sizeof deltas};
  berth_state *none = NULL, *created = NULL;
  berth_plan_info info = {sizeof info};
  uint64_t revision = 0;
  OK(berth_state_from_arrays(&cluster, &none, NULL));
  OK(berth_state_apply(none, &deltas, &revision, NULL));
  CHECK(revision == 2);
  OK(berth_decide(engine, none, NULL, &request, plan, NULL));
  OK(berth_plan_get_info(plan, &info, NULL));
  CHECK(info.n_decisions == 0 && info.gpus == 0);
  OK(berth_state_create(&created, NULL));
  OK(berth_decide(engine, created, NULL, &request, plan, NULL));
  OK(berth_state_destroy(&none, NULL));
  OK(berth_state_destroy(&created, NULL));
}

static void refuses_numbers_that_name_nothing(void) {
  static const int32_t no_kind[] = {99}, stop[] = {BERTH_SET_NODE_STATE}, no_state[] = {17}, put[] = {BERTH_PUT_JOB}, gpus[] = {1},
                       no_job_kind[] = {3}, drain[] = {BERTH_NODE_DRAIN};
  static const int64_t never[] = {BERTH_NEVER};
  static const char* const ids[] = {"n0"};
  static const uint64_t row[] = {1};
  berth_error error = {sizeof error};
  berth_deltas deltas = {sizeof deltas};
  berth_jobs jobs = {sizeof jobs};
  berth_request bad = {sizeof bad};
  static const char* const params[] = {"no equals sign"};
  char* bytes = NULL;
  uint64_t begin[2];
  deltas.n = 1;
  deltas.kind = no_kind;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, &error));
  CONTAINS(error.message, "deltas.kind[0] is 99");
  deltas.kind = stop;
  deltas.id.strings = ids;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, NULL)); /* no value column */
  deltas.value = no_state;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, NULL));
  deltas.value = drain;
  deltas.time_us = never;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, &error));
  CONTAINS(error.message, "deltas.time_us[0] is BERTH_NEVER: of BERTH_SET_NODE_STATE it is the instant from which the node is available");
  deltas.time_us = NULL;
  deltas.kind = put;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, NULL)); /* no jobs */
  jobs.n = 1;
  jobs.id.strings = ids;
  jobs.shape_gpus = gpus;
  deltas.jobs = &jobs;
  deltas.row = row;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, &error));
  CONTAINS(error.message, "deltas.row[0] is 1");
  deltas.row = NULL;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, NULL));
  jobs.kind = no_job_kind;
  deltas.row = begin;
  begin[0] = 0;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(state, &deltas, NULL, &error));
  CONTAINS(error.message, "jobs.kind[0] is 3");
  bad.backend = 4;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &bad, plan, NULL));
  bad.backend = 0;
  bad.threads = -1;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &bad, plan, NULL));
  bad.threads = 0;
  bad.budget_us = -1;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &bad, plan, NULL));
  bad.budget_us = 0;
  bad.changes_only = 2;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &bad, plan, NULL));
  bad.changes_only = 0;
  bad.n_params = 1;
  bad.params.strings = params;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &bad, plan, &error));
  CONTAINS(error.message, "expected NAME=VALUE");
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_texts(plan, state, 99, 0, 1, &bytes, begin, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_texts(plan, state, BERTH_TEXT_DROPPED, 0, 1, &bytes, begin, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_reservations_dropped(plan, 0, 1, NULL, NULL));
  OK(berth_plan_reservations_dropped(plan, 0, 0, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_engine_set_log(engine, 9, log_nothing, NULL, NULL));
  OK(berth_engine_set_log(engine, 0, NULL, NULL, NULL)); /* no callback, at no level */
}

/* The longest time limit has not expired. */
static void takes_the_longest_budget(void) {
  static const int64_t budgets[] = {BERTH_NEVER, BERTH_NEVER - 1, BERTH_NEVER / 1000};
  berth_engine_stats stats = {sizeof stats};
  uint64_t stopped;
  size_t i;
  OK(berth_engine_get_stats(engine, &stats, NULL));
  stopped = stats.stopped_by_budget;
  for (i = 0; i < sizeof budgets / sizeof *budgets; ++i) {
    request.budget_us = budgets[i];
    OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  }
  request.budget_us = 0;
  OK(berth_engine_get_stats(engine, &stats, NULL));
  CHECK(stats.stopped_by_budget == stopped);
}

/* Texts must be UTF-8 to be written again; a missing deadline cannot be hard; a share tolerates others. */
static void takes_what_it_can_write(void) {
  static const int32_t put[] = {BERTH_PUT_JOB}, gpus[] = {1}, shares[] = {500000};
  static const uint64_t row[] = {0};
  static const uint8_t hard[] = {1};
  const char* id[] = {"x\xff"};
  berth_error error = {sizeof error};
  berth_deltas deltas = {sizeof deltas};
  berth_jobs jobs = {sizeof jobs};
  berth_state *own = NULL, *again = NULL;
  char* json = NULL;
  size_t size = 0;
  OK(berth_state_from_json(kSmall, strlen(kSmall), NULL, &own, NULL));
  jobs.n = 1;
  jobs.id.strings = id;
  jobs.shape_gpus = gpus;
  jobs.shape_share_ppm = shares;
  jobs.deadline_hard = hard;
  deltas.n = 1;
  deltas.kind = put;
  deltas.row = row;
  deltas.jobs = &jobs;
  GIVES(BERTH_INPUT_ERROR, berth_state_apply(own, &deltas, NULL, &error));
  CONTAINS(error.message, "/0/job/id: a text must be UTF-8");
  id[0] = "h\xc3\xa9";
  OK(berth_state_apply(own, &deltas, NULL, NULL));
  OK(berth_state_to_json(own, &json, &size, NULL));
  CONTAINS(json, "\"share\":0.5");
  OK(berth_state_from_json(json, size, NULL, &again, NULL));
  berth_free(json);
  OK(berth_state_destroy(&own, NULL));
  OK(berth_state_destroy(&again, NULL));
}

/* A plan from a document is unchecked: it is applied only if it is valid. */
static void commits_no_invalid_plan(void) {
  static const char* const bad[] = {"\"action\":\"start\"", "\"action\":\"keep\"", "\"action\":\"migrate\""};
  berth_error error = {sizeof error};
  berth_plan* read = NULL;
  berth_state_info info = {sizeof info};
  char *json = NULL, *changed, *at;
  size_t i;
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  OK(berth_plan_to_json(plan, state, 0, &json, NULL, NULL));
  OK(berth_plan_create(&read, NULL));
  for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
    /* The rejected job runs. */
    at = strstr(json, "\"action\":\"reject\"");
    CHECK(at != NULL);
    changed = malloc(strlen(json) + 32);
    sprintf(changed, "%.*s%s%s", (int)(at - json), json, bad[i], at + strlen("\"action\":\"reject\""));
    OK(berth_plan_from_json(changed, strlen(changed), NULL, state, read, NULL));
    GIVES(BERTH_INPUT_ERROR, berth_commit(state, read, NULL, &error));
    CHECK(strcmp(error.file, "plan") == 0);
    free(changed);
  }
  OK(berth_state_get_info(state, &info, NULL));
  CHECK(info.revision == 1);
  berth_free(json);
  OK(berth_plan_destroy(&read, NULL));
}

/* Callers of other versions have shorter or longer structs. */
static void understands_other_versions(void) {
  struct {
    berth_request known;
    uint64_t later[2];
  } newer;
  struct {
    berth_plan_info known;
    uint64_t later[2];
  } wanted;
  berth_error error = {sizeof error};
  berth_error small = {offsetof(berth_error, pointer)};
  berth_plan_info info = {4};
  memset(&newer, 0, sizeof newer);
  memset(&wanted, 0xff, sizeof wanted);
  newer.known.struct_size = sizeof newer;
  OK(berth_decide(engine, state, NULL, &newer.known, plan, NULL));
  newer.later[1] = 1;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &newer.known, plan, &error));
  CONTAINS(error.message, "does not know");
  newer.known.struct_size = 0;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &newer.known, plan, NULL));
  newer.known.struct_size = UINT32_MAX;
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, state, NULL, &newer.known, plan, NULL));
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  wanted.known.struct_size = sizeof wanted;
  OK(berth_plan_get_info(plan, &wanted.known, NULL));
  CHECK(wanted.known.n_decisions == 3 && wanted.later[0] == 0 && wanted.later[1] == 0 && wanted.known.struct_size == sizeof wanted);
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_get_info(plan, &info, NULL));
  /* An error object of an older version is filled up to its size, one of a wrong size not at all. */
  small.message[0] = 'x';
  GIVES(BERTH_INVALID_HANDLE, berth_commit(NULL, NULL, NULL, &small));
  CHECK(small.status == BERTH_INVALID_HANDLE && small.message[0] == 'x');
  memset(&error, 0x55, sizeof error);
  error.struct_size = 3;
  GIVES(BERTH_INVALID_HANDLE, berth_commit(NULL, NULL, NULL, &error));
  CHECK(error.status == 0x55555555 && error.message[0] == 0x55);
  error.struct_size = 0x55555555;
  OK(berth_state_destroy(NULL, &error));
  CHECK(error.status == 0x55555555);
  /* A message truncated by the object's size is still terminated. */
  error.struct_size = offsetof(berth_error, message) + 5;
  GIVES(BERTH_INVALID_HANDLE, berth_commit(NULL, NULL, NULL, &error));
  CHECK(strlen(error.message) == 4);
}

/* The structs of version 1.0, on a machine with 64-bit pointers: a library always accepts them, and no smaller ones. */
static void takes_structs_of_the_first_version(void) {
  berth_state* made = NULL;
  berth_jobs jobs = {448};
  berth_entries entries = {96};
  berth_cluster cluster = {336};
  berth_deltas deltas = {168};
  berth_state_info state_info = {80};
  berth_request asked = {96};
  berth_engine_stats stats = {80};
  berth_plan_info info = {184};
  berth_decisions decisions = {144};
  berth_plan_entries plan_entries = {64};
  if (sizeof(void*) != 8) return;
  deltas.entries = &entries;
  cluster.jobs = &jobs;
  OK(berth_state_from_arrays(&cluster, &made, NULL));
  OK(berth_state_apply(made, &deltas, NULL, NULL));
  OK(berth_state_get_info(made, &state_info, NULL));
  OK(berth_decide(engine, made, NULL, &asked, plan, NULL));
  OK(berth_engine_get_stats(engine, &stats, NULL));
  OK(berth_plan_get_info(plan, &info, NULL));
  OK(berth_plan_decisions(plan, 0, 0, &decisions, NULL));
  OK(berth_plan_get_entries(plan, 0, 0, &plan_entries, NULL));
  --jobs.struct_size, --deltas.struct_size, --state_info.struct_size, --asked.struct_size, --stats.struct_size;
  --info.struct_size, --decisions.struct_size, --plan_entries.struct_size;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(made, &deltas, NULL, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_get_info(made, &state_info, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_decide(engine, made, NULL, &asked, plan, NULL));
  OK(berth_decide(engine, made, NULL, &request, plan, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_engine_get_stats(engine, &stats, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_get_info(plan, &info, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_decisions(plan, 0, 0, &decisions, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_plan_get_entries(plan, 0, 0, &plan_entries, NULL));
  ++deltas.struct_size, --entries.struct_size;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_apply(made, &deltas, NULL, NULL));
  OK(berth_state_destroy(&made, NULL));
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_arrays(&cluster, &made, NULL));
  ++jobs.struct_size, --cluster.struct_size;
  GIVES(BERTH_INVALID_ARGUMENT, berth_state_from_arrays(&cluster, &made, NULL));
  CHECK(made == NULL);
}

/* A message longer than its buffer is truncated and still terminated. */
static void cuts_long_texts(void) {
  static char name[5000];
  berth_error error = {sizeof error};
  berth_state* made = NULL;
  memset(name, 'n', sizeof name - 1);
  GIVES(BERTH_INPUT_ERROR, berth_state_from_json("[]", 2, name, &made, &error));
  CHECK(strlen(error.file) == sizeof error.file - 1 && strlen(error.message) == sizeof error.message - 1);
  CHECK(error.line == 1);
}

int main(void) {
  set_up();
  refuses_null();
  refuses_foreign_and_ended_handles();
  refuses_impossible_sizes();
  takes_empty_ones();
  refuses_numbers_that_name_nothing();
  takes_the_longest_budget();
  takes_what_it_can_write();
  commits_no_invalid_plan();
  understands_other_versions();
  takes_structs_of_the_first_version();
  cuts_long_texts();
  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
  return 0;
}
