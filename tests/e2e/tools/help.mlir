// Help, completions and manual pages, from one table of flags.
// RUN: iree-compile --help | FileCheck %s
// RUN: iree-opt --help | FileCheck --check-prefix=OPT %s
// RUN: iree-benchmark-module --help | FileCheck --check-prefix=RUNTIME %s
// RUN: iree-compile --help=list | FileCheck --check-prefix=LIST %s
// RUN: for tool in compile opt link import-onnx run-mlir run-module benchmark-module benchmark-executable check-module dump-module cpuinfo c-embed-data create-parameters convert-parameters dump-parameters encode-parameters softgpu; do iree-$tool --help=bash > %t.bash && bash -n %t.bash && iree-$tool --help=man > %t.1 && grep -q '^.SH SYNOPSIS$' %t.1 && iree-$tool --help=zsh > %t.zsh && grep -q "^#compdef iree-$tool$" %t.zsh || exit 1; done
// RUN: iree-compile --help=bash > %t.bash; source %t.bash; COMP_CWORD=3; COMP_WORDS=(iree-compile --iree-opt-level = O); _iree_compile; echo ${COMPREPLY[@]} | FileCheck --check-prefix=VALUES %s
// RUN: iree-compile --help=bash > %t.bash; source %t.bash; COMP_CWORD=1; COMP_WORDS=(iree-compile --mlir-ti); _iree_compile; echo ${COMPREPLY[@]} | FileCheck --check-prefix=NAMES %s
// RUN: iree-run-module --help=nope 2>&1 >/dev/null | FileCheck --check-prefix=FORMATS %s

// CHECK:      Input and output:
// CHECK-NEXT:   -o FILE Output file; '-' or nothing: standard output
// CHECK:      Optimization:
// CHECK:        --iree-opt-level=VALUE
// CHECK:        O0 | O1 | O2 | O3
// CHECK:      AMD GPUs:
// CHECK:        gfx1100 | gfx1101
// OPT: --pass=NAME
// OPT: --canonicalize
// RUNTIME: # Values: console,json,csv
// RUNTIME-NEXT: --benchmark_format="console"
// LIST: --iree-opt-const-eval [=BOOL] true,false Optimization Compute what depends on constants
// VALUES: O0 O1 O2 O3
// NAMES: --mlir-timing
// FORMATS: --help=nope: bash, zsh, man, list and markdown are known
