// Rows that more than one sweep goes over, of more than a cache holds: while the second one computes, the next row is
// fetched, from where it is read and to where it is stored. Fewer rows are there already.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-sources %s -o - | FileCheck %s

// CHECK-LABEL: kernel.func @many_
// CHECK-NOT: kernel.prefetch
// CHECK: kernel.reduce
// CHECK: kernel.prefetch %arg0[%{{[^]]+}}] {locality = 3 : i64}
// CHECK: kernel.prefetch %arg1[%{{[^]]+}}] {locality = 3 : i64, write}
// CHECK: kernel.exp
// CHECK: kernel.reduce
// CHECK-NOT: kernel.prefetch
// CHECK: return
func.func @many(%x: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "max"}> : (tensor<1000x1024xf32>) -> tensor<1000xf32>
  %1 = "graph.broadcast"(%0) <{dims = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x1024xf32>
  %2 = "graph.sub"(%x, %1) : (tensor<1000x1024xf32>, tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %3 = "graph.exp"(%2) : (tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %4 = "graph.reduce"(%3) <{dims = array<i64: 1>, kind = "add"}> : (tensor<1000x1024xf32>) -> tensor<1000xf32>
  %5 = "graph.broadcast"(%4) <{dims = array<i64: 0>}> : (tensor<1000xf32>) -> tensor<1000x1024xf32>
  %6 = "graph.div"(%3, %5) : (tensor<1000x1024xf32>, tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %6 : tensor<1000x1024xf32>
}

// Of how many it is may be known at run time only.
// CHECK-LABEL: kernel.func @open_
// CHECK: kernel.reduce
// CHECK: kernel.prefetch %arg0[%{{[^]]+}}] {locality = 3 : i64}
func.func @open(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "max"}> : (tensor<?x?xf32>) -> tensor<?xf32>
  %1 = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x?xf32>) -> index
  %2 = "graph.dim"(%x) <{index = 1 : i64}> : (tensor<?x?xf32>) -> index
  %3 = "graph.broadcast"(%0, %1, %2) <{dims = array<i64: 0>}> : (tensor<?xf32>, index, index) -> tensor<?x?xf32>
  %4 = "graph.sub"(%x, %3) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}

// CHECK-LABEL: kernel.func @few_
// CHECK-NOT: kernel.prefetch
// CHECK: return
func.func @few(%x: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "max"}> : (tensor<16x1024xf32>) -> tensor<16xf32>
  %1 = "graph.broadcast"(%0) <{dims = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1024xf32>
  %2 = "graph.sub"(%x, %1) : (tensor<16x1024xf32>, tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %2 : tensor<16x1024xf32>
}
