module @example {
  func.func private @sample.next(i32) -> i32
  func.func @main(%step: i32) -> (i32, i32) {
    %first = call @sample.next(%step) : (i32) -> i32
    %second = call @sample.next(%step) : (i32) -> i32
    return %first, %second : i32, i32
  }
}
