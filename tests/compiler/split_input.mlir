// --split-input-file: parts of a file are programs of their own.
// RUN: sed -n -e 's|^// parts: ||p' %s > %t.mlir
// RUN: iree-compile --split-input-file --compile-to=input %t.mlir | FileCheck %s
// RUN: iree-compile --split-input-file --iree-execution-model=host-only --output-format=vm-asm - < %t.mlir -o %t.txt && FileCheck --check-prefix=ASM %s < %t.txt
// RUN: not iree-compile --split-input-file --iree-execution-model=host-only %t.mlir -o %t.vmfb 2>&1 | FileCheck --check-prefix=SEVERAL %s
// RUN: iree-compile --split-input-file --iree-execution-model=host-only %s -o %t.vmfb && iree-run-module --device=local-sync --module=%t.vmfb --function=f | grep i32=5
// RUN: sed -e 's/addi/addx/' %t.mlir > %t.bad && not iree-compile --split-input-file --compile-to=input %t.bad -o %t.none 2>&1 | FileCheck --check-prefix=BAD %s
// RUN: test ! -e %t.none
// RUN: not iree-compile --compile-to=input %t.mlir 2>&1 | FileCheck --check-prefix=WHOLE %s
// CHECK: func.func @f(%arg0: i32) -> i32
// CHECK: func.func @f() -> i32
// ASM: vm.func @f(%i0: i32) -> (i32)
// ASM: vm.func @f() -> (i32)
// SEVERAL: error: --split-input-file: '{{.*}}' has several programs, which one output holds as text only
// Lines are those of the file, and what is behind a part that fails is looked at too.
// BAD: bad:2:{{[0-9]+}}: error: custom op 'arith.addx' is unknown
// BAD: bad:7:{{[0-9]+}}: error: custom op 'arith.addx' is unknown
// WHOLE: error: {{.*}}f
// parts: func.func @f(%x: i32) -> i32 {
// parts:   %0 = arith.addi %x, %x : i32
// parts:   return %0 : i32
// parts: }
// parts: // -----
// parts: func.func @f() -> i32 {
// parts:   %c = arith.constant 2 : i32 %0 = arith.addi %c, %c : i32
// parts:   return %0 : i32
// parts: }
//
// iree-opt has markers of one's own.
// RUN: sed -e 's|^// -----|//////|' %t.mlir > %t.own && iree-opt --split-input-file=////// --output-split-marker='// next' %t.own | FileCheck --check-prefix=OWN %s
// OWN: func.func @f(%arg0: i32)
// OWN: {{^}}// next
// OWN: func.func @f()
// RUN: iree-opt --split-input-file %t.mlir | FileCheck --check-prefix=MARKER %s
// MARKER: func.func @f(%arg0: i32)
// MARKER: {{^}}// -----
// MARKER: func.func @f()
//
// RUN: printf 'func.func @g() -> i32 {\n // expected-error @below {{custom op}}\n x.y\n}\n// -----\nfunc.func @h() -> i32 {\n z.w\n}\n' > %t.diagnostics
// RUN: iree-opt --split-input-file --verify-diagnostics=only-expected %t.diagnostics
// RUN: not iree-opt --split-input-file --verify-diagnostics=all %t.diagnostics 2>&1 | FileCheck --check-prefix=UNEXPECTED %s
// UNEXPECTED: unexpected: {{.*}}diagnostics:7:{{[0-9]+}}: error:

func.func @f() -> i32 {
  %c = arith.constant 5 : i32
  return %c : i32
}
