// Eigenvalues and Schur forms of any matrix, tridiagonal forms.
// Written by cases_matrices.py.

func.func @geev_right(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.0, 2.0, 0.0, 1.0], [-3.0, 1.0, 1.0, 0.0], [0.5, 0.0, -1.0, 2.0], [1.0, 0.0, -2.0, 0.5]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.0, 2.0, 0.0, 1.0], [-3.0, 1.0, 1.0, 0.0], [0.5, 0.0, -1.0, 2.0], [1.0, 0.0, -2.0, 0.5]]> : tensor<4x4xf32>, dense<[[0.0, 2.0, 0.0, 1.0], [-3.0, 1.0, 1.0, 0.0], [0.5, 0.0, -1.0, 2.0], [1.0, 0.0, -2.0, 0.5]]> : tensor<4x4xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %k = stablehlo.complex %a, %a : tensor<4x4xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<4x4xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<4xcomplex<f32>>
  %p = stablehlo.dot_general %z, %0#3, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %q = stablehlo.multiply %0#3, %qw : tensor<4x4xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<4x4xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<4x4xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %im = stablehlo.imag %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %re, %im : tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @geev_left(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.0, 2.0, 0.0, 1.0], [-3.0, 1.0, 1.0, 0.0], [0.5, 0.0, -1.0, 2.0], [1.0, 0.0, -2.0, 0.5]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.0, 2.0, 0.0, 1.0], [-3.0, 1.0, 1.0, 0.0], [0.5, 0.0, -1.0, 2.0], [1.0, 0.0, -2.0, 0.5]]> : tensor<4x4xf32>, dense<[[0.0, 2.0, 0.0, 1.0], [-3.0, 1.0, 1.0, 0.0], [0.5, 0.0, -1.0, 2.0], [1.0, 0.0, -2.0, 0.5]]> : tensor<4x4xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %k = stablehlo.complex %a, %a : tensor<4x4xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<4x4xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<4xcomplex<f32>>
  %i = stablehlo.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
  %e = stablehlo.complex %i, %n : tensor<4x4xcomplex<f32>>
  %pc = chlo.conj %0#2 : tensor<4x4xcomplex<f32>> -> tensor<4x4xcomplex<f32>>
  %p = stablehlo.dot_general %pc, %z, contracting_dims = [0] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %hc = chlo.conj %0#2 : tensor<4x4xcomplex<f32>> -> tensor<4x4xcomplex<f32>>
  %h = stablehlo.dot_general %hc, %e, contracting_dims = [0] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %q = stablehlo.multiply %h, %qw : tensor<4x4xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<4x4xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<4x4xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %im = stablehlo.imag %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %re, %im : tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @geev_lengths(%a: tensor<4x4xf32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[[0.0, 2.0, 0.0, 1.0], [-3.0, 1.0, 1.0, 0.0], [0.5, 0.0, -1.0, 2.0], [1.0, 0.0, -2.0, 0.5]]> : tensor<4x4xf32>],
    test.out = [dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf32>]
} {
  %n = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %k = stablehlo.complex %a, %a : tensor<4x4xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<4x4xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<4xcomplex<f32>>
  %s0 = stablehlo.abs %0#3 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %s1 = stablehlo.multiply %s0, %s0 : tensor<4x4xf32>
  %o = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%s1 init: %o) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

func.func @geev_one_right(%a: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>) attributes {
    test.in = [dense<[[-3.0]]> : tensor<1x1xf32>],
    test.out = [dense<[[-3.0]]> : tensor<1x1xf32>, dense<[[-3.0]]> : tensor<1x1xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<1x1xf32>
  %k = stablehlo.complex %a, %a : tensor<1x1xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<1x1xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<1x1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>, tensor<i32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<1xcomplex<f32>>
  %p = stablehlo.dot_general %z, %0#3, contracting_dims = [1] x [0] : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %q = stablehlo.multiply %0#3, %qw : tensor<1x1xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<1x1xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<1x1xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<1x1xcomplex<f32>>) -> tensor<1x1xf32>
  %im = stablehlo.imag %r : (tensor<1x1xcomplex<f32>>) -> tensor<1x1xf32>
  return %re, %im : tensor<1x1xf32>, tensor<1x1xf32>
}

func.func @geev_one_left(%a: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>) attributes {
    test.in = [dense<[[-3.0]]> : tensor<1x1xf32>],
    test.out = [dense<[[-3.0]]> : tensor<1x1xf32>, dense<[[-3.0]]> : tensor<1x1xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<1x1xf32>
  %k = stablehlo.complex %a, %a : tensor<1x1xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<1x1xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<1x1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>, tensor<i32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<1xcomplex<f32>>
  %i = stablehlo.constant dense<[[1.0]]> : tensor<1x1xf32>
  %e = stablehlo.complex %i, %n : tensor<1x1xcomplex<f32>>
  %pc = chlo.conj %0#2 : tensor<1x1xcomplex<f32>> -> tensor<1x1xcomplex<f32>>
  %p = stablehlo.dot_general %pc, %z, contracting_dims = [0] x [0] : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %hc = chlo.conj %0#2 : tensor<1x1xcomplex<f32>> -> tensor<1x1xcomplex<f32>>
  %h = stablehlo.dot_general %hc, %e, contracting_dims = [0] x [0] : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %q = stablehlo.multiply %h, %qw : tensor<1x1xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<1x1xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<1x1xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<1x1xcomplex<f32>>) -> tensor<1x1xf32>
  %im = stablehlo.imag %r : (tensor<1x1xcomplex<f32>>) -> tensor<1x1xf32>
  return %re, %im : tensor<1x1xf32>, tensor<1x1xf32>
}

func.func @geev_one_lengths(%a: tensor<1x1xf32>) -> (tensor<1xf32>) attributes {
    test.in = [dense<[[-3.0]]> : tensor<1x1xf32>],
    test.out = [dense<[1.0]> : tensor<1xf32>]
} {
  %n = stablehlo.constant dense<0.0> : tensor<1x1xf32>
  %k = stablehlo.complex %a, %a : tensor<1x1xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<1x1xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<1x1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>, tensor<i32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<1xcomplex<f32>>
  %s0 = stablehlo.abs %0#3 : (tensor<1x1xcomplex<f32>>) -> tensor<1x1xf32>
  %s1 = stablehlo.multiply %s0, %s0 : tensor<1x1xf32>
  %o = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%s1 init: %o) applies stablehlo.add across dimensions = [0] : (tensor<1x1xf32>, tensor<f32>) -> tensor<1xf32>
  return %s : tensor<1xf32>
}

func.func @geev_batch_right(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>) attributes {
    test.in = [dense<[[[-0.32778334617614746, 1.5478579998016357, -0.18345719575881958], [0.1569884568452835, 1.8819565773010254, -0.8960674405097961], [1.5791608095169067, -0.5525779128074646, -0.7518359422683716]], [[1.5251567363739014, -1.7380130290985107, 1.4666204452514648], [1.311070442199707, 1.5788593292236328, -1.760970950126648], [-1.0447776317596436, 1.1006144285202026, -0.25259965658187866]]]> : tensor<2x3x3xf32>],
    test.out = [dense<[[[-0.32778334617614746, 1.5478579998016357, -0.18345719575881958], [0.1569884568452835, 1.8819565773010254, -0.8960674405097961], [1.5791608095169067, -0.5525779128074646, -0.7518359422683716]], [[1.5251567363739014, -1.7380130290985107, 1.4666204452514648], [1.311070442199707, 1.5788593292236328, -1.760970950126648], [-1.0447776317596436, 1.1006144285202026, -0.25259965658187866]]]> : tensor<2x3x3xf32>, dense<[[[-0.32778334617614746, 1.5478579998016357, -0.18345719575881958], [0.1569884568452835, 1.8819565773010254, -0.8960674405097961], [1.5791608095169067, -0.5525779128074646, -0.7518359422683716]], [[1.5251567363739014, -1.7380130290985107, 1.4666204452514648], [1.311070442199707, 1.5788593292236328, -1.760970950126648], [-1.0447776317596436, 1.1006144285202026, -0.25259965658187866]]]> : tensor<2x3x3xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<2x3x3xf32>
  %k = stablehlo.complex %a, %a : tensor<2x3x3xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<2x3x3xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>, tensor<2xi32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<2x3xcomplex<f32>>
  %p = stablehlo.dot_general %z, %0#3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %w, dims = [0, 2] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3x3xcomplex<f32>>
  %q = stablehlo.multiply %0#3, %qw : tensor<2x3x3xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<2x3x3xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<2x3x3xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xf32>
  %im = stablehlo.imag %r : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xf32>
  return %re, %im : tensor<2x3x3xf32>, tensor<2x3x3xf32>
}

func.func @geev_batch_left(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>) attributes {
    test.in = [dense<[[[-0.32778334617614746, 1.5478579998016357, -0.18345719575881958], [0.1569884568452835, 1.8819565773010254, -0.8960674405097961], [1.5791608095169067, -0.5525779128074646, -0.7518359422683716]], [[1.5251567363739014, -1.7380130290985107, 1.4666204452514648], [1.311070442199707, 1.5788593292236328, -1.760970950126648], [-1.0447776317596436, 1.1006144285202026, -0.25259965658187866]]]> : tensor<2x3x3xf32>],
    test.out = [dense<[[[-0.32778334617614746, 1.5478579998016357, -0.18345719575881958], [0.1569884568452835, 1.8819565773010254, -0.8960674405097961], [1.5791608095169067, -0.5525779128074646, -0.7518359422683716]], [[1.5251567363739014, -1.7380130290985107, 1.4666204452514648], [1.311070442199707, 1.5788593292236328, -1.760970950126648], [-1.0447776317596436, 1.1006144285202026, -0.25259965658187866]]]> : tensor<2x3x3xf32>, dense<[[[-0.32778334617614746, 1.5478579998016357, -0.18345719575881958], [0.1569884568452835, 1.8819565773010254, -0.8960674405097961], [1.5791608095169067, -0.5525779128074646, -0.7518359422683716]], [[1.5251567363739014, -1.7380130290985107, 1.4666204452514648], [1.311070442199707, 1.5788593292236328, -1.760970950126648], [-1.0447776317596436, 1.1006144285202026, -0.25259965658187866]]]> : tensor<2x3x3xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<2x3x3xf32>
  %k = stablehlo.complex %a, %a : tensor<2x3x3xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<2x3x3xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>, tensor<2xi32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<2x3xcomplex<f32>>
  %i = stablehlo.constant dense<[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]> : tensor<2x3x3xf32>
  %e = stablehlo.complex %i, %n : tensor<2x3x3xcomplex<f32>>
  %pc = chlo.conj %0#2 : tensor<2x3x3xcomplex<f32>> -> tensor<2x3x3xcomplex<f32>>
  %p = stablehlo.dot_general %pc, %z, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xcomplex<f32>>
  %hc = chlo.conj %0#2 : tensor<2x3x3xcomplex<f32>> -> tensor<2x3x3xcomplex<f32>>
  %h = stablehlo.dot_general %hc, %e, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %w, dims = [0, 1] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3x3xcomplex<f32>>
  %q = stablehlo.multiply %h, %qw : tensor<2x3x3xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<2x3x3xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<2x3x3xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xf32>
  %im = stablehlo.imag %r : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xf32>
  return %re, %im : tensor<2x3x3xf32>, tensor<2x3x3xf32>
}

func.func @geev_batch_lengths(%a: tensor<2x3x3xf32>) -> (tensor<2x3xf32>) attributes {
    test.in = [dense<[[[-0.32778334617614746, 1.5478579998016357, -0.18345719575881958], [0.1569884568452835, 1.8819565773010254, -0.8960674405097961], [1.5791608095169067, -0.5525779128074646, -0.7518359422683716]], [[1.5251567363739014, -1.7380130290985107, 1.4666204452514648], [1.311070442199707, 1.5788593292236328, -1.760970950126648], [-1.0447776317596436, 1.1006144285202026, -0.25259965658187866]]]> : tensor<2x3x3xf32>],
    test.out = [dense<[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]> : tensor<2x3xf32>]
} {
  %n = stablehlo.constant dense<0.0> : tensor<2x3x3xf32>
  %k = stablehlo.complex %a, %a : tensor<2x3x3xcomplex<f32>>
  %z = stablehlo.complex %a, %n : tensor<2x3x3xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>, tensor<2xi32>)
  %w = stablehlo.complex %0#0, %0#1 : tensor<2x3xcomplex<f32>>
  %s0 = stablehlo.abs %0#3 : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xf32>
  %s1 = stablehlo.multiply %s0, %s0 : tensor<2x3x3xf32>
  %o = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%s1 init: %o) applies stablehlo.add across dimensions = [1] : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %s : tensor<2x3xf32>
}

func.func @geev_complex_right(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %k = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %z = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %0:4 = stablehlo.custom_call @lapack_cgeev_ffi(%z) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<4x4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %p = stablehlo.dot_general %z, %0#2, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %0#0, dims = [1] : (tensor<4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %q = stablehlo.multiply %0#2, %qw : tensor<4x4xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<4x4xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<4x4xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %im = stablehlo.imag %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %re, %im : tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @geev_complex_left(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.tolerance = 0.000030
} {
  %n = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %k = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %z = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %0:4 = stablehlo.custom_call @lapack_cgeev_ffi(%z) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<4x4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %i = stablehlo.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
  %e = stablehlo.complex %i, %n : tensor<4x4xcomplex<f32>>
  %pc = chlo.conj %0#1 : tensor<4x4xcomplex<f32>> -> tensor<4x4xcomplex<f32>>
  %p = stablehlo.dot_general %pc, %z, contracting_dims = [0] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %hc = chlo.conj %0#1 : tensor<4x4xcomplex<f32>> -> tensor<4x4xcomplex<f32>>
  %h = stablehlo.dot_general %hc, %e, contracting_dims = [0] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %qw = stablehlo.broadcast_in_dim %0#0, dims = [0] : (tensor<4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %q = stablehlo.multiply %h, %qw : tensor<4x4xcomplex<f32>>
  %d = stablehlo.subtract %p, %q : tensor<4x4xcomplex<f32>>
  %r = stablehlo.add %k, %d : tensor<4x4xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %im = stablehlo.imag %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %re, %im : tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @geev_complex_lengths(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.out = [dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf32>]
} {
  %n = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %k = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %z = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %0:4 = stablehlo.custom_call @lapack_cgeev_ffi(%z) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<4x4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<i32>)
  %s0 = stablehlo.abs %0#2 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %s1 = stablehlo.multiply %s0, %s0 : tensor<4x4xf32>
  %o = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%s1 init: %o) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

func.func @geev_pair(%a: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i32>) attributes {
    test.in = [dense<[[1.0, -2.0], [2.0, 1.0]]> : tensor<2x2xf32>],
    test.out = [dense<[1.0, 1.0]> : tensor<2xf32>, dense<[2.0, -2.0]> : tensor<2xf32>, dense<0> : tensor<i32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 78 : ui8}} : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>, tensor<i32>)
  return %0#0, %0#1, %0#4 : tensor<2xf32>, tensor<2xf32>, tensor<i32>
}

func.func @geev_nan(%a: tensor<2x2xf32>) -> (tensor<i32>) attributes {
    test.in = [dense<[[1.0, 0x7FC00000], [2.0, 1.0]]> : tensor<2x2xf32>],
    test.out = [dense<-4> : tensor<i32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 78 : ui8}} : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>, tensor<i32>)
  return %0#4 : tensor<i32>
}

func.func @geev_infinite_in_batch(%a: tensor<3x2x2xf32>) -> (tensor<1x2xf32>, tensor<3xi32>) attributes {
    test.in = [dense<[[[0x7F800000, 0xFF800000], [0x7F800000, 0x7F800000]], [[1.0, -2.0], [2.0, 1.0]], [[0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000]]]> : tensor<3x2x2xf32>],
    test.out = [dense<[[2.0, -2.0]]> : tensor<1x2xf32>, dense<[-4, 0, -4]> : tensor<3xi32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 78 : ui8}} : (tensor<3x2x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2x2xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>, tensor<3xi32>)
  %w = stablehlo.slice %0#1 [1:2, 0:2] : (tensor<3x2xf32>) -> tensor<1x2xf32>
  return %w, %0#4 : tensor<1x2xf32>, tensor<3xi32>
}

func.func @gees_product(%a: tensor<5x5xf32>) -> (tensor<5x5xf32>) attributes {
    test.in = [dense<[[-1.9787473678588867, 0.7704784870147705, 1.1990786790847778, 1.8944997787475586, -1.3973435163497925], [-0.9921801090240479, 1.3654423952102661, -1.6327635049819946, -0.902917742729187, -0.19294917583465576], [-0.3266286849975586, 0.170935720205307, 1.4747370481491089, 0.5250534415245056, 0.6160002946853638], [0.368886262178421, -1.156685471534729, -0.20136356353759766, 1.9501535892486572, 1.636921763420105], [1.0697776079177856, 0.1347266584634781, 1.4754630327224731, 0.5235298871994019, -0.4097229242324829]]> : tensor<5x5xf32>],
    test.out = [dense<[[-1.9787473678588867, 0.7704784870147705, 1.1990786790847778, 1.8944997787475586, -1.3973435163497925], [-0.9921801090240479, 1.3654423952102661, -1.6327635049819946, -0.902917742729187, -0.19294917583465576], [-0.3266286849975586, 0.170935720205307, 1.4747370481491089, 0.5250534415245056, 0.6160002946853638], [0.368886262178421, -1.156685471534729, -0.20136356353759766, 1.9501535892486572, 1.636921763420105], [1.0697776079177856, 0.1347266584634781, 1.4754630327224731, 0.5235298871994019, -0.4097229242324829]]> : tensor<5x5xf32>],
    test.tolerance = 0.000030
} {
  %0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<i32>, tensor<i32>)
  %p = stablehlo.dot_general %0#1, %0#0, contracting_dims = [1] x [0] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %r = stablehlo.dot_general %p, %0#1, contracting_dims = [1] x [1] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  return %r : tensor<5x5xf32>
}

func.func @gees_zeros(%a: tensor<5x5xf32>) -> (tensor<5x5xf32>) attributes {
    test.in = [dense<[[-1.9787473678588867, 0.7704784870147705, 1.1990786790847778, 1.8944997787475586, -1.3973435163497925], [-0.9921801090240479, 1.3654423952102661, -1.6327635049819946, -0.902917742729187, -0.19294917583465576], [-0.3266286849975586, 0.170935720205307, 1.4747370481491089, 0.5250534415245056, 0.6160002946853638], [0.368886262178421, -1.156685471534729, -0.20136356353759766, 1.9501535892486572, 1.636921763420105], [1.0697776079177856, 0.1347266584634781, 1.4754630327224731, 0.5235298871994019, -0.4097229242324829]]> : tensor<5x5xf32>],
    test.out = [dense<[[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<5x5xf32>]
} {
  %0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<i32>, tensor<i32>)
  %t = stablehlo.abs %0#0 : tensor<5x5xf32>
  %m = stablehlo.constant dense<[[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0]]> : tensor<5x5xf32>
  %u = stablehlo.multiply %t, %m : tensor<5x5xf32>
  return %u : tensor<5x5xf32>
}

func.func @gees_cycle_product(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]> : tensor<4x4xf32>],
    test.tolerance = 0.000030
} {
  %0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>)
  %p = stablehlo.dot_general %0#1, %0#0, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = stablehlo.dot_general %p, %0#1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

func.func @gees_cycle_zeros(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>]
} {
  %0:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>)
  %t = stablehlo.abs %0#0 : tensor<4x4xf32>
  %m = stablehlo.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %u = stablehlo.multiply %t, %m : tensor<4x4xf32>
  return %u : tensor<4x4xf32>
}

func.func @gees_complex_product(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.tolerance = 0.000030
} {
  %z = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_cgees_ffi(%z) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<4x4xcomplex<f32>>) -> (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<i32>, tensor<i32>)
  %p = stablehlo.dot_general %0#1, %0#0, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %t = stablehlo.transpose %0#1, dims = [1, 0] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %h = chlo.conj %t : tensor<4x4xcomplex<f32>> -> tensor<4x4xcomplex<f32>>
  %r = stablehlo.dot_general %p, %h, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %re = stablehlo.real %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %im = stablehlo.imag %r : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %re, %im : tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @gees_complex_zeros(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>) attributes {
    test.in = [dense<[[0.1526574045419693, -0.6269165277481079, -0.5237310528755188, -0.5020129084587097], [1.949779987335205, 0.5310251116752625, 0.6972957253456116, -0.6801461577415466], [0.7196706533432007, -1.508110523223877, -1.7930830717086792, 1.4007654190063477], [-1.964416742324829, 1.9150702953338623, 1.3080121278762817, 1.1408438682556152]]> : tensor<4x4xf32>, dense<[[-1.8076660633087158, -1.1702429056167603, 1.3994625806808472, -0.2700207531452179], [0.5098717212677002, -1.5108704566955566, -1.2546547651290894, -0.010928348638117313], [1.0378663539886475, 0.15942882001399994, -1.5724797248840332, 1.4647443294525146], [-1.4413644075393677, -0.24136896431446075, 0.34739789366722107, -0.7234019637107849]]> : tensor<4x4xf32>],
    test.out = [dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>]
} {
  %z = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>
  %0:5 = stablehlo.custom_call @lapack_cgees_ffi(%z) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<4x4xcomplex<f32>>) -> (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<i32>, tensor<i32>)
  %t = stablehlo.abs %0#0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %m = stablehlo.constant dense<[[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]]> : tensor<4x4xf32>
  %u = stablehlo.multiply %t, %m : tensor<4x4xf32>
  return %u : tensor<4x4xf32>
}

func.func @sytrd_lower(%a: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<3xf32>) attributes {
    test.in = [dense<[[0.10527865588665009, -1.205665946006775, 0.2912805676460266, -0.7455018758773804], [1.125597357749939, 1.3100817203521729, 1.9751852750778198, 1.3398925065994263], [-1.762946605682373, 0.8973026871681213, 1.2327179908752441, 1.488968849182129], [-0.033311352133750916, -0.09635356068611145, 0.1232544556260109, -1.3802669048309326]]> : tensor<4x4xf32>],
    test.out = [dense<[0.10527865588665009, 0.4456315338611603, 1.6683943271636963, -0.9514930844306946]> : tensor<4xf32>, dense<[-2.0919034481048584, -0.36490747332572937, 1.1503300666809082]> : tensor<3xf32>],
    test.tolerance = 0.000010
} {
  %0:5 = stablehlo.custom_call @lapack_ssytrd_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i32>)
  return %0#1, %0#2 : tensor<4xf32>, tensor<3xf32>
}

func.func @sytrd_upper(%a: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<3xf32>) attributes {
    test.in = [dense<[[0.10527865588665009, -1.205665946006775, 0.2912805676460266, -0.7455018758773804], [1.125597357749939, 1.3100817203521729, 1.9751852750778198, 1.3398925065994263], [-1.762946605682373, 0.8973026871681213, 1.2327179908752441, 1.488968849182129], [-0.033311352133750916, -0.09635356068611145, 0.1232544556260109, -1.3802669048309326]]> : tensor<4x4xf32>],
    test.out = [dense<[0.6642392873764038, -1.2531006336212158, 3.2369396686553955, -1.3802669048309326]> : tensor<4xf32>, dense<[-0.3374669849872589, 0.8395333290100098, -2.137314558029175]> : tensor<3xf32>],
    test.tolerance = 0.000010
} {
  %0:5 = stablehlo.custom_call @lapack_ssytrd_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i32>)
  return %0#1, %0#2 : tensor<4xf32>, tensor<3xf32>
}
