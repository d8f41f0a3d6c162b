// Weights of four bits as they are stored, [N, K]: without transB they are multiplied as they stand.
// RUN: iree-run-mlir --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s --input=1x1xf32=2 | FileCheck %s
// CHECK: 1x16xf32=[-4 -2.78477 -2.10029 -1.57967 -1.13777 -0.739094 -0.3642 0 0.318321 0.643721 0.984449 1.35166 1.76284 2.25047 2.89183 4]
func.func @columns(%a: !torch.vtensor<[1,1],f32>) -> !torch.vtensor<[1,16],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %b = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[1, 35, 69, 103, 137, 171, 205, 239]> : tensor<8xui8>} : () -> !torch.vtensor<[8],ui8>
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2.0> : tensor<1xf32>} : () -> !torch.vtensor<[1],f32>
  %0 = torch.operator "onnx.MatMulBnb4"(%a, %b, %s) {torch.onnx.K = 16 : si64, torch.onnx.N = 1 : si64, torch.onnx.block_size = 16 : si64, torch.onnx.quant_type = 1 : si64, torch.onnx.transB = 0 : si64} : (!torch.vtensor<[1,1],f32>, !torch.vtensor<[8],ui8>, !torch.vtensor<[1],f32>) -> !torch.vtensor<[1,16],f32>
  return %0 : !torch.vtensor<[1,16],f32>
}
