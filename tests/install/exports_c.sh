#!/usr/bin/env bash
# exports_c.sh LIBRARY HEADER: the library exports exactly the functions that the header declares.
set -euo pipefail

declared=$(grep -oE '\bberth_[a-z_0-9]+\(' "$2" | tr -d '(' | sort -u)
exported=$(nm --dynamic --defined-only "$1" | cut -d' ' -f3 | sort -u)
diff <(echo "$declared") <(echo "$exported") || { echo "declared on the left, exported on the right" >&2; exit 1; }
echo "$(wc -l <<<"$exported") functions"
