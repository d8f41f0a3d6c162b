// The portable bytecode as a backend.
#include "target/backend.h"
#include "target/vmvx/encode.h"

bool backend_vmvx(const target_t* target, ir_op_t* const* funcs, uint32_t count,
                  const target_compile_options_t* options, target_executable_t* out, text_t* error) {
  vmvx_code_t code = {0};
  if (!vmvx_encode((const ir_op_t* const*)funcs, count, &code, error)) return false;
  out->data = code.data;
  out->size = code.size;
  code.data = NULL;
  vmvx_code_finish(&code);
  return dump_write(options->dump.binaries, target, options->name, ".vmfb", out->data, out->size, error);
}
