// The smallest useful program: one function of one scalar tensor. Benchmarks use it to time a call.
func.func @abs(%input: tensor<f32>) -> tensor<f32> {
  %result = math.absf %input : tensor<f32>
  return %result : tensor<f32>
}
