// chlo.scan: slices in order and in reverse, several inputs, outputs of other types.
// Written by cases_chlo.py.

func.func @forward(%a: tensor<4x3xf32>, %b: tensor<4xi32>, %c: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>) attributes {
    test.in = [dense<[[1.7722244262695312, 0.045310210436582565, 1.9049748182296753], [-1.676655888557434, 0.42942333221435547, -0.4940536618232727], [1.2076048851013184, -1.3018887042999268, 1.4865411520004272], [0.17576560378074646, 1.6088603734970093, -0.09138590097427368]]> : tensor<4x3xf32>, dense<[8, -1, -7, 5]> : tensor<4xi32>, dense<[1.9366120100021362, -0.5210968255996704, 1.8757314682006836]> : tensor<3xf32>],
    test.out = [dense<[[14.17779541015625, 0.3624816834926605, 15.239798545837402], [1.676655888557434, -0.42942333221435547, 0.4940536618232727], [-8.45323371887207, 9.113221168518066, -10.40578842163086], [0.8788280487060547, 8.044301986694336, -0.4569295048713684]]> : tensor<4x3xf32>, dense<[[true, true, true], [false, false, false], [true, true, true], [false, false, false]]> : tensor<4x3xi1>, dense<[-1.2324657440185547, -2.38192081451416, -2.921154260635376]> : tensor<3xf32>]
} {
  %0:3 = "chlo.scan"(%a, %b, %c) ({
  ^bb0(%x: tensor<3xf32>, %y: tensor<i32>, %carry: tensor<3xf32>):
    %1 = stablehlo.convert %y : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.multiply %x, %2 : tensor<3xf32>
    %4 = stablehlo.subtract %3, %carry : tensor<3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
    %5 = stablehlo.compare GT, %4, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    stablehlo.return %3, %5, %4 : tensor<3xf32>, tensor<3xi1>, tensor<3xf32>
  }) {dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 2, 1>} : (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>
}

func.func @reverse(%a: tensor<4x3xf32>, %b: tensor<4xi32>, %c: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>) attributes {
    test.in = [dense<[[1.7722244262695312, 0.045310210436582565, 1.9049748182296753], [-1.676655888557434, 0.42942333221435547, -0.4940536618232727], [1.2076048851013184, -1.3018887042999268, 1.4865411520004272], [0.17576560378074646, 1.6088603734970093, -0.09138590097427368]]> : tensor<4x3xf32>, dense<[8, -1, -7, 5]> : tensor<4xi32>, dense<[1.9366120100021362, -0.5210968255996704, 1.8757314682006836]> : tensor<3xf32>],
    test.out = [dense<[[14.17779541015625, 0.3624816834926605, 15.239798545837402], [1.676655888557434, -0.42942333221435547, 0.4940536618232727], [-8.45323371887207, 9.113221168518066, -10.40578842163086], [0.8788280487060547, 8.044301986694336, -0.4569295048713684]]> : tensor<4x3xf32>, dense<[[true, true, true], [true, false, true], [false, true, false], [false, true, false]]> : tensor<4x3xi1>, dense<[5.105690002441406, 1.3397270441055298, 6.672616958618164]> : tensor<3xf32>]
} {
  %0:3 = "chlo.scan"(%a, %b, %c) ({
  ^bb0(%x: tensor<3xf32>, %y: tensor<i32>, %carry: tensor<3xf32>):
    %1 = stablehlo.convert %y : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.multiply %x, %2 : tensor<3xf32>
    %4 = stablehlo.subtract %3, %carry : tensor<3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
    %5 = stablehlo.compare GT, %4, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    stablehlo.return %3, %5, %4 : tensor<3xf32>, tensor<3xi1>, tensor<3xf32>
  }) {dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 2, 1>} : (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x3xf32>, tensor<4x3xi1>, tensor<3xf32>
}

func.func @columns(%a: tensor<2x5xf32>, %b: tensor<2xf32>) -> (tensor<2x5xf32>, tensor<2xf32>) attributes {
    test.in = [dense<[[1.716105580329895, -1.2892296314239502, 0.43540647625923157, 0.8194589614868164, 1.7712147235870361], [0.6626296639442444, -1.4664169549942017, -0.0085296044126153, -0.02552066370844841, 0.0009047574130818248]]> : tensor<2x5xf32>, dense<[1.8343291282653809, -0.6002504229545593]> : tensor<2xf32>],
    test.out = [dense<[[3.5504345893859863, 2.2612051963806152, 2.6966114044189453, 3.5160703659057617, 5.287285327911377], [0.06237924098968506, -1.4040377140045166, -1.412567377090454, -1.4380879402160645, -1.4371832609176636]]> : tensor<2x5xf32>, dense<[5.287285327911377, -1.4371832609176636]> : tensor<2xf32>]
} {
  %0:2 = chlo.scan(%a) inits (%b) dimension=1 attributes {is_associative = true, is_reverse = false} {
  ^bb0(%input: tensor<2xf32>, %carry: tensor<2xf32>):
    %1 = stablehlo.add %input, %carry : tensor<2xf32>
    stablehlo.return %1, %1 : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x5xf32>, tensor<2xf32>) -> (tensor<2x5xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<2xf32>
}

func.func @open_4(%a: tensor<?x?xf32>, %b: tensor<?xi32>, %c: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) attributes {
    test.in = [dense<[[-1.1049153804779053, 0.08834800869226456, 0.5646836757659912], [1.7564282417297363, 0.3280631899833679, -0.9286664128303528], [1.7190988063812256, -0.03309886157512665, 0.7032034397125244], [-0.09584435820579529, -1.132079839706421, 0.7702081799507141]]> : tensor<4x3xf32>, dense<[-6, 5, 1, -6]> : tensor<4xi32>, dense<[-0.1603359431028366, -0.5527397394180298, -1.3170807361602783]> : tensor<3xf32>],
    test.out = [dense<[[-1.2652512788772583, -0.4643917381763458, -0.7523970603942871], [0.49117690324783325, -0.1363285481929779, -1.6810634136199951], [2.210275650024414, -0.16942739486694336, -0.9778600335121155], [2.114431381225586, -1.3015072345733643, -0.20765185356140137]]> : tensor<4x3xf32>, dense<[[-1.2652512788772583, -0.4643917381763458, -0.7523970603942871, -1.1049153804779053, 0.08834800869226456, 0.5646836757659912], [0.49117690324783325, -0.1363285481929779, -1.6810634136199951, 1.7564282417297363, 0.3280631899833679, -0.9286664128303528], [2.210275650024414, -0.16942739486694336, -0.9778600335121155, 1.7190988063812256, -0.03309886157512665, 0.7032034397125244], [2.114431381225586, -1.3015072345733643, -0.20765185356140137, -0.09584435820579529, -1.132079839706421, 0.7702081799507141]]> : tensor<4x6xf32>, dense<[2.114431381225586, -1.3015072345733643, -0.20765185356140137]> : tensor<3xf32>]
} {
  %0:3 = "chlo.scan"(%a, %b, %c) ({
  ^bb0(%x: tensor<?xf32>, %y: tensor<i32>, %carry: tensor<?xf32>):
    %1 = stablehlo.add %x, %carry : tensor<?xf32>
    %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %1, %2, %1 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }) {dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 2, 1>} : (tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>
}

func.func @open_3_reverse(%a: tensor<?x?xf32>, %b: tensor<?xi32>, %c: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) attributes {
    test.in = [dense<[[-1.1145933866500854, 1.8500295877456665, 1.5368921756744385], [-0.4708327054977417, 0.9578929543495178, -1.8321278095245361], [1.6602288484573364, 0.14868339896202087, 1.2810711860656738]]> : tensor<3x3xf32>, dense<[9, -4, 7]> : tensor<3xi32>, dense<[-0.6078251004219055, 1.8897587060928345, -0.2821604609489441]> : tensor<3xf32>],
    test.out = [dense<[[-0.5330223441123962, 4.846364498138428, 0.7036750912666321], [0.5815710425376892, 2.996335029602051, -0.8332170844078064], [1.0524036884307861, 2.0384421348571777, 0.9989107251167297]]> : tensor<3x3xf32>, dense<[[-0.5330223441123962, 4.846364498138428, 0.7036750912666321, -1.1145933866500854, 1.8500295877456665, 1.5368921756744385], [0.5815710425376892, 2.996335029602051, -0.8332170844078064, -0.4708327054977417, 0.9578929543495178, -1.8321278095245361], [1.0524036884307861, 2.0384421348571777, 0.9989107251167297, 1.6602288484573364, 0.14868339896202087, 1.2810711860656738]]> : tensor<3x6xf32>, dense<[-0.5330223441123962, 4.846364498138428, 0.7036750912666321]> : tensor<3xf32>]
} {
  %0:3 = "chlo.scan"(%a, %b, %c) ({
  ^bb0(%x: tensor<?xf32>, %y: tensor<i32>, %carry: tensor<?xf32>):
    %1 = stablehlo.add %x, %carry : tensor<?xf32>
    %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %1, %2, %1 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }) {dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 2, 1>} : (tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>
}

func.func @open_0(%a: tensor<?x?xf32>, %b: tensor<?xi32>, %c: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) attributes {
    test.in = [dense<> : tensor<0x3xf32>, dense<> : tensor<0xi32>, dense<[-0.0012290378799661994, 1.823915719985962, 1.61278235912323]> : tensor<3xf32>],
    test.out = [dense<> : tensor<0x3xf32>, dense<> : tensor<0x6xf32>, dense<[-0.0012290378799661994, 1.823915719985962, 1.61278235912323]> : tensor<3xf32>]
} {
  %0:3 = "chlo.scan"(%a, %b, %c) ({
  ^bb0(%x: tensor<?xf32>, %y: tensor<i32>, %carry: tensor<?xf32>):
    %1 = stablehlo.add %x, %carry : tensor<?xf32>
    %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %1, %2, %1 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }) {dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 2, 1>} : (tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>
}
