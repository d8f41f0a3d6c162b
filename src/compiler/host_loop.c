// Loops. A carried value that is made anew in every round has two places: the round reads one and writes the other, and
// at its end they change places, which is two registers of the host program. So nothing is copied from round to round,
// and carried values may be permuted. Arrays of which a round reads or writes one piece (windows) stay where they are.
#include "compiler/host_state.h"

static host_pair_t* pairs_of(const ir_op_t* op) { return ((span_t*)op->data)->pairs; }

static bool is_in_place(const ir_op_t* op, uint32_t i) {
  const ir_block_t* body = op->regions[1].first;
  const ir_value_t* next = ir_operand(body->last, i);
  while (next->def && ir_is(next->def, GRAPH_DISPATCH) && graph_in_place(next->def) >= 0) {
    next = ir_operand(next->def, (uint32_t)graph_in_place(next->def));
  }
  if (next == body->args[i]) return true;
  return next->def && ir_is(next->def, GRAPH_DYNAMIC_UPDATE) && graph_is_window(next->def) &&
         ir_operand(next->def, 0) == body->args[i];
}

static storage_t* view_new(host_t* h, const ir_value_t* value) {
  storage_t* s = host_storage_new(h, value, STORAGE_VIEW);
  s->index = host_add_buffer(h);
  return s;
}

// What shares an arena with others is told apart by its place there; views have no such place, so nothing else is ever
// where they are.
static void pair_static(host_t* h, ir_value_t* result, host_pair_t* pair) {
  span_t always = {.first = 0, .last = UINT32_MAX};
  for (int i = 0; i < 2; ++i) pair->home[i] = host_storage_alive(h, result, NULL, &always);
  pair->current = view_new(h, result);
  pair->next = view_new(h, result);
}

static void pair_dynamic(host_t* h, ir_value_t* result, host_pair_t* pair) {
  span_t alive = host_span_alive(result);
  const ir_block_t* block = result->def->parent;
  pair->current = host_storage_alive(h, result, block, &alive);
  pair->next = host_storage_alive(h, result, block, &alive);
}

static void pair_new(host_t* h, ir_value_t* result, ir_value_t* next, host_pair_t* pair) {
  if (ir_type_is_static(result->type)) {
    pair_static(h, result, pair);
  } else {
    pair_dynamic(h, result, pair);
  }
  result->data = pair->current;
  bool own = host_has_own_place(next) && !next->data;
  const ir_op_t* loop = result->def;
  if (own && next->def->parent == loop->regions[1].first) next->data = pair->next;  // else copied at the end of a round
}

void host_pair_carried(host_t* h, ir_op_t* op) {
  ir_block_t* body = op->regions[1].first;
  host_pair_t* pairs = ARENA_ARRAY(ir_context_arena(h->ctx), host_pair_t, op->result_count + 1);
  ((span_t*)op->data)->pairs = pairs;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t *result = ir_result(op, i), *next = ir_operand(body->last, i);
    pairs[i] = (host_pair_t){0};
    if (!ir_type_is_tensor(result->type)) continue;
    pairs[i].changes = next != body->args[i] && host_size_changes(result);
    if (pairs[i].changes || is_in_place(op, i)) continue;
    if (host_tensor_bytes(result->type) != 0) pair_new(h, result, next, &pairs[i]);
  }
}

void host_place_pairs(host_t* h, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    host_pair_t* pair = &pairs_of(op)[i];
    for (int k = 0; k < 2 && pair->home[0]; ++k) pair->home[k]->offset = h->plan[pair->home[k]->index].offset;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Rounds
//===----------------------------------------------------------------------------------------------------------------===

static void make_view(host_t* h, const storage_t* of, module_reg_t offset, const storage_t* view) {
  module_reg_t length = view->size == HOST_DYNAMIC ? view->reg : module_function_i64(h->f, view->size);
  module_reg_t buffer = of->kind == STORAGE_CONSTANT ? module_function_ref(h->f) : h->buffers[host_buffer_of(h, of)];
  if (of->kind == STORAGE_CONSTANT) module_emit(h->f, hal_constant, MODULE_REG(buffer), MODULE_INDEX(of->index));
  module_emit(h->f, hal_subspan, MODULE_REG(h->buffers[host_buffer_of(h, view)]), MODULE_REG(buffer),
              MODULE_REG(offset), MODULE_REG(length));
}

static void bring_pairs(host_t* h, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    host_pair_t* pair = &pairs_of(op)[i];
    if (!pair->next) continue;
    if (pair->home[0]) {
      make_view(h, pair->home[0], module_function_i64(h->f, pair->home[0]->offset), pair->current);
      make_view(h, pair->home[1], module_function_i64(h->f, pair->home[1]->offset), pair->next);
      continue;
    }
    host_set_dims(h, pair->next, op->results[i].type, pair->current->dims);
    host_acquire_slot(h, pair->next);
  }
}

static void bring_initial(host_t* h, ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    storage_t* to = op->results[i].data;
    if (ir_type_is_tensor(op->results[i].type)) {
      host_copy(h, ir_operand(op, i)->data, to);
    } else {
      module_emit(h->f, mov, MODULE_REG(to->reg), MODULE_REG(host_scalar_reg(h, ir_operand(op, i))));
    }
  }
}

static void swap_places(host_t* h, const host_pair_t* pair) {
  module_operand_t current = MODULE_REG(h->buffers[host_buffer_of(h, pair->current)]);
  module_operand_t next = MODULE_REG(h->buffers[host_buffer_of(h, pair->next)]);
  module_operand_t between = MODULE_REG(module_function_ref(h->f));
  module_emit(h->f, mov_ref, between, current);
  module_emit(h->f, mov_ref, current, next);
  module_emit(h->f, mov_ref, next, between);
}

// Memory of another size for a carried value, in `made`; what the round read is given back once all are copied.
static void copy_changed(host_t* h, ir_op_t* op, module_reg_t* made) {
  const ir_op_t* yield = op->regions[1].first->last;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!pairs_of(op)[i].changes) continue;
    const storage_t* from = ir_operand(yield, i)->data;
    module_operand_t zero = MODULE_REG(module_function_i64(h->f, 0)),
                     buffer = MODULE_REG(h->buffers[host_buffer_of(h, from)]);
    host_flush(h);
    made[i] = module_function_ref(h->f);
    module_emit(h->f, hal_transient_acquire, MODULE_REG(made[i]), MODULE_REG(h->stream), MODULE_REG(from->reg));
    module_emit(h->f, hal_copy, MODULE_REG(h->stream), buffer, zero, MODULE_REG(made[i]), zero, MODULE_REG(from->reg));
  }
}

static void take_changed(host_t* h, ir_op_t* op, const module_reg_t* made) {
  const ir_op_t* yield = op->regions[1].first->last;
  module_reg_t* bytes = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, op->result_count + 1);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!pairs_of(op)[i].changes) continue;
    const storage_t *from = ir_operand(yield, i)->data, *to = op->results[i].data;
    module_operand_t buffer = MODULE_REG(h->buffers[host_buffer_of(h, to)]);
    module_emit(h->f, hal_transient_release, MODULE_REG(h->stream), buffer);
    module_emit(h->f, mov_ref, buffer, MODULE_REG(made[i]));
    bytes[i] = module_function_register(h->f, VM_TYPE_I64);  // `from` may be a carried value itself
    module_emit(h->f, mov, MODULE_REG(bytes[i]), MODULE_REG(from->reg));
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const storage_t* to = op->results[i].data;
    if (pairs_of(op)[i].changes) module_emit(h->f, mov, MODULE_REG(to->reg), MODULE_REG(bytes[i]));
  }
}

// What the round made becomes what the next one reads. Values with two places first: they may be others of this round.
static void end_round(host_t* h, ir_op_t* op) {
  ir_block_t* body = op->regions[1].first;
  uint32_t count = op->result_count;
  module_reg_t* registers = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, count + 1);
  module_reg_t* made = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, count + 1);
  copy_changed(h, op, made);
  for (uint32_t i = 0; i < count; ++i) {
    const host_pair_t* pair = &pairs_of(op)[i];
    if (pair->next) host_copy(h, ir_operand(body->last, i)->data, pair->next);
    registers[i] = ((storage_t*)op->results[i].data)->reg;
  }
  for (uint32_t i = 0; i < count; ++i) {
    bool single = ir_type_is_tensor(op->results[i].type) && !pairs_of(op)[i].next && !pairs_of(op)[i].changes;
    if (single) host_copy(h, ir_operand(body->last, i)->data, op->results[i].data);
  }
  host_move_numbers(h, body->last, registers, count);
  host_flush(h);
  take_changed(h, op, made);
  for (uint32_t i = 0; i < count; ++i) {
    if (pairs_of(op)[i].next) swap_places(h, &pairs_of(op)[i]);
  }
}

void host_emit_while(host_t* h, ir_op_t* op) {
  ir_block_t *test = op->regions[0].first, *body = op->regions[1].first;
  const ir_block_t* outer = h->block;
  host_bring_results(h, op);
  bring_pairs(h, op);
  bring_initial(h, op);
  host_flush(h);
  module_label_t again = module_function_label(h->f), inside = module_function_label(h->f);
  module_label_t after = module_function_label(h->f);
  module_emit(h->f, br, MODULE_LABEL(again));
  module_function_bind(h->f, again);
  host_emit_block(h, test);
  module_reg_t condition = host_condition(h, ir_operand(test->last, 0));
  host_release_slots(h, test);
  module_emit(h->f, br_if, MODULE_REG(condition), MODULE_LABEL(inside), MODULE_LABEL(after));
  module_function_bind(h->f, inside);
  host_emit_block(h, body);
  end_round(h, op);
  host_release_slots(h, body);
  module_emit(h->f, br, MODULE_LABEL(again));
  module_function_bind(h->f, after);
  h->block = outer;
}

//===----------------------------------------------------------------------------------------------------------------===
// Windows
//===----------------------------------------------------------------------------------------------------------------===

// A size as a number: `index` counts the dims, open ones have a register.
static module_reg_t dim_reg(host_t* h, const ir_value_t* value, int32_t index) {
  const storage_t* s = value->data;
  uint32_t before = 0;
  if (value->type->dims[index] != IR_DYNAMIC) return host_number_constant(h, value->type->dims[index]);
  for (int32_t i = 0; i < index; ++i) before += value->type->dims[i] == IR_DYNAMIC;
  return s->dims[before];
}

// The sizes of a piece along each dim of its array: its own, but for dims of 1, of which it may have more or fewer.
static void piece_dims(host_t* h, const ir_value_t* piece, const ir_type_t* whole, module_reg_t* out) {
  int32_t at = piece->type->rank - 1;
  int64_t left = ir_type_is_static(piece->type) ? ir_type_count(piece->type) : IR_DYNAMIC;
  for (int32_t d = whole->rank - 1; d >= 0; --d) {
    if (left != IR_DYNAMIC) {  // it covers the last dims, whatever its shape
      int64_t size = whole->dims[d] == IR_DYNAMIC || left < whole->dims[d] ? left : whole->dims[d];
      out[d] = host_number_constant(h, size);
      left /= size;
      continue;
    }
    while (at >= 0 && piece->type->dims[at] == 1) --at;
    out[d] = whole->dims[d] == 1 || at < 0 ? host_number_constant(h, 1) : dim_reg(h, piece, at--);
  }
}

static bool is_zero(const ir_value_t* start) {
  return start->def && ir_is(start->def, GRAPH_CONSTANT) && graph_get_value(start->def)->integer == 0;
}

// Where in its array a piece starts, in bytes from the start of the buffer: starts are clamped so that it fits.
static module_reg_t window_offset(host_t* h, ir_op_t* op, const ir_value_t* piece, uint32_t first_start) {
  const ir_value_t* whole = ir_operand(op, 0);
  const storage_t* s = whole->data;
  module_reg_t part[GRAPH_MAX_RANK], offset = module_function_i64(h->f, s->offset);
  module_reg_t stride = host_number_constant(h, ir_type_bytes(whole->type->element));
  piece_dims(h, piece, whole->type, part);
  for (int32_t d = whole->type->rank - 1; d >= 0; --d) {
    if (d + 1 < whole->type->rank) stride = host_number_binary(h, VM_OP_i64_mul, stride, dim_reg(h, whole, d + 1));
    module_reg_t size = dim_reg(h, whole, d);
    ir_value_t* start = ir_operand(op, first_start + (uint32_t)d);
    if (size == part[d] || is_zero(start)) continue;
    module_reg_t at = host_scalar_reg(h, start), last = host_number_binary(h, VM_OP_i64_sub, size, part[d]);
    at = module_emit_value(h->f, i64_min_s, MODULE_REG(at), MODULE_REG(last));
    at = module_emit_value(h->f, i64_max_s, MODULE_REG(at), MODULE_REG(module_function_i64(h->f, 0)));
    at = module_emit_value(h->f, i64_mul, MODULE_REG(at), MODULE_REG(stride));
    offset = module_emit_value(h->f, i64_add, MODULE_REG(offset), MODULE_REG(at));
  }
  return offset;
}

// Sizes of a piece that is read: operands behind the starts.
static void set_piece_dims(host_t* h, ir_op_t* op, storage_t* s) {
  const ir_type_t* type = op->results[0].type;
  module_reg_t dims[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (uint32_t i = 1 + (uint32_t)type->rank; i < op->operand_count; ++i) {
    dims[count++] = host_scalar_reg(h, ir_operand(op, i));
  }
  host_set_dims(h, s, type, dims);
}

void host_emit_window_read(host_t* h, ir_op_t* op) {
  ir_value_t* value = ir_result(op, 0);
  storage_t* to = value->data;
  storage_t* view = to->kind == STORAGE_VIEW ? to : view_new(h, value);
  if (!ir_type_is_static(value->type)) {
    set_piece_dims(h, op, to);
    view->dims = to->dims;
    view->reg = to->reg;
    if (to->kind == STORAGE_BUFFER) host_acquire_slot(h, to);
  }
  make_view(h, ir_operand(op, 0)->data, window_offset(h, op, value, 1), view);
  host_copy(h, view, to);
}

void host_emit_window_write(host_t* h, ir_op_t* op) {
  ir_value_t* update = ir_operand(op, 1);
  storage_t* view = view_new(h, update);
  view->reg = ((storage_t*)update->data)->reg;
  make_view(h, ir_operand(op, 0)->data, window_offset(h, op, update, 2), view);
  host_copy(h, update->data, view);
}
