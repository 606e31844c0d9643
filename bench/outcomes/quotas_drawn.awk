# Jobs of four queues with bursts, as a trace, and clusters of 64 GPUs: awk -v seed=1 -v cluster=PREFIX -f bench/outcomes/quotas_drawn.awk
# Each queue has a guarantee of 16 GPUs (PREFIX.guarantees), or also a limit of 16 (PREFIX.partition). Every 6 hours each queue
# draws how much of its guarantee it asks for in the mean: 0.1, 0.5, 1 or 2. Run times are log-normal with a mean of an hour,
# GPU counts those of Philly up to 16, and a job in five has a higher priority: -v urgent=0.2. With -v classes=1 that is its
# preemption class, too.
function draw() {  # minimal standard generator (Park, Miller 1988); in (0, 1)
  state = state * 16807 % 2147483647
  return state / 2147483647
}
function normal() { return sqrt(-2 * log(draw())) * cos(6.283185307 * draw()) }
function write_cluster(file, limit,   i, q) {
  printf "{\"schema\": \"berth.cluster.v1\", \"gpu_types\": [{\"id\": \"g\"}], \"nodes\": [" >file
  for (i = 0; i < 8; i++) printf "%s{\"id\": \"n%d\", \"gpu_type\": \"g\", \"gpus\": 8}", i ? ", " : "", i >file
  printf "], \"queues\": [" >file
  for (q = 0; q < 4; q++) printf "%s{\"id\": \"q%d\", \"quotas\": [{\"gpu_type\": \"*\", \"guarantee\": 16%s}]}", q ? ", " : "", q, limit >file
  printf "]}\n" >file
  close(file)
}
BEGIN {
  write_cluster(cluster ".guarantees", "")
  write_cluster(cluster ".partition", ", \"limit\": 16")
  n_sizes = split("1 2 4 8 16", size, " "); split("79 7 7 6 1", part, " ")
  for (i = 1; i <= n_sizes; i++) mean_gpus += size[i] * part[i] / 100
  split("0.1 0.5 1 2", level, " ")
  state = seed + 1
  if (urgent == "") urgent = 0.2
  for (i = 0; i < 100; i++) draw()
  sigma = 1.5; slot = 6 * 3600; days = 10; jobs = id = 0
  for (q = 0; q < 4; q++) {
    for (from = 0; from < days * 86400; from += slot) {
      rate = level[1 + int(draw() * 4)] * 16 / (mean_gpus * 3600)
      for (now = from - log(draw()) / rate; now < from + slot; now -= log(draw()) / rate) {
        pick = 100 * draw()
        for (i = 1; i < n_sizes && pick >= part[i]; i++) pick -= part[i]
        run = 3600 * exp(sigma * normal() - sigma * sigma / 2)
        run = run < 30 ? 30 : run > 86400 ? 86400 : run
        is_urgent = draw() < urgent
        class = classes && is_urgent ? ", \"preemption_class\": 1" : ""
        sort[jobs] = now
        line[jobs++] = sprintf("\"submit_s\": %.3f, \"run_s\": %.3f, \"gpus\": %d, \"queue\": \"q%d\", \"priority\": %d%s}", now, run, size[i], q, is_urgent, class)
      }
    }
  }
  # By time: jobs are put into bins of ten minutes, and sorted within.
  for (j = 0; j < jobs; j++) { b = int(sort[j] / 600); bin[b] = bin[b] " " j }
  printf "{\"schema\": \"berth.trace.v1\", \"name\": \"quotas\", \"jobs\": ["
  for (b = 0; b <= days * 144; b++) {
    n = split(bin[b], in_bin, " ")
    for (i = 2; i <= n; i++) {
      for (k = i; k > 1 && sort[in_bin[k]] < sort[in_bin[k - 1]]; k--) { t = in_bin[k]; in_bin[k] = in_bin[k - 1]; in_bin[k - 1] = t }
    }
    for (i = 1; i <= n; i++) printf "%s\n{\"id\": \"%05d\", %s", id ? "," : "", id++, line[in_bin[i]]
  }
  printf "]}\n"
}
