// A matrix by a column on CPUs: eight rows at once by vectors along them, then one by one what eight leave of the rows and
// vectors leave of their elements. A column of another form is a product like others.
//
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-configurations %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --iree-codegen-list-candidates %s -o %t.vmfb 2>&1 | FileCheck %s --check-prefix=LIST

// CHECK-LABEL: kernel.func @column_dispatch_0
// CHECK: kernel.for {{.*}} step %c8
// CHECK: kernel.for {{.*}}iter_args({{.*}}vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: kernel.load %arg1{{.*}}vector<8xf32>
// CHECK-COUNT-8: kernel.load %arg0{{.*}}vector<8xf32>
// CHECK-COUNT-8: kernel.reduce add
// CHECK: kernel.for {{.*}}iter_args({{.*}}f32
// CHECK: kernel.max
// CHECK: kernel.for {{.*}} step %c1
// CHECK: kernel.reduce add
// CHECK-NOT: kernel.reduce add
// CHECK: kernel.return
// LIST: column_dispatch_0{{.*}}: dots: {{.*}}chosen
func.func @column(%x: tensor<1001x100xf32>, %y: tensor<100x1xf32>) -> tensor<1001x1xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<1001x1xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<1001x100xf32>, tensor<100x1xf32>) -> tensor<1001x1xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<1001x1xf32>
  return %1 : tensor<1001x1xf32>
}

// LIST: bytes_dispatch_0{{.*}}: dots declines: types have to be converted
func.func @bytes(%x: tensor<100x100xi8>, %y: tensor<100x1xi8>) -> tensor<100x1xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<100x100xi8>, tensor<100x1xi8>) -> tensor<100x1xi32>
  return %0 : tensor<100x1xi32>
}

// LIST: columns_dispatch_0{{.*}}: dots declines: the right operand is no column
func.func @columns(%x: tensor<100x100xf32>, %y: tensor<100x2xf32>) -> tensor<100x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<100x100xf32>, tensor<100x2xf32>) -> tensor<100x2xf32>
  return %0 : tensor<100x2xf32>
}

// LIST: short_dispatch_0{{.*}}: dots declines: the rows are short
func.func @short(%x: tensor<100x15xf32>, %y: tensor<15x1xf32>) -> tensor<100x1xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<100x15xf32>, tensor<15x1xf32>) -> tensor<100x1xf32>
  return %0 : tensor<100x1xf32>
}
