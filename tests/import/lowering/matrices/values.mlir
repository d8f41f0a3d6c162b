// Eigenvalues of symmetric matrices and singular values: Jacobi's method.
// Written by cases_matrices.py.

func.func @syevd(%a: tensor<5x5xf32>) -> (tensor<5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) attributes {
    test.in = [dense<[[0.3053148090839386, -0.09589141607284546, -2.3168141841888428, 0.6388309597969055, 2.4596517086029053], [-0.09589141607284546, 1.3945914506912231, 0.720619261264801, -1.0879954099655151, -3.0189809799194336], [-2.3168141841888428, 0.720619261264801, -3.928833484649658, 0.744827389717102, 0.05335736274719238], [0.6388309597969055, -1.0879954099655151, 0.744827389717102, 2.7989251613616943, -0.28094911575317383], [2.4596517086029053, -3.0189809799194336, 0.05335736274719238, -0.28094911575317383, 2.075732707977295]]> : tensor<5x5xf32>],
    test.out = [dense<[-5.49639368057251, -1.600618600845337, 0.9469766020774841, 3.011897087097168, 5.78386926651001]> : tensor<5xf32>, dense<[[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<5x5xf32>, dense<[[0.3053148090839386, -0.09589141607284546, -2.3168141841888428, 0.6388309597969055, 2.4596517086029053], [-0.09589141607284546, 1.3945914506912231, 0.720619261264801, -1.0879954099655151, -3.0189809799194336], [-2.3168141841888428, 0.720619261264801, -3.928833484649658, 0.744827389717102, 0.05335736274719238], [0.6388309597969055, -1.0879954099655151, 0.744827389717102, 2.7989251613616943, -0.28094911575317383], [2.4596517086029053, -3.0189809799194336, 0.05335736274719238, -0.28094911575317383, 2.075732707977295]]> : tensor<5x5xf32>]
} {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#0, %0#0, contracting_dims = [0] x [0] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %vsw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<5xf32>) -> tensor<5x5xf32>
  %vs = stablehlo.multiply %0#0, %vsw : tensor<5x5xf32>
  %3 = stablehlo.dot_general %vs, %0#0, contracting_dims = [1] x [1] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  return %0#1, %1, %3 : tensor<5xf32>, tensor<5x5xf32>, tensor<5x5xf32>
}

func.func @syevd_even(%a: tensor<4x4xf64>) -> (tensor<4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) attributes {
    test.in = [dense<[[10.72111703858289, -1.17190103295856, -1.9473813715324113, -2.3517730189816457], [-1.17190103295856, 4.809696631655646, -1.167777298361095, 1.4110552502489526], [-1.9473813715324113, -1.167777298361095, 9.995926866430054, -3.178364492535927], [-2.3517730189816457, 1.4110552502489526, -3.178364492535927, 8.167285179373415]]> : tensor<4x4xf64>],
    test.out = [dense<[4.130805185415718, 4.408670510295054, 12.322774358417446, 12.83177566191378]> : tensor<4xf64>, dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf64>, dense<[[10.72111703858289, -1.17190103295856, -1.9473813715324113, -2.3517730189816457], [-1.17190103295856, 4.809696631655646, -1.167777298361095, 1.4110552502489526], [-1.9473813715324113, -1.167777298361095, 9.995926866430054, -3.178364492535927], [-2.3517730189816457, 1.4110552502489526, -3.178364492535927, 8.167285179373415]]> : tensor<4x4xf64>],
    test.tolerance = 0.000000001000
} {
  %0:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>, tensor<i32>)
  %1 = stablehlo.dot_general %0#0, %0#0, contracting_dims = [0] x [0] : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %vsw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<4xf64>) -> tensor<4x4xf64>
  %vs = stablehlo.multiply %0#0, %vsw : tensor<4x4xf64>
  %3 = stablehlo.dot_general %vs, %0#0, contracting_dims = [1] x [1] : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0#1, %1, %3 : tensor<4xf64>, tensor<4x4xf64>, tensor<4x4xf64>
}

func.func @syevd_repeated(%a: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) attributes {
    test.in = [dense<[[-0.7621473073959351, 1.408385157585144, 0.39418286085128784, 1.102473497390747], [1.408385157585144, 0.17798644304275513, 0.10311540961265564, 0.3983858525753021], [0.39418286085128784, 0.10311540961265564, 1.859971046447754, -0.42194071412086487], [1.102473497390747, 0.3983858525753021, -0.42194071412086487, 0.724189817905426]]> : tensor<4x4xf32>],
    test.out = [dense<[-2.0, 3.060931064169381e-08, 2.0, 2.0]> : tensor<4xf32>, dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>, dense<[[-0.7621473073959351, 1.408385157585144, 0.39418286085128784, 1.102473497390747], [1.408385157585144, 0.17798644304275513, 0.10311540961265564, 0.3983858525753021], [0.39418286085128784, 0.10311540961265564, 1.859971046447754, -0.42194071412086487], [1.102473497390747, 0.3983858525753021, -0.42194071412086487, 0.724189817905426]]> : tensor<4x4xf32>]
} {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#0, %0#0, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %vsw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %vs = stablehlo.multiply %0#0, %vsw : tensor<4x4xf32>
  %3 = stablehlo.dot_general %vs, %0#0, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0#1, %1, %3 : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @syevd_zero(%a: tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) attributes {
    test.in = [dense<[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>],
    test.out = [dense<[0.0, 0.0, 0.0]> : tensor<3xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>]
} {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#0, %0#0, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %vsw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<3xf32>) -> tensor<3x3xf32>
  %vs = stablehlo.multiply %0#0, %vsw : tensor<3x3xf32>
  %3 = stablehlo.dot_general %vs, %0#0, contracting_dims = [1] x [1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0#1, %1, %3 : tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}

func.func @syevd_one(%a: tensor<1x1xf32>) -> (tensor<1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) attributes {
    test.in = [dense<[[-3.0]]> : tensor<1x1xf32>],
    test.out = [dense<[-3.0]> : tensor<1xf32>, dense<[[1.0]]> : tensor<1x1xf32>, dense<[[-3.0]]> : tensor<1x1xf32>]
} {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#0, %0#0, contracting_dims = [0] x [0] : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %vsw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<1xf32>) -> tensor<1x1xf32>
  %vs = stablehlo.multiply %0#0, %vsw : tensor<1x1xf32>
  %3 = stablehlo.dot_general %vs, %0#0, contracting_dims = [1] x [1] : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0#1, %1, %3 : tensor<1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}

func.func @eigh_lower(%a: tensor<3x3xf32>) -> (tensor<3xf32>) attributes {
    test.in = [dense<[[-1.6327635049819946, 9.0, 9.0], [-0.3266286849975586, 0.170935720205307, 9.0], [0.5250534415245056, 0.6160002946853638, 0.368886262178421]]> : tensor<3x3xf32>],
    test.out = [dense<[-1.873879313468933, -0.12842626869678497, 0.9093641042709351]> : tensor<3xf32>]
} {
  %0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "1,1,100,1e-6"} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

func.func @gesdd_tall(%a: tensor<5x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<5x3xf32>) attributes {
    test.in = [dense<[[-1.156685471534729, -0.20136356353759766, 1.9501535892486572], [1.636921763420105, 1.0697776079177856, 0.1347266584634781], [1.4754630327224731, 0.5235298871994019, -0.4097229242324829], [0.10527865588665009, -1.205665946006775, 0.2912805676460266], [-0.7455018758773804, 1.125597357749939, 1.3100817203521729]]> : tensor<5x3xf32>],
    test.out = [dense<[3.169605016708374, 2.2663533687591553, 1.244373083114624]> : tensor<3xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[-1.156685471534729, -0.20136356353759766, 1.9501535892486572], [1.636921763420105, 1.0697776079177856, 0.1347266584634781], [1.4754630327224731, 0.5235298871994019, -0.4097229242324829], [0.10527865588665009, -1.205665946006775, 0.2912805676460266], [-0.7455018758773804, 1.125597357749939, 1.3100817203521729]]> : tensor<5x3xf32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<5x3xf32>, tensor<3x3xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#2, %0#2, contracting_dims = [0] x [0] : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.dot_general %0#3, %0#3, contracting_dims = [1] x [1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %u = stablehlo.slice %0#2 [0:5, 0:3] : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %v = stablehlo.slice %0#3 [0:3, 0:3] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %usw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<3xf32>) -> tensor<5x3xf32>
  %us = stablehlo.multiply %u, %usw : tensor<5x3xf32>
  %3 = stablehlo.dot_general %us, %v, contracting_dims = [1] x [0] : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  return %0#1, %1, %2, %3 : tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<5x3xf32>
}

func.func @gesdd_full(%a: tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<5x3xf32>) attributes {
    test.in = [dense<[[1.9751852750778198, 1.3398925065994263, -1.762946605682373], [0.8973026871681213, 1.2327179908752441, 1.488968849182129], [-0.033311352133750916, -0.09635356068611145, 0.1232544556260109], [-1.3802669048309326, 1.8278214931488037, 1.9480171203613281], [-0.9480676054954529, 1.8293445110321045, -1.1671276092529297]]> : tensor<5x3xf32>],
    test.out = [dense<[3.6516740322113037, 3.1148934364318848, 2.2322821617126465]> : tensor<3xf32>, dense<[[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<5x5xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[1.9751852750778198, 1.3398925065994263, -1.762946605682373], [0.8973026871681213, 1.2327179908752441, 1.488968849182129], [-0.033311352133750916, -0.09635356068611145, 0.1232544556260109], [-1.3802669048309326, 1.8278214931488037, 1.9480171203613281], [-0.9480676054954529, 1.8293445110321045, -1.1671276092529297]]> : tensor<5x3xf32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#2, %0#2, contracting_dims = [0] x [0] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %2 = stablehlo.dot_general %0#3, %0#3, contracting_dims = [1] x [1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %u = stablehlo.slice %0#2 [0:5, 0:3] : (tensor<5x5xf32>) -> tensor<5x3xf32>
  %v = stablehlo.slice %0#3 [0:3, 0:3] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %usw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<3xf32>) -> tensor<5x3xf32>
  %us = stablehlo.multiply %u, %usw : tensor<5x3xf32>
  %3 = stablehlo.dot_general %us, %v, contracting_dims = [1] x [0] : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  return %0#1, %1, %2, %3 : tensor<3xf32>, tensor<5x5xf32>, tensor<3x3xf32>, tensor<5x3xf32>
}

func.func @gesdd_wide(%a: tensor<2x5xf64>) -> (tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x5xf64>) attributes {
    test.in = [dense<[[-1.661025099183115, 0.9289190050243477, 1.2656245836707716, -1.201085855220804, 1.8150293926589942], [-0.4010693126470475, -1.2565276131714511, -0.7977021319672342, -1.5487555854968766, 1.087283661336425]]> : tensor<2x5xf64>],
    test.out = [dense<[3.320443676147051, 2.2118249834780426]> : tensor<2xf64>, dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>, dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>, dense<[[-1.661025099183115, 0.9289190050243477, 1.2656245836707716, -1.201085855220804, 1.8150293926589942], [-0.4010693126470475, -1.2565276131714511, -0.7977021319672342, -1.5487555854968766, 1.087283661336425]]> : tensor<2x5xf64>],
    test.tolerance = 0.000000001000
} {
  %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<2x5xf64>) -> (tensor<2x5xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x5xf64>, tensor<i32>)
  %1 = stablehlo.dot_general %0#2, %0#2, contracting_dims = [0] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %2 = stablehlo.dot_general %0#3, %0#3, contracting_dims = [1] x [1] : (tensor<2x5xf64>, tensor<2x5xf64>) -> tensor<2x2xf64>
  %u = stablehlo.slice %0#2 [0:2, 0:2] : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %v = stablehlo.slice %0#3 [0:2, 0:5] : (tensor<2x5xf64>) -> tensor<2x5xf64>
  %usw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
  %us = stablehlo.multiply %u, %usw : tensor<2x2xf64>
  %3 = stablehlo.dot_general %us, %v, contracting_dims = [1] x [0] : (tensor<2x2xf64>, tensor<2x5xf64>) -> tensor<2x5xf64>
  return %0#1, %1, %2, %3 : tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x5xf64>
}

func.func @gesdd_wide_full(%a: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<2x4xf32>) attributes {
    test.in = [dense<[[-0.8587486743927002, 0.7731843590736389, -0.15638363361358643, -1.5001078844070435], [0.3489817976951599, 1.8687018156051636, -1.260517954826355, 1.8502981662750244]]> : tensor<2x4xf32>],
    test.out = [dense<[3.0011701583862305, 1.797042965888977]> : tensor<2xf32>, dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>, dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>, dense<[[-0.8587486743927002, 0.7731843590736389, -0.15638363361358643, -1.5001078844070435], [0.3489817976951599, 1.8687018156051636, -1.260517954826355, 1.8502981662750244]]> : tensor<2x4xf32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#2, %0#2, contracting_dims = [0] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.dot_general %0#3, %0#3, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = stablehlo.slice %0#2 [0:2, 0:2] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %v = stablehlo.slice %0#3 [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %usw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
  %us = stablehlo.multiply %u, %usw : tensor<2x2xf32>
  %3 = stablehlo.dot_general %us, %v, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0#1, %1, %2, %3 : tensor<2xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<2x4xf32>
}

func.func @gesdd_rank(%a: tensor<4x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<4x3xf32>) attributes {
    test.in = [dense<[[-0.30425599217414856, -2.271545648574829, -1.268027901649475], [0.06088435649871826, 0.4545566737651825, 0.2537437677383423], [-0.2600376009941101, -1.941415548324585, -1.0837417840957642], [0.3951055407524109, 2.949819564819336, 1.6466556787490845]]> : tensor<4x3xf32>],
    test.out = [dense<[4.869838714599609, 5.63641293638284e-08, 3.449411201117414e-09]> : tensor<3xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[-0.30425599217414856, -2.271545648574829, -1.268027901649475], [0.06088435649871826, 0.4545566737651825, 0.2537437677383423], [-0.2600376009941101, -1.941415548324585, -1.0837417840957642], [0.3951055407524109, 2.949819564819336, 1.6466556787490845]]> : tensor<4x3xf32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#2, %0#2, contracting_dims = [0] x [0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.dot_general %0#3, %0#3, contracting_dims = [1] x [1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %u = stablehlo.slice %0#2 [0:4, 0:3] : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %v = stablehlo.slice %0#3 [0:3, 0:3] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %usw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %us = stablehlo.multiply %u, %usw : tensor<4x3xf32>
  %3 = stablehlo.dot_general %us, %v, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  return %0#1, %1, %2, %3 : tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<4x3xf32>
}

func.func @gesdd_zero(%a: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x3xf32>, tensor<2x2xf32>, tensor<3x2xf32>) attributes {
    test.in = [dense<[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]> : tensor<3x2xf32>],
    test.out = [dense<[0.0, 0.0]> : tensor<2xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>, dense<[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]> : tensor<3x2xf32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<3x3xf32>, tensor<2x2xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#2, %0#2, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.dot_general %0#3, %0#3, contracting_dims = [1] x [1] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %u = stablehlo.slice %0#2 [0:3, 0:2] : (tensor<3x3xf32>) -> tensor<3x2xf32>
  %v = stablehlo.slice %0#3 [0:2, 0:2] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %usw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
  %us = stablehlo.multiply %u, %usw : tensor<3x2xf32>
  %3 = stablehlo.dot_general %us, %v, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %0#1, %1, %2, %3 : tensor<2xf32>, tensor<3x3xf32>, tensor<2x2xf32>, tensor<3x2xf32>
}

func.func @gesdd_small(%a: tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) attributes {
    test.in = [dense<[[-2.0575173681058545e-31, -9.615505233511605e-31, 1.4884179999772854e-30], [1.5410976382500641e-30, 1.1361338158607098e-30, 1.2274664355354193e-30], [-1.8330517847400653e-30, -1.123908674612158e-30, 2.1815313168209954e-31]]> : tensor<3x3xf32>],
    test.out = [dense<[2.9863279757781386e-30, 1.9753528050314004e-30, 4.532377548550251e-31]> : tensor<3xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>, dense<[[-2.0575173681058545e-31, -9.615505233511605e-31, 1.4884179999772854e-30], [1.5410976382500641e-30, 1.1361338158607098e-30, 1.2274664355354193e-30], [-1.8330517847400653e-30, -1.123908674612158e-30, 2.1815313168209954e-31]]> : tensor<3x3xf32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<i32>)
  %1 = stablehlo.dot_general %0#2, %0#2, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.dot_general %0#3, %0#3, contracting_dims = [1] x [1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %u = stablehlo.slice %0#2 [0:3, 0:3] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %v = stablehlo.slice %0#3 [0:3, 0:3] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %usw = stablehlo.broadcast_in_dim %0#1, dims = [1] : (tensor<3xf32>) -> tensor<3x3xf32>
  %us = stablehlo.multiply %u, %usw : tensor<3x3xf32>
  %3 = stablehlo.dot_general %us, %v, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0#1, %1, %2, %3 : tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}

func.func @gesdd_batch(%a: tensor<2x3x2xf32>) -> (tensor<2x2xf32>) attributes {
    test.in = [dense<[[[-1.6857526302337646, 0.3609931766986847], [1.7890201807022095, -0.584831953048706], [0.7615035772323608, -1.1924141645431519]], [[1.1858875751495361, 1.5857679843902588], [1.2609386444091797, -0.23702241480350494], [-0.6070184707641602, -1.6650097370147705]]]> : tensor<2x3x2xf32>],
    test.out = [dense<[[2.7829625606536865, 0.8783842325210571], [2.6699442863464355, 1.256686806678772]]> : tensor<2x2xf32>]
} {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<2x3x2xf32>) -> (tensor<2x3x2xf32>, tensor<2x2xf32>, tensor<2x3x3xf32>, tensor<2x2x2xf32>, tensor<2xi32>)
  return %0#1 : tensor<2x2xf32>
}
