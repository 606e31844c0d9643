# A row of docs/quota-outcomes.md from the results that bench/outcomes/quotas keeps; or with `waits` a table of mean waits by queue.
# Changes are to `limits` under the same policy: over weeks of a trace, by submission, or over seeds, with the half-width of the
# 95 % interval of the mean log quotient. The first and the last week are left out.
function number(text, name,   found) {
  found = match(text, "\"" name "\":[0-9.e-]+") ? substr(text, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : 0
  return found + 0
}
# Adds the run of a world to the sums of this row.
function read_run(file,   text, top, parts, n, i, slow, wait, p95) {
  if ((getline text <file) <= 0) { print "quotas.awk: no results in " file >"/dev/stderr"; exit 1 }
  close(file)
  top = text
  sub(/"groups":.*/, "", top)
  jct += number(top, "mean_jct_s"); wait_all += number(top, "mean_queue_s"); used += number(top, "gpu_utilisation"); runs++
  rejected += number(top, "rejected")
  worst_here = 0
  sub(/.*"groups":\[/, "", text)
  n = split(text, parts, /\{"name":/)
  for (i = 2; i <= n; i++) {
    if (parts[i] ~ /"jobs":/) {
      if (number(parts[i], "jobs") < 100) continue
      wait = number(parts[i], "mean_queue_s")
      slow = number(parts[i], "mean_jct_s") / (number(parts[i], "mean_jct_s") - wait)
      if (slow > worst_here) worst_here = slow
    } else {
      p95 = number(parts[i], "p95_reclaim_s")
      if (p95 > worst_p95) worst_p95 = p95
      starved += number(parts[i], "starved_s") / 3600
      displaced += number(parts[i], "displaced")
      lost += number(parts[i], "lost_gpu_s") / 3600
    }
  }
  worst += worst_here
  return number(top, "mean_jct_s")
}
# Mean JCT of each week into `of`; GPUs used until `last` come from the series.
function read_weeks(file, of, count,   line, cell, week) {
  while ((getline line <file) > 0) {
    split(line, cell, ",")
    if (cell[3] != "completed") continue
    week = int(cell[4] / 604800)
    of[week] += cell[7]; count[week]++
  }
  close(file)
}
function read_series(file,   line, cell, sum, time, until) {
  while ((getline line <file) > 0) {
    split(line, cell, ",")
    if (cell[2] !~ /^[0-9]/ || cell[2] >= last) continue
    until = cell[3] < last ? cell[3] : last
    sum += cell[4] * (until - cell[2]); time += until - cell[2]
  }
  close(file)
  return sum / time / gpus
}
function change(x,   half, mean) {
  half = logs > 1 ? (logs > 20 ? 2 : t[logs - 1]) * sqrt((squares - sum * sum / logs) / (logs - 1) / logs) : 0
  mean = exp(sum / logs)
  return sprintf("%+.1f ± %.1f", 100 * (mean - 1), 100 * half * mean)
}
function add(x) { sum += log(x); squares += log(x) ^ 2; logs++ }
function waits_table(   m, file, text, parts, n, i, names, name, seen) {
  split("partition limits guarantees fair", mode_of, " ")
  print "| queue | " mode_of[1] " | " mode_of[2] " | " mode_of[3] " | " mode_of[4] " |\n| --- | --- | --- | --- | --- |"
  for (m = 1; m <= 4; m++) {
    file = work "/" world "." mode_of[m] "." policy ".json"
    if ((getline text <file) <= 0) continue
    close(file)
    sub(/.*"groups":\[/, "", text)
    n = split(text, parts, /\{"name":/)
    for (i = 2; i <= n; i++) {
      if (parts[i] !~ /"jobs":/ || number(parts[i], "jobs") < 100) continue
      name = substr(parts[i], 2, index(substr(parts[i], 2), "\"") - 1)
      if (!(name in seen)) { seen[name] = 1; names[++k] = name }
      cell_of[name, m] = sprintf("%.0f", number(parts[i], "mean_queue_s"))
    }
  }
  for (i = 1; i <= k; i++) {
    printf "| `%s` |", names[i]
    for (m = 1; m <= 4; m++) printf " %s |", cell_of[names[i], m]
    print ""
  }
}
BEGIN {
  split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 2.12 2.11 2.10 2.09", t, " ")
  if (waits) { waits_table(); exit }
  if (world == "drawn") {
    for (seed = 1; seed <= seeds; seed++) {
      mine = read_run(work "/" world seed "." mode "." policy ".json")
      file = work "/" world seed ".limits." policy ".json"
      getline text <file
      close(file)
      add(mine / number(text, "mean_jct_s"))
    }
    use = used / runs
  } else {
    read_run(work "/" world "." mode "." policy ".json")
    read_weeks(work "/" world "." mode "." policy ".jobs", mine_of, mine_count)
    read_weeks(work "/" world ".limits." policy ".jobs", base_of, base_count)
    for (week = 1; week < int(last / 604800); week++) {
      if (mine_count[week] > 0 && base_count[week] > 0) add(mine_of[week] / mine_count[week] * base_count[week] / base_of[week])
    }
    use = read_series(work "/" world "." mode "." policy ".series")
  }
  printf "| `%s` | %s | %.1f %% | %.0f | %s | %.0f | %.1f | %.0f | %.0f | %.0f | %.1f | %.0f |\n", policy, mode, 100 * use, jct / runs,
    mode == "limits" ? "" : change(), wait_all / runs, worst / runs, worst_p95, starved / runs, displaced / runs, lost / runs, rejected / runs
}
