// plain
module {
  func.func @upstream(%a: f32, %b: i32, %n: index, %c: i1) -> f32 {
    %0 = arith.addf %a, %a fastmath<fast> : f32
    %1 = arith.addi %b, %b overflow<nsw> : i32
    %2 = arith.cmpi slt, %b, %1 : i32
    %3 = arith.constant 2.5 : f32
    %c1 = arith.constant 1 : index
    %4 = scf.for %i = %c1 to %n step %c1 iter_args(%x = %0) -> (f32) {
      %9 = math.sin %x : f32
      scf.yield %9 : f32
    }
    %5 = scf.if %2 -> (f32) {
      scf.yield %4 : f32
    } else {
      scf.yield %3 : f32
    }
    cf.cond_br %c, ^bb1(%5, %1 : f32, i32), ^bb2(%3 : f32)
  ^bb1(%6: f32, %7: i32):
    cf.br ^bb2(%6 : f32)
  ^bb2(%8: f32):
    return %8 : f32
  }
  func.func @groups(%a: f32, %c: i1) -> f32 {
    cf.cond_br %c, ^bb1(%a : f32), ^bb2
  ^bb1(%0: f32):
    return %0 : f32
  ^bb2:
    cf.br ^bb3
  ^bb3:
    cf.cond_br %c, ^bb3, ^bb1(%a : f32)
  }
}
