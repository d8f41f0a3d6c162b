// See layout_winograd.h. In the region the weights are computed back, so that they mean the same to whatever reads
// them:
//
//   %u = reshape(transpose %arg)                                           -> tensor<6x6x64x64xf32>
//   %h = concat(slice %u {0}, (slice %u {1} - slice %u {2}) n / 2p, slice %u {5})  -> tensor<3x6x64x64xf32>
//   %w = the same along the second axis                                    -> tensor<3x3x64x64xf32>
#include "kernels/layout_winograd.h"

#include <string.h>

#include "kernels/layout_conv.h"

static const int64_t forth[] = {1, 2, 0, 3};

static bool is_f32(const ir_type_t* type) {
  return type->element->kind == IR_TYPE_FLOAT && type->element->float_kind == IR_F32;
}

int64_t layout_winograd_panel(const device_info_t* device, int64_t outputs) {
  int64_t lanes = device->vector_bytes / (int64_t)sizeof(float);
  return outputs > lanes ? 2 * lanes : lanes;
}

//===----------------------------------------------------------------------------------------------------------------===
// Choosing
//===----------------------------------------------------------------------------------------------------------------===

static bool has_form(const graph_conv_t* c, const ir_type_t* w) {
  if (w->rank != 4 || c->groups != 1 || c->batch_groups != 1) return false;
  for (int32_t i = 0; i < 2; ++i) {
    bool plain = c->strides[i] == 1 && c->w_dilation[i] == 1 && c->x_dilation[i] == 1 && c->pad_low[i] >= 0;
    if (!plain || w->dims[graph_layout_axis(c->w_layout, (char)('0' + i))] != WINOGRAD_TAPS) return false;
  }
  return true;
}

// Whether vectors of channels are side by side in memory.
static bool lies_in_vectors(const graph_conv_t* c, const ir_value_t* x, int64_t lanes) {
  int64_t channel = graph_layout_axis(c->x_layout, 'c'), tile = 0, axis = -1;
  if (!x->def) return channel == x->type->rank - 1;
  if (!ir_is(x->def, GRAPH_UNPACK) || ir_operand(x->def, 0)->def) return false;
  if (graph_attr_one(x->def, GRAPH_ATTR_tiles, &tile) != 1 || graph_attr_one(x->def, GRAPH_ATTR_axes, &axis) != 1) {
    return false;
  }
  return axis == channel && tile % lanes == 0;
}

typedef struct work_t {
  int64_t images, rows, columns, inputs, outputs;  // of results; vectors of channels
  int64_t lanes;
} work_t;

// Cycles, roughly: one product of vectors each, weights from beyond the second-level cache at so many bytes.
static double cycles_of(double products, double weights, const device_info_t* device) {
  enum { BYTES = 4, PART = 8 };
  double bytes = weights * (double)sizeof(float), reads = bytes > (double)device->l2_bytes ? bytes / BYTES : 0;
  return (products > reads ? products : reads) + reads / PART;
}

static double direct_cycles(const work_t* w, const device_info_t* device) {
  double taps = WINOGRAD_TAPS * WINOGRAD_TAPS, channels = (double)(w->inputs * w->lanes * w->outputs);
  double pixels = (double)(w->images * w->rows * w->columns);
  return cycles_of(taps * channels * pixels, taps * channels * (double)w->lanes, device);
}

static double form_cycles(const work_t* w, const winograd_form_t* f, const device_info_t* device) {
  enum { MOVES = 6, FEW = 8 };  // loads, stores and sums of each position; tiles that hide the loading of weights
  double positions = (double)(f->side * f->side), channels = (double)(w->inputs * w->lanes * w->outputs);
  double tiles = (double)(w->images * ((w->rows + f->results - 1) / f->results)) *
                 (double)((w->columns + f->results - 1) / f->results);
  double moves = MOVES * positions * (double)(w->inputs + w->outputs);
  if (tiles < FEW) tiles = FEW;
  return cycles_of(tiles * (positions * channels + moves), positions * channels * (double)w->lanes, device);
}

static const winograd_form_t* declines(const char** why, const char* sentence) {
  if (why) *why = sentence;
  return NULL;
}

bool layout_winograd_fits(const ir_op_t* op) {
  graph_conv_t c = graph_conv_read(op);
  const ir_type_t *x = ir_operand(op, 0)->type, *y = op->results[0].type;
  return has_form(&c, ir_operand(op, 1)->type) && is_f32(x) && is_f32(y) && ir_type_is_static(x) &&
         ir_type_is_static(y) && ir_type_count(y) > 0;
}

const winograd_form_t* layout_winograd_choose(const device_info_t* device, const ir_op_t* op, const char** why) {
  const ir_value_t *x = ir_operand(op, 0), *w = ir_operand(op, 1);
  const ir_type_t* y = op->results[0].type;
  graph_conv_t c = graph_conv_read(op);
  int64_t lanes = device->vector_bytes / (int64_t)sizeof(float);
  if (device->without_winograd) return declines(why, "--iree-llvmcpu-use-winograd=false");
  if (!has_form(&c, w->type)) return declines(why, "it is for 3x3 kernels without strides, dilations or groups");
  if (!is_f32(x->type) || !is_f32(w->type) || !is_f32(y)) return declines(why, "it is for f32");
  if (!ir_type_is_static(x->type) || !ir_type_is_static(y)) return declines(why, "sizes are known at run time only");
  work_t work = {.images = y->dims[graph_layout_axis(c.y_layout, 'n')],
                 .rows = y->dims[graph_layout_axis(c.y_layout, '0')],
                 .columns = y->dims[graph_layout_axis(c.y_layout, '1')],
                 .lanes = lanes};
  int64_t inputs = x->type->dims[graph_layout_axis(c.x_layout, 'c')],
          outputs = y->dims[graph_layout_axis(c.y_layout, 'c')];
  if (inputs < lanes || outputs < lanes || ir_type_count(y) == 0) return declines(why, "there are few channels");
  if (!lies_in_vectors(&c, x, lanes)) return declines(why, "channels are not side by side in memory");
  work.inputs = (inputs + lanes - 1) / lanes, work.outputs = (outputs + lanes - 1) / lanes;
  const winograd_form_t* best = NULL;
  double least = 0.85 * direct_cycles(&work, device);
  for (size_t i = 0; winograd_form_at(i); ++i) {
    double cycles = form_cycles(&work, winograd_form_at(i), device);
    if (cycles < least) least = cycles, best = winograd_form_at(i);
  }
  return best ? best : declines(why, "products that it saves do not pay for its larger weights and its sums");
}

//===----------------------------------------------------------------------------------------------------------------===
// Weights in a region
//===----------------------------------------------------------------------------------------------------------------===

// n / 2p of the first pair: what the difference of its two is of the middle weight.
static double middle_factor(const winograd_form_t* f) { return winograd_scale(f, 0) / (2 * f->points[0]); }

static ir_value_t* slice_at(ir_builder_t* b, ir_value_t* u, int64_t axis, int64_t at) {
  static const int64_t ones[] = {1, 1, 1, 1};
  int64_t first[4] = {0}, sizes[4];
  memcpy(sizes, u->type->dims, sizeof(sizes));
  first[axis] = at;
  sizes[axis] = 1;
  return graph_slice(b, u, first, sizes, ones);
}

static ir_value_t* unpack_axis(ir_builder_t* b, ir_value_t* u, int64_t axis, const winograd_form_t* f) {
  ir_value_t* middle = graph_binary(b, SCALAR_sub, slice_at(b, u, axis, 1), slice_at(b, u, axis, 2));
  double factor = middle_factor(f);
  if (factor != 1) middle = graph_binary(b, SCALAR_mul, middle, graph_splat_number(b, middle->type, factor));
  ir_value_t* parts[] = {slice_at(b, u, axis, 0), middle, slice_at(b, u, axis, f->side - 1)};
  return graph_concat(b, parts, WINOGRAD_TAPS, axis);
}

ir_value_t* layout_winograd_unpack(ir_builder_t* b, ir_value_t* arg, int64_t outputs) {
  static const int64_t ones[] = {1, 1, 1, 1}, zeros[] = {0, 0, 0, 0};
  const int64_t* dims = arg->type->dims;
  const winograd_form_t* f = NULL;
  for (size_t i = 0; (f = winograd_form_at(i)) && f->side * f->side != dims[1];) ++i;
  int64_t plain[] = {f->side, f->side, dims[2], dims[0] * dims[3]};
  ir_value_t* u = graph_reshape(b, graph_transpose(b, arg, forth), 4, plain, NULL);
  if (plain[3] != outputs) {
    plain[3] = outputs;
    u = graph_slice(b, u, zeros, plain, ones);
  }
  return unpack_axis(b, unpack_axis(b, u, 0, f), 1, f);
}

//===----------------------------------------------------------------------------------------------------------------===
// Finding them again
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* step_back(ir_value_t** value, uint32_t code) {
  ir_op_t* op = (*value)->def;
  if (!op || !ir_is(op, code)) return NULL;
  *value = ir_operand(op, 0);
  return op;
}

// What is sliced at one place along an axis, and whole along all others; NULL: something else.
static ir_value_t* read_slice(ir_value_t* value, int64_t axis, int64_t at) {
  int64_t offsets[GRAPH_MAX_RANK] = {0}, strides[GRAPH_MAX_RANK] = {0};
  const ir_op_t* slice = step_back(&value, GRAPH_SLICE);
  if (!slice || value->type->rank != 4 || graph_get_offsets(slice, offsets) != 4) return NULL;
  if (graph_get_strides(slice, strides) != 4) return NULL;
  for (int64_t i = 0; i < 4; ++i) {
    int64_t size = i == axis ? 1 : value->type->dims[i];
    if (offsets[i] != (i == axis ? at : 0) || strides[i] != 1 || slice->results[0].type->dims[i] != size) return NULL;
  }
  return value;
}

static ir_value_t* read_middle(ir_value_t* value, int64_t axis, const winograd_form_t* f) {
  float wanted = (float)middle_factor(f), factor = 1;
  if (wanted != 1) {
    const ir_op_t* scaled = step_back(&value, GRAPH_mul);
    const ir_attr_t* constant = scaled ? graph_constant_value(ir_operand(scaled, 1)) : NULL;
    if (!constant || !constant->splat) return NULL;
    memcpy(&factor, ir_attr_data(constant), sizeof(factor));
  }
  const ir_op_t* difference = step_back(&value, GRAPH_sub);
  if (!difference || factor != wanted) return NULL;
  ir_value_t* from = read_slice(ir_operand(difference, 0), axis, 1);
  return from == read_slice(ir_operand(difference, 1), axis, 2) ? from : NULL;
}

static ir_value_t* read_axis(ir_value_t* value, int64_t axis) {
  int64_t along = -1;
  const ir_op_t* concat = value && value->def && ir_is(value->def, GRAPH_CONCAT) ? value->def : NULL;
  if (!concat || concat->operand_count != WINOGRAD_TAPS || value->type->rank != 4) return NULL;
  ir_value_t* from = read_slice(ir_operand(concat, 0), axis, 0);
  const winograd_form_t* f = from ? winograd_form_of(from->type->dims[axis]) : NULL;
  if (!f || graph_attr_one(concat, GRAPH_ATTR_axis, &along) != 1 || along != axis || !is_f32(from->type)) return NULL;
  if (read_slice(ir_operand(concat, 2), axis, f->side - 1) != from) return NULL;
  return read_middle(ir_operand(concat, 1), axis, f) == from ? from : NULL;
}

bool layout_winograd_read(const ir_op_t* op, winograd_weights_t* out) {
  int64_t perm[GRAPH_MAX_RANK], offsets[GRAPH_MAX_RANK] = {0}, strides[GRAPH_MAX_RANK] = {0};
  ir_value_t* value = read_axis(read_axis(ir_operand(op, 1), 1), 0);
  if (!value || strcmp(graph_conv_read(op).w_layout, "01io") != 0) return false;
  int64_t outputs = value->type->dims[3];
  const ir_op_t* slice = step_back(&value, GRAPH_SLICE);
  if (slice && (graph_get_offsets(slice, offsets) != 4 || graph_get_strides(slice, strides) != 4)) return false;
  for (int i = 0; slice && i < 4; ++i) {
    if (offsets[i] != 0 || strides[i] != 1 || (i < 3 && slice->results[0].type->dims[i] != value->type->dims[i])) {
      return false;
    }
  }
  const ir_type_t* whole = value->type;
  if (!step_back(&value, GRAPH_RESHAPE)) return false;
  const ir_op_t* turned = step_back(&value, GRAPH_TRANSPOSE);
  if (!turned || graph_get_perm(turned, perm) != 4 || memcmp(perm, forth, sizeof(forth)) != 0 || value->def)
    return false;
  const int64_t* dims = value->type->dims;
  const winograd_form_t* f = winograd_form_of(whole->dims[0]);
  *out = (winograd_weights_t){.arg = value, .form = f, .inputs = dims[2], .outputs = outputs, .panel = dims[3]};
  return f && whole->rank == 4 && whole->dims[1] == f->side && dims[1] == f->side * f->side &&
         whole->dims[2] == dims[2] && whole->dims[3] == dims[0] * dims[3];
}
