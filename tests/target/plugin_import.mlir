// A dispatch whose function a plugin of the runtime provides: that of samples/custom_dispatch/cpu/plugin.
// RUN: rm -rf %t && mkdir %t && clang -shared -fPIC -O1 -Iinclude samples/custom_dispatch/cpu/plugin/plugin.c -o %t/plugin.so
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t/local.vmfb
// RUN: iree-run-module --device=local-sync --executable_plugin=%t/plugin.so --module=%t/local.vmfb --input=3x4xf32=2 --input=3x4xf32=4 --expected_output=3x4xf32=12
// RUN: iree-compile --iree-execution-model=inline-dynamic --iree-hal-target-backends=llvm-cpu %s -o %t/inline.vmfb
// RUN: iree-run-module --executable_plugin=%t/plugin.so --module=%t/inline.vmfb --input=3x4xf32=2 --input=3x4xf32=4 --expected_output=3x4xf32=12
// RUN: not iree-run-module --device=local-sync --module=%t/local.vmfb --input=3x4xf32=2 --input=3x4xf32=4 2>&1 | FileCheck --check-prefix=MISSING %s
// RUN: not iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %s -o %t/out 2>&1 | FileCheck --check-prefix=GPU %s
// RUN: sed -e 's/"processor_data"/"processor_name"/' %s > %t/bad.mlir && not iree-compile --iree-hal-target-device=local %t/bad.mlir -o %t/out 2>&1 | FileCheck --check-prefix=FIELD %s
// MISSING: NOT_FOUND; {{.*}}multiply_row
// GPU: 'graph.dispatch' op calls functions of plugins, which code for cuda cannot
// FIELD: asks for the field 'processor_name'; processor_id and processor_data are there

stream.executable private @rows {
  stream.executable.export public @multiply workgroups(%n: index) -> (index, index, index) {
    %one = arith.constant 1 : index
    stream.return %one, %one, %one : index, index, index
  }
  builtin.module {
    func.func private @multiply_row(memref<f32>, memref<f32>, memref<f32>, i32)
        attributes {llvm.bareptr = true, hal.import.fields = ["processor_id", "processor_data"]}
    func.func @multiply(%x: !stream.binding, %y: !stream.binding, %out: !stream.binding, %n: index) {
      %zero = arith.constant 0 : index
      %xs = stream.binding.subspan %x[%zero] : !stream.binding -> memref<f32>
      %ys = stream.binding.subspan %y[%zero] : !stream.binding -> memref<f32>
      %outs = stream.binding.subspan %out[%zero] : !stream.binding -> memref<f32>
      %count = arith.index_cast %n : index to i32
      func.call @multiply_row(%xs, %ys, %outs, %count) : (memref<f32>, memref<f32>, memref<f32>, i32) -> ()
      return
    }
  }
}
func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %n = arith.constant 12 : index
  %product = flow.dispatch @rows::@multiply[%n](%x, %y, %n) : (tensor<3x4xf32>, tensor<3x4xf32>, index) -> tensor<3x4xf32>
  %sum = arith.addf %product, %y : tensor<3x4xf32>
  return %sum : tensor<3x4xf32>
}
