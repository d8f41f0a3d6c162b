// Progress is for terminals only, after a second: here the input comes late.
// RUN: python3 tests/text/terminal.py "(sleep 4; cat %s) | iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu - -o %t.vmfb" </dev/null | FileCheck %s
// RUN: python3 tests/text/terminal.py "(sleep 4; cat %s) | iree-compile --quiet --iree-hal-target-device=local - -o %t.vmfb" </dev/null | not grep .
// RUN: (sleep 4; cat %s) | iree-compile --iree-hal-target-device=local - -o %t.vmfb 2>&1 | not grep .
// RUN: iree-compile --summary --iree-hal-target-device=local %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=SUMMARY %s
// RUN: python3 tests/text/terminal.py "(sleep 2; cat examples/digits/digits.onnx) | iree-import-onnx - -o %t.onnx.mlir" </dev/null | grep "writing weights"
// RUN: python3 tests/text/terminal.py "(sleep 2; cat examples/digits/digits.onnx) | iree-import-onnx --quiet - -o %t.onnx.mlir" </dev/null | not grep .
// RUN: python3 tests/text/terminal.py "iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_min_time=1.1s --benchmark_color=false" </dev/null | FileCheck --check-prefix=BENCHMARK %s

// CHECK: {{[0-9]+}} % importing
// CHECK: 50 % generating code, {{[0-9]+}} s left
// SUMMARY: progress.mlir: 2 dispatches, 2 kernels, {{[1-9][0-9]*}} bytes of code; {{[1-9][0-9]*}} bytes written in
// BENCHMARK: BM_f/process_time/real_time
// BENCHMARK: 50 % BM_g/process_time/real_time

func.func @f() -> tensor<64xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<64xf32>
  %1 = stablehlo.cosine %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}

func.func @g() -> tensor<32xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<32xf32>
  %1 = stablehlo.sine %0 : tensor<32xf32>
  return %1 : tensor<32xf32>
}
