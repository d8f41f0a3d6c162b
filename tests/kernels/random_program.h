// Random kernels, and their reference: one thread at a time, one element at a time, by scalar_eval.
#ifndef IREE_C_TESTS_KERNELS_RANDOM_PROGRAM_H_
#define IREE_C_TESTS_KERNELS_RANDOM_PROGRAM_H_

#include "kernel_fixture.h"

enum { RANDOM_SLOTS = 24, RANDOM_SLOT_BYTES = 64, RANDOM_INPUT_BYTES = 4096 };

// Builds a kernel on two i8 bindings: random input bytes (RANDOM_INPUT_BYTES), and RANDOM_SLOTS * RANDOM_SLOT_BYTES of
// output for each thread of each workgroup. The same seed gives the same kernel.
void random_program(fixture_t* f, uint32_t seed, int64_t threads);

// Runs one thread of `func` the slow way.
typedef struct reference_t {
  const uint8_t* input;
  uint8_t* output;
  int64_t workgroup, thread;
} reference_t;
void reference_run(const ir_op_t* func, const reference_t* where);

// How many of `size` output bytes differ, by elements of the stores of `func`: NaNs are equal.
uint64_t random_differences(const ir_op_t* func, const uint8_t* got, const uint8_t* wanted, uint64_t threads);

#endif  // IREE_C_TESTS_KERNELS_RANDOM_PROGRAM_H_
