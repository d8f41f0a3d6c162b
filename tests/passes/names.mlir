// Sizes that a model calls the same do not broadcast: they must agree. Others may be 1.
// RUN: iree-compile --compile-to=input %s -o - | FileCheck %s

// CHECK-LABEL: @same
// CHECK: %[[X:.+]] = "graph.concat"
// CHECK: %[[Z:.+]] = "graph.broadcast"(%arg2,
// CHECK: "graph.add"(%[[X]], %[[Z]])
func.func @same(%x: !torch.vtensor<[?,?],f32>, %y: !torch.vtensor<[?,?],f32>, %z: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?,?],f32> attributes {torch.onnx_meta.opset_version = 18 : si64, torch.onnx_meta.dim_params = [["n", "past"], ["n", "new"], ["past + new"]]} {
  %0 = torch.operator "onnx.Concat"(%x, %y) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[?,?],f32>, !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?,?],f32>
  %1 = torch.operator "onnx.Add"(%0, %z) : (!torch.vtensor<[?,?],f32>, !torch.vtensor<[?],f32>) -> !torch.vtensor<[?,?],f32>
  return %1 : !torch.vtensor<[?,?],f32>
}

// CHECK-LABEL: @others
// CHECK-DAG: %[[N:.+]] = "graph.dim"(%arg0)
// CHECK-DAG: %[[M:.+]] = "graph.dim"(%arg1)
// CHECK: %[[COMMON:.+]] = "graph.select"(%{{.+}}, %[[M]], %[[N]])
// CHECK: %[[X:.+]] = "graph.broadcast"(%arg0, %[[COMMON]])
// CHECK: %[[Y:.+]] = "graph.broadcast"(%arg1, %[[COMMON]])
// CHECK: %[[SUM:.+]] = "graph.add"(%[[X]], %[[Y]])
// CHECK: "graph.mul"(%[[SUM]],
func.func @others(%x: !torch.vtensor<[?],f32>, %y: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> attributes {torch.onnx_meta.opset_version = 18 : si64, torch.onnx_meta.dim_params = [["n"], ["m"]]} {
  %0 = torch.operator "onnx.Add"(%x, %y) : (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32>
  %1 = torch.operator "onnx.Mul"(%0, %y) : (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32>
  return %1 : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: @products
// CHECK-NOT: graph.broadcast
// CHECK: graph.contract
func.func @products(%x: !torch.vtensor<[?,4,?],f32>, %y: !torch.vtensor<[?,?,5],f32>) -> !torch.vtensor<[?,4,5],f32> attributes {torch.onnx_meta.opset_version = 18 : si64, torch.onnx_meta.dim_params = [["n", "", "k"], ["n", "k", ""]]} {
  %0 = torch.operator "onnx.MatMul"(%x, %y) : (!torch.vtensor<[?,4,?],f32>, !torch.vtensor<[?,?,5],f32>) -> !torch.vtensor<[?,4,5],f32>
  return %0 : !torch.vtensor<[?,4,5],f32>
}
