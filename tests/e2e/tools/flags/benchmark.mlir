// Flags of iree-benchmark-module.
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx %s -o %t.vmfb
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_list_tests | grep -x "BM_one/process_time/real_time"
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_list_tests --benchmark_filter=-one | FileCheck --check-prefix=FILTER %s
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=one --benchmark_min_time=2x --benchmark_repetitions=3 --benchmark_out=%t.json | FileCheck --check-prefix=REPEATED %s
// RUN: FileCheck --check-prefix=JSON %s < %t.json
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=one --benchmark_min_time=2x --benchmark_repetitions=2 --benchmark_report_aggregates_only | FileCheck --check-prefix=AGGREGATES %s
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=one --benchmark_min_time=2x --benchmark_repetitions=2 --benchmark_display_aggregates_only --benchmark_out=%t.csv --benchmark_out_format=csv | FileCheck --check-prefix=AGGREGATES %s
// RUN: FileCheck --check-prefix=CSV %s < %t.csv
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=one --benchmark_min_time=2x --benchmark_color=true | grep $'\x1b'
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=one --benchmark_min_time=2x --benchmark_time_unit=s | grep "BM_one/process_time/real_time .* s  "
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=one --benchmark_min_time=2x --benchmark_min_warmup_time=0.05 --trace_execution 2>&1 >/dev/null | grep -c "one" > %t.warm
// RUN: iree-benchmark-module --device=local-sync --module=%t.vmfb --benchmark_filter=one --benchmark_min_time=2x --trace_execution 2>&1 >/dev/null | grep -c "one" > %t.cold && test "$(cat %t.warm)" -gt "$(cat %t.cold)"
// RUN: iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-execution-model=async-external %s -o %t.async.vmfb
// RUN: iree-benchmark-module --device=local-task --module=%t.async.vmfb --function=one --benchmark_min_time=2x --batch_size=4 --batch_concurrency=2 | FileCheck --check-prefix=BATCH %s
// RUN: not iree-benchmark-module --device=local-task --module=%t.async.vmfb --function=one --batch_concurrency=0 2>&1 | grep "are at least 1"
// RUN: not iree-benchmark-module --benchmark_dry_run=true --module=%t.vmfb 2>&1 | grep "flag 'benchmark_dry_run' is IREE's and not here: --benchmark_min_time=1x runs each once"

// FILTER-NOT: BM_one
// FILTER: BM_two
// REPEATED: BM_one/process_time/real_time {{.*}} 2
// REPEATED-NEXT: BM_one/process_time/real_time {{.*}} 2
// REPEATED-NEXT: BM_one/process_time/real_time {{.*}} 2
// REPEATED-NEXT: BM_one/process_time/real_time_mean
// JSON: "repetitions": 3
// AGGREGATES-NOT: BM_one/process_time/real_time{{ }}
// AGGREGATES: BM_one/process_time/real_time_mean
// CSV: "BM_one/process_time/real_time",2,
// BATCH: BM_one/process_time/real_time {{.*}} items_per_second=

func.func @one() -> tensor<4xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @two() -> tensor<8xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
