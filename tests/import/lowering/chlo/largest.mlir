// top_k of every type, and calls that are one.
// Written by cases_chlo.py.

func.func @top_k_i8(%a: tensor<2x6xi8>) -> (tensor<2x4xi8>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 127, -128, 63, 1, 5], [7, 7, 126, 3, 127, 0]]> : tensor<2x6xi8>],
    test.out = [dense<[[127, 63, 5, 1], [127, 126, 7, 7]]> : tensor<2x4xi8>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xi8> -> (tensor<2x4xi8>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xi8>, tensor<2x4xi32>
}

func.func @top_k_ui8(%a: tensor<2x6xui8>) -> (tensor<2x4xui8>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 255, 0, 127, 1, 5], [7, 7, 254, 3, 255, 0]]> : tensor<2x6xui8>],
    test.out = [dense<[[255, 127, 5, 1], [255, 254, 7, 7]]> : tensor<2x4xui8>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xui8> -> (tensor<2x4xui8>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xui8>, tensor<2x4xi32>
}

func.func @top_k_i16(%a: tensor<2x6xi16>) -> (tensor<2x4xi16>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 32767, -32768, 16383, 1, 5], [7, 7, 32766, 3, 32767, 0]]> : tensor<2x6xi16>],
    test.out = [dense<[[32767, 16383, 5, 1], [32767, 32766, 7, 7]]> : tensor<2x4xi16>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xi16> -> (tensor<2x4xi16>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xi16>, tensor<2x4xi32>
}

func.func @top_k_ui16(%a: tensor<2x6xui16>) -> (tensor<2x4xui16>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 65535, 0, 32767, 1, 5], [7, 7, 65534, 3, 65535, 0]]> : tensor<2x6xui16>],
    test.out = [dense<[[65535, 32767, 5, 1], [65535, 65534, 7, 7]]> : tensor<2x4xui16>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xui16> -> (tensor<2x4xui16>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xui16>, tensor<2x4xi32>
}

func.func @top_k_i32(%a: tensor<2x6xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 2147483647, -2147483648, 1073741823, 1, 5], [7, 7, 2147483646, 3, 2147483647, 0]]> : tensor<2x6xi32>],
    test.out = [dense<[[2147483647, 1073741823, 5, 1], [2147483647, 2147483646, 7, 7]]> : tensor<2x4xi32>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xi32> -> (tensor<2x4xi32>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xi32>, tensor<2x4xi32>
}

func.func @top_k_ui32(%a: tensor<2x6xui32>) -> (tensor<2x4xui32>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 4294967295, 0, 2147483647, 1, 5], [7, 7, 4294967294, 3, 4294967295, 0]]> : tensor<2x6xui32>],
    test.out = [dense<[[4294967295, 2147483647, 5, 1], [4294967295, 4294967294, 7, 7]]> : tensor<2x4xui32>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xui32> -> (tensor<2x4xui32>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xui32>, tensor<2x4xi32>
}

func.func @top_k_i64(%a: tensor<2x6xi64>) -> (tensor<2x4xi64>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 9223372036854775807, -9223372036854775808, 4611686018427387903, 1, 5], [7, 7, 9223372036854775806, 3, 9223372036854775807, 0]]> : tensor<2x6xi64>],
    test.out = [dense<[[9223372036854775807, 4611686018427387903, 5, 1], [9223372036854775807, 9223372036854775806, 7, 7]]> : tensor<2x4xi64>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xi64> -> (tensor<2x4xi64>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xi64>, tensor<2x4xi32>
}

func.func @top_k_ui64(%a: tensor<2x6xui64>) -> (tensor<2x4xui64>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0, 18446744073709551615, 0, 9223372036854775807, 1, 5], [7, 7, 18446744073709551614, 3, 18446744073709551615, 0]]> : tensor<2x6xui64>],
    test.out = [dense<[[18446744073709551615, 9223372036854775807, 5, 1], [18446744073709551615, 18446744073709551614, 7, 7]]> : tensor<2x4xui64>, dense<[[1, 3, 5, 4], [4, 2, 0, 1]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xui64> -> (tensor<2x4xui64>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xui64>, tensor<2x4xi32>
}

func.func @top_k_f16(%a: tensor<2x6xf16>) -> (tensor<2x4xf16>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[0.50048828125, 1.5888671875, 1.1025390625, -1.099609375, -0.79931640625, 1.494140625], [-1.978515625, 1.28515625, 1.1884765625, -0.1282958984375, -0.7880859375, -0.88623046875]]> : tensor<2x6xf16>],
    test.out = [dense<[[1.5888671875, 1.494140625, 1.1025390625, 0.50048828125], [1.28515625, 1.1884765625, -0.1282958984375, -0.7880859375]]> : tensor<2x4xf16>, dense<[[1, 5, 2, 0], [1, 2, 3, 4]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xf16> -> (tensor<2x4xf16>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xf16>, tensor<2x4xi32>
}

func.func @top_k_f32(%a: tensor<2x6xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[-0.9805216789245605, -0.21969477832317352, 0.018193036317825317, 0.21398940682411194, 1.9820011854171753, 1.1706476211547852], [0.4887169301509857, 1.9558405876159668, -1.1387652158737183, -1.359151840209961, 0.45015841722488403, -1.8242319822311401]]> : tensor<2x6xf32>],
    test.out = [dense<[[1.9820011854171753, 1.1706476211547852, 0.21398940682411194, 0.018193036317825317], [1.9558405876159668, 0.4887169301509857, 0.45015841722488403, -1.1387652158737183]]> : tensor<2x4xf32>, dense<[[4, 5, 3, 2], [1, 0, 4, 2]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xf32> -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x4xi32>
}

func.func @top_k_f64(%a: tensor<2x6xf64>) -> (tensor<2x4xf64>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[-1.8572789430618286, 0.059555280953645706, -0.1351758986711502, 1.6686711311340332, 0.5169050097465515, 0.056470587849617004], [-0.012506258673965931, -1.009940266609192, -1.9528238773345947, -1.2303913831710815, 0.7681284546852112, -1.1975730657577515]]> : tensor<2x6xf64>],
    test.out = [dense<[[1.6686711311340332, 0.5169050097465515, 0.059555280953645706, 0.056470587849617004], [0.7681284546852112, -0.012506258673965931, -1.009940266609192, -1.1975730657577515]]> : tensor<2x4xf64>, dense<[[3, 4, 1, 5], [4, 0, 1, 5]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xf64> -> (tensor<2x4xf64>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xf64>, tensor<2x4xi32>
}

func.func @top_k_i1(%a: tensor<2x6xi1>) -> (tensor<2x4xi1>, tensor<2x4xi32>) attributes {
    test.in = [dense<[[true, false, false, false, true, true], [true, false, true, false, true, true]]> : tensor<2x6xi1>],
    test.out = [dense<[[true, true, true, false], [true, true, true, true]]> : tensor<2x4xi1>, dense<[[0, 4, 5, 1], [0, 2, 4, 5]]> : tensor<2x4xi32>]
} {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x6xi1> -> (tensor<2x4xi1>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xi1>, tensor<2x4xi32>
}

func.func @sort_i1_ascending(%a: tensor<5xi1>) -> (tensor<5xi1>, tensor<5xi32>) attributes {
    test.in = [dense<[true, false, true, false, false]> : tensor<5xi1>],
    test.out = [dense<[false, false, false, true, true]> : tensor<5xi1>, dense<[1, 3, 4, 0, 2]> : tensor<5xi32>]
} {
  %i = stablehlo.iota dim = 0 : tensor<5xi32>
  %0:2 = "stablehlo.sort"(%a, %i) ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>, %p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<i1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<5xi1>, tensor<5xi32>) -> (tensor<5xi1>, tensor<5xi32>)
  return %0#0, %0#1 : tensor<5xi1>, tensor<5xi32>
}

func.func @sort_i1_descending(%a: tensor<5xi1>) -> (tensor<5xi1>, tensor<5xi32>) attributes {
    test.in = [dense<[true, false, true, false, false]> : tensor<5xi1>],
    test.out = [dense<[true, true, false, false, false]> : tensor<5xi1>, dense<[0, 2, 1, 3, 4]> : tensor<5xi32>]
} {
  %i = stablehlo.iota dim = 0 : tensor<5xi32>
  %0:2 = "stablehlo.sort"(%a, %i) ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>, %p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.compare GT, %x, %y : (tensor<i1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<5xi1>, tensor<5xi32>) -> (tensor<5xi1>, tensor<5xi32>)
  return %0#0, %0#1 : tensor<5xi1>, tensor<5xi32>
}

func.func @called(%a: tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) attributes {
    test.in = [dense<[[0.03916323930025101, 1.3886009454727173, 0.5588686466217041, 0.9670838117599487, -1.6340175867080688], [0.16457527875900269, 0.031088944524526596, 1.4853575229644775, -0.5549437403678894, 0.3927362561225891]]> : tensor<2x5xf32>],
    test.out = [dense<[[1.3886009454727173, 0.9670838117599487], [1.4853575229644775, 0.3927362561225891]]> : tensor<2x2xf32>, dense<[[1, 3], [2, 4]]> : tensor<2x2xi32>]
} {
  %0:2 = stablehlo.custom_call @TopK(%a) {called_computations = [@unused]} : (tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
}

func.func @approximate(%a: tensor<2x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xi32>) attributes {
    test.in = [dense<[[0.03916323930025101, 1.3886009454727173, 0.5588686466217041, 0.9670838117599487, -1.6340175867080688], [0.16457527875900269, 0.031088944524526596, 1.4853575229644775, -0.5549437403678894, 0.3927362561225891]]> : tensor<2x5xf32>],
    test.out = [dense<[[0.03916323930025101, 0.031088944524526596, 0.5588686466217041, -0.5549437403678894, -1.6340175867080688]]> : tensor<1x5xf32>, dense<[[0, 1, 0, 1, 0]]> : tensor<1x5xi32>]
} {
  %i = stablehlo.iota dim = 0 : tensor<2x5xi32>
  %f = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %m = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %f, %m) {called_computations = [@smaller], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 1 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<1x5xf32>, tensor<1x5xi32>)
  return %0#0, %0#1 : tensor<1x5xf32>, tensor<1x5xi32>
}
func.func private @smaller(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

func.func @approximate_more(%a: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) attributes {
    test.in = [dense<[[0.03916323930025101, 1.3886009454727173, 0.5588686466217041, 0.9670838117599487, -1.6340175867080688], [0.16457527875900269, 0.031088944524526596, 1.4853575229644775, -0.5549437403678894, 0.3927362561225891]]> : tensor<2x5xf32>],
    test.out = [dense<[[-1.6340175867080688, 0.03916323930025101, 0.5588686466217041], [-0.5549437403678894, 0.031088944524526596, 0.16457527875900269]]> : tensor<2x3xf32>, dense<[[4, 0, 2], [3, 1, 0]]> : tensor<2x3xi32>]
} {
  %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %f = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %m = stablehlo.constant dense<-1> : tensor<i32>
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %f, %m) {called_computations = [@smaller], mhlo.backend_config = {aggregate_to_topk = false, recall_target = 0.95 : f32, reduction_dim = 1 : i64, top_k = 1 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

func.func @approximate_open(%a: tensor<2x5xf32>) -> (tensor<2x?xf32>, tensor<2x?xi32>) attributes {
    test.in = [dense<[[0.03916323930025101, 1.3886009454727173, 0.5588686466217041, 0.9670838117599487, -1.6340175867080688], [0.16457527875900269, 0.031088944524526596, 1.4853575229644775, -0.5549437403678894, 0.3927362561225891]]> : tensor<2x5xf32>],
    test.out = [dense<[[-1.6340175867080688, 0.03916323930025101, 0.5588686466217041], [-0.5549437403678894, 0.031088944524526596, 0.16457527875900269]]> : tensor<2x3xf32>, dense<[[4, 0, 2], [3, 1, 0]]> : tensor<2x3xi32>]
} {
  %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %f = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %m = stablehlo.constant dense<-1> : tensor<i32>
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %f, %m, %s, %s) {called_computations = [@smaller], indices_of_shape_operands = dense<[4, 5]> : tensor<2xi64>, mhlo.backend_config = {aggregate_to_topk = false, recall_target = 0.95 : f32, reduction_dim = 1 : i64, top_k = 1 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x?xf32>, tensor<2x?xi32>)
  return %0#0, %0#1 : tensor<2x?xf32>, tensor<2x?xi32>
}

func.func @sink(%a: tensor<2x5xf32>) -> (tensor<2x5xf32>) attributes {
    test.in = [dense<[[0.03916323930025101, 1.3886009454727173, 0.5588686466217041, 0.9670838117599487, -1.6340175867080688], [0.16457527875900269, 0.031088944524526596, 1.4853575229644775, -0.5549437403678894, 0.3927362561225891]]> : tensor<2x5xf32>],
    test.out = [dense<[[0.03916323930025101, 1.3886009454727173, 0.5588686466217041, 0.9670838117599487, -1.6340175867080688], [0.16457527875900269, 0.031088944524526596, 1.4853575229644775, -0.5549437403678894, 0.3927362561225891]]> : tensor<2x5xf32>]
} {
  %0 = stablehlo.add %a, %a : tensor<2x5xf32>
  stablehlo.custom_call @dce_sink(%0) {api_version = 4 : i32, has_side_effect = true} : (tensor<2x5xf32>) -> ()
  return %a : tensor<2x5xf32>
}

func.func @select_from_the_end(%a: tensor<2x3x4xf32>, %b: tensor<2x2xi32>) -> (tensor<2x2x4xf32>) attributes {
    test.in = [dense<[[[-1.7629934549331665, -0.4494727849960327, -0.7078546285629272, -1.3992010354995728], [1.2653523683547974, -0.4822153151035309, 1.9149914979934692, 0.35996678471565247], [0.42022502422332764, 0.5519863367080688, 0.7058009505271912, -1.3968479633331299]], [[-0.23874613642692566, -1.0417441129684448, -0.39000681042671204, -1.613183617591858], [1.8713122606277466, -1.139983892440796, 0.6870606541633606, -0.7983196973800659], [1.4963080883026123, 0.6488589644432068, -1.473536729812622, 1.380297303199768]]]> : tensor<2x3x4xf32>, dense<[[1, 0], [2, 2]]> : tensor<2x2xi32>],
    test.out = [dense<[[[1.2653523683547974, -0.4822153151035309, 1.9149914979934692, 0.35996678471565247], [-1.7629934549331665, -0.4494727849960327, -0.7078546285629272, -1.3992010354995728]], [[1.4963080883026123, 0.6488589644432068, -1.473536729812622, 1.380297303199768], [1.4963080883026123, 0.6488589644432068, -1.473536729812622, 1.380297303199768]]]> : tensor<2x2x4xf32>]
} {
  %0 = "stablehlo.torch_index_select"(%a, %b) {dim = -2 : i64, batch_dims = -1 : i64} : (tensor<2x3x4xf32>, tensor<2x2xi32>) -> tensor<2x2x4xf32>
  return %0 : tensor<2x2x4xf32>
}
