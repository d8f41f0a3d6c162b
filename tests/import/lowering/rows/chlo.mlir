// Rows of chlo whose operands broadcast, and small ones.
// Written by cases_rows.py.

func.func @floats(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) attributes {
    test.in = [dense<[[1.8918066024780273, 1.0715223550796509, 1.9548630714416504, 0.2535884380340576], [1.2539761066436768, 0.8153244853019714, 1.6236122846603394, 0.4316028654575348], [1.756106972694397, 1.133488655090332, 1.8142086267471313, 1.0065916776657104]]> : tensor<3x4xf32>, dense<[0.9748932719230652, 1.6201040744781494, 1.97147536277771, 0.8655064105987549]> : tensor<4xf32>],
    test.out = [dense<[[1.094964861869812, 0.5843413472175598, 0.781167209148407, 0.285017192363739], [0.9099626541137695, 0.4662477970123291, 0.6889378428459167, 0.4625837802886963], [1.0640119314193726, 0.6104838848114014, 0.7438796162605286, 0.8606181740760803]]> : tensor<3x4xf32>, dense<[[1.9405268430709839, 0.6613910794258118, 0.991573691368103, 0.29299429059028625], [1.2862701416015625, 0.5032544136047363, 0.8235518932342529, 0.49867090582847595], [1.8013325929641724, 0.6996393799781799, 0.920228898525238, 1.1630089282989502]]> : tensor<3x4xf32>, dense<[[1.8918066024780273, 1.6201040744781494, 1.97147536277771, 0.8655064105987549], [1.2539761066436768, 1.6201040744781494, 1.97147536277771, 0.8655064105987549], [1.756106972694397, 1.6201040744781494, 1.97147536277771, 1.0065916776657104]]> : tensor<3x4xf32>, dense<[[0.9748932719230652, 1.0715223550796509, 1.9548630714416504, 0.2535884380340576], [0.9748932719230652, 0.8153244853019714, 1.6236122846603394, 0.4316028654575348], [0.9748932719230652, 1.133488655090332, 1.8142086267471313, 0.8655064105987549]]> : tensor<3x4xf32>, dense<[[1.8617666959762573, 1.1184204816818237, 3.749114513397217, 0.3049791753292084], [1.246870994567871, 0.7183666229248047, 2.5999245643615723, 0.4832402765750885], [1.731454610824585, 1.225071668624878, 3.235903024673462, 1.0057026147842407]]> : tensor<3x4xf32>, dense<[[0.9169133305549622, 1.0715223550796509, 1.9548630714416504, 0.2535884380340576], [0.2790828347206116, 0.8153244853019714, 1.6236122846603394, 0.4316028654575348], [0.7812137007713318, 1.133488655090332, 1.8142086267471313, 0.14108526706695557]]> : tensor<3x4xf32>, dense<[[1.8918064832687378, 1.0715224742889404, 1.95486319065094, 0.25358846783638], [1.2539759874343872, 0.8153245449066162, 1.623612403869629, 0.4316028952598572], [1.7561068534851074, 1.1334887742996216, 1.814208745956421, 1.006591558456421]]> : tensor<3x4xf32>]
} {
  %r0 = chlo.broadcast_atan2 %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %r1 = chlo.broadcast_divide %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %r2 = chlo.broadcast_maximum %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %r3 = chlo.broadcast_minimum %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %r4 = chlo.broadcast_power %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %r5 = chlo.broadcast_remainder %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %r6 = chlo.broadcast_next_after %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @special(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) attributes {
    test.in = [dense<[[3.922332286834717, 3.822566032409668, 1.9442315101623535], [3.0221290588378906, 3.26216197013855, 3.857009172439575]]> : tensor<2x3xf32>, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>],
    test.out = [dense<[[1.0878775119781494, 0.09564651548862457, 0.44064369797706604], [1.197730541229248, 0.15736189484596252, 0.023867232725024223]]> : tensor<2x3xf32>, dense<[[0.29017776250839233, -0.08863188326358795, 0.5467839241027832], [0.39155253767967224, -0.1270640790462494, 0.050682079046964645]]> : tensor<2x3xf32>],
    test.tolerance = 0.000010
} {
  %r0 = chlo.broadcast_zeta %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r1 = chlo.broadcast_polygamma %b, %a : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r0, %r1 : tensor<2x3xf32>, tensor<2x3xf32>
}

func.func @integers(%a: tensor<2x3xi32>, %b: tensor<3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>) attributes {
    test.in = [dense<[[-59, 33, -82], [-74, 4, 0]]> : tensor<2x3xi32>, dense<[1, 3, 2]> : tensor<3xi32>],
    test.out = [dense<[[1, 1, 2], [0, 0, 0]]> : tensor<2x3xi32>, dense<[[-59, 35, -82], [-73, 7, 2]]> : tensor<2x3xi32>, dense<[[-60, 34, -84], [-73, 7, 2]]> : tensor<2x3xi32>, dense<[[-118, 264, -328], [-148, 32, 0]]> : tensor<2x3xi32>, dense<[[-30, 4, -21], [-37, 0, 0]]> : tensor<2x3xi32>, dense<[[2147483618, 4, 1073741803], [2147483611, 0, 0]]> : tensor<2x3xi32>]
} {
  %r0 = chlo.broadcast_and %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r1 = chlo.broadcast_or %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r2 = chlo.broadcast_xor %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r3 = chlo.broadcast_shift_left %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r4 = chlo.broadcast_shift_right_arithmetic %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r5 = chlo.broadcast_shift_right_logical %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return %r0, %r1, %r2, %r3, %r4, %r5 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>
}

func.func @mulhi(%a: tensor<2x3xi32>) -> (tensor<2x3xi32>) attributes {
    test.in = [dense<[[-1180000000, 660000000, -1640000000], [-1480000000, 80000000, 0]]> : tensor<2x3xi32>],
    test.out = [dense<[[324193388, 101421028, 626221299], [509992241, 1490116, 0]]> : tensor<2x3xi32>]
} {
  %0 = chlo.mulhi %a, %a : tensor<2x3xi32>, tensor<2x3xi32> -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

func.func @small(%a: tensor<4xf32>, %b: tensor<1xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>, tensor<4xf32>) attributes {
    test.in = [dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>, dense<[true]> : tensor<1xi1>],
    test.out = [dense<[false, true, true, false]> : tensor<4xi1>, dense<[false, false, true, false]> : tensor<4xi1>, dense<[false, true, false, false]> : tensor<4xi1>, dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>, dense<[1, 2]> : tensor<2xi32>, dense<[2.5, 2.5, 2.5, 2.5]> : tensor<4xf32>, dense<[2.5, 2.5, 2.5, 2.5]> : tensor<4xf32>]
} {
  %r0 = chlo.is_inf %a : tensor<4xf32> -> tensor<4xi1>
  %r1 = chlo.is_neg_inf %a : tensor<4xf32> -> tensor<4xi1>
  %r2 = chlo.is_pos_inf %a : tensor<4xf32> -> tensor<4xi1>
  %r3 = chlo.broadcast_select %b, %a, %a : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r4 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  %r5 = "chlo.constant_like"(%a) <{value = 2.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %z = chlo.broadcast_complex %a, %r5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  %r6 = stablehlo.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>, tensor<4xf32>
}
