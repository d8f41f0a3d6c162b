// iree_linalg_ext.attention and online_attention, whose dimensions are named by loops:
//
//   attention         softmax(body(scale Q K + mask)) V
//   online_attention  one step of that over a part of the keys, in base 2. Of S = log2(e) body(scale Q K + mask) and
//                     the outs A, M, s that earlier steps gave: M' = max(M, max S), f = 2^(M - M'), P = 2^(S - M');
//                     results f A + P V, M' and f s + sum P.
//
// The step: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
#include <math.h>
#include <string.h>

#include "import/linalg/ops.h"

// Loops of an operand as letters.
static bool read_roles(lower_op_t* n, const ir_attr_t* attr, char* out) {
  loop_map_t map = {0};
  if (attr->kind == IR_ATTR_AFFINE_MAP && attr->map->result_count <= GRAPH_MAX_RANK) {
    loops_map_from_affine(attr->map, &map);
  }
  if (!map.affine || !map.is_projected) return lower_unsupported(n, "indexing maps of single loops are");
  for (uint32_t i = 0; i < map.count; ++i) {
    if (map.terms[i].loop[0] < 0 || map.terms[i].loop[0] >= 26) return lower_unsupported(n, "maps of loops are");
  }
  roles_from_map(&map, out);
  return true;
}

// The scores' dimensions: those of the result that Q or K has, then those of K that V sums over.
static void score_roles(char (*roles)[LOOPS_MAX_ROLES], const char* result, char* out) {
  uint32_t count = 0;
  for (const char* c = result; *c; ++c) {
    if (strchr(roles[0], *c) || strchr(roles[1], *c)) out[count++] = *c;
  }
  for (const char* c = roles[2]; *c; ++c) {
    if (strchr(roles[1], *c) && !strchr(result, *c)) out[count++] = *c;
  }
  out[count] = 0;
}

// Zeros with the dimensions that `roles` names, each from an operand that has it.
static ir_value_t* zeros_like(lower_op_t* n, char (*names)[LOOPS_MAX_ROLES], const char* roles,
                              const ir_type_t* element) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0, rank = 0;
  for (; roles[rank]; ++rank) {
    for (uint32_t i = 0; i < 3; ++i) {
      const char* at = strchr(names[i], roles[rank]);
      if (!at) continue;
      dims[rank] = n->in[i]->type->dims[at - names[i]];
      if (dims[rank] == IR_DYNAMIC) dynamic[count++] = graph_dim(n->b, n->in[i], (uint32_t)(at - names[i]));
      break;
    }
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, element, (int32_t)rank, dims);
  return graph_broadcast(n->b, graph_scalar_constant(n->b, element, 0), type, NULL, dynamic);
}

// A mask with the scores' dimensions: numbers to add, or flags of what may be seen.
static ir_value_t* add_mask(lower_op_t* n, ir_value_t* scores, const char* roles, ir_value_t* mask, const char* names) {
  if (!ir_type_is_tensor(mask->type) || strlen(names) != (size_t)mask->type->rank) {
    return lower_error(n, "has a mask that does not fit its map"), NULL;
  }
  mask = roles_spread(n, mask, names, scores, roles);
  if (!mask) return lower_unsupported(n, "a mask of the scores' dimensions is"), NULL;
  if (lower_is_bool(mask->type)) {
    return graph_select(n->b, mask, scores, lower_number_like(n, scores, -__builtin_inf()));
  }
  return graph_binary(n->b, SCALAR_add, scores, graph_cast(n->b, mask, scores->type->element, false));
}

// Softmax over the last `count` dims.
static ir_value_t* softmax(lower_op_t* n, ir_value_t* x, uint32_t count) {
  int64_t summed[GRAPH_MAX_RANK], kept[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  int32_t first = x->type->rank - (int32_t)count;
  for (uint32_t i = 0; i < count; ++i) summed[i] = first + (int32_t)i;
  for (int32_t i = 0; i < first; ++i) kept[i] = i;
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  ir_value_t* most = graph_broadcast(n->b, graph_reduce(n->b, x, summed, count, "max"), x->type, kept, dynamic);
  ir_value_t* e = graph_unary(n->b, SCALAR_exp, graph_binary(n->b, SCALAR_sub, x, most));
  ir_value_t* sum = graph_broadcast(n->b, graph_reduce(n->b, e, summed, count, "add"), x->type, kept, dynamic);
  return graph_binary(n->b, SCALAR_div, e, sum);
}

// What both ops have: which loops each operand has, the scores' loops, and how many of those, the last ones, are keys.
typedef struct attention_t {
  ext_sides_t sides;
  char roles[8][LOOPS_MAX_ROLES], scores[2 * LOOPS_MAX_ROLES];
  const char* result;  // of the first out
  uint32_t keys;
} attention_t;

static bool check_operand(lower_op_t* n, const attention_t* a, uint32_t i) {
  const ir_type_t* type = n->in[i]->type;
  bool mask = i == 4 && a->sides.ins == 5 && lower_is_bool(type);
  bool fits = ir_type_is_tensor(type) && strlen(a->roles[i]) == (size_t)type->rank && (lower_is_float(type) || mask);
  return fits || lower_unsupported(n, "tensors of floats with the dims of their maps are");
}

static bool read_attention(lower_op_t* n, uint32_t outs, attention_t* a) {
  const ir_attr_t* maps = ir_op_attr(n->op, "indexing_maps");
  if (!ext_read_sides(n, 4, 5, outs, &a->sides)) return false;
  if (!maps || maps->kind != IR_ATTR_ARRAY || maps->count != n->op->operand_count || !ext_check_body(n, 1)) {
    return lower_error(n, "needs one indexing map for each operand");
  }
  for (uint32_t i = 0; i < maps->count; ++i) {
    if (!read_roles(n, maps->items[i], a->roles[i])) return false;
    if (i != 3 && !check_operand(n, a, i)) return false;
  }
  a->result = a->roles[a->sides.ins];
  for (const char* c = a->result; *c; ++c) {
    if (!strchr(a->roles[0], *c) && !strchr(a->roles[1], *c) && !strchr(a->roles[2], *c))
      return lower_error(n, "has a dim of no size");
  }
  score_roles(a->roles, a->result, a->scores);
  a->keys = 0;
  for (const char* c = a->scores; *c; ++c) a->keys += !strchr(a->result, *c);
  if (!a->keys || strlen(a->scores) > GRAPH_MAX_RANK) return lower_unsupported(n, "keys that V shares are");
  return lower_is_float(n->in[3]->type) || lower_unsupported(n, "a scale of floats is");
}

// body(scale Q K + mask). NULL after a diagnostic.
static ir_value_t* build_scores(lower_op_t* n, attention_t* a) {
  bool wide = n->in[0]->type->element->float_kind == IR_F64;
  const ir_type_t* element = ir_type_float(n->ctx, wide ? IR_F64 : IR_F32);
  contract_roles_t roles = {.lhs = a->roles[0], .rhs = a->roles[1], .result = a->scores};
  ir_value_t* scores = roles_contract(n, n->in[0], n->in[1], zeros_like(n, a->roles, a->scores, element), &roles);
  if (!scores) return NULL;
  ir_value_t* scale = lower_as_tensor(n->b, graph_cast(n->b, n->in[3], element, false));
  scores = graph_binary(n->b, SCALAR_mul, scores, lower_splat(n->b, scale, scores));
  if (a->sides.ins == 5 && !(scores = add_mask(n, scores, a->scores, n->in[4], a->roles[4]))) return NULL;
  return ext_run_body(n, &scores, 1);
}

// init + weights * V, of the scores' loops and V's.
static ir_value_t* weigh(lower_op_t* n, const attention_t* a, ir_value_t* weights, ir_value_t* init) {
  contract_roles_t roles = {.lhs = a->scores, .rhs = a->roles[2], .result = a->result};
  return roles_contract(n, graph_cast(n->b, weights, n->in[2]->type->element, false), n->in[2], init, &roles);
}

bool ext_attention(lower_op_t* n) {
  attention_t a;
  if (!read_attention(n, 1, &a)) return false;
  ir_value_t* scores = build_scores(n, &a);
  if (!scores) return false;
  const ir_type_t* element = n->in[a.sides.ins]->type->element;
  ir_value_t* y = weigh(n, &a, softmax(n, scores, a.keys), zeros_like(n, a.roles, a.result, element));
  return y && lower_return(n, y);
}

// A maximum or a sum of the loops `from` in the shape of `like`, which has the loops `to`. NULL after a diagnostic.
static ir_value_t* spread(lower_op_t* n, ir_value_t* v, const char* from, ir_value_t* like, const char* to) {
  v = roles_spread(n, v, from, like, to);
  if (!v) lower_error(n, "has a maximum or a sum with a loop that the scores do not have");
  return v;
}

// Of the scores, along their keys, as an out of the loops `to` and that element type has it.
static ir_value_t* reduce_keys(lower_op_t* n, const attention_t* a, ir_value_t* x, const char* kind, const char* to,
                               const ir_type_t* element) {
  int64_t keys[GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK];
  uint32_t rows = (uint32_t)strlen(a->scores) - a->keys;
  for (uint32_t i = 0; i < a->keys; ++i) keys[i] = rows + i;
  for (uint32_t i = 0; to[i]; ++i) {
    const char* at = strchr(a->scores, to[i]);
    if (!at || at - a->scores >= rows || strlen(to) != rows)
      return lower_unsupported(n, "a maximum and a sum of the result's rows are"), NULL;
    perm[i] = at - a->scores;
  }
  return graph_cast(n->b, graph_transpose(n->b, graph_reduce(n->b, x, keys, a->keys, kind), perm), element, false);
}

bool ext_online_attention(lower_op_t* n) {
  attention_t a;
  if (!read_attention(n, 3, &a)) return false;
  uint32_t ins = a.sides.ins;
  const char *of_most = a.roles[ins + 1], *of_sum = a.roles[ins + 2];
  ir_value_t *scores = build_scores(n, &a), *outs[3] = {n->in[ins], n->in[ins + 1], n->in[ins + 2]};
  if (!scores) return false;
  scores = graph_binary(n->b, SCALAR_mul, scores, lower_number_like(n, scores, M_LOG2E));
  ir_value_t* most = reduce_keys(n, &a, scores, "max", of_most, outs[1]->type->element);
  if (!most) return false;
  most = graph_binary(n->b, SCALAR_max, outs[1], most);
  ir_value_t* factor = graph_unary(n->b, SCALAR_exp2, graph_binary(n->b, SCALAR_sub, outs[1], most));
  ir_value_t* by_score = spread(n, graph_cast(n->b, most, scores->type->element, false), of_most, scores, a.scores);
  if (!by_score) return false;
  ir_value_t* weights = graph_unary(n->b, SCALAR_exp2, graph_binary(n->b, SCALAR_sub, scores, by_score));
  ir_value_t* added = reduce_keys(n, &a, weights, "add", of_sum, outs[2]->type->element);
  ir_value_t* by_sum = added ? spread(n, factor, of_most, outs[2], of_sum) : NULL;
  ir_value_t* by_result = by_sum ? spread(n, factor, of_most, outs[0], a.result) : NULL;
  if (!by_result) return false;
  ir_value_t* sum = graph_binary(n->b, SCALAR_mul, outs[2], graph_cast(n->b, by_sum, outs[2]->type->element, false));
  ir_value_t* kept =
      graph_binary(n->b, SCALAR_mul, outs[0], graph_cast(n->b, by_result, outs[0]->type->element, false));
  ir_value_t* y = weigh(n, &a, weights, kept);
  if (!y) return false;
  n->out[0].v = y;
  n->out[1].v = most;
  n->out[2].v = graph_binary(n->b, SCALAR_add, sum, added);
  return true;
}
