// The reader of MLIR text: no input may crash it, and what it accepts prints, in the custom and in the generic form, to
// text that it reads again, to the same text.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dialects/register.h"
#include "ir/ir.h"

static void ignore(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* line) {}

static ir_context_t* create_context(void) {
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, ignore, NULL);
  dialects_register_all(ctx);
  return ctx;
}

// Text of a program, or false when it is none.
static bool reprint(const char* source, size_t size, uint32_t flags, text_t* out) {
  ir_context_t* ctx = create_context();
  ir_op_t* module = ir_parse_module(ctx, "fuzz.mlir", source, size);
  bool good = module && ir_verify(ctx, module);
  if (good) ir_print_op(ctx, out, module, flags, 0);
  ir_context_destroy(ctx);
  return good;
}

// False when `data` is no program.
static bool check_form(const uint8_t* data, size_t size, uint32_t flags) {
  text_t first = {0}, second = {0};
  bool good = reprint((const char*)data, size, flags, &first);
  if (good) {
    if (!reprint(first.data, first.size, flags, &second)) abort();
    if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0) abort();
  }
  text_finish(&first);
  text_finish(&second);
  return good;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (check_form(data, size, 0)) check_form(data, size, IR_PRINT_GENERIC | IR_PRINT_LOCS);
  return 0;
}
