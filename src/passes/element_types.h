// Programs in other element types than they were written in: --iree-input-demote-* and --iree-input-promote-*.
#ifndef IREE_C_PASSES_ELEMENT_TYPES_H_
#define IREE_C_PASSES_ELEMENT_TYPES_H_

#include "ir/pass.h"

// CONVERSION(name, flag)
#define ELEMENT_CONVERSIONS(CONVERSION)        \
  CONVERSION(i64_to_i32, "demote-i64-to-i32")  \
  CONVERSION(f64_to_f32, "demote-f64-to-f32")  \
  CONVERSION(f32_to_f16, "demote-f32-to-f16")  \
  CONVERSION(f16_to_f32, "promote-f16-to-f32") \
  CONVERSION(bf16_to_f32, "promote-bf16-to-f32")

typedef struct element_types_t {
#define CONVERSION(name, flag) bool name;
  ELEMENT_CONVERSIONS(CONVERSION)
#undef CONVERSION
} element_types_t;

// Gives every value of the graph level, signatures included, its element type's counterpart: all at once, so that f64
// that becomes f32 stays that when f32 becomes f16. What is fixed elsewhere keeps its type, with a cast beside it:
// globals, bit patterns (bitcasts), functions of other modules. Warns of functions whose signature changes.
pass_result_t element_types_run(ir_op_t* module, ir_context_t* ctx, const element_types_t* types);

#endif  // IREE_C_PASSES_ELEMENT_TYPES_H_
