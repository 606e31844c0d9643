#!/usr/bin/env bash
# packages.sh DIR: what scripts/package left in DIR works. The archive is unpacked and plans at once, with the libraries it brings; programs in
# C and C++ are built against the archive and against the Debian packages.
set -euo pipefail

packages=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/tgz" "$work/deb"
tar xzf "$packages"/berth-*.tar.gz -C "$work/tgz"
prefix=$(echo "$work"/tgz/*)
[[ -d $prefix/bin ]] || { echo "the archive does not unpack into one folder" >&2; exit 1; }
start=$SECONDS
(cd "$prefix/share/doc/berth" && env -i "$prefix/bin/berth" plan --snapshot data/demo/snapshot.json --policy srsf >"$work/plan")
grep -q '16 start' "$work/plan"
echo "unpacked and planned; $((SECONDS - start)) s for the plan"
for program in "$prefix/bin/berth" "$prefix/lib/libberth.so" "$prefix/lib/libberth_c.so"; do
  strangers=$(env -i ldd "$program" | awk '$2 == "=>" {print $1, $3}' | grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread)\.so' | grep -v " $prefix/" || true)
  [[ -z $strangers ]] || { echo "$program takes from elsewhere: $strangers" >&2; exit 1; }
done
if command -v man >/dev/null; then
  man -l "$prefix/share/man/man1/berth.1" >/dev/null
else
  echo "(no man here: the page was not looked at)"
fi
bash -c ". '$prefix/share/bash-completion/completions/berth' && complete -p berth" >/dev/null
bash "$here/consumer.sh" --installed "$prefix" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
echo "consumers built against the archive: $(grep -c '^---' "$work/log")"
grep '^SKIPPED' "$work/log" || true

for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$work/deb"; done
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
for library in libberth.so libberth_c.so pkgconfig/berth.pc cmake/berth/berth-config.cmake; do
  [[ -e $work/deb/usr/lib/$triplet/$library ]] || { echo "the Debian packages have no usr/lib/$triplet/$library" >&2; exit 1; }
done
strays=$(find "$work/deb/usr/lib" -mindepth 1 -maxdepth 1 ! -name "$triplet")
[[ -z $strays ]] || { echo "outside of usr/lib/$triplet: $strays" >&2; exit 1; }
for package in berth libberth-dev; do
  grep -q '^License: Apache-2.0$' "$work/deb/usr/share/doc/$package/copyright" || { echo "$package has no copyright file" >&2; exit 1; }
  maintainer=$(dpkg-deb --field "$packages/${package}"_*.deb Maintainer)
  [[ $maintainer == *'<'*@*.*'>' && $maintainer != *invalid* && $maintainer != *example* && $maintainer != *noreply* ]] ||
    { echo "$package: the maintainer is a placeholder: $maintainer" >&2; exit 1; }
done
dpkg-deb --field "$packages"/berth_*.deb Depends | grep -q libfmt
dpkg-deb --field "$packages"/berth_*.deb Suggests | grep -q libberth-dev
dpkg-deb --field "$packages"/libberth-dev_*.deb Depends | grep -q '^berth (= '
bash "$here/consumer.sh" --installed "$work/deb/usr" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
echo "consumers built against the Debian packages: $(grep -c '^---' "$work/log")"
