// arith and math on tensors and numbers.
// Written by cases_linalg.py.

func.func @ceildivsi(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>) attributes {
    test.in = [dense<[28, 46, -24, -30, 30, 33, 1, -35]> : tensor<8xi32>, dense<[3, -3, 7, -7, 1, -1, 5, 2]> : tensor<8xi32>],
    test.out = [dense<[10, -15, -3, 5, 30, -33, 1, -17]> : tensor<8xi32>]
} {
  %0 = arith.ceildivsi %a, %b : tensor<8xi32>
  return %0 : tensor<8xi32>
}

func.func @floordivsi(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>) attributes {
    test.in = [dense<[28, 46, -24, -30, 30, 33, 1, -35]> : tensor<8xi32>, dense<[3, -3, 7, -7, 1, -1, 5, 2]> : tensor<8xi32>],
    test.out = [dense<[9, -16, -4, 4, 30, -33, 0, -18]> : tensor<8xi32>]
} {
  %0 = arith.floordivsi %a, %b : tensor<8xi32>
  return %0 : tensor<8xi32>
}

func.func @divsi(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>) attributes {
    test.in = [dense<[28, 46, -24, -30, 30, 33, 1, -35]> : tensor<8xi32>, dense<[3, -3, 7, -7, 1, -1, 5, 2]> : tensor<8xi32>],
    test.out = [dense<[9, -15, -3, 4, 30, -33, 0, -17]> : tensor<8xi32>]
} {
  %0 = arith.divsi %a, %b : tensor<8xi32>
  return %0 : tensor<8xi32>
}

func.func @maxsi(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>) attributes {
    test.in = [dense<[28, 46, -24, -30, 30, 33, 1, -35]> : tensor<8xi32>, dense<[3, -3, 7, -7, 1, -1, 5, 2]> : tensor<8xi32>],
    test.out = [dense<[28, 46, 7, -7, 30, 33, 5, 2]> : tensor<8xi32>]
} {
  %0 = arith.maxsi %a, %b : tensor<8xi32>
  return %0 : tensor<8xi32>
}

func.func @xori(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>) attributes {
    test.in = [dense<[28, 46, -24, -30, 30, 33, 1, -35]> : tensor<8xi32>, dense<[3, -3, 7, -7, 1, -1, 5, 2]> : tensor<8xi32>],
    test.out = [dense<[31, -45, -17, 27, 31, -34, 4, -33]> : tensor<8xi32>]
} {
  %0 = arith.xori %a, %b : tensor<8xi32>
  return %0 : tensor<8xi32>
}

func.func @remsi(%a: i32, %b: i32) -> (i32) attributes {
    test.in = [dense<-17> : tensor<i32>, dense<5> : tensor<i32>],
    test.out = [dense<-2> : tensor<i32>]
} {
  %0 = arith.remsi %a, %b : i32
  return %0 : i32
}

func.func @cmpf_oeq(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[false, true, false, false]> : tensor<4xi1>]
} {
  %0 = arith.cmpf oeq, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_olt(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[true, false, false, false]> : tensor<4xi1>]
} {
  %0 = arith.cmpf olt, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_one(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[true, false, false, false]> : tensor<4xi1>]
} {
  %0 = arith.cmpf one, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_ord(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[true, true, false, false]> : tensor<4xi1>]
} {
  %0 = arith.cmpf ord, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_ueq(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[false, true, true, true]> : tensor<4xi1>]
} {
  %0 = arith.cmpf ueq, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_ugt(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[false, false, true, true]> : tensor<4xi1>]
} {
  %0 = arith.cmpf ugt, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_ule(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[true, true, true, true]> : tensor<4xi1>]
} {
  %0 = arith.cmpf ule, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_une(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[true, false, true, true]> : tensor<4xi1>]
} {
  %0 = arith.cmpf une, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_uno(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[false, false, true, true]> : tensor<4xi1>]
} {
  %0 = arith.cmpf uno, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_true(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[true, true, true, true]> : tensor<4xi1>]
} {
  %0 = arith.cmpf true, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @cmpf_false(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) attributes {
    test.in = [dense<[1.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>, dense<[2.0, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[false, false, false, false]> : tensor<4xi1>]
} {
  %0 = arith.cmpf false, %a, %b : tensor<4xf32>
  return %0 : tensor<4xi1>
}

func.func @bool_casts(%a: tensor<2xi1>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi1>) attributes {
    test.in = [dense<[true, false]> : tensor<2xi1>],
    test.out = [dense<[-1, 0]> : tensor<2xi32>, dense<[1, 0]> : tensor<2xi32>, dense<[-1.0, -0.0]> : tensor<2xf32>, dense<[true, false]> : tensor<2xi1>]
} {
  %0 = arith.extsi %a : tensor<2xi1> to tensor<2xi32>
  %1 = arith.extui %a : tensor<2xi1> to tensor<2xi32>
  %2 = arith.sitofp %a : tensor<2xi1> to tensor<2xf32>
  %3 = arith.trunci %0 : tensor<2xi32> to tensor<2xi1>
  return %0, %1, %2, %3 : tensor<2xi32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi1>
}

func.func @trunci_bool(%a: tensor<2xi32>) -> (tensor<2xi1>) attributes {
    test.in = [dense<[2, 3]> : tensor<2xi32>],
    test.out = [dense<[false, true]> : tensor<2xi1>]
} {
  %0 = arith.trunci %a : tensor<2xi32> to tensor<2xi1>
  return %0 : tensor<2xi1>
}

func.func @mulsi_extended(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) attributes {
    test.in = [dense<[2147483647, -2147483648, 123456789, -5]> : tensor<4xi32>],
    test.out = [dense<[-2147483641, -2147483648, -864197523, 35]> : tensor<4xi32>, dense<[-4, 3, -1, 0]> : tensor<4xi32>]
} {
  %c = arith.constant dense<-7> : tensor<4xi32>
  %l, %h = arith.mulsi_extended %a, %c : tensor<4xi32>
  return %l, %h : tensor<4xi32>, tensor<4xi32>
}

func.func @mulsi_extended_i64(%a: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) attributes {
    test.in = [dense<[9223372036854775807, -9223372036854775808, 81985529216486895, -5]> : tensor<4xi64>],
    test.out = [dense<[-9223370785854879317, -9223372036854775808, 737871102908271195, 6254999482455]> : tensor<4xi64>, dense<[-625499948246, 625499948245, -5559999540, 0]> : tensor<4xi64>]
} {
  %c = arith.constant dense<-1250999896491> : tensor<4xi64>
  %l, %h = arith.mulsi_extended %a, %c : tensor<4xi64>
  return %l, %h : tensor<4xi64>, tensor<4xi64>
}

func.func @scalars(%a: f32, %b: f32) -> (f32, i32, f32) attributes {
    test.in = [dense<8.0> : tensor<f32>, dense<4.5> : tensor<f32>],
    test.out = [dense<6.0> : tensor<f32>, dense<6> : tensor<i32>, dense<8.0> : tensor<f32>]
} {
  %0 = arith.mulf %a, %b : f32
  %1 = math.sqrt %0 : f32
  %2 = arith.fptosi %1 : f32 to i32
  %3 = arith.cmpf ogt, %a, %b : f32
  %4 = arith.select %3, %a, %b : f32
  return %1, %2, %4 : f32, i32, f32
}

func.func @unsigned(%a: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi64>) attributes {
    test.in = [dense<[1, -2147483648, -1]> : tensor<3xi32>],
    test.out = [dense<[1.0, 2147483648.0, 4294967296.0]> : tensor<3xf32>, dense<[1, 2147483648, 4294967295]> : tensor<3xi64>]
} {
  %0 = arith.uitofp %a : tensor<3xi32> to tensor<3xf32>
  %1 = arith.extui %a : tensor<3xi32> to tensor<3xi64>
  return %0, %1 : tensor<3xf32>, tensor<3xi64>
}

func.func @math(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[0.051218464970588684, -1.4563215970993042, 0.7561458945274353, 1.3669909238815308]> : tensor<4xf32>],
    test.out = [dense<[0.05384179577231407, 0.6645509004592896, 1.3279025554656982, 3.2356550693511963]> : tensor<4xf32>, dense<[0.051218464970588684, 1.4563215970993042, 0.7561458945274353, 1.3669909238815308]> : tensor<4xf32>, dense<[0.0001343629992334172, -3.088672637939453, 0.4323314130306244, 2.5544469356536865]> : tensor<4xf32>]
} {
  %0 = math.fma %a, %a, %a : tensor<4xf32>
  %1 = math.copysign %a, %0 : tensor<4xf32>
  %i = arith.constant 3 : i32
  %p = tensor.splat %i : tensor<4xi32>
  %2 = math.fpowi %a, %p : tensor<4xf32>, tensor<4xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
