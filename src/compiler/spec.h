// What files of replacements have in common, whether they say it by transform.named_sequence (transform_spec.h) or by
// pdl.pattern (pdl_spec.h): how they are read, what of a program is looked at, and calls in the place of values.
#ifndef IREE_C_COMPILER_SPEC_H_
#define IREE_C_COMPILER_SPEC_H_

#include "ir/ir.h"

// The module of the file, verified, or NULL after a diagnostic.
ir_op_t* spec_load(ir_context_t* ctx, const char* path);

typedef struct spec_ops_t {
  ir_op_t** items;
  uint32_t count, capacity;
} spec_ops_t;

void spec_add_op(ir_context_t* ctx, spec_ops_t* list, ir_op_t* op);
// Ops inside `parent` by name, or all (`names` NULL), those of a region behind their op. Functions are one thing by two
// names.
void spec_collect(ir_context_t* ctx, const ir_op_t* parent, const ir_attr_t* names, spec_ops_t* out);

// Affine maps that are equal need not be the same.
bool spec_attr_fits(const ir_attr_t* pattern, const ir_attr_t* attr);
// The same type, or a tensor whose sizes the pattern leaves open.
bool spec_types_fit(const ir_type_t* pattern, const ir_type_t* type);

typedef struct spec_values_t {
  ir_value_t** items;
  uint32_t count;
} spec_values_t;

// A call of the function in front of the builder's place, whose results stand for `outs`; between types that differ,
// casts. The function has an argument for each of `ins` and a result for each of `outs`.
ir_op_t* spec_build_call(ir_builder_t* b, const ir_op_t* func, spec_values_t ins, spec_values_t outs);

#endif  // IREE_C_COMPILER_SPEC_H_
