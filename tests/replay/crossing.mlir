// A capture of a CPU replays on GPUs of both kinds with the same results, bit by bit: the CPU's kernels, compiled for them,
// stand for those captured.

// RUN: rm -rf %t && mkdir %t && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell %s -o %t/m.vmfb && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell --compile-to=executable-sources %s -o %t/kernels.mlir
// RUN: iree-run-module --device=local-task --module=%t/m.vmfb --function=main --input=16x64xf32=0.5 --input=64x32xf32=0.125 --device_replay_output=%t/m.ireereplay | FileCheck %s
// CHECK: 16x32xf32=
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %t/kernels.mlir -o %t/gfx1100.hsaco && iree-softgpu --target=gfx1100 -- iree-run-replay --device=amdgpu --replay_verify=exact --replay_executable_substitution=all=%t/gfx1100.hsaco %t/m.ireereplay | FileCheck --check-prefix=SAME %s
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %t/kernels.mlir -o %t/sm_80.ptx && iree-softgpu --target=sm_80 -- iree-run-replay --device=cuda --replay_verify=exact --replay_executable_substitution=all=%t/sm_80.ptx %t/m.ireereplay | FileCheck --check-prefix=SAME %s
// RUN: not iree-softgpu --target=sm_80 -- iree-run-replay --device=cuda %t/m.ireereplay 2>&1 | grep "captured as '.*'; --replay_executable_substitution=[0-9]*=FILE replaces it"
// SAME: [SUCCESS] 1 of 1 reads (2048 bytes) are as captured

func.func @main(%a: tensor<16x64xf32>, %b: tensor<64x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x32xf32>
  %fill = linalg.fill ins(%zero: f32) outs(%empty: tensor<16x32xf32>) -> tensor<16x32xf32>
  %product = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x32xf32>) outs(%fill: tensor<16x32xf32>) -> tensor<16x32xf32>
  %0 = math.erf %product : tensor<16x32xf32>
  %1 = arith.addf %0, %product : tensor<16x32xf32>
  %2 = linalg.softmax dimension(1) ins(%1 : tensor<16x32xf32>) outs(%empty : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
