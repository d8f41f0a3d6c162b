// Storage of every value in a function: inputs, outputs and constants have their own buffers, everything else shares
// one arena by the time it lives. A loop's carried values live in one place each from before the loop to the last use
// of its results; what is used inside a loop lives until the loop is over.
#include <string.h>

#include "compiler/host_state.h"

static void number_ops(host_t* h, ir_block_t* block, uint32_t* next) {
  IR_FOR_OPS(op, block) {
    span_t* span = ARENA_NEW(ir_context_arena(h->ctx), span_t);
    op->data = span;
    span->first = (*next)++;
    bool host = !ir_is(op, GRAPH_DISPATCH);
    for (uint32_t r = 0; host && r < op->region_count; ++r) number_ops(h, op->regions[r].first, next);
    span->last = (*next)++;
  }
}

static const span_t* span_of(const ir_op_t* op) { return op->data; }

// Last moment at which `value`, defined in `block`, is needed.
static uint32_t last_use(const ir_value_t* value, const ir_block_t* block, uint32_t at_least) {
  IR_FOR_USES(use, value) {
    const ir_op_t* op = use->owner;
    while (op && op->parent != block) op = ir_op_parent(op);
    if (op && span_of(op)->last > at_least) at_least = span_of(op)->last;
  }
  return at_least;
}

static storage_t* storage_new(host_t* h, const ir_value_t* value, storage_kind_t kind) {
  storage_t* s = ARENA_NEW(ir_context_arena(h->ctx), storage_t);
  *s = (storage_t){.kind = kind, .size = ir_type_is_tensor(value->type) ? host_tensor_bytes(value->type) : 8};
  return s;
}

static storage_t* arena_new(host_t* h, const ir_value_t* value, uint32_t first, uint32_t last) {
  storage_t* s = storage_new(h, value, STORAGE_ARENA);
  if (h->plan_count == h->plan_capacity) {
    uint32_t capacity = h->plan_capacity ? h->plan_capacity * 2 : 64;
    plan_value_t* plan = ARENA_ARRAY(ir_context_arena(h->ctx), plan_value_t, capacity);
    if (h->plan_count) memcpy(plan, h->plan, sizeof(*plan) * h->plan_count);
    h->plan = plan;
    h->plan_capacity = capacity;
  }
  s->index = h->plan_count;
  h->plan[h->plan_count++] = (plan_value_t){.size = s->size, .first = first, .last = last};
  return s;
}

static void assign_results(host_t* h, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* value = ir_result(op, i);
    if (value->data) continue;  // an output
    if (!ir_type_is_tensor(value->type)) {
      value->data = storage_new(h, value, STORAGE_SCALAR);
      continue;
    }
    value->data = arena_new(h, value, span_of(op)->first, last_use(value, op->parent, span_of(op)->last));
  }
}

static void assign_block(host_t* h, ir_block_t* block);

// Results, and the arguments of both regions, are the same memory.
static void assign_while(host_t* h, ir_op_t* op) {
  assign_results(h, op);
  for (uint32_t r = 0; r < 2; ++r) {
    ir_block_t* body = op->regions[r].first;
    for (uint32_t i = 0; i < body->arg_count && i < op->result_count; ++i) body->args[i]->data = op->results[i].data;
    assign_block(h, body);
  }
}

static void assign_block(host_t* h, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (ir_is(op, GRAPH_CONSTANT) && ir_type_is_tensor(op->results[0].type)) continue;
    if (ir_is(op, GRAPH_WHILE)) {
      assign_while(h, op);
      continue;
    }
    assign_results(h, op);
    for (uint32_t r = 0; ir_is(op, GRAPH_IF) && r < op->region_count; ++r) assign_block(h, op->regions[r].first);
  }
}

static void store_constants(host_t* h, ir_block_t* block);

static void read_value(const void* value, uint64_t offset, size_t size, void* out) {
  ir_attr_read(value, offset, size, out);
}

static void read_splat(const void* user, uint64_t offset, size_t size, void* out) {
  const ir_attr_t* value = user;
  for (size_t at = 0; at < size; at += value->size) ir_attr_read(value, 0, value->size, (char*)out + at);
}

// Constants are archive entries of their own.
static void store_constant(host_t* h, ir_op_t* op) {
  if (!ir_type_is_tensor(op->results[0].type)) return;
  storage_t* s = storage_new(h, ir_result(op, 0), STORAGE_CONSTANT);
  op->results[0].data = s;
  const ir_attr_t* value = ir_op_attr(op, "value");
  size_t size = value->splat ? (size_t)s->size : value->size;
  char* name = arena_printf(ir_context_arena(h->ctx), "constants/%u.bin", h->constant_count++);
  module_segment_t segment = {.entry = host_view(name), .alignment = size >= 65536 ? 4096 : 64};
  if (value->splat || value->lazy) {
    size_t unit = value->lazy ? value->lazy->unit : value->size;
    segment.source = (archive_source_t){value->splat ? read_splat : read_value, value, size, unit};
  } else {
    segment.data = iree_make_const_byte_span(ir_attr_data(value), size);
  }
  s->index = module_writer_constant(h->writer, h->device, module_writer_segment(h->writer, &segment), 0, size);
}

static void store_constants(host_t* h, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (ir_is(op, GRAPH_CONSTANT)) store_constant(h, op);
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) {
      store_constants(h, op->regions[r].first);
    }
  }
}

void host_clear_data(ir_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = NULL;
  IR_FOR_OPS(op, block) {
    op->data = NULL;
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
    for (uint32_t r = 0; r < op->region_count; ++r) host_clear_data(op->regions[r].first);
  }
}

static void place_arena(host_t* h, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      storage_t* s = op->results[i].data;
      if (s && s->kind == STORAGE_ARENA) s->offset = h->plan[s->index].offset;
    }
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) place_arena(h, op->regions[r].first);
  }
}

void host_assign_storage(host_t* h) {
  host_clear_data(h->body);
  uint32_t next = 0;
  h->plan_count = 0;
  number_ops(h, h->body, &next);
  store_constants(h, h->body);
  for (uint32_t i = 0; i < h->body->arg_count; ++i) {
    storage_t* s = storage_new(h, h->body->args[i], STORAGE_ARGUMENT);
    s->index = i;
    h->body->args[i]->data = s;
  }
  ir_op_t* terminator = h->body->last;
  for (uint32_t i = 0; i < terminator->operand_count; ++i) {
    ir_value_t* value = ir_operand(terminator, i);
    bool direct = value->def && ir_is(value->def, GRAPH_DISPATCH) && !value->data;
    if (!direct) continue;  // copied to its output at the end
    storage_t* s = storage_new(h, value, STORAGE_OUTPUT);
    s->index = i;
    value->data = s;
  }
  assign_block(h, h->body);
  h->arena_size = plan_memory(h->plan, h->plan_count);
  place_arena(h, h->body);
}
