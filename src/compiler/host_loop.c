// Loops. A carried value that is made anew in every round has two places: the round reads one and writes the other, and
// at its end they change places, which is two registers of the host program. So nothing is copied from round to round,
// and carried values may be permuted. Arrays of which a round reads or writes one piece (windows) stay where they are.
#include "compiler/host_state.h"

static host_pair_t* pairs_of(const ir_op_t* op) { return ((span_t*)op->data)->pairs; }

static bool is_in_place(const ir_op_t* op, uint32_t i) {
  const ir_block_t* body = op->regions[1].first;
  const ir_value_t* next = ir_operand(body->last, i);
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
static void pair_static(host_t* h, ir_value_t* result, ir_value_t* next, host_pair_t* pair) {
  span_t always = {.first = 0, .last = UINT32_MAX};
  for (int i = 0; i < 2; ++i) pair->home[i] = host_storage_alive(h, result, NULL, &always);
  pair->current = view_new(h, result);
  pair->next = view_new(h, result);
  result->data = pair->current;
  bool own = next->def && ir_is(next->def, GRAPH_DISPATCH) && !next->data;
  const ir_op_t* loop = result->def;
  if (own && next->def->parent == loop->regions[1].first) next->data = pair->next;  // else copied at the end of a round
}

static void pair_dynamic(host_t* h, ir_value_t* result, host_pair_t* pair) {
  span_t alive = host_span_alive(result);
  const ir_block_t* block = result->def->parent;
  pair->current = host_storage_alive(h, result, block, &alive);
  pair->next = host_storage_alive(h, result, block, &alive);
  result->data = pair->current;
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
    bool permuted = !next->def && next->block == body;
    if (host_tensor_bytes(result->type) > 0) pair_static(h, result, next, &pairs[i]);
    if (!ir_type_is_static(result->type) && permuted) pair_dynamic(h, result, &pairs[i]);
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
  module_reg_t buffer = of->kind == STORAGE_CONSTANT ? module_function_ref(h->f) : h->buffers[host_buffer_of(h, of)];
  if (of->kind == STORAGE_CONSTANT) module_emit(h->f, hal_constant, MODULE_REG(buffer), MODULE_INDEX(of->index));
  module_emit(h->f, hal_subspan, MODULE_REG(h->buffers[host_buffer_of(h, view)]), MODULE_REG(buffer),
              MODULE_REG(offset), MODULE_REG(module_function_i64(h->f, view->size)));
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

// The last place where a part of so many entries fits, along a dim.
static module_reg_t last_start(host_t* h, const ir_value_t* whole, int32_t dim, int64_t entries) {
  int64_t size = whole->type->dims[dim];
  if (size != IR_DYNAMIC) return module_function_i64(h->f, size - entries);
  const storage_t* s = whole->data;  // the first dim, as only that one may be open
  return module_emit_value(h->f, i64_sub, MODULE_REG(s->dims[0]), MODULE_REG(module_function_i64(h->f, entries)));
}

// Where in its array a window starts, in bytes from the start of the buffer.
static module_reg_t window_offset(host_t* h, ir_op_t* op, const int64_t* part, uint32_t first_start) {
  const ir_value_t* whole = ir_operand(op, 0);
  const storage_t* s = whole->data;
  module_reg_t offset = module_function_i64(h->f, s->offset);
  int64_t stride = ir_type_bytes(whole->type->element);
  for (int32_t d = whole->type->rank - 1; d >= 0; --d) {
    if (d + 1 < whole->type->rank) stride *= whole->type->dims[d + 1];  // never the first, which may be open
    if (whole->type->dims[d] == part[d]) continue;
    module_reg_t at = host_scalar_reg(h, ir_operand(op, first_start + (uint32_t)d));
    at = module_emit_value(h->f, i64_min_s, MODULE_REG(at), MODULE_REG(last_start(h, whole, d, part[d])));
    at = module_emit_value(h->f, i64_max_s, MODULE_REG(at), MODULE_REG(module_function_i64(h->f, 0)));
    at = module_emit_value(h->f, i64_mul, MODULE_REG(at), MODULE_REG(module_function_i64(h->f, stride)));
    offset = module_emit_value(h->f, i64_add, MODULE_REG(offset), MODULE_REG(at));
  }
  return offset;
}

void host_emit_window_read(host_t* h, ir_op_t* op) {
  ir_value_t* value = ir_result(op, 0);
  storage_t* to = value->data;
  storage_t* view = to->kind == STORAGE_VIEW ? to : view_new(h, value);
  make_view(h, ir_operand(op, 0)->data, window_offset(h, op, value->type->dims, 1), view);
  host_copy(h, view, to);
}

void host_emit_window_write(host_t* h, ir_op_t* op) {
  ir_value_t* update = ir_operand(op, 1);
  storage_t* view = view_new(h, update);
  const ir_type_t* whole = ir_operand(op, 0)->type;
  // Of the update's shape only its size counts: it covers the last dims.
  int64_t part[GRAPH_MAX_RANK], left = ir_type_count(update->type);
  for (int32_t d = whole->rank - 1; d >= 0; left /= part[d--]) {
    part[d] = whole->dims[d] == IR_DYNAMIC || left < whole->dims[d] ? left : whole->dims[d];
  }
  make_view(h, ir_operand(op, 0)->data, window_offset(h, op, part, 2), view);
  host_copy(h, update->data, view);
}
