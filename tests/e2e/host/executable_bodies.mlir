// Bodies of executables over memory are kernels for every target, with as many workgroups as their export says.
// RUN: iree-compile --iree-hal-target-device=local %s -o %t.cpu.vmfb && iree-check-module --device=local-task --module=%t.cpu.vmfb
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmvx.vmfb && iree-check-module --device=local-sync --module=%t.vmvx.vmfb
// RUN: iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %s -o %t.sm_80.vmfb && iree-softgpu --target=sm_80 --check=all -- iree-check-module --device=cuda --module=%t.sm_80.vmfb
// RUN: iree-compile --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.gfx1100.vmfb && iree-softgpu --target=gfx1100 --check=all -- iree-check-module --device=amdgpu --module=%t.gfx1100.vmfb
// RUN: iree-compile --compile-to=flow %s -o %t.flow.mlir && FileCheck --check-prefix=FLOW %s < %t.flow.mlir && iree-compile --compile-from=flow --iree-hal-target-device=local %t.flow.mlir -o %t.vmfb && iree-check-module --device=local-sync --module=%t.vmfb
// FLOW: memref.load
// FLOW-COUNT-9: graph.extern
//
// RUN: sed -e 's/memref.alloca() : memref<4x4xf32>/memref.alloca(%m) : memref<?x4xf32>/;s/memref<4x4xf32>/memref<?x4xf32>/g' %s > %t.bad.mlir && not iree-compile --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=BOUND %s
// BOUND: error: 'memref.alloca' op {{.*}} a size with a bound is: affine.min of it and a number
// RUN: sed -e 's/memref<4x4xf32>/memref<4x4000xf32>/g' %s > %t.bad.mlir && not iree-compile --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=SCRATCH %s
// SCRATCH: error: 'memref.alloca' op {{.*}} up to 32768 bytes of memory of its own are what a workgroup has
// RUN: sed -e 's/scf.for %i = %begin/scf.for unsigned %i = %begin/' %s > %t.bad.mlir && not iree-compile --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=UNSIGNED %s
// UNSIGNED: error: 'scf.for' op {{.*}} a loop that compares signed numbers is
// RUN: sed -e 's/memref.load %x\[%i\]/memref.load %x[%i, %i]/' %s > %t.bad.mlir && not iree-compile --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=INDICES %s
// INDICES: error: 'memref.load' op incorrect number of indices for 'memref<?xf32>': 2
// RUN: sed -e 's/(%v: f32, %o: f32)/(%v: i32, %o: f32)/;s/%r = arith.addf %v, %bias/%r = arith.addf %bias, %bias/;s/%bias = arith.sitofp %word/%bias = arith.sitofp %v/' %s > %t.bad.mlir && not iree-compile --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=ARGUMENT %s
// ARGUMENT: error: 'linalg.generic' op has a region whose argument 0 has type i32, which it is not given
// RUN: sed -e 's/vector.load %line\[%c4\] : memref<6xf32>, vector<2xf32>/vector.load %line[%c4] : memref<6xf32>, vector<2xi32>/;s/%6 = arith.mulf %4, %5/%6 = arith.mulf %5, %5/' %s > %t.bad.mlir && not iree-compile --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=ELEMENT %s
// ELEMENT: error: 'vector.load' op has a result of type vector<2xi32>, which its operands do not give

// a x + y in pieces of eight, of which the last is smaller.
#axpy = #hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @axpy {
  hal.executable.export public @axpy ordinal(0) layout(#axpy) count(%device: !hal.device, %n: index) -> (index, index, index) {
    %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 8)>()[%n]
    %c1 = arith.constant 1 : index
    hal.return %groups, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [8 : index, 1 : index, 1 : index]}
  builtin.module {
    func.func @axpy() {
      %c1 = arith.constant 1 : index
      %n_i32 = hal.interface.constant.load layout(#axpy) ordinal(0) : i32
      %a = hal.interface.constant.load layout(#axpy) ordinal(1) : f32
      %n = arith.index_castui %n_i32 : i32 to index
      %x = hal.interface.binding.subspan layout(#axpy) binding(0) : memref<?xf32, #hal.descriptor_type<storage_buffer>>{%n}
      %y = hal.interface.binding.subspan layout(#axpy) binding(1) : memref<?xf32, #hal.descriptor_type<storage_buffer>>{%n}
      %id = hal.interface.workgroup.id[0] : index
      %size = hal.interface.workgroup.size[0] : index
      %begin = arith.muli %id, %size : index
      %end = affine.min affine_map<()[s0, s1, s2] -> (s0 + s1, s2)>()[%begin, %size, %n]
      scf.for %i = %begin to %end step %c1 {
        %0 = memref.load %x[%i] : memref<?xf32, #hal.descriptor_type<storage_buffer>>
        %1 = memref.load %y[%i] : memref<?xf32, #hal.descriptor_type<storage_buffer>>
        %2 = math.fma %a, %0, %1 : f32
        memref.store %2, %y[%i] : memref<?xf32, #hal.descriptor_type<storage_buffer>>
      }
      return
    }
  }
}
func.func @axpy_test() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]> : tensor<11xf32>
  %y = util.unfoldable_constant dense<100.0> : tensor<11xf32>
  %n = arith.constant 11 : index
  %n_i32 = arith.constant 11 : i32
  %a = arith.constant 3.0 : f32
  %0 = flow.dispatch @axpy::@axpy[%n](%n_i32, %a, %x, %y) : (i32, f32, tensor<11xf32>, tensor<11xf32>) -> %y
  check.expect_almost_eq_const(%0, dense<[103.0, 106.0, 109.0, 112.0, 115.0, 118.0, 121.0, 124.0, 127.0, 130.0, 133.0]> : tensor<11xf32>) : tensor<11xf32>
  return
}

// Tiles of a product, summed in memory of the workgroup's own; the bias's index is the column.
stream.executable private @product {
  stream.executable.export public @tile workgroups(%m: index, %n: index) -> (index, index, index) {
    %y = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%m]
    %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%n]
    %c1 = arith.constant 1 : index
    stream.return %x, %y, %c1 : index, index, index
  }
  builtin.module {
    func.func @tile(%lhs: !stream.binding, %rhs: !stream.binding, %out: !stream.binding, %m: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %a = stream.binding.subspan %lhs[%c0] : !stream.binding -> memref<?x5xf32>{%m}
      %b = stream.binding.subspan %rhs[%c0] : !stream.binding -> memref<5x8xf32>
      %c = stream.binding.subspan %out[%c0] : !stream.binding -> memref<?x8xf32>{%m}
      %x = stream.dispatch.workgroup.id[0] : index
      %y = stream.dispatch.workgroup.id[1] : index
      %row = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%y]
      %column = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%x]
      %rows = affine.min affine_map<()[s0, s1] -> (4, s0 - s1)>()[%m, %row]
      %at = memref.subview %a[%row, 0] [%rows, 5] [1, 1] : memref<?x5xf32> to memref<?x5xf32, strided<[5, 1], offset: ?>>
      %bt = memref.subview %b[0, %column] [5, 4] [1, 1] : memref<5x8xf32> to memref<5x4xf32, strided<[8, 1], offset: ?>>
      %ct = memref.subview %c[%row, %column] [%rows, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: ?>>
      %sum = memref.alloca() : memref<4x4xf32>
      %part = memref.subview %sum[0, 0] [%rows, 4] [1, 1] : memref<4x4xf32> to memref<?x4xf32, strided<[4, 1]>>
      linalg.fill ins(%zero : f32) outs(%sum : memref<4x4xf32>)
      linalg.matmul ins(%at, %bt : memref<?x5xf32, strided<[5, 1], offset: ?>>, memref<5x4xf32, strided<[8, 1], offset: ?>>) outs(%part : memref<?x4xf32, strided<[4, 1]>>)
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%part : memref<?x4xf32, strided<[4, 1]>>) outs(%ct : memref<?x4xf32, strided<[8, 1], offset: ?>>) {
      ^bb0(%v: f32, %o: f32):
        %j = linalg.index 1 : index
        %place = arith.addi %column, %j : index
        %word = arith.index_cast %place : index to i32
        %bias = arith.sitofp %word : i32 to f32
        %r = arith.addf %v, %bias : f32
        linalg.yield %r : f32
      }
      return
    }
  }
}
func.func @product_test() {
  %a = util.unfoldable_constant dense<2.0> : tensor<6x5xf32>
  %b = util.unfoldable_constant dense<3.0> : tensor<5x8xf32>
  %m = arith.constant 6 : index
  %n = arith.constant 8 : index
  %0 = flow.dispatch @product::@tile[%m, %n](%a, %b, %m) : (tensor<6x5xf32>, tensor<5x8xf32>, index) -> tensor<6x8xf32>
  %row = arith.constant dense<[30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0]> : tensor<8xf32>
  %e = tensor.empty() : tensor<6x8xf32>
  %1 = linalg.broadcast ins(%row : tensor<8xf32>) outs(%e : tensor<6x8xf32>) dimensions = [0]
  check.expect_almost_eq(%0, %1) : tensor<6x8xf32>
  return
}

// Of a variant for another target alone: its functions are compiled for this one.
#vectors = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>
hal.executable private @vectors {
  hal.executable.variant public @other target(#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">) {
    hal.executable.export public @rows ordinal(0) layout(#vectors) count(%device: !hal.device, %n: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %n, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func @rows() {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %one = arith.constant 1.0 : f32
        %x = hal.interface.binding.subspan layout(#vectors) binding(0) alignment(64) offset(%c0) : memref<3x6xf32>
        %y = hal.interface.binding.subspan layout(#vectors) binding(1) alignment(64) offset(%c0) : memref<3x8xf32>
        %id = hal.interface.workgroup.id[0] : index
        %0 = vector.transfer_read %x[%id, %c0], %one {in_bounds = [true]} : memref<3x6xf32>, vector<4xf32>
        %1 = vector.transfer_read %x[%id, %c2], %one : memref<3x6xf32>, vector<4xf32>
        // What is outside reads as 1.
        %four = arith.constant 4 : index
        %2 = vector.transfer_read %x[%id, %four], %one : memref<3x6xf32>, vector<4xf32>
        %3 = vector.fma %0, %1, %2 : vector<4xf32>
        %4 = vector.reduction <add>, %3 : vector<4xf32> into f32
        %5 = vector.reduction <maximumf>, %0, %4 : vector<4xf32> into f32
        %6 = vector.insert %5, %3 [0] : f32 into vector<4xf32>
        %7 = vector.shape_cast %6 : vector<4xf32> to vector<2x2xf32>
        %8 = vector.transpose %7, [1, 0] : vector<2x2xf32> to vector<2x2xf32>
        %9 = arith.constant dense<[[1.0, 0.0], [0.0, 2.0]]> : vector<2x2xf32>
        %10 = arith.constant dense<0.5> : vector<2x2xf32>
        %11 = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %8, %9, %10 : vector<2x2xf32>, vector<2x2xf32> into vector<2x2xf32>
        %12 = vector.shape_cast %11 : vector<2x2xf32> to vector<4xf32>
        vector.store %12, %y[%id, %c0] : memref<3x8xf32>, vector<4xf32>
        %13 = arith.constant dense<10.0> : vector<2xf32>
        %14 = vector.multi_reduction <add>, %7, %13 [0] : vector<2x2xf32> to vector<2xf32>
        %15 = vector.extract_strided_slice %12 {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
        %16 = arith.cmpf ogt, %14, %15 : vector<2xf32>
        %17 = arith.select %16, %14, %15 : vector<2xi1>, vector<2xf32>
        %18 = vector.broadcast %17 : vector<2xf32> to vector<3x2xf32>
        %19 = vector.extract %18[2] : vector<2xf32> from vector<3x2xf32>
        %20 = vector.insert_strided_slice %19, %12 {offsets = [2], strides = [1]} : vector<2xf32> into vector<4xf32>
        // The last two are outside: nothing is written there.
        %six = arith.constant 6 : index
        %21 = vector.extract_strided_slice %20 {offsets = [2], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
        %22 = vector.insert_strided_slice %21, %20 {offsets = [0], strides = [1]} : vector<2xf32> into vector<4xf32>
        vector.transfer_write %22, %y[%id, %six] : vector<4xf32>, memref<3x8xf32>
        %23 = vector.step : vector<2xindex>
        %24 = arith.index_cast %23 : vector<2xindex> to vector<2xi32>
        %25 = arith.sitofp %24 : vector<2xi32> to vector<2xf32>
        vector.transfer_write %25, %y[%id, %four] {in_bounds = [true]} : vector<2xf32>, memref<3x8xf32>
        return
      }
    }
  }
}
func.func @vectors_test() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]]> : tensor<3x6xf32>
  %n = arith.constant 3 : index
  %0 = flow.dispatch @vectors::@other::@rows[%n](%x) : (tensor<3x6xf32>) -> tensor<3x8xf32>
  check.expect_almost_eq_const(%0, dense<[[63.5, 32.5, 14.5, 50.5, 0.0, 1.0, 89.0, 49.0], [5.5, 2.5, 2.5, 4.5, 0.0, 1.0, 16.0, 14.0], [22.5, 10.5, 6.5, 10.5, 0.0, 1.0, 37.0, 21.0]]> : tensor<3x8xf32>) : tensor<3x8xf32>
  return
}

// Loops that go on, branches with results and tensors that are carried, in bodies that ask which workgroup they are.
flow.executable private @loops {
  flow.executable.export public @carried workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    flow.return %n, %c1, %c1 : index, index, index
  }
  flow.executable.export public @windows workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    flow.return %n, %c1, %c1 : index, index, index
  }
  flow.executable.export public @moved workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    flow.return %n, %c1, %c1 : index, index, index
  }
  builtin.module {
    // Row `id`, rotated and added up as often as its number says, then halved while its sum is above 10.
    func.func @carried(%x: !flow.dispatch.tensor<readonly:tensor<3x4xf32>>, %r: !flow.dispatch.tensor<writeonly:tensor<3x4xf32>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %half = arith.constant 0.5 : f32
      %ten = arith.constant 10.0 : f32
      %id = flow.dispatch.workgroup.id[0] : index
      %row = flow.dispatch.tensor.load %x, offsets = [%id, 0], sizes = [1, 4], strides = [1, 1] : !flow.dispatch.tensor<readonly:tensor<3x4xf32>> -> tensor<4xf32>
      %sums:2 = scf.for %i = %c0 to %id step %c1 iter_args(%a = %row, %b = %row) -> (tensor<4xf32>, tensor<4xf32>) {
        %first = tensor.extract_slice %a[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
        %rest = tensor.extract_slice %a[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
        %e = tensor.empty() : tensor<4xf32>
        %0 = tensor.insert_slice %rest into %e[0] [3] [1] : tensor<3xf32> into tensor<4xf32>
        %1 = tensor.insert_slice %first into %0[3] [1] [1] : tensor<1xf32> into tensor<4xf32>
        %2 = arith.addf %b, %1 : tensor<4xf32>
        scf.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
      }
      // Two that change places.
      %swapped:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %sums#0, %b = %sums#1) -> (tensor<4xf32>, tensor<4xf32>) {
        scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
      }
      %zero = arith.constant dense<0.0> : tensor<f32>
      %total = linalg.reduce ins(%swapped#0 : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0] (%in: f32, %acc: f32) {
        %s = arith.addf %in, %acc : f32
        linalg.yield %s : f32
      }
      %t = tensor.extract %total[] : tensor<f32>
      %small = scf.while (%v = %t) : (f32) -> f32 {
        %go = arith.cmpf ogt, %v, %ten : f32
        scf.condition(%go) %v : f32
      } do {
      ^bb0(%v: f32):
        %h = arith.mulf %v, %half : f32
        scf.yield %h : f32
      }
      %even = arith.cmpf olt, %small, %ten : f32
      %out = scf.if %even -> (tensor<4xf32>) {
        %s = tensor.splat %small : tensor<4xf32>
        %0 = arith.addf %swapped#0, %s : tensor<4xf32>
        scf.yield %0 : tensor<4xf32>
      } else {
        scf.yield %swapped#0 : tensor<4xf32>
      }
      flow.dispatch.tensor.store %out, %r, offsets = [%id, 0], sizes = [1, 4], strides = [1, 1] : tensor<4xf32> -> !flow.dispatch.tensor<writeonly:tensor<3x4xf32>>
      return
    }
    func.func @windows(%x: !flow.dispatch.tensor<readonly:tensor<2x4x4x1xf32>>, %w: !flow.dispatch.tensor<readonly:tensor<2x2x1x3xf32>>, %r: !flow.dispatch.tensor<writeonly:tensor<2x2x2x3xf32>>, %p: !flow.dispatch.tensor<writeonly:tensor<2x2x2x1xf32>>) {
      %zero = arith.constant 0.0 : f32
      %low = arith.constant -1.0e+30 : f32
      %id = flow.dispatch.workgroup.id[0] : index
      %image = flow.dispatch.tensor.load %x, offsets = [%id, 0, 0, 0], sizes = [1, 4, 4, 1], strides = [1, 1, 1, 1] : !flow.dispatch.tensor<readonly:tensor<2x4x4x1xf32>> -> tensor<1x4x4x1xf32>
      %taps = flow.dispatch.tensor.load %w, offsets = [0, 0, 0, 0], sizes = [2, 2, 1, 3], strides = [1, 1, 1, 1] : !flow.dispatch.tensor<readonly:tensor<2x2x1x3xf32>> -> tensor<2x2x1x3xf32>
      %e = tensor.empty() : tensor<1x2x2x3xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
      %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%image, %taps : tensor<1x4x4x1xf32>, tensor<2x2x1x3xf32>) outs(%z : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
      %f = tensor.empty() : tensor<1x2x2x1xf32>
      %l = linalg.fill ins(%low : f32) outs(%f : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
      %window = tensor.empty() : tensor<2x2xf32>
      %most = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%image, %window : tensor<1x4x4x1xf32>, tensor<2x2xf32>) outs(%l : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
      flow.dispatch.tensor.store %conv, %r, offsets = [%id, 0, 0, 0], sizes = [1, 2, 2, 3], strides = [1, 1, 1, 1] : tensor<1x2x2x3xf32> -> !flow.dispatch.tensor<writeonly:tensor<2x2x2x3xf32>>
      flow.dispatch.tensor.store %most, %p, offsets = [%id, 0, 0, 0], sizes = [1, 2, 2, 1], strides = [1, 1, 1, 1] : tensor<1x2x2x1xf32> -> !flow.dispatch.tensor<writeonly:tensor<2x2x2x1xf32>>
      return
    }
    func.func @moved(%x: !flow.dispatch.tensor<readonly:tensor<2x2x3xi32>>, %r: !flow.dispatch.tensor<writeonly:tensor<2x6xi32>>) {
      %id = flow.dispatch.workgroup.id[0] : index
      %0 = flow.dispatch.tensor.load %x, offsets = [%id, 0, 0], sizes = [1, 2, 3], strides = [1, 1, 1] : !flow.dispatch.tensor<readonly:tensor<2x2x3xi32>> -> tensor<2x3xi32>
      %e = tensor.empty() : tensor<3x2xi32>
      %t = linalg.transpose ins(%0 : tensor<2x3xi32>) outs(%e : tensor<3x2xi32>) permutation = [1, 0]
      %f = tensor.collapse_shape %t [[0, 1]] : tensor<3x2xi32> into tensor<6xi32>
      %places = tensor.generate {
      ^bb0(%i: index):
        %w = arith.index_cast %i : index to i32
        tensor.yield %w : i32
      } : tensor<6xi32>
      %g = tensor.empty() : tensor<6xi32>
      %s = linalg.map { arith.subi } ins(%f, %places : tensor<6xi32>, tensor<6xi32>) outs(%g : tensor<6xi32>)
      flow.dispatch.tensor.store %s, %r, offsets = [%id, 0], sizes = [1, 6], strides = [1, 1] : tensor<6xi32> -> !flow.dispatch.tensor<writeonly:tensor<2x6xi32>>
      return
    }
  }
}
func.func @carried_test() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<3x4xf32>
  %n = arith.constant 3 : index
  %0 = flow.dispatch @loops::@carried[%n](%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  check.expect_almost_eq_const(%0, dense<[[1.0, 2.0, 3.0, 4.0], [3.0, 5.0, 7.0, 5.0], [13.5, 16.5, 15.5, 14.5]]> : tensor<3x4xf32>) : tensor<3x4xf32>
  return
}
func.func @windows_test() {
  %x = util.unfoldable_constant dense<[[[[1.0], [2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0], [8.0]], [[9.0], [10.0], [11.0], [12.0]], [[13.0], [14.0], [15.0], [16.0]]], [[[1.0], [1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0], [2.0]]]]> : tensor<2x4x4x1xf32>
  %w = util.unfoldable_constant dense<[[[[1.0, 0.0, 1.0]], [[1.0, 0.0, 2.0]]], [[[1.0, 1.0, 3.0]], [[1.0, 0.0, 4.0]]]]> : tensor<2x2x1x3xf32>
  %n = arith.constant 2 : index
  %0:2 = flow.dispatch @loops::@windows[%n](%x, %w) : (tensor<2x4x4x1xf32>, tensor<2x2x1x3xf32>) -> (tensor<2x2x2x3xf32>, tensor<2x2x2x1xf32>)
  check.expect_almost_eq_const(%0#0, dense<[[[[14.0, 5.0, 44.0], [22.0, 7.0, 64.0]], [[46.0, 13.0, 124.0], [54.0, 15.0, 144.0]]], [[[4.0, 1.0, 10.0], [4.0, 1.0, 10.0]], [[4.0, 1.0, 10.0], [5.0, 1.0, 14.0]]]]> : tensor<2x2x2x3xf32>) : tensor<2x2x2x3xf32>
  check.expect_almost_eq_const(%0#1, dense<[[[[6.0], [8.0]], [[14.0], [16.0]]], [[[1.0], [1.0]], [[1.0], [2.0]]]]> : tensor<2x2x2x1xf32>) : tensor<2x2x2x1xf32>
  return
}
func.func @moved_test() {
  %x = util.unfoldable_constant dense<[[[0, 1, 2], [10, 11, 12]], [[20, 21, 22], [30, 31, 32]]]> : tensor<2x2x3xi32>
  %n = arith.constant 2 : index
  %0 = flow.dispatch @loops::@moved[%n](%x) : (tensor<2x2x3xi32>) -> tensor<2x6xi32>
  check.expect_eq_const(%0, dense<[[0, 9, -1, 8, -2, 7], [20, 29, 19, 28, 18, 27]]> : tensor<2x6xi32>) : tensor<2x6xi32>
  return
}

// Half precision, bytes and a number of i64, in memory and without a body of its own.
stream.executable private @types {
  stream.executable.export public @each workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %n, %c1 : index, index, index
  }
  builtin.module {
    func.func @each(%x: !stream.binding, %b: !stream.binding, %r: !stream.binding, %s: !stream.binding, %k: i64) {
      %c0 = arith.constant 0 : index
      %0 = stream.binding.subspan %x[%c0] : !stream.binding -> memref<4xf16>
      %1 = stream.binding.subspan %b[%c0] : !stream.binding -> memref<4xi8>
      %2 = stream.binding.subspan %r[%c0] : !stream.binding -> memref<4xf16>
      %3 = stream.binding.subspan %s[%c0] : !stream.binding -> memref<4xi64>
      %id = stream.dispatch.workgroup.id[1] : index
      %4 = memref.load %0[%id] : memref<4xf16>
      %5 = math.sqrt %4 : f16
      memref.store %5, %2[%id] : memref<4xf16>
      %6 = memref.load %1[%id] : memref<4xi8>
      %7 = arith.extsi %6 : i8 to i64
      %8 = arith.muli %7, %k : i64
      %9 = memref.cast %3 : memref<4xi64> to memref<?xi64>
      memref.store %8, %9[%id] : memref<?xi64>
      return
    }
  }
}
func.func @types_test() {
  %x = util.unfoldable_constant dense<[1.0, 4.0, 9.0, 16.0]> : tensor<4xf16>
  %b = util.unfoldable_constant dense<[1, -2, 3, -128]> : tensor<4xi8>
  %k = arith.constant 10000000000 : i64
  %n = arith.constant 4 : index
  %0:2 = flow.dispatch @types::@each[%n](%x, %b, %k) : (tensor<4xf16>, tensor<4xi8>, i64) -> (tensor<4xf16>, tensor<4xi64>)
  check.expect_eq_const(%0#0, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf16>) : tensor<4xf16>
  check.expect_eq_const(%0#1, dense<[10000000000, -20000000000, 30000000000, -1280000000000]> : tensor<4xi64>) : tensor<4xi64>
  return
}

// Memory of its own, seen in other ways.
stream.executable private @memory {
  stream.executable.export public @each workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %n, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @each(%x: !stream.binding, %r: !stream.binding) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %0 = stream.binding.subspan %x[%c0] : !stream.binding -> memref<2x6xf32>
      %1 = stream.binding.subspan %r[%c0] : !stream.binding -> memref<2x9xf32>
      %a = memref.assume_alignment %0, 64 : memref<2x6xf32>
      memref.assume_alignment %1, 64 : memref<2x9xf32>
      %id = stream.dispatch.workgroup.id[0] : index
      %own = memref.alloc() : memref<6xf32, #gpu.address_space<workgroup>>
      %same = memref.memory_space_cast %own : memref<6xf32, #gpu.address_space<workgroup>> to memref<6xf32>
      %row = memref.subview %a[%id, 0] [1, 6] [1, 1] : memref<2x6xf32> to memref<6xf32, strided<[1], offset: ?>>
      memref.copy %row, %same : memref<6xf32, strided<[1], offset: ?>> to memref<6xf32>
      // Of [a b c d e f] the square [[a b c] [d e f]], of which every second column is [a c d f].
      %square = memref.expand_shape %same [[0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
      %columns = memref.reinterpret_cast %same to offset: [0], sizes: [2, 2], strides: [3, 2] : memref<6xf32> to memref<2x2xf32, strided<[3, 2]>>
      %d = memref.load %square[%c1, %c0] : memref<2x3xf32>
      memref.store %d, %1[%id, %c0] : memref<2x9xf32>
      %out = memref.subview %1[%id, 1] [1, 4] [1, 1] : memref<2x9xf32> to memref<4xf32, strided<[1], offset: ?>>
      %2 = vector.transfer_read %columns[%c0, %c0], %zero {in_bounds = [true, true]} : memref<2x2xf32, strided<[3, 2]>>, vector<2x2xf32>
      %3 = vector.shape_cast %2 : vector<2x2xf32> to vector<4xf32>
      vector.store %3, %out[%c0] : memref<4xf32, strided<[1], offset: ?>>, vector<4xf32>
      %line = memref.collapse_shape %square [[0, 1]] : memref<2x3xf32> into memref<6xf32>
      %4 = vector.load %line[%c4] : memref<6xf32>, vector<2xf32>
      %5 = vector.splat %d : vector<2xf32>
      %6 = arith.mulf %4, %5 : vector<2xf32>
      %size = memref.dim %line, %c0 : memref<6xf32>
      %rank = memref.rank %square : memref<2x3xf32>
      %number = arith.addi %size, %rank : index
      %word = arith.index_cast %number : index to i32
      %7 = arith.sitofp %word : i32 to f32
      %8 = vector.extract %6[1] : f32 from vector<2xf32>
      %9 = vector.from_elements %8, %7 : vector<2xf32>
      %mask = arith.constant dense<[true, false]> : vector<2xi1>
      %c5 = arith.constant 5 : index
      %10 = vector.transfer_read %row[%c4], %zero, %mask {in_bounds = [true]} : memref<6xf32, strided<[1], offset: ?>>, vector<2xf32>
      vector.transfer_write %10, %1[%id, %c5] {in_bounds = [true]} : vector<2xf32>, memref<2x9xf32>
      %c7 = arith.constant 7 : index
      vector.transfer_write %9, %1[%id, %c7] {in_bounds = [true]} : vector<2xf32>, memref<2x9xf32>
      memref.dealloc %own : memref<6xf32, #gpu.address_space<workgroup>>
      return
    }
  }
}
func.func @memory_test() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]]> : tensor<2x6xf32>
  %n = arith.constant 2 : index
  %0 = flow.dispatch @memory::@each[%n](%x) : (tensor<2x6xf32>) -> tensor<2x9xf32>
  check.expect_eq_const(%0, dense<[[4.0, 1.0, 3.0, 4.0, 6.0, 5.0, 0.0, 24.0, 8.0], [40.0, 10.0, 30.0, 40.0, 60.0, 50.0, 0.0, 2400.0, 8.0]]> : tensor<2x9xf32>) : tensor<2x9xf32>
  return
}

// Rounds that threads share, in steps, between what all do.
stream.executable private @rounds {
  stream.executable.export public @each workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %n, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @each(%x: !stream.binding, %r: !stream.binding, %n: index) {
      %c0 = arith.constant 0 : index
      %0 = stream.binding.subspan %x[%c0] : !stream.binding -> memref<2x100xf32>
      %1 = stream.binding.subspan %r[%c0] : !stream.binding -> memref<2x100xf32>
      %id = stream.dispatch.workgroup.id[0] : index
      %own = memref.alloca() : memref<100xf32>
      scf.forall (%i) in (100) {
        %2 = memref.load %0[%id, %i] : memref<2x100xf32>
        %3 = arith.addf %2, %2 : f32
        memref.store %3, %own[%i] : memref<100xf32>
      }
      %first = memref.load %own[%c0] : memref<100xf32>
      memref.store %first, %own[%c0] : memref<100xf32>
      // Pairs change places, as far as %n.
      scf.forall (%i) = (0) to (%n) step (2) {
        %c1 = arith.constant 1 : index
        %next = arith.addi %i, %c1 : index
        %2 = memref.load %own[%i] : memref<100xf32>
        %3 = memref.load %own[%next] : memref<100xf32>
        memref.store %3, %1[%id, %i] : memref<2x100xf32>
        memref.store %2, %1[%id, %next] : memref<2x100xf32>
      }
      return
    }
  }
}
func.func @rounds_test() {
  %c100 = arith.constant 100 : index
  %e = tensor.empty() : tensor<2x100xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x100xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = affine.apply affine_map<(d0, d1) -> (d0 * 1000 + d1)>(%i, %j)
    %w = arith.index_cast %k : index to i32
    %f = arith.sitofp %w : i32 to f32
    linalg.yield %f : f32
  } -> tensor<2x100xf32>
  %n = arith.constant 2 : index
  %0 = flow.dispatch @rounds::@each[%n](%x, %c100) : (tensor<2x100xf32>, index) -> tensor<2x100xf32>
  %expected = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x100xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = affine.apply affine_map<(d0, d1) -> (d0 * 2000 + (d1 floordiv 2) * 8 + 2 - d1 * 2)>(%i, %j)
    %w = arith.index_cast %k : index to i32
    %f = arith.sitofp %w : i32 to f32
    linalg.yield %f : f32
  } -> tensor<2x100xf32>
  check.expect_almost_eq(%0, %expected) : tensor<2x100xf32>
  return
}
