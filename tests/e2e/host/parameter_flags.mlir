// Weights that the compiler takes from archives, leaves to archives, or has computed ahead.
// RUN: rm -rf %t && mkdir %t && sed -e "s/NUMBERS/$(seq -s, 128)/" %s > %t/p.mlir
// RUN: iree-create-parameters --quiet --splat=w=128xf32=2 --data=k=4xi8=33,67,101,-105 --output=%t/m.irpa
// RUN: iree-compile --iree-hal-target-device=local %t/p.mlir -o %t/p.vmfb && iree-run-module --device=local-sync --module=%t/p.vmfb --parameters=m=%t/m.irpa --input=128xf32=1 | FileCheck %s
// CHECK: 128xf32=48 49 50 51
// CHECK: 8xi8=1 2 3 4 5 6 7 -7
//
// Coming in: all, those of a name, those of a size.
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-import=m=%t/m.irpa %t/p.mlir -o %t/i.vmfb && iree-run-module --device=local-sync --module=%t/i.vmfb --input=128xf32=1 | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-opt-import-parameters=m=%t/m.irpa --iree-parameter-import-keys=w %t/p.mlir -o %t/i.vmfb && not iree-run-module --device=local-sync --module=%t/i.vmfb --input=128xf32=1 2>&1 | FileCheck --check-prefix=NO-K %s
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-import=m=%t/m.irpa --iree-parameter-import-maximum-size=511 %t/p.mlir -o %t/i.vmfb && not iree-run-module --device=local-sync --module=%t/i.vmfb --input=128xf32=1 2>&1 | FileCheck --check-prefix=NO-W %s
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-import=m=%t/m.irpa --iree-opt-import-parameter-maximum-size=4 --iree-opt-import-parameter-keys=w %t/p.mlir -o %t/i.vmfb && iree-run-module --device=local-sync --module=%t/i.vmfb --input=128xf32=1 | FileCheck %s
// NO-K: no parameter 'k' in scope 'm'
// NO-W: no parameter 'w' in scope 'm'
// RUN: iree-create-parameters --quiet --data=w=127xf32 --output=%t/short.irpa && not iree-compile --iree-hal-target-device=local --iree-parameter-import=m=%t/short.irpa %t/p.mlir -o %t/i.vmfb 2>&1 | FileCheck --check-prefix=SHORT %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-parameter-import=m=%s %t/p.mlir -o %t/i.vmfb 2>&1 | FileCheck --check-prefix=FORMAT %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-parameter-import=m=%t/none %t/p.mlir -o %t/i.vmfb 2>&1 | FileCheck --check-prefix=NONE %s
// SHORT: p.mlir:[[#]]:1: error: 'graph.global' op is the parameter 'w' in scope 'm', which has 508 bytes; tensor<128xf32> needs 512
// FORMAT: error: --iree-parameter-import=m={{.*}}: {{.*}}not an archive of parameters
// NONE: error: cannot open input file '{{.*}}none': No such file
//
// Going out: constants and the first values of state, from so many bytes on.
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-export=x=%t/x.irpa %t/p.mlir -o %t/x.vmfb && iree-dump-parameters --parameters=%t/x.irpa | FileCheck --check-prefix=EXPORT %s
// RUN: iree-run-module --device=local-sync --module=%t/x.vmfb --parameters=m=%t/m.irpa --parameters=x=%t/x.irpa --input=128xf32=1 | FileCheck %s
// RUN: not iree-run-module --device=local-sync --module=%t/x.vmfb --parameters=m=%t/m.irpa --input=128xf32=1 2>&1 | FileCheck --check-prefix=NO-X %s
// RUN: iree-compile --iree-hal-target-device=local --iree-opt-export-parameters=%t/y.irpa --iree-opt-export-parameter-minimum-size=513 %t/p.mlir -o %t/y.vmfb && iree-dump-parameters --parameters=%t/y.irpa | FileCheck --check-prefix=EMPTY %s
// RUN: iree-run-module --device=local-sync --module=%t/y.vmfb --parameters=m=%t/m.irpa --input=128xf32=1 | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-export=x=%t/b.irpa --iree-parameter-import=m=%t/m.irpa --compile-to=global-optimization %t/p.mlir -o %t/b.mlir && iree-compile --iree-hal-target-device=local --compile-from=global-optimization %t/b.mlir -o %t/b.vmfb && iree-run-module --device=local-sync --module=%t/b.vmfb --parameters=x=%t/b.irpa --input=128xf32=1 | FileCheck %s
// EXPORT: (2 entries, 1024 total bytes)
// EXPORT: 512 | `state`
// EXPORT: 512 | `__constant_tensor_128xf32`
// EMPTY: (0 entries, 0 total bytes)
// NO-X: in scope 'x'
//
// Zeros for what a program takes.
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-splat=%t/z.irpa %t/p.mlir -o %t/p.vmfb && iree-dump-parameters --parameters=%t/z.irpa | FileCheck --check-prefix=SPLAT %s
// RUN: iree-run-module --device=local-sync --module=%t/p.vmfb --parameters=m=%t/z.irpa --input=128xf32=1 | FileCheck --check-prefix=ZEROS %s
// RUN: for f in --iree-parameter-splat-path --iree-opt-splat-parameters; do iree-compile --iree-hal-target-device=local $f=%t/again.irpa %t/p.mlir -o %t/p.vmfb && cmp %t/z.irpa %t/again.irpa && rm %t/again.irpa || exit 1; done
// SPLAT: - | - | 512 | `w`
// SPLAT: - | - | 4 | `k`
// ZEROS: 128xf32=44 45 46
// ZEROS: 8xi8=0 0 0 0 0 0 0 0
//
// Computed ahead: what depends on parameters alone is in another archive, with or without the others.
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-encoder-output-file=%t/e.mlir %t/p.mlir -o %t/e.vmfb && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %t/e.mlir -o %t/encoder.vmfb
// RUN: iree-encode-parameters --device=local-sync --module=%t/encoder.vmfb --parameters=m=%t/m.irpa --output=encoded=%t/e.irpa | FileCheck --check-prefix=ENCODED %s
// RUN: iree-run-module --device=local-sync --module=%t/e.vmfb --parameters=encoded=%t/e.irpa --input=128xf32=1 | FileCheck %s
// ENCODED: Parameter scope `encoded` (3 entries, 1028 total bytes)
// ENCODED-DAG: 512 | `w_encoded`
// ENCODED-DAG: 512 | `w`
// ENCODED-DAG: 4 | `k`
// RUN: iree-encode-parameters --module=%t/encoder.vmfb --list_targets | FileCheck --check-prefix=TARGETS %s
// RUN: iree-encode-parameters --module=%t/encoder.vmfb --list_parameters --target=default | FileCheck --check-prefix=LIST %s
// TARGETS: Encoder module: encoder
// TARGETS-NEXT: Available targets:
// TARGETS-NEXT: {{^}}  default
// LIST: Scope: "encoded"
// LIST: w_encoded: DATA, 512 bytes, alignment 64
// RUN: iree-compile --iree-hal-target-device=local --iree-parameter-encoder-output-file=%t/o.mlirbc --iree-parameter-encoder-mode=overlay --iree-parameter-encoder-output-scope=more %t/p.mlir -o %t/o.vmfb && iree-compile --iree-hal-target-device=local --iree-execution-model=async-external %t/o.mlirbc -o %t/encoder.vmfb
// RUN: iree-encode-parameters --quiet --device=local-task --module=%t/encoder.vmfb --parameters=m=%t/m.irpa --output=more=%t/o.irpa && iree-dump-parameters --parameters=%t/o.irpa | FileCheck --check-prefix=OVERLAY %s
// RUN: iree-run-module --device=local-sync --module=%t/o.vmfb --parameters=m=%t/m.irpa --parameters=more=%t/o.irpa --input=128xf32=1 | FileCheck %s
// OVERLAY: (1 entries, 512 total bytes)
// RUN: not iree-encode-parameters --module=%t/encoder.vmfb --parameters=m=%t/m.irpa --output=encoded=%t/none.irpa 2>&1 | FileCheck --check-prefix=SCOPE %s
// RUN: not iree-encode-parameters --module=%t/encoder.vmfb --parameters=m=%t/m.irpa --output=more=%t/none.irpa --target=x 2>&1 | FileCheck --check-prefix=TARGET %s
// RUN: not iree-encode-parameters --module=%t/p.vmfb --parameters=m=%t/m.irpa --output=more=%t/none.irpa 2>&1 | FileCheck --check-prefix=OTHER %s
// RUN: not iree-encode-parameters --module=%t/encoder.vmfb 2>&1 | FileCheck --check-prefix=OUTPUT %s
// RUN: not ls %t/none.irpa
// SCOPE: NOT_FOUND; the encoder makes no parameters of scope 'encoded'
// TARGET: NOT_FOUND; target 'x' not found in the encoder
// OTHER: NOT_FOUND; the module has no functions that encode parameters
// OUTPUT: INVALID_ARGUMENT; no output; --output=[scope=]file.irpa names it
//
// RUN: for f in --iree-parameter-import-maximum-size=x --iree-parameter-export-minimum-size=-1 --iree-parameter-encoder-mode=half --iree-parameter-export=x= --iree-parameter-import=x=; do not iree-compile --iree-hal-target-device=local $f %t/p.mlir -o %t/x.vmfb 2>&1 | FileCheck --check-prefix=VALUE "-DFLAG=$f" %s || exit 1; done
// RUN: not iree-compile --iree-hal-target-device=local --compile-from=flow --iree-parameter-splat=%t/z.irpa %t/p.mlir 2>&1 | FileCheck --check-prefix=PHASE %s
// VALUE: error: [[FLAG]]:
// PHASE: error: --iree-parameter flags are for programs that have not been through the phase global-optimization yet

util.global private @w = #flow.parameter.named<"m"::"w"> : tensor<128xf32>
util.global private @k = #flow.parameter.named<"m"::"k"> : tensor<8xi4>
util.global private @late : tensor<128xf32>
util.global private mutable @state = dense<3.0> : tensor<128xf32>
util.initializer {
  %w = util.global.load @w : tensor<128xf32>
  %forty = arith.constant dense<40.0> : tensor<128xf32>
  %0 = arith.addf %w, %forty : tensor<128xf32>
  util.global.store %0, @late : tensor<128xf32>
  util.return
}
func.func @main(%x: tensor<128xf32>) -> (tensor<128xf32>, tensor<8xi8>) {
  %w = util.global.load @w : tensor<128xf32>
  %late = util.global.load @late : tensor<128xf32>
  %state = util.global.load @state : tensor<128xf32>
  %numbers = arith.constant dense<[NUMBERS]> : tensor<128xf32>
  %0 = arith.mulf %x, %w : tensor<128xf32>
  %1 = arith.addf %0, %late : tensor<128xf32>
  %2 = arith.addf %1, %state : tensor<128xf32>
  %3 = arith.addf %2, %numbers : tensor<128xf32>
  util.global.store %state, @state : tensor<128xf32>
  %k = util.global.load @k : tensor<8xi4>
  %4 = arith.extsi %k : tensor<8xi4> to tensor<8xi8>
  return %3, %4 : tensor<128xf32>, tensor<8xi8>
}
