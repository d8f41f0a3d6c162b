// What a dispatch that calls a function of an object knows of its place: numbers and sizes of workgroups.
// RUN: rm -rf %t && mkdir %t && clang -c -O2 -fPIC -ffreestanding -fno-builtin samples/custom_dispatch/cpu/objects/functions.c -o %t/functions_x86_64.o
// RUN: iree-compile --iree-hal-executable-object-search-path=%t %s -o %t/a.vmfb
// RUN: iree-run-module --device=local-task --module=%t/a.vmfb --function=in_stream --input=40xf32=3 --expected_output=40xf32=6
// RUN: iree-run-module --device=local-task --module=%t/a.vmfb --function=in_hal --input=40xf32=3 --expected_output=40xf32=6

#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#cpu = #hal.device.target<"local", [#x86_64]> : !hal.device
#in_place = #hal.pipeline.layout<constants = 0, bindings = [#hal.pipeline.binding<storage_buffer>]>

module attributes {hal.device.targets = [#cpu]} {
  stream.executable private @streamed attributes {
    hal.executable.objects = #hal.executable.objects<{
      #x86_64 = [#hal.executable.object<{path = "functions_x86_64.o"}>]
    }>
  } {
    stream.executable.export public @scale_chunks workgroups() -> (index, index, index) {
      %three = arith.constant 3 : index
      %one = arith.constant 1 : index
      stream.return %three, %one, %one : index, index, index
    }
    builtin.module {
      func.func private @scale(memref<?xf32>, index, f32) attributes {hal.import.static}
      func.func @scale_chunks(%x: !stream.binding) {
        %zero = arith.constant 0 : index
        %n = arith.constant 40 : index
        %factor = arith.constant 2.0 : f32
        %id = stream.dispatch.workgroup.id[0] : index
        %count = stream.dispatch.workgroup.count[0] : index
        %chunk = arith.remui %id, %count : index
        %memory = stream.binding.subspan %x[%zero] : !stream.binding -> memref<?xf32>{%n}
        func.call @scale(%memory, %chunk, %factor) : (memref<?xf32>, index, f32) -> ()
        return
      }
    }
  }

  hal.executable private @plain {
    hal.executable.variant public @x86_64 target(#x86_64) objects([
      #hal.executable.object<{path = "functions_x86_64.o"}>
    ]) {
      hal.executable.export public @scale_chunks ordinal(0) layout(#in_place)
          count(%device: !hal.device) -> (index, index, index) {
        %three = arith.constant 3 : index
        %one = arith.constant 1 : index
        hal.return %three, %one, %one : index, index, index
      }
      builtin.module {
        func.func private @scale(memref<?xf32>, index, f32) attributes {hal.import.static}
        func.func @scale_chunks() {
          %zero = arith.constant 0 : index
          %n = arith.constant 40 : index
          %factor = arith.constant 2.0 : f32
          %id = hal.interface.workgroup.id[0] : index
          %count = hal.interface.workgroup.count[0] : index
          %size = hal.interface.workgroup.size[0] : index
          %first = arith.muli %id, %size : index
          %chunk = arith.remui %first, %count : index
          %x = hal.interface.binding.subspan layout(#in_place) binding(0) alignment(64) offset(%zero)
              : memref<?xf32>{%n}
          func.call @scale(%x, %chunk, %factor) : (memref<?xf32>, index, f32) -> ()
          return
        }
      }
    }
  }

  func.func @in_stream(%x: tensor<40xf32>) -> tensor<40xf32> {
    %0 = flow.dispatch @streamed::@scale_chunks(%x) : (tensor<40xf32>) -> %x
    return %0 : tensor<40xf32>
  }
  func.func @in_hal(%x: tensor<40xf32>) -> tensor<40xf32> {
    %0 = flow.dispatch @plain::@x86_64::@scale_chunks(%x) : (tensor<40xf32>) -> %x
    return %0 : tensor<40xf32>
  }
}
