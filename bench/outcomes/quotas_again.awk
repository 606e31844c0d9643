# The smallest example of a job that gives its GPU back many times: awk -v cluster=FILE -f bench/outcomes/quotas_again.awk >TRACE
# Queue B has a guarantee of one of two GPUs, and a short job each minute. a1 and a2 of queue A borrow.
BEGIN {
  printf "{\"schema\": \"berth.cluster.v1\", \"gpu_types\": [{\"id\": \"g\"}], \"nodes\": [{\"id\": \"n\", \"gpu_type\": \"g\", \"gpus\": 2}],\n" >cluster
  printf " \"queues\": [{\"id\": \"A\"}, {\"id\": \"B\", \"quotas\": [{\"gpu_type\": \"*\", \"guarantee\": 1}]}]}\n" >cluster
  print "{\"schema\": \"berth.trace.v1\", \"name\": \"again\", \"jobs\": ["
  for (a = 1; a <= 2; a++) printf "{\"id\": \"a%d\", \"submit_s\": %d, \"run_s\": 1000, \"gpus\": 1, \"queue\": \"A\"},\n", a, a - 1
  for (b = 1; b <= 20; b++) printf "{\"id\": \"b%02d\", \"submit_s\": %d, \"run_s\": 10, \"gpus\": 1, \"queue\": \"B\"}%s\n", b, 60 * b, b < 20 ? "," : "]}"
}
