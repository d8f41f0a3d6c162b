// Weights from archives: every spelling of a parameter, archives by scope, and what is missing or does not fit.
// RUN: printf '\x60\x00\x00\x00\x00\x00\x00\x00{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"v":{"dtype":"F32","data_offsets":[4,8]}} \x00\x00\x80\x3f\x00\x00\x00\x40' > %t.safetensors
// RUN: printf 'GGUF\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00k\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x07\x00\x00\x00' > %t.gguf
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --parameters=model=%t.safetensors --parameters=%t.gguf --input=2xf32=10,20 | FileCheck %s
// RUN: iree-run-module --device=local-task --module=%t.vmfb --parameter_mode=preload --parameters=model=%t.safetensors --parameters=%t.gguf --input=2xf32=10,20 | FileCheck %s
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --parameters=model=%t.safetensors --parameters=%t.gguf --function=main --input=2xf32=1,2 --benchmark_min_time=1x | FileCheck --check-prefix=BENCH %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --parameters=model=%t.safetensors --input=2xf32=10,20 2>&1 | FileCheck --check-prefix=MISSING %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --parameters=model=%t.gguf --input=2xf32=10,20 2>&1 | FileCheck --check-prefix=OTHER %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --parameters=model=%s --input=2xf32=10,20 2>&1 | FileCheck --check-prefix=FORMAT %s
// RUN: iree-dump-module %t.vmfb | FileCheck --check-prefix=DUMP %s

// CHECK: 2xf32=12 24
// CHECK: 2xi32=5 7
// BENCH: BM_main
// MISSING: NOT_FOUND; no parameter 'k' in scope ''
// OTHER: NOT_FOUND; no parameter 'w' in scope 'model'
// FORMAT: not an archive of parameters; .irpa, .safetensors and .gguf files are
// DUMP: io_parameters, version >= 0, required
util.global private @w = #stream.parameter.named<"model"::"w"> : tensor<2xf32>
util.global private mutable @v = #flow.parameter.named<"model"::"v"> : tensor<1xf32>
util.global private @k = #stream.parameter.named<"k"> : tensor<2xi32>
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %w = util.global.load @w : tensor<2xf32>
  %0 = arith.addf %x, %w : tensor<2xf32>
  %v = util.global.load @v : tensor<1xf32>
  %k = util.global.load @k : tensor<2xi32>
  %halves = arith.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %1 = tensor.concat dim(0) %v, %v : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %2 = arith.mulf %1, %halves : tensor<2xf32>
  %3 = arith.addf %0, %2 : tensor<2xf32>
  return %3, %k : tensor<2xf32>, tensor<2xi32>
}
