// The first ones of a line, where they are many, are a list that digits sort whenever it is full; a heap, where they are
// few or their type has no digits.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --iree-codegen-list-candidates %s -o %t.vmfb 2>&1 | FileCheck %s --check-prefix=LIST

// Places by vectors, digits counted side by side and summed as vectors, two steps for each two digits; then places of
// what goes before the last one, all of a vector but only those that do counted.
// CHECK-LABEL: kernel.func @many_dispatch_0
// CHECK: kernel.alloc : memref<1024xi32, 5>
// CHECK: kernel.alloc : memref<1528xi32, 5>
// CHECK: kernel.store {{.*}}vector<8xi32>
// CHECK: kernel.while
// CHECK: kernel.is_nan
// CHECK: kernel.load {{.*}}vector<4xi32>
// CHECK: kernel.while
// CHECK: kernel.load %arg0{{.*}}vector<8xf32>
// CHECK: kernel.reduce or
// CHECK: kernel.if
// CHECK: kernel.extract {{.*}}[0]
// CHECK: kernel.store {{.*}}i32
// CHECK: kernel.return
// LIST: many_dispatch_0{{.*}}: select_digits: {{.*}}chosen
func.func @many(%x: tensor<100000xf32>) -> (tensor<500xf32>, tensor<500xi64>) {
  %0:2 = "graph.top_k"(%x) <{axis = 0 : i64, k = 500 : i64}> : (tensor<100000xf32>) -> (tensor<500xf32>, tensor<500xi64>)
  return %0#0, %0#1 : tensor<500xf32>, tensor<500xi64>
}

// A line that the list holds is sorted once, and a key of one digit moves back.
// CHECK-LABEL: kernel.func @short_dispatch_0
// CHECK-NOT: kernel.while
// CHECK: kernel.alloc : memref<256xi32, 5>
// CHECK-NOT: kernel.while
// CHECK: kernel.return
func.func @short(%x: tensor<3x600xi8>) -> (tensor<3x200xi8>, tensor<3x200xi32>) {
  %0:2 = "graph.top_k"(%x) <{axis = 1 : i64, k = 200 : i64, smallest}> : (tensor<3x600xi8>) -> (tensor<3x200xi8>, tensor<3x200xi32>)
  return %0#0, %0#1 : tensor<3x200xi8>, tensor<3x200xi32>
}

// LIST: few_dispatch_0{{.*}}: select_digits declines: the list of the first ones is too short
// LIST: few_dispatch_0{{.*}}: select: {{.*}}chosen
func.func @few(%x: tensor<1000xi32>) -> (tensor<9xi32>, tensor<9xi32>) {
  %0:2 = "graph.top_k"(%x) <{axis = 0 : i64, k = 9 : i64}> : (tensor<1000xi32>) -> (tensor<9xi32>, tensor<9xi32>)
  return %0#0, %0#1 : tensor<9xi32>, tensor<9xi32>
}

// LIST: bytes_dispatch_0{{.*}}: select_digits declines: its numbers have no digits
func.func @bytes(%x: tensor<1000xf8E4M3FN>) -> (tensor<200xf8E4M3FN>, tensor<200xi32>) {
  %0:2 = "graph.top_k"(%x) <{axis = 0 : i64, k = 200 : i64}> : (tensor<1000xf8E4M3FN>) -> (tensor<200xf8E4M3FN>, tensor<200xi32>)
  return %0#0, %0#1 : tensor<200xf8E4M3FN>, tensor<200xi32>
}
