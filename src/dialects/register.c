// See register.h.
#include "dialects/register.h"

#include "dialects/affine.h"
#include "dialects/arith.h"
#include "dialects/builtin.h"
#include "dialects/cf.h"
#include "dialects/check.h"
#include "dialects/chlo.h"
#include "dialects/codegen.h"
#include "dialects/complex.h"
#include "dialects/encoding.h"
#include "dialects/flow.h"
#include "dialects/func.h"
#include "dialects/graph.h"
#include "dialects/hal.h"
#include "dialects/kernel.h"
#include "dialects/linalg.h"
#include "dialects/linalg_ext.h"
#include "dialects/math.h"
#include "dialects/memref.h"
#include "dialects/ml_program.h"
#include "dialects/pdl.h"
#include "dialects/scf.h"
#include "dialects/shape.h"
#include "dialects/stablehlo.h"
#include "dialects/stream.h"
#include "dialects/tensor.h"
#include "dialects/tensor_ext.h"
#include "dialects/torch.h"
#include "dialects/tosa.h"
#include "dialects/transform.h"
#include "dialects/util.h"
#include "dialects/vector.h"
#include "dialects/vm.h"

void dialects_register_all(ir_context_t* ctx) {
  static const ir_dialect_t* const all[] = {
      &builtin_dialect, &func_dialect,       &arith_dialect,     &math_dialect,       &tensor_dialect,
      &linalg_dialect,  &scf_dialect,        &cf_dialect,        &complex_dialect,    &stablehlo_dialect,
      &chlo_dialect,    &tosa_dialect,       &torch_dialect,     &ml_program_dialect, &util_dialect,
      &hal_dialect,     &flow_dialect,       &encoding_dialect,  &graph_dialect,      &kernel_dialect,
      &check_dialect,   &linalg_ext_dialect, &stream_dialect,    &tensor_ext_dialect, &affine_dialect,
      &shape_dialect,   &codegen_dialect,    &transform_dialect, &pdl_dialect,        &vm_dialect,
      &memref_dialect,  &vector_dialect,
  };
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) ir_context_register(ctx, all[i]);
}
