// Modules as C code: --output-format=vm-c.
#ifndef IREE_C_COMPILER_EMIT_C_H_
#define IREE_C_COMPILER_EMIT_C_H_

#include "base/text.h"
#include "module/image.h"

// Writes a C file that declares `<name>_create` and, where EMITC_IMPLEMENTATION is defined, has the module: its host
// functions as C (iree/vm/c_module.h), `contents`, of which `image` is, as data.
void emit_c_module(const module_image_t* image, iree_const_byte_span_t contents, text_t* out);

#endif  // IREE_C_COMPILER_EMIT_C_H_
