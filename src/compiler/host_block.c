// The ops of a block as instructions: runs of dispatches become command tables, control flow becomes branches around
// them, numbers the host needs are read back from the device.
#include <string.h>

#include "base/memory.h"
#include "compiler/host_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Command tables
//===----------------------------------------------------------------------------------------------------------------===

// Most parameters that a dispatch can need.
static uint32_t params_of(const ir_op_t* op) {
  uint32_t count = graph_get_workgroup_rule(op) != NULL;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_value_t* value = ir_operand(op, i);
    bool literal = value->def && ir_is(value->def, GRAPH_CONSTANT) && value->type->kind != IR_TYPE_FLOAT;
    count += !ir_type_is_tensor(value->type) && !literal;
  }
  return count;
}

static bool ends_table(const ir_op_t* op) {
  return ir_is(op, GRAPH_IF) || ir_is(op, GRAPH_WHILE) || ir_is(op, GRAPH_TO_SCALAR);
}

// The same for all dispatches from `op` on, before something comes that asks for their results; and lengths of copies.
static uint32_t params_ahead(const ir_op_t* op) {
  uint32_t count = 0;
  for (; op && count < HOST_MAX_PARAMS && !ends_table(op); op = op->next) {
    bool ends_round = !op->next && ir_is(ir_op_parent(op), GRAPH_WHILE);
    if (ir_is(op, GRAPH_DISPATCH)) count += params_of(op);
    if (graph_is_window(op)) ++count;
    if (ends_round) count += op->operand_count;
  }
  return count < HOST_MAX_PARAMS ? count : HOST_MAX_PARAMS;
}

static module_table_t* open_table(host_t* h, uint32_t params) {
  char* name = arena_printf(ir_context_arena(h->ctx), h->table_count ? "%s_%u" : "%s", h->name, h->table_count);
  ++h->table_count;
  h->access_count = h->param_count = h->table_buffer_count = 0;
  h->param_room = params;
  h->table = module_writer_table(h->writer, host_view(name), params);
  return h->table;
}

static module_table_t* table(host_t* h) { return h->table ? h->table : open_table(h, 0); }

void host_flush(host_t* h) {
  if (!h->table) return;
  while (h->param_count < h->param_room) h->params[h->param_count++] = host_number_constant(h, 0);
  module_reg_t buffers[HOST_MAX_BUFFERS];
  for (uint32_t i = 0; i < h->table_buffer_count; ++i) buffers[i] = h->buffers[h->table_buffers[i]];
  module_emit(h->f, hal_execute, MODULE_REG(h->stream), MODULE_INDEX(module_table_index(h->table)),
              MODULE_LIST(h->param_count, h->params), MODULE_LIST(h->table_buffer_count, buffers));
  h->table = NULL;
}

// The storage's place in h->buffers.
uint32_t host_buffer_of(const host_t* h, const storage_t* s) {
  if (s->kind == STORAGE_ARENA) return h->arena_buffer;
  return s->kind == STORAGE_BUFFER ? h->slots[s->index].buffer : s->index;
}

static uint32_t slot_of(host_t* h, storage_t* s) {
  module_table_t* t = table(h);
  if (s->table == t) return s->slot;
  s->table = t;
  if (s->kind == STORAGE_CONSTANT) return s->slot = module_table_constant_slot(t, s->index);
  uint32_t buffer = host_buffer_of(h, s), argument = 0;
  while (argument < h->table_buffer_count && h->table_buffers[argument] != buffer) ++argument;
  if (argument == h->table_buffer_count) h->table_buffers[h->table_buffer_count++] = buffer;
  int64_t length = s->kind == STORAGE_ARENA ? h->arena_size : s->size == HOST_DYNAMIC ? 0 : s->size;
  return s->slot = module_table_argument_slot(t, argument, (uint64_t)length);
}

static int64_t end_of(const storage_t* s) { return s->size == HOST_DYNAMIC ? INT64_MAX : s->offset + s->size; }

// What may be the same memory has the same place; constants, which nobody writes, have none.
static uint32_t place_of(const host_t* h, const storage_t* s) {
  if (s->shares) s = s->shares;
  return s->kind == STORAGE_CONSTANT ? UINT32_MAX : host_buffer_of(h, s);
}

static void note_access(host_t* h, storage_t* s, bool writes) {
  if (h->access_count == h->access_capacity) {
    h->access_capacity = h->access_capacity ? h->access_capacity * 2 : 64;
    h->accesses = memory_resize(h->accesses, sizeof(*h->accesses) * h->access_capacity);
  }
  h->accesses[h->access_count++] = (access_t){place_of(h, s), s->offset, end_of(s), writes};
}

static bool conflicts(const host_t* h, const storage_t* s, bool writes) {
  uint32_t place = place_of(h, s);
  for (uint32_t i = 0; i < h->access_count; ++i) {
    const access_t* a = &h->accesses[i];
    if (a->place == place && (a->writes || writes) && a->first < end_of(s) && s->offset < a->end) return true;
  }
  return false;
}

typedef struct touched_t {
  storage_t* storage;
  bool writes;
} touched_t;

// A barrier when a command touches what one since the last barrier touched, and one of them writes; and when there are
// many to compare with.
static void order(host_t* h, const touched_t* touched, uint32_t count) {
  enum { MAX_ACCESSES = 512 };
  bool barrier = h->access_count > MAX_ACCESSES;
  for (uint32_t i = 0; i < count && !barrier; ++i) barrier = conflicts(h, touched[i].storage, touched[i].writes);
  if (barrier) {
    module_table_barrier(table(h));
    h->access_count = 0;
  }
  for (uint32_t i = 0; i < count; ++i) note_access(h, touched[i].storage, touched[i].writes);
}

static module_binding_t binding_of(host_t* h, storage_t* s) {
  uint64_t length = s->size == HOST_DYNAMIC ? MODULE_WHOLE_BUFFER : (uint64_t)s->size;
  return (module_binding_t){slot_of(h, s), MODULE_LIT(s->offset), MODULE_LIT(length)};
}

static void make_room(host_t* h, uint32_t buffers) {
  if (h->table && h->table_buffer_count + buffers > HOST_MAX_BUFFERS) host_flush(h);
}

// A table's parameter that holds the register.
static module_value_t param_of_reg(host_t* h, module_reg_t reg) {
  for (uint32_t i = 0; i < h->param_count; ++i) {
    if (h->params[i] == reg) return MODULE_PARAM(i);
  }
  h->params[h->param_count] = reg;
  return MODULE_PARAM(h->param_count++);
}

void host_copy(host_t* h, storage_t* from, storage_t* to) {
  if (from == to || to->size == 0) return;
  make_room(h, 2);
  bool has_room = h->table && h->param_count < h->param_room;
  if (to->size == HOST_DYNAMIC && !has_room) {  // by an instruction, as no table is open
    host_flush(h);
    module_operand_t zero = MODULE_REG(module_function_i64(h->f, 0));
    module_emit(h->f, hal_copy, MODULE_REG(h->stream), MODULE_REG(h->buffers[host_buffer_of(h, from)]), zero,
                MODULE_REG(h->buffers[host_buffer_of(h, to)]), zero, MODULE_REG(to->reg));
    return;
  }
  table(h);
  order(h, (touched_t[]){{from, false}, {to, true}}, 2);
  module_binding_t source = binding_of(h, from), target = binding_of(h, to);
  if (to->size == HOST_DYNAMIC) source.length = target.length = param_of_reg(h, to->reg);
  module_table_copy(table(h), source, target);
}

//===----------------------------------------------------------------------------------------------------------------===
// Run-time sizes
//===----------------------------------------------------------------------------------------------------------------===

// Stops when `size` times as many bytes as there are in `bytes` would be too many to address.
static void check_size(host_t* h, const ir_type_t* type, module_reg_t bytes, module_reg_t size) {
  module_reg_t one = host_number_constant(h, 1), limit = host_number_constant(h, HOST_MAX_BYTES);
  if (!h->has_scratch) {
    for (int i = 0; i < 3; ++i) h->scratch[i] = module_function_register(h->f, i == 2 ? VM_TYPE_I32 : VM_TYPE_I64);
    h->has_scratch = true;
  }
  module_operand_t some = MODULE_REG(h->scratch[0]), times = MODULE_REG(h->scratch[1]);
  module_operand_t wrong = MODULE_REG(h->scratch[2]);
  module_emit(h->f, i64_max_s, some, MODULE_REG(bytes), MODULE_REG(one));
  module_emit(h->f, i64_div_u, times, MODULE_REG(limit), some);
  module_emit(h->f, i64_lt_u, wrong, times, MODULE_REG(size));
  const char* text =
      arena_printf(ir_context_arena(h->ctx), "a value of type %s would be too large", ir_type_str(h->ctx, type));
  module_emit(h->f, fail_if, wrong, MODULE_IMM(IREE_STATUS_RESOURCE_EXHAUSTED),
              MODULE_INDEX(module_writer_string(h->writer, host_view(text))));
}

void host_set_dims(host_t* h, storage_t* s, const ir_type_t* type, const module_reg_t* dims) {
  int64_t bytes = ir_type_bytes(type->element);
  uint32_t count = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] != IR_DYNAMIC) bytes *= type->dims[i];
    count += type->dims[i] == IR_DYNAMIC;
  }
  s->dims = arena_copy(ir_context_arena(h->ctx), dims, sizeof(*dims) * count);
  s->reg = host_number_constant(h, bytes);
  for (uint32_t i = 0; i < count; ++i) {
    if (!host_number_is_known(h, VM_OP_i64_mul, s->reg, dims[i])) check_size(h, type, s->reg, dims[i]);
    s->reg = host_number_binary(h, VM_OP_i64_mul, s->reg, dims[i]);
  }
}

// The value that an entry of `sizes` names.
static ir_value_t* size_named(ir_op_t* op, int64_t number) {
  if (number >= 0)
    return number < op->operand_count && !ir_is(op, GRAPH_WHILE) ? ir_operand(op, (uint32_t)number) : NULL;
  return ir_is(op, GRAPH_IF) && -1 - number < op->result_count ? ir_result(op, (uint32_t)(-1 - number)) : NULL;
}

bool host_result_sizes(const ir_value_t* result, ir_value_t** out) {
  ir_op_t* op = result->def;
  bool is_while = ir_is(op, GRAPH_WHILE), has_list = ir_is(op, GRAPH_DISPATCH) || ir_is(op, GRAPH_IF) || is_while;
  const ir_attr_t* attr = has_list ? graph_attr(op, GRAPH_ATTR_sizes) : NULL;
  int64_t all[HOST_MAX_SIZES];
  if (!attr) return false;
  uint32_t count = ir_attr_ints(attr, all, HOST_MAX_SIZES), at = 0;
  for (uint32_t i = 0; ir_is(op, GRAPH_DISPATCH) && i < op->operand_count; ++i) {
    const ir_type_t* type = ir_operand(op, i)->type;
    for (int32_t d = 0; ir_type_is_tensor(type) && d < type->rank; ++d) at += type->dims[d] == IR_DYNAMIC;
  }
  for (uint32_t i = 0; i <= result->index; ++i) {
    const ir_type_t* type = op->results[i].type;
    for (int32_t d = 0, next = 0; ir_type_is_tensor(type) && d < type->rank; ++d) {
      if (type->dims[d] != IR_DYNAMIC) continue;
      if (at >= count || at >= HOST_MAX_SIZES) return false;
      bool carried = is_while && all[at] >= 0 && all[at] < op->result_count;
      out[next] = carried ? ir_result(op, (uint32_t)all[at]) : size_named(op, all[at]);
      if (!out[next++] && !is_while) return false;
      ++at;
    }
  }
  return true;
}

bool host_size_changes(const ir_value_t* result) {
  ir_value_t* sizes[GRAPH_MAX_RANK] = {NULL};
  bool late = false;
  if (!ir_type_is_tensor(result->type) || ir_type_is_static(result->type) || !host_result_sizes(result, sizes))
    return false;
  for (int i = 0; i < GRAPH_MAX_RANK; ++i) late |= sizes[i] && sizes[i]->def == result->def;
  return late;
}

void host_acquire_slot(host_t* h, const storage_t* s) {
  host_slot_t* slot = &h->slots[s->index];
  if (slot->acquired) return;
  slot->acquired = true;
  module_emit(h->f, hal_transient_acquire, MODULE_REG(h->buffers[slot->buffer]), MODULE_REG(h->stream),
              MODULE_REG(s->reg));
}

// Sizes, and memory where it has none yet, of a result; an if's branches bring the memory for one whose sizes they
// give.
static void bring_result(host_t* h, ir_value_t* value) {
  storage_t* s = value->data;
  ir_value_t* sizes[GRAPH_MAX_RANK] = {NULL};
  module_reg_t dims[GRAPH_MAX_RANK];
  if (!ir_type_is_tensor(value->type) || ir_type_is_static(value->type)) return;
  const storage_t* init = ir_is(value->def, GRAPH_WHILE) ? ir_operand(value->def, value->index)->data : NULL;
  if (!host_result_sizes(value, sizes) && !init) return;
  for (int32_t i = 0, next = 0; i < value->type->rank; ++i) {
    if (value->type->dims[i] != IR_DYNAMIC) continue;
    dims[next] = sizes[next] ? host_scalar_reg(h, sizes[next]) : init->dims[next];
    ++next;
  }
  if (host_size_changes(value)) {
    s->dims = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, GRAPH_MAX_RANK);
    memcpy(s->dims, dims, sizeof(dims));
    s->reg = module_function_register(h->f, VM_TYPE_I64);
    if (!init) return;
    module_emit(h->f, mov, MODULE_REG(s->reg), MODULE_REG(init->reg));
  } else {
    host_set_dims(h, s, value->type, dims);
  }
  if (s->kind == STORAGE_BUFFER) host_acquire_slot(h, s);
  if (s->kind != STORAGE_OUTPUT) return;
  module_emit(h->f, hal_alloca, MODULE_REG(h->buffers[host_buffer_of(h, s)]), MODULE_REG(h->stream),
              MODULE_REG(s->reg));
}

void host_release_slots(host_t* h, const ir_block_t* block) {
  for (uint32_t i = 0; i < h->slot_count; ++i) {
    host_slot_t* slot = &h->slots[i];
    if (slot->block != block || !slot->acquired) continue;
    module_emit(h->f, hal_transient_release, MODULE_REG(h->stream), MODULE_REG(h->buffers[slot->buffer]));
    slot->acquired = false;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

// The one element of a tensor, in a register of its type.
static module_reg_t load_number(host_t* h, ir_value_t* tensor) {
  host_flush(h);
  storage_t* s = tensor->data;
  const ir_type_t* type = tensor->type->element;
  vm_type_t vm = VM_TYPE_I64;
  module_reg_t buffer;
  if (s->kind == STORAGE_CONSTANT) {
    buffer = module_function_ref(h->f);
    module_emit(h->f, hal_constant, MODULE_REG(buffer), MODULE_INDEX(s->index));
  } else {
    buffer = h->buffers[host_buffer_of(h, s)];
  }
  module_operand_t operands[] = {MODULE_REG(h->stream), MODULE_REG(buffer),
                                 MODULE_REG(module_function_i64(h->f, s->offset))};
  host_scalar_type(type, &vm);
  vm_op_t code = vm == VM_TYPE_F32 ? VM_OP_hal_load_f32 : VM_OP_hal_load_f64;
  if (vm == VM_TYPE_I64) code = VM_OP_hal_load_i64;
  if (vm == VM_TYPE_I32) {
    code = type->width == 32   ? VM_OP_hal_load_i32
           : type->width == 16 ? VM_OP_hal_load_i16
           : type->width == 8  ? VM_OP_hal_load_i8
                               : VM_OP_hal_load_u8;
  }
  return module_function_emit_value(h->f, code, operands, 3);
}

// A condition: a number, or a tensor of one.
module_reg_t host_condition(host_t* h, ir_value_t* value) {
  if (ir_type_is_tensor(value->type)) return load_number(h, value);
  host_flush(h);
  return host_scalar_reg(h, value);
}

static module_value_t param_of(host_t* h, ir_value_t* value) {
  if (value->def && ir_is(value->def, GRAPH_CONSTANT) && value->type->kind != IR_TYPE_FLOAT) {
    return MODULE_LIT(graph_get_value(value->def)->integer);
  }
  module_reg_t reg = host_scalar_reg(h, value);
  vm_type_t vm = VM_TYPE_I64;
  host_scalar_type(value->type, &vm);
  if (vm == VM_TYPE_F64) reg = module_emit_value(h->f, bits_f64_i64, MODULE_REG(reg));
  if (vm == VM_TYPE_F32) reg = module_emit_value(h->f, bits_f32_i32, MODULE_REG(reg));
  if (vm == VM_TYPE_F32 || vm == VM_TYPE_I32) reg = module_emit_value(h->f, ext_i32_i64_u, MODULE_REG(reg));
  return param_of_reg(h, reg);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

// Workgroups along x of a kernel whose iterations are known at run time: kernels.h, `workgroup_rule`.
static module_value_t workgroups_of(host_t* h, ir_op_t* op, int64_t fixed) {
  int64_t rule[3 + 4 * GRAPH_MAX_RANK];
  uint32_t count = ir_attr_ints(graph_get_workgroup_rule(op), rule, 3 + 4 * GRAPH_MAX_RANK);
  if (!count) return MODULE_LIT(fixed);
  module_reg_t groups = host_number_constant(h, rule[0]);
  for (uint32_t i = 3; i < count; ++i) {
    groups = host_number_binary(h, VM_OP_i64_mul, groups, host_scalar_reg(h, ir_operand(op, (uint32_t)rule[i])));
  }
  if (rule[1] > 1) groups = host_number_binary(h, VM_OP_i64_ceildiv_u, groups, host_number_constant(h, rule[1]));
  if (rule[2]) groups = host_number_binary(h, VM_OP_i64_min_s, groups, host_number_constant(h, rule[2]));
  groups = host_number_binary(h, VM_OP_i64_max_s, groups, host_number_constant(h, 1));
  return param_of_reg(h, groups);
}

static uint32_t push_words(host_t* h, ir_value_t* value, module_push_t* words) {
  module_value_t number = param_of(h, value);
  vm_type_t vm = VM_TYPE_I64;
  host_scalar_type(value->type, &vm);
  words[0] = (module_push_t){number, false};
  words[1] = (module_push_t){number, true};
  return vm == VM_TYPE_I64 || vm == VM_TYPE_F64 ? 2 : 1;
}

// What a dispatch passes to its code.
typedef struct passed_t {
  touched_t* touched;  // bindings
  uint32_t count;
  module_push_t* words;
  uint32_t pushes;
} passed_t;

static void pass_value(host_t* h, ir_value_t* value, passed_t* out) {
  if (ir_type_is_tensor(value->type)) {
    out->touched[out->count++] = (touched_t){value->data, false};
  } else {
    out->pushes += push_words(h, value, out->words + out->pushes);
  }
}

// Code that the program brings, or NULL: what a dispatch has inside then.
static const ir_op_t* extern_of(const ir_op_t* dispatch) {
  const ir_op_t* op = dispatch->regions[0].first->first;
  return ir_is(op, GRAPH_EXTERN) ? op : NULL;
}

static ir_value_t* extern_operand(ir_op_t* dispatch, const ir_op_t* code, uint32_t i) {
  const ir_value_t* arg = ir_operand(code, i);
  return ir_operand(dispatch, arg->index);
}

static uint32_t read_tied(const ir_op_t* code, int64_t* tied) {
  return ir_attr_ints(graph_get_tied(code), tied, GRAPH_MAX_TIED);
}

// Results in the place of an argument start as a copy of it.
static void copy_tied(host_t* h, ir_op_t* op, const ir_op_t* code) {
  int64_t tied[GRAPH_MAX_TIED];
  uint32_t results = read_tied(code, tied);
  for (uint32_t i = 0; i < results; ++i) {
    if (tied[i] >= 0) host_copy(h, extern_operand(op, code, (uint32_t)tied[i])->data, op->results[i].data);
  }
}

static void pass_to_extern(host_t* h, ir_op_t* op, const ir_op_t* code, passed_t* out) {
  int64_t tied[GRAPH_MAX_TIED];
  uint32_t results = read_tied(code, tied), arguments = (uint32_t)graph_get_arguments(code);
  for (uint32_t i = 0; i < arguments; ++i) {
    uint32_t result = 0;
    while (result < results && tied[result] != i) ++result;
    if (result == results) {
      pass_value(h, extern_operand(op, code, i), out);
    } else {
      out->touched[out->count++] = (touched_t){op->results[result].data, true};
    }
  }
  for (uint32_t i = 0; i < results; ++i) {
    if (tied[i] < 0) out->touched[out->count++] = (touched_t){op->results[i].data, true};
  }
}

static void pass_values(host_t* h, ir_op_t* op, passed_t* out) {
  for (uint32_t i = 0; i < op->operand_count; ++i) pass_value(h, ir_operand(op, i), out);
  for (uint32_t i = 0; i < op->result_count; ++i) out->touched[out->count++] = (touched_t){op->results[i].data, true};
}

static void count_workgroups(host_t* h, ir_op_t* op, const ir_op_t* code, module_value_t* out) {
  int64_t workgroups[3] = {1, 1, 1};
  ir_attr_ints(graph_attr(op, GRAPH_ATTR_workgroups), workgroups, 3);
  uint32_t first = code ? (uint32_t)graph_get_arguments(code) : 0;
  for (uint32_t i = 0; i < 3; ++i) {
    out[i] = code ? param_of(h, extern_operand(op, code, first + i)) : MODULE_LIT(workgroups[i]);
  }
  if (!code) out[0] = workgroups_of(h, op, workgroups[0]);
}

static void emit_dispatch(host_t* h, ir_op_t* op) {
  arena_t* arena = ir_context_arena(h->ctx);
  const ir_op_t* code = extern_of(op);
  uint32_t most = op->result_count + (code ? code->operand_count : op->operand_count), params = params_of(op);
  for (uint32_t i = 0; i < op->result_count; ++i) bring_result(h, ir_result(op, i));
  if (code) copy_tied(h, op, code);
  if (graph_in_place(op) >= 0) {  // where the operand is no memory that may be changed
    host_copy(h, ir_operand(op, (uint32_t)graph_in_place(op))->data, ir_result(op, 0)->data);
  }
  if (h->table && params && h->param_count + params > h->param_room) host_flush(h);
  make_room(h, most);
  module_binding_t* bindings = ARENA_ARRAY(arena, module_binding_t, most + 1);
  passed_t passed = {.touched = ARENA_ARRAY(arena, touched_t, most + 1),
                     .words = ARENA_ARRAY(arena, module_push_t, 2 * most + 1)};
  if (!h->table) open_table(h, params_ahead(op));
  if (code) {
    pass_to_extern(h, op, code, &passed);
  } else {
    pass_values(h, op, &passed);
  }
  order(h, passed.touched, passed.count);
  for (uint32_t i = 0; i < passed.count; ++i) bindings[i] = binding_of(h, passed.touched[i].storage);
  const ir_loc_t* loc = ir_loc_find_file(op->loc);
  if (loc && !h->options.strip_source_map)
    module_table_location(table(h), host_view(loc->name), loc->line, loc->column);
  int64_t object = graph_attr(op, GRAPH_ATTR_object) ? graph_get_object(op) : -1;
  module_dispatch_t dispatch = {.executable = object < 0 ? h->executable : h->objects[object],
                                .entry = (uint32_t)graph_get_entry(op),
                                .push_count = passed.pushes,
                                .pushes = passed.words,
                                .binding_count = passed.count,
                                .bindings = bindings};
  count_workgroups(h, op, code, dispatch.workgroups);
  module_table_dispatch(table(h), &dispatch);
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow
//===----------------------------------------------------------------------------------------------------------------===

// Numbers go through fresh registers first, so that they may change places; what is still in the table has the old
// ones.
void host_move_numbers(host_t* h, ir_op_t* yield, const module_reg_t* targets, uint32_t count) {
  module_reg_t* values = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, count + 1);
  if (h->param_count) host_flush(h);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* value = ir_operand(yield, i);
    if (ir_type_is_tensor(value->type)) continue;
    values[i] = host_scalar_new(h, value->type);
    host_scalar_move(h, values[i], host_scalar_reg(h, value), value->type);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t* type = ir_operand(yield, i)->type;
    if (!ir_type_is_tensor(type)) host_scalar_move(h, targets[i], values[i], type);
  }
}

// Copies a branch's yielded values to where they belong.
static void copy_yielded(host_t* h, ir_op_t* op, ir_op_t* yield) {
  module_reg_t* registers = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    storage_t *from = ir_operand(yield, i)->data, *to = op->results[i].data;
    registers[i] = to->reg;
    if (!ir_type_is_tensor(op->results[i].type)) continue;
    if (host_size_changes(ir_result(op, i))) {
      module_emit(h->f, mov, MODULE_REG(to->reg), MODULE_REG(from->reg));
      h->slots[to->index].acquired = false;  // each branch acquires it, of which one runs
      host_acquire_slot(h, to);
    }
    host_copy(h, from, to);
  }
  host_move_numbers(h, yield, registers, op->result_count);
}

// Registers for results of control flow that are numbers; memory for those of run-time size.
void host_bring_results(host_t* h, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* result = ir_result(op, i);
    if (!ir_type_is_tensor(result->type)) host_scalar_set(result, host_scalar_new(h, result->type));
  }
  for (uint32_t i = 0; i < op->result_count; ++i) bring_result(h, ir_result(op, i));
}

static void emit_if(host_t* h, ir_op_t* op) {
  const ir_block_t* outer = h->block;
  host_bring_results(h, op);
  module_reg_t condition = host_condition(h, ir_operand(op, 0));
  module_label_t labels[3];
  for (int i = 0; i < 3; ++i) labels[i] = module_function_label(h->f);
  module_emit(h->f, br_if, MODULE_REG(condition), MODULE_LABEL(labels[0]), MODULE_LABEL(labels[1]));
  for (uint32_t r = 0; r < 2; ++r) {
    module_function_bind(h->f, labels[r]);
    ir_block_t* body = op->regions[r].first;
    host_emit_block(h, body);
    copy_yielded(h, op, body->last);
    host_flush(h);
    host_release_slots(h, body);
    module_emit(h->f, br, MODULE_LABEL(labels[2]));
  }
  module_function_bind(h->f, labels[2]);
  h->block = outer;
}

static void refuse(host_t* h, ir_op_t* op) {
  h->failed = true;
  ir_op_error(h->ctx, op, "cannot be run by the host program; it must be part of a kernel");
}

static void emit_dim(host_t* h, ir_op_t* op) {
  ir_value_t* x = ir_operand(op, 0);
  const storage_t* s = x->data;
  int64_t index = graph_get_index(op), before = 0;
  for (int64_t i = 0; i < index; ++i) before += x->type->dims[i] == IR_DYNAMIC;
  bool known = x->type->dims[index] != IR_DYNAMIC;
  host_scalar_set(ir_result(op, 0), known ? module_function_i64(h->f, x->type->dims[index]) : s->dims[before]);
}

static void emit_load(host_t* h, ir_op_t* op) {
  ir_value_t* value = ir_result(op, 0);
  const host_global_t* global = host_find_global(h, op);
  if (!ir_type_is_tensor(value->type)) {
    vm_type_t vm = VM_TYPE_I64;
    host_outer_type(h, value->type, &vm);
    module_reg_t reg = module_function_register(h->f, vm);
    module_emit(h->f, global_load, MODULE_REG(reg), MODULE_INDEX(global->number));
    host_scalar_set(value, host_scalar_enter(h, value->type, reg));
    return;
  }
  storage_t* to = value->data;
  if (to->kind == STORAGE_GLOBAL) return;
  storage_t* source = ARENA_NEW(ir_context_arena(h->ctx), storage_t);
  *source = (storage_t){.kind = STORAGE_GLOBAL, .index = global->buffer, .size = to->size};
  host_copy(h, source, to);
}

static void emit_store(host_t* h, ir_op_t* op) {
  ir_value_t* value = ir_operand(op, 0);
  const host_global_t* global = host_find_global(h, op);
  if (!ir_type_is_tensor(value->type)) {
    module_emit(h->f, global_store, MODULE_INDEX(global->number), MODULE_REG(host_scalar_leave(h, op, value)));
    return;
  }
  storage_t *from = value->data, *target = ARENA_NEW(ir_context_arena(h->ctx), storage_t);
  *target = (storage_t){.kind = STORAGE_GLOBAL, .index = global->buffer, .size = host_tensor_bytes(value->type)};
  if (from->kind != STORAGE_GLOBAL || from->index != target->index) host_copy(h, from, target);
}

// A number is looked at before what is in the table runs.
static void emit_assert(host_t* h, ir_op_t* op) {
  const char* message = graph_get_message(op);
  ir_value_t* condition = ir_operand(op, 0);
  module_reg_t zero = module_function_i32(h->f, 0);
  module_reg_t holds =
      ir_type_is_tensor(condition->type) ? host_condition(h, condition) : host_scalar_reg(h, condition);
  module_reg_t wrong = module_emit_value(h->f, i32_eq, MODULE_REG(holds), MODULE_REG(zero));
  uint32_t text = module_writer_string(h->writer, host_view(message));
  if (op->operand_count == 1) {
    module_emit(h->f, fail_if, MODULE_REG(wrong), MODULE_IMM(IREE_STATUS_INVALID_ARGUMENT), MODULE_INDEX(text));
    return;
  }
  uint32_t count = op->operand_count - 1;
  module_reg_t* numbers = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, count);
  for (uint32_t i = 0; i < count; ++i) numbers[i] = host_scalar_reg(h, ir_operand(op, 1 + i));
  module_emit(h->f, fail_numbers, MODULE_REG(wrong), MODULE_IMM(IREE_STATUS_INVALID_ARGUMENT), MODULE_INDEX(text),
              MODULE_LIST(count, numbers));
}

static void emit_host_op(host_t* h, ir_op_t* op) {
  bool is_global = ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE);
  if (is_global && !host_find_global(h, op)) {
    refuse(h, op);
  } else if (ir_is(op, GRAPH_GLOBAL_LOAD)) {
    emit_load(h, op);
  } else if (ir_is(op, GRAPH_GLOBAL_STORE)) {
    emit_store(h, op);
  } else if (ir_is(op, GRAPH_ASSERT)) {
    emit_assert(h, op);
  } else if (ir_is(op, GRAPH_CALL_IMPORT)) {
    host_emit_import(h, op);
  } else if (ir_is(op, GRAPH_IMPORT_RESOLVED)) {
    host_emit_import_resolved(h, op);
  } else if (ir_is(op, GRAPH_BUFFER)) {
    host_emit_buffer(h, op);
  } else if (ir_is(op, GRAPH_DIM)) {
    emit_dim(h, op);
  } else if (ir_is(op, GRAPH_DYNAMIC_SLICE) && graph_is_window(op)) {
    host_emit_window_read(h, op);
  } else if (ir_is(op, GRAPH_DYNAMIC_UPDATE) && graph_is_window(op)) {
    host_emit_window_write(h, op);
  } else if (op->result_count != 1 || ir_type_is_tensor(op->results[0].type)) {
    refuse(h, op);
  } else if (ir_result(op, 0)->uses && !host_scalar_emit(h, op)) {
    refuse(h, op);
  }
}

void host_emit_block(host_t* h, ir_block_t* block) {
  h->block = block;
  IR_FOR_OPS(op, block) {
    if (op == block->last && ir_has_trait(op, IR_TRAIT_TERMINATOR)) return;
    if (ir_is(op, GRAPH_DISPATCH)) {
      emit_dispatch(h, op);
    } else if (ir_is(op, GRAPH_IF)) {
      host_flush(h);
      emit_if(h, op);
    } else if (ir_is(op, GRAPH_WHILE)) {
      host_emit_while(h, op);
    } else if (ir_is(op, GRAPH_TO_SCALAR)) {
      host_scalar_set(ir_result(op, 0), load_number(h, ir_operand(op, 0)));
    } else if (!ir_is(op, GRAPH_CONSTANT)) {
      emit_host_op(h, op);
    }
  }
}
