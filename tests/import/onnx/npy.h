// NumPy's .npy files as constants, for tests.
#ifndef IREE_C_TESTS_IMPORT_ONNX_NPY_H_
#define IREE_C_TESTS_IMPORT_ONNX_NPY_H_

#include "ir/ir.h"

// Reads the file as elements of type tensor<...x`element`>; its own element type only has to have that size. NULL after
// a message on stderr.
const ir_attr_t* npy_read(ir_context_t* ctx, const char* path, const ir_type_t* element);
bool npy_write(const char* path, const ir_attr_t* attr);

#endif  // IREE_C_TESTS_IMPORT_ONNX_NPY_H_
