// The hal dialect: buffers at a program's edge, and executables that it brings. Rows are in hal.def.
#ifndef IREE_C_DIALECTS_HAL_H_
#define IREE_C_DIALECTS_HAL_H_

#include "ir/ir.h"

enum {
  HAL_FIRST_ = IR_CODE(IR_DIALECT_HAL, 0) - 1,
#define OP(ENUM, ...) HAL_##ENUM,
#include "dialects/hal.def"
#undef OP
};

extern const ir_dialect_t hal_dialect;

// Text of attributes' bodies
// -------------------------------------------------------------------------------------------

// A piece of it, without blanks around.
typedef struct hal_text_t {
  const char *at, *end;
} hal_text_t;

static inline bool hal_text_equal(hal_text_t x, hal_text_t y) {
  size_t size = (size_t)(x.end - x.at);
  return (size_t)(y.end - y.at) == size && __builtin_memcmp(x.at, y.at, size) == 0;
}
hal_text_t hal_text_of(const char* text);
// The next piece between commas outside of brackets and strings, which `list` loses. False at the end.
bool hal_text_next(hal_text_t* list, hal_text_t* out);
// Divides `key = value`; false when there is no '='.
bool hal_text_divide(hal_text_t item, hal_text_t* key, hal_text_t* value);
// Inside of PREFIX ... CLOSE, which the whole of it must be: ("[", ']'), ("#hal.device.target<", '>').
bool hal_text_enter(hal_text_t text, const char* prefix, char close, hal_text_t* inside);
// Of `{key = value, ...}` the key's; false when it has none.
bool hal_text_entry(hal_text_t dict, const char* key, hal_text_t* value);
// What stands between quotes, without escapes, in the context's arena; NULL for something else.
const char* hal_text_string(ir_context_t* ctx, hal_text_t text);
// A number, behind which `: type` may stand.
bool hal_text_number(hal_text_t text, int64_t* out);

// Attributes
// -----------------------------------------------------------------------------------------------------------

// #hal.executable.target<"backend", "format"[, {configuration}]>; whole is the attribute's text.
typedef struct hal_target_t {
  const char *backend, *format;
  hal_text_t configuration, whole;
} hal_target_t;
bool hal_read_target(ir_context_t* ctx, hal_text_t text, hal_target_t* out);
// The processor it names: "sm_80", "gfx1100"; NULL when it does not say.
const char* hal_target_processor(ir_context_t* ctx, const hal_target_t* target);

// #hal.pipeline.layout<constants = 1, bindings = [...]>
typedef struct hal_layout_t {
  int64_t constants, bindings;
} hal_layout_t;
bool hal_read_layout(const ir_attr_t* attr, hal_layout_t* out);

// Of an executable with the objects of all targets: an attribute whose text is {#target [ordinal(n)] = [objects], ...}.
const ir_attr_t* hal_objects_of(const ir_op_t* executable);

#endif  // IREE_C_DIALECTS_HAL_H_
