// Buffers: the base object, ranges, host access, and ranges of buffers as buffers.
//
// Public functions check and translate offsets to the allocation; vtables are called on the buffer itself with offsets
// within the allocation.
#include "iree/hal/buffer.h"

#include "base/trace.h"
#include "hal/detail.h"
#include "hal/profile/buffers.h"

HAL_DEFINE_LIFETIME(buffer)

void iree_hal_buffer_initialize(iree_hal_buffer_placement_t placement, iree_hal_buffer_t* allocated_buffer,
                                iree_device_size_t allocation_size, iree_device_size_t byte_offset,
                                iree_device_size_t byte_length, iree_hal_memory_type_t memory_type,
                                iree_hal_memory_access_t allowed_access, iree_hal_buffer_usage_t allowed_usage,
                                const iree_hal_buffer_vtable_t* vtable, iree_hal_buffer_t* buffer) {
  iree_hal_resource_initialize(vtable, &buffer->resource);
  buffer->allocated_buffer = allocated_buffer;
  buffer->allocation_size = allocation_size;
  buffer->byte_offset = byte_offset;
  buffer->byte_length = byte_length;
  buffer->placement = placement;
  buffer->preserve_count = 1;
  buffer->memory_type = memory_type;
  buffer->allowed_usage = allowed_usage;
  buffer->allowed_access = allowed_access;
  if (allocated_buffer != buffer) iree_hal_buffer_retain(allocated_buffer);
}

void iree_hal_buffer_deinitialize(iree_hal_buffer_t* buffer) {
  if (hal_profile_watches_buffers()) hal_profile_buffer_gone(buffer);
  if (buffer->allocated_buffer != buffer) iree_hal_buffer_release(buffer->allocated_buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Facts
//===----------------------------------------------------------------------------------------------------------------===

iree_hal_buffer_t* iree_hal_buffer_allocated_buffer(const iree_hal_buffer_t* buffer) {
  return buffer->allocated_buffer;
}
iree_device_size_t iree_hal_buffer_allocation_size(const iree_hal_buffer_t* buffer) {
  return buffer->allocated_buffer->allocation_size;
}
iree_hal_buffer_placement_t iree_hal_buffer_allocation_placement(const iree_hal_buffer_t* buffer) {
  return buffer->allocated_buffer->placement;
}
iree_device_size_t iree_hal_buffer_byte_offset(const iree_hal_buffer_t* buffer) { return buffer->byte_offset; }
iree_device_size_t iree_hal_buffer_byte_length(const iree_hal_buffer_t* buffer) { return buffer->byte_length; }
iree_hal_memory_type_t iree_hal_buffer_memory_type(const iree_hal_buffer_t* buffer) { return buffer->memory_type; }
iree_hal_memory_access_t iree_hal_buffer_allowed_access(const iree_hal_buffer_t* buffer) {
  return buffer->allowed_access;
}
iree_hal_buffer_usage_t iree_hal_buffer_allowed_usage(const iree_hal_buffer_t* buffer) { return buffer->allowed_usage; }

void iree_hal_buffer_allocation_preserve(iree_hal_buffer_t* buffer) {
  iree_atomic_fetch_add(&buffer->allocated_buffer->preserve_count, 1, iree_memory_order_relaxed);
}
bool iree_hal_buffer_allocation_discard(iree_hal_buffer_t* buffer) {
  return iree_atomic_fetch_sub(&buffer->allocated_buffer->preserve_count, 1, iree_memory_order_acq_rel) == 1;
}
bool iree_hal_buffer_allocation_is_terminal(const iree_hal_buffer_t* buffer) {
  return iree_atomic_load(&buffer->allocated_buffer->preserve_count, iree_memory_order_acquire) <= 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// Checks
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_buffer_validate_memory_type(iree_hal_memory_type_t actual_memory_type,
                                                   iree_hal_memory_type_t expected_memory_type) {
  if (iree_all_bits_set(actual_memory_type, expected_memory_type)) return iree_ok_status();
  iree_bitfield_string_temp_t actual, expected;
  iree_hal_memory_type_format(actual_memory_type, &actual);
  iree_hal_memory_type_format(expected_memory_type, &expected);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                          "buffer memory type is not compatible with the requested operation; buffer has %s, "
                          "operation requires %s",
                          actual.buffer, expected.buffer);
}

iree_status_t iree_hal_buffer_validate_access(iree_hal_memory_access_t allowed_memory_access,
                                              iree_hal_memory_access_t required_memory_access) {
  if (required_memory_access & IREE_HAL_MEMORY_ACCESS_ANY) return iree_ok_status();
  if (!iree_any_bit_set(required_memory_access, IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "memory access must specify one or more of READ or WRITE");
  }
  if (iree_all_bits_set(allowed_memory_access, required_memory_access)) return iree_ok_status();
  iree_bitfield_string_temp_t allowed, required;
  iree_hal_memory_access_format(allowed_memory_access, &allowed);
  iree_hal_memory_access_format(required_memory_access, &required);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                          "buffer does not support the requested access type; buffer allows %s, operation requires %s",
                          allowed.buffer, required.buffer);
}

iree_status_t iree_hal_buffer_validate_usage(iree_hal_buffer_usage_t allowed_usage,
                                             iree_hal_buffer_usage_t required_usage) {
  if (iree_all_bits_set(allowed_usage, required_usage)) return iree_ok_status();
  iree_bitfield_string_temp_t allowed, required;
  iree_hal_buffer_usage_format(allowed_usage, &allowed);
  iree_hal_buffer_usage_format(required_usage, &required);
  return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                          "requested usage was not specified when the buffer was allocated; buffer allows %s, "
                          "operation requires %s",
                          allowed.buffer, required.buffer);
}

iree_status_t iree_hal_buffer_validate_range(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                             iree_device_size_t byte_length) {
  iree_device_size_t offset = 0;
  return iree_hal_buffer_calculate_range(0, buffer->byte_length, byte_offset, byte_length, &offset, NULL);
}

iree_status_t iree_hal_buffer_calculate_range(iree_device_size_t base_offset, iree_device_size_t max_length,
                                              iree_device_size_t offset, iree_device_size_t length,
                                              iree_device_size_t* out_adjusted_offset,
                                              iree_device_size_t* out_adjusted_length) {
  *out_adjusted_offset = 0;
  if (out_adjusted_length) *out_adjusted_length = 0;
  if (offset > max_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "attempted to access an address off the end of the valid buffer range; offset=%" PRIdsz
                            ", length=%" PRIdsz ", buffer byte_length=%" PRIdsz,
                            offset, length, max_length);
  }
  if (length == IREE_HAL_WHOLE_BUFFER) length = max_length - offset;
  if (length > max_length - offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "attempted to access an address outside of the valid buffer range; offset=%" PRIdsz
                            ", length=%" PRIdsz ", end(exc)=%" PRIdsz ", buffer byte_length=%" PRIdsz,
                            offset, length, offset + length, max_length);
  }
  if (!iree_device_size_checked_add(base_offset, offset, out_adjusted_offset)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "buffer offset %" PRIdsz " is too large", offset);
  }
  if (out_adjusted_length) *out_adjusted_length = length;
  return iree_ok_status();
}

iree_hal_buffer_overlap_t iree_hal_buffer_test_overlap(iree_hal_buffer_t* lhs_buffer, iree_device_size_t lhs_offset,
                                                       iree_device_size_t lhs_length, iree_hal_buffer_t* rhs_buffer,
                                                       iree_device_size_t rhs_offset, iree_device_size_t rhs_length) {
  if (lhs_buffer->allocated_buffer != rhs_buffer->allocated_buffer) return IREE_HAL_BUFFER_OVERLAP_DISJOINT;
  if (lhs_length == IREE_HAL_WHOLE_BUFFER) lhs_length = lhs_buffer->byte_length - lhs_offset;
  if (rhs_length == IREE_HAL_WHOLE_BUFFER) rhs_length = rhs_buffer->byte_length - rhs_offset;
  iree_device_size_t lhs_start = lhs_buffer->byte_offset + lhs_offset, lhs_end = lhs_start + lhs_length;
  iree_device_size_t rhs_start = rhs_buffer->byte_offset + rhs_offset, rhs_end = rhs_start + rhs_length;
  if (lhs_length == 0 || rhs_length == 0) return IREE_HAL_BUFFER_OVERLAP_DISJOINT;
  if (lhs_start == rhs_start && lhs_end == rhs_end) return IREE_HAL_BUFFER_OVERLAP_COMPLETE;
  return lhs_start < rhs_end && rhs_start < lhs_end ? IREE_HAL_BUFFER_OVERLAP_PARTIAL
                                                    : IREE_HAL_BUFFER_OVERLAP_DISJOINT;
}

//===----------------------------------------------------------------------------------------------------------------===
// Subspans: views that pass everything on to the allocation
//===----------------------------------------------------------------------------------------------------------------===

typedef struct subspan_buffer_t {
  iree_hal_buffer_t base;
  iree_allocator_t host_allocator;
  iree_hal_buffer_release_callback_t release_callback;
} subspan_buffer_t;

static void subspan_destroy(iree_hal_buffer_t* buffer) {
  subspan_buffer_t* subspan = (subspan_buffer_t*)buffer;
  iree_hal_buffer_release_callback_t callback = subspan->release_callback;
  iree_hal_buffer_deinitialize(buffer);
  if (callback.fn) callback.fn(callback.user_data, buffer);
  iree_allocator_free(subspan->host_allocator, buffer);
}

static iree_status_t subspan_map_range(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
                                       iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                       iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  iree_hal_buffer_t* target = buffer->allocated_buffer;
  return HAL_CALL(target, iree_hal_buffer, map_range)(target, mapping_mode, memory_access, local_byte_offset,
                                                      local_byte_length, mapping);
}

static iree_status_t subspan_unmap_range(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  iree_hal_buffer_t* target = buffer->allocated_buffer;
  return HAL_CALL(target, iree_hal_buffer, unmap_range)(target, local_byte_offset, local_byte_length, mapping);
}

static iree_status_t subspan_invalidate_range(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                                              iree_device_size_t local_byte_length) {
  iree_hal_buffer_t* target = buffer->allocated_buffer;
  return HAL_CALL(target, iree_hal_buffer, invalidate_range)(target, local_byte_offset, local_byte_length);
}

static iree_status_t subspan_flush_range(iree_hal_buffer_t* buffer, iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length) {
  iree_hal_buffer_t* target = buffer->allocated_buffer;
  return HAL_CALL(target, iree_hal_buffer, flush_range)(target, local_byte_offset, local_byte_length);
}

static const iree_hal_buffer_vtable_t subspan_vtable = {
    .destroy = subspan_destroy,
    .map_range = subspan_map_range,
    .unmap_range = subspan_unmap_range,
    .invalidate_range = subspan_invalidate_range,
    .flush_range = subspan_flush_range,
};

iree_status_t iree_hal_buffer_subspan(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                      iree_device_size_t byte_length, iree_allocator_t host_allocator,
                                      iree_hal_buffer_t** out_buffer) {
  iree_device_size_t offset = 0, length = 0;
  *out_buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(buffer->byte_offset, buffer->byte_length, byte_offset,
                                                       byte_length, &offset, &length));
  if (offset != buffer->byte_offset || length != buffer->byte_length) {
    return iree_hal_buffer_guard(buffer, byte_offset, byte_length, iree_hal_buffer_release_callback_null(),
                                 host_allocator, out_buffer);
  }
  iree_hal_buffer_retain(buffer);
  *out_buffer = buffer;
  return iree_ok_status();
}

iree_status_t iree_hal_subspan_buffer_create(iree_hal_buffer_t* allocated_buffer, iree_device_size_t byte_offset,
                                             iree_device_size_t byte_length, iree_allocator_t host_allocator,
                                             iree_hal_buffer_t** out_buffer) {
  return iree_hal_buffer_guard(allocated_buffer, byte_offset, byte_length, iree_hal_buffer_release_callback_null(),
                               host_allocator, out_buffer);
}

iree_status_t iree_hal_buffer_guard(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                    iree_device_size_t byte_length, iree_hal_buffer_release_callback_t release_callback,
                                    iree_allocator_t host_allocator, iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(buffer->byte_offset, buffer->byte_length, byte_offset,
                                                       byte_length, &offset, &length));
  subspan_buffer_t* subspan = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*subspan), (void**)&subspan));
  subspan->host_allocator = host_allocator;
  subspan->release_callback = release_callback;
  iree_hal_buffer_initialize(buffer->placement, buffer->allocated_buffer, buffer->allocation_size, offset, length,
                             buffer->memory_type, buffer->allowed_access, buffer->allowed_usage, &subspan_vtable,
                             &subspan->base);
  *out_buffer = &subspan->base;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Mapping
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_buffer_pointer(iree_hal_buffer_t* buffer, uint8_t** out_pointer) {
  *out_pointer = NULL;
  if (!(buffer->memory_type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE)) {
    return iree_hal_buffer_validate_memory_type(buffer->memory_type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE);
  }
  iree_hal_buffer_mapping_t mapping = {0};
  mapping.impl.is_persistent = 1;
  IREE_RETURN_IF_ERROR(IREE_HAL_VTABLE(buffer, iree_hal_buffer)
                           ->map_range(buffer, IREE_HAL_MAPPING_MODE_PERSISTENT, IREE_HAL_MEMORY_ACCESS_ANY,
                                       buffer->byte_offset, buffer->byte_length, &mapping));
  *out_pointer = mapping.contents.data;
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_prepare_map_range(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
                                                iree_hal_memory_access_t memory_access, iree_device_size_t byte_offset,
                                                iree_device_size_t byte_length,
                                                iree_hal_buffer_mapping_t* out_buffer_mapping) {
  memset(out_buffer_mapping, 0, sizeof(*out_buffer_mapping));
  bool persistent = mapping_mode & IREE_HAL_MAPPING_MODE_PERSISTENT;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_memory_type(buffer->memory_type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_access(buffer->allowed_access, memory_access));
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_usage(buffer->allowed_usage, persistent ? IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT
                                                                       : IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED));
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(buffer->byte_offset, buffer->byte_length, byte_offset,
                                                       byte_length, &offset, &length));
  out_buffer_mapping->impl.byte_offset = offset;
  out_buffer_mapping->impl.allowed_access = memory_access;
  out_buffer_mapping->impl.is_persistent = persistent;
  out_buffer_mapping->contents.data_length = length;
  out_buffer_mapping->buffer = buffer;
  if (!persistent) iree_hal_buffer_retain(buffer);
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_commit_map_range(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
                                               iree_hal_memory_access_t memory_access,
                                               iree_hal_buffer_mapping_t* buffer_mapping) {
  return HAL_CALL(buffer, iree_hal_buffer, map_range)(buffer, mapping_mode, memory_access,
                                                      buffer_mapping->impl.byte_offset,
                                                      buffer_mapping->contents.data_length, buffer_mapping);
}

// Gives back a mapping without memory.
static void forget_mapping(iree_hal_buffer_mapping_t* mapping) {
  if (!mapping->impl.is_persistent) iree_hal_buffer_release(mapping->buffer);
  memset(mapping, 0, sizeof(*mapping));
}

iree_status_t iree_hal_buffer_map_range(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mapping_mode,
                                        iree_hal_memory_access_t memory_access, iree_device_size_t byte_offset,
                                        iree_device_size_t byte_length, iree_hal_buffer_mapping_t* out_buffer_mapping) {
  TRACE_SCOPE("buffer_map");
  IREE_RETURN_IF_ERROR(iree_hal_buffer_prepare_map_range(buffer, mapping_mode, memory_access, byte_offset, byte_length,
                                                         out_buffer_mapping));
  iree_status_t status = iree_hal_buffer_commit_map_range(buffer, mapping_mode, memory_access, out_buffer_mapping);
  if (!iree_status_is_ok(status)) forget_mapping(out_buffer_mapping);
  return status;
}

iree_status_t iree_hal_buffer_unmap_range(iree_hal_buffer_mapping_t* buffer_mapping) {
  iree_hal_buffer_t* buffer = buffer_mapping->buffer;
  if (!buffer) return iree_ok_status();
  iree_status_t status = iree_ok_status();
  if (buffer_mapping->contents.data) {  // otherwise it was never committed
    status = HAL_CALL(buffer, iree_hal_buffer, unmap_range)(buffer, buffer_mapping->impl.byte_offset,
                                                            buffer_mapping->contents.data_length, buffer_mapping);
  }
  forget_mapping(buffer_mapping);
  return status;
}

static iree_status_t mapping_range(iree_hal_buffer_mapping_t* mapping, iree_hal_memory_access_t access,
                                   iree_device_size_t byte_offset, iree_device_size_t byte_length,
                                   iree_device_size_t* out_offset, iree_device_size_t* out_length) {
  if (!mapping->buffer) return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the buffer is not mapped");
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_access(mapping->impl.allowed_access, access));
  return iree_hal_buffer_calculate_range(mapping->impl.byte_offset, mapping->contents.data_length, byte_offset,
                                         byte_length, out_offset, out_length);
}

iree_status_t iree_hal_buffer_mapping_invalidate_range(iree_hal_buffer_mapping_t* buffer_mapping,
                                                       iree_device_size_t byte_offset, iree_device_size_t byte_length) {
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(
      mapping_range(buffer_mapping, IREE_HAL_MEMORY_ACCESS_READ, byte_offset, byte_length, &offset, &length));
  iree_hal_buffer_t* buffer = buffer_mapping->buffer;
  return HAL_CALL(buffer, iree_hal_buffer, invalidate_range)(buffer, offset, length);
}

iree_status_t iree_hal_buffer_mapping_flush_range(iree_hal_buffer_mapping_t* buffer_mapping,
                                                  iree_device_size_t byte_offset, iree_device_size_t byte_length) {
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(
      mapping_range(buffer_mapping, IREE_HAL_MEMORY_ACCESS_WRITE, byte_offset, byte_length, &offset, &length));
  iree_hal_buffer_t* buffer = buffer_mapping->buffer;
  return HAL_CALL(buffer, iree_hal_buffer, flush_range)(buffer, offset, length);
}

iree_status_t iree_hal_buffer_mapping_subspan(iree_hal_buffer_mapping_t* buffer_mapping,
                                              iree_hal_memory_access_t memory_access, iree_device_size_t byte_offset,
                                              iree_device_size_t byte_length, iree_byte_span_t* out_span) {
  *out_span = iree_byte_span_empty();
  iree_device_size_t offset = 0, length = 0;
  IREE_RETURN_IF_ERROR(mapping_range(buffer_mapping, memory_access, byte_offset, byte_length, &offset, &length));
  *out_span = iree_make_byte_span(buffer_mapping->contents.data + (offset - buffer_mapping->impl.byte_offset), length);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Access through short mappings
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_pattern_check(size_t pattern_length, uint64_t offset, uint64_t length) {
  if (!iree_host_size_is_power_of_two(pattern_length) || pattern_length > 16) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill patterns must be 1, 2, 4, 8 or 16 bytes (got %" PRIhsz ")", pattern_length);
  }
  if (offset % pattern_length || length % pattern_length) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill range at %" PRIu64 " of %" PRIu64 " bytes is not a multiple of the pattern's %" PRIhsz
                            " bytes",
                            offset, length, pattern_length);
  }
  return iree_ok_status();
}

void hal_pattern_fill(void* target, size_t length, const void* pattern, size_t pattern_length) {
  const uint8_t* bytes = (const uint8_t*)pattern;
  bool uniform = true;
  for (size_t i = 1; i < pattern_length; ++i) uniform = uniform && bytes[i] == bytes[0];
  if (uniform) {
    memset(target, bytes[0], length);
    return;
  }
  uint8_t word[16];
  for (size_t i = 0; i < sizeof(word); i += pattern_length) memcpy(word + i, pattern, pattern_length);
  uint8_t* out = (uint8_t*)target;
  size_t i = 0;
  for (; i + sizeof(word) <= length; i += sizeof(word)) memcpy(out + i, word, sizeof(word));
  memcpy(out + i, word, length - i);
}

iree_status_t iree_hal_buffer_map_fill(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                       iree_device_size_t byte_length, const void* pattern,
                                       iree_host_size_t pattern_length) {
  if (byte_length == 0) return iree_ok_status();
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(
      buffer, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, byte_offset, byte_length, &mapping));
  iree_status_t status = hal_pattern_check(pattern_length, byte_offset, mapping.contents.data_length);
  if (iree_status_is_ok(status)) {
    hal_pattern_fill(mapping.contents.data, mapping.contents.data_length, pattern, pattern_length);
    status = iree_hal_buffer_mapping_flush_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  }
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

iree_status_t iree_hal_buffer_map_zero(iree_hal_buffer_t* buffer, iree_device_size_t byte_offset,
                                       iree_device_size_t byte_length) {
  const uint8_t zero = 0;
  return iree_hal_buffer_map_fill(buffer, byte_offset, byte_length, &zero, sizeof(zero));
}

iree_status_t iree_hal_buffer_map_read(iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                       void* target_buffer, iree_device_size_t data_length) {
  if (data_length == 0) return iree_ok_status();
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(source_buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_READ, source_offset, data_length, &mapping));
  iree_status_t status = iree_hal_buffer_mapping_invalidate_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  if (iree_status_is_ok(status)) memcpy(target_buffer, mapping.contents.data, mapping.contents.data_length);
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

iree_status_t iree_hal_buffer_map_write(iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                        const void* source_buffer, iree_device_size_t data_length) {
  if (data_length == 0) return iree_ok_status();
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(target_buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, target_offset, data_length,
                                                 &mapping));
  memcpy(mapping.contents.data, source_buffer, mapping.contents.data_length);
  iree_status_t status = iree_hal_buffer_mapping_flush_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

iree_status_t iree_hal_buffer_map_copy(iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                       iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                       iree_device_size_t data_length) {
  if (data_length == 0) return iree_ok_status();
  iree_hal_buffer_mapping_t source, target;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(source_buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_READ, source_offset, data_length, &source));
  iree_device_size_t length = source.contents.data_length;
  iree_status_t status =
      iree_hal_buffer_map_range(target_buffer, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE,
                                target_offset, length, &target);
  if (!iree_status_is_ok(status)) return iree_status_join(status, iree_hal_buffer_unmap_range(&source));
  if (iree_hal_buffer_test_overlap(source_buffer, source_offset, length, target_buffer, target_offset, length) !=
      IREE_HAL_BUFFER_OVERLAP_DISJOINT) {
    status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "source and target ranges overlap within the same buffer");
  } else {
    status = iree_hal_buffer_mapping_invalidate_range(&source, 0, IREE_HAL_WHOLE_BUFFER);
    if (iree_status_is_ok(status)) {
      memcpy(target.contents.data, source.contents.data, length);
      status = iree_hal_buffer_mapping_flush_range(&target, 0, IREE_HAL_WHOLE_BUFFER);
    }
  }
  status = iree_status_join(status, iree_hal_buffer_unmap_range(&target));
  return iree_status_join(status, iree_hal_buffer_unmap_range(&source));
}
