// Memory of the host that was locked (locked.c): what memory.c needs to answer for addresses that no allocation holds.
#ifndef IREE_C_SOFTGPU_HSA_LOCKED_H_
#define IREE_C_SOFTGPU_HSA_LOCKED_H_

#include "softgpu/hsa/runtime.h"

typedef struct locked_info_t {
  void* address;
  size_t size;  // bytes
  const pool_t* pool;
  void* user_data;
} locked_info_t;

// The newest lock that holds `address`; false when there is none.
bool locked_find(const void* address, locked_info_t* out);
// Of the lock that locked_find finds. False when there is none (or, for agents, memory is short).
bool locked_set_user_data(const void* address, void* data);
bool locked_set_agents(const void* address, uint64_t agents);
// The process has mapped, or is about to unmap, these bytes: what was locked there before is gone.
void locked_forget(uint64_t address, size_t size);
void locked_free_all(void);

#endif  // IREE_C_SOFTGPU_HSA_LOCKED_H_
