// Deterministic automata over code points, as tables that a program runs on strings.
#ifndef IREE_C_IMPORT_ONNX_AUTOMATON_H_
#define IREE_C_IMPORT_ONNX_AUTOMATON_H_

#include "import/onnx/lower.h"

// State 0 is the first one. Characters from starts[k] to starts[k + 1] - 1 are class k.
typedef struct automaton_t {
  uint32_t state_count, class_count;
  const int32_t* starts;   // starts[0] is 0
  const int32_t* next;     // [state_count][class_count]
  const int32_t* accepts;  // [state_count]: 1 or 0
} automaton_t;

// Runs it on each row of `rows` [count, width]. Gives the state after the last character, [count], or, with `trace`,
// after each character, [width, count], as i32; what is behind the last character changes nothing.
ir_value_t* onnx_automaton_run(onnx_node_t* n, const automaton_t* a, ir_value_t* rows, bool trace);

#endif  // IREE_C_IMPORT_ONNX_AUTOMATON_H_
