// Control flow, calls, tuples, random numbers.
// Written by cases_stablehlo.py.

func.func @if(%a: tensor<4xf32>, %b: tensor<i1>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<true> : tensor<i1>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %0 = "stablehlo.if"(%b) ({
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @case_0(%a: tensor<4xf32>, %b: tensor<i32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<0> : tensor<i32>],
    test.out = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>]
} {
  %0 = "stablehlo.case"(%b) ({
    stablehlo.return %a : tensor<4xf32>
  }, {
    %1 = stablehlo.negate %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @case_1(%a: tensor<4xf32>, %b: tensor<i32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<1> : tensor<i32>],
    test.out = [dense<[-0.5003818869590759, -1.5888551473617554, -1.1027427911758423, 1.0991712808609009]> : tensor<4xf32>]
} {
  %0 = "stablehlo.case"(%b) ({
    stablehlo.return %a : tensor<4xf32>
  }, {
    %1 = stablehlo.negate %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @case_7(%a: tensor<4xf32>, %b: tensor<i32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<7> : tensor<i32>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %0 = "stablehlo.case"(%b) ({
    stablehlo.return %a : tensor<4xf32>
  }, {
    %1 = stablehlo.negate %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @while(%a: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>],
    test.out = [dense<5> : tensor<i32>, dense<[3.002291202545166, 9.533130645751953, 6.616456985473633, -6.595027923583984]> : tensor<4xf32>]
} {
  %n = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %v, %a : tensor<4xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<4xf32>
}

func.func @call(%a: tensor<4xf32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>],
    test.out = [dense<[2.0015275478363037, 6.3554205894470215, 4.410971164703369, -4.3966851234436035]> : tensor<4xf32>]
} {
  %0 = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "x.twice" %0 {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @tuple(%a: tensor<4xf32>, %b: tensor<i1>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<true> : tensor<i1>],
    test.out = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>]
} {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, tensor<i1>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, tensor<i1>>) -> tensor<4xf32>
  %2 = stablehlo.optimization_barrier %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

func.func @custom_calls(%a: tensor<4xf32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>],
    test.out = [dense<[0.5208353996276855, 0.9753587245941162, 0.8811251521110535, -0.8799259662628174]> : tensor<4xf32>]
} {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @mhlo.erf(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func @threefry(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>) attributes {
    test.in = [dense<[1311768467463790320, 5]> : tensor<2xui64>],
    test.out = [dense<[1311768467463790320, 9]> : tensor<2xui64>, dense<[2165775106, 2207507590, 1354277001, 2790650682, 1106935068, 2177532566, 2579920119]> : tensor<7xui32>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
  return %0, %1 : tensor<2xui64>, tensor<7xui32>
}

func.func @philox(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>) attributes {
    test.in = [dense<[1311768467463790320, 5]> : tensor<2xui64>],
    test.out = [dense<[1311768467463790320, 7]> : tensor<2xui64>, dense<[1853311364, 3786621025, 3172104606, 318677648, 3842858768, 1006367460, 684974759]> : tensor<7xui32>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
  return %0, %1 : tensor<2xui64>, tensor<7xui32>
}
