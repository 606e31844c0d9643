# ElasticFlow's Philly trace as a trace of Berth: awk -F, -f elasticflow.awk THROUGHPUTS/A100_*.csv philly_103959.csv
# Work is in iterations; a table of throughput is a profile for each model and batch. Deadlines are hard.
FNR == 1 { split("", gpus); for (i = 2; i <= NF; i++) gpus[i] = $i + 0
  table = FILENAME ~ /throughputs/; model = FILENAME; sub(/.*A100_/, "", model); sub(/\.csv$/, "", model); next }
table { key = model " " $1; points = ""
  for (i = 2; i <= NF; i++) if ($i + 0 > 0) {
    points = points sprintf("%s{\"gpus\": %d, \"rate\": %.6f}", points == "" ? "" : ", ", gpus[i], $i); rate[key, gpus[i]] = $i }
  if (points != "") { profile[key] = sprintf("\"%s\": {\"kind\": \"table\", \"unit\": \"iterations\", \"points\": [%s]}", key, points) }
  next }
{ key = $4 " " $6
  if (!((key, $7 + 0) in rate)) { dropped++; next }
  used[key] = 1
  job[n++] = sprintf("{\"id\": \"%s\", \"submit_s\": %s, \"run_s\": %.6f, \"gpus\": %d, \"profile\": \"%s\", \"work\": %s, \"elastic\": true, \"deadline_s\": %s, \"deadline_hard\": true, \"deadline_value\": 1}", $1, $2, $3 / rate[key, $7 + 0], $7, key, $3, $5) }
END {
  printf "{\"schema\": \"berth.trace.v1\", \"name\": \"elasticflow\", \"profiles\": {"
  for (key in used) { printf "%s\n%s", some ? "," : "", profile[key]; some = 1 }
  printf "},\n\"jobs\": ["
  for (i = 0; i < n; i++) printf "%s\n%s", i ? "," : "", job[i]
  print "]}"
  if (dropped) print "elasticflow.awk: left out " dropped " jobs without a throughput" > "/dev/stderr" }
