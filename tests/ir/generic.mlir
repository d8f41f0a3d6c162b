// The generic form, with locations.
// RUN: iree-opt --mlir-print-op-generic --mlir-print-debuginfo %s | FileCheck %s
// RUN: iree-opt --mlir-print-op-generic --mlir-print-debuginfo %s | iree-opt | diff <(iree-opt %s) -
// RUN: iree-opt --mlir-elide-elementsattrs-if-larger=2 %s | FileCheck --check-prefix=ELIDED %s

// CHECK: "builtin.module"() ({
// CHECK: "func.func"() <{function_type = (i1) -> i32, sym_name = "f"}> ({
// CHECK-NEXT: ^bb0(%arg0: i1):
func.func @f(%c: i1) -> i32 attributes {test.note} {
  // CHECK: %0 = "arith.constant"() <{value = dense<[1, 2, 3]> : tensor<3xi32>}> : () -> tensor<3xi32> loc("model.py":1:2)
  // ELIDED: arith.constant dense_resource<__elided__> : tensor<3xi32>
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32> loc("model.py":1:2)
  // CHECK: "cf.cond_br"(%arg0, %{{.*}})[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
  %1 = arith.constant 1 : i32 loc(callsite("inner" at fused["outer", "x.py":3:4]))
  cf.cond_br %c, ^bb1(%1 : i32), ^bb2
^bb1(%x: i32):
  return %x : i32
^bb2:
  return %1 : i32
  // CHECK: }) {test.note} : () -> ()
}
