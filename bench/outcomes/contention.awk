# Gangs of 8 to 512 GPUs that share the links of a cluster, as a trace:
#   awk -v seed=1 -v jobs=1000 -v gpus=1024 -v load=0.8 -v exchange=0.3 -v gb=16 -f bench/outcomes/contention.awk
# A part `exchange` of the jobs exchanges `gb` GB a GPU in steps that compute for 0.3 s, all to all. With 4 that is about 2.5
# times the traffic of mixtral-8x7b for each second of computing, by docs/llm-workload.md. Others reduce the gradients of a model around a ring. Run times are log-normal with a mean of an hour.
function draw() {  # minimal standard generator (Park, Miller 1988); in (0, 1)
  state = state * 16807 % 2147483647
  return state / 2147483647
}
function normal() { return sqrt(-2 * log(draw())) * cos(6.283185307 * draw()) }
BEGIN {
  n_sizes = split("8 16 32 64 128 256 512", size, " "); split("35 25 18 12 6 3 1", part, " ")
  for (i = 1; i <= n_sizes; i++) mean_gpus += size[i] * part[i] / 100
  # name, gradients in bytes, milliseconds of a step
  n_models = split("bert-large 1340000000 300 vgg16 553000000 150 gpt2-xl 6200000000 1500 resnet50 102000000 120 vit-b 346000000 200 gpt2 498000000 250", word, " ") / 3
  state = seed + 1
  for (i = 0; i < 100; i++) draw()
  printf "{\"schema\": \"berth.trace.v1\", \"name\": \"contention\", \"profiles\": {"
  for (k = 0; k < n_models; k++) {
    printf "%s\n\"%s\": {\"kind\": \"closed_form\", \"unit\": \"steps\", \"gradient_bytes\": %d, \"closed_form\": {\"step\": [{\"beta_ns\": %d}], \"overlap\": 0.3}}",
      k ? "," : "", word[3 * k + 1], word[3 * k + 2], word[3 * k + 3] * 1000000
  }
  printf ",\n\"exchange\": {\"kind\": \"closed_form\", \"unit\": \"steps\", \"closed_form\": {\"step\": [{\"beta_ns\": 300000000}], \"overlap\": 0.3}}},\n\"jobs\": ["
  sigma = 1.2
  for (j = 0; j < jobs; j++) {
    now += -log(draw()) * mean_gpus * 3600 / (load * gpus)
    run = 3600 * exp(sigma * normal() - sigma * sigma / 2)
    run = run < 60 ? 60 : run > 180000 ? 180000 : run
    pick = 100 * draw()
    for (i = 1; i < n_sizes && pick >= part[i]; i++) pick -= part[i]
    exchanges = draw() < exchange
    k = int(draw() * n_models)
    printf "%s\n{\"id\": \"%04d\", \"submit_s\": %.3f, \"run_s\": %.3f, \"gpus\": %d, \"profile\": \"%s\", \"work\": %d",
      j ? "," : "", j, now, run, size[i], exchanges ? "exchange" : word[3 * k + 1], run * 1000 / (exchanges ? 300 : word[3 * k + 3]) + 1
    if (exchanges)
      printf ", \"groups\": [{\"name\": \"all\", \"members\": %d, \"communication\": [{\"kind\": \"ep\", \"bytes_per_step\": %.0f}]}]", size[i], gb * 1e9
    printf "}"
  }
  printf "]}\n"
}
