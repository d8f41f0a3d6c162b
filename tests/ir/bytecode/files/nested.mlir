module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %c_1, %iterArg_2 = %c_1, %iterArg_3 = %arg0) : tensor<i32>, tensor<i32>, tensor<2xf32>
    cond {
      %1 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call(%iterArg_2, %iterArg_3) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
      %2 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %2, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<2xf32>
    }
    return %0#2 : tensor<2xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c_3 : tensor<i32>
    %1 = call @remainder(%arg0, %c_2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %4 = "stablehlo.case"(%3) ({
      %5 = stablehlo.while(%iterArg = %arg1) : tensor<2xf32>
      cond {
        %6 = stablehlo.slice %iterArg [0:1] : (tensor<2xf32>) -> tensor<1xf32>
        %7 = stablehlo.reshape %6 : (tensor<1xf32>) -> tensor<f32>
        %8 = stablehlo.compare LT, %7, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %8 : tensor<i1>
      } do {
        %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2xf32>
        %7 = stablehlo.multiply %iterArg, %6 : tensor<2xf32>
        stablehlo.return %7 : tensor<2xf32>
      }
      stablehlo.return %5 : tensor<2xf32>
    }, {
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %6 = stablehlo.add %arg1, %5 : tensor<2xf32>
      stablehlo.return %6 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    return %0, %4 : tensor<i32>, tensor<2xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = call @_where(%0, %c, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg0, %1 : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
