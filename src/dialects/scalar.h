// Scalar functions as rows (scalar.def): their traits, and what they compute on numbers of the IR's types.
#ifndef IREE_C_DIALECTS_SCALAR_H_
#define IREE_C_DIALECTS_SCALAR_H_

#include "base/scalar_loops.h"
#include "ir/ir.h"

typedef enum { SCALAR_TYPES_F = 1, SCALAR_TYPES_I = 2, SCALAR_TYPES_FI = 3 } scalar_types_t;
typedef enum { SCALAR_RESULT_SAME, SCALAR_RESULT_BOOL, SCALAR_RESULT_ANY } scalar_result_t;

typedef struct scalar_info_t {
  const char* name;
  uint8_t arity;
  uint8_t types;   // scalar_types_t
  uint8_t result;  // scalar_result_t
  bool commutative;
  uint8_t cost;  // in additions, roughly
} scalar_info_t;
extern const scalar_info_t scalar_info[SCALAR_COUNT];

// A scalar of any number type: floats in `f` (already rounded to their type), integers sign-extended in `i`.
typedef struct scalar_value_t {
  double f;
  int64_t i;
} scalar_value_t;
// Evaluates `fn` on operands of type `operand` (select: type of the last two; its condition is in[0].i or .f) giving
// `result`; 0 when the function is not for such operands.
scalar_value_t scalar_eval(scalar_fn_t fn, const scalar_value_t in[3], const ir_type_t* operand,
                           const ir_type_t* result);
// `fn`, which gives no boolean, on numbers that are not rounded.
double scalar_eval_number(scalar_fn_t fn, double a, double b);
scalar_value_t scalar_load(const ir_type_t* type, const void* data);
void scalar_store(const ir_type_t* type, scalar_value_t value, void* data);
// Rounds or truncates to the type.
scalar_value_t scalar_fit(const ir_type_t* type, scalar_value_t value);

#endif  // IREE_C_DIALECTS_SCALAR_H_
