/* What edits would change, and which jobs make room. */
#include <string.h>

#include "check.h"

/* 8 GPUs are free, 4 on each node. big asks for 8 on one node. */
static const char kTwoNodes[] =
    "{\"schema\":\"berth.snapshot.v1\",\"now_s\":100,\"gpu_types\":[{\"id\":\"H\"}],\"nodes\":[{\"id\":\"n0\",\"gpu_type\":\"H\",\"gpus\":"
    "8},"
    "{\"id\":\"n1\",\"gpu_type\":\"H\",\"gpus\":8}],"
    "\"jobs\":[{\"id\":\"a\",\"submit_s\":1,\"gpus\":4,\"state\":\"running\",\"costs\":{\"restart_s\":60},"
    "\"allocation\":{\"shape\":\"4\",\"entries\":[{\"node\":\"n0\",\"gpus\":[0,1,2,3]}]}},"
    "{\"id\":\"b\",\"submit_s\":2,\"gpus\":4,\"state\":\"running\",\"costs\":{\"restart_s\":30},"
    "\"allocation\":{\"shape\":\"4\",\"entries\":[{\"node\":\"n1\",\"gpus\":[0,1,2,3]}]}},"
    "{\"id\":\"big\",\"submit_s\":30,\"shapes\":[{\"id\":\"8\",\"gpus\":8,\"groups\":[{\"name\":\"g\",\"members\":1,\"gpus_per_member\":8}]"
    "}]}]}";

static const char kEdits[] =
    "{\"schema\":\"berth.edits.v1\",\"edits\":[{\"name\":\"gone\",\"cancel\":[\"a\"]},{\"name\":\"more\",\"add\":[\"1x8xH\"]}]}";
static const char kUnknown[] = "{\"schema\":\"berth.edits.v1\",\"edits\":[{\"name\":\"gone\",\"cancel\":[\"c\"]}]}";
static const char kRefused[] =
    "{\"schema\":\"berth.edits.v1\",\"edits\":[{\"name\":\"gone\",\"deltas\":[{\"op\":\"remove_node\",\"node\":\"n0\"}]}]}";

#define ASK(edits) berth_state_what_if(state, NULL, &request, edits, sizeof(edits) - 1, "e.json", &text, &size, &error)

int main(void) {
  berth_state* state = NULL;
  berth_error error = {sizeof error};
  berth_request request = {sizeof request};
  char* text = NULL;
  char *before = NULL, *after = NULL;
  size_t size = 0;

  request.policy = "fifo";
  OK(berth_state_from_json(kTwoNodes, sizeof kTwoNodes - 1, NULL, &state, &error));
  OK(berth_state_to_json(state, &before, NULL, NULL));
  OK(ASK(kEdits));
  CHECK(size == strlen(text) && strstr(text, "\"schema\":\"berth.whatif.v1\"") != NULL);
  CHECK(strstr(text, "{\"job\":\"big\",\"effect\":\"starts\"") != NULL);
  CHECK(strstr(text, "{\"job\":\"a\",\"effect\":\"gone\"") != NULL);
  CHECK(strstr(text, "\"node\":\"new-node-1\"") != NULL);
  berth_free(text);

  OK(berth_state_make_room(state, NULL, &request, "big", &text, &size, &error));
  CHECK(size == strlen(text) && strstr(text, "\"found\":true") != NULL);
  CHECK(strstr(text, "\"cost_s\":30,\"cost_gpu_s\":120}],\"cost_gpu_s\":120") != NULL);
  berth_free(text);

  /* Nothing has changed. */
  OK(berth_state_to_json(state, &after, NULL, NULL));
  CHECK(strcmp(before, after) == 0);
  berth_free(before);
  berth_free(after);

  text = NULL;
  CHECK(ASK(kUnknown) == BERTH_INPUT_ERROR && strstr(error.message, "e.json:1: /edits/0: cancel: no job 'c'") != NULL);
  CHECK(ASK(kRefused) == BERTH_INPUT_ERROR && strstr(error.message, "edit 'gone': /0/node: ") != NULL);
  CHECK(berth_state_what_if(state, NULL, &request, NULL, 3, NULL, &text, NULL, &error) == BERTH_INVALID_ARGUMENT);
  CHECK(berth_state_what_if(state, NULL, &request, kEdits, sizeof kEdits - 1, NULL, NULL, NULL, &error) == BERTH_INVALID_ARGUMENT);
  CHECK(berth_state_what_if(state, NULL, NULL, kEdits, sizeof kEdits - 1, NULL, &text, NULL, &error) == BERTH_INVALID_ARGUMENT);
  CHECK(berth_state_what_if(NULL, NULL, &request, kEdits, sizeof kEdits - 1, NULL, &text, NULL, &error) != BERTH_OK);
  CHECK(berth_state_make_room(state, NULL, &request, "c", &text, NULL, &error) == BERTH_INVALID_ARGUMENT);
  CHECK(berth_state_make_room(state, NULL, &request, "a", &text, NULL, &error) == BERTH_INVALID_ARGUMENT);
  CHECK(berth_state_make_room(state, NULL, &request, NULL, &text, NULL, &error) == BERTH_INVALID_ARGUMENT);
  request.policy = "fifi";
  CHECK(ASK(kEdits) == BERTH_INVALID_ARGUMENT);
  CHECK(text == NULL);
  OK(berth_state_destroy(&state, NULL));
  return 0;
}
