// A program of the graph level that is run: what the reference evaluator makes of inputs, and whether a target agrees.
//
// The program's function main comes first. Its attributes are test.sizes, the sizes that its arguments' types leave
// open, in order, and test.tolerance, one for each result, 0 where it is exact, infinity where it does not matter.
// Inputs are small whole numbers.
#ifndef IREE_C_TESTS_RANDOM_GRAPH_CASE_H_
#define IREE_C_TESTS_RANDOM_GRAPH_CASE_H_

#include "compiler/flags.h"
#include "dispatch_run.h"

enum { GRAPH_CASE_VALUES = 512 };

typedef struct graph_case_t {
  const char* path;
  const char* text;
  size_t size;
  ir_context_t* ctx;
  uint32_t input_count, output_count;
  const ir_attr_t *inputs[GRAPH_CASE_VALUES], *outputs[GRAPH_CASE_VALUES];
  double tolerance[GRAPH_CASE_VALUES];
  const char* target;                    // at work
  bool (*accepts)(const ir_op_t* func);  // what is worth evaluating; NULL: all
  char problem[512];                     // the first
} graph_case_t;

// Notes a problem and returns false.
bool graph_case_fail(graph_case_t* c, const char* what, const char* detail);
void graph_case_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                           const char* rendered);
// Reads the program and evaluates it.
bool graph_case_prepare(graph_case_t* c);
bool graph_case_compare(graph_case_t* c, uint32_t index, const void* data, size_t size);

// In the checking interpreter: for compiler_options_t.observe.
typedef struct graph_case_interpretation_t {
  graph_case_t* c;
  runner_t runner;
} graph_case_interpretation_t;
bool graph_case_observe(void* user, ir_context_t* ctx, ir_op_t* module, const kernel_list_t* kernels,
                        const target_executable_t* executable);

#endif  // IREE_C_TESTS_RANDOM_GRAPH_CASE_H_
