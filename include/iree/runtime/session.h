// A session: a device, and modules linked together with their state. Calls into one session must not overlap; sessions
// are independent of each other.

#ifndef IREE_RUNTIME_SESSION_H_
#define IREE_RUNTIME_SESSION_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef struct iree_runtime_instance_t iree_runtime_instance_t;
typedef struct iree_runtime_session_t iree_runtime_session_t;

#define IREE_RUNTIME_SESSION_BUILTIN_ALL UINT64_MAX
typedef uint64_t iree_runtime_session_builtins_t;

typedef struct iree_runtime_session_options_t {
  iree_vm_context_flags_t context_flags;
  iree_runtime_session_builtins_t builtin_modules;  // 0: not even `hal`
} iree_runtime_session_options_t;

IREE_API_EXPORT void iree_runtime_session_options_initialize(iree_runtime_session_options_t* out_options);

// A session on `device` (retained) without modules but the built-in ones.
IREE_API_EXPORT iree_status_t iree_runtime_session_create_with_device(iree_runtime_instance_t* instance,
                                                                      const iree_runtime_session_options_t* options,
                                                                      iree_hal_device_t* device,
                                                                      iree_allocator_t host_allocator,
                                                                      iree_runtime_session_t** out_session);
IREE_API_EXPORT void iree_runtime_session_retain(iree_runtime_session_t* session);
IREE_API_EXPORT void iree_runtime_session_release(iree_runtime_session_t* session);

// Not retained, alive as long as the session.
IREE_API_EXPORT iree_allocator_t iree_runtime_session_host_allocator(const iree_runtime_session_t* session);
IREE_API_EXPORT iree_runtime_instance_t* iree_runtime_session_instance(const iree_runtime_session_t* session);
IREE_API_EXPORT iree_vm_context_t* iree_runtime_session_context(const iree_runtime_session_t* session);
IREE_API_EXPORT iree_hal_device_t* iree_runtime_session_device(const iree_runtime_session_t* session);
IREE_API_EXPORT iree_hal_allocator_t* iree_runtime_session_device_allocator(const iree_runtime_session_t* session);

// Gives unused memory back.
IREE_API_EXPORT iree_status_t iree_runtime_session_trim(iree_runtime_session_t* session);

// Links modules in; each may import from those before it, and its initializers run now.
IREE_API_EXPORT iree_status_t iree_runtime_session_append_module(iree_runtime_session_t* session,
                                                                 iree_vm_module_t* module);
// Memory with a .vmfb, used in place and freed with `flatbuffer_allocator` (null: the caller keeps it alive).
IREE_API_EXPORT iree_status_t iree_runtime_session_append_bytecode_module_from_memory(
    iree_runtime_session_t* session, iree_const_byte_span_t flatbuffer_data, iree_allocator_t flatbuffer_allocator);
// A file, which is mapped.
IREE_API_EXPORT iree_status_t iree_runtime_session_append_bytecode_module_from_file(iree_runtime_session_t* session,
                                                                                    const char* file_path);
IREE_API_EXPORT iree_status_t iree_runtime_session_append_bytecode_module_from_stdin(iree_runtime_session_t* session);

// The export "module.function". NOT_FOUND when there is none.
IREE_API_EXPORT iree_status_t iree_runtime_session_lookup_function(const iree_runtime_session_t* session,
                                                                   iree_string_view_t full_name,
                                                                   iree_vm_function_t* out_function);
// Calls and returns when the function has. Lists as in iree_vm_invoke.
IREE_API_EXPORT iree_status_t iree_runtime_session_call(iree_runtime_session_t* session,
                                                        const iree_vm_function_t* function, iree_vm_list_t* input_list,
                                                        iree_vm_list_t* output_list);
IREE_API_EXPORT iree_status_t iree_runtime_session_call_by_name(iree_runtime_session_t* session,
                                                                iree_string_view_t full_name,
                                                                iree_vm_list_t* input_list,
                                                                iree_vm_list_t* output_list);
// With packed lists (iree/vm/module.h), without any copy. Refs left in the arguments stay the caller's.
IREE_API_EXPORT iree_status_t iree_runtime_session_call_direct(iree_runtime_session_t* session,
                                                               const iree_vm_function_call_t call);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_RUNTIME_SESSION_H_
