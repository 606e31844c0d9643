# Jobs of two queues, as a trace, and a cluster of 64 GPUs and 512 cores: awk -v seed=1 -v cluster=FILE -f bench/outcomes/dominant.awk
# Jobs of queue `train` take 4 cores a GPU, those of `prep` 24: without limits prep can take all cores with a third of the GPUs.
# Every 6 hours each queue draws how much it asks for in the mean: train 0.1, 0.4, 0.8 or 1.2 of the GPUs, prep as much of the cores.
# Run times are log-normal with a mean of an hour.
function draw() {  # minimal standard generator (Park, Miller 1988); in (0, 1)
  state = state * 16807 % 2147483647
  return state / 2147483647
}
function normal() { return sqrt(-2 * log(draw())) * cos(6.283185307 * draw()) }
function pick(sizes, parts, n,   i, at) {
  at = 100 * draw()
  for (i = 1; i < n && at >= parts[i]; i++) at -= parts[i]
  return sizes[i]
}
BEGIN {
  printf "{\"schema\": \"berth.cluster.v1\", \"gpu_types\": [{\"id\": \"g\"}], \"nodes\": [" >cluster
  for (i = 0; i < 8; i++) printf "%s{\"id\": \"n%d\", \"gpu_type\": \"g\", \"gpus\": 8, \"cpu_cores\": 64}", i ? ", " : "", i >cluster
  printf "], \"queues\": [{\"id\": \"prep\"}, {\"id\": \"train\"}]}\n" >cluster
  split("1 2 4 8 16", train_size, " "); split("70 10 9 9 2", train_part, " "); cores["train"] = 4
  split("1 2", prep_size, " "); split("80 20", prep_part, " "); cores["prep"] = 24
  for (i in train_size) mean["train"] += train_size[i] * train_part[i] / 100
  for (i in prep_size) mean["prep"] += prep_size[i] * prep_part[i] / 100
  capacity["train"] = 64; capacity["prep"] = 512 / 24
  split("0.1 0.4 0.8 1.2", level, " ")
  state = seed + 1
  for (i = 0; i < 100; i++) draw()
  sigma = 1.3; slot = 6 * 3600; days = 10; jobs = 0
  split("train prep", queue, " ")
  for (q = 1; q <= 2; q++) {
    name = queue[q]
    for (from = 0; from < days * 86400; from += slot) {
      rate = level[1 + int(draw() * 4)] * capacity[name] / (mean[name] * 3600)
      for (now = from - log(draw()) / rate; now < from + slot; now -= log(draw()) / rate) {
        gpus = name == "train" ? pick(train_size, train_part, 5) : pick(prep_size, prep_part, 2)
        run = 3600 * exp(sigma * normal() - sigma * sigma / 2)
        run = run < 30 ? 30 : run > 43200 ? 43200 : run
        printf "%.3f %.3f %d %s %d\n", now, run, gpus, name, gpus * cores[name] | "sort -n"
      }
    }
  }
  close("sort -n")
}
