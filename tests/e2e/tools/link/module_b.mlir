module @module_b {
  util.func private @factor() -> f32 {
    %c = arith.constant 100.0 : f32
    util.return %c : f32
  }

  util.func public @half(%x: f32) -> f32 {
    %c = arith.constant 0.5 : f32
    %y = arith.mulf %x, %c : f32
    util.return %y : f32
  }

  util.func public @process(%x: f32) -> f32 {
    %f = util.call @factor() : () -> f32
    %h = util.call @half(%x) : (f32) -> f32
    %y = arith.addf %h, %f : f32
    util.return %y : f32
  }
}
