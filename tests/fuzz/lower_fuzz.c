// Lowering of programs in input dialects: no program may crash it, and what it accepts is right by the verifier.
#include <stdint.h>
#include <stdlib.h>

#include "dialects/register.h"
#include "import/lower.h"

static void ignore(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* line) {}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, ignore, NULL);
  dialects_register_all(ctx);
  ir_op_t* module = ir_parse_module(ctx, "fuzz.mlir", (const char*)data, size);
  if (module && ir_verify(ctx, module) && lower_module(ctx, module, NULL) && !ir_verify(ctx, module)) abort();
  ir_context_destroy(ctx);
  return 0;
}
