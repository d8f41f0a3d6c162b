// Work of another between two kernels, where nobody waits: the module is given a fence for its argument and one for its
// result. @main itself has two, too (--iree-execution-model=async-external).
module @example {
  func.func private @custom.call.async(tensor<?xi32>) -> tensor<?xi32> attributes {iree.abi.model = "coarse-fences"}
  func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
    %0 = arith.muli %x, %x : tensor<?xi32>
    %1 = call @custom.call.async(%0) : (tensor<?xi32>) -> tensor<?xi32>
    %2 = arith.muli %1, %1 : tensor<?xi32>
    return %2 : tensor<?xi32>
  }
}
