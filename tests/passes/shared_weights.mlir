// Weights that two functions compute alike are computed, packed and stored once, and the global that they come from,
// which no function loads any more, not at all.
// RUN: (sed '/^.. WEIGHTS$/,$d' %s; printf 'util.global private @w = dense<"0x'; yes 0102030405060708 | head -n 40000 | tr -d '\n'; printf '"> : tensor<625x512xi8>\n'; sed '1,/^.. WEIGHTS$/d' %s) > %t.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 %t.mlir -o %t.vmfb
// RUN: iree-dump-module %t.vmfb | FileCheck %s

// CHECK: Module State:
// CHECK-NEXT: 0 bytes, 0 refs, 1 constants
// CHECK: 1310720 bytes {{.*}}constants/
// CHECK-NOT: 320000 bytes
// CHECK-NOT: 1310720 bytes {{.*}}constants/
// WEIGHTS
func.func private @weights() -> tensor<512x625xf32> {
  %0 = util.global.load @w : tensor<625x512xi8>
  %1 = stablehlo.convert %0 : (tensor<625x512xi8>) -> tensor<625x512xf32>
  %2 = stablehlo.constant dense<0.125> : tensor<625x512xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<625x512xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<625x512xf32>) -> tensor<512x625xf32>
  return %4 : tensor<512x625xf32>
}
func.func @decode(%x: tensor<5x512xf32>) -> tensor<5x625xf32> {
  %0 = func.call @weights() : () -> tensor<512x625xf32>
  %1 = stablehlo.dot %x, %0 : (tensor<5x512xf32>, tensor<512x625xf32>) -> tensor<5x625xf32>
  return %1 : tensor<5x625xf32>
}
func.func @prefill(%x: tensor<?x512xf32>) -> tensor<?x625xf32> {
  %0 = func.call @weights() : () -> tensor<512x625xf32>
  %1 = stablehlo.dot %x, %0 : (tensor<?x512xf32>, tensor<512x625xf32>) -> tensor<?x625xf32>
  return %1 : tensor<?x625xf32>
}
