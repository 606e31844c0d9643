# Shortest remaining time first, with preemption: like the policy srtf (docs/policy-exec.md).
#
#   berth simulate --cluster 4x8 --trace jobs.json --policy-exec 'awk -f examples/policy-exec/srtf.awk'

$1 == "now" { n = 0 }

# Kept in order of arrival, by (submit, id): of equal ones the earlier comes first.
$1 == "job" {
  left = $6 == "-" ? 1e99 : $6 + 0
  for (i = n++; i > 0 && key[i - 1] > left; i--) { key[i] = key[i - 1]; id[i] = id[i - 1] }
  key[i] = left
  id[i] = $2
}

$1 == "decide" {
  for (i = 0; i < n; i++) print "run", id[i]
  print "done"
  fflush()
}
