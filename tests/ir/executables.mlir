// Executables and dispatches of them, as they are written.
// RUN: iree-opt --verify-roundtrip %s | diff <(grep -v '^//' %s) -
module {
  flow.executable private @doubled {
    flow.executable.export public @body as("entry") workgroups(%arg0: index, %arg1: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      flow.return %arg0, %arg1, %c1 : index, index, index
    }
    module {
      func.func @body() {
        return 
      }
    }
  }
  stream.executable private @halved attributes {test.flag} {
    stream.executable.export public @body
    module {
    }
  }
  hal.executable private @brought {
    hal.executable.variant public @cpu target(#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">) objects([]) {
      hal.executable.export public @first ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = []>) count(%arg0: !hal.device, %arg1: index) -> (index, index, index) {
        hal.return %arg1, %arg1, %arg1 : index, index, index
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
      hal.executable.export @second layout(#hal.pipeline.layout<constants = 0, bindings = []>)
    }
  }
  hal.executable.source private @source attributes {objects = #hal.executable.objects<{}>} {
  }
  func.func @main(%arg0: tensor<?x4xf32>, %arg1: i32, %arg2: index) -> tensor<?x4xf32> {
    %0 = flow.dispatch @doubled::@entry[%arg2, %arg2](%arg1, %arg0) : (i32, tensor<?x4xf32>{%arg2}) -> tensor<?x4xf32>{%arg2}
    %1:2 = flow.dispatch @brought::@cpu::@first[%arg2](%0, %arg0) {test.flag} : (tensor<?x4xf32>{%arg2}, tensor<?x4xf32>{%arg2}) -> (%0{%arg2}, tensor<4xf32>)
    %2 = flow.dispatch @halved::@body(%1#1) : (tensor<4xf32>) -> %1#1 as tensor<2x2xf32>
    return %0 : tensor<?x4xf32>
  }
}
