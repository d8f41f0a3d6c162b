// The rows of ops.def and chlo.def as tables for the driver.
#include "dialects/chlo.h"
#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define ELEMENTWISE(fn, unsigned_fn, bool_fn) \
  {stablehlo_lower_elementwise, SCALAR_##fn, SCALAR_##unsigned_fn, SCALAR_##bool_fn, LOWER_ANY_VALUE, NULL}

#define AT(ENUM) [STABLEHLO_##ENUM - IR_CODE(IR_DIALECT_STABLEHLO, 0)]
#define UNARY(ENUM, fn) AT(ENUM) = ELEMENTWISE(fn, fn, fn),
#define BINARY(ENUM, fn, unsigned_fn, bool_fn) AT(ENUM) = ELEMENTWISE(fn, unsigned_fn, bool_fn),
#define OP(ENUM, handler) AT(ENUM) = {.fn = stablehlo_lower_##handler},
#define ANY(ENUM, handler) AT(ENUM) = {.fn = stablehlo_lower_##handler, .flags = LOWER_ANY_VALUE},
#define PARTS(ENUM, handler) AT(ENUM) = {.fn = stablehlo_lower_##handler, .flags = LOWER_BY_PARTS},
#define REFUSED(ENUM, sentence) AT(ENUM) = {.fn = lower_refused, .flags = LOWER_ANY_VALUE, .text = sentence},
static const lower_row_t stablehlo_rows[] = {
#include "import/stablehlo/ops.def"
};
#undef AT
#undef OP
#undef ANY
const lower_table_t lower_stablehlo_table = {IR_DIALECT_STABLEHLO, stablehlo_rows, COUNT(stablehlo_rows)};
#define AT(ENUM) [CHLO_##ENUM - IR_CODE(IR_DIALECT_CHLO, 0)]
#define BROADCAST(ENUM, fn, unsigned_fn, bool_fn) \
  AT(ENUM) = {chlo_lower_broadcast_binary, SCALAR_##fn, SCALAR_##unsigned_fn, SCALAR_##bool_fn, LOWER_ANY_VALUE, NULL},
#define OP(ENUM, handler) AT(ENUM) = {.fn = chlo_lower_##handler},
#define ANY(ENUM, handler) AT(ENUM) = {.fn = chlo_lower_##handler, .flags = LOWER_ANY_VALUE},
static const lower_row_t chlo_rows[] = {
#include "import/stablehlo/chlo.def"
};
const lower_table_t lower_chlo_table = {IR_DIALECT_CHLO, chlo_rows, COUNT(chlo_rows)};
