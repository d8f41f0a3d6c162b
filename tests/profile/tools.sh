#!/bin/bash
# What is captured by flags, and what is refused: tools.sh TOOLS FOLDER [cuda]
tools=$1 folder=$2 gpu=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0
mkdir -p "$folder" && cd "$folder" || exit 1
export XDG_CACHE_HOME=$folder/cache
cat > softmax.mlir <<'M'
func.func @main(%a: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
M
"$tools/iree-compile" softmax.mlir --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx \
  -o softmax.vmfb || exit 1

expect() {  # NAME PATTERN FILE: that a line of the file is like that
  if grep -qE -- "$2" "$3"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)) && echo "FAILED $1: no line like '$2' in:" && head -20 "$3"
  fi
}
run() { "$tools/iree-run-module" --module=softmax.vmfb --function=main --input=8x64xf32=1 "$@" >run.txt 2>&1; }
all=queue-events,host-execution,device-queue-events,dispatch-events,executable-metadata,memory-events
all+=,command-region-events

for device in local-sync local-task; do
  run --device=$device --device_profiling_mode=$all --device_profiling_output=$device.ireeprof || failed=$((failed + 1))
  "$tools/iree-profile" dispatch $device.ireeprof >dispatch.txt
  expect "$device dispatches" '^dispatches: total=[1-9]' dispatch.txt
  expect "$device host" '^host_dispatches: total=[1-9].* invalid=0' dispatch.txt
  "$tools/iree-profile" export $device.ireeprof >export.txt
  for row in schema device queue command_buffer queue_event dispatch_event host_execution_event memory_event; do
    expect "$device $row" "\"record_type\":\"$row\"" export.txt
  done
  "$tools/iree-profile-render" -o $device.json $device.ireeprof 2>render.txt
  expect "$device slices" '^wrote .*slices=[1-9]' render.txt
  expect "$device trace" '"ph":"X".*"name":"main_dispatch_0.*"dur":[0-9]' $device.json
  run --device=$device --print_device_statistics
  expect "$device statistics" '^  host_execute .*count=1 .*tiles=' run.txt
done
# The times of a GPU, in streams and as a graph.
if [ -n "$gpu" ]; then
  "$tools/iree-compile" softmax.mlir --iree-hal-target-device=cuda --iree-cuda-target=sm_80 -o softmax_cuda.vmfb ||
    exit 1
  for streams in true false; do
    "$tools/iree-softgpu" --target=sm_80 -- "$tools/iree-run-module" --device=cuda --cuda_use_streams=$streams \
      --module=softmax_cuda.vmfb --function=main --input=8x64xf32=1 --device_profiling_output=cuda.ireeprof \
      --device_profiling_mode=queue-events,device-queue-events,dispatch-events >run.txt 2>&1 || failed=$((failed + 1))
    "$tools/iree-profile" dispatch cuda.ireeprof >dispatch.txt
    expect "cuda dispatches, streams $streams" '^dispatches: total=[1-9].* valid=[1-9].* invalid=0' dispatch.txt
    "$tools/iree-profile" summary cuda.ireeprof >summary.txt
    expect "cuda clock, streams $streams" 'clock_fit: ns_per_tick=[01]\.' summary.txt
  done
  "$tools/iree-softgpu" --target=sm_80 -- "$tools/iree-run-module" --device=cuda --print_device_statistics \
    --module=softmax_cuda.vmfb --function=main --input=8x64xf32=1 >run.txt 2>&1
  expect 'cuda statistics' '^  dispatch main_dispatch_0.* count=1 total=' run.txt
fi

refuse() { run --device=local-sync "$@" && failed=$((failed + 1)); }
refuse --device_profiling_mode=bogus --device_profiling_output=x.ireeprof
expect 'unknown family' "unsupported profiling data family 'bogus'" run.txt
refuse --device_profiling_mode=queue-events
expect 'no output' 'device_profiling_mode requires --device_profiling_output' run.txt
refuse --device_profiling_mode=executable-traces --device_profiling_output=x.ireeprof
expect 'unsupported family' 'data families 0x40 \(executable-traces, which amdgpu devices tell\)' run.txt
refuse --print_device_statistics --device_profiling_output=x.ireeprof
expect 'statistics and output' 'cannot be combined with --device_profiling_output' run.txt
for part in page perfetto; do
  python3 "$here/$part.py" "$tools" . >$part.txt || failed=$((failed + 1))
  grep FAILED $part.txt
  passed=$((passed + $(sed -nE 's/^([0-9]+) passed.*/\1/p' $part.txt)))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
