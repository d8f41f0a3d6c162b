# What tests/run.sh and tests/soak.sh share: running steps, which are functions, and adding up what they count.
build=$1
shift
logs=$build/test-logs
python=.venv/bin/python
passed=0
failed=0
mkdir -p "$logs"

# Runs a command as the step's test, or tests: the last 'N passed, N failed' or ctest summary in its output counts them,
# its exit code where there is none.
step() {
  local name=$1 log=$logs/$1.log start=$SECONDS good bad
  shift
  printf 'test: %-12s' "$name"
  "$@" >"$log" 2>&1 </dev/null
  local code=$?
  read -r good bad < <(count "$log")
  if [ -z "$good" ]; then
    good=$((code == 0)) bad=$((code != 0))
  elif [ $code != 0 ] && [ "$bad" = 0 ]; then
    bad=1
  fi
  printf '%5d passed, %d failed, %d s\n' "$good" "$bad" $((SECONDS - start))
  if [ "$bad" != 0 ]; then
    show_failures "$log" | sed 's/^/    /'
  fi
  passed=$((passed + good)) failed=$((failed + bad))
}

count() {
  sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p
           s/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)$/ctest \1 \2/p' "$1" | tail -n 1 |
    awk '$1 == "ctest" {print $3 - $2, $2; next} {print}'
}

# Shows the output of several programs, and the sum of their counts as the last line.
add_up() {
  cat "$1"
  awk '/^[0-9]+ passed, [0-9]+ failed$/ {good += $1; wrong += $3}
       END {print good + 0 " passed, " wrong + 0 " failed"}' "$1"
}

# Runs commands, each a line of the input, two at a time: side_by_side NAME. Shows what they print, in the order of the
# input, and the sum of their counts as the last line.
side_by_side() {
  local folder=$logs/$1-parts bad=0 count=0 line
  rm -rf "$folder" && mkdir -p "$folder" || return 1
  while read -r line; do printf '%03d\0%s\0' $((++count)) "$line"; done |
    xargs -0 -n 2 -P 2 bash -c 'eval "$2" >"$0/$1" 2>&1 </dev/null || { echo "FAILED $2" >>"$0/$1"; exit 1; }' \
      "$folder" || bad=1
  cat "$folder"/* >"$logs/$1-parts.log"
  add_up "$logs/$1-parts.log"
  return $bad
}

show_failures() {
  grep -E 'FAILED|Failed|\(Timeout\)|ERROR:|error:|SUMMARY:|^check_' "$1" | head -n 40 || true
  grep -qE 'FAILED|Failed|ERROR:|error:' "$1" || tail -n 20 "$1"
  echo "the whole output: $1"
}

# Configures and builds a variant of the project with clang: variant NAME TARGET CMAKE_OPTION...
variant() {
  local folder=$build/$1 target=$2 flags="-O1 -gline-tables-only -DNDEBUG"
  shift 2
  [ -e "$folder/build.ninja" ] || cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="$flags" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$flags" -DCMAKE_C_COMPILER=clang-22 \
    -DCMAKE_CXX_COMPILER=clang++-22 "$@" || return 1
  ninja -C "$folder" "$target"
}

# Runs the named steps, or all of the first argument's, and prints the sum.
run_steps() {
  local all=$1 name word
  shift
  for name in "${@:-$all}"; do
    for word in $name; do
      step "$word" "$word"
    done
  done
  echo "$passed passed, $failed failed"
  [ $failed = 0 ]
}
