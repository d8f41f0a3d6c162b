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
