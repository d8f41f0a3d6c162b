// Matrix instructions (mma.def): sizes, fragment layouts and LLVM's names.
#ifndef IREE_C_DIALECTS_MMA_H_
#define IREE_C_DIALECTS_MMA_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct mma_position_t {
  int32_t row, col;
} mma_position_t;
// Matrix position of element `i` of the fragment in lane `l`.
typedef mma_position_t (*mma_layout_fn_t)(int32_t l, int32_t i);

typedef struct mma_row_t {
  const char* instruction;
  int32_t subgroup;
  int32_t m, n, k;
  const char *a_type, *c_type;
  int32_t a_lanes, b_lanes, c_lanes;
  mma_layout_fn_t a, b, c;
  const char* intrinsic;
} mma_row_t;

// Row by instruction, or NULL.
const mma_row_t* mma_find(const char* instruction);
// Row by number in the order of mma.def; NULL past the end.
const mma_row_t* mma_at(uint32_t index);
uint32_t mma_index(const mma_row_t* row);
// Type of a fragment's elements: a_type, but f32 for tf32 and i8 for all bytes.
const char* mma_element(const char* type);
// Whether the bytes of A (operand 0) or B (1) are unsigned.
bool mma_is_unsigned(const mma_row_t* row, int operand);

#endif  // IREE_C_DIALECTS_MMA_H_
