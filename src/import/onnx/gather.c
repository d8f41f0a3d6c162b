// Gathers and scatters.
#include <string.h>

#include "import/onnx/ops.h"

bool onnx_lower_gather(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *indices = n->in[1].v;
  int64_t axis = onnx_int(n, "axis", 0);
  if (!onnx_is_int(n->in[1])) return onnx_error(n, "indices must be integers");
  if (!onnx_check_axis(n, &axis, x->type->rank)) return false;
  if (x->type->rank + indices->type->rank - 1 > ONNX_MAX_RANK) return onnx_error(n, "the result's rank is too high");
  if (x->type->dims[axis] == 0 && ir_type_count(indices->type) != 0) return onnx_error(n, "nothing to gather from");
  return onnx_return(n, graph_take(n->b, x, indices, axis, true), n->in[0].element);
}
