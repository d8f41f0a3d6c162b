// Counters of loops are numbers of the host, pieces of arrays are read and written where they are, carried values change
// places instead of being copied, in any order.
//
// RUN: iree-opt --pass=loop-numbers --pass=windows %s | FileCheck %s
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=prefix_sums --input=3x16xf32=1 --expected_output="3x16xf32=[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1][2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2][3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3]" --expected_output=16xf32=3
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open_sums --input=2x16xf32=1 --expected_output="2x16xf32=[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1][2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2]" --expected_output=16xf32=2
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open_sums --input=0x16xf32 --expected_output=0x16xf32 --expected_output=16xf32=0
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open_pieces --input=2x3x16xf32=1 --expected_output="2x3x16xf32=[[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1][1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1]][[2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2][2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2]]" --expected_output=3x16xf32=2
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=open_pieces --input=2x0x16xf32 --expected_output=2x0x16xf32 --expected_output=0x16xf32
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=open_short_pieces --input=2x2x3xi32=1,2,3,4,5,6,7,8,9,10,11,12 --expected_output=2x2x3xi32=14,16,18,20,22,24,2,4,6,8,10,12
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=short_pieces --input=3x3xi32=1,2,3,4,5,6,7,8,9 --expected_output=3x3xi32=14,16,18,8,10,12,2,4,6
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=rotate --input=i64=4 --input=2xf32=1,2 --input=2xf32=3,4 --input=2xf32=5,6 --expected_output=2xf32=3,4 --expected_output=2xf32=5,6 --expected_output=2xf32=1,2
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=rotate_open --input=i64=4 --input=2xf32=1,2 --input=2xf32=3,4 --input=2xf32=5,6 --expected_output=2xf32=3,4 --expected_output=2xf32=5,6 --expected_output=2xf32=1,2
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=fibonacci --input=2xi32=1,1 --input=2xi32=1,2 --expected_output=2xi32=34,55 --expected_output=2xi32=55,89
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=table --expected_output="4x4xi64=[0 1 2 3][10 11 12 13][20 21 22 23][30 31 32 33]"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=by_data --input=i32=100 --expected_output=i32=128 --expected_output=i64=7
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=beyond --input=2x16xi8=3 --expected_output="2x16xi8=[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0][3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3]"

// The counter is a number only; rows are views, and the array is written where it is.
// CHECK-LABEL: func.func @prefix_sums
// CHECK: "graph.while"({{.*}}) ({
// CHECK: ^bb0({{.*}}: tensor<16xf32>, {{.*}}: tensor<3x16xf32>, %[[I:.*]]: i64):
// CHECK: "graph.lt"(%[[I]], {{.*}}) : (i64, i64) -> i1
// CHECK: "graph.dynamic_slice"{{.*}}window
// CHECK: "graph.dynamic_update"{{.*}}window{{.*}} : (tensor<3x16xf32>, tensor<16xf32>, index, index)
func.func @prefix_sums(%x: tensor<3x16xf32>) -> (tensor<3x16xf32>, tensor<16xf32>) {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %three = "graph.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
  %first = "graph.constant"() <{value = 0 : index}> : () -> index
  %none = "graph.constant"() <{value = dense<0.0> : tensor<16xf32>}> : () -> tensor<16xf32>
  %blank = "graph.constant"() <{value = dense<0.0> : tensor<3x16xf32>}> : () -> tensor<3x16xf32>
  %r:3 = "graph.while"(%zero, %none, %blank) ({
  ^bb0(%i: tensor<i64>, %sum: tensor<16xf32>, %all: tensor<3x16xf32>):
    %more = "graph.lt"(%i, %three) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %sum: tensor<16xf32>, %all: tensor<3x16xf32>):
    %at = "graph.cast"(%i) : (tensor<i64>) -> tensor<index>
    %n = "graph.to_scalar"(%at) : (tensor<index>) -> index
    %row = "graph.dynamic_slice"(%x, %n, %first) : (tensor<3x16xf32>, index, index) -> tensor<1x16xf32>
    %flat = "graph.reshape"(%row) : (tensor<1x16xf32>) -> tensor<16xf32>
    %s = "graph.add"(%sum, %flat) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %piece = "graph.reshape"(%s) : (tensor<16xf32>) -> tensor<1x16xf32>
    %next = "graph.dynamic_update"(%all, %piece, %n, %first) : (tensor<3x16xf32>, tensor<1x16xf32>, index, index) -> tensor<3x16xf32>
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %s, %next) : (tensor<i64>, tensor<16xf32>, tensor<3x16xf32>) -> ()
  }) : (tensor<i64>, tensor<16xf32>, tensor<3x16xf32>) -> (tensor<i64>, tensor<16xf32>, tensor<3x16xf32>)
  return %r#2, %r#1 : tensor<3x16xf32>, tensor<16xf32>
}

// As many rows as there are: the host has their number.
// CHECK-LABEL: func.func @open_sums
// CHECK-NOT: "graph.to_scalar"
// CHECK: ^bb0({{.*}}: tensor<16xf32>, {{.*}}: tensor<?x16xf32>, %{{.*}}: i64):
// CHECK: "graph.dynamic_slice"{{.*}}window
// CHECK: "graph.dynamic_update"{{.*}}window
func.func @open_sums(%x: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<16xf32>) {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %rows = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x16xf32>) -> index
  %count = "graph.to_tensor"(%rows) : (index) -> tensor<index>
  %three = "graph.cast"(%count) : (tensor<index>) -> tensor<i64>
  %first = "graph.constant"() <{value = 0 : index}> : () -> index
  %none = "graph.constant"() <{value = dense<0.0> : tensor<16xf32>}> : () -> tensor<16xf32>
  %nothing = "graph.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %blank = "graph.broadcast"(%nothing, %rows) <{dims = array<i64>}> : (tensor<f32>, index) -> tensor<?x16xf32>
  %r:3 = "graph.while"(%zero, %none, %blank) ({
  ^bb0(%i: tensor<i64>, %sum: tensor<16xf32>, %all: tensor<?x16xf32>):
    %more = "graph.lt"(%i, %three) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %sum: tensor<16xf32>, %all: tensor<?x16xf32>):
    %at = "graph.cast"(%i) : (tensor<i64>) -> tensor<index>
    %n = "graph.to_scalar"(%at) : (tensor<index>) -> index
    %row = "graph.dynamic_slice"(%x, %n, %first) : (tensor<?x16xf32>, index, index) -> tensor<1x16xf32>
    %flat = "graph.reshape"(%row) : (tensor<1x16xf32>) -> tensor<16xf32>
    %s = "graph.add"(%sum, %flat) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %piece = "graph.reshape"(%s) : (tensor<16xf32>) -> tensor<1x16xf32>
    %next = "graph.dynamic_update"(%all, %piece, %n, %first) : (tensor<?x16xf32>, tensor<1x16xf32>, index, index) -> tensor<?x16xf32>
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %s, %next) : (tensor<i64>, tensor<16xf32>, tensor<?x16xf32>) -> ()
  }) : (tensor<i64>, tensor<16xf32>, tensor<?x16xf32>) -> (tensor<i64>, tensor<16xf32>, tensor<?x16xf32>)
  return %r#2, %r#1 : tensor<?x16xf32>, tensor<16xf32>
}

// Pieces whose size only the caller knows.
// CHECK-LABEL: func.func @open_pieces
// CHECK: ^bb0({{.*}}: tensor<?x16xf32>, {{.*}}: tensor<?x?x16xf32>, %{{.*}}: i64):
// CHECK: "graph.dynamic_slice"{{.*}}window{{.*}} -> tensor<1x?x16xf32>
// CHECK: "graph.dynamic_update"{{.*}}window{{.*}} : (tensor<?x?x16xf32>, tensor<?x16xf32>, index, index, index)
func.func @open_pieces(%x: tensor<?x?x16xf32>) -> (tensor<?x?x16xf32>, tensor<?x16xf32>) {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %rows = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x?x16xf32>) -> index
  %size = "graph.dim"(%x) <{index = 1 : i64}> : (tensor<?x?x16xf32>) -> index
  %count = "graph.to_tensor"(%rows) : (index) -> tensor<index>
  %last = "graph.cast"(%count) : (tensor<index>) -> tensor<i64>
  %first = "graph.constant"() <{value = 0 : index}> : () -> index
  %nothing = "graph.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %none = "graph.broadcast"(%nothing, %size) <{dims = array<i64>}> : (tensor<f32>, index) -> tensor<?x16xf32>
  %blank = "graph.broadcast"(%nothing, %rows, %size) <{dims = array<i64>}> : (tensor<f32>, index, index) -> tensor<?x?x16xf32>
  %r:3 = "graph.while"(%zero, %none, %blank) ({
  ^bb0(%i: tensor<i64>, %sum: tensor<?x16xf32>, %all: tensor<?x?x16xf32>):
    %more = "graph.lt"(%i, %last) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %sum: tensor<?x16xf32>, %all: tensor<?x?x16xf32>):
    %at = "graph.cast"(%i) : (tensor<i64>) -> tensor<index>
    %n = "graph.to_scalar"(%at) : (tensor<index>) -> index
    %row = "graph.dynamic_slice"(%x, %n, %first, %first, %size) : (tensor<?x?x16xf32>, index, index, index, index) -> tensor<1x?x16xf32>
    %flat = "graph.reshape"(%row, %size) : (tensor<1x?x16xf32>, index) -> tensor<?x16xf32>
    %s = "graph.add"(%sum, %flat) : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
    %piece = "graph.reshape"(%s, %size) : (tensor<?x16xf32>, index) -> tensor<1x?x16xf32>
    %next = "graph.dynamic_update"(%all, %piece, %n, %first, %first) : (tensor<?x?x16xf32>, tensor<1x?x16xf32>, index, index, index) -> tensor<?x?x16xf32>
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %s, %next) : (tensor<i64>, tensor<?x16xf32>, tensor<?x?x16xf32>) -> ()
  }) : (tensor<i64>, tensor<?x16xf32>, tensor<?x?x16xf32>) -> (tensor<i64>, tensor<?x16xf32>, tensor<?x?x16xf32>)
  return %r#2, %r#1 : tensor<?x?x16xf32>, tensor<?x16xf32>
}

// Their sizes may be no multiple of what views need, too.
func.func @open_short_pieces(%x: tensor<2x?x3xi32>) -> tensor<2x?x3xi32> {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %size = "graph.dim"(%x) <{index = 1 : i64}> : (tensor<2x?x3xi32>) -> index
  %first = "graph.constant"() <{value = 0 : index}> : () -> index
  %nothing = "graph.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %blank = "graph.broadcast"(%nothing, %size) <{dims = array<i64>}> : (tensor<i32>, index) -> tensor<2x?x3xi32>
  %r:2 = "graph.while"(%one, %blank) ({
  ^bb0(%i: tensor<i64>, %all: tensor<2x?x3xi32>):
    %more = "graph.ge"(%i, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %all: tensor<2x?x3xi32>):
    %at = "graph.cast"(%i) : (tensor<i64>) -> tensor<index>
    %m = "graph.to_scalar"(%at) : (tensor<index>) -> index
    %back = "graph.sub"(%one, %i) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %from = "graph.cast"(%back) : (tensor<i64>) -> tensor<index>
    %o = "graph.to_scalar"(%from) : (tensor<index>) -> index
    %row = "graph.dynamic_slice"(%x, %o, %first, %first, %size) : (tensor<2x?x3xi32>, index, index, index, index) -> tensor<1x?x3xi32>
    %s = "graph.add"(%row, %row) : (tensor<1x?x3xi32>, tensor<1x?x3xi32>) -> tensor<1x?x3xi32>
    %next = "graph.dynamic_update"(%all, %s, %m, %first, %first) : (tensor<2x?x3xi32>, tensor<1x?x3xi32>, index, index, index) -> tensor<2x?x3xi32>
    %j = "graph.sub"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %next) : (tensor<i64>, tensor<2x?x3xi32>) -> ()
  }) : (tensor<i64>, tensor<2x?x3xi32>) -> (tensor<i64>, tensor<2x?x3xi32>)
  return %r#1 : tensor<2x?x3xi32>
}

// Pieces that are too short for views of their own are copied; the loop goes backwards.
func.func @short_pieces(%x: tensor<3x3xi32>) -> tensor<3x3xi32> {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %two = "graph.constant"() <{value = dense<2> : tensor<i64>}> : () -> tensor<i64>
  %first = "graph.constant"() <{value = 0 : index}> : () -> index
  %blank = "graph.constant"() <{value = dense<0> : tensor<3x3xi32>}> : () -> tensor<3x3xi32>
  %r:2 = "graph.while"(%two, %blank) ({
  ^bb0(%i: tensor<i64>, %all: tensor<3x3xi32>):
    %more = "graph.ge"(%i, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %all: tensor<3x3xi32>):
    %n = "graph.to_scalar"(%i) : (tensor<i64>) -> i64
    %m = "graph.cast"(%n) : (i64) -> index
    %back = "graph.sub"(%two, %i) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %k = "graph.to_scalar"(%back) : (tensor<i64>) -> i64
    %o = "graph.cast"(%k) : (i64) -> index
    %row = "graph.dynamic_slice"(%x, %o, %first) : (tensor<3x3xi32>, index, index) -> tensor<1x3xi32>
    %s = "graph.add"(%row, %row) : (tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<1x3xi32>
    %next = "graph.dynamic_update"(%all, %s, %m, %first) : (tensor<3x3xi32>, tensor<1x3xi32>, index, index) -> tensor<3x3xi32>
    %j = "graph.sub"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %next) : (tensor<i64>, tensor<3x3xi32>) -> ()
  }) : (tensor<i64>, tensor<3x3xi32>) -> (tensor<i64>, tensor<3x3xi32>)
  return %r#1 : tensor<3x3xi32>
}

func.func @rotate(%n: tensor<i64>, %x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %r:4 = "graph.while"(%zero, %x, %y, %z) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>):
    %more = "graph.lt"(%i, %n) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>):
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %b, %c, %a) : (tensor<i64>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<i64>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %r#1, %r#2, %r#3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

func.func @rotate_open(%n: tensor<i64>, %x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %r:4 = "graph.while"(%zero, %x, %y, %z) ({
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>):
    %more = "graph.lt"(%i, %n) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>):
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %b, %c, %a) : (tensor<i64>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> ()
  }) : (tensor<i64>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// One value moves, the other one is new.
func.func @fibonacci(%x: tensor<2xi32>, %y: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "graph.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %count = "graph.constant"() <{value = dense<8> : tensor<i32>}> : () -> tensor<i32>
  %r:3 = "graph.while"(%zero, %x, %y) ({
  ^bb0(%i: tensor<i32>, %a: tensor<2xi32>, %b: tensor<2xi32>):
    %more = "graph.lt"(%i, %count) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<2xi32>, %b: tensor<2xi32>):
    %j = "graph.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c = "graph.add"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    "graph.yield"(%j, %b, %c) : (tensor<i32>, tensor<2xi32>, tensor<2xi32>) -> ()
  }) : (tensor<i32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<i32>, tensor<2xi32>, tensor<2xi32>)
  return %r#1, %r#2 : tensor<2xi32>, tensor<2xi32>
}

// A loop in a loop: kernels use the outer counter, the host the inner one, which starts again in every round.
// CHECK-LABEL: func.func @table
func.func @table() -> tensor<4x4xi64> {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %four = "graph.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
  %ten = "graph.constant"() <{value = dense<10> : tensor<i64>}> : () -> tensor<i64>
  %blank = "graph.constant"() <{value = dense<0> : tensor<4x4xi64>}> : () -> tensor<4x4xi64>
  %r:2 = "graph.while"(%zero, %blank) ({
  ^bb0(%i: tensor<i64>, %all: tensor<4x4xi64>):
    %more = "graph.lt"(%i, %four) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %all: tensor<4x4xi64>):
    %base = "graph.mul"(%i, %ten) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %row = "graph.to_scalar"(%i) : (tensor<i64>) -> i64
    %y = "graph.cast"(%row) : (i64) -> index
    %q:2 = "graph.while"(%zero, %all) ({
    ^bb0(%k: tensor<i64>, %part: tensor<4x4xi64>):
      %some = "graph.lt"(%k, %four) : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "graph.yield"(%some) : (tensor<i1>) -> ()
    }, {
    ^bb0(%k: tensor<i64>, %part: tensor<4x4xi64>):
      %column = "graph.to_scalar"(%k) : (tensor<i64>) -> i64
      %x = "graph.cast"(%column) : (i64) -> index
      %v = "graph.add"(%base, %k) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %w = "graph.reshape"(%v) : (tensor<i64>) -> tensor<1x1xi64>
      %next = "graph.dynamic_update"(%part, %w, %y, %x) : (tensor<4x4xi64>, tensor<1x1xi64>, index, index) -> tensor<4x4xi64>
      %l = "graph.add"(%k, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "graph.yield"(%l, %next) : (tensor<i64>, tensor<4x4xi64>) -> ()
    }) : (tensor<i64>, tensor<4x4xi64>) -> (tensor<i64>, tensor<4x4xi64>)
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %q#1) : (tensor<i64>, tensor<4x4xi64>) -> ()
  }) : (tensor<i64>, tensor<4x4xi64>) -> (tensor<i64>, tensor<4x4xi64>)
  return %r#1 : tensor<4x4xi64>
}

// What the device computes decides: it is read back, and the count stays where it is.
// CHECK-LABEL: func.func @by_data
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<i64>):
func.func @by_data(%limit: tensor<i32>) -> (tensor<i32>, tensor<i64>) {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %start = "graph.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = "graph.while"(%start, %zero) ({
  ^bb0(%v: tensor<i32>, %i: tensor<i64>):
    %more = "graph.lt"(%v, %limit) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<i32>, %i: tensor<i64>):
    %spread = "graph.broadcast"(%v) <{dims = array<i64>}> : (tensor<i32>) -> tensor<2xi32>
    %w = "graph.reduce"(%spread) <{dims = array<i64: 0>, kind = "add"}> : (tensor<2xi32>) -> tensor<i32>
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%w, %j) : (tensor<i32>, tensor<i64>) -> ()
  }) : (tensor<i32>, tensor<i64>) -> (tensor<i32>, tensor<i64>)
  return %r#0, %r#1 : tensor<i32>, tensor<i64>
}

// Starts are clamped so that the piece fits.
func.func @beyond(%x: tensor<2x16xi8>) -> tensor<2x16xi8> {
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %first = "graph.constant"() <{value = 0 : index}> : () -> index
  %far = "graph.constant"() <{value = 7 : index}> : () -> index
  %before = "graph.constant"() <{value = -7 : index}> : () -> index
  %blank = "graph.constant"() <{value = dense<0> : tensor<2x16xi8>}> : () -> tensor<2x16xi8>
  %r:2 = "graph.while"(%zero, %blank) ({
  ^bb0(%i: tensor<i64>, %all: tensor<2x16xi8>):
    %more = "graph.lt"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %all: tensor<2x16xi8>):
    %row = "graph.dynamic_slice"(%x, %before, %first) : (tensor<2x16xi8>, index, index) -> tensor<1x16xi8>
    %next = "graph.dynamic_update"(%all, %row, %far, %first) : (tensor<2x16xi8>, tensor<1x16xi8>, index, index) -> tensor<2x16xi8>
    %j = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "graph.yield"(%j, %next) : (tensor<i64>, tensor<2x16xi8>) -> ()
  }) : (tensor<i64>, tensor<2x16xi8>) -> (tensor<i64>, tensor<2x16xi8>)
  return %r#1 : tensor<2x16xi8>
}
