// Flags of iree-opt.
// RUN: iree-opt --list-passes | grep "^canonicalize "
// RUN: iree-opt --emit-bytecode %s -o %t.mlirbc && iree-opt %t.mlirbc | grep "func.func @f"
// RUN: iree-opt --emit-bytecode --emit-bytecode-version=3 %s -o %t.3 && head -c 5 %t.3 | od -An -tx1 | grep "4d 4c ef 52 07"
// RUN: iree-opt --stop-after=lower-input --lower-input --form-dispatches %s | not grep graph.dispatch
// RUN: iree-opt --mlir-print-ir-after-all --stop-after=lower-input --lower-input --dce %s 2>&1 >/dev/null | not grep "after dce"
// RUN: iree-opt --bisect-limit=1 --lower-input --dce --mlir-print-ir-after-all %s 2>&1 >/dev/null | not grep -i "after dce"
// RUN: iree-opt --round-trip-each --lower-input %s | grep graph.add
// RUN: not iree-opt --round-trip-each=maybe --lower-input %s 2>&1 | grep "takes no value"
// RUN: printf '"x.y"() : () -> ()\n' | iree-opt --allow-unregistered-dialect --mlir-print-local-scope | grep '"x.y"()'
// RUN: not iree-opt --allow-unregistered-dialect=1 %s 2>&1 | grep "takes no value"
// RUN: not iree-opt --mlir-print-local-scope=1 %s 2>&1 | grep "takes no value"
// RUN: printf 'func.func @g() -> i32 { func.return }\n' > %t.bad && not iree-opt %t.bad && iree-opt --no-verify %t.bad
// RUN: not iree-opt --verify-roundtrip=1 %s 2>&1 | grep "takes no value"
// RUN: not iree-opt --verify-each=perhaps %s 2>&1 | grep "is not a boolean"

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.multiply %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
