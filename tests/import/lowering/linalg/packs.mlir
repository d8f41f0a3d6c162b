// linalg.pack and linalg.unpack with sizes and tiles known at run time only.
// Written by cases_linalg.py.

func.func @sizes(%a: tensor<?x?xf32>) -> (tensor<?x?x2x3xf32>, tensor<?x?xf32>) attributes {
    test.in = [dense<[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525, -0.8567944765090942], [-1.7842772006988525, -0.46652448177337646, -0.36610716581344604, -1.8188992738723755], [-1.8049691915512085, 1.9967044591903687, 0.6094764471054077, -1.061959147453308]]> : tensor<3x4xf32>],
    test.out = [dense<[[[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525], [-1.7842772006988525, -0.46652448177337646, -0.36610716581344604]], [[-0.8567944765090942, 7.0, 7.0], [-1.8188992738723755, 7.0, 7.0]]], [[[-1.8049691915512085, 1.9967044591903687, 0.6094764471054077], [7.0, 7.0, 7.0]], [[-1.061959147453308, 7.0, 7.0], [7.0, 7.0, 7.0]]]]> : tensor<2x2x2x3xf32>, dense<[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525, -0.8567944765090942], [-1.7842772006988525, -0.46652448177337646, -0.36610716581344604, -1.8188992738723755], [-1.8049691915512085, 1.9967044591903687, 0.6094764471054077, -1.061959147453308]]> : tensor<3x4xf32>]
} {
  %t = arith.constant 2 : index
  %u = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %bm = arith.ceildivui %m, %t : index
  %bn = arith.ceildivui %n, %u : index
  %v = arith.constant 7.0 : f32
  %empty = tensor.empty(%bm, %bn) : tensor<?x?x2x3xf32>
  %0 = linalg.pack %a padding_value(%v : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %empty : tensor<?x?xf32> -> tensor<?x?x2x3xf32>
  %back = tensor.empty(%m, %n) : tensor<?x?xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %back : tensor<?x?x2x3xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?x2x3xf32>, tensor<?x?xf32>
}

func.func @outer_order(%a: tensor<?x?xf32>) -> (tensor<?x?x3x2xf32>, tensor<?x?xf32>) attributes {
    test.in = [dense<[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525, -0.8567944765090942], [-1.7842772006988525, -0.46652448177337646, -0.36610716581344604, -1.8188992738723755], [-1.8049691915512085, 1.9967044591903687, 0.6094764471054077, -1.061959147453308]]> : tensor<3x4xf32>],
    test.out = [dense<[[[[1.2200117111206055, -1.7842772006988525], [1.2317631244659424, -0.46652448177337646], [0.061302244663238525, -0.36610716581344604]], [[-1.8049691915512085, 7.0], [1.9967044591903687, 7.0], [0.6094764471054077, 7.0]]], [[[-0.8567944765090942, -1.8188992738723755], [7.0, 7.0], [7.0, 7.0]], [[-1.061959147453308, 7.0], [7.0, 7.0], [7.0, 7.0]]]]> : tensor<2x2x3x2xf32>, dense<[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525, -0.8567944765090942], [-1.7842772006988525, -0.46652448177337646, -0.36610716581344604, -1.8188992738723755], [-1.8049691915512085, 1.9967044591903687, 0.6094764471054077, -1.061959147453308]]> : tensor<3x4xf32>]
} {
  %t = arith.constant 2 : index
  %u = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %bm = arith.ceildivui %m, %t : index
  %bn = arith.ceildivui %n, %u : index
  %v = arith.constant 7.0 : f32
  %empty = tensor.empty(%bn, %bm) : tensor<?x?x3x2xf32>
  %0 = linalg.pack %a padding_value(%v : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [3, 2] into %empty : tensor<?x?xf32> -> tensor<?x?x3x2xf32>
  %back = tensor.empty(%m, %n) : tensor<?x?xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [3, 2] into %back : tensor<?x?x3x2xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?x3x2xf32>, tensor<?x?xf32>
}

func.func @tiles(%a: tensor<?x?xf32>, %b: i64) -> (tensor<?x?x?xf32>, tensor<?x?xf32>) attributes {
    test.in = [dense<[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525, -0.8567944765090942], [-1.7842772006988525, -0.46652448177337646, -0.36610716581344604, -1.8188992738723755], [-1.8049691915512085, 1.9967044591903687, 0.6094764471054077, -1.061959147453308]]> : tensor<3x4xf32>, dense<2> : tensor<i64>],
    test.out = [dense<[[[1.2200117111206055, -1.7842772006988525], [1.2317631244659424, -0.46652448177337646], [0.061302244663238525, -0.36610716581344604], [-0.8567944765090942, -1.8188992738723755]], [[-1.8049691915512085, 7.0], [1.9967044591903687, 7.0], [0.6094764471054077, 7.0], [-1.061959147453308, 7.0]]]> : tensor<2x4x2xf32>, dense<[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525, -0.8567944765090942], [-1.7842772006988525, -0.46652448177337646, -0.36610716581344604, -1.8188992738723755], [-1.8049691915512085, 1.9967044591903687, 0.6094764471054077, -1.061959147453308]]> : tensor<3x4xf32>]
} {
  %t = arith.index_cast %b : i64 to index
  %u = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %bm = arith.ceildivui %m, %t : index
  %bn = arith.ceildivui %n, %u : index
  %v = arith.constant 7.0 : f32
  %empty = tensor.empty(%bm, %n, %t) : tensor<?x?x?xf32>
  %0 = linalg.pack %a padding_value(%v : f32) inner_dims_pos = [0] inner_tiles = [%t] into %empty : tensor<?x?xf32> -> tensor<?x?x?xf32>
  %back = tensor.empty(%m, %n) : tensor<?x?xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [%t] into %back : tensor<?x?x?xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?x?xf32>, tensor<?x?xf32>
}
