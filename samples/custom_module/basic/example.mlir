// Compile without a device: iree-compile --iree-execution-model=host-only example.mlir -o example.vmfb
module @example {
  // The module `custom` has these: module.c.
  func.func private @custom.string.create(!util.buffer) -> !custom.string
  func.func private @custom.string.length(!custom.string) -> index attributes {
    vm.signature = (!vm.ref<!custom.string>) -> i64
  }
  func.func private @custom.string.print(!custom.string)
  // Perhaps it has this one; @instead is called where it has not.
  func.func private @custom.string.print_debug(!custom.string) attributes {vm.fallback = @instead}
  func.func private @instead(%ignored: !custom.string) {
    %text = util.buffer.constant : !util.buffer = "no debugging here"
    %string = call @custom.string.create(%text) : (!util.buffer) -> !custom.string
    call @custom.string.print(%string) : (!custom.string) -> ()
    return
  }

  func.func @main() {
    %text = util.buffer.constant : !util.buffer = "hello"
    %string = call @custom.string.create(%text) : (!util.buffer) -> !custom.string
    call @custom.string.print(%string) : (!custom.string) -> ()
    %length = call @custom.string.length(%string) : (!custom.string) -> index
    util.optimization_barrier %length : index
    call @custom.string.print_debug(%string) : (!custom.string) -> ()
    return
  }

  // Objects may be arguments and results, and take part in control flow.
  func.func @longest(%a: !custom.string, %b: !custom.string) -> !custom.string {
    %x = call @custom.string.length(%a) : (!custom.string) -> index
    %y = call @custom.string.length(%b) : (!custom.string) -> index
    %more = arith.cmpi sgt, %x, %y : index
    %r = scf.if %more -> (!custom.string) {
      scf.yield %a : !custom.string
    } else {
      scf.yield %b : !custom.string
    }
    return %r : !custom.string
  }
  func.func @choose() {
    %a = util.buffer.constant : !util.buffer = "short"
    %b = util.buffer.constant "named" : !util.buffer = dense<[108, 111, 110, 103, 101, 114]> : vector<6xi8>
    %s = call @custom.string.create(%a) : (!util.buffer) -> !custom.string
    %t = call @custom.string.create(%b) : (!util.buffer) -> !custom.string
    %r = call @longest(%s, %t) : (!custom.string, !custom.string) -> !custom.string
    call @custom.string.print(%r) : (!custom.string) -> ()
    return
  }
}
