// Quantised elements, !quant.uniform<i8:f32, 0.5:3>: integers that stand for (q - zero) * scale, with one scale, one
// for each place along an axis, or one for each block: !quant.uniform<i8:f32:{0:2, 1:1}, {{1.0, 2.0}, {3.0:1, 4.0}}>.
// In graph they are their integers.
#ifndef IREE_C_IMPORT_QUANTIZED_H_
#define IREE_C_IMPORT_QUANTIZED_H_

#include "import/lowering.h"

typedef struct quantized_t {
  const ir_type_t *storage, *expressed;
  bool is_unsigned;
  int64_t low, high;  // of the integers
  int32_t axis;       // -1: one scale for all, or for each block
  int32_t rank;       // how deep the scales are nested, and how many there are of each dimension
  int64_t counts[GRAPH_MAX_RANK];
  int64_t blocks[GRAPH_MAX_RANK];  // their sizes; 0: the whole dimension
  bool blocked;
  uint32_t count;
  const double* scales;
  const int64_t* zeros;
} quantized_t;

bool quantized_is(const ir_type_t* type);  // its elements
// False when the type says it otherwise than above.
bool quantized_read(ir_context_t* ctx, const ir_type_t* scalar, quantized_t* out);
// The integers' type of such a scalar, or NULL.
const ir_type_t* quantized_storage(ir_context_t* ctx, const ir_type_t* scalar);
// The type with integers, signed or not, in place of quantised elements.
const ir_type_t* quantized_outside(ir_context_t* ctx, const ir_type_t* type);
// The numbers that the integers of a value stand for, and back: divided, moved, clamped, rounded to even.
ir_value_t* quantized_to_numbers(ir_builder_t* b, ir_value_t* x, const quantized_t* q);
ir_value_t* quantized_from_numbers(ir_builder_t* b, ir_value_t* x, const quantized_t* q);

// Ops on quantised elements, but those that only move them: computed on the numbers.
bool quantized_is_computed(const ir_op_t* op);
bool quantized_lower(lowering_t* l, ir_op_t* op);

// uniform_quantize and uniform_dequantize.
bool quantized_convert(lower_op_t* n);

#endif  // IREE_C_IMPORT_QUANTIZED_H_
