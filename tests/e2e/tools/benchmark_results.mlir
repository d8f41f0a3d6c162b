// What iree-benchmark-module does with results, when it is told to do something.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=number --benchmark_min_time=2x | not grep "result"
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=number --benchmark_min_time=2x --enable_output_processing | grep -x "result\[0\]: i32=123"
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=abs --input=f32=-2 --benchmark_min_time=2x --enable_output_processing --output=@%t.npy --expected_output=f32=2 | grep -F "[SUCCESS]" && ls %t.npy
// RUN: not iree-benchmark-module --device=local-sync --module=%t.vmfb --function=abs --input=f32=-2 --benchmark_min_time=2x --enable_output_processing --expected_output=f32=3 | grep -F "[FAILED] result[0]"

func.func @number() -> i32 {
  %0 = arith.constant 123 : i32
  return %0 : i32
}

func.func @abs(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %x : tensor<f32>
  return %0 : tensor<f32>
}
