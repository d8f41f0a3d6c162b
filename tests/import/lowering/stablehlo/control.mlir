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

func.func @case_2(%a: tensor<4xf32>, %b: tensor<i32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<2> : tensor<i32>],
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

func.func @case_minus_1(%a: tensor<4xf32>, %b: tensor<i32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<-1> : tensor<i32>],
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

func.func @case_constant(%a: tensor<4xf32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %b = stablehlo.constant dense<2> : tensor<i32>
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

func.func @random_0(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>) attributes {
    test.in = [dense<[81985529216486895, 18364758544493064720]> : tensor<2xui64>],
    test.out = [dense<[81985529216486895, 18364758544493064723]> : tensor<2xui64>, dense<[2933171071, 288411921, 3284946178, 2039365678, 2934253134]> : tensor<5xui32>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  return %0, %1 : tensor<2xui64>, tensor<5xui32>
}

func.func @random_1(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>) attributes {
    test.in = [dense<[81985529216486895, 18364758544493064720]> : tensor<2xui64>],
    test.out = [dense<[81985529216486895, 18364758544493064726]> : tensor<2xui64>, dense<[[2933171071, 288411921, 3284946178, 2039365678], [2934253134, 2961824378, 1236338088, 2936704409], [3907330576, 3723051394, 4037253752, 3709374182]]> : tensor<3x4xui32>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>)
  return %0, %1 : tensor<2xui64>, tensor<3x4xui32>
}

func.func @random_2(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>) attributes {
    test.in = [dense<[81985529216486895, 18364758544493064720]> : tensor<2xui64>],
    test.out = [dense<[81985529216486895, 18364758544493064721]> : tensor<2xui64>, dense<2933171071> : tensor<ui32>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  return %0, %1 : tensor<2xui64>, tensor<ui32>
}

func.func @random_3(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui8>) attributes {
    test.in = [dense<[81985529216486895, 18364758544493064720]> : tensor<2xui64>],
    test.out = [dense<[81985529216486895, 18364758544493064729]> : tensor<2xui64>, dense<[[127, 17, 2, 46, 78], [168, 153, 16, 130, 120], [56, 148, 166, 127, 242]]> : tensor<3x5xui8>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui8>)
  return %0, %1 : tensor<2xui64>, tensor<3x5xui8>
}

func.func @random_4(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui64>) attributes {
    test.in = [dense<[9, 18446744073709551614]> : tensor<2xui64>],
    test.out = [dense<[9, 3]> : tensor<2xui64>, dense<[1452001916652741220, 9949486705284454659, 8034997190770602893, 14620630559798759883, 15892597619904004717]> : tensor<5xui64>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui64>)
  return %0, %1 : tensor<2xui64>, tensor<5xui64>
}

func.func @random_5(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>) attributes {
    test.in = [dense<[81985529216486895, 18364758544493064720]> : tensor<2xui64>],
    test.out = [dense<[81985529216486895, 18364758544493064722]> : tensor<2xui64>, dense<[516242754, 3483603125, 4062402306, 3877632279, 3410436889, 3598874490, 2694609816]> : tensor<7xui32>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
  return %0, %1 : tensor<2xui64>, tensor<7xui32>
}

func.func @random_6(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui64>) attributes {
    test.in = [dense<[9, 18446744073709551614]> : tensor<2xui64>],
    test.out = [dense<[9, 3]> : tensor<2xui64>, dense<[[14154043148291417725, 9707328188029410249, 1897066024754302880], [10887895450446113075, 11054079960873566849, 11969951485577470992], [11117488459152455880, 11493300131971051029, 722527301896871049]]> : tensor<3x3xui64>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui64>)
  return %0, %1 : tensor<2xui64>, tensor<3x3xui64>
}

func.func @random_7(%a: tensor<3xui64>) -> (tensor<3xui64>, tensor<7xui32>) attributes {
    test.in = [dense<[5, 18446744073709551615, 7]> : tensor<3xui64>],
    test.out = [dense<[5, 1, 8]> : tensor<3xui64>, dense<[408654879, 156914071, 4246078289, 2550873154, 1414544935, 1163734151, 4062483226]> : tensor<7xui32>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<7xui32>)
  return %0, %1 : tensor<3xui64>, tensor<7xui32>
}

func.func @random_8(%a: tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui16>) attributes {
    test.in = [dense<[81985529216486895, 18364758544493064720]> : tensor<2xui64>],
    test.out = [dense<[81985529216486895, 18364758544493064721]> : tensor<2xui64>, dense<[15682, 37045, 22274]> : tensor<3xui16>]
} {
  %0, %1 = stablehlo.rng_bit_generator %a, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui16>)
  return %0, %1 : tensor<2xui64>, tensor<3xui16>
}
