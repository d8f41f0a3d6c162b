// iree-opt: reads MLIR text or bytecode, runs passes by name, prints the result. For tests and for looking at single
// steps.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/flag_table.h"
#include "base/memory.h"
#include "base/near.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "compiler/flags.h"
#include "compiler/run.h"
#include "dialects/register.h"
#include "import/lower.h"
#include "ir/bytecode.h"
#include "ir/expect.h"
#include "passes/passes.h"
#include "scoped_main.h"

//===----------------------------------------------------------------------------------------------------------------===
// Passes
//===----------------------------------------------------------------------------------------------------------------===

static pass_result_t pass_lower_input(ir_op_t* module, ir_context_t* ctx) {
  return lower_module(ctx, module, NULL) ? PASS_CHANGED : PASS_FAILED;
}

#define PASS(function, name, required, summary) +1
enum { GRAPH_PASS_COUNT = 0 GRAPH_PASSES(PASS), STEP_LIMIT = 16 };
#undef PASS
static pass_t known_passes[] = {{"lower-input", "input dialects to graph", pass_lower_input},
#define PASS(function, name, required, summary) {name, summary, function},
                                GRAPH_PASSES(PASS)
#undef PASS
                                    [GRAPH_PASS_COUNT + STEP_LIMIT] = {0}};
static int pass_count = 1 + GRAPH_PASS_COUNT;

// Passes of the compiler's stages, which `run` tells what to compile for.
static void add_steps(run_t* run) {
  uint32_t count = 0;
  const pass_t* steps = compiler_steps(&count);
  for (uint32_t i = 0; i < count && i < STEP_LIMIT; ++i) {
    known_passes[pass_count] = steps[i];
    known_passes[pass_count++].user = run;
  }
}

typedef struct options_t {
  const char *input, *output;
  const pass_t** passes;
  uint32_t pass_count, pass_capacity;
  const char** print_after;
  uint32_t print_after_capacity;
  pass_options_t run;
  bool split, verify_diagnostics, verify_roundtrip, no_verify, timing, help, list, version;
  uint32_t print_flags;
  int64_t elide_above;
  bool emit_bytecode;
  int64_t bytecode_version;
  char** compiler;  // arguments for the compiler's flags, behind the program's name
  int compiler_count;
} options_t;

static const pass_t* find_pass(const char* name, size_t size) {
  for (int i = 0; i < pass_count; ++i) {
    if (strlen(known_passes[i].name) == size && strncmp(known_passes[i].name, name, size) == 0) return &known_passes[i];
  }
  return NULL;
}

static bool unknown_pass(const char* name, size_t size) {
  near_t near = near_begin(name, size);
  for (int i = 0; i < pass_count; ++i) near_offer(&near, known_passes[i].name);
  const char* best = near_result(&near);
  fprintf(stderr, "iree-opt: unknown pass '%.*s'; %s%s%s--list-passes lists them\n", (int)size, name,
          best ? "did you mean '" : "", best ? best : "", best ? "'? " : "");
  return false;
}

static bool known_pass(const char* name) { return find_pass(name, strlen(name)) || unknown_pass(name, strlen(name)); }

static bool add_pass(options_t* o, const char* name, size_t size) {
  const pass_t* pass = find_pass(name, size);
  if (!pass) return unknown_pass(name, size);
  if (o->pass_count == o->pass_capacity) {
    o->pass_capacity = o->pass_capacity ? o->pass_capacity * 2 : 16;
    o->passes = memory_resize(o->passes, sizeof(*o->passes) * o->pass_capacity);
  }
  o->passes[o->pass_count++] = pass;
  return true;
}

// a,b or builtin.module(a,b)
static bool add_pipeline(options_t* o, const char* text) {
  static const char root[] = "builtin.module(";
  size_t size = strlen(text);
  if (strncmp(text, root, sizeof(root) - 1) == 0) {
    if (text[size - 1] != ')') return fprintf(stderr, "iree-opt: pipeline lacks ')'\n"), false;
    text += sizeof(root) - 1;
    size -= sizeof(root);
  }
  while (size) {
    size_t length = strcspn(text, ",");
    if (length > size) length = size;
    if (!add_pass(o, text, length)) return false;
    if (length == size) break;
    text += length + 1;
    size -= length + 1;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Flags
//===----------------------------------------------------------------------------------------------------------------===

static bool set_bool(bool* out, const char* value) {
  *out = !value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
  if (*out || strcmp(value, "false") == 0 || strcmp(value, "0") == 0) return true;
  return fprintf(stderr, "iree-opt: '%s' is not a boolean; true, false, 1 and 0 are\n", value), false;
}

static bool set_number(int64_t* out, const char* value) {
  char* end;
  errno = 0;
  *out = strtoll(value, &end, 10);
  if (!errno && end != value && !*end && *out >= 0) return true;
  return fprintf(stderr, "iree-opt: expected a number, got '%s'\n", value), false;
}

// FLAG(name, argument in help, help, action): `value` is what stands behind '=', or NULL.
#define FLAGS(FLAG)                                                                                                    \
  FLAG("pass", "=NAME", "run a pass; may be repeated", value&& add_pass(o, value, strlen(value)))                      \
  FLAG("pass-pipeline", "=A,B", "run passes in order; builtin.module(A,B) is fine too",                                \
       value&& add_pipeline(o, value))                                                                                 \
  FLAG("list-passes", "", "print the names of all passes", (o->list = true))                                           \
  FLAG("help", "[=FORMAT]", "print this, or bash, zsh, man, list, markdown", (o->help = true))                         \
  FLAG("version", "", "print the version", (o->version = true))                                                        \
  FLAG("mlir-print-op-generic", "", "print the generic form", (o->print_flags |= IR_PRINT_GENERIC))                    \
  FLAG("mlir-print-debuginfo", "", "print locations", (o->print_flags |= IR_PRINT_LOCS))                               \
  FLAG("emit-bytecode", "", "write MLIR bytecode instead of text", (o->emit_bytecode = true))                          \
  FLAG("emit-bytecode-version", "=N", "of this version of the format (default 6)",                                     \
       value&& set_number(&o->bytecode_version, value))                                                                \
  FLAG("mlir-print-local-scope", "", "print without aliases (always so)", true)                                        \
  FLAG("mlir-elide-elementsattrs-if-larger", "=N", "leave out element data of more than N elements",                   \
       value&& set_number(&o->elide_above, value) && (o->print_flags |= IR_PRINT_ELIDE_LARGE))                         \
  FLAG("allow-unregistered-dialect", "", "accept ops of unknown dialects (always so)", true)                           \
  FLAG("verify-each", "[=BOOL]", "verify after every pass (default true)", set_bool(&o->run.verify_each, value))       \
  FLAG("no-verify", "", "do not verify the input either", (o->run.verify_each = false, o->no_verify = true))           \
  FLAG("verify-roundtrip", "", "what is printed must parse to the same", (o->verify_roundtrip = true))                 \
  FLAG("round-trip-each", "", "the same after every pass", (o->run.round_trip = true))                                 \
  FLAG("split-input-file", "", "treat parts between `// -----` lines alone", (o->split = true))                        \
  FLAG("verify-diagnostics", "", "check `// expected-error {{...}}` comments", (o->verify_diagnostics = true))         \
  FLAG("mlir-print-ir-after-all", "", "print after every pass", (o->run.print_after_all = true))                       \
  FLAG("mlir-print-ir-after-change", "", "print after passes that changed something",                                  \
       (o->run.print_after_change = true))                                                                             \
  FLAG("mlir-print-ir-after", "=NAME", "print after this pass; may be repeated", value&& print_after(o, value))        \
  FLAG("stop-after", "=NAME", "run no pass behind this one", value&& known_pass(value) && (o->run.stop_after = value)) \
  FLAG("bisect-limit", "=N", "run only the first N passes", value&& set_number(&o->run.bisect_limit, value))           \
  FLAG("mlir-timing", "", "print the time that each pass took", (o->timing = o->run.timing = true))                    \
  FLAG("o", "=FILE", "write here instead of standard output", value && (o->output = value))

static bool print_after(options_t* o, const char* name) {
  if (!known_pass(name)) return false;
  if (o->run.print_after_count == o->print_after_capacity) {
    o->print_after_capacity = o->print_after_capacity ? o->print_after_capacity * 2 : 16;
    o->print_after = memory_resize(o->print_after, sizeof(*o->print_after) * o->print_after_capacity);
  }
  o->print_after[o->run.print_after_count++] = name;
  o->run.print_after = o->print_after;
  return true;
}

static bool refuse_value(const char* flag) {
  return fprintf(stderr, "iree-opt: '--%s': this flag takes no value\n", flag), false;
}

static bool set_flag(options_t* o, const char* flag) {
  const char* equals = strchr(flag, '=');
  const char* value = equals ? equals + 1 : NULL;
  size_t size = equals ? (size_t)(equals - flag) : strlen(flag);
#define FLAG(name, argument, help, action)                                                       \
  if (strlen(name) == size && strncmp(flag, name, size) == 0) {                                  \
    if (value && !*argument) return refuse_value(flag);                                          \
    if (action) return true;                                                                     \
    if (!value) fprintf(stderr, "iree-opt: --%s needs a value: --%s%s\n", name, name, argument); \
    return false;                                                                                \
  }
  FLAGS(FLAG)
#undef FLAG
  if (!value && find_pass(flag, size)) return add_pass(o, flag, size);
  if (strncmp(flag, "iree-", 5) == 0) return o->compiler[++o->compiler_count] = (char*)flag - 1, true;  // with one dash
  fprintf(stderr, "iree-opt: Unknown command line argument '--%s'.  Try: 'iree-opt --help'\n", flag);
  near_t near = near_begin(flag, size);
#define FLAG(name, argument, help, action) near_offer(&near, name);
  FLAGS(FLAG)
#undef FLAG
  for (int i = 0; i < pass_count; ++i) near_offer(&near, known_passes[i].name);
  if (near_result(&near)) fprintf(stderr, "iree-opt: Did you mean '--%s'?\n", near_result(&near));
  return false;
}

static bool parse_flags(options_t* o, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* arg = argv[i];
    if (strcmp(arg, "-o") == 0 && i + 1 < argc) {
      o->output = argv[++i];
    } else if (strcmp(arg, "-h") == 0) {
      o->help = true;
    } else if (arg[0] == '-' && arg[1]) {
      if (!set_flag(o, arg + (arg[1] == '-' ? 2 : 1))) return false;
    } else if (o->input) {
      return fprintf(stderr, "iree-opt: more than one input: '%s' and '%s'\n", o->input, arg), false;
    } else {
      o->input = arg;
    }
  }
  return true;
}

// A pass is a flag, too, and what --pass= takes.
static int show_help(flag_table_format_t format) {
  enum { ENTRY_LIMIT = 128 + sizeof(known_passes) / sizeof(known_passes[0]) };
  static flag_entry_t entries[ENTRY_LIMIT];
  static char names[ENTRY_LIMIT][80];
  size_t count = 0;
  text_t passes = {0};
  for (int i = 0; i < pass_count; ++i) text_printf(&passes, "%s%s", i ? "," : "", known_passes[i].name);
#define FLAG(name, argument, help, action)                                                                   \
  snprintf(names[count], sizeof(names[0]), "%s%s", (name)[1] ? "--" : "-", name);                            \
  entries[count] = (flag_entry_t){names[count], argument, NULL, help, count ? NULL : "Flags"};               \
  if (strcmp(argument, "=NAME") == 0 || strcmp(argument, "=A,B") == 0) entries[count].choices = passes.data; \
  ++count;
  FLAGS(FLAG)
#undef FLAG
  for (int i = 0; i < pass_count; ++i) {
    snprintf(names[count], sizeof(names[0]), "--%s", known_passes[i].name);
    entries[count] = (flag_entry_t){names[count], "", NULL, known_passes[i].summary, i ? NULL : "Passes"};
    ++count;
  }
  flag_table_t table = {
      .program = "iree-opt",
      .summary = "reads MLIR text or bytecode, runs passes, prints the result",
      .synopsis = "[flags] [file.mlir | -]",
      .description =
          "Passes run in the order in which they are named. Flags of iree-compile, --iree-NAME=VALUE, say what they\n"
          "compile for.",
      .entries = entries,
      .count = count};
  flag_table_print(&table, format, stdout);
  text_finish(&passes);
  return 0;
}

static int list_passes(void) {
  for (int i = 0; i < pass_count; ++i) printf("%-24s %s\n", known_passes[i].name, known_passes[i].summary);
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Work
//===----------------------------------------------------------------------------------------------------------------===

static bool read_file(const char* path, text_t* out) {
  bool is_stdin = !path || strcmp(path, "-") == 0;
  FILE* file = is_stdin ? stdin : fopen(path, "rb");
  char buffer[65536];
  if (!file) {
    return fprintf(stderr, "iree-opt: cannot open input file '%s': %s\n", path, strerror(errno)), false;
  }
  for (size_t size; (size = fread(buffer, 1, sizeof(buffer), file)) > 0;) text_append(out, buffer, size);
  bool ok = !ferror(file);
  if (!ok) fprintf(stderr, "iree-opt: cannot read '%s': %s\n", is_stdin ? "<stdin>" : path, strerror(errno));
  if (!is_stdin) fclose(file);
  return ok;
}

static void show_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                            const char* rendered) {
  fprintf(stderr, "%s\n", rendered);
}

static bool transform(const options_t* o, ir_context_t* ctx, const char* path, const text_t* text, text_t* out) {
  pass_report_t report = {0};
  pass_options_t run = o->run;
  run.report = &report;
  ir_op_t* module = ir_parse_module(ctx, path, text->data ? text->data : "", text->size);
  bool ok = module && (o->no_verify || ir_verify(ctx, module));
  ok = ok && (!o->verify_roundtrip ||
              (pass_check_round_trip(ctx, module, 0) && pass_check_round_trip(ctx, module, IR_PRINT_GENERIC)));
  ok = ok && pass_run(ctx, module, o->passes, o->pass_count, &run);
  if (ok && o->emit_bytecode) ok = ir_write_bytecode(ctx, module, o->bytecode_version, out);
  if (ok && !o->emit_bytecode) ir_print_op(ctx, out, module, o->print_flags, o->elide_above);
  if (ok && o->timing) {
    text_t times = {0};
    pass_report_print(&report, &times);
    fputs(times.data, stderr);
    text_finish(&times);
  }
  pass_report_finish(&report);
  return ok;
}

// One part of the input. `lines` are those in front of it, for locations.
static bool run_part(const options_t* o, const char* part, size_t size, uint32_t lines, text_t* out) {
  const char* path = o->input && strcmp(o->input, "-") ? o->input : "<stdin>";
  text_t text = {0}, problem = {0};
  for (uint32_t i = 0; i < lines; ++i) text_puts(&text, "\n");
  text_append(&text, part, size);
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  bool ok = true;
  if (o->verify_diagnostics) {
    expect_t* expect = expect_create(text.data, text.size, &problem);
    text_t ignored = {0};
    ir_context_set_diagnostics(ctx, expect_diagnostic, expect);
    if (expect) transform(o, ctx, path, &text, &ignored);
    ok = expect && expect_finish(expect, path, &problem);
    if (problem.size) fputs(problem.data, stderr);
    text_finish(&ignored);
    expect_destroy(expect);
  } else {
    ir_context_set_diagnostics(ctx, show_diagnostic, NULL);
    ok = transform(o, ctx, path, &text, out);
  }
  ir_context_destroy(ctx);
  text_finish(&text);
  text_finish(&problem);
  return ok;
}

static bool run_all(const options_t* o, const text_t* input, text_t* out) {
  const char *at = input->data ? input->data : "", *end = at + input->size;
  bool ok = true;
  for (uint32_t lines = 0;;) {
    const char* stop = o->split ? memmem(at, (size_t)(end - at), "// -----", 8) : NULL;
    ok = run_part(o, at, (size_t)((stop ? stop : end) - at), lines, out) && ok;
    if (!stop) return ok;
    const char* next = memchr(stop, '\n', (size_t)(end - stop));
    if (!next) return ok;
    for (const char* c = at; c <= next; ++c) lines += *c == '\n';
    at = next + 1;
    if (out->size) text_puts(out, "// -----\n");
  }
}

static bool write_output(const options_t* o, const text_t* out) {
  bool is_file = o->output && strcmp(o->output, "-") != 0;
  bool ok = is_file ? whole_file_write(o->output, out->data, out->size)
                    : (!out->size || fwrite(out->data, 1, out->size, stdout) == out->size) && fflush(stdout) == 0;
  if (!ok) {
    fprintf(stderr, "iree-opt: cannot write '%s': %s\n", is_file ? o->output : "standard output", strerror(errno));
  }
  return ok;
}

// Flags of iree-compile say what passes are to compile for.
static bool read_compiler_flags(const options_t* o, compiler_flags_t* flags, compiler_options_t* options) {
  text_t error = {0};
  o->compiler[0] = "iree-opt";
  bool ok = compiler_flags_parse(flags, o->compiler_count + 1, o->compiler, &error);
  bool targets = flags->devices.count || flags->backends.count || flags->local_backends.count;
  if (ok && !targets) flags->execution_model = "host-only";  // for no device
  ok = ok && compiler_flags_resolve(flags, options, &error);
  if (!ok) fprintf(stderr, "%s\n", error.data);
  text_finish(&error);
  return ok;
}

static int transform_input(options_t* o) {
  text_t input = {0}, out = {0};
  o->run.print_flags = o->print_flags;
  o->run.elide_above = o->elide_above;
  bool ok = read_file(o->input, &input) && run_all(o, &input, &out);
  if (ok) ok = write_output(o, &out);
  text_finish(&input);
  text_finish(&out);
  return ok ? 0 : 1;
}

static int run_tool(int argc, char** argv) {
  run_t compilation = {0};
  compiler_flags_t flags = {0};
  compiler_options_t options = {0};
  add_steps(&compilation);
  options_t o = {.run = {.verify_each = true}, .bytecode_version = IR_BYTECODE_VERSION};
  flag_table_format_t format;
  if (argc == 2 && flag_table_wants(argv[1], &format)) return show_help(format);
  o.compiler = memory_resize(NULL, sizeof(*o.compiler) * (size_t)(argc + 2));
  bool ok = parse_flags(&o, argc, argv);
  int result = 1;
  if (ok && o.help) {
    result = show_help(FLAG_TABLE_HELP);
  } else if (ok && o.version) {
    result = (puts("IREE (https://iree.dev):\n  iree-c version " IREE_C_VERSION), 0);
  } else if (ok && o.list) {
    result = list_passes();
  } else if (ok && read_compiler_flags(&o, &flags, &options)) {
    compilation.options = &options;
    result = transform_input(&o);
  }
  if (flags.arena.chunks) compiler_flags_finish(&flags);
  memory_free(o.compiler);
  return result;
}

int main(int argc, char** argv) { return scoped_main("iree-opt", run_tool, argc, argv); }
