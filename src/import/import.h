// Frontends: each reads programs into a module of input dialects and lowers input dialects to graph. Entry points are
// declared by each frontend's own header.
#ifndef IREE_C_IMPORT_IMPORT_H_
#define IREE_C_IMPORT_IMPORT_H_

#include "import/onnx/onnx.h"

#endif  // IREE_C_IMPORT_IMPORT_H_
