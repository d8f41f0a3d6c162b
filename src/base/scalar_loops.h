// Scalar functions over arrays. The one definition of what each row of scalar.def computes: folding, the reference
// evaluator and both interpreters of vmvx use it.
#ifndef IREE_C_BASE_SCALAR_LOOPS_H_
#define IREE_C_BASE_SCALAR_LOOPS_H_

#include <stddef.h>
#include <stdint.h>

typedef enum {
#define SCALAR(name, ...) SCALAR_##name,
#include "base/scalar.def"
#undef SCALAR
  SCALAR_COUNT
} scalar_fn_t;

// On `n` elements of one type; a comparison's results are bytes 0 and 1. All three operands must be readable, also
// those that the function does not have. `w` is the width for integers that have less bits than their type.
typedef void (*scalar_loop_fn_t)(void* out, const void* a, const void* b, const void* c, size_t n, int w);

// By type of element; NULL when the function is not for that kind of type. What has no loop of its own goes through
// `f64`, or through `any`: integers of `w` bits, sign-extended to int64_t, whose results are not cut. Booleans are
// bytes.
typedef struct scalar_loops_t {
  scalar_loop_fn_t f32, f64, i8, i16, i32, i64, any, boolean;
} scalar_loops_t;
extern const scalar_loops_t scalar_loops[SCALAR_COUNT];

#endif  // IREE_C_BASE_SCALAR_LOOPS_H_
