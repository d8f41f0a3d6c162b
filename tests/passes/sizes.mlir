// Each '?' gets an index value: dimensions of arguments, and arithmetic on them that is folded and made once. Where sizes
// must agree and may not, there is an assert; what was resolved stays as it is when the pass runs again.
// RUN: iree-opt --pass=sizes --pass=dce %s | FileCheck %s
// RUN: iree-opt --pass=sizes --pass=dce --pass=sizes --pass=dce %s | FileCheck %s

// CHECK-LABEL: @agree
// CHECK: %[[N:.+]] = "graph.dim"(%arg0) <{index = 0 : i64}>
// CHECK: %[[M:.+]] = "graph.dim"(%arg1) <{index = 0 : i64}>
// CHECK: %[[SAME:.+]] = "graph.eq"(%[[N]], %[[M]])
// CHECK: "graph.assert"(%[[SAME]], %[[N]], %[[M]]) <{message = "sizes do not fit in 'graph.add' at {{.*}}: the operands must be of one shape ({0} and {1})"}>
// CHECK-NOT: graph.assert
// CHECK: "graph.broadcast"({{.*}}, %[[N]])
func.func @agree(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %z: tensor<4xf32>) -> tensor<?x4xf32> {
  %0 = "graph.add"(%x, %y) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "graph.mul"(%y, %0) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %n = "graph.dim"(%1) <{index = 0 : i64}> : (tensor<?x4xf32>) -> index
  %2 = "graph.broadcast"(%z, %n) <{dims = array<i64: 1>}> : (tensor<4xf32>, index) -> tensor<?x4xf32>
  %3 = "graph.sub"(%1, %2) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// What two sizes broadcast to is one value, however often and from however many it is asked for; nothing is left of it
// where they are the same.
// CHECK-LABEL: @common
// CHECK-DAG: %[[N:.+]] = "graph.dim"(%arg0)
// CHECK-DAG: %[[M:.+]] = "graph.dim"(%arg1)
// CHECK: %[[ONE:.+]] = "graph.eq"(%[[N]], %{{.+}})
// CHECK: %[[COMMON:.+]] = "graph.select"(%[[ONE]], %[[M]], %[[N]])
// CHECK: "graph.broadcast"(%arg0, %[[COMMON]])
// CHECK: "graph.assert"({{.*}}, %[[M]], %[[N]]) <{message = "sizes do not fit in 'graph.broadcast' at {{.*}}: a size must be 1 or that of the result in a broadcast ({0} and {1})"}>
// CHECK: "graph.broadcast"(%arg1, %[[COMMON]])
// CHECK-NOT: "graph.assert"
// CHECK-NOT: "graph.select"
// CHECK: %[[SUM:.+]] = "graph.add"
// CHECK-NOT: "graph.broadcast"(%[[SUM]]
// CHECK: %[[Y:.+]] = "graph.broadcast"(%arg1, %[[COMMON]])
// CHECK: "graph.mul"(%[[SUM]], %[[Y]])
// CHECK-NOT: "graph.broadcast"
// CHECK: return
func.func @common(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %one = "graph.constant"() <{value = 1 : index}> : () -> index
  %n = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %m = "graph.dim"(%y) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %is = "graph.eq"(%n, %one) : (index, index) -> i1
  %c = "graph.select"(%is, %m, %n) : (i1, index, index) -> index
  %0 = "graph.broadcast"(%x, %c) <{dims = array<i64: 0>}> : (tensor<?xf32>, index) -> tensor<?xf32>
  %1 = "graph.broadcast"(%y, %c) <{dims = array<i64: 0>}> : (tensor<?xf32>, index) -> tensor<?xf32>
  %sum = "graph.add"(%0, %1) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %k = "graph.dim"(%sum) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %again = "graph.eq"(%m, %one) : (index, index) -> i1
  %d = "graph.select"(%again, %k, %m) : (i1, index, index) -> index
  %2 = "graph.broadcast"(%sum, %d) <{dims = array<i64: 0>}> : (tensor<?xf32>, index) -> tensor<?xf32>
  %3 = "graph.broadcast"(%y, %d) <{dims = array<i64: 0>}> : (tensor<?xf32>, index) -> tensor<?xf32>
  %4 = "graph.mul"(%2, %3) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %same = "graph.eq"(%n, %one) : (index, index) -> i1
  %e = "graph.select"(%same, %n, %n) : (i1, index, index) -> index
  %5 = "graph.broadcast"(%x, %e) <{dims = array<i64: 0>}> : (tensor<?xf32>, index) -> tensor<?xf32>
  return %4, %5 : tensor<?xf32>, tensor<?xf32>
}

// A convolution that keeps the size needs no arithmetic; halving it needs one division.
// CHECK-LABEL: @window
// CHECK: %[[H:.+]] = "graph.dim"(%arg0) <{index = 2 : i64}>
// CHECK-NOT: graph.add
// CHECK-DAG: %[[HALF:.+]] = "graph.div"(%[[H]], %{{.+}})
// CHECK: "graph.to_tensor"(%[[HALF]])
func.func @window(%x: tensor<1x3x?x?xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<index> {
  %0 = "graph.conv"(%x, %w) <{batch_groups = 1 : i64, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>, w_dilation = array<i64: 1, 1>, w_layout = "oi01", x_dilation = array<i64: 1, 1>, x_layout = "nc01", y_layout = "nc01"}> : (tensor<1x3x?x?xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x?xf32>
  %1 = "graph.window"(%0) <{base_dilations = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, kind = "max", pad_high = array<i64: 0, 0, 0, 0>, pad_low = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 1, 2, 2>, strides = array<i64: 1, 1, 2, 2>}> : (tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32>
  %h = "graph.dim"(%1) <{index = 2 : i64}> : (tensor<1x4x?x?xf32>) -> index
  %2 = "graph.to_tensor"(%h) : (index) -> tensor<index>
  return %2 : tensor<index>
}

// CHECK-LABEL: @reshape
// CHECK-NOT: graph.assert
// CHECK: "graph.reshape"(%arg0, %{{.+}}) : (tensor<?x4x6xf32>, index) -> tensor<?x3xf32>
// CHECK: "graph.assert"({{.*}}a reshape must keep the number of elements
func.func @reshape(%x: tensor<?x4x6xf32>, %n: index) -> (tensor<?x3xf32>, tensor<?xf32>) {
  %0 = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?x4x6xf32>) -> index
  %c24 = "graph.constant"() <{value = 24 : index}> : () -> index
  %c3 = "graph.constant"() <{value = 3 : index}> : () -> index
  %1 = "graph.mul"(%0, %c24) : (index, index) -> index
  %2 = "graph.div"(%1, %c3) : (index, index) -> index
  %3 = "graph.reshape"(%x, %2) : (tensor<?x4x6xf32>, index) -> tensor<?x3xf32>
  %4 = "graph.reshape"(%x, %n) : (tensor<?x4x6xf32>, index) -> tensor<?xf32>
  return %3, %4 : tensor<?x3xf32>, tensor<?xf32>
}

// Of a loop's carried values: those they begin with.
// CHECK-LABEL: @loop
// CHECK: %[[N:.+]] = "graph.dim"(%arg0)
// CHECK: "graph.while"
// CHECK-NOT: graph.assert
// CHECK: "graph.to_tensor"(%[[N]])
func.func @loop(%x: tensor<?xf32>, %go: tensor<i1>) -> tensor<index> {
  %0 = "graph.while"(%x) ({
  ^bb0(%a: tensor<?xf32>):
    "graph.yield"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<?xf32>):
    %1 = "graph.neg"(%a) : (tensor<?xf32>) -> tensor<?xf32>
    "graph.yield"(%1) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>) -> tensor<?xf32>
  %n = "graph.dim"(%0) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %2 = "graph.to_tensor"(%n) : (index) -> tensor<index>
  return %2 : tensor<index>
}

// A loop that changes the size of a value carries the size along; what keeps its size does not.
// CHECK-LABEL: @growing
// CHECK: %[[N:.+]] = "graph.dim"(%arg0) <{index = 0 : i64}>
// CHECK: "graph.while"(%arg0, %arg0, %[[N]]) <{sizes = array<i64: 2, -1>}>
// CHECK: ^bb0({{.*}}, %[[NOW:[^:]+]]: index):
// CHECK: ^bb0({{.*}}, %[[NOW:[^:]+]]: index):
// CHECK: %[[NEXT:.+]] = "graph.add"(%[[NOW]], %{{.+}})
// CHECK: "graph.yield"(%{{.+}}, %{{.+}}, %[[NEXT]])
func.func @growing(%x: tensor<?xf32>, %y: tensor<2xf32>, %flag: tensor<i1>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:2 = "graph.while"(%x, %x) ({
  ^bb0(%v: tensor<?xf32>, %w: tensor<?xf32>):
    "graph.yield"(%flag) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<?xf32>, %w: tensor<?xf32>):
    %n = "graph.concat"(%v, %y) <{axis = 0 : i64}> : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    %m = "graph.neg"(%w) : (tensor<?xf32>) -> tensor<?xf32>
    "graph.yield"(%n, %m) : (tensor<?xf32>, tensor<?xf32>) -> ()
  }) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// Sizes that a branch finds are results of the if.
// CHECK-LABEL: @inside
// CHECK: %[[IF:.+]]:2 = "graph.if"(%arg2) <{sizes = array<i64: -2>}>
// CHECK: %[[K:.+]] = "graph.max"
// CHECK: "graph.yield"(%{{.+}}, %[[K]])
// CHECK: "graph.exp"(%[[IF]]#0)
func.func @inside(%x: tensor<?xf32>, %n: tensor<index>, %flag: tensor<i1>) -> tensor<?xf32> {
  %r = "graph.if"(%flag) ({
    %k = "graph.to_scalar"(%n) : (tensor<index>) -> index
    %a = "graph.slice"(%x, %k) <{offsets = array<i64: 0>, strides = array<i64: 1>}> : (tensor<?xf32>, index) -> tensor<?xf32>
    "graph.yield"(%a) : (tensor<?xf32>) -> ()
  }, {
    %b = "graph.neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
    "graph.yield"(%b) : (tensor<?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<?xf32>
  %s = "graph.exp"(%r) : (tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// What is left of (n + m) - m, of a bound that would count from the end if that were negative, and of a part of a table
// that ends with the table.
// CHECK-LABEL: @table
// CHECK: %[[N:.+]] = "graph.dim"(%arg0)
// CHECK-NOT: "graph.sub"
// CHECK-NOT: "graph.select"
// CHECK: %[[K:.+]] = "graph.min"(%[[N]], %{{.+}})
// CHECK-NOT: "graph.assert"
// CHECK: "graph.slice"(%arg2, %[[K]])
func.func @table(%x: tensor<?xf32>, %y: tensor<?xf32>, %t: tensor<512xf32>) -> tensor<?xf32> {
  %both = "graph.concat"(%x, %y) <{axis = 0 : i64}> : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %all = "graph.dim"(%both) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %m = "graph.dim"(%y) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %zero = "graph.constant"() <{value = 0 : index}> : () -> index
  %rows = "graph.constant"() <{value = 512 : index}> : () -> index
  %past = "graph.sub"(%all, %m) : (index, index) -> index
  %negative = "graph.lt"(%past, %zero) : (index, index) -> i1
  %wrapped = "graph.add"(%past, %rows) : (index, index) -> index
  %at = "graph.select"(%negative, %wrapped, %past) : (i1, index, index) -> index
  %end = "graph.min"(%at, %rows) : (index, index) -> index
  %0 = "graph.slice"(%t, %end) <{offsets = array<i64: 0>, strides = array<i64: 1>}> : (tensor<512xf32>, index) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The last of what was put together begins where the rest ends.
// CHECK-LABEL: @tail
// CHECK: %[[N:.+]] = "graph.dim"(%arg0)
// CHECK: %[[M:.+]] = "graph.dim"(%arg1)
// CHECK-NOT: "graph.min"
// CHECK-NOT: "graph.sub"
// CHECK: "graph.dynamic_slice"(%{{.+}}, %[[N]], %[[M]])
func.func @tail(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %both = "graph.concat"(%x, %y) <{axis = 0 : i64}> : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %all = "graph.dim"(%both) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %n = "graph.dim"(%x) <{index = 0 : i64}> : (tensor<?xf32>) -> index
  %at = "graph.min"(%n, %all) : (index, index) -> index
  %length = "graph.sub"(%all, %at) : (index, index) -> index
  %0 = "graph.dynamic_slice"(%both, %at, %length) : (tensor<?xf32>, index, index) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Loops in loops: what the innermost makes longer is carried by all of them.
// CHECK-LABEL: @nest
// CHECK: "graph.while"({{.*}}) <{sizes = array<i64: 1>}>
// CHECK: "graph.while"({{.*}}) <{sizes = array<i64: 1>}>
// CHECK: "graph.while"({{.*}}) <{sizes = array<i64: 1>}>
func.func @nest(%x: tensor<?xf32>, %y: tensor<2xf32>, %flag: tensor<i1>) -> tensor<?xf32> {
  %r = "graph.while"(%x) ({
  ^bb0(%v: tensor<?xf32>):
    "graph.yield"(%flag) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<?xf32>):
    %s = "graph.while"(%v) ({
    ^bb0(%w: tensor<?xf32>):
      "graph.yield"(%flag) : (tensor<i1>) -> ()
    }, {
    ^bb0(%w: tensor<?xf32>):
      %t = "graph.while"(%w) ({
      ^bb0(%u: tensor<?xf32>):
        "graph.yield"(%flag) : (tensor<i1>) -> ()
      }, {
      ^bb0(%u: tensor<?xf32>):
        %n = "graph.concat"(%u, %y) <{axis = 0 : i64}> : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
        "graph.yield"(%n) : (tensor<?xf32>) -> ()
      }) : (tensor<?xf32>) -> tensor<?xf32>
      "graph.yield"(%t) : (tensor<?xf32>) -> ()
    }) : (tensor<?xf32>) -> tensor<?xf32>
    "graph.yield"(%s) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
