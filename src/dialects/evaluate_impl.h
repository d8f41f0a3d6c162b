// Shared by the files of the reference evaluator: tensors, and one function per op.
#ifndef IREE_C_DIALECTS_EVALUATE_IMPL_H_
#define IREE_C_DIALECTS_EVALUATE_IMPL_H_

#include "dialects/evaluate.h"
#include "dialects/graph.h"

typedef struct tensor_t {
  const ir_type_t* element;  // scalar type
  int32_t rank;
  int64_t dims[2 * GRAPH_MAX_RANK];
  int64_t count;   // elements
  uint32_t bytes;  // per element
  char* data;
} tensor_t;

typedef struct evaluator_t {
  ir_context_t* ctx;
  arena_t* arena;  // of the evaluation
  bool quiet;      // no diagnostics
  uint32_t depth;
  ir_op_t* module;  // for calls and globals
} evaluator_t;

// In an op's function: operands and results (results are to be filled by tensor_make or a copy of a struct).
typedef struct eval_op_t {
  evaluator_t* e;
  ir_op_t* op;
  tensor_t* in;
  tensor_t* out;
} eval_op_t;
typedef bool (*eval_fn_t)(eval_op_t* o);

// Reports unless quiet, and returns false.
bool eval_error(eval_op_t* o, const char* format, ...) __attribute__((format(printf, 2, 3)));

// A zeroed tensor. False when it is too large.
bool tensor_make(eval_op_t* o, tensor_t* out, const ir_type_t* element, int32_t rank, const int64_t* dims);
// The shape of result i: static sizes of its type, '?' from the trailing index operands starting at `first`.
bool tensor_result(eval_op_t* o, uint32_t i, uint32_t first, const ir_type_t* element);
static inline char* tensor_at(const tensor_t* t, int64_t i) { return t->data + i * t->bytes; }
static inline scalar_value_t tensor_load(const tensor_t* t, int64_t i) {
  return scalar_load(t->element, tensor_at(t, i));
}
static inline void tensor_store(const tensor_t* t, int64_t i, scalar_value_t v) {
  scalar_store(t->element, v, tensor_at(t, i));
}
int64_t tensor_integer(const tensor_t* t, int64_t i);
// As doubles / wide integers, for loops that are too slow otherwise.
double* tensor_numbers(eval_op_t* o, const tensor_t* t, bool is_unsigned);

void tensor_strides(const tensor_t* t, int64_t* strides);
// Steps `index` through a box of `rank` sizes in row-major order; false after the last.
bool index_next(int32_t rank, const int64_t* sizes, int64_t* index);
int64_t index_dot(int32_t rank, const int64_t* index, const int64_t* strides);

// An integer list attribute of exactly `count` entries.
bool eval_ints(eval_op_t* o, graph_attr_id_t id, int64_t* out, uint32_t count);
// Any number of entries up to GRAPH_MAX_RANK; -1 after an error.
int32_t eval_list(eval_op_t* o, graph_attr_id_t id, int64_t* out);

// kind = "add" and so on: the function, its start value, and one step.
bool eval_kind(eval_op_t* o, scalar_fn_t* out);
scalar_value_t eval_identity(scalar_fn_t fn, const ir_type_t* element);
scalar_value_t eval_combine(scalar_fn_t fn, const ir_type_t* element, scalar_value_t a, scalar_value_t b);

// Runs a region's block on arguments; `results` gets what its terminator yields.
typedef struct tensors_t {
  tensor_t* items;
  uint32_t count;
} tensors_t;
bool eval_block(evaluator_t* e, ir_block_t* block, tensors_t args, tensors_t results);

// One for each row of graph.def; ops on one element are all eval_elementwise.
#define OP(NAME, text, operands, results, regions, traits, fusion, types, shape, eval, ...) \
  bool eval_##eval(eval_op_t* o);
#include "dialects/graph.def"
#undef OP
bool eval_elementwise(eval_op_t* o);

#endif  // IREE_C_DIALECTS_EVALUATE_IMPL_H_
