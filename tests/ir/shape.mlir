// shape
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @shape(%arg0: tensor<?x3xf32>, %arg1: tensor<2xindex>) {
    %0 = shape.shape_of %arg0 : tensor<?x3xf32> -> tensor<2xindex>
    %1 = shape.const_shape [1, 3] : !shape.shape
    %2 = shape.const_size 7
    %3 = shape.broadcast %0, %arg1 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %4 = shape.any %0, %arg1 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %5 = shape.from_extents %2, %2 : !shape.size, !shape.size
    %6 = shape.to_extent_tensor %1 : !shape.shape -> tensor<2xindex>
    %7 = shape.size_to_index %2 : !shape.size
    %8 = shape.index_to_size %7
    %9 = shape.get_extent %1, %7 : !shape.shape, index -> !shape.size
    %10 = shape.shape_eq %0, %3 : tensor<2xindex>, tensor<2xindex>
    %11 = shape.cstr_require %10, "must be equal"
    %12 = shape.cstr_broadcastable %0, %3 : tensor<2xindex>, tensor<2xindex>
    %13 = shape.const_witness true
    %14 = shape.assuming_all %11, %12, %13
    %15 = shape.assuming %14 -> tensor<?x3xf32> {
      shape.assuming_yield %arg0 : tensor<?x3xf32>
    }
    shape.assuming %14 {
    }
    return 
  }
}
