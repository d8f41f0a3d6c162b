// Programs of the virtual machine's dialect become modules as they are.
// RUN: sed -e '/with numbers$/d' %s > %t.checks.mlir && iree-compile --compile-mode=vm %t.checks.mlir -o %t.checks.vmfb && iree-check-module --module=%t.checks.vmfb
// RUN: iree-compile --compile-mode=vm %s -o %t.vmfb
// RUN: iree-run-module --module=%t.vmfb --function=sum --input=5 --expected_output=10
// RUN: iree-run-module --module=%t.vmfb --function=largest --input=-3 --input=4 --expected_output=4
// RUN: iree-run-module --module=%t.vmfb --function=choose --input=0 --expected_output=10
// RUN: iree-run-module --module=%t.vmfb --function=choose --input=1 --expected_output=21
// RUN: iree-run-module --module=%t.vmfb --function=choose --input=7 --expected_output=30
// RUN: iree-run-module --module=%t.vmfb --function=late --input=3 --expected_output=4
// RUN: not iree-run-module --module=%t.vmfb --function=fail_if_two --input=2 2>&1 | FileCheck --check-prefix=TWO %s
// RUN: iree-run-module --module=%t.vmfb --function=fail_if_two --input=1 --expected_output=1
// RUN: not iree-run-module --module=%t.vmfb --function=fail_with --input=11 2>&1 | FileCheck --check-prefix=STATUS %s
// RUN: not iree-run-module --module=%t.vmfb --function=fail_import --input=1 2>&1 | FileCheck --check-prefix=IMPORT %s
// TWO: OUT_OF_RANGE; it is two
// STATUS: OUT_OF_RANGE; as you say
// IMPORT: NOT_FOUND; the optional import that is called was not found
// RUN: iree-dump-module %t.vmfb | FileCheck --check-prefix=DUMP %s
// DUMP: two_numbers
// RUN: iree-opt --verify-roundtrip %t.checks.mlir -o %t.again.mlir && iree-compile --compile-mode=vm %t.again.mlir -o %t.again.vmfb && iree-check-module --module=%t.again.vmfb
// RUN: iree-compile --compile-mode=vm --output-format=vm-c %s -o %t.c && clang -c -Iinclude %t.c -o %t.o
//
// RUN: sed -e 's/abs = vm.abs.i64/abs = vm.abs.i32/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=TYPE %s
// RUN: sed -e 's/vm.call @sum(%n)/vm.call @nobody(%n)/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=NAME %s
// RUN: sed -e 's/load.i32 @count : i32/load.i32 @start : i32/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=GLOBAL %s
// RUN: sed -e 's/found(%a : i32)/found(%a : i32 ...)/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=VARIADIC %s
// RUN: sed -e 's/vm.return %a, %b : i32, i64/vm.return %b, %a : i64, i32/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=RESULTS %s
// RESULTS: error: 'vm.return' op has not the results that its function has
// RUN: sed -e 's/%odd : f64/%odd : f16/' %s > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=NUMBER %s
// TYPE: error: 'vm.abs.i32' op has a result of another type: i64
// NAME: error: 'vm.call' op names 'nobody', which the module does not have
// GLOBAL: error: 'vm.global.load.i32' op names a global of type i64
// VARIADIC: error: 'vm.call' op has not the arguments and results of what it calls
// RUN: echo '"vm.module"() ({ "vm.func"() <{sym_name = "f", function_type = () -> ()}> ({ "vm.br"() : () -> () }) : () -> () }) {sym_name = "m"} : () -> ()' > %t.bad.mlir && not iree-compile --compile-mode=vm %t.bad.mlir -o %t.out 2>&1 | FileCheck --check-prefix=BRANCH %s
// BRANCH: error: 'vm.br' op has not the successors and operands that it takes
// NUMBER: error: 'vm.func' op has a value of type f16; the VM has i32, i64, f32, f64 and references
vm.module @numbers {
  vm.global.i32 private mutable @count = 7 : i32
  vm.global.i32 private mutable @twice : i32
  vm.global.i64 private @start = -5 : i64
  vm.global.f64 private mutable @ratio : f64
  vm.global.ref private mutable @kept : !vm.buffer
  vm.rodata private @bytes dense<[1, 2, 253, 4]> : tensor<4xui8>
  vm.rodata private @splat dense<7> : tensor<4xi16>
  vm.rodata private @text "words"
  vm.import private optional @nowhere.to_be_found(%a : i32) -> i32

  vm.initializer {
    %half = vm.const.f64 0.5
    vm.global.store.f64 %half, @ratio : f64
    vm.return
  }

  vm.initializer {
    %two = vm.const.i32 2
    vm.global.store.i32 %two, @twice : i32
    vm.return
  }

  vm.export @globals
  vm.func private @globals() {
    %half = vm.const.f64 0.5
    %ratio = vm.global.load.f64 @ratio : f64
    vm.check.eq %ratio, %half, "initializers ran" : f64
    %count = vm.global.load.i32 @count : i32
    %seven = vm.const.i32 7
    vm.check.eq %count, %seven : i32
    %twice = vm.global.load.i32 @twice : i32
    vm.check.nz %twice, "both of them" : i32
    %start = vm.global.load.i64 @start : i64
    %five = vm.const.i64 5
    %abs = vm.abs.i64 %start : i64
    vm.check.eq %abs, %five : i64
    %none = vm.global.load.ref @kept : !vm.buffer
    %null = vm.const.ref.zero : !vm.buffer
    vm.check.eq %none, %null : !vm.buffer
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    vm.global.store.ref %bytes, @kept : !vm.buffer
    %some = vm.global.load.ref @kept : !vm.buffer
    vm.check.eq %some, %bytes : !vm.buffer
    %again = vm.const.ref.rodata @bytes : !vm.buffer
    vm.check.eq %some, %again : !vm.buffer
    vm.check.nz %some : !vm.buffer
    vm.discard.refs %some : !vm.buffer
    vm.return
  }

  vm.export @integers
  vm.func private @integers() {
    %m7 = vm.const.i32 -7
    %two = vm.const.i32 2
    %m3 = vm.const.i32 -3
    %m1 = vm.const.i32 -1
    %0 = vm.div.i32.s %m7, %two : i32
    vm.check.eq %0, %m3, "division" : i32
    %1 = vm.rem.i32.s %m7, %two : i32
    vm.check.eq %1, %m1, "rest" : i32
    %2 = vm.fma.i32 %m3, %two, %m1 : i32
    vm.check.eq %2, %m7, "product and sum" : i32
    %zeros = vm.ctlz.i32 %two : i32
    %thirty = vm.const.i32 30
    vm.check.eq %zeros, %thirty : i32
    %two_l = vm.ext.i32.i64.u %two : i32 -> i64
    %zeros_l = vm.ctlz.i64 %two_l : i64
    %c62 = vm.const.i64 62
    vm.check.eq %zeros_l, %c62 : i64
    %left = vm.shl.i64 %two_l, %thirty : i64
    %expected = vm.const.i64 0x80000000
    vm.check.eq %left, %expected, "shift" : i64
    %all = vm.const.i32 4294967295
    vm.check.eq %all, %m1 : i32
    %byte = vm.trunc.i32.i8 %m3 : i32 -> i32
    %c253 = vm.const.i32 253
    vm.check.eq %byte, %c253 : i32
    %again = vm.ext.i8.i32.s %byte : i32 -> i32
    vm.check.eq %again, %m3 : i32
    %wide = vm.ext.i8.i64.s %byte : i32 -> i64
    %wide_u = vm.ext.i8.i64.u %byte : i32 -> i64
    %m3_l = vm.const.i64 -3
    %c253_l = vm.const.i64 253
    vm.check.eq %wide, %m3_l : i64
    vm.check.eq %wide_u, %c253_l : i64
    %more = vm.cmp.gt.i32.s %two, %m7 : i32
    %less = vm.cmp.gte.i32.u %two, %m7 : i32
    vm.check.nz %more, "2 > -7" : i32
    vm.check.ne %less, %more, "as unsigned numbers not" : i32
    %is_set = vm.cmp.nz.i64 %two_l : i64
    vm.check.nz %is_set : i32
    vm.return
  }

  vm.export @floats
  vm.func private @floats() {
    %zero = vm.const.f32.zero
    %x = vm.const.f32 2.5
    %m = vm.const.f32 -2.5
    %n = vm.div.f32 %zero, %zero : f32
    %is_nan = vm.cmp.nan.f32 %n : f32
    vm.check.nz %is_nan : i32
    %lt = vm.cmp.lt.f32.o %n, %x : f32
    %ltu = vm.cmp.lt.f32.u %n, %x : f32
    %equ = vm.cmp.eq.f32.u %n, %x : f32
    %eqo = vm.cmp.eq.f32.o %n, %n : f32
    %no = vm.const.i32.zero
    vm.check.eq %lt, %no : i32
    vm.check.nz %ltu : i32
    vm.check.nz %equ : i32
    vm.check.eq %eqo, %no : i32
    %gtu = vm.cmp.gt.f32.u %m, %x : f32
    %gto = vm.cmp.gt.f32.o %x, %m : f32
    vm.check.eq %gtu, %no : i32
    vm.check.nz %gto : i32
    %three = vm.const.i32 3
    %m3 = vm.const.i32 -3
    %0 = vm.cast.f32.si32 %x : f32 -> i32
    %1 = vm.cast.f32.si32 %m : f32 -> i32
    vm.check.eq %0, %three, "halves go away from zero" : i32
    vm.check.eq %1, %m3 : i32
    %even = vm.round.f32.even %x : f32
    %away = vm.round.f32 %x : f32
    vm.check.ne %even, %away : f32
    %exp2 = vm.exp2.f32 %x : f32
    %log2 = vm.log2.f32 %exp2 : f32
    vm.check.eq %log2, %x : f32
    %bits = vm.bitcast.f32.i32 %x : f32 -> i32
    %b = vm.const.i32 0x40200000
    vm.check.eq %bits, %b : i32
    %four = vm.const.f64 4.0
    %half = vm.const.f64 0.5
    %rsqrt = vm.rsqrt.f64 %four : f64
    vm.check.eq %rsqrt, %half : f64
    %ten = vm.const.f64 10.0
    %log10 = vm.log10.f64 %ten : f64
    %one = vm.const.f64 1.0
    vm.check.eq %log10, %one : f64
    vm.return
  }

  vm.export @lists
  vm.func private @lists() {
    %two = vm.const.i32 2
    %one = vm.const.i32 1
    %zero = vm.const.i32 0
    %list = vm.list.alloc %two : (i32) -> !vm.list<?>
    vm.list.reserve %list, %two : (!vm.list<?>, i32)
    vm.list.resize %list, %two : (!vm.list<?>, i32)
    %size = vm.list.size %list : (!vm.list<?>) -> i32
    vm.check.eq %size, %two : i32
    %x = vm.const.f32 1.5
    vm.list.set.f32 %list, %zero, %x : (!vm.list<?>, i32, f32)
    %y = vm.list.get.f32 %list, %zero : (!vm.list<?>, i32) -> f32
    vm.check.eq %x, %y : f32
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    vm.list.set.ref %list, %one, %bytes : (!vm.list<?>, i32, !vm.buffer)
    %ref = vm.list.get.ref %list, %one : (!vm.list<?>, i32) -> !vm.buffer
    %any = vm.cast.ref.any %ref : !vm.buffer -> !vm.ref<?>
    %back = vm.cast.any.ref %any : !vm.ref<?> -> !vm.buffer
    %same = vm.cmp.eq.ref %back, %bytes : !vm.buffer
    vm.check.nz %same : i32
    %null = vm.const.ref.zero : !vm.ref<?>
    %other = vm.select.ref %zero, %null, %any : !vm.ref<?>
    vm.check.eq %other, %any : !vm.ref<?>
    vm.return
  }

  vm.export @buffers
  vm.func private @buffers() {
    %c0 = vm.const.i64 0
    %c1 = vm.const.i64 1
    %c2 = vm.const.i64 2
    %c4 = vm.const.i64 4
    %c8 = vm.const.i64 8
    %align = vm.const.i32 16
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %signed = vm.buffer.load.i8.s %bytes[%c2] : !vm.buffer -> i32
    %m3 = vm.const.i32 -3
    vm.check.eq %signed, %m3 : i32
    %buffer = vm.buffer.alloc %c8, %align : !vm.buffer
    %length = vm.buffer.length %buffer : !vm.buffer -> i64
    vm.check.eq %length, %c8 : i64
    vm.buffer.copy %bytes, %c0, %buffer, %c4, %c4 : !vm.buffer -> !vm.buffer
    %equal = vm.buffer.compare %bytes, %c1, %buffer, %c4, %c2 : !vm.buffer, !vm.buffer
    %zero = vm.const.i32 0
    vm.check.eq %equal, %zero : i32
    %equal_1 = vm.buffer.compare %bytes, %c0, %buffer, %c4, %c4 : !vm.buffer, !vm.buffer
    vm.check.nz %equal_1 : i32
    %seven = vm.const.i32 7
    vm.buffer.fill.i16 %buffer, %c0, %c4, %seven : i32 -> !vm.buffer
    %splat = vm.const.ref.rodata @splat : !vm.buffer
    %equal_2 = vm.buffer.compare %buffer, %c0, %splat, %c0, %c8 : !vm.buffer, !vm.buffer
    vm.check.nz %equal_2 : i32
    %x = vm.const.f64 0.25
    vm.buffer.fill.f64 %buffer, %c0, %c1, %x : f64 -> !vm.buffer
    %y = vm.buffer.load.f64 %buffer[%c0] : !vm.buffer -> f64
    vm.check.eq %x, %y : f64
    vm.buffer.store.i32 %m3, %buffer[%c1] : i32 -> !vm.buffer
    %copy = vm.buffer.clone %buffer, %c4, %c4, %align : !vm.buffer -> !vm.buffer
    %z = vm.buffer.load.i32 %copy[%c0] : !vm.buffer -> i32
    vm.check.eq %z, %m3 : i32
    %text = vm.rodata.inline "greeting" : !vm.buffer = "words"
    %words = vm.const.ref.rodata @text : !vm.buffer
    %equal_3 = vm.buffer.compare %text, %c0, %words, %c0, %c4 : !vm.buffer, !vm.buffer
    vm.check.nz %equal_3 : i32
    vm.return
  }

  vm.export @calls
  vm.func private @calls() {
    %n = vm.const.i32 4
    %six = vm.const.i32 6
    %sum = vm.call @sum(%n) : (i32) -> i32
    vm.check.eq %sum, %six : i32
    %a, %b = vm.call @two_numbers() : () -> (i32, i64)
    %b32 = vm.trunc.i64.i32 %b : i64 -> i32
    vm.check.ne %a, %b32 : i32
    %there = vm.import.resolved @nowhere.to_be_found : i32
    %no = vm.const.i32 0
    vm.check.eq %there, %no : i32
    vm.return
  }

  vm.export @two_numbers  // with numbers
  vm.func private @two_numbers() -> (i32, i64) attributes {iree.reflection = {note = "two_numbers"}} {
    %a = vm.const.i32 1
    %b = vm.const.i64 2
    vm.return %a, %b : i32, i64
  }

  // 0 + 1 + ... + (n - 1)
  vm.export @sum  // with numbers
  vm.func @sum(%n : i32) -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^loop(%zero, %zero : i32, i32)
  ^loop(%i : i32, %sum : i32):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    vm.cond_br %more, ^body, ^end(%sum : i32)
  ^body:
    %next = vm.add.i32 %i, %one : i32
    %sum_1 = vm.add.i32 %sum, %i : i32
    vm.yield ^loop(%next, %sum_1 : i32, i32)
  ^end(%result : i32):
    vm.return %result : i32
  }

  // Arguments change places.
  vm.export @largest  // with numbers
  vm.func @largest(%a : i32, %b : i32) -> i32 {
    vm.br ^test(%a, %b : i32, i32)
  ^test(%x : i32, %y : i32):
    %swap = vm.cmp.lt.i32.s %x, %y : i32
    vm.cond_br %swap, ^test(%y, %x : i32, i32), ^end
  ^end:
    vm.return %x : i32
  }

  vm.export @choose  // with numbers
  vm.func @choose(%i : i32) -> i32 {
    %ten = vm.const.i32 10
    %twenty = vm.const.i32 20
    %thirty = vm.const.i32 30
    %one = vm.const.i32 1
    %value = vm.switch.i32 %i[%ten, %twenty] else %thirty : i32
    vm.br_table %i {
      default: ^end(%value : i32),
      0: ^end(%value : i32),
      1: ^more
    }
  ^more:
    %next = vm.add.i32 %value, %one : i32
    vm.br ^end(%next : i32)
  ^end(%result : i32):
    vm.return %result : i32
  }

  // What comes later in the text may come first.
  vm.export @hidden as("late")  // with numbers
  vm.func private @hidden(%n : i32) -> i32 {
    vm.br ^first
  ^last:
    %result = vm.add.i32 %last, %one : i32
    vm.return %result : i32
  ^first:
    %last = vm.optimization_barrier %n : i32
    %one = vm.const.i32 1
    vm.cond_break %one, ^last
  }

  vm.export @fail_if_two  // with numbers
  vm.func @fail_if_two(%n : i32) -> i32 {
    %two = vm.const.i32 2
    %code = vm.const.i32 11
    %wrong = vm.cmp.eq.i32 %n, %two : i32
    vm.cond_fail %wrong, %code, "it is two"
    vm.return %n : i32
  }

  vm.export @fail_with  // with numbers
  vm.func @fail_with(%code : i32) {
    vm.fail %code, "as you say"
  }

  vm.export @fail_import  // with numbers
  vm.func @fail_import(%n : i32) -> i32 {
    %0 = vm.call @nowhere.to_be_found(%n) : (i32) -> i32
    vm.return %0 : i32
  }

  vm.export @of_float  // with numbers
  vm.func private @of_float(%odd : f64) -> f64 {
    vm.return %odd : f64
  }
}
