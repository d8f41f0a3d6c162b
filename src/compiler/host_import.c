// Calls of other modules' functions. Tensors go there as views of copies, which that module may keep; what comes back
// stays where it is. A function without fences is called when all work before it is done.
#include <string.h>

#include "compiler/host_state.h"

static const ir_type_t* outside_type(const ir_op_t* op, bool result, uint32_t i) {
  const ir_attr_t* attr = graph_get_type(op);
  if (attr) return result ? attr->type->results[i] : attr->type->inputs[i];
  return result ? op->results[i].type : ir_operand(op, i)->type;
}

static bool check_outside(host_t* h, const ir_op_t* op, const char* what, uint32_t i, const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  bool fits = !ir_type_is_tensor(type) ||
              (host_has_element_type(scalar) && !ir_type_is_packed(scalar) && scalar->kind != IR_TYPE_COMPLEX);
  return fits || ir_op_error(h->ctx, op,
                             "has %s %u of type %s; other modules take tensors of integers of 1, 8, 16, 32 and 64 bits "
                             "and of floats of 8 bits and more",
                             what, i, ir_type_str(h->ctx, type));
}

static bool check_call(host_t* h, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!check_outside(h, op, "argument", i, outside_type(op, false, i))) return false;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!check_outside(h, op, "result", i, outside_type(op, true, i))) return false;
  }
  return true;
}

static const char* convention_of(host_t* h, const ir_op_t* op) {
  text_t text = {0};
  bool fences = graph_get_fences(op), device = graph_get_device(op);
  text_puts(&text, device ? "0r" : "0");
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    text_printf(&text, "%c", host_convention_letter(h, ir_operand(op, i)->type));
  }
  if (fences) text_puts(&text, "rr");
  text_puts(&text, op->operand_count || device || fences ? "_" : "v_");
  for (uint32_t i = 0; i < op->result_count; ++i) {
    text_printf(&text, "%c", host_convention_letter(h, op->results[i].type));
  }
  if (!op->result_count) text_puts(&text, "v");
  char* result = arena_strndup(ir_context_arena(h->ctx), text.data, text.size);
  text_finish(&text);
  return result;
}

static uint32_t import_of(host_t* h, const char* name, const char* convention, bool optional) {
  iree_string_view_t full_name = module_writer_hal_name(h->writer, host_view(name));
  return module_writer_import(h->writer, full_name, host_view(convention), optional);
}

// A copy of the tensor in a buffer of its own; views are made of it once it is there.
static uint32_t copy_out(host_t* h, const ir_value_t* value) {
  storage_t *from = value->data, *to = ARENA_NEW(ir_context_arena(h->ctx), storage_t);
  *to = (storage_t){.kind = STORAGE_OUTPUT, .index = host_add_buffer(h), .size = from->size, .reg = from->reg};
  bool is_static = from->size != HOST_DYNAMIC;
  if (!is_static && h->table) host_flush(h);
  module_reg_t size = is_static ? module_function_i64(h->f, from->size) : from->reg;
  module_emit(h->f, hal_alloca, MODULE_REG(h->buffers[to->index]), MODULE_REG(h->stream), MODULE_REG(size));
  host_copy(h, from, to);
  return to->index;
}

static module_reg_t view_of(host_t* h, const ir_op_t* op, uint32_t i, uint32_t buffer) {
  const ir_type_t *type = outside_type(op, false, i), *own = ir_operand(op, i)->type;
  const storage_t* s = ir_operand(op, i)->data;
  module_reg_t view = module_function_ref(h->f), dims[GRAPH_MAX_RANK];
  uint32_t open = 0, next = 0;  // the other module may leave sizes open that are known here
  for (int32_t d = 0; d < own->rank; ++d) {
    bool known = own->dims[d] != IR_DYNAMIC;
    if (type->dims[d] == IR_DYNAMIC) dims[open++] = known ? module_function_i64(h->f, own->dims[d]) : s->dims[next];
    next += !known;
  }
  module_emit(h->f, hal_view_create, MODULE_REG(view), MODULE_REG(h->buffers[buffer]),
              MODULE_INDEX(host_shape(h, "argument", i, type)), MODULE_LIST(open, dims));
  return view;
}

static module_reg_t device_of(host_t* h) {
  module_reg_t device = module_function_ref(h->f), ordinal = module_function_i32(h->f, 0);
  uint32_t import = import_of(h, "hal.devices.get", "0i_r", false);
  module_emit(h->f, call_import, MODULE_LIST(1, &device), MODULE_INDEX(import), MODULE_LIST(1, &ordinal));
  return device;
}

typedef struct arguments_t {
  module_reg_t* regs;
  uint32_t count;
  module_reg_t signal;  // the fence that the function signals, with fences
} arguments_t;

static bool is_storage(const ir_op_t* op, uint32_t i) {
  enum { MAX_STORAGE = 64 };
  int64_t places[MAX_STORAGE];
  const ir_attr_t* attr = graph_get_storage(op);
  uint32_t count = attr ? ir_attr_ints(attr, places, MAX_STORAGE) : 0;
  for (uint32_t k = 0; k < count && k < MAX_STORAGE; ++k) {
    if (places[k] == i) return true;
  }
  return false;
}

static module_reg_t pass(host_t* h, ir_op_t* op, uint32_t i, uint32_t copy) {
  ir_value_t* value = ir_operand(op, i);
  if (!ir_type_is_tensor(value->type)) return host_scalar_leave(h, op, value);
  return is_storage(op, i) ? h->buffers[copy] : view_of(h, op, i, copy);
}

static arguments_t bring_arguments(host_t* h, ir_op_t* op) {
  bool fences = graph_get_fences(op);
  arena_t* arena = ir_context_arena(h->ctx);
  arguments_t a = {.regs = ARENA_ARRAY(arena, module_reg_t, op->operand_count + 3)};
  uint32_t* copies = ARENA_ARRAY(arena, uint32_t, op->operand_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (ir_type_is_tensor(ir_operand(op, i)->type)) copies[i] = copy_out(h, ir_operand(op, i));
  }
  host_flush(h);
  if (h->has_stream && !fences) module_emit(h->f, hal_stream_await, MODULE_REG(h->stream));
  if (graph_get_device(op)) a.regs[a.count++] = device_of(h);
  for (uint32_t i = 0; i < op->operand_count; ++i) a.regs[a.count++] = pass(h, op, i, copies[i]);
  if (!fences) return a;
  a.regs[a.count++] = module_emit_value(h->f, hal_stream_fence, MODULE_REG(h->stream));
  a.signal = a.regs[a.count++] = module_emit_value(h->f, hal_fence_create, MODULE_INDEX(h->device));
  return a;
}

// A result as it came, which must be what the program was told that it is.
static void take_result(host_t* h, ir_op_t* op, uint32_t i, module_reg_t reg) {
  ir_value_t* value = ir_result(op, i);
  storage_t* s = value->data;
  if (value->type->kind == IR_TYPE_INTEGER && value->type->width == 1) {
    reg = module_emit_value(h->f, i32_ne, MODULE_REG(reg), MODULE_REG(module_function_i32(h->f, 0)));
  }
  if (!ir_type_is_tensor(value->type)) return host_scalar_set(value, host_scalar_enter(h, value->type, reg));
  const ir_type_t* type = outside_type(op, true, i);
  module_reg_t dims[GRAPH_MAX_RANK];
  uint32_t count = ir_type_open_dims(type);
  for (uint32_t d = 0; d < count; ++d) dims[d] = module_function_register(h->f, VM_TYPE_I64);
  module_emit(h->f, hal_view_unwrap, MODULE_REG(h->buffers[s->index]), MODULE_LIST(count, dims), MODULE_REG(reg),
              MODULE_INDEX(host_shape(h, "result", i, type)));
  if (count) host_set_dims(h, s, value->type, dims);
}

// To the debug sink of the module hal, which need not be there.
static void emit_trace(host_t* h, ir_op_t* op) {
  arguments_t a = bring_arguments(h, op);
  module_emit(h->f, hal_view_trace, MODULE_INDEX(module_writer_string(h->writer, host_view(graph_get_message(op)))),
              MODULE_LIST(a.count, a.regs));
}

// One that may be missing and gives nothing is left out where it is.
static void emit_call(host_t* h, const ir_op_t* op, uint32_t import, const module_reg_t* results,
                      const arguments_t* a) {
  module_label_t labels[2];
  bool left_out = graph_get_optional(op) && !op->result_count;
  if (left_out) {
    for (int i = 0; i < 2; ++i) labels[i] = module_function_label(h->f);
    module_reg_t there = module_emit_value(h->f, import_resolved, MODULE_INDEX(import));
    module_emit(h->f, br_if, MODULE_REG(there), MODULE_LABEL(labels[0]), MODULE_LABEL(labels[1]));
    module_function_bind(h->f, labels[0]);
  }
  module_emit(h->f, call_import, MODULE_LIST(op->result_count, results), MODULE_INDEX(import),
              MODULE_LIST(a->count, a->regs));
  if (!left_out) return;
  module_emit(h->f, br, MODULE_LABEL(labels[1]));
  module_function_bind(h->f, labels[1]);
}

void host_emit_import(host_t* h, ir_op_t* op) {
  if (!check_call(h, op)) {
    h->failed = true;
    return;
  }
  if (graph_get_message(op)) return emit_trace(h, op);
  uint32_t import = import_of(h, graph_get_callee(op), convention_of(h, op), graph_get_optional(op));
  arguments_t a = bring_arguments(h, op);
  module_reg_t* results = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const ir_type_t* type = op->results[i].type;
    vm_type_t vm = VM_TYPE_REF;
    if (!ir_type_is_tensor(type)) host_outer_type(h, type, &vm);
    results[i] = module_function_register(h->f, vm);
  }
  emit_call(h, op, import, results, &a);
  if (graph_get_fences(op)) module_emit(h->f, hal_stream_wait, MODULE_REG(h->stream), MODULE_REG(a.signal));
  for (uint32_t i = 0; i < op->result_count; ++i) take_result(h, op, i, results[i]);
}

// The call that it decides about has the same name and is in the module, behind this.
static const char* convention_of_callee(host_t* h, const ir_block_t* block, const char* name) {
  IR_FOR_OPS(op, block) {
    if (ir_is(op, GRAPH_CALL_IMPORT) && strcmp(graph_get_callee(op), name) == 0) return convention_of(h, op);
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) {
      const char* found = convention_of_callee(h, op->regions[r].first, name);
      if (found) return found;
    }
  }
  return NULL;
}

void host_emit_import_resolved(host_t* h, ir_op_t* op) {
  const char *name = graph_get_callee(op), *convention = convention_of_callee(h, h->body, name);
  if (!convention) {  // nobody calls it
    host_scalar_set(ir_result(op, 0), module_function_i32(h->f, 0));
    return;
  }
  uint32_t import = import_of(h, name, convention, true);
  host_scalar_set(ir_result(op, 0), module_emit_value(h->f, import_resolved, MODULE_INDEX(import)));
}

void host_emit_buffer(host_t* h, ir_op_t* op) {
  const ir_attr_t* value = graph_get_value(op);
  module_reg_t buffer = module_function_ref(h->f);
  if (value->kind == IR_ATTR_STRING) {
    uint32_t text = module_writer_string(h->writer, host_view(value->text));
    module_emit(h->f, buffer_string, MODULE_REG(buffer), MODULE_INDEX(text));
  } else {
    size_t size = (size_t)host_tensor_bytes(value->type);
    unsigned char* data = arena_alloc(ir_context_arena(h->ctx), size + 1);
    size_t step = value->splat ? value->size : size;
    for (size_t at = 0; step && at + step <= size; at += step) memcpy(data + at, ir_attr_data(value), step);
    const char* name = arena_printf(ir_context_arena(h->ctx), "buffers/%u.bin", h->host_buffer_count++);
    module_segment_t segment = {.entry = host_view(name), .data = {data, size}, .alignment = 64};
    module_emit(h->f, buffer_const, MODULE_REG(buffer), MODULE_INDEX(module_writer_segment(h->writer, &segment)));
  }
  host_scalar_set(ir_result(op, 0), buffer);
}
