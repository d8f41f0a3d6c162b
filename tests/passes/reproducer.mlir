// A pass that fails leaves the program and the passes in a file, from which it fails again.
// RUN: not iree-opt --pass-pipeline='builtin.module(canonicalize,dce,sizes,cse)' --mlir-pass-pipeline-crash-reproducer=%t.all.mlir %s 2>&1 | FileCheck --check-prefixes=ERROR,NOTE %s
// RUN: FileCheck --check-prefix=ALL %s < %t.all.mlir
// RUN: not iree-opt --run-reproducer %t.all.mlir 2>&1 | FileCheck --check-prefix=ERROR %s
// RUN: not iree-opt --pass-pipeline='builtin.module(canonicalize,dce,sizes,cse)' --mlir-pass-pipeline-crash-reproducer=%t.one.mlir --mlir-pass-pipeline-local-reproducer %s 2> %t.err
// RUN: FileCheck --check-prefix=ONE %s < %t.one.mlir
// RUN: not iree-opt --run-reproducer %t.one.mlir 2>&1 | FileCheck --check-prefix=ERROR %s
// ERROR: error: 'graph.while' op has 'sizes' that do not name an index value for each '?' of its results
// NOTE: note: pass 'sizes' failed; iree-opt --run-reproducer {{.*}}all.mlir runs it again
// The program as it was before the first pass, or before the last; its own data is in the same section.
// ALL: stablehlo.constant dense<3>
// ALL: {-#
// ALL-NEXT: dialect_resources
// ALL: weights: "0x
// ALL: external_resources: {
// ALL-NEXT: mlir_reproducer: {
// ALL-NEXT: pipeline: "builtin.module(canonicalize,dce,sizes,cse)",
// ALL-NEXT: disable_threading: true,
// ALL-NEXT: verify_each: true
// ONE-NOT: stablehlo.constant dense<3>
// ONE: weights: "0x
// ONE: pipeline: "builtin.module(sizes)",
//
// What the file says runs, whatever it is; nothing does where it says nothing.
// RUN: sed -e 's/builtin.module(sizes)/builtin.module(dce)/' %t.one.mlir > %t.dce.mlir && iree-opt --run-reproducer %t.dce.mlir | FileCheck --check-prefix=FINE %s
// FINE: graph.while
// RUN: sed -e 's/builtin.module(sizes)/builtin.module(size)/' %t.one.mlir > %t.bad.mlir && not iree-opt --run-reproducer %t.bad.mlir 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: iree-opt: {{.*}}'size'
// RUN: not iree-opt --run-reproducer %s 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: iree-opt: --run-reproducer: the input brings no passes (mlir_reproducer)
//
// iree-compile writes the same.
// RUN: not iree-compile --iree-execution-model=host-only --mlir-pass-pipeline-crash-reproducer=%t.compile.mlir %s -o %t.out 2>&1 | FileCheck --check-prefix=ERROR %s
// RUN: not iree-opt --run-reproducer %t.compile.mlir 2>&1 | FileCheck --check-prefix=ERROR %s
// RUN: not iree-compile --iree-execution-model=host-only --mlir-pass-pipeline-crash-reproducer=/nowhere/at/all.mlir %s -o %t.out 2>&1 | FileCheck --check-prefix=UNWRITTEN %s
// UNWRITTEN: error: cannot write '/nowhere/at/all.mlir'
func.func @carried(%x: tensor<?xf32>, %flag: tensor<i1>) -> (tensor<?xf32>, tensor<4xf32>) {
  %unused = stablehlo.constant dense<3> : tensor<i32>
  %weights = stablehlo.constant dense_resource<weights> : tensor<4xf32>
  %r = "graph.while"(%x) <{sizes = array<i64: 7>}> ({
  ^bb0(%v: tensor<?xf32>):
    "graph.yield"(%flag) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<?xf32>):
    "graph.yield"(%v) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %r, %weights : tensor<?xf32>, tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
