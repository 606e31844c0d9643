# Tasks as in deadlines.awk, of Gavel's models: input is its throughputs (simulation_throughputs.json). Tasks of one GPU take the share
# `share` of it (1: all of it); larger ones take whole GPUs. Variables: seed, density (GPU-time that comes over GPU-time that there is, each
# task alone on its GPUs), share, cluster (1: prints the cluster instead).
# Models that do not fit on a V100 next to some other one are left out, until all pairs fit.
function u() { state = (state * 16807) % 2147483647; return state / 2147483647 }
function exponential(mean) { return -mean * log(1 - u()) }
function normal() { return sqrt(-2 * log(1 - u())) * cos(6.283185307179586 * u()) }
function name_of(line) { sub(/^ *"\('/, "", line); sub(/'.*/, "", line); return line }
function gpus_of(line) { sub(/^.*', /, "", line); sub(/\).*/, "", line); return line }
/^    "/ { type = $1; gsub(/[":]/, "", type); next }
type != "v100" { next }
/^        "\(/ { model = name_of($0); size = gpus_of($0); next }
size != 1 { next }
/"null":/ { alone[model] = $2 + 0; models[++n_models] = model; next }
/^            "\(/ {
  other = name_of($0)
  if (gpus_of($0) == 1) { getline; pair[model, other] = $1 + 0 }
}
END {
  if (cluster) {
    printf "{\"schema\": \"berth.cluster.v1\", \"name\": \"sharing\", \"gpu_types\": [{\"id\": \"v100\"}], \"nodes\": ["
    for (i = 0; i < 8; i++) printf "%s{\"id\": \"n%d\", \"gpu_type\": \"v100\", \"gpus\": 4, \"sharing\": true}", i ? ", " : "", i
    print "]}"
    exit
  }
  for (again = 1; again;) {
    again = worst = 0
    for (i = 1; i <= n_models; i++) {
      misfits = 0
      for (j = 1; j <= n_models; j++) misfits += pair[models[i], models[j]] == 0 || pair[models[j], models[i]] == 0
      if (misfits > worst) { worst = misfits; out = i }
    }
    if (worst == 0) break
    for (i = out; i < n_models; i++) models[i] = models[i + 1]
    n_models--
    again = 1
  }
  state = (seed * 7919 + 17) % 2147483647
  for (i = 0; i < 20; i++) u()
  n = 400
  split("1 1 1 1 1 1 2 2 4 8", sizes, " ")
  for (i = 0; i < n; i++) {
    inference = u() < 0.4
    gpus[i] = sizes[1 + int(10 * u())]
    run[i] = inference ? 20 + exponential(60) : 60 + exp(log(600) + normal())
    if (run[i] > 7200) run[i] = 7200
    slack[i] = 0.2 + 2.8 * u()
    of[i] = models[1 + int(n_models * u())]
    work += run[i] * gpus[i]
  }
  between = work / n / (32 * density)
  printf "{\"schema\": \"berth.trace.v1\", \"name\": \"sharing\", \"profiles\": {"
  for (i = 1; i <= n_models; i++) {
    printf "%s\n\"%s\": {\"model\": \"%s\", \"colocation\": {", (i > 1 ? "," : ""), models[i], models[i]
    for (j = 1; j <= n_models; j++) {
      kept = pair[models[i], models[j]] / alone[models[i]]
      printf "%s\"%s\": %.6f", (j > 1 ? ", " : ""), models[j], (kept > 1 ? 1 : kept)
    }
    printf "}}"
  }
  printf "}, \"jobs\": ["
  for (i = 0; i < n; i++) {
    at += exponential(between)
    late = at + run[i] * (1 + slack[i]) + 60
    part = gpus[i] == 1 ? share : 1
    printf "%s\n{\"id\": \"%d\", \"submit_s\": %.3f, \"run_s\": %.3f, \"work\": %.3f, \"gpus\": %d, \"model\": \"%s\", \"profile\": \"%s\", \"shapes\": [{\"id\": \"s\", \"gpus\": %d, \"share\": %s}], \"deadline_s\": %.3f, \"deadline_value\": 1}", i ? "," : "", i, at, run[i], run[i], gpus[i], of[i], of[i], gpus[i], part, late
  }
  print "]}"
}
