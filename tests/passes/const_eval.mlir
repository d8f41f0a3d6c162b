// What is computed from constants alone is computed when compiling, at any size, by the kernels that would compute it at
// run time: with and without, results are the same to the bit. What would be much larger than what it comes from is not.
//
// RUN: awk '/0xBYTES/ {split($0, part, "BYTES"); ORS = ""; print part[1]; for (i = 0; i < 1048576; ++i) printf "%02X", i % 251; ORS = "\n"; $0 = part[2]} {print}' %s > %t.mlir
// RUN: iree-compile --compile-to=global-optimization --mlir-elide-elementsattrs-if-larger=16 %t.mlir -o %t.folded
// RUN: FileCheck %s < %t.folded
// RUN: iree-compile --iree-opt-const-eval=false --compile-to=global-optimization --mlir-elide-elementsattrs-if-larger=16 %t.mlir -o %t.kept
// RUN: FileCheck --check-prefix=KEPT %s < %t.kept
// RUN: iree-compile --iree-opt-const-expr-hoisting=false --compile-to=global-optimization --mlir-elide-elementsattrs-if-larger=16 %t.mlir -o %t.kept
// RUN: FileCheck --check-prefix=KEPT %s < %t.kept
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %t.mlir -o %t.vmfb
// RUN: iree-compile --iree-opt-const-eval=false --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %t.mlir -o %t.late.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=weights --input=2x1024xf32=0.5 --output=@%t.npy
// RUN: iree-run-module --device=local-sync --module=%t.late.vmfb --function=weights --input=2x1024xf32=0.5 --output=@%t.late.npy
// RUN: cmp %t.npy %t.late.npy
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %t.mlir -o %t.vmvx.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmvx.vmfb --function=reduced --input=1024xf32=1 --output=@%t.vmvx.npy
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=reduced --input=1024xf32=1 --output=@%t.npy
// RUN: cmp %t.npy %t.vmvx.npy

// CHECK-LABEL: func.func @weights(
// CHECK: %[[W:.*]] = "graph.constant"() {{.*}} : () -> tensor<1024x1024xf32>
// CHECK-NOT: "graph.cast"
// CHECK: "graph.contract"({{.*}}, %[[W]])
// KEPT-LABEL: func.func @weights(
// KEPT: "graph.cast"({{.*}}) : (tensor<1024x1024xi8>) -> tensor<1024x1024xf32>
// KEPT: "graph.mul"
// KEPT: "graph.contract"
func.func @weights(%x: tensor<2x1024xf32>) -> tensor<2x1024xf32> {
  %0 = "graph.constant"() <{value = dense<"0xBYTES"> : tensor<1024x1024xi8>}> : () -> tensor<1024x1024xi8>
  %1 = "graph.cast"(%0) : (tensor<1024x1024xi8>) -> tensor<1024x1024xf32>
  %2 = "graph.iota"() <{axis = 0 : i64}> : () -> tensor<1024xf32>
  %3 = "graph.sqrt"(%2) : (tensor<1024xf32>) -> tensor<1024xf32>
  %4 = "graph.broadcast"(%3) <{dims = array<i64: 1>}> : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %5 = "graph.mul"(%1, %4) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %6 = "graph.contract"(%x, %5) <{lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}> : (tensor<2x1024xf32>, tensor<1024x1024xf32>) -> tensor<2x1024xf32>
  return %6 : tensor<2x1024xf32>
}

// A loop's body too; the chain shares its source with a reduction, which is computed as well.
// CHECK-LABEL: func.func @reduced(
// CHECK-NOT: "graph.reduce"
// CHECK: "graph.while"
// CHECK-NOT: "graph.reduce"
// CHECK: return
// KEPT-LABEL: func.func @reduced(
// KEPT: "graph.reduce"
func.func @reduced(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = "graph.constant"() <{value = dense<"0xBYTES"> : tensor<1024x1024xi8>}> : () -> tensor<1024x1024xi8>
  %zero = "graph.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "graph.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %three = "graph.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
  %r:2 = "graph.while"(%zero, %x) ({
  ^bb0(%i: tensor<i64>, %v: tensor<1024xf32>):
    %more = "graph.lt"(%i, %three) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "graph.yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %v: tensor<1024xf32>):
    %next = "graph.add"(%i, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = "graph.cast"(%0) : (tensor<1024x1024xi8>) -> tensor<1024x1024xi32>
    %2 = "graph.reduce"(%1) <{dims = array<i64: 1>, kind = "add"}> : (tensor<1024x1024xi32>) -> tensor<1024xi32>
    %3 = "graph.cast"(%2) : (tensor<1024xi32>) -> tensor<1024xf32>
    %4 = "graph.add"(%v, %3) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    "graph.yield"(%next, %4) : (tensor<i64>, tensor<1024xf32>) -> ()
  }) : (tensor<i64>, tensor<1024xf32>) -> (tensor<i64>, tensor<1024xf32>)
  return %r#1 : tensor<1024xf32>
}

// A repeated bias stays small.
// CHECK-LABEL: func.func @repeated(
// CHECK: "graph.broadcast"
func.func @repeated(%x: tensor<1024x1024x64xi8>) -> tensor<1024x1024x64xi8> {
  %0 = "graph.constant"() <{value = dense<"0xBYTES"> : tensor<1024x1024xi8>}> : () -> tensor<1024x1024xi8>
  %1 = "graph.broadcast"(%0) <{dims = array<i64: 0, 1>}> : (tensor<1024x1024xi8>) -> tensor<1024x1024x64xi8>
  %2 = "graph.add"(%x, %1) : (tensor<1024x1024x64xi8>, tensor<1024x1024x64xi8>) -> tensor<1024x1024x64xi8>
  return %2 : tensor<1024x1024x64xi8>
}
