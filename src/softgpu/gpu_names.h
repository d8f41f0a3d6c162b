// Which GPUs there are, by names in the environment, and which of them a process sees: alike for all vendors.
#ifndef IREE_C_SOFTGPU_GPU_NAMES_H_
#define IREE_C_SOFTGPU_GPU_NAMES_H_

#include <stdbool.h>
#include <stdint.h>

// Calls `add` for each GPU of `gpus`: a count of `target`, or a list of names; NULL: one. False once `add` says so.
bool gpu_names_each(const char* target, const char* gpus, bool (*add)(void* data, const char* name), void* data);
// The GPUs that `visible` names, by ordinal or so much of a UUID that no other begins alike; all when it is NULL. What
// names none, or one again, ends the list, as it does for the vendors. Fills `chosen`, of `count`; how many there are.
uint32_t gpu_names_select(const char* const* uuids, uint32_t count, const char* visible, uint32_t* chosen);

#endif  // IREE_C_SOFTGPU_GPU_NAMES_H_
