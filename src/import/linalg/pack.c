// linalg.pack and linalg.unpack: reshapes and transposes around whole tiles. Sizes and tiles may be known at run time
// only.
//
//   pack    [m, n] -> [m/t, n/u, t, u]    padded to whole tiles first
//   unpack  the other way; what is behind the result's sizes is left out
#include <string.h>

#include "dialects/linalg.h"
#include "import/linalg/ops.h"

typedef struct pack_t {
  lower_op_t* n;
  int64_t places[GRAPH_MAX_RANK], outer[GRAPH_MAX_RANK];
  uint32_t count;                                              // of tiles
  int32_t rank;                                                // of the plain tensor
  bool tiled[GRAPH_MAX_RANK];                                  // by dimension of the plain tensor, as the rest:
  ir_value_t *blocks[GRAPH_MAX_RANK], *tiles[GRAPH_MAX_RANK];  // index; the tile of other dimensions is 1
} pack_t;

// Sizes as values and as a type's dims.
typedef struct sizes_t {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  int32_t rank;
  uint32_t dynamic_count;
} sizes_t;

static void add_size(sizes_t* s, ir_value_t* size) {
  int64_t known;
  bool is_known = lower_constant_index(size, &known);
  s->dims[s->rank++] = is_known ? known : IR_DYNAMIC;
  if (!is_known) s->dynamic[s->dynamic_count++] = size;
}

static ir_value_t* binary(const pack_t* p, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return lower_index_binary(p->n->b, fn, x, y);
}

static uint32_t computed_tiles(const lower_op_t* n) {
  int64_t written[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(n->op, "static_inner_tiles", written, GRAPH_MAX_RANK), computed = 0;
  for (uint32_t i = 0; i < count && i < GRAPH_MAX_RANK; ++i) computed += written[i] == IR_DYNAMIC;
  return computed;
}

// `first`: operand of the first computed tile.
static bool read_pack(pack_t* p, const ir_type_t* plain, const ir_type_t* packed, uint32_t first) {
  lower_op_t* n = p->n;
  mixed_t tiles;
  uint32_t outer;
  if (!ir_type_is_tensor(plain) || !ir_type_is_tensor(packed)) return lower_unsupported(n, "tensors are");
  p->rank = plain->rank;
  if (!lower_dims(n, "inner_dims_pos", plain->rank, p->places, &p->count) ||
      !lower_dims(n, "outer_dims_perm", plain->rank, p->outer, &outer) ||
      !mixed_read(n, "static_inner_tiles", &first, &tiles)) {
    return false;
  }
  bool fits = tiles.count == p->count && first == n->op->operand_count;
  if (!fits || packed->rank != plain->rank + (int32_t)p->count || (outer && (int32_t)outer != plain->rank)) {
    return lower_error(n, "has tiles that do not fit its tensors");
  }
  ir_value_t* one = graph_index_constant(n->b, 1);
  for (int32_t i = 0; i < plain->rank; ++i) {
    p->tiles[i] = one;
    if (!outer) p->outer[i] = i;
  }
  for (uint32_t k = 0; k < p->count; ++k) {
    int64_t tile = tiles.values[k];
    if (tile != IR_DYNAMIC && (tile < 1 || tile > INT32_MAX)) return lower_error(n, "needs positive tiles");
    p->tiles[p->places[k]] = mixed_index(n, &tiles, k);
    p->tiled[p->places[k]] = true;
  }
  return true;
}

// blocks and tiles of each dimension side by side, [b0, t0, b1, b2, t2]; *perm brings them into packed order.
static void split_dims(const pack_t* p, sizes_t* split, int64_t* perm) {
  int32_t block_at[GRAPH_MAX_RANK], tile_at[GRAPH_MAX_RANK], next = 0;
  for (int32_t i = 0; i < p->rank; ++i) {
    block_at[i] = split->rank;
    add_size(split, p->blocks[i]);
    tile_at[i] = split->rank;
    if (p->tiled[i]) add_size(split, p->tiles[i]);
  }
  for (int32_t i = 0; i < p->rank; ++i) perm[next++] = block_at[p->outer[i]];
  for (uint32_t k = 0; k < p->count; ++k) perm[next++] = tile_at[p->places[k]];
}

static sizes_t whole_sizes(const pack_t* p) {
  sizes_t whole = {.rank = 0};
  for (int32_t i = 0; i < p->rank; ++i) add_size(&whole, binary(p, SCALAR_mul, p->blocks[i], p->tiles[i]));
  return whole;
}

// x in the first corner of padding.
static ir_value_t* pad_to(const pack_t* p, ir_value_t* x, ir_value_t* value, const sizes_t* sizes) {
  ir_builder_t* b = p->n->b;
  const ir_type_t* type = ir_type_tensor(b->ctx, x->type->element, p->rank, sizes->dims);
  ir_value_t* operands[2 + GRAPH_MAX_RANK];
  if (type == x->type && ir_type_is_static(type)) return x;
  if (!value) value = graph_scalar_constant(b, x->type->element, 0);
  operands[0] = graph_broadcast(b, value, type, NULL, sizes->dynamic);
  operands[1] = x;
  for (int32_t i = 0; i < p->rank; ++i) operands[2 + i] = graph_index_constant(b, 0);
  return graph_build(b, GRAPH_DYNAMIC_UPDATE, operands, 2 + (uint32_t)p->rank, type, NULL, 0);
}

bool linalg_lower_pack(lower_op_t* n) {
  pack_t p = {.n = n};
  uint32_t computed = computed_tiles(n), count = n->op->operand_count;
  if (count < computed + 2 || count > computed + 3) return lower_unsupported(n, "a source and a destination are");
  if (!read_pack(&p, n->in[0]->type, n->in[1]->type, count - computed)) return false;
  ir_value_t *x = n->in[0], *value = count - computed > 2 ? lower_as_tensor(n->b, n->in[2]) : NULL;
  if (value && (value->type->rank || value->type->element != x->type->element)) {
    return lower_error(n, "needs a padding value of the element type");
  }
  ir_value_t* one = graph_index_constant(n->b, 1);
  for (int32_t i = 0; i < p.rank; ++i) {
    ir_value_t* last = binary(&p, SCALAR_sub, p.tiles[i], one);
    p.blocks[i] = binary(&p, SCALAR_divu, binary(&p, SCALAR_add, graph_dim(n->b, x, (uint32_t)i), last), p.tiles[i]);
  }
  int64_t perm[GRAPH_MAX_RANK];
  sizes_t split = {.rank = 0}, whole = whole_sizes(&p);
  x = pad_to(&p, x, value, &whole);
  split_dims(&p, &split, perm);
  return lower_return(n, graph_transpose(n->b, graph_reshape(n->b, x, split.rank, split.dims, split.dynamic), perm));
}

bool linalg_lower_unpack(lower_op_t* n) {
  pack_t p = {.n = n};
  if (n->op->operand_count < 2) return lower_unsupported(n, "a source and a destination are");
  ir_value_t *x = n->in[0], *like = n->in[1];
  if (!read_pack(&p, like->type, x->type, 2)) return false;
  for (int32_t i = 0; i < p.rank; ++i) p.blocks[p.outer[i]] = graph_dim(n->b, x, (uint32_t)i);
  int64_t perm[GRAPH_MAX_RANK], back[GRAPH_MAX_RANK], offsets[GRAPH_MAX_RANK] = {0}, strides[GRAPH_MAX_RANK];
  sizes_t split = {.rank = 0}, whole = whole_sizes(&p), wanted = {.rank = 0};
  split_dims(&p, &split, perm);
  for (int32_t i = 0; i < split.rank; ++i) {
    back[perm[i]] = i;
    bool fits =
        split.dims[perm[i]] == x->type->dims[i] || split.dims[perm[i]] == IR_DYNAMIC || x->type->dims[i] == IR_DYNAMIC;
    if (!fits) return lower_error(n, "has a packed tensor of other sizes");
  }
  for (int32_t i = 0; i < p.rank; ++i) {
    add_size(&wanted, graph_dim(n->b, like, (uint32_t)i));
    strides[i] = 1;
    if (wanted.dims[i] != IR_DYNAMIC && whole.dims[i] != IR_DYNAMIC && wanted.dims[i] > whole.dims[i]) {
      return lower_error(n, "has a packed tensor of other sizes");
    }
  }
  x = graph_reshape(n->b, graph_transpose(n->b, x, back), p.rank, whole.dims, whole.dynamic);
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, p.rank, wanted.dims);
  if (type == x->type && ir_type_is_static(type)) return lower_return(n, x);
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(n->ctx, offsets, (uint32_t)p.rank)},
                             {"strides", ir_attr_i64_array(n->ctx, strides, (uint32_t)p.rank)}};
  ir_value_t* operands[1 + GRAPH_MAX_RANK] = {x};
  memcpy(operands + 1, wanted.dynamic, sizeof(wanted.dynamic[0]) * wanted.dynamic_count);
  return lower_return(n, lower_build(n, GRAPH_SLICE, operands, 1 + wanted.dynamic_count, type, attrs, 2));
}
