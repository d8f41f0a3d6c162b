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
// RUN: not iree-profile summary --id=1 %t.d.ireeprof 2>&1 | grep "iree-profile command 'summary' does not support --id"
// RUN: iree-profile queue --filter=nothing %t.d.ireeprof | grep "queue_events=0 queue_device_events=0 host_execution_events=0 .*submissions=0"
// RUN: iree-profile report --peak_gflops=100 --peak_gbps=20.5 %t.d.ireeprof | grep '"peak":{"gflops":100,"gbps":20.5}'
// RUN: iree-profile-render --output=- --format=json %t.d.ireeprof 2>/dev/null | grep '"ph":"X"'
// RUN: not iree-profile-render --output=- --format=nope %t.d.ireeprof 2>&1 | grep "format=nope is not known; perfetto and json are"
// RUN: iree-profile-render --quiet -f perfetto %t.d.ireeprof -o %t.pftrace 2>&1 | not grep . && grep -q "IREE HAL profile" %t.pftrace
// RUN: iree-profile export --format=ireeperf-jsonl --output=- %t.d.ireeprof | iree-profile-render --format=perfetto - -o %t.rows.pftrace && cmp %t.pftrace %t.rows.pftrace
// RUN: not iree-profile-render %s --output %t.x 2>&1 | grep "neither a profile (.ireeprof) nor rows of .iree-profile export."
// RUN: iree-profile export %t.d.ireeprof | sed 's/"schema_version":15/"schema_version":14/' | not iree-profile-render - -o %t.x 2>&1 | grep "UNIMPLEMENTED; rows of ireeperf-jsonl's version 14; 15 is known; row 1; reading '-'"
// RUN: iree-profile export %t.d.ireeprof | sed 's/"event_id":1,/"event_id":"one",/' | not iree-profile-render - -o %t.x 2>&1 | grep "INVALID_ARGUMENT; 'event_id' of a row of type '.*' is no number that it can be; row"

func.func @f() -> tensor<64xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<64xf32>
  %1 = stablehlo.add %0, %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
