// MaxRoiPool: the largest element of each bin of each box. Edges of bins are whole numbers that data says, so that a
// bin is a mask along the height and one along the width, each of which one reduction takes in.
#include <math.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

typedef struct roi_pool_t {
  onnx_node_t* n;
  ir_value_t* boxes;  // [n, 5]
  int64_t bins[2];
  onnx_dim_t count, size[2];  // of boxes; of the image
  double scale;
} roi_pool_t;

static ir_value_t* number(roi_pool_t* p, scalar_fn_t fn, ir_value_t* x, double y) {
  return onnx_binary_number(p->n, fn, x, y);
}

// Column `i` of the boxes, scaled and rounded, halves away from 0: [boxes].
static ir_value_t* box_edge(roi_pool_t* p, int64_t i) {
  onnx_node_t* n = p->n;
  ir_value_t* x = number(p, SCALAR_mul, onnx_entry(n, p->boxes, 1, i), p->scale);
  ir_value_t* whole = onnx_unary(n, SCALAR_floor, number(p, SCALAR_add, onnx_unary(n, SCALAR_abs, x), 0.5));
  return graph_binary(n->b, SCALAR_mul, whole, onnx_unary(n, SCALAR_sign, x));
}

// Whether a place along dimension `d` (0: height) is within a bin: [boxes, bins, size].
static ir_value_t* bin_mask(roi_pool_t* p, int32_t d) {
  onnx_node_t* n = p->n;
  static const int64_t of_box = 0;
  const onnx_dim_t dims[] = {p->count, onnx_dim_of(p->bins[d]), p->size[d]};
  ir_value_t *first = box_edge(p, 2 - d), *last = box_edge(p, 4 - d);
  ir_value_t* length = number(p, SCALAR_add, graph_binary(n->b, SCALAR_sub, last, first), 1);
  length = number(p, SCALAR_div, number(p, SCALAR_max, length, 1), (double)p->bins[d]);
  const ir_type_t* element = n->in[1].v->type->element;
  ir_value_t* bin = graph_cast(n->b, onnx_numbers(n, 3, dims, 1), element, false);
  ir_value_t* place = graph_cast(n->b, onnx_numbers(n, 3, dims, 2), element, false);
  first = onnx_broadcast_as(n, first, bin, &of_box), length = onnx_broadcast_as(n, length, bin, &of_box);
  ir_value_t* low = onnx_unary(n, SCALAR_floor, graph_binary(n->b, SCALAR_mul, bin, length));
  ir_value_t* high = onnx_unary(n, SCALAR_ceil, graph_binary(n->b, SCALAR_mul, number(p, SCALAR_add, bin, 1), length));
  ir_value_t* inside = graph_binary(n->b, SCALAR_ge, place, graph_binary(n->b, SCALAR_add, low, first));
  ir_value_t* before = graph_binary(n->b, SCALAR_lt, place, graph_binary(n->b, SCALAR_add, high, first));
  return graph_binary(n->b, SCALAR_and, inside, before);
}

// x [boxes, c, k, size] -> [boxes, c, k, bins]: the largest of each bin along the last dimension.
static ir_value_t* pool_along(roi_pool_t* p, ir_value_t* x, int32_t d) {
  onnx_node_t* n = p->n;
  static const int64_t of_x[] = {0, 1, 2, 4}, of_mask[] = {0, 3, 4}, last = 4;
  const onnx_dim_t dims[] = {onnx_dim(n, x, 0), onnx_dim(n, x, 1), onnx_dim(n, x, 2), onnx_dim_of(p->bins[d]),
                             p->size[d]};
  x = onnx_broadcast_to(n, onnx_spread(n, x, 5, of_x), 5, dims);
  ir_value_t* mask = onnx_broadcast_as(n, bin_mask(p, d), x, of_mask);
  x = graph_select(n->b, mask, x, graph_splat_like(n->b, x, -INFINITY));
  return graph_reduce(n->b, x, &last, 1, "max");
}

bool onnx_lower_max_roi_pool(onnx_node_t* n) {
  static const int64_t swap[] = {0, 1, 3, 2};
  roi_pool_t p = {.n = n, .scale = onnx_float(n, "spatial_scale", 1)};
  uint32_t count;
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 1)) return false;
  if (!onnx_check_rank(n, 0, 4, 4) || !onnx_check_rank(n, 1, 2, 2)) return false;
  if (!onnx_ints(n, "pooled_shape", p.bins, 2, &count)) return false;
  for (int32_t d = 0; d < 2; ++d) {
    p.size[d] = onnx_dim(n, n->in[0].v, 2 + d);
    bool fits = count == 2 && p.bins[d] > 0 && p.bins[d] <= 4096;
    if (!fits) return onnx_error(n, "pooled_shape must be two sizes from 1 to 4096");
  }
  if (!(p.boxes = onnx_sized(n, n->in[1].v, 1, 5))) return false;
  p.count = onnx_dim(n, p.boxes, 0);
  ir_value_t* image = graph_cast(n->b, onnx_entry(n, p.boxes, 1, 0), ir_type_int(n->ctx, 64), false);
  ir_value_t* y = graph_take(n->b, n->in[0].v, image, 0, false);
  y = pool_along(&p, y, 1);
  y = graph_transpose(n->b, pool_along(&p, graph_transpose(n->b, y, swap), 0), swap);
  ir_value_t* empty = number(&p, SCALAR_eq, y, -INFINITY);
  return onnx_return(n, graph_select(n->b, empty, graph_splat_like(n->b, y, 0), y), n->in[0].element);
}
