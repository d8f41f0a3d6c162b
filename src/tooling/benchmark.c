// The benchmark runner.

#include "tooling/benchmark.h"

#include <math.h>
#include <regex.h>
#include <time.h>
#include <unistd.h>

#include "base/flag_table.h"
#include "base/progress.h"
#include "iree/base/tooling/flags.h"

IREE_FLAG(bool, benchmark_list_tests, false, "Prints the names of the benchmarks instead of running them.")
IREE_FLAG(string, benchmark_filter, ".", "Regular expression of the benchmarks to run; a leading `-` inverts it.")
IREE_FLAG(string, benchmark_min_time, "0.5s", "Least time of a run in seconds (`0.5s`), or its iterations (`20x`).")
IREE_FLAG(double, benchmark_min_warmup_time, 0.0, "Seconds that a benchmark runs before it is measured.")
IREE_FLAG(int32_t, benchmark_repetitions, 1, "Runs of each benchmark; with several, statistics are reported too.")
IREE_FLAG(bool, benchmark_report_aggregates_only, false, "Reports only statistics when there are several runs.")
IREE_FLAG(bool, benchmark_display_aggregates_only, false, "The same, but files still get every run.")
IREE_FLAG(string, benchmark_format, "console", "Report on standard output: console, json or csv.")
IREE_FLAG(string, benchmark_out, "", "File that gets a report, too.")
IREE_FLAG(string, benchmark_out_format, "json", "Report in the file: console, json or csv.")
IREE_FLAG(string, benchmark_color, "auto", "Colors on the console: auto, true or false.")
IREE_FLAG(string, time_unit, "", "Unit of times: ms, us or ns. The default is ms, of single dispatches ns.")
IREE_FLAG(string, benchmark_time_unit, "", "Unit of times: s, ms, us or ns.")
IREE_FLAG(bool, quiet, false, "Shows no progress on a terminal.")
FLAG_VALUES(benchmark_format, "console,json,csv")
FLAG_VALUES(benchmark_out_format, "console,json,csv")
FLAG_VALUES(benchmark_color, "auto,true,false")
FLAG_VALUES(time_unit, "ms,us,ns")
FLAG_VALUES(benchmark_time_unit, "s,ms,us,ns")

enum { AGGREGATE_COUNT = 4 };
static const uint64_t iteration_limit = 1000000000;

//===----------------------------------------------------------------------------------------------------------------===
// Options
//===----------------------------------------------------------------------------------------------------------------===

typedef struct options_t {
  uint64_t iterations;  // fixed; 0: as many as min_time takes
  double min_time;
  uint32_t repetitions;
  benchmark_unit_t unit;
  regex_t filter;
  bool inverted;
} options_t;

static iree_status_t parse_min_time(options_t* options) {
  char* end = NULL;
  double value = strtod(FLAG_benchmark_min_time, &end);
  bool iterations = *end == 'x' && end[1] == 0;
  bool seconds = *end == 0 || (*end == 's' && end[1] == 0);
  if (end == FLAG_benchmark_min_time || value < 0 || !(iterations || seconds) || (iterations && value < 1)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--benchmark_min_time= takes `0.5s` or `20x`; got '%s'",
                            FLAG_benchmark_min_time);
  }
  options->iterations = iterations ? (uint64_t)value : 0;
  options->min_time = value;
  return iree_ok_status();
}

static iree_status_t parse_unit(options_t* options, const char* unit) {
  static const benchmark_unit_t units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
  const char* name = FLAG_time_unit[0] ? FLAG_time_unit : FLAG_benchmark_time_unit;
  if (!name[0]) name = unit ? unit : "ms";
  for (size_t i = 0; i < IREE_ARRAYSIZE(units); ++i) {
    if (strcmp(units[i].name, name) != 0) continue;
    options->unit = units[i];
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--time_unit= must be ms, us or ns; got '%s'", name);
}

static iree_status_t parse_options(options_t* options, const char* unit) {
  IREE_RETURN_IF_ERROR(parse_min_time(options));
  IREE_RETURN_IF_ERROR(parse_unit(options, unit));
  options->repetitions = FLAG_benchmark_repetitions < 1 ? 1 : (uint32_t)FLAG_benchmark_repetitions;
  const char* filter = FLAG_benchmark_filter;
  options->inverted = filter[0] == '-';
  if (options->inverted) ++filter;
  if (!*filter || strcmp(filter, "all") == 0) filter = ".";
  if (regcomp(&options->filter, filter, REG_EXTENDED | REG_NOSUB) == 0) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--benchmark_filter= is no regular expression: '%s'", filter);
}

static bool is_wanted(const options_t* options, const benchmark_t* benchmark) {
  return (regexec(&options->filter, benchmark->name, 0, NULL, 0) == 0) != options->inverted;
}

//===----------------------------------------------------------------------------------------------------------------===
// Measuring
//===----------------------------------------------------------------------------------------------------------------===

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef struct sample_t {
  uint64_t iterations;
  double real_time, cpu_time;  // of all iterations
} sample_t;

// Whole batches.
static iree_status_t measure(const benchmark_t* benchmark, uint64_t iterations, sample_t* out_sample) {
  uint64_t batch = benchmark->batch ? benchmark->batch : 1;
  iterations = (iterations + batch - 1) / batch * batch;
  if (benchmark->manual_time) *benchmark->manual_time = 0;
  double real = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  iree_status_t status = benchmark->fn(benchmark->user_data, iterations);
  *out_sample = (sample_t){iterations, seconds_of(CLOCK_MONOTONIC) - real, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu};
  if (benchmark->manual_time) out_sample->real_time = *benchmark->manual_time;
  return status;
}

// Grows the number of iterations until a run takes long enough.
static iree_status_t measure_for(const benchmark_t* benchmark, double min_time, sample_t* out_sample) {
  uint64_t iterations = 1;
  while (true) {
    IREE_RETURN_IF_ERROR(measure(benchmark, iterations, out_sample));
    double time = out_sample->real_time;
    iterations = out_sample->iterations;
    if (time >= min_time || iterations >= iteration_limit) return iree_ok_status();
    double factor = time > 0 ? min_time * 1.4 / time : 10;
    if (time / min_time <= 0.1 && factor > 10) factor = 10;  // short runs predict badly
    if (factor < 1.01) factor = 1.01;
    uint64_t next = (uint64_t)((double)iterations * factor) + 1;
    iterations = next < iteration_limit ? next : iteration_limit;
  }
}

static iree_status_t measure_run(const options_t* options, const benchmark_t* benchmark, uint64_t iterations,
                                 sample_t* out_sample) {
  if (iterations) return measure(benchmark, iterations, out_sample);
  return measure_for(benchmark, options->min_time, out_sample);
}

//===----------------------------------------------------------------------------------------------------------------===
// Statistics
//===----------------------------------------------------------------------------------------------------------------===

static int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

// Mean, median, standard deviation and their ratio.
static void aggregate(double* values, uint32_t count, double out[AGGREGATE_COUNT]) {
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < count; ++i) sum += values[i];
  double mean = sum / count;
  for (uint32_t i = 0; i < count; ++i) squares += (values[i] - mean) * (values[i] - mean);
  qsort(values, count, sizeof(*values), compare_doubles);
  out[0] = mean;
  out[1] = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
  out[2] = count > 1 ? sqrt(squares / (count - 1)) : 0;
  out[3] = mean ? out[2] / mean : 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Runs and reports
//===----------------------------------------------------------------------------------------------------------------===

typedef struct runner_t {
  options_t options;
  progress_t progress;
  benchmark_report_t display, out;  // out.file is NULL without --benchmark_out
} runner_t;

static void report_to(benchmark_report_t* report, const benchmark_run_t* run) {
  if (report->file) report->format->run(report, run);
}

static void report_run(runner_t* runner, const benchmark_run_t* run) {
  progress_clear(&runner->progress);
  bool several = run->repetitions > 1 && !run->aggregate && !run->error;
  if (several && FLAG_benchmark_report_aggregates_only) return;
  if (!(several && FLAG_benchmark_display_aggregates_only)) report_to(&runner->display, run);
  report_to(&runner->out, run);
}

static void report_aggregates(runner_t* runner, benchmark_run_t run, const sample_t* samples, double* scratch) {
  static const char* const names[AGGREGATE_COUNT] = {"mean", "median", "stddev", "cv"};
  double real[AGGREGATE_COUNT], cpu[AGGREGATE_COUNT], items[AGGREGATE_COUNT];
  uint32_t count = run.repetitions;
  for (uint32_t i = 0; i < count; ++i) scratch[i] = samples[i].real_time / (double)samples[i].iterations;
  aggregate(scratch, count, real);
  for (uint32_t i = 0; i < count; ++i) scratch[i] = samples[i].cpu_time / (double)samples[i].iterations;
  aggregate(scratch, count, cpu);
  for (uint32_t i = 0; i < count; ++i) {
    double total = (double)(samples[i].iterations * run.benchmark->items_per_iteration);
    scratch[i] = total / samples[i].real_time;
  }
  aggregate(scratch, count, items);
  for (int i = 0; i < AGGREGATE_COUNT; ++i) {
    run.aggregate = names[i];
    run.is_percentage = i == 3;
    run.iterations = count;
    run.real_time = real[i];
    run.cpu_time = cpu[i];
    run.items_per_second = items[i];
    report_run(runner, &run);
  }
}

// The location and message of a failure, without its annotations.
static void report_failure(runner_t* runner, benchmark_run_t run, iree_status_t status) {
  char text[1024];
  iree_status_source_location_t location = iree_status_source_location(status);
  iree_string_view_t message = iree_status_message(status);
  snprintf(text, sizeof(text), "%s:%u: %s; %.*s", location.file ? location.file : "?", location.line,
           iree_status_code_string(iree_status_code(status)), (int)message.size, message.data);
  run.error = text;
  report_run(runner, &run);
}

static iree_status_t run_repetitions(runner_t* runner, benchmark_run_t run, sample_t* samples, double* scratch) {
  const options_t* options = &runner->options;
  uint64_t iterations = options->iterations;
  sample_t warmup;
  if (FLAG_benchmark_min_warmup_time > 0) {
    IREE_RETURN_IF_ERROR(measure_for(run.benchmark, FLAG_benchmark_min_warmup_time, &warmup));
  }
  for (uint32_t i = 0; i < run.repetitions; ++i) {
    IREE_RETURN_IF_ERROR(measure_run(options, run.benchmark, iterations, &samples[i]));
    iterations = samples[i].iterations;  // the same for all
    run.repetition_index = i;
    run.iterations = iterations;
    run.real_time = samples[i].real_time / (double)iterations;
    run.cpu_time = samples[i].cpu_time / (double)iterations;
    run.items_per_second = (double)(iterations * run.benchmark->items_per_iteration) / samples[i].real_time;
    report_run(runner, &run);
  }
  if (run.repetitions > 1) report_aggregates(runner, run, samples, scratch);
  return iree_ok_status();
}

static iree_status_t run_benchmark(runner_t* runner, const benchmark_t* benchmark, uint32_t family) {
  uint32_t repetitions = runner->options.repetitions;
  benchmark_run_t run = {.benchmark = benchmark, .family_index = family, .repetitions = repetitions};
  sample_t* samples = calloc(repetitions, sizeof(*samples));
  double* scratch = calloc(repetitions, sizeof(*scratch));
  iree_status_t status = samples && scratch ? run_repetitions(runner, run, samples, scratch)
                                            : iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  if (!iree_status_is_ok(status)) report_failure(runner, run, status);
  free(samples);
  free(scratch);
  return status;
}

static bool wants_color(void) {
  const char* text = FLAG_benchmark_color;
  if (strcmp(text, "auto") != 0) return strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "1") == 0;
  const char* term = getenv("TERM");
  return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static iree_status_t open_report(const runner_t* runner, const char* format, FILE* file, benchmark_report_t* report) {
  *report = (benchmark_report_t){
      .format = benchmark_format_find(format), .file = file, .unit = runner->options.unit, .has_counters = true};
  if (report->format) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "benchmark format must be console, json or csv; got '%s'",
                          format);
}

static iree_status_t open_reports(runner_t* runner, size_t name_width) {
  IREE_RETURN_IF_ERROR(open_report(runner, FLAG_benchmark_format, stdout, &runner->display));
  runner->display.color = wants_color();
  runner->display.name_width = name_width;
  if (!FLAG_benchmark_out[0]) return iree_ok_status();
  IREE_RETURN_IF_ERROR(open_report(runner, FLAG_benchmark_out_format, NULL, &runner->out));
  runner->out.name_width = name_width;
  runner->out.file = fopen(FLAG_benchmark_out, "w");
  if (runner->out.file) return iree_ok_status();
  return iree_make_status(iree_status_code_from_errno(errno), "cannot write '%s': %s", FLAG_benchmark_out,
                          strerror(errno));
}

static iree_status_t close_report(FILE* file) {
  if (!file) return iree_ok_status();
  bool failed = ferror(file) != 0;
  failed |= fclose(file) != 0;
  if (!failed) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write '%s': %s", FLAG_benchmark_out, strerror(errno));
}

static size_t widest_name(const options_t* options, uint32_t count, const benchmark_t* benchmarks) {
  size_t width = strlen("Benchmark");
  size_t suffix = options->repetitions > 1 ? strlen("_stddev") : 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (is_wanted(options, &benchmarks[i])) width = iree_max(width, strlen(benchmarks[i].name) + suffix);
  }
  return width;
}

static iree_status_t run_wanted(runner_t* runner, uint32_t count, uint32_t wanted, const benchmark_t* benchmarks) {
  iree_status_t first_failure = iree_ok_status();
  uint32_t family = 0;
  progress_begin(&runner->progress, FLAG_quiet || wanted < 2);
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_wanted(&runner->options, &benchmarks[i])) continue;
    progress_show(&runner->progress, benchmarks[i].name, (double)family / wanted);
    iree_status_t status = run_benchmark(runner, &benchmarks[i], family++);
    if (iree_status_is_ok(first_failure)) {
      first_failure = status;
    } else {
      iree_status_ignore(status);
    }
  }
  progress_clear(&runner->progress);
  return first_failure;
}

static uint32_t list_wanted(const options_t* options, uint32_t count, const benchmark_t* benchmarks) {
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_wanted(options, &benchmarks[i])) continue;
    if (FLAG_benchmark_list_tests) printf("%s\n", benchmarks[i].name);
    ++wanted;
  }
  return wanted;
}

iree_status_t benchmark_run_all(uint32_t count, const benchmark_t* benchmarks) {
  runner_t runner = {0};
  IREE_RETURN_IF_ERROR(parse_options(&runner.options, count ? benchmarks[0].unit : NULL));
  iree_status_t status = iree_ok_status();
  uint32_t wanted = list_wanted(&runner.options, count, benchmarks);
  if (!wanted) {
    status = iree_make_status(IREE_STATUS_NOT_FOUND,
                              "Failed to match any benchmarks against regex: %s; --benchmark_list_tests lists them",
                              FLAG_benchmark_filter);
  } else if (!FLAG_benchmark_list_tests) {
    status = open_reports(&runner, widest_name(&runner.options, count, benchmarks));
    if (iree_status_is_ok(status)) {
      benchmark_host_print(stderr);
      benchmark_report_t* reports[] = {&runner.display, &runner.out};
      for (int i = 0; i < 2; ++i) {
        if (reports[i]->file) reports[i]->format->begin(reports[i]);
      }
      status = run_wanted(&runner, count, wanted, benchmarks);
      for (int i = 0; i < 2; ++i) {
        if (reports[i]->file) reports[i]->format->end(reports[i]);
      }
    }
    status = iree_status_join(status, close_report(runner.out.file));
  }
  regfree(&runner.options.filter);
  fflush(stdout);
  return status;
}
