// See lower.h.
#include "import/lower.h"

#include <string.h>

#include "import/lowering.h"
#include "import/onnx/onnx.h"

// INPUT_TYPE(spelling): what --iree-input-type takes, in every spelling the documents used
// clang-format off
#define INPUT_TYPES(INPUT_TYPE) \
  INPUT_TYPE("auto")            \
  INPUT_TYPE("none")            \
  INPUT_TYPE("stablehlo")       \
  INPUT_TYPE("stablehlo_xla")   \
  INPUT_TYPE("mhlo")            \
  INPUT_TYPE("mhlo_legacy")     \
  INPUT_TYPE("xla")             \
  INPUT_TYPE("vhlo")            \
  INPUT_TYPE("torch")           \
  INPUT_TYPE("onnx")            \
  INPUT_TYPE("tosa")            \
  INPUT_TYPE("tm_tensor")
// clang-format on

static bool check_input_type(ir_context_t* ctx, const char* input_type) {
  static const char* const known[] = {
#define INPUT_TYPE(text) text,
      INPUT_TYPES(INPUT_TYPE)
#undef INPUT_TYPE
  };
  text_t list = {0};
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    if (strcmp(known[i], input_type) == 0) {
      text_finish(&list);
      return true;
    }
    text_printf(&list, "%s%s", i ? ", " : "", known[i]);
  }
  ir_error(ctx, NULL, "unknown custom value for --iree-input-type='%s' (available: %s)", input_type, list.data);
  text_finish(&list);
  return false;
}

bool lower_module(ir_context_t* ctx, ir_op_t* module, const char* input_type) {
  if (input_type && !check_input_type(ctx, input_type)) return false;
  if (onnx_is_present(module) && !onnx_lower_module(ctx, module)) return false;
  return lowering_run(ctx, module);
}
