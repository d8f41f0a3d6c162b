// Programs of the VM's dialect: none may crash the compiler, and what becomes a module is one that loads.
#include <stdint.h>
#include <stdlib.h>

#include "compiler/vm_emit.h"
#include "dialects/register.h"
#include "module/image.h"

static void ignore(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* line) {}

static void check_module(module_writer_t* writer) {
  iree_byte_span_t data = {0};
  iree_status_t status = module_writer_finish_memory(writer, iree_allocator_system(), &data);
  module_image_t image;
  if (iree_status_is_ok(status)) {
    status = module_image_open((iree_const_byte_span_t){data.data, data.data_length}, iree_allocator_system(), &image);
    if (iree_status_is_ok(status)) module_image_close(&image, iree_allocator_system());
  }
  // Names that are too long or given twice are the writer's to refuse.
  if (iree_status_is_internal(status)) abort();
  iree_status_ignore(status);
  iree_allocator_free(iree_allocator_system(), data.data);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, ignore, NULL);
  dialects_register_all(ctx);
  ir_op_t* program = ir_parse_module(ctx, "fuzz.mlir", (const char*)data, size);
  ir_op_t* module = program && ir_verify(ctx, program) ? vm_find_module(ctx, program) : NULL;
  module_writer_t* writer = NULL;
  if (module && iree_status_is_ok(module_writer_create(IREE_SV("fuzz"), iree_allocator_system(), &writer))) {
    if (vm_emit(ctx, module, true, writer)) check_module(writer);
    module_writer_destroy(writer);
  }
  ir_context_destroy(ctx);
  return 0;
}
