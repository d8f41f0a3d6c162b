// libhsa-runtime64, found at run time.
#ifndef IREE_C_HAL_AMDGPU_LIBHSA_H_
#define IREE_C_HAL_AMDGPU_LIBHSA_H_

#include "hal/amdgpu/hsa_api.h"
#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"

// The library's entry points by name. Tests fill one by hand.
typedef struct libhsa_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  void* library;  // of dlopen; NULL for tables made by hand
  bool is_initialized;
#define ENTRY(result, name, parameters) result(*name) parameters;
#include "hal/amdgpu/libhsa.def"
} libhsa_t;

// Loads the library and initializes HSA. Tries each of `search_paths` (files or folders), then those of the
// environment's IREE_HAL_AMDGPU_LIBHSA_PATH (separated by `:` or `;`), then folders of PATH that have it, then the
// system's names. Errors: UNAVAILABLE, with all that was tried and why it failed.
iree_status_t libhsa_load(iree_host_size_t path_count, const iree_string_view_t* search_paths,
                          iree_allocator_t host_allocator, libhsa_t** out_hsa);
void libhsa_retain(libhsa_t* hsa);
// The last release shuts HSA down.
void libhsa_release(libhsa_t* hsa);

// A status for what `call` returned.
iree_status_t libhsa_check(const libhsa_t* hsa, hsa_status_t status, const char* call);
// LIBHSA_CALL(hsa, hsa_queue_create, agent, ...): an iree_status_t.
#define LIBHSA_CALL(hsa, name, ...) libhsa_check((hsa), (hsa)->name(__VA_ARGS__), #name)

// Memory for commands that GPUs execute: libraries that know of that want to be told.
iree_status_t libhsa_allocate_commands(const libhsa_t* hsa, hsa_amd_memory_pool_t pool, size_t size, void** out_ptr);

#endif  // IREE_C_HAL_AMDGPU_LIBHSA_H_
