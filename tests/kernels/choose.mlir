// Elements that are chosen by what they are: places of true ones, and boxes that overlap none that is better.
//
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_90 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,GPU
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx942 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,GPU
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,CPU,WIDE
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s --check-prefixes=ALL,CPU,HALF

// A vector in which nothing is true is passed over; else every place is stored, and the next one over it unless it
// stays. The block's list then goes where its start says. A thread of a GPU has a block.
// ALL-LABEL: kernel.func @places_dispatch_0
// CPU: kernel.alloc : memref<257xi32, 5>
// CPU: kernel.reduce or
// CPU: kernel.if
// WIDE-COUNT-16: kernel.store {{.*}}memref<257xi32, 5>
// HALF-COUNT-8: kernel.store {{.*}}memref<257xi32, 5>
// WIDE: kernel.load {{.*}}memref<257xi32, 5>{{.*}}vector<16xi32>
// HALF: kernel.load {{.*}}memref<257xi32, 5>{{.*}}vector<8xi32>
// GPU: kernel.thread_id
// GPU: kernel.for
// GPU: kernel.if
// GPU: kernel.store
// ALL: kernel.return
func.func @places(%x: tensor<100x60xf32>, %y: tensor<100x60xf32>, %starts: tensor<24xi32>, %n: index) -> tensor<?xi32> {
  %0 = "graph.gt"(%x, %y) : (tensor<100x60xf32>, tensor<100x60xf32>) -> tensor<100x60xi1>
  %1 = "graph.reshape"(%0) : (tensor<100x60xi1>) -> tensor<6000xi1>
  %2 = "graph.places"(%1, %starts, %n) <{block = 256 : i64}> : (tensor<6000xi1>, tensor<24xi32>, index) -> tensor<?xi32>
  return %2 : tensor<?xi32>
}

// What a reshape is of is read where it lies: no coordinate is divided.
// ALL-LABEL: kernel.func @flat_dispatch_0
// ALL-NOT: kernel.divu
// ALL: kernel.return
func.func @flat(%x: tensor<100x60xi1>, %starts: tensor<24xi32>, %n: index) -> tensor<?xi32> {
  %1 = "graph.reshape"(%x) : (tensor<100x60xi1>) -> tensor<6000xi1>
  %2 = "graph.places"(%1, %starts, %n) <{block = 256 : i64}> : (tensor<6000xi1>, tensor<24xi32>, index) -> tensor<?xi32>
  return %2 : tensor<?xi32>
}

// The first sweep finds the best box; then, as long as there is one, it is compared with those that are chosen, and the
// next sweep finds the best behind it.
// ALL-LABEL: kernel.func @suppress_dispatch_0
// GPU: kernel.subgroup_shuffle xor
// GPU: kernel.barrier
// CPU-NOT: kernel.barrier
// WIDE: kernel.reduce max {{.*}}vector<16xf32>
// HALF: kernel.reduce max {{.*}}vector<8xf32>
// ALL: kernel.while
// ALL: kernel.div
// ALL: kernel.store
// WIDE: kernel.reduce min {{.*}}vector<16xi32>
// HALF: kernel.reduce min {{.*}}vector<8xi32>
// GPU: kernel.barrier
// ALL: kernel.return
func.func @suppress(%s: tensor<4x300xf32>, %a: tensor<4x300xf32>, %b: tensor<4x300xf32>, %c: tensor<4x300xf32>, %d: tensor<4x300xf32>, %o: tensor<f32>, %m: tensor<i64>) -> tensor<4x300xi32> {
  %0 = "graph.gt"(%s, %a) : (tensor<4x300xf32>, tensor<4x300xf32>) -> tensor<4x300xi1>
  %1 = "graph.suppress"(%s, %0, %a, %b, %c, %d, %o, %m) : (tensor<4x300xf32>, tensor<4x300xi1>, tensor<4x300xf32>, tensor<4x300xf32>, tensor<4x300xf32>, tensor<4x300xf32>, tensor<f32>, tensor<i64>) -> tensor<4x300xi32>
  return %1 : tensor<4x300xi32>
}
