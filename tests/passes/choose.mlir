// What is chosen by a mask moves to the front by running sums and one scatter, not by sorting.
//
// RUN: iree-compile --compile-to=input %s -o - | FileCheck %s
// CHECK-LABEL: func.func @places
// CHECK-NOT: graph.sort
// CHECK: "graph.scan"
// CHECK: "graph.scatter"{{.*}}sorted = 1
// CHECK-NOT: graph.sort
// CHECK: return
func.func @places(%x: !torch.vtensor<[100,10],f32>) -> !torch.vtensor<[2,?],si64> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %0 = torch.operator "onnx.NonZero"(%x) : (!torch.vtensor<[100,10],f32>) -> !torch.vtensor<[2,?],si64>
  return %0 : !torch.vtensor<[2,?],si64>
}
