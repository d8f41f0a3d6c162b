// The shape rule of each graph op, written once for two ways of counting. As constants: ir_verify holds what a rule
// gives against the types of the results. As index values of the program: passes/sizes.c finds the size of every '?'.
#ifndef IREE_C_DIALECTS_GRAPH_SHAPE_H_
#define IREE_C_DIALECTS_GRAPH_SHAPE_H_

#include "dialects/graph.h"

// A size: an index value, or without one a number; IR_DYNAMIC when it is not known (among constants only).
typedef struct graph_size_t {
  ir_value_t* value;
  int64_t number;
} graph_size_t;

typedef struct graph_shape_t {
  int32_t rank;  // -1: the rule does not say
  graph_size_t dims[GRAPH_MAX_RANK];
} graph_shape_t;

// Counts for one op; who counts in index values extends it and gives the functions.
typedef struct graph_sizer_t graph_sizer_t;
struct graph_sizer_t {
  ir_context_t* ctx;
  ir_op_t* op;
  uint32_t result;                        // whose shape is asked for
  bool failed;                            // after a diagnostic
  const struct graph_symbols_t* symbols;  // NULL: constants
};
typedef struct graph_symbols_t {
  graph_size_t (*dim)(graph_sizer_t* s, const ir_value_t* x, int32_t dim);  // of a '?'
  graph_size_t (*operand)(graph_sizer_t* s, uint32_t index);                // an index operand that is a size
  graph_size_t (*binary)(graph_sizer_t* s, scalar_fn_t fn, graph_size_t x, graph_size_t y);
  void (*require)(graph_sizer_t* s, scalar_fn_t fn, graph_size_t x, graph_size_t y, const char* rule);
  graph_size_t (*agree)(graph_sizer_t* s, graph_size_t x, graph_size_t y, const char* rule);
  void (*fit)(graph_sizer_t* s, graph_size_t x, graph_size_t y, const char* rule);  // x is 1 or y
} graph_symbols_t;

static inline graph_size_t graph_size(int64_t number) { return (graph_size_t){.number = number}; }

// Arithmetic on sizes; false when the result is no number of 64 bits, or the function none of sizes.
bool graph_size_fold(scalar_fn_t fn, int64_t x, int64_t y, int64_t* out);

// The shape of the op's result number `s->result`. Its attributes have been verified. False when there is no rule, or
// after a diagnostic (s->failed).
bool graph_shape(graph_sizer_t* s, graph_shape_t* out);

// For the rules ----------------------------------------------------------------------------------------------------

typedef bool (*graph_shape_fn_t)(graph_sizer_t* s, graph_shape_t* out);
#define OP(NAME, text, operands, results, regions, traits, fusion, types, shape, ...) \
  bool shape_##shape(graph_sizer_t* s, graph_shape_t* out);
#include "dialects/graph.def"
#undef OP

const ir_type_t* shape_type(const graph_sizer_t* s, uint32_t operand);
graph_size_t shape_dim(graph_sizer_t* s, uint32_t operand, int64_t dim);
graph_size_t shape_binary(graph_sizer_t* s, scalar_fn_t fn, graph_size_t x, graph_size_t y);
graph_size_t shape_add(graph_sizer_t* s, graph_size_t x, int64_t y);
graph_size_t shape_mul(graph_sizer_t* s, graph_size_t x, int64_t y);
graph_size_t shape_not_negative(graph_sizer_t* s, graph_size_t x);
// Stops the program, or its compilation, unless `x fn y` (eq, le or ge); `rule` ends the message.
void shape_require(graph_sizer_t* s, scalar_fn_t fn, graph_size_t x, graph_size_t y, const char* rule);
// The same for equality; returns the one to go on with.
graph_size_t shape_agree(graph_sizer_t* s, graph_size_t x, graph_size_t y, const char* rule);
// Says what is wrong with the op and returns false.
bool shape_error(graph_sizer_t* s, const char* format, ...) __attribute__((format(printf, 2, 3)));
// At least `least` operands, the first `tensors` of them tensors, all others index scalars.
bool shape_operands(graph_sizer_t* s, uint32_t least, uint32_t tensors);
// The result's sizes as its type has them; those that it has as '?' are the op's operands from `first` on, and its
// last.
bool shape_given(graph_sizer_t* s, uint32_t first, graph_shape_t* out);
// The region of an op on scalars.
bool shape_region(graph_sizer_t* s);
bool shape_of_operand(graph_sizer_t* s, uint32_t operand, graph_shape_t* out);
// Number of elements.
graph_size_t shape_product(graph_sizer_t* s, const graph_shape_t* shape);
bool shape_contains(const int64_t* list, uint32_t count, int64_t value);
// How a window sweeps along a dimension, and how many places it stops at; 0 when that is no number of 64 bits.
typedef struct shape_sweep_t {
  int64_t base_dilation, low, high, dilation, stride;
} shape_sweep_t;
int64_t shape_swept(int64_t x, int64_t window, const shape_sweep_t* w);
// All operands of one shape, or all of them scalars (rank -1).
bool shape_all_alike(graph_sizer_t* s, graph_shape_t* out);

#endif  // IREE_C_DIALECTS_GRAPH_SHAPE_H_
