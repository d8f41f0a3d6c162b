// One kernel of each strategy for GPUs that has no text of its own, with NVIDIA's matrix instructions, with those of CDNA and
// of RDNA, or alike on all of them.
//
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_90 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,SYNC
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,MFMA
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,WMMA

// Scores, softmax and the product with the values in one loop over the keys; keys and values are copied ahead where the
// device can.
// ALL-LABEL: kernel.func @attention_dispatch_0
// ALL: kernel.for
// SYNC: kernel.async_copy
// SYNC: kernel.load_matrix
// SYNC: kernel.mma "mma.m16n8k16.f32.f16"
// MFMA: kernel.mma "mfma.16x16x16.f32.f16"
// WMMA: kernel.mma "wmma3.16x16x16.f32.f16"
// ALL: kernel.subgroup_shuffle
// ALL: kernel.exp2
// SYNC: kernel.mma "mma.m16n8k16.f32.f16"
// MFMA: kernel.mma "mfma.16x16x16.f32.f16"
// WMMA: kernel.mma "wmma3.16x16x16.f32.f16"
// ALL: kernel.store
func.func @attention(%q: tensor<8x256x64xf16>, %k: tensor<8x256x64xf16>, %v: tensor<8x256x64xf16>) -> tensor<8x256x64xf16> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x256x64xf16>, tensor<8x256x64xf16>) -> tensor<8x256x256xf32>
  %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x256xf32>
  %d = stablehlo.subtract %s, %mb : tensor<8x256x256xf32>
  %e = stablehlo.exponential %d : tensor<8x256x256xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x256xf32>
  %p = stablehlo.divide %e, %tb : tensor<8x256x256xf32>
  %n = stablehlo.convert %p : (tensor<8x256x256xf32>) -> tensor<8x256x256xf16>
  %0 = stablehlo.dot_general %n, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x256x256xf16>, tensor<8x256x64xf16>) -> tensor<8x256x64xf16>
  return %0 : tensor<8x256x64xf16>
}

// A thread makes eight results of a row, whose taps share what they read.
// ALL-LABEL: kernel.func @depthwise_dispatch_0
// ALL-COUNT-72: kernel.fma
// ALL-NOT: kernel.fma
// ALL: kernel.store
func.func @depthwise(%x: tensor<1x32x56x56xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
  return %0 : tensor<1x32x56x56xf32>
}

// Fragments straight from memory.
// ALL-LABEL: kernel.func @small_dispatch_0
// ALL-NOT: kernel.alloc
// SYNC-COUNT-4: kernel.mma "mma.m16n8k16.f32.f16"
// MFMA-COUNT-2: kernel.mma "mfma.16x16x16.f32.f16"
// WMMA-COUNT-2: kernel.mma "wmma3.16x16x16.f32.f16"
// ALL-NOT: kernel.mma
// ALL: kernel.store
func.func @small(%x: tensor<16x24x48xf16>, %w: tensor<16x48x24xf16>) -> tensor<16x24x24xf16> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<16x24x48xf16>, tensor<16x48x24xf16>) -> tensor<16x24x24xf16>
  return %0 : tensor<16x24x24xf16>
}

// By lanes, but where an instruction multiplies f64.
// ALL-LABEL: kernel.func @lanes_dispatch_0
// SYNC-COUNT-16: kernel.fma
// MFMA: kernel.mma "mfma.16x16x4.f64.f64"
// WMMA-COUNT-32: kernel.fma
// ALL: kernel.store
func.func @lanes(%x: tensor<64x48xf64>, %w: tensor<48x64xf64>) -> tensor<64x64xf64> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x48xf64>, tensor<48x64xf64>) -> tensor<64x64xf64>
  return %0 : tensor<64x64xf64>
}

// Squares are turned in workgroup memory.
// ALL-LABEL: kernel.func @turn_dispatch_0
// ALL: kernel.alloc
// ALL-COUNT-4: kernel.store
// ALL: kernel.barrier
// ALL-COUNT-4: kernel.load
// ALL: kernel.return
func.func @turn(%x: tensor<1024x512xf32>) -> tensor<512x1024xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<1024x512xf32>) -> tensor<512x1024xf32>
  return %0 : tensor<512x1024xf32>
}

// A workgroup goes along a line: subgroups scan four pieces at once by shuffles, and leave what they have for those behind.
// ALL-LABEL: kernel.func @running_dispatch_0
// ALL: kernel.for
// SYNC-COUNT-20: kernel.subgroup_shuffle up
// MFMA-COUNT-24: kernel.subgroup_shuffle up
// WMMA-COUNT-20: kernel.subgroup_shuffle up
// ALL-NOT: kernel.subgroup_shuffle
// ALL: kernel.barrier
// ALL: kernel.store
// ALL: kernel.return
func.func @running(%x: tensor<4x8192xf32>) -> tensor<4x8192xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 8192>, padding = dense<[[0, 0], [8191, 0]]> : tensor<2x2xi64>} : (tensor<4x8192xf32>, tensor<f32>) -> tensor<4x8192xf32>
  return %0 : tensor<4x8192xf32>
}

// Updates are sorted by the rows that they go to; a thread an element, which finds its own.
// ALL-LABEL: kernel.func @put_dispatch_1_sort
// ALL-LABEL: kernel.func @put_dispatch_2_scatter
// ALL: kernel.for
// ALL: kernel.store
func.func @put(%x: tensor<512x64xf32>, %i: tensor<128x1xi32>, %u: tensor<128x64xf32>) -> tensor<512x64xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<512x64xf32>, tensor<128x1xi32>, tensor<128x64xf32>) -> tensor<512x64xf32>
  return %0 : tensor<512x64xf32>
}
