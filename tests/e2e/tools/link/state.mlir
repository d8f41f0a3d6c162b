module @state {
  util.global private mutable @count = 3.0 : f32

  util.func public @next(%x: f32) -> f32 {
    %c = util.global.load @count : f32
    util.return %c : f32
  }
}
