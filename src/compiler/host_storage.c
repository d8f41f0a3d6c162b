// Storage of every value in a function: inputs, outputs and constants have their own buffers, everything else shares
// one arena by the time it lives; what has its size at run time only has a buffer of its own (a slot), which values of
// the same sizes share. A loop's carried values live in one place each from before the loop to the last use
// of its results; what is used inside a loop lives until the loop is over.
#include <string.h>

#include "base/memory.h"
#include "compiler/host_state.h"

// Whether the op uses what one of the part makes.
static bool needs_part(const ir_op_t* op, const span_t* part) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_op_t* def = ir_operand(op, i)->def;
    if (def && def->parent == op->parent && ((const span_t*)def->data)->part == part) return true;
  }
  return false;
}

static void number_ops(host_t* h, ir_block_t* block, uint32_t* next) {
  span_t* part = NULL;
  IR_FOR_OPS(op, block) {
    span_t* span = ARENA_NEW(ir_context_arena(h->ctx), span_t);
    op->data = span;
    *span = (span_t){.first = (*next)++};
    bool host = !ir_is(op, GRAPH_DISPATCH);
    for (uint32_t r = 0; host && r < op->region_count; ++r) number_ops(h, op->regions[r].first, next);
    span->last = (*next)++;
    if (host && op->region_count) part = NULL;
    if (host) continue;
    if (!part || needs_part(op, part)) {
      part = ARENA_NEW(ir_context_arena(h->ctx), span_t);
      part->first = span->first;
    }
    part->last = span->last;
    span->part = part;
  }
}

static const span_t* span_of(const ir_op_t* op) { return op->data; }
uint32_t host_op_begins(const ir_op_t* op) { return span_of(op)->first; }
uint32_t host_op_ends(const ir_op_t* op) { return span_of(op)->last; }
// The part's, for a dispatch: what one of them is done with, another may still not write.
static uint32_t part_ends(const ir_op_t* op) { return span_of(op)->part ? span_of(op)->part->last : span_of(op)->last; }

static bool is_changed_by(const ir_value_t* value, const ir_op_t* op) {
  int64_t place = ir_is(op, GRAPH_DISPATCH) ? graph_in_place(op) : -1;
  return place >= 0 && ir_operand(op, (uint32_t)place) == value;
}

// Last moment at which `value`, defined in `block`, is needed.
static uint32_t last_use(const ir_value_t* value, const ir_block_t* block, uint32_t at_least,
                         uint32_t (*ends)(const ir_op_t* op)) {
  IR_FOR_USES(use, value) {
    const ir_op_t* op = use->owner;
    while (op && op->parent != block) op = ir_op_parent(op);
    if (op && ends(op) > at_least) at_least = ends(op);
  }
  return at_least;
}

// The same for what is made in its place, too.
static uint32_t last_use_of_place(const ir_value_t* value, const ir_block_t* block, uint32_t at_least) {
  while (value) {
    const ir_value_t* next = NULL;
    at_least = last_use(value, block, at_least, part_ends);
    IR_FOR_USES(use, value) {
      if (is_changed_by(value, use->owner)) next = &use->owner->results[0];
    }
    value = next;
  }
  return at_least;
}

static void refuse_size(host_t* h, ir_op_t* op, const char* what, int64_t bytes) {
  if (!h->failed) {
    ir_op_error(h->ctx, op, "%s takes %lld bytes; at most %lld can be addressed", what, (long long)bytes,
                (long long)HOST_MAX_BYTES);
  }
  h->failed = true;
}

storage_t* host_storage_new(host_t* h, const ir_value_t* value, storage_kind_t kind) {
  storage_t* s = ARENA_NEW(ir_context_arena(h->ctx), storage_t);
  if (ir_type_is_tensor(value->type) && host_tensor_bytes(value->type) > HOST_MAX_BYTES) {
    const char* what = arena_printf(ir_context_arena(h->ctx), "a value of type %s", ir_type_str(h->ctx, value->type));
    refuse_size(h, value->def ? value->def : h->func, what, host_tensor_bytes(value->type));
  }
  *s = (storage_t){.kind = kind, .size = ir_type_is_tensor(value->type) ? host_tensor_bytes(value->type) : 8};
  return s;
}

uint32_t host_add_buffer(host_t* h) {
  if (h->buffer_count == h->buffer_capacity) {
    uint32_t capacity = h->buffer_capacity ? h->buffer_capacity * 2 : 16;
    module_reg_t* buffers = ARENA_ARRAY(ir_context_arena(h->ctx), module_reg_t, capacity);
    if (h->buffer_count) memcpy(buffers, h->buffers, sizeof(*buffers) * h->buffer_count);
    h->buffers = buffers;
    h->buffer_capacity = capacity;
  }
  h->buffers[h->buffer_count] = module_function_ref(h->f);
  return h->buffer_count++;
}

// Run-time sizes of a result as values of the host program, or NULL.
static ir_value_t** known_dims(host_t* h, const ir_value_t* value, uint32_t* count) {
  *count = 0;
  if (!value->def || ir_is(value->def, GRAPH_WHILE)) return NULL;
  ir_value_t** dims = ARENA_ARRAY(ir_context_arena(h->ctx), ir_value_t*, GRAPH_MAX_RANK);
  if (!host_result_sizes(value, dims)) return NULL;
  for (int32_t i = 0; i < value->type->rank; ++i) *count += value->type->dims[i] == IR_DYNAMIC;
  return dims;
}

static int64_t constant_bytes(const ir_type_t* type) {
  int64_t bytes = ir_type_bytes(type->element);
  for (int32_t i = 0; i < type->rank; ++i) bytes *= type->dims[i] == IR_DYNAMIC ? 1 : type->dims[i];
  return bytes;
}

static bool slot_fits(const host_slot_t* slot, const host_slot_t* wanted, uint32_t first) {
  if (slot->block != wanted->block || slot->last >= first || slot->bytes != wanted->bytes || !wanted->dims)
    return false;
  if (!slot->dims || slot->dim_count != wanted->dim_count) return false;
  return memcmp(slot->dims, wanted->dims, sizeof(*slot->dims) * slot->dim_count) == 0;
}

span_t host_span_alive(const ir_value_t* value) {
  const span_t *span = span_of(value->def), *part = span->part ? span->part : span;
  return (span_t){.first = part->first, .last = last_use_of_place(value, value->def->parent, part->last)};
}

static storage_t* slot_new(host_t* h, const ir_value_t* value, const ir_block_t* block, uint32_t first, uint32_t last) {
  storage_t* s = host_storage_new(h, value, STORAGE_BUFFER);
  host_slot_t wanted = {.block = block, .last = last, .bytes = constant_bytes(value->type)};
  wanted.dims = known_dims(h, value, &wanted.dim_count);
  for (uint32_t i = 0; i < h->slot_count; ++i) {
    if (!slot_fits(&h->slots[i], &wanted, first)) continue;
    h->slots[i].last = last;
    s->index = i;
    return s;
  }
  if (h->slot_count == h->slot_capacity) {
    uint32_t capacity = h->slot_capacity ? h->slot_capacity * 2 : 16;
    host_slot_t* slots = ARENA_ARRAY(ir_context_arena(h->ctx), host_slot_t, capacity);
    if (h->slot_count) memcpy(slots, h->slots, sizeof(*slots) * h->slot_count);
    h->slots = slots;
    h->slot_capacity = capacity;
  }
  wanted.buffer = host_add_buffer(h);
  s->index = h->slot_count;
  h->slots[h->slot_count++] = wanted;
  return s;
}

static storage_t* arena_new(host_t* h, const ir_value_t* value, uint32_t first, uint32_t last) {
  storage_t* s = host_storage_new(h, value, STORAGE_ARENA);
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

// No store of the global comes between a load and a use of what it loaded.
static bool load_is_stable(const ir_op_t* load, const host_global_t* global) {
  uint32_t last = global->store_count ? last_use(&load->results[0], load->parent, 0, host_op_ends) : 0;
  for (uint32_t i = 0; i < global->store_count; ++i) {
    const ir_op_t* store = global->stores[i];
    while (store && store->parent != load->parent) store = ir_op_parent(store);
    if (!store || span_of(store)->first < span_of(load)->first) continue;
    // In a loop or branch that stores, what uses the value may come after that.
    if (last > (store == global->stores[i] ? span_of(store)->last : span_of(store)->first)) return false;
  }
  return true;
}

static void assign_load(host_t* h, ir_op_t* op) {
  ir_value_t* value = ir_result(op, 0);
  const host_global_t* global = host_find_global(h, op);
  if (!global || !ir_type_is_tensor(value->type)) return;
  if (!load_is_stable(op, global)) return;
  storage_t* s = host_storage_new(h, value, STORAGE_GLOBAL);
  s->index = global->buffer;
  value->data = s;
}

// A window that is read is a view when kernels can read from where it is, else a copy; one that is written is a part of
// the loop's array.
static void assign_window(host_t* h, ir_op_t* op) {
  ir_value_t* value = ir_result(op, 0);
  if (ir_is(op, GRAPH_DYNAMIC_UPDATE)) {
    value->data = ir_operand(op, 0)->data;
  } else if (constant_bytes(value->type) % PLAN_ALIGNMENT == 0) {
    storage_t* s = host_storage_new(h, value, STORAGE_VIEW);
    s->index = host_add_buffer(h);
    value->data = s;
  }
}

// What another module gave is where that module has it.
static void assign_imported(host_t* h, ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* value = ir_result(op, i);
    if (!ir_type_is_tensor(value->type)) continue;
    storage_t* s = host_storage_new(h, value, STORAGE_ARGUMENT);
    s->index = host_add_buffer(h);
    value->data = s;
  }
}

// Where the operand is, if that memory is the program's own; else it is copied first (host_block.c).
static void assign_in_place(host_t* h, ir_op_t* op) {
  storage_t* s = ir_operand(op, (uint32_t)graph_in_place(op))->data;
  if (s && s->kind != STORAGE_CONSTANT && s->kind != STORAGE_ARGUMENT) ir_result(op, 0)->data = s;
}

static void assign_results(host_t* h, ir_op_t* op) {
  if (ir_is(op, GRAPH_CALL_IMPORT)) assign_imported(h, op);
  if (ir_is(op, GRAPH_GLOBAL_LOAD)) assign_load(h, op);
  if (graph_is_window(op)) assign_window(h, op);
  if (ir_is(op, GRAPH_DISPATCH) && graph_in_place(op) >= 0) assign_in_place(h, op);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    ir_value_t* value = ir_result(op, i);
    if (value->data) continue;  // an output
    if (!ir_type_is_tensor(value->type)) {
      value->data = host_storage_new(h, value, STORAGE_SCALAR);
      continue;
    }
    span_t alive = host_span_alive(value);
    value->data = host_storage_alive(h, value, op->parent, &alive);
  }
}

storage_t* host_storage_alive(host_t* h, const ir_value_t* value, const ir_block_t* block, const span_t* alive) {
  return ir_type_is_static(value->type) ? arena_new(h, value, alive->first, alive->last)
                                        : slot_new(h, value, block, alive->first, alive->last);
}

static void assign_block(host_t* h, ir_block_t* block);

// Results, and the arguments of both regions, are the same memory.
static void assign_while(host_t* h, ir_op_t* op) {
  host_pair_carried(h, op);
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

// In the writer's threads, which have no memory scope.
static bool read_value(const void* value, uint64_t offset, size_t size, void* out) {
  return ir_attr_try_read(value, offset, size, out);
}

static bool read_splat(const void* user, uint64_t offset, size_t size, void* out) {
  const ir_attr_t* value = user;
  bool fits = true;
  for (size_t at = 0; at < size && fits; at += value->size) {
    fits = ir_attr_try_read(value, 0, value->size, (char*)out + at);
  }
  return fits;
}

static uint64_t constant_hash(const void* constant) {
  return ir_hash_mix(0, (uintptr_t)((const host_constant_t*)constant)->value);
}

static bool constant_equal(const void* constant, const void* value) {
  return ((const host_constant_t*)constant)->value == value;
}

// Constants are archive entries of their own.
static void store_constant(host_t* h, ir_op_t* op) {
  if (!ir_type_is_tensor(op->results[0].type) || !op->results[0].uses) return;
  storage_t* s = host_storage_new(h, ir_result(op, 0), STORAGE_CONSTANT);
  op->results[0].data = s;
  const ir_attr_t* value = graph_get_value(op);
  const host_constant_t* known = ir_set_find(&h->constants, ir_hash_mix(0, (uintptr_t)value), value, constant_equal);
  if (known) {
    s->index = known->index;
    return;
  }
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
  host_constant_t* constant = ARENA_NEW(ir_context_arena(h->ctx), host_constant_t);
  *constant = (host_constant_t){value, s->index};
  h->memory.constants += (int64_t)size;
  ir_set_insert(&h->constants, constant_hash(constant), constant, constant_hash);
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
    if (ir_is(op, GRAPH_WHILE)) host_place_pairs(h, op);
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) place_arena(h, op->regions[r].first);
  }
}

uint32_t host_abi_parts(const ir_type_t* type) {
  uint32_t parts = 1;
  if (!ir_type_is_tensor(type) || !ir_type_is_packed(type->element)) return parts;
  for (int32_t i = 0; i < type->rank; ++i) parts += type->dims[i] == IR_DYNAMIC;
  return parts;
}

static void assign_arguments(host_t* h) {
  uint32_t number = 0, end = 0;  // in the signature; of its parts
  for (uint32_t i = 0; i < h->body->arg_count; ++i) {
    ir_value_t* arg = h->body->args[i];
    bool first = i == end;
    if (first) end += host_abi_parts(h->abi->inputs[number++]);
    bool tensor = ir_type_is_tensor(arg->type);
    storage_t* s = host_storage_new(h, arg, tensor ? STORAGE_ARGUMENT : STORAGE_SCALAR);
    arg->data = s;
    if (tensor) {
      s->index = host_add_buffer(h);
    } else if (first) {
      host_scalar_set(arg, host_scalar_enter(h, arg->type, module_function_argument(h->f, number - 1)));
    }
  }
}

// Results that a dispatch of the function's own block makes are made in their buffers.
static void assign_outputs(host_t* h) {
  const ir_op_t* terminator = h->body->last;
  h->outputs = ARENA_ARRAY(ir_context_arena(h->ctx), storage_t*, terminator->operand_count + 1);
  for (uint32_t i = 0; i < terminator->operand_count; ++i) {
    ir_value_t* value = ir_operand(terminator, i);
    if (!ir_type_is_tensor(value->type)) continue;
    storage_t* s = h->outputs[i] = host_storage_new(h, value, STORAGE_OUTPUT);
    s->index = host_add_buffer(h);
    host_share_argument(h, i, s);
    bool direct = host_has_own_place(value) && !value->data;
    if (direct) value->data = s;  // else copied at the end
  }
}

void host_assign_storage(host_t* h) {
  host_clear_data(h->body);
  uint32_t next = 0;
  h->plan_count = h->slot_count = h->buffer_count = h->buffer_capacity = 0;
  number_ops(h, h->body, &next);
  store_constants(h, h->body);
  assign_arguments(h);
  assign_outputs(h);
  h->has_state = host_find_globals(h);
  assign_block(h, h->body);
  h->arena_size = h->failed ? 0 : plan_memory(h->plan, h->plan_count);
  if (h->arena_size > HOST_MAX_BYTES) refuse_size(h, h->func, "what lives at the same time", h->arena_size);
  if (h->arena_size) h->arena_buffer = host_add_buffer(h);
  place_arena(h, h->body);
}
