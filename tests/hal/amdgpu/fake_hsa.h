// A libhsa-runtime64 of the tests' own: agents without hardware, whose queues end every packet at once without running
// it, and which fails where it is told to.
#ifndef IREE_C_TESTS_HAL_AMDGPU_FAKE_HSA_H_
#define IREE_C_TESTS_HAL_AMDGPU_FAKE_HSA_H_

#include "hal/amdgpu/hsa_api.h"

typedef struct fake_hsa_t {
  int cpu_count;
  int gpu_count;
  bool has_memory;          // agents have memory pools
  int nearest_cpu;          // of the first GPU; of the next one, the next
  size_t memory_limit;      // bytes of all pools together; 0: none
  const char* failing;      // name of the entry point that fails; NULL: none
  int failing_call;         // counted from 0
  bool fails_once;          // later ones do not fail
  hsa_status_t code;        // what it returns
  hsa_status_t fault_code;  // set: the next kernel stops its queue with this error
  uint64_t fault_address;   // set: with an event of the system before
  const char* processor;    // of GPUs; NULL: gfx1100
  int is_held;              // atomic: queues leave their packets alone

  hsa_event_fn_t event_handler;  // that was registered last
  int handler_count;             // that were registered
  hsa_agent_t queue_agent;       // of the last queue
  size_t pool_sizes[4];          // bytes that were allocated of CPUs' memory

  int last_header;    // of a packet that ended
  int barrier_count;  // barrier-value packets so far

  int call_count;      // of the failing entry point
  int live_count;      // objects and allocations that were not given back
  size_t memory_size;  // bytes of allocations
} fake_hsa_t;

// Exported by the library as `fake_hsa`.

#endif  // IREE_C_TESTS_HAL_AMDGPU_FAKE_HSA_H_
