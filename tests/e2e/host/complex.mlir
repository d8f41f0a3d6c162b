// Complex tensors as arguments and results: pairs of numbers in memory, also of run-time sizes and across calls.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=add_i --input=2xcf64=0000803F00000040,00004040000080BF | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=twice --input=2xcf64=0000803F00000040,00004040000080BF | FileCheck --check-prefix=TWICE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=parts --input=1xcf128=000000000000F03F0000000000000040 | FileCheck --check-prefix=PARTS %s

// CHECK: 2xcf64=0000803F00004040 0000404000000000
func.func @add_i(%x: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  %i = stablehlo.constant dense<(0.0, 1.0)> : tensor<complex<f32>>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xcomplex<f32>>) -> tensor<i32>
  %shape = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %all = stablehlo.dynamic_broadcast_in_dim %i, %shape, dims = [] : (tensor<complex<f32>>, tensor<1xi32>) -> tensor<?xcomplex<f32>>
  %0 = stablehlo.add %x, %all : tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}
// TWICE: 2xcf64=0000004000008040 0000C040000000C0
func.func @twice(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = call @double(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
func.func @double(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.add %x, %x : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
// PARTS: 1xf64=1
// PARTS: 1xf64=2
func.func @parts(%x: tensor<1xcomplex<f64>>) -> (tensor<1xf64>, tensor<1xf64>) {
  %0 = stablehlo.real %x : (tensor<1xcomplex<f64>>) -> tensor<1xf64>
  %1 = stablehlo.imag %x : (tensor<1xcomplex<f64>>) -> tensor<1xf64>
  return %0, %1 : tensor<1xf64>, tensor<1xf64>
}
