// The maximum of a vector stays in whole registers, which have one instruction for it and two for NaN: not one for each
// of the last lanes with its sign.
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --iree-hal-dump-executable-files-to=%t %s -o %t.vmfb && cat %t/*.s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=maximum --input="2x16xf32=[-1,-2,-3,-4,-5,-6,-7,-8,-9,-8,-0.0,-6,-5,0,-3,-2][1,2,3,4,5,6,7,8,nan,8,7,6,5,4,3,2]" 2>&1 | FileCheck --check-prefix=RESULT %s

// RESULT: {{^2xf32=0 -?(nan|NAN)$}}

// CHECK: vrangeps {{.*}}xmm
// CHECK: vrangeps {{.*}}xmm
// CHECK: vrangeps {{.*}}xmm
// CHECK-NOT: vmaxss
// CHECK: ret
func.func @maximum(%x: tensor<2x16xf32>) -> tensor<2xf32> {
  %0 = "graph.reduce"(%x) <{dims = array<i64: 1>, kind = "max"}> : (tensor<2x16xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
