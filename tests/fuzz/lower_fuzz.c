// Lowering of programs in input dialects: no program may crash it, and what it accepts is right by the verifier.
#include <stdint.h>
#include <stdlib.h>

#include "dialects/builtin.h"
#include "dialects/func.h"
#include "dialects/register.h"
#include "import/lower.h"

static void ignore(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* line) {}

// Functions of executables as kernels, whatever their layouts say.
static void lower_functions(ir_context_t* ctx, ir_op_t* op) {
  if (ir_is(op, BUILTIN_MODULE)) {
    IR_FOR_OPS(func, ir_module_body(op)) {
      lower_shim_t shim = {op, ir_op_string(func, "sym_name", ""), "kernel", 4, 4, {1, 2, 3}, true};
      if (ir_is(func, FUNC_FUNC)) lower_shim(ctx, &shim, ir_module_body(ir_module_create(ctx, op->loc)));
    }
    return;
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) lower_functions(ctx, inner); }
  }
}

static void lower_executables(ir_context_t* ctx, ir_op_t* module) {
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (lower_is_executable(op)) lower_functions(ctx, op);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, ignore, NULL);
  dialects_register_all(ctx);
  ir_op_t* module = ir_parse_module(ctx, "fuzz.mlir", (const char*)data, size);
  if (module && ir_verify(ctx, module)) {
    lower_executables(ctx, module);
    if (lower_module(ctx, module, NULL) && !ir_verify(ctx, module)) abort();
  }
  ir_context_destroy(ctx);
  return 0;
}
