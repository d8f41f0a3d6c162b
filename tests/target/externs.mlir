// Code that a program brings: kernels.ptx and a code object of kernels.cl, of the sample.
// RUN: rm -rf %t && mkdir %t && clang -x cl -target amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib -O2 samples/custom_dispatch/gpu/kernels.cl -o %t/kernels_gfx1100.hsaco
// RUN: iree-compile --iree-hal-executable-object-search-path=samples/custom_dispatch/gpu --iree-hal-executable-object-search-path=%t samples/custom_dispatch/gpu/example.mlir -o %t/gpu.vmfb
// RUN: iree-softgpu --target=sm_90 --check=all -- iree-run-module --device=cuda --module=%t/gpu.vmfb --input=70xf32=2 --input=70xf32=1 --expected_output=70xf32=34 --expected_output=70xf32=36
// RUN: iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --module=%t/gpu.vmfb --input=70xf32=2 --input=70xf32=1 --expected_output=70xf32=34 --expected_output=70xf32=36
// What a dispatch of it takes and gives is shown, of memory that the host does not see.
// RUN: iree-compile --iree-flow-trace-dispatch=@main:0 --iree-hal-executable-object-search-path=samples/custom_dispatch/gpu --iree-hal-executable-object-search-path=%t samples/custom_dispatch/gpu/example.mlir -o %t/traced.vmfb && iree-softgpu --target=sm_90 -- iree-run-module --device=cuda --module=%t/traced.vmfb --input=2xf32=2 --input=2xf32=1 2>&1 | FileCheck --check-prefix=TRACE %s
// TRACE: === main_dispatch_0::main_dispatch_0_scale_add inputs ===
// TRACE-NEXT: 2xf32=2 2
// TRACE-NEXT: 2xf32=1 1
// TRACE: === main_dispatch_0::main_dispatch_0_scale_add outputs ===
// TRACE-NEXT: 2xf32=6 6
// What each phase prints can be read again.
// RUN: iree-opt samples/custom_dispatch/gpu/example.mlir -o %t/again.mlir && iree-opt %t/again.mlir | diff %t/again.mlir -
// RUN: iree-compile --compile-to=flow samples/custom_dispatch/gpu/example.mlir -o %t/flow.mlir && FileCheck --check-prefix=FLOW %s < %t/flow.mlir
// RUN: cd samples/custom_dispatch/gpu && iree-compile --compile-from=flow --iree-hal-executable-object-search-path=%t %t/flow.mlir -o %t/flow.vmfb && iree-softgpu --target=sm_90 -- iree-run-module --device=cuda --module=%t/flow.vmfb --input=2xf32=1 --input=2xf32=0.5 --expected_output=2xf32=8 --expected_output=2xf32=9
// FLOW: hal.executable.source
// FLOW: graph.dispatch
// FLOW-SAME: main_dispatch_0_scale_add
// FLOW: graph.extern
//
// Here the same argument is passed twice, sizes are known, nobody needs what the first argument was, and the second
// export of an executable is called in the place of one of two results.
// RUN: iree-compile --iree-hal-executable-object-search-path=samples/custom_dispatch/gpu %s -o %t/own.vmfb
// RUN: iree-softgpu --target=sm_80 --check=all -- iree-run-module --device=cuda --module=%t/own.vmfb --function=static --input=3xf32=1,2,3 --expected_output=3xf32=-1.5,-3,-4.5
// RUN: iree-softgpu --target=sm_80 -- iree-run-module --device=cuda --module=%t/own.vmfb --function=twice --input=2xf32=1,2 --expected_output=2xf32=-2,-4
//
// RUN: not iree-compile %s -o %t/out 2>&1 | FileCheck --check-prefix=FILE %s
// FILE: 'hal.executable' op needs 'kernels.ptx', which is neither here nor in a folder of --iree-hal-executable-object-search-path
// RUN: not iree-compile --iree-hal-executable-object-search-path=tests/target/objects %s -o %t/out 2>&1 | FileCheck --check-prefix=FILE %s
// RUN: sed -e 's/@subtract_from/@subtract/g' %s > %t/bad.mlir && not iree-compile --iree-hal-executable-object-search-path=samples/custom_dispatch/gpu %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=ENTRY %s
// ENTRY: 'hal.executable.export' op 'samples/custom_dispatch/gpu/kernels.ptx', which is to have its code, is no PTX text with it
// RUN: sed -e 's/constants = 2/constants = 3/' %s > %t/bad.mlir && not iree-compile %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=LAYOUT %s
// LAYOUT: 'flow.dispatch' op passes 2 constants and 3 bindings, where the layout has 3 and 3
// RUN: sed -e 's/sm_70"}>$/sm_90"}>/;s/"sm_70"}> ordinal/"sm_90"}> ordinal/' %s > %t/bad.mlir && sed -i -e 's/target_arch = "sm_80"/target_arch = "sm_60"/' %t/bad.mlir && not iree-compile --iree-hal-executable-object-search-path=samples/custom_dispatch/gpu %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=TARGET %s
// TARGET: op has no code for cuda sm_60 (cuda-nvptx-fb): executable @kernels has it for sm_90
// RUN: sed -e 's/workgroup_size = /threads = /' %s > %t/bad.mlir && not iree-compile --iree-hal-executable-object-search-path=samples/custom_dispatch/gpu %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=THREADS %s
// THREADS: 'hal.executable.export' op needs its threads: attributes {workgroup_size
// RUN: sed -e 's/%n: index) ->/%n: index, %m: index) ->/' %s > %t/bad.mlir && not iree-compile %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=COUNT %s
// COUNT: op has 1 numbers as workload, where the number of workgroups is computed of 2
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-executable-object-search-path=samples/custom_dispatch/gpu %s -o %t/own.vmfb 2>&1 | FileCheck --check-prefix=NOTE %s
// NOTE: note: the program names its targets itself (hal.device.targets): flags add none
// RUN: echo 'module attributes {hal.device.targets = [#hal.device.alias<"any">]} { func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %0 = arith.addf %x, %x : tensor<2xf32> return %0 : tensor<2xf32> } }' > %t/alias.mlir && iree-compile --iree-hal-target-device=local %t/alias.mlir -o %t/alias.vmfb && iree-run-module --device=local-sync --module=%t/alias.vmfb --input=2xf32=2 --expected_output=2xf32=4 && not iree-compile %t/alias.mlir -o %t/out 2>&1 | FileCheck --check-prefix=ALIAS %s
// ALIAS: error: 'builtin.module' op has hal.device.targets that are not [#hal.device.target<"name", [#hal.executable.target<
// RUN: sed -e 's/"cuda", "cuda-nvptx-fb"/"quantum", "q"/' %s > %t/bad.mlir && not iree-compile %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=NAME %s
// NAME: error: {{.*}}hal.device.targets that cannot be compiled for: {{.*}}quantum

#older = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_70"}>
#newer = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#device = #hal.device.target<"cuda", [#newer]> : !hal.device
#add = #hal.pipeline.layout<constants = 2, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>
#subtract = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>
]>

module attributes {hal.device.targets = [#device]} {
  hal.executable private @kernels {
    hal.executable.variant public @ptx target(#older) objects([
      // A comment's brackets ( and its "quote do not count.
      #hal.executable.object<{
        path = "kernels.ptx"  // and it's left out (
      }>
    ]) {
      hal.executable.export public @subtract_from ordinal(1) layout(#subtract) count(%device: !hal.device, %n: index) -> (index, index, index) {
        %one = arith.constant 1 : index
        hal.return %n, %one, %one : index, index, index
      } attributes {workgroup_size = [64 : index]}
      hal.executable.export public @scale_add ordinal(0) layout(#add) attributes {workgroup_size = [64 : index]} {
      ^bb0(%device: !hal.device, %n: index):
        %one = arith.constant 1 : index
        hal.return %n, %one, %one : index, index, index
      }
    }
  }
  func.func @static(%x: tensor<3xf32>) -> tensor<3xf32> {
    %groups = arith.constant 1 : index
    %n = arith.constant 3 : i32
    %factor = arith.constant 1.5 : f32
    %0 = flow.dispatch @kernels::@scale_add[%groups](%n, %factor, %x, %x) : (i32, f32, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %1 = flow.dispatch @kernels::@ptx::@subtract_from[%groups](%n, %0, %x) : (i32, tensor<3xf32>, tensor<3xf32>) -> %x
    return %1 : tensor<3xf32>
  }
  func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
    %groups = arith.constant 1 : index
    %n = arith.constant 2 : i32
    %zero = arith.constant dense<0.0> : tensor<2xf32>
    %0 = flow.dispatch @kernels::@subtract_from[%groups](%n, %x, %zero) : (i32, tensor<2xf32>, tensor<2xf32>) -> %zero
    %1 = flow.dispatch @kernels::@subtract_from[%groups](%n, %x, %0) : (i32, tensor<2xf32>, tensor<2xf32>) -> %0
    return %1 : tensor<2xf32>
  }
}
