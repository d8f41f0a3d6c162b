// Functions without a body get that of another module, with what it needs, private and under other names where they are
// taken; the linked program runs.
// RUN: iree-link --link-module=$(dirname %s)/module_a.mlir --link-module $(dirname %s)/module_b.mlir --link-module=$(dirname %s)/plain.mlir %s -o %t.mlir && FileCheck %s < %t.mlir
// RUN: iree-link --library-path=$(dirname %s) --link-module=$(dirname %s)/plain.mlir - < %s | cmp - %t.mlir
// RUN: iree-run-mlir --device=local-sync --Xcompiler,iree-hal-local-target-device-backends=vmvx --Xcompiler,iree-hal-target-device=local %t.mlir --function=main --input=8 --expected_output=229
// RUN: iree-link --list-symbols $(dirname %s)/module_b.mlir | FileCheck --check-prefix=SYMBOLS %s
// RUN: not iree-link --link-module=$(dirname %s)/module_a.mlir %s 2>&1 | FileCheck --check-prefix=UNRESOLVED %s
// RUN: printf 'func.func private @module_b.half(f64) -> f64\n' | not iree-link --library-path=$(dirname %s) 2>&1 | FileCheck --check-prefix=TYPE %s
// RUN: printf 'util.func private @state.next(f32) -> f32\n' | not iree-link --library-path=$(dirname %s) 2>&1 | FileCheck --check-prefix=STATE %s
// RUN: iree-link --bundle --link-module=$(dirname %s)/module_a.mlir --link-module=$(dirname %s)/plain.mlir --link-module=$(dirname %s)/module_b.mlir -o %t.bundle.mlirbc && iree-opt %t.bundle.mlirbc | FileCheck --check-prefix=BUNDLE %s
// RUN: iree-link --link-module=%t.bundle.mlirbc %s | FileCheck %s
// RUN: iree-link --bundle --link-module=%s --link-module=$(dirname %s)/plain.mlir | FileCheck --check-prefix=MERGED %s
// RUN: not iree-link --bundle --link-module=$(dirname %s)/plain.mlir --link-module=$(dirname %s)/plain.mlir 2>&1 | FileCheck --check-prefix=TWICE %s
// RUN: iree-link --bundle --output-bytecode > %t.bin && head -c 2 %t.bin | grep ML && iree-opt %t.bin | FileCheck --check-prefix=EMPTY %s
// RUN: not iree-link --bundel 2>&1 | FileCheck --check-prefix=FLAG %s

// CHECK-NOT: @unused
// CHECK: util.func private @factor() -> f32 {
// CHECK-NEXT: constant 3.
// CHECK: util.func private @module_a.compute(
// CHECK: util.call @factor_0()
// CHECK: util.call @module_b.process(
// CHECK: util.func private @factor_0()
// CHECK-NEXT: constant 2.
// CHECK: util.func private @module_b.process(
// CHECK: util.call @factor_2()
// CHECK: util.call @module_b.half(
// CHECK: util.func private @seven(
// CHECK: util.call @factor_1()
// CHECK: util.func private @factor_1()
// CHECK-NEXT: constant 7.
// CHECK: util.func public @main(
// CHECK-NOT: @unused
// SYMBOLS: Public symbols in {{.*}}module_b.mlir:
// SYMBOLS-NEXT: @half
// SYMBOLS-NEXT: @process
// SYMBOLS-NOT: @
// UNRESOLVED-DAG: unresolved external symbol: 'seven'
// UNRESOLVED-DAG: module_a.mlir:2:{{.*}} unresolved external symbol: 'module_b.process'
// TYPE: error: external symbol 'module_b.half' has another type than its definition
// TYPE: note: defined here
// STATE: global 'count' is used by 'state.next', and state of other modules is not linked; pass its value
// BUNDLE: module {
// BUNDLE: module @module_a {
// BUNDLE: module @module_b {
// MERGED: util.func private @factor()
// MERGED: util.func public @main
// MERGED: util.func private @factor_0()
// MERGED: util.func public @seven
// MERGED-NEXT: util.call @factor_0()
// TWICE: symbol 'seven' is public in two modules
// EMPTY: module {
// EMPTY-NEXT: }
// FLAG: Unknown command line argument '--bundel'
// FLAG: Did you mean '--bundle'?

util.func private @factor() -> f32 {
  %c = arith.constant 3.0 : f32
  util.return %c : f32
}

util.func private @module_a.compute(%x: f32) -> f32
util.func private @seven(%x: f32) -> f32

util.func public @main(%x: f32) -> f32 {
  %f = util.call @factor() : () -> f32
  %a = util.call @module_a.compute(%x) : (f32) -> f32
  %s = util.call @seven(%f) : (f32) -> f32
  %y = arith.addf %a, %s : f32
  util.return %y : f32
}
