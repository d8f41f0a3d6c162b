module @module_a {
  util.func private @module_b.process(%x: f32) -> f32

  util.func private @factor() -> f32 {
    %c = arith.constant 2.0 : f32
    util.return %c : f32
  }

  util.func public @compute(%x: f32) -> f32 {
    %f = util.call @factor() : () -> f32
    %p = util.call @module_b.process(%x) : (f32) -> f32
    %y = arith.mulf %p, %f : f32
    util.return %y : f32
  }

  util.func public @unused(%x: f32) -> f32 {
    util.return %x : f32
  }
}
