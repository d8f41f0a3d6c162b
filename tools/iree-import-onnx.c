// iree-import-onnx: an ONNX model as MLIR text, with the flags and the output of IREE's importer.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/flag_table.h"
#include "base/progress.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "dialects/register.h"
#include "import/onnx/onnx.h"
#include "scoped_main.h"

typedef struct arguments_t {
  const char *input, *output, *data_dir, *scope, *save_to;
  bool no_verify, data_prop, large_model, externalize, save, quiet;
  long long opset, inputs_from, minimum_elements;
  double gigabytes;
} arguments_t;

typedef enum { KIND_SET, KIND_TOGGLE, KIND_TEXT, KIND_NUMBER, KIND_DECIMAL } kind_t;
typedef struct flag_t {
  const char* name;
  kind_t kind;
  size_t offset;
  const char* value;
  const char* help;
} flag_t;

#define AT(member) offsetof(arguments_t, member)
static const flag_t flags[] = {
    {"-o", KIND_TEXT, AT(output), "OUTPUT_FILE", "where to write the text ('-': standard output, the default)"},
    {"--no-verify", KIND_SET, AT(no_verify), NULL, "print without checking the result first"},
    {"--data-prop", KIND_TOGGLE, AT(data_prop), NULL, "follow the values of shape computations (on)"},
    {"--data-dir", KIND_TEXT, AT(data_dir), "DATA_DIR", "directory of external data (default: the model's)"},
    {"--opset-version", KIND_NUMBER, AT(opset), "OPSET_VERSION", "bring the ops to this version, when it is newer"},
    {"--large-model", KIND_TOGGLE, AT(large_model), NULL, "accepted for compatibility: weights are never loaded whole"},
    {"--externalize-params", KIND_TOGGLE, AT(externalize), NULL, "large weights become references to parameters"},
    {"--externalize-inputs-threshold", KIND_NUMBER, AT(inputs_from), "N", "inputs from this one on become parameters"},
    {"--num-elements-threshold", KIND_NUMBER, AT(minimum_elements), "N", "least elements of such a weight (100)"},
    {"--params-scope", KIND_TEXT, AT(scope), "SCOPE", "scope of the parameters (model)"},
    {"--save-params", KIND_TOGGLE, AT(save), NULL, "write the parameters to an archive (on)"},
    {"--param-gb-threshold", KIND_DECIMAL, AT(gigabytes), "GB", "accepted for compatibility: memory use is constant"},
    {"--quiet", KIND_SET, AT(quiet), NULL, "show no progress on a terminal"},
    {"--save-params-to", KIND_TEXT, AT(save_to), "FILE", "the archive (default: <output>_params.irpa)"},
};
enum { FLAG_COUNT = sizeof(flags) / sizeof(*flags) };

//===----------------------------------------------------------------------------------------------------------------===
// Command line
//===----------------------------------------------------------------------------------------------------------------===

static void usage(FILE* out) { fputs("usage: iree-import-onnx [-h] [options] input_file\n", out); }

static int help(flag_table_format_t format) {
  static flag_entry_t entries[2 * FLAG_COUNT + 2];
  static char names[2 * FLAG_COUNT][64], values[FLAG_COUNT][64];
  size_t count = 0;
  for (int i = 0; i < FLAG_COUNT; ++i) {
    snprintf(values[i], sizeof(values[0]), "%s%s", flags[i].value ? " " : "", flags[i].value ? flags[i].value : "");
    entries[count++] = (flag_entry_t){flags[i].name, values[i], NULL, flags[i].help, NULL};
    if (flags[i].kind != KIND_TOGGLE) continue;
    snprintf(names[i], sizeof(names[0]), "--no-%s", flags[i].name + 2);
    entries[count++] = (flag_entry_t){names[i], "", NULL, "the opposite", NULL};
  }
  entries[count++] = (flag_entry_t){"--help", "[=FORMAT]", FLAG_TABLE_FORMATS, "print this and exit", NULL};
  entries[count++] = (flag_entry_t){"--version", "", NULL, "print the version and exit", NULL};
  flag_table_t table = {.program = "iree-import-onnx",
                        .summary = "reads an ONNX model and prints it as MLIR, for iree-compile",
                        .synopsis = "[-h] [options] input_file",
                        .description = "The input file '-' is standard input.",
                        .entries = entries,
                        .count = count};
  flag_table_print(&table, format, stdout);
  return 0;
}

static int refuse(const char* what, const char* which) {
  usage(stderr);
  fprintf(stderr, "iree-import-onnx: error: %s%s\n", what, which);
  return 2;
}

static int refuse_value(const flag_t* flag, const char* value) {
  usage(stderr);
  fprintf(stderr, "iree-import-onnx: error: argument %s: '%s' is not %s number\n", flag->name, value,
          flag->kind == KIND_NUMBER ? "a whole" : "a");
  return 2;
}

static const flag_t* find_flag(const char* name, size_t length, bool* negated) {
  const flag_t* prefix = NULL;
  int matches = 0;
  for (int i = 0; i < FLAG_COUNT; ++i) {
    char no[64];
    snprintf(no, sizeof(no), "--no-%s", flags[i].name + 2);
    for (int k = 0; k < (flags[i].kind == KIND_TOGGLE ? 2 : 1); ++k) {
      const char* full = k ? no : flags[i].name;
      if (strncmp(full, name, length) != 0) continue;
      if (length < 4 && full[length]) continue;
      *negated = k == 1;
      if (!full[length]) return &flags[i];
      prefix = &flags[i];
      ++matches;
    }
  }
  return matches == 1 ? prefix : NULL;
}

static bool set_value(const flag_t* flag, const char* text, arguments_t* args) {
  char* member = (char*)args + flag->offset;
  char* end = NULL;
  errno = 0;
  switch (flag->kind) {
    case KIND_TEXT:
      *(const char**)member = text;
      return true;
    case KIND_NUMBER:
      *(long long*)member = strtoll(text, &end, 10);
      break;
    case KIND_DECIMAL:
      *(double*)member = strtod(text, &end);
      break;
    default:
      return false;
  }
  return end != text && !*end && !errno;
}

// 0 when the program goes on, else an exit code + 1.
static int parse(int argc, char** argv, arguments_t* args) {
  for (int i = 1; i < argc; ++i) {
    char* arg = argv[i];
    flag_table_format_t format;
    if (flag_table_wants(arg, &format)) return help(format) + 1;
    if (strcmp(arg, "--version") == 0) return puts("iree-import-onnx: iree-c version " IREE_C_VERSION), 1;
    if (arg[0] != '-' || !arg[1]) {
      if (args->input) return refuse("unrecognized arguments: ", arg) + 1;
      args->input = arg;
      continue;
    }
    char* equals = strchr(arg, '=');
    size_t length = equals ? (size_t)(equals - arg) : strlen(arg);
    if (strncmp(arg, "-o", 2) == 0 && length > 2 && arg[2] != '=') {  // -oFILE
      args->output = arg + 2;
      continue;
    }
    bool negated = false;
    const flag_t* flag = find_flag(arg, length, &negated);
    if (!flag) return refuse("unrecognized arguments: ", arg) + 1;
    if (flag->kind == KIND_SET || flag->kind == KIND_TOGGLE) {
      if (equals) return refuse("this argument takes no value: ", arg) + 1;
      *((bool*)((char*)args + flag->offset)) = !negated;
      continue;
    }
    if (!equals && i + 1 == argc) return refuse("expected one argument: ", arg) + 1;
    const char* value = equals ? equals + 1 : argv[++i];
    if (!set_value(flag, value, args)) return refuse_value(flag, value) + 1;
  }
  if (!args->input) return refuse("the following arguments are required: ", "input_file") + 1;
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Messages
//===----------------------------------------------------------------------------------------------------------------===

typedef struct console_t {
  const char* input;
  progress_t progress;
} console_t;

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  (void)severity, (void)text;
  console_t* c = user;
  progress_clear(&c->progress);
  bool located = loc && ir_loc_find_file(loc);
  fprintf(stderr, "%s%s%s\n", located ? "" : c->input, located ? "" : ": ", rendered);
}

static void on_import(void* user, uint32_t done, uint32_t total) {
  progress_show(&((console_t*)user)->progress, "importing nodes", 0.3 * done / total);
}
static void on_write(void* user, uint64_t done, uint64_t total) {
  progress_show(&((console_t*)user)->progress, "writing weights", 0.3 + 0.7 * (double)done / (double)total);
}

//===----------------------------------------------------------------------------------------------------------------===
// Output: a file is written completely or not at all
//===----------------------------------------------------------------------------------------------------------------===

static bool write_error(const char* path) {
  fprintf(stderr, "iree-import-onnx: error: cannot write '%s': %s\n", path, strerror(errno));
  return false;
}

static bool write_text(ir_context_t* ctx, ir_op_t* module, const char* path, console_t* console) {
  if (!path || strcmp(path, "-") == 0) {
    bool written = onnx_write_module(ctx, module, stdout, on_write, console) && fflush(stdout) == 0;
    return written || write_error("standard output");
  }
  whole_file_t file;
  if (!whole_file_open(path, &file)) return write_error(path);
  bool written = onnx_write_module(ctx, module, file.file, on_write, console);
  return whole_file_close(&file, written) || write_error(path);
}

static bool write_archive(const arguments_t* args, const parameter_list_t* parameters) {
  char path[4096];
  const char* output = args->output;
  const char *slash = strrchr(output ? output : "", '/'), *dot = strrchr(slash ? slash : output ? output : "", '.');
  int stem = output ? (int)(dot && dot != output && dot[-1] != '/' ? (size_t)(dot - output) : strlen(output)) : 0;
  if (args->save_to)
    snprintf(path, sizeof(path), "%s", args->save_to);
  else
    snprintf(path, sizeof(path), "%.*s_params.irpa", stem, output);
  whole_file_t file;
  if (!whole_file_open(path, &file)) return write_error(path);
  bool written = parameter_list_write(parameters, file.file);
  return whole_file_close(&file, written) || write_error(path);
}

static bool run(const arguments_t* args, console_t* console, ir_context_t* ctx, onnx_files_t* files) {
  parameter_list_t parameters = {0};
  onnx_options_t options = {.data_dir = args->data_dir,
                            .opset_version = args->opset,
                            .infer_types = true,
                            .no_data_propagation = !args->data_prop,
                            .externalize = args->externalize,
                            .externalize_inputs = args->inputs_from,
                            .minimum_elements = args->minimum_elements,
                            .scope = args->scope,
                            .parameters = &parameters,
                            .progress = on_import,
                            .progress_user = console};
  ir_op_t* module = onnx_import_file(ctx, args->input, &options, files);
  if (!module || (!args->no_verify && !ir_verify(ctx, module))) return false;
  if (args->externalize && args->save && !write_archive(args, &parameters)) return false;
  return write_text(ctx, module, args->output, console);
}

static void close_files(void* files) { onnx_files_finish(files); }

static int import(int argc, char** argv) {
  arguments_t args = {.data_prop = true, .save = true, .inputs_from = -1, .minimum_elements = 100, .scope = "model"};
  int stop = parse(argc, argv, &args);
  if (stop) return stop - 1;
  bool to_stdout = !args.output || strcmp(args.output, "-") == 0;
  if (args.externalize && args.save && to_stdout && !args.save_to) {
    return refuse("--externalize-params to standard output needs --save-params-to or --no-save-params", "");
  }
  console_t console = {.input = args.input};
  progress_begin(&console.progress, args.quiet);
  ir_context_t* ctx = ir_context_create();
  onnx_files_t files = {0};
  memory_cleanup_t cleanup = {0};
  memory_cleanup_add(&cleanup, close_files, &files);
  dialects_register_all(ctx);
  ir_context_set_diagnostics(ctx, on_diagnostic, &console);
  bool done = run(&args, &console, ctx, &files);
  progress_clear(&console.progress);
  ir_context_destroy(ctx);
  memory_cleanup_remove(&cleanup);
  onnx_files_finish(&files);
  return done ? 0 : 1;
}

int main(int argc, char** argv) { return scoped_main("iree-import-onnx", import, argc, argv); }
