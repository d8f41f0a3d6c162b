// The binary interface of plugins that provide functions to CPU executables.
//
// A plugin is a shared library that exports IREE_HAL_EXECUTABLE_PLUGIN_EXPORT_NAME. This header includes only headers
// of the language itself, so that a plugin can be built without a C library (STANDALONE). Layouts are fixed.
#ifndef IREE_HAL_LOCAL_EXECUTABLE_PLUGIN_H_
#define IREE_HAL_LOCAL_EXECUTABLE_PLUGIN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum iree_hal_executable_plugin_feature_bits_t {
  IREE_HAL_EXECUTABLE_PLUGIN_FEATURE_NONE = 0u,
  IREE_HAL_EXECUTABLE_PLUGIN_FEATURE_STANDALONE = 1u << 0,   // needs no other library
  IREE_HAL_EXECUTABLE_PLUGIN_FEATURE_FULL_STATUS = 1u << 1,  // returns iree_status_t with storage
};
typedef uint32_t iree_hal_executable_plugin_features_t;

typedef enum iree_hal_executable_plugin_sanitizer_kind_e {
  IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_NONE = 0,
  IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_ADDRESS = 1,
  IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_MEMORY = 2,
  IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_THREAD = 3,
  IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_UNDEFINED = 4,
  IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_MAX_ENUM = INT32_MAX,
} iree_hal_executable_plugin_sanitizer_kind_t;

// The sanitizer of this translation unit.
#if defined(__SANITIZE_ADDRESS__)
#define IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__)
#define IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_THREAD
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_ADDRESS
#elif __has_feature(memory_sanitizer)
#define IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_MEMORY
#elif __has_feature(thread_sanitizer)
#define IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_THREAD
#endif
#endif
#if !defined(IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND)
#define IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_NONE
#endif

#if !defined(IREE_HOST_SIZE_T)
#define IREE_HOST_SIZE_T size_t
#endif
typedef IREE_HOST_SIZE_T iree_host_size_t;

typedef uint32_t iree_hal_executable_plugin_version_t;
#define IREE_HAL_EXECUTABLE_PLUGIN_VERSION_0_1 0x00000001u
#define IREE_HAL_EXECUTABLE_PLUGIN_VERSION_LATEST IREE_HAL_EXECUTABLE_PLUGIN_VERSION_0_1

typedef struct iree_hal_executable_plugin_header_t {
  iree_hal_executable_plugin_version_t version;
  const char* name;         // NUL-terminated
  const char* description;  // may be NULL
  iree_hal_executable_plugin_features_t features;
  iree_hal_executable_plugin_sanitizer_kind_t sanitizer;
  uint64_t reserved[8];  // 0
} iree_hal_executable_plugin_header_t;

// Returns a pointer to a structure that starts with a pointer to the header, or NULL when no version fits.
typedef const iree_hal_executable_plugin_header_t** (*iree_hal_executable_plugin_query_fn_t)(
    iree_hal_executable_plugin_version_t max_version, void* reserved);
#define IREE_HAL_EXECUTABLE_PLUGIN_EXPORT_NAME "iree_hal_executable_plugin_query"
#define IREE_HAL_EXECUTABLE_PLUGIN_EXPORT __attribute__((visibility("default")))

// Status codes with the numbers of iree_status_code_t.
typedef enum iree_hal_executable_plugin_status_code_e {
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_OK = 0,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_CANCELLED = 1,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_UNKNOWN = 2,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_INVALID_ARGUMENT = 3,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_DEADLINE_EXCEEDED = 4,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_NOT_FOUND = 5,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_ALREADY_EXISTS = 6,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_PERMISSION_DENIED = 7,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_RESOURCE_EXHAUSTED = 8,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_FAILED_PRECONDITION = 9,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_ABORTED = 10,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_OUT_OF_RANGE = 11,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_UNIMPLEMENTED = 12,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_INTERNAL = 13,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_UNAVAILABLE = 14,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_DATA_LOSS = 15,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_UNAUTHENTICATED = 16,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_DEFERRED = 17,
  IREE_HAL_EXECUTABLE_PLUGIN_STATUS_CODE_MASK = 0x1Fu,
} iree_hal_executable_plugin_status_code_t;

typedef struct iree_status_handle_t* iree_hal_executable_plugin_status_t;
#define iree_hal_executable_plugin_status_from_code(code)                                                \
  ((iree_hal_executable_plugin_status_t)((uintptr_t)((iree_hal_executable_plugin_status_code_t)(code)) & \
                                         IREE_HAL_EXECUTABLE_PLUGIN_STATUS_CODE_MASK))
#define iree_hal_executable_plugin_status_code(value) \
  ((iree_hal_executable_plugin_status_code_t)((uintptr_t)(value) & IREE_HAL_EXECUTABLE_PLUGIN_STATUS_CODE_MASK))
#define iree_hal_executable_plugin_ok_status() \
  iree_hal_executable_plugin_status_from_code(IREE_HAL_EXECUTABLE_PLUGIN_STATUS_OK)
#define iree_hal_executable_plugin_status_is_ok(value) ((uintptr_t)(value) == IREE_HAL_EXECUTABLE_PLUGIN_STATUS_OK)

// The host's allocator: as iree_allocator_t.
typedef enum iree_hal_executable_plugin_allocator_command_e {
  IREE_HAL_EXECUTABLE_PLUGIN_ALLOCATOR_COMMAND_MALLOC = 0,
  IREE_HAL_EXECUTABLE_PLUGIN_ALLOCATOR_COMMAND_CALLOC = 1,
  IREE_HAL_EXECUTABLE_PLUGIN_ALLOCATOR_COMMAND_REALLOC = 2,
  IREE_HAL_EXECUTABLE_PLUGIN_ALLOCATOR_COMMAND_FREE = 3,
} iree_hal_executable_plugin_allocator_command_t;
typedef struct iree_hal_executable_plugin_allocator_alloc_params_t {
  iree_host_size_t byte_length;
} iree_hal_executable_plugin_allocator_alloc_params_t;
typedef iree_hal_executable_plugin_status_t (*iree_hal_executable_plugin_allocator_ctl_fn_t)(
    void* self, iree_hal_executable_plugin_allocator_command_t command, const void* params, void** inout_ptr);
typedef struct iree_hal_executable_plugin_allocator_t {
  void* self;
  iree_hal_executable_plugin_allocator_ctl_fn_t ctl;
} iree_hal_executable_plugin_allocator_t;
static inline iree_hal_executable_plugin_status_t iree_hal_executable_plugin_allocator_malloc(
    iree_hal_executable_plugin_allocator_t allocator, iree_host_size_t byte_length, void** inout_ptr) {
  const iree_hal_executable_plugin_allocator_alloc_params_t params = {byte_length};
  return allocator.ctl(allocator.self, IREE_HAL_EXECUTABLE_PLUGIN_ALLOCATOR_COMMAND_MALLOC, &params, inout_ptr);
}
static inline iree_hal_executable_plugin_status_t iree_hal_executable_plugin_allocator_free(
    iree_hal_executable_plugin_allocator_t allocator, void* ptr) {
  return allocator.ctl(allocator.self, IREE_HAL_EXECUTABLE_PLUGIN_ALLOCATOR_COMMAND_FREE, NULL, &ptr);
}

typedef struct iree_hal_executable_plugin_string_view_t {
  const char* data;
  iree_host_size_t size;
} iree_hal_executable_plugin_string_view_t;
typedef struct iree_hal_executable_plugin_string_pair_t {
  union {
    iree_hal_executable_plugin_string_view_t first;
    iree_hal_executable_plugin_string_view_t key;
  };
  union {
    iree_hal_executable_plugin_string_view_t second;
    iree_hal_executable_plugin_string_view_t value;
  };
} iree_hal_executable_plugin_string_pair_t;

enum iree_hal_executable_plugin_resolution_bits_e {
  IREE_HAL_EXECUTABLE_PLUGIN_RESOLUTION_MISSING_OPTIONAL = 1u << 0,
};
typedef uint32_t iree_hal_executable_plugin_resolution_t;
static inline bool iree_hal_executable_plugin_import_is_optional(const char* symbol_name) {
  return symbol_name && symbol_name[0] == '?';
}
// strcmp, for plugins without a C library.
static inline int iree_hal_executable_plugin_strcmp(const char* lhs, const char* rhs) {
  while (*lhs && *lhs == *rhs) ++lhs, ++rhs;
  return (int)(unsigned char)*lhs - (int)(unsigned char)*rhs;
}

typedef struct iree_hal_executable_plugin_environment_v0_t {
  iree_hal_executable_plugin_allocator_t host_allocator;
} iree_hal_executable_plugin_environment_v0_t;

typedef struct iree_hal_executable_plugin_resolve_params_v0_t {
  size_t count;
  const char* const* symbol_names;  // sorted; optional ones start with `?`
  void** out_fn_ptrs;               // entries that are set already are to be kept
  void** out_fn_contexts;
} iree_hal_executable_plugin_resolve_params_v0_t;
// Provides what it can. Missing required imports: NOT_FOUND; the host then asks other plugins for the rest.
typedef iree_hal_executable_plugin_status_t (*iree_hal_executable_plugin_resolve_fn_v0_t)(
    void* self, const iree_hal_executable_plugin_resolve_params_v0_t* params,
    iree_hal_executable_plugin_resolution_t* out_resolution);

typedef struct iree_hal_executable_plugin_v0_t {
  const iree_hal_executable_plugin_header_t* header;
  // Called once; `params` are key=value pairs from the user.
  iree_hal_executable_plugin_status_t (*load)(const iree_hal_executable_plugin_environment_v0_t* environment,
                                              size_t param_count,
                                              const iree_hal_executable_plugin_string_pair_t* params, void** out_self);
  void (*unload)(void* self);
  iree_hal_executable_plugin_resolve_fn_v0_t resolve;
} iree_hal_executable_plugin_v0_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_EXECUTABLE_PLUGIN_H_
