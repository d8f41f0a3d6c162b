// Powers by small numbers, of known and of run-time sizes, are products and roots, with the power's values of zeros and
// infinities.
// RUN: iree-compile --compile-to=flow --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=roots --input="6xf32=16 0 -0 inf -inf -1" 2>&1 | FileCheck --check-prefix=ROOTS %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open --input="3xf32=2 -0.5 -inf" 2>&1 | FileCheck --check-prefix=OPEN %s

// ROOTS: {{^6xf32=8 0 0 INF INF NAN$}}
// ROOTS: {{^6xf32=0\.25 INF INF 0 0 NAN$}}
// OPEN: {{^3xf32=8 -0\.125 -INF$}}

// CHECK-LABEL: func.func @roots
// CHECK-NOT: graph.pow
// CHECK: graph.sqrt
// CHECK-NOT: graph.pow
// CHECK-LABEL: func.func @open
// CHECK-NOT: graph.pow
// CHECK: graph.mul
// CHECK-NOT: graph.pow
// CHECK-LABEL: func.func @others
// CHECK: graph.pow
func.func @roots(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %c = stablehlo.constant dense<0.75> : tensor<6xf32>
  %d = stablehlo.constant dense<-0.5> : tensor<6xf32>
  %0 = stablehlo.power %x, %c : tensor<6xf32>
  %1 = stablehlo.power %x, %d : tensor<6xf32>
  return %0, %1 : tensor<6xf32>, tensor<6xf32>
}

func.func @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %sizes = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %d = stablehlo.dynamic_broadcast_in_dim %c, %sizes, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.power %x, %d : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @others(%x: tensor<6xf32>) -> tensor<6xf32> {
  %c = stablehlo.constant dense<0.7> : tensor<6xf32>
  %0 = stablehlo.power %x, %c : tensor<6xf32>
  return %0 : tensor<6xf32>
}
