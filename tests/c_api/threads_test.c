/* Cancel storms, handles used by two threads, a thousand engines, fork without exec. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static berth_state* load(void) {
  berth_state* state = NULL;
  OK(berth_state_from_json(kSmall, strlen(kSmall), NULL, &state, NULL));
  return state;
}

static uint64_t starts_of(berth_plan* plan) {
  berth_plan_info info = {sizeof info};
  OK(berth_plan_get_info(plan, &info, NULL));
  return info.starts;
}

static void* cancel_often(void* engine) {
  int i;
  for (i = 0; i < 2000; ++i) OK(berth_cancel((berth_engine*)engine));
  return NULL;
}

static void survives_a_cancel_storm(void) {
  enum { kThreads = 8 };
  pthread_t threads[kThreads];
  berth_state* state = load();
  berth_engine* engine = NULL;
  berth_plan* plan = NULL;
  berth_request request = {sizeof request};
  berth_engine_stats stats = {sizeof stats};
  uint64_t violations = 1;
  int i;
  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
  for (i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, cancel_often, engine) == 0);
  for (i = 0; i < 200; ++i) {
    OK(berth_decide(engine, state, NULL, &request, plan, NULL));
    OK(berth_plan_validate(plan, state, &violations, NULL, NULL));
    CHECK(violations == 0);
  }
  for (i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  OK(berth_decide(engine, state, NULL, &request, plan, NULL)); /* may receive the last cancel */
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  CHECK(starts_of(plan) == 1);
  OK(berth_engine_get_stats(engine, &stats, NULL));
  CHECK(stats.decisions == 202 && stats.failures == 0);
  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
}

/* Inside a callback the handles of its call are in use, and only cancelling is allowed. */
struct inside {
  berth_engine* engine;
  berth_state* state;
  berth_plan* plan;
  int calls;
};

static int32_t look_around(void* data, uint64_t done, uint64_t total) {
  struct inside* in = (struct inside*)data;
  berth_request request = {sizeof request};
  berth_engine* engine = in->engine;
  berth_plan_info info = {sizeof info};
  CHECK(done <= total && total == 2); /* jobs that can never run are skipped */
  ++in->calls;
  GIVES(BERTH_BUSY, berth_decide(in->engine, in->state, NULL, &request, in->plan, NULL));
  GIVES(BERTH_BUSY, berth_plan_get_info(in->plan, &info, NULL));
  GIVES(BERTH_BUSY, berth_engine_destroy(&engine, NULL));
  CHECK(engine == in->engine);
  OK(berth_cancel(in->engine));
  return 0;
}

static int32_t stop(void* data, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  ++*(int*)data;
  return 1;
}

static void tells_progress(void) {
  struct inside in = {NULL, NULL, NULL, 0};
  berth_request request = {sizeof request};
  berth_plan_info info = {sizeof info};
  int calls = 0;
  in.state = load();
  OK(berth_engine_create(&in.engine, NULL));
  OK(berth_plan_create(&in.plan, NULL));
  request.policy = "srsf";
  request.progress = look_around;
  request.progress_data = &in;
  OK(berth_decide(in.engine, in.state, NULL, &request, in.plan, NULL));
  CHECK(in.calls == 1);
  OK(berth_plan_get_info(in.plan, &info, NULL));
  CHECK(strcmp(info.stopped_by, "cancel") == 0);
  request.progress = stop;
  request.progress_data = &calls;
  OK(berth_decide(in.engine, in.state, NULL, &request, in.plan, NULL));
  OK(berth_plan_get_info(in.plan, &info, NULL));
  CHECK(calls == 1 && strcmp(info.stopped_by, "cancel") == 0 && info.iterations == 0);
  request.progress = NULL;
  OK(berth_decide(in.engine, in.state, NULL, &request, in.plan, NULL));
  CHECK(starts_of(in.plan) == 1);
  OK(berth_plan_destroy(&in.plan, NULL));
  OK(berth_engine_destroy(&in.engine, NULL));
  OK(berth_state_destroy(&in.state, NULL));
}

static void has_a_thousand_engines(void) {
  enum { kEngines = 1000 };
  static berth_engine* engines[kEngines];
  berth_state* state = load();
  berth_plan* plan = NULL;
  berth_request request = {sizeof request};
  int i;
  OK(berth_plan_create(&plan, NULL));
  for (i = 0; i < kEngines; ++i) OK(berth_engine_create(&engines[i], NULL));
  for (i = 0; i < kEngines; ++i) {
    OK(berth_decide(engines[i], state, NULL, &request, plan, NULL));
    CHECK(starts_of(plan) == 1);
  }
  for (i = 0; i < kEngines; ++i) OK(berth_engine_destroy(&engines[i], NULL));
  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_state_destroy(&state, NULL));
}

static void goes_on_after_fork(void) {
  berth_state* state = load();
  berth_engine* engine = NULL;
  berth_plan* plan = NULL;
  berth_request request = {sizeof request};
  int status = 0;
  pid_t child;
  OK(berth_engine_create(&engine, NULL));
  OK(berth_plan_create(&plan, NULL));
  request.threads = 2;
  OK(berth_decide(engine, state, NULL, &request, plan, NULL));
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    OK(berth_commit(state, plan, NULL, NULL));
    OK(berth_decide(engine, state, NULL, &request, plan, NULL));
    CHECK(starts_of(plan) == 0);
    OK(berth_engine_destroy(&engine, NULL));
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(berth_decide(engine, state, NULL, &request, plan, NULL)); /* the child's commit had no effect here */
  CHECK(starts_of(plan) == 1);
  OK(berth_plan_destroy(&plan, NULL));
  OK(berth_engine_destroy(&engine, NULL));
  OK(berth_state_destroy(&state, NULL));
}

/* Cancelling while another thread destroys the engine is an error, never a crash. */
static void* cancel_until_ended(void* engine) {
  while (berth_cancel((berth_engine*)engine) == BERTH_OK) {
  }
  return NULL;
}

static void may_be_cancelled_while_it_ends(void) {
  int i;
  for (i = 0; i < 100; ++i) {
    pthread_t thread;
    berth_engine *engine = NULL, *copy;
    OK(berth_engine_create(&engine, NULL));
    copy = engine;
    CHECK(pthread_create(&thread, NULL, cancel_until_ended, copy) == 0);
    OK(berth_engine_destroy(&engine, NULL));
    CHECK(pthread_join(thread, NULL) == 0);
  }
}

int main(void) {
  goes_on_after_fork(); /* first: no thread was ever started */
  survives_a_cancel_storm();
  tells_progress();
  has_a_thousand_engines();
  may_be_cancelled_while_it_ends();
  return 0;
}
