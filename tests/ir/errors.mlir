// Diagnostics of the parser and the verifier, each at its place.
// RUN: iree-opt --split-input-file --verify-diagnostics %s

func.func @f() {
  // expected-error @below {{custom op 'arith.frob' is unknown}}
  arith.frob
}
// -----
func.func @f() -> i32 {
  // expected-error @below {{use of undeclared SSA value name '%x'}}
  return %x : i32
}
// -----
func.func @f(%a: i32) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{expects different type than prior uses: 'i64' vs 'i32'}}
  %0 = arith.addi %a, %a : i64
}
// -----
func.func @f(%a: i32) {
  // expected-note @below {{previously defined here}}
  %0 = arith.addi %a, %a : i32
  // expected-error @below {{redefinition of SSA value '%0'}}
  %0 = arith.addi %a, %a : i32
}
// -----
func.func @f(%a: i32) {
  // expected-error @below {{operation defines 1 results but was provided 2 to bind}}
  %0:2 = arith.addi %a, %a : i32
}
// -----
func.func @f() {
  // expected-error @below {{reference to an undefined block '^bb7'}}
  cf.br ^bb7
}
// -----
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{expected ':'}}
  %0 = stablehlo.abs %a tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{unknown type 'f33'}}
  %0 = stablehlo.abs %a : tensor<4xf33>
}
// -----
// expected-error @below {{shape has too many elements}}
func.func private @f(tensor<999999999999x999999999999xf32>)
// -----
// expected-error @below {{dimension does not fit in 64 bits}}
func.func private @f(tensor<99999999999999999999xf32>)
// -----
// expected-error @below {{integer is out of range for 'i8'}}
"test.op"() {a = 256 : i8} : () -> ()
// -----
// expected-error @below {{integer does not fit in 64 bits}}
"test.op"() {a = 99999999999999999999} : () -> ()
// -----
// expected-error @below {{dimension 0 of 'tensor<3xi32>' has 3 elements, only 2 were given}}
"test.op"() {a = dense<[1, 2]> : tensor<3xi32>} : () -> ()
// -----
// expected-error @below {{element data has 3 bytes where 'tensor<3xi32>' takes 12}}
"test.op"() {a = dense<"0x010203"> : tensor<3xi32>} : () -> ()
// -----
// expected-error @below {{no data for resource 'gone'}}
"test.op"() {a = dense_resource<gone> : tensor<3xi32>} : () -> ()
// -----
// expected-error @below {{alias '#nothing' is not defined}}
"test.op"() {a = #nothing} : () -> ()
// -----
#a = [#b]
// expected-error @below {{alias '#a' is defined by itself}}
#b = [#a]
// -----
// expected-error @below {{attribute 'a' given twice}}
"test.op"() {a = 1, a = 2} : () -> ()
// -----
// expected-error @below {{string without closing '"'}}
"test.op"() {a = "open} : () -> ()
// -----
// expected-error @below {{'d9' is not a dimension or symbol of this map}}
"test.op"() {a = affine_map<(d0) -> (d9)>} : () -> ()
// -----
func.func @f(%a: i32) -> i32 {
  %0 = arith.extsi %a : i32 to i64
  // expected-error @below {{type of return operand 0 ('i64') doesn't match function result type ('i32') in @f}}
  return %0 : i64
}
// -----
func.func @f(%a: i32) {
  // expected-error @below {{block with no terminator}}
  %0 = arith.addi %a, %a : i32
}
// -----
func.func @f(%c: i1) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  // expected-note @below {{operand defined here}}
  %0 = arith.constant 1 : i32
  cf.br ^bb2
^bb2:
  // expected-error @below {{operand #0 does not dominate this use}}
  return %0 : i32
}
// -----
func.func @f(%a: i32) -> i32 {
  // expected-error @below {{operand #0 does not dominate this use}}
  %0 = arith.addi %1, %a : i32
  // expected-note @below {{operand defined here}}
  %1 = arith.addi %a, %a : i32
  return %1 : i32
}
// -----
func.func @f(%a: i32, %c: i1) {
  // expected-error @below {{type mismatch for bb argument #0 of successor #0: 'i32' instead of 'i64'}}
  cf.br ^bb1(%a : i32)
^bb1(%x: i64):
  return
}
// -----
// expected-note @below {{see existing symbol definition here}}
func.func private @f()
// expected-error @below {{redefinition of symbol named 'f'}}
func.func private @f()
// -----
func.func @f(%a: f32) {
  // expected-error @below {{operand type 'f32' and result type 'i32' are cast incompatible}}
  %0 = arith.extsi %a : f32 to i32
  return
}
// -----
func.func @f(%a: tensor<4x4xf32>, %i: index) {
  // expected-error @below {{incorrect number of indices for 'tensor<4x4xf32>': 1}}
  %0 = tensor.extract %a[%i] : tensor<4x4xf32>
  return
}
// -----
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results, got 'tensor<4xf32>' and 'tensor<5xi1>'}}
  %0 = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<5xi1>
  return
}
// -----
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{expected indexing_map #1 to have 1 dim(s) to match the number of loops}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
