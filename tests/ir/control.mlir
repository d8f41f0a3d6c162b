// control 
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module @outer attributes {test.flag, test.list = [1, 2.500000e+00, "text"]} {
  func.func private @declared(i32, tensor<4xf32> {test.arg = 1 : i64}) -> (i32 {test.res})
  func.func public @main(%arg0: i32 {test.name = "x"}, %arg1: i1) -> i32 attributes {test.kind = "entry"} {
    %0 = call @twice(%arg0) : (i32) -> i32
    %f = constant @twice : (i32) -> i32
    %1 = call_indirect %f(%0) : (i32) -> i32
    cf.cond_br %arg1, ^bb1(%1 : i32), ^bb2
  ^bb1(%2: i32):
    cf.br ^bb3(%2, %arg1 : i32, i1)
  ^bb2:
    cf.assert %arg1, "must hold"
    cf.switch %arg0 : i32, [
      default: ^bb1(%0 : i32),
      1: ^bb3(%0, %arg1 : i32, i1),
      42: ^bb1(%1 : i32)
    ]
  ^bb3(%3: i32, %4: i1):
    return %3 : i32
  }
  func.func nested @twice(%arg0: i32) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
  func.func @"quoted name!"() {
    return 
  }
  module {
  }
}
