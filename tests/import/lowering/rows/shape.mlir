// Shapes as values, and functions as values.
// Written by cases_rows.py.

func.func @broadcast(%a: tensor<?x3xf32>, %b: tensor<?xf32>) -> (tensor<?x3xf32>) attributes {
    test.in = [dense<[[1.2200117111206055, 1.2317631244659424, 0.061302244663238525], [-0.8567944765090942, -1.7842772006988525, -0.46652448177337646]]> : tensor<2x3xf32>, dense<[-0.36610716581344604, -1.8188992738723755, -1.8049691915512085]> : tensor<3xf32>],
    test.out = [dense<[[0.8539045453071594, -0.5871361494064331, -1.7436668872833252], [-1.2229015827178955, -3.6031765937805176, -2.271493673324585]]> : tensor<2x3xf32>]
} {
  %s = shape.shape_of %a : tensor<?x3xf32> -> tensor<2xindex>
  %t = shape.shape_of %b : tensor<?xf32> -> tensor<1xindex>
  %v = shape.cstr_broadcastable %s, %t : tensor<2xindex>, tensor<1xindex>
  %u = shape.const_witness true
  %w = shape.assuming_all %u, %v
  %0 = shape.assuming %w -> (tensor<?x3xf32>) {
    %both = shape.broadcast %s, %t : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %x = stablehlo.dynamic_broadcast_in_dim %a, %both, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %y = stablehlo.dynamic_broadcast_in_dim %b, %both, dims = [1] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %z = stablehlo.add %x, %y : tensor<?x3xf32>
    shape.assuming_yield %z : tensor<?x3xf32>
  }
  shape.assuming %v {
  }
  return %0 : tensor<?x3xf32>
}

func.func @numbers(%a: tensor<?x1x?xf32>) -> (tensor<21xi64>) attributes {
    test.in = [dense<[[[1.9967044591903687, 0.6094764471054077, -1.061959147453308, -0.2602097988128662, 1.896744728088379]], [[1.5907104015350342, 1.3769241571426392, -0.43038132786750793, -0.027907924726605415, 0.7067574262619019]]]> : tensor<2x1x5xf32>],
    test.out = [dense<[10, 3, 5, 5, 15, 50, 2, 5, 10, 7, 2, 70, 5, 4, 10, 1, 1, 0, 0, 0, 1]> : tensor<21xi64>]
} {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant -1 : index
  %one = arith.constant 1 : index
  %s = shape.shape_of %a : tensor<?x1x?xf32> -> tensor<3xindex>
  %x = shape.from_extent_tensor %s : tensor<3xindex>
  %t = shape.to_extent_tensor %x : !shape.shape -> tensor<3xindex>
  %again = shape.value_as_shape %t : tensor<3xindex> -> !shape.shape
  %seven = shape.const_shape [7] : !shape.shape
  %none = shape.const_shape [] : !shape.shape
  %joined = shape.concat %x, %seven : !shape.shape, !shape.shape -> !shape.shape
  %head, %tail = "shape.split_at"(%x, %c1) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  %made = shape.from_extents %c2, %c2, %one : index, index, index
  %two = shape.const_shape [2, 1, 6] : !shape.shape
  %either = shape.any %x, %again : !shape.shape, !shape.shape -> !shape.shape
  %w = shape.cstr_eq %x, %again : !shape.shape, !shape.shape
  %true = arith.constant true
  %u = shape.cstr_require %true, "never"
  %n0 = shape.num_elements %x : !shape.shape -> !shape.size
  %i0 = shape.size_to_index %n0 : !shape.size
  %r0 = arith.index_cast %i0 : index to i64
  %n1 = shape.rank %x : !shape.shape -> !shape.size
  %i1 = shape.size_to_index %n1 : !shape.size
  %r1 = arith.index_cast %i1 : index to i64
  %n2 = shape.get_extent %x, %c2 : !shape.shape, index -> !shape.size
  %i2 = shape.size_to_index %n2 : !shape.size
  %r2 = arith.index_cast %i2 : index to i64
  %n3 = shape.dim %a, %c2 : tensor<?x1x?xf32>, index -> !shape.size
  %i3 = shape.size_to_index %n3 : !shape.size
  %r3 = arith.index_cast %i3 : index to i64
  %n4 = shape.add %n0, %n2 : !shape.size, !shape.size -> !shape.size
  %i4 = shape.size_to_index %n4 : !shape.size
  %r4 = arith.index_cast %i4 : index to i64
  %n5 = shape.mul %n0, %n2 : !shape.size, !shape.size -> !shape.size
  %i5 = shape.size_to_index %n5 : !shape.size
  %r5 = arith.index_cast %i5 : index to i64
  %n6 = shape.div %n0, %n2 : !shape.size, !shape.size -> !shape.size
  %i6 = shape.size_to_index %n6 : !shape.size
  %r6 = arith.index_cast %i6 : index to i64
  %n7 = shape.min %n0, %n2 : !shape.size, !shape.size -> !shape.size
  %i7 = shape.size_to_index %n7 : !shape.size
  %r7 = arith.index_cast %i7 : index to i64
  %n8 = shape.max %n0, %n2 : !shape.size, !shape.size -> !shape.size
  %i8 = shape.size_to_index %n8 : !shape.size
  %r8 = arith.index_cast %i8 : index to i64
  %n9 = shape.const_size 7
  %i9 = shape.size_to_index %n9 : !shape.size
  %r9 = arith.index_cast %i9 : index to i64
  %n10 = shape.index_to_size %c2
  %i10 = shape.size_to_index %n10 : !shape.size
  %r10 = arith.index_cast %i10 : index to i64
  %n11 = shape.num_elements %joined : !shape.shape -> !shape.size
  %i11 = shape.size_to_index %n11 : !shape.size
  %r11 = arith.index_cast %i11 : index to i64
  %n12 = shape.num_elements %tail : !shape.shape -> !shape.size
  %i12 = shape.size_to_index %n12 : !shape.size
  %r12 = arith.index_cast %i12 : index to i64
  %n13 = shape.num_elements %made : !shape.shape -> !shape.size
  %i13 = shape.size_to_index %n13 : !shape.size
  %r13 = arith.index_cast %i13 : index to i64
  %n14 = shape.num_elements %either : !shape.shape -> !shape.size
  %i14 = shape.size_to_index %n14 : !shape.size
  %r14 = arith.index_cast %i14 : index to i64
  %n15 = shape.num_elements %none : !shape.shape -> !shape.size
  %i15 = shape.size_to_index %n15 : !shape.size
  %r15 = arith.index_cast %i15 : index to i64
  %f16 = shape.shape_eq %x, %again : !shape.shape, !shape.shape
  %r16 = arith.extui %f16 : i1 to i64
  %f17 = shape.shape_eq %x, %seven : !shape.shape, !shape.shape
  %r17 = arith.extui %f17 : i1 to i64
  %f18 = shape.shape_eq %x, %two : !shape.shape, !shape.shape
  %r18 = arith.extui %f18 : i1 to i64
  %f19 = shape.is_broadcastable %x, %seven : !shape.shape, !shape.shape
  %r19 = arith.extui %f19 : i1 to i64
  %f20 = shape.is_broadcastable %x, %made : !shape.shape, !shape.shape
  %r20 = arith.extui %f20 : i1 to i64
  %all = tensor.from_elements %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20 : tensor<21xi64>
  return %all : tensor<21xi64>
}

func.func @indirect(%a: tensor<?x1x5xf32>) -> (tensor<?x1x5xf32>) attributes {
    test.in = [dense<[[[1.9967044591903687, 0.6094764471054077, -1.061959147453308, -0.2602097988128662, 1.896744728088379]], [[1.5907104015350342, 1.3769241571426392, -0.43038132786750793, -0.027907924726605415, 0.7067574262619019]]]> : tensor<2x1x5xf32>],
    test.out = [dense<[[[7.986817836761475, 2.437905788421631, -4.247836589813232, -1.0408391952514648, 7.586978912353516]], [[6.362841606140137, 5.507696628570557, -1.7215253114700317, -0.11163169890642166, 2.8270297050476074]]]> : tensor<2x1x5xf32>]
} {
  %f = func.constant @twice : (tensor<?x1x5xf32>) -> tensor<?x1x5xf32>
  %x = stablehlo.add %a, %a : tensor<?x1x5xf32>
  %0 = func.call_indirect %f(%x) : (tensor<?x1x5xf32>) -> tensor<?x1x5xf32>
  return %0 : tensor<?x1x5xf32>
}
func.func private @twice(%a: tensor<?x1x5xf32>) -> tensor<?x1x5xf32> {
  %0 = arith.addf %a, %a : tensor<?x1x5xf32>
  return %0 : tensor<?x1x5xf32>
}
