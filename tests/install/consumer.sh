#!/usr/bin/env bash
# consumer.sh BUILD_DIR [COMPILER]: installs a build, moves the installed tree, then builds and runs every example against it,
# with CMake and with pkg-config, as a user of the package would. Clients in Go and Rust are built where Debian's compilers are;
# where CI is set, a missing compiler is a failure.
# consumer.sh --installed PREFIX [COMPILER]: the same against a tree that is there.
set -euo pipefail

installed=
if [[ $1 == --installed ]]; then
  installed=1
  shift
fi
build=$(cd "$1" && pwd)
compiler=${2:-c++}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH

if [[ $installed ]]; then
  prefix=$build
else
  cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log" >&2; exit 1; }
  mv "$work/first" "$work/moved"
  prefix=$work/moved
fi
snapshot=$root/data/demo/snapshot.json

"$prefix/bin/berth" version

# Every relative link of an installed page leads to something, and the README's first plan is made where the pages lie.
pages=$(dirname "$(find "$prefix/share" -name README.md -path '*/berth/README.md')")
links=0 broken=0
while IFS= read -r page; do
  while IFS= read -r target; do
    [[ -z $target || $target == *:* ]] && continue
    links=$((links + 1))
    [[ -e ${page%/*}/$target ]] || { echo "${page#"$prefix"/}: '$target' is not installed" >&2; broken=$((broken + 1)); }
  done < <(grep -o '\]([^)#]*' "$page" | cut -c3-)
done < <(find "$pages" -name '*.md')
((links > 20 && broken == 0)) || { echo "$broken of $links links are broken" >&2; exit 1; }
header=$(cd "$pages" && "$prefix/bin/berth" plan --snapshot data/demo/snapshot.json --policy srsf | sed -n 1p)
grep -qxF -- "$header" "$pages/README.md" || { echo "README.md shows another plan than: $header" >&2; exit 1; }

# Every example is a program named like its folder, and takes a snapshot.
count=0
for example in "$root"/examples/*/CMakeLists.txt; do
  dir=${example%/*}
  name=${dir##*/}
  cmake -S "$dir" -B "$work/$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release >"$work/log" ||
    { cat "$work/log" >&2; exit 1; }
  grep -q "^berth_DIR:.*=$prefix/" "$work/$name/CMakeCache.txt" || { echo "$name found another berth" >&2; exit 1; }
  cmake --build "$work/$name"
  echo "--- $name, built with CMake"
  "$work/$name/$name" "$snapshot" | tee "$work/$name.cmake"
  count=$((count + 1))
done
((count > 0)) || { echo "no examples" >&2; exit 1; }

# C and C++ see the same.
cmp "$work/live_loop.cmake" "$work/live_loop_c.cmake"

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name berth.pc)")
echo "--- live_loop, built with pkg-config ($(pkg-config --modversion berth))"
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$root/examples/live_loop/main.cpp" -o "$work/by_pkg_config" $(pkg-config --cflags --libs berth) \
  -Wl,-rpath,"$(pkg-config --variable=libdir berth)"
"$work/by_pkg_config" "$snapshot" >"$work/live_loop.pkg"
cmp "$work/live_loop.cmake" "$work/live_loop.pkg"
echo "--- live_loop_c, built with pkg-config"
# shellcheck disable=SC2046
"${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror "$root/examples/live_loop_c/main.c" -o "$work/c_by_pkg_config" $(pkg-config --cflags --libs berth_c) \
  -Wl,-rpath,"$(pkg-config --variable=libdir berth_c)"
"$work/c_by_pkg_config" "$snapshot" >"$work/live_loop_c.pkg"
cmp "$work/live_loop.cmake" "$work/live_loop_c.pkg"

# The clients in other languages make a tiny cluster from arrays, and C reads the same one from a document.
# Debian's compilers are the ones that the examples promise to work with; GO and RUSTC name others.
"$work/c_by_pkg_config" "$root/examples/tiny_cluster.json" >"$work/tiny.c"
skipped=
compiler_for() {  # compiler_for EXAMPLE COMPILER PACKAGE: whether the compiler is there
  command -v "$2" >/dev/null && return
  if [[ -n ${CI:-} ]]; then
    echo "$1 cannot be tested: there is no $2 here; install Debian's package $3" >&2
    exit 1
  fi
  echo "SKIPPED $1: there is no $2 here; install Debian's package $3"
  skipped+=" $1"
  return 1
}
if compiler_for go_client "${GO:=/usr/bin/go}" golang-go; then
  echo "--- go_client, built with $("$GO" version)"
  # Nothing of the caller's Go takes part: no flags, workspace, modules, toolchain or cache.
  (cd "$root/examples/go_client" && env -u CGO_CFLAGS -u CGO_LDFLAGS GOENV=off GOFLAGS= GOWORK=off GOPROXY=off GOTOOLCHAIN=local \
    CGO_ENABLED=1 GOCACHE="$work/go-cache" GOPATH="$work/go" "$GO" build -buildvcs=false -o "$work/go_client" .)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir berth_c) "$work/go_client" | tee "$work/tiny.go"
  cmp "$work/tiny.c" "$work/tiny.go"
fi
if compiler_for rust_client "${RUSTC:=/usr/bin/rustc}" rustc; then
  echo "--- rust_client, built with $("$RUSTC" --version)"
  # shellcheck disable=SC2046
  "$RUSTC" --edition 2021 -D warnings "$root/examples/rust_client/main.rs" -o "$work/rust_client" $(pkg-config --libs berth_c) \
    -C link-arg=-Wl,-rpath,"$(pkg-config --variable=libdir berth_c)"
  "$work/rust_client" | tee "$work/tiny.rust"
  cmp "$work/tiny.c" "$work/tiny.rust"
fi
echo "the same output${skipped:+; skipped:$skipped}"
