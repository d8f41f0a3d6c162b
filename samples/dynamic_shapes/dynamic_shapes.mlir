// Functions of arrays whose sizes the caller knows.
module @dynamic_shapes {
  func.func @reduce_sum_1d(%x: tensor<?xi32>) -> tensor<i32> {
    %zero = arith.constant dense<0> : tensor<i32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                           iterator_types = ["reduction"]} ins(%x : tensor<?xi32>) outs(%zero : tensor<i32>) {
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      linalg.yield %c : i32
    } -> tensor<i32>
    return %sum : tensor<i32>
  }
  // The sum of each column.
  func.func @reduce_sum_2d(%x: tensor<?x3xi32>) -> tensor<3xi32> {
    %zero = arith.constant dense<0> : tensor<3xi32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                           iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<?x3xi32>) outs(%zero : tensor<3xi32>) {
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      linalg.yield %c : i32
    } -> tensor<3xi32>
    return %sum : tensor<3xi32>
  }
  func.func @add_one(%x: tensor<?xi32>) -> tensor<?xi32> {
    %zero = arith.constant 0 : index
    %size = tensor.dim %x, %zero : tensor<?xi32>
    %space = tensor.empty(%size) : tensor<?xi32>
    %one = arith.constant 1 : i32
    %ones = linalg.fill ins(%one : i32) outs(%space : tensor<?xi32>) -> tensor<?xi32>
    %y = arith.addi %x, %ones : tensor<?xi32>
    return %y : tensor<?xi32>
  }
}
