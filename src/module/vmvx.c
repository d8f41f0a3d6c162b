// The tables of vmvx: names and operands of instructions, names and sizes of types.
#include "module/vmvx.h"

#define OPERANDS_1 "dr"
#define OPERANDS_2 "drr"
#define OPERANDS_3 "drrr"
static const struct {
  const char *name, *operands;
} ops[VMVX_OP_COUNT] = {
#define SCALAR(name, arity, ...) {#name, OPERANDS_##arity},
#include "base/scalar.def"
#undef SCALAR
#define OP(name, operands) {#name, operands},
#include "module/vmvx.def"
#undef OP
};

static const struct {
  const char* name;
  uint32_t bytes;
} types[VMVX_TYPE_COUNT] = {
#define INTEGER(NAME, bytes) {#NAME, bytes},
    VMVX_INTEGERS(INTEGER)
#undef INTEGER
#define FORMAT(NAME, text, bits, bytes, ...) {#NAME, bytes},
#include "base/formats.def"
#undef FORMAT
};

const char* vmvx_op_name(uint32_t op) { return op < VMVX_OP_COUNT ? ops[op].name : "?"; }
const char* vmvx_op_operands(uint32_t op) { return op < VMVX_OP_COUNT ? ops[op].operands : ""; }
uint32_t vmvx_type_bytes(uint32_t type) { return type < VMVX_TYPE_COUNT ? types[type].bytes : 0; }
