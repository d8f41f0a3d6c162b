// Memory between arguments and results that the caller brings: as much as the function says.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-dump-module --output=metadata %t.vmfb | FileCheck %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=chain --input=16x16xf32=1 --input=16x16xf32=1 --input='&1024xi8' --expected_output=16x16xf32=256
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --function=chain --input=16x16xf32=1 --input=16x16xf32=1 --input='&1020xi8' 2>&1 | FileCheck --check-prefix=SMALL %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=none --input=2xf32=1,2 --input='(null)' --expected_output=2xf32=1,2
// RUN: iree-compile --iree-execution-model=async-external --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.async.vmfb
// RUN: iree-run-module --device=local-task --module=%t.async.vmfb --function=chain --input=16x16xf32=1 --input=16x16xf32=1 --input='&1024xi8' --expected_output=16x16xf32=256
// RUN: sed 's/!hal.buffer/tensor<4xf32>/' %s | not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx - 2>&1 | FileCheck --check-prefix=TYPE %s
// RUN: sed 's/private @later/@later/' %s | not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx - 2>&1 | FileCheck --check-prefix=SIZE %s
// CHECK: chain(
// CHECK: iree.abi.transients.size.constant: 1024
// CHECK: none(
// CHECK: iree.abi.transients.size.constant: 0
// SMALL: input2 buffer byte length 1020 less than expected minimum 1024
// TYPE: argument 2 for transient memory, which must be the only one, a !hal.buffer that nothing reads
// SIZE: argument 2 for transient memory, but needs memory whose size only the arguments tell
module @program {
  func.func @chain(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>, %memory: !hal.buffer {iree.abi.transients}) -> tensor<16x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %0 = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
    %1 = linalg.matmul ins(%0, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
  func.func @none(%x: tensor<2xf32>, %memory: !hal.buffer {iree.abi.transients}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func private @later(%x: tensor<?x16xf32>, %y: tensor<16x16xf32>, %memory: !hal.buffer {iree.abi.transients}) -> tensor<?x16xf32> {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?x16xf32>
    %e = tensor.empty(%d) : tensor<?x16xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
    %0 = linalg.matmul ins(%x, %y : tensor<?x16xf32>, tensor<16x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
    %1 = linalg.matmul ins(%0, %y : tensor<?x16xf32>, tensor<16x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
    return %1 : tensor<?x16xf32>
  }
}
