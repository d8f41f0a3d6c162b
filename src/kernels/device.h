// What strategies know of the machine they build kernels for: sizes and abilities, never a target's name.
#ifndef IREE_C_KERNELS_DEVICE_H_
#define IREE_C_KERNELS_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum { DEVICE_CPU, DEVICE_GPU } device_kind_t;

// One row of mma.def: an m x n x k matrix instruction with its operand element types.
typedef struct device_mma_t {
  const char* instruction;
  int32_t m, n, k;
  const char* a_type;  // "f16", ...; b is alike
  const char* c_type;
  int32_t a_lanes, b_lanes, c_lanes;  // elements of a fragment in one lane
} device_mma_t;

typedef struct device_info_t {
  device_kind_t kind;
  // CPU
  int32_t vector_bytes;  // widest vector register the kernels should use; 64 for AVX-512
  int32_t vector_registers;
  bool has_fma, has_f16_arithmetic, has_bf16_dot, has_int8_dot, has_masks;
  int64_t l1_bytes, l2_bytes;
  bool without_winograd;  // convolutions are sums one by one
  // GPU
  int32_t subgroup_size;
  int32_t exchanged_lanes;  // that exchange what they have by vector instructions, of as many next to each other
  int32_t max_workgroup_size;
  int64_t workgroup_memory_bytes;
  int32_t registers_per_thread;
  int32_t compute_units;
  bool has_async_copy;
  bool has_matrix_load;      // kernel.load_matrix
  bool has_maximum;          // the greater of two numbers, or NaN where one is, by an instruction as for numbers alone
  bool has_scalar_unit;      // what is equal in all lanes is loaded and computed once
  bool splits_vectors;       // accesses that are not said to be aligned are made element by element
  bool reads_tf32;           // products of f32 may read 10 bits of their operands' fractions
  bool lists_candidates;     // on stderr, with what they should cost (candidates.c, staged_plan.c)
  const char* strategy;      // to build what it proposes a kernel for; NULL: the cheapest does
  const char* product_plan;  // of products through workgroup memory, where it fits (staged_plan.c); NULL: the cheapest
  const device_mma_t* mma;
  int32_t mma_count;
} device_info_t;

// Whether a matrix instruction multiplies elements of that type ("f16", ...).
static inline bool device_multiplies(const device_info_t* device, const char* type) {
  for (int32_t i = 0; i < device->mma_count; ++i) {
    if (strcmp(device->mma[i].a_type, type) == 0) return true;
  }
  return false;
}

#endif  // IREE_C_KERNELS_DEVICE_H_
