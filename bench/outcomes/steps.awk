# Measured steps of the Gavel and ElasticFlow tables as `berth fit --profile` reads them, a file for each model in DIR.
#   awk -v kind=gavel|elasticflow -v dir=DIR -v name=NAME -v node=GPUS_OF_A_NODE -f steps.awk FILE
# Gavel: the batch is taken to be of all GPUs, and gangs of `_unconsolidated` to be one GPU a node.
function put(file, type, gpus, nodes, batch, step) {
  if (!(file in begun)) print "gpu_type,gpus,nodes,batch,step_s" > file
  begun[file] = 1
  printf "%s,%d,%d,%g,%.9f\n", type, gpus, nodes, batch, step > file
}
kind == "gavel" && /^    "[a-z0-9_]+": \{/ { split($0, part, "\""); type = part[2] }
kind == "gavel" && /^        "\(/ {
  match($0, /\(batch size [0-9]+\)/)
  batch = substr($0, RSTART + 12, RLENGTH - 13)
  has = RSTART > 0
  split($0, part, "'")
  model = part[2]
  sub(/ \(batch size.*/, "", model)
  gsub(/[^A-Za-z0-9]/, "", model)
  gpus = $0
  sub(/.*, /, "", gpus)
  sub(/\).*/, "", gpus)
}
kind == "gavel" && /^            "null": / {
  rate = $2
  sub(/,/, "", rate)
  spread = type ~ /_unconsolidated/
  base = type
  sub(/_unconsolidated/, "", base)
  if (has && rate > 1e-6 && !(spread && gpus == 1)) put(dir "/gavel-" model "-" base ".csv", base, gpus, spread ? gpus : 1, batch / gpus, 1 / rate)
}
kind == "elasticflow" && FNR == 1 { n = split($0, counts, ",") }
kind == "elasticflow" && FNR > 1 {
  split($0, per_s, ",")
  for (i = 2; i <= n; ++i) {
    if (per_s[i] + 0 <= 0 || per_s[i] == "nan" || per_s[1] < counts[i]) continue
    put(dir "/elasticflow-" name ".csv", "", counts[i], int((counts[i] + node - 1) / node), per_s[1] / counts[i], 1 / per_s[i])
  }
}
