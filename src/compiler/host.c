// See host.h. A function of dispatches becomes one command table over four kinds of slots (constants, the arena of
// intermediates, inputs, outputs) and a few instructions around one hal_execute.
#include "compiler/host.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/plan.h"
#include "dialects/graph.h"
#include "iree/hal/buffer_view.h"

typedef enum { STORAGE_NONE, STORAGE_ARGUMENT, STORAGE_CONSTANT, STORAGE_ARENA, STORAGE_OUTPUT } storage_kind_t;

// Where a tensor's bytes are; at ir_value_t.data.
typedef struct storage_t {
  storage_kind_t kind;
  uint32_t index;  // argument, constant row or result number; ARENA: plan entry
  int64_t offset, size;
  uint32_t slot;
} storage_t;

typedef struct access_t {
  uint32_t slot;
  int64_t first, end;
  bool writes;
} access_t;

typedef struct host_t {
  ir_context_t* ctx;
  ir_op_t* module;
  module_writer_t* writer;
  uint32_t device, executable;
  bool strip_source_map;
  // Of the function at work
  ir_op_t* func;
  ir_block_t* body;
  module_table_t* table;
  plan_value_t* plan;
  uint32_t plan_count;
  int64_t arena_size;
  uint32_t arena_slot;
  access_t* accesses;  // since the last barrier
  uint32_t access_count, access_capacity;
  uint32_t constant_count;
} host_t;

static iree_string_view_t view(const char* text) { return iree_make_cstring_view(text); }

static int64_t tensor_bytes(const ir_type_t* type) { return ir_type_count(type) * ir_type_bytes(type->element); }

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t float_element_type(ir_float_kind_t kind) {
  switch (kind) {
    case IR_F16:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_16;
    case IR_BF16:
      return IREE_HAL_ELEMENT_TYPE_BFLOAT_16;
    case IR_F32:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_32;
    case IR_F64:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_64;
    case IR_F8E4M3FN:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FN;
    case IR_F8E5M2:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2;
    case IR_F8E4M3FNUZ:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_8_E4M3_FNUZ;
    case IR_F8E5M2FNUZ:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_8_E5M2_FNUZ;
    case IR_F8E8M0FNU:
      return IREE_HAL_ELEMENT_TYPE_FLOAT_8_E8M0_FNU;
    default:
      return IREE_HAL_ELEMENT_TYPE_NONE;
  }
}

static uint32_t element_type(const ir_type_t* scalar) {
  if (scalar->kind == IR_TYPE_FLOAT) return float_element_type(scalar->float_kind);
  if (scalar->kind == IR_TYPE_INDEX) return IREE_HAL_ELEMENT_TYPE_INT_64;
  if (scalar->kind != IR_TYPE_INTEGER) return IREE_HAL_ELEMENT_TYPE_NONE;
  if (scalar->width == 1) return IREE_HAL_ELEMENT_TYPE_BOOL_8;
  uint32_t numerical = scalar->sign == IR_SIGNED     ? IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED
                       : scalar->sign == IR_UNSIGNED ? IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED
                                                     : IREE_HAL_NUMERICAL_TYPE_INTEGER;
  return IREE_HAL_ELEMENT_TYPE_VALUE(numerical, ir_type_bytes(scalar) * 8);
}

static uint32_t add_shape(host_t* h, const char* prefix, uint32_t number, const ir_type_t* type) {
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < type->rank; ++i) dims[i] = type->dims[i] == IR_DYNAMIC ? MODULE_DIM_DYNAMIC : type->dims[i];
  const char* name = arena_printf(ir_context_arena(h->ctx), "%s%u", prefix, number);
  return module_writer_shape(h->writer, view(name), element_type(type->element), IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
                             (uint32_t)type->rank, dims);
}

//===----------------------------------------------------------------------------------------------------------------===
// Storage
//===----------------------------------------------------------------------------------------------------------------===

static storage_t* storage_new(host_t* h, ir_value_t* value, storage_kind_t kind) {
  storage_t* s = ARENA_NEW(ir_context_arena(h->ctx), storage_t);
  *s = (storage_t){.kind = kind, .size = tensor_bytes(value->type)};
  value->data = s;
  return s;
}

// Constants are archive entries of their own; equal data is written once.
static void store_constant(host_t* h, ir_op_t* op) {
  storage_t* s = storage_new(h, ir_result(op, 0), STORAGE_CONSTANT);
  const ir_attr_t* value = ir_op_attr(op, "value");
  const void* data = value->data;
  size_t size = value->size;
  if (value->splat) {
    size = (size_t)s->size;
    unsigned char* filled = arena_alloc(ir_context_arena(h->ctx), size ? size : 1);
    for (size_t i = 0; i + value->size <= size && value->size; i += value->size) memcpy(filled + i, data, value->size);
    data = filled;
  }
  char* name = arena_printf(ir_context_arena(h->ctx), "constants/%u.bin", h->constant_count++);
  uint32_t segment = module_writer_segment(
      h->writer,
      &(module_segment_t){.entry = view(name), .data = {data, size}, .alignment = size >= 65536 ? 4096 : 64});
  s->index = module_writer_constant(h->writer, h->device, segment, 0, size);
}

static void plan_function(host_t* h) {
  uint32_t steps = 0, count = 0;
  IR_FOR_OPS(op, h->body) {
    op->data = (void*)(uintptr_t)steps++;
    count += ir_is(op, GRAPH_DISPATCH) ? op->result_count : 0;
  }
  h->plan = ARENA_ARRAY(ir_context_arena(h->ctx), plan_value_t, count + 1);
  h->plan_count = 0;
  ir_op_t* terminator = h->body->last;
  for (uint32_t i = 0; i < terminator->operand_count; ++i) {
    storage_new(h, ir_operand(terminator, i), STORAGE_OUTPUT)->index = i;
  }
  IR_FOR_OPS(op, h->body) {
    if (!ir_is(op, GRAPH_DISPATCH)) continue;
    for (uint32_t i = 0; i < op->result_count; ++i) {
      ir_value_t* value = ir_result(op, i);
      if (value->data) continue;  // an output
      uint32_t step = (uint32_t)(uintptr_t)op->data, last = step;
      IR_FOR_USES(use, value) {
        uint32_t at = (uint32_t)(uintptr_t)use->owner->data;
        if (at > last) last = at;
      }
      storage_t* s = storage_new(h, value, STORAGE_ARENA);
      s->index = h->plan_count;
      h->plan[h->plan_count++] = (plan_value_t){.size = s->size, .first = step, .last = last};
    }
  }
  h->arena_size = plan_memory(h->plan, h->plan_count);
}

// The slot through which the table reaches a value. Slots: 0 the arena (if any), then inputs, then outputs.
static void assign_slots(host_t* h) {
  uint32_t argument = 0;
  if (h->arena_size) h->arena_slot = module_table_argument_slot(h->table, argument++, (uint64_t)h->arena_size);
  for (uint32_t i = 0; i < h->body->arg_count; ++i) {
    storage_t* s = storage_new(h, h->body->args[i], STORAGE_ARGUMENT);
    s->slot = module_table_argument_slot(h->table, argument++, (uint64_t)s->size);
  }
  ir_op_t* terminator = h->body->last;
  for (uint32_t i = 0; i < terminator->operand_count; ++i) {
    storage_t* s = ir_operand(terminator, i)->data;
    s->slot = module_table_argument_slot(h->table, argument++, (uint64_t)s->size);
  }
  IR_FOR_OPS(op, h->body) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      storage_t* s = op->results[i].data;
      if (!s) continue;
      if (s->kind == STORAGE_CONSTANT) s->slot = module_table_constant_slot(h->table, s->index);
      if (s->kind != STORAGE_ARENA) continue;
      s->slot = h->arena_slot;
      s->offset = h->plan[s->index].offset;
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

static void note_access(host_t* h, const storage_t* s, bool writes) {
  if (h->access_count == h->access_capacity) {
    h->access_capacity = h->access_capacity ? h->access_capacity * 2 : 64;
    h->accesses = realloc(h->accesses, sizeof(*h->accesses) * h->access_capacity);
    if (!h->accesses) abort();
  }
  h->accesses[h->access_count++] = (access_t){s->slot, s->offset, s->offset + s->size, writes};
}

static bool conflicts(const host_t* h, const storage_t* s, bool writes) {
  for (uint32_t i = 0; i < h->access_count; ++i) {
    const access_t* a = &h->accesses[i];
    if (a->slot == s->slot && (a->writes || writes) && a->first < s->offset + s->size && s->offset < a->end) {
      return true;
    }
  }
  return false;
}

// A barrier when the dispatch touches what a command since the last barrier touched, and one of them writes.
static void order_dispatch(host_t* h, const ir_op_t* op) {
  bool barrier = false;
  for (uint32_t i = 0; i < op->operand_count; ++i) barrier |= conflicts(h, ir_operand(op, i)->data, false);
  for (uint32_t i = 0; i < op->result_count; ++i) barrier |= conflicts(h, op->results[i].data, true);
  if (barrier) {
    module_table_barrier(h->table);
    h->access_count = 0;
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) note_access(h, ir_operand(op, i)->data, false);
  for (uint32_t i = 0; i < op->result_count; ++i) note_access(h, op->results[i].data, true);
}

static module_binding_t binding_of(const ir_value_t* value) {
  const storage_t* s = value->data;
  return (module_binding_t){s->slot, MODULE_LIT(s->offset), MODULE_LIT(s->size)};
}

static void emit_dispatch(host_t* h, ir_op_t* op) {
  int64_t workgroups[3] = {1, 1, 1};
  ir_op_ints(op, "workgroups", workgroups, 3);
  order_dispatch(h, op);
  const ir_loc_t* loc = ir_loc_find_file(op->loc);
  if (loc && !h->strip_source_map) module_table_location(h->table, view(loc->name), loc->line, loc->column);
  uint32_t count = op->operand_count + op->result_count;
  module_binding_t* bindings = ARENA_ARRAY(ir_context_arena(h->ctx), module_binding_t, count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) bindings[i] = binding_of(ir_operand(op, i));
  for (uint32_t i = 0; i < op->result_count; ++i) bindings[op->operand_count + i] = binding_of(&op->results[i]);
  module_table_dispatch(
      h->table, &(module_dispatch_t){
                    .executable = h->executable,
                    .entry = (uint32_t)ir_op_int(op, "entry", 0),
                    .workgroups = {MODULE_LIT(workgroups[0]), MODULE_LIT(workgroups[1]), MODULE_LIT(workgroups[2])},
                    .binding_count = count,
                    .bindings = bindings});
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

// What is not supported yet inside a function, said at its place.
static bool check_function(host_t* h) {
  for (uint32_t i = 0; i < h->body->arg_count; ++i) {
    const ir_type_t* type = h->body->args[i]->type;
    if (!ir_type_is_tensor(type) || !ir_type_is_static(type)) {
      return ir_op_error(h->ctx, h->func, "has argument %u of type %s; tensors of static shape can be compiled", i,
                         ir_type_str(h->ctx, type));
    }
  }
  IR_FOR_OPS(op, h->body) {
    bool known = ir_is(op, GRAPH_DISPATCH) || ir_is(op, GRAPH_CONSTANT) || op == h->body->last;
    if (!known) return ir_op_error(h->ctx, op, "cannot be run by the host program; it is lowered to dispatches before");
    for (uint32_t i = 0; i < op->result_count; ++i) {
      if (!ir_type_is_static(op->results[i].type)) {
        return ir_op_error(h->ctx, op, "has a result of type %s; shapes must be static",
                           ir_type_str(h->ctx, op->results[i].type));
      }
    }
  }
  return true;
}

static const char* declaration(host_t* h, const char* name, const ir_type_t* type) {
  text_t text = {0};
  text_printf(&text, "sync func @%s(", name);
  for (uint32_t i = 0; i < type->input_count; ++i) {
    text_printf(&text, "%s%%input%u: %s", i ? ", " : "", i, ir_type_str(h->ctx, type->inputs[i]));
  }
  text_puts(&text, ") -> (");
  for (uint32_t i = 0; i < type->result_count; ++i) {
    text_printf(&text, "%s%%output%u: %s", i ? ", " : "", i, ir_type_str(h->ctx, type->results[i]));
  }
  text_puts(&text, ")");
  char* result = arena_strndup(ir_context_arena(h->ctx), text.data, text.size);
  text_finish(&text);
  return result;
}

static void emit_body(host_t* h, module_function_t* f, bool async, const ir_type_t* abi) {
  arena_t* arena = ir_context_arena(h->ctx);
  uint32_t inputs = h->body->arg_count, outputs = h->body->last->operand_count, count = 0;
  module_reg_t* buffers = ARENA_ARRAY(arena, module_reg_t, inputs + outputs + 1);
  module_reg_t* results = ARENA_ARRAY(arena, module_reg_t, outputs + 1);
  module_reg_t stream = module_function_ref(f), null = module_function_null(f);
  module_reg_t arena_reg = h->arena_size ? module_function_ref(f) : null;
  if (h->arena_size) buffers[count++] = arena_reg;
  for (uint32_t i = 0; i < inputs; ++i) {
    module_reg_t buffer = buffers[count++] = module_function_ref(f);
    uint32_t shape = add_shape(h, "input", i, abi->inputs[i]);
    module_emit(f, hal_view_unwrap, MODULE_REG(buffer), MODULE_LIST(0, NULL),
                MODULE_REG(module_function_argument(f, i)), MODULE_INDEX(shape));
  }
  module_reg_t wait = async ? module_function_argument(f, inputs) : null;
  module_reg_t signal = async ? module_function_argument(f, inputs + 1) : null;
  module_emit(f, hal_stream_begin, MODULE_REG(stream), MODULE_INDEX(h->device), MODULE_REG(wait), MODULE_IMM(0));
  if (h->arena_size) {
    module_reg_t size = module_function_i64(f, h->arena_size);
    module_emit(f, hal_transient_acquire, MODULE_REG(arena_reg), MODULE_REG(stream), MODULE_REG(size));
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    module_reg_t buffer = buffers[count++] = module_function_ref(f);
    module_reg_t size = module_function_i64(f, tensor_bytes(ir_operand(h->body->last, i)->type));
    module_emit(f, hal_alloca, MODULE_REG(buffer), MODULE_REG(stream), MODULE_REG(size));
  }
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(h->table)), MODULE_LIST(0, NULL),
              MODULE_LIST(count, buffers));
  if (h->arena_size) module_emit(f, hal_transient_release, MODULE_REG(stream), MODULE_REG(arena_reg));
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(signal));
  for (uint32_t i = 0; i < outputs; ++i) {
    results[i] = module_function_ref(f);
    uint32_t shape = add_shape(h, "output", i, abi->results[i]);
    module_emit(f, hal_view_create, MODULE_REG(results[i]), MODULE_REG(buffers[count - outputs + i]),
                MODULE_INDEX(shape), MODULE_LIST(0, NULL));
  }
  module_emit(f, return, MODULE_LIST(outputs, results));
}

static bool is_async(const ir_op_t* func) {
  if (ir_op_attr(func, "iree.abi.async")) return true;
  for (uint32_t i = 0; i < func->attr_count; ++i) {
    if (strncmp(func->attrs[i].name, "torch.onnx_meta.", 16) == 0) return true;
  }
  return false;
}

static void emit_function(host_t* h, const char* name) {
  const ir_attr_t* abi_attr = ir_op_attr(h->func, "iree.abi.type");
  const ir_type_t* type = ir_op_attr(h->func, "function_type")->type;
  const ir_type_t* abi = abi_attr ? abi_attr->type : type;
  bool async = is_async(h->func);
  h->table = module_writer_table(h->writer, view(name), 0);
  h->access_count = 0;
  plan_function(h);
  assign_slots(h);
  IR_FOR_OPS(op, h->body) {
    if (ir_is(op, GRAPH_DISPATCH)) emit_dispatch(h, op);
  }
  text_t convention = {0};
  text_puts(&convention, "0");
  for (uint32_t i = 0; i < type->input_count + (async ? 2 : 0); ++i) text_puts(&convention, "r");
  if (!type->input_count && !async) text_puts(&convention, "v");
  text_puts(&convention, "_");
  for (uint32_t i = 0; i < type->result_count; ++i) text_puts(&convention, "r");
  if (!type->result_count) text_puts(&convention, "v");
  const char* inner = async ? arena_printf(ir_context_arena(h->ctx), "%s$async", name) : name;
  module_function_t* f = module_writer_function(h->writer, view(inner), view(convention.data));
  text_finish(&convention);
  emit_body(h, f, async, abi);
  module_pair_t attr = {view("iree.abi.declaration"), view(declaration(h, name, abi))};
  if (async) {
    module_writer_export_pair(h->writer, view(name), f, 1, &attr);
  } else {
    module_writer_export(h->writer, view(name), f, 1, &attr);
  }
}

static void clear_data(ir_block_t* body) {
  for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = NULL;
  IR_FOR_OPS(op, body) {
    op->data = NULL;
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
}

bool host_emit(ir_context_t* ctx, ir_op_t* module, module_writer_t* writer, uint32_t device, uint32_t executable,
               bool strip_source_map) {
  host_t h = {.ctx = ctx,
              .module = module,
              .writer = writer,
              .device = device,
              .executable = executable,
              .strip_source_map = strip_source_map};
  bool ok = true;
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || !func->regions[0].first) continue;
    const char* visibility = ir_op_string(func, "sym_visibility", "public");
    if (strcmp(visibility, "private") == 0) continue;
    h.func = func;
    h.body = func->regions[0].first;
    clear_data(h.body);
    if (!check_function(&h)) {
      ok = false;
      continue;
    }
    IR_FOR_OPS(op, h.body) {
      if (ir_is(op, GRAPH_CONSTANT)) store_constant(&h, op);
    }
    emit_function(&h, ir_op_string(func, "sym_name", "main"));
    clear_data(h.body);
  }
  free(h.accesses);
  return ok;
}
