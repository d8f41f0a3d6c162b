// Dispatches of executables that a program brings, whose bodies are fused like all else, and traces.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=static --input=4xf32=1,2,3,4 --input=4xf32=2 --expected_output=4xf32=2,4,6,8 --expected_output=4xf32=4,8,12,16
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=dynamic --input=3xf32=1,2,3 --input=3xf32=5 --expected_output=3xf32=5,10,15 --expected_output=3xf32=6,11,16
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=workgroups --input=2x4xf32=1,2,3,4,5,6,7,8 --input=10 --expected_output=4x2xf32=11,15,12,16,13,17,14,18 --expected_output=4xi32=1,2,7,7
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=functional --input=2xf32=3,4 --expected_output=2xf32=5,6 --expected_output=2xf32=9,16
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=trace --input=2xf32=3,4 2>&1 | FileCheck --check-prefix=TRACE %s
// RUN: iree-opt %s -o %t.mlir && iree-opt %t.mlir | diff %t.mlir -
// RUN: iree-compile --compile-to=flow %s -o - | FileCheck --check-prefix=FLOW %s
// TRACE: === before ===
// TRACE-NEXT: 2xf32=3 4
// TRACE: === both ===
// TRACE: 2xf32=6 8
// TRACE: 2xf32=3 4
// FLOW-LABEL: @dynamic
// FLOW: graph.dispatch
// FLOW-NOT: graph.dynamic_update
// FLOW: return
//
// RUN: sed -e 's/@scale::@mul\[/@scale::@div[/' %s > %t.bad.mlir && not iree-compile --compile-to=input %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=NAME %s
// RUN: sed -e 's/(%x, %y, %n) : (tensor<?xf32>{%n}, tensor<?xf32>{%n}, index)/(%x, %y) : (tensor<?xf32>{%n}, tensor<?xf32>{%n})/' %s > %t.bad.mlir && not iree-compile --compile-to=input %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=ARGUMENTS %s
// RUN: sed -e 's/sizes = \[4, 2\]/sizes = [5, 2]/' %s > %t.bad.mlir && not iree-compile --compile-to=input %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=LEAVES %s
// NAME: error: 'flow.dispatch' op names no function that an executable of this module exports
// ARGUMENTS: error: 'flow.dispatch' op has other arguments than its executable's function
// LEAVES: error: 'flow.dispatch.tensor.store' op leaves tensor<4x2xf32> in dimension 0

stream.executable private @multiply {
  stream.executable.export public @static workgroups(%w: index) -> (index, index, index) {
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice(%w)
    stream.return %x, %y, %z : index, index, index
  }
  stream.executable.export public @inplace workgroups(%w: index) -> (index, index, index) {
    stream.return %w, %w, %w : index, index, index
  }
  builtin.module {
    func.func @static(%a: !stream.binding, %b: !stream.binding, %r: !stream.binding) {
      %c0 = arith.constant 0 : index
      %0 = stream.binding.subspan %a[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>
      %1 = stream.binding.subspan %b[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>
      %2 = stream.binding.subspan %r[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
      %3 = iree_tensor_ext.dispatch.tensor.load %0, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %4 = iree_tensor_ext.dispatch.tensor.load %1, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %5 = arith.mulf %3, %4 : tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %5, %2, offsets = [0], sizes = [4], strides = [1] : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
      return
    }
    func.func @inplace(%a: !stream.binding, %b: !stream.binding) {
      %c0 = arith.constant 0 : index
      %0 = stream.binding.subspan %a[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>>
      %1 = stream.binding.subspan %b[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>
      %3 = iree_tensor_ext.dispatch.tensor.load %0, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>> -> tensor<4xf32>
      %4 = iree_tensor_ext.dispatch.tensor.load %1, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %5 = arith.mulf %3, %4 : tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %5, %0, offsets = [0], sizes = [4], strides = [1] : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>>
      return
    }
  }
}
func.func @static(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  %0 = flow.dispatch @multiply::@static[%c4](%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = flow.dispatch @multiply::@inplace[%c4](%0, %y) : (tensor<4xf32>, tensor<4xf32>) -> %0
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

flow.executable private @scale {
  flow.executable.export public @mul workgroups(%w: index) -> (index, index, index) {
    flow.return %w, %w, %w : index, index, index
  }
  flow.executable.export @mul as("again")
  builtin.module {
    func.func @mul(%a: !flow.dispatch.tensor<readonly:tensor<?xf32>>, %n: index, %b: !flow.dispatch.tensor<readonly:tensor<?xf32>>, %r: !flow.dispatch.tensor<writeonly:tensor<?xf32>>) {
      %d = flow.dispatch.workload.ordinal %n, 0 : index
      %0 = flow.dispatch.tie_shape %a : !flow.dispatch.tensor<readonly:tensor<?xf32>>{%d}
      %e = iree_tensor_ext.dispatch.workload.ordinal %n, 1 : index
      %1 = flow.dispatch.tie_shape %b : !flow.dispatch.tensor<readonly:tensor<?xf32>>{%e}
      %2 = flow.dispatch.tie_shape %r : !flow.dispatch.tensor<writeonly:tensor<?xf32>>{%d}
      %3 = flow.dispatch.tensor.load %0, offsets = [0], sizes = [%d], strides = [1] : !flow.dispatch.tensor<readonly:tensor<?xf32>>{%d} -> tensor<?xf32>
      %4 = flow.dispatch.tensor.load %1, offsets = [0], sizes = [%d], strides = [1] : !flow.dispatch.tensor<readonly:tensor<?xf32>>{%d} -> tensor<?xf32>
      %5 = arith.mulf %3, %4 : tensor<?xf32>
      flow.dispatch.tensor.store %5, %2, offsets = [0], sizes = [%d], strides = [1] : tensor<?xf32> -> !flow.dispatch.tensor<writeonly:tensor<?xf32>>{%d}
      return
    }
  }
}
func.func @dynamic(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = flow.dispatch @scale::@mul[%n](%x, %y, %n) : (tensor<?xf32>{%n}, tensor<?xf32>{%n}, index) -> tensor<?xf32>{%n}
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = arith.constant 1.0 : f32
  %ones = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = flow.dispatch {@scale::@again, @scale::@mul}[%n](%ones, %ones, %n) : (tensor<?xf32>{%n}, tensor<?xf32>{%n}, index) -> tensor<?xf32>{%n}
  %2 = arith.addf %0, %1 : tensor<?xf32>
  return %0, %2 : tensor<?xf32>, tensor<?xf32>
}

// Columns one by one, of which the last stays as it was made.
func.func @workgroups(%x: tensor<2x4xf32>, %n: f32) -> (tensor<4x2xf32>, tensor<4xi32>) {
  %c4 = arith.constant 4 : index
  %sevens = arith.constant dense<7> : tensor<4xi32>
  %0:2 = flow.dispatch.workgroups[%c4, %c4](%x, %n, %sevens) : (tensor<2x4xf32>, f32, tensor<4xi32>) -> (tensor<4x2xf32>, %sevens) =
      (%in: !flow.dispatch.tensor<readonly:tensor<2x4xf32>>, %add: f32, %kept: !flow.dispatch.tensor<readwrite:tensor<4xi32>>, %out: !flow.dispatch.tensor<writeonly:tensor<4x2xf32>>) {
    %one = arith.constant 1 : index
    %v = flow.dispatch.tensor.load %in, offsets = [0, 0], sizes = [2, 4], strides = [1, 1] : !flow.dispatch.tensor<readonly:tensor<2x4xf32>> -> tensor<2x4xf32>
    %e = tensor.empty() : tensor<4x2xf32>
    %t = linalg.transpose ins(%v : tensor<2x4xf32>) outs(%e : tensor<4x2xf32>) permutation = [1, 0]
    %fill = tensor.splat %add : tensor<4x2xf32>
    %s = arith.addf %t, %fill : tensor<4x2xf32>
    flow.dispatch.tensor.store %s, %out, offsets = [0, 0], sizes = [4, 2], strides = [1, 1] : tensor<4x2xf32> -> !flow.dispatch.tensor<writeonly:tensor<4x2xf32>>
    %k = arith.constant dense<[2]> : tensor<1xi32>
    %j = arith.constant dense<[1]> : tensor<1xi32>
    flow.dispatch.tensor.store %k, %kept, offsets = [%one], sizes = [1], strides = [1] : tensor<1xi32> -> !flow.dispatch.tensor<readwrite:tensor<4xi32>>
    flow.dispatch.tensor.store %j, %kept, offsets = [0], sizes = [1], strides = [1] : tensor<1xi32> -> !flow.dispatch.tensor<readwrite:tensor<4xi32>>
    flow.return
  } count(%a: index, %b: index) -> (index, index, index) {
    %y, %u, %z = flow.dispatch.workgroup_count_from_dag_root %a, %b
    flow.return %y, %u, %z : index, index, index
  }
  return %0#0, %0#1 : tensor<4x2xf32>, tensor<4xi32>
}

flow.executable private @function {
  flow.executable.export @f
  builtin.module {
    util.func public @f(%n: f32, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %s = tensor.splat %n : tensor<2xf32>
      %0 = arith.addf %x, %s : tensor<2xf32>
      %1 = arith.mulf %x, %x : tensor<2xf32>
      util.return %0, %1 : tensor<2xf32>, tensor<2xf32>
    }
  }
}
func.func @functional(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %n = arith.constant 2.0 : f32
  %0:2 = flow.dispatch @function::@f(%n, %x) : (f32, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}

func.func @trace(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  flow.tensor.trace "before" = [%x : tensor<?xf32>{%n}]
  %0 = flow.dispatch.region[%n] -> (tensor<?xf32>{%n}) {
    %1 = arith.addf %x, %x : tensor<?xf32>
    flow.return %1 : tensor<?xf32>
  } count(%w: index) -> (index, index, index) {
    flow.return %w, %w, %w : index, index, index
  }
  flow.tensor.trace "both" = [%0 : tensor<?xf32>{%n}, %x : tensor<?xf32>{%n}]
  return %0 : tensor<?xf32>
}
