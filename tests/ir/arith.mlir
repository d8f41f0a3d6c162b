// arith 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  func.func @integers(%arg0: i32, %arg1: i32, %arg2: vector<4xi64>, %arg3: tensor<2x?xi8>, %arg4: index) -> (i32, i1) {
    %0 = arith.addi %arg0, %arg1 : i32
    %1 = arith.subi %0, %arg1 overflow<nsw> : i32
    %2 = arith.muli %1, %arg1 overflow<nsw, nuw> : i32
    %3 = arith.divsi %2, %arg1 : i32
    %4 = arith.divui %3, %arg1 : i32
    %5 = arith.ceildivsi %4, %arg1 : i32
    %6 = arith.ceildivui %5, %arg1 : i32
    %7 = arith.floordivsi %6, %arg1 : i32
    %8 = arith.remsi %7, %arg1 : i32
    %9 = arith.remui %8, %arg1 : i32
    %10 = arith.andi %9, %arg1 : i32
    %11 = arith.ori %10, %arg1 : i32
    %12 = arith.xori %11, %arg1 : i32
    %13 = arith.shli %12, %arg1 : i32
    %14 = arith.shrsi %13, %arg1 : i32
    %15 = arith.shrui %14, %arg1 : i32
    %16 = arith.maxsi %15, %arg1 : i32
    %17 = arith.maxui %16, %arg1 : i32
    %18 = arith.minsi %17, %arg1 : i32
    %19 = arith.minui %18, %arg1 : i32
    %20 = arith.addi %arg2, %arg2 : vector<4xi64>
    %21 = arith.muli %arg3, %arg3 {note = "tensor"} : tensor<2x?xi8>
    %sum, %overflow = arith.addui_extended %arg0, %arg1 : i32, i1
    %low, %high = arith.mulsi_extended %arg0, %arg1 : i32
    %22 = arith.cmpi slt, %arg0, %arg1 : i32
    %23 = arith.cmpi uge, %arg2, %arg2 : vector<4xi64>
    %24 = arith.select %22, %arg0, %arg1 : i32
    %25 = arith.select %23, %arg2, %arg2 : vector<4xi1>, vector<4xi64>
    %26 = arith.addi %arg4, %arg4 : index
    return %24, %22 : i32, i1
  }
  func.func @floats(%arg0: f32, %arg1: tensor<4xf64>) {
    %0 = arith.addf %arg0, %arg0 : f32
    %1 = arith.subf %0, %arg0 fastmath<fast> : f32
    %2 = arith.mulf %1, %arg0 fastmath<nnan, ninf> : f32
    %3 = arith.divf %2, %arg0 : f32
    %4 = arith.remf %3, %arg0 : f32
    %5 = arith.negf %4 : f32
    %6 = arith.maximumf %5, %arg0 : f32
    %7 = arith.minimumf %6, %arg0 : f32
    %8 = arith.maxnumf %7, %arg0 : f32
    %9 = arith.minnumf %8, %arg0 : f32
    %10 = arith.cmpf oeq, %9, %arg0 : f32
    %11 = arith.cmpf ult, %arg1, %arg1 fastmath<contract> : tensor<4xf64>
    return 
  }
  func.func @casts(%arg0: i8, %arg1: f32, %arg2: f16, %arg3: index, %arg4: tensor<?xi32>) {
    %0 = arith.extsi %arg0 : i8 to i32
    %1 = arith.extui %arg0 : i8 to i64
    %2 = arith.trunci %0 : i32 to i1
    %3 = arith.sitofp %arg0 : i8 to f32
    %4 = arith.uitofp %arg0 : i8 to bf16
    %5 = arith.fptosi %arg1 : f32 to i16
    %6 = arith.fptoui %arg1 : f32 to i16
    %7 = arith.extf %arg2 : f16 to f64
    %8 = arith.truncf %arg1 : f32 to bf16
    %9 = arith.truncf %arg1 to_nearest_even : f32 to bf16
    %10 = arith.index_cast %arg3 : index to i64
    %11 = arith.index_castui %10 : i64 to index
    %12 = arith.bitcast %arg1 : f32 to i32
    %13 = arith.index_cast %arg4 : tensor<?xi32> to tensor<?xindex>
    return 
  }
  func.func @constants() {
    %true = arith.constant true
    %false = arith.constant false
    %c-1_i32 = arith.constant -1 : i32
    %c7 = arith.constant 7 : index
    %c7_0 = arith.constant 7 : index
    %c5_i64 = arith.constant 5 : i64
    %cst = arith.constant 2.500000e+00 : f32
    %cst_1 = arith.constant 0.333333343 : f32
    %cst_2 = arith.constant 1.000000e-01 : f64
    %cst_3 = arith.constant 0x7F800000 : f32
    %cst_4 = arith.constant dense<[1, -2, 3]> : tensor<3xi16>
    %cst_5 = arith.constant {why = "because"} dense<0.000000e+00> : tensor<2x2xf32>
    return 
  }
}
