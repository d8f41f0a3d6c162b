// Sequences and optionals. A sequence whose length is known when compiling is its members. Any other is two tensors:
// the elements of all members one after another, and the members' shapes as rows; members have one rank then. An
// optional is a flag and what it may hold. Arguments and results of functions have the form of tensors:
//
//   sequence of tensors   data: tensor<?xT>, shapes: tensor<?xrankxi64>
//   optional              present: tensor<i1>, then what it holds (anything that fits when it is absent)
#ifndef IREE_C_IMPORT_ONNX_HOLDER_H_
#define IREE_C_IMPORT_ONNX_HOLDER_H_

#include "import/onnx/lower.h"

struct onnx_holder_t {
  bool is_optional;  // else a sequence
  // Optional: whether there is something (tensor<i1>), and what.
  ir_value_t* present;
  onnx_value_t value;  // v NULL: never there, and of unknown type
  // Sequence: its members, or data and shapes.
  onnx_value_t* items;
  uint32_t count;
  ir_value_t *data, *shapes;
  int32_t rank;              // of members; -1: unknown
  const ir_type_t* element;  // of members
};

enum { ONNX_MAX_PARTS = 3 };  // tensors that one value is made of

// A value that stands for a holder. Tensor operators never see it: rows say who takes holders.
onnx_value_t onnx_holder_value(onnx_node_t* n, const onnx_holder_t* holder);
static inline bool onnx_is_sequence(onnx_value_t x) { return x.holder && !x.holder->is_optional; }
static inline bool onnx_is_optional(onnx_value_t x) { return x.holder && x.holder->is_optional; }
// Sets output 0, if there is one.
static inline bool onnx_give(onnx_node_t* n, onnx_value_t value) {
  if (n->out_count) n->out[0] = value;
  return true;
}
// A sequence of those members.
onnx_value_t onnx_sequence_value(onnx_node_t* n, const onnx_value_t* items, uint32_t count, const ir_type_t* element);
// The same sequence as data and shapes. False after a diagnostic.
bool onnx_sequence_flatten(onnx_node_t* n, onnx_holder_t* s);
// Input i as a copy of the sequence that it is; false after a diagnostic.
bool onnx_sequence_input(onnx_node_t* n, uint32_t i, onnx_holder_t* out);
onnx_dim_t onnx_sequence_length(onnx_node_t* n, const onnx_holder_t* s);
// Member `place`, which is within the sequence, of one in data and shapes; its rank must be known. False after a
// diagnostic.
bool onnx_sequence_member(onnx_node_t* n, const onnx_holder_t* s, onnx_dim_t place, onnx_value_t* out);
// All elements of x as a vector, strings as rows of code points.
ir_value_t* onnx_flatten(onnx_node_t* n, onnx_value_t x);
// The shape of x as a vector.
ir_value_t* onnx_shape_vector(onnx_node_t* n, onnx_value_t x);

// Whether the type is !torch.list or !torch.optional.
bool onnx_is_holder_type(const ir_type_t* type);
// Adds arguments to `block` for a value of such a type. False when it holds what is not supported.
bool onnx_holder_argument(onnx_node_t* n, ir_block_t* block, const ir_type_t* type, onnx_value_t* out);
// An optional that holds nothing and may hold values of that type (a vtensor or !torch.list). False when there is no
// such value.
bool onnx_optional_of(onnx_node_t* n, const ir_type_t* type, onnx_holder_t* out);
// The type of a holder as torch spells it.
const ir_type_t* onnx_holder_type(onnx_node_t* n, onnx_value_t x);

// Appends the types of the tensors that x becomes where it crosses the edge of a region, with sequences of any length.
// False after a diagnostic.
bool onnx_holder_form(onnx_node_t* n, onnx_value_t x, const ir_type_t** types, uint32_t* count);
// Whether both are tensors, or sequences, or optionals of the same.
bool onnx_same_form(onnx_value_t a, onnx_value_t b);
// x, which takes the rank of the members of `other` if it is an empty sequence of members of unknown rank.
onnx_value_t onnx_holder_adopt(onnx_node_t* n, onnx_value_t x, onnx_value_t other);
// All values' tensors one after another, in the arena. False after a diagnostic.
bool onnx_values_flatten(onnx_node_t* n, onnx_values_t values, onnx_values_t* out);
// Values of the same forms as `like` made of such tensors.
void onnx_values_rebuild(onnx_node_t* n, onnx_values_t like, const onnx_value_t* tensors, onnx_value_t* out);

#endif  // IREE_C_IMPORT_ONNX_HOLDER_H_
