// See substitute.h.
#include "compiler/substitute.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "compiler/kernel_name.h"
#include "compiler/source.h"
#include "dialects/graph.h"
#include "dialects/kernel.h"
#include "target/amdgpu/metadata_note.h"

//===----------------------------------------------------------------------------------------------------------------===
// Which file
//===----------------------------------------------------------------------------------------------------------------===

// "NAME=FILE": the file, when the item is for `name`.
static const char* file_of_item(const char* item, const char* name) {
  size_t size = strlen(name);
  return strncmp(item, name, size) == 0 && item[size] == '=' ? item + size + 1 : NULL;
}

// Whether a file of a folder is `name`'s: [configured_][module_]NAME[_<format>]<extension>.
static bool is_file_of(const char* file, const char* name, const char* format, const char* extension) {
  static const char* const prefixes[] = {"configured_", "module_"};
  for (int i = 0; i < 2; ++i) {
    size_t size = strlen(prefixes[i]);
    if (strncmp(file, prefixes[i], size) == 0) file += size;
  }
  size_t size = strlen(name);
  if (strncmp(file, name, size)) return false;
  file += size;
  if (strcmp(file, extension) == 0) return true;
  if (*file++ != '_') return false;
  for (; *format; ++format, ++file) {
    if (*file != (*format == '-' ? '_' : *format)) return false;
  }
  return strcmp(file, extension) == 0;
}

typedef struct search_t {
  ir_context_t* ctx;
  const char* format;
  const char* extension;
} search_t;

static const char* file_by_name(const search_t* s, const substitute_list_t* list, const char* name) {
  for (uint32_t i = list->count; i-- > 0;) {
    const char* file = file_of_item(list->items[i], name);
    if (file) return file;
  }
  DIR* folder = list->folder ? opendir(list->folder) : NULL;
  if (list->folder && !folder && errno == ENOMEM) memory_exhausted(0);
  char file[NAME_MAX + 1];
  size_t name_size = 0;
  for (struct dirent* row; folder && !name_size && (row = readdir(folder));) {
    if (!is_file_of(row->d_name, name, s->format, s->extension)) continue;
    name_size = strlen(row->d_name);
    memcpy(file, row->d_name, name_size);
  }
  if (folder) closedir(folder);
  if (!name_size) return NULL;
  return arena_printf(ir_context_arena(s->ctx), "%s/%.*s", list->folder, (int)name_size, file);
}

// By its whole name, or without what tells what it computes.
static const char* find_file(const search_t* s, const substitute_list_t* list, const char* name) {
  const char* file = file_by_name(s, list, name);
  if (file) return file;
  return file_by_name(s, list, arena_strndup(ir_context_arena(s->ctx), name, kernel_name_short_size(name)));
}

static bool has_kernel(const kernel_list_t* kernels, const char* name, size_t size) {
  for (uint32_t i = 0; i < kernels->count; ++i) {
    const char* kernel = ir_op_string(kernels->funcs[i], "sym_name", "");
    if ((strlen(kernel) == size || kernel_name_short_size(kernel) == size) && !memcmp(kernel, name, size)) return true;
  }
  return false;
}

void substitute_check_names(ir_context_t* ctx, const substitute_options_t* options, const kernel_list_t* kernels) {
  const substitute_list_t* lists[] = {&options->sources, &options->configurations, &options->objects};
  for (int l = 0; l < 3; ++l) {
    for (uint32_t i = 0; i < lists[l]->count; ++i) {
      const char* item = lists[l]->items[i];
      size_t size = strcspn(item, "=");
      if (has_kernel(kernels, item, size)) continue;
      ir_warning(ctx, NULL, "nothing was substituted by '%s': the program has no executable '%.*s'", item, (int)size,
                 item);
    }
  }
}

bool substitute_read_file(ir_context_t* ctx, const char* path, char** data, size_t* size) {
  source_file_t file;
  if (!source_open(ctx, path, NULL, 0, &file)) return false;
  *data = memory_alloc(file.size + 1);
  memcpy(*data, file.data, file.size);
  (*data)[file.size] = 0;
  *size = file.size;
  source_close(&file);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Kernels as text
//===----------------------------------------------------------------------------------------------------------------===

static bool same_signature(const ir_op_t* x, const ir_op_t* y) {
  const ir_block_t *a = x->regions[0].first, *b = y->regions[0].first;
  if (!a || !b || a->arg_count != b->arg_count) return false;
  if (ir_op_int(x, "bindings", 0) != ir_op_int(y, "bindings", 0)) return false;
  for (uint32_t i = 0; i < a->arg_count; ++i) {
    if (a->args[i]->type != b->args[i]->type) return false;
  }
  return true;
}

static bool replace_kernel(ir_context_t* ctx, const char* path, kernel_list_t* kernels, uint32_t index) {
  ir_op_t* old = kernels->funcs[index];
  const char* name = ir_op_string(old, "sym_name", "");
  char* read = NULL;
  size_t size = 0;
  if (!substitute_read_file(ctx, path, &read, &size)) return false;
  char* text = arena_strndup(ir_context_arena(ctx), read, size);  // locations and messages refer to it
  memory_free(read);
  ir_context_add_source(ctx, path, text, size);
  ir_op_t* module = ir_parse_module(ctx, path, text, size);
  if (!module) return false;
  ir_op_t* func = ir_symbol_lookup(module, name);
  if (!func || !ir_is(func, KERNEL_FUNC)) {
    return ir_error(ctx, ir_loc_file(ctx, path, 1, 1), "has no kernel.func @%s to substitute", name);
  }
  if (!same_signature(old, func)) {
    ir_error(ctx, func->loc, "kernel @%s has other arguments than the one that it stands for", name);
    ir_note(ctx, old->loc, "which comes from here");
    return false;
  }
  ir_op_remove(func);
  ir_block_insert_before(old->parent, func, old);
  ir_op_remove(old);
  kernels->funcs[index] = func;
  if (!ir_verify(ctx, func)) return false;
  ir_note(ctx, old->loc, "executable '%s' substituted with the source '%s'", name, path);
  return true;
}

bool substitute_kernels(ir_context_t* ctx, const substitute_options_t* options, kernel_list_t* kernels) {
  search_t search = {ctx, "", ".mlir"};
  for (uint32_t i = 0; i < kernels->count; ++i) {
    const char* name = ir_op_string(kernels->funcs[i], "sym_name", "");
    const char* path = find_file(&search, &options->configurations, name);
    if (!path) path = find_file(&search, &options->sources, name);
    if (path && !replace_kernel(ctx, path, kernels, i)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Machine code
//===----------------------------------------------------------------------------------------------------------------===

// What a file of the target must be like, so that it is not only found when the program runs.
const char* substitute_reason_against(const target_t* target, const char* data, size_t size, const char* kernel) {
  if (target->backend == TARGET_CUDA || target->backend == TARGET_VMVX) return NULL;
  const Elf64_Ehdr* header = (const void*)data;
  if (size < sizeof(*header) || memcmp(data, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64) {
    return "is not an ELF file";
  }
  if (header->e_type != ET_DYN) return "is an object that has not been linked; lld -shared makes what is needed";
  if (target->backend == TARGET_LLVM_CPU) return NULL;
  if (header->e_machine != 224) return "is not for AMD GPUs";
  return metadata_note_has_kernel(data, size, kernel) ? NULL : "has no kernel of that name";
}

static bool load_object(ir_context_t* ctx, const target_t* target, const char* path, substitute_object_t* object) {
  const char* name = ir_op_string(object->func, "sym_name", "");
  char* data = NULL;
  size_t size = 0;
  if (!substitute_read_file(ctx, path, &data, &size)) return false;
  const char* reason = substitute_reason_against(target, data, size, name);
  if (reason) {
    memory_free(data);
    return ir_error(ctx, object->func->loc, "'%s', which is to stand for the executable '%s', %s", path, name, reason);
  }
  // What it is called with is that of the code that it stands for.
  text_t error = {0};
  target_compile_options_t options = {.context = ctx, .name = name, .threads = 1};
  bool ok = target_compile(target, &object->func, 1, &options, &object->executable, &error);
  if (!ok) ir_error(ctx, object->func->loc, "%s", error.data ? error.data : "code generation failed");
  text_finish(&error);
  if (!ok) {
    memory_free(data);
    return false;
  }
  memory_free(object->executable.data);
  object->executable.data = data;
  object->executable.size = size;
  ir_note(ctx, object->func->loc, "executable '%s' substituted with the object '%s'", name, path);
  return true;
}

// Dispatches' numbers: `numbers[old]` is an entry, or count + an object's number.
static void renumber(ir_context_t* ctx, ir_op_t* op, const uint32_t* numbers, uint32_t count) {
  if (ir_is(op, GRAPH_DISPATCH)) {
    if (graph_attr(op, GRAPH_ATTR_object)) return;  // the program's own
    uint32_t number = numbers[graph_get_entry(op)];
    bool is_object = number >= count;
    ir_op_set_attr(ctx, op, "entry", ir_attr_i64(ctx, is_object ? 0 : number));
    if (is_object) ir_op_set_attr(ctx, op, "object", ir_attr_i64(ctx, number - count));
    return;
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) renumber(ctx, inner, numbers, count); }
  }
}

bool substitute_take_objects(ir_context_t* ctx, const substitute_options_t* options, const target_t* target,
                             ir_op_t* module, kernel_list_t* kernels, substitute_objects_t* out) {
  static const char* const extensions[TARGET_BACKEND_COUNT] = {
      [TARGET_CUDA] = ".ptx", [TARGET_LLVM_CPU] = ".so", [TARGET_ROCM] = ".hsaco", [TARGET_VMVX] = ".vmfb"};
  if (!options->objects.count && !options->objects.folder) return true;
  search_t search = {ctx, target->format, extensions[target->backend]};
  uint32_t* numbers = ARENA_ARRAY(ir_context_arena(ctx), uint32_t, kernels->count + 1);
  uint32_t total = kernels->count, kept = 0;
  for (uint32_t i = 0; i < total; ++i) {
    ir_op_t* func = kernels->funcs[i];
    const char* path = find_file(&search, &options->objects, ir_op_string(func, "sym_name", ""));
    if (!path) {
      numbers[i] = kept;
      kernels->funcs[kept++] = func;
      continue;
    }
    numbers[i] = total + out->count;
    substitute_object_t* object = substitute_objects_add(ctx, out, ir_op_string(func, "sym_name", ""));
    object->func = func;
    if (!load_object(ctx, target, path, object)) return false;
  }
  kernels->count = kept;
  if (kept < total) renumber(ctx, module, numbers, total);
  return true;
}

substitute_object_t* substitute_objects_add(ir_context_t* ctx, substitute_objects_t* objects, const char* name) {
  if (objects->count == objects->capacity) {
    uint32_t capacity = objects->capacity ? 2 * objects->capacity : 8;
    substitute_object_t* items = ARENA_ARRAY(ir_context_arena(ctx), substitute_object_t, capacity);
    if (objects->count) memcpy(items, objects->items, sizeof(*items) * objects->count);
    objects->items = items;
    objects->capacity = capacity;
  }
  objects->items[objects->count] = (substitute_object_t){.name = name};
  return &objects->items[objects->count++];
}

void substitute_objects_finish(substitute_objects_t* objects) {
  for (uint32_t i = 0; i < objects->count; ++i) target_executable_finish(&objects->items[i].executable);
}
