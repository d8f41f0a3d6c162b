// A variable that calls read and write. Each context has its own.
module @counter {
  util.global private mutable @value = dense<0> : tensor<i32>

  func.func @get_value() -> tensor<i32> {
    %value = util.global.load @value : tensor<i32>
    return %value : tensor<i32>
  }
  func.func @set_value(%new: tensor<i32>) {
    util.global.store %new, @value : tensor<i32>
    return
  }
  func.func @add_to_value(%by: tensor<i32>) {
    %value = util.global.load @value : tensor<i32>
    %sum = arith.addi %value, %by : tensor<i32>
    util.global.store %sum, @value : tensor<i32>
    return
  }
  func.func @reset_value() {
    %zero = arith.constant dense<0> : tensor<i32>
    util.global.store %zero, @value : tensor<i32>
    return
  }
}
