// Command buffers in the GPU's own packet format (PM4): a recording that is nothing but dispatches becomes, when it
// ends, one buffer of commands, with the arguments of its kernels beside it. A submission is one packet of the queue
// that leads there, after the addresses were written that only the submission knows.
//
// A buffer whose addresses change is one submission's at a time, so a program has several, which are kept. Where all of
// them are in flight, and for recordings that do not qualify, the packets of the queue's own format do the same.
#ifndef IREE_C_HAL_AMDGPU_PM4_H_
#define IREE_C_HAL_AMDGPU_PM4_H_

#include "hal/amdgpu/logical_device.h"
#include "hal/gpu/command.h"

typedef struct pm4_program_t pm4_program_t;

// A program's commands for one GPU, in memory.
typedef struct pm4_instance_t pm4_instance_t;

// For gpu_backend_t: makes the program of a recording, or none where it does not qualify.
iree_status_t pm4_program_create(gpu_device_t* device, const gpu_work_t* work, void** out_program);
// Nothing of it is in flight.
void pm4_program_free(void* program);

// The commands for a GPU by its ordinal, until they are given back; NULL when there are none left. Thread safe.
pm4_instance_t* pm4_program_take(pm4_program_t* program, uint32_t physical);
void pm4_instance_give(pm4_instance_t* instance);
// Writes the addresses of a submission.
void pm4_instance_patch(pm4_instance_t* instance, const gpu_range_t* ranges);
// Where its commands are, and how many words of them.
uint64_t pm4_instance_address(const pm4_instance_t* instance, uint32_t* out_word_count);

#endif  // IREE_C_HAL_AMDGPU_PM4_H_
