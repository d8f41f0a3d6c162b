// Rows of matrix instructions by family.
#include "target/matrix.h"

#include <stddef.h>

void matrix_rows(matrix_family_t family, const device_mma_t** rows, int32_t* count) {
  (void)family;
  *rows = NULL;
  *count = 0;
}
