# Lets each job of a trace, one on a line, run on a quarter of its GPUs up to twice as many, at most 64, in powers of two.
/"submit_s"/ {
  match($0, /"gpus":[0-9]+/)
  gpus = substr($0, RSTART + 7, RLENGTH - 7) + 0
  shapes = "{\"gpus\":" gpus "}"
  for (n = 1; n <= 2 * gpus && n <= 64; n *= 2) if (n != gpus && 4 * n >= gpus) shapes = shapes ",{\"gpus\":" n "}"
  sub(/"gpus":[0-9]+/, "\"gpus\":" gpus ",\"shapes\":[" shapes "]")
}
{ print }
