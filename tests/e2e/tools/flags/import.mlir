// Flags of iree-import-onnx.
// RUN: iree-import-onnx examples/digits/digits.onnx -o %t.mlir && grep "@classify" %t.mlir
// RUN: iree-import-onnx examples/digits/digits.onnx --opset-version 18 | grep "opset_version = 18"
// RUN: not iree-import-onnx examples/digits/digits.onnx --opset-version x 2>&1 | grep "is not a whole number"
// RUN: iree-import-onnx examples/digits/digits.onnx --externalize-params --params-scope s --num-elements-threshold 1000 --save-params-to %t.irpa -o %t.p.mlir && grep '"s"::"dense.weight"' %t.p.mlir && grep 'dense_resource<_dense.bias>' %t.p.mlir && iree-dump-parameters --parameters=%t.irpa | grep "dense.weight"
// RUN: iree-import-onnx examples/digits/digits.onnx --externalize-params --no-externalize-params | not grep parameter.named
// RUN: rm -f %t.n_params.irpa && iree-import-onnx examples/digits/digits.onnx --externalize-params --no-save-params -o %t.n.mlir && not ls %t.n_params.irpa
// RUN: iree-import-onnx examples/digits/digits.onnx --externalize-params --no-save-params --save-params -o %t.n.mlir && ls %t.n_params.irpa
// RUN: iree-import-onnx examples/digits/digits.onnx --externalize-params --no-save-params --externalize-inputs-threshold 0 -o %t.i.mlir && grep -c "func.func @classify()" %t.i.mlir
// RUN: for flag in --large-model --no-large-model --data-prop --no-data-prop --no-verify "--param-gb-threshold 1"; do iree-import-onnx examples/digits/digits.onnx $flag | cmp - %t.mlir || exit 1; done
// RUN: not iree-import-onnx examples/digits/digits.onnx --param-gb-threshold x 2>&1 | grep "is not a number"
// RUN: not iree-import-onnx examples/digits/digits.onnx --large-model=1 2>&1 | grep "large-model"
// RUN: not iree-import-onnx examples/digits/digits.onnx --no-large-model=1 2>&1 | grep "large-model"
// RUN: not iree-import-onnx examples/digits/digits.onnx --data-prop=1 2>&1 | grep "data-prop"
// RUN: not iree-import-onnx examples/digits/digits.onnx --no-data-prop=1 2>&1 | grep "data-prop"
// RUN: not iree-import-onnx examples/digits/digits.onnx --no-verify=1 2>&1 | grep "no-verify"
// RUN: not iree-import-onnx examples/digits/digits.onnx --data-dir 2>&1 | grep "data-dir"
