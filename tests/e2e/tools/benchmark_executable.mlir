// Executables alone: found in a dump or in a module, their format seen or named, each workgroup count a benchmark, whole
// batches of dispatches.
// RUN: rm -rf %t && iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-hal-dump-executable-binaries-to=%t %s -o /dev/null
// RUN: cat %t/*.vmfb | iree-benchmark-executable --device=local-sync --executable_format=vmvx-bytecode-fb --executable_file=- --entry_point=0 --binding=512xf32 --binding=512xf32=1 --binding=512xf32 --workgroup_count=1,1,1 --workgroup_count=2,1,1 --benchmark_min_time=100x | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb && unzip -o -q -d %t %t.vmfb
// RUN: iree-benchmark-executable --device=local-task --executable_file="$(ls %t/executables/*.so)" --binding=512xf32 --binding=512xf32=1 --binding=512xf32 --workgroup_count=1,1,1 --benchmark_min_time=1x --batch_size=3 --benchmark_format=csv --time_unit=us | FileCheck --check-prefix=CSV %s
// RUN: iree-benchmark-executable --device=local-sync --executable_file="$(ls %t/executables/*.so)" --binding=512xf32 --binding=512xf32=1 --binding=512xf32 --workgroup_count=1,1,1 --benchmark_min_time=1x --print_statistics 2>&1 >/dev/null | FileCheck --check-prefix=STATISTICS %s
// RUN: not iree-benchmark-executable --device=local-sync --executable_file="$(ls %t/executables/*.so)" --binding=512xf32 --workgroup_count=1,1,1 2>&1 | FileCheck --check-prefix=BINDINGS %s
// RUN: not iree-benchmark-executable --device=local-sync --executable_file="$(ls %t/executables/*.so)" --constant=1 --binding=512xf32 --binding=512xf32 --binding=512xf32 --workgroup_count=1,1,1 2>&1 | FileCheck --check-prefix=CONSTANTS %s
// RUN: not iree-benchmark-executable --device=local-sync --executable_file="$(ls %t/executables/*.so)" --executable_constant=1 --workgroup_count=1,1,1 2>&1 | FileCheck --check-prefix=EXECUTABLE %s
// RUN: not iree-benchmark-executable --device=local-sync --executable_file="$(ls %t/executables/*.so)" --entry_point=7 --workgroup_count=1,1,1 2>&1 | FileCheck --check-prefix=ENTRY %s
// RUN: not iree-benchmark-executable --device=local-sync --executable_file=%s --executable_format=nope --workgroup_count=1,1,1 2>&1 | FileCheck --check-prefix=NAMED %s
// RUN: not iree-benchmark-executable --device=local-sync --executable_file=%s --workgroup_count=1,1,1 2>&1 | FileCheck --check-prefix=FORMAT %s
// RUN: not iree-benchmark-executable --device=local-sync --executable_file=%s --workgroup_count=1,1 2>&1 | FileCheck --check-prefix=COUNT %s

// CHECK: BM_dispatch_1x1x1/process_time/real_time {{.*}} ns {{.*}} 128 items_per_second=
// CHECK: BM_dispatch_2x1x1/process_time/real_time {{.*}} ns {{.*}} 128 items_per_second=
// CSV: "BM_dispatch_1x1x1/process_time/real_time",3,{{.*}},us,
// STATISTICS: Device: local-sync
// BINDINGS: function 'mul_dispatch_0_elementwise_512_f32' takes 3 buffers and 0 constants; --binding= and --constant= give 1 and 0
// CONSTANTS: takes 3 buffers and 0 constants; --binding= and --constant= give 3 and 1
// EXECUTABLE: executable '{{.*}}.so'
// ENTRY: OUT_OF_RANGE; --entry_point=7: the executable has 1 functions
// FORMAT: INCOMPATIBLE; {{.*}}; --executable_format= can name it
// NAMED: no executable loader registered for the given executable format 'nope'
// COUNT: --workgroup_count= takes x,y,z; got '1,1'

func.func @mul(%a: tensor<512xf32>, %b: tensor<512xf32>) -> tensor<512xf32> {
  %0 = stablehlo.multiply %a, %b : tensor<512xf32>
  return %0 : tensor<512xf32>
}
