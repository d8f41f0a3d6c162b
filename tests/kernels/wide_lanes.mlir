// What walks from line to line takes several registers of neighbours along: memory brings lines of the cache by pairs.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-sources %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @sums_
// CHECK: kernel.load %arg0{{.*}} -> vector<64xf32>
// CHECK: kernel.store {{.*}}vector<64xf32>
func.func @sums(%x: tensor<100x128xf32>) -> tensor<100x128xf32> {
  %0 = "graph.scan"(%x) <{axis = 0 : i64, kind = "add"}> : (tensor<100x128xf32>) -> tensor<100x128xf32>
  return %0 : tensor<100x128xf32>
}

// CHECK-LABEL: kernel.func @largest_
// CHECK: kernel.load %arg0{{.*}} -> vector<{{32|64}}xf32>
func.func @largest(%x: tensor<100x128xf32>) -> (tensor<128xf32>, tensor<128xi32>) {
  %0, %1 = "graph.arg_reduce"(%x) <{axis = 0 : i64, kind = "max"}> : (tensor<100x128xf32>) -> (tensor<128xf32>, tensor<128xi32>)
  return %0, %1 : tensor<128xf32>, tensor<128xi32>
}

// CHECK-LABEL: kernel.func @narrow_
// CHECK: kernel.load %arg0{{.*}} -> vector<16xf32>
func.func @narrow(%x: tensor<100x20xf32>) -> tensor<100x20xf32> {
  %0 = "graph.scan"(%x) <{axis = 0 : i64, kind = "add"}> : (tensor<100x20xf32>) -> tensor<100x20xf32>
  return %0 : tensor<100x20xf32>
}
