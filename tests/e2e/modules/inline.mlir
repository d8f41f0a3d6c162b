// Programs that run in the caller's thread, without devices of the application's.
// RUN: iree-compile --iree-execution-model=inline-static --iree-hal-target-backends=vmvx-inline %s -o %t.static.vmfb
// RUN: iree-compile --iree-execution-model=inline-dynamic --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-hal-local-target-device-backends=vmvx --iree-flow-trace-dispatch=@first:0 %s -o %t.dynamic.vmfb
// RUN: iree-dump-module --output=metadata %t.static.vmfb | FileCheck --check-prefix=STATIC %s
// RUN: iree-dump-module --output=metadata %t.dynamic.vmfb | FileCheck --check-prefix=DYNAMIC %s
// RUN: for m in static dynamic; do iree-run-module --device=nothing --module=%t.$m.vmfb --function=first --input=2x3xf32=1,2,3,4,5,6 --input=3x2xf32=1 --expected_output=2x2xf32=13,13,31,31 2>&1 | FileCheck --check-prefix=RUN-$m %s || exit 1; done
// RUN: for m in static dynamic; do iree-run-module --module=%t.$m.vmfb --function=count --input=5 --expected_output=4xi32=0,5,10,15 || exit 1; done
// RUN: iree-benchmark-module --module=%t.static.vmfb --function=count --input=5 --benchmark_min_time=2x 2>&1 | FileCheck --check-prefix=BENCHMARK %s
// RUN: not iree-compile --iree-execution-model=inline-static --iree-hal-target-backends=llvm-cpu %s -o %t.out 2>&1 | FileCheck --check-prefix=LOADER %s
// RUN: not iree-compile --iree-execution-model=inline-dynamic --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %s -o %t.out 2>&1 | FileCheck --check-prefix=GPU %s
// STATIC: Module Dependencies:
// STATIC-NEXT: hal_inline, version >= 0, required
// STATIC-NOT: hal
// STATIC: Exported Functions:
// DYNAMIC: Module Dependencies:
// DYNAMIC-NEXT: hal_inline, version >= 0, required
// DYNAMIC-NEXT: hal_loader, version >= 0, required
// RUN-static-NOT: ===
// RUN-static: all function outputs matched
// RUN-dynamic: === first_dispatch_0::first_dispatch_0_matmul_2x2x3_f32 inputs ===
// RUN-dynamic-NEXT: 2x3xf32=[1 2 3][4 5 6]
// RUN-dynamic: all function outputs matched
// BENCHMARK: BM_count
// LOADER: error: --iree-execution-model=inline-static takes kernels that need no loader: --iree-hal-target-backends=vmvx
// GPU: error: --iree-execution-model=inline-dynamic runs on processors: llvm-cpu and vmvx, not cuda

util.global private mutable @total = dense<[0, 1, 2, 3]> : tensor<4xi32>
func.func @first(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant dense<2.0> : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<2x2xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %product = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
  %one = arith.constant dense<1.0> : tensor<2x2xf32>
  %twice = arith.mulf %product, %two : tensor<2x2xf32>
  %sum = arith.addf %twice, %one : tensor<2x2xf32>
  return %sum : tensor<2x2xf32>
}
func.func @count(%n: i32) -> tensor<4xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.index_cast %n : i32 to index
  %step = util.global.load @total : tensor<4xi32>
  %none = arith.constant dense<0> : tensor<4xi32>
  %sum = scf.for %i = %zero to %end step %one iter_args(%x = %none) -> tensor<4xi32> {
    %next = arith.addi %x, %step : tensor<4xi32>
    scf.yield %next : tensor<4xi32>
  }
  return %sum : tensor<4xi32>
}
