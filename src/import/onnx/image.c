// Col2Im and MaxUnpool.
#include <string.h>

#include "import/onnx/ops.h"
#include "import/onnx/sweep.h"

enum { MAX_UNROLLED = 1024, MAX_SIZE = 1 << 28 };

//===----------------------------------------------------------------------------------------------------------------===
// Col2Im: each position of the block is spread over the image by its stride, and the images are added
//===----------------------------------------------------------------------------------------------------------------===

typedef struct columns_t {
  uint32_t spatial;
  int64_t image[GRAPH_MAX_SPATIAL], block[GRAPH_MAX_SPATIAL], count[GRAPH_MAX_SPATIAL];
  int64_t strides[GRAPH_MAX_SPATIAL], dilations[GRAPH_MAX_SPATIAL], pads[2 * GRAPH_MAX_SPATIAL];
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

static bool read_columns(onnx_node_t* n, columns_t* c) {
  uint32_t given;
  int64_t blocks = 1, positions = 1;
  const ir_type_t* type = n->in[0].v->type;
  if (!onnx_check_rank(n, 0, 3, 3) || !ir_type_is_static(type))
    return onnx_error(n, "needs columns of static shape and rank 3");
  if (!onnx_const_ints(n, 1, c->image, GRAPH_MAX_SPATIAL, &c->spatial)) return false;
  if (!onnx_const_ints(n, 2, c->block, GRAPH_MAX_SPATIAL, &given)) return false;
  if (given != c->spatial || !c->spatial) return onnx_error(n, "image_shape and block_shape differ in length");
  if (!read_list(n, "strides", c->spatial, 1, 1, c->strides) ||
      !read_list(n, "dilations", c->spatial, 1, 1, c->dilations) ||
      !read_list(n, "pads", 2 * c->spatial, 0, 0, c->pads)) {
    return false;
  }
  for (uint32_t i = 0; i < c->spatial; ++i) {
    if (c->block[i] < 1 || c->block[i] > MAX_SIZE || c->image[i] < 1 || c->image[i] > MAX_SIZE)
      return onnx_error(n, "a size is out of range");
    int64_t room = c->image[i] + c->pads[i] + c->pads[c->spatial + i] - ((c->block[i] - 1) * c->dilations[i] + 1);
    if (room < 0) return onnx_error(n, "the block is larger than the image");
    c->count[i] = room / c->strides[i] + 1;
    blocks = blocks * c->block[i] > MAX_SIZE ? MAX_SIZE : blocks * c->block[i];
    positions = positions * c->count[i] > MAX_SIZE ? MAX_SIZE : positions * c->count[i];
  }
  if (blocks > MAX_UNROLLED) return onnx_unsupported(n, "blocks of more than %d elements", MAX_UNROLLED);
  bool fits = type->dims[1] % blocks == 0 && type->dims[2] == positions;
  return fits || onnx_error(n, "the columns do not fit block and image");
}

bool onnx_lower_col2im(onnx_node_t* n) {
  columns_t c;
  if (!read_columns(n, &c)) return false;
  const ir_type_t* type = n->in[0].v->type;
  int64_t blocks = 1, apart[4], position[2 + GRAPH_MAX_SPATIAL], low[2 + GRAPH_MAX_SPATIAL] = {0},
          high[2 + GRAPH_MAX_SPATIAL] = {0};
  int64_t interior[2 + GRAPH_MAX_SPATIAL] = {0}, offsets[4] = {0}, ones[] = {1, 1, 1, 1};
  for (uint32_t i = 0; i < c.spatial; ++i) blocks *= c.block[i];
  apart[0] = type->dims[0], apart[1] = type->dims[1] / blocks, apart[2] = blocks, apart[3] = type->dims[2];
  ir_value_t *x = graph_reshape(n->b, n->in[0].v, 4, apart, NULL), *sum = NULL;
  position[0] = apart[0], position[1] = apart[1], apart[2] = 1;
  for (int64_t k = 0; k < blocks; ++k) {
    int64_t rest = k;
    for (uint32_t i = c.spatial; i-- > 0; rest /= c.block[i]) {
      int64_t spread = (c.count[i] - 1) * c.strides[i] + 1;
      position[2 + i] = c.count[i];
      interior[2 + i] = c.strides[i] - 1;
      low[2 + i] = rest % c.block[i] * c.dilations[i] - c.pads[i];
      high[2 + i] = c.image[i] - low[2 + i] - spread;
    }
    offsets[2] = k;
    ir_value_t* part = graph_slice(n->b, x, offsets, apart, ones);
    part = graph_reshape(n->b, part, 2 + (int32_t)c.spatial, position, NULL);
    part = graph_pad(n->b, part, NULL, low, high, interior, NULL);
    sum = sum ? graph_binary(n->b, SCALAR_add, sum, part) : part;
  }
  return onnx_return(n, sum, n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// MaxUnpool: every value goes back to where it was the maximum
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_lower_max_unpool(onnx_node_t* n) {
  const ir_type_t* type = n->in[0].v->type;
  int64_t kernel[GRAPH_MAX_SPATIAL], strides[GRAPH_MAX_SPATIAL], pads[2 * GRAPH_MAX_SPATIAL],
      dims[2 + GRAPH_MAX_SPATIAL];
  int64_t wanted[ONNX_MAX_RANK], low[ONNX_MAX_RANK] = {0}, high[ONNX_MAX_RANK] = {0}, total = 1, count, zero = 0;
  uint32_t given = 0, spatial = (uint32_t)type->rank - 2;
  if (!onnx_check_rank(n, 0, 3, 2 + GRAPH_MAX_SPATIAL) || !ir_type_is_static(type))
    return onnx_error(n, "needs a static shape");
  if (!onnx_is_int(n->in[1]) || n->in[1].v->type->rank != type->rank ||
      ir_type_count(n->in[1].v->type) != ir_type_count(type)) {
    return onnx_error(n, "the indices do not fit the input");
  }
  if (!onnx_attr(n, "kernel_shape")) return onnx_error(n, "attribute 'kernel_shape' is required");
  if (!read_list(n, "kernel_shape", spatial, 1, 1, kernel) || !read_list(n, "strides", spatial, 1, 1, strides) ||
      !read_list(n, "pads", 2 * spatial, 0, 0, pads)) {
    return false;
  }
  for (int32_t i = 0; i < type->rank; ++i) {
    int32_t s = i - 2;
    dims[i] =
        s < 0 ? type->dims[i] : (type->dims[i] - 1) * strides[s] - pads[s] - pads[spatial + (uint32_t)s] + kernel[s];
    if (dims[i] < 0 || dims[i] > MAX_SIZE || total > MAX_SIZE)
      return onnx_error(n, "the result's size is out of range");
    total *= dims[i];
  }
  if (onnx_has(n, 2) && !onnx_const_ints(n, 2, wanted, ONNX_MAX_RANK, &given)) return false;
  if (given && given != (uint32_t)type->rank) return onnx_error(n, "output_shape has %u entries", given);
  count = ir_type_count(type);
  const int64_t vectors[] = {count, 1};
  const ir_type_t* flat = ir_type_tensor(n->ctx, type->element, 1, &total);
  ir_value_t* places = graph_reshape(n->b, onnx_cast(n, n->in[1], onnx_si64(n->ctx)).v, 2, vectors, NULL);
  ir_named_attr_t attrs[] = {{"update_window_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"inserted_dims", ir_attr_i64_array(n->ctx, &zero, 1)},
                             {"operand_batch_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"indices_batch_dims", ir_attr_i64_array(n->ctx, NULL, 0)},
                             {"scatter_dims_map", ir_attr_i64_array(n->ctx, &zero, 1)},
                             {"index_vector_dim", ir_attr_i64(n->ctx, 1)},
                             {"kind", ir_attr_cstring(n->ctx, "set")}};
  ir_value_t* operands[] = {graph_splat_number(n->b, flat, 0), places,
                            graph_reshape(n->b, n->in[0].v, 1, &count, NULL)};
  ir_value_t* y = graph_build(n->b, GRAPH_SCATTER, operands, 3, flat, attrs, 7);
  y = graph_reshape(n->b, y, type->rank, dims, NULL);
  for (int32_t i = 0; given && i < type->rank; ++i) {
    high[i] = wanted[i] - dims[i];
    if (wanted[i] < 0 || wanted[i] > MAX_SIZE) return onnx_error(n, "output_shape is out of range");
  }
  return onnx_return(n, graph_pad(n->b, y, NULL, low, high, NULL, NULL), n->in[0].element);
}
