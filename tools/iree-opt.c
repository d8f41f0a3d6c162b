// iree-opt: reads MLIR text or bytecode, runs passes by name, prints the result. For tests and for looking at single
// steps.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/flag_table.h"
#include "base/memory.h"
#include "base/near.h"
#include "base/parts.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "compiler/flags.h"
#include "compiler/pass_set.h"
#include "compiler/run.h"
#include "dialects/register.h"
#include "import/lower.h"
#include "ir/bytecode.h"
#include "ir/context.h"
#include "ir/expect.h"
#include "ir/reproducer.h"
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
    known_passes[pass_count++].user = steps[i].takes ? NULL : run;
  }
}

// Names of passes that flags list.
typedef struct names_t {
  const char** items;
  uint32_t count, capacity;
} names_t;

typedef struct options_t {
  const char *input, *output;
  const pass_t** passes;
  uint32_t pass_count, pass_capacity;
  names_t print_after, print_before;
  pass_options_t run;
  const char *split, *output_split;  // markers; the first is NULL where the input is one part
  bool verify_diagnostics, only_expected, verify_roundtrip, no_verify, timing, dump_pipeline;
  bool run_reproducer;
  bool help, list, list_dialects, version;
  uint32_t print_flags;
  int64_t elide_above, hex_above, resource_above;
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

static bool add_pass(void* user, const char* name, size_t size) {
  options_t* o = user;
  const pass_t* pass = find_pass(name, size);
  if (!pass) return false;
  if (o->pass_count == o->pass_capacity) {
    o->pass_capacity = o->pass_capacity ? o->pass_capacity * 2 : 16;
    o->passes = memory_resize(o->passes, sizeof(*o->passes) * o->pass_capacity);
  }
  o->passes[o->pass_count++] = pass;
  return true;
}

static const char* option_of_last(void* user) {
  const options_t* o = user;
  return o->passes[o->pass_count - 1]->takes;
}

// The pass with its text, which both live as long as the program.
static void set_option(void* user, const char* text, size_t size) {
  options_t* o = user;
  pass_t* own = memory_alloc(sizeof(*own));
  char* copy = memory_alloc(size + 1);
  memcpy(copy, text, size);
  copy[size] = 0;
  *own = *o->passes[o->pass_count - 1];
  own->user = copy;
  o->passes[o->pass_count - 1] = own;
}

static bool add_name(void* user, const char* name, size_t size) {
  names_t* names = user;
  const pass_t* pass = find_pass(name, size);
  if (!pass) return false;
  if (names->count == names->capacity) {
    names->capacity = names->capacity ? names->capacity * 2 : 16;
    names->items = memory_resize(names->items, sizeof(*names->items) * names->capacity);
  }
  names->items[names->count++] = pass->name;
  return true;
}

static void offer_passes(void* user, near_t* near) {
  for (int i = 0; i < pass_count; ++i) near_offer(near, known_passes[i].name);
}

// Passes by a name or, with `is_pipeline`, a text of several.
static bool read_passes(void* user, bool (*add)(void* user, const char* name, size_t size), const char* text,
                        bool is_pipeline) {
  bool runs = add == add_pass;
  const pass_set_t set = {user, add, runs ? option_of_last : NULL, runs ? set_option : NULL, offer_passes};
  text_t error = {0};
  bool ok = is_pipeline ? pass_set_read(&set, text, &error) : pass_set_add(&set, text, strlen(text), &error);
  if (!ok) fprintf(stderr, "iree-opt: %s; --list-passes lists them\n", error.data);
  text_finish(&error);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Flags
//===----------------------------------------------------------------------------------------------------------------===

static bool set_bool(bool* out, const char* value) {
  *out = !value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
  if (*out || strcmp(value, "false") == 0 || strcmp(value, "0") == 0) return true;
  return fprintf(stderr, "iree-opt: '%s' is not a boolean; true, false, 1 and 0 are\n", value), false;
}

static bool set_bit(uint32_t* out, uint32_t bit, const char* value) {
  bool on = false;
  if (!set_bool(&on, value)) return false;
  *out = on ? *out | bit : *out & ~bit;
  return true;
}

// What is so always cannot be turned off.
static bool always(const char* value) {
  bool on = false;
  if (!set_bool(&on, value) || on) return on;
  return fprintf(stderr, "iree-opt: '%s' is not supported: it is so always\n", value), false;
}

static bool set_number(int64_t* out, const char* value) {
  char* end;
  errno = 0;
  *out = strtoll(value, &end, 10);
  if (!errno && end != value && !*end && *out >= 0) return true;
  return fprintf(stderr, "iree-opt: expected a number, got '%s'\n", value), false;
}

static bool set_limit(options_t* o, int64_t* out, const char* value) {
  o->print_flags |= IR_PRINT_LIMITS;
  if (out == &o->hex_above && strcmp(value, "-1") == 0) return *out = -1, true;
  return set_number(out, value);
}

static bool set_diagnostics(options_t* o, const char* value) {
  if (value && strcmp(value, "all") && strcmp(value, "only-expected")) return set_bool(&o->verify_diagnostics, value);
  o->only_expected = value && strcmp(value, "only-expected") == 0;
  return o->verify_diagnostics = true;
}

static bool set_last(options_t* o, const char* value) {
  names_t last = {0};
  bool ok = read_passes(&last, add_name, value, false);
  if (ok) o->run.stop_after = last.items[0];
  memory_free(last.items);
  return ok;
}

// FLAG(name, argument in help, help, action): `value` is what stands behind '=', or NULL where it may lack.
#define FLAGS(FLAG)                                                                                                    \
  FLAG("pass", "=NAME", "run a pass; may be repeated", read_passes(o, add_pass, value, false))                         \
  FLAG("pass-pipeline", "=A,B", "run passes in order; builtin.module(A,func.func(B)) is fine too",                     \
       read_passes(o, add_pass, value, true))                                                                          \
  FLAG("run-reproducer", "[=BOOL]", "run the passes that the input brings (mlir_reproducer), in place of others",      \
       set_bool(&o->run_reproducer, value))                                                                            \
  FLAG("mlir-pass-pipeline-crash-reproducer", "=FILE", "write the input and the passes there when one fails",          \
       (o->run.reproducer = value))                                                                                    \
  FLAG("mlir-pass-pipeline-local-reproducer", "[=BOOL]", "what is written is the failing pass, and what it got",       \
       set_bool(&o->run.reproduces_last, value))                                                                       \
  FLAG("dump-pass-pipeline", "[=BOOL]", "print the passes that run, as a pipeline, on standard error",                 \
       set_bool(&o->dump_pipeline, value))                                                                             \
  FLAG("list-passes", "", "print the names of all passes", (o->list = true))                                           \
  FLAG("show-dialects", "", "print the names of all dialects", (o->list_dialects = true))                              \
  FLAG("help", "[=FORMAT]", "print this, or bash, zsh, man, list, markdown", (o->help = true))                         \
  FLAG("help-hidden", "", "print this", (o->help = true))                                                              \
  FLAG("version", "", "print the version", (o->version = true))                                                        \
  FLAG("mlir-print-op-generic", "[=BOOL]", "print the generic form",                                                   \
       set_bit(&o->print_flags, IR_PRINT_GENERIC, value))                                                              \
  FLAG("mlir-print-debuginfo", "[=BOOL]", "print locations", set_bit(&o->print_flags, IR_PRINT_LOCS, value))           \
  FLAG("emit-bytecode", "[=BOOL]", "write MLIR bytecode instead of text", set_bool(&o->emit_bytecode, value))          \
  FLAG("emit-bytecode-version", "=N", "of this version of the format (default 6)",                                     \
       set_number(&o->bytecode_version, value))                                                                        \
  FLAG("mlir-print-local-scope", "[=BOOL]", "print without aliases (always so)", always(value))                        \
  FLAG("mlir-print-ir-module-scope", "[=BOOL]", "print whole modules between passes (always so)", always(value))       \
  FLAG("mlir-elide-elementsattrs-if-larger", "=N", "leave out element data of more than N elements",                   \
       set_number(&o->elide_above, value) && (o->print_flags |= IR_PRINT_ELIDE_LARGE))                                 \
  FLAG("mlir-elide-resource-strings-if-larger", "=N", "leave out contents of resources of more than N characters",     \
       set_limit(o, &o->resource_above, value))                                                                        \
  FLAG("mlir-print-elementsattrs-with-hex-if-larger", "=N", "print more than N elements in hexadecimal, -1: none",     \
       set_limit(o, &o->hex_above, value))                                                                             \
  FLAG("allow-unregistered-dialect", "[=BOOL]", "accept ops of unknown dialects (always so)", always(value))           \
  FLAG("verify-each", "[=BOOL]", "verify after every pass (default true)", set_bool(&o->run.verify_each, value))       \
  FLAG("no-verify", "", "do not verify the input either", (o->run.verify_each = false, o->no_verify = true))           \
  FLAG("verify-roundtrip", "[=BOOL]", "what is printed must parse to the same", set_bool(&o->verify_roundtrip, value)) \
  FLAG("round-trip-each", "[=BOOL]", "the same after every pass", set_bool(&o->run.round_trip, value))                 \
  FLAG("split-input-file", "[=MARKER]", "treat parts between lines `// -----`, or MARKER, alone",                      \
       (o->split = value && *value ? value : PARTS_MARKER))                                                            \
  FLAG("output-split-marker", "=MARKER", "what stands between the parts' results (default // -----)",                  \
       (o->output_split = value))                                                                                      \
  FLAG("verify-diagnostics", "[=WHICH]",                                                                               \
       "check `// expected-error {{...}}` comments: all messages, or only-expected ones", set_diagnostics(o, value))   \
  FLAG("mlir-print-ir-after-all", "[=BOOL]", "print after every pass", set_bool(&o->run.print_after_all, value))       \
  FLAG("mlir-print-ir-before-all", "[=BOOL]", "print before every pass", set_bool(&o->run.print_before_all, value))    \
  FLAG("mlir-print-ir-after-change", "[=BOOL]", "print after passes that changed something",                           \
       set_bool(&o->run.print_after_change, value))                                                                    \
  FLAG("mlir-print-ir-after-failure", "[=BOOL]", "print after a pass that failed",                                     \
       set_bool(&o->run.print_after_failure, value))                                                                   \
  FLAG("mlir-print-ir-tree-dir", "=FOLDER", "what these print, a file each below the folder",                          \
       (o->run.print_tree = value))                                                                                    \
  FLAG("mlir-print-ir-after", "=A,B", "print after these passes; may be repeated",                                     \
       read_passes(&o->print_after, add_name, value, true))                                                            \
  FLAG("mlir-print-ir-before", "=A,B", "print before these passes; may be repeated",                                   \
       read_passes(&o->print_before, add_name, value, true))                                                           \
  FLAG("stop-after", "=NAME", "run no pass behind this one", set_last(o, value))                                       \
  FLAG("bisect-limit", "=N", "run only the first N passes", set_number(&o->run.bisect_limit, value))                   \
  FLAG("mlir-timing", "[=BOOL]", "print the time that each pass took",                                                 \
       set_bool(&o->timing, value) && set_bool(&o->run.timing, value))                                                 \
  FLAG("o", "=FILE", "write here instead of standard output", (o->output = value))

static bool refuse_value(const char* flag) {
  return fprintf(stderr, "iree-opt: '--%s': this flag takes no value\n", flag), false;
}

// Flags of the compiler's that passes act by begin so.
static const char* const compiler_prefixes[] = {"iree-", "mlir-"};

static bool is_compiler_flag(const char* flag, size_t size) {
  bool begins = false;
  for (int i = 0; i < 2; ++i) begins |= strncmp(flag, compiler_prefixes[i], strlen(compiler_prefixes[i])) == 0;
  return begins && compiler_flags_have(flag, size);
}

// Those of them that are about what comes in, goes out or lies between passes, which a single pass knows nothing of.
static bool is_for_whole(const char* flag) {
  static const char* const prefixes[] = {"iree-hal-dump-",       "iree-hal-substitute-", "iree-hal-list-",
                                         "iree-hal-executable-", "iree-flow-",           "iree-vm-",
                                         "iree-parameter-",      "iree-preprocessing-",  "iree-llvmcpu-static-library-",
                                         "iree-opt-import-",     "iree-opt-export-",     "iree-opt-splat-",
                                         "iree-llvmcpu-list-"};
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i) {
    if (strncmp(flag, prefixes[i], strlen(prefixes[i])) == 0) return true;
  }
  return false;
}

static bool unknown_flag(const char* flag, size_t size) {
  bool exact = false;
  const char* instead = compiler_flags_instead(flag, size, &exact);
  if (!exact) instead = pass_name_instead(flag, size, &exact);
  near_t near = near_begin(flag, size);
#define FLAG(name, argument, help, action) near_offer(&near, name);
  FLAGS(FLAG)
#undef FLAG
  offer_passes(NULL, &near);
  for (int i = 0; i < 2; ++i) compiler_flags_offer(&near, compiler_prefixes[i]);
  if (instead && (exact || !near_result(&near))) {
    fprintf(stderr, "iree-opt: '--%.*s' is IREE's and not here: %s\n", (int)size, flag, instead);
    return false;
  }
  fprintf(stderr, "iree-opt: Unknown command line argument '--%s'.  Try: 'iree-opt --help'\n", flag);
  if (near_result(&near)) fprintf(stderr, "iree-opt: Did you mean '--%s'?\n", near_result(&near));
  return false;
}

// A flag without its dashes, and the argument behind it, which may be its value.
static bool set_flag(options_t* o, const char* flag, const char* next, bool* takes_next) {
  const char* equals = strchr(flag, '=');
  const char* value = equals ? equals + 1 : NULL;
  size_t size = equals ? (size_t)(equals - flag) : strlen(flag);
#define FLAG(name, argument, help, action)                                                         \
  if (strlen(name) == size && strncmp(flag, name, size) == 0) {                                    \
    if (value && !*(argument)) return refuse_value(flag);                                          \
    if (!value && *(argument) == '=') value = next, *takes_next = true;                            \
    if (value || *(argument) != '=') return action;                                                \
    return fprintf(stderr, "iree-opt: --%s needs a value: --%s%s\n", name, name, argument), false; \
  }
  FLAGS(FLAG)
#undef FLAG
  if (find_pass(flag, size) || pass_name_same(flag, size)) {
    return value ? refuse_value(flag) : read_passes(o, add_pass, flag, false);
  }
  if (!is_compiler_flag(flag, size)) return unknown_flag(flag, size);
  if (is_for_whole(flag)) {
    return fprintf(stderr, "iree-opt: '--%.*s' is for iree-compile, which goes through all passes\n", (int)size, flag),
           false;
  }
  o->compiler[++o->compiler_count] = (char*)flag - 1;  // with one dash
  return true;
}

static bool parse_flags(options_t* o, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* arg = argv[i];
    bool takes_next = false;
    if (strcmp(arg, "-h") == 0) {
      o->help = true;
    } else if (arg[0] == '-' && arg[1]) {
      if (!set_flag(o, arg + (arg[1] == '-' ? 2 : 1), argv[i + 1], &takes_next)) return false;
      i += takes_next;
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
  if (strcmp(argument, "[=BOOL]") == 0) entries[count].choices = "true,false";                               \
  if (strcmp(argument, "[=WHICH]") == 0) entries[count].choices = "all,only-expected";                       \
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
          "Passes run in the order in which they are named; names of IREE's and MLIR's passes stand for those that do\n"
          "the same. Flags of iree-compile, --iree-NAME=VALUE, say what they compile for.",
      .entries = entries,
      .count = count};
  flag_table_print(&table, format, stdout);
  text_finish(&passes);
  return 0;
}

static int list_dialects(void) {
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  puts("Available Dialects:");
  for (uint32_t i = 0; i < IR_DIALECT_COUNT; ++i) {
    if (ctx->dialects[i] && ctx->dialects[i]->name) printf("  %s\n", ctx->dialects[i]->name);
  }
  ir_context_destroy(ctx);
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

// Passes that the input says, in place of the flags'.
static bool take_reproducer(const ir_context_t* ctx, options_t* o) {
  const char* pipeline = reproducer_pipeline(ctx, &o->run.verify_each);
  o->passes = NULL;
  o->pass_count = o->pass_capacity = 0;
  if (pipeline) return read_passes(o, add_pass, pipeline, true);
  return fprintf(stderr, "iree-opt: --run-reproducer: the input brings no passes (mlir_reproducer)\n"), false;
}

static bool transform(const options_t* options, ir_context_t* ctx, const char* path, const text_t* text, text_t* out) {
  pass_report_t report = {0};
  options_t own = *options, *o = &own;
  ir_op_t* module = ir_parse_module(ctx, path, text->data ? text->data : "", text->size);
  bool ok = module && (!o->run_reproducer || take_reproducer(ctx, o));
  pass_options_t run = o->run;
  run.report = &report;
  ok = ok && (o->no_verify || ir_verify(ctx, module));
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
  if (o->run_reproducer) memory_free(o->passes);
  return ok;
}

// One part of the input; as many lines as are before it go before it, for locations.
static bool run_part(const options_t* o, const parts_t* part, text_t* out) {
  const char* path = o->input && strcmp(o->input, "-") ? o->input : "<stdin>";
  text_t text = {0}, problem = {0};
  for (uint32_t i = 0; i < part->lines; ++i) text_puts(&text, "\n");
  text_append(&text, part->data, part->size);
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  ir_context_limit_text(ctx, o->hex_above, o->resource_above);
  bool ok = true;
  if (o->verify_diagnostics) {
    expect_t* expect = expect_create(text.data, text.size, &problem);
    text_t ignored = {0};
    ir_context_set_diagnostics(ctx, expect_diagnostic, expect);
    if (expect) transform(o, ctx, path, &text, &ignored);
    ok = expect && expect_finish(expect, path, !o->only_expected, &problem);
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
  const char* data = input->data ? input->data : "";
  const parts_t whole = {.data = data, .size = input->size};
  if (!o->split) return run_part(o, &whole, out);
  bool ok = true, is_first = true;
  for (parts_t parts = parts_begin(data, input->size, o->split); parts_next(&parts); is_first = false) {
    if (!is_first && out->size && *o->output_split) text_printf(out, "%s\n", o->output_split);
    ok = run_part(o, &parts, out) && ok;
  }
  return ok;
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

static void dump_pipeline(const options_t* o) {
  text_t pipeline = {0};
  pass_print_pipeline(o->passes, o->pass_count, &pipeline);
  fprintf(stderr, "Pass Manager with %u passes:\n%s\n", o->pass_count, pipeline.data);
  text_finish(&pipeline);
}

static int transform_input(options_t* o) {
  text_t input = {0}, out = {0};
  o->run.print_flags = o->print_flags;
  o->run.print_after = o->print_after.items;
  o->run.print_after_count = o->print_after.count;
  o->run.print_before = o->print_before.items;
  o->run.print_before_count = o->print_before.count;
  if (o->dump_pipeline) dump_pipeline(o);
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
  options_t o = {.run = {.verify_each = true},
                 .bytecode_version = IR_BYTECODE_VERSION,
                 .output_split = PARTS_MARKER,
                 .hex_above = IR_HEX_ABOVE,
                 .resource_above = -1};
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
  } else if (ok && o.list_dialects) {
    result = list_dialects();
  } else if (ok && read_compiler_flags(&o, &flags, &options)) {
    compilation.options = &options;
    result = transform_input(&o);
  }
  if (flags.arena.chunks) compiler_flags_finish(&flags);
  memory_free(o.compiler);
  return result;
}

int main(int argc, char** argv) { return scoped_main("iree-opt", run_tool, argc, argv); }
