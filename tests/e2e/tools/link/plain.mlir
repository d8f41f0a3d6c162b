util.func private @factor() -> f32 {
  %c = arith.constant 7.0 : f32
  util.return %c : f32
}

util.func public @seven(%x: f32) -> f32 {
  %f = util.call @factor() : () -> f32
  %y = arith.mulf %x, %f : f32
  util.return %y : f32
}
