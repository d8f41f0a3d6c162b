// A transpose on a GPU goes through workgroup memory: memory is read and written side by side, two elements of two bytes
// at a time, and what follows is computed where it is stored.
//
// RUN: iree-compile --iree-hal-target-backends=cuda --iree-cuda-target=sm_80 --iree-hal-dump-executable-files-to=%t.files %s -o %t.vmfb
// RUN: cat %t.files/*.ptx | FileCheck %s
// RUN: cat %t.files/module_turned*0_*16.mlir | FileCheck %s --check-prefix=KERNEL

// KERNEL: kernel.alloc : memref<4160xf16, 3>
// KERNEL: kernel.load %arg0{{.*}} -> vector<2xf16>
// KERNEL: kernel.barrier
// KERNEL: kernel.load %arg1{{.*}} -> vector<2xf16>
// KERNEL: kernel.add {{.*}} : vector<2xf16>
// KERNEL: kernel.store {{.*}} %arg2{{.*}}vector<2xf16>
// CHECK-COUNT-8: ld.global.nc.v2.b16
// CHECK: st.shared.b16
// CHECK: bar.sync
// CHECK: ld.shared.b16
// CHECK: st.global.b32
func.func @turned(%x: tensor<256x512xf16>, %y: tensor<512x256xf16>) -> tensor<512x256xf16> {
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<256x512xf16>) -> tensor<512x256xf16>
  %1 = "graph.add"(%0, %y) : (tensor<512x256xf16>, tensor<512x256xf16>) -> tensor<512x256xf16>
  return %1 : tensor<512x256xf16>
}
