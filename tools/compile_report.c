// See compile_report.h. What it keeps is nobody's scope's: it outlives the compilation.
#include "compile_report.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/seconds.h"
#include "dialects/graph.h"

static size_t resident_bytes(void) {
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  if (file && fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

// The kernel's own number lags behind by some pages.
static size_t peak_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  size_t peak = (size_t)usage.ru_maxrss << 10, now = resident_bytes();
  return now > peak ? now : peak;
}

void report_begin(compile_report_t* report) { memset(report, 0, sizeof(*report)); }

// Stages that come again, for a second target, add up.
void report_stage(compile_report_t* report, const char* name) {
  double t = seconds_now();
  if (report->stage) {
    uint32_t i = 0;
    while (i < report->stage_count && strcmp(report->stages[i].name, report->stage)) ++i;
    if (i < sizeof(report->stages) / sizeof(report->stages[0])) {
      if (i == report->stage_count) report->stages[report->stage_count++].name = report->stage;
      report->stages[i].seconds += t - report->stage_start;
      report->stages[i].resident = resident_bytes();
      report->stages[i].peak = peak_bytes();
    }
  }
  report->stage = name;
  report->stage_start = t;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(((const report_kernel_t*)a)->name, ((const report_kernel_t*)b)->name);
}

// Takes `kernel`, whose name is new.
static bool add_kernel(compile_report_t* report, report_kernel_t* kernel) {
  if (report->kernel_count == report->kernel_capacity) {
    uint32_t capacity = report->kernel_capacity ? 2 * report->kernel_capacity : 64;
    report_kernel_t** kernels = realloc(report->kernels, capacity * sizeof(report_kernel_t*));
    if (!kernels) return false;
    report->kernels = kernels;
    report->kernel_capacity = capacity;
  }
  if (!tsearch(kernel, &report->by_name, compare_names)) return false;
  report->kernels[report->kernel_count++] = kernel;
  return true;
}

// The kernel's row; NULL without memory for one.
static report_kernel_t* find(compile_report_t* report, const char* name) {
  report_kernel_t key = {.name = (char*)name};
  void* known = tfind(&key, &report->by_name, compare_names);
  if (known) return *(report_kernel_t**)known;
  report_kernel_t* kernel = calloc(1, sizeof(*kernel));
  if (kernel && (kernel->name = strdup(name)) && add_kernel(report, kernel)) return kernel;
  if (kernel) free(kernel->name);
  free(kernel);
  return NULL;
}

void report_kernel(void* user, const char* name, double seconds, size_t memory) {
  report_kernel_t* kernel = find(user, name);
  if (!kernel) return;
  kernel->code_seconds += seconds;
  if (memory > kernel->memory) kernel->memory = memory;
}

static void count_dispatches(compile_report_t* report, const ir_op_t* op, const kernel_list_t* kernels) {
  if (ir_is(op, GRAPH_DISPATCH)) {
    int64_t entry = ir_op_int(op, "entry", -1);
    const char* name =
        entry >= 0 && entry < kernels->count ? ir_op_string(kernels->funcs[entry], "sym_name", NULL) : NULL;
    report_kernel_t* kernel = name ? find(report, name) : NULL;
    if (!kernel) return;
    ++kernel->dispatches;
    snprintf(kernel->strategy, sizeof(kernel->strategy), "%s", ir_op_string(op, "strategy", ""));
    kernel->cycles = ir_op_int(op, "cycles", 0);
    const char* slow = ir_op_string(op, "slow", NULL);
    if (slow && !kernel->slow) kernel->slow = strdup(slow);
    return;
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) count_dispatches(report, inner, kernels); }
  }
}

void report_program(compile_report_t* report, const ir_op_t* module, const kernel_list_t* kernels) {
  for (uint32_t i = 0; i < kernels->count; ++i) {
    report_kernel_t* kernel = find(report, ir_op_string(kernels->funcs[i], "sym_name", ""));
    if (kernel && kernels->seconds) kernel->build_seconds += kernels->seconds[i];
  }
  count_dispatches(report, module, kernels);
}

//===----------------------------------------------------------------------------------------------------------------===
// Text
//===----------------------------------------------------------------------------------------------------------------===

static int compare_kernels(const void* a, const void* b) {
  const report_kernel_t *x = *(report_kernel_t* const*)a, *y = *(report_kernel_t* const*)b;
  double left = x->build_seconds + x->code_seconds, right = y->build_seconds + y->code_seconds;
  return left > right ? -1 : left < right;
}

static double mib(size_t bytes) { return (double)bytes / (1 << 20); }

static void write_stages(const compile_report_t* r, FILE* file) {
  fprintf(file, "%10s %10s %10s  stage\n", "ms", "MiB", "MiB most");
  double total = 0;
  for (uint32_t i = 0; i < r->stage_count; ++i) {
    const report_stage_t* s = &r->stages[i];
    fprintf(file, "%10.1f %10.1f %10.1f  %s\n", 1e3 * s->seconds, mib(s->resident), mib(s->peak), s->name);
    total += s->seconds;
  }
  fprintf(file, "%10.1f %10.1f %10.1f  all\n\n", 1e3 * total, mib(resident_bytes()), mib(peak_bytes()));
}

static void write_kernels(const compile_report_t* r, FILE* file) {
  if (!r->kernel_count) return;
  qsort(r->kernels, r->kernel_count, sizeof(report_kernel_t*), compare_kernels);
  fprintf(file, "%10s %10s %10s %10s %12s  kernel (strategy)\n", "ms build", "ms code", "MiB code", "dispatches",
          "cycles");
  for (uint32_t i = 0; i < r->kernel_count; ++i) {
    const report_kernel_t* k = r->kernels[i];
    fprintf(file, "%10.1f %10.1f ", 1e3 * k->build_seconds, 1e3 * k->code_seconds);
    if (k->memory) fprintf(file, "%10.1f", mib(k->memory));
    if (!k->memory) fprintf(file, "%10s", "-");
    fprintf(file, " %10u %12lld  %s%s%s%s\n", k->dispatches, (long long)k->cycles, k->name, k->strategy[0] ? " (" : "",
            k->strategy, k->strategy[0] ? ")" : "");
    if (k->slow) fprintf(file, "%58sslow, since %s\n", "", k->slow);
  }
  fprintf(file, "\n");
}

static void write_memory(const host_memory_t* m, FILE* file) {
  const struct {
    const char* what;
    int64_t bytes;
  } rows[] = {{"constants", m->constants},
              {"temporaries", m->temporaries},
              {"arguments", m->arguments},
              {"results", m->results}};
  int64_t total = 0;
  fprintf(file, "%16s  of a device's memory%s%s\n", "bytes", m->function ? ", most in @" : "",
          m->function ? m->function : "");
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    fprintf(file, "%16lld  %s\n", (long long)rows[i].bytes, rows[i].what);
    total += rows[i].bytes;
  }
  fprintf(file, "%16lld  all%s\n", (long long)total, m->is_least ? "; sizes that only arguments tell come on top" : "");
}

bool report_write(compile_report_t* report, const char* path, const char* input, const host_memory_t* memory) {
  bool to_error = !strcmp(path, "-");
  FILE* file = to_error ? stderr : fopen(path, "w");
  if (!file) return false;
  fprintf(file, "compiling %s\n\n", input);
  write_stages(report, file);
  write_kernels(report, file);
  write_memory(memory, file);
  bool ok = !ferror(file);
  if (!to_error) ok = fclose(file) == 0 && ok;
  return ok;
}

void report_finish(compile_report_t* report) {
  for (uint32_t i = 0; i < report->kernel_count; ++i) {
    tdelete(report->kernels[i], &report->by_name, compare_names);
    free(report->kernels[i]->name);
    free(report->kernels[i]->slow);
    free(report->kernels[i]);
  }
  free(report->kernels);
}
