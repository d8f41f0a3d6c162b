// Scans across long rows on CPUs go step by step: what a row adds to is loaded from the results, where the row before
// left it. Sums that are more exact than results stay in registers, and go along lines.
// RUN: iree-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-sources %s -o - | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=haswell %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=known --input=3x1111xf32=1 2>&1 | FileCheck --check-prefix=SUMS %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open --input=3x1111xf32=1 2>&1 | FileCheck --check-prefix=BACK %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open --input=1x2xf32=1 2>&1 | FileCheck --check-prefix=ONE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open --input=0x1111xf32=1 2>&1 | FileCheck --check-prefix=NONE %s

// SUMS: {{^3xf32=1111 2222 3333$}}
// BACK: {{^3xf32=2222 1111 0$}}
// ONE: {{^1xf32=0$}}
// NONE: {{^0xf32=$}}

// CHECK-LABEL: kernel.func @known_
// CHECK: kernel.for
// CHECK: kernel.load %arg1{{.*}} -> vector<64xf32>
// CHECK: kernel.load %arg0{{.*}} -> vector<64xf32>
// CHECK: kernel.store {{.*}} %arg1{{.*}}vector<64xf32>
func.func @known(%x: tensor<3x1111xf32>) -> tensor<3xf32> {
  %0 = "graph.scan"(%x) <{axis = 0 : i64, kind = "add"}> : (tensor<3x1111xf32>) -> tensor<3x1111xf32>
  %1 = "graph.reduce"(%0) <{dims = array<i64: 1>, kind = "add"}> : (tensor<3x1111xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: kernel.func @open_
// CHECK: kernel.load %arg1
func.func @open(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %0 = "graph.scan"(%x) <{axis = 0 : i64, kind = "add", exclusive, reverse}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "graph.reduce"(%0) <{dims = array<i64: 1>, kind = "add"}> : (tensor<?x?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: kernel.func @halves_
// CHECK: kernel.for {{.*}} iter_args
// CHECK-NOT: kernel.load %arg1
// CHECK: kernel.return
func.func @halves(%x: tensor<30x1111xf16>) -> tensor<30x1111xf16> {
  %0 = "graph.scan"(%x) <{axis = 0 : i64, kind = "add"}> : (tensor<30x1111xf16>) -> tensor<30x1111xf16>
  return %0 : tensor<30x1111xf16>
}
