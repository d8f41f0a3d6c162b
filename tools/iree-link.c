// iree-link: gives functions without a body the one of another module, or puts modules into one file.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/flag_table.h"
#include "base/near.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "compiler/link.h"
#include "dialects/register.h"
#include "ir/bytecode.h"
#include "scoped_main.h"

typedef struct options_t {
  const char *input, *output;
  const char **modules, **library_paths;
  uint32_t module_count, library_path_count;
  bool bundle, list_symbols, bytecode, version;
} options_t;

static bool add(const char*** list, uint32_t* count, const char* value) {
  *list = memory_resize(*list, sizeof(**list) * (*count + 1));
  (*list)[(*count)++] = value;
  return true;
}

// FLAG(name, argument in help, help, action): `value` is what stands behind '=' or after a flag that takes one.
#define FLAGS(FLAG)                                                                                                  \
  FLAG("-o", " FILE", "write here instead of standard output; a name ending in .mlirbc is written as bytecode",      \
       (o->output = value))                                                                                          \
  FLAG("--link-module", "=FILE", "module to take functions from; may be repeated",                                   \
       add(&o->modules, &o->module_count, value))                                                                    \
  FLAG("--library-path", "=DIR", "folder with such modules, found by their names in symbols; may be repeated",       \
       add(&o->library_paths, &o->library_path_count, value))                                                        \
  FLAG("--bundle", "", "put the modules into one, without an input and without linking", (o->bundle = true))         \
  FLAG("--list-symbols", "", "print the public functions of the input instead of linking", (o->list_symbols = true)) \
  FLAG("--output-bytecode", "", "write MLIR bytecode whatever the output is called", (o->bytecode = true))           \
  FLAG("--help", "[=FORMAT]", "print this, or bash, zsh, man, list, markdown", true)                                 \
  FLAG("--version", "", "print the version", (o->version = true))

static const flag_entry_t entries[] = {
#define FLAG(name, argument, help, action) {name, argument, NULL, help, NULL},
    FLAGS(FLAG)
#undef FLAG
};
static const flag_table_t table = {
    .program = "iree-link",
    .summary = "gives functions without a body the one of another module",
    .synopsis = "[flags] [file.mlir | -]",
    .description =
        "A function @module.name is the public function @name of the module @module, @name that of a module\n"
        "without a name. What they need comes along.",
    .entries = entries,
    .count = sizeof(entries) / sizeof(entries[0])};

static bool apply(options_t* o, size_t flag, const char* value) {
  size_t i = 0;
#define FLAG(name, argument, help, action) \
  if (i++ == flag) return action;
  FLAGS(FLAG)
#undef FLAG
  return false;
}

// The flag of an argument with one dash or two; `out_size` is the length of its name in the argument.
static size_t find_flag(const char* argument, size_t* out_size) {
  const char* name = argument + strspn(argument, "-");
  size_t size = strcspn(name, "="), i = 0;
  *out_size = (size_t)(name - argument) + size;
  for (; i < table.count; ++i) {
    const char* known = entries[i].name + strspn(entries[i].name, "-");
    if (strlen(known) == size && strncmp(known, name, size) == 0) break;
  }
  return i;
}

static bool unknown_flag(const char* argument) {
  near_t near = near_begin(argument, strcspn(argument, "="));
  for (size_t i = 0; i < table.count; ++i) near_offer(&near, entries[i].name);
  fprintf(stderr, "iree-link: Unknown command line argument '%s'.  Try: 'iree-link --help'\n", argument);
  if (near_result(&near)) fprintf(stderr, "iree-link: Did you mean '%s'?\n", near_result(&near));
  return false;
}

static bool parse_flags(options_t* o, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* argument = argv[i];
    if (argument[0] != '-' || !argument[1]) {
      if (o->input) {
        return fprintf(stderr, "iree-link: more than one input: '%s' and '%s'\n", o->input, argument), false;
      }
      o->input = argument;
      continue;
    }
    size_t size, flag = find_flag(argument, &size);
    if (flag == table.count) return unknown_flag(argument);
    bool takes = entries[flag].argument[0] == '=' || entries[flag].argument[0] == ' ';
    const char* value = argument[size] ? argument + size + 1 : NULL;
    if (value && !takes) return fprintf(stderr, "iree-link: '%s': this flag takes no value\n", argument), false;
    if (takes && !value && !(value = argv[++i])) {
      return fprintf(stderr, "iree-link: '%s' needs a value\n", argument), false;
    }
    apply(o, flag, value);
  }
  if (o->bundle && (o->input || o->list_symbols)) {
    return fprintf(stderr, "iree-link: --bundle takes no input; --link-module= names all modules\n"), false;
  }
  return true;
}

static void show_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                            const char* rendered) {
  fprintf(stderr, "%s\n", rendered);
}

static void list_symbols(ir_op_t* module, const char* path, text_t* out) {
  text_printf(out, "Public symbols in %s:\n", path);
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (link_is_public(op)) text_printf(out, "  @%s\n", ir_op_string(op, "sym_name", ""));
  }
}

static bool link(const options_t* o, ir_context_t* ctx, link_sources_t* sources, text_t* out) {
  link_options_t options = {o->modules, o->module_count, o->library_paths, o->library_path_count};
  const char* path = o->input ? o->input : "-";
  ir_op_t* module = o->bundle ? link_bundle(ctx, &options, sources) : link_load(ctx, path, sources);
  if (!module) return false;
  if (o->list_symbols) return list_symbols(module, path, out), true;
  if (!o->bundle && !link_module(ctx, module, &options, sources)) return false;
  size_t size = o->output ? strlen(o->output) : 0;
  if (o->bytecode || (size > 7 && strcmp(o->output + size - 7, ".mlirbc") == 0)) {
    return ir_write_bytecode(ctx, module, IR_BYTECODE_VERSION, out);
  }
  ir_print_op(ctx, out, module, 0, 0);
  return true;
}

static bool write_output(const options_t* o, const text_t* out) {
  bool is_file = o->output && strcmp(o->output, "-") != 0;
  bool ok = is_file ? whole_file_write(o->output, out->data, out->size)
                    : (!out->size || fwrite(out->data, 1, out->size, stdout) == out->size) && fflush(stdout) == 0;
  if (!ok) {
    fprintf(stderr, "iree-link: cannot write '%s': %s\n", is_file ? o->output : "standard output", strerror(errno));
  }
  return ok;
}

static int run(int argc, char** argv) {
  options_t o = {0};
  text_t out = {0};
  link_sources_t sources = {0};
  flag_table_format_t format;
  if (argc == 2 && flag_table_wants(argv[1], &format)) return flag_table_print(&table, format, stdout), 0;
  bool ok = parse_flags(&o, argc, argv);
  if (ok && o.version) {
    puts("IREE (https://iree.dev):\n  iree-c version " IREE_C_VERSION);
  } else if (ok) {
    ir_context_t* ctx = ir_context_create();
    dialects_register_all(ctx);
    ir_context_set_diagnostics(ctx, show_diagnostic, NULL);
    ok = link(&o, ctx, &sources, &out);
    ir_context_destroy(ctx);
    link_sources_finish(&sources);
    ok = ok && write_output(&o, &out);
  }
  text_finish(&out);
  memory_free(o.modules);
  memory_free(o.library_paths);
  return ok ? 0 : 1;
}

int main(int argc, char** argv) { return scoped_main("iree-link", run, argc, argv); }
