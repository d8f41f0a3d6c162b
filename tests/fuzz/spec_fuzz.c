// Files of replacements: no pattern may crash the compiler, on the program in front of it in the same text, and what
// comes of it is right by the verifier and may be lowered.
#include <stdint.h>
#include <stdlib.h>

#include "compiler/pdl_spec.h"
#include "compiler/transform_spec.h"
#include "dialects/builtin.h"
#include "dialects/pdl.h"
#include "dialects/register.h"
#include "import/lower.h"

static void ignore(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* line) {}

// Patterns, and a module inside, which sequences are in, are no part of the program.
static ir_op_t* take_spec(ir_context_t* ctx, ir_op_t* program) {
  ir_op_t* spec = ir_module_create(ctx, program->loc);
  IR_FOR_OPS_SAFE(op, ir_module_body(program)) {
    if (!ir_is(op, PDL_PATTERN) && !ir_is(op, BUILTIN_MODULE)) continue;
    ir_op_remove(op);
    if (ir_is(op, BUILTIN_MODULE)) return op;
    ir_block_append(ir_module_body(spec), op);
  }
  return spec;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, ignore, NULL);
  dialects_register_all(ctx);
  ir_op_t* program = ir_parse_module(ctx, "fuzz.mlir", (const char*)data, size);
  if (program && ir_verify(ctx, program)) {
    ir_op_t* spec = take_spec(ctx, program);
    bool sequences = ir_symbol_lookup(spec, "__transform_main") != NULL;
    bool done = sequences ? transform_spec_apply(ctx, program, spec) : pdl_spec_apply(ctx, program, spec);
    if (done && lower_module(ctx, program, NULL) && !ir_verify(ctx, program)) abort();
  }
  ir_context_destroy(ctx);
  return 0;
}
