// Programs that IREE's compiler makes kernels of for the software GPU. run_iree.py says what each computes.

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#swapped = affine_map<(d0, d1) -> (d1, d0)>

func.func @matmul_f32(%a: tensor<64x96xf32>, %b: tensor<96x80xf32>) -> tensor<64x80xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x80xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x80xf32>) -> tensor<64x80xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x80xf32>) outs(%z : tensor<64x80xf32>) -> tensor<64x80xf32>
  return %r : tensor<64x80xf32>
}

func.func @matmul_f16(%a: tensor<128x256xf16>, %b: tensor<256x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x128xf16>) outs(%z : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

func.func @matmul_bf16(%a: tensor<128x64xbf16>, %b: tensor<64x256xbf16>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x64xbf16>, tensor<64x256xbf16>) outs(%z : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

func.func @matmul_i8(%a: tensor<128x128xi8>, %b: tensor<128x128xi8>) -> tensor<128x128xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x128xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<128x128xi32>) -> tensor<128x128xi32>
  %r = linalg.matmul ins(%a, %b : tensor<128x128xi8>, tensor<128x128xi8>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}

func.func @matmul_uneven(%a: tensor<61x77xf16>, %b: tensor<77x53xf16>) -> tensor<61x53xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<61x53xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<61x53xf16>) -> tensor<61x53xf16>
  %r = linalg.matmul ins(%a, %b : tensor<61x77xf16>, tensor<77x53xf16>) outs(%z : tensor<61x53xf16>) -> tensor<61x53xf16>
  return %r : tensor<61x53xf16>
}

func.func @matmul_f64(%a: tensor<32x48xf64>, %b: tensor<48x64xf64>) -> tensor<32x64xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<32x64xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<32x64xf64>) -> tensor<32x64xf64>
  %r = linalg.matmul ins(%a, %b : tensor<32x48xf64>, tensor<48x64xf64>) outs(%z : tensor<32x64xf64>) -> tensor<32x64xf64>
  return %r : tensor<32x64xf64>
}

func.func @batch_matmul(%a: tensor<3x32x64xf16>, %b: tensor<3x64x48xf16>) -> tensor<3x32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x32x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x32x64xf16>, tensor<3x64x48xf16>) outs(%z : tensor<3x32x48xf32>) -> tensor<3x32x48xf32>
  return %r : tensor<3x32x48xf32>
}

func.func @matvec(%a: tensor<200x512xf32>, %b: tensor<512xf32>) -> tensor<200xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<200xf32>) -> tensor<200xf32>
  %r = linalg.matvec ins(%a, %b : tensor<200x512xf32>, tensor<512xf32>) outs(%z : tensor<200xf32>) -> tensor<200xf32>
  return %r : tensor<200xf32>
}

func.func @softmax(%a: tensor<33x100xf32>) -> tensor<33x100xf32> {
  %e = tensor.empty() : tensor<33x100xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<33x100xf32>) outs(%e : tensor<33x100xf32>) -> tensor<33x100xf32>
  return %r : tensor<33x100xf32>
}

func.func @softmax_f16(%a: tensor<16x1024xf16>) -> tensor<16x1024xf16> {
  %e = tensor.empty() : tensor<16x1024xf16>
  %r = linalg.softmax dimension(1) ins(%a : tensor<16x1024xf16>) outs(%e : tensor<16x1024xf16>) -> tensor<16x1024xf16>
  return %r : tensor<16x1024xf16>
}

func.func @attention(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x128x64xf16> {
  %scale = arith.constant 0.125 : f16
  %e = tensor.empty() : tensor<4x128x64xf16>
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
      affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<4x128x64xf16>, tensor<4x128x64xf16>, tensor<4x128x64xf16>, f16)
      outs(%e : tensor<4x128x64xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<4x128x64xf16>
  return %r : tensor<4x128x64xf16>
}

func.func @attention_f32(%q: tensor<2x32x16xf32>, %k: tensor<2x48x16xf32>, %v: tensor<2x48x16xf32>) -> tensor<2x32x16xf32> {
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x32x16xf32>
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
      affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<2x32x16xf32>, tensor<2x48x16xf32>, tensor<2x48x16xf32>, f32)
      outs(%e : tensor<2x32x16xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<2x32x16xf32>
  return %r : tensor<2x32x16xf32>
}

func.func @layer_norm(%a: tensor<40x384xf32>, %scale: tensor<384xf32>, %shift: tensor<384xf32>) -> tensor<40x384xf32> {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 384.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<40xf32>
  %e2 = tensor.empty() : tensor<40x384xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40xf32>) -> tensor<40xf32>
  %sum = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<40x384xf32>) outs(%z : tensor<40xf32>) {
    ^bb0(%x: f32, %s: f32):
      %t = arith.addf %s, %x : f32
      linalg.yield %t : f32
  } -> tensor<40xf32>
  %centred = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a, %sum : tensor<40x384xf32>, tensor<40xf32>) outs(%e2 : tensor<40x384xf32>) {
    ^bb0(%x: f32, %s: f32, %o: f32):
      %mean = arith.divf %s, %size : f32
      %t = arith.subf %x, %mean : f32
      linalg.yield %t : f32
  } -> tensor<40x384xf32>
  %squares = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%centred : tensor<40x384xf32>) outs(%z : tensor<40xf32>) {
    ^bb0(%x: f32, %s: f32):
      %p = arith.mulf %x, %x : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<40xf32>
  %r = linalg.generic {indexing_maps = [#id2, #row, #column, #column, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %squares, %scale, %shift : tensor<40x384xf32>, tensor<40xf32>, tensor<384xf32>, tensor<384xf32>)
      outs(%e2 : tensor<40x384xf32>) {
    ^bb0(%x: f32, %s: f32, %g: f32, %h: f32, %o: f32):
      %variance = arith.divf %s, %size : f32
      %guarded = arith.addf %variance, %epsilon : f32
      %root = math.rsqrt %guarded : f32
      %t = arith.mulf %x, %root : f32
      %u = arith.mulf %t, %g : f32
      %v = arith.addf %u, %h : f32
      linalg.yield %v : f32
  } -> tensor<40x384xf32>
  return %r : tensor<40x384xf32>
}

func.func @conv(%a: tensor<2x18x18x16xf32>, %f: tensor<3x3x16x32xf32>) -> tensor<2x16x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x16x16x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x16x16x32xf32>) -> tensor<2x16x16x32xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %f : tensor<2x18x18x16xf32>, tensor<3x3x16x32xf32>) outs(%z : tensor<2x16x16x32xf32>) -> tensor<2x16x16x32xf32>
  return %r : tensor<2x16x16x32xf32>
}

func.func @conv_f16(%a: tensor<1x18x18x32xf16>, %f: tensor<3x3x32x64xf16>) -> tensor<1x16x16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x16x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x16x64xf32>) -> tensor<1x16x16x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %f : tensor<1x18x18x32xf16>, tensor<3x3x32x64xf16>) outs(%z : tensor<1x16x16x64xf32>) -> tensor<1x16x16x64xf32>
  return %r : tensor<1x16x16x64xf32>
}

func.func @conv_depthwise(%a: tensor<1x19x19x24xf32>, %f: tensor<3x3x24xf32>) -> tensor<1x9x9x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x9x9x24xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x9x9x24xf32>) -> tensor<1x9x9x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>} ins(%a, %f : tensor<1x19x19x24xf32>, tensor<3x3x24xf32>) outs(%z : tensor<1x9x9x24xf32>) -> tensor<1x9x9x24xf32>
  return %r : tensor<1x9x9x24xf32>
}

func.func @max_pool(%a: tensor<1x20x20x16xf32>) -> tensor<1x9x9x16xf32> {
  %low = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x9x9x16xf32>
  %z = linalg.fill ins(%low : f32) outs(%e : tensor<1x9x9x16xf32>) -> tensor<1x9x9x16xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%a, %window : tensor<1x20x20x16xf32>, tensor<3x3xf32>) outs(%z : tensor<1x9x9x16xf32>) -> tensor<1x9x9x16xf32>
  return %r : tensor<1x9x9x16xf32>
}

func.func @sum_rows(%a: tensor<50x1000xf32>) -> tensor<50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<50xf32>) -> tensor<50xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<50x1000xf32>) outs(%z : tensor<50xf32>) dimensions = [1]
  return %r : tensor<50xf32>
}

func.func @max_columns(%a: tensor<200x60xi32>) -> tensor<60xi32> {
  %low = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<60xi32>
  %z = linalg.fill ins(%low : i32) outs(%e : tensor<60xi32>) -> tensor<60xi32>
  %r = linalg.reduce { arith.maxsi } ins(%a : tensor<200x60xi32>) outs(%z : tensor<60xi32>) dimensions = [0]
  return %r : tensor<60xi32>
}

func.func @argmax(%a: tensor<12x700xf32>) -> tensor<12xi64> {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e1 = tensor.empty() : tensor<12xf32>
  %e2 = tensor.empty() : tensor<12xi64>
  %z1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<12xf32>) -> tensor<12xf32>
  %z2 = linalg.fill ins(%none : i64) outs(%e2 : tensor<12xi64>) -> tensor<12xi64>
  %r:2 = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<12x700xf32>) outs(%z1, %z2 : tensor<12xf32>, tensor<12xi64>) {
    ^bb0(%x: f32, %best: f32, %at: i64):
      %i = linalg.index 1 : index
      %here = arith.index_cast %i : index to i64
      %larger = arith.cmpf ogt, %x, %best : f32
      %value = arith.maximumf %x, %best : f32
      %place = arith.select %larger, %here, %at : i64
      linalg.yield %value, %place : f32, i64
  } -> (tensor<12xf32>, tensor<12xi64>)
  return %r#1 : tensor<12xi64>
}

func.func @transpose(%a: tensor<70x130xf32>) -> tensor<130x70xf32> {
  %e = tensor.empty() : tensor<130x70xf32>
  %r = linalg.transpose ins(%a : tensor<70x130xf32>) outs(%e : tensor<130x70xf32>) permutation = [1, 0]
  return %r : tensor<130x70xf32>
}

func.func @transpose_i8(%a: tensor<64x128xi8>, %b: tensor<128x64xi8>) -> tensor<128x64xi8> {
  %e = tensor.empty() : tensor<128x64xi8>
  %r = linalg.generic {indexing_maps = [#swapped, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<64x128xi8>, tensor<128x64xi8>) outs(%e : tensor<128x64xi8>) {
    ^bb0(%x: i8, %y: i8, %o: i8):
      %t = arith.muli %x, %y : i8
      linalg.yield %t : i8
  } -> tensor<128x64xi8>
  return %r : tensor<128x64xi8>
}

func.func @math_f32(%a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<1000xf32> {
  %e = tensor.empty() : tensor<1000xf32>
  %r = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<1000xf32>, tensor<1000xf32>) outs(%e : tensor<1000xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = math.exp %x : f32
      %1 = math.absf %y : f32
      %2 = math.log1p %1 : f32
      %3 = math.sin %x : f32
      %4 = math.cos %y : f32
      %5 = math.tanh %x : f32
      %6 = math.erf %y : f32
      %7 = math.sqrt %1 : f32
      %8 = math.powf %1, %x : f32
      %9 = arith.mulf %0, %2 : f32
      %10 = arith.mulf %3, %4 : f32
      %11 = arith.mulf %5, %6 : f32
      %12 = arith.addf %9, %10 : f32
      %13 = arith.addf %12, %11 : f32
      %14 = arith.addf %13, %7 : f32
      %15 = arith.addf %14, %8 : f32
      linalg.yield %15 : f32
  } -> tensor<1000xf32>
  return %r : tensor<1000xf32>
}

func.func @math_f64(%a: tensor<300xf64>) -> tensor<300xf64> {
  %e = tensor.empty() : tensor<300xf64>
  %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<300xf64>) outs(%e : tensor<300xf64>) {
    ^bb0(%x: f64, %o: f64):
      %0 = math.exp %x : f64
      %1 = math.absf %x : f64
      %2 = math.sqrt %1 : f64
      %3 = math.log %1 : f64
      %4 = arith.divf %0, %2 : f64
      %5 = arith.addf %4, %3 : f64
      linalg.yield %5 : f64
  } -> tensor<300xf64>
  return %r : tensor<300xf64>
}

func.func @gelu_f16(%a: tensor<2000xf16>) -> tensor<2000xf16> {
  %half = arith.constant 0.5 : f16
  %one = arith.constant 1.0 : f16
  %root = arith.constant 0.70710678 : f16
  %e = tensor.empty() : tensor<2000xf16>
  %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<2000xf16>) outs(%e : tensor<2000xf16>) {
    ^bb0(%x: f16, %o: f16):
      %0 = arith.mulf %x, %root : f16
      %1 = math.erf %0 : f16
      %2 = arith.addf %1, %one : f16
      %3 = arith.mulf %x, %half : f16
      %4 = arith.mulf %3, %2 : f16
      linalg.yield %4 : f16
  } -> tensor<2000xf16>
  return %r : tensor<2000xf16>
}

func.func @bf16_to_f32(%a: tensor<777xbf16>, %b: tensor<777xf32>) -> (tensor<777xf32>, tensor<777xbf16>) {
  %e1 = tensor.empty() : tensor<777xf32>
  %e2 = tensor.empty() : tensor<777xbf16>
  %r:2 = linalg.generic {indexing_maps = [#id1, #id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<777xbf16>, tensor<777xf32>) outs(%e1, %e2 : tensor<777xf32>, tensor<777xbf16>) {
    ^bb0(%x: bf16, %y: f32, %o: f32, %p: bf16):
      %0 = arith.extf %x : bf16 to f32
      %1 = arith.mulf %0, %y : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %1, %2 : f32, bf16
  } -> (tensor<777xf32>, tensor<777xbf16>)
  return %r#0, %r#1 : tensor<777xf32>, tensor<777xbf16>
}

func.func @integer(%a: tensor<999xi64>, %b: tensor<999xi64>) -> tensor<999xi64> {
  %one = arith.constant 1 : i64
  %mask = arith.constant 63 : i64
  %e = tensor.empty() : tensor<999xi64>
  %r = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<999xi64>, tensor<999xi64>) outs(%e : tensor<999xi64>) {
    ^bb0(%x: i64, %y: i64, %o: i64):
      %odd = arith.ori %y, %one : i64
      %0 = arith.divsi %x, %odd : i64
      %1 = arith.remui %x, %odd : i64
      %2 = arith.andi %y, %mask : i64
      %3 = arith.shrsi %x, %2 : i64
      %4 = arith.muli %x, %y : i64
      %5 = arith.xori %0, %1 : i64
      %6 = arith.addi %5, %3 : i64
      %7 = arith.subi %6, %4 : i64
      linalg.yield %7 : i64
  } -> tensor<999xi64>
  return %r : tensor<999xi64>
}

func.func @gather(%a: tensor<100x32xf32>, %at: tensor<40xi32>) -> tensor<40x32xf32> {
  %e = tensor.empty() : tensor<40x32xf32>
  %r = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<40xi32>) outs(%e : tensor<40x32xf32>) {
    ^bb0(%i: i32, %o: f32):
      %row = arith.index_cast %i : i32 to index
      %column = linalg.index 1 : index
      %x = tensor.extract %a[%row, %column] : tensor<100x32xf32>
      linalg.yield %x : f32
  } -> tensor<40x32xf32>
  return %r : tensor<40x32xf32>
}

func.func @sort(%a: tensor<6x50xi32>) -> tensor<6x50xi32> {
  %r = iree_linalg_ext.sort dimension(1) outs(%a : tensor<6x50xi32>) {
    ^bb0(%x: i32, %y: i32):
      %0 = arith.cmpi slt, %x, %y : i32
      iree_linalg_ext.yield %0 : i1
  } -> tensor<6x50xi32>
  return %r : tensor<6x50xi32>
}

func.func @scan(%a: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true)
      ins(%a : tensor<8x64xf32>) outs(%e, %z : tensor<8x64xf32>, tensor<8xf32>) {
    ^bb0(%x: f32, %s: f32):
      %t = arith.addf %x, %s : f32
      iree_linalg_ext.yield %t : f32
  } -> tensor<8x64xf32>, tensor<8xf32>
  return %r#0 : tensor<8x64xf32>
}

func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id2, #column, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %t = arith.subf %x, %y : f32
      %u = math.exp2 %t : f32
      linalg.yield %u : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @perceptron(%a: tensor<32x64xf16>, %w1: tensor<64x128xf16>, %w2: tensor<128x16xf16>) -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<32x128xf32>
  %e2 = tensor.empty() : tensor<32x16xf32>
  %e3 = tensor.empty() : tensor<32x128xf16>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x16xf32>) -> tensor<32x16xf32>
  %h = linalg.matmul ins(%a, %w1 : tensor<32x64xf16>, tensor<64x128xf16>) outs(%z1 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %g = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<32x128xf32>) outs(%e3 : tensor<32x128xf16>) {
    ^bb0(%x: f32, %o: f16):
      %t = arith.maximumf %x, %zero : f32
      %u = arith.truncf %t : f32 to f16
      linalg.yield %u : f16
  } -> tensor<32x128xf16>
  %y = linalg.matmul ins(%g, %w2 : tensor<32x128xf16>, tensor<128x16xf16>) outs(%z2 : tensor<32x16xf32>) -> tensor<32x16xf32>
  %r = linalg.softmax dimension(1) ins(%y : tensor<32x16xf32>) outs(%e2 : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}
