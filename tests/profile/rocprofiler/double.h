// rocprofiler-sdk for tests: what its files share.
//
// client.c is the interface, which refuses what the library refuses, by its codes; queue.c is between HIP and the
// software GPUs' HSA, as the library is between HIP and ROCm's: kernels that are counted go into the GPU's queue
// between packets of aqlprofile's.
#ifndef IREE_C_TESTS_PROFILE_ROCPROFILER_DOUBLE_H_
#define IREE_C_TESTS_PROFILE_ROCPROFILER_DOUBLE_H_

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>

#include "hal/stream/rocprofiler.h"
#include "softgpu/aqlprofile/aqlprofile.h"

enum { MAX_EVENTS = 16 };

// What counts on the GPU of a node of the kernel driver's.
typedef struct config_t {
  uint32_t node;
  uint32_t count;
  uint32_t rows[MAX_EVENTS];  // of amd_counters.def
  aqlprofile_agent_handle_t agent;
  aqlprofile_pmc_event_t events[MAX_EVENTS];
} config_t;

// Whether the environment's ROCPROFILER_DOUBLE is that.
bool double_is(const char* what);

// queue.c. Symbols of this library come before libhsa's from here on, for what is loaded later; false when libhsa is
// there already.
bool queue_intercept(void);
bool queue_is_ready(void);  // HSA is there, and goes through this library
// Counting of all that runs on a GPU: from start to stop; the sums since the start.
bool queue_start_device(const config_t* config);
void queue_read_device(uint32_t node, uint64_t values[MAX_EVENTS]);
void queue_stop_device(uint32_t node);

// client.c: what counts a kernel of that node's GPU, or NULL, and `out_user_data` for its values.
const config_t* client_ask(uint32_t node, rocprofiler_dispatch_t* dispatch, uint64_t* out_user_data);
void client_tell(const config_t* config, const rocprofiler_dispatch_t* dispatch, const uint64_t values[MAX_EVENTS],
                 uint64_t user_data);

#endif  // IREE_C_TESTS_PROFILE_ROCPROFILER_DOUBLE_H_
