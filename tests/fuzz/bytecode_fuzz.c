// The reader of MLIR bytecode: no input may crash it, and what it accepts prints to text that reads again, to the same.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dialects/register.h"
#include "ir/bytecode.h"

static void ignore(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* line) {}

// Text of a program, or false when it is none.
static bool reprint(const char* source, size_t size, text_t* out) {
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, ignore, NULL);
  dialects_register_all(ctx);
  ir_op_t* module = ir_parse_module(ctx, "fuzz.mlirbc", source, size);
  bool good = module && ir_verify(ctx, module);
  if (good) ir_print_op(ctx, out, module, IR_PRINT_GENERIC, 0);
  ir_context_destroy(ctx);
  return good;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!ir_is_bytecode(data, size)) return 0;
  text_t first = {0}, second = {0};
  if (reprint((const char*)data, size, &first)) {
    if (!reprint(first.data, first.size, &second)) abort();
    if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0) abort();
  }
  text_finish(&first);
  text_finish(&second);
  return 0;
}
