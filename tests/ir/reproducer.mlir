// Passes that come with a program, in MLIR's form, among what other tools leave there; the last that is said counts.
// RUN: iree-opt --run-reproducer %s | FileCheck %s
// RUN: sed -e 's/: "builtin.module(canonicalize)"/: 7/' %s > %t.mlir && not iree-opt --run-reproducer %t.mlir 2>&1 | FileCheck --check-prefix=NUMBER %s
// RUN: sed -e 's/verify_each: false/verify_each/' %s > %t.mlir && not iree-opt --run-reproducer %t.mlir 2>&1 | FileCheck --check-prefix=VALUE %s
// CHECK-LABEL: @f
// CHECK-NEXT: return %arg0
// NUMBER: iree-opt: --run-reproducer: the input brings no passes (mlir_reproducer)
// VALUE: reproducer.mlir.mlir:[[#]]:{{[0-9]+}}: error: expected ':'
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "graph.broadcast"(%x) <{dims = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

{-#
  external_resources: {
    other_tool: {
      pipeline: "builtin.module(none)",
      seen: true
    },
    mlir_reproducer: {
      pipeline: "builtin.module(canonicalize)",
      disable_threading: true,
      verify_each: false
    }
  }
#-}
