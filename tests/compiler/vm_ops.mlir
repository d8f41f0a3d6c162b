// More of the virtual machine's dialect: addresses of globals, spans, tables of constants, and what a program says.
// RUN: iree-compile --compile-mode=vm %s -o %t.vmfb
// RUN: sed -e '/with numbers$/d' %s > %t.checks.mlir && iree-compile --compile-mode=vm %t.checks.mlir -o %t.checks.vmfb && iree-check-module --module=%t.checks.vmfb --trace_output=%t.json 2> %t.err && FileCheck --check-prefix=SAID %s < %t.err && FileCheck --check-prefix=TRACE %s < %t.json
// RUN: iree-opt --verify-roundtrip %s -o %t.again.mlir && iree-compile --compile-mode=vm %t.again.mlir --iree-vm-bytecode-module-strip-source-map -o %t.again.vmfb && iree-compile --compile-mode=vm --iree-vm-bytecode-module-strip-source-map %s -o %t.bare.vmfb && cmp %t.bare.vmfb %t.again.vmfb
// RUN: iree-dump-module %t.vmfb | FileCheck --check-prefix=DUMP %s
// RUN: iree-compile --compile-mode=vm --output-format=vm-c %s -o %t.c && clang -c -Iinclude %t.c -o %t.o
//
// SAID: what there is: 7, -5, 0.5, !vm.buffer, null
// SAID: no more than this
// TRACE: "name":"moment",{{.*}}"values":"7, 0.25"
// DUMP: nobody.at_all(i32, (i32, i64)..., (!vm.ref<?>)...) -> (i32)
//
// RUN: sed -e 's/tuple<i32, i64> \.\.\./tuple<i32, i64>/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=DOTS %s
// RUN: sed -e 's/(%a, %l)/(%a, %l, %a)/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=TUPLE %s
// RUN: sed -e 's/%b : tuple<i32, i64>/%b : tuple<i32, i32>/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=CALLEE %s
// RUN: sed -e 's/data_alignment = 4/data_alignment = 0/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=TABLE %s
// DOTS: error: expected dots behind the types of spans, and of no others
// TUPLE: error: expected whole tuples
// CALLEE: error: 'vm.call.variadic' op has not the arguments and results of what it calls
// TABLE: error: 'vm.rodata.table.inline' op needs a data_alignment from 1 to 4096
//
// RUN: sed -e 's/load.indirect.i64 .start : !util.ptr<i64>/load.indirect.i64 %count : !util.ptr<i32>/' %s > %t.bad.mlir && iree-compile --compile-mode=vm %t.bad.mlir -o %t.bad.vmfb && not iree-run-module --module=%t.bad.vmfb --function=addresses 2>&1 | FileCheck --check-prefix=ADDRESS %s
// ADDRESS: OUT_OF_RANGE; {{[0-9]+}} is the address of no global of type i64
// RUN: not iree-run-module --module=%t.vmfb --function=call_nobody --input=1 2>&1 | FileCheck --check-prefix=NOBODY %s
// RUN: not iree-run-module --module=%t.vmfb --function=call_much --input=1 2>&1 | FileCheck --check-prefix=NOBODY %s
// NOBODY: NOT_FOUND; the optional import that is called was not found
vm.module @ops {
  vm.global.i32 private mutable @count = 7 : i32
  vm.global.i64 private mutable @start = -5 : i64
  vm.global.f32 private mutable @small = 0.5 : f32
  vm.global.f64 private mutable @ratio : f64
  vm.global.ref private mutable @kept : !vm.buffer
  vm.rodata private @bytes dense<[1, 2, 253, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<11xui8>
  vm.import private optional @nobody.at_all(%a : i32, %b : tuple<i32, i64> ..., %c : !vm.buffer ...) -> i32
  vm.import private optional @nobody.much(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> !vm.buffer

  vm.export @addresses
  vm.func private @addresses() {
    %count = vm.global.address @count : !util.ptr<i32>
    %0 = vm.global.load.indirect.i32 %count : !util.ptr<i32> -> i32
    %seven = vm.const.i32 7
    vm.check.eq %0, %seven : i32
    %eight = vm.const.i32 8
    vm.global.store.indirect.i32 %eight, %count : i32 -> !util.ptr<i32>
    %1 = vm.global.load.i32 @count : i32
    vm.check.eq %1, %eight : i32
    %start = vm.global.address @start : !util.ptr<i64>
    vm.br ^next(%start : !util.ptr<i64>)
  ^next(%where : !util.ptr<i64>):
    %2 = vm.global.load.indirect.i64 %start : !util.ptr<i64> -> i64
    vm.global.store.indirect.i64 %2, %where : i64 -> !util.ptr<i64>
    %m5 = vm.const.i64 -5
    vm.check.eq %2, %m5 : i64
    %small = vm.global.address @small : !util.ptr<f32>
    %half = vm.const.f32 0.5
    %3 = vm.global.load.indirect.f32 %small : !util.ptr<f32> -> f32
    vm.check.eq %3, %half : f32
    vm.global.store.indirect.f32 %half, %small : f32 -> !util.ptr<f32>
    %ratio = vm.global.address @ratio : !util.ptr<f64>
    %quarter = vm.const.f64 0.25
    vm.global.store.indirect.f64 %quarter, %ratio : f64 -> !util.ptr<f64>
    %4 = vm.global.load.indirect.f64 %ratio : !util.ptr<f64> -> f64
    vm.check.eq %4, %quarter : f64
    %kept = vm.global.address @kept : !util.ptr<!vm.buffer>
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %none = vm.global.load.indirect.ref %kept : !util.ptr<!vm.buffer> -> !vm.buffer
    %null = vm.const.ref.zero : !vm.buffer
    vm.check.eq %none, %null : !vm.buffer
    vm.global.store.indirect.ref %bytes, %kept : !vm.buffer -> !util.ptr<!vm.buffer>
    %5 = vm.global.load.ref @kept : !vm.buffer
    %6 = vm.assign.ref %5 : !vm.buffer -> !vm.buffer
    vm.check.eq %6, %bytes : !vm.buffer
    vm.return
  }

  vm.export @near
  vm.func private @near() {
    %zero = vm.const.i32 0
    %one = vm.const.f32 1.0
    %close = vm.const.f32 1.00001
    %far = vm.const.f32 1.00002
    %0 = vm.cmp.eq.f32.near %one, %close : f32
    vm.check.nz %0 : i32
    %1 = vm.cmp.eq.f32.near %one, %far : f32
    vm.check.eq %1, %zero : i32
    vm.check.nearly_eq %one, %close, "nearly" : f32
    vm.check.nearly_eq %zero, %zero : i32
    %tiny = vm.const.f32 1.0e-44
    %minus = vm.neg.f32 %tiny : f32
    %2 = vm.cmp.eq.f32.near %tiny, %minus : f32
    vm.check.eq %2, %zero, "signs differ" : i32
    %f0 = vm.const.f32.zero
    %nan = vm.div.f32 %f0, %f0 : f32
    %3 = vm.cmp.eq.f32.near %nan, %nan : f32
    vm.check.nz %3 : i32
    %4 = vm.cmp.nz.f32.u %nan : f32
    vm.check.nz %4 : i32
    %one_d = vm.const.f64 1.0
    %close_d = vm.const.f64 1.00001
    vm.check.nearly_eq %one_d, %close_d : f64
    vm.return
  }

  vm.export @hash
  vm.func private @hash() {
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %c0 = vm.const.i64 0
    %c1 = vm.const.i64 1
    %c8 = vm.const.i64 8
    %c11 = vm.const.i64 11
    // As IREE's runtime has it.
    %0 = vm.buffer.hash %bytes, %c0, %c11 : !vm.buffer -> i64
    %all = vm.const.i64 -1449386022184191924
    vm.check.eq %0, %all : i64
    %1 = vm.buffer.hash %bytes, %c1, %c8 : !vm.buffer -> i64
    %word = vm.const.i64 -7484237526064863728
    vm.check.eq %1, %word : i64
    %2 = vm.buffer.hash %bytes, %c11, %c0 : !vm.buffer -> i64
    %none = vm.const.i64 8246050544436514353
    vm.check.eq %2, %none : i64
    vm.return
  }

  vm.export @table
  vm.func private @table() {
    %c0 = vm.const.i64 0
    %c1 = vm.const.i64 1
    %c3 = vm.const.i64 3
    %c24 = vm.const.i64 24
    %table, %data = vm.rodata.table.inline i32 {data_alignment = 4 : i64} : !vm.buffer, !vm.buffer = [dense<[2, 3]> : vector<2xi8>, "hello", dense<4> : tensor<3xi8>]
    %rows = vm.rodata.inline : !vm.buffer = dense<[0, 2, 4, 5, 12, 3]> : vector<6xi32>
    %0 = vm.buffer.compare %table, %c0, %rows, %c0, %c24 : !vm.buffer, !vm.buffer
    vm.check.nz %0 : i32
    %bytes = vm.rodata.inline : !vm.buffer = dense<[2, 3, 0, 0, 104, 101, 108, 108, 111, 0, 0, 0, 4, 4, 4]> : vector<15xi8>
    %most = vm.const.i64 15
    %1 = vm.buffer.compare %data, %c0, %bytes, %c0, %most : !vm.buffer, !vm.buffer
    vm.check.nz %1 : i32
    %wide, %text = vm.rodata.table.inline i64 : !vm.buffer, !vm.buffer = ["ab", "c"]
    %2 = vm.buffer.load.i64 %wide[%c3] : !vm.buffer -> i64
    vm.check.eq %2, %c1 : i64
    %length = vm.buffer.length %text : !vm.buffer -> i64
    vm.check.eq %length, %c3 : i64
    vm.return
  }

  vm.export @notes
  vm.func private @notes() {
    %seven = vm.const.i32 7
    %m5 = vm.const.i64 -5
    %half = vm.const.f32 0.5
    %quarter = vm.const.f64 0.25
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %null = vm.const.ref.zero : !vm.buffer
    vm.print "what there is"(%seven, %m5, %half, %bytes, %null) : i32, i64, f32, !vm.buffer, !vm.buffer
    vm.print "no more than this"()
    vm.trace "moment"(%seven, %quarter) : i32, f64
    vm.break ^next
  ^next:
    vm.return
  }

  vm.export @yields
  vm.func private @yields() {
    %four = vm.const.i32 4
    vm.call.yieldable @two_more(%four) : (i32) -> ^next (i32, i64)
  ^next(%a : i32, %b : i64):
    %five = vm.const.i32 5
    vm.check.eq %a, %five : i32
    %six = vm.const.i64 6
    vm.check.eq %b, %six : i64
    vm.call.yieldable @addresses_again() : () -> ^end
  ^end:
    vm.return
  }
  vm.func private @two_more(%a : i32) -> (i32, i64) {
    %one = vm.const.i32 1
    %0 = vm.add.i32 %a, %one : i32
    %1 = vm.add.i32 %0, %one : i32
    %2 = vm.ext.i32.i64.s %1 : i32 -> i64
    vm.return %0, %2 : i32, i64
  }
  vm.func private @addresses_again() {
    vm.return
  }

  vm.export @call_nobody  // with numbers
  vm.func private @call_nobody(%a : i32) -> i32 {
    %l = vm.const.i64 3
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %0 = vm.call.variadic @nobody.at_all(%a, [(%a, %l)], [%bytes, %bytes]) : (i32, tuple<i32, i64> ..., !vm.buffer ...) -> i32
    vm.return %0 : i32
  }

  vm.export @call_much  // with numbers
  vm.func private @call_much(%a : i64) -> !vm.buffer {
    %0 = vm.call @nobody.much(%a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a) : (i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> !vm.buffer
    vm.return %0 : !vm.buffer
  }
  vm.module_terminator
}
