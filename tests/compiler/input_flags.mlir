// Flags that change the program as it comes in.
//
// RUN: iree-compile --iree-input-demote-i64-to-i32 --iree-input-demote-f64-to-f32 --compile-to=input %s -o - 2> %t.warnings | FileCheck --check-prefix=DEMOTE %s
// RUN: FileCheck --check-prefix=WARN %s < %t.warnings
// DEMOTE: func.func @main(%arg0: tensor<4xi32>, %arg1: tensor<4xf32>, %arg2: i32) -> (tensor<i32>, tensor<4xf32>, i32, tensor<4xi32>)
// DEMOTE: "graph.global_load"() <{global = @w}> : () -> tensor<4xi64>
// DEMOTE-NEXT: "graph.cast"({{.*}}) : (tensor<4xi64>) -> tensor<4xi32>
// DEMOTE: value = 7 : i32
// WARN: input_flags.mlir:[[#]]:1: warning: the signature of @main becomes (tensor<4xi32>, tensor<4xf32>, i32) -> (tensor<i32>, tensor<4xf32>, i32, tensor<4xi32>)
// RUN: iree-compile --iree-input-demote-i64-to-i32 --iree-input-demote-f64-to-f32 --iree-hal-target-device=local %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=4xi32=-5,-2,-9,-3 --input=4xf32=1 --input=5 | FileCheck --check-prefix=SMALL %s
// RUN: iree-compile --iree-hal-target-device=local %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=4xi64=-5,-2,-9,-3 --input=4xf64=1 --input=5 | FileCheck --check-prefix=PLAIN %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=4xi32=-5,-2,-9,-3 --input=4xf32=1 --input=5
// SMALL-LABEL: EXEC @main
// SMALL: i32=-2
// SMALL: 4xf32=2.5 3.5 4.5 5.5
// SMALL: i32=12
// SMALL: 4xi32=-4 0 -6 1
// PLAIN: i64=-2
// PLAIN: 4xf64=2.5 3.5 4.5 5.5
// PLAIN: i64=12
// PLAIN: 4xi64=-4 0 -6 1
//
// All at once: what f64 becomes stays f32. Bit patterns keep their widths.
// RUN: iree-compile --iree-input-demote-f64-to-f32 --iree-input-demote-f32-to-f16 --iree-input-promote-bf16-to-f32 --compile-to=input %s -o - 2>&1 | FileCheck --check-prefix=ALL %s
// RUN: iree-compile --iree-input-promote-f16-to-f32 --iree-input-promote-bf16-to-f32 --compile-to=input %s -o - 2>&1 | FileCheck --check-prefix=PROMOTE %s
// ALL: func.func @floats(%arg0: tensor<2xf32>, %arg1: tensor<2xf16>, %arg2: tensor<2xf16>, %arg3: tensor<2xf32>, %arg4: tensor<2xi16>) -> (tensor<2xf32>, tensor<2xf16>, tensor<2xf16>, tensor<2xf32>, tensor<2xf32>)
// ALL: "graph.bitcast"(%arg4) : (tensor<2xi16>) -> tensor<2xbf16>
// ALL-NEXT: "graph.cast"({{.*}}) : (tensor<2xbf16>) -> tensor<2xf32>
// PROMOTE: func.func @floats(%arg0: tensor<2xf64>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xi16>)
// RUN: not iree-compile --iree-input-demote-f32-to-f16 --iree-input-promote-f16-to-f32 --compile-to=input %s 2>&1 | FileCheck --check-prefix=OPPOSITE %s
// OPPOSITE: error: --iree-input-demote-f32-to-f16 and --iree-input-promote-f16-to-f32 are opposites
//
// Assertions: stripped when asked to, and from O1 on.
// RUN: iree-compile --iree-opt-strip-assertions --compile-to=input %s -o - | FileCheck --check-prefix=STRIPPED %s
// RUN: iree-compile --iree-opt-level=O1 --compile-to=input %s -o - | FileCheck --check-prefix=STRIPPED %s
// RUN: iree-compile --iree-global-optimization-opt-level=O2 --compile-to=input %s -o - | FileCheck --check-prefix=STRIPPED %s
// RUN: iree-compile --iree-opt-level=O2 --iree-opt-strip-assertions=false --compile-to=input %s -o - | FileCheck --check-prefix=KEPT %s
// RUN: iree-compile --compile-to=input %s -o - | FileCheck --check-prefix=KEPT %s
// STRIPPED-NOT: graph.assert
// KEPT: graph.assert
//
// The kind of input: what is of another kind is not converted.
// RUN: iree-compile --iree-input-type=stablehlo --compile-to=input %s -o %t.mlir
// RUN: not iree-compile --iree-input-type=tosa --compile-to=input %s -o %t.mlir 2>&1 | FileCheck --check-prefix=TYPE %s
// RUN: not iree-compile --iree-input-type=none --compile-to=input %s -o %t.mlir 2>&1 | FileCheck --check-prefix=NONE %s
// TYPE: input_flags.mlir:[[#]]:{{[0-9]+}}: error: 'stablehlo.constant' op is not converted by --iree-input-type=tosa; stablehlo or auto converts it
// NONE: error: 'stablehlo.constant' op is not converted by --iree-input-type=none
//
// Passes of one's own choice come first.
// RUN: iree-compile --iree-preprocessing-pass-pipeline='builtin.module(canonicalize,dce)' --compile-to=preprocessing %s -o - | FileCheck --check-prefix=FIRST %s
// RUN: iree-compile --compile-to=preprocessing %s -o - | FileCheck --check-prefix=SECOND %s
// RUN: not iree-compile --iree-preprocessing-pass-pipeline=dce,nothing --compile-to=preprocessing %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// FIRST-LABEL: @folds
// FIRST-NEXT: return %arg0
// SECOND-LABEL: @folds
// SECOND-NEXT: graph.transpose
// UNKNOWN: error: --iree-preprocessing-pass-pipeline: unknown pass 'nothing'; these are there: inline

util.global private mutable @w = dense<[1, 2, 3, 4]> : tensor<4xi64>

func.func @main(%a: tensor<4xi64>, %b: tensor<4xf64>, %n: i64) -> (tensor<i64>, tensor<4xf64>, i64, tensor<4xi64>) {
  %least = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  %r = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
  %k = stablehlo.constant dense<[1.5, 2.5, 3.5, 4.5]> : tensor<4xf64>
  %s = stablehlo.add %b, %k : tensor<4xf64>
  %w = util.global.load @w : tensor<4xi64>
  %t = stablehlo.add %a, %w : tensor<4xi64>
  %seven = arith.constant 7 : i64
  %m = arith.addi %n, %seven : i64
  return %r, %s, %m, %t : tensor<i64>, tensor<4xf64>, i64, tensor<4xi64>
}

func.func @floats(%a: tensor<2xf64>, %b: tensor<2xf32>, %c: tensor<2xf16>, %d: tensor<2xbf16>, %e: tensor<2xi16>)
    -> (tensor<2xf64>, tensor<2xf32>, tensor<2xf16>, tensor<2xbf16>, tensor<2xbf16>) {
  %f = stablehlo.bitcast_convert %e : (tensor<2xi16>) -> tensor<2xbf16>
  return %a, %b, %c, %d, %f : tensor<2xf64>, tensor<2xf32>, tensor<2xf16>, tensor<2xbf16>, tensor<2xbf16>
}

func.func @asserts(%x: tensor<2xf32>, %ok: i1) -> tensor<2xf32> {
  cf.assert %ok, "not so"
  return %x : tensor<2xf32>
}

func.func @folds(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
