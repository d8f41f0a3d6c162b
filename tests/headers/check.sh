#!/bin/bash
# Compiles the public headers as a user's compiler would: check.sh CC CXX INCLUDE_FOLDER FOLDER
#
# In FOLDER are the programs, which ccache knows from the last time where it is, as long as no header of theirs changes.
# Each alone (in C11, as C++ takes longer; those that are C++ only in C++17), and all in one translation unit in C11,
# C17, C++17 and C++20, in one order and the other.
set -uo pipefail
cc=$1 cxx=$2 folder=$3 out=$4
cache=$(command -v ccache)
warnings="-Wall -Wextra -Wno-unused-parameter -Werror"
passed=0 failed=0

# compile NAME COMPILER...: the source is on standard input
compile() {
  local name=$1 source emit=-fsyntax-only
  shift
  source="$out/${name//[\/ ,]/_}"
  cat >"$source"
  [ -z "$cache" ] || emit="-c -o $source.o"
  if $cache "$@" $warnings -I "$folder" "$source" $emit 2>"$log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name"
    head -n 5 "$log"
  fi
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
mkdir -p "$out"
headers=$(cd "$folder" && find iree -name '*.h' | sort)
for header in $headers; do
  case $header in
    *_cc.h | */span.h | */native_module_packing.h | */tooling/vm_util.h)
      compile "$header" "$cxx" -x c++ -std=c++17 <<<"#include \"$header\"" ;;
    *) compile "$header" "$cc" -x c -std=c11 <<<"#include \"$header\"" ;;
  esac
done
all=$(printf '#include "%s"\n' $headers)
all_c=$(grep -vE '(_cc|/span|/native_module_packing|/tooling/vm_util)\.h"' <<<"$all")
for standard in c11 c17; do
  compile "$standard" "$cc" -x c -std=$standard <<<"$all_c"
  compile "$standard, reversed" "$cc" -x c -std=$standard < <(tac <<<"$all_c")
done
for standard in c++17 c++20; do
  compile "$standard" "$cxx" -x c++ -std=$standard <<<"$all"
  compile "$standard, reversed" "$cxx" -x c++ -std=$standard < <(tac <<<"$all")
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
