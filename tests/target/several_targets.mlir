// One module for several targets: an executable for each, chosen when the module is loaded.

// RUN: iree-compile --iree-hal-target-backends=llvm-cpu,vmvx %s -o %t.cpu.vmfb && unzip -l %t.cpu.vmfb | FileCheck --check-prefix=CPU %s
// CPU: executables/module_linked_llvm_cpu_embedded_elf_x86_64.so
// CPU: executables/module_linked_vmvx_vmvx_bytecode_fb_1.vmvx
// RUN: iree-run-module --device=local-task --module=%t.cpu.vmfb --function=main --input=4xf32=1,2,3,4 --expected_output=f32=20

// Exact processors come before generic ones, whatever the order they are named in.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-target-device=amdgpu --iree-rocm-target=gfx11-generic --iree-rocm-target=gfx942,gfx1100 %s -o %t.vmfb && iree-dump-module %t.vmfb | FileCheck --check-prefix=LIST %s
// LIST: Targets:
// LIST-NEXT: [  0] llvm-cpu embedded-elf-x86_64
// LIST-NEXT: [  1] rocm gfx942
// LIST-NEXT: [  2] rocm gfx1100
// LIST-NEXT: [  3] rocm gfx11-generic
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=4xf32=1,2,3,4 --expected_output=f32=20
// RUN: iree-softgpu --target=gfx942 -- iree-run-module --device=amdgpu --module=%t.vmfb --function=main --input=4xf32=1,2,3,4 --expected_output=f32=20
// RUN: iree-softgpu --target=gfx1101 -- iree-run-module --device=amdgpu --module=%t.vmfb --function=main --input=4xf32=1,2,3,4 --expected_output=f32=20

// Where formats are the same, the processor decides; files are told apart by its name.
// RUN: rm -rf %t.files && iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx942 --iree-hip-target=gfx1100 --iree-hal-dump-executable-binaries-to=%t.files %s -o %t.hip.vmfb
// RUN: test -e %t.files/module_main_dispatch_0_reduction_4_f32_rocm_hsaco_fb_gfx942.hsaco && test -e %t.files/module_main_dispatch_0_reduction_4_f32_rocm_hsaco_fb_gfx1100.hsaco
// RUN: not iree-run-module --device=local-sync --module=%t.hip.vmfb --function=main --input=4xf32 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: INCOMPATIBLE{{.*}}cpu gfx942), which needs gfx942; {{.*}}cpu gfx1100), which needs gfx1100]

// A module of one target needs no choice: the driver says what the GPU is, and what to compile for.
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_120 %s -o %t.new.vmfb
// RUN: not iree-softgpu --target=sm_80 -- iree-run-module --device=cuda --module=%t.new.vmfb --function=main --input=4xf32 2>&1 | FileCheck --check-prefix=NEWER %s
// NEWER: INCOMPATIBLE{{.*}}for sm_120 and later, the device is a sm_80: compile with --iree-cuda-target=sm_80

// Code that this processor cannot run is left alone: another target's is taken, or none. bdver2 has instructions that no
// later processor has.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu,vmvx --iree-llvmcpu-target-cpu=bdver2 %s -o %t.old.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.old.vmfb --function=main --input=4xf32=1,2,3,4 --expected_output=f32=20
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=bdver2 %s -o %t.bdver2.vmfb
// RUN: not iree-run-module --device=local-sync --module=%t.bdver2.vmfb --function=main --input=4xf32 2>&1 | FileCheck --check-prefix=OLD %s
// OLD: INCOMPATIBLE{{.*}}cpu bdver2), which needs {{fma4|xop|sse4a}}], the device takes [embedded-elf-x86_64, 

// State is one for all targets.
ml_program.global private mutable @sum(dense<0.0> : tensor<f32>) : tensor<f32>

func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %two : tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = ml_program.global_load @sum : tensor<f32>
  %3 = stablehlo.add %1, %2 : tensor<f32>
  ml_program.global_store @sum = %3 : tensor<f32>
  return %3 : tensor<f32>
}
