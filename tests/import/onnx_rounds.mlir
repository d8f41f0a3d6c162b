// What a loop collects has its place from the start where every round's has the shape of the operands: nothing is
// appended round by round.
// RUN: iree-compile --iree-hal-target-device=local --compile-to=input %s | FileCheck %s
// CHECK: "graph.while"({{.*}}) ({
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[STATE:.*]]: tensor<?x3xf32>, %[[FRAMES:.*]]: tensor<?x?x5xf32>):
// CHECK: }, {
// CHECK: %[[FRAME:.*]] = "graph.concat"(%{{.*}}, %{{.*}}) <{axis = 1 : i64}>
// CHECK-NOT: graph.concat
// CHECK: "graph.dynamic_update"(%{{.*}}) : (tensor<?x?x5xf32>, tensor<1x?x5xf32>, index, index, index) -> tensor<?x?x5xf32>
// CHECK-NOT: graph.assert
// CHECK: "graph.yield"
func.func @frames(%arg0: !torch.vtensor<[?,3],f32>, %arg1: !torch.vtensor<[?,?,2],f32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,?,5],f32>) attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %0:2 = torch.operator "onnx.Scan"(%arg0, %arg1) {torch.onnx.num_scan_inputs = 1 : si64, torch.onnx.scan_input_axes = [1 : si64], torch.onnx.scan_output_axes = [1 : si64]} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,?,2],f32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,?,5],f32>) {
  ^bb0(%arg2: !torch.vtensor<[?,3],f32>, %arg3: !torch.vtensor<[?,2],f32>):
    %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
    %2 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<99> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
    %3 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
    %4 = torch.operator "onnx.Concat"(%arg2, %arg3) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,5],f32>
    %5 = torch.operator "onnx.Slice"(%4, %1, %2, %3) : (!torch.vtensor<[?,5],f32>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[?,3],f32>
    torch.operator_terminator %5, %4 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,5],f32>
  }
  return %0#0, %0#1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,?,5],f32>
}
// A state whose size is another one in the next round: what is collected may be anything.
// CHECK-LABEL: func.func @changing
// CHECK: "graph.while"
// CHECK: graph.assert
func.func @changing(%arg0: !torch.vtensor<[],si64>, %arg1: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?,?],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %none = torch.constant.none
  %0:2 = torch.operator "onnx.Loop"(%arg0, %none, %arg1) : (!torch.vtensor<[],si64>, !torch.none, !torch.vtensor<[?],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?,?],f32>) {
  ^bb0(%arg2: !torch.vtensor<[],si64>, %arg3: !torch.vtensor<[],i1>, %arg4: !torch.vtensor<[?],f32>):
    %1 = torch.operator "onnx.Concat"(%arg4, %arg4) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32>
    torch.operator_terminator %arg3, %1, %1 : !torch.vtensor<[],i1>, !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>
  }
  return %0#1 : !torch.vtensor<[?,?],f32>
}
