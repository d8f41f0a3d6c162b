// What a module may use: steps of host program and kernels, time, memory; and no native code.
// RUN: iree-compile --iree-hal-target-backends=vmvx %s -o %t.vmfb
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu %s -o %t-native.vmfb
// RUN: not iree-run-module --module=%t.vmfb --function=endless --input=i32=1 --max_steps=20000 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not iree-run-module --module=%t.vmfb --function=endless --input=i32=1 --max_time_ms=20 2>&1 | FileCheck %s --check-prefix=TIME
// RUN: not iree-run-module --module=%t.vmfb --function=long --input=512x512xf32=1 --device=local-sync --max_steps=200000 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not iree-run-module --module=%t.vmfb --function=grow --input=4xf32=1 --max_memory=1000000 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not iree-run-module --module=%t-native.vmfb --function=grow --input=4xf32=1 --module_portable_only 2>&1 | FileCheck %s --check-prefix=NATIVE
// RUN: not iree-run-module --module=%t.vmfb --function=few --input=4xf32=1 --max_steps=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: iree-run-module --module=%t.vmfb --function=few --input=4xf32=1 --module_portable_only --max_steps=5000 --max_memory=1000000 --max_time_ms=60000 --expected_output=4xf32=2
// STEPS: RESOURCE_EXHAUSTED; stopped after 20000 steps
// STEPS: module.endless
// TIME: DEADLINE_EXCEEDED; stopped at the call's deadline
// TIME: module.endless
// KERNEL: RESOURCE_EXHAUSTED; stopped after 200000 steps, as many as the call may take; in vmvx function 'long_dispatch_0
// MEMORY: RESOURCE_EXHAUSTED; {{[0-9]+}} bytes are more than may be used: {{[0-9]+}} of 1000000 are taken
// NATIVE: PERMISSION_DENIED; executable '{{.*}}' is native code (embedded-elf-{{.*}}), which runs unconfined
// NEGATIVE: INVALID_ARGUMENT; --max_steps=-1 is negative

func.func @endless(%a: tensor<i32>) -> tensor<i32> {
  %r = stablehlo.while(%i = %a) : tensor<i32>
    cond {
      %c = stablehlo.compare EQ, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %a : tensor<i32>
      stablehlo.return %n : tensor<i32>
    }
  return %r : tensor<i32>
}

func.func @long(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

func.func @grow(%a: tensor<?xf32>) -> tensor<?xf32> {
  %k = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %m = stablehlo.constant dense<60> : tensor<i32>
  %r:2 = stablehlo.while(%i = %k, %x = %a) : tensor<i32>, tensor<?xf32>
    cond {
      %c = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      stablehlo.return %n, %y : tensor<i32>, tensor<?xf32>
    }
  return %r#1 : tensor<?xf32>
}

func.func @few(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
