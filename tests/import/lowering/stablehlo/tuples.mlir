// Tuples at a function's boundary are their elements.
func.func @results(%a: tensor<2xf32>, %b: tensor<2xi32>) -> tuple<tensor<2xf32>, tuple<tensor<2xi32>>> attributes {
    test.in = [dense<[1.5, -2.0]> : tensor<2xf32>, dense<[3, 4]> : tensor<2xi32>],
    test.out = [dense<[3.0, -4.0]> : tensor<2xf32>, dense<[3, 4]> : tensor<2xi32>]
} {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  %1 = stablehlo.tuple %b : tuple<tensor<2xi32>>
  %2 = stablehlo.tuple %0, %1 : tuple<tensor<2xf32>, tuple<tensor<2xi32>>>
  return %2 : tuple<tensor<2xf32>, tuple<tensor<2xi32>>>
}

func.func @single(%a: tensor<2xf32>) -> tuple<tensor<2xf32>> attributes {
    test.in = [dense<[1.5, -2.0]> : tensor<2xf32>],
    test.out = [dense<[3.0, -4.0]> : tensor<2xf32>]
} {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  %1 = stablehlo.tuple %0 : tuple<tensor<2xf32>>
  return %1 : tuple<tensor<2xf32>>
}
