# First come, first served, on the first free GPUs in the order of the nodes. A policy that places jobs names the GPUs
# (docs/policy-exec.md).

$1 == "node" {
  if (!($2 in gpus)) name[n_nodes++] = $2
  gpus[$2] = $7  # "node7:0,1,2", empty while it is closed
}

$1 == "now" { n = 0; round++ }

$1 == "job" {
  id[n] = $2
  needs[n] = $4
  place[n] = ""
  for (f = 19; f <= NF; f++) { place[n] = place[n] " " $f; hold($f) }
  n++
}

$1 == "decide" {
  for (j = 0; j < n; j++) {
    if (place[j] == "" && (place[j] = first_free(needs[j])) == "") break
    print "run " id[j] place[j]
  }
  print "done"
  fflush()
}

# Marks the GPUs of "node7:0,1,2" as taken until the next question.
function hold(where,    node, g, k, i) {
  node = where; sub(/:[0-9,]*$/, "", node)
  k = split(substr(where, length(node) + 2), g, ",")
  for (i = 1; i <= k; i++) taken[node, g[i]] = round
}

# " node7:0,1 node8:3", or nothing where not enough GPUs are free.
function first_free(wanted,    m, g, k, i, node, here, all) {
  for (m = 0; m < n_nodes && wanted > 0; m++) {
    node = name[m]; here = ""
    k = split(substr(gpus[node], length(node) + 2), g, ",")
    for (i = 1; i <= k && wanted > 0; i++) {
      if (taken[node, g[i]] == round) continue
      here = here (here == "" ? ":" : ",") g[i]
      wanted--
    }
    if (here != "") all = all " " node here
  }
  if (wanted > 0) return ""
  m = split(all, g, " ")
  for (i = 1; i <= m; i++) hold(g[i])
  return all
}
