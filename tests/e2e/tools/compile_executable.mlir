// An executable alone, as IREE's own benchmark of dispatches has it: its functions become code for each target, which
// runs with as many workgroups as are asked for.
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.so
// RUN: iree-benchmark-executable --device=local-sync --executable_format=embedded-elf-x86_64 --executable_file=%t.so --entry_point=0 --binding=4xf32=1,2,3,4 --binding=4xf32=100,200,300,400 --binding=4xf32=0 --workgroup_count=1,1,1 --workgroup_count=4,1,1 --benchmark_min_time=1x | FileCheck %s
// CHECK: BM_dispatch_1x1x1/process_time/real_time
// CHECK: BM_dispatch_4x1x1/process_time/real_time
// Loops over elements are vectors.
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=local --iree-llvmcpu-target-cpu=generic %s -o %t.generic.so && llvm-objdump -d %t.generic.so | FileCheck --check-prefix=VECTORS %s
// VECTORS: <many>:
// VECTORS: mulps
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmvx
// RUN: iree-benchmark-executable --device=local-sync --executable_format=vmvx-bytecode-fb --executable_file=%t.vmvx --entry_point=1 --binding=4xf32=1,2,3,4 --constant=3 --workgroup_count=4,1,1 --benchmark_min_time=1x | FileCheck --check-prefix=SECOND %s
// SECOND: BM_dispatch_4x1x1/process_time/real_time
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %s -o - | FileCheck --check-prefix=PTX %s
// Loops over elements are shared out among threads, with barriers between; what is none, one does.
// PTX: .entry elementwise_mul(
// PTX: .reqntid 64
// PTX: bar.sync 0
// PTX: .entry scaled(
// PTX: .reqntid 1
// PTX-NOT: bar.sync
// PTX: .entry many(
// RUN: iree-compile --compile-mode=hal-executable --iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100 %s -o %t.hsaco && llvm-readelf --dyn-symbols %t.hsaco | FileCheck --check-prefix=HSACO %s
// HSACO-DAG: elementwise_mul
// HSACO-DAG: scaled.kd
// RUN: sed -e 's/binding(2)/binding(3)/' %s > %t.bad.mlir && not iree-compile --compile-mode=hal-executable --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=BINDING %s
// BINDING: error: 'hal.interface.binding.subspan' op has a binding beyond its layout's
// RUN: (cat %s; echo 'func.func @more() { return }') > %t.bad.mlir && not iree-compile --compile-mode=hal-executable --iree-hal-target-device=local %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=ALONE %s
// ALONE: error: 'hal.executable.source' op is beside another op; --compile-mode=hal-executable takes one alone
#mul = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>
#scaled = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source public @executable {
  hal.executable.export public @elementwise_mul ordinal(0) layout(#mul) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  }
  hal.executable.export public @scaled ordinal(1) layout(#scaled) count(%device: !hal.device) -> (index, index, index) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    hal.return %c4, %c1, %c1 : index, index, index
  }
  hal.executable.export public @many ordinal(2) layout(#scaled) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @many() {
      %x = hal.interface.binding.subspan layout(#scaled) binding(0) : memref<1024xf32>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : memref<1024xf32>) {
      ^bb0(%v: f32):
        %0 = arith.mulf %v, %v : f32
        linalg.yield %0 : f32
      }
      return
    }
    func.func @elementwise_mul() {
      %c0 = arith.constant 0 : index
      %lhs = hal.interface.binding.subspan layout(#mul) binding(0) alignment(32) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>
      %rhs = hal.interface.binding.subspan layout(#mul) binding(1) alignment(32) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>
      %dst = hal.interface.binding.subspan layout(#mul) binding(2) alignment(32) offset(%c0) : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
      %0 = iree_tensor_ext.dispatch.tensor.load %lhs, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %1 = iree_tensor_ext.dispatch.tensor.load %rhs, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %2 = tensor.empty() : tensor<4xf32>
      %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) outs(%2 : tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %4 = arith.mulf %a, %b : f32
        linalg.yield %4 : f32
      } -> tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %3, %dst, offsets = [0], sizes = [4], strides = [1] : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
      return
    }
    func.func @scaled() {
      %x = hal.interface.binding.subspan layout(#scaled) binding(0) : memref<4xf32>
      %word = hal.interface.constant.load layout(#scaled) ordinal(0) : i32
      %factor = arith.sitofp %word : i32 to f32
      %id = hal.interface.workgroup.id[0] : index
      %0 = memref.load %x[%id] : memref<4xf32>
      %1 = arith.mulf %0, %factor : f32
      memref.store %1, %x[%id] : memref<4xf32>
      return
    }
  }
}
