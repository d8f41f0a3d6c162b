// A capture of a program's device replays with the same results, and is read as IREE's tools print it.

// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu %s -o %t.vmfb
// RUN: iree-run-module --device=local-task --module=%t.vmfb --function=main --input=64x64xf32=1 --input=64x64xf32=2 --device_replay_output=%t.ireereplay --expected_output=64x64xf32=128.5
// RUN: iree-run-replay --device=local-sync --replay_verify=exact %t.ireereplay | FileCheck --check-prefix=SAME %s
// SAME: [SUCCESS] 2 of 2 reads (32768 bytes) are as captured

// RUN: iree-benchmark-replay --device=local-sync --benchmark_min_time=2x --replay_scope=execute %t.ireereplay 2>&1 | FileCheck --check-prefix=TIME %s
// TIME: BM_replay/scope:execute/process_time/manual_time
// RUN: not iree-benchmark-replay --device=local-sync --benchmark_min_time=1x --replay_scope=nope %t.ireereplay 2>&1 | FileCheck --check-prefix=NOPE %s
// NOPE: --replay_scope='nope' did not match any replay scope marker

// RUN: iree-dump-replay %t.ireereplay | FileCheck --check-prefix=TEXT %s
// TEXT: IREE HAL replay v2.0
// TEXT: hermetic: yes
// TEXT: scopes: begin=3 end=3
// TEXT: op=replay.scope_begin(50) payload=replay_scope(27) range=[216, +28] name="init"
// TEXT: op=executable_cache.prepare_executable(402) {{.*}} metadata_functions={{[0-9]+}}
// TEXT: op=device.queue_execute(22) {{.*}} signal_semaphores=[{semaphore_id={{[0-9]+}} value=1}]
// RUN: iree-dump-replay --format=jsonl %t.ireereplay | python3 -c "import json,sys; rows=[json.loads(l) for l in sys.stdin]; assert rows[0]['kind']=='file' and rows[1]['record_count']==len(rows)-2 and any(r.get('operation')=='command_buffer.dispatch' and r['payload']['binding_count'] for r in rows)"

// Another program's kernel in place of the captured one gives other results, by 0.1.
// RUN: mkdir -p %t.kernels && sed 's/dense<0.5>/dense<0.6>/' %s | iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-hal-dump-executable-binaries-to=%t.kernels -o %t.other.vmfb -
// RUN: not iree-run-replay --device=local-sync --replay_verify=f32 --replay_executable_substitution=all="$(echo %t.kernels/*matmul*.so)" %t.ireereplay | FileCheck --check-prefix=OTHER %s
// OTHER: element at index 0 (128.6) does not match the captured (128.5)
// RUN: iree-run-replay --device=local-sync --replay_verify=f32 --replay_verify_absolute=0.2 --replay_executable_substitution=all="$(echo %t.kernels/*matmul*.so)" %t.ireereplay
// RUN: iree-run-replay --device=local-sync --replay_verify=f32 --replay_verify_relative=0.001 --replay_executable_substitution=all="$(echo %t.kernels/*matmul*.so)" %t.ireereplay

// Files that are cut off or damaged end in one error with its place.
// RUN: head -c 6000 %t.ireereplay > %t.short && not iree-run-replay --device=local-sync %t.short 2>&1 | FileCheck --check-prefix=SHORT %s
// SHORT: DATA_LOSS; the replay file is cut off: it has 6000 bytes of
// RUN: (head -c 220 %t.ireereplay; printf '\377\377'; tail -c +223 %t.ireereplay) > %t.bad && not iree-dump-replay %t.bad 2>&1 | FileCheck --check-prefix=BAD %s
// BAD: DATA_LOSS; {{.*}}; record 1 at offset 120
// RUN: not iree-dump-replay %s 2>&1 | FileCheck --check-prefix=MAGIC %s
// MAGIC: INVALID_ARGUMENT; invalid IREE HAL replay file magic

// RUN: not iree-run-replay --device=local-sync --device=local-task %t.ireereplay 2>&1 | FileCheck --check-prefix=COUNT %s
// COUNT: FAILED_PRECONDITION; replay captured 1 device(s) but the target device group contains 2 device(s)
// RUN: not iree-run-module --module=%t.vmfb --device_replay_output=%t.x --device_replay_file_policy=bogus 2>&1 | FileCheck --check-prefix=POLICY %s
// POLICY: INVALID_ARGUMENT; --device_replay_file_policy must be `reference`, `capture-ranges`, `capture-all`, or `fail`; got `bogus`
// RUN: not iree-run-module --module=%t.vmfb --device_replay_output=%t.x --device_replay_file_validation=bogus 2>&1 | grep "must be .identity. or .digest.; got .bogus."
// RUN: not iree-run-replay --device=local-sync --replay_file_remap=nonsense %t.ireereplay 2>&1 | grep "is not captured=replay"

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero: f32) outs(%empty: tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fill: tensor<64x64xf32>) -> tensor<64x64xf32>
  %sum = arith.addf %product, %half : tensor<64x64xf32>
  return %sum : tensor<64x64xf32>
}
