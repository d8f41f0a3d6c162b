module @example {
  func.func private @custom.print(tensor<3xi32>)
  func.func private @custom.count() -> i32
  func.func @main(%x: tensor<3xi32>) -> i32 {
    call @custom.print(%x) : (tensor<3xi32>) -> ()
    %first = call @custom.count() : () -> i32
    %second = call @custom.count() : () -> i32
    %sum = arith.addi %first, %second : i32
    return %sum : i32
  }
}
