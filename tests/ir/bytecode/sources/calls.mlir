module @calls attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @inner(%a: tensor<2xf32> {jax.buffer_donor = true}, %b: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "r"}) attributes {some.note = "x"} {
    %0 = stablehlo.custom_call @thing(%a, %b) {has_side_effect = true, backend_config = "cfg", api_version = 2 : i32, called_computations = [@inner], operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.custom_call @typed(%0) {backend_config = {a = 1 : i32, b = "s", c = [1.5, 2.5], d = false}, api_version = 4 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func public @main(%a: tensor<2xf32>, %t: !stablehlo.token) -> tensor<2xf32> {
    %0 = call @inner(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.composite "chlo.top_k" %0 {composite_attributes = {k = 2 : i64}, decomposition = @inner2, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %2:2 = stablehlo.optimization_barrier %1, %0 : tensor<2xf32>, tensor<2xf32>
    %3 = stablehlo.tuple %2#0, %2#1 : tuple<tensor<2xf32>, tensor<2xf32>>
    %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
    return %4 : tensor<2xf32>
  }
  func.func private @inner2(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
}
