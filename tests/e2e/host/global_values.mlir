// Every kind of first value that a global may have, initializers in their order, and accesses through addresses.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=values | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=numbers --input=2xf16=1,2 | FileCheck --check-prefix=NUMBERS %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=indirect --input=4xf32=1,1,1,1 | FileCheck --check-prefix=INDIRECT %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=sum | FileCheck --check-prefix=MADE %s

util.global private @dense = dense<[1, -2, 3]> : tensor<3xi8>
util.global private @splat = dense<2.5> : tensor<2xf64>
util.global private mutable @blob = dense_resource<four> : tensor<4xf32>
util.global private mutable @bytes = #util.byte_pattern<1> : tensor<2xi32>
util.global private mutable @open = #util.uninitialized : tensor<2xf32>
util.global private @half = 1.5 : f16
util.global private mutable @flag = true
util.global private mutable @byte = -3 : i8
util.global private @long = 5000000000 : i64
util.global private @size = 7 : index
util.global private @pattern = #util.byte_pattern<255> : i32
util.global private mutable @made : tensor<4xf32>
util.global private mutable @count = 3 : i32
util.global private @doubled : tensor<4xf32>

util.initializer {
  %n = util.global.load @count : i32
  %zero = arith.constant 0 : i32
  %more = arith.cmpi sgt, %n, %zero : i32
  cf.cond_br %more, ^bb1, ^bb2
^bb1:
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  cf.br ^bb3(%a : tensor<4xf32>)
^bb2:
  %b = arith.constant dense<9.0> : tensor<4xf32>
  cf.br ^bb3(%b : tensor<4xf32>)
^bb3(%v: tensor<4xf32>):
  util.global.store %v, @made : tensor<4xf32>
  util.return
}
util.initializer {
  %0 = util.global.load @made : tensor<4xf32>
  %1 = arith.addf %0, %0 : tensor<4xf32>
  util.global.store %1, @doubled : tensor<4xf32>
  util.return
}

// CHECK: 3xi8=1 -2 3
// CHECK: 2xf64=2.5 2.5
// CHECK: 4xf32=0 1 2 3
// CHECK: 2xi32=16843009 16843009
// CHECK: 2xf32=4 4
func.func @values() -> (tensor<3xi8>, tensor<2xf64>, tensor<4xf32>, tensor<2xi32>, tensor<2xf32>) {
  %0 = util.global.load immutable @dense : tensor<3xi8>
  %1 = util.global.load @splat : tensor<2xf64>
  %2 = util.global.load @blob : tensor<4xf32>
  %3 = util.global.load @bytes : tensor<2xi32>
  %four = arith.constant dense<4.0> : tensor<2xf32>
  util.global.store %four, @open : tensor<2xf32>
  %4 = util.global.load @open : tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<3xi8>, tensor<2xf64>, tensor<4xf32>, tensor<2xi32>, tensor<2xf32>
}

// NUMBERS: 2xf16=2.5 3.5
// NUMBERS: i32=1
// NUMBERS: i32=-6
// NUMBERS: i64=5000000000
// NUMBERS: i64=7
// NUMBERS: i32=-1
func.func @numbers(%x: tensor<2xf16>) -> (tensor<2xf16>, i1, i8, i64, i64, i32) {
  %h = util.global.load @half : f16
  %empty = tensor.empty() : tensor<2xf16>
  %fill = linalg.fill ins(%h : f16) outs(%empty : tensor<2xf16>) -> tensor<2xf16>
  %sum = arith.addf %x, %fill : tensor<2xf16>
  %flag = util.global.load @flag : i1
  %byte = util.global.load @byte : i8
  %twice = arith.addi %byte, %byte : i8
  util.global.store %twice, @byte : i8
  %new = util.global.load @byte : i8
  %long = util.global.load @long : i64
  %size = util.global.load @size : index
  %wide = arith.index_cast %size : index to i64
  %pattern = util.global.load @pattern : i32
  return %sum, %flag, %new, %long, %wide, %pattern : tensor<2xf16>, i1, i8, i64, i64, i32
}

// INDIRECT: 4xf32=1 2 3 4
// INDIRECT: 4xf32=1 1 1 1
func.func @indirect(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %address = util.global.address @blob : !util.ptr<tensor<4xf32>>
  %0 = util.global.load.indirect %address : !util.ptr<tensor<4xf32>> -> tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  util.global.store.indirect %x, %address : tensor<4xf32> -> !util.ptr<tensor<4xf32>>
  %2 = util.global.load @blob : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// MADE: 4xf32=3 6 9 12
func.func @sum() -> tensor<4xf32> {
  %0 = util.global.load @made : tensor<4xf32>
  %1 = util.global.load @doubled : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
{-# dialect_resources: { builtin: { four: "0x04000000000000000000803F0000004000004040" } } #-}
