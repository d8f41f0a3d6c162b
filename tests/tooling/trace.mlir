// What the compiler and the tools do over time, in files that Perfetto opens.

// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --trace-output=%t.compile.json %s -o %t.vmfb
// RUN: python3 -c "import json; spans=[e for e in json.load(open('%t.compile.json'))['traceEvents'] if e['ph']=='X']; names={e['name'] for e in spans}; wanted={'reading', 'generating code', 'form-dispatches', 'writing'}; assert wanted <= names and any('main_dispatch_0' in n for n in names), names; assert all(e['dur'] >= 0 and e['ts'] >= 0 for e in spans)"

// RUN: iree-run-module --device=local-task --module=%t.vmfb --input=64x64xf32=2 --expected_output=64x64xf32=4 --trace_output=%t.run.json
// RUN: python3 -c "import json; events=json.load(open('%t.run.json'))['traceEvents']; spans={e['name']: e for e in events if e['ph']=='X'}; assert {'load_module', 'create_device', 'prepare_executable', 'invoke', 'queue_execute'} <= set(spans), set(spans); inner, outer=spans['queue_execute'], spans['invoke']; assert outer['ts'] <= inner['ts'] and inner['ts']+inner['dur'] <= outer['ts']+outer['dur']+0.001 and inner['tid']==outer['tid']; assert any(e['ph']=='M' and e['args']['name'] for e in events)"

// What a program needs of a device's memory is known before it runs, and comes true.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --summary %s -o %t.vmfb 2>&1 | FileCheck --check-prefix=MEMORY %s
// MEMORY: 1 dispatches, 1 kernels
// MEMORY: needs 32768 bytes of a device's memory: 0 of constants, and in @main 0 of temporaries, 16384 of arguments, 16384 of results{{$}}
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --input=64x64xf32=2 --print_statistics --output= 2>&1 | grep "DEVICE_LOCAL: *32768B peak"
// RUN: sed 's/64x64/?x64/g' %s | iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --summary -o %t.x - 2>&1 | grep "needs at least 0 bytes of a device's memory: 0 of constants.*; sizes that only arguments tell come on top"

// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --input=64x64xf32=2 --trace_output=/nowhere/x 2>&1 | grep "NOT_FOUND; cannot write '/nowhere/x' of --trace_output="
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --input=64x64xf32=2 --trace_output=/dev/full 2>&1 | grep "DATA_LOSS; cannot write '/dev/full' of --trace_output="
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --trace-output=/nowhere/x %s -o %t.x 2>&1 | grep "error: cannot write '/nowhere/x' of --trace-output"
// RUN: not iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --trace-output=/dev/full %s -o %t.x 2>&1 | grep "error: cannot write '/dev/full' of --trace-output"

func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = arith.addf %a, %a : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
