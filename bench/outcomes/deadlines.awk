# A trace of tasks that arrive as a Poisson process on 32 GPUs: 60 % train, 40 % are batches of inference. Variables: seed, density (GPU-time
# that comes over GPU-time that there is), emergency (1: in a tenth of the time three times as many come, with a third of the slack).
# Random numbers by Park and Miller's generator, so that they do not depend on the awk.
function u() { state = (state * 16807) % 2147483647; return state / 2147483647 }
function exponential(mean) { return -mean * log(1 - u()) }
function normal() { return sqrt(-2 * log(1 - u())) * cos(6.283185307179586 * u()) }
BEGIN {
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
    work += run[i] * gpus[i]
  }
  between = work / n / (32 * density)
  printf "{\"schema\": \"berth.trace.v1\", \"name\": \"deadlines\", \"jobs\": ["
  for (i = 0; i < n; i++) {
    urgent = emergency && i % 40 >= 30 && i % 80 < 40
    at += exponential(urgent ? between / 3 : between)
    late = at + run[i] * (1 + (urgent ? slack[i] / 3 : slack[i])) + 60
    printf "%s\n{\"id\": \"%d\", \"submit_s\": %.3f, \"run_s\": %.3f, \"gpus\": %d, \"deadline_s\": %.3f, \"deadline_value\": 1}", i ? "," : "", i, at, run[i], gpus[i], late
  }
  print "]}"
}
