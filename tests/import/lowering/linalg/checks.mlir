// Programs that check themselves (dialect check), and what else has no numbers to compare with.
func.func @equal() {
  %a = arith.constant dense<[1, -2, 3]> : tensor<3xi32>
  %b = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %c = math.absi %a : tensor<3xi32>
  check.expect_eq(%c, %b) : tensor<3xi32>
  check.expect_eq_const(%c, dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
  return
}

func.func @close() {
  %a = util.unfoldable_constant dense<[1.0, 2.0, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  check.expect_almost_eq_const(%a, dense<[1.00001, 1.99999, 0x7F800000, 0x7FC00000]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_almost_eq_const(%a, dense<[1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<4xf32>, atol 0.6) : tensor<4xf32>
  return
}

// Floats between: from below zero to above it, none between the zeros, and both parts of complex numbers.
func.func @steps() {
  %a = util.unfoldable_constant dense<[1.0, 0x80000001, -0.0, 0xFF800000, 0x7FC00001]> : tensor<5xf32>
  %b = util.unfoldable_constant dense<[0x3F800002, 0x00000002, 0.0, 0xFF800000, 0x7FC00000]> : tensor<5xf32>
  check.expect_close %a, %b, max_ulp_difference = 3 : tensor<5xf32>, tensor<5xf32>
  %c = util.unfoldable_constant dense<[1.0, 0x80000001]> : tensor<2xf32>
  %d = util.unfoldable_constant dense<[0x3F800003, 0x00000002]> : tensor<2xf32>
  check.expect_close %c, %d, max_ulp_difference = 3, min_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  %e = stablehlo.constant dense<[(1.0, 2.0), (0.5, -1.0)]> : tensor<2xcomplex<f32>>
  %f = stablehlo.constant dense<[(0x3F800002, 0x40000002), (0x3F000002, 0xBF800002)]> : tensor<2xcomplex<f32>>
  check.expect_close %e, %f, max_ulp_difference = 2, min_ulp_difference = 2 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
  check.expect_almost_eq %e, %f : tensor<2xcomplex<f32>>
  check.expect_eq_const %e, dense<[(1.0, 2.0), (0.5, -1.0)]> : tensor<2xcomplex<f32>>
  return
}

func.func @truth() {
  %t = util.unfoldable_constant dense<true> : tensor<2x2xi1>
  check.expect_all_true(%t) : tensor<2x2xi1>
  %one = arith.constant 1 : i1
  %zero = arith.constant 0 : i1
  check.expect_true(%one) : i1
  check.expect_false(%zero) : i1
  return
}

func.func @constants() {
  %a = flow.tensor.constant dense<[4, 5]> : tensor<2xi32>
  %b = util.optimization_barrier %a : tensor<2xi32>
  check.expect_eq_const(%b, dense<[4, 5]> : tensor<2xi32>) : tensor<2xi32>
  return
}

func.func @scaling(%a: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>) attributes {
    test.in = [dense<[1.0, -2.0, 3.0, 0.5]> : tensor<4xf16>],
    test.out = [dense<[0.25, -1.0, 3.0, 4.0]> : tensor<4xf32>, dense<[4.0, -4.0, 3.0, 0.0625]> : tensor<4xf16>]
} {
  %scale = arith.constant dense<[0.25, 0.5, 1.0, 8.0]> : tensor<4xf8E8M0FNU>
  %x = arith.scaling_extf %a, %scale : tensor<4xf16>, tensor<4xf8E8M0FNU> to tensor<4xf32>
  %y = arith.scaling_truncf %a, %scale : tensor<4xf16>, tensor<4xf8E8M0FNU> to tensor<4xf16>
  return %x, %y : tensor<4xf32>, tensor<4xf16>
}

func.func @tied(%a: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {
    test.in = [dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>],
    test.out = [dense<[[2.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>]
} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xf32>
  %x = flow.tensor.tie_shape %a : tensor<?x2xf32>{%n}
  %y = arith.addf %x, %x : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
