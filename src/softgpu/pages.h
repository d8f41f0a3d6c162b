// Memory of GPUs: anonymous pages of the process with a gap behind them, so that an access past the end is found.
#ifndef IREE_C_SOFTGPU_PAGES_H_
#define IREE_C_SOFTGPU_PAGES_H_

#include <stddef.h>

enum { PAGES_SIZE = 4096, PAGES_GAP = 4096 };

// `size` bytes of zeros; NULL when memory is short. `mapped` is what pages_unmap takes, the gap included.
void* pages_map(size_t size, size_t alignment, size_t* mapped);
void pages_unmap(void* address, size_t mapped);

#endif  // IREE_C_SOFTGPU_PAGES_H_
