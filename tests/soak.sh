#!/bin/bash
# Long tests, which make test does not run: tests/soak.sh BUILD [STEP...]
#
# Steps, in order: see the list at the end. A step is a function here that prints 'N passed, N failed' at its end, or
# whose exit code counts. What is of a step's length is in a variable: OOM_SAMPLES, RANDOM_GRAPHS. Random
# graphs that fail are kept in BUILD/random-graphs.
set -uo pipefail
cd "$(dirname "$0")/.."
source tests/steps.sh


# 5,000 allocations that fail, over all backends.
memory() {
  tests/oom/run.sh "$build" "${OOM_SAMPLES:-1500}"
}

# 10,000 programs of the graph level, which make test does not have, against the evaluator.
random() {
  $python tests/random/run.py --runner "$build/tests/run_graphs" --seed 100000 --count "${RANDOM_GRAPHS:-10000}" \
    --keep "$build/random-graphs"
}

run_steps "memory random" "$@"
