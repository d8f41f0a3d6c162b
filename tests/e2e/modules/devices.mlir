// Devices by number, by globals and by affinity; views as arguments, as results and as what is checked.
// RUN: iree-compile %s -o %t.vmfb
// RUN: iree-dump-module --output=metadata %t.vmfb | FileCheck --check-prefix=TARGETS %s
// RUN: iree-run-module --device=local-sync --device=local-task --module=%t.vmfb --function=views --input=3xf32=1,2,3 --expected_output=3xf32=4,16,36
// RUN: iree-run-module --device=local-sync --device=local-task --module=%t.vmfb --function=count --input=1 | FileCheck --check-prefix=TWO %s
// Both devices run the same code, of which there is one.
// TARGETS: Targets:
// TARGETS-NEXT: [  0] vmvx
// TARGETS-NOT: [  1] vmvx
// TWO: result[0]: i64=2
util.global private @device_a = #hal.device.target<"local", {ordinal = 0 : index}, [#hal.executable.target<"vmvx", "vmvx-bytecode-fb", {}>]> : !hal.device
util.global private @device_b = #hal.device.target<"local", {ordinal = 1 : index}, [#hal.executable.target<"vmvx", "vmvx-bytecode-fb", {}>]> : !hal.device

func.func @views(%v: !hal.buffer_view) -> !hal.buffer_view {
  %n = hal.buffer_view.dim<%v : !hal.buffer_view>[0] : index
  %x = hal.tensor.import on(#hal.device.affinity<@device_a>) %v "input0" : !hal.buffer_view -> tensor<?xf32>{%n}
  %0 = arith.addf %x, %x : tensor<?xf32>
  %1 = flow.tensor.transfer %0 : tensor<?xf32>{%n} to #hal.device.affinity<@device_b>
  %2 = arith.mulf %1, %1 : tensor<?xf32>
  %w = hal.tensor.export %2 "output0" : tensor<?xf32>{%n} -> !hal.buffer_view
  return %w : !hal.buffer_view
}

func.func @count(%unused: i32) -> index {
  %n = hal.devices.count : index
  %d = hal.device.resolve on(#hal.device.affinity<@device_b>) : !hal.device
  %e = util.global.load @device_a : !hal.device
  %c0 = arith.constant 0 : index
  %f = hal.devices.get %c0 : !hal.device
  return %n : index
}
//
// RUN: sed -n 's|^// names: ||p' %s | not iree-compile --compile-to=input - 2>&1 | FileCheck --check-prefix=NAMES %s
// NAMES: error: 'hal.device.resolve' op names @elsewhere, which is no device
// NAMES: error: 'hal.device.resolve' op {{.*}}a !hal.device is what can be asked for
// NAMES: error: 'hal.tensor.import' op {{.*}}arguments of functions are what views may be imported from
// names: func.func @f() {
// names:   %d = hal.device.resolve on(#hal.device.affinity<@elsewhere>) : !hal.device
// names:   return
// names: }
// names: func.func @g() {
// names:   %d, %n = hal.device.resolve : !hal.device, i64
// names:   return
// names: }
// names: func.func @h(%v: !hal.buffer_view) -> (tensor<4xf32>, !hal.buffer_view) {
// names:   %x = hal.tensor.import %v : !hal.buffer_view -> tensor<4xf32>
// names:   return %x, %v : tensor<4xf32>, !hal.buffer_view
// names: }
//
// RUN: sed -n 's|^// checks: ||p' %s | iree-compile --iree-hal-target-device=local - | iree-check-module --device=local-sync --module=- | FileCheck --check-prefix=CHECKED %s
// CHECKED: [       OK ] module.all_true
// checks: func.func @all_true() {
// checks:   %c0 = arith.constant 0 : index
// checks:   %device = hal.devices.get %c0 : !hal.device
// checks:   %ones = util.unfoldable_constant dense<1> : tensor<2x2xi32>
// checks:   %view = hal.tensor.export %ones : tensor<2x2xi32> -> !hal.buffer_view
// checks:   check.expect_all_true<%device>(%view) : !hal.buffer_view
// checks:   return
// checks: }
