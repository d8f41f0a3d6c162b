// What files of the linalg, tensor, arith and scf lowerings share.
#ifndef IREE_C_IMPORT_LINALG_OPS_H_
#define IREE_C_IMPORT_LINALG_OPS_H_

#include "import/lowering.h"

// Upper half of a product.
ir_value_t* arith_high_product(lower_op_t* n, ir_value_t* x, ir_value_t* y, bool is_unsigned);

#endif  // IREE_C_IMPORT_LINALG_OPS_H_
