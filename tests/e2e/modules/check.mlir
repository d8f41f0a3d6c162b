// Functions that check their own values, as tests of iree-check-module.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: not iree-check-module --device=local-sync --module=%t.vmfb > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: iree-check-module --device=local-task %t.vmfb --gtest_filter=*_holds | FileCheck --check-prefix=HOLDS %s
// RUN: iree-check-module --expect_failure %t.vmfb | FileCheck --check-prefix=EXPECTED %s
// RUN: not iree-check-module --expect_failure %t.vmfb --gtest_filter=-*fails* | FileCheck --check-prefix=PASSED %s
// RUN: iree-check-module --gtest_list_tests %t.vmfb | FileCheck --check-prefix=LIST %s
// Other tools say what does not hold, and go on.
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=false_fails 2>&1 | FileCheck --check-prefix=TOOL %s
// RUN: iree-dump-module --output=metadata %t.vmfb | FileCheck --check-prefix=OPTIONAL %s
// HOLDS: Note: Google Test filter = *_holds
// HOLDS: [==========] Running 6 tests from 1 test suite.
// HOLDS: [  PASSED  ] 6 tests.
// EXPECTED: Test failed as expected
// PASSED: Test passed but expected failure
// LIST: tests.
// LIST-NEXT: {{^}}  true_holds
// TOOL: [check] Expected 7 to be zero.
// OPTIONAL: check, version >= 0, optional
// OPTIONAL: check.expect_true(i32) -> ()
module @tests {
  // CHECK: [==========] Running 13 tests from 1 test suite.
  // CHECK-NEXT: [----------] Global test environment set-up.
  // CHECK-NEXT: [----------] 13 tests from tests
  // CHECK-NEXT: [ RUN      ] tests.true_holds
  // CHECK-NEXT: [       OK ] tests.true_holds ({{[0-9]+}} ms)
  func.func @true_holds() {
    %x = util.unfoldable_constant 5 : i32
    check.expect_true(%x) : i32
    return
  }
  // CHECK: unknown file: Failure
  // CHECK-NEXT: Failed
  // CHECK-NEXT: Expected 0 to be nonzero.
  // CHECK: [  FAILED  ] tests.true_fails
  func.func @true_fails() {
    %x = util.unfoldable_constant 0 : i32
    check.expect_true(%x) : i32
    return
  }
  func.func @false_holds() {
    %x = util.unfoldable_constant 0 : i32
    check.expect_false(%x) : i32
    return
  }
  // CHECK: Expected 7 to be zero.
  func.func @false_fails() {
    %x = util.unfoldable_constant 7 : i32
    check.expect_false(%x) : i32
    return
  }
  func.func @all_true_holds() {
    %x = util.unfoldable_constant dense<[[1, -1], [2, 4]]> : tensor<2x2xi16>
    check.expect_all_true(%x) : tensor<2x2xi16>
    %y = util.unfoldable_constant dense<[0.5, 2.0]> : tensor<2xf16>
    check.expect_all_true(%y) : tensor<2xf16>
    return
  }
  // CHECK: Expected all elements to be nonzero; element 2 is zero.
  // CHECK-NEXT: value:
  // CHECK-NEXT: 2x2xi32=[1 2][0 4]
  func.func @all_true_fails() {
    %x = util.unfoldable_constant dense<[[1, 2], [0, 4]]> : tensor<2x2xi32>
    check.expect_all_true(%x) : tensor<2x2xi32>
    return
  }
  func.func @eq_holds() {
    %x = util.unfoldable_constant dense<[1, 2, 3]> : tensor<3xi64>
    %y = util.unfoldable_constant dense<[0.0, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
    %z = util.unfoldable_constant dense<[-0.0, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
    check.expect_eq(%x, %x) : tensor<3xi64>
    check.expect_eq(%y, %z) : tensor<3xf32>
    check.expect_eq_const(%x, dense<[1, 2, 3]> : tensor<3xi64>) : tensor<3xi64>
    return
  }
  // What comes behind is checked, too.
  // CHECK: Expected equality of these values. Contents does not match.
  // CHECK-NEXT: lhs:
  // CHECK-NEXT: 3xi32=1 2 3
  // CHECK-NEXT: rhs:
  // CHECK-NEXT: 3xi32=1 2 4
  // CHECK: Expected equality of these values. Contents does not match.
  // CHECK-NEXT: lhs:
  // CHECK-NEXT: 3xi32=1 2 3
  // CHECK-NEXT: rhs:
  // CHECK-NEXT: 3xi32=0 2 3
  func.func @eq_fails() {
    %x = util.unfoldable_constant dense<[1, 2, 3]> : tensor<3xi32>
    %y = util.unfoldable_constant dense<[1, 2, 4]> : tensor<3xi32>
    check.expect_eq(%x, %y) : tensor<3xi32>
    check.expect_eq_const(%x, dense<[0, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
    return
  }
  func.func @almost_eq_holds() {
    %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 0x7F800000, 100.0]> : tensor<4xf32>
    %y = util.unfoldable_constant dense<[1.00005, 0x7FC00001, 0x7F800000, 100.00005]> : tensor<4xf32>
    %z = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xbf16>
    check.expect_almost_eq(%x, %y) : tensor<4xf32>
    check.expect_almost_eq_const(%z, dense<[1.1, 1.9]> : tensor<2xbf16>, atol 0.2) : tensor<2xbf16>
    check.expect_almost_eq_const(%z, dense<[1.1, 1.9]> : tensor<2xbf16>, atol 0.0, rtol 0.2) : tensor<2xbf16>
    return
  }
  // CHECK: Expected near equality of these values. Contents does not match to tolerance parameters atol=0.0001, rtol=0. The first failure occurs at index 1 as the lhs value 2 differs from the rhs value 2.5 by 5.000e-01.
  func.func @almost_eq_fails() {
    %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
    check.expect_almost_eq_const(%x, dense<[1.0, 2.5]> : tensor<2xf32>) : tensor<2xf32>
    return
  }
  // CHECK: [  FAILED  ] tests.nan_fails
  func.func @nan_fails() {
    %x = util.unfoldable_constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
    check.expect_almost_eq_const(%x, dense<[1.0, 2.5]> : tensor<2xf32>) : tensor<2xf32>
    return
  }
  // Elements below a byte, and sizes known at run time.
  func.func @small_holds() {
    %x = util.unfoldable_constant dense<[1, -2, 3]> : tensor<3xi4>
    check.expect_eq_const(%x, dense<[1, -2, 3]> : tensor<3xi4>) : tensor<3xi4>
    %d = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf64>
    %e = tensor.cast %d : tensor<2xf64> to tensor<?xf64>
    check.expect_eq(%e, %e) : tensor<?xf64>
    return
  }
  // A test that the program itself ends.
  // CHECK: INVALID_ARGUMENT; never
  // CHECK: [  FAILED  ] tests.assert_fails
  func.func @assert_fails() {
    %x = util.unfoldable_constant false
    cf.assert %x, "never"
    return
  }
  // CHECK: [  PASSED  ] 6 tests.
  // CHECK-NEXT: [  FAILED  ] 7 tests, listed below:
  // CHECK: 7 FAILED TESTS
}
