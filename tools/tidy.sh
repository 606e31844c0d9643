#!/usr/bin/env bash
# clang-tidy 14 over host/, include/ and the C ABI; headers are checked through the sources that include them.
#   tools/tidy.sh              sources changed since main, and those that include a changed header
#   tools/tidy.sh --all        all sources, many per run: a quarter of the time, as headers take most of it
#   tools/tidy.sh FILE...      these files
# A source that passed is not checked again until it, one of its headers, or .clang-tidy changes
# (stamps in BERTH_TIDY_CACHE, default ~/.cache/berth-tidy).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
cd "$root"

export build=build/tidy
export cache=${BERTH_TIDY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/berth-tidy}
mkdir -p "$cache"
find "$cache" -type f -mtime +30 -delete
unity=OFF
[[ ${1:-} != --all ]] || unity=ON
cmake --preset clang -B "$build" -DCMAKE_UNITY_BUILD=$unity -DBERTH_BUILD_TESTS=OFF >/dev/null

all_sources() { git ls-files --cached --others --exclude-standard -- 'host/*.cpp' 'python-free-bindings/*.cpp'; }

changed_sources() {
  local base changed header
  base=$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
  changed=$({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } | sort -u)
  {
    grep -E '^(host|python-free-bindings)/.*\.cpp$' <<<"$changed" || true
    while read -r header; do
      all_sources | xargs grep -l -F "#include \"${header#include/}\"" || true
    done < <(grep -E '^(host|include|python-free-bindings)/.*\.hpp$' <<<"$changed")
  } | sort -u
}

case ${1:-} in
  '') mapfile -t sources < <(changed_sources) ;;
  # A source that the build generates (asset.cpp of the report) is not there: nothing is built.
  --all) mapfile -t sources < <(sed -nE 's,^ *"file": "(.*)".*,\1,p' "$build/compile_commands.json" | while read -r source; do [[ ! -e $source ]] || echo "$source"; done) ;;
  -*) echo "usage: tools/tidy.sh [--all | FILE...]" >&2; exit 2 ;;
  *) sources=("$@") ;;
esac

tidy_one() {
  local source=$1 stamp
  # Input of the checks: the preprocessed source with its comments (NOLINT), and the configuration.
  stamp=$cache/$({ cat .clang-tidy && clang++-14 -std=c++20 -E -C -P -Iinclude -Ipython-free-bindings/c/include -I"$build/include" -I. "$source"; } | sha256sum | cut -c1-64)
  [[ -e $stamp ]] && return 0
  if clang-tidy-14 -p "$build" --quiet "$source" 2>/dev/null; then touch "$stamp"; else return 1; fi
}
export -f tidy_one

((${#sources[@]})) || { echo "tidy: nothing changed"; exit 0; }
# shellcheck disable=SC2016  # $1 is for the inner shell
if printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$CMAKE_BUILD_PARALLEL_LEVEL" bash -c 'set -o pipefail; tidy_one "$1" || exit 1' tidy; then
  echo "tidy: ${#sources[@]} sources are clean"
else
  echo "tidy: findings above" >&2
  exit 1
fi
