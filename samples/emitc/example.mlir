// Numbers, loops, variables and calls of the host.
module @example {
  util.global private mutable @calls = 0 : i64

  func.func @collatz(%start: i64) -> (i64, i64) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %steps:2 = scf.while (%x = %start, %n = %zero) : (i64, i64) -> (i64, i64) {
      %more = arith.cmpi sgt, %x, %one : i64
      scf.condition(%more) %x, %n : i64, i64
    } do {
    ^bb0(%x: i64, %n: i64):
      %next = func.call @step(%x) : (i64) -> i64
      %m = arith.addi %n, %one : i64
      scf.yield %next, %m : i64, i64
    }
    %calls = util.global.load @calls : i64
    %more_calls = arith.addi %calls, %steps#1 : i64
    util.global.store %more_calls, @calls : i64
    return %steps#1, %more_calls : i64, i64
  }

  func.func private @step(%x: i64) -> i64 {
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %three = arith.constant 3 : i64
    %bit = arith.andi %x, %one : i64
    %odd = arith.cmpi eq, %bit, %one : i64
    %half = arith.divsi %x, %two : i64
    %triple = arith.muli %x, %three : i64
    %up = arith.addi %triple, %one : i64
    %next = arith.select %odd, %up, %half : i64
    return %next : i64
  }

  func.func @divide(%x: i32, %y: i32) -> (i32, f32) {
    %q = arith.divsi %x, %y : i32
    %a = arith.sitofp %x : i32 to f32
    %b = arith.sitofp %y : i32 to f32
    %r = arith.divf %a, %b : f32
    %s = math.sqrt %r : f32
    return %q, %s : i32, f32
  }
}
