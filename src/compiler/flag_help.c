// The flags as a table for help, completions and the manual page: rows of flags.def with their groups and values.
#include <string.h>

#include "compiler/flags.h"
#include "kernels/candidates.h"

typedef enum { ROW_STRING, ROW_LIST, ROW_BOOL, ROW_ALIAS, ROW_CHOICE } row_kind_t;
static const struct {
  const char* name;
  row_kind_t kind;
  const char *text, *why;
} rows[] = {
#define STRING(name, field, help) {name, ROW_STRING, help, NULL},
#define LIST(name, field, help) {name, ROW_LIST, help, NULL},
#define BOOL(name, field, help) {name, ROW_BOOL, help, NULL},
#define ALIAS(name, target) {name, ROW_ALIAS, target, NULL},
#define CHOICE(name, accepted, why) {name, ROW_CHOICE, accepted, why},
#include "compiler/flags.def"
#undef STRING
#undef LIST
#undef BOOL
#undef ALIAS
#undef CHOICE
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

// A flag is in the group that has the longest of the words, separated by blanks, that its name begins with.
static const struct {
  const char *title, *words;
} groups[] = {
    {"Input and output", "o compile- output-format iree-input- iree-vm- emit-mlir- iree-preprocessing-"},
    {"Parameters", "iree-parameter-"},
    {"Targets", "iree-hal- iree-execution-model iree-vulkan-"},
    {"Optimization", "iree-"},
    {"CPUs", "iree-llvmcpu-"},
    {"NVIDIA GPUs", "iree-cuda- iree-hal-cuda-"},
    {"AMD GPUs", "iree-rocm- iree-amdgpu-"},
    {"Executables and dispatches",
     "iree-hal-dump- iree-hal-substitute- iree-hal-executable iree-hal-benchmark- iree-flow-"},
    {"Looking inside", "mlir- dump-compilation- verify opt-bisect- split-input-file"},
    {"This program", "help version quiet summary compile-report"},
};
enum { GROUP_COUNT = sizeof(groups) / sizeof(groups[0]) };

static int group_of(const char* name) {
  size_t longest = 0;
  int group = GROUP_COUNT - 1;
  for (int i = 0; i < GROUP_COUNT; ++i) {
    for (const char* word = groups[i].words; *word;) {
      size_t size = strcspn(word, " ");
      bool fits = size > 1 ? strncmp(name, word, size) == 0 : name[0] == word[0] && !name[1];
      if (fits && size > longest) longest = size, group = i;
      word += size + (word[size] == ' ');
    }
  }
  return group;
}

// All values of flags that take one of few, or those worth offering.
static const struct {
  const char *name, *values;
} known_values[] = {
    {"iree-hal-target-device", "local,cuda,hip,amdgpu,rocm,llvm-cpu,vmvx"},
    {"iree-hal-local-target-device-backends", "llvm-cpu,vmvx"},
    {"iree-hal-target-backends", "cuda,llvm-cpu,rocm,vmvx"},
    {"iree-input-type", "auto,none,stablehlo,stablehlo_xla,mhlo,torch,onnx,tosa,tm_tensor,vhlo"},
    {"iree-opt-level", "O0,O1,O2,O3"},
    {"iree-execution-model", "async-internal,async-external,host-only,inline-static,inline-dynamic"},
    {"compile-mode", "std,precompile,vm,hal-executable"},
    {"iree-vm-target-index-bits", "64,32"},
    {"iree-rocm-container-type", "auto,hip,amdgpu,hsaco"},
    {"iree-rocm-denormal-fp-math-f32", "ieee,preserve-sign,positive-zero"},
    {"iree-parameter-encoder-mode", "consolidate,overlay"},
    {"iree-vm-bytecode-module-output-format", "flatbuffer-binary"},
    {"emit-mlir-bytecode-version", "0,1,2,3,4,5,6"},
};

static const char* joined(arena_t* arena, const char* first, const char* next) {
  return first ? arena_printf(arena, "%s,%s", first, next) : next;
}

static const char* phases(arena_t* arena) {
  const char* list = NULL;
  for (int i = 0; i < COMPILER_PHASE_COUNT; ++i) list = joined(arena, list, compiler_phase_name((compiler_phase_t)i));
  return list;
}

static const char* formats(arena_t* arena) {
  const char* list = NULL;
#define OUTPUT(name, text) list = joined(arena, list, text);
  COMPILER_OUTPUTS(OUTPUT)
#undef OUTPUT
  return list;
}

static const char* strategies(arena_t* arena) {
  const char* list = NULL;
  for (size_t i = 0; candidates_name(i); ++i) list = joined(arena, list, candidates_name(i));
  return list;
}

static const char* targets(arena_t* arena, target_backend_t backend) {
  const char* list = NULL;
  for (uint32_t i = 0; target_known_name(backend, i); ++i) list = joined(arena, list, target_known_name(backend, i));
  return list;
}

static const char* values_of(arena_t* arena, const char* name) {
  for (size_t i = 0; i < sizeof(known_values) / sizeof(known_values[0]); ++i) {
    if (strcmp(known_values[i].name, name) == 0) return known_values[i].values;
  }
  if (strcmp(name, "compile-to") == 0 || strcmp(name, "compile-from") == 0) return phases(arena);
  if (strcmp(name, "output-format") == 0) return formats(arena);
  if (strcmp(name, "iree-codegen-strategy") == 0) return strategies(arena);
  if (strcmp(name, "iree-llvmcpu-target-cpu") == 0) return targets(arena, TARGET_LLVM_CPU);
  if (strcmp(name, "iree-cuda-target") == 0) return targets(arena, TARGET_CUDA);
  if (strcmp(name, "iree-rocm-target") == 0) return targets(arena, TARGET_ROCM);
  return NULL;
}

static int row_of(const char* name) {
  for (int i = 0; i < ROW_COUNT; ++i) {
    if (strcmp(rows[i].name, name) == 0) return i;
  }
  return -1;
}

static flag_entry_t make_entry(arena_t* arena, int i) {
  const char* name = rows[i].name;
  flag_entry_t entry = {.name = arena_printf(arena, "%s%s", name[1] ? "--" : "-", name),
                        .argument = "=VALUE",
                        .choices = values_of(arena, name),
                        .help = rows[i].text};
  switch (rows[i].kind) {
    case ROW_STRING:
      if (!name[1]) entry.argument = " FILE";
      break;
    case ROW_LIST:
      entry.argument = "=VALUE,...";
      break;
    case ROW_BOOL:
      entry.argument = "[=BOOL]";
      entry.choices = "true,false";
      break;
    case ROW_ALIAS:
      if (row_of(rows[i].text) >= 0) entry = make_entry(arena, row_of(rows[i].text));
      entry.name = arena_printf(arena, "--%s", name);
      entry.choices = NULL;
      entry.help = arena_printf(arena, "Same as --%s", rows[i].text);
      break;
    case ROW_CHOICE:
      entry.choices = *rows[i].text ? rows[i].text : NULL;
      entry.help =
          arena_printf(arena, *rows[i].text ? "No other values: %s" : "No value but an empty one: %s", rows[i].why);
      break;
  }
  return entry;
}

flag_table_t compiler_flags_table(arena_t* arena) {
  flag_entry_t* entries = ARENA_ARRAY(arena, flag_entry_t, ROW_COUNT + 1);
  size_t count = 0;
  for (int g = 0; g < GROUP_COUNT; ++g) {
    const char* title = groups[g].title;
    for (int i = 0; i < ROW_COUNT; ++i) {
      if (group_of(rows[i].name) != g) continue;
      entries[count] = make_entry(arena, i);
      entries[count++].group = title;
      title = NULL;
    }
  }
  return (flag_table_t){
      .program = "iree-compile",
      .summary = "compiles ONNX, StableHLO and MLIR programs to modules that iree-run-module runs",
      .synopsis = "[options] <input file or '-'>",
      .description =
          "Flags take their value as --name=value or --name value; --iree-rocm-NAME is --iree-hip-NAME, too.",
      .entries = entries,
      .count = count};
}
