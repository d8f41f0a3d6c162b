// iree_linalg_ext.winograd: the three transforms of convolutions by 3x3 kernels in tiles of 6x6 results, each two
// contractions with a constant matrix, one for each dimension of the image.
//
//   input    BT I B  of tiles of 8x8 that overlap by two    N H W C          -> 8 8 N H/6 W/6 C
//   filter   G F GT                                         H W C F          -> 8 8 C F
//   output   AT O A                                         8 8 N H/6 W/6 C  -> N H W C
#include <string.h>

#include "import/linalg/ops.h"

enum { TILE = 8, STEP = 6, KERNEL = 3, MOST = TILE * TILE };

static const double input_matrix[TILE * TILE] = {
    1, 0,    -5.25, 0,     5.25,  0,     -1, 0,  //
    0, 1,    1,     -4.25, -4.25, 1,     1,  0,  //
    0, -1,   1,     4.25,  -4.25, -1,    1,  0,  //
    0, 0.5,  0.25,  -2.5,  -1.25, 2,     1,  0,  //
    0, -0.5, 0.25,  2.5,   -1.25, -2,    1,  0,  //
    0, 2,    4,     -2.5,  -5,    0.5,   1,  0,  //
    0, -2,   4,     2.5,   -5,    -0.5,  1,  0,  //
    0, -1,   0,     5.25,  0,     -5.25, 0,  1,
};
static const double filter_matrix[TILE * KERNEL] = {
    1,        0,         0,        //
    -2. / 9,  -2. / 9,   -2. / 9,  //
    -2. / 9,  2. / 9,    -2. / 9,  //
    1. / 90,  1. / 45,   2. / 45,  //
    1. / 90,  -1. / 45,  2. / 45,  //
    32. / 45, 16. / 45,  8. / 45,  //
    32. / 45, -16. / 45, 8. / 45,  //
    0,        0,         1,
};
static const double output_matrix[STEP * TILE] = {
    1, 1, 1,  1,  1,   1,       1,        0,  //
    0, 1, -1, 2,  -2,  0.5,     -0.5,     0,  //
    0, 1, 1,  4,  4,   0.25,    0.25,     0,  //
    0, 1, -1, 8,  -8,  0.125,   -0.125,   0,  //
    0, 1, 1,  16, 16,  0.0625,  0.0625,   0,  //
    0, 1, -1, 32, -32, 0.03125, -0.03125, 1,
};

typedef struct matrix_t {
  const double* values;
  int64_t rows, columns;
} matrix_t;

// The matrix times x, along x's dimension `axis`, which moves to the front.
static ir_value_t* multiply(lower_op_t* n, const matrix_t* m, ir_value_t* x, int64_t axis) {
  double doubles[MOST];
  float floats[MOST];
  bool wide = x->type->element->float_kind == IR_F64;
  for (int64_t i = 0; i < m->rows * m->columns; ++i) {
    doubles[i] = m->values[i];
    floats[i] = (float)m->values[i];
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, 2, (int64_t[]){m->rows, m->columns});
  size_t size = (size_t)(m->rows * m->columns) * (wide ? sizeof(doubles[0]) : sizeof(floats[0]));
  const void* data = wide ? (const void*)doubles : floats;
  ir_value_t* matrix = graph_constant(n->b, ir_attr_elements(n->ctx, type, data, size));
  graph_contract_t dims = {.lhs_contract = (int64_t[]){1}, .rhs_contract = &axis, .contract_count = 1};
  return graph_contract(n->b, matrix, x, &dims, x->type->element);
}

// Narrow floats are computed as f32.
static ir_value_t* widened(lower_op_t* n, ir_value_t* x) {
  bool wide = x->type->element->float_kind == IR_F64;
  return wide ? x : graph_cast(n->b, x, ir_type_float(n->ctx, IR_F32), false);
}

// Whether the two dimensions of the op's attribute are `first` and the next (true in *moved: the other order).
static bool read_op(lower_op_t* n, const char* name, int32_t ranks[2], bool* moved) {
  int64_t dims[2];
  bool fits = n->op->operand_count == 2 && lower_check_tensors(n) && lower_check_rank(n, 0, ranks[0]) &&
              lower_check_rank(n, 1, ranks[1]);
  if (!fits || !lower_ints(n, name, dims, 2)) return false;
  bool floats = lower_is_float(n->in[0]->type) && n->in[0]->type->element == n->in[1]->type->element;
  if (!floats || !ir_type_is_static(n->in[0]->type) || !ir_type_is_static(n->in[1]->type)) {
    return lower_unsupported(n, "floats of one type in static shapes are");
  }
  if (ir_op_int(n->op, "output_tile_size", 0) != STEP || ir_op_int(n->op, "kernel_size", 0) != KERNEL) {
    return lower_unsupported(n, "tiles of %d and kernels of %d are", STEP, KERNEL);
  }
  bool image = strcmp(name, "image_dimensions") == 0;
  *moved = dims[0] == 2 && dims[1] == 3;
  bool first = dims[0] == image && dims[1] == image + 1;
  return *moved || first || lower_unsupported(n, "the two layouts that IREE has are");
}

static bool finish(lower_op_t* n, ir_value_t* x) {
  const ir_type_t* type = n->in[1]->type;
  x = graph_cast(n->b, x, type->element, false);
  return x->type == type ? lower_return(n, x) : lower_error(n, "has an out whose shape does not fit");
}

// All windows of TILE elements, STEP apart, along a dimension of NHWC: a new first dimension counts in them.
static ir_value_t* windows(lower_op_t* n, ir_value_t* x, int32_t axis, int64_t tiles) {
  int64_t offsets[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], steps[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  ir_value_t* slices[TILE];
  int32_t rank = x->type->rank;
  dims[0] = 1;
  for (int32_t i = 0; i < rank; ++i) {
    dims[i + 1] = sizes[i] = i == axis ? tiles : x->type->dims[i];
    steps[i] = i == axis ? STEP : 1;
  }
  for (int64_t i = 0; i < TILE; ++i) {
    offsets[axis] = i;
    slices[i] = graph_reshape(n->b, graph_slice(n->b, x, offsets, sizes, steps), rank + 1, dims, NULL);
  }
  return graph_concat(n->b, slices, TILE, 0);
}

bool ext_winograd_input(lower_op_t* n) {
  static const matrix_t matrix = {input_matrix, TILE, TILE};
  int64_t zeros[4] = {0}, high[4] = {0};
  bool moved;
  if (!read_op(n, "image_dimensions", (int32_t[]){4, 6}, &moved)) return false;
  ir_value_t* x = widened(n, n->in[0]);
  if (moved) x = graph_transpose(n->b, x, (int64_t[]){0, 2, 3, 1});
  const int64_t* tiles = n->in[1]->type->dims + 3;
  for (int32_t i = 0; i < 2; ++i) {
    int64_t size = x->type->dims[1 + i], wanted = size < KERNEL ? 0 : (size - KERNEL + STEP) / STEP;
    if (tiles[i] != wanted || !wanted) return lower_error(n, "has an out whose tiles do not fit its image");
    high[1 + i] = tiles[i] * STEP + TILE - STEP - size;
  }
  x = graph_pad(n->b, x, NULL, zeros, high, NULL, NULL);
  x = windows(n, windows(n, x, 1, tiles[0]), 3, tiles[1]);  // W' H' N h w C
  x = multiply(n, &matrix, x, 0);
  return finish(n, multiply(n, &matrix, x, 1));
}

bool ext_winograd_filter(lower_op_t* n) {
  static const matrix_t matrix = {filter_matrix, TILE, KERNEL};
  bool moved;
  if (!read_op(n, "kernel_dimensions", (int32_t[]){4, 4}, &moved)) return false;
  ir_value_t* x = widened(n, n->in[0]);
  if (moved) x = graph_transpose(n->b, x, (int64_t[]){2, 3, 1, 0});
  if (x->type->dims[0] != KERNEL || x->type->dims[1] != KERNEL) return lower_error(n, "needs kernels of 3x3");
  x = multiply(n, &matrix, x, 1);
  return finish(n, multiply(n, &matrix, x, 1));
}

bool ext_winograd_output(lower_op_t* n) {
  static const matrix_t matrix = {output_matrix, STEP, TILE};
  bool moved;
  if (!read_op(n, "image_dimensions", (int32_t[]){6, 4}, &moved)) return false;
  ir_value_t* x = widened(n, n->in[0]);
  const int64_t *from = x->type->dims, *to = n->in[1]->type->dims, zeros[4] = {0}, ones[4] = {1, 1, 1, 1};
  if (from[0] != TILE || from[1] != TILE) return lower_error(n, "needs tiles of 8x8");
  x = multiply(n, &matrix, x, 1);
  x = multiply(n, &matrix, x, 1);  // p q N H' W' C
  int64_t height = from[3] * STEP, width = from[4] * STEP;
  int64_t dims[2][4] = {{from[2], height, width, from[5]}, {from[2], from[5], height, width}};
  x = graph_transpose(n->b, x, moved ? (int64_t[]){2, 5, 3, 0, 4, 1} : (int64_t[]){2, 3, 0, 4, 1, 5});
  x = graph_reshape(n->b, x, 4, dims[moved], NULL);
  for (int i = 0; i < 4; ++i) {
    if (to[i] > x->type->dims[i]) return lower_error(n, "has an out whose shape does not fit");
  }
  return finish(n, graph_slice(n->b, x, zeros, to, ones));
}
