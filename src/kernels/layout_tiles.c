// See layout_tiles.h and tiles.h. In the region packed weights are brought into form by index maps, and terms added up,
// so that they mean the same to whatever reads them:
//
//   %t = reshape(transpose %w) : tensor<24x12x1x16x32x2xbf16> -> tensor<384x768xbf16>      {1, 2, 3, 5, 0, 4}
//   %b = slice %t                                              -> tensor<377x768xbf16>
#include "kernels/layout_tiles.h"

#include <string.h>

#include "kernels/tiles.h"
#include "passes/constant_move.h"

static const int64_t back[] = {1, 2, 3, 5, 0, 4};

static bool is_f32(const ir_type_t* element) { return element->kind == IR_TYPE_FLOAT && element->float_kind == IR_F32; }

// As mma.def has it.
static const char* operands_of(const ir_op_t* op) {
  static const char* const bytes[2][2] = {{"i8", "i8u8"}, {"u8i8", "u8"}};
  const ir_type_t *x = ir_operand(op, 0)->type->element, *w = ir_operand(op, 1)->type->element;
  const ir_type_t* y = op->results[0].type->element;
  if (x != w) return "";
  if (x->kind == IR_TYPE_FLOAT) return is_f32(x) || x->float_kind == IR_BF16 ? "bf16" : "";
  bool fits = ir_type_is_int(x) && x->width == 8 && ir_type_is_int(y) && y->width == 32;
  return fits ? bytes[graph_reads_unsigned(op, 0)][graph_reads_unsigned(op, 1)] : "";
}

const device_mma_t* layout_tiles_instruction(const device_info_t* device, const ir_op_t* op) {
  const char* type = operands_of(op);
  for (int32_t i = 0; device->kind == DEVICE_CPU && i < device->mma_count; ++i) {
    if (strcmp(device->mma[i].a_type, type) == 0) return &device->mma[i];
  }
  return NULL;
}

bool layout_tiles_wants(const device_info_t* device, const layout_tiles_t* shape) {
  // Three terms of numbers are read as 1.5 times the bytes, which few rows do not make up for; of bytes vectors take as
  // many columns of one to three rows sooner.
  enum { LEAST_BYTE_ROWS = 4, LEAST_EXACT_ROWS = 96, LEAST_COLUMNS = 32, LEAST_DEPTH = 48, MOST_DEPTH = 16384 };
  const ir_type_t* type = shape->weights->type;
  if (!layout_tiles_instruction(device, shape->op)) return false;
  if (type->dims[0] < LEAST_DEPTH || type->dims[0] > MOST_DEPTH || type->dims[1] < LEAST_COLUMNS) return false;
  bool exact = is_f32(type->element), bytes = ir_type_is_int(type->element);
  int64_t least = exact ? LEAST_EXACT_ROWS : bytes ? LEAST_BYTE_ROWS : 1;
  if (shape->rows == IR_DYNAMIC ? exact : shape->rows < least) return false;
  return bytes || constant_is_moderate(shape->weights);
}

const ir_attr_t* layout_tiles_pack(ir_context_t* ctx, const layout_tiles_t* shape) {
  const ir_type_t* element = shape->weights->type->element;
  return constant_tiles(ctx, shape->weights, is_f32(element) ? ir_type_float(ctx, IR_BF16) : element, TILES_PANEL);
}

ir_value_t* layout_tiles_unpack(ir_builder_t* b, ir_value_t* arg, const ir_type_t* plain) {
  static const int64_t ones[] = {1, 1, 1, 1, 1, 1};
  const int64_t* dims = arg->type->dims;
  int64_t terms = dims[2], whole[] = {dims[1] * dims[3] * dims[5], dims[0] * dims[4]};
  ir_value_t* sum = NULL;
  for (int64_t t = 0; t < terms; ++t) {
    ir_value_t* term = arg;
    int64_t first[] = {0, 0, t, 0, 0, 0}, sizes[] = {dims[0], dims[1], 1, dims[3], dims[4], dims[5]};
    if (terms > 1) term = graph_slice(b, term, first, sizes, ones);
    term = graph_reshape(b, graph_transpose(b, term, back), 2, whole, NULL);
    if (whole[0] != plain->dims[0] || whole[1] != plain->dims[1]) {
      term = graph_slice(b, term, (int64_t[]){0, 0}, plain->dims, ones);
    }
    if (plain->element != arg->type->element) term = graph_cast(b, term, plain->element, false);
    sum = sum ? graph_binary(b, SCALAR_add, sum, term) : term;
  }
  return sum;
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

static bool starts_at(const ir_op_t* slice, const int64_t* first, uint32_t rank) {
  int64_t offsets[GRAPH_MAX_RANK] = {0}, strides[GRAPH_MAX_RANK] = {0};
  if (graph_get_offsets(slice, offsets) != rank || graph_get_strides(slice, strides) != rank) return false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (offsets[i] != first[i] || strides[i] != 1) return false;
  }
  return true;
}

// The argument behind one term, or NULL.
static ir_value_t* read_term(ir_value_t* value, int64_t term) {
  const ir_op_t* slice = step_back(&value, GRAPH_SLICE);
  if (slice && !starts_at(slice, (int64_t[]){0, 0}, 2)) return NULL;
  const ir_type_t* whole = value->type;
  if (!step_back(&value, GRAPH_RESHAPE)) return NULL;
  const ir_op_t* turned = step_back(&value, GRAPH_TRANSPOSE);
  int64_t perm[GRAPH_MAX_RANK];
  if (!turned || graph_get_perm(turned, perm) != 6 || memcmp(perm, back, sizeof(back)) != 0) return NULL;
  slice = step_back(&value, GRAPH_SLICE);
  if (slice && !starts_at(slice, (int64_t[]){0, 0, term, 0, 0, 0}, 6)) return NULL;
  const int64_t* dims = value->type->dims;
  bool fits = !value->def && value->type->rank == 6 && dims[3] == TILES_SIDE && dims[4] == TILES_PANEL &&
              dims[2] == (slice ? CONSTANT_TERMS : 1) && whole->rank == 2;
  return fits && whole->dims[0] == dims[1] * dims[3] * dims[5] && whole->dims[1] == dims[0] * dims[4] ? value : NULL;
}

bool tiles_read_weights(const ir_op_t* op, tiles_weights_t* out) {
  ir_value_t *value = ir_operand(op, 1), *terms[CONSTANT_TERMS] = {0};
  if (ir_is(op, GRAPH_CONV) && !step_back(&value, GRAPH_RESHAPE)) return false;
  const ir_type_t* type = value->type;
  int64_t count = 1;
  if (type->rank != 2) return false;
  for (terms[0] = value; terms[0]->def && ir_is(terms[0]->def, GRAPH_add) && count < CONSTANT_TERMS; ++count) {
    for (int64_t i = count; i > 1; --i) terms[i] = terms[i - 1];
    terms[1] = ir_operand(terms[0]->def, 1);
    terms[0] = ir_operand(terms[0]->def, 0);
  }
  for (int64_t i = 0; i < count; ++i) {
    if (count > 1 && !step_back(&terms[i], GRAPH_cast)) return false;
    ir_value_t* arg = read_term(terms[i], i);
    if (!arg || (i && arg != out->arg)) return false;
    out->arg = arg;
  }
  *out = (tiles_weights_t){.arg = out->arg,
                           .matrix = value,
                           .depth = type->dims[0],
                           .columns = type->dims[1],
                           .terms = count,
                           .group = out->arg->type->dims[5]};
  return count == out->arg->type->dims[2];
}
