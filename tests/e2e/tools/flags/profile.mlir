// Flags of profiles.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --print_device_statistics 2>&1 | grep "host_execute f_dispatch_0"
// RUN: rm -f %t.ireeprof && iree-run-module --device=local-sync --module=%t.vmfb --device_profiling_mode=queue-events --device_profiling_output=%t.ireeprof && ls %t.ireeprof
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --device_profiling_mode=nope 2>&1 | grep "unsupported profiling data family 'nope'"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --print_device_statistics --device_profiling_mode=host-execution --device_profiling_filter_function=nope 2>&1 | not grep "host_execute f_dispatch_0"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --print_device_statistics --device_profiling_mode=host-execution --device_profiling_filter_command_buffer=99999 2>&1 | grep "no profiling records captured"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --print_device_statistics --device_profiling_mode=host-execution --device_profiling_filter_command_index=77 2>&1 | grep "no profiling records captured"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --print_device_statistics --device_profiling_mode=host-execution --device_profiling_filter_physical_device=5 2>&1 | grep "no profiling records captured"
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --print_device_statistics --device_profiling_mode=host-execution --device_profiling_filter_queue=9 2>&1 | grep "no profiling records captured"
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --device_profiling_counter=x 2>&1 | grep "requires --device_profiling_mode=counters"
// RUN: not iree-run-module --device=local-sync --module=%t.vmfb --device_profiling_flush_interval_ms=-1 2>&1 | grep "must not be negative"

// RUN: iree-run-module --device=local-sync --module=%t.vmfb --device_profiling_mode=dispatch-events,queue-events --device_profiling_output=%t.d.ireeprof
// RUN: iree-profile dispatch --filter=nope %t.d.ireeprof | grep "total=1 matched=0"
// RUN: iree-profile dispatch --id=77 %t.d.ireeprof | grep "total=1 matched=0"
// RUN: iree-profile dispatch --format=jsonl --dispatch_events %t.d.ireeprof | grep '"type":"dispatch_event"'
// RUN: not iree-profile dispatch --rocm_library_path=/opt/rocm/lib %t.d.ireeprof 2>&1 | grep "decoder is not used"
// RUN: iree-profile counter --format=jsonl --counter_samples %t.d.ireeprof | grep '"mode":"samples"'
// RUN: rm -f %t.txt && iree-profile summary --output=%t.txt %t.d.ireeprof && grep "dispatch_events=1" %t.txt
// RUN: iree-profile report --peak_gflops=100 --peak_gbps=20.5 %t.d.ireeprof | grep '"peak":{"gflops":100,"gbps":20.5}'
// RUN: iree-profile-render --o=- %t.d.ireeprof 2>/dev/null | grep '"ph":"X"'
// RUN: not iree-profile-render --o=- --f=nope %t.d.ireeprof 2>&1 | grep "f=nope is not known"

func.func @f() -> tensor<64xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<64xf32>
  %1 = stablehlo.add %0, %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
