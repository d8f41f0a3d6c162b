// The passes, one per file. compiler/compile.c is the list in order.
#ifndef IREE_C_PASSES_PASSES_H_
#define IREE_C_PASSES_PASSES_H_

#include "ir/pass.h"

// PASS(function, name, required, summary): what iree-opt --pass=name runs; compiling needs those that are required
#define GRAPH_PASSES(PASS)                                                                                    \
  PASS(pass_inline, "inline", true, "replace calls by the functions' bodies")                                 \
  PASS(pass_refine, "refine", true, "sizes that callers know, in the types of what is computed from them")    \
  PASS(pass_numbers, "numbers", true, "numbers that the host has no registers for as wider ones")             \
  PASS(pass_boundary, "boundary", true, "elements below 8 bits packed in arguments and results")              \
  PASS(pass_canonicalize, "canonicalize", false, "fold constants, drop index maps that do nothing")           \
  PASS(pass_attention, "attention", false, "products around a softmax as attention")                          \
  PASS(pass_expand, "expand", false, "transforms, long sorts in terms of other ops")                          \
  PASS(pass_expand_top_k, "expand-top-k", false, "top_k of few out of long lines as sorts")                   \
  PASS(pass_scaled_products, "scaled-products", false, "products of scaled bytes as scaled products of them") \
  PASS(pass_byte_products, "byte-products", false, "products of bytes without their zero points")             \
  PASS(pass_exact_floats, "exact-floats", false, "products of small integers as products of floats")          \
  PASS(pass_integral_floats, "integral-floats", false, "integers between floats that are whole numbers")      \
  PASS(pass_cse, "cse", false, "compute equal values once")                                                   \
  PASS(pass_dce, "dce", false, "drop pure ops without users")                                                 \
  PASS(pass_loop_numbers, "loop-numbers", false, "counters of loops as numbers of the host")                  \
  PASS(pass_sizes, "sizes", true, "run-time sizes as index arithmetic, asserts where they must agree")        \
  PASS(pass_windows, "windows", false, "pieces of arrays that loops read and write where they are")           \
  PASS(pass_form_dispatches, "form-dispatches", true, "group graph ops into graph.dispatch, one kernel each") \
  PASS(pass_unroll, "unroll", false, "short rounds of counted loops side by side")                            \
  PASS(pass_schedule, "schedule", false, "dispatches that do not need one another side by side")              \
  PASS(pass_in_place, "in-place", false, "updates of arrays in the arrays' own memory")                       \
  PASS(pass_donation, "donation", false, "dispatches that may write where they read what callers give up")    \
  PASS(pass_contract_form, "contract-form", true, "contractions as batch, rows, reduction by reduction, columns")

#define PASS(function, name, required, summary) pass_result_t function(ir_op_t* module, ir_context_t* ctx);
GRAPH_PASSES(PASS)
#undef PASS

#endif  // IREE_C_PASSES_PASSES_H_
