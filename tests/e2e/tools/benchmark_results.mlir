// What iree-benchmark-module does with results, when it is told to do something.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=number --benchmark_min_time=2x | not grep "result"
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=number --benchmark_min_time=2x --enable_output_processing | grep -x "result\[0\]: i32=123"
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=abs --input=f32=-2 --benchmark_min_time=2x --enable_output_processing --output=@%t.npy --expected_output=f32=2 | grep -F "[SUCCESS]" && ls %t.npy
// RUN: not iree-benchmark-module --device=local-sync --module=%t.vmfb --function=abs --input=f32=-2 --benchmark_min_time=2x --enable_output_processing --expected_output=f32=3 | grep -F "[FAILED] result[0]"
// Of functions with state, what the last of the timed calls gave; of calls at once, what the last of them gave.
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --function=count --benchmark_min_time=3x --enable_output_processing | grep -x "result\[0\]: i32=3"
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=number --benchmark_min_time=2x --enable_output_processing | grep -c "result\[0\]" | grep -x 1
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-execution-model=async-external %s -o %t.async.vmfb
// RUN: iree-benchmark-module --device=local-task --module=%t.async.vmfb --function=abs --input=f32=-2 --benchmark_min_time=2x --batch_size=4 --batch_concurrency=4 --enable_output_processing --output=- | tail -n 1 | grep -x "f32=2"

util.global private mutable @calls = 0 : i32

func.func @count() -> i32 {
  %one = arith.constant 1 : i32
  %0 = util.global.load @calls : i32
  %1 = arith.addi %0, %one : i32
  util.global.store %1, @calls : i32
  return %1 : i32
}

func.func @number() -> i32 {
  %0 = arith.constant 123 : i32
  return %0 : i32
}

func.func @abs(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %x : tensor<f32>
  return %0 : tensor<f32>
}
