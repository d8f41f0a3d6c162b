module @library {
  func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
    %y = arith.addf %x, %x : tensor<?xf32>
    return %y : tensor<?xf32>
  }
  func.func @increment(%x: i32) -> i32 {
    %one = arith.constant 1 : i32
    %y = arith.addi %x, %one : i32
    return %y : i32
  }
  func.func @square(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, i1) {
    %y = arith.addf %x, %x : tensor<2x2xf32>
    %true = arith.constant true
    return %y, %true : tensor<2x2xf32>, i1
  }
  func.func @reshaped(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    return %x : tensor<2x2xf32>
  }
}
