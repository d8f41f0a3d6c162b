// Where along a dimension a tensor's elements start to come from another place: the borders of a pad or of windows, the
// parts of a concatenation. Between two such places index maps need no conditions.
#ifndef IREE_C_KERNELS_PIECES_H_
#define IREE_C_KERNELS_PIECES_H_

#include "dialects/graph.h"

enum { PIECES_MAX = 32 };

// Piece i is [starts[i], starts[i + 1]).
typedef struct pieces_t {
  uint32_t count;
  int64_t starts[PIECES_MAX + 1];
} pieces_t;

// Of a dimension whose size is known; one piece where there is nothing to gain, or a kernel for each were too long.
pieces_t pieces_find(const ir_value_t* tensor, int32_t dim);

#endif  // IREE_C_KERNELS_PIECES_H_
