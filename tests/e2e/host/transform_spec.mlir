// A file of transform.named_sequence ops that finds ops of the program and puts calls in their place.
// RUN: sed -n 's|^// spec: \{0,1\}||p' %s > %t.spec.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-preprocessing-transform-spec-filename=%t.spec.mlir %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=found --input=3xf32=1,-2,3 --input=3xf32=2 --input=2xf32=5 --expected_output=3xf32=102,104,106 --expected_output=2xf32=110,110
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=other --input=3xf32=1,-2,3 --input=3xf32=2 --expected_output=3xf32=2,1,6 --expected_output=3xf32=2,-4,6
// RUN: iree-compile --iree-hal-target-device=local %s -o %t.own.vmfb && iree-run-module --device=local-sync --module=%t.own.vmfb --function=found --input=3xf32=1,-2,3 --input=3xf32=2 --input=2xf32=5 --expected_output=3xf32=2,4,6 --expected_output=2xf32=10,10
// RUN: iree-opt --verify-roundtrip %t.spec.mlir -o %t.again.mlir && iree-compile --iree-hal-target-device=local --iree-preprocessing-transform-spec-filename=%t.again.mlir --compile-to=input %s -o - | FileCheck --check-prefix=AGAIN %s
// AGAIN: graph.call
// RUN: iree-opt --pass-pipeline='builtin.module(iree-preprocessing-transform-interpreter{transform-spec-path=%t.spec.mlir})' %s | FileCheck --check-prefix=INTERPRETER %s
// INTERPRETER: util.call @hundred_more
// RUN: sed -e 's/@__transform_main/@main/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-transform-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=MAIN %s
// RUN: sed -e 's/ if undefined//' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-transform-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=UNDEFINED %s
// RUN: sed -e 's/cast_shape_dynamic_dims//;s/transform.type_conversion.tensor.//' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-transform-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=TYPES %s
// RUN: sed -e 's/"inline"/"licm"/' %t.spec.mlir > %t.bad.mlir && not iree-compile --iree-preprocessing-transform-spec-filename=%t.bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=PASS %s
// RUN: not iree-compile --iree-preprocessing-transform-spec-filename=%t.none.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=NONE %s
// MAIN: .bad.mlir:{{[0-9:]*}} error: the file has no transform.named_sequence @__transform_main of one argument
// UNDEFINED: error: 'transform.util.import_symbol' op names a symbol that the program has: if undefined
// TYPES: error: 'transform.util.cast_and_call' op has values of other types; transform.type_conversion ops may allow casts
// PASS: error: 'transform.apply_registered_pass' op names a pass that does not run here; inline, cse, canonicalize and symbol-dce do
// NONE: cannot open input file '{{.*}}.none.mlir'

// |x * y|, of three and of two; in the second the same value twice.
#map = affine_map<(d0) -> (d0)>
func.func @found(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<2xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%0 : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.subf %zero, %a : f32
    %m = arith.maximumf %a, %n : f32
    linalg.yield %m : f32
  } -> tensor<3xf32>
  %f = tensor.empty() : tensor<2xf32>
  %two = arith.constant dense<2.0> : tensor<2xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%z, %two : tensor<2xf32>, tensor<2xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<2xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%2 : tensor<2xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.subf %zero, %a : f32
    %m = arith.maximumf %a, %n : f32
    linalg.yield %m : f32
  } -> tensor<2xf32>
  return %1, %3 : tensor<3xf32>, tensor<2xf32>
}

// Another constant; another body in the middle.
func.func @other(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<3xf32>
  %one = arith.constant -3.0 : f32
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%0 : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.subf %one, %a : f32
    %m = arith.maximumf %a, %n : f32
    linalg.yield %m : f32
  } -> tensor<3xf32>
  return %1, %0 : tensor<3xf32>, tensor<3xf32>
}

// spec: #map = affine_map<(d0) -> (d0)>
// spec: module attributes {transform.with_named_sequence} {
// spec:   util.func private @hundred_more(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
// spec:     %hundred = arith.constant 100.0 : f32
// spec:     %c0 = arith.constant 0 : index
// spec:     %n = tensor.dim %x, %c0 : tensor<?xf32>
// spec:     %0 = arith.mulf %x, %y : tensor<?xf32>
// spec:     %1 = math.absf %0 : tensor<?xf32>
// spec:     %2 = tensor.splat %hundred[%n] : tensor<?xf32>
// spec:     %3 = arith.addf %1, %2 : tensor<?xf32>
// spec:     util.return %3 : tensor<?xf32>
// spec:   }
// spec:   transform.named_sequence @magnitude(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
// spec:     %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
// spec:     ^bb0(%x: tensor<?xf32>, %y: tensor<?xf32>):
// spec:       %n = arith.constant 3 : index
// spec:       %e = tensor.empty(%n) {"match.operation_name_only"} : tensor<?xf32>
// spec:       %zero = arith.constant 0.0 : f32
// spec:       %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
// spec:       ^bb0(%a: f32, %b: f32, %o: f32):
// spec:         %m = arith.mulf %a, %b : f32
// spec:         linalg.yield %m : f32
// spec:       } -> tensor<?xf32>
// spec:       %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%0 : tensor<?xf32>) outs(%e : tensor<?xf32>) {
// spec:       ^bb0(%a: f32, %o: f32):
// spec:         %n0 = arith.subf %zero, %a : f32
// spec:         %m = arith.maximumf %a, %n0 : f32
// spec:         linalg.yield %m : f32
// spec:       } -> tensor<?xf32>
// spec:     } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
// spec:     transform.yield %ins, %outs : !transform.any_value, !transform.any_value
// spec:   }
// spec:   transform.named_sequence @replace(%ins: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
// spec:     %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
// spec:     %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
// spec:     %func = transform.util.import_symbol @hundred_more into %module if undefined : (!transform.any_op) -> !transform.any_op
// spec:     transform.util.cast_and_call %func(%ins) -> %out after %root {
// spec:       transform.type_conversion.tensor.cast_shape_dynamic_dims
// spec:     } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
// spec:     transform.yield
// spec:   }
// spec:   transform.named_sequence @__transform_main(%module: !transform.any_op) {
// spec:     %funcs = transform.structured.match ops{["util.func"]} in %module : (!transform.any_op) -> !transform.any_op
// spec:     transform.foreach %funcs : !transform.any_op {
// spec:     ^bb1(%func: !transform.any_op):
// spec:       transform.foreach_match in %func @magnitude -> @replace : (!transform.any_op) -> !transform.any_op
// spec:     }
// spec:     transform.apply_dce to %module : !transform.any_op
// spec:     transform.apply_registered_pass "inline" to %module : (!transform.any_op) -> !transform.any_op
// spec:     transform.yield
// spec:   }
// spec: }
