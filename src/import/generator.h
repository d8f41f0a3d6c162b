// Random words as elementwise arithmetic over counters: Threefry 2x32-20 and Philox 4x32-10.
#ifndef IREE_C_IMPORT_GENERATOR_H_
#define IREE_C_IMPORT_GENERATOR_H_

#include "dialects/graph.h"

// `key` is a tensor<i64>, `counters` an i64 tensor of any shape; each word is an i32 tensor of that shape. Philox's
// counters have 128 bits: the lower halves come first.
void import_threefry(ir_builder_t* b, ir_value_t* key, ir_value_t* counters, ir_value_t* words[2]);
void import_philox(ir_builder_t* b, ir_value_t* key, ir_value_t* const counters[2], ir_value_t* words[4]);

#endif  // IREE_C_IMPORT_GENERATOR_H_
