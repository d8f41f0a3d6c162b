#!/bin/bash
# The module in the program gives what its bytecode does: compare.sh PROGRAM RUNNER MODULE.vmfb FLAG...
set -u
program=$1 runner=$2 module=$3
shift 3
in_c=$("$program" "$@" 2>&1) in_bytecode=$("$runner" --module="$module" "$@" 2>/dev/null) || exit 1
[ -n "$in_c" ] && diff <(echo "$in_c") <(echo "$in_bytecode") && echo "THE SAME"
