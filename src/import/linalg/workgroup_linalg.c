// linalg in functions that become kernels: loops over the elements of its operands. See workgroup.h. Every op is a nest
// with a map for each operand and a body on numbers; parallel loops are outside, and what reducing loops make stays in
// registers.
#include <string.h>

#include "dialects/linalg.h"
#include "dialects/tensor.h"
#include "import/linalg/named.h"
#include "import/linalg/workgroup.h"

enum { MAX_LOOPS = GRAPH_MAX_RANK };

typedef struct nest_op_t nest_op_t;
// Sets out[i] for the numbers of all operands, outs last.
typedef bool (*body_fn_t)(lower_op_t* n, const nest_op_t* op, ir_value_t* const* in, ir_value_t** out);

struct nest_op_t {
  uint32_t ins, outs, rank;
  bool reduction[MAX_LOOPS];
  const ir_affine_map_t* maps[LOOPS_MAX_OPERANDS];
  body_fn_t body;
  bool reads_outs;
  ir_block_t* block;  // of ops that have one
  const char* text;   // of the body's own
  bool is_unsigned;
  buffer_t buffers[LOOPS_MAX_OPERANDS];  // of operands; memory is NULL for numbers
  ir_value_t* sizes[MAX_LOOPS];
  ir_value_t* at[MAX_LOOPS];
};

//===----------------------------------------------------------------------------------------------------------------===
// Maps
//===----------------------------------------------------------------------------------------------------------------===

static const ir_affine_t* new_affine(ir_context_t* ctx, ir_affine_kind_t kind, int64_t value, const ir_affine_t* lhs,
                                     const ir_affine_t* rhs) {
  ir_affine_t* e = ARENA_NEW(ir_context_arena(ctx), ir_affine_t);
  *e = (ir_affine_t){.kind = kind, .value = value, .lhs = lhs, .rhs = rhs};
  return e;
}

static const ir_affine_map_t* new_map(ir_context_t* ctx, uint32_t dims, const ir_affine_t* const* results,
                                      uint32_t count) {
  ir_affine_map_t* map = ARENA_NEW(ir_context_arena(ctx), ir_affine_map_t);
  const ir_affine_t** own = ARENA_ARRAY(ir_context_arena(ctx), const ir_affine_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) own[i] = results[i];
  *map = (ir_affine_map_t){.dim_count = dims, .result_count = count, .results = own};
  return map;
}

static ir_value_t* evaluate(lower_op_t* n, const nest_op_t* op, const ir_affine_t* e) {
  if (e->kind == IR_AFFINE_DIM) return op->at[e->value];
  if (e->kind == IR_AFFINE_CONST) return graph_index_constant(n->b, e->value);
  ir_value_t *x = evaluate(n, op, e->lhs), *y = evaluate(n, op, e->rhs);
  switch (e->kind) {
    case IR_AFFINE_ADD:
      return lower_index_binary(n->b, SCALAR_add, x, y);
    case IR_AFFINE_MUL:
      return lower_index_binary(n->b, SCALAR_mul, x, y);
    case IR_AFFINE_MOD:  // loops count from 0: nothing is negative
      return lower_index_binary(n->b, SCALAR_rem, x, y);
    default:
      return arith_rounded_division(n, x, y, e->kind == IR_AFFINE_CEILDIV);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Operands
//===----------------------------------------------------------------------------------------------------------------===

// A tensor that nobody else reads, made by an op that has memory of its own for it.
static bool is_own(const ir_value_t* v) {
  uint32_t dialect = v->def ? ir_op_dialect(v->def) : IR_DIALECT_BUILTIN;
  return v->uses && !v->uses->next && (dialect == IR_DIALECT_LINALG || ir_is(v->def, TENSOR_EMPTY));
}

// A tensor among outs becomes a new one, which begins with its elements.
static bool own_out(lower_op_t* n, nest_op_t* op, uint32_t i) {
  buffer_t init = op->buffers[i];
  const ir_value_t* v = ir_operand(n->op, i);
  if (!ir_type_is_tensor(v->type)) return true;
  bool here = is_own(v) && v->def->parent == n->op->parent;
  if (!here && !buffer_alloc(n, init.memory->type->element, init.sizes, init.rank, &op->buffers[i])) return false;
  if (!here && !ir_is(v->def, TENSOR_EMPTY)) buffer_copy(n->l, &init, &op->buffers[i]);
  n->out[i - op->ins] = buffer_value(n->l, &op->buffers[i]);
  return true;
}

static bool read_operands(lower_op_t* n, nest_op_t* op) {
  if (n->op->operand_count != op->ins + op->outs || !op->outs) return lower_error(n, "needs ins and outs");
  if (op->ins + op->outs > LOOPS_MAX_OPERANDS) return lower_unsupported(n, "up to %d operands are", LOOPS_MAX_OPERANDS);
  if (n->op->result_count && n->op->result_count != op->outs)
    return lower_error(n, "needs a result for each of its outs");
  for (uint32_t i = 0; i < op->ins + op->outs; ++i) {
    const ir_type_t* type = lower_in_type(n, i);
    op->buffers[i].memory = NULL;
    if (!ir_type_is_shaped(type) && i < op->ins) continue;
    if (type->kind == IR_TYPE_VECTOR || !buffer_read(n, i, &op->buffers[i])) {
      return lower_unsupported(n, "memory and tensors are");
    }
    if ((n->op->result_count != 0) != ir_type_is_tensor(type) && i >= op->ins) {
      return lower_error(n, "has results of outs that are memory, or none of tensors");
    }
  }
  for (uint32_t i = op->ins; i < op->ins + op->outs; ++i) {
    if (!own_out(n, op, i)) return false;
  }
  return true;
}

static bool find_sizes(lower_op_t* n, nest_op_t* op) {
  for (uint32_t k = 0; k < op->ins + op->outs; ++k) {
    const buffer_t* x = &op->buffers[k];
    uint32_t rank = x->memory ? x->rank : 0;
    if (!op->maps[k] || op->maps[k]->dim_count != op->rank || op->maps[k]->symbol_count ||
        op->maps[k]->result_count != rank) {
      return lower_error(n, "has an indexing map %u that does not fit", k);
    }
    for (uint32_t i = 0; i < rank; ++i) {
      const ir_affine_t* e = op->maps[k]->results[i];
      int64_t known;
      if (e->kind != IR_AFFINE_DIM) continue;
      ir_value_t** size = &op->sizes[e->value];
      if (!*size || !lower_constant_index(*size, &known)) *size = x->sizes[i];
    }
  }
  for (uint32_t i = 0; i < op->rank; ++i) {
    if (!op->sizes[i]) return lower_unsupported(n, "no operand has the size of loop %u as a dimension", i);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// The nest
//===----------------------------------------------------------------------------------------------------------------===

static void find_place(lower_op_t* n, const nest_op_t* op, uint32_t operand, ir_value_t** at) {
  for (uint32_t i = 0; i < op->maps[operand]->result_count; ++i) at[i] = evaluate(n, op, op->maps[operand]->results[i]);
}

// The body at the loops' numbers; sums[i] is out i, before and behind.
static bool run_body(lower_op_t* n, const nest_op_t* op, ir_value_t** sums) {
  ir_value_t *in[LOOPS_MAX_OPERANDS] = {NULL}, *out[LOOPS_MAX_OPERANDS], *at[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < op->ins; ++i) {
    if (op->buffers[i].memory) {
      find_place(n, op, i, at);
      in[i] = buffer_load(n->b, &op->buffers[i], at);
    } else {
      in[i] = n->in[i];
    }
  }
  for (uint32_t i = 0; i < op->outs; ++i) in[op->ins + i] = sums[i];
  if (!op->body(n, op, in, out)) return false;
  for (uint32_t i = 0; i < op->outs; ++i) {
    const ir_type_t* type = op->buffers[op->ins + i].memory->type->element;
    if (!out[i] || out[i]->type != type) return lower_error(n, "gives another type than its outs have");
    sums[i] = out[i];
  }
  return true;
}

// Loops that reduce, with all outs in registers.
static bool run_reducing(lower_op_t* n, nest_op_t* op, ir_value_t** sums) {
  kernel_loop_t loops[MAX_LOOPS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->rank; ++i) {
    if (!op->reduction[i]) continue;
    ir_value_t *low = graph_index_constant(n->b, 0), *step = graph_index_constant(n->b, 1);
    loops[count] = kernel_for_begin(n->b, low, op->sizes[i], step, sums, op->outs);
    op->at[i] = loops[count].index;
    memcpy(sums, loops[count++].iters, sizeof(*sums) * op->outs);
  }
  if (!run_body(n, op, sums)) return false;
  while (count-- > 0) {
    kernel_for_end(n->b, &loops[count], sums, op->outs);
    for (uint32_t i = 0; i < op->outs; ++i) sums[i] = kernel_loop_result(&loops[count], i);
  }
  return true;
}

// Whether all operands go along memory with the loop, or have nothing to do with it: then vectors may run along it,
// also where others reduce.
static bool goes_along(const nest_op_t* op, uint32_t loop) {
  for (uint32_t k = 0; k < op->ins + op->outs; ++k) {
    const ir_affine_map_t* map = op->maps[k];
    bool last = false;
    for (uint32_t i = 0; i < map->result_count; ++i) {
      const ir_affine_t* e = map->results[i];
      bool is_loop = e->kind == IR_AFFINE_DIM && e->value == loop;
      if (is_loop && i + 1 < map->result_count) return false;
      if (e->kind != IR_AFFINE_DIM && e->kind != IR_AFFINE_CONST) return false;
      last = is_loop;
    }
    if (k >= op->ins && !last) return false;
  }
  return true;
}

// The results' places at the loops' numbers, and what is there if the body reads it.
static bool begin_results(lower_op_t* n, const nest_op_t* op, bool reads, ir_value_t* (*at)[GRAPH_MAX_RANK],
                          ir_value_t** sums) {
  for (uint32_t i = 0; i < op->outs; ++i) {
    for (uint32_t k = 0; k < op->maps[op->ins + i]->result_count; ++k) {
      const ir_affine_t* e = op->maps[op->ins + i]->results[k];
      bool parallel = e->kind == IR_AFFINE_CONST || (e->kind == IR_AFFINE_DIM && !op->reduction[e->value]);
      if (!parallel) return lower_unsupported(n, "a result over parallel loops is");
    }
    find_place(n, op, op->ins + i, at[i]);
    if (reads) sums[i] = buffer_load(n->b, &op->buffers[op->ins + i], at[i]);
  }
  return true;
}

// Parallel loops outside of those that reduce; on CPUs the last one inside, where it goes along memory.
static bool run_nest(lower_op_t* n, nest_op_t* op) {
  ir_value_t *sizes[MAX_LOOPS], *sums[LOOPS_MAX_OPERANDS] = {NULL}, *at[LOOPS_MAX_OPERANDS][GRAPH_MAX_RANK];
  uint32_t loops[MAX_LOOPS], count = 0, parallel = 0;
  nest_t nest;
  if (!read_operands(n, op) || !find_sizes(n, op)) return false;
  for (uint32_t i = 0; i < op->rank; ++i) {
    if (!op->reduction[i]) loops[parallel++] = i;
  }
  bool reduces = parallel < op->rank;
  bool inside = reduces && parallel && !n->l->threads && goes_along(op, loops[parallel - 1]);
  if (inside) {
    uint32_t last = loops[parallel - 1];
    count = parallel - 1;
    for (uint32_t i = 0; i < op->rank; ++i) {
      if (op->reduction[i]) loops[count++] = i;
    }
    loops[count++] = last;
  } else {
    count = parallel;
  }
  for (uint32_t i = 0; i < count; ++i) sizes[i] = op->sizes[loops[i]];
  nest_begin(n->l, sizes, count, &nest);
  for (uint32_t i = 0; i < count; ++i) op->at[loops[i]] = nest.at[i];
  if (!begin_results(n, op, reduces || op->reads_outs, at, sums)) return false;
  if (reduces && !inside ? !run_reducing(n, op, sums) : !run_body(n, op, sums)) return false;
  for (uint32_t i = 0; i < op->outs; ++i) buffer_store(n->b, &op->buffers[op->ins + i], at[i], sums[i]);
  nest_end(n->l, &nest);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Bodies
//===----------------------------------------------------------------------------------------------------------------===

// The op's own block.
static bool block_body(lower_op_t* n, const nest_op_t* op, ir_value_t* const* in, ir_value_t** out) {
  lower_value_t args[LOOPS_MAX_OPERANDS] = {{0}}, *results;
  loops_t loops = {.rank = op->rank};
  uint32_t count;
  for (uint32_t i = 0; i < op->block->arg_count; ++i) args[i].v = in[i];
  if (!workgroup_check_args(n, op->block, args)) return false;
  for (uint32_t i = 0; i < op->rank; ++i) loops.index[i] = op->at[i];
  const loops_t* outer = n->l->loops;
  n->l->loops = &loops;
  bool ok = lower_block(n->l, op->block, args, &results, &count);
  n->l->loops = outer;
  if (!ok) return false;
  if (count != op->outs) return lower_error(n, "has a body that yields %u values for %u results", count, op->outs);
  for (uint32_t i = 0; i < count; ++i) out[i] = results[i].v;
  return true;
}

static bool take_block(lower_op_t* n, nest_op_t* op) {
  op->block = n->op->region_count ? n->op->regions[0].first : NULL;
  op->body = block_body;
  bool fits = op->block && !op->block->next && op->block->last && op->block->arg_count <= op->ins + op->outs &&
              op->block->arg_count >= op->ins;
  if (!fits) return lower_error(n, "needs a body with an argument for each operand");
  for (uint32_t i = op->ins; i < op->block->arg_count; ++i) op->reads_outs |= op->block->args[i]->uses != NULL;
  return true;
}

static bool product_body(lower_op_t* n, const nest_op_t* op, ir_value_t* const* in, ir_value_t** out) {
  const ir_type_t* type = in[2]->type;
  ir_value_t* x = graph_cast(n->b, in[0], type, op->is_unsigned);
  ir_value_t* y = graph_cast(n->b, in[1], type, op->is_unsigned);
  if (ir_type_is_float(type)) {
    ir_value_t* values[] = {x, y, in[2]};
    out[0] = ir_build_value(n->b, graph_scalar_code(SCALAR_fma), values, 3, type);
  } else {
    out[0] = graph_binary(n->b, SCALAR_add, in[2], graph_binary(n->b, SCALAR_mul, x, y));
  }
  return true;
}

// A window's operand has its size alone.
static bool pool_body(lower_op_t* n, const nest_op_t* op, ir_value_t* const* in, ir_value_t** out) {
  out[0] = graph_binary(n->b, lower_kind_fn(op->text), in[2], graph_cast(n->b, in[0], in[2]->type, false));
  return true;
}

static bool function_body(lower_op_t* n, const nest_op_t* op, ir_value_t* const* in, ir_value_t** out) {
  ir_value_t* v[LOOPS_MAX_OPERANDS];
  const ir_type_t* type = op->buffers[op->ins].memory->type->element;
  for (uint32_t i = 0; i < op->ins; ++i) {
    bool condition = i == 0 && strcmp(op->text, "select") == 0;
    v[i] = condition ? in[i] : graph_cast(n->b, in[i], type, op->is_unsigned);
  }
  out[0] = named_apply(n, op->text, v, op->ins);
  return out[0] != NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

static bool read_maps(lower_op_t* n, nest_op_t* op) {
  const ir_attr_t *maps = ir_op_attr(n->op, "indexing_maps"), *iterators = ir_op_attr(n->op, "iterator_types");
  if (!maps || maps->kind != IR_ATTR_ARRAY || maps->count != op->ins + op->outs || maps->count > LOOPS_MAX_OPERANDS) {
    return lower_error(n, "needs one indexing map for each operand");
  }
  for (uint32_t i = 0; i < maps->count; ++i) {
    op->maps[i] = maps->items[i]->kind == IR_ATTR_AFFINE_MAP ? maps->items[i]->map : NULL;
    if (!op->maps[i] || op->maps[i]->dim_count > MAX_LOOPS || op->maps[i]->result_count > GRAPH_MAX_RANK) {
      return lower_error(n, "has an indexing map %u that does not fit", i);
    }
  }
  op->rank = op->maps[0]->dim_count;
  for (uint32_t i = 0; i < op->rank; ++i) op->reduction[i] = !iterators;
  const ir_affine_map_t* out = op->maps[op->ins];
  for (uint32_t i = 0; !iterators && i < out->result_count; ++i) {
    if (out->results[i]->kind == IR_AFFINE_DIM) op->reduction[out->results[i]->value] = false;
  }
  if (!iterators) return true;
  if (iterators->kind != IR_ATTR_ARRAY || iterators->count != op->rank) {
    return lower_error(n, "needs one iterator type for each of its %u loops", op->rank);
  }
  for (uint32_t i = 0; i < op->rank; ++i) {
    if (!loops_read_iterator(n, iterators->items[i], &op->reduction[i])) return false;
  }
  return true;
}

// ins and outs by operandSegmentSizes.
static bool read_counts(lower_op_t* n, nest_op_t* op) {
  int64_t sizes[2];
  bool fits = ir_op_ints(n->op, "operandSegmentSizes", sizes, 2) == 2 && sizes[0] >= 0 && sizes[1] > 0 &&
              sizes[0] + sizes[1] == n->op->operand_count && n->op->operand_count <= LOOPS_MAX_OPERANDS;
  if (!fits) return lower_error(n, "needs 'operandSegmentSizes' with the numbers of ins and outs");
  op->ins = (uint32_t)sizes[0];
  op->outs = (uint32_t)sizes[1];
  return true;
}

// Letters are loops: the result's first, then those that it has not.
static int64_t loop_of(char* letters, char letter) {
  char* at = strchr(letters, letter);
  if (at) return at - letters;
  size_t count = strlen(letters);
  letters[count] = letter;
  letters[count + 1] = 0;
  return (int64_t)count;
}

static bool lower_contract(lower_op_t* n, nest_op_t* op) {
  char letters[4 * MAX_LOOPS] = "";
  op->body = product_body;
  op->is_unsigned = named_is_unsigned(n);
  if (op->ins != 2 || op->outs != 1) return lower_error(n, "needs two ins and one outs");
  if (ir_op_attr(n->op, "indexing_maps")) return read_maps(n, op) && run_nest(n, op);
  named_texts_t t = named_split(n->row->text);
  int64_t loops[3][MAX_LOOPS];
  for (int k = 2; k >= 0; --k) {
    for (uint32_t i = 0; t.part[k][i]; ++i) loops[k][i] = loop_of(letters, t.part[k][i]);
  }
  op->rank = (uint32_t)strlen(letters);
  for (uint32_t i = (uint32_t)strlen(t.part[2]); i < op->rank; ++i) op->reduction[i] = true;
  for (int k = 0; k < 3; ++k)
    op->maps[k] = loops_affine_from_list(n->ctx, loops[k], (uint32_t)strlen(t.part[k]), op->rank);
  return run_nest(n, op);
}

// A window's place: digits of `w` are loops of their own, which are written as letters from 'A' on.
static bool lower_windows(lower_op_t* n, nest_op_t* op, const char* x, const char* w, const char* y) {
  char letters[4 * MAX_LOOPS] = "";
  conv_roles_t steps = {x, w, y, {0}, {0}};
  int64_t loops[2][MAX_LOOPS];
  const ir_affine_t* places[MAX_LOOPS];
  if (op->ins != 2 || op->outs != 1) return lower_error(n, "needs two ins and one outs");
  if (!named_steps(n, &steps)) return false;
  for (uint32_t i = 0; y[i]; ++i) loops[1][i] = loop_of(letters, y[i]);
  uint32_t kept = (uint32_t)strlen(letters);
  for (uint32_t i = 0; w[i]; ++i) {
    bool digit = w[i] >= '0' && w[i] <= '9';
    loops[0][i] = loop_of(letters, (char)(digit ? w[i] - '0' + 'A' : w[i]));
  }
  for (uint32_t i = 0; x[i]; ++i) {
    bool digit = x[i] >= '0' && x[i] <= '9';
    places[i] = new_affine(n->ctx, IR_AFFINE_DIM, loop_of(letters, x[i]), NULL, NULL);
    if (!digit) continue;
    int64_t number = x[i] - '0';
    const ir_affine_t* tap = new_affine(n->ctx, IR_AFFINE_DIM, loop_of(letters, (char)(number + 'A')), NULL, NULL);
    const ir_affine_t* stride = new_affine(n->ctx, IR_AFFINE_CONST, steps.strides[number], NULL, NULL);
    const ir_affine_t* dilation = new_affine(n->ctx, IR_AFFINE_CONST, steps.dilations[number], NULL, NULL);
    places[i] = new_affine(n->ctx, IR_AFFINE_ADD, 0, new_affine(n->ctx, IR_AFFINE_MUL, 0, places[i], stride),
                           new_affine(n->ctx, IR_AFFINE_MUL, 0, tap, dilation));
  }
  op->rank = (uint32_t)strlen(letters);
  if (op->rank > MAX_LOOPS) return lower_unsupported(n, "up to %d loops are", MAX_LOOPS);
  for (uint32_t i = kept; i < op->rank; ++i) op->reduction[i] = true;
  op->maps[0] = new_map(n->ctx, op->rank, places, (uint32_t)strlen(x));
  op->maps[1] = loops_affine_from_list(n->ctx, loops[0], (uint32_t)strlen(w), op->rank);
  op->maps[2] = loops_affine_from_list(n->ctx, loops[1], kept, op->rank);
  return run_nest(n, op);
}

static bool lower_pool(lower_op_t* n, nest_op_t* op) {
  named_texts_t t = named_split(n->row->text);
  char digits[MAX_LOOPS] = "";
  uint32_t count = 0;
  for (const char* c = t.part[0]; *c; ++c) {
    if (*c >= '0' && *c <= '9') digits[count++] = *c;
  }
  op->body = pool_body;
  op->text = t.part[1];
  return lower_windows(n, op, t.part[0], digits, t.part[0]);
}

// One loop for each dimension of the result.
static void set_pointwise(lower_op_t* n, nest_op_t* op) {
  int64_t loops[MAX_LOOPS];
  op->rank = (uint32_t)lower_in_type(n, op->ins)->rank;
  for (uint32_t i = 0; i < op->rank; ++i) loops[i] = i;
  for (uint32_t k = 0; k < op->ins + op->outs; ++k) {
    op->maps[k] =
        loops_affine_from_list(n->ctx, loops, ir_type_is_shaped(lower_in_type(n, k)) ? op->rank : 0, op->rank);
  }
}

static bool lower_function(lower_op_t* n, nest_op_t* op) {
  op->body = function_body;
  op->text = ir_is(n->op, LINALG_FILL) ? "copy" : named_function(n);
  op->is_unsigned = named_is_unsigned(n);
  if (op->ins < 1 || op->ins > 3 || op->outs != 1) return lower_error(n, "needs one to three ins and one outs");
  if (ir_op_attr(n->op, "indexing_maps")) return read_maps(n, op) && run_nest(n, op);
  set_pointwise(n, op);
  return run_nest(n, op);
}

static bool lower_map(lower_op_t* n, nest_op_t* op) {
  op->ins = n->op->operand_count - 1;
  op->outs = 1;
  if (!n->op->operand_count || n->op->operand_count > LOOPS_MAX_OPERANDS) return lower_error(n, "needs ins and outs");
  set_pointwise(n, op);
  return take_block(n, op) && run_nest(n, op);
}

static bool lower_reduce(lower_op_t* n, nest_op_t* op) {
  int64_t dims[GRAPH_MAX_RANK], loops[GRAPH_MAX_RANK], outer[GRAPH_MAX_RANK];
  uint32_t given, kept = 0;
  op->ins = op->outs = n->op->operand_count / 2;
  if (!op->ins || n->op->operand_count % 2 || n->op->operand_count > LOOPS_MAX_OPERANDS) {
    return lower_error(n, "needs as many ins as outs");
  }
  op->rank = (uint32_t)lower_in_type(n, 0)->rank;
  if (!lower_dims(n, "dimensions", (int32_t)op->rank, dims, &given)) return false;
  for (uint32_t i = 0; i < given; ++i) op->reduction[dims[i]] = true;
  for (uint32_t i = 0; i < op->rank; ++i) {
    loops[i] = i;
    if (!op->reduction[i]) outer[kept++] = i;
  }
  for (uint32_t k = 0; k < 2 * op->ins; ++k) {
    op->maps[k] = loops_affine_from_list(n->ctx, k < op->ins ? loops : outer, k < op->ins ? op->rank : kept, op->rank);
  }
  return take_block(n, op) && run_nest(n, op);
}

// Dimension i of the result is loop i; `source` has the loops of the operand's.
static bool lower_move(lower_op_t* n, nest_op_t* op) {
  int64_t list[GRAPH_MAX_RANK], loops[GRAPH_MAX_RANK];
  bool transposes = ir_is(n->op, LINALG_TRANSPOSE);
  uint32_t given, count = 0;
  op->ins = op->outs = 1;
  op->body = function_body;
  op->text = "copy";
  if (n->op->operand_count != 2) return lower_error(n, "needs one ins and one outs");
  set_pointwise(n, op);
  if (!lower_dims(n, transposes ? "permutation" : "dimensions", (int32_t)op->rank, list, &given)) return false;
  if (transposes && given != op->rank) return lower_error(n, "needs a permutation of all dimensions");
  for (uint32_t i = 0; i < op->rank; ++i) {
    bool fresh = false;
    for (uint32_t k = 0; k < given; ++k) fresh |= list[k] == i;
    if (transposes) loops[list[i]] = i;
    if (!transposes && !fresh) loops[count++] = i;
  }
  if (ir_type_is_shaped(lower_in_type(n, 0)))
    op->maps[0] = loops_affine_from_list(n->ctx, loops, transposes ? given : count, op->rank);
  return run_nest(n, op);
}

bool workgroup_lower_linalg(lower_op_t* n) {
  nest_op_t op = {0};
  lower_fn_t fn = n->row->fn;
  if (fn == linalg_lower_index) return fn(n);
  if (fn == linalg_lower_map) return lower_map(n, &op);
  if (fn == linalg_lower_reduce) return lower_reduce(n, &op);
  if (fn == linalg_lower_transpose || fn == linalg_lower_broadcast) return lower_move(n, &op);
  bool known = fn == linalg_lower_generic || fn == linalg_lower_contract || fn == linalg_lower_matmul ||
               fn == linalg_lower_conv || fn == linalg_lower_pool || fn == linalg_lower_elementwise ||
               fn == linalg_lower_fill;
  if (!known) return lower_unsupported(n, "in a kernel linalg.generic is");
  if (!read_counts(n, &op)) return false;
  if (fn == linalg_lower_generic) return read_maps(n, &op) && take_block(n, &op) && run_nest(n, &op);
  if (fn == linalg_lower_contract || fn == linalg_lower_matmul) return lower_contract(n, &op);
  if (fn == linalg_lower_pool) return lower_pool(n, &op);
  if (fn != linalg_lower_conv) return lower_function(n, &op);
  named_texts_t t = named_split(n->row->text);
  op.body = product_body;
  return lower_windows(n, &op, t.part[0], t.part[1], t.part[2]);
}
