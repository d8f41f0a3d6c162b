// What --iree-hal-dump-executable-files-to writes for AMD GPUs: six files for each dispatch, a code object with the
// header that its features ask for, and assembly from which clang and lld make it again.
//
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=hip --iree-hip-target=gfx942 --iree-rocm-target-features=+sramecc,-xnack --iree-hal-dump-executable-files-to=%t %s -o %t.vmfb
// RUN: LC_ALL=C ls %t | FileCheck --check-prefix=FILES %s
// FILES: module_main_dispatch_0_matmul_64x48x32_f32.mlir
// FILES-NEXT: module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.hsaco
// FILES-NEXT: module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.linked.ll
// FILES-NEXT: module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.optimized.ll
// FILES-NEXT: module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.rocmasm
// FILES-NEXT: module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb_benchmark.mlir
// FILES-NEXT: module_main_dispatch_1_reduction_64x48_f32.mlir
// FILES-NEXT: module_main_dispatch_1_reduction_64x48_f32_rocm_hsaco_fb.hsaco
// FILES-NEXT: module_main_dispatch_1_reduction_64x48_f32_rocm_hsaco_fb.linked.ll
// FILES-NEXT: module_main_dispatch_1_reduction_64x48_f32_rocm_hsaco_fb.optimized.ll
// FILES-NEXT: module_main_dispatch_1_reduction_64x48_f32_rocm_hsaco_fb.rocmasm
// FILES-NEXT: module_main_dispatch_1_reduction_64x48_f32_rocm_hsaco_fb_benchmark.mlir
// FILES-NOT: {{.}}
//
// RUN: llvm-readelf --file-header %t/module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.hsaco | FileCheck --check-prefixes=HEADER,LINKED %s
// HEADER: Magic: 7f 45 4c 46 02 01 01 40 03 00
// HEADER: ABI Version: 3
// LINKED: Type: DYN (Shared object file)
// OBJECT: Type: REL (Relocatable file)
// HEADER: Entry point address: 0x0
// HEADER: Flags: 0x{{[eE]4[cC]}}
// LINKED: Number of program headers: 8
//
// RUN: FileCheck --check-prefix=ASSEMBLY %s < %t/module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.rocmasm
// ASSEMBLY: .amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
// ASSEMBLY: .text
// ASSEMBLY: .globl main_dispatch_0_matmul_64x48x32_f32
// ASSEMBLY: .type main_dispatch_0_matmul_64x48x32_f32,@function
// ASSEMBLY: main_dispatch_0_matmul_64x48x32_f32:
// ASSEMBLY: .amdgpu_metadata
// ASSEMBLY: .kernarg_segment_size: 24
// ASSEMBLY: .symbol: main_dispatch_0_matmul_64x48x32_f32.kd
// ASSEMBLY: .wavefront_size: 64
// ASSEMBLY: amdhsa.target: 'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-'
// ASSEMBLY: .end_amdgpu_metadata
//
// RUN: clang -cc1as -filetype obj -triple amdgcn-amd-amdhsa -target-cpu gfx942 -target-feature +sramecc -target-feature -xnack -mrelocation-model pic -mllvm -amdgpu-early-inline-all=true -mllvm -amdgpu-function-calls=false -o %t.o %t/module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.rocmasm
// RUN: llvm-readelf --file-header %t.o | FileCheck --check-prefixes=HEADER,OBJECT %s
// RUN: lld -flavor gnu -m elf64_amdgpu --no-undefined -shared -plugin-opt=-amdgpu-internalize-symbols -plugin-opt=mcpu=gfx942 --no-whole-archive -o %t.hsaco %t.o
// RUN: llvm-readelf --file-header %t.hsaco | FileCheck --check-prefixes=HEADER,LINKED %s
// RUN: llvm-objdump -d --mcpu=gfx942 %t.hsaco | tail -n +3 > %t.again
// RUN: llvm-objdump -d --mcpu=gfx942 %t/module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb.hsaco | tail -n +3 | diff - %t.again
//
// A benchmark is a program like any other, with the command that runs it, and a function that needs none; compiled for
// the target that it was, unless it names none.
// RUN: FileCheck --check-prefix=BENCHMARK %s < %t/module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb_benchmark.mlir
// BENCHMARK: --function=main_dispatch_0_matmul_64x48x32_f32 --input=64x32xf32 --input=32x48xf32
// RUN: iree-compile %t/module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb_benchmark.mlir -o %t.vmfb && unzip -l %t.vmfb | grep rocm_hsaco
// RUN: sed -e 's/ attributes {hal.device.targets = .*!hal.device.}//' %t/module_main_dispatch_0_matmul_64x48x32_f32_rocm_hsaco_fb_benchmark.mlir | iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu - -o %t.vmfb
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=main_dispatch_0_matmul_64x48x32_f32 --input=64x32xf32 --input=32x48xf32 --benchmark_min_time=2x 2>&1 | FileCheck --check-prefix=TIMES %s
// TIMES: BM_main_dispatch_0_matmul_64x48x32_f32
//
// The driver below HIP takes the code objects themselves, named after their architecture.
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=mi300x --iree-hal-dump-executable-binaries-to=%t %s -o %t.vmfb
// RUN: LC_ALL=C ls %t | FileCheck --check-prefix=PLAIN %s
// PLAIN: module_main_dispatch_0_matmul_64x48x32_f32_gfx942.hsaco
// PLAIN-NEXT: module_main_dispatch_1_reduction_64x48_f32_gfx942.hsaco
// PLAIN-NOT: {{.}}
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x48xf32>, tensor<f32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
