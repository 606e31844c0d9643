/* What the C tests share: a failed check says where and ends the program. */
#ifndef BERTH_TESTS_C_API_CHECK_H
#define BERTH_TESTS_C_API_CHECK_H

#include <berth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      fprintf(stderr, "  last error: %s\n", berth_last_error());                \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* The call gives this status. */
#define GIVES(status, call)                                                                                                       \
  do {                                                                                                                            \
    const berth_status got_ = (call);                                                                                             \
    if (got_ != (status)) {                                                                                                       \
      fprintf(stderr, "%s:%d: %s gave %s (%s), not %s\n", __FILE__, __LINE__, #call, berth_status_name(got_), berth_last_error(), \
              berth_status_name(status));                                                                                         \
      exit(1);                                                                                                                    \
    }                                                                                                                             \
  } while (0)
#define OK(call) GIVES(BERTH_OK, call)

#define CONTAINS(text, part)                                                                          \
  do {                                                                                                \
    if (strstr((text), (part)) == NULL) {                                                             \
      fprintf(stderr, "%s:%d: \"%s\" does not contain \"%s\"\n", __FILE__, __LINE__, (text), (part)); \
      exit(1);                                                                                        \
    }                                                                                                 \
  } while (0)

/* Two nodes of 8 GPUs in two racks; one running job, two that wait, one of which can never start. */
static const char kSmall[] =
    "{\"schema\": \"berth.snapshot.v1\", \"now_s\": 100,\n"
    " \"gpu_types\": [{\"id\": \"A100\"}],\n"
    " \"domains\": [{\"id\": \"r0\", \"level\": \"rack\"}, {\"id\": \"r1\", \"level\": \"rack\"}],\n"
    " \"nodes\": [{\"id\": \"n0\", \"gpu_type\": \"A100\", \"gpus\": 8, \"domains\": {\"switch\": \"r0\"}},\n"
    "  {\"id\": \"n1\", \"gpu_type\": \"A100\", \"gpus\": 8, \"domains\": {\"switch\": \"r1\"}}],\n"
    " \"jobs\": [{\"id\": \"runs\", \"submit_s\": 0, \"gpus\": 4, \"state\": \"running\", \"estimate\": {\"run_s\": 500},\n"
    "   \"allocation\": {\"shape\": \"4\", \"entries\": [{\"node\": \"n0\", \"gpus\": [0, 1, 2, 3]}]}},\n"
    "  {\"id\": \"starts\", \"submit_s\": 10, \"gpus\": 8, \"estimate\": {\"run_s\": 50}},\n"
    "  {\"id\": \"never\", \"submit_s\": 20, \"gpus\": 64}]}\n";

#define UNUSED_CHECKS() (void)kSmall

#endif
