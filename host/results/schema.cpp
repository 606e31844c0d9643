#include "host/results/schema.hpp"

namespace berth::results {

const char* const kSchema = R"(
CREATE TABLE IF NOT EXISTS meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
INSERT OR IGNORE INTO meta VALUES ('schema', 'berth.results.v1');

CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY,
  written TEXT NOT NULL,
  berth TEXT NOT NULL,
  policy TEXT NOT NULL,
  params TEXT NOT NULL,
  trace TEXT NOT NULL,
  cluster TEXT NOT NULL,
  estimates TEXT NOT NULL,
  overheads TEXT NOT NULL,
  events TEXT NOT NULL,
  node_failure_us INTEGER NOT NULL,
  gpu_failure_us INTEGER NOT NULL,
  repair_us INTEGER NOT NULL,
  crash_gpu_us INTEGER NOT NULL,
  kill_gpu_us INTEGER NOT NULL,
  round_us INTEGER NOT NULL,
  elastic INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  gpus INTEGER NOT NULL,
  jobs INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  unfinished INTEGER NOT NULL,
  killed INTEGER NOT NULL,
  interrupted INTEGER NOT NULL,
  mean_jct_us INTEGER NOT NULL,
  median_jct_us INTEGER NOT NULL,
  p90_jct_us INTEGER NOT NULL,
  p99_jct_us INTEGER NOT NULL,
  max_jct_us INTEGER NOT NULL,
  mean_queue_us INTEGER NOT NULL,
  median_queue_us INTEGER NOT NULL,
  p90_queue_us INTEGER NOT NULL,
  p99_queue_us INTEGER NOT NULL,
  max_queue_us INTEGER NOT NULL,
  mean_first_start_us INTEGER NOT NULL,
  median_first_start_us INTEGER NOT NULL,
  p90_first_start_us INTEGER NOT NULL,
  p99_first_start_us INTEGER NOT NULL,
  max_first_start_us INTEGER NOT NULL,
  makespan_us INTEGER NOT NULL,
  gpu_utilisation_ppm INTEGER NOT NULL,
  goodput_ppm INTEGER NOT NULL,
  effective_training_time_ppm INTEGER NOT NULL,
  overhead_ppm INTEGER NOT NULL,
  gpu_us INTEGER NOT NULL,
  mean_rho_ppm INTEGER NOT NULL,
  median_rho_ppm INTEGER NOT NULL,
  p90_rho_ppm INTEGER NOT NULL,
  p99_rho_ppm INTEGER NOT NULL,
  max_rho_ppm INTEGER NOT NULL,
  jain_ppm INTEGER NOT NULL,
  soft_deadlines INTEGER NOT NULL,
  soft_missed INTEGER NOT NULL,
  hard_deadlines INTEGER NOT NULL,
  hard_missed INTEGER NOT NULL,
  starts INTEGER NOT NULL,
  preemptions INTEGER NOT NULL,
  moves INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  job_failures INTEGER NOT NULL,
  repairs INTEGER NOT NULL,
  decisions INTEGER NOT NULL,
  decision_p50_us INTEGER NOT NULL,
  decision_p99_us INTEGER NOT NULL,
  load_us INTEGER NOT NULL,
  wall_us INTEGER NOT NULL,
  progress TEXT NOT NULL,
  at_events INTEGER NOT NULL,
  fidelity TEXT NOT NULL,
  gpu_jobs INTEGER,
  network_a_us INTEGER,
  network_b_fs INTEGER,
  network_eta_fs INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS losses (
  run INTEGER NOT NULL REFERENCES runs,
  cause TEXT NOT NULL,
  gpu_us INTEGER NOT NULL,
  PRIMARY KEY (run, cause)
) STRICT;

CREATE TABLE IF NOT EXISTS jobs (
  run INTEGER NOT NULL REFERENCES runs,
  job TEXT NOT NULL,
  user TEXT NOT NULL,
  vc TEXT NOT NULL,
  gpus INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  submit_us INTEGER NOT NULL,
  start_us INTEGER,
  end_us INTEGER,
  jct_us INTEGER,
  queue_us INTEGER,
  rho_ppm INTEGER,
  held_us INTEGER NOT NULL,
  overhead_us INTEGER NOT NULL,
  gpu_us INTEGER NOT NULL,
  starts INTEGER NOT NULL,
  preemptions INTEGER NOT NULL,
  moves INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  repairs INTEGER NOT NULL,
  deadline_us INTEGER,
  reason TEXT,
  queue TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS jobs_of_run ON jobs(run);

CREATE TABLE IF NOT EXISTS series (
  run INTEGER NOT NULL REFERENCES runs,
  from_us INTEGER NOT NULL,
  until_us INTEGER NOT NULL,
  gpus_allocated_micro INTEGER NOT NULL,
  gpus_free_micro INTEGER NOT NULL,
  running_micro INTEGER NOT NULL,
  waiting_micro INTEGER NOT NULL,
  gpus_waited_micro INTEGER NOT NULL,
  gpus_fragmented_micro INTEGER NOT NULL,
  PRIMARY KEY (run, from_us)
) STRICT;

CREATE TABLE IF NOT EXISTS groups (
  run INTEGER NOT NULL REFERENCES runs,
  grouping TEXT NOT NULL,
  name TEXT NOT NULL,
  jobs INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  mean_jct_us INTEGER NOT NULL,
  median_jct_us INTEGER NOT NULL,
  p90_jct_us INTEGER NOT NULL,
  p99_jct_us INTEGER NOT NULL,
  max_jct_us INTEGER NOT NULL,
  mean_queue_us INTEGER NOT NULL,
  gpu_us INTEGER NOT NULL,
  PRIMARY KEY (run, grouping, name)
) STRICT;

CREATE TABLE IF NOT EXISTS queues (
  run INTEGER NOT NULL REFERENCES runs,
  name TEXT NOT NULL,
  gpu_us INTEGER NOT NULL,
  guaranteed_gpu_us INTEGER NOT NULL,
  fair_gpu_us INTEGER NOT NULL,
  borrowed_gpu_us INTEGER NOT NULL,
  shortfall_gpu_us INTEGER NOT NULL,
  fair_shortfall_gpu_us INTEGER NOT NULL,
  starved_us INTEGER NOT NULL,
  reclaims INTEGER NOT NULL,
  mean_reclaim_us INTEGER NOT NULL,
  median_reclaim_us INTEGER NOT NULL,
  p95_reclaim_us INTEGER NOT NULL,
  max_reclaim_us INTEGER NOT NULL,
  lapsed INTEGER NOT NULL,
  displaced INTEGER NOT NULL,
  displaced_for INTEGER NOT NULL,
  lost_gpu_us INTEGER NOT NULL,
  hours INTEGER NOT NULL,
  hours_below_half INTEGER NOT NULL,
  worst_hour_ppm INTEGER NOT NULL,
  PRIMARY KEY (run, name)
) STRICT;

CREATE TABLE IF NOT EXISTS deadlines (
  run INTEGER PRIMARY KEY REFERENCES runs,
  value INTEGER NOT NULL,
  value_met INTEGER NOT NULL,
  promised INTEGER NOT NULL,
  promised_missed INTEGER NOT NULL,
  warned INTEGER NOT NULL,
  warned_met INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  best_effort INTEGER NOT NULL,
  best_effort_completed INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS deadline_steps (
  run INTEGER PRIMARY KEY REFERENCES runs,
  met_later INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS details (
  run INTEGER NOT NULL REFERENCES runs,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, name)
) STRICT;

CREATE TABLE IF NOT EXISTS inputs (
  run INTEGER NOT NULL REFERENCES runs,
  option TEXT NOT NULL,
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS inputs_of_run ON inputs(run);

CREATE TABLE IF NOT EXISTS nodes (
  run INTEGER NOT NULL REFERENCES runs,
  node INTEGER NOT NULL,
  name TEXT NOT NULL,
  gpus INTEGER NOT NULL,
  PRIMARY KEY (run, node)
) STRICT;

CREATE TABLE IF NOT EXISTS stays (
  run INTEGER NOT NULL REFERENCES runs,
  job TEXT NOT NULL,
  node INTEGER NOT NULL,
  gpus INTEGER NOT NULL,
  share_ppm INTEGER NOT NULL,
  from_us INTEGER NOT NULL,
  until_us INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS stays_of_run ON stays(run);

CREATE TABLE IF NOT EXISTS sweep_runs (
  key TEXT PRIMARY KEY,
  run INTEGER NOT NULL UNIQUE REFERENCES runs,
  inputs TEXT NOT NULL,
  counted INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  unfinished INTEGER NOT NULL,
  killed INTEGER NOT NULL,
  mean_jct_us INTEGER NOT NULL,
  median_jct_us INTEGER NOT NULL,
  p90_jct_us INTEGER NOT NULL,
  p99_jct_us INTEGER NOT NULL,
  max_jct_us INTEGER NOT NULL,
  mean_queue_us INTEGER NOT NULL,
  median_queue_us INTEGER NOT NULL,
  p90_queue_us INTEGER NOT NULL,
  p99_queue_us INTEGER NOT NULL,
  max_queue_us INTEGER NOT NULL,
  mean_first_start_us INTEGER NOT NULL,
  median_first_start_us INTEGER NOT NULL,
  p90_first_start_us INTEGER NOT NULL,
  p99_first_start_us INTEGER NOT NULL,
  max_first_start_us INTEGER NOT NULL
) STRICT;
)";

}  // namespace berth::results
