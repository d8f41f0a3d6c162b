// The benchmark of a dispatch, as it is written, compiled and measured without another word.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-hal-dump-executable-benchmarks-to=- %s -o %t.vmfb | iree-compile - | iree-benchmark-module --module=- --benchmark_min_time=2x | FileCheck %s
// CHECK: BM_abs_dispatch_0_elementwise_4_f32_benchmark/process_time/real_time
func.func @abs(%input: tensor<4xf32>) -> tensor<4xf32> {
  %result = math.absf %input : tensor<4xf32>
  return %result : tensor<4xf32>
}
