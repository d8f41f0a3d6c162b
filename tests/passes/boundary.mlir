// Elements below 8 bits are bytes outside of functions.
//
// RUN: iree-opt --pass=boundary --pass=canonicalize --pass=dce %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=nibbles --input="5xi4=1 -2 3 -4 5" 2>&1 | FileCheck --check-prefix=NIBBLES %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=sextets --input="2x3xf6E2M3FN=1 2 3 4 5 7.5" 2>&1 | FileCheck --check-prefix=SEXTETS %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open --input="0x4xui2" --input="3x1xui2=3 2 1" 2>&1 | FileCheck --check-prefix=OPEN %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=plain --input="2xf8E4M3=240 -1" 2>&1 | FileCheck --check-prefix=PLAIN %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=nibbles --input=5xi8=1 2>&1 | FileCheck --check-prefix=OTHER %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=nibbles --input="5xi4=1 -2 3 -4 5" --output=@%t.npy
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=nibbles --input="5xi4=@%t.npy" --expected_output="5xi4=1 -2 3 -4 5" 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=nibbles --input="5xi4=@%t.npy" --expected_output="5xi4=1 -2 3 -4 6" 2>&1 | FileCheck --check-prefix=DIFFERENT %s
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=nibbles --input="9xi4=@%t.npy" 2>&1 | FileCheck --check-prefix=SHORT %s

// SAME: [SUCCESS]
// DIFFERENT: result[0]: element at index 4 (5) does not match the expected (6)
// SHORT: numpy array has 3 bytes where the tensor takes 5
// NIBBLES: {{^5xi4=-1 2 -3 4 -5$}}
// SEXTETS: {{^2x3xf6E2M3FN=\[-1 -2 -3\]\[-4 -5 -7\.5\]$}}
// OPEN: {{^0x4xui2=$}}
// OPEN: {{^3x1xui2=\[3\]\[2\]\[1\]$}}
// PLAIN: {{^2xf8E4M3=-240 1$}}
// OTHER: input0 element type mismatch; expected i4 (10000004) but have i8 (10000008)

// CHECK-LABEL: func.func @nibbles
// CHECK-SAME: (%arg0: tensor<3xi8>) -> tensor<3xi8>
// CHECK-SAME: iree.abi.type = (tensor<5xi4>) -> tensor<5xi4>
// CHECK: graph.shru
// CHECK: graph.castu{{.*}} -> tensor<3x2xi4>
// CHECK: graph.neg
// CHECK: graph.shl
// CHECK: return %{{.*}} : tensor<3xi8>
func.func @nibbles(%x: tensor<5xi4>) -> tensor<5xi4> {
  %0 = "graph.neg"(%x) : (tensor<5xi4>) -> tensor<5xi4>
  return %0 : tensor<5xi4>
}

// Four elements are three bytes.
// CHECK-LABEL: func.func @sextets
// CHECK-SAME: (%arg0: tensor<5xi8>) -> tensor<5xi8>
// CHECK: graph.bitcast{{.*}} -> tensor<2x3xf6E2M3FN>
func.func @sextets(%x: tensor<2x3xf6E2M3FN>) -> tensor<2x3xf6E2M3FN> {
  %0 = "graph.neg"(%x) : (tensor<2x3xf6E2M3FN>) -> tensor<2x3xf6E2M3FN>
  return %0 : tensor<2x3xf6E2M3FN>
}

// Sizes that the type leaves open come and go beside the bytes.
// CHECK-LABEL: func.func @open
// CHECK-SAME: (%arg0: tensor<?xi8>, %arg1: index, %arg2: index, %arg3: tensor<?xi8>, %arg4: index) -> (tensor<?xi8>, index, index, tensor<?xi8>, index)
func.func @open(%x: tensor<?x?xi2>, %y: tensor<?x1xi2>) -> (tensor<?x?xi2>, tensor<?x1xi2>)
    attributes {iree.abi.type = (tensor<?x?xui2>, tensor<?x1xui2>) -> (tensor<?x?xui2>, tensor<?x1xui2>)} {
  return %x, %y : tensor<?x?xi2>, tensor<?x1xi2>
}

// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%arg0: tensor<2xf8E4M3>) -> tensor<2xf8E4M3>
func.func @plain(%x: tensor<2xf8E4M3>) -> tensor<2xf8E4M3> {
  %0 = "graph.neg"(%x) : (tensor<2xf8E4M3>) -> tensor<2xf8E4M3>
  return %0 : tensor<2xf8E4M3>
}
