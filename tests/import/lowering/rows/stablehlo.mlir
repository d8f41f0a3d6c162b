// Rows of stablehlo that do little on one device; random numbers by what they are between.
// Written by cases_rows.py.

func.func @one_device(%a: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<ui32>, tensor<ui32>) attributes {
    test.in = [dense<[[1.48099684715271, -0.8527311682701111, 0.4125925898551941, 1.1101363897323608], [0.8642985224723816, 1.6615204811096191, 1.4415745735168457, 1.6729505062103271]]> : tensor<2x4xf32>],
    test.out = [dense<[[1.48099684715271, -0.8527311682701111, 0.4125925898551941, 1.1101363897323608], [0.8642985224723816, 1.6615204811096191, 1.4415745735168457, 1.6729505062103271]]> : tensor<2x4xf32>, dense<[[1.48099684715271, -0.8527311682701111, 0.4125925898551941, 1.1101363897323608], [0.8642985224723816, 1.6615204811096191, 1.4415745735168457, 1.6729505062103271]]> : tensor<2x4xf32>, dense<[[1.48099684715271, -0.8527311682701111, 0.4125925898551941, 1.1101363897323608], [0.8642985224723816, 1.6615204811096191, 1.4415745735168457, 1.6729505062103271]]> : tensor<2x4xf32>, dense<[[1.48099684715271, -0.8527311682701111, 0.4125925898551941, 1.1101363897323608], [0.8642985224723816, 1.6615204811096191, 1.4415745735168457, 1.6729505062103271]]> : tensor<2x4xf32>, dense<[[1.48099684715271, -0.8527311682701111, 0.4125925898551941, 1.1101363897323608], [0.8642985224723816, 1.6615204811096191, 1.4415745735168457, 1.6729505062103271]]> : tensor<2x4xf32>, dense<[[1.48099684715271, -0.8527311682701111, 0.4125925898551941, 1.1101363897323608], [0.8642985224723816, 1.6615204811096191, 1.4415745735168457, 1.6729505062103271]]> : tensor<2x4xf32>, dense<0> : tensor<ui32>, dense<0> : tensor<ui32>]
} {
  %r0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r1 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r2 = "stablehlo.collective_broadcast"(%a) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r3 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r4 = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r5 = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t, %t : !stablehlo.token
  %r6 = stablehlo.replica_id : tensor<ui32>
  %r7 = stablehlo.partition_id : tensor<ui32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<ui32>, tensor<ui32>
}

func.func @rng(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<500xi1>) attributes {
    test.in = [dense<-3.0> : tensor<f32>, dense<5.0> : tensor<f32>],
    test.out = [dense<[true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]> : tensor<500xi1>]
} {
  %shape = stablehlo.constant dense<[500]> : tensor<1xi64>
  %0 = "stablehlo.rng"(%a, %b, %shape) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<500xf32>
  %l = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<500xf32>
  %h = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<500xf32>
  %1 = stablehlo.compare GE, %0, %l : (tensor<500xf32>, tensor<500xf32>) -> tensor<500xi1>
  %2 = stablehlo.compare LT, %0, %h : (tensor<500xf32>, tensor<500xf32>) -> tensor<500xi1>
  %3 = stablehlo.and %1, %2 : tensor<500xi1>
  return %3 : tensor<500xi1>
}
