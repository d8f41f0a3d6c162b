// Dispatches by name and by body: flow.dispatch of a flow.executable or stream.executable, or of a hal.executable
// without objects; flow.dispatch.workgroups. What they compute is put in their place and fused like all else, so that
// how many workgroups there are is not asked for, unless the body asks: then it is a kernel of its own
// (workgroup_dispatch.c), or the body of a loop over workgroups where a kernel cannot do what it does.
//
// Their tensors are memory: a load is a slice of what is there, a store makes a new tensor, which the argument stands
// for from there on, and which is the result in the end. Loops and branches that store carry it (scf.c).
#include <string.h>

#include "dialects/builtin.h"
#include "dialects/flow.h"
#include "dialects/hal.h"
#include "dialects/kernel.h"
#include "dialects/scf.h"
#include "dialects/stream.h"
#include "dialects/tensor_ext.h"
#include "import/control.h"
#include "import/linalg/workgroup.h"

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

// The argument that is the memory.
static ir_value_t* memory_of(const lowering_t* l, ir_value_t* value) {
  while (ir_is(value->def, FLOW_DISPATCH_TIE_SHAPE) || ir_is(value->def, STREAM_BINDING_SUBSPAN)) {
    value = ir_operand(value->def, 0);
  }
  int64_t binding = ir_is(value->def, HAL_INTERFACE_BINDING_SUBSPAN) ? ir_op_int(value->def, "binding", -1) : -1;
  return binding >= 0 && l->place && binding < l->place->memory_count ? l->place->memory[binding] : value;
}

static bool is_store(const ir_op_t* op) {
  return ir_is(op, FLOW_DISPATCH_TENSOR_STORE) || ir_is(op, TENSOR_EXT_DISPATCH_TENSOR_STORE);
}

// An op in the regions of this one does.
static bool stores(const lowering_t* l, const ir_op_t* op, const ir_value_t* memory) {
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        if (is_store(inner) && memory_of(l, ir_operand(inner, 1)) == memory) return true;
        if (stores(l, inner, memory)) return true;
      }
    }
  }
  return false;
}

uint32_t dispatch_stored_in(const lowering_t* l, const ir_op_t* op, ir_value_t** out) {
  uint32_t count = 0;
  for (uint32_t i = 0; l->place && i < l->place->memory_count && count < GRAPH_MAX_TIED; ++i) {
    if (stores(l, op, l->place->memory[i])) out[count++] = l->place->memory[i];
  }
  return count;
}

#define FIRST_BYTE "bindings are seen from their first byte on"

bool dispatch_lower_view(lower_op_t* n) {
  if (n->l->kernel) return shim_lower_view(n, n->in[0], 1, n->op->operand_count > 1);
  int64_t offset = 0;
  bool offsets = ir_is(n->op, STREAM_BINDING_SUBSPAN) && n->op->operand_count > 1;
  if (offsets && (!lower_constant_index(n->in[1], &offset) || offset)) return lower_unsupported(n, FIRST_BYTE);
  return lower_return(n, n->in[0]);
}

bool dispatch_lower_binding(lower_op_t* n) {
  int64_t binding = ir_op_int(n->op, "binding", -1), offset = 0;
  if (binding < 0 || binding >= n->l->place->memory_count) return lower_error(n, "has a binding beyond its layout's");
  bool offsets = ir_op_flag(n->op, "has_offset");
  if (offsets && (!lower_constant_index(n->in[0], &offset) || offset)) return lower_unsupported(n, FIRST_BYTE);
  return lower_return(n, lower_get(n->l->place->memory[binding]).v);
}

bool dispatch_lower_number(lower_op_t* n, ir_value_t** word) {
  int64_t ordinal = ir_op_int(n->op, "ordinal", -1);
  if (ordinal < 0 || ordinal >= n->l->place->number_count) return lower_error(n, "has an ordinal beyond its layout's");
  *word = n->l->place->numbers[ordinal].v;
  return true;
}

bool dispatch_lower_load(lower_op_t* n) {
  n->in[0] = lower_get(memory_of(n->l, ir_operand(n->op, 0))).v;
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

// What is stored is known behind everything that the store is in.
static bool is_carried(const lower_op_t* n) {
  const ir_op_t* op = n->op;
  while (op && n->l->place && op->parent != n->l->place->body) {
    op = ir_op_parent(op);
    if (!ir_is(op, SCF_FOR) && !ir_is(op, SCF_IF)) return false;
  }
  return op && n->l->place;
}

bool dispatch_lower_store(lower_op_t* n) {
  ir_value_t *memory = memory_of(n->l, ir_operand(n->op, 1)), *value = n->in[0];
  n->in[1] = lower_get(memory).v;
  if (!n->in[1] || !ir_type_is_tensor(n->in[1]->type) || !ir_type_is_tensor(value->type)) {
    return lower_error(n, "needs a tensor, and one of the dispatch");
  }
  if (!is_carried(n)) return lower_unsupported(n, "scf.for and scf.if of a dispatch may store");
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
    if (fits) open += ir_type_open_dims(type);
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

// What a body is given: memory of tensors, then of results, and numbers, each in order.
typedef struct given_t {
  dispatch_t d;
  lower_value_t *memory, *numbers;
  uint32_t memory_count, number_count;
} given_t;

static bool read_given(lower_op_t* n, given_t* g) {
  if (!dispatch_read(n, &g->d)) return false;
  g->memory = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, g->d.argument_count + MAX_RESULTS);
  g->numbers = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, g->d.argument_count + 1);
  for (uint32_t i = 0; i < g->d.argument_count; ++i) {
    lower_value_t value = n->values[g->d.first + i];
    if (!value.v || value.im) return lower_unsupported(n, "tensors of real elements and numbers are");
    if (ir_type_is_tensor(value.v->type)) {
      g->memory[g->memory_count++] = value;
    } else {
      g->numbers[g->number_count++] = value;
    }
  }
  return add_results(n, &g->d, g->memory, &g->memory_count);
}

// What the body's arguments stand for. A function without any names what it is given by number.
static bool match_arguments(lower_op_t* n, const given_t* g, const ir_block_t* block, lower_value_t* args) {
  uint32_t next[2] = {0, 0};
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    bool number = is_number(block->args[i]->type);
    if (next[number] == (number ? g->number_count : g->memory_count)) {
      return lower_error(n, "has other arguments than its executable's function");
    }
    args[i] = number ? g->numbers[next[1]] : g->memory[next[0]];
    ++next[number];
  }
  bool all = next[1] == g->number_count && (next[0] == g->memory_count || block->last->operand_count);
  return all || !block->arg_count || lower_error(n, "has other arguments than its executable's function");
}

// What stands for the memory: the body's arguments, or values of its own.
static void add_memory(lower_op_t* n, const given_t* g, const ir_block_t* block, lower_place_t* place) {
  place->memory = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, g->memory_count + block->arg_count + 1);
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (!is_number(block->args[i]->type)) place->memory[place->memory_count++] = block->args[i];
  }
  if (block->arg_count) return;
  ir_block_t* own = ir_block_create(n->ctx);
  for (uint32_t i = 0; i < g->memory_count; ++i) {
    place->memory[place->memory_count++] = ir_block_add_arg(n->ctx, own, g->memory[i].v->type);
    lower_set(n->l, place->memory[i], g->memory[i]);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Workgroups
//===----------------------------------------------------------------------------------------------------------------===

static bool is_place(const ir_op_t* op) {
  static const uint32_t codes[] = {FLOW_DISPATCH_ID,   FLOW_DISPATCH_COUNT,   FLOW_DISPATCH_SIZE,
                                   STREAM_DISPATCH_ID, STREAM_DISPATCH_COUNT, STREAM_DISPATCH_SIZE,
                                   HAL_INTERFACE_ID,   HAL_INTERFACE_COUNT,   HAL_INTERFACE_SIZE};
  for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); ++i) {
    if (ir_is(op, codes[i])) return true;
  }
  return false;
}

// Whether the body asks which workgroup it is.
bool dispatch_asks(const ir_block_t* block) {
  for (const ir_op_t* op = block->first; op; op = op->next) {
    if (is_place(op)) return true;
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (dispatch_asks(inner)) return true;
      }
    }
  }
  return false;
}

// How many there are: what the `region` of `holder` computes, or without one the workload itself; and how large one is.
static bool find_place(lower_op_t* n, const given_t* g, const ir_op_t* holder, uint32_t region, lower_place_t* place) {
  int64_t sizes[3] = {1, 1, 1};
  if (!extern_lower_count(n, holder, region, g->d.first, place->count)) return false;
  if (ir_op_attr(holder, "workgroup_size")) ir_op_ints(holder, "workgroup_size", sizes, 3);
  for (int i = 0; i < 3; ++i) place->size[i] = graph_index_constant(n->b, sizes[i]);
  return true;
}

typedef struct round_t {
  lower_op_t* n;
  lower_place_t* place;
  ir_block_t* block;
  lower_value_t* args;
  ir_value_t** stored;  // memory that is carried
  uint32_t stored_count;
  ir_value_t* total;
} round_t;

static bool round_before(void* user, const lower_value_t* inits, uint32_t count, ir_value_t** go_on,
                         lower_list_t* out) {
  const round_t* r = user;
  *go_on = graph_binary(r->n->b, SCALAR_lt, inits[0].v, r->total);
  for (uint32_t i = 0; i < count; ++i) lower_list_add(out, inits[i].v);
  return true;
}

// The body sees what is carried as its memory.
static bool run_round(const round_t* r) {
  lower_value_t* values;
  uint32_t count;
  for (uint32_t i = 0; i < r->block->arg_count; ++i) {
    if (!is_number(r->block->args[i]->type)) r->args[i] = lower_get(r->block->args[i]);
  }
  if (!lower_block(r->n->l, r->block, r->args, &values, &count)) return false;
  return !count || lower_unsupported(r->n, "a body that asks which workgroup it is stores its results");
}

static bool round_after(void* user, ir_value_t* const* flat, const lower_value_t** inits, uint32_t* count) {
  const round_t* r = user;
  lower_op_t* n = r->n;
  ir_value_t* rest = flat[0];
  lower_value_t* next = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, 1 + r->stored_count);
  for (int i = 0; i < 3; ++i) {
    r->place->id[i] = i < 2 ? lower_index_binary(n->b, SCALAR_rem, rest, r->place->count[i]) : rest;
    if (i < 2) rest = lower_index_binary(n->b, SCALAR_div, rest, r->place->count[i]);
  }
  for (uint32_t i = 0; i < r->stored_count; ++i) lower_set(n->l, r->stored[i], (lower_value_t){.v = flat[1 + i]});
  if (!run_round(r)) return false;
  next[0].v = lower_index_binary(n->b, SCALAR_add, flat[0], graph_index_constant(n->b, 1));
  for (uint32_t i = 0; i < r->stored_count; ++i) {
    next[1 + i].v = lower_coerce(n->l, lower_get(r->stored[i]).v, flat[1 + i]->type);
    if (!next[1 + i].v) return false;
  }
  *inits = next;
  *count = 1 + r->stored_count;
  return true;
}

// One workgroup after the other.
static bool run_workgroups(lower_op_t* n, lower_place_t* place, ir_block_t* block, lower_value_t* args) {
  ir_value_t* stored[GRAPH_MAX_TIED];
  round_t r = {n, place, block, args, stored, dispatch_stored_in(n->l, ir_op_parent(block->last), stored), NULL};
  lower_value_t inits[1 + GRAPH_MAX_TIED];
  lower_types_t types = LOWER_LIST(n->ctx);
  lower_list_t results = LOWER_LIST(n->ctx);
  int64_t known;
  r.total = lower_index_binary(n->b, SCALAR_mul, place->count[0], place->count[1]);
  r.total = lower_index_binary(n->b, SCALAR_mul, r.total, place->count[2]);
  for (int i = 0; i < 3; ++i) place->id[i] = graph_index_constant(n->b, 0);
  for (uint32_t i = 0; i < block->arg_count; ++i) lower_set(n->l, block->args[i], args[i]);
  if (lower_constant_index(r.total, &known) && known == 1) return run_round(&r);
  inits[0].v = place->id[0];
  lower_types_add(&types, inits[0].v->type);
  for (uint32_t i = 0; i < r.stored_count; ++i) {
    inits[1 + i] = lower_get(stored[i]);
    lower_types_add(&types, inits[1 + i].v->type);
  }
  lower_while_t pieces = {round_before, round_after, &r};
  if (!lower_build_while(n->l, n->op->loc, inits, 1 + r.stored_count, &types, &pieces, &results)) return false;
  for (uint32_t i = 0; i < r.stored_count; ++i) lower_set(n->l, stored[i], (lower_value_t){.v = results.items[1 + i]});
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Bodies
//===----------------------------------------------------------------------------------------------------------------===

// Which of the memory result `i` is: an argument's, or the next one behind those.
static uint32_t memory_of_result(const lower_op_t* n, const given_t* g, uint32_t i) {
  uint32_t end = g->d.tied[i] < 0 ? g->d.argument_count : (uint32_t)g->d.tied[i], place = 0;
  for (uint32_t k = 0; k < end; ++k) place += ir_type_is_tensor(n->in[g->d.first + k]->type);
  for (uint32_t k = 0; k < i && g->d.tied[i] < 0; ++k) place += g->d.tied[k] < 0;
  return place;
}

// `holder` has the number of workgroups in its region of that number.
static bool lower_body(lower_op_t* n, ir_block_t* block, const ir_op_t* holder, uint32_t region) {
  given_t g = {0};
  lower_place_t place = {.body = block};
  lower_value_t* values = NULL;
  uint32_t count = 0;
  if (!block || block->next || !block->last) return lower_error(n, "needs a body of one block");
  if (!read_given(n, &g)) return false;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, block->arg_count + 1);
  if (!match_arguments(n, &g, block, args)) return false;
  add_memory(n, &g, block, &place);
  place.numbers = g.numbers;
  place.number_count = g.number_count;
  bool several = dispatch_asks(block);
  if (several && !find_place(n, &g, holder, region, &place)) return false;
  const lower_place_t* outer = n->l->place;
  n->l->place = &place;
  bool ok = several ? run_workgroups(n, &place, block, args) : lower_block(n->l, block, args, &values, &count);
  n->l->place = outer;
  if (!ok) return false;
  if (count && count != n->op->result_count) return lower_error(n, "has other results than its executable's function");
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    uint32_t at = memory_of_result(n, &g, i);
    n->out[i] = count ? values[i] : at < place.memory_count ? lower_get(place.memory[at]) : (lower_value_t){0};
    if (!n->out[i].v || !ir_type_is_tensor(n->out[i].v->type)) return lower_error(n, "stores no result %u", i);
  }
  return true;
}

bool dispatch_lower_workgroups(lower_op_t* n) {
  ir_block_t* block = n->op->region_count ? n->op->regions[0].first : NULL;
  const ir_attr_t* entry = workgroup_outline(n);
  dispatch_t d;
  if (!entry) return lower_body(n, block, n->op, 1);
  ir_op_t* executable = ir_symbol_find(n->ctx, n->l->module, entry->text);
  return dispatch_read(n, &d) && extern_lower_body(n, &d, n->op, 1, executable, entry);
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

bool lower_is_executable(const ir_op_t* op) {
  return ir_is(op, FLOW_EXECUTABLE) || ir_is(op, STREAM_EXECUTABLE) || ir_is(op, HAL_EXECUTABLE) ||
         ir_is(op, HAL_EXECUTABLE_SOURCE);
}

// The function that an export names, or NULL.
static ir_op_t* find_function(const ir_op_t* export) {
  const char* function = ir_op_string(export, "function_ref", ir_op_string(export, "sym_name", ""));
  IR_FOR_OPS(op, export->parent) {
    ir_op_t* found = ir_is(op, BUILTIN_MODULE) ? ir_symbol_lookup(op, function) : NULL;
    if (found && found->region_count) return found;
  }
  return NULL;
}

bool dispatch_lower_dispatch(lower_op_t* n) {
  const ir_attr_t* entry = ir_op_attr(n->op, "entry_points");
  bool named = entry && entry->kind == IR_ATTR_SYMBOL;
  ir_op_t* executable = named ? extern_find(n, entry) : NULL;
  if (executable) return extern_lower_dispatch(n, executable, entry);
  executable = named ? ir_symbol_find(n->ctx, n->l->module, entry->text) : NULL;
  bool is_one = executable && lower_is_executable(executable);
  const ir_op_t* export = is_one ? extern_find_export(executable, entry) : NULL;
  ir_op_t* func = export ? find_function(export) : NULL;
  if (!func) return lower_error(n, "names no function that an executable of this module exports");
  if (workgroup_is_kernel(n, export, func)) return extern_lower_dispatch(n, executable, entry);
  return lower_body(n, func->regions[0].first, export, 0);
}

// One of the three numbers that are known of a place.
static bool lower_known(lower_op_t* n, ir_value_t* const* numbers) {
  int64_t axis = ir_op_int(n->op, "dimension", -1);
  if (axis < 0 || axis > 2) return lower_error(n, "has dimensions 0, 1 and 2");
  return numbers[axis] ? lower_return(n, numbers[axis]) : lower_refused(n);
}

bool dispatch_lower_id(lower_op_t* n) {
  if (n->l->kernel) return shim_lower_id(n, KERNEL_WORKGROUP_ID);
  return n->l->place ? lower_known(n, n->l->place->id) : lower_refused(n);
}

bool dispatch_lower_count(lower_op_t* n) {
  if (n->l->kernel) return shim_lower_id(n, KERNEL_WORKGROUP_COUNT);
  return n->l->place ? lower_known(n, n->l->place->count) : lower_refused(n);
}

bool dispatch_lower_size(lower_op_t* n) {
  int64_t axis = ir_op_int(n->op, "dimension", -1);
  if (!n->l->kernel) return n->l->place ? lower_known(n, n->l->place->size) : lower_refused(n);
  if (axis < 0 || axis > 2) return lower_error(n, "has dimensions 0, 1 and 2");
  return lower_return(n, graph_index_constant(n->b, n->l->group_sizes[axis]));
}

// As many workgroups as a compiler likes.
bool dispatch_lower_any_count(lower_op_t* n) {
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i].v = graph_index_constant(n->b, 1);
  return true;
}

#define ROW(ENUM, ...) [STREAM_##ENUM - IR_CODE(IR_DIALECT_STREAM, 0)] = {__VA_ARGS__}
#define VIEW(ENUM) ROW(ENUM, .fn = dispatch_lower_view, .flags = LOWER_STANDS_FOR)
static const lower_row_t stream_rows[] = {
    VIEW(BINDING_SUBSPAN),
    ROW(DISPATCH_ID, .fn = dispatch_lower_id, .text = DISPATCH_NO_PLACE),
    ROW(DISPATCH_COUNT, .fn = dispatch_lower_count, .text = DISPATCH_NO_PLACE),
    ROW(DISPATCH_SIZE, .fn = dispatch_lower_size, .text = DISPATCH_NO_PLACE),
};
const lower_table_t lower_stream_table = {IR_DIALECT_STREAM, stream_rows, sizeof(stream_rows) / sizeof(stream_rows[0])};

#define AT(ENUM, function) [TENSOR_EXT_##ENUM - IR_CODE(IR_DIALECT_TENSOR_EXT, 0)] = {.fn = function}
static const lower_row_t ext_rows[] = {
    AT(DISPATCH_TENSOR_LOAD, dispatch_lower_load),      AT(DISPATCH_TENSOR_STORE, dispatch_lower_store),
    AT(DISPATCH_WORKLOAD_ORDINAL, dispatch_lower_same), AT(DISPATCH_FROM_SLICE, dispatch_lower_any_count),
    AT(DISPATCH_FROM_DAG, dispatch_lower_any_count),
};
const lower_table_t lower_tensor_ext_table = {IR_DIALECT_TENSOR_EXT, ext_rows, sizeof(ext_rows) / sizeof(ext_rows[0])};
