# Elastic jobs with the GPU counts and run times of a published trace, which itself knows no speeds:
#   zcat TRACE.csv.gz | awk -v run=COLUMN -v gpus=COLUMN -v seed=1 -v jobs=200 -v cluster=64 -v load=0.8 -f bench/outcomes/jobs.awk
# Rows are drawn at random from the trace, and jobs arrive at random so that as requested they would need `load` of the cluster.
# A job's speed on g GPUs is g^p, with p drawn from 0.6, 0.8 and 0.95: ours. Jobs ask for at most half of the cluster and run for
# 60 s to 48 h.
function draw() {  # minimal standard generator (Park, Miller 1988); in (0, 1)
  state = state * 16807 % 2147483647
  return state / 2147483647
}
BEGIN { FS = "," }
{ sub(/\r$/, "") }
FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
  r = $(at[run]) + 0; g = $(at[gpus]) + 0
  if (g < 1 || g > cluster / 2 || r < 60) next
  if (r > 172800) r = 172800
  rows++; of_run[rows] = r; of_gpus[rows] = g
}
END {
  if (rows == 0) { print "jobs.awk: no row has " run " and " gpus > "/dev/stderr"; exit 1 }
  state = seed + 1
  for (i = 0; i < 100; i++) draw()
  for (j = 0; j < jobs; j++) {
    row = 1 + int(draw() * rows)
    run_s[j] = of_run[row]; asks[j] = of_gpus[row]; kind[j] = int(draw() * 3)
    needs += run_s[j] * asks[j]
  }
  split("0.6 0.8 0.95", p, " ")
  printf "{\"schema\": \"berth.trace.v1\", \"name\": \"derived\", \"profiles\": {"
  for (k = 1; k <= 3; k++) {
    printf "%s\n\"%s\": {\"kind\": \"table\", \"unit\": \"steps\", \"points\": [", (k > 1 ? "," : ""), p[k]
    for (g = 1; g <= cluster; g++) printf "%s{\"gpus\": %d, \"rate\": %.6f}", (g > 1 ? ", " : ""), g, g ^ p[k]
    printf "]}"
  }
  printf "},\n\"jobs\": ["
  mean_gap = needs / (load * cluster) / jobs
  for (j = 0; j < jobs; j++) {
    now += -log(draw()) * mean_gap
    printf "%s\n{\"id\": \"%04d\", \"submit_s\": %d, \"run_s\": %d, \"gpus\": %d, \"profile\": \"%s\", \"work\": %.6f, \"elastic\": true}",
      j ? "," : "", j, now, run_s[j], asks[j], p[kind[j] + 1], run_s[j] * asks[j] ^ p[kind[j] + 1]
  }
  print "]}"
}
