// A small benchmark runner with Google Benchmark's flags and reports.
//
// A benchmark is a function that runs its body `iterations` times; the runner finds how many it takes to fill
// --benchmark_min_time, repeats, and reports wall-clock and process time for one iteration.
#ifndef TOOLING_BENCHMARK_H_
#define TOOLING_BENCHMARK_H_

#include <stdio.h>

#include "iree/base/api.h"

typedef iree_status_t (*benchmark_fn_t)(void* user_data, uint64_t iterations);

typedef struct benchmark_t {
  char* name;  // as reported
  benchmark_fn_t fn;
  void* user_data;
  uint64_t items_per_iteration;
  uint64_t batch;       // iterations come in multiples of it; 0: of 1
  const char* unit;     // of reports when no flag names one, the first benchmark's for all; NULL: ms
  double* manual_time;  // where `fn` adds seconds that count as real time; NULL: all of its time does
} benchmark_t;

// One measured run, or a statistic over the runs of a benchmark.
typedef struct benchmark_run_t {
  const benchmark_t* benchmark;
  uint32_t family_index;
  uint32_t repetitions, repetition_index;
  const char* aggregate;  // "mean" …; NULL for a run
  bool is_percentage;     // of the aggregate
  uint64_t iterations;
  double real_time, cpu_time;  // seconds for one iteration (or a fraction)
  double items_per_second;
  const char* error;  // instead of the numbers
} benchmark_run_t;

// Seconds to the unit of reports.
typedef struct benchmark_unit_t {
  const char* name;
  double scale;
} benchmark_unit_t;

// Runs all that match the flags. A failing benchmark is reported; the first failure is returned at the end.
iree_status_t benchmark_run_all(uint32_t count, const benchmark_t* benchmarks);

//===----------------------------------------------------------------------------------------------------------------===
// Reports
//===----------------------------------------------------------------------------------------------------------------===

typedef struct benchmark_report_t benchmark_report_t;

// How a format prints: before all, each run, after all.
typedef struct benchmark_format_t {
  const char* name;
  void (*begin)(benchmark_report_t* report);
  void (*run)(benchmark_report_t* report, const benchmark_run_t* run);
  void (*end)(benchmark_report_t* report);
} benchmark_format_t;

struct benchmark_report_t {
  const benchmark_format_t* format;
  FILE* file;
  benchmark_unit_t unit;
  size_t name_width;
  bool has_counters;
  bool color;
  bool started;  // something was printed
};

// The format called `name`; NULL when there is none.
const benchmark_format_t* benchmark_format_find(const char* name);

// Date, program, processor and load: on stderr for people, or as the "context" of JSON.
void benchmark_host_print(FILE* file);
void benchmark_host_print_json(FILE* file);

#endif  // TOOLING_BENCHMARK_H_
