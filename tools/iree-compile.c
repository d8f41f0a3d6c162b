// iree-compile: a thin main over the compiler library. Messages go to standard error; on a terminal, a stage that takes
// longer than a second is named there too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/version.h"
#include "compiler/flags.h"
#include "scoped_main.h"

typedef struct console_t {
  bool terminal, shown, timing;
  double start, stage_start;
  const char* stage;
} console_t;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  (void)severity, (void)loc, (void)text;
  console_t* console = user;
  if (console->shown) fputs("\r\033[K", stderr);
  console->shown = false;
  fprintf(stderr, "%s\n", rendered);
}

static void end_stage(console_t* c, double t) {
  if (c->timing && c->stage) fprintf(stderr, "%9.3f ms  %s\n", 1e3 * (t - c->stage_start), c->stage);
}

static void on_progress(void* user, const char* stage, uint32_t done, uint32_t total) {
  console_t* c = user;
  double t = now();
  end_stage(c, t);
  c->stage = stage;
  c->stage_start = t;
  if (!c->terminal || t - c->start < 1) return;
  fprintf(stderr, "\r\033[K[%u/%u] %s", done + 1, total, stage);
  fflush(stderr);
  c->shown = true;
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

static int compile(const compiler_flags_t* flags) {
  text_t error = {0};
  compiler_options_t options;
  if (!compiler_flags_resolve(flags, &options, &error)) {
    fprintf(stderr, "error: %s\n", error.data);
    text_finish(&error);
    return 1;
  }
  text_finish(&error);
  console_t console = {.terminal = isatty(STDERR_FILENO), .start = now(), .timing = options.timing};
  options.diagnostic = on_diagnostic;
  options.diagnostic_user = &console;
  options.progress = on_progress;
  options.progress_user = &console;
  options.pass_times = on_pass_times;
  bool to_stdout = !flags->output || !strcmp(flags->output, "-");
  compiler_output_t output = {.path = to_stdout ? NULL : flags->output};
  bool ok = compiler_run(&options, flags->input, NULL, 0, &output);
  end_stage(&console, now());
  if (console.shown) fputs("\r\033[K", stderr);
  if (ok && to_stdout && output.size) {
    ok = fwrite(output.data, 1, output.size, stdout) == output.size && fflush(stdout) == 0;
    if (!ok) fprintf(stderr, "error: cannot write to standard output\n");
  }
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
