// Col2Im and MaxUnpool.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/sweep.h"

enum { MAX_UNROLLED = 1024, MAX_SIZE = 1 << 28 };

//===----------------------------------------------------------------------------------------------------------------===
// Col2Im: each position of the block is spread over the image by its stride, and the images are added
//===----------------------------------------------------------------------------------------------------------------===

typedef struct columns_t {
  uint32_t spatial;
  onnx_dim_t image[GRAPH_MAX_SPATIAL], block[GRAPH_MAX_SPATIAL], count[GRAPH_MAX_SPATIAL];
  onnx_dim_t blocks, positions;  // products of `block` and `count`
  int64_t strides[GRAPH_MAX_SPATIAL], dilations[GRAPH_MAX_SPATIAL], pads[2 * GRAPH_MAX_SPATIAL];
  bool unrolls;  // everything is known, and the block is small
} columns_t;

static bool read_list(onnx_node_t* n, const char* name, uint32_t count, int64_t absent, int64_t low, int64_t* out) {
  uint32_t given;
  if (!onnx_ints(n, name, out, count, &given)) return false;
  if (given && given != count) return onnx_error(n, "attribute '%s' needs %u entries", name, count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!given) out[i] = absent;
    if (out[i] < low || out[i] > MAX_SIZE) return onnx_error(n, "attribute '%s' is out of range", name);
  }
  return true;
}

static bool in_range(onnx_node_t* n, onnx_dim_t size) {
  onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, size, onnx_dim_of(1)),
                                  onnx_dim_test(n, SCALAR_le, size, onnx_dim_of(MAX_SIZE)));
  return onnx_require(n, fits, "a size is out of range");
}

// How many spatial dimensions there are: what shapes have a length in the model say, or the result's declared rank.
static bool count_spatial(onnx_node_t* n, uint32_t* out) {
  int64_t count = IR_DYNAMIC;
  for (uint32_t i = 1; i < 3 && count == IR_DYNAMIC; ++i) count = ir_type_count(n->in[i].v->type);
  if (count == IR_DYNAMIC) count = (int64_t)onnx_result_rank(n, 0) - 2;
  if (count == -3) return onnx_unsupported(n, "declare the result's shape in the model, or give inputs 1 and 2 shapes");
  *out = (uint32_t)count;
  return (count > 0 && count <= GRAPH_MAX_SPATIAL) || onnx_error(n, "needs 1 to %d spatial sizes", GRAPH_MAX_SPATIAL);
}

static bool read_columns(onnx_node_t* n, columns_t* c) {
  onnx_dim_t one = onnx_dim_of(1);
  ir_value_t* x = n->in[0].v;
  c->blocks = c->positions = one;
  c->unrolls = ir_type_is_static(x->type);
  if (!onnx_check_rank(n, 0, 3, 3)) return false;
  if (!count_spatial(n, &c->spatial)) return false;
  if (!onnx_dims_exactly(n, 1, c->spatial, c->image) || !onnx_dims_exactly(n, 2, c->spatial, c->block)) return false;
  if (!read_list(n, "strides", c->spatial, 1, 1, c->strides) ||
      !read_list(n, "dilations", c->spatial, 1, 1, c->dilations) ||
      !read_list(n, "pads", 2 * c->spatial, 0, 0, c->pads)) {
    return false;
  }
  for (uint32_t i = 0; i < c->spatial; ++i) {
    if (!in_range(n, c->block[i]) || !in_range(n, c->image[i])) return false;
    onnx_dim_t extent = onnx_dim_mul(n, onnx_dim_sub(n, c->block[i], one), onnx_dim_of(c->dilations[i]));
    onnx_dim_t room = onnx_dim_add(n, c->image[i], onnx_dim_of(c->pads[i] + c->pads[c->spatial + i] - 1));
    room = onnx_dim_sub(n, room, extent);
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_ge, room, onnx_dim_of(0));
    if (!onnx_require(n, fits, "the block is larger than the image")) return false;
    c->count[i] = onnx_dim_add(n, onnx_dim_div(n, room, onnx_dim_of(c->strides[i])), one);
    c->blocks = onnx_dim_mul(n, c->blocks, c->block[i]);
    c->positions = onnx_dim_mul(n, c->positions, c->count[i]);
    c->unrolls &= onnx_dim_known(c->image[i]) && onnx_dim_known(c->block[i]);
  }
  c->unrolls &= c->blocks.size <= MAX_UNROLLED;
  onnx_dim_t channels = onnx_dim_div(n, onnx_dim(n, x, 1), c->blocks);
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, channels, c->blocks), onnx_dim(n, x, 1));
  fits = onnx_flag_and(n, fits, onnx_dim_test(n, SCALAR_eq, onnx_dim(n, x, 2), c->positions));
  return onnx_require(n, fits, "the columns do not fit block and image");
}

// Every position of a small block as a padded image.
static ir_value_t* add_images(onnx_node_t* n, const columns_t* c) {
  const ir_type_t* type = n->in[0].v->type;
  int64_t blocks = c->blocks.size, apart[4], position[2 + GRAPH_MAX_SPATIAL], low[2 + GRAPH_MAX_SPATIAL] = {0},
          high[2 + GRAPH_MAX_SPATIAL] = {0};
  int64_t interior[2 + GRAPH_MAX_SPATIAL] = {0}, offsets[4] = {0}, ones[] = {1, 1, 1, 1};
  apart[0] = type->dims[0], apart[1] = type->dims[1] / blocks, apart[2] = blocks, apart[3] = type->dims[2];
  ir_value_t *x = graph_reshape(n->b, n->in[0].v, 4, apart, NULL), *sum = NULL;
  position[0] = apart[0], position[1] = apart[1], apart[2] = 1;
  for (int64_t k = 0; k < blocks; ++k) {
    int64_t rest = k;
    for (uint32_t i = c->spatial; i-- > 0; rest /= c->block[i].size) {
      int64_t spread = (c->count[i].size - 1) * c->strides[i] + 1;
      position[2 + i] = c->count[i].size;
      interior[2 + i] = c->strides[i] - 1;
      low[2 + i] = rest % c->block[i].size * c->dilations[i] - c->pads[i];
      high[2 + i] = c->image[i].size - low[2 + i] - spread;
    }
    offsets[2] = k;
    ir_value_t* part = graph_slice(n->b, x, offsets, apart, ones);
    part = graph_reshape(n->b, part, 2 + (int32_t)c->spatial, position, NULL);
    part = graph_pad(n->b, part, NULL, low, high, interior, NULL);
    sum = sum ? graph_binary(n->b, SCALAR_add, sum, part) : part;
  }
  return sum;
}

// updates: [rows, places], added to (or put at) their place in lines of `size` zeros; places outside are dropped.
static ir_value_t* scatter_lines(onnx_node_t* n, ir_value_t* updates, ir_value_t* places, onnx_dim_t size,
                                 const char* kind) {
  static const int64_t zero = 0, one = 1;
  const onnx_dim_t dims[] = {onnx_dim(n, updates, 0), size}, vectors[] = {onnx_dim(n, places, 0), onnx_dim_of(1)};
  ir_value_t* lines = onnx_broadcast_to(n, graph_scalar_constant(n->b, updates->type->element, 0), 2, dims);
  ir_named_attr_t attrs[] = {{"update_window_dims", ir_attr_i64_array(n->ctx, &zero, 1)},
                             {"inserted_dims", ir_attr_i64_array(n->ctx, &one, 1)},
                             {"operand_batch_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"indices_batch_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"scatter_dims_map", ir_attr_i64_array(n->ctx, &one, 1)},
                             {"index_vector_dim", ir_attr_i64(n->ctx, 1)},
                             {"kind", ir_attr_cstring(n->ctx, kind)}};
  ir_value_t* operands[] = {lines, onnx_reshape(n, places, 2, vectors), updates};
  return graph_build(n->b, GRAPH_SCATTER, operands, 3, lines->type, attrs, 7);
}

// The flat place in the image of every position of the block at every place of it, -1 outside: [blocks * positions].
static ir_value_t* image_places(onnx_node_t* n, const columns_t* c) {
  onnx_dim_t dims[2 * GRAPH_MAX_SPATIAL], total = onnx_dim_mul(n, c->blocks, c->positions);
  int32_t rank = 2 * (int32_t)c->spatial;
  ir_value_t *flat = NULL, *inside = NULL;
  for (uint32_t i = 0; i < c->spatial; ++i) dims[i] = c->block[i], dims[c->spatial + i] = c->count[i];
  for (uint32_t i = 0; i < c->spatial; ++i) {
    ir_value_t* at = onnx_binary_number(n, SCALAR_mul, onnx_numbers(n, rank, dims, i), (double)c->dilations[i]);
    ir_value_t* step =
        onnx_binary_number(n, SCALAR_mul, onnx_numbers(n, rank, dims, c->spatial + i), (double)c->strides[i]);
    at = onnx_binary_number(n, SCALAR_sub, graph_binary(n->b, SCALAR_add, at, step), (double)c->pads[i]);
    ir_value_t* size = onnx_dim_like(n, c->image[i], at);
    ir_value_t* here = graph_binary(n->b, SCALAR_and, onnx_binary_number(n, SCALAR_ge, at, 0),
                                    graph_binary(n->b, SCALAR_lt, at, size));
    inside = inside ? graph_binary(n->b, SCALAR_and, inside, here) : here;
    flat = flat ? graph_binary(n->b, SCALAR_add, graph_binary(n->b, SCALAR_mul, flat, size), at) : at;
  }
  return onnx_reshape(n, graph_select(n->b, inside, flat, graph_splat_like(n->b, flat, -1)), 1, &total);
}

static ir_value_t* scatter_columns(onnx_node_t* n, const columns_t* c) {
  ir_value_t* x = n->in[0].v;
  onnx_dim_t batch = onnx_dim(n, x, 0), channels = onnx_dim_div(n, onnx_dim(n, x, 1), c->blocks);
  onnx_dim_t size = onnx_dim_of(1), out[2 + GRAPH_MAX_SPATIAL] = {batch, channels};
  const onnx_dim_t rows[] = {onnx_dim_mul(n, batch, channels), onnx_dim_mul(n, c->blocks, c->positions)};
  for (uint32_t i = 0; i < c->spatial; ++i) {
    size = onnx_dim_mul(n, size, c->image[i]);
    out[2 + i] = c->image[i];
  }
  ir_value_t* y = scatter_lines(n, onnx_reshape(n, x, 2, rows), image_places(n, c), size, "add");
  return onnx_reshape(n, y, 2 + (int32_t)c->spatial, out);
}

bool onnx_lower_col2im(onnx_node_t* n) {
  columns_t c;
  if (!read_columns(n, &c)) return false;
  return onnx_return(n, c.unrolls ? add_images(n, &c) : scatter_columns(n, &c), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// MaxUnpool: every value goes back to where it was the maximum
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_lower_max_unpool(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *indices = n->in[1].v;
  int64_t kernel[GRAPH_MAX_SPATIAL], strides[GRAPH_MAX_SPATIAL], pads[2 * GRAPH_MAX_SPATIAL];
  onnx_dim_t dims[ONNX_MAX_RANK], wanted[ONNX_MAX_RANK], low[ONNX_MAX_RANK], high[ONNX_MAX_RANK];
  onnx_dim_t total = onnx_dim_of(1), count = total;
  int32_t rank = x->type->rank;
  uint32_t spatial = (uint32_t)rank - 2;
  if (!onnx_check_rank(n, 0, 3, 2 + GRAPH_MAX_SPATIAL) || !onnx_check_rank(n, 1, rank, rank)) return false;
  if (!onnx_is_int(n->in[1])) return onnx_error(n, "the indices must be integers");
  if (!onnx_attr(n, "kernel_shape")) return onnx_error(n, "attribute 'kernel_shape' is required");
  if (!read_list(n, "kernel_shape", spatial, 1, 1, kernel) || !read_list(n, "strides", spatial, 1, 1, strides) ||
      !read_list(n, "pads", 2 * spatial, 0, 0, pads)) {
    return false;
  }
  for (int32_t i = 0; i < rank; ++i) {
    int32_t s = i - 2;
    onnx_dim_t size = onnx_dim(n, x, i), fits = onnx_dim_test(n, SCALAR_eq, size, onnx_dim(n, indices, i));
    if (!onnx_require(n, fits, "the indices do not fit the input")) return false;
    count = onnx_dim_mul(n, count, size);
    dims[i] = size;
    if (s >= 0) {
      int64_t more = kernel[s] - pads[s] - pads[spatial + (uint32_t)s];
      dims[i] = onnx_dim_mul(n, onnx_dim_sub(n, size, onnx_dim_of(1)), onnx_dim_of(strides[s]));
      dims[i] = onnx_dim_add(n, dims[i], onnx_dim_of(more));
      if (!in_range(n, dims[i])) return false;
    }
    total = onnx_dim_mul(n, total, dims[i]);
    low[i] = high[i] = onnx_dim_of(0);
  }
  const onnx_dim_t line[] = {onnx_dim_of(1), count};
  ir_value_t* places = onnx_reshape(n, onnx_cast(n, n->in[1], onnx_si64(n->ctx)).v, 1, &count);
  ir_value_t* y = scatter_lines(n, onnx_reshape(n, x, 2, line), places, total, "set");
  y = onnx_reshape(n, y, rank, dims);
  bool given = onnx_has(n, 2) && ir_type_count(n->in[2].v->type) != 0;
  if (given && !onnx_dims_exactly(n, 2, (uint32_t)rank, wanted)) return false;
  for (int32_t i = 0; given && i < rank; ++i) {
    if (i >= 2 && !in_range(n, wanted[i])) return false;
    high[i] = onnx_dim_sub(n, wanted[i], dims[i]);
  }
  return onnx_return(n, onnx_pad(n, y, low, high), n->in[0].element);
}
