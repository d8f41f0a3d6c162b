// The ops of a block as instructions: runs of dispatches become command tables, control flow becomes branches around
// them, numbers the host needs are read back from the device.
#include <stdlib.h>
#include <string.h>

#include "compiler/host_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Command tables
//===----------------------------------------------------------------------------------------------------------------===

// Most parameters that the dispatches from `op` on can need before something else than a dispatch comes.
static uint32_t params_ahead(const ir_op_t* op) {
  uint32_t count = 0;
  for (; op && (ir_is(op, GRAPH_DISPATCH) || ir_is(op, GRAPH_CONSTANT)); op = op->next) {
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      const ir_value_t* value = ir_operand(op, i);
      count += !ir_type_is_tensor(value->type) && !(value->def && ir_is(value->def, GRAPH_CONSTANT));
    }
  }
  return count < HOST_MAX_PARAMS ? count : HOST_MAX_PARAMS;
}

static module_table_t* open_table(host_t* h, uint32_t params) {
  if (h->table) return h->table;
  char* name = arena_printf(ir_context_arena(h->ctx), h->table_count ? "%s_%u" : "%s", h->name, h->table_count);
  ++h->table_count;
  h->access_count = h->param_count = h->table_buffers = 0;
  h->param_room = params;
  h->table = module_writer_table(h->writer, host_view(name), params);
  return h->table;
}

static module_table_t* table(host_t* h) { return open_table(h, 0); }

void host_flush(host_t* h) {
  if (!h->table) return;
  while (h->param_count < h->param_room)
    h->params[h->param_count++] = module_function_i64(h->f, 0);  // equal ones shared
  module_emit(h->f, hal_execute, MODULE_REG(h->stream), MODULE_INDEX(module_table_index(h->table)),
              MODULE_LIST(h->param_count, h->params), MODULE_LIST(h->table_buffers, h->buffers));
  h->table = NULL;
}

static uint32_t slot_of(host_t* h, storage_t* s) {
  module_table_t* t = table(h);
  if (s->table == t) return s->slot;
  s->table = t;
  uint32_t argument = 0;
  int64_t length = s->size;
  switch (s->kind) {
    case STORAGE_CONSTANT:
      return s->slot = module_table_constant_slot(t, s->index);
    case STORAGE_ARENA:
      length = h->arena_size;
      break;
    case STORAGE_ARGUMENT:
      argument = h->first_input + s->index;
      break;
    default:
      argument = h->first_output + s->index;
      break;
  }
  if (argument >= h->table_buffers) h->table_buffers = argument + 1;
  return s->slot = module_table_argument_slot(t, argument, (uint64_t)length);
}

static void note_access(host_t* h, storage_t* s, bool writes) {
  if (h->access_count == h->access_capacity) {
    h->access_capacity = h->access_capacity ? h->access_capacity * 2 : 64;
    h->accesses = realloc(h->accesses, sizeof(*h->accesses) * h->access_capacity);
    if (!h->accesses) abort();
  }
  h->accesses[h->access_count++] = (access_t){slot_of(h, s), s->offset, s->offset + s->size, writes};
}

static bool conflicts(host_t* h, storage_t* s, bool writes) {
  uint32_t slot = slot_of(h, s);
  for (uint32_t i = 0; i < h->access_count; ++i) {
    const access_t* a = &h->accesses[i];
    if (a->slot == slot && (a->writes || writes) && a->first < s->offset + s->size && s->offset < a->end) return true;
  }
  return false;
}

typedef struct touched_t {
  storage_t* storage;
  bool writes;
} touched_t;

// A barrier when a command touches what one since the last barrier touched, and one of them writes.
static void order(host_t* h, const touched_t* touched, uint32_t count) {
  bool barrier = false;
  for (uint32_t i = 0; i < count; ++i) barrier |= conflicts(h, touched[i].storage, touched[i].writes);
  if (barrier) {
    module_table_barrier(table(h));
    h->access_count = 0;
  }
  for (uint32_t i = 0; i < count; ++i) note_access(h, touched[i].storage, touched[i].writes);
}

static module_binding_t binding_of(host_t* h, storage_t* s) {
  return (module_binding_t){slot_of(h, s), MODULE_LIT(s->offset), MODULE_LIT(s->size)};
}

void host_copy(host_t* h, storage_t* from, storage_t* to) {
  if (from == to || to->size == 0) return;
  table(h);
  order(h, (touched_t[]){{from, false}, {to, true}}, 2);
  module_table_copy(table(h), binding_of(h, from), binding_of(h, to));
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

// The register of an index value. Registers are written where the value is computed; constants when asked for.
static module_reg_t scalar_reg(host_t* h, ir_value_t* value) {
  if (value->def && ir_is(value->def, GRAPH_CONSTANT)) {
    return module_function_i64(h->f, ir_op_attr(value->def, "value")->integer);
  }
  storage_t* s = value->data;
  return s->reg;
}

static void set_scalar(ir_value_t* value, module_reg_t reg) {
  storage_t* s = value->data;
  s->reg = reg;
  s->has_reg = true;
}

static module_reg_t load_number(host_t* h, ir_value_t* tensor) {
  host_flush(h);
  storage_t* s = tensor->data;
  const ir_type_t* type = tensor->type->element;
  module_reg_t buffer = h->buffers[0];
  if (s->kind == STORAGE_CONSTANT) {
    buffer = module_function_ref(h->f);
    module_emit(h->f, hal_constant, MODULE_REG(buffer), MODULE_INDEX(s->index));
  } else if (s->kind != STORAGE_ARENA) {
    buffer = h->buffers[(s->kind == STORAGE_ARGUMENT ? h->first_input : h->first_output) + s->index];
  }
  module_operand_t stream = MODULE_REG(h->stream), from = MODULE_REG(buffer);
  module_operand_t at = MODULE_REG(module_function_i64(h->f, s->offset));
  module_reg_t narrow;
  switch (ir_type_bytes(type)) {
    case 8:
      return module_emit_value(h->f, hal_load_i64, stream, from, at);
    case 4:
      narrow = module_emit_value(h->f, hal_load_i32, stream, from, at);
      break;
    case 2:
      narrow = module_emit_value(h->f, hal_load_i16, stream, from, at);
      break;
    default:
      narrow = type->width == 1 ? module_emit_value(h->f, hal_load_u8, stream, from, at)
                                : module_emit_value(h->f, hal_load_i8, stream, from, at);
      break;
  }
  return module_emit_value(h->f, ext_i32_i64_s, MODULE_REG(narrow));
}

static bool emit_index_op(host_t* h, ir_op_t* op) {
  int fn = graph_scalar_fn(op);
  static const struct {
    int fn;
    vm_op_t op;
  } rows[] = {{SCALAR_add, VM_OP_i64_add},    {SCALAR_sub, VM_OP_i64_sub},    {SCALAR_mul, VM_OP_i64_mul},
              {SCALAR_div, VM_OP_i64_div_s},  {SCALAR_divu, VM_OP_i64_div_u}, {SCALAR_rem, VM_OP_i64_rem_s},
              {SCALAR_remu, VM_OP_i64_rem_u}, {SCALAR_min, VM_OP_i64_min_s},  {SCALAR_max, VM_OP_i64_max_s}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (rows[i].fn != fn) continue;
    module_operand_t operands[] = {MODULE_REG(scalar_reg(h, ir_operand(op, 0))),
                                   MODULE_REG(scalar_reg(h, ir_operand(op, 1)))};
    set_scalar(ir_result(op, 0), module_function_emit_value(h->f, rows[i].op, operands, 2));
    return true;
  }
  return false;
}

// A table's parameter that holds the register.
static module_value_t param_of(host_t* h, ir_value_t* value) {
  if (value->def && ir_is(value->def, GRAPH_CONSTANT)) return MODULE_LIT(ir_op_attr(value->def, "value")->integer);
  module_reg_t reg = scalar_reg(h, value);
  for (uint32_t i = 0; i < h->param_count; ++i) {
    if (h->params[i] == reg) return MODULE_PARAM(i);
  }
  h->params[h->param_count] = reg;
  return MODULE_PARAM(h->param_count++);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static void emit_dispatch(host_t* h, ir_op_t* op) {
  int64_t workgroups[3] = {1, 1, 1};
  ir_op_ints(op, "workgroups", workgroups, 3);
  arena_t* arena = ir_context_arena(h->ctx);
  uint32_t most = op->operand_count + op->result_count, count = 0, pushes = 0;
  uint32_t ahead = params_ahead(op);
  if (h->table && ahead && h->param_count + op->operand_count > h->param_room) host_flush(h);
  module_binding_t* bindings = ARENA_ARRAY(arena, module_binding_t, most + 1);
  module_push_t* words = ARENA_ARRAY(arena, module_push_t, 2 * most + 1);
  touched_t* touched = ARENA_ARRAY(arena, touched_t, most + 1);
  open_table(h, ahead);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* value = ir_operand(op, i);
    if (ir_type_is_tensor(value->type)) {
      touched[count++] = (touched_t){value->data, false};
      continue;
    }
    module_value_t number = param_of(h, value);
    words[pushes++] = (module_push_t){number, false};
    words[pushes++] = (module_push_t){number, true};
  }
  for (uint32_t i = 0; i < op->result_count; ++i) touched[count++] = (touched_t){op->results[i].data, true};
  order(h, touched, count);
  for (uint32_t i = 0; i < count; ++i) bindings[i] = binding_of(h, touched[i].storage);
  const ir_loc_t* loc = ir_loc_find_file(op->loc);
  if (loc && !h->strip_source_map) module_table_location(table(h), host_view(loc->name), loc->line, loc->column);
  module_table_dispatch(
      table(h), &(module_dispatch_t){
                    .executable = h->executable,
                    .entry = (uint32_t)ir_op_int(op, "entry", 0),
                    .workgroups = {MODULE_LIT(workgroups[0]), MODULE_LIT(workgroups[1]), MODULE_LIT(workgroups[2])},
                    .push_count = pushes,
                    .pushes = words,
                    .binding_count = count,
                    .bindings = bindings});
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow
//===----------------------------------------------------------------------------------------------------------------===

// Copies a region's yielded values to where they belong; through a detour when one of them is also a target.
static void copy_yielded(host_t* h, ir_op_t* yield, uint32_t first, ir_value_t* const* targets, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    storage_t *from = ir_operand(yield, first + i)->data, *to = targets[i]->data;
    bool is_read_later = false;
    for (uint32_t j = i + 1; j < count; ++j) is_read_later |= ir_operand(yield, first + j)->data == to;
    if (!is_read_later || from == to) {
      host_copy(h, from, to);
      continue;
    }
    h->failed = true;
    ir_op_error(h->ctx, yield, "permutes loop-carried values; pass them through an operation");
  }
}

static void emit_if(host_t* h, ir_op_t* op) {
  module_reg_t wide = load_number(h, ir_operand(op, 0));
  module_reg_t condition = module_emit_value(h->f, trunc_i64_i32, MODULE_REG(wide));
  module_label_t labels[3];
  for (int i = 0; i < 3; ++i) labels[i] = module_function_label(h->f);
  module_emit(h->f, br_if, MODULE_REG(condition), MODULE_LABEL(labels[0]), MODULE_LABEL(labels[1]));
  ir_value_t** results = ARENA_ARRAY(ir_context_arena(h->ctx), ir_value_t*, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) results[i] = ir_result(op, i);
  for (uint32_t r = 0; r < 2; ++r) {
    module_function_bind(h->f, labels[r]);
    ir_block_t* body = op->regions[r].first;
    host_emit_block(h, body);
    copy_yielded(h, body->last, 0, results, op->result_count);
    host_flush(h);
    module_emit(h->f, br, MODULE_LABEL(labels[2]));
  }
  module_function_bind(h->f, labels[2]);
}

static void emit_while(host_t* h, ir_op_t* op) {
  ir_block_t *test = op->regions[0].first, *body = op->regions[1].first;
  for (uint32_t i = 0; i < op->operand_count; ++i) host_copy(h, ir_operand(op, i)->data, op->results[i].data);
  host_flush(h);
  module_label_t again = module_function_label(h->f), inside = module_function_label(h->f);
  module_label_t after = module_function_label(h->f);
  module_emit(h->f, br, MODULE_LABEL(again));
  module_function_bind(h->f, again);
  host_emit_block(h, test);
  module_reg_t wide = load_number(h, ir_operand(test->last, 0));
  module_reg_t condition = module_emit_value(h->f, trunc_i64_i32, MODULE_REG(wide));
  module_emit(h->f, br_if, MODULE_REG(condition), MODULE_LABEL(inside), MODULE_LABEL(after));
  module_function_bind(h->f, inside);
  host_emit_block(h, body);
  copy_yielded(h, body->last, 0, body->args, body->arg_count);
  host_flush(h);
  module_emit(h->f, br, MODULE_LABEL(again));
  module_function_bind(h->f, after);
}

static void refuse(host_t* h, ir_op_t* op) {
  h->failed = true;
  ir_op_error(h->ctx, op, "cannot be run by the host program; it must be part of a kernel");
}

void host_emit_block(host_t* h, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (op == block->last && ir_has_trait(op, IR_TRAIT_TERMINATOR)) return;
    switch (ir_code(op)) {
      case GRAPH_DISPATCH:
        emit_dispatch(h, op);
        break;
      case GRAPH_CONSTANT:
        break;
      case GRAPH_IF:
        host_flush(h);
        emit_if(h, op);
        break;
      case GRAPH_WHILE:
        emit_while(h, op);
        break;
      case GRAPH_TO_SCALAR:
        set_scalar(ir_result(op, 0), load_number(h, ir_operand(op, 0)));
        break;
      default:
        if (op->result_count != 1 || ir_type_is_tensor(op->results[0].type) || !emit_index_op(h, op)) refuse(h, op);
        break;
    }
  }
}
