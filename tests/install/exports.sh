#!/usr/bin/env bash
# exports.sh LIBRARY: fails when the library exports a symbol that is not berth's, or none at all.
set -euo pipefail

exported=$(nm --dynamic --demangle --defined-only "$1" | cut -d' ' -f3-)
foreign=$(grep -vE '^((typeinfo|typeinfo name|vtable) for )?berth::' <<<"$exported" || true)
internal=$(grep -E 'berth::(core|kernel|cpu|cuda|reference|sim|report|policy|fit|cli)::' <<<"$exported" || true)
if [[ -n $foreign || -n $internal ]]; then
  printf 'exported, and should not be:\n%s\n%s\n' "$foreign" "$internal" >&2
  exit 1
fi
[[ -n $exported ]] || { echo "nothing is exported" >&2; exit 1; }
echo "$(wc -l <<<"$exported") symbols, all of berth"
