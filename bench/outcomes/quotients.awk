# A row of a table from rows "MEAN_JCT DECISION MEAN_JCT DECISION QUOTIENT" sorted by quotient, one for each seed: -v head=FIRST_CELLS.
# The half-width is that of the 95 % interval of the mean log quotient.
BEGIN { split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 2.12 2.11 2.10 2.09", t, " ") }
{ n++; q[n] = $5; before += $1; after += $3; us += 1e6 * $4; x = log($5); logs += x; squares += x * x }
END {
  half = n > 1 ? (n > 20 ? 2 : t[n - 1]) * sqrt((squares - logs * logs / n) / (n - 1) / n) : 0
  mean = exp(logs / n)
  median = n % 2 ? q[(n + 1) / 2] : (q[n / 2] + q[n / 2 + 1]) / 2
  printf "%s | %.0f | %.0f | %+.1f ± %.1f | %+.1f | %.0f |\n", head, before / n, after / n, 100 * (mean - 1), 100 * half * mean, 100 * (median - 1), us / n
}
