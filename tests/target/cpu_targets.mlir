// Code for processors of other kinds than this machine's. tests/target/run_cross.py runs some in qemu.
//
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu --iree-llvmcpu-target-cpu=neoverse-n1 --iree-hal-dump-executable-files-to=%t/arm %s -o %t/arm.vmfb
// RUN: llvm-readelf -h %t/arm/*.so | FileCheck --check-prefix=ARM %s && unzip -l %t/arm.vmfb | FileCheck --check-prefix=ARMFILE %s
// RUN: FileCheck --check-prefix=ARMCODE %s < $(ls %t/arm/*.s)
// ARM: Machine: {{ *}}AArch64
// ARMFILE: executables/{{.*}}embedded_elf_arm_64.so
// ARMCODE: fmul {{v[0-9]+}}.4s
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=riscv64 --iree-hal-dump-executable-files-to=%t/riscv %s -o %t/riscv.vmfb
// RUN: llvm-readelf -h %t/riscv/*.so | FileCheck --check-prefix=RISCV %s && unzip -l %t/riscv.vmfb | FileCheck --check-prefix=RISCVFILE %s
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=riscv64 --iree-llvmcpu-target-abi=lp64 --iree-llvmcpu-target-cpu-features=+v --iree-hal-dump-executable-files-to=%t/vector %s -o %t/riscv.vmfb
// RUN: llvm-readelf -h %t/vector/*.so | FileCheck --check-prefix=SOFT %s && FileCheck --check-prefix=VECTOR %s < $(ls %t/vector/*.s)
// RISCV: Machine: {{ *}}RISC-V
// RISCV: Flags: {{.*}}double-float ABI
// RISCVFILE: executables/{{.*}}embedded_elf_riscv_64.so
// SOFT: Flags: 0x1, RVC{{ *$}}
// VECTOR: vfmul.vv
//
// This machine runs neither, and says what it takes.
// RUN: not iree-run-module --device=local-sync --module=%t/arm.vmfb --input=4xf32 2>&1 | FileCheck --check-prefix=REFUSED %s
// REFUSED: the module has [embedded-elf-arm_64 (aarch64-unknown-linux-gnu, cpu neoverse-n1)], the device takes [embedded-elf-
//
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=riscv64 --iree-llvmcpu-target-cpu=cortex-a72 %s 2>&1 | FileCheck --check-prefix=CPU %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=riscv64 --iree-llvmcpu-target-cpu=host %s 2>&1 | FileCheck --check-prefix=HOST %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=aarch64 --iree-llvmcpu-target-cpu-features=+avx2 %s 2>&1 | FileCheck --check-prefix=FEATURE %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=riscv64 --iree-llvmcpu-target-abi=ilp32 %s 2>&1 | FileCheck --check-prefix=ABI %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-abi=lp64 %s 2>&1 | FileCheck --check-prefix=SYSV %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-triple=mips64 %s 2>&1 | FileCheck --check-prefix=ARCH %s
// CPU: error: unknown CPU 'cortex-a72' of 'riscv64-unknown-unknown-elf'; generic is known
// HOST: error: --iree-llvmcpu-target-cpu=host: this machine is not what 'riscv64-unknown-unknown-elf' names
// FEATURE: error: aarch64-unknown-unknown-elf has no feature 'avx2'
// ABI: error: --iree-llvmcpu-target-abi=ilp32 is not known for 'riscv64-unknown-unknown-elf'; lp64d, lp64f and lp64 are
// SYSV: error: --iree-llvmcpu-target-abi=lp64 is not known for 'x86_64-unknown-unknown-eabi-elf', which has sysv only
// ARCH: error: llvm-cpu compiles for x86_64, aarch64 and riscv64; triple 'mips64' is none of them

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
