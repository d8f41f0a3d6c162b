// The flow dialect's tensor ops and dispatch regions, and encodings, which are left out.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=NOTE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=tensors --input=2x4xf32=1,2,3,4,5,6,7,8 --input=9 | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=encoded --input=4x4xf32=3 --expected_output=4x4xf32=6
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=packed --input=4xi8=32,100,-54,30 --input=8xi8=1,1,0,0,0,0,1,1 --expected_output=4xi8=64,118,-20,47 --expected_output=1xi8=-61
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=others --input=3xf32=1,2,3 --expected_output=4xf32=1,2,3,4 --expected_output=3xf32=2,4,6 --expected_output=3xf32=1,2,3
// RUN: iree-opt %s -o %t.mlir && iree-opt %t.mlir | diff %t.mlir -
// RUN: sed -e 's/flow.return %o : tensor<3xf32>/flow.return/' %s > %t.bad.mlir && not iree-compile --compile-to=input %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=REGION %s
// RUN: sed -e 's/tensor<16xi32>/tensor<15xi32>/g' %s > %t.bad.mlir && not iree-compile --compile-to=input %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=COUNT %s
// RUN: sed -e 's/%x\[%c1, %c2\]/%x[%c1]/' %s > %t.bad.mlir && not iree-compile --compile-to=input %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=INDEX %s
// NOTE: flow.mlir:[[#]]:8: note: the encoding is left out: layouts are chosen for the target
// CHECK: 4x2xf32=[1 2][3 4][5 6][7 8]
// CHECK: f32=7
// CHECK: 2x2xf32=[2 3][6 7]
// CHECK: 4x4xf32=[7 9 9 9][9 9 2 3][9 9 6 7][9 9 9 9]
// CHECK: 3xf32=9 9 9
// REGION: error: 'flow.dispatch.region' op returns other values
// COUNT: error: 'flow.tensor.bitcast' op makes 15 elements of 32 bits of 16 of 32
// INDEX: error: 'flow.tensor.load' op needs an index for each dimension

#encoding = #iree_encoding.encoding<operand_index = 0 : i64, op_type = matmul, element_types = [f32, f32, f32]>
util.func public @tensors(%x: tensor<?x4xf32>, %n: f32) -> (tensor<?x2xf32>, f32, tensor<2x2xf32>, tensor<4x4xf32>, tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %d2 = arith.muli %d, %c2 : index
  %a = flow.tensor.reshape %x : tensor<?x4xf32>{%d} -> tensor<?x2xf32>{%d2}
  %b = flow.tensor.load %x[%c1, %c2] : tensor<?x4xf32>{%d}
  %c = flow.tensor.slice %x[%c0, %c1 for %c2, %c2] : tensor<?x4xf32>{%d} -> tensor<2x2xf32>
  %e = flow.tensor.splat %n : tensor<4x4xf32>
  %f = flow.tensor.update %c, %e[%c1, %c2] : tensor<2x2xf32> -> %e as tensor<4x4xf32>
  %g = flow.tensor.store %b, %f[%c0, %c0] : tensor<4x4xf32>
  %h = flow.tensor.clone %a : tensor<?x2xf32>{%d2}
  %i = flow.tensor.transfer %g : tensor<4x4xf32> to "dummy"
  %z = flow.tensor.empty : tensor<3xf32>
  %r = flow.dispatch.region[] -> (tensor<3xf32>) {
    %o = linalg.fill ins(%n : f32) outs(%z : tensor<3xf32>) -> tensor<3xf32>
    flow.return %o : tensor<3xf32>
  }
  util.return %h, %b, %c, %i, %r : tensor<?x2xf32>, f32, tensor<2x2xf32>, tensor<4x4xf32>, tensor<3xf32>
}
util.func public @encoded(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = iree_encoding.set_encoding %x : tensor<4x4xf32> -> tensor<4x4xf32, #encoding>
  %1 = arith.addf %0, %0 : tensor<4x4xf32, #encoding>
  %2 = iree_encoding.unset_encoding %1 : tensor<4x4xf32, #encoding> -> tensor<4x4xf32>
  %3 = flow.tensor.bitcast %2 : tensor<4x4xf32> -> tensor<16xi32>
  %4 = flow.tensor.bitcast %3 : tensor<16xi32> -> tensor<4x4xf32>
  util.return %4 : tensor<4x4xf32>
}

util.func public @others(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = flow.tensor.dynamic_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> tensor<?xf32>
  %1 = flow.tensor.alloca : tensor<?xf32>{%n}
  %2 = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  %3 = flow.tensor.encode %x : tensor<?xf32>{%n} -> tensor<?xf32, #encoding>{%n}
  %4 = iree_encoding.unset_encoding %3 : tensor<?xf32, #encoding> -> tensor<?xf32>{%n}
  util.return %0, %2, %4 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

util.func public @packed(%x: tensor<4xi8>, %mask: tensor<8xi8>) -> (tensor<4xi8>, tensor<1xi8>) {
  %0 = flow.tensor.bitcast %x : tensor<4xi8> -> tensor<8xf4E2M1FN>
  %1 = arith.addf %0, %0 : tensor<8xf4E2M1FN>
  %2 = flow.tensor.bitcast %1 : tensor<8xf4E2M1FN> -> tensor<4xi8>
  %zero = arith.constant dense<0> : tensor<8xi8>
  %3 = arith.cmpi "sgt", %mask, %zero : tensor<8xi8>
  %4 = flow.tensor.bitcast %3 : tensor<8xi1> -> tensor<1xi8>
  util.return %2, %4 : tensor<4xi8>, tensor<1xi8>
}
