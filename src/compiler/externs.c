// See externs.h.
#include "compiler/externs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "compiler/offload_bundle.h"
#include "dialects/builtin.h"
#include "dialects/flow.h"
#include "dialects/func.h"
#include "dialects/graph.h"
#include "dialects/hal.h"
#include "dialects/kernel.h"
#include "dialects/stream.h"
#include "import/lower.h"

enum { MAX_EXPORTS = 256 };

typedef struct externs_t {
  ir_context_t* ctx;
  const extern_options_t* options;
  const target_t* target;
  ir_op_t* module;
  substitute_objects_t* out;
} externs_t;

// One target's share of an executable.
typedef struct variant_t {
  hal_target_t target;
  const ir_op_t* holder;  // of the exports
  hal_text_t objects;     // [#hal.executable.object<...>, ...]
} variant_t;

//===----------------------------------------------------------------------------------------------------------------===
// Variants
//===----------------------------------------------------------------------------------------------------------------===

// How well code for `x` fits: 0 not at all. Of NVIDIA's the newest that the processor takes.
static int64_t fitness(externs_t* e, const hal_target_t* x) {
  const target_t* t = e->target;
  if (strcmp(x->backend, target_backend_name(t->backend)) != 0) return 0;
  if (t->backend == TARGET_LLVM_CPU || t->backend == TARGET_VMVX) return strcmp(x->format, t->format) == 0;
  const char* name = hal_target_processor(e->ctx, x);
  if (!name) return 1;
  if (strcmp(name, t->cpu) == 0 || strcmp(name, t->name) == 0) return INT64_MAX;
  if (t->backend != TARGET_CUDA || strncmp(name, "sm_", 3) != 0 || strncmp(t->cpu, "sm_", 3) != 0) return 0;
  int64_t has = strtol(name + 3, NULL, 10), wanted = strtol(t->cpu + 3, NULL, 10);
  return has <= wanted ? 1 + has : 0;
}

typedef struct choice_t {
  variant_t best;
  variant_t open;  // the first whose functions are all code there is, which each target compiles; or none
  int64_t fitness;
  text_t names;  // of all that there are
} choice_t;

// With the functions, or NULL.
static ir_op_t* module_of(const variant_t* v) {
  ir_op_t* module = v->holder->regions[0].first ? v->holder->regions[0].first->first : NULL;
  while (module && !ir_is(module, BUILTIN_MODULE)) module = module->next;
  return module;
}

// Functions that are declared alone are found when the program runs: by code for CPUs.
static bool check_plugins(externs_t* e, const ir_op_t* dispatch, const variant_t* v) {
  ir_op_t* module = module_of(v);
  if (e->target->backend == TARGET_LLVM_CPU || !module) return true;
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (!ir_is(op, FUNC_FUNC) || op->regions[0].first) continue;
    return ir_op_error(e->ctx, dispatch, "calls functions of plugins, which code for %s cannot",
                       target_backend_name(e->target->backend));
  }
  return true;
}

static void offer(externs_t* e, choice_t* c, const variant_t* variant) {
  const char* name = hal_target_processor(e->ctx, &variant->target);
  text_printf(&c->names, "%s%s", c->names.size ? ", " : "", name ? name : variant->target.format);
  int64_t fits = fitness(e, &variant->target);
  if (!c->open.holder && variant->objects.at == variant->objects.end && module_of(variant)) c->open = *variant;
  if (fits > c->fitness) c->best = *variant, c->fitness = fits;
}

// Text of an attribute as bodies of others hold it.
static hal_text_t text_of(externs_t* e, const ir_attr_t* attr) {
  text_t text = {0};
  if (attr) ir_print_attr(&text, attr);
  char* kept = arena_strndup(ir_context_arena(e->ctx), text.data ? text.data : "", text.size);
  text_finish(&text);
  return hal_text_of(kept);
}

static bool offer_variants(externs_t* e, const ir_op_t* executable, const char* only, choice_t* c) {
  const ir_block_t* body = executable->regions[0].first;
  for (const ir_op_t* op = body ? body->first : NULL; op; op = op->next) {
    if (!ir_is(op, HAL_EXECUTABLE_VARIANT)) continue;
    if (only && strcmp(ir_op_string(op, "sym_name", ""), only) != 0) continue;
    variant_t v = {.holder = op, .objects = text_of(e, ir_op_attr(op, "objects"))};
    if (!hal_read_target(e->ctx, text_of(e, ir_op_attr(op, "target")), &v.target)) {
      return ir_op_error(e->ctx, op, "needs a target: #hal.executable.target<\"backend\", \"format\", {...}>");
    }
    offer(e, c, &v);
  }
  return true;
}

// {#target [ordinal(n)] = [objects], ...}
static bool offer_objects(externs_t* e, const ir_op_t* executable, choice_t* c) {
  const ir_attr_t* attr = hal_objects_of(executable);
  hal_text_t list, item, key, objects;
  bool reads = attr && attr->body && hal_text_enter(hal_text_of(attr->body), "{", '}', &list);
  while (reads && hal_text_next(&list, &item)) {
    variant_t v = {.holder = executable};
    if (!(reads = hal_text_divide(item, &key, &objects))) break;
    const char* end = key.end;  // of the target, without its ordinal
    while (end > key.at && end[-1] != '>') --end;
    reads = hal_read_target(e->ctx, (hal_text_t){key.at, end}, &v.target);
    v.objects = objects;
    if (reads) offer(e, c, &v);
  }
  return reads || ir_op_error(e->ctx, executable, "needs objects: {#hal.executable.target<...> = [...], ...}");
}

static bool choose(externs_t* e, const ir_op_t* dispatch, const ir_op_t* executable, const char* variant,
                   variant_t* out) {
  choice_t c = {0};
  if (!ir_is(executable, HAL_EXECUTABLE) && !hal_objects_of(executable)) {  // its functions are all code there is
    *out = (variant_t){.holder = executable, .objects = hal_text_of("")};
    return check_plugins(e, dispatch, out);
  }
  bool ok =
      ir_is(executable, HAL_EXECUTABLE) ? offer_variants(e, executable, variant, &c) : offer_objects(e, executable, &c);
  if (ok && !c.fitness && c.open.holder) {
    c.best = c.open;
    c.fitness = 1;
  }
  if (ok && !c.fitness) {
    const target_t* t = e->target;
    ok = ir_op_error(e->ctx, dispatch, "has no code for %s %s (%s): executable @%s has it for %s",
                     target_backend_name(t->backend), t->cpu, t->format, ir_op_string(executable, "sym_name", ""),
                     c.names.size ? c.names.data : "nothing");
  }
  text_finish(&c.names);
  *out = c.best;
  return ok && (out->objects.at != out->objects.end || check_plugins(e, dispatch, out));
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

// Where the file is: as the path has it, or below one of the folders. NULL after a diagnostic.
static const char* find_file(externs_t* e, const ir_op_t* executable, const char* path) {
  if (access(path, R_OK) == 0) return path;
  for (uint32_t i = 0; *path != '/' && i < e->options->count; ++i) {
    const char* full = arena_printf(ir_context_arena(e->ctx), "%s/%s", e->options->folders[i], path);
    if (access(full, R_OK) == 0) return full;
  }
  ir_op_error(e->ctx, executable,
              "needs '%s', which is neither here nor in a folder of --iree-hal-executable-object-search-path", path);
  return NULL;
}

// The files of a variant's objects. False after a diagnostic.
static bool object_paths(externs_t* e, const ir_op_t* executable, const variant_t* v, const char*** out,
                         uint32_t* count) {
  hal_text_t list, item, dict, value, rest;
  *count = 0;
  bool reads = v->objects.at != v->objects.end && hal_text_enter(v->objects, "[", ']', &list);
  if (!reads && v->objects.at != v->objects.end) {
    return ir_op_error(e->ctx, executable, "needs objects for %s: [#hal.executable.object<{path = \"...\"}>]",
                       v->target.format);
  }
  uint32_t most = 0;
  for (rest = reads ? list : (hal_text_t){0}; reads && hal_text_next(&rest, &item);) ++most;
  *out = ARENA_ARRAY(ir_context_arena(e->ctx), const char*, most + 1);
  while (reads && hal_text_next(&list, &item)) {
    const char* path = NULL;
    if (hal_text_enter(item, "#hal.executable.object<", '>', &dict) && hal_text_entry(dict, "path", &value)) {
      path = hal_text_string(e->ctx, value);
    }
    if (!path) {
      return ir_op_error(e->ctx, executable, "needs objects with a path: #hal.executable.object<{path = \"...\"}>");
    }
    if (!(path = find_file(e, executable, path))) return false;
    (*out)[(*count)++] = path;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Entries
//===----------------------------------------------------------------------------------------------------------------===

static bool is_export(const ir_op_t* op) {
  return ir_is(op, HAL_EXECUTABLE_EXPORT) || ir_is(op, STREAM_EXECUTABLE_EXPORT) || ir_is(op, FLOW_EXECUTABLE_EXPORT);
}

// Its number: as it says, or its place among the exports.
static uint32_t ordinal_of(const ir_op_t* export, uint32_t place) {
  const ir_attr_t* attr = ir_op_attr(export, "ordinal");
  return attr && attr->kind == IR_ATTR_INTEGER && attr->integer >= 0 && attr->integer < MAX_EXPORTS
             ? (uint32_t)attr->integer
             : place;
}

static bool read_workgroup(externs_t* e, const ir_op_t* export, uint32_t* out) {
  const ir_attr_t* attr = ir_op_attr(export, "workgroup_size");
  bool reads = attr && attr->kind == IR_ATTR_ARRAY && attr->count >= 1 && attr->count <= 3;
  for (uint32_t i = 0; i < 3; ++i) out[i] = 1;
  for (uint32_t i = 0; reads && i < attr->count; ++i) {
    const ir_attr_t* item = attr->items[i];
    reads = item->kind == IR_ATTR_INTEGER && item->integer >= 1 && item->integer <= 1024;
    if (reads) out[i] = (uint32_t)item->integer;
  }
  bool needs = e->target->backend == TARGET_CUDA || e->target->backend == TARGET_ROCM;
  return reads || !needs ||
         ir_op_error(e->ctx, export,
                     "needs its threads: attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}");
}

static bool read_entry(externs_t* e, const ir_op_t* export, target_entry_t* out) {
  out->name = memory_strdup(ir_op_string(export, "sym_name", ""));
  const ir_attr_t *subgroup = ir_op_attr(export, "subgroup_size"),
                  *local = ir_op_attr(export, "workgroup_local_memory");
  if (subgroup && subgroup->kind == IR_ATTR_INTEGER) out->subgroup_size = (uint32_t)subgroup->integer;
  if (local && local->kind == IR_ATTR_INTEGER) {
    out->workgroup_memory_bytes = out->dynamic_memory_bytes = (uint32_t)local->integer;
  }
  return read_workgroup(e, export, out->workgroup_size);
}

// PTX is text: `.entry name`, and no more of the name.
static bool has_ptx_entry(const char* data, const char* name) {
  size_t size = strlen(name);
  for (const char* at = data; (at = strstr(at, ".entry")); ++at) {
    const char* word = at + 6 + strspn(at + 6, " \t\r\n");
    if (strncmp(word, name, size) == 0 && (word[size] == '(' || word[size] == ' ' || word[size] == '\n')) return true;
  }
  return false;
}

static const char* reason_against(externs_t* e, const target_executable_t* code, const char* name) {
  if (e->target->backend == TARGET_CUDA) return has_ptx_entry(code->data, name) ? NULL : "is no PTX text with it";
  return substitute_reason_against(e->target, code->data, code->size, name);
}

// The exports by their numbers, one for each up to the last.
static bool list_exports(externs_t* e, const variant_t* v, const ir_op_t** out, uint32_t* count) {
  uint32_t place = 0;
  for (const ir_op_t* op = v->holder->regions[0].first ? v->holder->regions[0].first->first : NULL; op; op = op->next) {
    if (!is_export(op)) continue;
    uint32_t ordinal = ordinal_of(op, place++);
    if (ordinal >= MAX_EXPORTS || out[ordinal]) {
      return ir_op_error(e->ctx, op, "has the number of another export, or one above %d", MAX_EXPORTS - 1);
    }
    out[ordinal] = op;
    if (ordinal >= *count) *count = ordinal + 1;
  }
  for (uint32_t i = 0; i < *count; ++i) {
    if (!out[i]) return ir_op_error(e->ctx, v->holder, "has no export with the number %u", i);
  }
  return *count || ir_op_error(e->ctx, v->holder, "has no export");
}

// Of a bundle the target's code object.
static bool unbundle(externs_t* e, const ir_op_t* executable, const char* path, target_executable_t* code) {
  size_t size = 0;
  if (!offload_bundle_is_one(code->data, code->size)) return true;
  const char* found = offload_bundle_find(code->data, code->size, e->target->cpu, &size);
  if (!found) return ir_op_error(e->ctx, executable, "'%s' is a bundle without code for %s", path, e->target->cpu);
  memmove(code->data, found, size);
  code->size = size;
  return true;
}

// GPUs: the code is in the one file.
static bool read_gpu(externs_t* e, const ir_op_t* executable, const variant_t* v, const ir_op_t* const* exports,
                     target_executable_t* out) {
  const char** paths = NULL;
  uint32_t count = 0;
  if (!object_paths(e, executable, v, &paths, &count)) return false;
  if (count != 1)
    return ir_op_error(e->ctx, executable, "has %u objects for %s; one has all code", count, e->target->cpu);
  char* data = NULL;
  if (!substitute_read_file(e->ctx, paths[0], &data, &out->size)) return false;
  out->data = data;
  if (!unbundle(e, executable, paths[0], out)) return false;
  for (uint32_t i = 0; i < out->entry_count; ++i) {
    if (!read_entry(e, exports[i], &out->entries[i])) return false;
    const char* reason = reason_against(e, out, out->entries[i].name);
    if (reason) return ir_op_error(e->ctx, exports[i], "'%s', which is to have its code, %s", paths[0], reason);
  }
  return true;
}

typedef struct imports_t {
  const char* names[MAX_EXPORTS];
  uint32_t count;
} imports_t;

static int compare_names(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

// The functions of plugins that kernels call; with `numbered` they get their numbers in the sorted list.
static void visit_imports(externs_t* e, ir_op_t* op, imports_t* imports, bool numbered) {
  if (ir_is(op, KERNEL_CALL) && ir_op_attr(op, "import")) {
    const char* name = ir_op_string(op, "callee", "");
    uint32_t i = 0;
    while (i < imports->count && strcmp(imports->names[i], name) != 0) ++i;
    if (numbered) {
      ir_op_set_attr(e->ctx, op, "import", ir_attr_i64(e->ctx, i));
    } else if (i == imports->count && imports->count < MAX_EXPORTS) {
      imports->names[imports->count++] = name;
    }
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) visit_imports(e, inner, imports, numbered); }
  }
}

// Functions beside the exports are kernels; for CPUs they may call those of objects, with which they are linked.
static bool compile_shims(externs_t* e, const ir_op_t* executable, const variant_t* v, const ir_op_t* const* exports,
                          uint32_t count, target_executable_t* out) {
  ir_op_t* module = module_of(v);
  bool gpu = e->target->backend == TARGET_CUDA || e->target->backend == TARGET_ROCM;
  if (!module) return ir_op_error(e->ctx, executable, "needs a builtin.module with the functions of its exports");
  ir_op_t *into = ir_module_create(e->ctx, executable->loc), *kernels[MAX_EXPORTS];
  for (uint32_t i = 0; i < count; ++i) {
    hal_layout_t layout = {0};
    const ir_op_t* export = exports[i];
    const char* name = ir_op_string(export, "sym_name", "");
    if (ir_is(export, HAL_EXECUTABLE_EXPORT)) hal_read_layout(ir_op_attr(export, "layout"), &layout);
    lower_shim_t shim = {.module = module,
                         .function = ir_op_string(export, "function_ref", name),
                         .name = name,
                         .bindings = (uint32_t)layout.bindings,
                         .constants = (uint32_t)layout.constants,
                         .gpu = gpu};
    ir_op_ints(export, "workgroup_size", shim.sizes, 3);
    if (!(kernels[i] = lower_shim(e->ctx, &shim, ir_module_body(into)))) return false;
  }
  target_compile_options_t options = {
      .context = e->ctx, .name = ir_op_string(executable, "sym_name", ""), .threads = 1, .as_written = true};
  const char** paths = NULL;
  if (!object_paths(e, executable, v, &paths, &options.object_count)) return false;
  options.objects = paths;
  imports_t imports = {.count = 0};
  visit_imports(e, into, &imports, false);
  qsort(imports.names, imports.count, sizeof(imports.names[0]), compare_names);
  visit_imports(e, into, &imports, true);
  options.imports = imports.names;
  options.import_count = imports.count;
  text_t error = {0};
  bool ok = target_compile(e->target, kernels, count, &options, out, &error);
  if (!ok) ir_op_error(e->ctx, executable, "%s", error.data ? error.data : "code generation failed");
  text_finish(&error);
  return ok;
}

static bool read_code(externs_t* e, const ir_op_t* executable, const variant_t* v, target_executable_t* out) {
  const ir_op_t* exports[MAX_EXPORTS] = {NULL};
  uint32_t count = 0;
  target_backend_t backend = e->target->backend;
  if (!list_exports(e, v, exports, &count)) return false;
  bool bodies = v->objects.at == v->objects.end && module_of(v);
  if (backend == TARGET_LLVM_CPU || bodies) return compile_shims(e, executable, v, exports, count, out);
  if (backend != TARGET_CUDA && backend != TARGET_ROCM) {
    return ir_op_error(e->ctx, executable, "brings objects for %s; cuda, rocm and llvm-cpu take them",
                       e->target->format);
  }
  out->entries = memory_alloc(sizeof(*out->entries) * count);
  memset(out->entries, 0, sizeof(*out->entries) * count);
  out->entry_count = count;
  return read_gpu(e, executable, v, exports, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static substitute_object_t* find_known(externs_t* e, const char* name) {
  for (uint32_t i = 0; i < e->out->count; ++i) {
    if (strcmp(e->out->items[i].name, name) == 0) return &e->out->items[i];
  }
  return NULL;
}

// What the dispatch passes is what its code takes.
static bool match(externs_t* e, const ir_op_t* dispatch, const ir_op_t* code, target_entry_t* entry) {
  uint32_t bindings = 0, words = 0, arguments = (uint32_t)graph_get_arguments(code);
  int64_t tied[GRAPH_MAX_TIED];
  ir_attr_ints(graph_get_tied(code), tied, GRAPH_MAX_TIED);
  for (uint32_t i = 0; i < arguments; ++i) {
    const ir_type_t* type = ir_operand(code, i)->type;
    bool wide = type->kind == IR_TYPE_INDEX || type->width > 32;
    bindings += ir_type_is_tensor(type);
    words += ir_type_is_tensor(type) ? 0 : 1 + wide;
  }
  for (uint32_t i = 0; i < code->result_count; ++i) bindings += tied[i] < 0;
  if (!entry->binding_count && !entry->constant_count) {  // of an object, whose code does not say
    entry->binding_count = bindings;
    entry->constant_count = words;
  }
  bool same = entry->binding_count == bindings && entry->constant_count == words;
  return same || ir_op_error(e->ctx, dispatch, "passes %u bindings and %u words to @%s, which takes %u and %u",
                             bindings, words, entry->name, entry->binding_count, entry->constant_count);
}

static bool resolve(externs_t* e, ir_op_t* dispatch, const ir_op_t* code) {
  const ir_attr_t* callee = graph_attr(code, GRAPH_ATTR_callee);
  ir_op_t* executable = ir_symbol_find(e->ctx, e->module, callee->text);
  if (!executable || !executable->region_count || !callee->count) {
    return ir_op_error(e->ctx, dispatch, "names no executable of this module");
  }
  const char *variant = callee->count > 1 ? callee->items[0]->text : NULL,
             *export = callee->items[callee->count - 1]->text;
  const char* name = callee->text;
  if (variant) name = arena_printf(ir_context_arena(e->ctx), "%s_%s", callee->text, variant);
  substitute_object_t* object = find_known(e, name);
  if (!object) {
    variant_t chosen;
    if (!choose(e, dispatch, executable, variant, &chosen)) return false;
    object = substitute_objects_add(e->ctx, e->out, name);
    if (!read_code(e, executable, &chosen, &object->executable)) return false;
  }
  for (uint32_t i = 0; i < object->executable.entry_count; ++i) {
    if (strcmp(object->executable.entries[i].name, export) != 0) continue;
    if (!match(e, dispatch, code, &object->executable.entries[i])) return false;
    ir_op_set_attr(e->ctx, dispatch, "object", ir_attr_i64(e->ctx, object - e->out->items));
    ir_op_set_attr(e->ctx, dispatch, "entry", ir_attr_i64(e->ctx, i));
    return true;
  }
  return ir_op_error(e->ctx, dispatch, "names no export of @%s", callee->text);
}

static bool visit(externs_t* e, ir_op_t* op) {
  if (ir_is(op, GRAPH_DISPATCH)) {
    const ir_op_t* code = op->regions[0].first->first;
    return !ir_is(code, GRAPH_EXTERN) || resolve(e, op, code);
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        if (!visit(e, inner)) return false;
      }
    }
  }
  return true;
}

bool externs_resolve(ir_context_t* ctx, const extern_options_t* options, const target_t* target, ir_op_t* module,
                     substitute_objects_t* out) {
  externs_t e = {ctx, options, target, module, out};
  return visit(&e, module);
}

bool externs_compile(ir_context_t* ctx, const extern_options_t* options, const target_t* target, ir_op_t* executable,
                     target_executable_t* out) {
  externs_t e = {ctx, options, target, NULL, NULL};
  variant_t chosen;
  return choose(&e, executable, executable, NULL, &chosen) && read_code(&e, executable, &chosen, out);
}
