#!/usr/bin/env bash
# Formats C, C++ and CUDA with clang-format 14.
#   tools/format.sh           rewrites files
#   tools/format.sh --check   fails where one would change
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  '') how=(-i) ;;
  --check) how=(--dry-run -Werror) ;;
  *) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac
git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' '*.cuh' |
  xargs -0 -r -n 40 -P "$(nproc)" clang-format-14 "${how[@]}"
