// How much of element data is printed, and how.
// RUN: iree-compile --compile-to=start %s | FileCheck --check-prefix=ALL %s
// RUN: iree-compile --compile-to=start --mlir-elide-resource-strings-if-larger=41 %s | FileCheck --check-prefix=LESS %s
// RUN: iree-compile --compile-to=start --mlir-elide-resource-strings-if-larger=42 %s | FileCheck --check-prefix=ALL %s
// RUN: iree-compile --compile-to=start --mlir-print-elementsattrs-with-hex-if-larger=3 %s | FileCheck --check-prefix=HEX %s
// RUN: iree-opt --mlir-elide-resource-strings-if-larger=41 %s | FileCheck --check-prefix=LESS %s
// RUN: iree-opt --mlir-print-elementsattrs-with-hex-if-larger=3 --verify-roundtrip %s | FileCheck --check-prefix=HEX %s
// RUN: iree-compile --iree-hal-target-device=local --mlir-print-elementsattrs-with-hex-if-larger=3 --mlir-print-ir-after=lower-input %s -o %t.x 2>&1 | FileCheck --check-prefix=BETWEEN %s
// RUN: echo 'func.func @f() -> tensor<128xi8> { %%0 = arith.constant dense<"0x'$(yes 07 | head -n 127 | tr -d '\n')'08"> : tensor<128xi8> return %%0 : tensor<128xi8> }' | sed -e 's/%%/%/g' > %t.mlir && iree-opt %t.mlir | FileCheck --check-prefix=LONG %s && iree-opt --mlir-print-elementsattrs-with-hex-if-larger=-1 %t.mlir | FileCheck --check-prefix=NEVER %s
// RUN: for f in --mlir-print-elementsattrs-with-hex-if-larger --mlir-elide-resource-strings-if-larger --mlir-elide-elementsattrs-if-larger; do not iree-compile $f=x --compile-to=start %s 2>&1 | FileCheck --check-prefix=NUMBER "-DFLAG=$f" %s || exit 1; not iree-opt $f=x %s 2>&1 | FileCheck --check-prefix=OPT %s || exit 1; done
// ALL: arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// ALL: dense_resource<weights> : tensor<4xi32>
// ALL: dense_resource<few> : tensor<1xi32>
// ALL: weights: "0x0400000001000000020000000300000004000000",
// ALL-NEXT: few: "0x0400000009000000"
// LESS: dense_resource<weights> : tensor<4xi32>
// LESS-NOT: weights: "
// LESS: few: "0x0400000009000000"
// HEX: arith.constant dense<"0x01000000020000000300000004000000"> : tensor<4xi32>
// BETWEEN: IR Dump After lower-input
// BETWEEN: dense<"0x01000000020000000300000004000000"> : tensor<4xi32>
// LONG: dense<"0x0707
// NEVER: dense<[7, 7, 7,
// NUMBER: error: [[FLAG]]=x: a number is needed
// OPT: iree-opt: expected a number, got 'x'
func.func @f() -> (tensor<4xi32>, tensor<4xi32>, tensor<1xi32>) {
  %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = arith.constant dense_resource<weights> : tensor<4xi32>
  %2 = arith.constant dense_resource<few> : tensor<1xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<1xi32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400000001000000020000000300000004000000",
      few: "0x0400000009000000"
    }
  }
#-}
