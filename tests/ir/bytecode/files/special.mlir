module @jit__lambda attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7xf32>) -> (tensor<7xf32> {jax.result_info = "result[0]"}, tensor<7xf32> {jax.result_info = "result[1]"}, tensor<7xf32> {jax.result_info = "result[2]"}, tensor<7xf32> {jax.result_info = "result[3]"}, tensor<7xf32> {jax.result_info = "result[4]"}, tensor<7xf32> {jax.result_info = "result[5]"}, tensor<7xf32> {jax.result_info = "result[6]"}, tensor<7xf32> {jax.result_info = "result[7]"}, tensor<7xf32> {jax.result_info = "result[8]"}, tensor<7xf32> {jax.result_info = "result[9]"}) {
    %c = stablehlo.constant dense<-1> : tensor<7xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<7xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<7xi32>
    %c_2 = stablehlo.constant dense<2147483647> : tensor<7xi32>
    %c_3 = stablehlo.constant dense<-2147483648> : tensor<7xi32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<7xf32>
    %cst_4 = stablehlo.constant dense<0x7F800000> : tensor<7xf32>
    %cst_5 = stablehlo.constant dense<1.14472985> : tensor<7xf32>
    %cst_6 = stablehlo.constant dense<3.14159274> : tensor<7xf32>
    %cst_7 = stablehlo.constant dense<0.918938517> : tensor<7xf32>
    %cst_8 = stablehlo.constant dense<2.01490307> : tensor<7xf32>
    %cst_9 = stablehlo.constant dense<7.500000e+00> : tensor<7xf32>
    %cst_10 = stablehlo.constant dense<8.000000e+00> : tensor<7xf32>
    %cst_11 = stablehlo.constant dense<1.50563267E-7> : tensor<7xf32>
    %cst_12 = stablehlo.constant dense<7.000000e+00> : tensor<7xf32>
    %cst_13 = stablehlo.constant dense<9.98436917E-6> : tensor<7xf32>
    %cst_14 = stablehlo.constant dense<6.000000e+00> : tensor<7xf32>
    %cst_15 = stablehlo.constant dense<-0.138571098> : tensor<7xf32>
    %cst_16 = stablehlo.constant dense<5.000000e+00> : tensor<7xf32>
    %cst_17 = stablehlo.constant dense<12.5073433> : tensor<7xf32>
    %cst_18 = stablehlo.constant dense<4.000000e+00> : tensor<7xf32>
    %cst_19 = stablehlo.constant dense<-176.615036> : tensor<7xf32>
    %cst_20 = stablehlo.constant dense<3.000000e+00> : tensor<7xf32>
    %cst_21 = stablehlo.constant dense<771.323425> : tensor<7xf32>
    %cst_22 = stablehlo.constant dense<2.000000e+00> : tensor<7xf32>
    %cst_23 = stablehlo.constant dense<-1259.13916> : tensor<7xf32>
    %cst_24 = stablehlo.constant dense<676.520386> : tensor<7xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<7xf32>
    %cst_26 = stablehlo.constant dense<5.000000e-01> : tensor<7xf32>
    %cst_27 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_28 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %cst_29 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_31 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.composite "chlo.erf" %arg0 {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<7xf32>) -> tensor<7xf32>
    %1 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %2 = stablehlo.add %arg0, %1 : tensor<7xf32>
    %3 = stablehlo.compare LT, %2, %cst_26 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %4 = stablehlo.negate %2 : tensor<7xf32>
    %5 = stablehlo.subtract %2, %cst_25 : tensor<7xf32>
    %6 = stablehlo.select %3, %4, %5 : tensor<7xi1>, tensor<7xf32>
    %7 = stablehlo.add %6, %cst_25 : tensor<7xf32>
    %8 = stablehlo.divide %cst_24, %7 : tensor<7xf32>
    %9 = stablehlo.add %cst_25, %8 : tensor<7xf32>
    %10 = stablehlo.add %6, %cst_22 : tensor<7xf32>
    %11 = stablehlo.divide %cst_23, %10 : tensor<7xf32>
    %12 = stablehlo.add %9, %11 : tensor<7xf32>
    %13 = stablehlo.add %6, %cst_20 : tensor<7xf32>
    %14 = stablehlo.divide %cst_21, %13 : tensor<7xf32>
    %15 = stablehlo.add %12, %14 : tensor<7xf32>
    %16 = stablehlo.add %6, %cst_18 : tensor<7xf32>
    %17 = stablehlo.divide %cst_19, %16 : tensor<7xf32>
    %18 = stablehlo.add %15, %17 : tensor<7xf32>
    %19 = stablehlo.add %6, %cst_16 : tensor<7xf32>
    %20 = stablehlo.divide %cst_17, %19 : tensor<7xf32>
    %21 = stablehlo.add %18, %20 : tensor<7xf32>
    %22 = stablehlo.add %6, %cst_14 : tensor<7xf32>
    %23 = stablehlo.divide %cst_15, %22 : tensor<7xf32>
    %24 = stablehlo.add %21, %23 : tensor<7xf32>
    %25 = stablehlo.add %6, %cst_12 : tensor<7xf32>
    %26 = stablehlo.divide %cst_13, %25 : tensor<7xf32>
    %27 = stablehlo.add %24, %26 : tensor<7xf32>
    %28 = stablehlo.add %6, %cst_10 : tensor<7xf32>
    %29 = stablehlo.divide %cst_11, %28 : tensor<7xf32>
    %30 = stablehlo.add %27, %29 : tensor<7xf32>
    %31 = stablehlo.add %cst_9, %6 : tensor<7xf32>
    %32 = stablehlo.divide %6, %cst_9 : tensor<7xf32>
    %33 = stablehlo.log_plus_one %32 : tensor<7xf32>
    %34 = stablehlo.add %cst_8, %33 : tensor<7xf32>
    %35 = stablehlo.divide %31, %34 : tensor<7xf32>
    %36 = stablehlo.add %6, %cst_26 : tensor<7xf32>
    %37 = stablehlo.subtract %36, %35 : tensor<7xf32>
    %38 = stablehlo.multiply %37, %34 : tensor<7xf32>
    %39 = stablehlo.log %30 : tensor<7xf32>
    %40 = stablehlo.add %cst_7, %38 : tensor<7xf32>
    %41 = stablehlo.add %40, %39 : tensor<7xf32>
    %42 = stablehlo.abs %2 : tensor<7xf32>
    %43 = stablehlo.floor %42 : tensor<7xf32>
    %44 = stablehlo.subtract %42, %43 : tensor<7xf32>
    %45 = stablehlo.compare LT, %cst_26, %44 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %46 = stablehlo.subtract %cst_25, %44 : tensor<7xf32>
    %47 = stablehlo.select %45, %46, %44 : tensor<7xi1>, tensor<7xf32>
    %48 = stablehlo.multiply %cst_6, %47 : tensor<7xf32>
    %49 = stablehlo.sine %48 : tensor<7xf32>
    %50 = stablehlo.log %49 : tensor<7xf32>
    %51 = stablehlo.subtract %cst_5, %50 : tensor<7xf32>
    %52 = stablehlo.subtract %51, %41 : tensor<7xf32>
    %53 = stablehlo.is_finite %50 : (tensor<7xf32>) -> tensor<7xi1>
    %54 = stablehlo.negate %50 : tensor<7xf32>
    %55 = stablehlo.select %53, %52, %54 : tensor<7xi1>, tensor<7xf32>
    %56 = stablehlo.select %3, %55, %41 : tensor<7xi1>, tensor<7xf32>
    %57 = stablehlo.abs %2 : tensor<7xf32>
    %58 = stablehlo.compare EQ, %57, %cst_4 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %59 = stablehlo.select %58, %cst_4, %56 : tensor<7xi1>, tensor<7xf32>
    %60 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %61 = stablehlo.add %arg0, %60 : tensor<7xf32>
    %62 = stablehlo.atan2 %arg0, %61 : tensor<7xf32>
    %63 = stablehlo.cbrt %arg0 : tensor<7xf32>
    %64 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %65 = stablehlo.add %arg0, %64 : tensor<7xf32>
    %66 = stablehlo.log_plus_one %65 : tensor<7xf32>
    %67 = stablehlo.exponential_minus_one %arg0 : tensor<7xf32>
    %68 = stablehlo.multiply %arg0, %arg0 : tensor<7xf32>
    %69 = stablehlo.multiply %68, %arg0 : tensor<7xf32>
    %70 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %71 = stablehlo.multiply %70, %69 : tensor<7xf32>
    %72 = stablehlo.add %arg0, %71 : tensor<7xf32>
    %73 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %74 = stablehlo.multiply %73, %72 : tensor<7xf32>
    %75 = stablehlo.tanh %74 : tensor<7xf32>
    %76 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %77 = stablehlo.add %76, %75 : tensor<7xf32>
    %78 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<7xf32>
    %80 = stablehlo.multiply %arg0, %79 : tensor<7xf32>
    %81 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %82 = stablehlo.add %arg0, %81 : tensor<7xf32>
    %83 = stablehlo.bitcast_convert %arg0 : (tensor<7xf32>) -> tensor<7xi32>
    %84 = stablehlo.bitcast_convert %82 : (tensor<7xf32>) -> tensor<7xi32>
    %85 = stablehlo.compare NE, %arg0, %arg0 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %86 = stablehlo.compare NE, %82, %82 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %87 = stablehlo.or %85, %86 : tensor<7xi1>
    %88 = stablehlo.bitcast_convert %cst : (tensor<7xf32>) -> tensor<7xi32>
    %89 = stablehlo.and %83, %c_2 : tensor<7xi32>
    %90 = stablehlo.and %84, %c_2 : tensor<7xi32>
    %91 = stablehlo.compare EQ, %arg0, %82 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %92 = stablehlo.compare EQ, %89, %c_1 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %93 = stablehlo.compare EQ, %90, %c_1 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %94 = stablehlo.and %83, %c_3 : tensor<7xi32>
    %95 = stablehlo.and %84, %c_3 : tensor<7xi32>
    %96 = stablehlo.or %95, %c_0 : tensor<7xi32>
    %97 = stablehlo.compare NE, %94, %95 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %98 = stablehlo.compare GT, %89, %90 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %99 = stablehlo.or %98, %97 : tensor<7xi1>
    %100 = stablehlo.select %99, %c, %c_0 : tensor<7xi1>, tensor<7xi32>
    %101 = stablehlo.add %83, %100 : tensor<7xi32>
    %102 = stablehlo.select %93, %84, %96 : tensor<7xi1>, tensor<7xi32>
    %103 = stablehlo.select %92, %102, %101 : tensor<7xi1>, tensor<7xi32>
    %104 = stablehlo.select %91, %84, %103 : tensor<7xi1>, tensor<7xi32>
    %105 = stablehlo.select %87, %88, %104 : tensor<7xi1>, tensor<7xi32>
    %106 = stablehlo.bitcast_convert %105 : (tensor<7xi32>) -> tensor<7xf32>
    %107 = call @round(%arg0) : (tensor<7xf32>) -> tensor<7xf32>
    %108 = stablehlo.sign %arg0 : tensor<7xf32>
    return %0, %59, %62, %63, %66, %67, %80, %106, %107, %108 : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
  }
  func.func private @chlo.erf.impl(%arg0: tensor<7xf32>) -> tensor<7xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<7xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<7xf32>
    %cst_1 = stablehlo.constant dense<-0.0142647391> : tensor<7xf32>
    %cst_2 = stablehlo.constant dense<-0.00737332925> : tensor<7xf32>
    %cst_3 = stablehlo.constant dense<-0.00168282702> : tensor<7xf32>
    %cst_4 = stablehlo.constant dense<-2.13374049E-4> : tensor<7xf32>
    %cst_5 = stablehlo.constant dense<-1.45660715E-5> : tensor<7xf32>
    %cst_6 = stablehlo.constant dense<-0.0160960332> : tensor<7xf32>
    %cst_7 = stablehlo.constant dense<-2.954600e-03> : tensor<7xf32>
    %cst_8 = stablehlo.constant dense<-7.34990637E-4> : tensor<7xf32>
    %cst_9 = stablehlo.constant dense<-5.69250624E-5> : tensor<7xf32>
    %cst_10 = stablehlo.constant dense<-2.10102394E-6> : tensor<7xf32>
    %cst_11 = stablehlo.constant dense<2.77068146E-8> : tensor<7xf32>
    %cst_12 = stablehlo.constant dense<-2.72614237E-10> : tensor<7xf32>
    %cst_13 = stablehlo.constant dense<-4.000000e+00> : tensor<7xf32>
    %cst_14 = stablehlo.constant dense<4.000000e+00> : tensor<7xf32>
    %0 = stablehlo.clamp %cst_13, %arg0, %cst_14 : tensor<7xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<7xf32>
    %2 = stablehlo.multiply %cst_12, %1 : tensor<7xf32>
    %3 = stablehlo.add %2, %cst_11 : tensor<7xf32>
    %4 = stablehlo.multiply %3, %1 : tensor<7xf32>
    %5 = stablehlo.add %4, %cst_10 : tensor<7xf32>
    %6 = stablehlo.multiply %5, %1 : tensor<7xf32>
    %7 = stablehlo.add %6, %cst_9 : tensor<7xf32>
    %8 = stablehlo.multiply %7, %1 : tensor<7xf32>
    %9 = stablehlo.add %8, %cst_8 : tensor<7xf32>
    %10 = stablehlo.multiply %9, %1 : tensor<7xf32>
    %11 = stablehlo.add %10, %cst_7 : tensor<7xf32>
    %12 = stablehlo.multiply %11, %1 : tensor<7xf32>
    %13 = stablehlo.add %12, %cst_6 : tensor<7xf32>
    %14 = stablehlo.multiply %cst_5, %1 : tensor<7xf32>
    %15 = stablehlo.add %14, %cst_4 : tensor<7xf32>
    %16 = stablehlo.multiply %15, %1 : tensor<7xf32>
    %17 = stablehlo.add %16, %cst_3 : tensor<7xf32>
    %18 = stablehlo.multiply %17, %1 : tensor<7xf32>
    %19 = stablehlo.add %18, %cst_2 : tensor<7xf32>
    %20 = stablehlo.multiply %19, %1 : tensor<7xf32>
    %21 = stablehlo.add %20, %cst_1 : tensor<7xf32>
    %22 = stablehlo.multiply %0, %13 : tensor<7xf32>
    %23 = stablehlo.divide %22, %21 : tensor<7xf32>
    %24 = stablehlo.clamp %cst_0, %23, %cst : tensor<7xf32>
    return %24 : tensor<7xf32>
  }
  func.func private @round(%arg0: tensor<7xf32>) -> tensor<7xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}
