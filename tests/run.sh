#!/bin/bash
# Runs every test and adds them up: tests/run.sh BUILD [STEP...]
#
# Steps, in order: style unit text imports demo samples operators jax scale gpu softgpu errors random memory valgrind
# sanitizers fuzz. Each writes BUILD/test-logs/STEP.log; only what failed is shown. Each fuzz target gets FUZZ_SECONDS.
set -uo pipefail
cd "$(dirname "$0")/.."
source tests/steps.sh

style() {
  local bad=0 total=0 check
  for check in build_tools/check_format.sh "$python build_tools/check_includes.py" \
    "$python build_tools/check_sizes.py" "$python build_tools/check_manners.py" \
    "$python build_tools/check_documents.py" "$python build_tools/check_flags.py"; do
    total=$((total + 1))
    $check || { bad=$((bad + 1)) && echo "FAILED $check"; }
  done
  echo "$((total - bad)) passed, $bad failed"
}

unit() {
  ctest --test-dir "$build" --output-on-failure -j 2 --timeout 300 --no-tests=error
}

text() {
  $python tests/text/run.py --tools "$build/tools"
}

# ONNX's backend tests in the reference evaluator; the other frontends' programs are among the unit tests, here only
# whether they have all ops.
imports() {
  side_by_side imports <<END
  $python tests/import/onnx/run.py --evaluator "$build/tests/onnx-eval"
  $python tests/e2e/ops/sweep.py --evaluator "$build/tests/onnx-eval" --count 4
  $python tests/e2e/ops/sweep.py --evaluator "$build/tests/onnx-eval" --open both --every 4
  $python tests/e2e/ops/sweep.py --evaluator "$build/tests/onnx-eval" --open sizes --every 9
  $python tests/e2e/ops/sweep.py --evaluator "$build/tests/onnx-eval" --open results --every 9
  $python tests/import/onnx/table.py --check --cache "$build/tests"
  $python tests/import/lowering/table.py
  $python tests/tokenizer/run.py --tools "$build/tools"
END
}

demo() {
  examples/digits/demo.sh "$build" && examples/edit_assembly/demo.sh "$build" && echo "2 passed, 0 failed"
}

samples() {
  $python benchmarks/models/check.py --tools "$build/tools" --work "$build/models" --only simple_abs \
    --only fullyconnected --only mnist_fake_weights --only mlp --only mobilenetv2
}

# ONNX's operators and backend tests, and the programs of the other frontends.
operators() {
  side_by_side operators <<END
  $python tests/e2e/ops/run.py --tools "$build/tools"
  $python tests/e2e/lowering/run.py --tools "$build/tools"
  $python tests/target/run_cross.py --tools "$build/tools"
  $python tests/e2e/llama/run.py --tools "$build/tools" --work "$build/llama"
  $python tests/e2e/onnx/run.py --tools "$build/tools"
  $python tests/e2e/onnx/run.py --tools "$build/tools" --target vmvx
  $python tests/e2e/formats/run.py --tools "$build/tools"
  $python tests/e2e/formats/run.py --tools "$build/tools" --flag=--iree-hal-target-device=local \
    --flag=--iree-hal-local-target-device-backends=vmvx
END
}

# JAX's programs through the plugin, and 400 of the cases that its package has for its primitives, against JAX's own
# CPU; those that it exports for arguments of any size; and what else JAX asks of it.
jax() {
  local -x JAX_PLATFORMS=iree,cpu PYTHONPATH=$build/jax:tests/pjrt
  side_by_side jax <<END
  $python tests/pjrt/compare.py --harnesses 400
  $python tests/pjrt/compare.py --every 5
  $python tests/pjrt/symbolic.py --tools "$build/tools" --every 3 --vmvx 4
  $python tests/pjrt/features_test.py
  IREE_PJRT_DEVICE=cuda "$build/tools/iree-softgpu" --target=sm_80 -- $python tests/pjrt/features_test.py memories
  $python tests/pjrt/training.py
  JAX_PLATFORMS=cpu PYTHONPATH=$build/python $python tests/ir/bytecode/exchange.py
END
}

# Programs that are long, wide or deep.
scale() {
  $python tests/e2e/scale/run.py --tools "$build/tools"
}

# GPU kernels in the checking interpreter, PTX in NVIDIA's assembler, and AMD machine code on the software GPU.
gpu() {
  side_by_side gpu <<END
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx1100 --every 3
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target sm_80 --every 8
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target cascadelake --only ConvInteger \
    --only MatMulInteger --only QLinear --only QGemm
  $python tests/dispatch/run_tiles.py --runner "$build/tests/run_dispatches" --count 4
  $python tests/dispatch/run_tiles.py --runner "$build/tests/run_dispatches" --count 8 --seed 2 --native
  $python tests/dispatch/run_attention.py --runner "$build/tests/run_dispatches" --count 18 \
    --forms tests/passes/attention.mlir
  $python tests/dispatch/run_attention.py --runner "$build/tests/run_dispatches" --count 4 --seed 2 --target gfx942 \
    --execute
  $python tests/dispatch/run_rows.py --runner "$build/tests/run_dispatches" --count 9
  $python tests/target/run_ptxas.py --build "$build"
  $python tests/e2e/lowering/run.py --tools "$build/tools" --only regions/ --flag=--iree-hal-target-device=amdgpu \
    --flag=--iree-rocm-target=gfx1100 --device amdgpu \
    --launcher "$build/tools/iree-softgpu --target=gfx1100 --check=all --"
  $python tests/e2e/ops/run.py --tools "$build/tools" --only MatMul-dynamic --only Conv-dynamic --only Gemm-dynamic \
    --only attention-dynamic --flag=--iree-hal-target-device=amdgpu --flag=--iree-rocm-target=gfx942 \
    --device amdgpu --launcher "$build/tools/iree-softgpu --target=gfx942 --check=all --"
  $python tests/e2e/ops/run.py --tools "$build/tools" --every 12 --flag=--iree-hal-target-device=amdgpu \
    --flag=--iree-rocm-target=gfx1100 --device amdgpu \
    --launcher "$build/tools/iree-softgpu --target=gfx1100 --"
  $python tests/e2e/onnx/run.py --tools "$build/tools" --target gfx1100 --every 4
  $python tests/e2e/formats/run.py --tools "$build/tools" --flag=--iree-hal-target-device=amdgpu \
    --flag=--iree-rocm-target=gfx1100 --device amdgpu \
    --launcher "$build/tools/iree-softgpu --target=gfx1100 --"
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx1100 --execute --every 9
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx942 --execute --every 9
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx90a --execute --every 9
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx1030 --execute --every 9
  $python tests/dispatch/run_gpu.py --runner "$build/tests/run_dispatches" --target gfx1201 --execute --every 9
END
}

# The software GPUs (tests/soak.sh has more of each): models, quickly on every target and then with all checks; clang's
# code for each target against clang's code for this CPU, with and without checks; other compilers' code against numpy.
softgpu() {
  local models="$python tests/softgpu/run_models.py --build $build" known= target
  # What HIP 5.2 knows.
  for target in gfx90{0,2,4,6,8,a,c} gfx101{0..3} gfx103{0..5}; do known+=" --target $target"; done
  $python -m pip install -q --disable-pip-version-check -r build_tools/requirements-outside.txt || return 1
  side_by_side softgpu <<END
  $models --model mnist --model digits --model digits_batch && \
    $models --model mobilenetv2 --target gfx1100 --target gfx942 && \
    $models --check all --model mnist --model digits --model digits_batch && \
    $models --check all --model mobilenetv2 --target gfx1100 && \
    $models --target sm_90 --model mobilenetv2 && $models --target sm_90 --check all --model mnist --model digits && \
    $models --driver hip $known --model digits && \
    $models --driver hip --target gfx90a --target gfx1030 --model mnist --model mobilenetv2
  $python tests/softgpu/run_opencl.py --build "$build" --level 0 --level 3 --vector 2 --vector 4
  $python tests/softgpu/run_opencl.py --build "$build" --level 1 --check all
  $python tests/softgpu/run_opencl.py --build "$build" --level 2 --check all --target gfx900 --target gfx906 \
    --target gfx908 --target gfx950 --target gfx1010 --target gfx1151 --target gfx1200
  $python tests/softgpu/run_opencl.py --build "$build" --level 2 --target gfx1030 --target gfx1201 \
    --flag=-mwavefrontsize64 --flag=-DWAVE64
  $python tests/softgpu/run_opencl.py --build "$build" --level 2 --target gfx90a --target gfx942 \
    --flag=-mcode-object-version=4 --flag=-mllvm --flag=-amdgpu-kernarg-preload-count=8
  $python tests/softgpu/run_opencl.py --build "$build" --target sm_80 --level 0 --level 3 --vector 2 \
    --vector 4
  $python tests/softgpu/run_opencl.py --build "$build" --target sm_80 --level 2 --check all
  $python tests/softgpu/random_kernels.py --build "$build" --target sm_80 --count 200 --vector 2 --vector 4
  $python tests/softgpu/run_checks.py --build "$build" --every 3
  $python tests/softgpu/run_removals.py --build "$build" --level 3 --sample 6
  $python tests/softgpu/run_assembly.py --build "$build"
  $python tests/softgpu/run_fidelity.py --build "$build"
  $python tests/softgpu/run_reports.py --build "$build"
  $python tests/softgpu/run_hostile.py --build "$build"
  $python tests/softgpu/random_kernels.py --build "$build" --count 150 --vector 2 --vector 3 --vector 4
  $python tests/softgpu/run_outside.py --build "$build"
  $python tests/softgpu/run_iree.py --build "$build"
  $python tests/profile/iree_tools.py --build "$build"
  $python tests/softgpu/run_triton.py --build "$build"
  $python tests/softgpu/run_triton_nvidia.py --build "$build"
END
}

errors() {
  side_by_side errors <<END
  $python tests/e2e/errors/run.py --tools "$build/tools"
  $python tests/e2e/errors/hostile_onnx.py --tools "$build/tools" --count 60
  $python tests/text/flags.py --tools "$build/tools"
  tests/configure/run.sh "$build"
  tests/install/run.sh "$build"
END
}

# Programs of the graph level against the evaluator; tests/soak.sh has 10,000 of them.
random() {
  $python tests/random/run.py --runner "$build/tests/run_graphs" --count 300
}

# Allocations that fail; tests/soak.sh has more of them.
memory() {
  tests/oom/run.sh "$build" 60
}

# Valgrind knows no AVX-512, so the program is compiled for a processor without.
valgrind() {
  local module=$build/test-logs/valgrind.vmfb device bad=0
  "$build/tools/iree-compile" --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu \
    --iree-llvmcpu-target-cpu=haswell tests/e2e/stablehlo_models/mnist_fake_weights.mlir -o "$module" || return 1
  for device in local-sync local-task; do
    command valgrind -q --error-exitcode=9 --leak-check=full "$build/tools/iree-run-module" --device=$device \
      --module="$module" --function=predict --input=1x28x28x1xf32 \
      --expected_output='1x10xf32=0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1' ||
      { bad=$((bad + 1)) && echo "FAILED valgrind on $device"; }
  done
  echo "$((2 - bad)) passed, $bad failed"
}

sanitizers() {
  variant asan all -DIREE_ENABLE_ASAN=ON -DIREE_BUILD_COMPILER=OFF -DIREE_BUILD_SOFTGPU=OFF || return 1
  ctest --test-dir "$build/asan" --output-on-failure -j 2 --timeout 300 --no-tests=error || return 1
  variant tsan hsa_tests -DIREE_ENABLE_TSAN=ON -DIREE_BUILD_COMPILER=OFF -DIREE_SOFTGPU_ONE_VECTOR_LEVEL=ON || return 1
  ninja -C "$build/tsan" cuda_tests amdgpu_tests hal_task_test vm_device_test vm_program_test vm_runtime_test ||
    return 1
  local gpus='hsa_|cuda_|cts_cuda_sm_80$|cts_amdgpu_pm4$|(cts_amdgpu|hal_amdgpu_(queues|events|sharing))_gfx942$'
  ctest --test-dir "$build/tsan" --output-on-failure -j 2 --timeout 300 --no-tests=error \
    -R "^($gpus|cts_(local|null)|hal_task|vm_(device|program|runtime))"
}

# Runs one fuzzer on what it found in earlier runs and on the project's own files; always the same way, so that a change
# is what a failure comes from: tests/soak.sh looks elsewhere each time.
fuzz_one() {
  local fuzzer=$1 name corpus seeds flags one
  name=$(basename "$fuzzer" _fuzz)
  corpus=$build/fuzz/corpus/$name
  mkdir -p "$corpus"
  case $name in
    mlir) seeds="samples/models tests/e2e/stablehlo_models tests/ir" ;;
    lower) # programs, and such with executables
      seeds="$(echo tests/import/lowering/*/) $build/fuzz/executables"
      mkdir -p "$build/fuzz/executables"
      cp tests/e2e/host/{executable_bodies,executables,workgroups}.mlir tests/e2e/tools/compile_executable.mlir \
        "$build/fuzz/executables" ;;
    profile) # every kind of records, IREE's, and ours of devices where tests have left some; with rows
      seeds=$build/fuzz/profiles
      mkdir -p "$seeds" "$build/fuzz/captures" && "$build/tests/fuzz_seeds" "$seeds" "$build/fuzz/captures"
      cp tests/profile/iree.ireeprof $(ls "$build"/tests/{guides,traces,metrics}/*.ireeprof 2>/dev/null) "$seeds"
      for one in iree all; do
        "$build/tools/iree-profile" export --output="$seeds/$one.jsonl" "$seeds/$one.ireeprof"
      done ;;
    bytecode) seeds=tests/ir/bytecode/files ;;
    vmfb)
      seeds="$build/demo $build/fuzz/vmfb"
      mkdir -p "$build/fuzz/vmfb"
      "$build/tools/iree-compile" --compile-mode=vm tests/compiler/vm_ops.mlir -o "$build/fuzz/vmfb/vm_ops.vmfb" ;;
    gpu_code | code_object)
      seeds=$build/fuzz/kernels-$name
      mkdir -p "$seeds" && cp "$build"/tests/cts_kernels*.ptx "$build"/tests/cts_kernels*.hsaco "$seeds" ;;
    graph) # programs that passed, and new ones
      seeds="tests/random/found $build/fuzz/graphs"
      $python tests/random/generate.py --small --count 300 "$build/fuzz/graphs" ;;
    ptx) seeds=tests/softgpu/nvidia/ptx ;;
    hal_text) seeds=tests/fuzz/hal_text ;;
    spec) # programs with their specs behind them
      seeds=$build/fuzz/specs
      mkdir -p "$seeds"
      for file in tests/e2e/host/*_spec*.mlir; do
        sed 's|^// spec: \{0,1\}||' "$file" >"$seeds/$(basename "$file")"
      done ;;
    vm_text)
      seeds=$build/fuzz/vm_text
      mkdir -p "$seeds" && cp tests/compiler/vm*.mlir "$seeds" ;;
    tokenizer) seeds=tests/tokenizer/files ;;
    offload_bundle)
      seeds=$build/fuzz/bundles
      $python tests/fuzz/offload_bundles.py "$seeds" ;;
    replay) # every call and payload, and what the conformance suite records where that is short
      seeds=$build/fuzz/captures
      mkdir -p "$seeds" "$build/fuzz/profiles" && "$build/tests/fuzz_seeds" "$build/fuzz/profiles" "$seeds"
      for one in allocator buffer_ crossings executable memory submission timepoint; do
        "$build/tests/cts_main" local-sync --suite=$one --record="$seeds/$one.ireereplay" >/dev/null
      done ;;
    *) seeds=examples/digits ;;
  esac
  case $name in # LLVM, left in mid-call, keeps what it had
    decode | graph) local -x ASAN_OPTIONS=detect_leaks=0 ;;
  esac
  flags="-seed=${FUZZ_SEED:-1} -max_total_time=${FUZZ_SECONDS:-5} -timeout=10 -rss_limit_mb=2048"
  if "$fuzzer" $flags -artifact_prefix="$corpus-" "$corpus" $seeds >"$logs/fuzz-$name.log" 2>&1; then
    echo "PASSED $name"
  else
    echo "FAILED $name: $logs/fuzz-$name.log"
  fi
}

fuzz() {
  variant fuzz fuzzers -DIREE_ENABLE_FUZZING=ON -DIREE_SOFTGPU_ONE_VECTOR_LEVEL=ON || return 1
  export -f fuzz_one
  export build logs python
  printf '%s\0' "$build"/fuzz/tests/*_fuzz | xargs -0 -n 1 -P 2 bash -c 'fuzz_one "$1"' fuzz | tee "$logs/fuzz-results"
  echo "$(grep -c ^PASSED "$logs/fuzz-results") passed, $(grep -c ^FAILED "$logs/fuzz-results") failed"
}

run_steps "style unit text imports demo samples operators jax scale gpu softgpu errors random memory valgrind \
  sanitizers fuzz" "$@"
