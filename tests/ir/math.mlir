// math 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @unary(%arg0: f32, %arg1: i32) {
    %0 = math.absf %arg0 : f32
    %1 = math.acos %arg0 : f32
    %2 = math.acosh %arg0 : f32
    %3 = math.asin %arg0 : f32
    %4 = math.asinh %arg0 : f32
    %5 = math.atan %arg0 : f32
    %6 = math.atanh %arg0 : f32
    %7 = math.cbrt %arg0 : f32
    %8 = math.ceil %arg0 : f32
    %9 = math.cos %arg0 : f32
    %10 = math.cosh %arg0 : f32
    %11 = math.erf %arg0 : f32
    %12 = math.erfc %arg0 : f32
    %13 = math.exp %arg0 fastmath<afn> : f32
    %14 = math.exp2 %arg0 : f32
    %15 = math.expm1 %arg0 : f32
    %16 = math.floor %arg0 : f32
    %17 = math.log %arg0 : f32
    %18 = math.log10 %arg0 : f32
    %19 = math.log1p %arg0 : f32
    %20 = math.log2 %arg0 : f32
    %21 = math.round %arg0 : f32
    %22 = math.roundeven %arg0 : f32
    %23 = math.rsqrt %arg0 : f32
    %24 = math.sin %arg0 : f32
    %25 = math.sinh %arg0 : f32
    %26 = math.sqrt %arg0 : f32
    %27 = math.tan %arg0 : f32
    %28 = math.tanh %arg0 : f32
    %29 = math.trunc %arg0 : f32
    %30 = math.absi %arg1 : i32
    %31 = math.ctlz %arg1 : i32
    %32 = math.cttz %arg1 : i32
    %33 = math.ctpop %arg1 : i32
    %34 = math.isfinite %arg0 : f32
    %35 = math.isinf %arg0 : f32
    %36 = math.isnan %arg0 : f32
    return 
  }
  func.func @more(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>, %arg2: complex<f32>) {
    %0 = math.atan2 %arg0, %arg0 : tensor<4xf32>
    %1 = math.copysign %arg0, %arg0 : tensor<4xf32>
    %2 = math.powf %arg0, %arg0 : tensor<4xf32>
    %3 = math.ipowi %arg1, %arg1 : tensor<4xi32>
    %4 = math.fpowi %arg0, %arg1 : tensor<4xf32>, tensor<4xi32>
    %5 = math.fma %arg0, %arg0, %arg0 : tensor<4xf32>
    %6 = complex.re %arg2 : complex<f32>
    %7 = complex.im %arg2 : complex<f32>
    %8 = complex.create %6, %7 : complex<f32>
    %9 = complex.add %8, %arg2 : complex<f32>
    %10 = complex.mul %9, %arg2 fastmath<fast> : complex<f32>
    %11 = complex.abs %10 : complex<f32>
    %12 = complex.eq %10, %arg2 : complex<f32>
    %cst = complex.constant [1.000000e+00 : f32, -2.000000e+00 : f32] : complex<f32>
    %13 = complex.exp %cst : complex<f32>
    return 
  }
}
