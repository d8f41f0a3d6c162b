// Rewrite rules over scalar functions as constant data (scalar_rules.def), and what applies them to graph ops.
#ifndef IREE_C_DIALECTS_SCALAR_RULES_H_
#define IREE_C_DIALECTS_SCALAR_RULES_H_

#include "dialects/scalar.h"

typedef enum { SCALAR_PATTERN_ANY, SCALAR_PATTERN_NUMBER, SCALAR_PATTERN_FN } scalar_pattern_kind_t;
typedef struct scalar_pattern_t {
  scalar_pattern_kind_t kind;
  int index;      // ANY: number of the variable; FN: scalar_fn_t
  double number;  // NUMBER
  const struct scalar_pattern_t* operands[3];
} scalar_pattern_t;
enum { SCALAR_PATTERN_VARIABLES = 3 };

typedef struct scalar_rule_t {
  const char* name;
  uint8_t types;  // scalar_types_t
  uint8_t ulps;   // that floats may differ by
  const scalar_pattern_t* match;
  const scalar_pattern_t* replacement;
} scalar_rule_t;
extern const scalar_rule_t scalar_rules[];
extern const uint32_t scalar_rule_count;

// A rewrite_fn_t: the first rule that fits an elementwise graph op.
ir_value_t* scalar_rules_rewrite(ir_builder_t* b, ir_op_t* op);

#endif  // IREE_C_DIALECTS_SCALAR_RULES_H_
