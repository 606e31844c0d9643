/* Arrays and documents mean the same: states and batches given either way are equal to the byte. */
#include "check.h"

static char* json_of(berth_state* state) {
  char* json = NULL;
  OK(berth_state_to_json(state, &json, NULL, NULL));
  return json;
}

static void same(berth_state* a, berth_state* b) {
  char *first = json_of(a), *second = json_of(b);
  if (strcmp(first, second) != 0) {
    fprintf(stderr, "from arrays: %s\nfrom a document: %s\n", first, second);
    exit(1);
  }
  berth_free(first);
  berth_free(second);
}

static const char kSame[] =
    "{\"schema\": \"berth.snapshot.v1\", \"now_s\": 100,"
    " \"gpu_types\": [{\"id\": \"A100\", \"memory_bytes\": 1000}, {\"id\": \"V100\"}],"
    " \"domains\": [{\"id\": \"pod\", \"level\": \"pod\"}, {\"id\": \"r0\", \"level\": \"rack\", \"parent\": \"pod\"},"
    "   {\"id\": \"r1\", \"level\": \"rack\", \"parent\": \"pod\"}, {\"id\": \"feed\", \"topology\": \"power\", \"level\": \"feed\"}],"
    " \"nodes\": [{\"id\": \"n0\", \"gpu_type\": \"A100\", \"gpus\": 8, \"domains\": {\"switch\": \"pod/r0\"}, \"cpu_cores\": 64},"
    "  {\"id\": \"n1\", \"gpu_type\": \"V100\", \"gpus\": 4, \"domains\": {\"switch\": \"pod/r1\", \"power\": \"feed\"},"
    "   \"cpu_cores\": 32, \"state\": \"drain\"}],"
    " \"queues\": [{\"id\": \"all\", \"quotas\": [{\"gpu_type\": \"*\", \"limit\": 10}]}, {\"id\": \"team\", \"parent\": \"all\"}],"
    " \"jobs\": [{\"id\": \"a\", \"queue\": \"team\", \"submit_s\": 1, \"priority\": 5, \"gpus\": 2, \"types\": [\"A100\"],"
    "   \"state\": \"running\", \"estimate\": {\"run_s\": 60}, \"progress\": {\"run_s\": 30, \"attained_gpu_s\": 60},"
    "   \"allocation\": {\"shape\": \"2xA100\", \"entries\": [{\"node\": \"n0\", \"gpus\": [1, 3]}]}},"
    "  {\"id\": \"b\", \"user\": \"ann\", \"submit_s\": 2, \"shapes\": [{\"id\": \"gang\", \"gpus\": 4, \"groups\": [{\"name\": \"gang\","
    "     \"members\": 2, \"gpus_per_member\": 2, \"require\": \"rack\"}]}, {\"id\": \"one\", \"gpus\": 1, \"rate\": 2}]}]}";

static berth_state* from_document(const char* json) {
  berth_state* state = NULL;
  OK(berth_state_from_json(json, strlen(json), NULL, &state, NULL));
  return state;
}

static void loads_a_cluster(void) {
  static const char *const types[] = {"A100", "V100"}, *const domains[] = {"pod", "r0", "r1", "feed"},
                           *const levels[] = {"pod", "rack", "rack", "feed"}, *const nodes[] = {"n0", "n1"},
                           *const queues[] = {"all", "team"}, *const users[] = {"", "ann"}, *const job_queues[] = {"team", NULL},
                           *const shape_ids[] = {"", "gang", "one"}, *const shape_types[] = {"A100", "", ""},
                           *const shape_levels[] = {NULL, "rack", NULL}, *const entry_nodes[] = {"n0"};
  static const int64_t memory[] = {1000, 0}, cpu[] = {64000, 32000}, limit[] = {10, -1}, submit[] = {1000000, 2000000},
                       estimate[] = {60000000, BERTH_NEVER}, run[] = {30000000, 0}, attained[] = {60000000, 0}, rate[] = {0, 0, 2000000};
  static const int32_t parent[] = {-1, 0, 0, -1}, topology[] = {0, 0, 0, BERTH_TOPOLOGY_POWER}, type[] = {0, 1}, gpus[] = {8, 4},
                       in_switch[] = {1, 2}, in_power[] = {-1, 3}, states[] = {BERTH_NODE_READY, BERTH_NODE_DRAIN},
                       queue_parent[] = {-1, 0}, priority[] = {5, 0}, shape_gpus[] = {2, 4, 1}, per_member[] = {0, 2, 0},
                       running[] = {0, -1};
  /* Ids as bytes and offsets, as callers without C strings give them. */
  static const uint64_t id_begin[] = {0, 1, 2}, shape_begin[] = {0, 1, 3}, entry_begin[] = {0, 1, 1}, masks[] = {0xa};
  berth_entries entries = {sizeof entries};
  berth_jobs jobs = {sizeof jobs};
  berth_cluster cluster = {sizeof cluster};
  berth_state *state = NULL, *expected = from_document(kSame);
  entries.n = 1;
  entries.node.strings = entry_nodes;
  entries.gpus = masks;
  jobs.n = 2;
  jobs.id.bytes = "ab";
  jobs.id.begin = id_begin;
  jobs.user.strings = users;
  jobs.queue.strings = job_queues;
  jobs.submit_us = submit;
  jobs.priority = priority;
  jobs.estimate_us = estimate;
  jobs.shape_begin = shape_begin;
  jobs.n_shapes = 3;
  jobs.shape_id.strings = shape_ids;
  jobs.shape_gpus = shape_gpus;
  jobs.shape_gpu_type.strings = shape_types;
  jobs.shape_rate = rate;
  jobs.shape_gpus_per_member = per_member;
  jobs.shape_require_level.strings = shape_levels;
  jobs.running_shape = running;
  jobs.entry_begin = entry_begin;
  jobs.entries = &entries;
  jobs.run_us = run;
  jobs.attained_gpu_us = attained;
  cluster.now_us = 100000000;
  cluster.n_gpu_types = 2;
  cluster.gpu_type.strings = types;
  cluster.gpu_type_memory_bytes = memory;
  cluster.n_domains = 4;
  cluster.domain.strings = domains;
  cluster.domain_level.strings = levels;
  cluster.domain_parent = parent;
  cluster.domain_topology = topology;
  cluster.n_nodes = 2;
  cluster.node.strings = nodes;
  cluster.node_gpu_type = type;
  cluster.node_gpus = gpus;
  cluster.node_domain[BERTH_TOPOLOGY_SWITCH] = in_switch;
  cluster.node_domain[BERTH_TOPOLOGY_POWER] = in_power;
  cluster.node_state = states;
  cluster.node_cpu_milli = cpu;
  cluster.n_queues = 2;
  cluster.queue.strings = queues;
  cluster.queue_parent = queue_parent;
  cluster.queue_limit = limit;
  cluster.jobs = &jobs;
  OK(berth_state_from_arrays(&cluster, &state, NULL));
  same(state, expected);
  OK(berth_state_destroy(&state, NULL));
  OK(berth_state_destroy(&expected, NULL));
}

/* Every kind of change, by arrays and by the equivalent document. */
static void applies_changes(void) {
  static const int32_t kind[] = {BERTH_SET_TIME,     BERTH_REMOVE_JOB, BERTH_PUT_JOB,        BERTH_START_JOB,     BERTH_START_JOB,
                                 BERTH_SET_PROGRESS, BERTH_STOP_JOB,   BERTH_SET_NODE_STATE, BERTH_SET_GPU_STATE, BERTH_REMOVE_NODE};
  static const char *const ids[] = {NULL, "starts", NULL, "gang", "never", "runs", "runs", "n1", "n0", "n2"},
                           *const texts[] = {NULL, "completed", NULL, "4", "1", NULL, NULL, NULL, NULL, NULL}, *const new_ids[] = {"gang"},
                           *const levels[] = {"rack"}, *const entry_nodes[] = {"n1", "n1", "n0"};
  static const int64_t time[] = {200000000, 0, 0, 0, 0, 0, 0, 300000000, 250000000, 0}, submit[] = {150000000}, done[] = {7}, total[] = {9},
                       run[] = {40000000}, attained[] = {80000000};
  static const int32_t value[] = {0, 0, 0, 0, 0, 0, 0, BERTH_NODE_DRAIN, BERTH_GPU_RELEASING, 0}, index[] = {0, 0, 0, 0, 0, 0, 0, 0, 7, 0},
                       gpus[] = {4}, per_member[] = {2};
  static const uint64_t row[10] = {0}, entry_begin[] = {0, 0, 0, 0, 2, 3, 3, 3, 3, 3, 3}, masks[] = {0x3, 0xc, 0x20};
  static const char kChanges[] =
      "{\"schema\": \"berth.deltas.v1\", \"deltas\": ["
      "{\"op\": \"set_time\", \"now_s\": 200},"
      "{\"op\": \"remove_job\", \"job\": \"starts\", \"status\": \"completed\"},"
      "{\"op\": \"put_job\", \"job\": {\"id\": \"gang\", \"submit_s\": 150, \"shapes\": [{\"id\": \"4\", \"groups\": [{\"name\": \"gang\","
      "  \"members\": 2, \"gpus_per_member\": 2, \"require\": \"rack\"}]}]}},"
      "{\"op\": \"start_job\", \"job\": \"gang\", \"allocation\": {\"shape\": \"4\", \"entries\": ["
      "  {\"node\": \"n1\", \"gpus\": [0, 1], \"group\": \"gang\"}, {\"node\": \"n1\", \"gpus\": [2, 3], \"group\": \"gang\"}]}},"
      "{\"op\": \"start_job\", \"job\": \"never\", \"allocation\": {\"shape\": \"1\", \"entries\": [{\"node\": \"n0\", \"gpus\": [5]}]}},"
      "{\"op\": \"set_progress\", \"job\": \"runs\", \"progress\": {\"work_done\": 0.000007, \"work_total\": 0.000009, \"run_s\": 40,"
      "  \"attained_gpu_s\": 80}},"
      "{\"op\": \"stop_job\", \"job\": \"runs\"},"
      "{\"op\": \"set_node_state\", \"node\": \"n1\", \"state\": \"drain\", \"available_from_s\": 300},"
      "{\"op\": \"set_gpu_state\", \"node\": \"n0\", \"index\": 7, \"state\": \"releasing\", \"free_at_s\": 250},"
      "{\"op\": \"remove_node\", \"node\": \"n2\"}]}";
  static const char kMore[] =
      "{\"schema\": \"berth.deltas.v1\", \"deltas\": ["
      "{\"op\": \"put_node\", \"node\": {\"id\": \"n2\", \"gpu_type\": \"A100\", \"gpus\": 2}},"
      "{\"op\": \"put_queue\", \"queue\": {\"id\": \"q\"}},"
      "{\"op\": \"put_reservation\", \"reservation\": {\"id\": \"r\", \"nodes\": [\"n0\"], \"from_s\": 1000, \"to_s\": 2000}},"
      "{\"op\": \"remove_reservation\", \"reservation\": \"r\"},"
      "{\"op\": \"put_job\", \"job\": {\"id\": \"never\", \"submit_s\": 20, \"gpus\": {\"min\": 1, \"max\": 8, \"step\": \"pow2\"}}}]}";
  berth_entries entries = {sizeof entries};
  berth_jobs jobs = {sizeof jobs};
  berth_deltas deltas = {sizeof deltas};
  berth_state *by_arrays = from_document(kSmall), *by_document = from_document(kSmall);
  uint64_t revision = 0;
  OK(berth_state_apply_json(by_arrays, kMore, strlen(kMore), NULL, NULL, NULL));
  OK(berth_state_apply_json(by_document, kMore, strlen(kMore), NULL, &revision, NULL));
  CHECK(revision == 2);
  entries.n = 3;
  entries.node.strings = entry_nodes;
  entries.gpus = masks;
  jobs.n = 1;
  jobs.id.strings = new_ids;
  jobs.submit_us = submit;
  jobs.shape_gpus = gpus;
  jobs.shape_gpus_per_member = per_member;
  jobs.shape_require_level.strings = levels;
  deltas.n = 10;
  deltas.kind = kind;
  deltas.id.strings = ids;
  deltas.text.strings = texts;
  deltas.time_us = time;
  deltas.value = value;
  deltas.index = index;
  deltas.row = row;
  deltas.jobs = &jobs;
  deltas.entry_begin = entry_begin;
  deltas.entries = &entries;
  deltas.n_progress = 1;
  deltas.work_done = done;
  deltas.work_total = total;
  deltas.run_us = run;
  deltas.attained_gpu_us = attained;
  OK(berth_state_apply(by_arrays, &deltas, &revision, NULL));
  CHECK(revision == 3);
  OK(berth_state_apply_json(by_document, kChanges, strlen(kChanges), NULL, NULL, NULL));
  same(by_arrays, by_document);
  OK(berth_state_destroy(&by_arrays, NULL));
  OK(berth_state_destroy(&by_document, NULL));
}

/* One bad change undoes the whole batch, and is named. */
static void refuses_a_batch_whole(void) {
  static const int32_t kind[] = {BERTH_REMOVE_JOB, BERTH_STOP_JOB};
  static const char* const ids[] = {"starts", "missing"};
  static const char kBad[] =
      "{\"schema\": \"berth.deltas.v1\", \"deltas\": [{\"op\": \"remove_job\", \"job\": \"starts\"},\n{\"op\": \"stop_job\", \"job\": "
      "\"missing\"}]}";
  berth_deltas deltas = {sizeof deltas};
  berth_error error = {sizeof error};
  berth_state *state = from_document(kSmall), *before = from_document(kSmall);
  berth_state_info info = {sizeof info};
  uint64_t revision = 77;
  deltas.n = 2;
  deltas.kind = kind;
  deltas.id.strings = ids;
  GIVES(BERTH_INPUT_ERROR, berth_state_apply(state, &deltas, &revision, &error));
  CHECK(error.status == BERTH_INPUT_ERROR && revision == 77);
  CHECK(strcmp(error.file, "deltas") == 0 && strcmp(error.pointer, "/1/job") == 0);
  CONTAINS(error.message, "no job 'missing'");
  CHECK(strcmp(berth_last_error(), error.message) == 0);
  same(state, before);
  GIVES(BERTH_INPUT_ERROR, berth_state_apply_json(state, kBad, strlen(kBad), "d.json", &revision, &error));
  CHECK(strcmp(error.file, "d.json") == 0 && strcmp(error.pointer, "/deltas/1/job") == 0 && error.line == 2);
  same(state, before);
  OK(berth_state_get_info(state, &info, NULL));
  CHECK(info.batches == 0 && info.refused_batches == 2);
  OK(berth_state_destroy(&state, NULL));
  OK(berth_state_destroy(&before, NULL));
}

int main(void) {
  loads_a_cluster();
  applies_changes();
  refuses_a_batch_whole();
  return 0;
}
