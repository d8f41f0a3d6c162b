#!/bin/bash
# Long tests, which make test does not run: tests/soak.sh BUILD [STEP...]
#
# Steps, in order: see the list at the end. A step is a function here that prints 'N passed, N failed' at its end, or
# whose exit code counts. What is of a step's length is in a variable: OOM_SAMPLES, RANDOM_GRAPHS, STRESS_CALLS,
# SWEEP_COUNT, HOSTILE_COUNT, SESSION_PROGRAMS, CROSSING_SUBMISSIONS, RANDOM_KERNELS, JAX_HARNESSES, JAX_EVERY. Random
# graphs that fail are kept in BUILD/random-graphs.
set -uo pipefail
cd "$(dirname "$0")/.."
source tests/steps.sh


# 5,000 allocations that fail, over all backends.
memory() {
  tests/oom/run.sh "$build" "${OOM_SAMPLES:-5000}"
}

# 10,000 programs of the graph level, which make test does not have, against the evaluator. What takes over a second to
# compile is named.
random() {
  $python tests/random/run.py --runner "$build/tests/run_graphs" --seed 100000 --count "${RANDOM_GRAPHS:-10000}" \
    --refuse-slow --keep "$build/random-graphs"
}

# Text tests fail without the flags that they pass.
flags() {
  $python tests/text/flags.py --tools "$build/tools" --remove
}

# 2 GiB of parameters in a file need no more than 50 MiB beside their pages.
parameters() {
  $python benchmarks/parameters.py --tools "$build/tools" --width 8192 --external --rounds 1 --most-memory 50
}

# Operators with random attributes, against ONNX Runtime and ONNX's reference: what they become, and a tenth compiled;
# and all cases of the tables with models that know less of their operands.
sweep() {
  local count=${SWEEP_COUNT:-200} less
  side_by_side sweep <<END
  $python tests/e2e/ops/sweep.py --evaluator "$build/tests/onnx-eval" --seed 100000 --count $count
  $python tests/e2e/ops/sweep.py --tools "$build/tools" --seed 100000 --count $((count / 10))
$(for less in sizes constants both; do
  echo "$python tests/e2e/ops/sweep.py --tools "$build/tools" --open $less"
done)
END
}

# ONNX models that ask for what cannot be, through every operator's attributes and constants.
hostile() {
  $python tests/e2e/errors/hostile_onnx.py --tools "$build/tools" --large --seed 1000 --count "${HOSTILE_COUNT:-5000}"
}

# The compiler and the software GPU with address and undefined-behaviour sanitizers: a tenth of the random programs, and
# the text tests. What LLVM keeps for good is no leak of ours.
address() {
  local -x ASAN_OPTIONS=detect_leaks=0
  variant asan-all all -DIREE_ENABLE_ASAN=ON || return 1
  side_by_side address <<END
  $python tests/random/run.py --runner "$build/asan-all/tests/run_graphs" --seed 500000 \
    --count $((${RANDOM_GRAPHS:-10000} / 10)) --keep "$build/random-graphs"
  $python tests/text/run.py --sanitized --tools "$build/asan-all/tools"
END
}

# Worker threads under the thread sanitizer: the conformance suite of every driver, the VM. Of hip it is the one over a
# double of its library: how Debian's orders its packets, in code without instrumentation, the sanitizer cannot see.
threads() {
  variant tsan all -DIREE_ENABLE_TSAN=ON -DIREE_BUILD_COMPILER=OFF || return 1
  ctest --test-dir "$build/tsan" --output-on-failure -j 2 --timeout 600 --no-tests=error \
    -R '^(cts_|hal_|vm_)' -E '^(cts_hip_gfx|hal_stream_events_hip$)'
}

# The compiler's threads under the thread sanitizer: those that make machine code, and those of programs run by it.
compiler_threads() {
  variant tsan-compiler all -DIREE_ENABLE_TSAN=ON -DIREE_SOFTGPU_ONE_VECTOR_LEVEL=ON || return 1
  side_by_side compiler_threads <<END
  $python tests/text/run.py --sanitized --tools "$build/tsan-compiler/tools" tests/import tests/passes \
    tests/kernels tests/target
  $python tests/random/run.py --runner "$build/tsan-compiler/tests/run_graphs" --seed 700000 --count 100
END
}

# Sessions of the compiler's library in eight threads, in which programs are broken and memory runs out, under the
# thread sanitizer and the address sanitizer. What LLVM had when it was left in mid-call is lost.
sessions() {
  local count=${SESSION_PROGRAMS:-1000} test=tests/embedding_threads_test
  variant tsan-compiler embedding_threads_test -DIREE_ENABLE_TSAN=ON -DIREE_SOFTGPU_ONE_VECTOR_LEVEL=ON || return 1
  variant asan-all embedding_threads_test -DIREE_ENABLE_ASAN=ON || return 1
  side_by_side sessions <<END
  $build/tsan-compiler/$test $count
  $build/tsan-compiler/$test $count llvm-cpu
  $build/asan-all/$test $count
  ASAN_OPTIONS=detect_leaks=0 $build/asan-all/$test $count llvm-cpu
END
}

# A million calls from many threads, on each driver, some of which fail or are cancelled: nothing is lost.
calls() {
  local bad=0 good=0 stress=("$build/tests/cts_main" --suite=stress "--stress_calls=${STRESS_CALLS:-1000000}")
  local gpu=("$build/tools/iree-softgpu" --target=gfx1100 --gpus=2 --)
  "${stress[@]}" local-sync && good=$((good + 1)) || bad=$((bad + 1))
  "${stress[@]}" local-task && good=$((good + 1)) || bad=$((bad + 1))
  "${stress[@]}" local-task --task_topology_group_count=4 && good=$((good + 1)) || bad=$((bad + 1))
  "${gpu[@]}" "${stress[@]}" amdgpu && good=$((good + 1)) || bad=$((bad + 1))
  echo "$good passed, $bad failed"
  [ $bad = 0 ]
}

# Eight threads whose 100,000 submissions each go from queue to queue of four GPUs in one device, on each kind of them,
# and on local-task: counts come out right.
queues() {
  local bad=0 good=0 gpus=$build/tools/iree-softgpu
  local crossings=("$build/tests/cts_main" --suite=crossings
    "--crossing_submissions=${CROSSING_SUBMISSIONS:-100000}")
  "${crossings[@]}" local-task --task_topology_group_count=4 && good=$((good + 1)) || bad=$((bad + 1))
  "$gpus" --target=gfx1100 --gpus=4 -- "${crossings[@]}" amdgpu && good=$((good + 1)) || bad=$((bad + 1))
  "$gpus" --target=sm_90 --gpus=4 -- "${crossings[@]}" cuda --path=0,1,2,3 && good=$((good + 1)) || bad=$((bad + 1))
  "$gpus" --target=gfx90a --gpus=4 -- "${crossings[@]}" hip --path=0,1,2,3 && good=$((good + 1)) || bad=$((bad + 1))
  echo "$good passed, $bad failed"
  [ $bad = 0 ]
}

# Entry points of HSA that fail, each at each of its calls with every status, in every way.
entries() {
  ENTRY_POINTS=all "$build/tests/hal_amdgpu_entry_points_test"
}

# Bits of machine code: every target that LLVM disassembles and the software GPU has.
targets() {
  local bad=0 good=0
  for target in $(sed -n 's/^ARCH(\([^,]*\),.*/\1/p' src/base/processors/amd.def | grep -Ev '^gfx([67]|125)'); do
    "$build/tests/softgpu_modifiers_test" "$target" && good=$((good + 1)) || bad=$((bad + 1))
  done
  echo "$good passed, $bad failed"
  [ $bad = 0 ]
}

# Every model's PTX for every architecture in NVIDIA's assembler.
ptxas() {
  $python tests/target/run_ptxas.py --build "$build" --all
}

# Random kernels on the software NVIDIA GPU, of which make test has 200.
kernels() {
  $python tests/softgpu/random_kernels.py --build "$build" --target sm_80 --count "${RANDOM_KERNELS:-500}" \
    --vector 2 --vector 4
}

# What make test has a part of: every operator's kernels in the checking interpreter and as machine code, what the
# checks find, clang's code with every way of running lanes side by side.
gpus() {
  side_by_side gpus <<END
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx1100
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target sm_80
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx1100 --execute --every 2
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx942 --execute --every 2
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx1201 --execute --every 2
  $python tests/softgpu/run_checks.py --build "$build"
  $python tests/softgpu/run_removals.py --build "$build" --level 3 --sample 60
  $python tests/softgpu/run_opencl.py --build "$build" --vector 2 --vector 3 --vector 4
  $python tests/softgpu/run_opencl.py --build "$build" --level 2 --flag=-mwavefrontsize64 --flag=-DWAVE64 \
    --target gfx1030 --target gfx1100 --target gfx1201
END
}

# Large models with all of the software NVIDIA GPU's checks.
checked() {
  $python tests/softgpu/run_models.py --build "$build" --target sm_90 --check all --model mobilenetv2 --model bert
}

# A capture of BERT on local-task, replayed on software GPUs of both kinds by the CPU's kernels.
replays() {
  $python tests/replay/bert.py --build "$build"
}

# All of JAX's programs, and some on the other devices; JAX_HARNESSES of its own cases of primitives; and, where
# JAX_CHECKOUT is its repository, one in JAX_EVERY of its own tests. Debian's HIP 5.2 knows gfx90a, but neither gfx942
# nor gfx1100, which it finds no device for.
jax() {
  local -x JAX_PLATFORMS=iree,cpu PYTHONPATH=$build/jax:tests/pjrt
  local compare="$python tests/pjrt/compare.py" gpu=$build/tools/iree-softgpu
  local symbolic="$python tests/pjrt/symbolic.py --tools $build/tools"
  local flags="--flag=--iree-hal-target-device=hip --flag=--iree-hip-target=gfx1100"
  side_by_side jax <<END
  $compare
  IREE_PJRT_DEVICE=local-sync $compare --every 7
  $compare --harnesses ${JAX_HARNESSES:-1500} --seed 1
  $symbolic
  $symbolic --every 3 $flags --device=amdgpu --launcher "$gpu --target=gfx1100 --"
  $python tests/pjrt/features_test.py
  ${JAX_CHECKOUT:+$python tests/pjrt/suite.py "$JAX_CHECKOUT" --every "${JAX_EVERY:-20}"}
  IREE_PJRT_DEVICE=amdgpu "$gpu" --target=gfx1100 -- $python tests/pjrt/features_test.py memories
  IREE_PJRT_DEVICE=hip "$gpu" --target=gfx90a -- $python tests/pjrt/features_test.py memories
  IREE_PJRT_DEVICE=amdgpu "$gpu" --target=gfx1100 -- $compare --every 9
  IREE_PJRT_DEVICE=hip "$gpu" --target=gfx90a -- $compare --every 9
  IREE_PJRT_DEVICE=cuda "$gpu" --target=sm_80 -- $compare --every 9
END
}

# Programs of libraries that stand on JAX, which are installed beside the project's own packages.
libraries() {
  local venv=$build/jax-libraries own
  own=$($python -c 'import site; print(site.getsitepackages()[0])') || return 1
  $python -m venv "$venv" && find "$venv/lib" -maxdepth 2 -name site-packages | while read -r folder; do
    echo "$own" >"$folder/project.pth"
  done
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r build_tools/requirements-jax-libraries.txt ||
    return 1
  JAX_PLATFORMS=iree,cpu PYTHONPATH=$build/jax "$venv/bin/python" tests/pjrt/libraries.py
}

# All of ONNX's backend tests through Python's iree.onnx, and on a software GPU, where make test runs one in four.
onnx() {
  side_by_side onnx <<END
  PYTHONPATH=$build/python $python tests/python/onnx_backend_test.py --all --cache "$build/tests"
  $python tests/e2e/onnx/run.py --tools "$build/tools" --target gfx1100
END
}

# The page of `iree-profile report` in headless Chromium, which is installed when it is not there.
browser() {
  command -v chromium >/dev/null || apt-get -q -y install --no-install-recommends chromium >"$logs/chromium.log" 2>&1 ||
    { echo "chromium is needed, and apt-get could not install it: $logs/chromium.log" && return 1; }
  tests/profile/tools.sh "$(realpath "$build")/tools" "$(realpath "$build")/tests/profile" || return 1
  $python tests/profile/traces.py "$build/tools" "$build/tests/traces" || return 1
  $python tests/profile/browser.py "$build/tools" "$build/tests/profile" \
    --traces "$build/tests/traces/product.gfx1100.ireeprof"
}

# Counters of HIP's kernels: all that rocprofiler-sdk may refuse.
counters() {
  $python tests/profile/rocprofiler.py "$build/tools" "$build/tests/rocprofiler" --all
}

# Every reader of untrusted files, 20 CPU-minutes each.
fuzzers() {
  FUZZ_SECONDS=${FUZZ_SECONDS:-1200} FUZZ_SEED=$(date +%s) tests/run.sh "$build" fuzz
}

run_steps "memory random flags parameters sweep hostile address threads compiler_threads sessions calls queues \
  entries targets ptxas kernels gpus checked replays jax libraries onnx browser counters fuzzers" "$@"
