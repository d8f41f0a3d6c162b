// State that a call changes in part is changed where it lies: kernels write the new elements alone and nothing copies
// the rest, however the program says it. Where somebody still reads the array as it was, it is copied.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-dump-module %t.vmfb | FileCheck --check-prefix=DUMP %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=append --input=2x1x3xf32=7 --input=1 | FileCheck --check-prefix=APPEND %s
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=scatter --input=2x3xf32=[3,4,5][6,7,8] --input=2x1xi32=5,2 | FileCheck --check-prefix=SCATTER %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=several --input=1x3xf32=1,2,3 | FileCheck --check-prefix=SEVERAL %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=overlap --input=1x3xf32=1,2,3 | FileCheck --check-prefix=OVERLAP %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=loop --input=2x1x3xf32=2 --input=3 | FileCheck --check-prefix=LOOP %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=carried --input=2x4x1xf32=3 --input=2 | FileCheck --check-prefix=CARRIED %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=before --input=1x3xf32=1,2,3 | FileCheck --check-prefix=BEFORE %s
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=around | FileCheck --check-prefix=AROUND %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmvx
// RUN: iree-run-module --device=local-sync --module=%t.vmvx --function=append --input=2x1x3xf32=7 --input=1 | FileCheck --check-prefix=APPEND %s
// RUN: iree-run-module --device=local-sync --module=%t.vmvx --function=scatter --input=2x3xf32=[3,4,5][6,7,8] --input=2x1xi32=5,2 | FileCheck --check-prefix=SCATTER %s
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.gfx
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --amdgpu_default_pool_range_length=1 --module=%t.gfx --function=append --input=2x1x3xf32=7 --input=1 | FileCheck --check-prefix=APPEND %s
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --amdgpu_default_pool_range_length=1 --module=%t.gfx --function=scatter --input=2x3xf32=[3,4,5][6,7,8] --input=2x1xi32=5,2 | FileCheck --check-prefix=SCATTER %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=stream %s -o %t.mlir
// RUN: sed 's/in_place = 0/in_place = 1/' %t.mlir > %t.wrong.mlir
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-from=stream %t.wrong.mlir -o %t.vmfb 2>&1 | FileCheck --check-prefix=WRONG %s
// A program that calls one such dispatch alone, on memory that is its caller's.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-hal-dump-executable-benchmarks-to=%t.dir %s -o %t.vmfb
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %t.dir/*_append_dispatch_0_dynamic_update*.mlir -o %t.vmfb
// RUN: iree-dump-module %t.vmfb | FileCheck --check-prefix=ALONE %s

// ALONE: copy arg0[0 for 96], arg1[0 for 96]
// ALONE: bindings(arg0[0 for 96], arg1[0 for 24], arg2[0 for 96])
// ALONE-NEXT: barrier
// ALONE-NEXT: copy arg2[0 for 96], arg3[0 for 96]
// WRONG: which must be the number of an operand that has the type of the only result

util.global private mutable @cache = dense<0.0> : tensor<2x4x3xf32>
util.global private mutable @rows = dense<0.0> : tensor<8x3xf32>

// DUMP-LABEL: hal.commands @append(
// DUMP-NOT: copy
// DUMP: bindings(arg0[0 for 96], arg1[0 for 24], arg0[0 for 96])
// DUMP-NEXT: barrier
// DUMP-NEXT: bindings(arg0[0 for 96], arg2[0 for end])
// DUMP-NOT: copy
// APPEND: 2x2x3xf32={{\[\[}}0 0 0][7 7 7]{{\]\[\[}}0 0 0][7 7 7]]
func.func @append(%x: tensor<2x1x3xf32>, %at: index) -> tensor<2x?x3xf32> {
  %c1 = arith.constant 1 : index
  %0 = util.global.load @cache : tensor<2x4x3xf32>
  %1 = tensor.insert_slice %x into %0[0, %at, 0] [2, 1, 3] [1, 1, 1] : tensor<2x1x3xf32> into tensor<2x4x3xf32>
  util.global.store %1, @cache : tensor<2x4x3xf32>
  %length = arith.addi %at, %c1 : index
  %2 = tensor.extract_slice %1[0, 0, 0] [2, %length, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<2x?x3xf32>
  return %2 : tensor<2x?x3xf32>
}

// DUMP-LABEL: hal.commands @scatter(
// DUMP: bindings(arg0[0 for 96], arg1[0 for 8], arg2[0 for 24], arg0[0 for 96])
// SCATTER: 8x3xf32=[0 0 0][0 0 0][6 7 8][0 0 0][0 0 0][3 4 5][0 0 0][0 0 0]
func.func @scatter(%x: tensor<2x3xf32>, %i: tensor<2x1xi32>) -> tensor<8x3xf32> {
  %0 = util.global.load @rows : tensor<8x3xf32>
  %1 = "stablehlo.scatter"(%0, %i, %x) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<8x3xf32>
  util.global.store %1, @rows : tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}

// One global for all layers, stored and loaded again; the start is a number on the device.
// DUMP-LABEL: hal.commands @several(
// DUMP-NOT: copy
// DUMP: _dynamic_update_{{.*}}bindings({{.*}}arg[[ROWS:[0-9]]][0 for 96], {{.*}}arg[[ROWS]][0 for 96])
// DUMP-NOT: copy
// DUMP: _dynamic_update_{{.*}}bindings({{.*}}arg[[ROWS]][0 for 96], {{.*}}arg[[ROWS]][0 for 96])
// SEVERAL: 8x3xf32=[0 0 0][1 2 3][0 0 0][0 0 0][6 6 6][0 0 0][0 0 0][0 0 0]
func.func @several(%x: tensor<1x3xf32>) -> tensor<8x3xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = util.global.load @rows : tensor<8x3xf32>
  %1 = stablehlo.dynamic_update_slice %0, %x, %one, %zero : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
  util.global.store %1, @rows : tensor<8x3xf32>
  %2 = stablehlo.slice %1 [1:2, 0:3] : (tensor<8x3xf32>) -> tensor<1x3xf32>
  %start = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%2 init: %start) applies stablehlo.add across dimensions = [1] : (tensor<1x3xf32>, tensor<f32>) -> tensor<1xf32>
  %3 = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<1xf32>) -> tensor<1x3xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %4 = util.global.load @rows : tensor<8x3xf32>
  %5 = tensor.insert_slice %3 into %4[%c4, %c0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x3xf32>
  util.global.store %5, @rows : tensor<8x3xf32>
  %6 = util.global.load @rows : tensor<8x3xf32>
  return %6 : tensor<8x3xf32>
}

// LOOP: 2x4x3xf32={{\[\[}}2 2 2][2 2 2][2 2 2][0 0 0]{{\]\[\[}}2 2 2][2 2 2][2 2 2][0 0 0]]
func.func @loop(%x: tensor<2x1x3xf32>, %n: index) -> tensor<2x4x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = util.global.load @cache : tensor<2x4x3xf32>
    %1 = tensor.insert_slice %x into %0[0, %i, 0] [2, 1, 3] [1, 1, 1] : tensor<2x1x3xf32> into tensor<2x4x3xf32>
    util.global.store %1, @cache : tensor<2x4x3xf32>
  }
  %2 = util.global.load @cache : tensor<2x4x3xf32>
  return %2 : tensor<2x4x3xf32>
}

// What a loop carries, a piece that is no run of memory.
// DUMP-LABEL: hal.commands @carried_1(
// DUMP: bindings(arg0[0 for 256], arg1[0 for 32], arg0[0 for 256])
// CARRIED: 2x4x8xf32={{\[\[}}3 3 1 1 1 1 1 1]
func.func @carried(%x: tensor<2x4x1xf32>, %n: index) -> tensor<2x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<2x4x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %ones) -> tensor<2x4x8xf32> {
    %y = tensor.insert_slice %x into %a[0, 0, %i] [2, 4, 1] [1, 1, 1] : tensor<2x4x1xf32> into tensor<2x4x8xf32>
    scf.yield %y : tensor<2x4x8xf32>
  }
  return %r : tensor<2x4x8xf32>
}

// The new row is made of another one while it is written.
// DUMP-LABEL: hal.commands @overlap(
// DUMP: _dynamic_update_{{.*}}bindings(arg0[0 for 96], arg1[0 for 12], arg0[0 for 96])
// DUMP: copy
// OVERLAP: 8x3xf32=[0 0 0][1 2 3][0 0 0][0 0 0][2 4 6]
func.func @overlap(%x: tensor<1x3xf32>) -> tensor<8x3xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = util.global.load @rows : tensor<8x3xf32>
  %1 = stablehlo.dynamic_update_slice %0, %x, %one, %zero : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
  util.global.store %1, @rows : tensor<8x3xf32>
  %2 = stablehlo.slice %1 [1:2, 0:3] : (tensor<8x3xf32>) -> tensor<1x3xf32>
  %3 = stablehlo.add %2, %2 : tensor<1x3xf32>
  %4 = util.global.load @rows : tensor<8x3xf32>
  %5 = stablehlo.dynamic_update_slice %4, %3, %four, %zero : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
  util.global.store %5, @rows : tensor<8x3xf32>
  return %5 : tensor<8x3xf32>
}

// The old rows are read behind the update.
// BEFORE: 8x3xf32=[-1 -2 -3][0 0 0]
func.func @before(%x: tensor<1x3xf32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = util.global.load @rows : tensor<8x3xf32>
  %1 = stablehlo.dynamic_update_slice %0, %x, %zero, %zero : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
  util.global.store %1, @rows : tensor<8x3xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<8x3xf32>
  return %2 : tensor<8x3xf32>
}

// A value from before a loop that stores.
// AROUND: 4xf32=4 4 4 4
util.global private mutable @sum = dense<1.0> : tensor<4xf32>
func.func @around() -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %old = util.global.load @sum : tensor<4xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    %0 = util.global.load @sum : tensor<4xf32>
    %1 = arith.addf %old, %0 : tensor<4xf32>
    util.global.store %1, @sum : tensor<4xf32>
  }
  %2 = util.global.load @sum : tensor<4xf32>
  return %2 : tensor<4xf32>
}
