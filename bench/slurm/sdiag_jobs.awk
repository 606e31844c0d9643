# awk -v nodes=N -v jobs=J -f sdiag_jobs.awk: jobs that fill N nodes of eight GPUs, then J that wait. A line each: run|wait, node list or -,
# GPUs of a node, nodes, minutes. The same arguments give the same jobs.
function draw(n) {
  seed = seed * 16807 % 2147483647
  return seed % n
}
function half_hours(least) { return 30 * (least + draw(49 - least)) }
BEGIN {
  seed = 1
  for (n = 1; n <= nodes;) {
    kind = draw(10)
    width = kind < 2 ? 2 ^ (1 + draw(4)) : 1
    if (n + width - 1 > nodes) width = nodes - n + 1
    if (kind < 5) {
      print "run", (width > 1 ? "n[" n "-" (n + width - 1) "]" : "n" n), 8, width, half_hours(2)
      n += width
      continue
    }
    for (left = 8; left > 0;) {
      gpus = 2 ^ draw(3)
      if (gpus > left) continue
      print "run", "n" n, gpus, 1, half_hours(2)
      left -= gpus
    }
    ++n
  }
  for (j = 0; j < jobs; ++j) {
    kind = draw(100)
    width = kind < 90 ? 1 : 2 ^ (1 + draw(4))
    if (width > nodes) width = nodes
    print "wait", "-", (kind < 40 ? 1 : kind < 55 ? 2 : kind < 70 ? 4 : 8), width, half_hours(1)
  }
}
