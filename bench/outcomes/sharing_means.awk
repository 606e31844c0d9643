# Tables of docs/genie.md from the lines of bench/outcomes/sharing, against genie without sharing on the same seeds: QoS in points, makespan
# and mean JCT as quotients. Half-widths are those of 95 % intervals of the mean over seeds.
function half(sum, squares, n) { return n > 1 ? (n == 20 ? 2.09 : 2) * sqrt((squares - sum * sum / n) / (n - 1) / n) : 0 }
NR == 1 { next }
{ key = $2 " " $3; if (!(key in seen)) { seen[key] = 1; keys[++n_keys] = key }
  if (!($1 in density)) { density[$1] = 1; densities[++n_densities] = $1 }
  met[$1, key, $4] = 100 * $5; makespan[$1, key, $4] = $6; jct[$1, key, $4] = $7; if ($4 > seeds) seeds = $4; promised += $8; broken += $9 }
END {
  for (what = 1; what <= 3; what++) {
    print what == 1 ? "QoS percentage" : what == 2 ? "makespan, relative" : "mean JCT, relative"
    for (k = 1; k <= n_keys; k++) {
      line = keys[k]
      for (d = 1; d <= n_densities; d++) {
        sum = squares = total = n = 0
        for (s = 1; s <= seeds; s++) {
          at = densities[d] SUBSEP keys[k] SUBSEP s; base = densities[d] SUBSEP "genie none" SUBSEP s
          if (!(at in met) || !(base in met)) continue
          x = what == 1 ? met[at] - met[base] : what == 2 ? makespan[at] / makespan[base] : jct[at] / jct[base]
          sum += x; squares += x * x; total += met[at]; n++
        }
        if (n == 0) continue
        line = line (what == 1 ? sprintf(" | %.1f (%+.1f ± %.1f)", total / n, sum / n, half(sum, squares, n)) : sprintf(" | %.3f ± %.3f", sum / n, half(sum, squares, n)))
      }
      print line
    }
  }
  printf "%d promised, %d broken\n", promised, broken
}
