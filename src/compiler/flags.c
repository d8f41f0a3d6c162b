// See flags.h.
#include "compiler/flags.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/near.h"
#include "ir/bytecode.h"
#include "kernels/candidates.h"
//===----------------------------------------------------------------------------------------------------------------===
// Parsing
//===----------------------------------------------------------------------------------------------------------------===

typedef enum { KIND_STRING, KIND_LIST, KIND_BOOL, KIND_ALIAS, KIND_CHOICE } flag_kind_t;
typedef struct flag_row_t {
  const char* name;
  flag_kind_t kind;
  size_t offset;
  const char* text;  // help, the alias's target, or the values of a choice
  const char* why;   // others are not
} flag_row_t;

static const flag_row_t rows[] = {
#define STRING(name, field, help) {name, KIND_STRING, offsetof(compiler_flags_t, field), help, NULL},
#define LIST(name, field, help) {name, KIND_LIST, offsetof(compiler_flags_t, field), help, NULL},
#define BOOL(name, field, help) {name, KIND_BOOL, offsetof(compiler_flags_t, field), help, NULL},
#define ALIAS(name, target) {name, KIND_ALIAS, 0, target, NULL},
#define CHOICE(name, accepted, why) {name, KIND_CHOICE, 0, accepted, why},
#include "compiler/flags.def"
#undef STRING
#undef LIST
#undef BOOL
#undef ALIAS
#undef CHOICE
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static const flag_row_t* find_row(const char* name, size_t size) {
  static const char hip[] = "iree-hip-", rocm[] = "iree-rocm-";
  char renamed[96];
  if (size > sizeof(hip) - 1 && size < 64 && !memcmp(name, hip, sizeof(hip) - 1)) {
    int length = (int)(size - sizeof(hip) + 1);
    size = (size_t)snprintf(renamed, sizeof(renamed), "%s%.*s", rocm, length, name + sizeof(hip) - 1);
    name = renamed;
  }
  for (size_t i = 0; i < ROW_COUNT; ++i) {
    if (strlen(rows[i].name) != size || memcmp(rows[i].name, name, size)) continue;
    return rows[i].kind == KIND_ALIAS ? find_row(rows[i].text, strlen(rows[i].text)) : &rows[i];
  }
  return NULL;
}

void compiler_flags_offer(near_t* near, const char* prefix) {
  for (size_t i = 0; i < ROW_COUNT; ++i) {
    if (strncmp(rows[i].name, prefix, strlen(prefix)) == 0) near_offer(near, rows[i].name);
  }
}

bool compiler_flags_have(const char* name, size_t size) { return find_row(name, size); }

const char* compiler_flags_instead(const char* name, size_t size, bool* out_exact) {
  static const char* const refused[][2] = {
#define REFUSED(flag, text) {flag, text},
#include "compiler/flags_refused.def"
#undef REFUSED
  };
  for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); ++i) {
    if (!iree_string_view_match_pattern(iree_make_string_view(name, size), iree_make_cstring_view(refused[i][0])))
      continue;
    *out_exact = !strchr(refused[i][0], '*');
    return refused[i][1];
  }
  return NULL;
}

static bool unknown_flag(const char* program, const char* arg, const char* name, size_t size, text_t* error) {
  near_t near = near_begin(name, size);
  compiler_flags_offer(&near, "");
  bool exact = false;
  const char *instead = compiler_flags_instead(name, size, &exact), *meant = near_result(&near);
  if (instead && (exact || !meant)) {
    text_printf(error, "%s: '--%.*s' is a flag of IREE's that is not here: %s", program, (int)size, name, instead);
    return false;
  }
  text_printf(error, "%s: Unknown command line argument '%s'.  Try: '%s --help'", program, arg, program);
  if (instead) text_printf(error, "\n%s: It is IREE's, and not here: %s", program, instead);
  if (meant) text_printf(error, "\n%s: Did you mean '--%s'?", program, meant);
  return false;
}

static bool add_items(compiler_flags_t* flags, flag_list_t* list, const char* value, text_t* error) {
  while (*value) {
    size_t size = strcspn(value, ",");
    if (list->count == FLAGS_MAX_LIST) {
      text_printf(error, "error: more than %d values in a list: '%s'", FLAGS_MAX_LIST, value);
      return false;
    }
    if (size) list->items[list->count++] = arena_strndup(&flags->arena, value, size);
    value += size + (value[size] == ',');
  }
  return true;
}

static bool set_bool(flag_bool_t* out, const char* arg, const char* value, text_t* error) {
  bool yes = !value || !strcmp(value, "true") || !strcmp(value, "1") || !strcmp(value, "TRUE");
  bool no = value && (!strcmp(value, "false") || !strcmp(value, "0") || !strcmp(value, "FALSE"));
  if (!yes && !no) {
    text_printf(error, "error: '%s' is not a boolean; true, false, 1 and 0 are", arg);
    return false;
  }
  *out = yes ? FLAG_TRUE : FLAG_FALSE;
  return true;
}

// Whether one of `list`, separated by commas, is `value`.
static bool is_listed(const char* list, const char* value) {
  size_t size = strlen(value);
  for (;;) {
    size_t item = strcspn(list, ",");
    if (item == size && !memcmp(list, value, size)) return true;
    if (!list[item]) return false;
    list += item + 1;
  }
}

// Flags that stand for true when they have no value.
static bool is_boolean(const flag_row_t* row) {
  return row->kind == KIND_BOOL || (row->kind == KIND_CHOICE && strstr(row->text, "false")) ||
         (row->kind == KIND_CHOICE && is_listed(row->text, "true"));
}

static bool check_choice(const flag_row_t* row, const char* value, text_t* error) {
  const char* given = value;
  if (is_boolean(row)) given = !value || !strcmp(value, "1") ? "true" : !strcmp(value, "0") ? "false" : value;
  if (is_listed(row->text, given)) return true;
  text_printf(error, "--%s=%s is not supported: %s", row->name, given, row->why);
  return false;
}

static bool set_flag(compiler_flags_t* flags, const flag_row_t* row, const char* arg, const char* value,
                     text_t* error) {
  char* field = (char*)flags + row->offset;
  if (row->kind == KIND_LIST) return add_items(flags, (flag_list_t*)field, value, error);
  if (row->kind == KIND_BOOL) return set_bool((flag_bool_t*)field, arg, value, error);
  if (row->kind == KIND_CHOICE) return check_choice(row, value, error);
  *(const char**)field = value;
  return true;
}

bool compiler_flags_parse(compiler_flags_t* flags, int argc, char** argv, text_t* error) {
  memset(flags, 0, sizeof(*flags));
  arena_init(&flags->arena);
  for (int i = 1; i < argc; ++i) {
    const char* arg = argv[i];
    if (arg[0] != '-' || !arg[1]) {
      if (flags->input) {
        text_printf(error, "%s: two input files, '%s' and '%s'; one can be compiled at a time", argv[0], flags->input,
                    arg);
        return false;
      }
      flags->input = arg;
      continue;
    }
    const char* name = strcmp(arg, "-h") == 0 ? "help" : arg + (arg[1] == '-' ? 2 : 1);
    size_t size = strcspn(name, "=");
    const char* value = name[size] ? name + size + 1 : NULL;
    const flag_row_t* row = find_row(name, size);
    if (!row) return unknown_flag(argv[0], arg, name, size, error);
    if (!value && !is_boolean(row)) {
      if (i + 1 == argc) {
        text_printf(error, "%s: '%s' needs a value", argv[0], arg);
        return false;
      }
      value = argv[++i];
    }
    if (!set_flag(flags, row, arg, value, error)) return false;
  }
  compiler_flags_rename_passes(flags);
  return true;
}

void compiler_flags_finish(compiler_flags_t* flags) { arena_finish(&flags->arena); }

//===----------------------------------------------------------------------------------------------------------------===
// Resolving
//===----------------------------------------------------------------------------------------------------------------===

typedef struct wanted_t {
  const char* backend;
  const char* device;
  target_container_t container;
  bool is_old;  // named by --iree-hal-target-backends
} wanted_t;

static bool add_wanted(wanted_t* list, uint32_t* count, wanted_t item, text_t* error) {
  for (uint32_t i = 0; i < *count; ++i) {
    if (!strcmp(list[i].backend, item.backend) && list[i].container == item.container) return true;
  }
  if (*count == COMPILER_MAX_TARGETS) {
    text_printf(error, "more than %d targets", COMPILER_MAX_TARGETS);
    return false;
  }
  list[(*count)++] = item;
  return true;
}

// --iree-hal-target-device: `name=spec` names the device, `local[0]` gives its ordinal; both only matter to programs
// with several devices.
static bool wanted_by_device(const compiler_flags_t* flags, const char* spec, wanted_t* list, uint32_t* count,
                             text_t* error) {
  const char* equals = strchr(spec, '=');
  if (equals) spec = equals + 1;
  size_t size = strcspn(spec, "[");
  static const struct {
    const char *alias, *backend;
    target_container_t container;
  } devices[] = {{"cuda", "cuda", 0},
                 {"hip", "rocm", TARGET_CONTAINER_HIP},
                 {"rocm", "rocm", TARGET_CONTAINER_HIP},
                 {"amdgpu", "rocm", TARGET_CONTAINER_AMDGPU},
                 {"llvm-cpu", "llvm-cpu", 0},
                 {"vmvx", "vmvx", 0}};
  for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); ++i) {
    if (strlen(devices[i].alias) == size && !memcmp(devices[i].alias, spec, size)) {
      return add_wanted(list, count, (wanted_t){devices[i].backend, devices[i].alias, devices[i].container}, error);
    }
  }
  if (size != 5 || memcmp(spec, "local", 5)) {
    text_printf(error,
                "unregistered device alias \"%.*s\"; ensure it is linked into the compiler (available = [ 'amdgpu' "
                "'cuda' 'hip' 'local' 'rocm' ])",
                (int)size, spec);
    return false;
  }
  if (!flags->local_backends.count) return add_wanted(list, count, (wanted_t){"llvm-cpu", "local", 0}, error);
  for (uint32_t i = 0; i < flags->local_backends.count; ++i) {
    target_backend_t backend;
    const char* name = flags->local_backends.items[i];
    if (!target_backend_find(name, &backend, error)) return false;
    if (!add_wanted(list, count, (wanted_t){target_backend_name(backend), "local", 0}, error)) return false;
  }
  return true;
}

static bool collect_wanted(const compiler_flags_t* flags, wanted_t* list, uint32_t* count, text_t* error) {
  for (uint32_t i = 0; i < flags->devices.count; ++i) {
    if (!wanted_by_device(flags, flags->devices.items[i], list, count, error)) return false;
  }
  for (uint32_t i = 0; i < flags->backends.count; ++i) {
    target_backend_t backend;
    if (!target_backend_find(flags->backends.items[i], &backend, error)) return false;
    wanted_t wanted = {.backend = target_backend_name(backend), .device = "local", .is_old = true};
    if (!add_wanted(list, count, wanted, error)) return false;
  }
  if (!flags->devices.count && !flags->backends.count && flags->local_backends.count) {
    return wanted_by_device(flags, "local", list, count, error);
  }
  return true;
}

static bool resolve_container(const compiler_flags_t* flags, target_container_t* container, text_t* error) {
  const char* c = flags->container;
  if (!c || !strcmp(c, "auto")) return true;
  if (!strcmp(c, "hip")) {
    *container = TARGET_CONTAINER_HIP;
  } else if (!strcmp(c, "amdgpu") || !strcmp(c, "hsaco")) {
    *container = TARGET_CONTAINER_AMDGPU;
  } else {
    text_printf(error, "--iree-rocm-container-type=%s: auto, hip, amdgpu and hsaco are known", c);
    return false;
  }
  return true;
}

// "4x8,2x4,64,4" or "4x8,2x4,64,4,2": numbers above 0, apart by just these characters.
static bool is_product_plan(const char* text) {
  static const char apart[] = "x,x,,,";
  for (const char* next = apart;; ++next) {
    char* end = NULL;
    if (*text < '1' || *text > '9' || strtol(text, &end, 10) > 4096) return false;
    if (!*end && next >= apart + sizeof(apart) - 2) return true;
    if (!*next || *end != *next) return false;
    text = end + 1;
  }
}

static bool resolve_target(const compiler_flags_t* flags, const wanted_t* wanted, const char* chip, target_t* out,
                           text_t* error) {
  target_options_t o = {.backend = wanted->backend, .container = wanted->container};
  if (!strcmp(wanted->backend, "llvm-cpu")) {
    o.triple = flags->triple;
    o.cpu = flags->cpu;
    o.features = flags->cpu_features;
    o.abi = flags->target_abi;
    o.system_elf = flags->link_embedded == FLAG_FALSE;
  } else if (!strcmp(wanted->backend, "cuda")) {
    o.cpu = chip || !wanted->is_old ? chip : "sm_35";  // what documents of that time promise
    o.features = flags->cuda_features;
  } else if (!strcmp(wanted->backend, "rocm")) {
    o.cpu = chip;
    o.features = flags->rocm_features;
    if (!resolve_container(flags, &o.container, error)) return false;
  }
  if (!target_resolve(&o, out, error)) return false;
  if (flags->product_plan && !is_product_plan(flags->product_plan)) {
    text_printf(error,
                "--iree-codegen-product-plan=%s: numbers like 4x8,2x4,64,4 are needed: fragments down x across "
                "of a wave, waves down x across, depth of a tile, stages, and slices where there are several",
                flags->product_plan);
    return false;
  }
  if (flags->strategy && !candidates_know(flags->strategy)) {
    text_printf(error, "--iree-codegen-strategy=%s: there are", flags->strategy);
    for (size_t i = 0; candidates_name(i); ++i) text_printf(error, "%s %s", i ? "," : "", candidates_name(i));
    return false;
  }
  out->device.product_plan = flags->product_plan;
  out->device.strategy = flags->strategy;
  out->device.lists_candidates = flags->list_candidates == FLAG_TRUE;
  out->device.without_winograd = flags->use_winograd == FLAG_FALSE;
  out->device.reads_tf32 = flags->use_tf32 == FLAG_TRUE && out->backend == TARGET_CUDA;
  return true;
}

// Which of two targets that both run on a device comes first: exact chips before generic ones, newer NVIDIA ones first.
static bool goes_before(const target_t* x, const target_t* y) {
  if (x->backend != y->backend) return false;
  if (x->backend == TARGET_CUDA) {
    char *x_kind, *y_kind;  // 'a' before 'f', both before code for all
    long x_number = strtol(x->cpu + 3, &x_kind, 10), y_number = strtol(y->cpu + 3, &y_kind, 10);
    return x_number != y_number ? x_number > y_number : *x_kind && (!*y_kind || *x_kind < *y_kind);
  }
  return x->backend == TARGET_ROCM && !strstr(x->cpu, "generic") && strstr(y->cpu, "generic");
}

static bool add_target(compiler_options_t* out, const target_t* target, text_t* error) {
  uint32_t at = out->target_count;
  for (uint32_t i = 0; i < at; ++i) {
    const target_t* other = &out->targets[i];
    bool same = !strcmp(other->format, target->format) && !strcmp(other->cpu, target->cpu);
    if (same && other->backend == target->backend) return true;
  }
  if (at == COMPILER_MAX_TARGETS) {
    text_printf(error, "more than %d targets", COMPILER_MAX_TARGETS);
    return false;
  }
  for (; at && goes_before(target, &out->targets[at - 1]); --at) out->targets[at] = out->targets[at - 1];
  out->targets[at] = *target;
  ++out->target_count;
  return true;
}

static bool resolve_chip(const compiler_flags_t* flags, const wanted_t* wanted, const char* chip,
                         compiler_options_t* out, text_t* error) {
  target_t target;
  return resolve_target(flags, wanted, chip, &target, error) && add_target(out, &target, error);
}

// GPU backends have a target for each chip that is named, by its own name or with others.
static bool resolve_chips(const compiler_flags_t* flags, const wanted_t* wanted, compiler_options_t* out,
                          text_t* error) {
  target_backend_t backend = TARGET_BACKEND_COUNT;
  if (!target_backend_find(wanted->backend, &backend, error)) return false;
  const flag_list_t* chips = backend == TARGET_CUDA   ? &flags->cuda_targets
                             : backend == TARGET_ROCM ? &flags->rocm_targets
                                                      : NULL;
  uint32_t count = chips && chips->count ? chips->count : 1;
  for (uint32_t i = 0; i < count; ++i) {
    const char* chip = chips && chips->count ? chips->items[i] : NULL;
    const char* member = chip ? target_member_name(backend, chip, 0) : NULL;
    if (!member && !resolve_chip(flags, wanted, chip, out, error)) return false;
    for (uint32_t k = 1; member; ++k) {
      if (!resolve_chip(flags, wanted, member, out, error)) return false;
      member = target_member_name(backend, chip, k);
    }
  }
  out->device_name = wanted->device;
  return true;
}

static bool is_number(const char* text) { return *text && !text[strspn(text, "0123456789")]; }

static bool check_values(const compiler_flags_t* flags, text_t* error) {
  static const char* const levels[] = {"O0", "O1", "O2", "O3"};
  bool level_known = !flags->opt_level;
  for (int i = 0; i < 4 && !level_known; ++i) level_known = !strcmp(flags->opt_level, levels[i]);
  if (!level_known) {
    text_printf(error, "--iree-opt-level=%s: O0, O1, O2 and O3 are known", flags->opt_level);
    return false;
  }
  if (flags->bytecode_format && strcmp(flags->bytecode_format, "flatbuffer-binary")) {
    text_printf(error, "--iree-vm-bytecode-module-output-format=%s is not supported; flatbuffer-binary is",
                flags->bytecode_format);
    return false;
  }
  if (flags->index_bits && strcmp(flags->index_bits, "32") && strcmp(flags->index_bits, "64")) {
    text_printf(error, "--iree-vm-target-index-bits=%s: 32 and 64 are known", flags->index_bits);
    return false;
  }
  const struct {
    const char *flag, *value;
  } numbers[] = {{"mlir-elide-elementsattrs-if-larger", flags->elide},
                 {"mlir-elide-resource-strings-if-larger", flags->elide_resources},
                 {"mlir-print-elementsattrs-with-hex-if-larger", flags->hex_above},
                 {"opt-bisect-limit", flags->bisect_limit}};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    const char* value = numbers[i].value;
    if (!value || is_number(value) || (value == flags->hex_above && !strcmp(value, "-1"))) continue;
    text_printf(error, "--%s=%s: a number is needed", numbers[i].flag, value);
    return false;
  }
  const char* version = flags->bytecode_version;
  if (version && (!is_number(version) || strlen(version) > 1 || *version - '0' > IR_BYTECODE_VERSION)) {
    text_printf(error, "--emit-mlir-bytecode-version=%s: a number from 0 to %d is needed", version,
                IR_BYTECODE_VERSION);
    return false;
  }
  return true;
}

static bool resolve_ptxas(const compiler_flags_t* flags, target_ptxas_t* out, text_t* error) {
  *out = (target_ptxas_t){flags->use_ptxas == FLAG_TRUE, flags->ptxas_path, flags->ptxas_params};
  if (out->is_used || (!out->path && !out->params)) return true;
  text_printf(error, "--iree-cuda-use-ptxas-%s says how to run ptxas; pass --iree-cuda-use-ptxas to have it run",
              out->path ? "from" : "params");
  return false;
}

static bool resolve_amd(const compiler_flags_t* flags, target_amd_t* out, text_t* error) {
  enum { MOST_WAVES = 20 };
  out->slp_vectorize = flags->slp_vectorize == FLAG_TRUE;
  out->global_isel = flags->global_isel == FLAG_TRUE;
  const char* waves = flags->waves_per_eu;
  char* end = NULL;
  long count = waves ? strtol(waves, &end, 10) : 0;
  if (waves && (end == waves || *end || count < 0 || count > MOST_WAVES)) {
    text_printf(error, "--iree-rocm-waves-per-eu=%s: a number from 1 to %d, or 0 for any, is needed", waves,
                MOST_WAVES);
    return false;
  }
  out->waves_per_eu = (uint32_t)count;
  static const char* const modes[] = {"ieee", "preserve-sign", "positive-zero"};
  if (!flags->denormal_f32) return true;
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    if (!strcmp(flags->denormal_f32, modes[i])) out->denormal_f32 = modes[i];
  }
  if (out->denormal_f32) return true;
  text_printf(error, "--iree-rocm-denormal-fp-math-f32=%s: ieee, preserve-sign and positive-zero are known",
              flags->denormal_f32);
  return false;
}

// Items are NAME=FILE, folders exist; code cannot stand for that of several targets.
static bool resolve_substitutes(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  const struct {
    const char* what;
    const flag_list_t* items;
    const char* folder;
    substitute_list_t* out;
  } kinds[] = {
      {"source", &flags->substitute_sources, flags->substitute_sources_from, &out->substitute.sources},
      {"configuration", &flags->substitute_configurations, flags->substitute_configurations_from,
       &out->substitute.configurations},
      {"object", &flags->substitute_objects, flags->substitute_objects_from, &out->substitute.objects},
  };
  for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
    *kinds[k].out = (substitute_list_t){kinds[k].items->items, kinds[k].items->count, kinds[k].folder};
    for (uint32_t i = 0; i < kinds[k].items->count; ++i) {
      const char *item = kinds[k].items->items[i], *equals = strchr(item, '=');
      if (equals && equals != item && equals[1]) continue;
      text_printf(error, "--iree-hal-substitute-executable-%s=%s: NAME=FILE is needed", kinds[k].what, item);
      return false;
    }
    struct stat info;
    if (kinds[k].folder && (stat(kinds[k].folder, &info) || !S_ISDIR(info.st_mode))) {
      text_printf(error, "--iree-hal-substitute-executable-%ss-from: there is no directory '%s'", kinds[k].what,
                  kinds[k].folder);
      return false;
    }
    if ((kinds[k].items->count || kinds[k].folder) && out->target_count > 1) {
      text_printf(error, "--iree-hal-substitute-executable-%s: compile for one target only; there are %u",
                  kinds[k].what, out->target_count);
      return false;
    }
  }
  return true;
}

static bool resolve_phase(const char* flag, const char* name, compiler_phase_t* out, text_t* error) {
  if (!name) return true;
  for (int i = 0; i < COMPILER_PHASE_COUNT; ++i) {
    *out = (compiler_phase_t)i;
    if (!strcmp(compiler_phase_name(*out), name)) return true;
  }
  text_printf(error, "unknown phase '%s' of --%s; known:", name, flag);
  for (int i = 0; i < COMPILER_PHASE_COUNT; ++i) text_printf(error, " %s", compiler_phase_name((compiler_phase_t)i));
  return false;
}

static bool resolve_phases(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  out->start_from = COMPILER_PHASE_START;
  out->stop_after = COMPILER_PHASE_END;
  if (!resolve_phase("compile-from", flags->compile_from, &out->start_from, error)) return false;
  if (!resolve_phase("compile-to", flags->compile_to, &out->stop_after, error)) return false;
  if (out->start_from == COMPILER_PHASE_EXECUTABLE_SOURCES ||
      out->start_from == COMPILER_PHASE_EXECUTABLE_CONFIGURATIONS) {
    text_printf(error,
                "--compile-from=%s: what is printed there is kernels alone; compile from another phase, or "
                "kernels by --compile-mode=hal-executable or --iree-hal-substitute-executable-source",
                flags->compile_from);
    return false;
  }
  if (out->start_from == COMPILER_PHASE_START || out->start_from < out->stop_after) return true;
  text_printf(error, "--compile-from=%s begins behind where --compile-to=%s ends", flags->compile_from,
              flags->compile_to);
  return false;
}

static bool resolve_format(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  static const char* const names[] = {
#define OUTPUT(name, text) text,
      COMPILER_OUTPUTS(OUTPUT)
#undef OUTPUT
  };
  if (!flags->output_format) return true;
  for (int i = 0; i < COMPILER_OUTPUT_COUNT; ++i) {
    out->format = (compiler_output_format_t)i;
    if (!strcmp(names[i], flags->output_format)) return true;
  }
  text_printf(error, "--output-format=%s is not supported; these are:", flags->output_format);
  for (int i = 0; i < COMPILER_OUTPUT_COUNT; ++i) text_printf(error, " %s", names[i]);
  return false;
}

static bool resolve_mode(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  const char* mode = flags->compile_mode ? flags->compile_mode : "std";
  if (!strcmp(mode, "std")) return true;
  if (!strcmp(mode, "precompile")) {
    if (!flags->compile_to) out->stop_after = COMPILER_PHASE_GLOBAL_OPTIMIZATION;
    return true;
  }
  out->vm_only = strcmp(mode, "vm") == 0;
  if (!out->vm_only && strcmp(mode, "hal-executable")) {
    text_printf(error, "--compile-mode=%s is not supported; std, precompile, vm and hal-executable are", mode);
    return false;
  }
  if (flags->compile_to || flags->compile_from) {
    text_printf(error, "--compile-mode=%s compiles %s: it has no phases for --compile-from and -to", mode,
                out->vm_only ? "what has been through them" : "kernels");
    return false;
  }
  if (out->vm_only && out->format == COMPILER_OUTPUT_HAL_EXECUTABLE) {
    text_puts(error, "--compile-mode=vm has no kernels for --output-format=hal-executable");
    return false;
  }
  if (out->vm_only) return true;
  out->kernels_only = true;
  out->format = COMPILER_OUTPUT_HAL_EXECUTABLE;
  return true;
}

// At most one conversion may make and take a type.
static bool resolve_input(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  out->element_types = (element_types_t){.i64_to_i32 = flags->demote_i64_to_i32 == FLAG_TRUE,
                                         .f64_to_f32 = flags->demote_f64_to_f32 == FLAG_TRUE,
                                         .f32_to_f16 = flags->demote_f32_to_f16 == FLAG_TRUE,
                                         .f16_to_f32 = flags->promote_f16_to_f32 == FLAG_TRUE,
                                         .bf16_to_f32 = flags->promote_bf16_to_f32 == FLAG_TRUE};
  if (out->element_types.f32_to_f16 && out->element_types.f16_to_f32) {
    text_puts(error, "--iree-input-demote-f32-to-f16 and --iree-input-promote-f16-to-f32 are opposites; pass one");
    return false;
  }
  out->input_type = flags->input_type;
  out->preprocessing = flags->preprocessing;
  out->transform_spec = flags->transform_spec;
  out->pdl_spec = flags->pdl_spec;
  bool optimizes = flags->opt_level && strcmp(flags->opt_level, "O0") != 0;
  out->strip_assertions = flags->strip_assertions == FLAG_TRUE || (optimizes && flags->strip_assertions == FLAG_UNSET);
  return !flags->preprocessing || compiler_check_preprocessing(flags->preprocessing, error);
}

static bool resolve_execution_model(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  const char* model = flags->execution_model ? flags->execution_model : "async-internal";
  out->fences = strcmp(model, "async-external") == 0;
  out->host_only = strcmp(model, "host-only") == 0;
  if (strcmp(model, "inline-static") == 0) out->devices = MODULE_DEVICES_INLINE;
  if (strcmp(model, "inline-dynamic") == 0) out->devices = MODULE_DEVICES_LOADER;
  if (out->fences || out->host_only || out->devices || strcmp(model, "async-internal") == 0) return true;
  text_printf(error,
              "--iree-execution-model=%s is not known; async-internal, async-external, host-only, inline-static and "
              "inline-dynamic are",
              model);
  return false;
}

// Static libraries: the module names one, which the program that loads it has.
static bool resolve_static_library(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  const char* path = flags->link_static == FLAG_FALSE ? NULL : flags->static_library;
  out->target.static_library = path;
  if (flags->link_static == FLAG_TRUE && !path) {
    text_puts(error, "--iree-llvmcpu-link-static: where to? --iree-llvmcpu-static-library-output-path=FILE.o says it");
    return false;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; path && i < out->target_count; ++i) {
    target_t* target = &out->targets[i];
    if (target->backend != TARGET_LLVM_CPU) continue;
    snprintf(target->format, sizeof(target->format), "static");
    ++count;
  }
  if (!path || count == 1) return true;
  text_printf(error, "--iree-llvmcpu-static-library-output-path=%s is for one target of llvm-cpu; there are %u", path,
              count);
  return false;
}

bool compiler_flags_resolve(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  memset(out, 0, sizeof(*out));
  wanted_t wanted[COMPILER_MAX_TARGETS];
  uint32_t count = 0;
  if (!check_values(flags, error) || !resolve_phases(flags, out, error)) return false;
  if (!resolve_format(flags, out, error) || !resolve_mode(flags, out, error)) return false;
  if (!resolve_input(flags, out, error) || !compiler_flags_resolve_parameters(flags, out, error)) return false;
  if (!compiler_flags_resolve_passes(flags, out, error) || !resolve_amd(flags, &out->target.amd, error)) return false;
  if (!resolve_ptxas(flags, &out->target.ptxas, error)) return false;
  if (!collect_wanted(flags, wanted, &count, error)) return false;
  if (!resolve_execution_model(flags, out, error)) return false;
  if (out->host_only && count) {
    text_puts(error, "--iree-execution-model=host-only is for no device, and a target device or backend is given");
    return false;
  }
  out->host_only |= out->vm_only;
  out->needs_target = out->stop_after > COMPILER_PHASE_FLOW && !out->host_only;
  for (uint32_t i = 0; i < count; ++i) {
    if (!resolve_chips(flags, &wanted[i], out, error)) return false;
  }
  if (out->start_from >= COMPILER_PHASE_STREAM && out->target_count > 1) {
    text_printf(error, "--compile-from=stream holds the layouts of one target; there are %u", out->target_count);
    return false;
  }
  if (!resolve_substitutes(flags, out, error) || !resolve_static_library(flags, out, error)) return false;
  out->externs = (extern_options_t){flags->object_folders.items, flags->object_folders.count};
  out->dump_phases_to = flags->dump_phases;
  out->emit_bytecode = flags->emit_bytecode == FLAG_TRUE;
  out->bytecode_version = flags->bytecode_version ? *flags->bytecode_version - '0' : IR_BYTECODE_VERSION;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  out->target.threads = flags->no_threads == FLAG_TRUE || processors < 1 ? 1 : (uint32_t)processors;
  out->target.debug_symbols = flags->debug_symbols == FLAG_TRUE || flags->rocm_debug == FLAG_TRUE;
  out->target.dump.sources = flags->dump_sources ? flags->dump_sources : flags->dump_files;
  out->target.dump.configurations = flags->dump_configurations;
  out->target.dump.intermediates = flags->dump_intermediates ? flags->dump_intermediates : flags->dump_files;
  out->target.dump.binaries = flags->dump_binaries ? flags->dump_binaries : flags->dump_files;
  out->target.dump.benchmarks = flags->dump_benchmarks ? flags->dump_benchmarks : flags->dump_files;
  out->bitcode_folder = flags->bc_dir;
  out->spill_warning = flags->spill_warning == FLAG_TRUE;
  out->trace.all = flags->trace_dispatches == FLAG_TRUE;
  out->trace.name = flags->trace_dispatch;
  out->benchmark_funcs = flags->benchmark_funcs == FLAG_TRUE;
  out->data_tiling = flags->data_tiling != FLAG_FALSE;
  out->const_eval = flags->const_eval != FLAG_FALSE && flags->const_expr_hoisting != FLAG_FALSE;
  out->timing = flags->timing == FLAG_TRUE;
  out->strip_source_map = flags->strip_source_map == FLAG_TRUE;
  out->narrow_index = flags->index_bits && strcmp(flags->index_bits, "32") == 0;
  return true;
}
