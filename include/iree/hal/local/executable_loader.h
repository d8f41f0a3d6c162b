// Executable loaders: turn data in one format into executables that run on the host's processors. Thread safe.
#ifndef IREE_HAL_LOCAL_EXECUTABLE_LOADER_H_
#define IREE_HAL_LOCAL_EXECUTABLE_LOADER_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------------------------------------------------===
// Imports
//===----------------------------------------------------------------------------------------------------------------===

enum iree_hal_executable_import_resolution_bits_e {
  IREE_HAL_EXECUTABLE_IMPORT_RESOLUTION_MISSING_OPTIONAL = 1u << 0,  // some optional import was not found
};
typedef uint32_t iree_hal_executable_import_resolution_t;

// Looks up `count` names. Entries of `out_fn_ptrs` that are set already stay as they are. Errors: NOT_FOUND, naming the
// first required import that is missing.
typedef iree_status_t(IREE_API_PTR* iree_hal_executable_import_provider_resolve_fn_t)(
    void* self, iree_host_size_t count, const char* const* symbol_names, void** out_fn_ptrs, void** out_fn_contexts,
    iree_hal_executable_import_resolution_t* out_resolution);

// Provides functions to executables. A value; what is behind `self` outlives the executables.
typedef struct iree_hal_executable_import_provider_t {
  void* self;
  iree_hal_executable_import_provider_resolve_fn_t resolve;
} iree_hal_executable_import_provider_t;
// Has no functions.
static inline iree_hal_executable_import_provider_t iree_hal_executable_import_provider_null(void) {
  iree_hal_executable_import_provider_t provider = {NULL, NULL};
  return provider;
}
// Resolves through `import_provider`; the null provider finds nothing, which is fine when all are optional.
IREE_API_EXPORT iree_status_t iree_hal_executable_import_provider_try_resolve(
    const iree_hal_executable_import_provider_t import_provider, iree_host_size_t count,
    const char* const* symbol_names, void** out_fn_ptrs, void** out_fn_contexts,
    iree_hal_executable_import_resolution_t* out_resolution);
static inline bool iree_hal_executable_import_is_optional(const char* symbol_name) {
  return symbol_name && symbol_name[0] == '?';
}

//===----------------------------------------------------------------------------------------------------------------===
// iree_hal_executable_loader_t
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_executable_loader_vtable_t iree_hal_executable_loader_vtable_t;
typedef struct iree_hal_executable_loader_t {
  iree_atomic_ref_count_t ref_count;
  const iree_hal_executable_loader_vtable_t* vtable;
  iree_hal_executable_import_provider_t import_provider;
} iree_hal_executable_loader_t;

IREE_API_EXPORT void iree_hal_executable_loader_initialize(const void* vtable,
                                                           iree_hal_executable_import_provider_t import_provider,
                                                           iree_hal_executable_loader_t* out_base_loader);
IREE_API_EXPORT void iree_hal_executable_loader_retain(iree_hal_executable_loader_t* executable_loader);
IREE_API_EXPORT void iree_hal_executable_loader_release(iree_hal_executable_loader_t* executable_loader);
// As iree_hal_executable_cache_infer_format; INCOMPATIBLE when the data is none of this loader's.
IREE_API_EXPORT iree_status_t iree_hal_executable_loader_infer_format(iree_hal_executable_loader_t* executable_loader,
                                                                      iree_hal_executable_caching_mode_t caching_mode,
                                                                      iree_const_byte_span_t executable_data,
                                                                      iree_host_size_t executable_format_capacity,
                                                                      char* executable_format,
                                                                      iree_host_size_t* out_inferred_size);
IREE_API_EXPORT bool iree_hal_executable_loader_query_support(iree_hal_executable_loader_t* executable_loader,
                                                              iree_hal_executable_caching_mode_t caching_mode,
                                                              iree_string_view_t executable_format);
IREE_API_EXPORT bool iree_hal_query_any_executable_loader_support(iree_host_size_t loader_count,
                                                                  iree_hal_executable_loader_t** loaders,
                                                                  iree_hal_executable_caching_mode_t caching_mode,
                                                                  iree_string_view_t executable_format);
// Loads; `worker_capacity` is how many threads may run workgroups at once. Errors: CANCELLED when the data is not for
// this loader after all (the next one is tried), INVALID_ARGUMENT, INCOMPATIBLE, NOT_FOUND for imports.
IREE_API_EXPORT iree_status_t iree_hal_executable_loader_try_load(iree_hal_executable_loader_t* executable_loader,
                                                                  const iree_hal_executable_params_t* executable_params,
                                                                  iree_host_size_t worker_capacity,
                                                                  iree_hal_executable_t** out_executable);

struct iree_hal_executable_loader_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_executable_loader_t* executable_loader);
  iree_status_t(IREE_API_PTR* infer_format)(iree_hal_executable_loader_t* executable_loader,
                                            iree_hal_executable_caching_mode_t caching_mode,
                                            iree_const_byte_span_t executable_data,
                                            iree_host_size_t executable_format_capacity, char* executable_format,
                                            iree_host_size_t* out_inferred_size);
  bool(IREE_API_PTR* query_support)(iree_hal_executable_loader_t* executable_loader,
                                    iree_hal_executable_caching_mode_t caching_mode,
                                    iree_string_view_t executable_format);
  iree_status_t(IREE_API_PTR* try_load)(iree_hal_executable_loader_t* executable_loader,
                                        const iree_hal_executable_params_t* executable_params,
                                        iree_host_size_t worker_capacity, iree_hal_executable_t** out_executable);
};

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_EXECUTABLE_LOADER_H_
