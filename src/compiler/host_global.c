// State of the program between calls: numbers are variables of the VM, tensors device buffers that live as long as the
// context. An initializer makes the buffers, copies their first contents and calls the program's own initializers.
//
// A load of a tensor that the function also stores is a copy when it is still needed after the store; else it is the
// global's buffer itself (host_storage.c decides).
#include <string.h>

#include "compiler/host_state.h"

static bool is_mutable(const ir_op_t* global) { return graph_get_mutable(global); }

static const ir_type_t* type_of(const ir_op_t* global) { return graph_get_type(global)->type; }

static uint64_t global_hash(const void* global) {
  const char* name = ir_op_string(((const host_global_t*)global)->op, "sym_name", "");
  return ir_hash_bytes(name, strlen(name));
}

static bool global_equal(const void* global, const void* name) {
  return strcmp(ir_op_string(((const host_global_t*)global)->op, "sym_name", ""), name) == 0;
}

host_global_t* host_find_global(host_t* h, const ir_op_t* access) {
  const char* name = ir_op_string(access, "global", "");
  return ir_set_find(&h->global_names, ir_hash_bytes(name, strlen(name)), name, global_equal);
}

// The first value of a number, as it is in a register.
static uint64_t initial_bits(const ir_op_t* global, vm_type_t type) {
  const ir_attr_t* value = graph_get_value(global);
  if (!value) return 0;
  double number = value->kind == IR_ATTR_FLOAT ? value->number : (double)value->integer;
  float narrow = (float)number;
  uint64_t bits = 0;
  if (type == VM_TYPE_F64) {
    memcpy(&bits, &number, sizeof(number));
  } else if (type == VM_TYPE_F32) {
    memcpy(&bits, &narrow, sizeof(narrow));
  } else {
    bits = type == VM_TYPE_I32 ? (uint32_t)value->integer : (uint64_t)value->integer;
  }
  return bits;
}

static bool add_global(host_t* h, ir_op_t* op) {
  const ir_type_t* type = type_of(op);
  vm_type_t vm = VM_TYPE_REF;
  if (ir_type_is_tensor(type) ? !ir_type_is_static(type) : !host_outer_type(h, type, &vm)) {
    return ir_op_error(h->ctx, op,
                       "has type %s; numbers of 32 and 64 bits, integers and tensors of static shape can be "
                       "state",
                       ir_type_str(h->ctx, type));
  }
  const ir_attr_t* value = graph_get_value(op);
  if (value && !host_scalar_fits(h, op, type, value->integer)) return false;
  const char* name = ir_op_string(op, "sym_name", "");
  uint64_t bits = vm == VM_TYPE_REF ? 0 : initial_bits(op, vm);
  host_global_t* global = &h->globals[h->global_count++];
  *global = (host_global_t){.op = op, .number = module_writer_global(h->writer, host_view(name), vm, bits)};
  ir_set_insert(&h->global_names, global_hash(global), global, global_hash);
  return true;
}

enum { MAX_REPEATED = 1 << 30 };

// The tensor's first contents as a constant of the module.
static uint32_t initial_constant(host_t* h, const ir_op_t* global, size_t size) {
  const ir_attr_t* value = graph_get_value(global);
  const void* data = ir_attr_data(value);
  if (value->splat && size > MAX_REPEATED) {
    h->failed = true;
    ir_op_error(h->ctx, global, "starts as %zu bytes of one element of %zu bytes; at most %zu can be stored", size,
                value->size, (size_t)MAX_REPEATED);
    return 0;
  }
  if (value->splat) {
    unsigned char* filled = arena_alloc(ir_context_arena(h->ctx), size ? size : 1);
    for (size_t i = 0; value->size && i + value->size <= size; i += value->size) {
      memcpy(filled + i, ir_attr_data(value), value->size);
    }
    data = filled;
  }
  const char* name = arena_printf(ir_context_arena(h->ctx), "globals/%s.bin", ir_op_string(global, "sym_name", ""));
  uint32_t segment = module_writer_segment(
      h->writer, &(module_segment_t){.entry = host_view(name), .data = {data, size}, .alignment = 64});
  return module_writer_constant(h->writer, h->device, segment, 0, size);
}

// Bytes after which the element's repeat, when they are few enough to be filled in; or 0.
static uint32_t fill_length(const ir_attr_t* value) {
  if (!value->splat) return 0;
  const unsigned char* data = ir_attr_data(value);
  for (uint32_t length = 1; length <= 4 && length <= value->size; length *= 2) {
    if (value->size % length == 0 && memcmp(data, data + length, value->size - length) == 0) return length;
  }
  return 0;
}

// One element everywhere is filled in, nothing stored; zeros when there is no value.
static bool is_filled(const ir_attr_t* value) { return !value || fill_length(value); }

// Registers of the initializer, for one global after the other.
typedef struct filling_t {
  module_reg_t stream, buffer, from, zero, length, pattern;
  module_reg_t texts[2];
} filling_t;

static void emit_fill(module_function_t* f, const filling_t* r, const ir_attr_t* value, int64_t size) {
  uint32_t pattern = 0, length = value ? fill_length(value) : size % 4 ? 1 : 4;
  if (value) memcpy(&pattern, ir_attr_data(value), length);
  module_emit(f, const_i32, MODULE_REG(r->pattern), MODULE_IMM((int32_t)pattern));
  module_emit(f, hal_fill, MODULE_REG(r->stream), MODULE_REG(r->buffer), MODULE_REG(r->zero), MODULE_REG(r->length),
              MODULE_REG(r->pattern), MODULE_IMM(length));
}

static void emit_text(host_t* h, module_function_t* f, module_reg_t reg, const char* text) {
  module_emit(f, buffer_string, MODULE_REG(reg), MODULE_INDEX(module_writer_string(h->writer, host_view(text))));
}

// What an archive of parameters has, from the module io_parameters: where it is, unless the program changes it.
static void emit_parameter(host_t* h, module_function_t* f, const filling_t* r, const ir_op_t* global) {
  if (!h->has_parameters) {
    h->has_parameters = true;
    module_writer_dependency(h->writer, IREE_SV("io_parameters"), 0, false);
    h->parameter_import = module_writer_import(h->writer, IREE_SV("io_parameters.find"), IREE_SV("0rrI_r"), false);
  }
  emit_text(h, f, r->texts[0], graph_get_parameter_scope(global));
  emit_text(h, f, r->texts[1], graph_get_parameter_key(global));
  module_reg_t found = r->from, arguments[3] = {r->texts[0], r->texts[1], r->length};
  module_emit(f, call_import, MODULE_LIST(1, &found), MODULE_INDEX(h->parameter_import), MODULE_LIST(3, arguments));
  if (is_mutable(global)) {
    module_emit(f, hal_alloca, MODULE_REG(r->buffer), MODULE_REG(r->stream), MODULE_REG(r->length));
    module_emit(f, hal_upload, MODULE_REG(r->stream), MODULE_REG(found), MODULE_REG(r->buffer), MODULE_REG(r->length));
  } else {
    module_emit(f, hal_import, MODULE_REG(r->buffer), MODULE_REG(r->stream), MODULE_REG(found), MODULE_REG(r->length));
  }
}

// A new buffer with the value that the program has for it.
static void emit_value(host_t* h, module_function_t* f, const filling_t* r, const ir_op_t* global, int64_t size) {
  const ir_attr_t* value = graph_get_value(global);
  module_emit(f, hal_alloca, MODULE_REG(r->buffer), MODULE_REG(r->stream), MODULE_REG(r->length));
  if (size > 0 && is_filled(value)) {
    emit_fill(f, r, value, size);
  } else if (size > 0) {
    uint32_t constant = initial_constant(h, global, (size_t)size);
    module_emit(f, hal_constant, MODULE_REG(r->from), MODULE_INDEX(constant));
    module_emit(f, hal_copy, MODULE_REG(r->stream), MODULE_REG(r->from), MODULE_REG(r->zero), MODULE_REG(r->buffer),
                MODULE_REG(r->zero), MODULE_REG(r->length));
  }
}

static void emit_buffer(host_t* h, module_function_t* f, const filling_t* r, const host_global_t* global) {
  int64_t size = host_tensor_bytes(type_of(global->op));
  module_emit(f, const_i64, MODULE_REG(r->length), MODULE_IMM(size));
  if (graph_get_parameter_key(global->op)) {
    emit_parameter(h, f, r, global->op);
  } else {
    emit_value(h, f, r, global->op, size);
  }
  module_emit(f, global_store_ref, MODULE_INDEX(global->number), MODULE_REG(r->buffer));
}

// Buffers with their first contents.
static void emit_buffers(host_t* h, module_function_t* f) {
  module_reg_t null = module_function_null(f);
  filling_t r = {.stream = module_function_ref(f),
                 .buffer = module_function_ref(f),
                 .from = module_function_ref(f),
                 .zero = module_function_i64(f, 0),
                 .length = module_function_register(f, VM_TYPE_I64),
                 .pattern = module_function_register(f, VM_TYPE_I32),
                 .texts = {module_function_ref(f), module_function_ref(f)}};
  module_emit(f, hal_stream_begin, MODULE_REG(r.stream), MODULE_INDEX(h->device), MODULE_REG(null), MODULE_IMM(0));
  for (uint32_t i = 0; i < h->global_count; ++i) {
    if (ir_type_is_tensor(type_of(h->globals[i].op))) emit_buffer(h, f, &r, &h->globals[i]);
  }
  module_emit(f, hal_stream_end, MODULE_REG(r.stream), MODULE_REG(null));
}

void host_emit_globals(host_t* h) {
  uint32_t count = 0;
  IR_FOR_OPS(op, ir_module_body(h->module)) count += ir_is(op, GRAPH_GLOBAL);
  h->globals = ARENA_ARRAY(ir_context_arena(h->ctx), host_global_t, count + 1);
  IR_FOR_OPS(op, ir_module_body(h->module)) {
    if (!ir_is(op, GRAPH_GLOBAL)) continue;
    if (!add_global(h, op)) h->failed = true;
  }
}

void host_add_initializer(host_t* h, const module_function_t* f) {
  arena_t* arena = ir_context_arena(h->ctx);
  uint32_t* grown = ARENA_ARRAY(arena, uint32_t, h->initializer_count + 1);
  if (h->initializer_count) memcpy(grown, h->initializers, sizeof(*grown) * h->initializer_count);
  grown[h->initializer_count++] = module_function_index(f);
  h->initializers = grown;
}

void host_emit_initializer(host_t* h) {
  bool tensors = false;
  for (uint32_t i = 0; i < h->global_count; ++i) tensors |= ir_type_is_tensor(type_of(h->globals[i].op));
  if (h->failed || (!tensors && !h->initializer_count)) return;
  module_function_t* f = module_writer_function(h->writer, host_view("__init"), host_view("0v_v"));
  if (tensors) emit_buffers(h, f);
  for (uint32_t i = 0; i < h->initializer_count; ++i) {
    module_emit(f, call, MODULE_LIST(0, NULL), MODULE_INDEX(h->initializers[i]), MODULE_LIST(0, NULL));
  }
  module_emit(f, return, MODULE_LIST(0, NULL));
  module_writer_initializer(h->writer, f);
}

static void note_store(host_t* h, host_global_t* global, ir_op_t* store) {
  if (global->store_count == global->store_capacity) {
    global->store_capacity = global->store_capacity ? global->store_capacity * 2 : 4;
    ir_op_t** stores = ARENA_ARRAY(ir_context_arena(h->ctx), ir_op_t*, global->store_capacity);
    if (global->store_count) memcpy(stores, global->stores, sizeof(*stores) * global->store_count);
    global->stores = stores;
  }
  global->stores[global->store_count++] = store;
}

static void note_uses(host_t* h, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE)) {
      host_global_t* global = host_find_global(h, op);
      if (global) global->is_used = true;
      if (global && ir_is(op, GRAPH_GLOBAL_STORE)) note_store(h, global, op);
    }
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) note_uses(h, op->regions[r].first);
  }
}

bool host_find_globals(host_t* h) {
  bool any = false;
  for (uint32_t i = 0; i < h->global_count; ++i) {
    h->globals[i].is_used = false;
    h->globals[i].store_count = 0;
  }
  note_uses(h, h->body);
  for (uint32_t i = 0; i < h->global_count; ++i) {
    host_global_t* global = &h->globals[i];
    if (!global->is_used) continue;
    any |= is_mutable(global->op);
    if (ir_type_is_tensor(type_of(global->op))) global->buffer = host_add_buffer(h);
  }
  return any;
}

void host_load_globals(host_t* h) {
  for (uint32_t i = 0; i < h->global_count; ++i) {
    const host_global_t* global = &h->globals[i];
    if (!global->is_used || !ir_type_is_tensor(type_of(global->op))) continue;
    module_emit(h->f, global_load_ref, MODULE_REG(h->buffers[global->buffer]), MODULE_INDEX(global->number));
  }
}
