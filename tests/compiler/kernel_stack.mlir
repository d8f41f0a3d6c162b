// A kernel whose first instruction is memory on the stack, for each target.
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.hsaco && llvm-readelf --dyn-symbols %t.hsaco | FileCheck %s
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %s -o - | FileCheck %s
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=local %s -o %t.so
// CHECK: stack
module {
kernel.func @stack(%arg0: memref<?xf32>) attributes {bindings = 1 : i64, workgroup_size = array<i64: 1, 1, 1>} {
  %c0 = kernel.constant 0 : index
  %alloc = kernel.alloc : memref<4xf32, 5>
  %one = kernel.constant 1.0 : f32
  kernel.store %one, %alloc[%c0] : (f32, memref<4xf32, 5>, index) -> ()
  %0 = kernel.load %alloc[%c0] : (memref<4xf32, 5>, index) -> f32
  kernel.store %0, %arg0[%c0] : (f32, memref<?xf32>, index) -> ()
  kernel.return
}
}
