// Complex tensors as arguments and results: pairs of numbers in memory, also of run-time sizes and across calls.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=add_i --input=2xcf64=0000803F00000040,00004040000080BF | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=twice --input=2xcf64=0000803F00000040,00004040000080BF | FileCheck --check-prefix=TWICE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=parts --input=1xcf128=000000000000F03F0000000000000040 | FileCheck --check-prefix=PARTS %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=state --input=2xcf64=0000803F0000803F,00000040000080BF | FileCheck --check-prefix=STATE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=number --input=cf64=0000803F00000040 | FileCheck --check-prefix=NUMBER %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=product --input=1x2xcf64=0000803F00000040,00004040000080BF --input=2x1xcf64=0000803F0000803F,0000000000000040 | FileCheck --check-prefix=PRODUCT %s

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

// State: (1+2i, 3+4i) + (1+i, 2-i), times 1-2i.
// STATE: 2xcf64=00000041000080BF 000030410000E0C0
util.global private mutable @z = dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
util.global private @k = dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>
func.func @state(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = util.global.load @z : tensor<2xcomplex<f32>>
  %k = util.global.load @k : tensor<2xcomplex<f32>>
  %1 = stablehlo.add %0, %x : tensor<2xcomplex<f32>>
  util.global.store %1, @z : tensor<2xcomplex<f32>>
  %2 = stablehlo.multiply %1, %k : tensor<2xcomplex<f32>>
  return %2 : tensor<2xcomplex<f32>>
}

// A number is a tensor without dims outside.
// NUMBER: result[0]
// NUMBER: cf64=0000803F00000040
// NUMBER: result[1]
// NUMBER: cf64=0000000000000000
util.global private mutable @s : complex<f32>
func.func @number(%x: complex<f32>) -> (complex<f32>, complex<f32>) {
  %0 = util.global.load @s : complex<f32>
  util.global.store %x, @s : complex<f32>
  %1 = util.global.load @s : complex<f32>
  %2 = func.call @same(%0) : (complex<f32>) -> complex<f32>
  return %1, %2 : complex<f32>, complex<f32>
}
func.func private @same(%x: complex<f32>) -> complex<f32> {
  return %x : complex<f32>
}

// (1+2i)(1+i) + (3-i) 2i = 1 + 9i
// PRODUCT: 1x1xcf64=[0000803F00001041]
func.func @product(%x: tensor<1x2xcomplex<f32>>, %y: tensor<2x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>> {
  %0 = "stablehlo.einsum"(%x, %y) {einsum_config = "ij,jk->ki"} : (tensor<1x2xcomplex<f32>>, tensor<2x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  return %0 : tensor<1x1xcomplex<f32>>
}
