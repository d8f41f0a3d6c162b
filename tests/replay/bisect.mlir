// The first dispatch that computes something else on one device than on another is found, and runs by itself: on the CPU
// and on a software GPU, whose second kernel is edited by hand.

// RUN: python3 -c "import random, struct; open('%t.bin', 'wb').write(struct.pack('20480f', *[random.Random(i).uniform(-1, 1) for i in range(20480)]))"
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.cpu.vmfb
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-dump-executable-intermediates-to=%t.dump --iree-hal-dump-executable-binaries-to=%t.dump %s -o %t.gpu.vmfb
// RUN: sed '0,/v_add_f32_e32/s//v_sub_f32_e32/' %t.dump/*_dispatch_1_*.rocmasm > %t.s
// RUN: clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx1100 -x assembler -c %t.s -o %t.o && ld.lld-22 -shared %t.o -o %t.hsaco
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 --iree-hal-substitute-executable-object=main_dispatch_1=%t.hsaco %s -o %t.bad.vmfb 2>%t.note

// RUN: iree-softgpu --target=gfx1100 -- iree-bisect --reference_device=local-task --reference_module=%t.cpu.vmfb --tested_device=amdgpu --tested_module=%t.gpu.vmfb --input=64x256xf32=+%t.bin --input=64x64xf32=+%t.bin | FileCheck --check-prefix=ALIKE %s
// ALIKE: [ALIKE] all 3 dispatches

// RUN: not iree-softgpu --target=gfx1100 -- iree-bisect --reference_device=local-task --reference_module=%t.cpu.vmfb --tested_device=amdgpu --tested_module=%t.bad.vmfb --input=64x256xf32=+%t.bin --input=64x64xf32=+%t.bin --case=%t.ireereplay | FileCheck --check-prefix=FOUND %s
// FOUND: binding 2: element at index 0 ({{.*}}) does not match the reference's ({{.*}}); {{[0-9]+}} of 64 elements differ
// FOUND: [FOUND] dispatch 1 of 3 differs: main_dispatch_1_matmul_64x1x64_f32
// FOUND: wrote {{.*}}.ireereplay

// RUN: iree-softgpu --target=gfx1100 -- iree-bisect --reference_device=local-task --reference_module=%t.cpu.vmfb --tested_device=amdgpu --tested_module=%t.bad.vmfb --input=64x256xf32=+%t.bin --input=64x64xf32=+%t.bin --absolute=10000 | FileCheck --check-prefix=ALIKE %s
// RUN: iree-softgpu --target=gfx1100 -- iree-bisect --reference_device=local-task --reference_module=%t.cpu.vmfb --tested_device=amdgpu --tested_module=%t.bad.vmfb --input=64x256xf32=+%t.bin --input=64x64xf32=+%t.bin --relative=100000 | FileCheck --check-prefix=ALIKE %s

// What was found fails by itself, and does not with the kernel as the compiler made it.
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-replay --device=amdgpu --replay_verify=f32 %t.ireereplay | FileCheck --check-prefix=CASE %s
// CASE: [FAILED] 0 of 1 reads (256 bytes) are as captured
// RUN: iree-softgpu --target=gfx1100 -- iree-run-replay --device=amdgpu --replay_verify=f32 --replay_executable_substitution=all="$(echo %t.dump/*_dispatch_1_*.hsaco)" %t.ireereplay | FileCheck --check-prefix=WELL %s
// WELL: [SUCCESS] 1 of 1 reads (256 bytes) are as captured

// One capture on both, with another kernel on one of them; a case has that one.
// RUN: iree-softgpu --target=gfx1100 -- iree-run-module --device=amdgpu --module=%t.bad.vmfb --input=64x256xf32=+%t.bin --input=64x64xf32=+%t.bin --device_replay_output=%t.whole --output=
// RUN: iree-softgpu --target=gfx1100 -- iree-bisect --reference_device=amdgpu --tested_device=amdgpu --reference_replay=%t.whole --tested_replay=%t.whole --type=exact | FileCheck --check-prefix=ALIKE %s
// RUN: iree-dump-replay %t.whole | sed -n '/prepare_executable/s/.* rel=\([0-9]*\) .*/\1/p' | tail -n 1 > %t.id
// RUN: not iree-softgpu --target=gfx1100 -- iree-bisect --reference_device=amdgpu --tested_device=amdgpu --reference_replay=%t.whole --tested_replay=%t.whole --replay_executable_substitution=$(cat %t.id)@gfx1100="$(echo %t.dump/*_dispatch_1_*.hsaco)" --case=%t.other | FileCheck --check-prefix=OTHER %s
// OTHER: [FOUND] dispatch 1 of 3 differs
// RUN: not iree-softgpu --target=gfx1100 -- iree-run-replay --device=amdgpu --replay_verify=f32 %t.other | FileCheck --check-prefix=CASE %s
// RUN: not iree-softgpu --target=gfx1100 -- iree-bisect --reference_device=amdgpu --tested_device=amdgpu --reference_replay=%t.whole --tested_replay=%t.whole --replay_executable_substitution=$(cat %t.id)="$(echo %t.dump/*_dispatch_1_*.hsaco)" --case=%t.other 2>&1 | FileCheck --check-prefix=FORMAT %s
// FORMAT: a case with an executable in another's place needs that one's format

// What is not the same program, and what is not said.
// RUN: sed 's/64x256/64x128/g' %s | iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx -o %t.less.vmfb -
// RUN: iree-run-module --device=local-sync --module=%t.less.vmfb --input=64x128xf32=1 --input=64x64xf32=1 --device_replay_output=%t.less --output=
// RUN: iree-run-module --device=local-sync --module=%t.cpu.vmfb --input=64x256xf32=1 --input=64x64xf32=1 --device_replay_output=%t.more --output=
// RUN: not iree-bisect --reference_device=local-sync --reference_replay=%t.more --tested_device=local-task --tested_replay=%t.less 2>&1 | FileCheck --check-prefix=PROGRAM %s
// PROGRAM: FAILED_PRECONDITION; dispatch 0 is 'main_dispatch_0_reduction_64x256_f32' with {{.*}} they are not the same program
// RUN: not iree-bisect --reference_device=local-sync --module=%t.cpu.vmfb 2>&1 | grep "INVALID_ARGUMENT; --tested_device= is needed"
// RUN: not iree-bisect --reference_device=local-sync --tested_device=local-sync --tested_module=x --tested_replay=y 2>&1 | grep "exclude each other"
// RUN: not iree-bisect --reference_device=local-sync --tested_device=local-sync --type=f4 --module=%t.cpu.vmfb 2>&1 | grep "INVALID_ARGUMENT; unhandled element type 'f4'"

func.func @main(%a: tensor<64x256xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x256xf32>, tensor<f32>) -> tensor<64xf32>
  %product = stablehlo.dot_general %b, %sums, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %rows = stablehlo.broadcast_in_dim %product, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %s = stablehlo.add %rows, %b : tensor<64x64xf32>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
