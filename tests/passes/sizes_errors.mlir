// Sizes of control flow that are written down already are checked before they are believed.
// RUN: not iree-opt --pass=sizes %s 2>&1 | FileCheck %s

// CHECK: error: 'graph.while' op has 'sizes' that do not name an index value for each '?' of its results
func.func @carried(%x: tensor<?xf32>, %flag: tensor<i1>) -> tensor<?xf32> {
  %r = "graph.while"(%x) <{sizes = array<i64: 7>}> ({
  ^bb0(%v: tensor<?xf32>):
    "graph.yield"(%flag) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<?xf32>):
    "graph.yield"(%v) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
