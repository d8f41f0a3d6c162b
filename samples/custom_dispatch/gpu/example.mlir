// A program that brings its own kernels, for NVIDIA's GPUs and AMD's, and dispatches them between what is compiled.
//
//   iree-compile example.mlir --iree-hal-executable-object-search-path=FOLDER -o example.vmfb
//   iree-run-module --device=cuda --module=example.vmfb --input=100xf32=3 --input=100xf32=1
//
// FOLDER has kernels.ptx and kernels_gfx1100.hsaco.

#nvidia = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#amd = #hal.executable.target<"rocm", "rocm-hsaco-fb", {target_arch = "gfx1100"}>
#devices = [
  #hal.device.target<"cuda", [#nvidia]> : !hal.device,
  #hal.device.target<"hip", [#amd]> : !hal.device
]

#in_place = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>,
  #hal.pipeline.binding<storage_buffer>
]>

module @example attributes {hal.device.targets = #devices} {
  hal.executable.source private @kernels attributes {
    objects = #hal.executable.objects<{
      // Code for an older processor runs on newer ones.
      #nvidia = [#hal.executable.object<{path = "kernels.ptx"}>],
      #amd = [#hal.executable.object<{path = "kernels_gfx1100.hsaco"}>]
    }>
  } {
    hal.executable.export public @subtract_from ordinal(0) layout(#in_place)
        count(%device: !hal.device, %n: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%n]
      %one = arith.constant 1 : index
      hal.return %x, %one, %one : index, index, index
    } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
  }

  func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %n_i32 = arith.index_cast %n : index to i32
    %factor = arith.constant 2.5 : f32

    // A new tensor, by a kernel that is declared where it is called: x * 2.5 + y.
    %sum = hal.dispatch.extern "scale_add"[%n](%x, %y, %n_i32, %factor)
        : (tensor<?xf32>{%n}, tensor<?xf32>{%n}, i32, f32) -> tensor<?xf32>{%n}
      count(%device: !hal.device, %w: index) -> (index, index, index) {
        %c64 = arith.constant 64 : index
        %groups = arith.ceildivui %w, %c64 : index
        %one = arith.constant 1 : index
        hal.return %groups, %one, %one : index, index, index
      }
      layout(#hal.pipeline.layout<constants = 2, bindings = [
        #hal.pipeline.binding<storage_buffer, ReadOnly>,
        #hal.pipeline.binding<storage_buffer, ReadOnly>,
        #hal.pipeline.binding<storage_buffer>
      ]>)
      objects({
        #nvidia ordinal(0) = [#hal.executable.object<{path = "kernels.ptx"}>],
        #amd ordinal(0) = [#hal.executable.object<{path = "kernels_gfx1100.hsaco"}>]
      }) {workgroup_size = [64 : index, 1 : index, 1 : index]}

    // Compiled as always.
    %square = arith.mulf %sum, %sum : tensor<?xf32>

    // In the place of an argument, which is not changed for others: square - x.
    %difference = flow.dispatch @kernels::@subtract_from[%n](%x, %square, %n_i32)
        : (tensor<?xf32>{%n}, tensor<?xf32>{%n}, i32) -> %square{%n}
    return %difference, %square : tensor<?xf32>, tensor<?xf32>
  }
}
