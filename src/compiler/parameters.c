// See parameters.h. Coming in:
//
//   graph.global {sym_name = "w", type = tensor<4xf32>,        (gone, or if it changes {value = dense<...>})
//                 parameter_scope = "m", parameter_key = "w"}
//   %0 = graph.global_load {global = @w}                   =>  %0 = graph.constant dense<...>
//
// and going out the other way round. Elements are never copied: those that come in are read in the mapped archive.
#include "compiler/parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole_file.h"
#include "compiler/encode.h"
#include "compiler/run.h"
#include "dialects/graph.h"
#include "import/onnx/names.h"
#include "io/parameter_file.h"
#include "ir/bytecode.h"
#include "ir/context.h"
#include "passes/fusion.h"

// "scope=file", or a file alone.
static const char* split_scope(ir_context_t* ctx, const char* text, const char** out_file) {
  const char* equals = strchr(text, '=');
  *out_file = equals ? equals + 1 : text;
  return equals ? arena_strndup(ir_context_arena(ctx), text, (size_t)(equals - text)) : "";
}

static const ir_type_t* type_of(const ir_op_t* global) { return graph_get_type(global)->type; }
static size_t bytes_of(const ir_type_t* type) { return (size_t)ir_type_count(type) * ir_type_bytes(type->element); }
static bool is_parameter(const ir_op_t* op) { return ir_is(op, GRAPH_GLOBAL) && graph_get_parameter_key(op); }
static bool changes(const ir_op_t* global) { return graph_get_mutable(global) || graph_get_initialized(global); }

// Calls `visit` with each op of that code, inside out.
static void for_each(ir_op_t* parent, uint32_t code, void (*visit)(void* user, ir_op_t* op), void* user) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS_SAFE(op, block) {
        for_each(op, code, visit, user);
        if (ir_is(op, code)) visit(user, op);
      }
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Archives that are read
//===----------------------------------------------------------------------------------------------------------------===

// A row of an archive under its scope; the first of a name counts.
typedef struct row_t {
  const char* scope;
  const parameter_entry_t* entry;
} row_t;

// Lives as long as the context, which borrows the elements.
typedef struct archive_t {
  source_file_t map;
  parameter_file_t* file;
  memory_cleanup_t cleanup;
} archive_t;

static uint64_t row_hash(const void* row) {
  const row_t* r = row;
  uint64_t hash = ir_hash_bytes(r->scope, strlen(r->scope));
  return ir_hash_mix(hash, ir_hash_bytes(r->entry->key.data, r->entry->key.size));
}

static bool row_equal(const void* x, const void* y) {
  const row_t *a = x, *b = y;
  return strcmp(a->scope, b->scope) == 0 && iree_string_view_equal(a->entry->key, b->entry->key);
}

static void free_file(void* user) { parameter_file_free(((archive_t*)user)->file); }

static bool read_archive(run_t* r, const char* text, ir_set_t* rows) {
  arena_t* arena = ir_context_arena(r->ctx);
  const char* path;
  const char* scope = split_scope(r->ctx, text, &path);
  archive_t* archive = ARENA_NEW(arena, archive_t);
  if (!source_map(r->ctx, path, &archive->map)) return false;
  iree_const_byte_span_t contents = {(const uint8_t*)archive->map.data, archive->map.size};
  iree_status_t status = parameter_file_parse(contents, iree_allocator_system(), &archive->file);
  if (!run_check_status(r, status, arena_printf(arena, "--iree-parameter-import=%s", text))) return false;
  memory_cleanup_add(&archive->cleanup, free_file, archive);
  for (iree_host_size_t i = 0; i < archive->file->count; ++i) {
    row_t row = {scope, &archive->file->entries[i]};
    if (ir_set_find(rows, row_hash(&row), &row, row_equal)) continue;
    ir_set_insert(rows, row_hash(&row), arena_copy(arena, &row, sizeof(row)), row_hash);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Coming in
//===----------------------------------------------------------------------------------------------------------------===

// Elements below 8 bits stand one after the other in archives, the first in the lowest bits.
static void unpack(const ir_type_t* element, const unsigned char* bits, size_t count, unsigned char* out) {
  for (size_t i = 0; i < count; ++i) {
    int64_t value = 0;
    for (size_t k = 0; k < element->width; ++k) {
      size_t at = i * element->width + k;
      value |= (int64_t)(bits[at / 8] >> at % 8 & 1) << k;
    }
    out[i] = (unsigned char)value;
    if (element->kind == IR_TYPE_INTEGER) ir_scalar_store_integer(element, value, &out[i]);
  }
}

// The pattern over and over.
static unsigned char* repeat(ir_context_t* ctx, const parameter_entry_t* entry, size_t size) {
  unsigned char* out = arena_alloc(ir_context_arena(ctx), size + 1);
  for (size_t i = 0; i < size; ++i) out[i] = entry->pattern[i % entry->pattern_length];
  return out;
}

static const ir_attr_t* elements_of(ir_context_t* ctx, const ir_type_t* type, const parameter_entry_t* entry) {
  size_t unit = ir_type_bytes(type->element), size = bytes_of(type);
  if (ir_type_is_packed(type->element)) {
    unsigned char* out = arena_alloc(ir_context_arena(ctx), size + 1);
    const unsigned char* bits = entry->data ? entry->data : repeat(ctx, entry, (size_t)entry->length);
    unpack(type->element, bits, size, out);
    return ir_attr_elements_borrow(ctx, type, out, size);
  }
  if (entry->data) return ir_attr_elements_borrow(ctx, type, entry->data, size);
  return ir_attr_elements_borrow(ctx, type, repeat(ctx, entry, unit % entry->pattern_length ? size : unit),
                                 unit % entry->pattern_length ? size : unit);
}

static bool is_wanted(const parameter_options_t* o, const char* key, int64_t bytes) {
  for (uint32_t i = 0; i < o->key_count; ++i) {
    if (strcmp(o->keys[i], key) == 0) return true;
  }
  return bytes <= o->import_most;
}

// At ir_op_t.data of a global that comes in.
static bool find_elements(run_t* r, const ir_set_t* rows, ir_op_t* global, bool* out_found) {
  const ir_type_t* type = type_of(global);
  const char *key = graph_get_parameter_key(global), *scope = graph_get_parameter_scope(global);
  parameter_entry_t named = {.key = iree_make_cstring_view(key)};
  row_t wanted = {scope ? scope : "", &named};
  const row_t* row = ir_set_find(rows, row_hash(&wanted), &wanted, row_equal);
  global->data = NULL;
  if (!row || !ir_type_is_tensor(type) || !ir_type_is_static(type) || !ir_type_count(type)) return true;
  uint64_t size = bytes_of(type);
  if (ir_type_is_packed(type->element)) size = (size * type->element->width + 7) / 8;
  if (!is_wanted(&r->options->parameters, key, (int64_t)size)) return true;
  if (row->entry->length != size) {
    return ir_op_error(r->ctx, global, "is the parameter '%s' in scope '%s', which has %llu bytes; %s needs %llu", key,
                       wanted.scope, (unsigned long long)row->entry->length, ir_type_str(r->ctx, type),
                       (unsigned long long)size);
  }
  global->data = (void*)elements_of(r->ctx, type, row->entry);
  return *out_found = true;
}

static void replace_load(void* user, ir_op_t* load) {
  run_t* r = user;
  const ir_op_t* global = ir_symbol_find(r->ctx, r->module, ir_op_string(load, "global", ""));
  if (!global || !is_parameter(global) || !global->data || changes(global)) return;
  ir_builder_t b = ir_builder_before(r->ctx, load);
  ir_value_t* constant = graph_constant(&b, global->data);
  if (!constant->name) constant->name = load->results[0].name;
  ir_value_replace(&load->results[0], constant);
  ir_op_erase(load);
}

static void finish_global(ir_context_t* ctx, ir_op_t* global) {
  if (!changes(global)) return ir_op_erase(global);
  ir_op_set_attr(ctx, global, "value", global->data);
  ir_op_remove_attr(global, "parameter_scope");
  ir_op_remove_attr(global, "parameter_key");
}

pass_result_t parameters_import(ir_op_t* module, ir_context_t* ctx, void* user) {
  run_t* r = user;
  const parameter_options_t* o = &r->options->parameters;
  ir_set_t rows = {0};
  bool ok = true, found = false;
  for (uint32_t i = 0; ok && i < o->import_count; ++i) ok = read_archive(r, o->imports[i], &rows);
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (ok && is_parameter(op)) ok = find_elements(r, &rows, op, &found);
  }
  ir_set_finish(&rows);
  if (!ok || !found) return ok ? PASS_UNCHANGED : PASS_FAILED;
  for_each(module, GRAPH_GLOBAL_LOAD, replace_load, r);
  IR_FOR_OPS_SAFE(op, ir_module_body(module)) {
    if (is_parameter(op) && op->data) finish_global(ctx, op);
  }
  return PASS_CHANGED;
}

//===----------------------------------------------------------------------------------------------------------------===
// Going out
//===----------------------------------------------------------------------------------------------------------------===

// Constants with the global that each becomes.
typedef struct outgoing_t {
  run_t* run;
  ir_op_t* module;
  const char* scope;
  ir_set_t globals;     // graph.global by value; at ir_op_t.data
  onnx_names_t* names;  // of the module's symbols
} outgoing_t;

static uint64_t value_hash(const void* global) { return ir_hash_mix(0, (uintptr_t)((const ir_op_t*)global)->data); }
static bool value_equal(const void* global, const void* value) { return ((const ir_op_t*)global)->data == value; }

// The constant's own name as far as there is one, else one that tells its type; each once in the module.
static const char* name_of(outgoing_t* x, const ir_op_t* op, const ir_attr_t* value) {
  arena_t* arena = ir_context_arena(x->run->ctx);
  const ir_type_t* type = value->type;
  const char* base = value->resource ? value->resource : op->results[0].name;
  if (!base) {
    text_t text = {0};
    text_puts(&text, "__constant_tensor_");
    for (int32_t i = 0; i < type->rank; ++i) text_printf(&text, "%lldx", (long long)type->dims[i]);
    text_puts(&text, ir_type_str(x->run->ctx, type->element));
    base = arena_strndup(arena, text.data, text.size);
    text_finish(&text);
  }
  return onnx_names_unique(x->names, x->run->ctx, base);
}

static void note_exported(outgoing_t* x, const char* name, const ir_attr_t* value) {
  parameter_t parameter = {.name = name, .value = value};
  parameter_list_add(x->run->ctx, &x->run->parameters.exported, &parameter);
}

static ir_op_t* build_global(outgoing_t* x, const ir_op_t* constant, const ir_attr_t* value) {
  ir_context_t* ctx = x->run->ctx;
  const char* name = name_of(x, constant, value);
  ir_named_attr_t attrs[] = {{"sym_name", ir_attr_cstring(ctx, name)},
                             {"type", ir_attr_type(ctx, value->type)},
                             {"parameter_scope", ir_attr_cstring(ctx, x->scope)},
                             {"parameter_key", ir_attr_cstring(ctx, name)}};
  ir_builder_t b = ir_builder_before(ctx, ir_module_body(x->module)->first);
  ir_op_state_t state = {.info = ir_context_op(ctx, GRAPH_GLOBAL), .loc = constant->loc, .attrs = attrs};
  state.attr_count = 4;
  ir_op_t* global = ir_build(&b, &state);
  global->data = (void*)value;
  ir_set_insert(&x->globals, value_hash(global), global, value_hash);
  note_exported(x, name, value);
  return global;
}

// Whether the op stands among what the host does, and not in a kernel's region.
static bool is_on_host(const ir_op_t* op) {
  for (const ir_op_t* at = ir_op_parent(op); at && ir_op_dialect(at) == IR_DIALECT_GRAPH; at = ir_op_parent(at)) {
    if (fusion_class(at) != FUSION_HOST) return false;
  }
  return true;
}

static void export_constant(void* user, ir_op_t* op) {
  outgoing_t* x = user;
  const ir_attr_t* value = graph_get_value(op);
  bool large = ir_type_is_tensor(op->results[0].type) && !value->splat &&
               bytes_of(value->type) >= (size_t)x->run->options->parameters.export_least;
  if (!large || !op->results[0].uses || !is_on_host(op)) return;
  ir_op_t* global = ir_set_find(&x->globals, ir_hash_mix(0, (uintptr_t)value), value, value_equal);
  if (!global) global = build_global(x, op, value);
  ir_builder_t b = ir_builder_before(x->run->ctx, op);
  ir_named_attr_t attr = {"global", ir_attr_symbol(x->run->ctx, ir_op_string(global, "sym_name", ""))};
  ir_value_t* loaded = graph_build(&b, GRAPH_GLOBAL_LOAD, NULL, 0, op->results[0].type, &attr, 1);
  loaded->name = op->results[0].name;
  ir_value_replace(&op->results[0], loaded);
  ir_op_erase(op);
}

// The first value of state.
static void export_state(outgoing_t* x, ir_op_t* global) {
  ir_context_t* ctx = x->run->ctx;
  const ir_attr_t* value = graph_get_value(global);
  const ir_type_t* type = type_of(global);
  if (!value || !ir_type_is_tensor(type)) return;
  if (bytes_of(type) < (size_t)x->run->options->parameters.export_least) return;
  const char* name = ir_op_string(global, "sym_name", "");
  note_exported(x, name, value);
  ir_op_remove_attr(global, "value");
  ir_op_set_attr(ctx, global, "parameter_scope", ir_attr_cstring(ctx, x->scope));
  ir_op_set_attr(ctx, global, "parameter_key", ir_attr_cstring(ctx, name));
}

pass_result_t parameters_export(ir_op_t* module, ir_context_t* ctx, void* user) {
  run_t* r = user;
  const char* file;
  outgoing_t x = {.run = r, .module = module, .scope = split_scope(ctx, r->options->parameters.export_to, &file)};
  x.names = onnx_names_create(ir_context_arena(ctx), NULL);
  IR_FOR_OPS(op, ir_module_body(module)) {
    onnx_names_set(x.names, ir_intern_cstr(ctx, ir_op_string(op, "sym_name", "")), (void*)1);
    if (ir_is(op, GRAPH_GLOBAL)) export_state(&x, op);
  }
  for_each(module, GRAPH_CONSTANT, export_constant, &x);
  ir_set_finish(&x.globals);
  return r->parameters.exported.count ? PASS_CHANGED : PASS_UNCHANGED;
}

//===----------------------------------------------------------------------------------------------------------------===
// Zeros and encoders
//===----------------------------------------------------------------------------------------------------------------===

static const parameter_t* find_parameter(const parameter_list_t* list, const char* name) {
  const parameter_t* p = list->first;
  while (p && strcmp(p->name, name) != 0) p = p->next;
  return p;
}

// One of zeros for each parameter; of several scopes, since the archive knows none.
static bool note_zeros(run_t* r, ir_op_t* module) {
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (!is_parameter(op)) continue;
    const ir_type_t* type = type_of(op);
    const char* key = graph_get_parameter_key(op);
    unsigned char zeros[32] = {0};
    parameter_t zero = {.name = key, .is_pattern = true};
    zero.value = ir_attr_elements(r->ctx, type, zeros, ir_type_bytes(type->element));
    const parameter_t* other = find_parameter(&r->parameters.splats, key);
    if (other && bytes_of(other->value->type) == bytes_of(type)) continue;
    if (other) {
      return ir_op_error(r->ctx, op,
                         "is a parameter '%s' of %zu bytes, of which another scope's has %zu; an archive "
                         "has one of each name",
                         key, bytes_of(type), bytes_of(other->value->type));
    }
    parameter_list_add(r->ctx, &r->parameters.splats, &zero);
  }
  return true;
}

pass_result_t parameters_encode(ir_op_t* module, ir_context_t* ctx, void* user) {
  run_t* r = user;
  const parameter_options_t* o = &r->options->parameters;
  if (o->splat_to && !note_zeros(r, module)) return PASS_FAILED;
  if (!o->encoder_to) return PASS_UNCHANGED;
  encode_options_t options = {.scope = o->encoder_scope, .overlay = o->encoder_overlay};
  r->parameters.encoder = encode_parameters(ctx, module, &options);
  if (ir_module_body(r->parameters.encoder)->first) return PASS_CHANGED;
  ir_warning(ctx, NULL, "nothing depends on parameters alone: '%s' has no functions", o->encoder_to);
  return PASS_UNCHANGED;
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static bool write_archive(run_t* r, const char* path, const parameter_list_t* list) {
  whole_file_t file;
  bool ok = whole_file_open(path, &file);
  if (ok) ok = whole_file_close(&file, parameter_list_write(list, file.file));
  return ok || ir_error(r->ctx, NULL, "cannot write '%s': %s", path, strerror(errno));
}

static bool write_encoder(run_t* r) {
  const char* path = r->options->parameters.encoder_to;
  size_t size = strlen(path), end = strlen(".mlirbc");
  text_t text = {0};
  bool ok = true;
  if (size > end && strcmp(path + size - end, ".mlirbc") == 0) {
    ok = ir_write_bytecode(r->ctx, r->parameters.encoder, IR_BYTECODE_VERSION, &text);
  } else {
    ir_print_op(r->ctx, &text, r->parameters.encoder, 0, 0);
    text_puts(&text, "\n");
  }
  ok = ok && run_write_file(r, path, text.data, text.size);
  text_finish(&text);
  return ok;
}

bool parameters_write(run_t* r) {
  const parameter_options_t* o = &r->options->parameters;
  const char* file = NULL;
  if (o->export_to) split_scope(r->ctx, o->export_to, &file);
  return (!file || write_archive(r, file, &r->parameters.exported)) &&
         (!o->splat_to || write_archive(r, o->splat_to, &r->parameters.splats)) &&
         (!r->parameters.encoder || write_encoder(r));
}
