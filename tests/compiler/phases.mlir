// Compilation that begins in the middle, and what comes out at its end.
//
// RUN: for p in input abi preprocessing global-optimization dispatch-creation flow stream; do iree-compile --iree-hal-target-device=local --compile-to=$p %s -o %t.$p.mlir && iree-compile --iree-hal-target-device=local --compile-from=$p %t.$p.mlir -o %t.vmfb && iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=4x4xf32=2 --input=4x4xf32=3 --expected_output=4x4xf32=25 || exit 1; done
// What was done is not done again: an edited dispatch stays as it is.
// RUN: sed -e 's/graph.add/graph.sub/' %t.flow.mlir > %t.edited.mlir && iree-compile --iree-hal-target-device=local --compile-from=flow %t.edited.mlir -o %t.vmfb && iree-run-module --device=local-sync --module=%t.vmfb --function=main --input=4x4xf32=2 --input=4x4xf32=3 --expected_output=4x4xf32=23
// RUN: not iree-compile --iree-hal-target-device=local --compile-from=input %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=RAW %s
// RUN: not iree-compile --iree-hal-target-device=local --compile-from=flow %t.input.mlir -o %t.vmfb 2>&1 | FileCheck --check-prefix=EARLY %s
// RUN: not iree-compile --iree-hal-target-device=local --compile-from=executable-sources %s 2>&1 | FileCheck --check-prefix=LATE %s
// RUN: not iree-compile --compile-from=flow --compile-to=input %s 2>&1 | FileCheck --check-prefix=ORDER %s
// RUN: not iree-compile --compile-from=lunch %s 2>&1 | FileCheck --check-prefix=PHASE %s
// RAW: phases.mlir:[[#]]:8: error: 'stablehlo.dot_general' op has not been through the phase 'input', as --compile-from says
// EARLY: error: 'graph.contract' op is in no dispatch, so this is not what is there after the phase 'flow'
// LATE: error: --compile-from=executable-sources: what is printed there is kernels alone; compile from another phase
// ORDER: error: --compile-from=flow begins behind where --compile-to=input ends
// PHASE: error: unknown phase 'lunch' of --compile-from; known: start input
//
// RUN: iree-compile --compile-mode=precompile %s -o %t.mlir && iree-compile --compile-to=global-optimization %s -o - | diff %t.mlir -
// RUN: iree-compile --iree-hal-target-device=local --compile-to=executable-sources %s -o %t.kernels.mlir
// RUN: iree-compile --iree-hal-target-device=local --compile-mode=hal-executable %t.kernels.mlir -o %t.so && llvm-readelf --dyn-symbols %t.so | FileCheck --check-prefix=ELF %s
// RUN: iree-compile --iree-hal-target-device=local --output-format=hal-executable %s -o %t.so && llvm-readelf --dyn-symbols %t.so | FileCheck --check-prefix=ELF %s
// RUN: iree-compile --iree-hal-target-device=cuda --output-format=hal-executable %s | FileCheck --check-prefix=PTX %s
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-target-device=cuda --output-format=hal-executable %s 2>&1 | FileCheck --check-prefix=ONE %s
// RUN: not iree-compile --iree-hal-target-device=local --compile-mode=hal-executable %s 2>&1 | FileCheck --check-prefix=KERNELS %s
// RUN: not iree-compile --compile-mode=vm --compile-to=hal %s 2>&1 | FileCheck --check-prefix=MODE %s
// MODE: error: --compile-mode=vm compiles what has been through them: it has no phases for --compile-from and -to
// RUN: not iree-compile --compile-mode=vm %s 2>&1 | FileCheck --check-prefix=VM %s
// ELF: iree_hal_executable_library_query
// PTX: .visible .entry main_dispatch_0
// ONE: error: an executable is for one target; there are 2
// KERNELS: phases.mlir:[[#]]:1: error: 'func.func' op is no kernel.func; --compile-mode=hal-executable takes kernels
// VM: phases.mlir:[[#]]:1: error: 'func.func' op is beside a vm.module; --compile-mode=vm takes one alone
//
// RUN: iree-compile --iree-hal-target-device=local --output-format=vm-asm %s | FileCheck --check-prefix=ASM %s
// RUN: iree-compile --iree-hal-target-device=local --output-format=vm-c %s | FileCheck --check-prefix=C %s
// C: iree_status_t module_create(
// C: #if defined(EMITC_IMPLEMENTATION)
// C: return {{[0-9]+}};  // hal_execute
// RUN: not iree-compile --iree-hal-target-device=local --output-format=vm-wasm %s 2>&1 | FileCheck --check-prefix=FORMAT %s
// ASM: vm.module @
// ASM: hal.commands @main
// ASM: hal_execute
// FORMAT: error: --output-format=vm-wasm is not supported; these are: vm-bytecode vm-asm vm-c hal-executable

func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x4xf32>
  %1 = stablehlo.add %0, %one : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
