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

_Static_assert((int)VMVX_SCALAR_COUNT == (int)SCALAR_COUNT, "instructions of scalar functions have their numbers");
scalar_loop_fn_t vmvx_loop_find(uint32_t fn, uint8_t type, uint8_t width) {
  const scalar_loops_t* loops = &scalar_loops[fn];
  if (type > VMVX_BOOL && type <= VMVX_I64 && width != 8 * vmvx_type_bytes(type)) return NULL;
  switch (type) {
    case VMVX_BOOL:
      return loops->boolean;
    case VMVX_I8:
      return loops->i8;
    case VMVX_I16:
      return loops->i16;
    case VMVX_I32:
      return loops->i32;
    case VMVX_I64:
      return loops->i64;
    case VMVX_F32:
      return loops->f32;
    case VMVX_F64:
      return loops->f64;
    default:
      return NULL;
  }
}

// The table's order is what vmvx_access_form reads.
#define FORM(op, form) _Static_assert(VMVX_OP_##op - VMVX_OP_load == (form), "order of accesses")
FORM(load_masked, VMVX_FORM_MASKED);
FORM(store, VMVX_FORM_STORE);
FORM(store_masked, VMVX_FORM_STORE | VMVX_FORM_MASKED);
FORM(gather, VMVX_FORM_LANES);
FORM(gather_masked, VMVX_FORM_LANES | VMVX_FORM_MASKED);
FORM(scatter, VMVX_FORM_LANES | VMVX_FORM_STORE);
FORM(scatter_masked, VMVX_FORM_LANES | VMVX_FORM_STORE | VMVX_FORM_MASKED);
FORM(atomic, VMVX_FORM_LANES + VMVX_FORM_STORE + VMVX_FORM_MASKED + 1);
