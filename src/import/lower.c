// See lower.h.
#include "import/lower.h"

#include <string.h>

#include "import/lowering.h"
#include "import/onnx/onnx.h"

typedef enum { FAMILY_ANY, FAMILY_NONE, FAMILY_HLO, FAMILY_TORCH, FAMILY_TOSA } input_family_t;

// INPUT_TYPE(spelling, family): what --iree-input-type takes, in every spelling the documents used
// clang-format off
#define INPUT_TYPES(INPUT_TYPE)       \
  INPUT_TYPE("auto", ANY)             \
  INPUT_TYPE("none", NONE)            \
  INPUT_TYPE("stablehlo", HLO)        \
  INPUT_TYPE("stablehlo_xla", HLO)    \
  INPUT_TYPE("mhlo", HLO)             \
  INPUT_TYPE("mhlo_legacy", HLO)      \
  INPUT_TYPE("xla", HLO)              \
  INPUT_TYPE("vhlo", HLO)             \
  INPUT_TYPE("torch", TORCH)          \
  INPUT_TYPE("onnx", TORCH)           \
  INPUT_TYPE("tosa", TOSA)            \
  INPUT_TYPE("tm_tensor", TORCH)
// clang-format on

static bool find_input_type(ir_context_t* ctx, const char* input_type, input_family_t* out) {
  static const struct {
    const char* name;
    input_family_t family;
  } known[] = {
#define INPUT_TYPE(text, family) {text, FAMILY_##family},
      INPUT_TYPES(INPUT_TYPE)
#undef INPUT_TYPE
  };
  text_t list = {0};
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    if (strcmp(known[i].name, input_type) == 0) {
      text_finish(&list);
      *out = known[i].family;
      return true;
    }
    text_printf(&list, "%s%s", i ? ", " : "", known[i].name);
  }
  ir_error(ctx, NULL, "unknown custom value for --iree-input-type='%s' (available: %s)", input_type, list.data);
  text_finish(&list);
  return false;
}

// The family whose alone this op is, or FAMILY_ANY.
static input_family_t family_of(const ir_op_t* op) {
  switch (ir_op_dialect(op)) {
    case IR_DIALECT_STABLEHLO:
    case IR_DIALECT_CHLO:
      return FAMILY_HLO;
    case IR_DIALECT_TORCH:
      return FAMILY_TORCH;
    case IR_DIALECT_TOSA:
      return FAMILY_TOSA;
    default:
      return FAMILY_ANY;
  }
}

// Whether nothing in the module is of another family than the one that was asked for.
static bool check_family(ir_context_t* ctx, const ir_op_t* op, const char* input_type, input_family_t wanted) {
  static const char* const names[] = {[FAMILY_HLO] = "stablehlo", [FAMILY_TORCH] = "torch", [FAMILY_TOSA] = "tosa"};
  input_family_t family = family_of(op);
  if (family != FAMILY_ANY && family != wanted) {
    return ir_op_error(ctx, op, "is not converted by --iree-input-type=%s; %s or auto converts it", input_type,
                       names[family]);
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        if (!check_family(ctx, inner, input_type, wanted)) return false;
      }
    }
  }
  return true;
}

bool lower_module(ir_context_t* ctx, ir_op_t* module, const char* input_type) {
  input_family_t family = FAMILY_ANY;
  if (input_type && !find_input_type(ctx, input_type, &family)) return false;
  if (family != FAMILY_ANY && !check_family(ctx, module, input_type, family)) return false;
  if (onnx_is_present(module) && !onnx_lower_module(ctx, module)) return false;
  return lowering_run(ctx, module);
}
