// globals 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  util.global private mutable @state = dense<0.000000e+00> : tensor<4xf32>
  util.global private @weights = #flow.parameter.named<"model"::"w"> : tensor<8x8xf32>
  util.global public @late : tensor<i32>
  util.initializer {
    %cst = arith.constant dense<3> : tensor<i32>
    util.global.store %cst, @late : tensor<i32>
    util.return 
  }
  util.func public @run(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = util.global.load @state : tensor<4xf32>
    %1 = util.global.load immutable @weights : tensor<8x8xf32>
    %cst = util.unfoldable_constant dense<1.000000e+00> : tensor<4xf32>
    %2 = util.optimization_barrier %cst : tensor<4xf32>
    %cst_0 = flow.tensor.dynamic_constant dense<2> : tensor<4xi32> -> tensor<?xi32>
    util.global.store %2, @state : tensor<4xf32>
    %ptr = util.global.address @state : !util.ptr<tensor<4xf32>>
    %3 = util.global.load.indirect %ptr : !util.ptr<tensor<4xf32>> -> tensor<4xf32>
    util.global.store.indirect %3, %ptr : tensor<4xf32> -> !util.ptr<tensor<4xf32>>
    util.return %0 : tensor<4xf32>
  }
  ml_program.global private mutable @counter(dense<0> : tensor<i64>) : tensor<i64>
  func.func @step(%arg0: tensor<i64>) -> tensor<i64> {
    %0 = ml_program.global_load @counter : tensor<i64>
    ml_program.global_store @counter = %arg0 : tensor<i64>
    check.expect_eq(%0, %arg0) : tensor<i64>
    check.expect_eq_const(%0, dense<1> : tensor<i64>) : tensor<i64>
    %1 = builtin.unrealized_conversion_cast %0 : tensor<i64> to !my.type
    return %0 : tensor<i64>
  }
}
