// Microkernels: functions of plugins and objects that a dispatch's workgroups call on slices of its tensors.
// RUN: rm -rf %t && mkdir %t && clang -shared -fPIC -O1 -Iinclude samples/custom_dispatch/cpu/plugin/plugin.c -o %t/plugin.so && clang -c -O2 -fPIC -ffreestanding -fno-builtin samples/custom_dispatch/cpu/objects/functions.c -o %t/functions_x86_64.o
// RUN: echo 'void turn(const float* x, unsigned long x_offset, unsigned long s0, unsigned long s1, float* y, unsigned long y_offset, unsigned long t0, unsigned long t1, unsigned long m, unsigned long n) { for (unsigned long i = 0; i < m; ++i) for (unsigned long j = 0; j < n; ++j) y[y_offset + j * t0 + i * t1] += x[x_offset + i * s0 + j * s1]; }' > %t/turn.c && clang -c -O1 -fPIC -ffreestanding -fno-builtin %t/turn.c -o %t/turn.o
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-executable-object-search-path=%t %s -o %t/m.vmfb
// RUN: iree-run-module --device=local-task --executable_plugin=%t/plugin.so --module=%t/m.vmfb --function=sliced --input=7xf32=1,2,3,4,5,6,7 --input=7xf32=2 --expected_output=7xf32=2,4,6,8,10,12,14 | FileCheck --check-prefix=GROUPS %s
// GROUPS-COUNT-2: plugin: 3 products
// GROUPS: plugin: 1 products
// What a region writes to stays as it was for who reads it elsewhere.
// RUN: iree-run-module --device=local-sync --executable_plugin=%t/plugin.so --module=%t/m.vmfb --function=kept --input=4xf32=1,2,3,4 --input=4xf32=5 --expected_output=4xf32=3,3.5,4,4.5 --expected_output=4xf32=2,4,6,8
// Strides of all dimensions, in one workgroup; a slice whose first dimension is left out; sizes of slices.
// RUN: iree-run-module --device=local-sync --executable_plugin=%t/plugin.so --module=%t/m.vmfb --function=turned --input=2x3xf32=1,2,3,4,5,6 --input=3x2xf32=10 --expected_output=3x2xf32=11,14,12,15,13,16
// RUN: iree-run-module --device=local-sync --executable_plugin=%t/plugin.so --module=%t/m.vmfb --function=reduced --input=2x2x3xf32=0,0,0,0,0,0,1,2,3,4,5,6 --input=3x2xf32=10 --expected_output=3x2xf32=11,14,12,15,13,16
// In a function of an executable, on memory and on what it holds.
// RUN: iree-run-module --device=local-sync --executable_plugin=%t/plugin.so --module=%t/m.vmfb --function=squares --input=4xf32=1,2,3,4 --expected_output=4xf32=1,4,9,16
// RUN: not iree-compile --iree-hal-target-device=cuda --iree-cuda-target=sm_80 %s -o %t/out 2>&1 | FileCheck --check-prefix=GPU %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t/out 2>&1 | FileCheck --check-prefix=VMVX %s
// RUN: sed -e 's/into %dest\[%first\]/into %dest[%length]/' %s > %t/moved.mlir && not iree-compile --iree-hal-target-device=local --iree-hal-executable-object-search-path=%t %t/moved.mlir -o %t/out 2>&1 | FileCheck --check-prefix=MOVED %s
// RUN: sed -e 's/\[\[\], \[\], \[\]\]/[[], [2], []]/' %s > %t/strides.mlir && not iree-compile --iree-hal-target-device=local --iree-hal-executable-object-search-path=%t %t/strides.mlir -o %t/out 2>&1 | FileCheck --check-prefix=STRIDES %s
// RUN: sed -e 's/flow.return %all/%more = arith.addf %all, %all : tensor<?xf32> flow.return %more/' %s > %t/more.mlir && not iree-compile --iree-hal-target-device=local --iree-hal-executable-object-search-path=%t %t/more.mlir -o %t/out 2>&1 | FileCheck --check-prefix=MORE %s
// RUN: iree-opt %s | iree-opt - | grep 'iree_codegen.ukernel.generic'
// GPU: code for cuda cannot
// VMVX: code for vmvx cannot
// MOVED: error: 'tensor.insert_slice' op does not put what a microkernel has written back where it was taken from
// STRIDES: error: 'iree_codegen.ukernel.generic' op needs a list of dimensions in strided_dims for each tensor or memref
// MORE: a region with microkernels returns tensors from outside that they have written to

#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>

func.func @sliced(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %dest = tensor.empty(%n) : tensor<?xf32>
  %0 = flow.dispatch.region[%c3] -> (tensor<?xf32>{%n}) {
    %id = flow.dispatch.workgroup.id[0] : index
    %count = flow.dispatch.workgroup.count[0] : index
    %size = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%n, %count]
    %first = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%id, %size]
    %length = affine.min affine_map<(d0)[s0, s1] -> (s1 - d0, s0)>(%first)[%size, %n]
    %xs = tensor.extract_slice %x[%first] [%length] [1] : tensor<?xf32> to tensor<?xf32>
    %ys = tensor.extract_slice %y[%first] [%length] [1] : tensor<?xf32> to tensor<?xf32>
    %out = tensor.extract_slice %dest[%first] [%length] [1] : tensor<?xf32> to tensor<?xf32>
    %product = iree_codegen.ukernel.generic "multiply_slice"
        ins(%xs, %ys : tensor<?xf32>, tensor<?xf32>) outs(%out : tensor<?xf32>) (%length : index)
        strided_dims([[], [], []]) -> tensor<?xf32>
    %all = tensor.insert_slice %product into %dest[%first] [%length] [1] : tensor<?xf32> into tensor<?xf32>
    flow.return %all : tensor<?xf32>
  } count(%w: index) -> (index, index, index) {
    flow.return %w, %c1, %c1 : index, index, index
  }
  return %0 : tensor<?xf32>
}

func.func @kept(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  %twice = arith.addf %x, %x : tensor<4xf32>
  %0 = iree_codegen.ukernel.generic {hal.executable.objects = #hal.executable.objects<{#x86_64 = [#hal.executable.object<{path = "functions_x86_64.o"}>]}>} "average"
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%twice : tensor<4xf32>) (%c4 : index)
      fn_def_attrs {hal.import.static} strided_dims([[], [], []]) -> tensor<4xf32>
  return %0, %twice : tensor<4xf32>, tensor<4xf32>
}

func.func @turned(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %m = arith.constant 2 : index
  %n = arith.constant 3 : index
  %0 = iree_codegen.ukernel.generic {hal.executable.objects = #hal.executable.objects<{#x86_64 = [#hal.executable.object<{path = "turn.o"}>]}>} "turn"
      ins(%x : tensor<2x3xf32>) outs(%y : tensor<3x2xf32>) (%m, %n : index, index)
      fn_def_attrs {hal.import.static} -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

func.func @reduced(%x: tensor<2x2x3xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = flow.dispatch.region -> (tensor<3x2xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %part = tensor.extract_slice %x[1, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<2x2x3xf32> to tensor<2x3xf32>
    %m = tensor.dim %part, %c0 : tensor<2x3xf32>
    %n = tensor.dim %part, %c1 : tensor<2x3xf32>
    %1 = iree_codegen.ukernel.generic {hal.executable.objects = #hal.executable.objects<{#x86_64 = [#hal.executable.object<{path = "turn.o"}>]}>} "turn"
        ins(%part : tensor<2x3xf32>) outs(%y : tensor<3x2xf32>) (%m, %n : index, index)
        fn_def_attrs {hal.import.static} -> tensor<3x2xf32>
    flow.return %1 : tensor<3x2xf32>
  }
  return %0 : tensor<3x2xf32>
}

stream.executable private @squares_of {
  stream.executable.export public @squares workgroups() -> (index, index, index) {
    %one = arith.constant 1 : index
    stream.return %one, %one, %one : index, index, index
  }
  builtin.module {
    func.func private @multiply_slice()
    func.func @squares(%x: !stream.binding, %out: !stream.binding) {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %xm = stream.binding.subspan %x[%c0] : !stream.binding -> memref<4xf32>
      %outm = stream.binding.subspan %out[%c0] : !stream.binding -> memref<4xf32>
      %xs = iree_codegen.load_from_buffer %xm : memref<4xf32> -> tensor<4xf32>
      iree_codegen.ukernel.generic "multiply_slice" ins(%xs, %xs : tensor<4xf32>, tensor<4xf32>)
          outs(%outm : memref<4xf32>) (%c4 : index) strided_dims([[], [], []])
      return
    }
  }
}
func.func @squares(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = flow.dispatch @squares_of::@squares(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
