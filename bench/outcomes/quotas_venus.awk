# Gives the jobs of Venus virtual clusters, which their file does not name: awk -v seed=1 -v gpus=600 -v limited=0 -v cluster=FILE
#   -f bench/outcomes/quotas_venus.awk venus_cluster_gpu_number.csv TRACE
# A virtual cluster is drawn in proportion to the quotas of the first day. Jobs of one GPU count that are submitted within
# 10 minutes of each other belong to the same one, as users submit them together. `cluster` gets nodes of 8 GPUs and a queue
# for each virtual cluster, in proportion to its quota; with `limited` quotas are limits, too.
function draw() {  # minimal standard generator (Park, Miller 1988); in (0, 1)
  state = state * 16807 % 2147483647
  return state / 2147483647
}
BEGIN {
  state = seed + 1
  for (i = 0; i < 100; i++) draw()
}
FNR == 1 { file++ }
file == 1 && FNR == 1 { n = split($0, name, ",") - 1 }
file == 1 && FNR == 2 {
  split($0, quota, ",")
  all = quota[n + 1]
  printf "{\"schema\": \"berth.cluster.v1\", \"gpu_types\": [{\"id\": \"g\"}], \"nodes\": [" >cluster
  for (i = 0; i < gpus / 8; i++) printf "%s{\"id\": \"n%03d\", \"gpu_type\": \"g\", \"gpus\": 8}", i ? ", " : "", i >cluster
  printf "], \"queues\": [" >cluster
  for (v = 2; v <= n; v++) {
    if (quota[v] == 0) continue
    has = int(gpus * quota[v] / all)
    printf "%s{\"id\": \"%s\", \"quotas\": [{\"gpu_type\": \"*\", \"guarantee\": %d%s}]}", some++ ? ", " : "", name[v], has,
      limited ? ", \"limit\": " has : "" >cluster
  }
  printf "]}\n" >cluster
}
file == 2 && /^\{"id"/ {
  match($0, /"submit_s":[0-9.]+/); submit = substr($0, RSTART + 11, RLENGTH - 11) + 0
  match($0, /"gpus":[0-9]+/); size = substr($0, RSTART + 7, RLENGTH - 7)
  if (!(size in virtual) || submit > last[size] + 600) {
    pick = draw() * all
    for (v = 2; v < n && pick >= quota[v]; v++) pick -= quota[v]
    virtual[size] = name[v]
  }
  last[size] = submit
  sub(/^\{/, "{\"queue\":\"" virtual[size] "\",")
}
file == 2
