// Cholesky, LU and QR factorizations, and what is solved with them.
// Written by cases_matrices.py.

func.func @potrf_lower(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>) attributes {
    test.in = [dense<[[9.19906234741211, -1.6204841136932373, 0.4961802661418915, -1.0548471212387085], [-1.6204841136932373, 12.438813209533691, -0.721148669719696, 0.694449245929718], [0.4961802661418915, -0.721148669719696, 6.834717750549316, -1.3409459590911865], [-1.0548471212387085, 0.694449245929718, -1.3409459590911865, 5.055810928344727]]> : tensor<4x4xf32>],
    test.out = [dense<[[3.0329957008361816, -1.6204841136932373, 0.4961802661418915, -1.0548471212387085], [-0.5342850089073181, 3.486166000366211, -0.721148669719696, 0.694449245929718], [0.16359412670135498, -0.1817878931760788, 2.602865219116211, -1.3409459590911865], [-0.34779050946235657, 0.14589953422546387, -0.48313167691230774, 2.163365364074707]]> : tensor<4x4xf32>, dense<0> : tensor<i32>]
} {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<i32>
}

func.func @potrf_upper(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>) attributes {
    test.in = [dense<[[9.19906234741211, -1.6204841136932373, 0.4961802661418915, -1.0548471212387085], [-1.6204841136932373, 12.438813209533691, -0.721148669719696, 0.694449245929718], [0.4961802661418915, -0.721148669719696, 6.834717750549316, -1.3409459590911865], [-1.0548471212387085, 0.694449245929718, -1.3409459590911865, 5.055810928344727]]> : tensor<4x4xf32>],
    test.out = [dense<[[3.0329957008361816, -0.5342850089073181, 0.16359412670135498, -0.34779050946235657], [-1.6204841136932373, 3.486166000366211, -0.1817878931760788, 0.14589953422546387], [0.4961802661418915, -0.721148669719696, 2.602865219116211, -0.48313167691230774], [-1.0548471212387085, 0.694449245929718, -1.3409459590911865, 2.163365364074707]]> : tensor<4x4xf32>, dense<0> : tensor<i32>]
} {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<i32>
}

func.func @potrf_fails(%a: tensor<4x4xf32>) -> (tensor<i32>) attributes {
    test.in = [dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 2.0]]> : tensor<4x4xf32>],
    test.out = [dense<3> : tensor<i32>]
} {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#1 : tensor<i32>
}

func.func @getrf(%a: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>) attributes {
    test.in = [dense<[[[1.9820011854171753, 1.1706476211547852, 0.4887169301509857], [1.9558405876159668, -1.1387652158737183, -1.359151840209961], [0.45015841722488403, -1.8242319822311401, -1.8572789430618286], [0.059555280953645706, -0.1351758986711502, 1.6686711311340332]], [[1.0, 2.0, -0.012506258673965931], [2.0, 4.0, -1.2303913831710815], [0.5, 1.0, -0.5218547582626343], [1.0, 2.0, -1.3821556568145752]]]> : tensor<2x4x3xf32>],
    test.out = [dense<[[[1.9820011854171753, 1.1706476211547852, 0.4887169301509857], [0.9868009090423584, -2.2939612865448, -1.8414181470870972], [0.030048055574297905, 0.07426087558269501, 1.790731430053711], [0.2271231859922409, 0.911137044429779, -0.16222062706947327]], [[2.0, 4.0, -1.2303913831710815], [0.5, 0.0, 0.6026894450187683], [0.5, 0.0, -0.7669599652290344], [0.25, 0.0, 0.2793586552143097]]]> : tensor<2x4x3xf32>, dense<[[1, 2, 4], [2, 2, 4]]> : tensor<2x3xi32>, dense<[0, 2]> : tensor<2xi32>]
} {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>
}

func.func @lu_decomposition(%a: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[[1.9820011854171753, 1.1706476211547852, 0.4887169301509857], [1.9558405876159668, -1.1387652158737183, -1.359151840209961], [0.45015841722488403, -1.8242319822311401, -1.8572789430618286], [0.059555280953645706, -0.1351758986711502, 1.6686711311340332]], [[1.0, 2.0, -0.012506258673965931], [2.0, 4.0, -1.2303913831710815], [0.5, 1.0, -0.5218547582626343], [1.0, 2.0, -1.3821556568145752]]]> : tensor<2x4x3xf32>],
    test.out = [dense<[[[1.9820011854171753, 1.1706476211547852, 0.4887169301509857], [0.9868009090423584, -2.2939612865448, -1.8414181470870972], [0.030048055574297905, 0.07426087558269501, 1.790731430053711], [0.2271231859922409, 0.911137044429779, -0.16222062706947327]], [[2.0, 4.0, -1.2303913831710815], [0.5, 0.0, 0.6026894450187683], [0.5, 0.0, -0.7669599652290344], [0.25, 0.0, 0.2793586552143097]]]> : tensor<2x4x3xf32>, dense<[[0, 1, 3], [1, 1, 3]]> : tensor<2x3xi32>, dense<[[0, 1, 3, 2], [1, 0, 3, 2]]> : tensor<2x4xi32>]
} {
  %0:3 = stablehlo.custom_call @LuDecomposition(%a) {mhlo.backend_config = {}} : (tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x4xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x4xi32>
}

func.func @pivots(%a: tensor<2x3xi32>) -> (tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 1, 3], [1, 1, 3]]> : tensor<2x3xi32>],
    test.out = [dense<[[0, 1, 3, 2], [1, 0, 3, 2]]> : tensor<2x4xi32>]
} {
  %0 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%a) {mhlo.backend_config = {}} : (tensor<2x3xi32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

func.func @geqrf_tall(%a: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>) attributes {
    test.in = [dense<[[-0.9296028017997742, 1.5213285684585571, 0.03916323930025101], [1.3886009454727173, 0.5588686466217041, 0.9670838117599487], [-1.6340175867080688, 0.16457527875900269, 0.031088944524526596], [1.4853575229644775, -0.5549437403678894, 0.3927362561225891], [-1.7629934549331665, -0.4494727849960327, -0.7078546285629272]]> : tensor<5x3xf32>],
    test.out = [dense<[[3.282806873321533, -0.2860287129878998, 0.9403490424156189], [-0.3296452760696411, -1.75557279586792, -0.5550047159194946], [0.38790568709373474, -0.184352844953537, -0.6330598592758179], [-0.35261470079421997, 0.028299152851104736, 0.03250991180539131], [0.41852375864982605, -0.4143643081188202, 0.1427251696586609]]> : tensor<5x3xf32>, dense<[1.2831732034683228, 1.6577086448669434, 1.9580442905426025]> : tensor<3xf32>]
} {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<5x3xf32>, tensor<3xf32>
}

func.func @geqrf_wide(%a: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>) attributes {
    test.in = [dense<[[-1.3992010354995728, 1.2653523683547974, -0.4822153151035309, 1.9149914979934692, 0.35996678471565247], [0.42022502422332764, 0.5519863367080688, 0.7058009505271912, -1.3968479633331299, -0.23874613642692566], [-1.0417441129684448, -0.39000681042671204, -1.613183617591858, 1.8713122606277466, -1.139983892440796]]> : tensor<3x5xf32>],
    test.out = [dense<[[1.794319748878479, -0.6310116052627563, 1.4779059886932373, -2.9068827629089355, 0.32523661851882935], [-0.13158674538135529, -1.2883070707321167, -1.0410162210464478, 0.7079082131385803, -0.7556658983230591], [0.3262055218219757, -0.48262840509414673, -0.255200058221817, -0.4111996293067932, -0.8996272683143616]]> : tensor<3x5xf32>, dense<[1.779794692993164, 1.6221518516540527, 0.0]> : tensor<3xf32>]
} {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<3x5xf32>, tensor<3xf32>
}

func.func @orgqr(%a: tensor<5x3xf32>, %b: tensor<3xf32>) -> (tensor<5x3xf32>) attributes {
    test.in = [dense<[[-2.4729981422424316, -1.1516531705856323, -0.127052903175354], [0.20533129572868347, 2.6904845237731934, -2.5990569591522217], [0.5632150769233704, -0.334389328956604, -1.6553969383239746], [-0.4487765431404114, 0.2529352605342865, 0.6779046058654785], [0.06623483449220657, 0.3071334660053253, 0.13794763386249542]]> : tensor<5x3xf32>, dense<[1.2778249979019165, 1.5746500492095947, 1.3526452779769897]> : tensor<3xf32>],
    test.out = [dense<[[-0.2778249979019165, -0.41564175486564636, -0.229994997382164], [-0.26237747073173523, -0.65999436378479, 0.22254568338394165], [-0.7196902632713318, 0.29245051741600037, -0.5723904371261597], [0.5734578371047974, -0.21175424754619598, -0.7455135583877563], [-0.08463652431964874, -0.5111576914787292, -0.11897224187850952]]> : tensor<5x3xf32>]
} {
  %0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %b) {mhlo.backend_config = {}} : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

func.func @trsm_right(%a: tensor<3x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) attributes {
    test.in = [dense<[[3.56628680229187, 0.0, 0.0], [-0.356178879737854, 1.9579569101333618, 0.0], [1.5048751831054688, -0.12907913327217102, 3.1905407905578613]]> : tensor<3x3xf32>, dense<[[-0.7113467454910278, 1.005299687385559, -1.8992124795913696], [-0.5112589001655579, -1.8785988092422485, -1.5084315538406372]]> : tensor<2x3xf32>],
    test.out = [dense<[[-0.19946426153182983, 0.47715795040130615, -0.4818783402442932], [-0.14335888624191284, -0.9855478405952454, -0.44503676891326904]]> : tensor<2x3xf32>]
} {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @gehrd(%a: tensor<4x4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) attributes {
    test.in = [dense<[[1.8685929775238037, 0.6310428977012634, -0.2871190011501312, 0.09496042877435684], [1.4912368059158325, -0.6231573224067688, 0.3611639440059662, 0.7347375154495239], [-0.5783448815345764, 0.07639394700527191, 1.060989499092102, 1.6367172002792358], [-1.395750880241394, 1.733677625656128, -1.9792845249176025, 1.0119099617004395]]> : tensor<4x4xf32>],
    test.out = [dense<3.3183350563049316> : tensor<f32>, dense<4.102438926696777> : tensor<f32>, dense<-2.9442923069000244> : tensor<f32>, dense<8.652514457702637> : tensor<f32>],
    test.tolerance = 0.000100
} {
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {high = 4 : i32, low = 1 : i32}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<3xf32>, tensor<i32>)
  %r = stablehlo.iota dim = 0 : tensor<4x4xi32>
  %c = stablehlo.iota dim = 1 : tensor<4x4xi32>
  %one = stablehlo.constant dense<1> : tensor<4x4xi32>
  %next = stablehlo.add %c, %one : tensor<4x4xi32>
  %upper = stablehlo.compare LE, %r, %next : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
  %zero = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %h = stablehlo.select %upper, %0#0, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %eye = stablehlo.compare EQ, %r, %c : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %p2 = stablehlo.dot_general %h, %h, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p3 = stablehlo.dot_general %p2, %h, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p4 = stablehlo.dot_general %p2, %p2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d1 = stablehlo.select %eye, %h, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %t1 = stablehlo.reduce(%d1 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %d2 = stablehlo.select %eye, %p2, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %t2 = stablehlo.reduce(%d2 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %d3 = stablehlo.select %eye, %p3, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %t3 = stablehlo.reduce(%d3 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %d4 = stablehlo.select %eye, %p4, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %t4 = stablehlo.reduce(%d4 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  return %t1, %t2, %t3, %t4 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

func.func @gehrd_one(%a: tensor<1x1xf32>) -> (tensor<1x1xf32>) attributes {
    test.in = [dense<[[1.5]]> : tensor<1x1xf32>],
    test.out = [dense<[[1.5]]> : tensor<1x1xf32>]
} {
  %0:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {high = 1 : i32, low = 1 : i32}} : (tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<0xf32>, tensor<i32>)
  return %0#0 : tensor<1x1xf32>
}

func.func @gtsv(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<2x4xf32>, %d: tensor<2x4x2xf32>) -> (tensor<2x4x2xf32>) attributes {
    test.in = [dense<[[0.0, -1.4529438018798828, -0.324385404586792, 1.261025071144104], [0.0, 0.5138477683067322, 1.1720945835113525, 0.05201433226466179]]> : tensor<2x4xf32>, dense<[[0.0, -1.0943061113357544, -1.2059154510498047, -0.5474922060966492], [-1.2823759317398071, -0.615754246711731, 1.7924962043762207, 0.2933308780193329]]> : tensor<2x4xf32>, dense<[[-0.6397277116775513, -0.9139015078544617, 1.8081579208374023, 0.0], [1.9215790033340454, 0.0620906762778759, 0.08466451615095139, 0.0]]> : tensor<2x4xf32>, dense<[[[0.9710696935653687, 0.3226114511489868], [-0.2934019863605499, 1.5127514600753784], [-0.3534153997898102, 1.6910382509231567], [-1.725138545036316, -0.2800125479698181]], [[0.07805927842855453, 1.8037527799606323], [-0.9960030317306519, 1.2241566181182861], [0.7058848142623901, 0.8683435916900635], [0.5184887051582336, 1.8862428665161133]]]> : tensor<2x4x2xf32>],
    test.out = [dense<[[[2.7362236976623535, -0.7894681692123413], [-1.517942190170288, -0.5042949318885803], [-2.2114899158477783, 0.2036920189857483], [-1.9426862001419067, 0.9806044101715088]], [[-13.079285621643066, 24.19763946533203], [-8.687908172607422, 17.087106704711914], [6.0418477058410645, -11.08521842956543], [0.696230947971344, 8.396092414855957]]]> : tensor<2x4x2xf32>],
    test.tolerance = 0.000100
} {
  %0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%a, %b, %c, %d) {mhlo.backend_config = {}} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x2xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x2xf32>, tensor<2xi32>)
  return %0#3 : tensor<2x4x2xf32>
}

func.func @tridiagonal_singular(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<2x3xf32>, %d: tensor<2x3x1xf32>) -> (tensor<2x3x1xf32>) attributes {
    test.in = [dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 0.0]]> : tensor<2x3xf32>, dense<[[4.0, 5.0, 6.0], [1.0, 1.0, 2.0]]> : tensor<2x3xf32>, dense<[[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]> : tensor<2x3xf32>, dense<[[[1.0], [2.0], [3.0]], [[1.0], [1.0], [2.0]]]> : tensor<2x3x1xf32>],
    test.out = [dense<[[[0.17924527823925018], [0.2830188572406769], [0.40566039085388184]], [[1.0], [0.0], [1.0]]]> : tensor<2x3x1xf32>]
} {
  %0 = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%a, %b, %c, %d) {mhlo.backend_config = {}} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  return %0 : tensor<2x3x1xf32>
}

func.func @geqp3(%a: tensor<4x3xf32>, %b: tensor<3xi32>) -> (tensor<4x3xf32>, tensor<3xi32>, tensor<3xf32>) attributes {
    test.in = [dense<[[-0.6692741513252258, -1.6275910139083862, -1.1883529424667358], [-1.7971837520599365, -4.59346866607666, 1.6618576049804688], [1.3606752157211304, -6.201508045196533, 0.4151161015033722], [-0.08321402221918106, 1.5149579048156738, 0.6371000409126282]]> : tensor<4x3xf32>, dense<[0, 0, 0]> : tensor<3xi32>],
    test.out = [dense<[[8.031363487243652, 0.0971575677394867, -0.9100202918052673], [0.4755657911300659, 2.3508975505828857, -0.6768018007278442], [0.6420475244522095, -0.4896829426288605, -1.8617125749588013], [-0.15684491395950317, 0.05376502126455307, 0.12565378844738007]]> : tensor<4x3xf32>, dense<[2, 1, 3]> : tensor<3xi32>, dense<[1.2026543617248535, 1.6094247102737427, 1.9689130783081055]> : tensor<3xf32>]
} {
  %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %b) {mhlo.backend_config = {}} : (tensor<4x3xf32>, tensor<3xi32>) -> (tensor<4x3xf32>, tensor<3xi32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x3xf32>, tensor<3xi32>, tensor<3xf32>
}

func.func @geqp3_wanted(%a: tensor<4x3xf32>, %b: tensor<3xi32>) -> (tensor<4x3xf32>, tensor<3xi32>, tensor<3xf32>) attributes {
    test.in = [dense<[[-0.6692741513252258, -1.6275910139083862, -1.1883529424667358], [-1.7971837520599365, -4.59346866607666, 1.6618576049804688], [1.3606752157211304, -6.201508045196533, 0.4151161015033722], [-0.08321402221918106, 1.5149579048156738, 0.6371000409126282]]> : tensor<4x3xf32>, dense<[0, 0, 1]> : tensor<3xi32>],
    test.out = [dense<[[2.1799476146698, -3.3526973724365234, -0.7704346179962158], [-0.49338164925575256, 7.298097610473633, -0.2470131814479828], [-0.12324200570583344, 0.5424519181251526, -2.209428310394287], [-0.18914584815502167, -0.16677381098270416, -0.07148683816194534]]> : tensor<4x3xf32>, dense<[3, 2, 1]> : tensor<3xi32>, dense<[1.5451291799545288, 1.5127819776535034, 1.9898312091827393]> : tensor<3xf32>]
} {
  %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %b) {mhlo.backend_config = {}} : (tensor<4x3xf32>, tensor<3xi32>) -> (tensor<4x3xf32>, tensor<3xi32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x3xf32>, tensor<3xi32>, tensor<3xf32>
}
