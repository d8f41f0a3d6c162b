// Dispatches by name and by body: flow.dispatch of a flow.executable or stream.executable, flow.dispatch.workgroups.
// What they compute is put in their place and fused like all else, so that how many workgroups there are is not asked
// for.
//
// Their tensors are memory: a load is a slice of what is there, a store makes a new tensor, which the argument stands
// for from there on, and which is the result in the end.
#include <string.h>

#include "dialects/builtin.h"
#include "dialects/flow.h"
#include "dialects/hal.h"
#include "dialects/kernel.h"
#include "dialects/stream.h"
#include "dialects/tensor_ext.h"
#include "import/linalg/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

// The argument that is the memory.
static ir_value_t* memory_of(ir_value_t* value) {
  while (ir_is(value->def, FLOW_DISPATCH_TIE_SHAPE) || ir_is(value->def, STREAM_BINDING_SUBSPAN)) {
    value = ir_operand(value->def, 0);
  }
  return value;
}

bool dispatch_lower_view(lower_op_t* n) {
  if (n->l->kernel) return shim_lower_view(n, n->in[0], 1, n->op->operand_count > 1);
  int64_t offset = 0;
  bool offsets = ir_is(n->op, STREAM_BINDING_SUBSPAN) && n->op->operand_count > 1;
  if (offsets && (!lower_constant_index(n->in[1], &offset) || offset)) {
    return lower_unsupported(n, "bindings are seen from their first byte on");
  }
  return lower_return(n, n->in[0]);
}

bool dispatch_lower_load(lower_op_t* n) {
  n->in[0] = lower_get(memory_of(ir_operand(n->op, 0))).v;
  if (!n->in[0] || !ir_type_is_tensor(n->in[0]->type)) return lower_error(n, "needs a tensor of a dispatch");
  return tensor_lower_extract_slice(n);
}

// Whether all of `target` is stored; by the same values for sizes known at run time.
static bool is_whole(lower_op_t* n, const ir_type_t* target) {
  mixed_t offsets, sizes, strides;
  uint32_t next = 2;
  bool read = mixed_read(n, "static_offsets", &next, &offsets) && mixed_read(n, "static_sizes", &next, &sizes) &&
              mixed_read(n, "static_strides", &next, &strides);
  bool whole = read && (int32_t)sizes.count == target->rank && offsets.count == sizes.count &&
               strides.count == sizes.count && n->in[0]->type->rank == target->rank;
  const ir_op_t* made = n->in[1]->def;
  for (uint32_t i = 0, open = 0; whole && i < sizes.count; ++i) {
    whole = !offsets.values[i] && strides.values[i] == 1;
    bool is_open = target->dims[i] == IR_DYNAMIC;
    if (whole && !is_open) whole = sizes.values[i] == target->dims[i];
    if (whole && is_open) {
      whole = sizes.values[i] == IR_DYNAMIC && ir_is(made, GRAPH_EMPTY) && ir_operand(made, open) == sizes.v[i];
    }
    open += is_open;
  }
  return whole;
}

bool dispatch_lower_store(lower_op_t* n) {
  ir_value_t *memory = memory_of(ir_operand(n->op, 1)), *value = n->in[0];
  n->in[1] = lower_get(memory).v;
  if (!n->in[1] || !ir_type_is_tensor(n->in[1]->type) || !ir_type_is_tensor(value->type)) {
    return lower_error(n, "needs a tensor, and one of the dispatch");
  }
  if (memory->block != n->op->parent) {
    return lower_unsupported(n, "a dispatch stores its results in its own block, not in a loop or branch of it");
  }
  if (!is_whole(n, n->in[1]->type)) {
    if (!tensor_lower_parallel_insert_slice(n)) return false;
    value = lower_get(ir_operand(n->op, 1)).v;
  } else if (value->type->element != n->in[1]->type->element) {
    return lower_error(n, "needs tensors of one element type");
  }
  lower_set(n->l, memory, (lower_value_t){.v = value});
  return true;
}

bool dispatch_lower_same(lower_op_t* n) { return lower_return(n, n->in[0]); }

//===----------------------------------------------------------------------------------------------------------------===
// Bodies
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_RESULTS = GRAPH_MAX_TIED, SEGMENTS = 4 };

bool dispatch_read(lower_op_t* n, dispatch_t* d) {
  int64_t segments[SEGMENTS], total = 0, open = 0;
  uint32_t results = n->op->result_count;
  bool fits = ir_op_ints(n->op, "operandSegmentSizes", segments, SEGMENTS) == SEGMENTS && results <= MAX_RESULTS &&
              ir_op_ints(n->op, "tied_operands", d->tied, MAX_RESULTS) == results;
  for (int i = 0; fits && i < SEGMENTS; ++i) {
    fits = segments[i] >= 0 && segments[i] <= n->op->operand_count;
    total += segments[i];
  }
  fits = fits && total == n->op->operand_count;
  for (uint32_t i = 0; fits && i < results; ++i) {
    const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, i));
    fits = type && ir_type_is_tensor(type) && d->tied[i] >= -1 && d->tied[i] < segments[1];
    for (int32_t k = 0; fits && k < type->rank; ++k) open += type->dims[k] == IR_DYNAMIC;
  }
  if (!fits || open != segments[3]) return lower_error(n, "needs tensors as results, with the size of each '?'");
  d->first = (uint32_t)segments[0];
  d->argument_count = (uint32_t)segments[1];
  d->sizes = (uint32_t)(total - segments[3]);
  return true;
}

// Memory for the results that have none of an argument; in order. `out` has room for all.
static bool add_results(lower_op_t* n, const dispatch_t* d, lower_value_t* out, uint32_t* count) {
  uint32_t at = d->sizes;
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, i));
    ir_value_t* sizes[GRAPH_MAX_RANK];
    uint32_t open = 0;
    for (int32_t k = 0; k < type->rank; ++k) {
      if (type->dims[k] == IR_DYNAMIC) sizes[open++] = lower_index(n->b, n->in[at++]);
    }
    if (d->tied[i] >= 0) continue;
    out[(*count)++] = (lower_value_t){.v = lower_build(n, GRAPH_EMPTY, sizes, open, type, NULL, 0)};
  }
  return true;
}

static bool is_number(const ir_type_t* type) {
  return type->kind == IR_TYPE_INDEX || type->kind == IR_TYPE_INTEGER || type->kind == IR_TYPE_FLOAT;
}

// What the body's arguments stand for: memory of tensors, then of results, and numbers, each in order.
static bool match_arguments(lower_op_t* n, const dispatch_t* d, const ir_block_t* block, lower_value_t* args) {
  lower_value_t* memory = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, d->argument_count + MAX_RESULTS);
  lower_value_t* numbers = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, d->argument_count + 1);
  uint32_t memories = 0, number_count = 0, next[2] = {0, 0};
  for (uint32_t i = 0; i < d->argument_count; ++i) {
    lower_value_t value = n->values[d->first + i];
    if (!value.v || value.im) return lower_unsupported(n, "tensors of real elements and numbers are");
    if (ir_type_is_tensor(value.v->type)) {
      memory[memories++] = value;
    } else {
      numbers[number_count++] = value;
    }
  }
  if (!add_results(n, d, memory, &memories)) return false;
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    bool number = is_number(block->args[i]->type);
    if (next[number] == (number ? number_count : memories)) {
      return lower_error(n, "has other arguments than its executable's function");
    }
    args[i] = number ? numbers[next[1]] : memory[next[0]];
    ++next[number];
  }
  bool all = next[1] == number_count && (next[0] == memories || block->last->operand_count);
  return all || lower_error(n, "has other arguments than its executable's function");
}

// The value that the `index`-th tensor among arguments and results has in the end.
static lower_value_t final_value(const ir_block_t* block, uint32_t index) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (!is_number(block->args[i]->type) && index-- == 0) return lower_get(block->args[i]);
  }
  return (lower_value_t){0};
}

static bool lower_body(lower_op_t* n, ir_block_t* block) {
  dispatch_t d;
  lower_value_t* values = NULL;
  uint32_t count = 0, tensors = 0;
  if (!block || block->next || !block->last) return lower_error(n, "needs a body of one block");
  if (!dispatch_read(n, &d)) return false;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, block->arg_count + 1);
  if (!match_arguments(n, &d, block, args) || !lower_block(n->l, block, args, &values, &count)) return false;
  if (count && count != n->op->result_count) return lower_error(n, "has other results than its executable's function");
  for (uint32_t i = 0; i < d.argument_count; ++i) tensors += ir_type_is_tensor(n->in[d.first + i]->type);
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    uint32_t place = tensors;
    if (d.tied[i] < 0) {
      ++tensors;
    } else {
      place = 0;
      for (uint32_t k = 0; k < d.tied[i]; ++k) place += ir_type_is_tensor(n->in[d.first + k]->type);
    }
    n->out[i] = count ? values[i] : final_value(block, place);
    if (!n->out[i].v || !ir_type_is_tensor(n->out[i].v->type)) return lower_error(n, "stores no result %u", i);
  }
  return true;
}

bool dispatch_lower_workgroups(lower_op_t* n) {
  return lower_body(n, n->op->region_count ? n->op->regions[0].first : NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

bool lower_is_executable(const ir_op_t* op) {
  return ir_is(op, FLOW_EXECUTABLE) || ir_is(op, STREAM_EXECUTABLE) || ir_is(op, HAL_EXECUTABLE) ||
         ir_is(op, HAL_EXECUTABLE_SOURCE);
}

// The function that @executable::@export names, or NULL.
static ir_op_t* find_function(lower_op_t* n, const ir_attr_t* entry) {
  ir_op_t* executable = ir_symbol_find(n->ctx, n->l->module, entry->text);
  ir_block_t* body = executable && lower_is_executable(executable) ? executable->regions[0].first : NULL;
  const char* name = entry->count ? entry->items[entry->count - 1]->text : NULL;
  const char* function = NULL;
  for (ir_op_t* op = body && name ? body->first : NULL; op; op = op->next) {
    bool exports = ir_is(op, FLOW_EXECUTABLE_EXPORT) || ir_is(op, STREAM_EXECUTABLE_EXPORT);
    if (exports && strcmp(ir_op_string(op, "sym_name", ""), name) == 0) {
      function = ir_op_string(op, "function_ref", name);
    }
  }
  for (ir_op_t* op = function ? body->first : NULL; op; op = op->next) {
    ir_op_t* found = ir_is(op, BUILTIN_MODULE) ? ir_symbol_lookup(op, function) : NULL;
    if (found && found->region_count) return found;
  }
  return NULL;
}

bool dispatch_lower_dispatch(lower_op_t* n) {
  const ir_attr_t* entry = ir_op_attr(n->op, "entry_points");
  ir_op_t* executable = entry && entry->kind == IR_ATTR_SYMBOL ? extern_find(n, entry) : NULL;
  if (executable) return extern_lower_dispatch(n, executable, entry);
  ir_op_t* func = entry && entry->kind == IR_ATTR_SYMBOL ? find_function(n, entry) : NULL;
  if (!func) {
    return lower_error(n, "names no function that a flow.executable or stream.executable of this module exports");
  }
  return lower_body(n, func->regions[0].first);
}

bool dispatch_lower_id(lower_op_t* n) {
  return n->l->kernel ? shim_lower_id(n, KERNEL_WORKGROUP_ID) : lower_refused(n);
}

bool dispatch_lower_count(lower_op_t* n) {
  return n->l->kernel ? shim_lower_id(n, KERNEL_WORKGROUP_COUNT) : lower_refused(n);
}

#define ROW(ENUM, ...) [STREAM_##ENUM - IR_CODE(IR_DIALECT_STREAM, 0)] = {__VA_ARGS__}
#define VIEW(ENUM) ROW(ENUM, .fn = dispatch_lower_view, .flags = LOWER_STANDS_FOR)
#define REFUSED(ENUM) ROW(ENUM, .fn = lower_refused, .text = DISPATCH_NO_PLACE)
static const lower_row_t stream_rows[] = {
    VIEW(BINDING_SUBSPAN),
    ROW(DISPATCH_ID, .fn = dispatch_lower_id, .text = DISPATCH_NO_PLACE),
    ROW(DISPATCH_COUNT, .fn = dispatch_lower_count, .text = DISPATCH_NO_PLACE),
    REFUSED(DISPATCH_SIZE),
};
const lower_table_t lower_stream_table = {IR_DIALECT_STREAM, stream_rows, sizeof(stream_rows) / sizeof(stream_rows[0])};

#define AT(ENUM, function) [TENSOR_EXT_##ENUM - IR_CODE(IR_DIALECT_TENSOR_EXT, 0)] = {.fn = function}
static const lower_row_t ext_rows[] = {
    AT(DISPATCH_TENSOR_LOAD, dispatch_lower_load),
    AT(DISPATCH_TENSOR_STORE, dispatch_lower_store),
    AT(DISPATCH_WORKLOAD_ORDINAL, dispatch_lower_same),
};
const lower_table_t lower_tensor_ext_table = {IR_DIALECT_TENSOR_EXT, ext_rows, sizeof(ext_rows) / sizeof(ext_rows[0])};
