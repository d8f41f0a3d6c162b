// Upper and lower case of single characters.
#ifndef IREE_C_IMPORT_ONNX_LETTER_CASE_H_
#define IREE_C_IMPORT_ONNX_LETTER_CASE_H_

#include "import/onnx/lower.h"

typedef enum { LETTER_LOWER, LETTER_UPPER } letter_case_t;

int32_t letter_in_case(int32_t character, letter_case_t to);
// Code points of any shape, in that case.
ir_value_t* onnx_letters_in_case(onnx_node_t* n, ir_value_t* x, letter_case_t to);

#endif  // IREE_C_IMPORT_ONNX_LETTER_CASE_H_
