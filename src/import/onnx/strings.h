// Strings. A tensor of strings is a tensor of code points (i32) with one dimension more, the last: the width of the
// longest string, with zeros behind shorter ones, as NumPy's str_ arrays have it. Arguments and results are the same:
//
//   tensor of strings [2,3]    tensor<2x3x?xi32>
//
// So strings are compared, joined and cut by ordinary tensor ops on any device. Operators that only move elements see
// places in a table of all strings instead (onnx_move_strings) and know nothing of it.
#ifndef IREE_C_IMPORT_ONNX_STRINGS_H_
#define IREE_C_IMPORT_ONNX_STRINGS_H_

#include "import/onnx/holder.h"
#include "import/onnx/lower.h"

enum { ONNX_CODE_POINTS = 0x110000 };

// Whether a list of strings, or of such lists of equal lengths, or one string alone: its shape.
bool onnx_is_string_attr(const ir_attr_t* attr, int32_t* rank, int64_t* dims);
// It as a constant. False after a diagnostic.
bool onnx_string_constant(onnx_node_t* n, const ir_attr_t* attr, onnx_value_t* out);
// Attribute `name`, a flat list of strings, as a constant [count, width]. NULL after a diagnostic.
ir_value_t* onnx_string_list(onnx_node_t* n, const char* name);
// The code points of UTF-8 text; `out` has room for `size`. Returns how many, -1 when it is not well-formed.
int64_t onnx_decode_utf8(const char* text, size_t size, int32_t* out);

// The element type of what stands for strings where they are only moved: so no handler takes places for numbers.
bool onnx_is_place(const ir_type_t* element);

static inline onnx_value_t onnx_string_value(onnx_node_t* n, ir_value_t* v) { return onnx_value(v, onnx_str(n->ctx)); }
// Code points per string.
static inline onnx_dim_t onnx_string_width(onnx_node_t* n, ir_value_t* x) { return onnx_dim(n, x, x->type->rank - 1); }
// The sizes without the width.
void onnx_string_dims(onnx_node_t* n, ir_value_t* x, onnx_dim_t* dims);
// x as [count, width].
ir_value_t* onnx_string_rows(onnx_node_t* n, ir_value_t* x);
// x in that width, which is no smaller than the longest string.
ir_value_t* onnx_string_widen(onnx_node_t* n, ir_value_t* x, onnx_dim_t width);
// All in the width of the widest.
void onnx_string_align(onnx_node_t* n, ir_value_t** xs, uint32_t count);
// Where there is a character: in x's shape, as i1. Characters may be zero when others follow.
ir_value_t* onnx_string_used(onnx_node_t* n, ir_value_t* x);
// How many characters: without the width, as i32.
ir_value_t* onnx_string_lengths(onnx_node_t* n, ir_value_t* x);
// Whether strings are the same, with broadcasting. NULL after a diagnostic.
ir_value_t* onnx_string_equal(onnx_node_t* n, ir_value_t* x, ir_value_t* y);
// Whether each string is each of `keys` [count, width]: x's shape with count in place of the width, as i1.
ir_value_t* onnx_string_matches(onnx_node_t* n, ir_value_t* x, ir_value_t* keys);

// Whether each string of x matches a regular expression as a whole (regex.h). NULL after a diagnostic.
ir_value_t* onnx_string_fits(onnx_node_t* n, ir_value_t* x, const char* pattern, size_t size);

// Cast (string_cast.c). Text that is no number stops the program. False after a diagnostic.
bool onnx_string_to_number(onnx_node_t* n, onnx_value_t x, const ir_type_t* element, onnx_value_t* out);
bool onnx_number_to_string(onnx_node_t* n, onnx_value_t x, onnx_value_t* out);

// The handler of an operator that moves elements, on strings.
bool onnx_move_strings(onnx_node_t* n);

#endif  // IREE_C_IMPORT_ONNX_STRINGS_H_
