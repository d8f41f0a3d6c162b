// What is chosen by a mask is counted block by block, then listed, not sorted.
//
// RUN: iree-compile --compile-to=input %s -o - | FileCheck %s
// CHECK-LABEL: func.func @places
// CHECK-NOT: graph.sort
// CHECK: %[[STARTS:.*]] = "graph.scan"({{.*}}exclusive{{.*}}tensor<4xi32>
// CHECK: %[[COUNT:.*]] = "graph.to_scalar"
// CHECK: "graph.places"({{.*}}, %[[STARTS]], %[[COUNT]]) <{block = 256 : i64}> : (tensor<1000xi1>
// CHECK-NOT: graph.sort
// CHECK: return
func.func @places(%x: !torch.vtensor<[100,10],f32>) -> !torch.vtensor<[2,?],si64> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %0 = torch.operator "onnx.NonZero"(%x) : (!torch.vtensor<[100,10],f32>) -> !torch.vtensor<[2,?],si64>
  return %0 : !torch.vtensor<[2,?],si64>
}
