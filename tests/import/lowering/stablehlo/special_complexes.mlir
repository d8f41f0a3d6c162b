// Functions of complex numbers that are zero, infinite, large or none.
// Written by cases_stablehlo.py.

func.func @exponential(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[0x7F800000, 1.0000000200408773e+20, 0x7FC00000, 100.0]> : tensor<4xf32>, dense<[0.0, -0.0, 0.0, 9.999999682655225e-21]> : tensor<4xf32>],
    test.out = [dense<[0x7F800000, 0x7F800000, 0x7FC00000, 0x7F800000]> : tensor<4xf32>, dense<[0.0, -0.0, 0.0, 2.688117012352201e+23]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.exponential %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @exponential_minus_one(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[1.0000000200408773e+20, 0x7F800000, 100.0, 65.0]> : tensor<4xf32>, dense<[0.0, 0.0, 3.000000106112566e-06, 0.0]> : tensor<4xf32>],
    test.out = [dense<[0x7F800000, 0x7F800000, 0x7F800000, 1.694888970557351e+28]> : tensor<4xf32>, dense<[0.0, 0.0, 8.064350962122636e+37, 0.0]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.exponential_minus_one %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @sine(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[0.0, 0.0, 9.999999682655225e-21, 1.0]> : tensor<4xf32>, dense<[0x7F800000, 0x7FC00000, 100.0, 0.0]> : tensor<4xf32>],
    test.out = [dense<[0.0, 0.0, 1.3440585962480931e+23, 0.8414709568023682]> : tensor<4xf32>, dense<[0x7F800000, 0x7FC00000, 0x7F800000, 0.0]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.sine %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @cosine(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[0.0, 0.0, 3.0, 9.999999682655225e-21]> : tensor<4xf32>, dense<[0x7F800000, 0xFF800000, 0.0, 100.0]> : tensor<4xf32>],
    test.out = [dense<[0x7F800000, 0x7F800000, -0.9899924993515015, 0x7F800000]> : tensor<4xf32>, dense<[0.0, 0.0, -0.0, -1.3440585962480931e+23]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.cosine %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @tanh(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[0x7F800000, 0xFF800000, 0x7F800000, 0x7FC00000]> : tensor<4xf32>, dense<[0x7F800000, 0xFF800000, 1.0, 0.0]> : tensor<4xf32>],
    test.out = [dense<[1.0, -1.0, 1.0, 0x7FC00000]> : tensor<4xf32>, dense<[0.0, -0.0, 0.0, 0.0]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.tanh %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @tan(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[0x7F800000, 0xFF800000, 1.0, 0.0]> : tensor<4xf32>, dense<[0x7F800000, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>],
    test.out = [dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>, dense<[1.0, 1.0, -1.0, 0x7FC00000]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.tan %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @logistic(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[-100.0, -1.0000000200408773e+20, 0x7F800000, 100.0]> : tensor<4xf32>, dense<[1.0, 2.0, 0.0, 0.0]> : tensor<4xf32>],
    test.out = [dense<[0.0, 0.0, 1.0, 1.0]> : tensor<4xf32>, dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.logistic %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @rsqrt(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[0x7F800000, 1.0, 0.0, 4.0]> : tensor<4xf32>, dense<[0.0, 0x7F800000, 0xFF800000, 0.0]> : tensor<4xf32>],
    test.out = [dense<[0.0, 0.0, 0.0, 0.5]> : tensor<4xf32>, dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  %0 = stablehlo.rsqrt %z : tensor<4xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %im = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %re, %im : tensor<4xf32>, tensor<4xf32>
}

func.func @divide(%a: tensor<7xf32>, %b: tensor<7xf32>, %c: tensor<7xf32>, %d: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) attributes {
    test.in = [dense<[1.0, 1.0, 0x7F800000, -3.0, 0x7FC00000, 1.0, 1.0]> : tensor<7xf32>, dense<[1.0, 2.0, 1.0, 0.0, 0x7F800000, 1.0, 1.0]> : tensor<7xf32>, dense<[0x7F800000, 0.0, 1.0, -0.0, 0x7F800000, 0x7FC00000, 3.0]> : tensor<7xf32>, dense<[0x7F800000, 0.0, 1.0, 0.0, 0.0, 2.0, 0x7FC00000]> : tensor<7xf32>],
    test.out = [dense<[0.0, 0x7F800000, 0x7F800000, 0x7F800000, 0x7FC00000, 0x7FC00000, 0x7FC00000]> : tensor<7xf32>, dense<[0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]> : tensor<7xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<7xcomplex<f32>>
  %w = stablehlo.complex %c, %d : tensor<7xcomplex<f32>>
  %0 = stablehlo.divide %z, %w : tensor<7xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<7xcomplex<f32>>) -> tensor<7xf32>
  %im = stablehlo.imag %0 : (tensor<7xcomplex<f32>>) -> tensor<7xf32>
  return %re, %im : tensor<7xf32>, tensor<7xf32>
}

func.func @power(%a: tensor<6xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>, %d: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) attributes {
    test.in = [dense<[0.0, 0.0, 0.0, 0x7F800000, 0x7F800000, 0.0]> : tensor<6xf32>, dense<[0.0, 0.0, 0.0, 0.0, 0x7F800000, 0x7F800000]> : tensor<6xf32>, dense<[0.0, 1.0, -1.0, 2.5, 0.0, -1.0]> : tensor<6xf32>, dense<[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]> : tensor<6xf32>],
    test.out = [dense<[1.0, 0.0, 0x7FC00000, 0x7F800000, 1.0, 0.0]> : tensor<6xf32>, dense<[0.0, 0.0, 0x7FC00000, 0.0, 0.0, 0.0]> : tensor<6xf32>],
    test.tolerance = 0.000001
} {
  %z = stablehlo.complex %a, %b : tensor<6xcomplex<f32>>
  %w = stablehlo.complex %c, %d : tensor<6xcomplex<f32>>
  %0 = stablehlo.power %z, %w : tensor<6xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
  %im = stablehlo.imag %0 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
  return %re, %im : tensor<6xf32>, tensor<6xf32>
}
