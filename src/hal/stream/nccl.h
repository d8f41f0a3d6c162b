// Collectives of GPUs by the vendor's library, NCCL or RCCL.
//
// A channel is a rank's communicator with a stream and a thread of its own, which makes all calls: it joins the group,
// which takes until all ranks have, starts what a batch posts as one group of calls, and looks for its end and for
// errors that the library tells of later. Where a queue of the device orders a batch (collective.c) both streams wait
// for each other's events. After a failure the communicator is aborted, and all that the channel is asked for fails
// with it.
#ifndef IREE_C_HAL_STREAM_NCCL_H_
#define IREE_C_HAL_STREAM_NCCL_H_

#include "hal/collective.h"
#include "hal/stream/options.h"

typedef struct stream_device_t stream_device_t;

typedef struct nccl_id_t {
  uint8_t bytes[128];
} nccl_id_t;

// What differs between the two libraries.
typedef struct nccl_library_t {
  const char* title;         // "NCCL library libnccl.so.2"
  const char* advice;        // what to do when it is not there
  const char* const* names;  // of files, by preference; NULL ends them
  iree_string_view_list_t (*paths)(iree_string_view_t storage[STREAM_MAX_PATHS]);
} nccl_library_t;
extern const nccl_library_t nccl_cuda_library, nccl_hip_library;

typedef struct nccl_api_t {
  const nccl_library_t* library;
  char path[1024];  // of the file
#define ENTRY(name, symbol, parameters) int(*name) parameters;
#define OPTIONAL(name, symbol, parameters) int(*name) parameters;
#define TEXT(name, symbol, parameters) const char*(*name)parameters;
#include "hal/stream/nccl.def"
} nccl_api_t;

// The table of a library, which stays loaded with it for good. Errors: UNAVAILABLE, with what was tried and why it
// failed.
iree_status_t nccl_api_load(const nccl_library_t* library, const nccl_api_t** out_api);
// A status for what `call` returned: ABORTED where another rank or the system was at fault.
iree_status_t nccl_api_check(const nccl_api_t* api, int result, const char* call);
// NCCL_CALL(api, group_end): an iree_status_t.
#define NCCL_CALL(api, entry, ...) nccl_api_check((api), (api)->entry(__VA_ARGS__), nccl_symbol_##entry)
#define ENTRY(name, symbol, parameters) static const char nccl_symbol_##name[] __attribute__((unused)) = symbol;
#define OPTIONAL(name, symbol, parameters) ENTRY(name, symbol, parameters)
#include "hal/stream/nccl.def"

// What a rank starts with one call, or a few. nccl_calls.c
typedef struct nccl_rank_t {
  const nccl_api_t* api;
  void* comm;
  void* stream;
  int32_t rank, count;
} nccl_rank_t;
iree_status_t nccl_calls_check(iree_hal_collective_op_t op);
// Starts a part, whose memory is the GPU's.
iree_status_t nccl_calls_start(const nccl_rank_t* rank, const hal_collective_part_t* part);

// The id of a group, the same for all ranks (nccl_id.c): that of the parameters where they have one of the library's;
// the provider's, which has that of rank 0; else one that ranks of this process with the same group, id and count
// share.
iree_status_t nccl_id_find(const nccl_api_t* api, iree_hal_channel_provider_t* provider,
                           const iree_hal_channel_params_t* params, nccl_id_t* out_id);

// hal_queued_device_t's create_channel of devices of the stream core: a channel of the library, or of this process, as
// the device's options say.
iree_status_t stream_channel_create(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_channel_params_t* params, iree_hal_channel_t** out_channel);

#endif  // IREE_C_HAL_STREAM_NCCL_H_
