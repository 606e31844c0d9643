/* A scheduler's loop around Berth in C: the program of ../live_loop, with the same output line by line.
 *
 *   live_loop_c data/demo/snapshot.json
 */
#include <berth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every call reports errors in the caller's error object; here an error ends the program. */
static berth_error error = {.struct_size = sizeof error};
static void check(berth_status status) {
  if (status == BERTH_OK) return;
  fprintf(stderr, "live_loop_c: %s: %s\n", berth_status_name(status), error.message);
  exit(1);
}

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  size_t room = 0;
  *size = 0;
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  do {
    room = room == 0 ? 65536 : 2 * room;
    text = realloc(text, room);
    if (text == NULL) abort();
    *size += fread(text + *size, 1, room - *size, file);
  } while (*size == room);
  fclose(file);
  return text;
}

/* The columns of a plan that this program reads. */
struct rows {
  uint64_t n;
  int32_t* action;
  uint64_t *entry_begin, *entry_end;
};

static void* column(uint64_t n, size_t bytes) {
  void* rows = calloc(n == 0 ? 1 : n, bytes);
  if (rows == NULL) abort();
  return rows;
}

static struct rows read_rows(berth_plan* plan) {
  berth_plan_info info = {.struct_size = sizeof info};
  berth_decisions columns = {.struct_size = sizeof columns};
  struct rows rows;
  check(berth_plan_get_info(plan, &info, &error));
  rows.n = info.n_decisions;
  columns.action = rows.action = column(rows.n, sizeof *rows.action);
  columns.entry_begin = rows.entry_begin = column(rows.n, sizeof *rows.entry_begin);
  columns.entry_end = rows.entry_end = column(rows.n, sizeof *rows.entry_end);
  check(berth_plan_decisions(plan, 0, rows.n, &columns, &error));
  return rows;
}

static void free_rows(struct rows* rows) {
  free(rows->action);
  free(rows->entry_begin);
  free(rows->entry_end);
}

/* Texts of `count` rows, each after " " or alone. */
static void print_texts(berth_plan* plan, berth_state* state, int32_t what, uint64_t first, uint64_t count, const char* before) {
  uint64_t* begin = column(count + 1, sizeof *begin);
  char* bytes = NULL;
  uint64_t i;
  check(berth_plan_texts(plan, state, what, first, count, &bytes, begin, &error));
  for (i = 0; i < count; ++i) printf("%s%.*s", before, (int)(begin[i + 1] - begin[i]), bytes + begin[i]);
  berth_free(bytes);
  free(begin);
}

/* One line per job with a change, and why the first waiting job waits. */
static void print(berth_state* state, berth_plan* plan, const struct rows* rows) {
  berth_plan_info info = {.struct_size = sizeof info};
  int waiter_shown = 0;
  uint64_t i;
  for (i = 0; i < rows->n; ++i) {
    switch (rows->action[i]) {
      case BERTH_ACTION_START:
      case BERTH_ACTION_MIGRATE:
        print_texts(plan, state, BERTH_TEXT_JOB, i, 1, rows->action[i] == BERTH_ACTION_START ? "  start   " : "  migrate ");
        printf(" on");
        print_texts(plan, state, BERTH_TEXT_NODE, rows->entry_begin[i], rows->entry_end[i] - rows->entry_begin[i], " ");
        printf("\n");
        break;
      case BERTH_ACTION_PREEMPT:
        print_texts(plan, state, BERTH_TEXT_JOB, i, 1, "  preempt ");
        printf("\n");
        break;
      case BERTH_ACTION_WAIT:
        if (!waiter_shown) {
          print_texts(plan, state, BERTH_TEXT_JOB, i, 1, "  wait    ");
          print_texts(plan, state, BERTH_TEXT_REASON, i, 1, ": ");
          printf("\n");
        }
        waiter_shown = 1;
        break;
      default:
        break;
    }
  }
  check(berth_plan_get_info(plan, &info, &error));
  printf("  %llu of %llu GPUs in use, %llu jobs wait\n", (unsigned long long)info.gpus_used, (unsigned long long)info.gpus,
         (unsigned long long)info.waits);
}

/* The id of the first running job, by index. A scheduler knows what runs; this one reads its own plan. */
static char* first_running(berth_state* state, berth_plan* plan, const struct rows* rows) {
  int32_t* index = column(rows->n, sizeof *index);
  berth_decisions columns = {.struct_size = sizeof columns};
  uint64_t i, best = rows->n, begin[2];
  char* id = NULL;
  columns.job = index;
  check(berth_plan_decisions(plan, 0, rows->n, &columns, &error));
  for (i = 0; i < rows->n; ++i) {
    const int runs = rows->action[i] <= BERTH_ACTION_MIGRATE || rows->action[i] == BERTH_ACTION_REPLACE;
    if (runs && (best == rows->n || index[i] < index[best])) best = i;
  }
  if (best < rows->n) check(berth_plan_texts(plan, state, BERTH_TEXT_JOB, best, 1, &id, begin, &error));
  free(index);
  return id;
}

/* Events since the last decision: half a minute passed, a job ended, another arrived. All of it or nothing is applied. */
static uint64_t report(berth_state* state, const char* done, int round) {
  char arrival[32];
  const char* ids[3] = {NULL, NULL, NULL};
  const char* texts[3] = {NULL, "completed", NULL};
  const char* const users[1] = {"ann"};
  const char* job_ids[1];
  int32_t kind[3] = {BERTH_SET_TIME, BERTH_REMOVE_JOB, BERTH_PUT_JOB};
  int32_t gpus[1] = {8};
  int64_t time[3] = {0, 0, 0}, submit[1], estimate[1] = {600 * 1000000LL};
  uint64_t row[3] = {0, 0, 0}, revision = 0;
  berth_jobs jobs = {.struct_size = sizeof jobs, .n = 1};
  berth_deltas deltas = {.struct_size = sizeof deltas, .n = 3};
  berth_state_info info = {.struct_size = sizeof info};
  check(berth_state_get_info(state, &info, &error));
  sprintf(arrival, "arrival-%d", round);
  job_ids[0] = arrival;
  ids[1] = done;
  time[0] = submit[0] = info.now_us + 30 * 1000000LL;
  jobs.id.strings = job_ids;
  jobs.user.strings = users;
  jobs.submit_us = submit;
  jobs.estimate_us = estimate;
  jobs.shape_gpus = gpus;
  deltas.kind = kind;
  deltas.id.strings = ids;
  deltas.text.strings = texts;
  deltas.time_us = time;
  deltas.row = row;
  deltas.jobs = &jobs;
  check(berth_state_apply(state, &deltas, &revision, &error));
  return revision;
}

int main(int argc, char** argv) {
  berth_state* state = NULL;
  berth_engine* engine = NULL;
  berth_policy_state* policy_state = NULL; /* what the policy keeps between decisions */
  berth_plan* plan = NULL;                 /* kept, so that its memory is reused */
  berth_request request = {.struct_size = sizeof request, .policy = "srsf"};
  berth_state_info info = {.struct_size = sizeof info};
  char *json, *done = NULL;
  size_t size;
  uint64_t revision;
  int round;
  if (argc != 2) {
    fprintf(stderr, "usage: live_loop_c SNAPSHOT.json\n");
    return 2;
  }
  json = read_file(argv[1], &size);
  check(berth_state_from_json(json, size, argv[1], &state, &error));
  free(json);
  check(berth_engine_create(&engine, &error));
  check(berth_policy_state_create(&policy_state, &error));
  check(berth_plan_create(&plan, &error));
  check(berth_state_get_info(state, &info, &error));
  revision = info.revision;
  for (round = 0; round < 3; ++round) {
    struct rows rows;
    if (round > 0) revision = report(state, done, round);
    check(berth_decide(engine, state, policy_state, &request, plan, &error));
    rows = read_rows(plan);
    printf("revision %llu: %llu jobs, policy %s\n", (unsigned long long)revision, (unsigned long long)rows.n, request.policy);
    print(state, plan, &rows);
    berth_free(done);
    done = first_running(state, plan, &rows);
    free_rows(&rows);
    check(berth_commit(state, plan, NULL, &error));
  }
  /* A plan belongs to one revision: the cluster has changed, and the old plan is rejected. */
  if (berth_commit(state, plan, NULL, &error) != BERTH_STALE_PLAN) return 1;
  printf("stale plan refused: %s\n", error.message);
  berth_free(done);
  berth_plan_destroy(&plan, NULL);
  berth_policy_state_destroy(&policy_state, NULL);
  berth_engine_destroy(&engine, NULL);
  berth_state_destroy(&state, NULL);
  return 0;
}
