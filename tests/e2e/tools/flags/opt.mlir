// Flags of iree-opt.
// RUN: iree-opt --list-passes | grep "^canonicalize "
// RUN: iree-opt --emit-bytecode %s -o %t.mlirbc && iree-opt %t.mlirbc | grep "func.func @f"
// RUN: iree-opt --emit-bytecode --emit-bytecode-version=3 %s -o %t.3 && head -c 5 %t.3 | od -An -tx1 | grep "4d 4c ef 52 07"
// RUN: iree-opt --stop-after=lower-input --lower-input --form-dispatches %s | not grep graph.dispatch
// RUN: iree-opt --mlir-print-ir-after-all --stop-after=lower-input --lower-input --dce %s 2>&1 >/dev/null | not grep "after dce"
// RUN: iree-opt --bisect-limit=1 --lower-input --dce --mlir-print-ir-after-all %s 2>&1 >/dev/null | not grep -i "after dce"
// RUN: iree-opt --round-trip-each --lower-input %s | grep graph.add
// RUN: not iree-opt --round-trip-each=maybe --lower-input %s 2>&1 | grep "is not a boolean"
// RUN: printf '"x.y"() : () -> ()\n' | iree-opt --allow-unregistered-dialect --mlir-print-local-scope | grep '"x.y"()'
// RUN: for f in --allow-unregistered-dialect --mlir-print-local-scope --mlir-print-ir-module-scope; do iree-opt $f=1 %s -o %t.x && not iree-opt $f=false %s 2>&1 | grep "it is so always" || exit 1; done
// RUN: printf 'func.func @g() -> i32 { func.return }\n' > %t.bad && not iree-opt %t.bad && iree-opt --no-verify %t.bad
// RUN: not iree-opt --verify-roundtrip=no %s 2>&1 | grep "is not a boolean"
// RUN: iree-opt --show-dialects | grep "^  stablehlo$"
// RUN: iree-opt --help-hidden | grep "USAGE: iree-opt"
// RUN: iree-opt --lower-input --mlir-print-op-generic --mlir-print-op-generic=false --mlir-print-debuginfo --mlir-print-debuginfo=0 %s | FileCheck --check-prefix=PLAIN %s
// PLAIN: {{^}}  func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {{[{]$}}
// RUN: not iree-opt --mlir-print-op-generic=maybe %s 2>&1 | grep "is not a boolean"
// RUN: iree-opt --mlir-print-ir-before-all --pass lower-input %s 2>&1 >/dev/null | grep "IR Dump Before lower-input"
// RUN: iree-opt --mlir-print-ir-before=dce --lower-input --dce %s 2>&1 >/dev/null | FileCheck --check-prefix=BEFORE %s
// BEFORE-NOT: Before lower-input
// BEFORE: IR Dump Before dce
// RUN: printf 'func.func @g(%%x: tensor<2xf32>) { stablehlo.custom_call @n(%%x) : (tensor<2xf32>) -> () return }' > %t.fails && not iree-opt --mlir-print-ir-after-failure --lower-input %t.fails 2>&1 | grep "IR Dump After lower-input Failed"
// RUN: not iree-opt --verify-each=perhaps %s 2>&1 | grep "is not a boolean"

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.multiply %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
