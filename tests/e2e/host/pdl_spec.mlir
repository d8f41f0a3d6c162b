// A file of pdl.pattern ops that rewrites ops of the program as it is written.
// RUN: sed -n 's|^// spec: \{0,1\}||p' %s > %t.spec.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-preprocessing-pdl-spec-filename=%t.spec.mlir %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=quotients --input=6 --input=2 --input=10 --input=4 --expected_output=7.5
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=inverse --input=3xf32=1,-2,3 --expected_output=3xf32=1,-2,3
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=pair --input=2xf32=1,2 --expected_output=2xf32=3,4 --expected_output=2xf32=7,8
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=numbers --input=2xi32=5,6 --input=2xf32=5,6 --expected_output=2xi32=-5,-6 --expected_output=2xf32=5,6
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=sizes --input=2x3xf32=0 --expected_output=2 --expected_output=3
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=slices --input=4x4xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --input=1 --input=2 --expected_output=2x2xf32=-6,-7,-10,-11 --expected_output=1x4xf32=-5,-6,-7,-8
// RUN: iree-compile --iree-hal-target-device=local --iree-preprocessing-pdl-spec-filename=%t.spec.mlir --mlir-print-ir-after-all --compile-to=input %s -o - 2>&1 | FileCheck %s
// CHECK: IR Dump After pdl-spec
// CHECK-LABEL: @quotients
// CHECK: %[[A:.*]] = arith.mulf %arg0, %arg2
// CHECK: %[[B:.*]] = arith.mulf %arg1, %arg3
// CHECK: arith.divf %[[A]], %[[B]]
// CHECK-LABEL: @inverse
// CHECK-NEXT: math.exp
// CHECK-NEXT: return %arg0
// CHECK-LABEL: @sizes
// CHECK: tensor.dim %arg0, %{{.*}} : tensor<?x?xf32>
// CHECK-LABEL: @slices
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[%arg1, %arg1] [%arg2, %arg2] [1, 1] : tensor<4x4xf32> to tensor<?x?xf32>
// CHECK: arith.negf %[[S]]
// CHECK: %[[R:.*]] = tensor.extract_slice %arg0[%arg1, 0] [1, 4] [1, 1]
// CHECK: arith.negf %[[R]]
// RUN: iree-opt --verify-roundtrip %t.spec.mlir -o %t.again.mlir && iree-compile --iree-hal-target-device=local --iree-preprocessing-pdl-spec-filename=%t.again.mlir --mlir-print-ir-after-all --compile-to=input %s -o - 2>&1 | FileCheck %s
//
// The same as a pass with an option, in iree-opt and among those that run before all others.
// RUN: iree-opt --pass-pipeline='builtin.module(iree-preprocessing-apply-pdl-patterns{patterns-file=%t.spec.mlir})' --dump-pass-pipeline %s 2>%t.passes | FileCheck --check-prefix=PASS %s && FileCheck --check-prefix=PIPELINE %s < %t.passes
// PIPELINE: pdl-spec{patterns-file={{.*}}.spec.mlir}
// PASS-LABEL: @quotients
// PASS: arith.mulf %arg0, %arg2
// RUN: iree-compile --iree-hal-target-device=local --iree-preprocessing-pass-pipeline='builtin.module(cse, iree-preprocessing-apply-pdl-patterns{ patterns-file=%t.spec.mlir }, func.func(dce))' %s -o %t.vmfb && iree-run-module --device=local-sync --module=%t.vmfb --function=inverse --input=3xf32=1,-2,3 --expected_output=3xf32=1,-2,3
// RUN: not iree-opt --pass-pipeline='pdl-spec{pattern-file=x}' %s 2>&1 | FileCheck --check-prefix=OPTION %s
// OPTION: iree-opt: pass 'pdl-spec' has no option 'pattern-file'; it has patterns-file=...
// RUN: not iree-opt --pass-pipeline='pdl-spec{patterns-file=x' %s 2>&1 | FileCheck --check-prefix=OPEN %s
// OPEN: iree-opt: pass 'pdl-spec': '{' without '}'
// RUN: not iree-opt --pass-pipeline=pdl-spec %s 2>&1 | FileCheck --check-prefix=FILE %s
// RUN: not iree-compile --iree-preprocessing-pass-pipeline=pdl-spec --compile-to=preprocessing %s 2>&1 | FileCheck --check-prefix=FILE %s
// FILE: error: pass 'pdl-spec{patterns-file=FILE}' needs the name of a file
//
// RUN: sed -e 's/"checkTensorElementType"/"checkElement"/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=CONSTRAINT %s
// CONSTRAINT: bad.mlir:{{[0-9]+:[0-9]+}}: error: 'pdl.apply_native_constraint' op is of no constraint that is there: checkTensorElementType(type, element) is
// RUN: sed -e 's/pdl.replace %l with .*/pdl.apply_native_rewrite "inline"(%l : !pdl.operation)/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=NATIVE %s
// NATIVE: error: 'pdl.apply_native_rewrite' op is of no function that is there: rewriteAsFlowDispatch is
// RUN: sed -e 's/pdl.replace %l with .*/pdl.erase %l/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=USED %s
// USED: error: 'pdl.erase' op is of an op whose results are used: pdl.replace says by what
// RUN: sed -e 's/pdl.replace %l with .*/pdl.replace %l with (%y, %y : !pdl.value, !pdl.value)/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=COUNT %s
// COUNT: error: 'pdl.replace' op needs a value for each result of what it replaces
// RUN: sed -e 's/ with %divided/ with (%0, %2 : !pdl.value, !pdl.value)/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=COUNT %s
// RUN: sed -e 's/new = pdl.operation "tensor.dim"/new = pdl.operation "tensor.rank"/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=MADE %s
// MADE: error: {{.*}}tensor.rank
// RUN: sed -e 's/"arith.addi"(%r, %r : !pdl.value, !pdl.value)/"tosa.identity"(%r : !pdl.value)/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=INFER %s
// INFER: error: 'pdl.operation' op needs the types of its results, -> (%type : !pdl.type): they do not follow from its operands
// RUN: sed -e 's/numbers_new = pdl.operation "arith.subi"(%z, %n : !pdl.value, !pdl.value)/numbers_new = pdl.operation "tosa.identity"(%n : !pdl.value)/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=ENDLESS %s
// ENDLESS: error: 'pdl.pattern' op and those beside it match after 10 rounds still; they have to end
// RUN: echo 'module {}' > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=EMPTY %s
// EMPTY: error: the file has no pdl.pattern
// RUN: echo 'pdl.pattern : benefit(1) { %0 = pdl.operand  pdl.rewrite {} }' > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=ROOT %s
// ROOT: error: 'pdl.pattern' op needs a pdl.operation that no other one uses
// RUN: echo 'pdl.pattern : benefit(1) { %0 = pdl.operation }' > %t.bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=END %s
// END: error: 'pdl.operation' op block with no terminator

// a / b * (c / d) as a * c / (b * d).
func.func @quotients(%a: f32, %b: f32, %c: f32, %d: f32) -> f32 {
  %0 = arith.divf %a, %b : f32
  %1 = arith.divf %c, %d : f32
  %2 = arith.mulf %0, %1 : f32
  return %2 : f32
}

// The logarithm of an exponential function, of whatever type; the first pattern has the greater benefit.
func.func @inverse(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = math.exp %x : tensor<3xf32>
  %1 = math.log %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// Two ops that use one value: the pattern's first leads to the second by it.
func.func @pair(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %two = arith.constant dense<2.0> : tensor<2xf32>
  %six = arith.constant dense<6.0> : tensor<2xf32>
  %0 = arith.subf %x, %two : tensor<2xf32>
  %1 = arith.subf %x, %six : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Of i32 only.
func.func @numbers(%x: tensor<2xi32>, %y: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xf32>) {
  %0 = "tosa.identity"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  %1 = "tosa.identity"(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xi32>, tensor<2xf32>
}

// Types of new ops that the pattern does not say.
func.func @sizes(%x: tensor<?x?xf32>) -> (index, index) {
  %0:2 = util.optimization_barrier %x, %x : tensor<?x?xf32>, tensor<?x?xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %1 = tensor.dim %0#0, %zero : tensor<?x?xf32>
  %2 = tensor.dim %0#1, %one : tensor<?x?xf32>
  return %1, %2 : index, index
}

// Several ranges take what operandSegmentSizes says that each has, also nothing.
func.func @slices(%x: tensor<4x4xf32>, %i: index, %n: index) -> (tensor<?x?xf32>, tensor<1x4xf32>) {
  %0 = arith.negf %x : tensor<4x4xf32>
  %1 = tensor.extract_slice %0[%i, %i] [%n, %n] [1, 1] : tensor<4x4xf32> to tensor<?x?xf32>
  %2 = tensor.extract_slice %0[%i, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<1x4xf32>
  return %1, %2 : tensor<?x?xf32>, tensor<1x4xf32>
}

// spec: // A slice of -x is - of a slice of x.
// spec: pdl.pattern @slices : benefit(1) {
// spec:   %type = pdl.type
// spec:   %slice_type = pdl.type
// spec:   %x = pdl.operand : %type
// spec:   %offsets = pdl.operands
// spec:   %counts = pdl.operands
// spec:   %steps = pdl.operands
// spec:   %at = pdl.attribute
// spec:   %by = pdl.attribute
// spec:   %every = pdl.attribute
// spec:   %segments = pdl.attribute
// spec:   %negated = pdl.operation "arith.negf"(%x : !pdl.value) -> (%type : !pdl.type)
// spec:   %n = pdl.result 0 of %negated
// spec:   %slice = pdl.operation "tensor.extract_slice"(%n, %offsets, %counts, %steps : !pdl.value, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>) {"static_offsets" = %at, "static_sizes" = %by, "static_strides" = %every, "operandSegmentSizes" = %segments} -> (%slice_type : !pdl.type)
// spec:   pdl.rewrite %slice {
// spec:     %moved = pdl.operation "tensor.extract_slice"(%x, %offsets, %counts, %steps : !pdl.value, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>) {"static_offsets" = %at, "static_sizes" = %by, "static_strides" = %every, "operandSegmentSizes" = %segments} -> (%slice_type : !pdl.type)
// spec:     %m = pdl.result 0 of %moved
// spec:     %last = pdl.operation "arith.negf"(%m : !pdl.value) -> (%slice_type : !pdl.type)
// spec:     pdl.replace %slice with %last
// spec:   }
// spec: }
// spec: pdl.pattern @quotients : benefit(1) {
// spec:   %type = pdl.type : f32
// spec:   %0 = pdl.operand
// spec:   %1 = pdl.operand
// spec:   %2 = pdl.operand
// spec:   %3 = pdl.operand
// spec:   %a = pdl.operation "arith.divf"(%0, %1 : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:   %ar = pdl.result 0 of %a
// spec:   %b = pdl.operation "arith.divf"(%2, %3 : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:   %br = pdl.result 0 of %b
// spec:   %product = pdl.operation "arith.mulf"(%ar, %br : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:   pdl.rewrite %product {
// spec:     %c = pdl.operation "arith.mulf"(%0, %2 : !pdl.value, !pdl.value)
// spec:     %cr = pdl.result 0 of %c
// spec:     %d = pdl.operation "arith.mulf"(%1, %3 : !pdl.value, !pdl.value)
// spec:     %dr = pdl.result 0 of %d
// spec:     %divided = pdl.operation "arith.divf"(%cr, %dr : !pdl.value, !pdl.value)
// spec:     pdl.replace %product with %divided
// spec:   }
// spec: }
// spec: pdl.pattern @wrong_for_inverse : benefit(1) {
// spec:   %type = pdl.type
// spec:   %x = pdl.operand : %type
// spec:   %w = pdl.operation "math.log"(%x : !pdl.value) -> (%type : !pdl.type)
// spec:   pdl.rewrite %w {
// spec:     %s = pdl.operation "math.sqrt"(%x : !pdl.value)
// spec:     pdl.replace %w with %s
// spec:   }
// spec: }
// spec: pdl.pattern @inverse : benefit(5) {
// spec:   %types = pdl.types
// spec:   %xs = pdl.operands
// spec:   %e = pdl.operation "math.exp"(%xs : !pdl.range<value>) -> (%types : !pdl.range<type>)
// spec:   %y = pdl.result 0 of %e
// spec:   %l = pdl.operation "math.log"(%y : !pdl.value) -> (%types : !pdl.range<type>)
// spec:   pdl.rewrite {
// spec:     pdl.replace %l with (%xs : !pdl.range<value>)
// spec:   }
// spec: }
// spec: // x - 2 beside x - 6: + of both instead, each constant found by what it is.
// spec: pdl.pattern @pair : benefit(1) {
// spec:   %type = pdl.type : tensor<2xf32>
// spec:   %two = pdl.attribute = dense<2.0> : tensor<2xf32>
// spec:   %six = pdl.attribute : %type
// spec:   %x = pdl.operand : %type
// spec:   %c0 = pdl.operation "arith.constant" {"value" = %two} -> (%type : !pdl.type)
// spec:   %v0 = pdl.result 0 of %c0
// spec:   %c1 = pdl.operation "arith.constant" {"value" = %six} -> (%type : !pdl.type)
// spec:   %v1 = pdl.results 0 of %c1 -> !pdl.value
// spec:   %first = pdl.operation "arith.subf"(%x, %v0 : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:   %second = pdl.operation "arith.subf"(%x, %v1 : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:   pdl.rewrite %second {
// spec:     %add0 = pdl.operation "arith.addf"(%x, %v0 : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:     %add1 = pdl.operation "arith.addf"(%x, %v1 : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:     %r1 = pdl.results of %add1
// spec:     pdl.replace %first with %add0
// spec:     pdl.replace %second with (%r1 : !pdl.range<value>)
// spec:   }
// spec: }
// spec: pdl.pattern @numbers : benefit(1) {
// spec:   %type = pdl.type
// spec:   %n = pdl.operand : %type
// spec:   %element = pdl.type : i32
// spec:   %same = pdl.type
// spec:   %old = pdl.operation "tosa.identity"(%n : !pdl.value) -> (%same : !pdl.type)
// spec:   pdl.apply_native_constraint "checkTensorElementType"(%same, %element : !pdl.type, !pdl.type)
// spec:   pdl.rewrite %old {
// spec:     %zero = pdl.attribute = dense<0> : tensor<2xi32>
// spec:     %c = pdl.operation "arith.constant" {"value" = %zero}
// spec:     %z = pdl.result 0 of %c
// spec:     %numbers_new = pdl.operation "arith.subi"(%z, %n : !pdl.value, !pdl.value) -> (%same : !pdl.type)
// spec:     %r = pdl.result 0 of %numbers_new
// spec:     %t = pdl.operation "arith.addi"(%r, %r : !pdl.value, !pdl.value)
// spec:     pdl.erase %t
// spec:     pdl.replace %old with %numbers_new
// spec:   }
// spec: }
// spec: pdl.pattern @sizes : benefit(1) {
// spec:   %type = pdl.type
// spec:   %x = pdl.operand : %type
// spec:   %barrier = pdl.operation "util.optimization_barrier"(%x, %x : !pdl.value, !pdl.value) -> (%type, %type : !pdl.type, !pdl.type)
// spec:   %first = pdl.result 0 of %barrier
// spec:   %index = pdl.type : index
// spec:   %i = pdl.operand
// spec:   %dim = pdl.operation "tensor.dim"(%first, %i : !pdl.value, !pdl.value) -> (%index : !pdl.type)
// spec:   pdl.rewrite %dim {
// spec:     %new = pdl.operation "tensor.dim"(%x, %i : !pdl.value, !pdl.value)
// spec:     %r = pdl.result 0 of %new
// spec:     pdl.replace %dim with (%r : !pdl.value)
// spec:   }
// spec: }
