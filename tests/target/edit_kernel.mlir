// A kernel is edited by hand in one command: what is right, what is wrong, and what hardware would forgive.

// RUN: iree-edit-kernel %s --target=gfx1100 --work=%t.work | FileCheck --check-prefix=LIST %s
// LIST: kernels, of which --kernel= takes a name
// LIST: main_dispatch_0_reduction_64x256_f32
// LIST: main_dispatch_1_matmul_64x1x64_f32

// RUN: not iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main 2>&1 | grep "kernel=main is the beginning of several kernels"
// RUN: not iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=mai 2>&1 | grep "kernel=mai is the beginning of no kernel"

// Kernels that do the same, one with an instruction more.
// RUN: iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main_dispatch_1 --run="sed -i '/s_endpgm/i s_nop 0'" | FileCheck --check-prefix=SAME %s
// SAME: main_dispatch_1_matmul_64x1x64_f32, gfx1100
// SAME: vgpr count
// SAME: instructions in the code
// SAME: hints {{.*}} *
// SAME: modelled by llvm-mca
// SAME: counted by the software GPU
// SAME: messages, hints and cache operations {{.*}} *
// SAME: [ALIKE] all 1 dispatches
// SAME: the results are the same; {{.*}}edited.vmfb is the program with the edited kernel
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t.work/edited.vmfb --input=64x256xf32=1 --input=64x64xf32=1 --expected_output=64xf32=16384

// Other arithmetic; a file instead of a command, and the whole program on given inputs.
// RUN: not iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main_dispatch_1 --run="sed -i 0,/v_add_f32_e32/s//v_sub_f32_e32/" | FileCheck --check-prefix=OTHER %s
// OTHER: [FOUND] dispatch 0 of 1 differs: main_dispatch_1_matmul_64x1x64_f32
// OTHER: THE RESULTS ARE NOT THE SAME
// RUN: cp %t.work/edited.rocmasm %t.rocmasm
// RUN: not iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main_dispatch_1 --edited=%t.rocmasm --input=64x256xf32=0.5 --input=64x64xf32=0.25 | FileCheck --check-prefix=WHOLE %s
// WHOLE: [FOUND] dispatch 1 of 2 differs: main_dispatch_1_matmul_64x1x64_f32

// A missing wait, and what is no assembly.
// RUN: not iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main_dispatch_1 --run="sed -i /vmcnt(0)/s/.*/s_nop_0/;s/s_nop_0/s_nop\ 0/" | FileCheck --check-prefix=WAIT %s
// WAIT: is read before a wait for the instruction that loads it
// RUN: not iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main_dispatch_1 --run="sed -i 0,/v_add_f32_e32/s//v_bad_f32_e32/" 2>&1 | FileCheck --check-prefix=BAD %s
// BAD: iree-edit-kernel: assembling failed
// BAD: invalid instruction
// RUN: not iree-edit-kernel %s --target=gfx1100 --work=%t.work --kernel=main_dispatch_1 --run=true 2>&1 | grep "the assembly was not changed"

func.func @main(%a: tensor<64x256xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x256xf32>, tensor<f32>) -> tensor<64xf32>
  %product = stablehlo.dot_general %b, %sums, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %product : tensor<64xf32>
}
