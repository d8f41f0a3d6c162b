// Functions that a program brings for CPUs, of the sample.
// RUN: rm -rf %t && mkdir %t && clang -c -O2 -fPIC -ffreestanding -fno-builtin samples/custom_dispatch/cpu/objects/functions.c -o %t/functions_x86_64.o
// RUN: iree-compile --iree-hal-executable-object-search-path=%t samples/custom_dispatch/cpu/objects/example.mlir -o %t/cpu.vmfb
// RUN: iree-run-module --device=local-sync --module=%t/cpu.vmfb --input=2x40xf32=1 --input=2x40xf32=5 --expected_output=2x40xf32=-30
// RUN: iree-run-module --device=local-task --module=%t/cpu.vmfb --input=1x3xf32=1,2,3 --input=1x3xf32=5 --expected_output=1x3xf32=-30,-35,-40
// RUN: iree-opt samples/custom_dispatch/cpu/objects/example.mlir -o %t/again.mlir && iree-opt %t/again.mlir | diff %t/again.mlir -
// RUN: iree-compile --compile-to=flow samples/custom_dispatch/cpu/objects/example.mlir -o %t/flow.mlir && iree-compile --compile-from=flow --iree-hal-executable-object-search-path=%t %t/flow.mlir -o %t/flow.vmfb && iree-run-module --device=local-sync --module=%t/flow.vmfb --input=1x1xf32=1 --input=1x1xf32=5 --expected_output=1x1xf32=-30
// RUN: sed -e 's/ordinal(1) : f32/ordinal(2) : f32/' samples/custom_dispatch/cpu/objects/example.mlir > %t/bad.mlir && not iree-compile --iree-hal-executable-object-search-path=%t %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=ORDINAL %s
// ORDINAL: 'hal.interface.constant.load' op has an ordinal beyond its layout's
// RUN: sed -e 's/embedded-elf-x86_64/embedded-elf-arm_64/;s/x86_64-none/aarch64-none/' samples/custom_dispatch/cpu/objects/example.mlir > %t/arm.mlir && clang -c -O2 --target=aarch64-none-elf -ffreestanding samples/custom_dispatch/cpu/objects/functions.c -o %t/functions_x86_64.o && iree-compile --iree-hal-executable-object-search-path=%t %t/arm.mlir -o %t/arm.vmfb && unzip -qo %t/arm.vmfb -d %t && llvm-readelf -h %t/executables/module_averaging_embedded_elf_arm_64.so | FileCheck --check-prefix=ARM %s
// ARM: AArch64
//
// RUN: not iree-compile --iree-hal-executable-object-search-path=%t samples/custom_dispatch/cpu/objects/example.mlir -o %t/out 2>&1 | FileCheck --check-prefix=OTHER %s
// OTHER: 'stream.executable' op linking failed: {{.*}} is incompatible with {{.*}}functions_x86_64.o
// RUN: sed -e 's/%xb, %xi, %yb/%xs, %xi, %yb/;s/(memref<f32>, index, memref/(memref<?xf32>, index, memref/;s/%x\[%zero\]/%x[%begin]/' samples/custom_dispatch/cpu/objects/example.mlir > %t/bad.mlir && not iree-compile %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=BARE %s
// BARE: 'func.call' op {{.*}}with llvm.bareptr, iree_codegen.extract_strided_metadata gives base and offset to pass
