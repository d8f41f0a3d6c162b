#!/bin/bash
# Allocations that fail, in compiles and imports for each backend: tests/oom/run.sh BUILD SAMPLES
set -uo pipefail
build=$1 samples=$2
oom() {
  echo "run_oom $*"
  "$build/tests/run_oom" --samples="$samples" "$@" 2>&1 || failed=1
}
failed=0
{
  oom --iree-hal-target-backends=vmvx tests/e2e/stablehlo_models/mnist_fake_weights.mlir
  oom --cold --iree-hal-target-backends=vmvx tests/e2e/stablehlo_models/mnist_fake_weights.mlir
  oom --iree-hal-target-backends=vmvx examples/digits/digits.onnx
  oom --compile-to=input examples/digits/digits.onnx
  oom --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell examples/digits/digits.onnx
  oom --cold --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell examples/digits/digits.onnx
  oom --iree-hal-target-backends=rocm --iree-hip-target=gfx1100 tests/e2e/stablehlo_models/fullyconnected.mlir
  oom --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 tests/e2e/stablehlo_models/fullyconnected.mlir
} | awk '{print} /^[0-9]+ passed, [0-9]+ failed$/ {good += $1; wrong += $3}
         END {print good + 0 " passed, " wrong + 0 " failed"; exit wrong > 0}'
