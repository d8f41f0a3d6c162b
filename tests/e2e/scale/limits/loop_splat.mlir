// A loop starts with a large constant.
func.func @main(%n: tensor<i32>) -> tensor<1099511627776xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1099511627776xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = "stablehlo.while"(%i, %0) ({
  ^bb0(%a: tensor<i32>, %b: tensor<1099511627776xf32>):
    %c = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<1099511627776xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %c = stablehlo.add %a, %one : tensor<i32>
    %d = stablehlo.add %b, %b : tensor<1099511627776xf32>
    stablehlo.return %c, %d : tensor<i32>, tensor<1099511627776xf32>
  }) : (tensor<i32>, tensor<1099511627776xf32>) -> (tensor<i32>, tensor<1099511627776xf32>)
  return %r#1 : tensor<1099511627776xf32>
}
