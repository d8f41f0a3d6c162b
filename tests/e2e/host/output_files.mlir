// Output files are written whole or not at all: what was there stays, and nothing is left beside it.
//
// RUN: rm -rf %t && mkdir %t && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t/m.vmfb
// RUN: iree-run-module --device=local-sync --module=%t/m.vmfb --function=small --output=@%t/x.bin && cp %t/x.bin %t/before
// RUN: (trap '' XFSZ; ulimit -f 8; not iree-run-module --device=local-sync --module=%t/m.vmfb --function=large --output=@%t/x.bin) 2>&1 | FileCheck %s
// RUN: cmp %t/x.bin %t/before
// RUN: (trap '' XFSZ; ulimit -f 8; not iree-run-module --device=local-sync --module=%t/m.vmfb --function=large --output=+%t/x.bin) 2>&1 | FileCheck %s
// RUN: cmp %t/x.bin %t/before
// RUN: iree-run-module --device=local-sync --module=%t/m.vmfb --function=small --output=+%t/x.bin && cat %t/before %t/before | cmp - %t/x.bin
// RUN: ln -s x.bin %t/link && iree-run-module --device=local-sync --module=%t/m.vmfb --function=small --output=@%t/link
// RUN: test -L %t/link && cmp %t/x.bin %t/before
// RUN: ls %t | FileCheck --check-prefix=FILES %s
// Numbers are arrays without dimensions in .npy files, as IREE writes them.
// RUN: iree-run-module --device=local-sync --module=%t/m.vmfb --function=numbers --output=@%t/i.npy --output=@%t/f.npy --output=@%t/l.npy
// RUN: iree-run-module --device=local-sync --module=%t/m.vmfb --function=echo --input=@%t/i.npy --input=@%t/f.npy --input=@%t/l.npy | FileCheck --check-prefix=NUMBERS %s
// RUN: head -c 70 %t/f.npy | grep -a "'descr': '<f4', 'fortran_order': False, 'shape': ()"
// NUMBERS: i32=123
// NUMBERS: f32=-2.5
// NUMBERS: i64=-5000000000

// CHECK: write failed: File too large
// FILES: before
// FILES-NEXT: link
// FILES-NEXT: m.vmfb
// FILES-NEXT: x.bin
// FILES-NOT: {{.}}

func.func @small() -> tensor<8xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @large() -> tensor<100000xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

func.func @numbers() -> (i32, f32, i64) {
  %0 = arith.constant 123 : i32
  %1 = arith.constant -2.5 : f32
  %2 = arith.constant -5000000000 : i64
  return %0, %1, %2 : i32, f32, i64
}

func.func @echo(%a: tensor<i32>, %b: tensor<f32>, %c: tensor<i64>) -> (tensor<i32>, tensor<f32>, tensor<i64>) {
  return %a, %b, %c : tensor<i32>, tensor<f32>, tensor<i64>
}
