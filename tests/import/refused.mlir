// Ops that are read and have no lowering: each message says what would work.
// RUN: not iree-compile --compile-to=input %s 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.infeed' op with operands (!stablehlo.token) is not supported: arguments of the function, and @iree.call of another module's function, bring values in
func.func @infeed() -> tensor<2xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.infeed"(%t) {infeed_config = ""} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0 : tensor<2xf32>
}
// CHECK: error: 'stablehlo.outfeed' op {{.*}}: results of the function, and @iree.call of another module's function, take values out
func.func @outfeed(%x: tensor<2xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = "stablehlo.outfeed"(%x, %t) {outfeed_config = ""} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
// CHECK: error: 'stablehlo.send' op {{.*}}: programs for one device are; results, and @iree.call of another module's function, take values out
func.func @send(%x: tensor<2xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
// CHECK: error: 'stablehlo.recv' op {{.*}}: programs for one device are; arguments, and @iree.call of another module's function, bring values in
func.func @recv() -> tensor<2xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0 : tensor<2xf32>
}
// CHECK: error: 'arith.select' op {{.*}}: func.call of a name is, and scf.if or scf.index_switch around several calls
func.func @chosen(%which: i1, %x: f32) -> f32 {
  %f = func.constant @first : (f32) -> f32
  %g = func.constant @second : (f32) -> f32
  %h = arith.select %which, %f, %g : (f32) -> f32
  %0 = func.call_indirect %h(%x) : (f32) -> f32
  return %0 : f32
}
// CHECK: error: 'func.call_indirect' op {{.*}}: func.call of a name is, and scf.if or scf.index_switch around several calls
func.func @behind(%x: f32) -> f32 {
  %f = scf.execute_region -> ((f32) -> f32) {
    %g = func.constant @second : (f32) -> f32
    scf.yield %g : (f32) -> f32
  }
  %0 = func.call_indirect %f(%x) : (f32) -> f32
  return %0 : f32
}
func.func private @first(%x: f32) -> f32 {
  return %x : f32
}
func.func private @second(%x: f32) -> f32 {
  %0 = arith.negf %x : f32
  return %0 : f32
}
// CHECK: error: 'shape.reduce' op {{.*}}: a shape's extents one by one are: shape.num_elements, shape.get_extent
func.func @reduce(%x: tensor<?xf32>) -> index {
  %s = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %c = arith.constant 1 : index
  %0 = "shape.reduce"(%s, %c) ({
  ^bb0(%i: index, %extent: index, %all: index):
    %1 = arith.muli %extent, %all : index
    "shape.yield"(%1) : (index) -> ()
  }) : (tensor<1xindex>, index) -> index
  return %0 : index
}
// CHECK: error: 'shape.meet' op {{.*}}: shape.cstr_eq says that two shapes are one, and shape.any takes either
func.func @meet(%x: tensor<?xf32>) -> tensor<1xindex> {
  %s = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %0 = shape.meet %s, %s : tensor<1xindex>, tensor<1xindex> -> tensor<1xindex>
  return %0 : tensor<1xindex>
}
// CHECK: error: 'shape.with_shape' op {{.*}}: a tensor brings its own shape; shape.shape_of gives it
func.func @with_shape(%x: tensor<?xf32>) -> tensor<?xf32> {
  %s = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %0 = "shape.with_shape"(%x, %s) : (tensor<?xf32>, tensor<1xindex>) -> !shape.value_shape
  return %x : tensor<?xf32>
}
// CHECK: error: 'shape.value_of' op {{.*}}: a tensor brings its own shape; shape.shape_of gives it
func.func @value_of(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "shape.value_of"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK: error: 'shape.debug_print' op {{.*}}: a shape as a result of the program, after shape.to_extent_tensor, is
func.func @debug_print(%x: tensor<?xf32>) -> tensor<1xindex> {
  %s = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %0 = "shape.debug_print"(%s) : (tensor<1xindex>) -> tensor<1xindex>
  return %0 : tensor<1xindex>
}
// CHECK: error: 'shape.const_witness' op {{.*}}: a witness of what does not hold is not; cf.assert stops a program
func.func @const_witness() {
  %0 = shape.const_witness false
  return
}
// CHECK: error: 'shape.num_elements' op {{.*}}: shapes of a known number of dimensions are, up to 16
func.func @any_rank(%s: tensor<?xindex>) -> index {
  %0 = shape.num_elements %s : tensor<?xindex> -> index
  return %0 : index
}
// CHECK: error: 'complex.bitcast' op {{.*}}: complex.re and complex.im, and arith.bitcast of each, are
func.func @bitcast(%x: complex<f32>) -> i64 {
  %0 = complex.bitcast %x : complex<f32> to i64
  return %0 : i64
}
// CHECK: error: 'linalg.fill_rng_2d' op {{.*}}: numbers made of linalg.index in a linalg.generic, and stablehlo.rng_bit_generator, are
func.func @fill_rng(%low: f64, %high: f64, %seed: i32, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.fill_rng_2d ins(%low, %high, %seed : f64, f64, i32) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// CHECK: error: 'linalg.scaled_contract' op {{.*}}: linalg.generic, which multiplies by the scales in its body, is
func.func @scaled(%x: tensor<2x3xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = linalg.scaled_contract ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%y : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// CHECK: error: 'tosa.custom' op {{.*}}: ops that TOSA defines are; func.call of another module's function runs what a host has
func.func @custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tosa.custom"(%x) {domain_name = "d", implementation_attrs = "", operator_name = "o"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: error: 'flow.dispatch.workgroup.id' op {{.*}}: it is in no dispatch that says how many workgroups there are
func.func @flow_id() -> index {
  %0 = flow.dispatch.workgroup.id[0] : index
  return %0 : index
}
// CHECK: error: 'flow.dispatch.workgroup.count' op {{.*}}: it is in no dispatch that says how many workgroups there are
func.func @flow_count() -> index {
  %0 = flow.dispatch.workgroup.count[0] : index
  return %0 : index
}
// CHECK: error: 'flow.dispatch.workgroup.size' op {{.*}}: it is in no dispatch that says how many workgroups there are
func.func @flow_size() -> index {
  %0 = flow.dispatch.workgroup.size[0] : index
  return %0 : index
}
// CHECK: error: 'stream.dispatch.workgroup.id' op {{.*}}: it is in no dispatch that says how many workgroups there are
func.func @stream_id() -> index {
  %0 = stream.dispatch.workgroup.id[0] : index
  return %0 : index
}
// CHECK: error: 'stream.dispatch.workgroup.count' op {{.*}}: it is in no dispatch that says how many workgroups there are
func.func @stream_count() -> index {
  %0 = stream.dispatch.workgroup.count[0] : index
  return %0 : index
}
// CHECK: error: 'stream.dispatch.workgroup.size' op {{.*}}: it is in no dispatch that says how many workgroups there are
func.func @stream_size() -> index {
  %0 = stream.dispatch.workgroup.size[0] : index
  return %0 : index
}
