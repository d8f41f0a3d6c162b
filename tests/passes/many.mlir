// A pipeline may be of any length, and any number of passes may be printed after.
// RUN: iree-opt --pass-pipeline=$(printf 'cse,%.0s' $(seq 300))canonicalize %s | FileCheck %s
// RUN: iree-opt --cse $(printf ' --mlir-print-ir-after=cse%.0s' $(seq 40)) %s 2>&1 | FileCheck %s
// CHECK: return %arg0
func.func @main(%arg0: f32) -> f32 {
  return %arg0 : f32
}
