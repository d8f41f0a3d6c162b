// What a program declares of its results does not bind what it computes: a warning says where the two differ.
// RUN: iree-compile --iree-hal-target-device=local --compile-to=input %s 2>&1 >/dev/null | FileCheck --check-prefix=WARN %s
// RUN: iree-compile --iree-hal-target-device=local --compile-to=input %s 2>/dev/null | FileCheck %s
// WARN: warning: output 'scaled': the model declares !torch.vtensor<[1,6],f32>, its graph gives !torch.vtensor<[?,6],f32>, which counts
// WARN: warning: output 1: the model declares !torch.vtensor<[6,3],f32>, its graph gives !torch.vtensor<[3,6],f32>, which counts
// WARN-NOT: warning:
// CHECK-LABEL: func.func @batch
// CHECK-NOT: graph.reshape
// CHECK: return %{{.*}} : tensor<?x6xf32>
func.func @batch(%arg0: !torch.vtensor<[?,6],f32>) -> !torch.vtensor<[1,6],f32> attributes {torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.output_names = ["scaled"]} {
  %0 = torch.operator "onnx.Abs"(%arg0) : (!torch.vtensor<[?,6],f32>) -> !torch.vtensor<[1,6],f32>
  return %0 : !torch.vtensor<[1,6],f32>
}
// CHECK-LABEL: func.func @sizes
// CHECK: return %{{.*}}, %{{.*}} : tensor<3x6xf32>, tensor<3x6xf32>
func.func @sizes(%arg0: !torch.vtensor<[3,6],f32>) -> (!torch.vtensor<[3,?],f32>, !torch.vtensor<[6,3],f32>) attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %0 = torch.operator "onnx.Abs"(%arg0) : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[3,?],f32>
  %1 = torch.operator "onnx.Neg"(%arg0) : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,3],f32>
  return %0, %1 : !torch.vtensor<[3,?],f32>, !torch.vtensor<[6,3],f32>
}
// Values within the graph are what the model declares.
// CHECK-LABEL: func.func @within
// CHECK: graph.reshape{{.*}} -> tensor<1x6xf32>
func.func @within(%arg0: !torch.vtensor<[?,6],f32>) -> !torch.vtensor<[?,6],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %0 = torch.operator "onnx.Abs"(%arg0) : (!torch.vtensor<[?,6],f32>) -> !torch.vtensor<[1,6],f32>
  %1 = torch.operator "onnx.Neg"(%0) : (!torch.vtensor<[1,6],f32>) -> !torch.vtensor<[?,6],f32>
  return %1 : !torch.vtensor<[?,6],f32>
}
