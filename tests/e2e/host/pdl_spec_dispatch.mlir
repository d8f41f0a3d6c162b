// A pattern whose place a function of the runtime's plugins takes, by rewriteAsFlowDispatch: that of
// samples/custom_dispatch/cpu/plugin, which takes base and offset of each tensor and the number of elements.
// RUN: rm -rf %t && mkdir %t && clang -shared -fPIC -O1 -Iinclude samples/custom_dispatch/cpu/plugin/plugin.c -o %t/plugin.so
// RUN: sed -n 's|^// spec: \{0,1\}||p' %s > %t/spec.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-preprocessing-pdl-spec-filename=%t/spec.mlir %s -o %t/out.vmfb
// RUN: iree-run-module --device=local-sync --executable_plugin=%t/plugin.so --module=%t/out.vmfb --function=open --input=4xf32=1,2,3,4 --input=4xf32=2,3,4,5 --expected_output=4xf32=3,8,15,24 | FileCheck --check-prefix=CALLED %s
// CALLED: plugin: 4 products
// RUN: iree-run-module --device=local-task --executable_plugin=%t/plugin.so --module=%t/out.vmfb --function=known --input=2xf32=1,2 --input=2xf32=3,4 --expected_output=2xf32=9,32 | FileCheck --check-prefix=TWICE %s
// TWICE: plugin: 2 products
// TWICE: plugin: 2 products
// RUN: iree-compile --iree-hal-target-device=local --iree-preprocessing-pdl-spec-filename=%t/spec.mlir --mlir-print-ir-after-all --compile-to=input %s -o - 2>&1 | FileCheck %s
// CHECK: util.func private @multiply_slice_f32_f32_f32_i64_1_dispatch(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: i64) -> tensor<2xf32>
// CHECK: stream.executable private @multiply_slice_f32_f32_f32_i64_1_executable
// CHECK: util.func private @multiply_slice_f32_f32_f32_i64_dispatch(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>, %arg2: i64, %arg3: index) -> tensor<?xf32>
// CHECK: stream.executable private @multiply_slice_f32_f32_f32_i64_executable
// CHECK: func.func private @multiply_slice(memref<f32>, index, memref<f32>, index, memref<f32>, index, i64)
// CHECK-LABEL: func.func @known
// CHECK: call @multiply_slice_f32_f32_f32_i64_1_dispatch
// CHECK: call @multiply_slice_f32_f32_f32_i64_1_dispatch
// RUN: sed -e 's/%lengths = pdl.range %n : /%lengths = pdl.range %n, %n : !pdl.value, /' %t/spec.mlir > %t/bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t/bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=SIZES %s
// SIZES: 'pdl.apply_native_rewrite' op takes tensors and numbers, replaces tensors, and needs their sizes, open ones or all
// RUN: sed -e 's/= "multiply_slice"/= 7 : i32/' %t/spec.mlir > %t/bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t/bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=NAME %s
// NAME: 'pdl.apply_native_rewrite' op needs a root, a function's name, inputs, what they replace, its sizes, others
// RUN: sed -e 's/pdl.range %n_i64/pdl.range %n/' %t/spec.mlir > %t/bad.mlir && not iree-compile --iree-preprocessing-pdl-spec-filename=%t/bad.mlir --compile-to=input %s 2>&1 | FileCheck --check-prefix=SIZES %s

func.func @open(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %x, %y : tensor<?xf32>
  %1 = arith.addf %0, %x : tensor<?xf32>
  return %1 : tensor<?xf32>
}

func.func @known(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.mulf %x, %y : tensor<2xf32>
  %1 = arith.mulf %0, %y : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// spec: pdl.pattern @product : benefit(1) {
// spec:   %type = pdl.type
// spec:   %x = pdl.operand : %type
// spec:   %y = pdl.operand : %type
// spec:   %f32 = pdl.type : f32
// spec:   %product = pdl.operation "arith.mulf"(%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
// spec:   pdl.apply_native_constraint "checkTensorElementType"(%type, %f32 : !pdl.type, !pdl.type)
// spec:   pdl.rewrite %product {
// spec:     %index = pdl.type : index
// spec:     %i64 = pdl.type : i64
// spec:     %zero_value = pdl.attribute = 0 : index
// spec:     %zero_op = pdl.operation "arith.constant" {"value" = %zero_value} -> (%index : !pdl.type)
// spec:     %zero = pdl.result 0 of %zero_op
// spec:     %n_op = pdl.operation "tensor.dim"(%x, %zero : !pdl.value, !pdl.value) -> (%index : !pdl.type)
// spec:     %n = pdl.result 0 of %n_op
// spec:     %cast = pdl.operation "arith.index_cast"(%n : !pdl.value) -> (%i64 : !pdl.type)
// spec:     %n_i64 = pdl.result 0 of %cast
// spec:     %name = pdl.attribute = "multiply_slice"
// spec:     %inputs = pdl.range %x, %y : !pdl.value, !pdl.value
// spec:     %result = pdl.result 0 of %product
// spec:     %results = pdl.range %result : !pdl.value
// spec:     %lengths = pdl.range %n : !pdl.value
// spec:     %others = pdl.range %n_i64 : !pdl.value
// spec:     pdl.apply_native_rewrite "rewriteAsFlowDispatch"(%product, %name, %inputs, %results, %lengths, %others : !pdl.operation, !pdl.attribute, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>)
// spec:   }
// spec: }
