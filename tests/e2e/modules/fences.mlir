// Modules that call each other with fences, and results in memory that the caller brings.
// RUN: iree-compile --iree-execution-model=async-external --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx tests/e2e/modules/Inputs/storage.mlir -o %t.storage.vmfb
// RUN: iree-compile --iree-execution-model=async-external --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-task --module=%t.storage.vmfb --module=%t.vmfb --function=run --input=6xf32=-1,2,-3,4,-5,6 --expected_output=6xf32=1,4,9,16,25,36
// RUN: iree-dump-module --output=metadata %t.vmfb | FileCheck --check-prefix=FENCES %s
// The same modules, called without.
// RUN: sed s/iree.abi.model/unused/ %s > %t.sync.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx tests/e2e/modules/Inputs/storage.mlir -o %t.storage.sync.vmfb
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %t.sync.mlir -o %t.sync.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.storage.sync.vmfb --module=%t.sync.vmfb --function=run --input=6xf32=-1,2,-3,4,-5,6 --expected_output=6xf32=1,4,9,16,25,36
// RUN: iree-run-module --device=local-sync --module=%t.storage.sync.vmfb --function=mul --input=6xf32=2 --input=6xf32=3 --input='&6xf32' --expected_output=6xf32=6
// RUN: iree-run-module --device=local-sync --module=%t.storage.sync.vmfb --function=mul --input=6xf32=2 --input=6xf32=3 --input=6xf32 --expected_output=6xf32=6
// RUN: not iree-run-module --device=local-sync --module=%t.storage.sync.vmfb --function=mul --input=6xf32=2 --input=6xf32=3 --input='&5xf32' 2>&1 | FileCheck --check-prefix=SMALL %s
// RUN: not iree-compile --iree-execution-model=outline --iree-hal-target-backends=vmvx %s 2>&1 | FileCheck --check-prefix=MODEL %s
// RUN: not iree-compile --iree-execution-model=host-only %s 2>&1 | FileCheck --check-prefix=HOST %s
// FENCES: run(!vm.ref<?>, !vm.ref<?>, !vm.ref<?>) -> (!vm.ref<?>)
// FENCES: iree.abi.declaration: async func @run
// FENCES: iree.abi.model: coarse-fences
// SMALL: input2 buffer byte length 20 less than expected minimum 24
// MODEL: --iree-execution-model=outline is not known; async-internal, async-external, host-only, inline-static and inline-dynamic are
// HOST: needs a device, and --iree-execution-model=host-only has none
module @pipeline {
  func.func private @storage.abs(tensor<6xf32>) -> tensor<6xf32> attributes {iree.abi.model = "coarse-fences"}
  func.func private @storage.mul(tensor<6xf32>, tensor<6xf32>, tensor<6xf32> {iree.abi.output = 0 : index}) -> tensor<6xf32> attributes {iree.abi.model = "coarse-fences"}
  func.func @run(%x: tensor<6xf32>) -> tensor<6xf32> {
    %0 = call @storage.abs(%x) : (tensor<6xf32>) -> tensor<6xf32>
    %1 = tensor.empty() : tensor<6xf32>
    %2 = call @storage.mul(%0, %0, %1) : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}
