// Loop nests on whole tensors. An operand is spread over the loops by its indexing map, the body of scalar ops runs on
// what this gives, and each result is collected: transposed to its map, reduced where loops reduce. What cannot be
// taken apart that way (two values that are reduced together) stays a graph.generic.
//
//   linalg.generic {maps (d0,d1)->(d0,d1), (d1); out (d0), reduction d1}      %b = graph.broadcast %y [1]
//     ^bb0(%x, %y, %o): %m = mulf %x, %y; yield addf %o, %m           =>      %m = graph.mul %x, %b
//                                                                             %r = graph.reduce %m [1] "add"
#include <string.h>

#include "dialects/arith.h"
#include "dialects/complex.h"
#include "dialects/linalg.h"
#include "import/linalg/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Maps
//===----------------------------------------------------------------------------------------------------------------===

// Adds e * factor to the term. False when it is not a sum of two loops at most.
static bool add_term(const ir_affine_t* e, int64_t factor, loop_term_t* term) {
  switch (e->kind) {
    case IR_AFFINE_CONST:
      return !__builtin_mul_overflow(e->value, factor, &factor) &&
             !__builtin_add_overflow(term->constant, factor, &term->constant);
    case IR_AFFINE_DIM:
      for (int i = 0; i < 2; ++i) {
        if (term->loop[i] >= 0 && term->loop[i] != e->value) continue;
        term->loop[i] = (int32_t)e->value;
        term->factor[i] += factor;
        return true;
      }
      return false;
    case IR_AFFINE_ADD:
      return add_term(e->lhs, factor, term) && add_term(e->rhs, factor, term);
    case IR_AFFINE_MUL:
      if (e->rhs->kind == IR_AFFINE_CONST && !__builtin_mul_overflow(factor, e->rhs->value, &factor)) {
        return add_term(e->lhs, factor, term);
      }
      return e->lhs->kind == IR_AFFINE_CONST && !__builtin_mul_overflow(factor, e->lhs->value, &factor) &&
             add_term(e->rhs, factor, term);
    default:
      return false;
  }
}

static bool is_loop(const loop_term_t* t) {
  return t->loop[0] >= 0 && t->loop[1] < 0 && t->factor[0] == 1 && t->constant == 0;
}

static void finish_map(loop_map_t* map) {
  uint32_t seen = 0;
  map->is_projected = map->is_linear;
  for (uint32_t i = 0; i < map->count && map->is_projected; ++i) {
    const loop_term_t* t = &map->terms[i];
    if (t->loop[0] < 0) {
      map->is_projected = t->constant >= 0;
    } else {
      map->is_projected = is_loop(t) && !(seen & (1u << t->loop[0]));
      seen |= 1u << t->loop[0];
    }
  }
}

void loops_map_from_affine(const ir_affine_map_t* affine, loop_map_t* out) {
  *out = (loop_map_t){.count = affine->result_count, .affine = affine, .is_linear = true};
  for (uint32_t i = 0; i < affine->result_count; ++i) {
    out->terms[i] = (loop_term_t){.loop = {-1, -1}};
    out->is_linear &= add_term(affine->results[i], 1, &out->terms[i]);
  }
  finish_map(out);
}

const ir_affine_map_t* loops_affine_from_list(ir_context_t* ctx, const int64_t* loops, uint32_t count, uint32_t rank) {
  arena_t* arena = ir_context_arena(ctx);
  ir_affine_map_t* affine = ARENA_NEW(arena, ir_affine_map_t);
  const ir_affine_t** results = ARENA_ARRAY(arena, const ir_affine_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    ir_affine_t* e = ARENA_NEW(arena, ir_affine_t);
    *e = (ir_affine_t){.kind = IR_AFFINE_DIM, .value = loops[i]};
    results[i] = e;
  }
  *affine = (ir_affine_map_t){.dim_count = rank, .result_count = count, .results = results};
  return affine;
}

void loops_map_from_list(ir_context_t* ctx, const int64_t* loops, uint32_t count, uint32_t rank, loop_map_t* out) {
  loops_map_from_affine(loops_affine_from_list(ctx, loops, count, rank), out);
}

bool linalg_read_segments(lower_op_t* n, uint32_t* ins, uint32_t* outs) {
  int64_t sizes[2];
  bool fits = ir_op_ints(n->op, "operandSegmentSizes", sizes, 2) == 2 && sizes[0] >= 0 && sizes[1] > 0 &&
              sizes[0] + sizes[1] == n->op->operand_count;
  if (!fits) return lower_error(n, "needs 'operandSegmentSizes' with the numbers of ins and outs");
  *ins = (uint32_t)sizes[0];
  *outs = (uint32_t)sizes[1];
  if (*ins + *outs > LOOPS_MAX_OPERANDS) return lower_unsupported(n, "up to %d operands are", LOOPS_MAX_OPERANDS);
  for (uint32_t i = *ins; i < n->op->operand_count; ++i) {
    if (!ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors as outs are");
  }
  return *outs == n->op->result_count || lower_error(n, "needs a result for each of its outs");
}

bool loops_read_iterator(lower_op_t* n, const ir_attr_t* attr, bool* reduction) {
  const char* word = attr->kind == IR_ATTR_STRING ? attr->text : attr->kind == IR_ATTR_OPAQUE ? attr->body : NULL;
  *reduction = word && strcmp(word, "reduction") == 0;
  bool known = *reduction || (word && strcmp(word, "parallel") == 0);
  return known || lower_unsupported(n, "\"parallel\" and \"reduction\" are what iterators can be");
}

bool loops_read(lower_op_t* n, loops_t* l) {
  const ir_attr_t *maps = ir_op_attr(n->op, "indexing_maps"), *iterators = ir_op_attr(n->op, "iterator_types");
  if (!linalg_read_segments(n, &l->ins, &l->outs)) return false;
  if (!maps || maps->kind != IR_ATTR_ARRAY || maps->count != n->op->operand_count) {
    return lower_error(n, "needs one indexing map for each operand");
  }
  l->rank = 0;
  for (uint32_t i = 0; i < maps->count; ++i) {
    const ir_affine_map_t* map = maps->items[i]->kind == IR_ATTR_AFFINE_MAP ? maps->items[i]->map : NULL;
    uint32_t rank = ir_type_is_tensor(n->in[i]->type) ? (uint32_t)n->in[i]->type->rank : 0;
    if (!map || map->symbol_count || map->result_count != rank || map->dim_count > GRAPH_MAX_RANK ||
        (i && map->dim_count != l->rank)) {
      return lower_error(n, "has an indexing map %u that does not fit", i);
    }
    l->rank = map->dim_count;
    loops_map_from_affine(map, &l->maps[i]);
  }
  memset(l->reduction, 0, sizeof(l->reduction));
  if (!iterators) {  // named ops: what the result does not have is reduced
    for (uint32_t i = 0; i < l->rank; ++i) l->reduction[i] = true;
    const loop_map_t* out = &l->maps[l->ins];
    for (uint32_t i = 0; i < out->count; ++i) {
      if (out->terms[i].loop[0] >= 0) l->reduction[out->terms[i].loop[0]] = false;
    }
    return true;
  }
  if (iterators->kind != IR_ATTR_ARRAY || iterators->count != l->rank) {
    return lower_error(n, "needs one iterator type for each of its %u loops", l->rank);
  }
  for (uint32_t i = 0; i < l->rank; ++i) {
    if (!loops_read_iterator(n, iterators->items[i], &l->reduction[i])) return false;
  }
  return true;
}

bool loops_find_sizes(lower_op_t* n, loops_t* l) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* sources[GRAPH_MAX_RANK] = {NULL};
  uint32_t at[GRAPH_MAX_RANK], count = 0;
  for (uint32_t i = 0; i < l->rank; ++i) dims[i] = IR_DYNAMIC;
  for (uint32_t k = 0; k < l->ins + l->outs; ++k) {
    for (uint32_t i = 0; i < l->maps[k].count; ++i) {
      const loop_term_t* t = &l->maps[k].terms[i];
      if (!l->maps[k].is_linear || !is_loop(t)) continue;
      int64_t size = n->in[k]->type->dims[i];
      if (sources[t->loop[0]] && size != IR_DYNAMIC && dims[t->loop[0]] != IR_DYNAMIC && size != dims[t->loop[0]]) {
        return lower_error(n, "has operands of sizes %lld and %lld along loop %d", (long long)dims[t->loop[0]],
                           (long long)size, t->loop[0]);
      }
      if (sources[t->loop[0]] && size == IR_DYNAMIC) continue;
      dims[t->loop[0]] = size;
      sources[t->loop[0]] = n->in[k];
      at[t->loop[0]] = i;
    }
  }
  for (uint32_t i = 0; i < l->rank; ++i) {
    if (!sources[i]) return lower_unsupported(n, "no operand has the size of loop %u as a dimension", i);
    if (dims[i] == IR_DYNAMIC) l->dynamic[count++] = graph_dim(n->b, sources[i], at[i]);
  }
  l->type = ir_type_tensor(n->ctx, ir_type_index(n->ctx), (int32_t)l->rank, dims);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Operands
//===----------------------------------------------------------------------------------------------------------------===

// Sizes that are not known are those of the loops: nothing is repeated along one.
static ir_value_t* repeat(lower_op_t* n, const loops_t* l, ir_value_t* v, const int64_t* dims) {
  bool whole = v->type->rank == l->type->rank;
  for (int32_t i = 0; whole && i < v->type->rank; ++i) whole = dims[i] == i && v->type->dims[i] == l->type->dims[i];
  if (whole) return v;
  return graph_broadcast(n->b, v, ir_type_with_element(n->ctx, l->type, v->type->element), dims, l->dynamic);
}

// Results that are constants name one place: taken out.
static ir_value_t* take_places(lower_op_t* n, ir_value_t* v, const loop_map_t* map, int64_t* loops, uint32_t* count) {
  int64_t offsets[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], ones[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t sources[GRAPH_MAX_RANK], sizes_count = 0;
  bool any = false;
  *count = 0;
  for (uint32_t i = 0; i < map->count; ++i) {
    const loop_term_t* t = &map->terms[i];
    ones[i] = 1;
    sizes[i] = t->loop[0] < 0 ? 1 : v->type->dims[i];
    any |= t->loop[0] < 0;
    if (t->loop[0] < 0) {
      offsets[i] = t->constant;
      if (v->type->dims[i] != IR_DYNAMIC && t->constant >= v->type->dims[i]) {
        return lower_error(n, "has an indexing map that leaves its operand"), NULL;
      }
      continue;
    }
    sources[*count] = i;
    dims[*count] = v->type->dims[i];
    loops[(*count)++] = t->loop[0];
  }
  if (!any) return v;
  for (uint32_t i = 0; i < *count; ++i) {
    if (dims[i] == IR_DYNAMIC) dynamic[sizes_count++] = graph_dim(n->b, v, sources[i]);
  }
  v = graph_slice(n->b, v, offsets, sizes, ones);
  return graph_reshape(n->b, v, (int32_t)*count, dims, dynamic);
}

// An affine expression over the loops as a whole tensor of indices.
static ir_value_t* affine_value(lower_op_t* n, const loops_t* l, const ir_affine_t* e) {
  const ir_type_t* scalar = ir_type_tensor(n->ctx, ir_type_index(n->ctx), 0, NULL);
  if (e->kind == IR_AFFINE_DIM) return graph_iota(n->b, l->type, e->value, l->dynamic);
  if (e->kind == IR_AFFINE_CONST || e->kind == IR_AFFINE_SYMBOL) {
    return repeat(n, l, graph_splat_integer(n->b, scalar, e->kind == IR_AFFINE_CONST ? e->value : 0), NULL);
  }
  ir_value_t *x = affine_value(n, l, e->lhs), *y = affine_value(n, l, e->rhs);
  switch (e->kind) {
    case IR_AFFINE_ADD:
      return graph_binary(n->b, SCALAR_add, x, y);
    case IR_AFFINE_MUL:
      return graph_binary(n->b, SCALAR_mul, x, y);
    case IR_AFFINE_MOD:  // loops count from 0: nothing is negative
      return graph_binary(n->b, SCALAR_rem, x, y);
    case IR_AFFINE_FLOORDIV:
      return graph_binary(n->b, SCALAR_div, x, y);
    default:
      x = graph_binary(n->b, SCALAR_add, x, lower_with_number(n, SCALAR_sub, y, 1));
      return graph_binary(n->b, SCALAR_div, x, y);
  }
}

// One part of an operand.
static ir_value_t* spread_part(lower_op_t* n, const loops_t* l, uint32_t operand, ir_value_t* v) {
  v = lower_as_tensor(n->b, v);
  const loop_map_t* map = &l->maps[operand];
  if (v->type->rank == 0) return repeat(n, l, v, NULL);
  if (!map->is_projected) {
    ir_value_t* indices[GRAPH_MAX_RANK];
    for (uint32_t i = 0; i < map->count; ++i) indices[i] = affine_value(n, l, map->affine->results[i]);
    return loops_gather(n, l, v, indices);
  }
  int64_t loops[GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK], sorted[GRAPH_MAX_RANK];
  uint32_t count, next = 0;
  v = take_places(n, v, map, loops, &count);
  if (!v) return NULL;
  for (uint32_t loop = 0; loop < l->rank; ++loop) {
    for (uint32_t i = 0; i < count; ++i) {
      if (loops[i] != loop) continue;
      sorted[next] = loop;
      perm[next++] = i;
    }
  }
  return repeat(n, l, graph_transpose(n->b, v, perm), sorted);
}

ir_value_t* loops_spread(lower_op_t* n, const loops_t* l, uint32_t operand) {
  return spread_part(n, l, operand, n->in[operand]);
}

ir_value_t* loops_collect(lower_op_t* n, const loops_t* l, uint32_t out, ir_value_t* value) {
  const loop_map_t* map = &l->maps[out];
  int64_t perm[GRAPH_MAX_RANK], place[GRAPH_MAX_RANK];
  int32_t kept = 0;
  for (uint32_t i = 0; i < l->rank; ++i) place[i] = l->reduction[i] ? -1 : kept++;
  if (!map->is_projected || map->count != (uint32_t)kept) {
    lower_unsupported(n, "a result whose map has each parallel loop once is");
    return NULL;
  }
  for (uint32_t i = 0; i < map->count; ++i) {
    int32_t loop = map->terms[i].loop[0];
    if (loop < 0 || place[loop] < 0) return lower_unsupported(n, "a result over parallel loops is"), NULL;
    perm[i] = place[loop];
  }
  return graph_transpose(n->b, value, perm);
}

//===----------------------------------------------------------------------------------------------------------------===
// Bodies on whole tensors
//===----------------------------------------------------------------------------------------------------------------===

bool loops_run(lower_op_t* n, const loops_t* l, ir_block_t* block, lower_value_t* args, lower_value_t** results,
               uint32_t* count) {
  const loops_t* outer = n->l->loops;
  ++n->l->whole;
  n->l->loops = l;
  bool ok = lower_block(n->l, block, args, results, count);
  --n->l->whole;
  n->l->loops = outer;
  for (uint32_t i = 0; ok && i < 2 * *count; ++i) {  // the same everywhere: repeated
    ir_value_t** v = i % 2 ? &(*results)[i / 2].im : &(*results)[i / 2].v;
    if (!*v && i % 2) continue;
    if (!*v) return lower_error(n, "has a body that yields no number");
    *v = lower_as_tensor(n->b, *v);
    if ((*v)->type->rank == 0 && l->rank) *v = repeat(n, l, *v, NULL);
    if ((*v)->type->rank != (int32_t)l->rank) return lower_unsupported(n, "a body of ops on numbers is");
  }
  return ok;
}

static bool spread_args(lower_op_t* n, const loops_t* l, ir_block_t* block, lower_value_t* args) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (!block->args[i]->uses) continue;
    args[i].v = loops_spread(n, l, i);
    if (!args[i].v) return false;
    if (n->values[i].im) args[i].im = spread_part(n, l, i, n->values[i].im);
  }
  return true;
}

static bool lower_parallel(lower_op_t* n, const loops_t* l, ir_block_t* block) {
  lower_value_t args[LOOPS_MAX_OPERANDS] = {{0}}, *results;
  uint32_t count;
  if (!spread_args(n, l, block, args) || !loops_run(n, l, block, args, &results, &count)) return false;
  if (count != l->outs) return lower_error(n, "has a body that yields %u values for %u results", count, l->outs);
  for (uint32_t i = 0; i < count; ++i) {
    n->out[i].v = loops_collect(n, l, l->ins + i, results[i].v);
    if (!n->out[i].v) return false;
    if (results[i].im) n->out[i].im = loops_collect(n, l, l->ins + i, results[i].im);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reductions: yield combine(out, f(ins))
//===----------------------------------------------------------------------------------------------------------------===

const char* arith_reduction_kind(const ir_op_t* op) {
  static const struct {
    uint32_t code;
    const char* kind;
  } rows[] = {{ARITH_ADDF, "add"},     {ARITH_ADDI, "add"},    {ARITH_MULF, "mul"}, {ARITH_MULI, "mul"},
              {ARITH_MAXIMUMF, "max"}, {ARITH_MAXNUMF, "max"}, {ARITH_MAXF, "max"}, {ARITH_MAXSI, "max"},
              {ARITH_MINIMUMF, "min"}, {ARITH_MINNUMF, "min"}, {ARITH_MINF, "min"}, {ARITH_MINSI, "min"},
              {ARITH_MAXUI, "maxu"},   {ARITH_MINUI, "minu"},  {ARITH_ANDI, "and"}, {ARITH_ORI, "or"},
              {ARITH_XORI, "xor"},     {COMPLEX_ADD, "add"}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (ir_is(op, rows[i].code)) return rows[i].kind;
  }
  return NULL;
}

static bool depends_on_outs(const ir_value_t* v, const ir_block_t* block, uint32_t ins) {
  if (!v->def) return v->block == block && v->index >= ins;
  if (v->def->parent != block) return false;
  for (uint32_t i = 0; i < v->def->operand_count; ++i) {
    if (depends_on_outs(ir_operand(v->def, i), block, ins)) return true;
  }
  return v->def->region_count != 0;
}

typedef struct reduced_t {
  const char* kind;
  ir_value_t* value;  // f(ins), in the body as written
} reduced_t;

static bool find_reduced(const loops_t* l, const ir_block_t* block, uint32_t out, reduced_t* r) {
  const ir_op_t* op = ir_operand(block->last, out)->def;
  const ir_value_t* acc = block->args[l->ins + out];
  r->kind = op && op->parent == block ? arith_reduction_kind(op) : NULL;
  if (!r->kind || !ir_has_one_use(acc)) return false;
  bool first = ir_operand(op, 0) == acc;
  if (!first && ir_operand(op, 1) != acc) return false;
  r->value = ir_operand(op, first ? 1 : 0);
  return !depends_on_outs(r->value, block, l->ins);
}

// What one part of a result is, of that part of f(ins).
static ir_value_t* reduce_part(lower_op_t* n, const loops_t* l, uint32_t out, const char* kind, ir_value_t* v,
                               ir_value_t* init) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->rank; ++i) {
    if (l->reduction[i]) dims[count++] = i;
  }
  v = lower_as_tensor(n->b, v);
  if (v->type->rank == 0) v = repeat(n, l, v, NULL);
  v = loops_collect(n, l, l->ins + out, graph_reduce(n->b, v, dims, count, kind));
  return v ? lower_with_init(n, kind, v, init) : NULL;
}

static bool lower_reductions(lower_op_t* n, const loops_t* l, ir_block_t* block, const reduced_t* reduced) {
  lower_value_t args[LOOPS_MAX_OPERANDS] = {{0}}, *results;
  uint32_t count;
  if (!spread_args(n, l, block, args) || !loops_run(n, l, block, args, &results, &count)) return false;
  for (uint32_t i = 0; i < l->outs; ++i) {
    lower_value_t x = lower_get(reduced[i].value), init = {.v = n->in[l->ins + i], .im = n->values[l->ins + i].im};
    if (!x.v || !x.im != !init.im) return lower_error(n, "has a body that yields no number of its result's type");
    n->out[i].v = reduce_part(n, l, i, reduced[i].kind, x.v, init.v);
    if (x.im) n->out[i].im = reduce_part(n, l, i, reduced[i].kind, x.im, init.im);
    if (!n->out[i].v) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// As it is: graph.generic with the body on numbers
//===----------------------------------------------------------------------------------------------------------------===

// Operands of graph.generic; complex ones are two.
typedef struct generic_t {
  ir_value_t* operands[LOOPS_MAX_OPERANDS];
  const ir_attr_t* maps[LOOPS_MAX_OPERANDS];
  uint32_t count;
  uint32_t loops[GRAPH_MAX_RANK], loop_count;  // loops whose number the body asks for: %i = iota, at map (d_i)
} generic_t;

static bool add_generic(lower_op_t* n, generic_t* g, ir_value_t* v, const ir_affine_map_t* map) {
  if (g->count == LOOPS_MAX_OPERANDS) return lower_unsupported(n, "fewer operands are");
  g->operands[g->count] = lower_as_tensor(n->b, v);
  g->maps[g->count++] = ir_attr_affine_map(n->ctx, map);
  return true;
}

static bool add_operands(lower_op_t* n, const loops_t* l, uint32_t first, uint32_t count, generic_t* g) {
  for (uint32_t i = first; i < first + count; ++i) {
    if (!add_generic(n, g, n->in[i], l->maps[i].affine)) return false;
    if (n->values[i].im && !add_generic(n, g, n->values[i].im, l->maps[i].affine)) return false;
  }
  return true;
}

static bool add_loop_numbers(lower_op_t* n, const loops_t* l, const ir_block_t* block, generic_t* g) {
  for (uint32_t loop = 0; loop < l->rank; ++loop) {
    bool used = false;
    IR_FOR_OPS(op, block) used |= ir_is(op, LINALG_INDEX) && ir_op_int(op, "dim", -1) == loop;
    if (!used) continue;
    loop_map_t map;
    int64_t list = loop, size = l->type->dims[loop];
    uint32_t before = 0;
    for (uint32_t i = 0; i < loop; ++i) before += l->type->dims[i] == IR_DYNAMIC;
    loops_map_from_list(n->ctx, &list, 1, l->rank, &map);
    const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_index(n->ctx), 1, &size);
    if (!add_generic(n, g, graph_iota(n->b, type, 0, l->dynamic + before), map.affine)) return false;
    g->loops[g->loop_count++] = loop;
  }
  return true;
}

static ir_value_t* next_argument(lower_op_t* n, const generic_t* g, ir_block_t* target) {
  const ir_type_t* scalar = ir_type_scalar(g->operands[target->arg_count]->type);
  return ir_block_add_arg(n->ctx, target, ir_type_tensor(n->ctx, scalar, 0, NULL));
}

// What the body yields, complex numbers as two. False after a diagnostic.
static bool flatten_yields(lower_op_t* n, const loops_t* l, const lower_value_t* results, lower_list_t* list) {
  for (uint32_t i = 0; i < l->outs; ++i) {
    lower_value_t v = results[i];
    if (!v.v || !v.im != !n->values[l->ins + i].im) return lower_error(n, "has a body that yields no number");
    lower_list_add(list, lower_as_tensor(n->b, v.v));
    if (v.im) lower_list_add(list, lower_as_tensor(n->b, v.im));
  }
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->items[i]->type->rank) return lower_error(n, "has a body that yields no number");
  }
  return true;
}

static bool build_body(lower_op_t* n, loops_t* l, ir_block_t* block, ir_op_t* generic, const generic_t* g) {
  ir_builder_t saved = *n->b;
  ir_block_t* target = ir_block_create(n->ctx);
  lower_value_t args[LOOPS_MAX_OPERANDS] = {{0}}, *results;
  lower_list_t yields = LOWER_LIST(n->ctx);
  uint32_t count;
  ir_region_append(&generic->regions[0], target);
  for (uint32_t i = 0; i < l->ins + l->outs; ++i) {
    for (uint32_t k = 0; i == l->ins && k < g->loop_count; ++k) l->index[g->loops[k]] = next_argument(n, g, target);
    args[i].v = next_argument(n, g, target);
    if (n->values[i].im) args[i].im = next_argument(n, g, target);
  }
  n->b->block = target;
  n->b->before = NULL;
  const loops_t* outer = n->l->loops;
  n->l->loops = l;
  ++n->l->whole;  // numbers are tensors without dims here
  bool ok = lower_block(n->l, block, args, &results, &count);
  --n->l->whole;
  n->l->loops = outer;
  if (ok && count != l->outs) ok = lower_error(n, "has a body that yields %u values", count);
  ok = ok && flatten_yields(n, l, results, &yields);
  if (ok) ir_build_op(n->b, GRAPH_YIELD, yields.items, yields.count, NULL);
  *n->b = saved;
  return ok;
}

static bool lower_as_it_is(lower_op_t* n, loops_t* l, ir_block_t* block) {
  generic_t g = {.count = 0};
  const ir_attr_t* iterators[GRAPH_MAX_RANK];
  const ir_type_t* types[LOOPS_MAX_OPERANDS];
  if (!add_operands(n, l, 0, l->ins, &g) || !add_loop_numbers(n, l, block, &g)) return false;
  uint32_t ins = g.count;
  if (!add_operands(n, l, l->ins, l->outs, &g)) return false;
  for (uint32_t i = ins; i < g.count; ++i) types[i - ins] = g.operands[i]->type;
  for (uint32_t i = 0; i < l->rank; ++i) {
    iterators[i] = ir_attr_cstring(n->ctx, l->reduction[i] ? "reduction" : "parallel");
  }
  ir_named_attr_t attrs[3] = {{"maps", ir_attr_array(n->ctx, g.maps, g.count)},
                              {"iterators", ir_attr_array(n->ctx, iterators, l->rank)},
                              {"outs", ir_attr_i64(n->ctx, g.count - ins)}};
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_GENERIC),
                         .operands = g.operands,
                         .operand_count = g.count,
                         .result_types = types,
                         .result_count = g.count - ins,
                         .attrs = attrs,
                         .attr_count = 3,
                         .region_count = 1};
  ir_op_t* generic = ir_build(n->b, &state);
  for (uint32_t i = 0, next = 0; i < l->outs; ++i) {
    n->out[i].v = ir_result(generic, next++);
    if (n->values[l->ins + i].im) n->out[i].im = ir_result(generic, next++);
  }
  return build_body(n, l, block, generic, &g);
}

bool loops_lower(lower_op_t* n, loops_t* l, ir_block_t* block) {
  reduced_t reduced[LOOPS_MAX_OPERANDS];
  bool reduces = false, apart = true;
  if (!block || !block->last || block->arg_count != l->ins + l->outs || block->last->operand_count != l->outs) {
    return lower_error(n, "needs a body with an argument for each operand and a value for each result");
  }
  for (uint32_t i = 0; i < l->rank; ++i) reduces |= l->reduction[i];
  if (!reduces) return lower_parallel(n, l, block);
  for (uint32_t i = 0; i < l->outs && apart; ++i) {
    apart = find_reduced(l, block, i, &reduced[i]) && l->maps[l->ins + i].is_projected;
  }
  return apart ? lower_reductions(n, l, block, reduced) : lower_as_it_is(n, l, block);
}

bool linalg_lower_generic(lower_op_t* n) {
  loops_t l = {0};
  ir_block_t* block = n->op->regions[0].first;
  ir_value_t* known = NULL;
  if (!block || block->next) return lower_error(n, "needs a region of one block");
  if (!loops_read(n, &l) || !loops_find_sizes(n, &l) || !roles_recognise(n, &l, block, &known)) return false;
  return known ? lower_return(n, known) : loops_lower(n, &l, block);
}

bool linalg_lower_index(lower_op_t* n) {
  const loops_t* l = n->l->loops;
  int64_t dim = ir_op_int(n->op, "dim", -1);
  if (!l || dim < 0 || dim >= l->rank) return lower_error(n, "names loop %lld, which is not there", (long long)dim);
  if (l->index[dim]) return lower_return(n, l->index[dim]);
  return lower_return(n, graph_iota(n->b, l->type, dim, l->dynamic));
}
