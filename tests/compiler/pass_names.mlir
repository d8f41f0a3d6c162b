// Passes by the names that IREE and MLIR have for them, and pipelines as mlir-opt reads them.
// RUN: iree-opt --pass-pipeline='builtin.module(iree-stablehlo-to-iree-input, func.func(cse,canonicalize{  }), any(dce))' --dump-pass-pipeline %s 2>%t.passes | FileCheck %s
// RUN: FileCheck --check-prefix=PASSES %s < %t.passes
// RUN: iree-opt --tosa-to-linalg --remove-dead-values %s | FileCheck --check-prefix=TWICE %s
// PASSES: Pass Manager with 4 passes:
// PASSES-NEXT: builtin.module(lower-input,cse,canonicalize,dce)
// CHECK: "graph.add"
// CHECK-NOT: "graph.add"
// TWICE: "graph.add"
// TWICE: "graph.add"
//
// Others say what to use.
// RUN: for p in iree-global-opt-raise-special-ops iree-vm-conversion iree-transformation-pipeline iree-codegen-gpu-tile iree-stream-conversion iree-hal-dump-executable-sources symbol-dce convert-scf-to-cf; do not iree-opt --pass-pipeline="builtin.module($p)" %s 2>&1 | FileCheck --check-prefix=INSTEAD "-DPASS=$p" %s || exit 1; done
// INSTEAD: iree-opt: unknown pass '[[PASS]]', which is IREE's and not here: {{.......}}
// RUN: not iree-opt --iree-flow-transformation-pipeline %s 2>&1 | FileCheck --check-prefix=PIPELINE %s
// PIPELINE: iree-opt: '--iree-flow-transformation-pipeline' is IREE's and not here: iree-compile --compile-from=global-optimization --compile-to=flow runs it
// RUN: not iree-opt --pass-pipeline='builtin.module(cze)' %s 2>&1 | FileCheck --check-prefix=MEANT %s
// RUN: not iree-opt --iree-hal-target-devcie=local %s 2>&1 | FileCheck --check-prefix=DEVICE %s
// RUN: not iree-opt --pass-pipeline='cse(dce)' %s 2>&1 | FileCheck --check-prefix=ANCHOR %s
// RUN: not iree-opt --pass-pipeline='builtin.module(cse' %s 2>&1 | FileCheck --check-prefix=OPEN %s
// RUN: not iree-opt --pass-pipeline='cse)' %s 2>&1 | FileCheck --check-prefix=CLOSED %s
// RUN: not iree-opt --pass-pipeline='canonicalize{max-iterations=1}' %s 2>&1 | FileCheck --check-prefix=OPTIONS %s
// MEANT: iree-opt: unknown pass 'cze'; did you mean 'cse'?
// DEVICE: iree-opt: Did you mean '--iree-hal-target-device'?
// ANCHOR: iree-opt: 'cse(': passes stand in ops, as in builtin.module(cse)
// OPEN: iree-opt: pipeline lacks ')': 'builtin.module(cse'
// CLOSED: iree-opt: pipeline has a ')' too many: 'cse)'
// OPTIONS: iree-opt: pass 'canonicalize' has no option 'max-iterations', nor any; flags of iree-compile say what passes compile for
//
// iree-compile knows the same names.
// RUN: iree-compile --iree-preprocessing-pass-pipeline='builtin.module(func.func(iree-flow-canonicalize, cse))' --compile-to=preprocessing %s -o - | FileCheck %s
// RUN: iree-compile --mlir-print-ir-after=iree-dispatch-creation-form-dispatch-regions --compile-to=flow %s -o %t.x 2>&1 | FileCheck --check-prefix=AFTER %s
// RUN: not iree-compile --mlir-print-ir-after=iree-vm-conversion --compile-to=flow %s -o %t.x 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: not iree-compile --iree-preprocessing-pass-pipeline=iree-consteval-jit-globals %s 2>&1 | FileCheck --check-prefix=HERE %s
// AFTER: // -----// IR Dump After form-dispatches //----- //
// NONE: --mlir-print-ir-after=iree-vm-conversion: there is no such pass; it is IREE's, and not here: iree-compile --output-format=vm-asm
// HERE: error: --iree-preprocessing-pass-pipeline: 'iree-consteval-jit-globals' is 'const-eval', which cannot run here; these are there: inline

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.add %x, %x : tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
