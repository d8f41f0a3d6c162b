// types 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  %0:30 = "test.scalars"() : () -> (i1, i4, i8, i16, i32, i64, i128, si8, ui16, index, none, f16, bf16, f32, f64, tf32, f8E4M3, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, f8E4M3B11FNUZ, f8E8M0FNU, f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E3M4, f80, complex<f32>, complex<i8>)
  %1:12 = "test.shaped"() : () -> (tensor<f32>, tensor<4x?x0xi8>, tensor<*xf32>, tensor<2xcomplex<f64>>, tensor<4x4xf32, #test.layout<"x">>, tensor<?xf32, 3 : i64>, vector<4xf32>, vector<2x3xi1>, vector<f32>, vector<[4]xf32>, vector<2x[8]xi8>, tensor<2x!test.elem<1>>)
  %2:6 = "test.memory"() : () -> (memref<4xf32>, memref<?x4xf32, strided<[4, 1], offset: ?>>, memref<4xi8, 3>, memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 5>, memref<*xf32>, memref<4xf32, #test.space>)
  %3:6 = "test.functions"() : () -> (() -> (), (i32) -> f32, (i32, i8) -> (f32, f16), (i32) -> ((i8) -> i1), tuple<>, tuple<i32, tuple<f32>, tensor<4xi1>>)
  %4:11 = "test.dialect"() : () -> (!test.plain, !test.body<4x4, [1, 2], "text > ) ]", {a = 1}, (i32) -> i32>, !torch.vtensor, !torch.vtensor<*,f32>, !torch.vtensor<[],si64>, !torch.vtensor<[1,?,3],f16>, !torch.vtensor<[2],unk>, !torch.list<int>, !torch.optional<vtensor<[4],f32>>, !stablehlo.token, !quant.uniform<i8:f32, 5.000000e-01:3>)
}
