// Bodies of dispatches that ask which workgroup they are, how many there are and how large: each workgroup does its part.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=rows --input=3x4xf32=1,2,3,4,5,6,7,8,9,10,11,12 --input=4xf32=10,20,30,40 --expected_output="3x4xf32=10 40 90 160 50 120 210 320 90 200 330 480"
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=tiles --input=7xf32=1,2,3,4,5,6,7 --input=2 --expected_output="7xf32=-1 -2 -3 -4 -5 -6 -7" --expected_output="7xi32=0 0 0 0 0 0 0"
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=strided --input=10xf32=1 --input=3 --input=5 --expected_output="10xf32=4 4 4 4 4 4 4 4 4 4"
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=inline --input=2x3xf32=1,2,3,4,5,6 --expected_output="2x3xf32=101 2 103 104 5 106"
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=places --input=2 --input=3 --input=2 --expected_output="2x3x2xi32=11020302 11120302 12020302 12120302 13020302 13120302 21020302 21120302 22020302 22120302 23020302 23120302"
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=free --input=3xf32=1,2,3 --expected_output="3xf32=4 8 12"
// RUN: sed -e 's/%c2, %c2, %c1\](%x)/%c2](%x)/' %s | not iree-compile --compile-to=input - 2>&1 | FileCheck --check-prefix=THREE %s
// RUN: sed -e 's/binding(2)/binding(3)/' %s | not iree-compile --compile-to=input - 2>&1 | FileCheck --check-prefix=BINDING %s
// THREE: error: 'flow.dispatch.workgroups' op needs the number of workgroups: three numbers as workload
// BINDING: error: 'hal.interface.binding.subspan' op has a binding beyond its layout's

// A row by each.
stream.executable private @row {
  stream.executable.export public @scaled workgroups(%rows: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %rows, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @scaled(%a: !stream.binding, %b: !stream.binding, %r: !stream.binding) {
      %c0 = arith.constant 0 : index
      %0 = stream.binding.subspan %a[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readonly:tensor<3x4xf32>>
      %1 = stream.binding.subspan %b[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>
      %2 = stream.binding.subspan %r[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<3x4xf32>>
      %id = stream.dispatch.workgroup.id[0] : index
      %size = stream.dispatch.workgroup.size[0] : index
      %row = arith.muli %id, %size : index
      %x = iree_tensor_ext.dispatch.tensor.load %0, offsets = [%row, 0], sizes = [1, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<3x4xf32>> -> tensor<4xf32>
      %y = iree_tensor_ext.dispatch.tensor.load %1, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %z = arith.mulf %x, %y : tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %z, %2, offsets = [%row, 0], sizes = [1, 4], strides = [1, 1] : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<3x4xf32>>
      return
    }
  }
}
func.func @rows(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %c3 = arith.constant 3 : index
  %0 = flow.dispatch @row::@scaled[%c3](%x, %y) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Tiles in turn, of which the last is smaller; functions without arguments name bindings and constants.
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @source {
  hal.executable.export public @negated ordinal(0) layout(#layout) count(%device: !hal.device, %n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %n, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [2 : index, 1 : index, 1 : index]}
  builtin.module {
    func.func @negated() {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %0 = hal.interface.binding.subspan layout(#layout) binding(0) alignment(32) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readonly:tensor<7xf32>>
      %1 = hal.interface.binding.subspan layout(#layout) binding(1) : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<7xf32>>
      %2 = hal.interface.binding.subspan layout(#layout) binding(2) : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<7xi32>>
      %word = hal.interface.constant.load layout(#layout) ordinal(0) : i32
      %size = hal.interface.workgroup.size[0] : index
      %id = hal.interface.workgroup.id[0] : index
      %count = hal.interface.workgroup.count[0] : index
      %first = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%id, %size]
      %step = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%count, %size]
      %end = arith.constant 7 : index
      scf.for %i = %first to %end step %step {
        %rest = affine.min affine_map<(d0)[s0] -> (s0, -d0 + 7)>(%i)[%size]
        %x = iree_tensor_ext.dispatch.tensor.load %0, offsets = [%i], sizes = [%rest], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<7xf32>> -> tensor<?xf32>
        %init = tensor.empty(%rest) : tensor<?xf32>
        %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%init : tensor<?xf32>) {
        ^bb0(%in: f32, %out: f32):
          %n = arith.negf %in : f32
          linalg.yield %n : f32
        } -> tensor<?xf32>
        iree_tensor_ext.dispatch.tensor.store %y, %1, offsets = [%i], sizes = [%rest], strides = [1] : tensor<?xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<7xf32>>
        %big = arith.cmpi sgt, %word, %zero : i32
        scf.if %big {
          %i0 = tensor.splat %zero : tensor<7xi32>
          iree_tensor_ext.dispatch.tensor.store %i0, %2, offsets = [0], sizes = [7], strides = [1] : tensor<7xi32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<7xi32>>
        }
      }
      return
    }
  }
}
func.func @tiles(%x: tensor<7xf32>, %n: index) -> (tensor<7xf32>, tensor<7xi32>) {
  %c5 = arith.constant 5 : i32
  %0:2 = flow.dispatch @source::@negated[%n](%c5, %x) : (i32, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xi32>)
  return %0#0, %0#1 : tensor<7xf32>, tensor<7xi32>
}

// Of a variant; what a workgroup reads the one before it may have written.
#one = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable private @variants {
  hal.executable.variant public @any target(#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">) {
    hal.executable.export public @added ordinal(0) layout(#one) count(%device: !hal.device, %n: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %n, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func @added() {
        %0 = hal.interface.binding.subspan layout(#one) binding(0) : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?xf32>>
        %n = hal.interface.constant.load layout(#one) ordinal(0) : index
        %x = iree_tensor_ext.dispatch.tensor.load %0, offsets = [0], sizes = [10], strides = [1] : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?xf32>> -> tensor<10xf32>
        %id = hal.interface.workgroup.id[0] : index
        %one = arith.constant dense<1.0> : tensor<10xf32>
        %y = arith.addf %x, %one : tensor<10xf32>
        iree_tensor_ext.dispatch.tensor.store %y, %0, offsets = [0], sizes = [10], strides = [1] : tensor<10xf32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?xf32>>
        return
      }
    }
  }
}
func.func @strided(%x: tensor<10xf32>, %n: index, %word: i32) -> tensor<10xf32> {
  %0 = flow.dispatch @variants::@any::@added[%n](%word, %x) : (i32, tensor<10xf32>) -> %x
  return %0 : tensor<10xf32>
}

// Without count(...), the workload is how many there are.
func.func @inline(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = flow.dispatch.workgroups[%c2, %c2, %c1](%x) : (tensor<2x3xf32>) -> %x = (%a: !flow.dispatch.tensor<readwrite:tensor<2x3xf32>>) {
    %c2_0 = arith.constant 2 : index
    %row = flow.dispatch.workgroup.id[1] : index
    %half = flow.dispatch.workgroup.id[0] : index
    %size = flow.dispatch.workgroup.size[0] : index
    %width = arith.muli %size, %c2_0 : index
    %column = arith.muli %half, %width : index
    %hundred = arith.constant dense<100.0> : tensor<1x1xf32>
    %y = flow.dispatch.tensor.load %a, offsets = [%row, %column], sizes = [1, 1], strides = [1, 1] : !flow.dispatch.tensor<readwrite:tensor<2x3xf32>> -> tensor<1x1xf32>
    %z = arith.addf %y, %hundred : tensor<1x1xf32>
    flow.dispatch.tensor.store %z, %a, offsets = [%row, %column], sizes = [1, 1], strides = [1, 1] : tensor<1x1xf32> -> !flow.dispatch.tensor<readwrite:tensor<2x3xf32>>
    flow.return
  }
  return %0 : tensor<2x3xf32>
}

// All three numbers: z, y and x, and how many of each.
flow.executable private @numbers {
  flow.executable.export public @all workgroups(%z: index, %y: index, %x: index) -> (index, index, index) {
    flow.return %x, %y, %z : index, index, index
  }
  builtin.module {
    func.func @all(%r: !flow.dispatch.tensor<writeonly:tensor<2x3x2xi32>>) {
      %z = flow.dispatch.workgroup.id[2] : index
      %y = flow.dispatch.workgroup.id[1] : index
      %x = flow.dispatch.workgroup.id[0] : index
      %nz = flow.dispatch.workgroup.count[2] : index
      %ny = flow.dispatch.workgroup.count[1] : index
      %nx = flow.dispatch.workgroup.count[0] : index
      %0 = affine.apply affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0 * 10000000 + d1 * 1000000 + d2 * 100000 + 11000000 + s0 * 10000 + s1 * 100 + s2)>(%z, %y, %x)[%nz, %ny, %nx]
      %1 = arith.index_cast %0 : index to i32
      %2 = tensor.from_elements %1 : tensor<1x1x1xi32>
      flow.dispatch.tensor.store %2, %r, offsets = [%z, %y, %x], sizes = [1, 1, 1], strides = [1, 1, 1] : tensor<1x1x1xi32> -> !flow.dispatch.tensor<writeonly:tensor<2x3x2xi32>>
      return
    }
  }
}
func.func @places(%z: index, %y: index, %x: index) -> tensor<2x3x2xi32> {
  %0 = flow.dispatch @numbers::@all[%z, %y, %x]() : () -> tensor<2x3x2xi32>
  return %0 : tensor<2x3x2xi32>
}

// How many there are is left to the compiler.
flow.executable private @left {
  flow.executable.export public @doubled workgroups(%n: index) -> (index, index, index) {
    %x, %y, %z = flow.dispatch.workgroup_count_from_slice %n
    flow.return %x, %y, %z : index, index, index
  }
  flow.executable.export public @again workgroups(%n: index) -> (index, index, index) {
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_dag_root(%n)
    flow.return %x, %y, %z : index, index, index
  }
  builtin.module {
    func.func @doubled(%a: !flow.dispatch.tensor<readonly:tensor<3xf32>>, %r: !flow.dispatch.tensor<writeonly:tensor<3xf32>>) {
      %0 = flow.dispatch.tensor.load %a, offsets = [0], sizes = [3], strides = [1] : !flow.dispatch.tensor<readonly:tensor<3xf32>> -> tensor<3xf32>
      %1 = arith.addf %0, %0 : tensor<3xf32>
      flow.dispatch.tensor.store %1, %r, offsets = [0], sizes = [3], strides = [1] : tensor<3xf32> -> !flow.dispatch.tensor<writeonly:tensor<3xf32>>
      return
    }
    func.func @again(%a: !flow.dispatch.tensor<readonly:tensor<3xf32>>, %r: !flow.dispatch.tensor<writeonly:tensor<3xf32>>) {
      %0 = flow.dispatch.tensor.load %a, offsets = [0], sizes = [3], strides = [1] : !flow.dispatch.tensor<readonly:tensor<3xf32>> -> tensor<3xf32>
      %1 = arith.addf %0, %0 : tensor<3xf32>
      flow.dispatch.tensor.store %1, %r, offsets = [0], sizes = [3], strides = [1] : tensor<3xf32> -> !flow.dispatch.tensor<writeonly:tensor<3xf32>>
      return
    }
  }
}
func.func @free(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c3 = arith.constant 3 : index
  %0 = flow.dispatch @left::@doubled[%c3](%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = flow.dispatch @left::@again[%c3](%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
