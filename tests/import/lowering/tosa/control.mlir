// cond_if, while_loop.
// Written by cases_tosa.py.

func.func @cond_if_true(%a: tensor<4xf32>, %b: tensor<i1>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<true> : tensor<i1>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %0 = "tosa.cond_if"(%b, %a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %1 : tensor<4xf32>
  }, {
  ^bb0(%x: tensor<4xf32>):
    tosa.yield %x : tensor<4xf32>
  }) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @cond_if_false(%a: tensor<4xf32>, %b: tensor<i1>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<false> : tensor<i1>],
    test.out = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>]
} {
  %0 = "tosa.cond_if"(%b, %a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %1 : tensor<4xf32>
  }, {
  ^bb0(%x: tensor<4xf32>):
    tosa.yield %x : tensor<4xf32>
  }) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @while_loop(%a: tensor<4xf32>, %b: tensor<i32>) -> (tensor<i32>, tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<3> : tensor<i32>],
    test.out = [dense<0> : tensor<i32>, dense<[2.0015275478363037, 6.3554205894470215, 4.410971164703369, -4.3966851234436035]> : tensor<4xf32>]
} {
  %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "tosa.while_loop"(%b, %a) ({
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = tosa.greater %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %1 : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %1 = tosa.sub %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = tosa.add %v, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %1, %2 : tensor<i32>, tensor<4xf32>
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<i32>, tensor<4xf32>
}
