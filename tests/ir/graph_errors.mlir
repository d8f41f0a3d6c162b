// Graph text from anywhere is verified by the rows of graph.def: attributes, element types, shapes, regions.
// RUN: iree-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error@+1 {{has the attribute 'perm', which must be each dimension of the operand once}}
  %0 = "graph.transpose"(%x) <{perm = array<i64: 1000, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error@+1 {{needs the attribute 'perm': each dimension of the operand once}}
  %0 = "graph.transpose"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error@+1 {{has result #0 of type 'tensor<3x2xf32>', which should be 'tensor<2x3xf32>'}}
  %0 = "graph.transpose"(%x) <{perm = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has no attribute 'axes'}}
  %0 = "graph.scan"(%x) <{axes = 0 : i64, axis = 0 : i64, kind = "add"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'axis', which must be a dimension of the first operand}}
  %0 = "graph.scan"(%x) <{axis = 1 : i64, kind = "add"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'kind', which must be one of add, mul, min, max, minu, maxu, and, or, xor}}
  %0 = "graph.scan"(%x) <{axis = 0 : i64, kind = "ad"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error@+1 {{has values of element types 'f32' and 'i32', which must be one}}
  %0 = "graph.add"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{does not take 'i32'}}
  %0 = "graph.exp"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{chooses by 'f32', which must be i1}}
  %0 = "graph.select"(%x, %x, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{a reshape must keep the number of elements (4 and 5)}}
  %0 = "graph.reshape"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{takes a size for each '?' of its result}}
  %0 = "graph.reshape"(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @f(%x: tensor<3xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{a size must be 1 or that of the result in a broadcast (3 and 4)}}
  %0 = "graph.broadcast"(%x) <{dims = array<i64: 1>}> : (tensor<3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @f(%x: tensor<9xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{a slice must lie inside its operand}}
  %0 = "graph.slice"(%x) <{offsets = array<i64: 3>, strides = array<i64: 2>}> : (tensor<9xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<9xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'offsets', which must be a number of at least 0 for each dimension}}
  %0 = "graph.slice"(%x) <{offsets = array<i64: -1>, strides = array<i64: 1>}> : (tensor<9xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{the operands must agree beside the axis (3 and 4)}}
  %0 = "graph.concat"(%x, %y) <{axis = 0 : i64}> : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{both operands must agree in what is multiplied (3 and 4)}}
  %0 = "graph.contract"(%x, %y) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{has the attribute 'x_layout', which must be a layout with each of n, c and the spatial digits once}}
  %0 = "graph.conv"(%x, %w) <{batch_groups = 1 : i64, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, w_layout = "oi01", x_dilation = array<i64: 1, 1>, x_layout = "nc00", y_layout = "nc01"}> : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{the channels must be the weights' (3 and 2)}}
  %0 = "graph.conv"(%x, %w) <{batch_groups = 1 : i64, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, w_layout = "oi01", x_dilation = array<i64: 1, 1>, x_layout = "nc01", y_layout = "nc01"}> : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// -----

func.func @f(%x: tensor<5x6xf32>, %i: tensor<4x2xi32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{index vectors have an entry for each mapped dimension (2 and 1)}}
  %0 = "graph.gather"(%x, %i) <{collapsed_dims = array<i64: 0>, index_vector_dim = 1 : i64, indices_batch_dims = array<i64>, offset_dims = array<i64: 1>, operand_batch_dims = array<i64>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}> : (tensor<5x6xf32>, tensor<4x2xi32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @f(%x: tensor<5x6xf32>, %i: tensor<4xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{has indices of type 'f32'}}
  %0 = "graph.gather"(%x, %i) <{collapsed_dims = array<i64: 0>, index_vector_dim = 1 : i64, indices_batch_dims = array<i64>, offset_dims = array<i64: 1>, operand_batch_dims = array<i64>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}> : (tensor<5x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @f(%x: tensor<500xi1>, %s: tensor<9xi32>, %n: index) -> tensor<?xi32> {
  // expected-error@+1 {{there must be a start for each block (9 and 2)}}
  %0 = "graph.places"(%x, %s, %n) <{block = 256 : i64}> : (tensor<500xi1>, tensor<9xi32>, index) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

func.func @f(%x: tensor<500xi32>, %s: tensor<2xi32>, %n: index) -> tensor<?xi32> {
  // expected-error@+1 {{does not take 'i32'}}
  %0 = "graph.places"(%x, %s, %n) <{block = 256 : i64}> : (tensor<500xi32>, tensor<2xi32>, index) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

func.func @f(%x: tensor<2x5xf32>, %m: tensor<2x5xi1>, %y: tensor<5xf32>, %s: tensor<f32>, %n: tensor<i64>) -> tensor<2x5xi32> {
  // expected-error@+1 {{takes operands of the scores' shape, of at least one dimension, and two scalars}}
  %0 = "graph.suppress"(%x, %m, %x, %x, %y, %y, %s, %n) : (tensor<2x5xf32>, tensor<2x5xi1>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<i64>) -> tensor<2x5xi32>
  return %0 : tensor<2x5xi32>
}

// -----

func.func @f(%x: tensor<5xf32>) -> (tensor<9xf32>, tensor<9xi64>) {
  // expected-error@+1 {{there must be as many elements as are asked for (5 and 9)}}
  %0:2 = "graph.top_k"(%x) <{axis = 0 : i64, k = 9 : i64}> : (tensor<5xf32>) -> (tensor<9xf32>, tensor<9xi64>)
  return %0#0, %0#1 : tensor<9xf32>, tensor<9xi64>
}

// -----

func.func @f(%x: tensor<4x6xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{has a region from 1 to 1 values, where 2 to 1 are needed}}
  %0 = "graph.reduce_generic"(%x, %s) <{dims = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>):
    "graph.yield"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+2 {{has a map #0 that leaves its operand}}
func.func @f(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "graph.generic"(%x, %s) <{iterators = ["parallel"], maps = [affine_map<(d0) -> (d0 + 1)>, affine_map<(d0) -> (d0)>], outs = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "graph.yield"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%go: tensor<2xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{takes an i1 as its condition}}
  %0 = "graph.if"(%go) ({
    "graph.yield"(%x) : (tensor<4xf32>) -> ()
  }, {
    "graph.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<2xi1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %go: tensor<i1>) -> tensor<4xf32> {
  // expected-error@+1 {{has yielded value #0 of type 'tensor<i1>' where 'tensor<4xf32>' is needed}}
  %0 = "graph.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "graph.yield"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    "graph.yield"(%go) : (tensor<i1>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{calls 'g', which is no function here}}
  %0 = "graph.call"(%x) <{callee = @g}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{needs a number of an operand for each of 2 sizes}}
  %0 = "graph.dispatch"(%x) <{sym_name = "d"}> ({
  ^bb0(%a: tensor<?xf32>):
    "graph.yield"(%a) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @f(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<f32> {
  // expected-error@+1 {{has a value of rank 17, above 16}}
  %0 = "graph.reshape"(%x) : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<64xi32>, %u: tensor<64xf32>, %v: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{takes 3 operands, or up to 11 with rising indices}}
  %0 = "graph.scatter"(%x, %i, %u, %v) <{update_window_dims = array<i64>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64, kind = "add"}> : (tensor<4xf32>, tensor<64xi32>, tensor<64xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<65xi32>, %u: tensor<65xf32>, %v: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{there must be a sum of every 32 updates}}
  %0 = "graph.scatter"(%x, %i, %u, %v) <{update_window_dims = array<i64>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64, kind = "add", sorted = 1 : i64}> : (tensor<4xf32>, tensor<65xi32>, tensor<65xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{takes as many operands as it has results, and perhaps the length of its runs}}
  %0 = "graph.sort"(%x, %y) <{axis = 0 : i64, keys = 1 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xbf16>) -> tensor<4xi1> {
  // expected-error@+1 {{cannot keep the bits of 'bf16' in 'i1'}}
  %0 = "graph.bitcast"(%x) : (tensor<4xbf16>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'keys', which must be an integer from 1 to the number of results}}
  %0 = "graph.sort"(%x) <{axis = 0 : i64, keys = 9 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'keys', which must be an integer from 1 to the number of results}}
  %0 = "graph.sort"(%x) <{axis = 0 : i64, keys = 4611686018427387904 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'sorted', which must be 0 or a power of two below 2^61}}
  %0 = "graph.sort"(%x) <{axis = 0 : i64, keys = 1 : i64, sorted = 9223372036854775807 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'sorted', which must be 0 or a power of two below 2^61}}
  %0 = "graph.sort"(%x) <{axis = 0 : i64, keys = 1 : i64, sorted = 3 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the attribute 'block', which must be 0 or a power of two below 2^61}}
  %0 = "graph.sort"(%x) <{axis = 0 : i64, keys = 1 : i64, block = 3 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has more than one of runs, 'sorted', 'block' and 'digit'}}
  %0 = "graph.sort"(%x) <{axis = 0 : i64, keys = 1 : i64, sorted = 2 : i64, block = 2 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: i32) -> tensor<2xf32> {
  // expected-error@+1 {{has a start of type 'i32', which must be an index}}
  %0 = "graph.dynamic_slice"(%x, %i) : (tensor<4xf32>, i32) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: i1) -> tensor<2xf32> {
  // expected-error@+1 {{has a start of type 'i1', which must be an index}}
  %0 = "graph.dynamic_slice"(%x, %i) : (tensor<4xf32>, i1) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<1xindex>) -> tensor<2xf32> {
  // expected-error@+1 {{has a start of type 'tensor<1xindex>', which must be an index}}
  %0 = "graph.dynamic_slice"(%x, %i) : (tensor<4xf32>, tensor<1xindex>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: i32) -> tensor<4xf32> {
  // expected-error@+1 {{has a start of type 'i32', which must be an index}}
  %0 = "graph.dynamic_update"(%x, %x, %i) : (tensor<4xf32>, tensor<4xf32>, i32) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f() -> tensor<4xf32> {
  // expected-error@+1 {{takes a tensor}}
  %0 = "graph.dynamic_slice"() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  // expected-error@+1 {{'graph.cholesky' op does not take 'tensor<4x4xi32>'}}
  %0 = "graph.cholesky"(%x) <{lower}> : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----

func.func @f(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  // expected-error@+1 {{'graph.triangular_solve' op does not take 'tensor<4x4xi32>'}}
  %0 = "graph.triangular_solve"(%x, %x) <{left, lower}> : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----

func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{'graph.fft' op does not take 'tensor<4xi32>'}}
  %0:2 = "graph.fft"(%x, %x) <{kind = "fft", rank = 1 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  return %0#0 : tensor<4xi32>
}

// -----

func.func @f(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  // expected-error@+1 {{'graph.attention' op does not take 'tensor<4x4xi32>'}}
  %0 = "graph.attention"(%x, %x, %x) : (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error@+1 {{'graph.reduce' op of kind 'minu' does not take 'f32'}}
  %0 = "graph.reduce"(%x) <{dims = array<i64: 0>, kind = "minu"}> : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error@+1 {{'graph.reduce' op of kind 'and' does not take 'f32'}}
  %0 = "graph.reduce"(%x) <{dims = array<i64: 0>, kind = "and"}> : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error@+1 {{'graph.reduce' op of kind 'xor' does not take 'f32'}}
  %0 = "graph.reduce"(%x) <{dims = array<i64: 0>, kind = "xor"}> : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.scan' op of kind 'xor' does not take 'f32'}}
  %0 = "graph.scan"(%x) <{axis = 0 : i64, kind = "xor"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.window' op of kind 'or' does not take 'f32'}}
  %0 = "graph.window"(%x) <{kind = "or", sizes = array<i64: 1>, strides = array<i64: 1>, dilations = array<i64: 1>, base_dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.scatter' op of kind 'maxu' does not take 'f32'}}
  %0 = "graph.scatter"(%x, %i, %u) <{update_window_dims = array<i64>, inserted_dims = array<i64: 0>, operand_batch_dims = array<i64>, indices_batch_dims = array<i64>, scatter_dims_map = array<i64: 0>, index_vector_dim = 1 : i64, kind = "maxu"}> : (tensor<4xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
