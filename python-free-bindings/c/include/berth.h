/* Berth from C (C99) and from every language that calls C: the allocation plan of a GPU cluster, with reasons.
 *
 *   berth_state* state;  berth_engine* engine;  berth_plan* plan;
 *   berth_state_from_json(text, size, "cluster.json", &state, &error);
 *   berth_engine_create(&engine, &error);
 *   berth_plan_create(&plan, &error);
 *   for (;;) {
 *     berth_state_apply(state, &deltas, NULL, &error);              what happened; all of it or nothing
 *     berth_decide(engine, state, NULL, &request, plan, &error);
 *     berth_plan_decisions(plan, 0, n, &columns, &error);           which jobs run where, and which wait
 *     berth_commit(state, plan, NULL, &error);                      rejects a plan of an older revision
 *   }
 *
 * Conventions
 *  - Errors. Every function that can fail returns BERTH_OK (0) or a negative status. It also takes a `berth_error*`, which may be NULL;
 *    only `berth_cancel` does not. Nothing throws, exits, prints or installs signal handlers. A failed call leaves its outputs
 *    unchanged, unless stated otherwise.
 *  - Structs. Every struct passed by pointer begins with its own size: `= {.struct_size = sizeof(berth_request)}`. Zero in all other
 *    fields means the defaults. Structs only grow at their end, so callers of another minor version keep working. The fields that a
 *    shorter struct lacks have their defaults. A longer struct must be zero in the fields that this library does not know.
 *  - Inputs are arrays on the host, copied during the call. A column is a pointer to n values. NULL means the default in all rows, which
 *    is 0 unless its comment states another. Counts have 64 bits and are checked before anything is read. Errors name values as in a
 *    document: "/jobs/0/submit_s", in seconds.
 *  - Units. Times are microseconds from the state's origin, shares millionths of a GPU, rates millionths of a unit of work per second.
 *  - Threads. One thread at a time may use a handle; a second one gets BERTH_BUSY. Different handles are independent. Any thread may
 *    call `berth_cancel` and `berth_engine_get_stats`. NULL and handles of another kind give BERTH_INVALID_HANDLE, and so do destroyed
 *    handles as far as they can be recognised.
 *  - Callbacks run on the calling thread with no lock held. They may not use the handles of that call, except for `berth_cancel`. A C++
 *    exception in a callback ends the call with BERTH_CALLBACK_FAILED and goes no further. Leaving by longjmp is an error of the program.
 *  - After fork() without exec() the child may use the handles that it inherited. No other thread may have been inside a call at that
 *    time, and no GPU in use.
 */
#ifndef BERTH_H
#define BERTH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BERTH_C_API __attribute__((visibility("default")))
#else
#define BERTH_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ------------------------------------------------------------------------------------------------------------------ */

/* The major number is the library's SOVERSION and changes when compiled programs would break. The minor number changes with additions. */
#define BERTH_ABI_MAJOR 1
#define BERTH_ABI_MINOR 7

/* Version of the loaded library: major * 65536 + minor. */
BERTH_C_API uint32_t berth_abi_version(void);
/* Version of the product, and so of the behaviour of policies: "0.1.0". */
BERTH_C_API const char* berth_version(void);
/* One line of JSON: version, ABI, build id, backends built, compiler. Never freed. */
BERTH_C_API const char* berth_build_info(void);

/* ---- Errors -------------------------------------------------------------------------------------------------------------------- */

typedef int32_t berth_status;
enum {
  BERTH_OK = 0,
  /* mistakes of the caller: -1 .. -19 */
  BERTH_INVALID_ARGUMENT = -1, /* a null pointer, a count beyond its cap, an unknown policy or parameter */
  BERTH_INVALID_HANDLE = -2,
  BERTH_INPUT_ERROR = -3,     /* an invalid snapshot, delta or document; see file, pointer and line */
  BERTH_STALE_PLAN = -4,      /* the plan is for another revision, or another state */
  BERTH_BUSY = -5,            /* another thread uses the handle */
  BERTH_CALLBACK_FAILED = -6, /* a callback threw */
  /* failures of the environment: -20 .. -39 */
  BERTH_ENVIRONMENT_ERROR = -20,
  BERTH_OUT_OF_MEMORY = -21,
  BERTH_STATE_LOST = -22, /* memory ran out during a change of this state: destroy it */
  /* Berth broke one of its guarantees: -40. Please report it. */
  BERTH_INTERNAL_ERROR = -40
};

/* The error of a call, in the caller's memory. Texts are cut to fit and end with a zero. */
typedef struct berth_error {
  uint32_t struct_size;
  berth_status status;
  int64_t line;       /* of the document, from 1; 0: not known */
  char file[256];     /* name of the document; "deltas", "snapshot" for arrays; "plan" for an invalid plan that was read */
  char pointer[256];  /* JSON pointer of the value, "/3/job" for the fourth delta */
  char message[1024]; /* for display; includes the location */
} berth_error;

/* The message of this thread's last call; empty after success. Valid until the thread's next call. */
BERTH_C_API const char* berth_last_error(void);
/* "BERTH_STALE_PLAN"; "unknown status" for other numbers. Never freed. */
BERTH_C_API const char* berth_status_name(berth_status status);

/* Frees a text that Berth returned by `char**`. NULL is allowed. */
BERTH_C_API void berth_free(void* text);

/* ---- Enumerators (the names are those of the JSON files) -------------------------------------------------------------------------- */

enum {
  BERTH_TOPOLOGY_SWITCH = 0,
  BERTH_TOPOLOGY_NVLINK = 1,
  BERTH_TOPOLOGY_POWER = 2,
  BERTH_TOPOLOGY_FAULT = 3,
  BERTH_TOPOLOGY_SITE = 4,
  BERTH_TOPOLOGYS = 5
};
enum { BERTH_NODE_READY = 0, BERTH_NODE_DRAIN = 1, BERTH_NODE_FAILED = 2, BERTH_NODE_SPARE = 3, BERTH_NODE_RELEASING = 4 };
enum { BERTH_GPU_OK = 0, BERTH_GPU_FAILED = 1, BERTH_GPU_RELEASING = 2 };
enum { BERTH_JOB_TRAINING = 0, BERTH_JOB_SERVICE = 1, BERTH_JOB_BATCH_INFERENCE = 2 };
enum {
  BERTH_ACTION_START = 0,
  BERTH_ACTION_KEEP = 1,
  BERTH_ACTION_RESIZE = 2,
  BERTH_ACTION_MIGRATE = 3,
  BERTH_ACTION_PREEMPT = 4,
  BERTH_ACTION_WAIT = 5,
  BERTH_ACTION_REJECT = 6,
  BERTH_ACTION_REPLACE = 7,
  BERTH_ACTION_RESERVE = 8
};
enum { BERTH_BACKEND_AUTO = 0, BERTH_BACKEND_REFERENCE = 1, BERTH_BACKEND_CPU = 2, BERTH_BACKEND_CUDA = 3 };
enum {
  BERTH_REASON_NONE = 0,
  BERTH_REASON_NO_GPU_TYPE = 1,
  BERTH_REASON_NODE_CONSTRAINT = 2,
  BERTH_REASON_INSUFFICIENT_GPUS = 3,
  BERTH_REASON_TOPOLOGY_REQUIRED = 4,
  BERTH_REASON_FRAGMENTED = 5,
  BERTH_REASON_QUOTA = 6,
  BERTH_REASON_CPU = 7,
  BERTH_REASON_MEMORY = 8,
  BERTH_REASON_GPU_MEMORY = 9,
  BERTH_REASON_BEHIND = 10,
  BERTH_REASON_RESERVED_FOR = 11,
  BERTH_REASON_LOST_PRIORITY = 12,
  BERTH_REASON_DEADLINE_IMPOSSIBLE = 13,
  BERTH_REASON_NODE_FAILED = 14,
  BERTH_REASON_BUDGET = 15,
  BERTH_REASON_OUTBID = 16,
  BERTH_REASON_NOT_CHOSEN = 17
};
enum { BERTH_PROOF_PLACED_VALIDATED = 0, BERTH_PROOF_INFEASIBLE_CERTIFIED = 1, BERTH_PROOF_BUDGET_EXHAUSTED = 2 };

/* "Never", "not known" and "without end" for times. */
#define BERTH_NEVER INT64_MAX

/* ---- Arrays -------------------------------------------------------------------------------------------------------------------- */

/* n texts in UTF-8: either `strings` [n], each ended by a zero, or (strings NULL) `bytes` and `begin` [n + 1]. Text i of the latter is
 * bytes[begin[i]] .. bytes[begin[i + 1] - 1]. All NULL: n empty texts. A NULL in `strings` is an empty text. */
typedef struct berth_texts {
  const char* const* strings;
  const char* bytes;
  const uint64_t* begin;
} berth_texts;

/* Rows of allocations: GPUs of one node for members of one group. */
typedef struct berth_entries {
  uint32_t struct_size;
  uint64_t n;
  berth_texts node;           /* required */
  const uint64_t* gpus;       /* required; bit i: the GPU of index i */
  berth_texts group;          /* empty: the only group of a flat gang */
  const int32_t* member;      /* first member; NULL: each row continues the row before it in the same group */
  const int32_t* share_ppm;   /* 1,000,000 */
  const uint8_t* time_shared; /* 0: a partition of its own */
} berth_entries;

/* Jobs. For trees of groups, labels, profiles and more use a document with `berth_state_apply_json`. */
typedef struct berth_jobs {
  uint32_t struct_size;
  uint64_t n;
  berth_texts id; /* required */
  berth_texts user;
  berth_texts tenant;
  berth_texts queue;
  berth_texts virtual_cluster;
  const int64_t* submit_us;
  const int32_t* priority;      /* larger is more important */
  const int64_t* weight_ppm;    /* 1,000,000; at least 1 */
  const int32_t* kind;          /* BERTH_JOB_... */
  const int64_t* time_limit_us; /* BERTH_NEVER */
  const int64_t* estimate_us;   /* expected run time in the first shape; BERTH_NEVER */
  const int64_t* deadline_us;   /* BERTH_NEVER */
  const uint8_t* deadline_hard; /* 0 */
  const uint8_t* preemptible;   /* 1 */
  const int32_t* preemption_class;
  const int64_t* restart_us;
  const int64_t* migrate_us;
  const int64_t* scale_us;
  const int64_t* cpu_milli_per_gpu;
  const int64_t* memory_bytes_per_gpu;
  const int64_t* gpu_memory_bytes;
  /* Shapes of job i: rows shape_begin[i] .. shape_begin[i + 1] - 1 of the shape columns. NULL: job i has only row i. */
  const uint64_t* shape_begin;
  uint64_t n_shapes;
  berth_texts shape_id;                 /* empty: "8", or "8xH100" with a GPU type */
  const int32_t* shape_gpus;            /* required */
  berth_texts shape_gpu_type;           /* empty: any one type */
  const int32_t* shape_share_ppm;       /* 1,000,000; below: the share used of each GPU, which other jobs may share */
  const int32_t* shape_local_batch;     /* samples per GPU and step */
  const int64_t* shape_rate;            /* 0: not known */
  const int32_t* shape_gpus_per_member; /* members of N GPUs, each on one node; 0: GPUs may be anywhere */
  berth_texts shape_require_level;      /* "rack": all in one rack of the switch topology; empty: none */
  /* Only for running jobs. */
  const int32_t* running_shape; /* index in the job's shapes; -1 or NULL: the job waits */
  const uint64_t* entry_begin;  /* [n + 1], rows of `entries`; required when any job runs */
  const berth_entries* entries;
  const int64_t* work_done; /* progress: millionths of the unit */
  const int64_t* work_total;
  const int64_t* run_us; /* time spent running so far */
  const int64_t* attained_gpu_us;
} berth_jobs;

/* A whole cluster. */
typedef struct berth_cluster {
  uint32_t struct_size;
  int64_t now_us;
  uint64_t n_gpu_types;
  berth_texts gpu_type;
  const int64_t* gpu_type_memory_bytes; /* 0: not known */
  uint64_t n_domains;                   /* parents before their children */
  berth_texts domain;                   /* unique within the parent, without '/' */
  berth_texts domain_level;             /* "rack" */
  const int32_t* domain_parent;         /* index of an earlier row; -1: a root */
  const int32_t* domain_topology;       /* BERTH_TOPOLOGY_SWITCH */
  uint64_t n_nodes;
  berth_texts node;
  const int32_t* node_gpu_type;                /* required: index of a GPU type */
  const int32_t* node_gpus;                    /* required: 0 .. 64 */
  const int32_t* node_domain[BERTH_TOPOLOGYS]; /* by topology: index of a domain, -1: none */
  const int32_t* node_state;                   /* BERTH_NODE_READY */
  const int64_t* node_cpu_milli;               /* -1: not modelled */
  const int64_t* node_memory_bytes;            /* -1: not modelled */
  const int64_t* node_available_from_us;       /* 0 */
  const int64_t* node_available_until_us;      /* BERTH_NEVER */
  const uint8_t* node_sharing;                 /* 0 */
  uint64_t n_queues;
  berth_texts queue;
  const int32_t* queue_parent;     /* index of a queue; -1: a root */
  const int64_t* queue_weight_ppm; /* 1,000,000; at least 1 */
  const int64_t* queue_limit;      /* GPUs of all types together; -1: none */
  const int64_t* queue_guarantee;  /* 0 */
  const berth_jobs* jobs;          /* NULL: none */
  const int64_t* queue_lending;    /* of the guarantee, to others below the same parent; -1: all. Since 1.5 */
} berth_cluster;

/* ---- State: the live cluster ---------------------------------------------------------------------------------------------------- */

typedef struct berth_state berth_state;

/* Creates a state without nodes and jobs. */
BERTH_C_API berth_status berth_state_create(berth_state** out, berth_error* error);
/* Creates a state from a `berth.snapshot.v1` document, at most 512 MiB, not compressed. Errors use `name` (NULL: "snapshot"). */
BERTH_C_API berth_status berth_state_from_json(const char* json, size_t size, const char* name, berth_state** out, berth_error* error);
BERTH_C_API berth_status berth_state_from_arrays(const berth_cluster* cluster, berth_state** out, berth_error* error);
/* Destroys the state and sets *state to NULL. NULL and a pointer to NULL are allowed. With BERTH_BUSY it is not destroyed. */
BERTH_C_API berth_status berth_state_destroy(berth_state** state, berth_error* error);

enum {
  BERTH_SET_TIME = 1,       /* time_us; never backward. Put it first in a batch: running jobs progress until then */
  BERTH_PUT_JOB = 2,        /* row: of `jobs`; replaces a job with the same id; a running one then waits */
  BERTH_REMOVE_JOB = 3,     /* id; text: final status ("completed"), recorded in the history unless empty */
  BERTH_START_JOB = 4,      /* id; text: shape; entries: for starts and moves that berth_commit did not make */
  BERTH_STOP_JOB = 5,       /* id */
  BERTH_SET_PROGRESS = 6,   /* id; row: of the progress columns; replaces the known progress */
  BERTH_SET_NODE_STATE = 7, /* id: node; value: BERTH_NODE_...; time_us: available from (not BERTH_NEVER), default 0 */
  BERTH_SET_GPU_STATE = 8,  /* id: node; index; value: BERTH_GPU_...; time_us: when a releasing GPU is free, default BERTH_NEVER: not
                             * known */
  BERTH_REMOVE_NODE = 9     /* id */
};

/* n changes in order. Columns have n rows; columns that no change of the batch needs may be NULL. */
typedef struct berth_deltas {
  uint32_t struct_size;
  uint64_t n;
  const int32_t* kind; /* required: BERTH_SET_TIME ... */
  berth_texts id;
  berth_texts text;
  const int64_t* time_us;
  const int32_t* value;
  const int32_t* index;
  const uint64_t* row;
  const berth_jobs* jobs;      /* without the allocation columns, which are ignored: a new job waits */
  const uint64_t* entry_begin; /* [n + 1]: START_JOB takes rows entry_begin[i] .. entry_begin[i + 1] - 1 of `entries` */
  const berth_entries* entries;
  uint64_t n_progress; /* rows of the four columns below */
  const int64_t* work_done;
  const int64_t* work_total;
  const int64_t* run_us;
  const int64_t* attained_gpu_us;
} berth_deltas;

/* Applies all deltas or, when one fails, none. *revision (may be NULL) is the new revision. */
BERTH_C_API berth_status berth_state_apply(berth_state* state, const berth_deltas* deltas, uint64_t* revision, berth_error* error);
/* The same from a `berth.deltas.v1` document, which supports every kind of delta and every field of a job. */
BERTH_C_API berth_status berth_state_apply_json(berth_state* state, const char* json, size_t size, const char* name, uint64_t* revision,
                                                berth_error* error);
/* Writes the state as a `berth.snapshot.v1` document, ended by a zero; free it with berth_free. `size` may be NULL. */
BERTH_C_API berth_status berth_state_to_json(berth_state* state, char** json, size_t* size, berth_error* error);

typedef struct berth_state_info {
  uint32_t struct_size;
  uint64_t revision;
  int64_t now_us;
  uint64_t nodes, gpus, jobs, running_jobs;
  uint64_t job_index_end; /* indices of jobs in plans are below it */
  uint64_t batches;       /* batches of deltas applied, plus plans committed */
  uint64_t refused_batches;
} berth_state_info;
BERTH_C_API berth_status berth_state_get_info(berth_state* state, berth_state_info* info, berth_error* error);

/* The index of a job or the rank of a node at the current revision, as used in plans. -1: not found. */
BERTH_C_API berth_status berth_state_find_job(berth_state* state, const char* id, int32_t* job_index, berth_error* error);
BERTH_C_API berth_status berth_state_find_node(berth_state* state, const char* id, int32_t* rank, berth_error* error);
/* The row of a queue in berth_queue_standings. -1: not found. Since 1.4. */
BERTH_C_API berth_status berth_state_find_queue(berth_state* state, const char* id, int32_t* queue, berth_error* error);

/* ---- Policy state: what a policy keeps between decisions -------------------------------------------------------------------------- */

typedef struct berth_policy_state berth_policy_state;

BERTH_C_API berth_status berth_policy_state_create(berth_policy_state** out, berth_error* error);
/* Reads a `berth.state.v1` document, as written below or by `berth plan --state-out`. */
BERTH_C_API berth_status berth_policy_state_from_json(const char* json, size_t size, const char* name, berth_policy_state** out,
                                                      berth_error* error);
BERTH_C_API berth_status berth_policy_state_to_json(berth_policy_state* policy_state, char** json, size_t* size, berth_error* error);
BERTH_C_API berth_status berth_policy_state_destroy(berth_policy_state** policy_state, berth_error* error);

/* ---- Engine: decides -------------------------------------------------------------------------------------------------------------- */

typedef struct berth_engine berth_engine;
typedef struct berth_plan berth_plan;

BERTH_C_API berth_status berth_engine_create(berth_engine** out, berth_error* error);
BERTH_C_API berth_status berth_engine_destroy(berth_engine** engine, berth_error* error);

enum { BERTH_LOG_ERROR = 1, BERTH_LOG_WARNING = 2, BERTH_LOG_INFO = 3 };
/* Called for messages of at most `level`: failed calls, use of another backend than requested, a line per decision. NULL ends it,
 * regardless of `level`. */
typedef void (*berth_log_callback)(void* user_data, int32_t level, const char* message);
BERTH_C_API berth_status berth_engine_set_log(berth_engine* engine, int32_t level, berth_log_callback callback, void* user_data,
                                              berth_error* error);

/* Receives the jobs done so far and their total. Returning non-zero stops, as berth_cancel does. Passes call it
 * about every 64 jobs, and searches after each step. A pass with it or with budget_us runs on the CPU: a kernel is not stopped. */
typedef int32_t (*berth_progress_callback)(void* user_data, uint64_t done, uint64_t total);

typedef struct berth_request {
  uint32_t struct_size;
  int32_t backend;    /* BERTH_BACKEND_AUTO. Does not change the plan. */
  const char* policy; /* NULL: "fifo" */
  uint64_t n_params;
  berth_texts params; /* "NAME=VALUE"; berth_policies lists them */
  int32_t threads;    /* 0: one */
  /* 1: the plan lists only jobs that start, move, stop, are repaired or rejected, and reservations that differ from the engine's last plan:
   * see `reservations_since` of berth_plan_info. Others keep their GPUs, wait, or stay reserved. The policies and parameters of
   * docs/placement.md, section 12, then also decide in time for what changed; others take time for all jobs. Jobs that wait are not
   * listed, as most of their reasons change with every plan: a decision on the same revision with 0 gives them. */
  int32_t changes_only;
  uint64_t seed;
  /* Maximum number of jobs in the scheduling pass, or of evaluations, generations or rounds of the policy; 0: no limit. Deterministic. */
  int64_t max_iterations;
  int64_t budget_us; /* wall clock; 0: no limit. The `iterations` of the plan, as max_iterations, reproduce it. */
  berth_progress_callback progress;
  void* progress_data;
  /* GPU of the backend cuda: its index in `berth devices`, or its UUID; NULL: the first that can be used. What is none of the GPUs that
   * there are is invalid. Since 1.2. */
  const char* device;
} berth_request;

/* Decides on the state, which does not change, and writes `plan`, reusing its memory. An independent validator has checked every plan.
 * `policy_state` may be NULL: the policy then keeps nothing. It belongs to the policy that used it first; others reject it.
 * After a failure `policy_state` is unchanged, and `plan` must not be read. A stopped decision returns BERTH_OK and sets `stopped_by`. */
BERTH_C_API berth_status berth_decide(berth_engine* engine, berth_state* state, berth_policy_state* policy_state,
                                      const berth_request* request, berth_plan* plan, berth_error* error);
/* Stops the current decision of the engine at its next check; between two decisions it stops the next one. Any thread may call it. */
BERTH_C_API berth_status berth_cancel(berth_engine* engine);
/* Applies the plan to the state: starts, moves and stops jobs. A plan read from a document is validated first. */
BERTH_C_API berth_status berth_commit(berth_state* state, berth_plan* plan, uint64_t* revision, berth_error* error);

typedef struct berth_engine_stats {
  uint32_t struct_size;
  uint64_t decisions, failures;
  uint64_t stopped_by_iterations, stopped_by_budget, stopped_by_cancel;
  uint64_t jobs_visited;
  uint64_t decide_ns_total, decide_ns_last, decide_ns_max; /* wall clock of berth_decide */
} berth_engine_stats;
BERTH_C_API berth_status berth_engine_get_stats(berth_engine* engine, berth_engine_stats* stats, berth_error* error);

/* All policies as a JSON list: name, rule, source, parameters. Free it with berth_free. */
BERTH_C_API berth_status berth_policies(char** json, size_t* size, berth_error* error);

/* ---- Plan ------------------------------------------------------------------------------------------------------------------------- */

BERTH_C_API berth_status berth_plan_create(berth_plan** out, berth_error* error);
BERTH_C_API berth_status berth_plan_destroy(berth_plan** plan, berth_error* error);

/* Texts are valid until the next decision into this plan or its destruction. */
typedef struct berth_plan_info {
  uint32_t struct_size;
  int32_t proof; /* BERTH_PROOF_... */
  uint64_t revision;
  int64_t now_us;
  uint64_t n_decisions, n_entries;
  const char* policy;
  const char* backend;      /* backend of the answer */
  const char* backend_note; /* why it is not the requested one; may be empty */
  const char* stopped_by;   /* "done", "iterations", "budget", "cancel" */
  uint64_t seed;
  uint64_t iterations;      /* jobs of the scheduling pass, or evaluations, generations or rounds of the policy */
  int64_t order_until_us;   /* until then the order of jobs holds without events; BERTH_NEVER: until an event */
  uint64_t gpus, gpus_used; /* healthy; whole GPUs in use after the plan is applied */
  uint64_t starts, keeps, moves, preempts, waits, rejects, replaces, reserves;
  double decide_s;
  const char* device; /* GPU of the answer; empty where no GPU has answered. Since 1.2. */
  /* 1: a plan of changes, which does not list every job; the counts above are of all jobs. Since 1.3, as the next two. */
  int32_t changes_only;
  /* 0: all reservations are listed, and replace those that the caller holds. Else the caller's must be of the plan of this revision:
   * jobs that are dropped or listed with another action lose theirs, listed ones get a new one, and all others stand. */
  uint64_t reservations_since;
  uint64_t n_reservations_dropped; /* rows of berth_plan_reservations_dropped */
} berth_plan_info;
BERTH_C_API berth_status berth_plan_get_info(berth_plan* plan, berth_plan_info* info, berth_error* error);

/* Columns to fill, in the caller's memory, with at least `count` rows each; NULL: not needed. Rows are jobs, by (submit, id). */
typedef struct berth_decisions {
  uint32_t struct_size;
  int32_t* job;          /* index of the job */
  int32_t* action;       /* BERTH_ACTION_... */
  int32_t* shape;        /* index in the job's shapes; -1: none */
  uint64_t* entry_begin; /* rows of the plan's entries, in rank order of the gang */
  uint64_t* entry_end;
  int32_t* local_batch; /* samples per GPU and step; 0: not stated */
  int64_t* rate;        /* predicted; 1,000,000 where only a run time is known; 0: does not run, or not known */
  int64_t* start_us;    /* of START and RESERVE; BERTH_NEVER */
  int64_t* finish_us;   /* predicted; BERTH_NEVER */
  int64_t* cost_us;     /* run time that displacing or moving the job costs */
  int32_t* reason;      /* BERTH_REASON_... */
  uint8_t* certified;   /* no other state of the jobs would help */
  int64_t* asked;       /* by the reason: GPUs, thousandths of cores, or bytes */
  int64_t* best;        /* maximum available in one location */
  int64_t* missing;     /* N more, and the job would start: see BERTH_TEXT_WOULD_START_IF; 0: none known */
  int64_t* until_us;
  int32_t* other_job; /* index of the job that it waits for, or that displaced it; -1 */
  /* GPUs out of service that would help the job if they returned, on nodes that it may use: idle ones of drained nodes, and failed ones.
   * With NODE_FAILED: the failed GPUs of the job itself. */
  int64_t* drained;
  int64_t* failed;
  int32_t* unavailable_nodes; /* number of these nodes */
  int32_t* unavailable_on;    /* [3 * count] the first three of them, ranks; -1: no more */
} berth_decisions;
BERTH_C_API berth_status berth_plan_decisions(berth_plan* plan, uint64_t first, uint64_t count, const berth_decisions* columns,
                                              berth_error* error);

typedef struct berth_plan_entries {
  uint32_t struct_size;
  int32_t* node; /* rank */
  uint64_t* gpus;
  int32_t* group; /* index in the shape's groups */
  int32_t* member;
  int32_t* members;
  int32_t* share_ppm;
  uint8_t* time_shared;
} berth_plan_entries;
BERTH_C_API berth_status berth_plan_get_entries(berth_plan* plan, uint64_t first, uint64_t count, const berth_plan_entries* columns,
                                                berth_error* error);

/* Jobs with a reservation in the plan of revision `reservations_since`, of which this plan lists no decision, and that are not reserved any
 * more. Rows are jobs, by (submit, id); those that left the state are none of them. `job` [count] is their index. Since 1.3. */
BERTH_C_API berth_status berth_plan_reservations_dropped(berth_plan* plan, uint64_t first, uint64_t count, int32_t* job,
                                                         berth_error* error);

enum {
  BERTH_TEXT_JOB = 1,            /* id of the job of a decision */
  BERTH_TEXT_SHAPE = 2,          /* id of its shape; empty: none */
  BERTH_TEXT_REASON = 3,         /* "needs 16 GPUs in one rack; best rack has 12 left: r07" */
  BERTH_TEXT_WOULD_START_IF = 4, /* "4 more were free there"; empty: none known */
  BERTH_TEXT_WHERE = 5,          /* the location of `best`: a node or a domain */
  BERTH_TEXT_EXPLAIN = 6,        /* everything in the plan about the job, line by line */
  BERTH_TEXT_NODE = 7,           /* id of the node of an entry; first and count refer to entries */
  BERTH_TEXT_QUEUE = 8,          /* id of the queue whose limit the reason names; empty: none */
  BERTH_TEXT_DROPPED = 9         /* id of a job whose reservation was dropped; first and count refer to these. Since 1.3. */
};
/* Returns one text for each of `count` rows from `first` on: text i is bytes[begin[i]] .. bytes[begin[i + 1] - 1]. The caller provides
 * `begin` [count + 1]. *bytes ends with a zero; free it with berth_free. The state must be at the plan's revision. When memory runs out,
 * `begin` may have been written. */
BERTH_C_API berth_status berth_plan_texts(berth_plan* plan, berth_state* state, int32_t what, uint64_t first, uint64_t count, char** bytes,
                                          uint64_t* begin, berth_error* error);

/* Write and read `berth.plan.v1` documents. Only a plan of the state's revision can be written. Others can be read, but are stale. */
BERTH_C_API berth_status berth_plan_to_json(berth_plan* plan, berth_state* state, int32_t with_timing, char** json, size_t* size,
                                            berth_error* error);
BERTH_C_API berth_status berth_plan_from_json(const char* json, size_t size, const char* name, berth_state* state, berth_plan* plan,
                                              berth_error* error);
/* How queues stand to their quotas: docs/quotas.md. Columns to fill with `count` rows each; NULL: not needed. GPUs in millionths, with
 * those of queues below. Each queue has a row of all GPU types together, and one of each type of which it states something. */
typedef struct berth_queue_standings {
  uint32_t struct_size;
  int32_t* queue;            /* as berth_state_find_queue has it; parents before their children */
  int32_t* gpu_type;         /* index of a GPU type; -1: all together */
  int64_t* guarantee;        /* its own, or the sum of its children's if that is more */
  int64_t* limit;            /* -1: none */
  int64_t* entitled;         /* of the guarantees, as far as jobs ask for them */
  int64_t* fair_share;       /* of all GPUs that work */
  int64_t* has;              /* what its jobs hold */
  int64_t* waiting;          /* what its waiting jobs ask for */
  int64_t* starved_since_us; /* since when a job of it waits that it is entitled to; BERTH_NEVER: none does */
  int64_t* keeps;            /* of the guarantee, used or not, so that others do not get it. Since 1.5 */
  /* In rows of all types: the largest of the parts of GPUs, cores and memory that its jobs hold, and the fair one, in millionths of the
   * cluster; else -1, and where neither cores nor memory count. Since 1.7 */
  int64_t *dominant_share, *fair_dominant_share;
} berth_queue_standings;
/* `plan`: of the state's revision; NULL: as jobs run now. *n_rows is the number of all rows; with count 0 `columns` may be NULL. Rows from
 * `first` on are filled. The rows are made again in each call: O(jobs + queues). Since 1.4. */
BERTH_C_API berth_status berth_state_queue_standings(berth_state* state, berth_plan* plan, uint64_t* n_rows, uint64_t first, uint64_t count,
                                                     const berth_queue_standings* columns, berth_error* error);
/* What edits of a state would change in its next plan: docs/what-if.md. `edits` is a `berth.edits.v1` document, and *answers becomes a
 * `berth.whatif.v1` document; free it with berth_free. `request` decides the plan without edits; its `changes_only` and `progress` are not
 * read. `policy_state`: of the last decision, not changed; NULL: none. The state is copied in each call, so ask many edits in one.
 * Since 1.6. */
BERTH_C_API berth_status berth_state_what_if(berth_state* state, berth_policy_state* policy_state, const berth_request* request,
                                             const char* edits, size_t size, const char* name, char** answers, size_t* answers_size,
                                             berth_error* error);
/* Which running jobs would move, not stop, so that a waiting job starts now: the same document, with `room`. Since 1.6. */
BERTH_C_API berth_status berth_state_make_room(berth_state* state, berth_policy_state* policy_state, const berth_request* request,
                                               const char* job, char** answer, size_t* answer_size, berth_error* error);
/* Checks a plan against the state, independently of the code that made it. *violations is their number, at most 20. *text (may be NULL)
 * has a line for each; free it with berth_free. Returns BERTH_OK in either case. */
BERTH_C_API berth_status berth_plan_validate(berth_plan* plan, berth_state* state, uint64_t* violations, char** text, berth_error* error);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_H */
