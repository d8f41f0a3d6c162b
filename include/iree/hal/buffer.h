// Buffers: ranges of device memory.
//
// A buffer is an allocation or a range of one ("subspan"); offsets and lengths passed to functions are bytes relative
// to the buffer, and IREE_HAL_WHOLE_BUFFER means "to its end". Contents are not synchronised: whoever reads must have
// waited for whoever wrote. Every function may be called from any thread.
#ifndef IREE_HAL_BUFFER_H_
#define IREE_HAL_BUFFER_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_allocator_t iree_hal_allocator_t;
typedef struct iree_hal_buffer_t iree_hal_buffer_t;
typedef struct iree_hal_device_t iree_hal_device_t;

#define IREE_HAL_WHOLE_BUFFER ((iree_device_size_t)(-1))

// Where memory is and who reaches it.
enum iree_hal_memory_type_bits_t {
  IREE_HAL_MEMORY_TYPE_NONE = 0u,
  IREE_HAL_MEMORY_TYPE_OPTIMAL = 1u << 0,        // the allocator chooses the best place
  IREE_HAL_MEMORY_TYPE_HOST_VISIBLE = 1u << 1,   // the host can map it
  IREE_HAL_MEMORY_TYPE_HOST_COHERENT = 1u << 2,  // mappings need no flush or invalidate
  IREE_HAL_MEMORY_TYPE_HOST_CACHED = 1u << 3,    // fast to read through a mapping
  IREE_HAL_MEMORY_TYPE_HOST_LOCAL = IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_HOST_COHERENT | (1u << 6),
  IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_HOST = IREE_HAL_MEMORY_TYPE_OPTIMAL | IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
  IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE = 1u << 4,
  IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL = IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE | (1u << 5),
  IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_DEVICE = IREE_HAL_MEMORY_TYPE_OPTIMAL | IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
};
typedef uint32_t iree_hal_memory_type_t;

// What a buffer's holder may do to its contents.
enum iree_hal_memory_access_bits_t {
  IREE_HAL_MEMORY_ACCESS_NONE = 0u,
  IREE_HAL_MEMORY_ACCESS_READ = 1u << 0,
  IREE_HAL_MEMORY_ACCESS_WRITE = 1u << 1,
  IREE_HAL_MEMORY_ACCESS_DISCARD = 1u << 2,  // prior contents need not be kept
  IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE = IREE_HAL_MEMORY_ACCESS_WRITE | IREE_HAL_MEMORY_ACCESS_DISCARD,
  IREE_HAL_MEMORY_ACCESS_MAY_ALIAS = 1u << 3,
  IREE_HAL_MEMORY_ACCESS_UNALIGNED = 1u << 4,
  IREE_HAL_MEMORY_ACCESS_ANY = 1u << 5,  // skips access checks
  IREE_HAL_MEMORY_ACCESS_ALL =
      IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE | IREE_HAL_MEMORY_ACCESS_DISCARD,
};
typedef uint16_t iree_hal_memory_access_t;

// What a buffer may be used for.
enum iree_hal_buffer_usage_bits_t {
  IREE_HAL_BUFFER_USAGE_NONE = 0u,
  IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE = 1u << 0,
  IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET = 1u << 1,
  IREE_HAL_BUFFER_USAGE_TRANSFER = IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE | IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET,
  IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS = 1u << 8,  // holds workgroup counts
  IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ = 1u << 9,
  IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ = 1u << 10,
  IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_WRITE = 1u << 11,
  IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE =
      IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_WRITE,
  IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_READ = 1u << 12,
  IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_WRITE = 1u << 13,
  IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE =
      IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_READ | IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE_WRITE,
  IREE_HAL_BUFFER_USAGE_DISPATCH = IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS |
                                   IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ |
                                   IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE | IREE_HAL_BUFFER_USAGE_DISPATCH_IMAGE,
  IREE_HAL_BUFFER_USAGE_SHARING_EXPORT = 1u << 16,
  IREE_HAL_BUFFER_USAGE_SHARING_REPLICATE = 1u << 17,
  IREE_HAL_BUFFER_USAGE_SHARING_CONCURRENT = 1u << 18,
  IREE_HAL_BUFFER_USAGE_SHARING_IMMUTABLE = 1u << 19,
  IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED = 1u << 24,
  IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT = 1u << 25,
  IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL = 1u << 26,  // allocate even if mapping is impossible
  IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM = 1u << 27,
  IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_SEQUENTIAL_WRITE = 1u << 28,
  IREE_HAL_BUFFER_USAGE_MAPPING = IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED | IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM,
  IREE_HAL_BUFFER_USAGE_DEFAULT = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE,
};
typedef uint32_t iree_hal_buffer_usage_t;

// The bit fields as text, names joined by `|` ("DEVICE_LOCAL|HOST_VISIBLE"). Parse errors: INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_hal_memory_type_parse(iree_string_view_t value, iree_hal_memory_type_t* out_value);
IREE_API_EXPORT iree_string_view_t iree_hal_memory_type_format(iree_hal_memory_type_t value,
                                                               iree_bitfield_string_temp_t* out_temp);
IREE_API_EXPORT iree_status_t iree_hal_memory_access_parse(iree_string_view_t value,
                                                           iree_hal_memory_access_t* out_value);
IREE_API_EXPORT iree_string_view_t iree_hal_memory_access_format(iree_hal_memory_access_t value,
                                                                 iree_bitfield_string_temp_t* out_temp);
IREE_API_EXPORT iree_status_t iree_hal_buffer_usage_parse(iree_string_view_t value, iree_hal_buffer_usage_t* out_value);
IREE_API_EXPORT iree_string_view_t iree_hal_buffer_usage_format(iree_hal_buffer_usage_t value,
                                                                iree_bitfield_string_temp_t* out_temp);

typedef enum iree_hal_buffer_overlap_e {
  IREE_HAL_BUFFER_OVERLAP_DISJOINT = 0,
  IREE_HAL_BUFFER_OVERLAP_PARTIAL,
  IREE_HAL_BUFFER_OVERLAP_COMPLETE,  // the same range
} iree_hal_buffer_overlap_t;

enum iree_hal_transfer_buffer_flag_bits_t {
  IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT = 0,
};
typedef uint32_t iree_hal_transfer_buffer_flags_t;

enum iree_hal_mapping_mode_bits_t {
  IREE_HAL_MAPPING_MODE_SCOPED = 1u << 0,      // ends with unmap, or with the buffer
  IREE_HAL_MAPPING_MODE_PERSISTENT = 1u << 1,  // may stay while the device uses the buffer
};
typedef uint32_t iree_hal_mapping_mode_t;

// Where an allocation came from.
enum iree_hal_buffer_placement_flag_bits_t {
  IREE_HAL_BUFFER_PLACEMENT_FLAG_NONE = 0u,
  IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS = 1u << 0,            // by queue_alloca
  IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME = 1u << 1,  // may outlive its queue_dealloca
};
typedef uint32_t iree_hal_buffer_placement_flags_t;
typedef struct iree_hal_buffer_placement_t {
  iree_hal_device_t* device;  // not owned; NULL when no device made it
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_buffer_placement_flags_t flags;
  uint32_t reserved;
} iree_hal_buffer_placement_t;
static inline iree_hal_buffer_placement_t iree_hal_buffer_placement_undefined(void) {
  iree_hal_buffer_placement_t placement = {NULL, 0, 0, 0};
  return placement;
}
static inline bool iree_hal_buffer_placement_is_undefined(const iree_hal_buffer_placement_t placement) {
  return placement.device == NULL;
}

// What to allocate. Fields left 0 get defaults.
typedef struct iree_hal_buffer_params_t {
  iree_hal_buffer_usage_t usage;             // 0: IREE_HAL_BUFFER_USAGE_DEFAULT
  iree_hal_memory_access_t access;           // 0: IREE_HAL_MEMORY_ACCESS_ALL
  iree_hal_memory_type_t type;               // 0: IREE_HAL_MEMORY_TYPE_OPTIMAL
  iree_hal_queue_affinity_t queue_affinity;  // 0: any
  iree_device_size_t min_alignment;          // bytes, power of two; 0: the allocator's
} iree_hal_buffer_params_t;
static inline void iree_hal_buffer_params_canonicalize(iree_hal_buffer_params_t* params) {
  if (!params->usage) params->usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
  if (!params->access) params->access = IREE_HAL_MEMORY_ACCESS_ALL;
  if (!params->type) params->type = IREE_HAL_MEMORY_TYPE_OPTIMAL;
  if (!params->queue_affinity) params->queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
}
// `params` with more usage bits.
static inline iree_hal_buffer_params_t iree_hal_buffer_params_with_usage(const iree_hal_buffer_params_t params,
                                                                         iree_hal_buffer_usage_t usage) {
  iree_hal_buffer_params_t result = params;
  if (!result.usage) result.usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
  result.usage |= usage;
  return result;
}

// A mapped range. `contents` is what callers use.
typedef struct iree_hal_buffer_mapping_impl_t {
  iree_device_size_t byte_offset;  // within the allocation
  iree_hal_memory_access_t allowed_access;
  uint32_t is_persistent : 1;
  uint32_t reserved_flags : 31;
  uint64_t reserved[1];  // the driver's
} iree_hal_buffer_mapping_impl_t;
typedef struct iree_hal_buffer_mapping_t {
  iree_byte_span_t contents;
  iree_hal_buffer_t* buffer;  // retained while a scoped mapping lives
  iree_hal_buffer_mapping_impl_t impl;
} iree_hal_buffer_mapping_t;

// Called when an imported buffer's memory is no longer used.
typedef void(IREE_API_PTR* iree_hal_buffer_release_fn_t)(void* user_data, iree_hal_buffer_t* buffer);
typedef struct {
  iree_hal_buffer_release_fn_t fn;
  void* user_data;
} iree_hal_buffer_release_callback_t;
static inline iree_hal_buffer_release_callback_t iree_hal_buffer_release_callback_null(void) {
  iree_hal_buffer_release_callback_t callback = {NULL, NULL};
  return callback;
}

//===----------------------------------------------------------------------------------------------------------------===
// iree_hal_buffer_t
//===----------------------------------------------------------------------------------------------------------------===

// Checks that what a buffer has covers what is needed. Errors: PERMISSION_DENIED, naming the missing bits.
IREE_API_EXPORT iree_status_t iree_hal_buffer_validate_memory_type(iree_hal_memory_type_t actual_memory_type,
                                                                   iree_hal_memory_type_t expected_memory_type);
IREE_API_EXPORT iree_status_t iree_hal_buffer_validate_access(iree_hal_memory_access_t allowed_memory_access,
                                                              iree_hal_memory_access_t required_memory_access);
IREE_API_EXPORT iree_status_t iree_hal_buffer_validate_usage(iree_hal_buffer_usage_t allowed_usage,
                                                             iree_hal_buffer_usage_t required_usage);
// Errors: OUT_OF_RANGE when the range is not inside the buffer.
IREE_API_EXPORT iree_status_t iree_hal_buffer_validate_range(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                                             iree_device_size_t byte_length);
// Resolves `offset` and `length` (perhaps WHOLE_BUFFER) within a range of `max_length` bytes that starts at
// `base_offset`; *out_adjusted_offset includes the base. `out_adjusted_length` may be NULL. Errors: OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_buffer_calculate_range(iree_device_size_t base_offset,
                                                              iree_device_size_t max_length, iree_device_size_t offset,
                                                              iree_device_size_t length,
                                                              iree_device_size_t* out_adjusted_offset,
                                                              iree_device_size_t* out_adjusted_length);
// Whether two ranges share bytes.
IREE_API_EXPORT iree_hal_buffer_overlap_t iree_hal_buffer_test_overlap(
    iree_hal_buffer_t* lhs_buffer, iree_device_size_t lhs_offset, iree_device_size_t lhs_length,
    iree_hal_buffer_t* rhs_buffer, iree_device_size_t rhs_offset, iree_device_size_t rhs_length);

// A buffer over a range of `buffer`, which it keeps alive. The whole range gives `buffer` itself, retained. Errors:
// OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_buffer_subspan(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                                      iree_device_size_t byte_length, iree_allocator_t host_allocator,
                                                      iree_hal_buffer_t** out_buffer);
// The same, but always a buffer of its own.
IREE_API_EXPORT iree_status_t iree_hal_subspan_buffer_create(iree_hal_buffer_t* allocated_buffer,
                                                             iree_device_size_t byte_offset,
                                                             iree_device_size_t byte_length,
                                                             iree_allocator_t host_allocator,
                                                             iree_hal_buffer_t** out_buffer);
// The same, where `release_callback` runs when it dies. Not part of IREE's API.
IREE_API_EXPORT iree_status_t iree_hal_buffer_guard(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                                    iree_device_size_t byte_length,
                                                    iree_hal_buffer_release_callback_t release_callback,
                                                    iree_allocator_t host_allocator, iree_hal_buffer_t** out_buffer);

IREE_API_EXPORT void iree_hal_buffer_retain(iree_hal_buffer_t* buffer);
IREE_API_EXPORT void iree_hal_buffer_release(iree_hal_buffer_t* buffer);

// The allocation that the buffer is a range of, perhaps itself; not retained.
IREE_API_EXPORT iree_hal_buffer_t* iree_hal_buffer_allocated_buffer(const iree_hal_buffer_t* buffer);
// Bytes of the whole allocation, padding included.
IREE_API_EXPORT iree_device_size_t iree_hal_buffer_allocation_size(const iree_hal_buffer_t* buffer);
IREE_API_EXPORT iree_hal_buffer_placement_t iree_hal_buffer_allocation_placement(const iree_hal_buffer_t* buffer);
// Counts of users of a queue-allocated buffer's contents, for code that decides when to queue_dealloca: `preserve` adds
// one, `discard` drops one and is true for the last. Every allocation starts with one.
IREE_API_EXPORT void iree_hal_buffer_allocation_preserve(iree_hal_buffer_t* buffer);
IREE_API_EXPORT IREE_MUST_USE_RESULT bool iree_hal_buffer_allocation_discard(iree_hal_buffer_t* buffer);
// True when there is one user (or none): nobody else wants the contents.
IREE_API_EXPORT bool iree_hal_buffer_allocation_is_terminal(const iree_hal_buffer_t* buffer);

// The range within the allocation, in bytes.
IREE_API_EXPORT iree_device_size_t iree_hal_buffer_byte_offset(const iree_hal_buffer_t* buffer);
IREE_API_EXPORT iree_device_size_t iree_hal_buffer_byte_length(const iree_hal_buffer_t* buffer);
IREE_API_EXPORT iree_hal_memory_type_t iree_hal_buffer_memory_type(const iree_hal_buffer_t* buffer);
IREE_API_EXPORT iree_hal_memory_access_t iree_hal_buffer_allowed_access(const iree_hal_buffer_t* buffer);
IREE_API_EXPORT iree_hal_buffer_usage_t iree_hal_buffer_allowed_usage(const iree_hal_buffer_t* buffer);

//===----------------------------------------------------------------------------------------------------------------===
// Host access to mappable buffers. Errors: PERMISSION_DENIED (not HOST_VISIBLE, access or usage not allowed),
// OUT_OF_RANGE.
//===----------------------------------------------------------------------------------------------------------------===

IREE_API_EXPORT iree_status_t iree_hal_buffer_map_zero(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                                       iree_device_size_t byte_length);
// Repeats a pattern of 1, 2, 4, 8 or 16 bytes; offset and length must be multiples of its size.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_fill(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                                       iree_device_size_t byte_length, const void* pattern,
                                                       iree_host_size_t pattern_length);
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_read(iree_hal_buffer_t* source_buffer,
                                                       iree_device_size_t source_offset, void* target_buffer,
                                                       iree_device_size_t data_length);
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_write(iree_hal_buffer_t* target_buffer,
                                                        iree_device_size_t target_offset, const void* source_buffer,
                                                        iree_device_size_t data_length);
// The ranges must not overlap (INVALID_ARGUMENT).
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_copy(iree_hal_buffer_t* source_buffer,
                                                       iree_device_size_t source_offset,
                                                       iree_hal_buffer_t* target_buffer,
                                                       iree_device_size_t target_offset,
                                                       iree_device_size_t data_length);

// Maps a range; pair with unmap_range. Without DISCARD the contents are there to read.
IREE_API_EXPORT iree_status_t iree_hal_buffer_map_range(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
                                                        iree_hal_memory_access_t memory_access,
                                                        iree_device_size_t byte_offset, iree_device_size_t byte_length,
                                                        iree_hal_buffer_mapping_t* out_buffer_mapping);
// The first half of iree_hal_buffer_map_range, which checks and needs no memory yet, and the second, which maps. Either
// way iree_hal_buffer_unmap_range ends it.
IREE_API_EXPORT iree_status_t iree_hal_buffer_prepare_map_range(
    iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode, iree_hal_memory_access_t memory_access,
    iree_device_size_t byte_offset, iree_device_size_t byte_length, iree_hal_buffer_mapping_t* out_buffer_mapping);
IREE_API_EXPORT iree_status_t iree_hal_buffer_commit_map_range(iree_hal_buffer_t* buffer,
                                                               iree_hal_mapping_mode_t mapping_mode,
                                                               iree_hal_memory_access_t memory_access,
                                                               iree_hal_buffer_mapping_t* buffer_mapping);
IREE_API_EXPORT iree_status_t iree_hal_buffer_unmap_range(iree_hal_buffer_mapping_t* buffer_mapping);
// For memory that is not HOST_COHERENT: makes device writes visible to the host, and host writes to the device.
IREE_API_EXPORT iree_status_t iree_hal_buffer_mapping_invalidate_range(iree_hal_buffer_mapping_t* buffer_mapping,
                                                                       iree_device_size_t byte_offset,
                                                                       iree_device_size_t byte_length);
IREE_API_EXPORT iree_status_t iree_hal_buffer_mapping_flush_range(iree_hal_buffer_mapping_t* buffer_mapping,
                                                                  iree_device_size_t byte_offset,
                                                                  iree_device_size_t byte_length);
// A part of a mapping. Errors: PERMISSION_DENIED, OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_buffer_mapping_subspan(iree_hal_buffer_mapping_t* buffer_mapping,
                                                              iree_hal_memory_access_t memory_access,
                                                              iree_device_size_t byte_offset,
                                                              iree_device_size_t byte_length,
                                                              iree_byte_span_t* out_span);

//===----------------------------------------------------------------------------------------------------------------===
// For drivers
//===----------------------------------------------------------------------------------------------------------------===

// Wraps host memory; `release_callback` runs when the buffer dies. `data` has at least `allocation_size` bytes, and is
// aligned to IREE_HAL_HEAP_BUFFER_ALIGNMENT where the usage allows dispatches, else to 16 bytes. Errors: OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_heap_buffer_wrap(
    iree_hal_buffer_placement_t placement, iree_hal_memory_type_t memory_type, iree_hal_memory_access_t allowed_access,
    iree_hal_buffer_usage_t allowed_usage, iree_device_size_t allocation_size, iree_byte_span_t data,
    iree_hal_buffer_release_callback_t release_callback, iree_allocator_t host_allocator,
    iree_hal_buffer_t** out_buffer);

// Offsets are within the allocation and ranges checked.
typedef struct iree_hal_buffer_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_buffer_t* buffer);
  iree_status_t(IREE_API_PTR* map_range)(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
                                         iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping);
  iree_status_t(IREE_API_PTR* unmap_range)(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                                           iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping);
  iree_status_t(IREE_API_PTR* invalidate_range)(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                                                iree_device_size_t local_byte_length);
  iree_status_t(IREE_API_PTR* flush_range)(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                                           iree_device_size_t local_byte_length);
} iree_hal_buffer_vtable_t;

struct iree_hal_buffer_t {
  iree_hal_resource_t resource;
  iree_hal_buffer_t* allocated_buffer;  // itself, or retained
  iree_device_size_t allocation_size;
  iree_device_size_t byte_offset;
  iree_device_size_t byte_length;
  iree_hal_buffer_placement_t placement;
  iree_atomic_uint32_t preserve_count;
  iree_hal_memory_type_t memory_type;
  iree_hal_buffer_usage_t allowed_usage;
  iree_hal_memory_access_t allowed_access;
};

// Initializes the base of a driver's buffer. `allocated_buffer` is `buffer` itself or what it is a range of, which is
// retained and given back by iree_hal_buffer_deinitialize.
IREE_API_EXPORT void iree_hal_buffer_initialize(iree_hal_buffer_placement_t placement,
                                                iree_hal_buffer_t* allocated_buffer, iree_device_size_t allocation_size,
                                                iree_device_size_t byte_offset, iree_device_size_t byte_length,
                                                iree_hal_memory_type_t memory_type,
                                                iree_hal_memory_access_t allowed_access,
                                                iree_hal_buffer_usage_t allowed_usage,
                                                const iree_hal_buffer_vtable_t* vtable, iree_hal_buffer_t* buffer);
IREE_API_EXPORT void iree_hal_buffer_deinitialize(iree_hal_buffer_t* buffer);
IREE_API_EXPORT void iree_hal_buffer_destroy(iree_hal_buffer_t* buffer);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_BUFFER_H_
