// graph.while with a counter as its first value, for Loop, Scan and the recurrent operators.
#ifndef IREE_C_IMPORT_ONNX_LOOPS_H_
#define IREE_C_IMPORT_ONNX_LOOPS_H_

#include "import/onnx/lower.h"

enum { ONNX_MAX_ROUNDS = 256 };  // that become copies of a body, one after another

// The block of the region that holds attribute number `index` (in order of name). NULL after a diagnostic.
ir_block_t* onnx_region_block(onnx_node_t* n, uint32_t index, uint32_t regions);
ir_value_t* onnx_as_scalar(onnx_node_t* n, ir_value_t* v);

typedef struct onnx_loop_t {
  onnx_node_t* n;
  ir_builder_t outside;
  ir_block_t* body;  // args: the counter (tensor<i64>, from 0), then the carried values
} onnx_loop_t;

// Starts a body whose carried values have those types; the builder is in the body until the loop ends or is dropped.
void onnx_loop_begin(onnx_loop_t* loop, onnx_node_t* n, const ir_type_t* const* types, uint32_t count);
// Ends the body: `next` are the carried values of the next round, `initial` those of the first. The loop runs while the
// counter is below `limit` (tensor<i64>, NULL: no limit) and carried value `flag` (tensor<i1>; -1: none) is true.
// Returns the op; result 0 is the counter.
ir_op_t* onnx_loop_end(onnx_loop_t* loop, ir_value_t* const* initial, ir_value_t* const* next, ir_value_t* limit,
                       int32_t flag);
// Gives up a body.
void onnx_loop_drop(onnx_loop_t* loop);

// Element `at` (tensor<i64>) of x along an axis, without it.
ir_value_t* onnx_element(onnx_node_t* n, ir_value_t* x, int64_t axis, ir_value_t* at);
// x with `element` at that place of dimension 0.
ir_value_t* onnx_put_element(onnx_node_t* n, ir_value_t* x, ir_value_t* element, ir_value_t* at);
// The shape of what the body gives, by values outside of the loop: false where rounds may differ in it, as far as can
// be told. `initial` and `next` are of the first `carried` of the loop's values.
bool onnx_round_shape(onnx_loop_t* loop, onnx_value_t element, ir_value_t* const* initial, ir_value_t* const* next,
                      uint32_t carried, onnx_dim_t* dims);
// A zero tensor [count, dims...], for onnx_put_element.
ir_value_t* onnx_accumulator(onnx_node_t* n, onnx_dim_t count, const ir_type_t* element, const onnx_dim_t* dims);
// v with a type that has '?' where v's type has sizes.
ir_value_t* onnx_coerce(onnx_node_t* n, ir_value_t* v, const ir_type_t* type);
// The type of both: '?' where sizes differ. NULL when rank or elements differ.
const ir_type_t* onnx_merge_types(ir_context_t* ctx, const ir_type_t* a, const ir_type_t* b);
// Values that a loop collects, where their number or shape is known at its end only: one after the other in a vector
// that grows, and their shape beside it.
typedef struct onnx_growing_t {
  const ir_type_t* element;                // a tensor's type
  bool strings;                            // the vector is one of strings, as wide as the widest so far
  ir_value_t *initial, *next;              // the vector
  ir_value_t *initial_sizes, *next_sizes;  // of an element, NULL when its type has them
} onnx_growing_t;
// Adds the element of this round, behind the others or in front; with its arguments to the loop's body. All vectors'
// arguments come first, then (the second function) all sizes'.
void onnx_grow(onnx_loop_t* loop, onnx_value_t element, bool front, onnx_growing_t* out);
void onnx_grow_sizes(onnx_loop_t* loop, onnx_value_t element, onnx_growing_t* out);
// What was collected: [count, element's shape]; `sizes` is NULL for static ones. NULL after a diagnostic.
ir_value_t* onnx_grown(onnx_node_t* n, const onnx_growing_t* growing, ir_value_t* count, ir_value_t* vector,
                       ir_value_t* sizes);

#endif  // IREE_C_IMPORT_ONNX_LOOPS_H_
