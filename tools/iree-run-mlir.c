// Compiles a program and runs a function of it: iree-compile and iree-run-module in one process.
//
//   iree-run-mlir [--device=...] file.mlir [runtime flags] [-- compiler flags]
//
// Flags in front of `--` are iree-run-module's, those behind it iree-compile's. `--Xcompiler,name=value` and
// `--Xcompiler --name=value` are for the compiler wherever they stand, as are all that begin with `--iree-`;
// `--Xruntime` alike. What to compile for follows from the devices, and the device from what is compiled for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/flags.h"
#include "iree/base/tooling/flags.h"
#include "scoped_main.h"
#include "tooling/run.h"

static const char usage[] =
    "Compiles a program and runs a function of it.\n"
    "\n"
    "  iree-run-mlir [--device=DEVICE] FILE [--function=NAME] [--input=VALUE]... [-- COMPILER FLAGS]\n"
    "\n"
    "  --Xcompiler,NAME=VALUE or --Xcompiler --NAME=VALUE   a flag of iree-compile\n"
    "  --iree-NAME=VALUE                                    the same\n"
    "  --Xruntime,NAME=VALUE or --Xruntime --NAME=VALUE     a flag of iree-run-module\n"
    "\n"
    "Without flags that say so, the program is compiled for the devices; without --device it runs on the device that "
    "it\n"
    "is compiled for, on local-task otherwise.\n"
    "\n"
    "Example:\n"
    "  iree-run-mlir --device=local-sync add.mlir --input=4xf32=1,2,3,4 --input=4xf32=1\n";

typedef struct arguments_t {
  int argc;
  char** argv;  // NULL behind the last
} arguments_t;

typedef struct split_t {
  arena_t* arena;
  arguments_t compiler, runtime;
} split_t;

static void split_init(split_t* s, arena_t* arena, int argc, char** argv) {
  size_t room = 2 * (size_t)argc + 8;  // what is inferred comes on top
  arguments_t* lists[] = {&s->compiler, &s->runtime};
  s->arena = arena;
  for (int i = 0; i < 2; ++i) {
    *lists[i] = (arguments_t){.argv = ARENA_ARRAY(arena, char*, room)};
    lists[i]->argv[lists[i]->argc++] = argv[0];
  }
}

static void add(arguments_t* list, char* argument) { list->argv[list->argc++] = argument; }

// `--Xcompiler,name=value` or `--Xcompiler` and the next argument. False when it is no such prefix.
static bool take_prefixed(split_t* s, const char* prefix, arguments_t* list, char*** next) {
  const char* text = **next;
  size_t size = strlen(prefix);
  text += text[0] == '-' && text[1] == '-';
  if (strncmp(text, prefix, size) != 0 || (text[size] && text[size] != ',')) return false;
  if (text[size] == ',') {
    add(list, arena_printf(s->arena, "--%s", text + size + 1));
  } else if ((*next)[1]) {
    add(list, *++*next);
  }
  return true;
}

static void split(split_t* s, char** argv) {
  bool behind = false;
  for (char** next = argv + 1; *next; ++next) {
    char* text = *next;
    bool flag = text[0] == '-' && text[1];
    if (take_prefixed(s, "-Xcompiler", &s->compiler, &next) || take_prefixed(s, "-Xruntime", &s->runtime, &next)) {
      continue;
    }
    if (strcmp(text, "--") == 0) {
      behind = true;
    } else if (!flag || behind || strncmp(text, "--iree-", 7) == 0) {
      add(&s->compiler, text);
    } else {
      add(&s->runtime, text);
    }
  }
}

static const char* value_of(const arguments_t* list, int i, const char* name) {
  size_t size = strlen(name);
  return strncmp(list->argv[i], name, size) == 0 && list->argv[i][size] == '=' ? list->argv[i] + size + 1 : NULL;
}

// A device's URI as what the compiler calls such devices.
static void add_target(split_t* s, const char* uri) {
  int size = (int)strcspn(uri, ":");
  bool local = strncmp(uri, "local-", 6) == 0;
  add(&s->compiler,
      local ? "--iree-hal-target-device=local" : arena_printf(s->arena, "--iree-hal-target-device=%.*s", size, uri));
  if (local) add(&s->compiler, "--iree-hal-local-target-device-backends=llvm-cpu");
}

// What to compile for, where the flags do not say it.
static void infer_targets(split_t* s, const compiler_flags_t* flags) {
  bool found = false;
  if (flags->devices.count || flags->backends.count || flags->local_backends.count) return;
  for (int i = 1; i < s->runtime.argc && !found; ++i) {
    const char* uri = value_of(&s->runtime, i, "--device");
    if (uri && *uri) add_target(s, uri);
    found = uri != NULL;
  }
  if (!found) add_target(s, "local-task");
}

static void infer_device(split_t* s, const compiler_options_t* options) {
  for (int i = 1; i < s->runtime.argc; ++i) {
    if (value_of(&s->runtime, i, "--device")) return;
  }
  const char* name =
      options->device_name && strcmp(options->device_name, "local") ? options->device_name : "local-task";
  add(&s->runtime, arena_printf(s->arena, "--device=%s", name));
}

static int report(const char* message) {
  fprintf(stderr, "%s\n", message);
  return EXIT_FAILURE;
}

static int compile_and_run(split_t* s, const compiler_flags_t* flags) {
  compiler_options_t options;
  text_t error = {0};
  bool ok = compiler_flags_resolve(flags, &options, &error);
  if (!ok) report(error.data);
  text_finish(&error);
  if (!ok) return EXIT_FAILURE;
  if (options.stop_after != COMPILER_PHASE_END) return report("error: --compile-to= leaves nothing to run");
  infer_device(s, &options);
  compiler_output_t output = {0};
  if (!compiler_run(&options, flags->input, NULL, 0, &output)) return EXIT_FAILURE;
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &s->runtime.argc, &s->runtime.argv);
  tooling_context_options_t run = {.data = iree_make_const_byte_span(output.data, output.size)};
  int exit_code = EXIT_SUCCESS;
  iree_status_t status = tooling_refuse_arguments(s->runtime.argc, s->runtime.argv);
  if (iree_status_is_ok(status)) status = tooling_run(&run, &exit_code);
  exit_code = tooling_run_finish(status, exit_code);
  free(output.data);
  return exit_code;
}

// Flags that print and end the program.
static bool wants_words(const arguments_t* list) {
  for (int i = 1; i < list->argc; ++i) {
    const char* text = list->argv[i];
    bool help = strcmp(text, "-h") == 0 || strcmp(text, "--help") == 0 || strncmp(text, "--help=", 7) == 0;
    if (help || strcmp(text, "--version") == 0) return true;
  }
  return false;
}

static int run(int argc, char** argv) {
  arena_t arena;
  split_t s;
  compiler_flags_t flags;
  text_t error = {0};
  int result = EXIT_FAILURE;
  arena_init(&arena);
  split_init(&s, &arena, argc, argv);
  split(&s, argv);
  bool ok = compiler_flags_parse(&flags, s.compiler.argc, s.compiler.argv, &error);
  if (ok) {
    infer_targets(&s, &flags);
    compiler_flags_finish(&flags);
    ok = compiler_flags_parse(&flags, s.compiler.argc, s.compiler.argv, &error);
  }
  if (wants_words(&s.runtime))
    iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &s.runtime.argc, &s.runtime.argv);  // exits
  if (!ok) {
    report(error.data);
  } else if (!flags.input) {
    report("iree-run-mlir: no input file; give a .mlir or .onnx file, or '-' for standard input");
  } else {
    result = compile_and_run(&s, &flags);
  }
  text_finish(&error);
  compiler_flags_finish(&flags);
  arena_finish(&arena);
  return result;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-run-mlir", usage);
  return scoped_main("iree-run-mlir", run, argc, argv);
}
