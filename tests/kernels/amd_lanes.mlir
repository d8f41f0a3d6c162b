// AMD GPUs: lanes of a row exchange what they have as operands of vector instructions, not through workgroup memory, and
// exponentials are by the processor's own power of two.
//
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-dump-executable-intermediates-to=%t.gfx11 %s -o %t.vmfb
// RUN: cat %t.gfx11/*.rocmasm | FileCheck %s --check-prefixes=ALL,NEWER
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1201 --iree-hal-dump-executable-intermediates-to=%t.gfx12 %s -o %t.vmfb
// RUN: cat %t.gfx12/*.rocmasm | FileCheck %s --check-prefixes=ALL,NEWER
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --iree-hal-dump-executable-intermediates-to=%t.gfx9 %s -o %t.vmfb
// RUN: cat %t.gfx9/*.rocmasm | FileCheck %s --check-prefixes=ALL,OLDER

// NEWER-NOT: ds_
// NEWER: v_permlanex16_b32 {{.*}} 0xfedcba98
// NEWER-NOT: ds_
// NEWER: row_xmask:8
// NEWER-NOT: ds_
// NEWER: row_xmask:1
// NEWER-NOT: ds_
// OLDER-NOT: ds_
// OLDER: row_ror:8
// OLDER-NOT: ds_
// OLDER: row_half_mirror
// OLDER: quad_perm:[3,2,1,0]
// OLDER-NOT: ds_
// OLDER: quad_perm:[2,3,0,1]
// OLDER-NOT: ds_
// OLDER: quad_perm:[1,0,3,2]
// OLDER-NOT: ds_
// Rows of 16 lanes are read one by one.
// OLDER-COUNT-4: v_readlane_b32
// OLDER-NOT: ds_
// ALL: v_med3{{.*}}_f32
// ALL: v_rndne_f32
// ALL: v_exp_f32
// ALL: v_ldexp_f32
// ALL: s_endpgm
func.func @softmax(%x: tensor<2048x512xf32>) -> tensor<2048x512xf32> {
  %e = tensor.empty() : tensor<2048x512xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<2048x512xf32>) outs(%e : tensor<2048x512xf32>) -> tensor<2048x512xf32>
  return %r : tensor<2048x512xf32>
}
