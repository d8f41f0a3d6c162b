// A function in C between two kernels. The runtime waits until %0 is there, and may use %1 as soon as the call is over.
module @example {
  func.func private @custom.call.sync(tensor<?xi32>) -> tensor<?xi32>
  func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
    %0 = arith.muli %x, %x : tensor<?xi32>
    %1 = call @custom.call.sync(%0) : (tensor<?xi32>) -> tensor<?xi32>
    %2 = arith.muli %1, %1 : tensor<?xi32>
    return %2 : tensor<?xi32>
  }
}
