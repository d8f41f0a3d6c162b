// Flags that other tests do not use: what each changes, or how it is refused.
//
// RUN: iree-compile --iree-hal-list-target-backends | FileCheck --check-prefix=BACKENDS %s
// RUN: iree-compile --iree-llvmcpu-list-targets | FileCheck --check-prefix=CPUS %s
// BACKENDS: Registered target backends:
// BACKENDS: {{^}}  llvm-cpu
// CPUS: {{^}}  haswell
//
// CPU code: packed weights or not, as an ELF file of the runtime's or of the system's, with line tables or without.
// RUN: rm -rf %t && mkdir %t && sed -n -e "s/NUMBERS/$(seq -s, 4096)/" -e 's|^// tiles: ||p' %s > %t/w.mlir
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-cpu=generic --compile-to=stream %t/w.mlir -o - | FileCheck --check-prefix=TILED %s
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-target-cpu=generic --iree-opt-data-tiling=false --compile-to=stream %t/w.mlir -o - | FileCheck --check-prefix=FLAT %s
// tiles: func.func @tiles(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
// tiles:   %l = stablehlo.constant dense<[NUMBERS]> : tensor<4096xf32>
// tiles:   %w = stablehlo.reshape %l : (tensor<4096xf32>) -> tensor<64x64xf32>
// tiles:   %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
// tiles:   return %0 : tensor<64x64xf32>
// tiles: }
// TILED: graph.unpack
// FLAT-NOT: graph.unpack
// FLAT: graph.contract
// FLAT-NOT: graph.unpack
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-link-embedded=false %s -o %t/s.vmfb && unzip -l %t/s.vmfb | FileCheck --check-prefix=SYSTEM %s
// RUN: iree-run-module --device=local-sync --module=%t/s.vmfb --function=main --input=4x8xf32=1 | FileCheck --check-prefix=VALUES %s
// SYSTEM: executables/{{.*}}_system_elf_x86_64.so
// VALUES: 4x16xf32=[8 8 8 8
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-static-library-output-path=%t/kernels.o %s -o %t/l.vmfb && llvm-readelf -s %t/kernels.o | FileCheck --check-prefix=STATIC %s && grep -q library_query %t/kernels.h
// RUN: unzip -p %t/l.vmfb executables/module_linked_llvm_cpu_static.so | FileCheck --check-prefix=NAME %s
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-link-static=false --iree-llvmcpu-static-library-output-path=%t/none.o %s -o %t/l.vmfb && test ! -e %t/none.o
// RUN: not iree-compile --iree-hal-target-device=local --iree-llvmcpu-link-static %s -o %t/l.vmfb 2>&1 | FileCheck --check-prefix=WHERE %s
// NAME: {{^}}flags_linked
// WHERE: error: --iree-llvmcpu-link-static: where to? --iree-llvmcpu-static-library-output-path=FILE.o says it
// STATIC: GLOBAL {{.*}}_library_query
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-dump-executable-binaries-to=%t/plain %s -o %t/p.vmfb && llvm-readelf -S %t/plain/*.so | FileCheck --check-prefix=PLAIN %s
// RUN: iree-compile --iree-hal-target-device=local --iree-llvmcpu-debug-symbols --iree-hal-dump-executable-binaries-to=%t/debug %s -o %t/d.vmfb && llvm-readelf -S %t/debug/*.so | FileCheck --check-prefix=DEBUG %s
// PLAIN-NOT: .debug_line
// DEBUG: .debug_line
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-dump-executable-intermediates-to=%t/mid --iree-hal-dump-executable-benchmarks-to=%t/bench %s -o %t/d.vmfb && ls %t/mid %t/bench | FileCheck --check-prefix=FILES %s
// FILES: _benchmark.mlir
// FILES: .optimized.ll
// FILES-NEXT: module_{{.*}}.s
//
// AMD code objects.
// RUN: iree-compile --iree-hal-target-device=hip --iree-rocm-target=gfx1100 --iree-rocm-container-type=hsaco %s -o %t/a.vmfb && unzip -l %t/a.vmfb | FileCheck --check-prefix=RAW %s
// RUN: iree-compile --iree-hal-target-device=hip --iree-rocm-target=gfx1100 %s -o %t/a.vmfb && unzip -l %t/a.vmfb | FileCheck --check-prefix=HIP %s
// RAW-NOT: rocm_hsaco_fb
// RAW: .hsaco
// HIP: {{[.]fb$}}
// RUN: unzip -p %t/a.vmfb '*.fb' | head -c 4 | grep -Fx HIP1
// RUN: mkdir %t/edit && iree-compile --iree-hal-target-device=local --iree-hal-dump-executable-configurations-to=%t/edit %s -o %t/d.vmfb && iree-compile --iree-hal-target-device=local --iree-hal-substitute-executable-configurations-from=%t/edit %s -o %t/d.vmfb 2>&1 | FileCheck --check-prefix=EDITED %s
// EDITED: note: executable '{{.*}}' substituted with the
//
// What is shown on the way.
// RUN: iree-compile --mlir-print-ir-after-all --compile-to=flow %s -o %t/x 2>&1 | grep -c '^// -----// IR Dump After' > %t/all
// RUN: iree-compile --mlir-print-ir-after-change --compile-to=flow %s -o %t/x 2>&1 | grep -c '^// -----// IR Dump After' > %t/changed
// RUN: iree-compile --mlir-print-ir-before-all --compile-to=flow %s -o %t/x 2>&1 | grep -c '^// -----// IR Dump Before' | diff %t/all -
// RUN: iree-compile --mlir-print-ir-before=cse --compile-to=flow %s -o %t/x 2>&1 | FileCheck --check-prefix=BEFORE %s
// BEFORE: // -----// IR Dump Before cse //----- //
// BEFORE-NOT: IR Dump After
// RUN: echo 'func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.custom_call @nothing(%x) : (tensor<2xf32>) -> tensor<2xf32> return %0 : tensor<2xf32> }' > %t/fails.mlir && not iree-compile --mlir-print-ir-after-failure --compile-to=flow %t/fails.mlir -o %t/x 2>&1 | FileCheck --check-prefix=FAILURE %s
// FAILURE: // -----// IR Dump After lower-input Failed //----- //
// RUN: not iree-compile --mlir-print-ir-before=csee --compile-to=flow %s -o %t/x 2>&1 | grep -F -e "--mlir-print-ir-before=csee: there is no such pass; did you mean 'cse'?"
// RUN: test $(cat %t/all) -gt $(cat %t/changed) && test $(cat %t/changed) -gt 0
// RUN: iree-compile --mlir-timing --compile-to=flow %s -o %t/x 2>&1 | FileCheck --check-prefix=TIMING %s
// TIMING: form-dispatches
// RUN: iree-compile --compile-to=global-optimization %s -o - | FileCheck --check-prefix=FOLDED %s
// RUN: iree-compile --opt-bisect-limit=1 --compile-to=global-optimization %s -o - | FileCheck --check-prefix=BISECTED %s
// FOLDED-LABEL: @folds
// FOLDED-NOT: graph.transpose
// BISECTED-LABEL: @folds
// BISECTED: graph.transpose
// RUN: iree-compile --emit-mlir-bytecode --compile-to=input %s -o %t/m.mlirbc && head -c 4 %t/m.mlirbc | od -An -tx1 | FileCheck --check-prefix=MAGIC %s
// RUN: iree-compile --emit-mlir-bytecode --emit-mlir-bytecode-version=0 --compile-to=input %s -o %t/old.mlirbc && not cmp -s %t/m.mlirbc %t/old.mlirbc
// RUN: iree-opt %t/old.mlirbc -o %t/old.mlir && iree-opt %t/m.mlirbc | diff - %t/old.mlir
// MAGIC: 4d 4c ef 52
// RUN: iree-compile --iree-hal-target-device=local --iree-vm-bytecode-module-strip-source-map %s -o %t/d.vmfb && unzip -l %t/d.vmfb | FileCheck --check-prefix=STRIPPED %s && unzip -l %t/p.vmfb | FileCheck --check-prefix=MAPPED %s
// STRIPPED-NOT: debug
// MAPPED: debug
//
// RUN: for f in --help-hidden --help-list --help-list-hidden; do iree-compile $f | grep "USAGE: iree-compile" || exit 1; done
//
// Flags with one choice.
// RUN: for f in --verify=perhaps --verify-each=perhaps; do not iree-compile $f %s 2>&1 | FileCheck --check-prefix=BOOL %s || exit 1; done
// RUN: iree-compile --verify=false --compile-to=flow %s -o %t/x
// BOOL: is not a boolean; true, false, 1 and 0 are
// RUN: for f in --iree-rocm-link-bc=perhaps --iree-rocm-enable-tensor-ukernels=true --iree-rocm-encoding-layout-resolver=pad --iree-rocm-specialize-dispatches --iree-rocm-pass-plugin-path=x.so --iree-llvmcpu-enable-ukernels=all --iree-vm-emit-polyglot-zip=false --iree-vm-target-truncate-unsupported-floats --iree-opt-numeric-precision-reduction --iree-native-bindings-support=false --iree-tflite-bindings-support --iree-hal-default-device=b --iree-hal-benchmark-dispatch-repeat-count=8 --iree-vulkan-target=rdna3 --iree-codegen-tuning-spec-path=x.mlir --iree-stream-partitioning-favor=debug --iree-flow-break-dispatch=@main:0 --mlir-print-ir-module-scope=false --mlir-print-local-scope=false --mlir-timing-display=tree --mlir-print-assume-verified=perhaps --iree-vm-c-module-output-format=mlir-text --iree-vm-c-module-optimize=false --iree-vm-bytecode-module-output-format=annotated-mlir-text; do not iree-compile --iree-hal-target-device=local $f %s -o %t/x.vmfb 2>&1 | FileCheck --check-prefix=CHOICE "-DFLAG=$f" %s || exit 1; done
// CHOICE: [[FLAG]]{{(=true)?}} is not supported
// RUN: for f in --iree-rocm-enable-tensor-ukernels=false --iree-native-bindings-support --mlir-print-ir-module-scope --mlir-print-local-scope --mlir-timing-display=list --mlir-print-assume-verified --iree-vm-c-module-output-format=code --iree-vm-c-module-optimize --iree-vm-emit-polyglot-zip; do iree-compile --compile-to=flow $f %s -o %t/x || exit 1; done

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = stablehlo.constant dense<1.0> : tensor<8x16xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

func.func @folds(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
