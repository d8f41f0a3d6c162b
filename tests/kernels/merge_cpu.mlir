// Lines that are too long for a sort by digits: a CPU merges runs one element after the other: places are halved for once, at the start of a workgroup's part.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --compile-to=executable-sources %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @sort_{{.*}}_1
// CHECK: kernel.if
// CHECK: kernel.for {{.*}} -> (index, index)
// CHECK: kernel.for {{.*}} -> (index)
// CHECK-NOT: kernel.for
// CHECK: kernel.return
func.func @sort(%x: tensor<200000xi64>) -> tensor<200000xi64> {
  %0 = "graph.sort"(%x) <{axis = 0 : i64, keys = 1 : i64}> : (tensor<200000xi64>) -> tensor<200000xi64>
  return %0 : tensor<200000xi64>
}
