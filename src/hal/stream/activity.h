// When kernels of NVIDIA's GPUs ran, by records that CUPTI collects meanwhile: nothing comes between them, and graphs
// stay graphs.
//
//   begin { push launch pop ... take }* end
#ifndef IREE_C_HAL_STREAM_ACTIVITY_H_
#define IREE_C_HAL_STREAM_ACTIVITY_H_

#include "iree/base/api.h"

typedef struct activity_kernel_t {
  uint64_t start, end;  // as iree_time_now()
} activity_kernel_t;

// Begins to record kernels of the process, and ends it when that was told as often. UNAVAILABLE: CUPTI is not there, or
// records nothing.
iree_status_t activity_begin(void);
void activity_end(void);
// What this thread launches from one to the other has that number.
void activity_push(uint64_t id);
void activity_pop(void);
// The `count` kernels of a number, which are over, as they were launched; they are forgotten. How many there were:
// where that is another number there are none in `out_kernels`.
uint32_t activity_take(uint64_t id, uint32_t count, activity_kernel_t* out_kernels);

// CUPTI's records (cupti_activity.h), as far as they are read: of versions 12 and 13.
enum { CUPTI_DRIVER_CALLS = 4, CUPTI_KERNELS = 10, CUPTI_EXTERNAL_IDS = 39, CUPTI_EXTERNAL_UNKNOWN = 1 };
typedef struct cupti_kernel_record_t {
  uint32_t kind;
  uint8_t cache, shared_configuration;
  uint16_t registers;
  uint32_t partitioned[2];
  uint64_t start, end, completed;  // 0: not known
  uint32_t device, context, stream;
  int32_t grid[3], block[3], shared_memory[2];
  uint32_t local_memory[2];
  uint32_t correlation;  // of the call that launched it, of a graph with others
} cupti_kernel_record_t;
typedef struct cupti_external_record_t {
  uint32_t kind, external_kind;
  uint64_t id;
  uint32_t correlation, reserved;
} cupti_external_record_t;
typedef void (*cupti_request_fn_t)(uint8_t** out_buffer, size_t* out_length, size_t* out_max_records);
typedef void (*cupti_complete_fn_t)(void* context, uint32_t stream, uint8_t* buffer, size_t capacity, size_t length);

#endif  // IREE_C_HAL_STREAM_ACTIVITY_H_
