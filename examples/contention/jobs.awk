# 160 jobs by the description in arXiv 2002.10105: awk -v seed=1 -f examples/contention/jobs.awk >jobs.json
# Models, sizes, 1,000 to 6,000 iterations and instants within 20 minutes are the paper's; their assignment is random.
function below(n) {  # minimal standard generator (Park, Miller 1988)
  state = state * 16807 % 2147483647
  return int(state / 2147483647 * n)
}
BEGIN {
  state = seed + 1
  for (i = 0; i < 100; i++) below(1)
  n = split("80 14 26 30 8 2", many, " ")
  for (s = 1; s <= n; s++)
    for (i = 0; i < many[s]; i++) gpus[jobs++] = 2 ^ (s - 1)
  for (i = jobs - 1; i > 0; i--) {
    j = below(i + 1)
    t = gpus[i]; gpus[i] = gpus[j]; gpus[j] = t
  }
  for (i = 0; i < jobs; i++) {
    t = 1 + below(1200)
    for (j = i; j > 0 && at[j - 1] > t; j--) at[j] = at[j - 1]
    at[j] = t
  }
  # model, megabytes of gradients, forward and backward in milliseconds
  split("VGG16 526.4 36 54 ResNet50 99.2 25 37 Inception-v3 103.0 35 52 LSTM-PTB 251.8 32 47", m, " ")
  printf "{\"schema\": \"berth.trace.v1\", \"name\": \"contention\", \"profiles\": {"
  for (k = 0; k < 4; k++) {
    printf "%s\n\"%s\": {\"kind\": \"table\", \"unit\": \"steps\", \"points\": [", k ? "," : "", m[4 * k + 1]
    for (s = 0; s < n; s++) printf "%s{\"gpus\": %d, \"rate\": %.6f}", s ? ", " : "", 2 ^ s, 1000 / (m[4 * k + 3] + m[4 * k + 4])
    printf "], \"gradient_bytes\": %d, \"stage_s\": [%.3f, %.3f]}", m[4 * k + 2] * 1000000, m[4 * k + 3] / 1000, m[4 * k + 4] / 1000
  }
  printf "},\n\"jobs\": ["
  for (i = 0; i < jobs; i++) {
    k = below(4)
    work = 1000 + below(5001)
    printf "%s\n{\"id\": \"%03d\", \"submit_s\": %d, \"run_s\": %.3f, \"gpus\": %d, \"model\": \"%s\", \"profile\": \"%s\", \"work\": %d}",
      i ? "," : "", i, at[i], work * (m[4 * k + 3] + m[4 * k + 4]) / 1000, gpus[i], m[4 * k + 1], m[4 * k + 1], work
  }
  print "]}"
}
