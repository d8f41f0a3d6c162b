// Contractions, convolutions and pooling from the roles of their dimensions (see ops.h): one way for all named ops, and
// for linalg.generic that is one of them.
#include <string.h>

#include "dialects/arith.h"
#include "dialects/linalg.h"
#include "import/linalg/ops.h"

enum { MAX_TEXT = 2 * GRAPH_MAX_RANK + 2 };

void roles_from_map(const loop_map_t* map, char* out) {
  for (uint32_t i = 0; i < map->count; ++i) out[i] = (char)('a' + map->terms[i].loop[0]);
  out[map->count] = 0;
}

ir_value_t* roles_spread(lower_op_t* n, ir_value_t* v, const char* from, ir_value_t* like, const char* to) {
  int64_t dims[GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (uint32_t i = 0; to[i]; ++i) {
    const char* at = strchr(from, to[i]);
    if (at) perm[count] = at - from, dims[count++] = i;
  }
  if (count != strlen(from)) return NULL;
  lower_dynamic_dims(n->b, like, like->type, dynamic);
  const ir_type_t* type = ir_type_with_element(n->ctx, like->type, v->type->element);
  return graph_broadcast(n->b, graph_transpose(n->b, v, perm), type, dims, dynamic);
}

static int32_t place_of(const char* roles, char name) {
  const char* at = name ? strchr(roles, name) : NULL;
  return at ? (int32_t)(at - roles) : -1;
}

// Narrow floats add up in f32.
static const ir_type_t* accumulator_of(lower_op_t* n, const ir_type_t* element) {
  return ir_type_is_float(element) && ir_type_bytes(element) < 4 ? ir_type_float(n->ctx, IR_F32) : element;
}

//===----------------------------------------------------------------------------------------------------------------===
// Contractions
//===----------------------------------------------------------------------------------------------------------------===

// Sums over dimensions that stand nowhere else, in the accumulator's type.
static ir_value_t* sum_own(lower_op_t* n, ir_value_t* x, char* roles, const char* other, const char* result,
                           const ir_type_t* accumulator, bool is_unsigned) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = 0, kept = 0;
  for (uint32_t i = 0; roles[i]; ++i) {
    bool own = place_of(other, roles[i]) < 0 && place_of(result, roles[i]) < 0;
    if (own) dims[count++] = i;
    if (!own) roles[kept++] = roles[i];
  }
  roles[kept] = 0;
  return count ? graph_reduce(n->b, graph_cast(n->b, x, accumulator, is_unsigned), dims, count, "add") : x;
}

static bool check_sizes(lower_op_t* n, const ir_type_t* x, const char* xr, const ir_type_t* y, const char* yr) {
  for (uint32_t i = 0; xr[i]; ++i) {
    int32_t j = place_of(yr, xr[i]);
    if (j < 0) continue;
    int64_t a = x->dims[i], b = y->dims[j];
    if (a != b && a != IR_DYNAMIC && b != IR_DYNAMIC) {
      return lower_error(n, "has operands %s and %s whose dimensions %u and %d differ", ir_type_str(n->ctx, x),
                         ir_type_str(n->ctx, y), i, j);
    }
  }
  return true;
}

static bool check_rank(lower_op_t* n, const ir_value_t* v, const char* roles) {
  if (ir_type_is_tensor(v->type) && v->type->rank == (int32_t)strlen(roles)) return true;
  return lower_error(n, "needs an operand of rank %zu, has %s", strlen(roles), ir_type_str(n->ctx, v->type));
}

ir_value_t* roles_contract(lower_op_t* n, ir_value_t* lhs, ir_value_t* rhs, ir_value_t* init,
                           const contract_roles_t* r) {
  char lr[MAX_TEXT], rr[MAX_TEXT], made[MAX_TEXT];
  int64_t lists[4][GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK];
  graph_contract_t c = {lists[0], lists[1], lists[2], lists[3], 0, 0, r->unsigned_lhs, r->unsigned_rhs};
  if (!check_rank(n, lhs, r->lhs) || !check_rank(n, rhs, r->rhs) || !check_rank(n, init, r->result)) return NULL;
  if (!check_sizes(n, lhs->type, r->lhs, rhs->type, r->rhs) ||
      !check_sizes(n, lhs->type, r->lhs, init->type, r->result) ||
      !check_sizes(n, rhs->type, r->rhs, init->type, r->result)) {
    return NULL;
  }
  const ir_type_t *element = init->type->element, *accumulator = accumulator_of(n, element);
  strcpy(lr, r->lhs);
  strcpy(rr, r->rhs);
  lhs = sum_own(n, lhs, lr, rr, r->result, accumulator, r->unsigned_lhs);
  rhs = sum_own(n, rhs, rr, lr, r->result, accumulator, r->unsigned_rhs);
  uint32_t size = 0;
  for (uint32_t i = 0; lr[i]; ++i) {
    int32_t j = place_of(rr, lr[i]);
    if (j < 0) continue;
    bool batch = place_of(r->result, lr[i]) >= 0;
    uint32_t* count = batch ? &c.batch_count : &c.contract_count;
    lists[batch ? 0 : 2][*count] = i;
    lists[batch ? 1 : 3][(*count)++] = j;
    if (batch) made[size++] = lr[i];
  }
  for (int side = 0; side < 2; ++side) {
    const char *own = side ? rr : lr, *other = side ? lr : rr;
    for (uint32_t i = 0; own[i]; ++i) {
      if (place_of(other, own[i]) < 0) made[size++] = own[i];
    }
  }
  made[size] = 0;
  for (uint32_t i = 0; r->result[i]; ++i) perm[i] = place_of(made, r->result[i]);
  ir_value_t* y = graph_contract(n->b, lhs, rhs, &c, accumulator);
  y = graph_transpose(n->b, graph_cast(n->b, y, element, false), perm);
  return lower_with_init(n, "add", y, init);
}

//===----------------------------------------------------------------------------------------------------------------===
// Convolutions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct side_t {
  ir_value_t* v;
  char roles[MAX_TEXT];
} side_t;

// A dimension of one at `at`.
static void add_dim(lower_op_t* n, side_t* s, int32_t at, char name) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  int32_t rank = s->v->type->rank;
  for (int32_t i = 0; i <= rank; ++i) dims[i] = i < at ? s->v->type->dims[i] : i == at ? 1 : s->v->type->dims[i - 1];
  lower_dynamic_dims(n->b, s->v, s->v->type, dynamic);
  s->v = graph_reshape(n->b, s->v, rank + 1, dims, dynamic);
  memmove(s->roles + at + 1, s->roles + at, strlen(s->roles) - (size_t)at + 1);
  s->roles[at] = name;
}

// Moves dimension `from` to stand in front of dimension `to`.
static void move_dim(lower_op_t* n, side_t* s, int32_t from, int32_t to) {
  int64_t perm[GRAPH_MAX_RANK];
  char roles[MAX_TEXT];
  uint32_t next = 0;
  for (int32_t i = 0; s->roles[i]; ++i) {
    if (i == to) perm[next++] = from;
    if (i != from) perm[next++] = i;
  }
  for (uint32_t i = 0; i < next; ++i) roles[i] = s->roles[perm[i]];
  roles[next] = 0;
  s->v = graph_transpose(n->b, s->v, perm);
  strcpy(s->roles, roles);
}

// The group and an inner channel dimension as one, called `name`; a missing one counts as 1.
static void merge_channels(lower_op_t* n, side_t* s, char inner, char name) {
  int32_t g = place_of(s->roles, 'g'), c = place_of(s->roles, inner);
  if (g < 0 && c < 0) {
    add_dim(n, s, (int32_t)strlen(s->roles), name);
  } else if (g < 0 || c < 0) {
    s->roles[g < 0 ? c : g] = name;
  } else {
    if (c != g + 1) move_dim(n, s, g, c);
    g = place_of(s->roles, 'g');
    int64_t dims[GRAPH_MAX_RANK];
    ir_value_t* dynamic[GRAPH_MAX_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; s->roles[i]; ++i) {
      if (i == g + 1) {
        dims[rank - 1] *= s->v->type->dims[i];
      } else {
        dims[rank++] = s->v->type->dims[i];
      }
    }
    lower_dynamic_dims(n->b, s->v, s->v->type, dynamic);
    s->v = graph_reshape(n->b, s->v, rank, dims, dynamic);
    memmove(s->roles + g, s->roles + g + 1, strlen(s->roles + g));
    s->roles[g] = name;
  }
}

// What graph.conv gives in layout `made`, as the roles of the result say.
static ir_value_t* split_result(lower_op_t* n, ir_value_t* y, const char* made, const char* roles, int64_t groups) {
  int64_t dims[GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK];
  char names[MAX_TEXT];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t rank = 0, count = 0;
  bool has_g = place_of(roles, 'g') >= 0, has_o = place_of(roles, 'o') >= 0, has_n = place_of(roles, 'n') >= 0;
  for (int32_t i = 0; made[i]; ++i) {
    int64_t size = y->type->dims[i];
    if (made[i] == 'n' && !has_n) continue;
    if (size == IR_DYNAMIC) dynamic[count++] = graph_dim(n->b, y, (uint32_t)i);
    if (made[i] != 'c') {
      names[rank] = made[i];
      dims[rank++] = size;
      continue;
    }
    if (has_g) names[rank] = 'g', dims[rank++] = groups;
    if (has_o) names[rank] = 'o', dims[rank++] = size / groups;
  }
  names[rank] = 0;
  y = graph_reshape(n->b, y, (int32_t)rank, dims, dynamic);
  for (uint32_t i = 0; roles[i]; ++i) perm[i] = place_of(names, roles[i]);
  return graph_transpose(n->b, y, perm);
}

// The layout that keeps the result's order: group and output channel together where the latter stands.
static void result_layout(const char* roles, char* made) {
  uint32_t size = 0;
  bool has_o = place_of(roles, 'o') >= 0;
  if (place_of(roles, 'n') < 0) made[size++] = 'n';
  for (; *roles; ++roles) {
    if (*roles == 'g' && has_o) continue;
    made[size++] = *roles == 'g' || *roles == 'o' ? 'c' : *roles;
  }
  made[size] = 0;
  if (!strchr(made, 'c')) strcat(made, "c");
}

static bool is_static_role(lower_op_t* n, const ir_value_t* v, const char* roles) {
  for (int32_t i = 0; roles[i]; ++i) {
    if (strchr("gco", roles[i]) && v->type->dims[i] == IR_DYNAMIC) {
      return lower_unsupported(n, "channels need a static size");
    }
  }
  return true;
}

ir_value_t* roles_conv(lower_op_t* n, ir_value_t* x, ir_value_t* w, ir_value_t* init, const conv_roles_t* r) {
  if (!check_rank(n, x, r->x) || !check_rank(n, w, r->w) || !check_rank(n, init, r->y)) return NULL;
  if (!is_static_role(n, x, r->x) || !is_static_role(n, w, r->w)) return NULL;
  side_t sx = {x, ""}, sw = {w, ""};
  strcpy(sx.roles, r->x);
  strcpy(sw.roles, r->w);
  int32_t gx = place_of(r->x, 'g'), gw = place_of(r->w, 'g'), cx = place_of(r->x, 'c'), cw = place_of(r->w, 'c');
  int64_t groups = gx < 0 ? 1 : x->type->dims[gx];
  if ((gw >= 0 && w->type->dims[gw] != groups) || (cx >= 0 && cw >= 0 && x->type->dims[cx] != w->type->dims[cw])) {
    lower_error(n, "has an operand and a filter whose channels differ");
    return NULL;
  }
  merge_channels(n, &sx, 'c', 'c');
  if (place_of(sx.roles, 'n') < 0) add_dim(n, &sx, 0, 'n');
  if (cw >= 0) {
    sw.roles[cw] = 'i';
  } else {
    add_dim(n, &sw, (int32_t)strlen(sw.roles), 'i');
  }
  merge_channels(n, &sw, 'o', 'o');
  char made[MAX_TEXT];
  result_layout(r->y, made);
  graph_conv_t c = {.x_layout = sx.roles, .w_layout = sw.roles, .y_layout = made, .groups = groups, .batch_groups = 1};
  for (int i = 0; i < GRAPH_MAX_SPATIAL; ++i) {
    c.strides[i] = r->strides[i] > 0 ? r->strides[i] : 1;
    c.w_dilation[i] = r->dilations[i] > 0 ? r->dilations[i] : 1;
    c.x_dilation[i] = 1;
  }
  const ir_type_t* element = init->type->element;
  ir_value_t* y = graph_cast(n->b, graph_conv(n->b, sx.v, sw.v, &c, accumulator_of(n, element)), element, false);
  y = split_result(n, y, made, r->y, groups);
  if (!lower_fits(y->type, init->type)) {
    lower_error(n, "has an init of type %s where its windows give %s", ir_type_str(n->ctx, init->type),
                ir_type_str(n->ctx, y->type));
    return NULL;
  }
  return lower_with_init(n, "add", y, init);
}

ir_value_t* roles_pool(lower_op_t* n, ir_value_t* x, ir_value_t* init, const conv_roles_t* r, const int64_t* sizes,
                       const char* kind) {
  graph_window_t w = {.kind = kind};
  int64_t perm[GRAPH_MAX_RANK];
  if (!check_rank(n, x, r->x) || !check_rank(n, init, r->y)) return NULL;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    int digit = r->x[i] - '0';
    bool spatial = digit >= 0 && digit < GRAPH_MAX_SPATIAL;
    w.sizes[i] = spatial ? sizes[digit] : 1;
    w.strides[i] = spatial && r->strides[digit] > 0 ? r->strides[digit] : 1;
    w.dilations[i] = spatial && r->dilations[digit] > 0 ? r->dilations[digit] : 1;
    w.base_dilations[i] = 1;
  }
  for (uint32_t i = 0; r->y[i]; ++i) {
    if ((perm[i] = place_of(r->x, r->y[i])) < 0) return lower_error(n, "has a result of other dimensions"), NULL;
  }
  x = graph_cast(n->b, x, init->type->element, strcmp(kind, "maxu") == 0 || strcmp(kind, "minu") == 0);
  ir_value_t* y = graph_transpose(n->b, graph_window(n->b, x, &w), perm);
  if (!lower_fits(y->type, init->type)) {
    lower_error(n, "has an init of type %s where its windows give %s", ir_type_str(n->ctx, init->type),
                ir_type_str(n->ctx, y->type));
    return NULL;
  }
  return lower_with_init(n, kind, y, init);
}

//===----------------------------------------------------------------------------------------------------------------===
// linalg.generic: out + cast(a) * cast(b), or the kind of one operand
//===----------------------------------------------------------------------------------------------------------------===

// The block argument behind casts that lose nothing. `*is_unsigned`: by extui or uitofp.
static const ir_value_t* behind_casts(const ir_value_t* v, bool* is_unsigned) {
  static const uint32_t casts[] = {ARITH_EXTF, ARITH_EXTSI, ARITH_EXTUI, ARITH_SITOFP, ARITH_UITOFP};
  *is_unsigned = false;
  for (const ir_op_t* op; (op = v->def) != NULL;) {
    bool cast = false;
    for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); ++i) cast |= ir_is(op, casts[i]);
    if (!cast) return v;
    *is_unsigned = ir_is(op, ARITH_EXTUI) || ir_is(op, ARITH_UITOFP);
    v = ir_operand(op, 0);
    if (lower_is_bool(v->type)) return v->def ? v : NULL;  // signs of booleans differ
  }
  return v;
}

typedef struct body_t {
  const char* kind;
  bool is_product;  // of ins 0 and 1; else in 0 alone
  bool is_unsigned[2];
} body_t;

static bool match_body(const loops_t* l, const ir_block_t* block, body_t* body) {
  if (l->outs != 1 || block->last->operand_count != 1 || l->ins < 1 || l->ins > 2) return false;
  const ir_op_t* combine = ir_operand(block->last, 0)->def;
  const ir_value_t* acc = block->args[l->ins];
  body->kind = combine && combine->parent == block ? arith_reduction_kind(combine) : NULL;
  if (!body->kind || !ir_has_one_use(acc)) return false;
  const ir_value_t* term = ir_operand(combine, ir_operand(combine, 0) == acc ? 1 : 0);
  if (ir_operand(combine, 0) != acc && ir_operand(combine, 1) != acc) return false;
  const ir_op_t* product = term->def;
  body->is_product = ir_is(product, ARITH_MULF) || ir_is(product, ARITH_MULI);
  if (!body->is_product) {
    const ir_value_t* v = behind_casts(term, &body->is_unsigned[0]);
    return v == block->args[0] && (l->ins == 1 || !block->args[1]->uses) && !body->is_unsigned[0];
  }
  if (l->ins != 2 || strcmp(body->kind, "add") != 0) return false;
  bool first, second;
  const ir_value_t *a = behind_casts(ir_operand(product, 0), &first),
                   *b = behind_casts(ir_operand(product, 1), &second);
  bool swapped = a == block->args[1] && b == block->args[0];
  body->is_unsigned[0] = swapped ? second : first;
  body->is_unsigned[1] = swapped ? first : second;
  return swapped || (a == block->args[0] && b == block->args[1]);
}

static bool has_loop(const loop_map_t* map, int32_t loop) {
  for (uint32_t i = 0; i < map->count; ++i) {
    for (int k = 0; k < 2; ++k) {
      if (map->terms[i].loop[k] == loop) return true;
    }
  }
  return false;
}

static bool all_loops(const loop_map_t* map) {
  for (uint32_t i = 0; i < map->count; ++i) {
    if (map->terms[i].loop[0] < 0) return false;
  }
  return map->is_projected;
}

static ir_value_t* as_contraction(lower_op_t* n, const loops_t* l, const body_t* body) {
  char lhs[MAX_TEXT], rhs[MAX_TEXT], result[MAX_TEXT];
  for (uint32_t i = 0; i < 3; ++i) {
    if (!all_loops(&l->maps[i]) || !ir_type_is_tensor(n->in[i]->type)) return NULL;
  }
  for (uint32_t i = 0; i < l->rank; ++i) {  // at least one dimension is contracted, none is summed on one side only
    bool a = has_loop(&l->maps[0], (int32_t)i), b = has_loop(&l->maps[1], (int32_t)i);
    if (has_loop(&l->maps[2], (int32_t)i) == l->reduction[i] || (l->reduction[i] && (!a || !b))) return NULL;
  }
  roles_from_map(&l->maps[0], lhs);
  roles_from_map(&l->maps[1], rhs);
  roles_from_map(&l->maps[2], result);
  contract_roles_t roles = {lhs, rhs, result, body->is_unsigned[0], body->is_unsigned[1]};
  return roles_contract(n, n->in[0], n->in[1], n->in[2], &roles);
}

// The letter of a loop that stands alone in maps x, w (or NULL) and y; 0 when it is none.
static char letter_of(const loop_map_t* x, const loop_map_t* w, const loop_map_t* y, int32_t loop) {
  bool in_x = has_loop(x, loop), in_w = w && has_loop(w, loop), in_y = has_loop(y, loop);
  if (in_x && in_w && in_y) return 'g';
  if (in_x && in_w) return 'c';
  if (in_x && in_y) return 'n';
  return in_w && in_y ? 'o' : 0;
}

typedef struct sweep_t {
  conv_roles_t r;
  char x[MAX_TEXT], w[MAX_TEXT], y[MAX_TEXT];
  char name[GRAPH_MAX_RANK];          // by loop
  int32_t window[GRAPH_MAX_SPATIAL];  // loop of the window by digit
  uint32_t spatial;
} sweep_t;

// Reads the operand's map: terms p * stride + r * dilation are spatial.
static bool read_sweep(const loops_t* l, const loop_map_t* x, sweep_t* s) {
  if (!x->is_linear) return false;
  for (uint32_t i = 0; i < x->count; ++i) {
    const loop_term_t* t = &x->terms[i];
    if (t->constant || t->loop[0] < 0) return false;
    if (t->loop[1] < 0) continue;
    int p = l->reduction[t->loop[0]] ? 1 : 0;
    if (l->reduction[t->loop[p]] || !l->reduction[t->loop[1 - p]] || s->spatial == GRAPH_MAX_SPATIAL) return false;
    if (t->factor[0] < 1 || t->factor[1] < 1 || s->name[t->loop[0]] || s->name[t->loop[1]]) return false;
    s->r.strides[s->spatial] = t->factor[p];
    s->r.dilations[s->spatial] = t->factor[1 - p];
    s->window[s->spatial] = t->loop[1 - p];
    s->name[t->loop[0]] = s->name[t->loop[1]] = (char)('0' + s->spatial++);
  }
  return s->spatial > 0;
}

static bool name_map(const loop_map_t* map, const sweep_t* s, char* out) {
  if (!map->is_linear) return false;
  for (uint32_t i = 0; i < map->count; ++i) {
    const loop_term_t* t = &map->terms[i];
    if (t->loop[0] < 0 || !s->name[t->loop[0]]) return false;
    out[i] = s->name[t->loop[0]];
    if (strchr(out, out[i]) != out + i) return false;  // two dimensions of one role
  }
  return true;
}

static ir_value_t* as_sweep(lower_op_t* n, const loops_t* l, const body_t* body, bool* ok) {
  sweep_t s = {.spatial = 0};
  const loop_map_t *x = &l->maps[0], *w = body->is_product ? &l->maps[1] : NULL, *y = &l->maps[l->ins];
  if (!read_sweep(l, x, &s) || body->is_unsigned[0] || body->is_unsigned[1]) return NULL;
  char other = 'n';
  for (uint32_t i = 0; i < l->rank; ++i) {
    if (s.name[i]) continue;
    s.name[i] = w ? letter_of(x, w, y, (int32_t)i) : l->reduction[i] ? 0 : other++;
    if (!s.name[i]) return NULL;
  }
  if (!name_map(x, &s, s.x) || (w && !name_map(w, &s, s.w)) || !name_map(y, &s, s.y)) return NULL;
  s.r.x = s.x, s.r.w = s.w, s.r.y = s.y;
  ir_value_t* result;
  if (w) {
    result = roles_conv(n, n->in[0], n->in[1], n->in[l->ins], &s.r);
  } else {
    int64_t sizes[GRAPH_MAX_SPATIAL];
    for (uint32_t i = 0; i < s.spatial; ++i) {
      sizes[i] = l->type->dims[s.window[i]];
      if (sizes[i] < 1) return NULL;
    }
    result = roles_pool(n, n->in[0], n->in[l->ins], &s.r, sizes, body->kind);
  }
  *ok = result != NULL;
  return result;
}

bool roles_recognise(lower_op_t* n, const loops_t* l, ir_block_t* block, ir_value_t** out) {
  body_t body = {0};
  bool reduces = false, ok = true;
  for (uint32_t i = 0; i < l->rank; ++i) reduces |= l->reduction[i];
  *out = NULL;
  for (uint32_t i = 0; i < l->ins + l->outs; ++i) {
    if (n->values[i].im) return true;
  }
  if (!block->last || block->arg_count != l->ins + l->outs || !match_body(l, block, &body)) return true;
  if (reduces && body.is_product) *out = as_contraction(n, l, &body);
  if (reduces && !*out) *out = as_sweep(n, l, &body, &ok);
  return ok;
}
