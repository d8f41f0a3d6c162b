// Console, JSON and CSV reports.

#include <math.h>

#include "tooling/benchmark.h"

static void print_name(const benchmark_run_t* run, FILE* file) {
  fprintf(file, "%s%s%s", run->benchmark->name, run->aggregate ? "_" : "", run->aggregate ? run->aggregate : "");
}

//===----------------------------------------------------------------------------------------------------------------===
// Console
//===----------------------------------------------------------------------------------------------------------------===

enum { NUMBER_SIZE = 64 };

// 12.3456k, 78.6366M: six digits and a power of a thousand.
static void format_count(double value, char text[NUMBER_SIZE]) {
  static const char suffixes[] = " kMGTPE";
  int power = 0;
  while (fabs(value) >= 1000 && power < 6) {
    value /= 1000;
    ++power;
  }
  snprintf(text, NUMBER_SIZE, power ? "%.6g%c" : "%.6g", value, suffixes[power]);
}

// Three significant digits: 0.013, 2.42, 56.6, 165.
static void format_time(double value, char text[NUMBER_SIZE]) {
  int digits = value < 10 ? (value < 1 ? 3 : 2) : value < 100 ? 1 : 0;
  snprintf(text, NUMBER_SIZE, "%.*f", digits, value);
}

static void console_begin(benchmark_report_t* report) {
  char header[512];
  int width = (int)report->name_width;
  int length = snprintf(header, sizeof(header), "%-*s %13s %15s %12s%s", width, "Benchmark", "Time", "CPU",
                        "Iterations", report->has_counters ? " UserCounters..." : "");
  for (int i = 0; i < length; ++i) fputc('-', report->file);
  fprintf(report->file, "\n%s\n", header);
  for (int i = 0; i < length; ++i) fputc('-', report->file);
  fputc('\n', report->file);
}

static void set_color(const benchmark_report_t* report, int color) {
  if (report->color) fprintf(report->file, color ? "\x1b[0;%dm" : "\x1b[m", color);
}

static void console_run(benchmark_report_t* report, const benchmark_run_t* run) {
  enum { GREEN = 32, YELLOW = 33, CYAN = 36, RED = 31 };
  char name[512], real[NUMBER_SIZE], cpu[NUMBER_SIZE], items[NUMBER_SIZE];
  snprintf(name, sizeof(name), "%s%s%s", run->benchmark->name, run->aggregate ? "_" : "",
           run->aggregate ? run->aggregate : "");
  set_color(report, GREEN);
  fprintf(report->file, "%-*s ", (int)report->name_width, name);
  if (run->error) {
    set_color(report, RED);
    fprintf(report->file, "ERROR OCCURRED: '%s'", run->error);
  } else if (run->is_percentage) {
    set_color(report, YELLOW);
    fprintf(report->file, "%10.2f %%   %10.2f %%  ", run->real_time * 100, run->cpu_time * 100);
    snprintf(items, sizeof(items), "%.2f%%", run->items_per_second * 100);
  } else {
    format_time(run->real_time * report->unit.scale, real);
    format_time(run->cpu_time * report->unit.scale, cpu);
    set_color(report, YELLOW);
    fprintf(report->file, "%10s %-2s %12s %-2s", real, report->unit.name, cpu, report->unit.name);
    format_count(run->items_per_second, items);
  }
  if (!run->error) {
    set_color(report, CYAN);
    fprintf(report->file, " %12" PRIu64, run->iterations);
    set_color(report, 0);
    if (report->has_counters) {
      fprintf(report->file, " items_per_second=%s%s", items, run->is_percentage ? "" : "/s");
    }
  }
  set_color(report, 0);
  fputc('\n', report->file);
  fflush(report->file);
}

static void console_end(benchmark_report_t* report) {}

//===----------------------------------------------------------------------------------------------------------------===
// JSON
//===----------------------------------------------------------------------------------------------------------------===

static void print_escaped(const char* text, FILE* file) {
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') {
      fprintf(file, "\\%c", *text);
    } else if ((unsigned char)*text < 0x20) {
      fprintf(file, "\\u%04x", (unsigned char)*text);
    } else {
      fputc(*text, file);
    }
  }
}

static void json_begin(benchmark_report_t* report) {
  fprintf(report->file, "{\n");
  benchmark_host_print_json(report->file);
  fprintf(report->file, "  \"benchmarks\": [\n");
}

static void json_run(benchmark_report_t* report, const benchmark_run_t* run) {
  FILE* file = report->file;
  double scale = run->is_percentage ? 1 : report->unit.scale;
  fprintf(file, "%s    {\n      \"name\": \"", report->started ? ",\n" : "");
  report->started = true;
  print_name(run, file);
  fprintf(file,
          "\",\n      \"family_index\": %u,\n      \"per_family_instance_index\": 0,\n      \"run_name\": \"%s\",\n"
          "      \"run_type\": \"%s\",\n      \"repetitions\": %u,\n",
          run->family_index, run->benchmark->name, run->aggregate ? "aggregate" : "iteration", run->repetitions);
  if (!run->aggregate) fprintf(file, "      \"repetition_index\": %u,\n", run->repetition_index);
  fprintf(file, "      \"threads\": 1,\n");
  if (run->aggregate) {
    fprintf(file, "      \"aggregate_name\": \"%s\",\n      \"aggregate_unit\": \"%s\",\n", run->aggregate,
            run->is_percentage ? "percentage" : "time");
  }
  if (run->error) {
    fprintf(file, "      \"error_occurred\": true,\n      \"error_message\": \"");
    print_escaped(run->error, file);
    fprintf(file, "\",\n");
  }
  fprintf(file,
          "      \"iterations\": %" PRIu64
          ",\n      \"real_time\": %.16e,\n      \"cpu_time\": %.16e,\n"
          "      \"time_unit\": \"%s\"",
          run->iterations, run->real_time * scale, run->cpu_time * scale, report->unit.name);
  if (!run->error) fprintf(file, ",\n      \"items_per_second\": %.16e", run->items_per_second);
  fprintf(file, "\n    }");
}

static void json_end(benchmark_report_t* report) { fprintf(report->file, "\n  ]\n}\n"); }

//===----------------------------------------------------------------------------------------------------------------===
// CSV
//===----------------------------------------------------------------------------------------------------------------===

static void csv_begin(benchmark_report_t* report) {
  fprintf(report->file,
          "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,"
          "error_occurred,error_message\n");
}

static void csv_quoted(const char* text, FILE* file) {
  fputc('"', file);
  for (; *text; ++text) {
    if (*text == '"') fputc('"', file);
    fputc(*text == '\n' ? ' ' : *text, file);
  }
  fputc('"', file);
}

static void csv_run(benchmark_report_t* report, const benchmark_run_t* run) {
  double scale = run->is_percentage ? 1 : report->unit.scale;
  fputc('"', report->file);
  print_name(run, report->file);
  fputc('"', report->file);
  if (run->error) {
    fprintf(report->file, ",,,,,,,,true,");
    csv_quoted(run->error, report->file);
    fputc('\n', report->file);
    return;
  }
  fprintf(report->file, ",%" PRIu64 ",%g,%g,%s,,%g,,,\n", run->iterations, run->real_time * scale,
          run->cpu_time * scale, run->is_percentage ? "" : report->unit.name, run->items_per_second);
}

static void csv_end(benchmark_report_t* report) {}

const benchmark_format_t* benchmark_format_find(const char* name) {
  static const benchmark_format_t formats[] = {
      {"console", console_begin, console_run, console_end},
      {"json", json_begin, json_run, json_end},
      {"csv", csv_begin, csv_run, csv_end},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(formats); ++i) {
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  }
  return NULL;
}
