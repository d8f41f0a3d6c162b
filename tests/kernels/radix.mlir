// CPUs sort long lines of one key by its digits, from the least on; GPUs by rounds that merge.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_90 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefix=GPU

// Counts, sums of them, and the elements behind those of their digit; two digits of f16, of a number in which NaN is
// the last.
// GPU-NOT: and {{.*}}%c255
// CHECK-LABEL: kernel.func @sort_dispatch_0
// CHECK: kernel.alloc : memref<256xi64, 5>
// CHECK: kernel.for
// CHECK: kernel.for
// CHECK: kernel.is_nan
// CHECK: kernel.bitcast {{.*}} f16 to i16
// CHECK: kernel.and {{.*}}%c255
// CHECK: kernel.for
// CHECK: kernel.for
// CHECK: kernel.store {{.*}}f16
// CHECK: kernel.store {{.*}}i32
// CHECK: kernel.return
// CHECK-LABEL: kernel.func @sort_dispatch_1
// CHECK: kernel.shru
// CHECK: kernel.return
// CHECK-NOT: kernel.func @sort_dispatch_2
func.func @sort(%x: tensor<3x1000xf16>, %y: tensor<3x1000xi32>) -> (tensor<3x1000xf16>, tensor<3x1000xi32>) {
  %0:2 = "graph.sort"(%x, %y) <{axis = 1 : i64, keys = 1 : i64, stable}> : (tensor<3x1000xf16>, tensor<3x1000xi32>) -> (tensor<3x1000xf16>, tensor<3x1000xi32>)
  return %0#0, %0#1 : tensor<3x1000xf16>, tensor<3x1000xi32>
}
