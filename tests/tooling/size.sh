#!/bin/bash
# A program's size, stripped, is within a limit: size.sh STRIP PROGRAM BYTES
set -eu
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
"$1" -o "$stripped" "$2"
size=$(stat -c %s "$stripped")
echo "$(basename "$2"): $size bytes stripped, of $3"
if [ "$size" -le "$3" ]; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
