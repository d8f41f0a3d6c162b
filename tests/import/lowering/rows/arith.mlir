// Rows of arith on tensors.
// Written by cases_rows.py.

func.func @floats(%a: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf16>, tensor<6xf16>, tensor<6xi32>) attributes {
    test.in = [dense<[1.2200117111206055, 1.2317631244659424, 0.061302244663238525, -0.8567944765090942, -1.7842772006988525, -0.46652448177337646]> : tensor<6xf32>, dense<[1.5, -0.699999988079071, 0x7FC00000, 0.30000001192092896, -2.0, 1.0]> : tensor<6xf32>],
    test.out = [dense<[-0.27998828887939453, 1.9317631721496582, 0x7FC00000, -1.156794548034668, 0.21572279930114746, -1.4665244817733765]> : tensor<6xf32>, dense<[1.2200117111206055, 0.5317631363868713, 0x7FC00000, -0.25679445266723633, -1.7842772006988525, -0.46652448177337646]> : tensor<6xf32>, dense<[1.2200117111206055, -0.699999988079071, 0x7FC00000, -0.8567944765090942, -2.0, -0.46652448177337646]> : tensor<6xf32>, dense<[1.5, 1.2317631244659424, 0x7FC00000, 0.30000001192092896, -1.7842772006988525, 1.0]> : tensor<6xf32>, dense<[1.2200117111206055, -0.699999988079071, 0x7FC00000, -0.8567944765090942, -2.0, -0.46652448177337646]> : tensor<6xf32>, dense<[1.5, 1.2317631244659424, 0.061302244663238525, 0.30000001192092896, -1.7842772006988525, 1.0]> : tensor<6xf32>, dense<[1.2200117111206055, -0.699999988079071, 0.061302244663238525, -0.8567944765090942, -2.0, -0.46652448177337646]> : tensor<6xf32>, dense<[1.2197265625, 1.2314453125, 0.061309814453125, -0.85693359375, -1.7841796875, -0.466552734375]> : tensor<6xf16>, dense<[1.2197265625, 1.2314453125, 0.061309814453125, -0.85693359375, -1.7841796875, -0.466552734375]> : tensor<6xf16>, dense<[1067198808, 1067297386, 1031477264, -1084533022, -1075551438, -1091642292]> : tensor<6xi32>]
} {
  %r0 = arith.subf %a, %b : tensor<6xf32>
  %r1 = arith.remf %a, %b : tensor<6xf32>
  %r2 = arith.minimumf %a, %b : tensor<6xf32>
  %r3 = arith.maxf %a, %b : tensor<6xf32>
  %r4 = arith.minf %a, %b : tensor<6xf32>
  %r5 = arith.maxnumf %a, %b : tensor<6xf32>
  %r6 = arith.minnumf %a, %b : tensor<6xf32>
  %r7 = arith.truncf %a : tensor<6xf32> to tensor<6xf16>
  %r8 = arith.convertf %a : tensor<6xf32> to tensor<6xf16>
  %r9 = arith.bitcast %a : tensor<6xf32> to tensor<6xi32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf16>, tensor<6xf16>, tensor<6xi32>
}

func.func @unsigned_of_floats(%a: tensor<4xf32>) -> (tensor<4xi32>) attributes {
    test.in = [dense<[1225419648.0, 135825584.0, 146273136.0, 2997528320.0]> : tensor<4xf32>],
    test.out = [dense<[1225419648, 135825584, 146273136, -1297438976]> : tensor<4xi32>]
} {
  %r0 = arith.fptoui %a : tensor<4xf32> to tensor<4xi32>
  return %r0 : tensor<4xi32>
}

func.func @integers(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) attributes {
    test.in = [dense<[7, -7, 100, -2147483648, 5, -1]> : tensor<6xi32>, dense<[2, 3, -9, 1, 31, 4]> : tensor<6xi32>],
    test.out = [dense<[3, 1431655763, 0, -2147483648, 0, 1073741823]> : tensor<6xi32>, dense<[1, 0, 100, 0, 5, 3]> : tensor<6xi32>, dense<[7, -7, -9, -2147483648, 31, -1]> : tensor<6xi32>, dense<[2, 3, 100, 1, 5, 4]> : tensor<6xi32>, dense<[2, -7, -9, -2147483648, 5, -1]> : tensor<6xi32>, dense<[7, -5, -9, -2147483647, 31, -1]> : tensor<6xi32>]
} {
  %r0 = arith.divui %a, %b : tensor<6xi32>
  %r1 = arith.remui %a, %b : tensor<6xi32>
  %r2 = arith.maxui %a, %b : tensor<6xi32>
  %r3 = arith.minui %a, %b : tensor<6xi32>
  %r4 = arith.minsi %a, %b : tensor<6xi32>
  %r5 = arith.ori %a, %b : tensor<6xi32>
  return %r0, %r1, %r2, %r3, %r4, %r5 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}

func.func @shifts(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) attributes {
    test.in = [dense<[7, -7, 100, -2147483648, 5, -1]> : tensor<6xi32>, dense<[2, 3, 23, 1, 31, 4]> : tensor<6xi32>],
    test.out = [dense<[28, -56, 838860800, 0, -2147483648, -16]> : tensor<6xi32>, dense<[1, 536870911, 0, 1073741824, 0, 268435455]> : tensor<6xi32>, dense<[1, -1, 0, -1073741824, 0, -1]> : tensor<6xi32>]
} {
  %r0 = arith.shli %a, %b : tensor<6xi32>
  %r1 = arith.shrui %a, %b : tensor<6xi32>
  %r2 = arith.shrsi %a, %b : tensor<6xi32>
  return %r0, %r1, %r2 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}

func.func @extended(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi1>) attributes {
    test.in = [dense<[7, -7, 100, -2147483648, 5, -1]> : tensor<6xi32>, dense<[2, 3, -9, 1, 31, 4]> : tensor<6xi32>],
    test.out = [dense<[14, -21, -900, -2147483648, 155, -4]> : tensor<6xi32>, dense<[0, 2, 99, 0, 0, 3]> : tensor<6xi32>, dense<[9, -4, 91, -2147483647, 36, 3]> : tensor<6xi32>, dense<[false, false, true, false, false, true]> : tensor<6xi1>]
} {
  %l, %h = arith.mului_extended %a, %b : tensor<6xi32>
  %s, %o = arith.addui_extended %a, %b : tensor<6xi32>, tensor<6xi1>
  return %l, %h, %s, %o : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi1>
}

func.func @index_castui(%a: tensor<3xi8>) -> (tensor<3xi32>) attributes {
    test.in = [dense<[1, -1, 100]> : tensor<3xi8>],
    test.out = [dense<[1, 255, 100]> : tensor<3xi32>]
} {
  %0 = arith.index_castui %a : tensor<3xi8> to tensor<3xindex>
  %1 = arith.index_cast %0 : tensor<3xindex> to tensor<3xi32>
  return %1 : tensor<3xi32>
}

func.func @structure(%a: tensor<3xui8>) -> (tensor<3xi8>, tensor<1xi32>) attributes {
    test.in = [dense<[1, 255, 100]> : tensor<3xui8>],
    test.out = [dense<[1, -1, 100]> : tensor<3xi8>, dense<[5]> : tensor<1xi32>]
} {
  %0 = tensor.bitcast %a : tensor<3xui8> to tensor<3xi8>
  %1 = tensor.rank %a : tensor<3xui8>
  %2 = scf.execute_region -> index {
    %c = arith.constant 4 : index
    %d = arith.addi %1, %c : index
    scf.yield %d : index
  }
  %3 = arith.index_cast %2 : index to i32
  %4 = tensor.from_elements %3 : tensor<1xi32>
  return %0, %4 : tensor<3xi8>, tensor<1xi32>
}

func.func @conversion_cast(%a: tensor<3xui8>) -> (tensor<3xi32>) attributes {
    test.in = [dense<[1, 255, 100]> : tensor<3xui8>],
    test.out = [dense<[1, 255, 100]> : tensor<3xi32>]
} {
  %0 = builtin.unrealized_conversion_cast %a : tensor<3xui8> to tensor<3xi8>
  %1 = arith.extui %0 : tensor<3xi8> to tensor<3xi32>
  return %1 : tensor<3xi32>
}

func.func @flush_denormals(%a: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) attributes {
    test.in = [dense<[1.0000002153053333e-39, -1.0000002153053333e-39, 0.0, 1.5, -2.0000000102211272e-38, 0x7F800000]> : tensor<6xf32>],
    test.out = [dense<[0.0, -0.0, 0.0, 1.5, -2.0000000102211272e-38, 0x7F800000]> : tensor<6xf32>, dense<[1.0, -1.0, 1.0, 1.0, -1.0, 1.0]> : tensor<6xf32>]
} {
  %0 = arith.flush_denormals %a : tensor<6xf32>
  %1 = arith.constant dense<1.0> : tensor<6xf32>
  %2 = math.copysign %1, %0 : tensor<6xf32>
  return %0, %2 : tensor<6xf32>, tensor<6xf32>
}
