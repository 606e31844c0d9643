/* How queues stand: now, after a plan, and in a plan that lists only changes. */
#include "check.h"

/* Queue a has a guarantee of 4 of 8 GPUs, and holds 8 with two jobs. b has one of 4, and a job that waits since 30 s. */
static const char kQueues[] =
    "{\"schema\":\"berth.snapshot.v1\",\"now_s\":100,\"gpu_types\":[{\"id\":\"H\"}],\"nodes\":[{\"id\":\"n\",\"gpu_type\":\"H\",\"gpus\":8}"
    "],"
    "\"queues\":[{\"id\":\"a\",\"quotas\":[{\"gpu_type\":\"*\",\"guarantee\":4,\"limit\":8}]},"
    "{\"id\":\"b\",\"quotas\":[{\"gpu_type\":\"H\",\"guarantee\":4}]}],"
    "\"jobs\":[{\"id\":\"a0\",\"submit_s\":1,\"queue\":\"a\",\"gpus\":4,\"state\":\"running\","
    "\"allocation\":{\"shape\":\"4\",\"entries\":[{\"node\":\"n\",\"gpus\":[0,1,2,3]}]}},"
    "{\"id\":\"a1\",\"submit_s\":2,\"queue\":\"a\",\"gpus\":4,\"state\":\"running\","
    "\"allocation\":{\"shape\":\"4\",\"entries\":[{\"node\":\"n\",\"gpus\":[4,5,6,7]}]}},"
    "{\"id\":\"b0\",\"submit_s\":30,\"queue\":\"b\",\"gpus\":4}]}";

#define GPUS(n) ((int64_t)(n)*1000000)

/* From arrays: p has a limit of 8, and of its guarantee of 6 a lends 2 to b. */
static void queues_keep(void) {
  static const char* const queue[] = {"p", "a", "b"};
  static const int32_t parent[] = {-1, 0, 0};
  static const int64_t limit[] = {8, -1, -1}, guarantee[] = {0, 6, 0}, lending[] = {-1, 2, -1}, without[] = {-1, 2, 0};
  int64_t keeps[3] = {7, 7, 7};
  berth_queue_standings rows = {0};
  berth_cluster c = {0};
  berth_state* state = NULL;
  berth_error error = {sizeof error};
  uint64_t n = 0;

  rows.struct_size = sizeof rows;
  rows.keeps = keeps;
  c.struct_size = sizeof c;
  c.n_queues = 3;
  c.queue.strings = queue;
  c.queue_parent = parent;
  c.queue_limit = limit;
  c.queue_guarantee = guarantee;
  c.queue_lending = lending;
  OK(berth_state_from_arrays(&c, &state, &error));
  OK(berth_state_queue_standings(state, NULL, &n, 0, 3, &rows, &error));
  CHECK(n == 3 && keeps[0] == 0 && keeps[1] == GPUS(4) && keeps[2] == 0);
  OK(berth_state_destroy(&state, NULL));
  c.queue_lending = without;
  CHECK(berth_state_from_arrays(&c, &state, &error) == BERTH_INPUT_ERROR && strstr(error.message, "guarantee") != NULL);
  /* A caller of an earlier version knows no lending. */
  c.struct_size = offsetof(berth_cluster, queue_lending);
  OK(berth_state_from_arrays(&c, &state, &error));
  OK(berth_state_queue_standings(state, NULL, &n, 0, 3, &rows, &error));
  CHECK(keeps[1] == 0);
  OK(berth_state_destroy(&state, NULL));
}

/* Of 9 cores and 18 GiB queue a holds 3 and 12, and b waits for two tasks of 3 and 1. */
static void dominant_shares(void) {
  static const char kTenants[] =
      "{\"schema\":\"berth.snapshot.v1\",\"now_s\":100,\"gpu_types\":[{\"id\":\"H\"}],"
      "\"nodes\":[{\"id\":\"n\",\"gpu_type\":\"H\",\"gpus\":18,\"cpu_cores\":9,\"memory_bytes\":19327352832}],"
      "\"queues\":[{\"id\":\"a\"},{\"id\":\"b\"}],"
      "\"jobs\":[{\"id\":\"a0\",\"submit_s\":1,\"queue\":\"a\",\"gpus\":3,\"constraints\":{\"cpu_cores_per_gpu\":1,\"memory_bytes_per_"
      "gpu\":4294967296},"
      "\"state\":\"running\",\"allocation\":{\"shape\":\"3\",\"entries\":[{\"node\":\"n\",\"gpus\":[0,1,2]}]}},"
      "{\"id\":\"b0\",\"submit_s\":30,\"queue\":\"b\",\"gpus\":2,\"constraints\":{\"cpu_cores_per_gpu\":3,\"memory_bytes_per_gpu\":"
      "1073741824}}]}";
  int64_t dominant[2] = {7, 7}, fair[2] = {7, 7}, keeps[2] = {7, 7};
  berth_queue_standings rows = {0};
  berth_state* state = NULL;
  berth_error error = {sizeof error};

  rows.keeps = keeps;
  rows.dominant_share = dominant;
  rows.fair_dominant_share = fair;
  OK(berth_state_from_json(kTenants, strlen(kTenants), NULL, &state, &error));
  /* A caller of an earlier version knows none. */
  rows.struct_size = offsetof(berth_queue_standings, dominant_share);
  OK(berth_state_queue_standings(state, NULL, NULL, 0, 2, &rows, &error));
  CHECK(keeps[0] == 0 && dominant[0] == 7 && fair[1] == 7);
  rows.struct_size = sizeof rows;
  OK(berth_state_queue_standings(state, NULL, NULL, 0, 2, &rows, &error));
  CHECK(dominant[0] == 666666 && dominant[1] == 0);
  CHECK(fair[0] == 666666 && fair[1] == 666666);
  OK(berth_state_destroy(&state, NULL));
}

int main(void) {
  berth_state* state = NULL;
  berth_engine* engine = NULL;
  berth_plan* plan = NULL;
  berth_request request = {sizeof request};
  int32_t queue[3], type[3], index = -2;
  int64_t guarantee[3], limit[3], entitled[3], fair[3], has[3], waiting[3], starved[3], keeps[3], dominant[3], fair_dominant[3];
  berth_queue_standings rows = {sizeof rows, queue,   type,    guarantee, limit,    entitled,     fair,
                                has,         waiting, starved, keeps,     dominant, fair_dominant};
  berth_queue_standings some = {sizeof some};
  berth_error error = {sizeof error};
  uint64_t n = 0;
  int changes_only;

  queues_keep();
  dominant_shares();
  OK(berth_state_from_json(kQueues, strlen(kQueues), NULL, &state, &error));
  OK(berth_state_find_queue(state, "b", &index, NULL));
  CHECK(index == 1);
  OK(berth_state_find_queue(state, "c", &index, NULL));
  CHECK(index == -1);

  OK(berth_state_queue_standings(state, NULL, &n, 0, 0, NULL, NULL));
  CHECK(n == 3);
  OK(berth_state_queue_standings(state, NULL, NULL, 0, 3, &rows, NULL));
  CHECK(queue[0] == 0 && queue[1] == 1 && queue[2] == 1 && type[0] == -1 && type[1] == -1 && type[2] == 0);
  CHECK(guarantee[0] == GPUS(4) && guarantee[1] == GPUS(4) && guarantee[2] == GPUS(4));
  CHECK(limit[0] == GPUS(8) && limit[1] == -1 && limit[2] == -1);
  CHECK(entitled[0] == GPUS(4) && entitled[1] == GPUS(4) && entitled[2] == GPUS(4));
  CHECK(fair[0] == GPUS(4) && fair[1] == GPUS(4));
  CHECK(has[0] == GPUS(8) && has[1] == 0 && waiting[0] == 0 && waiting[2] == GPUS(4));
  CHECK(starved[0] == BERTH_NEVER && starved[2] == 30 * 1000000);
  CHECK(keeps[0] == 0 && keeps[1] == 0 && keeps[2] == 0);
  CHECK(dominant[0] == -1 && dominant[2] == -1 && fair_dominant[0] == -1); /* neither cores nor memory count */

  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
  request.policy = "fifo";
  for (changes_only = 0; changes_only < 2; ++changes_only) {
    request.changes_only = changes_only;
    OK(berth_decide(engine, state, NULL, &request, plan, NULL));
    OK(berth_state_queue_standings(state, plan, &n, 0, 3, &rows, NULL));
    CHECK(n == 3 && has[0] == GPUS(4) && has[2] == GPUS(4) && waiting[0] == GPUS(4) && waiting[2] == 0 && starved[2] == BERTH_NEVER);
  }

  /* Some columns of some rows. */
  has[0] = 7;
  some.has = has;
  OK(berth_state_queue_standings(state, NULL, NULL, 2, 1, &some, NULL));
  CHECK(has[0] == 0);
  CHECK(berth_state_queue_standings(state, NULL, NULL, 2, 2, &some, &error) == BERTH_INVALID_ARGUMENT);
  CHECK(berth_state_queue_standings(state, NULL, NULL, 0, 1, NULL, &error) == BERTH_INVALID_ARGUMENT);
  CHECK(berth_state_find_queue(state, NULL, &index, &error) == BERTH_INVALID_ARGUMENT);
  OK(berth_commit(state, plan, NULL, NULL));
  CHECK(berth_state_queue_standings(state, plan, &n, 0, 0, NULL, &error) == BERTH_STALE_PLAN);

  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
  return 0;
}
