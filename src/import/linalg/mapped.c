// iree_linalg_ext.map_load, map_store and im2col: elements from or to places that are computed for each.
//
//   %i = graph.iota ...        %p, %q = body(%i, ...)        %x = graph.gather %source, [%p, %q]
//   %inside = %p < size && ... : outside is the number that the body gives
#include <string.h>

#include "import/linalg/ops.h"

static void loops_over(lower_op_t* n, ir_value_t* x, loops_t* l) {
  *l = (loops_t){.rank = (uint32_t)x->type->rank, .type = ir_type_with_element(n->ctx, x->type, ir_type_index(n->ctx))};
  lower_dynamic_dims(n->b, x, x->type, l->dynamic);
}

static ir_value_t* both(lower_op_t* n, ir_value_t* x, ir_value_t* y) {
  return x && y ? graph_binary(n->b, SCALAR_and, x, y) : x ? x : y;
}

// 0 <= v < size: one comparison of unsigned numbers.
static ir_value_t* below(lower_op_t* n, ir_value_t* v, ir_value_t* size) {
  return graph_binary(n->b, SCALAR_ltu, v, lower_splat(n->b, lower_as_tensor(n->b, size), v));
}

// Where all places are in the tensor; NULL: everywhere, as far as is known.
static ir_value_t* inside(lower_op_t* n, const loops_t* l, ir_value_t* x, ir_value_t* const* places) {
  ir_value_t* flags = NULL;
  for (uint32_t i = 0; i < (uint32_t)x->type->rank; ++i) {
    const ir_op_t* op = places[i]->def;
    int64_t size = x->type->dims[i], axis = ir_is(op, GRAPH_IOTA) ? ir_op_int(op, "axis", -1) : -1;
    bool known = axis >= 0 && size != IR_DYNAMIC && l->type->dims[axis] != IR_DYNAMIC && l->type->dims[axis] <= size;
    if (!known) flags = both(n, flags, below(n, places[i], graph_dim(n->b, x, i)));
  }
  return flags;
}

// The values of the body for all elements of `x`: `count` places, and one more.
static bool run_body(lower_op_t* n, const loops_t* l, uint32_t count, ir_value_t** places, ir_value_t** last) {
  ir_block_t* block = n->op->regions[0].first;
  lower_value_t args[GRAPH_MAX_RANK] = {{0}}, *results;
  bool fits =
      block && !block->next && block->arg_count == l->rank && block->last && block->last->operand_count == count + 1;
  if (!fits) return lower_error(n, "needs a body with %u arguments and %u results", l->rank, count + 1);
  if (!l->rank || l->rank >= GRAPH_MAX_RANK) return lower_unsupported(n, "up to %d dims are", GRAPH_MAX_RANK - 1);
  for (uint32_t i = 0; i < l->rank; ++i) args[i].v = graph_iota(n->b, l->type, i, l->dynamic);
  if (!loops_run(n, l, block, args, &results, &count)) return false;
  for (uint32_t i = 0; i + 1 < count; ++i) places[i] = results[i].v;
  *last = results[count - 1].v;
  return true;
}

static bool check_operands(lower_op_t* n) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (!ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
  }
  return n->in[0]->type->element == n->in[1]->type->element || lower_error(n, "has operands of different types");
}

bool ext_map_load(lower_op_t* n) {
  loops_t l;
  ir_value_t *places[GRAPH_MAX_RANK], *pad;
  if (!check_operands(n)) return false;
  ir_value_t *x = n->in[0], *out = n->in[1];
  loops_over(n, out, &l);
  if (!run_body(n, &l, (uint32_t)x->type->rank, places, &pad)) return false;
  if (pad->type->element != x->type->element) return lower_error(n, "has a body that yields another type");
  ir_value_t *flags = inside(n, &l, x, places), *y = loops_gather(n, &l, x, places);
  return y && lower_return(n, flags ? graph_select(n->b, flags, y, pad) : y);
}

// Elements that the body's flag leaves out go nowhere: to place -1.
bool ext_map_store(lower_op_t* n) {
  loops_t l;
  places_t s = {0};
  ir_value_t *places[GRAPH_MAX_RANK], *flag;
  ir_named_attr_t attrs[8];
  if (!check_operands(n)) return false;
  ir_value_t *x = n->in[0], *out = n->in[1];
  loops_over(n, x, &l);
  s.depth = (uint32_t)out->type->rank;
  s.vector_dim = x->type->rank;
  if (!run_body(n, &l, s.depth, places, &flag)) return false;
  if (!lower_is_bool(flag->type)) return lower_error(n, "needs a body that yields an i1");
  if (!s.depth) return lower_unsupported(n, "outs with dims are");
  places[0] = graph_select(n->b, flag, places[0], lower_number_like(n, places[0], -1));
  for (uint32_t i = 0; i < s.depth; ++i) {
    int64_t dims[GRAPH_MAX_RANK];
    memcpy(dims, x->type->dims, sizeof(dims[0]) * l.rank);
    dims[l.rank] = 1;
    places[i] = graph_reshape(n->b, places[i], (int32_t)l.rank + 1, dims, l.dynamic);
    s.map[i] = s.sorted[i] = i;
  }
  ir_value_t* operands[3] = {out, graph_concat(n->b, places, s.depth, s.vector_dim), x};
  uint32_t count = places_attrs(n, &s, true, attrs);
  attrs[count++] = (ir_named_attr_t){"kind", ir_attr_cstring(n->ctx, "set")};
  return lower_return(n, lower_build(n, GRAPH_SCATTER, operands, 3, out->type, attrs, count));
}

//===----------------------------------------------------------------------------------------------------------------===
// im2col: rows of windows, for convolutions as products of matrices
//===----------------------------------------------------------------------------------------------------------------===

typedef struct im2col_t {
  int64_t strides[GRAPH_MAX_RANK], dilations[GRAPH_MAX_RANK], offsets[GRAPH_MAX_RANK];
  int64_t batch[GRAPH_MAX_RANK], m[GRAPH_MAX_RANK], k[GRAPH_MAX_RANK];  // dimensions of the input
  int64_t k_perm[GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK];
  int64_t in_low[GRAPH_MAX_RANK], out_low[GRAPH_MAX_RANK], out_high[GRAPH_MAX_RANK];
  uint32_t batch_count, m_count, k_count;
  bool pads;  // of the input or of the output
} im2col_t;

// Nothing, or as many numbers as there should be.
static bool read_optional(lower_op_t* n, const char* name, int64_t* values, uint32_t count) {
  uint32_t found;
  memset(values, 0, sizeof(values[0]) * GRAPH_MAX_RANK);
  if (!ir_op_attr(n->op, name)) return true;
  if (!lower_list(n, name, values, &found)) return false;
  return !found || found == count || lower_error(n, "needs %u numbers in '%s'", count, name);
}

static bool is_permutation(const int64_t* perm, uint32_t count) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (perm[i] < 0 || perm[i] >= count || (seen & (1u << perm[i]))) return false;
    seen |= 1u << perm[i];
  }
  return true;
}

static bool read_im2col(lower_op_t* n, im2col_t* s) {
  const ir_type_t *in = n->in[0]->type, *out = n->in[1]->type;
  int64_t high[GRAPH_MAX_RANK], all[3 * GRAPH_MAX_RANK];
  bool dims = lower_dims(n, "batch_pos", in->rank, s->batch, &s->batch_count) &&
              lower_dims(n, "m_pos", in->rank, s->m, &s->m_count) &&
              lower_dims(n, "k_pos", in->rank, s->k, &s->k_count);
  if (!dims) return false;
  uint32_t rank = (uint32_t)in->rank, results = (uint32_t)out->rank;
  memcpy(all, s->batch, sizeof(all[0]) * s->batch_count);
  memcpy(all + s->batch_count, s->m, sizeof(all[0]) * s->m_count);
  memcpy(all + s->batch_count + s->m_count, s->k, sizeof(all[0]) * s->k_count);
  if (s->batch_count + s->m_count + s->k_count != rank || !is_permutation(all, rank)) {
    return lower_error(n, "needs each dim of its input once");
  }
  if (!lower_ints(n, "strides", s->strides, s->m_count) || !lower_ints(n, "dilations", s->dilations, s->m_count) ||
      !lower_ints(n, "static_offsets", s->offsets, results) || !lower_ints(n, "output_perm", s->perm, results) ||
      !lower_ints(n, "input_k_perm", s->k_perm, s->m_count + s->k_count)) {
    return false;
  }
  if (!is_permutation(s->perm, results) || !is_permutation(s->k_perm, s->m_count + s->k_count)) {
    return lower_error(n, "has a permutation that is none");
  }
  s->pads = n->op->operand_count == 3;
  return read_optional(n, "static_input_pad_low", s->in_low, rank) &&
         read_optional(n, "static_input_pad_high", high, rank) &&
         read_optional(n, "static_output_pad_low", s->out_low, results) &&
         read_optional(n, "static_output_pad_high", s->out_high, results);
}

static ir_value_t* plus(lower_op_t* n, ir_value_t* x, int64_t y) {
  return y ? lower_with_number(n, SCALAR_add, x, (double)y) : x;
}
static ir_value_t* times(lower_op_t* n, ir_value_t* x, int64_t y) {
  return y != 1 ? lower_with_number(n, SCALAR_mul, x, (double)y) : x;
}

// The coordinates that result dimensions stand for: of the batch, of M, of K. False after a diagnostic.
static bool coordinates(lower_op_t* n, const loops_t* l, const im2col_t* s, ir_value_t** out) {
  const ir_attr_t* sizes = ir_op_attr(n->op, "static_output_sizes");
  const char* misfit = "has 'output_sizes' that do not fit";
  uint32_t total = s->batch_count + 2 * s->m_count + s->k_count, count = 0;
  if (!sizes || sizes->kind != IR_ATTR_ARRAY || sizes->count != l->rank) {
    return lower_error(n, "needs a list in 'output_sizes' for each dim of its result");
  }
  for (uint32_t d = 0; d < l->rank; ++d) {
    int64_t inner[GRAPH_MAX_RANK];
    uint32_t parts = ir_attr_ints(sizes->items[d], inner, GRAPH_MAX_RANK), axis = 0;
    if (!parts || parts > GRAPH_MAX_RANK || count + parts > total) return lower_error(n, "%s", misfit);
    while (s->perm[axis] != d) ++axis;
    ir_value_t* v = plus(n, graph_iota(n->b, l->type, axis, l->dynamic), s->offsets[d] - s->out_low[axis]);
    for (uint32_t i = parts; --i > 0;) {
      if (inner[i] <= 0) return lower_unsupported(n, "sizes that are numbers are");
      out[count + i] = lower_with_number(n, SCALAR_rem, v, (double)inner[i]);
      v = lower_with_number(n, SCALAR_div, v, (double)inner[i]);
    }
    out[count] = v;
    count += parts;
  }
  return count == total || lower_error(n, "%s", misfit);
}

// Dimensions of the result outside of which there is only padding.
static ir_value_t* not_padding(lower_op_t* n, const loops_t* l, const im2col_t* s) {
  ir_value_t* flags = NULL;
  for (uint32_t i = 0; i < l->rank; ++i) {
    if (!s->out_low[i] && !s->out_high[i]) continue;
    ir_value_t* v = plus(n, graph_iota(n->b, l->type, i, l->dynamic), -s->out_low[i]);
    ir_value_t* size = graph_index_constant(n->b, l->type->dims[i] - s->out_low[i] - s->out_high[i]);
    flags = both(n, flags, below(n, v, size));
  }
  return flags;
}

bool ext_im2col(lower_op_t* n) {
  loops_t l;
  im2col_t s;
  ir_value_t *all[3 * GRAPH_MAX_RANK], *places[GRAPH_MAX_RANK], *canonical[2 * GRAPH_MAX_RANK];
  ir_value_t *window[GRAPH_MAX_RANK], *channel[GRAPH_MAX_RANK];
  uint32_t windows = 0, channels = 0;
  if (n->op->operand_count < 2 || n->op->operand_count > 3) return lower_error(n, "needs two or three operands");
  if (!check_operands(n) || !read_im2col(n, &s)) return false;
  ir_value_t *x = n->in[0], *out = n->in[1];
  if (!ir_type_is_static(out->type) || out->type->rank >= GRAPH_MAX_RANK) {
    return lower_unsupported(n, "results of static shape and up to %d dims are", GRAPH_MAX_RANK - 1);
  }
  loops_over(n, out, &l);
  if (!coordinates(n, &l, &s, all)) return false;
  ir_value_t **m = all + s.batch_count, **k = m + s.m_count;
  for (uint32_t i = 0; i < s.m_count + s.k_count; ++i) canonical[s.k_perm[i]] = k[i];
  for (uint32_t i = 0, next = 0; i < (uint32_t)x->type->rank; ++i) {  // windows and channels in the input's order
    uint32_t in_m = 0, in_k = 0;
    for (uint32_t j = 0; j < s.m_count; ++j) in_m += s.m[j] == i;
    for (uint32_t j = 0; j < s.k_count; ++j) in_k += s.k[j] == i;
    if (in_m) window[windows++] = canonical[next++];
    if (in_k) channel[channels++] = canonical[next++];
  }
  for (uint32_t j = 0; j < s.batch_count; ++j) places[s.batch[j]] = all[j];
  for (uint32_t j = 0; j < s.k_count; ++j) places[s.k[j]] = channel[j];
  for (uint32_t j = 0; j < s.m_count; ++j) {
    ir_value_t* offset = times(n, window[j], s.dilations[j]);
    places[s.m[j]] = graph_binary(n->b, SCALAR_add, times(n, m[j], s.strides[j]), offset);
  }
  for (uint32_t i = 0; i < (uint32_t)x->type->rank; ++i) places[i] = plus(n, places[i], -s.in_low[i]);
  ir_value_t* y = loops_gather(n, &l, x, places);
  if (!y || !s.pads) return y && lower_return(n, y);
  if (ir_type_scalar(n->in[2]->type) != x->type->element) return lower_error(n, "has a pad_value of another type");
  ir_value_t* flags = both(n, not_padding(n, &l, &s), inside(n, &l, x, places));
  ir_value_t* pad = lower_splat(n->b, lower_as_tensor(n->b, n->in[2]), y);
  return lower_return(n, flags ? graph_select(n->b, flags, y, pad) : y);
}
