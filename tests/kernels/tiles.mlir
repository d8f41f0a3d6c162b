// Contractions by known weights on tile registers: bytes, bf16, and f32 as three terms of bf16; and what stays with
// vectors. Where a processor has none, or few rows would not pay, all of it does.
//
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=sapphirerapids --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=sapphirerapids --iree-llvmcpu-target-cpu-features=-amx-bf16 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=BYTES
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=cascadelake --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=NONE
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=sapphirerapids %s -o %t.vmfb
// RUN: iree-dump-module %t.vmfb | FileCheck %s --check-prefix=NEEDS
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=sapphirerapids --iree-llvmcpu-target-cpu-features=-amx-tile %s -o %t.vmfb
// RUN: iree-dump-module %t.vmfb | FileCheck %s --check-prefix=LESS

// NEEDS: needs {{.*}}avx512f{{.*}}amx-tile,amx-int8,amx-bf16
// LESS: needs {{.*}}avx512f
// LESS-NOT: amx-
// NONE-NOT: _tile
// BYTES-NOT: amx.16x16x32

// Three terms: six products a step for each of four tiles; else, of numbers that are out of range, one by one.
// CHECK-LABEL: kernel.func @exact_dispatch
// CHECK: kernel.bitcast
// CHECK: %[[FITS:.*]] = kernel.xor
// CHECK: kernel.if %[[FITS]]
// CHECK: kernel.for
// CHECK-COUNT-24: kernel.mma "amx.16x16x32.f32.bf16"
// CHECK-COUNT-4: kernel.store_tile
// CHECK: kernel.fma
func.func @exact(%x: tensor<128x96xf32>) -> tensor<128x64xf32> {
  %a = stablehlo.constant dense<1.5> : tensor<48x64xf32>
  %b = stablehlo.constant dense<0.0> : tensor<48x64xf32>
  %w = stablehlo.concatenate %a, %b, dim = 0 : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<96x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<128x96xf32>, tensor<96x64xf32>) -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// CHECK-LABEL: kernel.func @half_dispatch
// CHECK: kernel.load_tile {{.*}} -> vector<512xbf16>
// CHECK-COUNT-4: kernel.mma "amx.16x16x32.f32.bf16"
func.func @half(%x: tensor<?x96xbf16>) -> tensor<?x64xf32> {
  %a = stablehlo.constant dense<1.5> : tensor<48x64xbf16>
  %b = stablehlo.constant dense<0.0> : tensor<48x64xbf16>
  %w = stablehlo.concatenate %a, %b, dim = 0 : (tensor<48x64xbf16>, tensor<48x64xbf16>) -> tensor<96x64xbf16>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x96xbf16>, tensor<96x64xbf16>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: kernel.func @bytes_dispatch
// CHECK-COUNT-4: kernel.mma "amx.16x16x64.i32.i8"
// BYTES-LABEL: kernel.func @bytes_dispatch
// BYTES: kernel.mma "amx.16x16x64.i32.i8"
func.func @bytes(%x: tensor<32x64xi8>) -> tensor<32x32xi32> {
  %a = stablehlo.constant dense<3> : tensor<32x32xi8>
  %b = stablehlo.constant dense<0> : tensor<32x32xi8>
  %w = stablehlo.concatenate %a, %b, dim = 0 : (tensor<32x32xi8>, tensor<32x32xi8>) -> tensor<64x32xi8>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32>
  return %0 : tensor<32x32xi32>
}

// Weights that three terms do not stand for, and few rows.
// CHECK-LABEL: kernel.func @tiny_dispatch
// CHECK-NOT: _tile
// CHECK: kernel.func @few_dispatch
// CHECK-NOT: _tile
func.func @tiny(%x: tensor<128x96xf32>) -> tensor<128x64xf32> {
  %a = stablehlo.constant dense<1.0e-20> : tensor<48x64xf32>
  %b = stablehlo.constant dense<0.0> : tensor<48x64xf32>
  %w = stablehlo.concatenate %a, %b, dim = 0 : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<96x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<128x96xf32>, tensor<96x64xf32>) -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

func.func @few(%x: tensor<8x96xf32>) -> tensor<8x64xf32> {
  %a = stablehlo.constant dense<1.5> : tensor<48x64xf32>
  %b = stablehlo.constant dense<0.0> : tensor<48x64xf32>
  %w = stablehlo.concatenate %a, %b, dim = 0 : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<96x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x96xf32>, tensor<96x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
