#!/bin/sh
# run [--out DIR] [--size tiny|small|large] [--torch]: the golden cases and the device bench, with what is in this folder alone. Unpacks Node at the first start.
# --torch also measures the rates of a product and of memory by torch, where python3 imports torch.
set -eu
unset NODE_OPTIONS NODE_PATH

fail() {
  echo "run: $1" >&2
  exit 1
}

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
system="$(uname -s) $(uname -m)"
grep -q "\"system\": \"$system\"" "$folder/pack.json" \
  || fail "this folder was packed for another system than $system: $(grep '"system"' "$folder/pack.json"); pack it on one like this"
command -v gzip >/dev/null || fail "gzip is missing; install it"

# A file gets its name once it is whole; a part of one is removed, unless the shell is killed.
unpack() (
  part=$1.$$.part
  trap 'rm -f "$part"' EXIT
  trap 'exit 1' HUP INT TERM
  gzip -dc "$1.gz" >"$part" && chmod +x "$part" && mv "$part" "$1"
)

find "$folder" -name '*.gz' | while read -r packed; do
  file=${packed%.gz}
  [ -x "$file" ] || unpack "$file" \
    || fail "cannot unpack $packed; copy the folder again, to a disk with 200 MB free, where you can write"
done
"$folder/node" --version >/dev/null \
  || fail "Node does not start: see the line above; it needs glibc 2.28 or newer, libstdc++, and a disk without noexec"
exec "$folder/node" "$folder/program/dist/main.js" "$@"
