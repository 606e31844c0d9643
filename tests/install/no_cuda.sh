#!/usr/bin/env bash
# no_cuda.sh COMMAND LIBRARY: neither is linked to a CUDA library, and the command starts where there is none.
set -euo pipefail

needed=$({ readelf --dynamic "$1"; readelf --dynamic "$2"; } | grep -F NEEDED)
if grep -iE 'libcu|libnv' <<<"$needed"; then
  echo "linked to CUDA" >&2
  exit 1
fi

empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
# The command and its library alone, so that a libberth_cuda next to the original is not found.
mkdir "$empty/bin" "$empty/lib"
cp "$1" "$empty/bin/berth"
cp "$2" "$empty/lib/$(readelf --dynamic "$2" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')"
env -u CUDA_HOME CUDA_VISIBLE_DEVICES= LD_LIBRARY_PATH="$empty/lib" "$empty/bin/berth" version
