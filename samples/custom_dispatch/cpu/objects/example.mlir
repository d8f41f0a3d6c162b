// A program that brings functions for CPUs, which dispatches of its own call.
//
//   iree-compile example.mlir --iree-hal-executable-object-search-path=FOLDER -o example.vmfb
//   iree-run-module --device=local-task --module=example.vmfb --input=3x40xf32=1 --input=3x40xf32=5
//
// FOLDER has functions_x86_64.o, made of functions.c.

#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#cpu = #hal.device.target<"local", [#x86_64]> : !hal.device
#in_place = #hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer>]>

module @example attributes {hal.device.targets = [#cpu]} {
  // The stream form says nothing of how arguments are passed.
  stream.executable private @averaging attributes {
    hal.executable.objects = #hal.executable.objects<{
      #x86_64 = [#hal.executable.object<{path = "functions_x86_64.o"}>]
    }>
  } {
    stream.executable.export public @average_tiles workgroups(%n: index) -> (index, index, index) {
      %tiles = affine.apply affine_map<()[s0] -> (s0 ceildiv 32)>()[%n]
      %one = arith.constant 1 : index
      stream.return %tiles, %one, %one : index, index, index
    }
    builtin.module {
      func.func private @average(memref<f32>, index, memref<f32>, index, memref<f32>, index, index)
          attributes {hal.import.static, llvm.bareptr = true}
      func.func @average_tiles(%x: !stream.binding, %y: !stream.binding, %out: !stream.binding, %n: index) {
        %zero = arith.constant 0 : index
        %tile = stream.dispatch.workgroup.id[0] : index
        %begin = affine.apply affine_map<()[s0] -> (s0 * 32)>()[%tile]
        %count = affine.min affine_map<(d0)[s0] -> (32, s0 - d0)>(%begin)[%n]
        %xs = stream.binding.subspan %x[%zero] : !stream.binding -> memref<?xf32>{%n}
        %ys = stream.binding.subspan %y[%zero] : !stream.binding -> memref<?xf32>{%n}
        %outs = stream.binding.subspan %out[%zero] : !stream.binding -> memref<?xf32>{%n}
        %xb, %xo, %xn, %xd = iree_codegen.extract_strided_metadata %xs : memref<?xf32> -> memref<f32>, index, index, index
        %yb, %yo, %yn, %yd = iree_codegen.extract_strided_metadata %ys : memref<?xf32> -> memref<f32>, index, index, index
        %ob, %oo, %on, %od = iree_codegen.extract_strided_metadata %outs : memref<?xf32> -> memref<f32>, index, index, index
        %xi = arith.addi %xo, %begin : index
        %yi = arith.addi %yo, %begin : index
        %oi = arith.addi %oo, %begin : index
        func.call @average(%xb, %xi, %yb, %yi, %ob, %oi, %count)
            : (memref<f32>, index, memref<f32>, index, memref<f32>, index, index) -> ()
        return
      }
    }
  }

  // The hal form has a variant for each target, with its layout.
  hal.executable private @scaling {
    hal.executable.variant public @x86_64 target(#x86_64) objects([
      #hal.executable.object<{path = "functions_x86_64.o"}>
    ]) {
      hal.executable.export public @scale_chunks ordinal(0) layout(#in_place)
          count(%device: !hal.device, %n: index) -> (index, index, index) {
        %chunks = affine.apply affine_map<()[s0] -> (s0 ceildiv 16)>()[%n]
        %one = arith.constant 1 : index
        hal.return %chunks, %one, %one : index, index, index
      }
      builtin.module {
        func.func private @scale(memref<?xf32>, index, f32) attributes {hal.import.static}
        func.func @scale_chunks() {
          %zero = arith.constant 0 : index
          %n_i32 = hal.interface.constant.load layout(#in_place) ordinal(0) : i32
          %factor = hal.interface.constant.load layout(#in_place) ordinal(1) : f32
          %n = arith.index_castui %n_i32 : i32 to index
          %chunk = hal.interface.workgroup.id[0] : index
          %x = hal.interface.binding.subspan layout(#in_place) binding(0) alignment(64) offset(%zero) flags(Indirect)
              : memref<?xf32>{%n}
          func.call @scale(%x, %chunk, %factor) : (memref<?xf32>, index, f32) -> ()
          return
        }
      }
    }
  }

  func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = tensor.dim %x, %zero : tensor<?x?xf32>
    %columns = tensor.dim %x, %one : tensor<?x?xf32>
    %n = arith.muli %rows, %columns : index
    %mean = flow.dispatch @averaging::@average_tiles[%n](%x, %y, %n)
        : (tensor<?x?xf32>{%rows, %columns}, tensor<?x?xf32>{%rows, %columns}, index) -> tensor<?x?xf32>{%rows, %columns}
    %product = arith.mulf %mean, %y : tensor<?x?xf32>
    %n_i32 = arith.index_cast %n : index to i32
    %factor = arith.constant -2.0 : f32
    %scaled = flow.dispatch @scaling::@x86_64::@scale_chunks[%n](%n_i32, %factor, %product)
        : (i32, f32, tensor<?x?xf32>{%rows, %columns}) -> %product{%rows, %columns}
    return %scaled : tensor<?x?xf32>
  }
}
