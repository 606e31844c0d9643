# A window of a Chronus CSV: of the jobs in [from, from + span), every STRIDE-th, from OFFSET on. Times are counted from its begin.
BEGIN { FS = OFS = "," }
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; print; next }
$column["submit_time"] >= from && $column["submit_time"] < from + span {
  if (n++ % stride != offset) next
  $column["submit_time"] -= from - from % 60
  print
}
