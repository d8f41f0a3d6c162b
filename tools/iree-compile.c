// iree-compile: a thin main over the compiler library. Messages go to standard error, and on a terminal how far it
// is.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parts.h"
#include "base/progress.h"
#include "base/seconds.h"
#include "base/stream.h"
#include "base/trace.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "compile_report.h"
#include "compiler/flags.h"
#include "scoped_main.h"

typedef struct console_t {
  progress_t progress;
  bool timing;
  double start, stage_start;
  const char* stage;
  uint32_t dispatches, kernels;  // for the summary
  size_t code;
  compile_report_t* report;  // or NULL
} console_t;

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  (void)severity, (void)loc, (void)text;
  console_t* console = user;
  progress_clear(&console->progress);
  fprintf(stderr, "%s\n", rendered);
}

static void end_stage(console_t* c, double t) {
  if (c->timing && c->stage) fprintf(stderr, "%9.3f ms  %s\n", 1e3 * (t - c->stage_start), c->stage);
}

static void on_progress(void* user, const char* stage, uint32_t done, uint32_t total) {
  console_t* c = user;
  if (stage != c->stage) {
    double t = seconds_now();
    if (c->timing) progress_clear(&c->progress);
    end_stage(c, t);
    c->stage = stage;
    c->stage_start = t;
    if (c->report) report_stage(c->report, stage);
  }
  progress_show(&c->progress, stage, (double)done / total);
}

static void count_dispatches(const ir_op_t* op, uint32_t* count) {
  *count += strcmp(op->name, "graph.dispatch") == 0;
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) count_dispatches(inner, count); }
  }
}

static bool on_program(void* user, ir_context_t* ctx, ir_op_t* module, const kernel_list_t* kernels,
                       const target_executable_t* executable) {
  (void)ctx;
  console_t* c = user;
  count_dispatches(module, &c->dispatches);
  if (c->report) report_program(c->report, module, kernels);
  c->kernels = kernels->count;
  c->code = executable->size;
  return true;
}

static void print_summary(const console_t* c, const compiler_flags_t* flags, const compiler_output_t* output) {
  struct stat info;
  struct rusage usage;
  size_t size = output->path ? (stat(output->path, &info) == 0 ? (size_t)info.st_size : 0) : output->size;
  getrusage(RUSAGE_SELF, &usage);
  fprintf(stderr,
          "%s: %u dispatches, %u kernels, %zu bytes of code; %zu bytes written in %.1f s with %ld MiB of memory\n",
          flags->input, c->dispatches, c->kernels, c->code, size, seconds_now() - c->start, usage.ru_maxrss / 1024);
  const host_memory_t* m = &output->memory;
  if (!m->function && !m->constants) return;
  fprintf(stderr, "%s: needs %s%lld bytes of a device's memory", flags->input, m->is_least ? "at least " : "",
          (long long)(m->constants + m->temporaries + m->arguments + m->results));
  fprintf(stderr, ": %lld of constants", (long long)m->constants);
  if (m->function) {
    fprintf(stderr, ", and in @%s %lld of temporaries, %lld of arguments, %lld of results", m->function,
            (long long)m->temporaries, (long long)m->arguments, (long long)m->results);
  }
  fprintf(stderr, "%s\n", m->is_least ? "; sizes that only arguments tell come on top" : "");
}

static void on_pass_times(void* user, const pass_report_t* report) {
  (void)user;
  text_t text = {0};
  pass_report_print(report, &text);
  fputs(text.data, stderr);
  text_finish(&text);
}

static int list_names(target_backend_t backend) {
  for (uint32_t i = 0;; ++i) {
    const char* name = target_known_name(backend, i);
    if (!name) return 0;
    printf("  %s\n", name);
  }
}

static int list_backends(void) {
  puts("Registered target backends:");
  for (target_backend_t i = 0; i < TARGET_BACKEND_COUNT; ++i) {
    if (target_backend_is_built(i)) printf("  %s\n", target_backend_name(i));
  }
  return 0;
}

// False after a message.
static bool finish_report(console_t* c, const compiler_flags_t* flags, const compiler_output_t* output) {
  report_stage(c->report, NULL);
  bool ok = report_write(c->report, flags->compile_report, flags->input, &output->memory);
  if (!ok) {
    fprintf(stderr, "error: cannot write '%s' of --compile-report: %s\n", flags->compile_report, strerror(errno));
  }
  return ok;
}

// One part by itself. Its messages tell lines of the whole file, so as many are put before it.
static bool compile_part(const compiler_options_t* options, const char* path, const parts_t* part, text_t* out) {
  text_t text = {0};
  for (uint32_t i = 0; i < part->lines; ++i) text_puts(&text, "\n");
  text_append(&text, part->data, part->size);
  compiler_output_t output = {0};
  bool ok = compiler_run(options, path, text.data, text.size, &output);
  if (ok) text_append(out, output.data, output.size);
  free(output.data);
  text_finish(&text);
  return ok;
}

static bool read_input(const char* path, text_t* out) {
  bool is_stdin = strcmp(path, "-") == 0;
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  size_t size = 0;
  char* data = fd >= 0 ? stream_read(fd, &size) : NULL;
  int error = errno;
  if (fd >= 0 && !is_stdin) close(fd);
  if (!data) return fprintf(stderr, "error: cannot read '%s': %s\n", path, strerror(error)), false;
  text_append(out, data, size);
  memory_free(data);
  return true;
}

static bool write_parts(const text_t* text, compiler_output_t* output) {
  if (output->path) {
    bool ok = whole_file_write(output->path, text->data, text->size);
    if (!ok) fprintf(stderr, "error: cannot write '%s': %s\n", output->path, strerror(errno));
    return ok;
  }
  output->data = malloc(text->size + 1);
  if (!output->data) memory_exhausted(text->size);
  if (text->size) memcpy(output->data, text->data, text->size);
  output->size = text->size;
  return true;
}

// --split-input-file: every part is compiled, also behind one that fails.
static bool compile_parts(const compiler_options_t* options, const compiler_flags_t* flags, compiler_output_t* output) {
  text_t input = {0}, all = {0};
  bool is_text = options->stop_after != COMPILER_PHASE_END || options->format == COMPILER_OUTPUT_VM_ASM ||
                 options->format == COMPILER_OUTPUT_VM_C;
  bool is_read = read_input(flags->input, &input), ok = is_read;
  parts_t parts = parts_begin(input.data ? input.data : "", input.size, PARTS_MARKER);
  while (is_read && parts_next(&parts)) {
    if (parts.at && !is_text) {
      fprintf(stderr,
              "error: --split-input-file: '%s' has several programs, which one output holds as text only: pass "
              "--compile-to= or --output-format=vm-asm\n",
              flags->input);
      ok = false;
      break;
    }
    ok &= compile_part(options, flags->input, &parts, &all);
  }
  ok = ok && write_parts(&all, output);
  text_finish(&input);
  text_finish(&all);
  return ok;
}

static int compile(const compiler_flags_t* flags) {
  text_t error = {0};
  compiler_options_t options;
  if (!compiler_flags_resolve(flags, &options, &error)) {
    fprintf(stderr, "error: %s\n", error.data);
    text_finish(&error);
    return 1;
  }
  text_finish(&error);
  console_t console = {.start = seconds_now(), .timing = options.timing};
  progress_begin(&console.progress, flags->quiet == FLAG_TRUE);
  options.diagnostic = on_diagnostic;
  options.diagnostic_user = &console;
  options.progress = on_progress;
  options.progress_user = &console;
  options.pass_times = on_pass_times;
  options.observe = on_program;
  options.observe_user = &console;
  compile_report_t report;
  if (flags->compile_report) {
    report_begin(&report);
    console.report = &report;
    options.target.measured = report_kernel;
    options.target.measured_user = &report;
  }
  bool to_stdout = !flags->output || !strcmp(flags->output, "-");
  compiler_output_t output = {.path = to_stdout ? NULL : flags->output};
  if (flags->trace_output && !trace_start(flags->trace_output)) {
    fprintf(stderr, "error: cannot write '%s' of --trace-output: %s\n", flags->trace_output, strerror(errno));
    return 1;
  }
  bool ok = flags->split == FLAG_TRUE ? compile_parts(&options, flags, &output)
                                      : compiler_run(&options, flags->input, NULL, 0, &output);
  progress_clear(&console.progress);
  end_stage(&console, seconds_now());
  if (!trace_stop()) {
    fprintf(stderr, "error: cannot write '%s' of --trace-output: %s\n", flags->trace_output, strerror(errno));
    ok = false;
  }
  if (ok && to_stdout && output.size) {
    ok = fwrite(output.data, 1, output.size, stdout) == output.size && fflush(stdout) == 0;
    if (!ok) fprintf(stderr, "error: cannot write to standard output\n");
  }
  if (ok && flags->summary == FLAG_TRUE) print_summary(&console, flags, &output);
  if (ok && console.report) ok = finish_report(&console, flags, &output);
  if (console.report) report_finish(console.report);
  free(output.data);
  return ok ? 0 : 1;
}

static int show_help(flag_table_format_t format) {
  arena_t arena;
  arena_init(&arena);
  flag_table_t table = compiler_flags_table(&arena);
  flag_table_print(&table, format, stdout);
  arena_finish(&arena);
  return 0;
}

static int run(int argc, char** argv) {
  compiler_flags_t flags;
  text_t text = {0};
  int result = 1;
  flag_table_format_t format;
  if (argc == 2 && flag_table_wants(argv[1], &format)) return show_help(format);
  if (!compiler_flags_parse(&flags, argc, argv, &text)) {
    fprintf(stderr, "%s\n", text.data);
  } else if (flags.help == FLAG_TRUE) {
    result = show_help(FLAG_TABLE_HELP);
  } else if (flags.version == FLAG_TRUE) {
    puts("IREE (https://iree.dev):\n  iree-c compiler version " IREE_C_VERSION);
    result = 0;
  } else if (flags.list_backends == FLAG_TRUE) {
    result = list_backends();
  } else if (flags.list_cpus == FLAG_TRUE) {
    result = list_names(TARGET_LLVM_CPU);
  } else if (!flags.input) {
    fprintf(stderr, "%s: no input file; give a .mlir or .onnx file, or '-' for standard input\n", argv[0]);
  } else {
    result = compile(&flags);
  }
  text_finish(&text);
  compiler_flags_finish(&flags);
  return result;
}

int main(int argc, char** argv) { return scoped_main("iree-compile", run, argc, argv); }
