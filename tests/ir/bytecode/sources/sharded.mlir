// plain
module @sharded {
  sdy.mesh @mesh = <["x"=1]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
