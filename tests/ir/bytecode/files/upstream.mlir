module {
  func.func @upstream(%arg0: f32, %arg1: i32, %arg2: index, %arg3: i1) -> f32 {
    %0 = arith.addf %arg0, %arg0 fastmath<fast> : f32
    %1 = arith.addi %arg1, %arg1 overflow<nsw> : i32
    %2 = arith.cmpi slt, %arg1, %1 : i32
    %cst = arith.constant 2.500000e+00 : f32
    %c1 = arith.constant 1 : index
    %3 = scf.for %arg4 = %c1 to %arg2 step %c1 iter_args(%arg5 = %0) -> (f32) {
      %8 = math.sin %arg5 : f32
      scf.yield %8 : f32
    }
    %4 = scf.if %2 -> (f32) {
      scf.yield %3 : f32
    } else {
      scf.yield %cst : f32
    }
    cf.cond_br %arg3, ^bb1(%4, %1 : f32, i32), ^bb2(%cst : f32)
  ^bb1(%5: f32, %6: i32):  // pred: ^bb0
    cf.br ^bb2(%5 : f32)
  ^bb2(%7: f32):  // 2 preds: ^bb0, ^bb1
    return %7 : f32
  }
  func.func @groups(%arg0: f32, %arg1: i1) -> f32 {
    cf.cond_br %arg1, ^bb1(%arg0 : f32), ^bb2
  ^bb1(%0: f32):  // 2 preds: ^bb0, ^bb3
    return %0 : f32
  ^bb2:  // pred: ^bb0
    cf.br ^bb3
  ^bb3:  // 2 preds: ^bb2, ^bb3
    cf.cond_br %arg1, ^bb3, ^bb1(%arg0 : f32)
  }
}
