// Sizes of dense tensors; making, parsing and printing buffer views.
#include "iree/hal/buffer_view_util.h"

#include "hal/detail.h"
#include "iree/hal/buffer_transfer.h"
#include "iree/hal/string_util.h"

//===----------------------------------------------------------------------------------------------------------------===
// Sizes
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_dense(iree_hal_encoding_type_t encoding_type) {
  if (encoding_type == IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "encoding type %u has no known layout", (unsigned)encoding_type);
}

iree_status_t iree_hal_buffer_compute_view_size(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                iree_hal_element_type_t element_type,
                                                iree_hal_encoding_type_t encoding_type,
                                                iree_device_size_t* out_allocation_size) {
  *out_allocation_size = 0;
  IREE_RETURN_IF_ERROR(check_dense(encoding_type));
  iree_device_size_t bits = iree_hal_element_bit_count(element_type);
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    if (!iree_device_size_checked_mul(bits, shape[i], &bits)) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the shape's size in bytes is too large");
    }
  }
  *out_allocation_size = bits / 8 + (bits % 8 != 0);
  return iree_ok_status();
}

// Element index of `indices`, which are inside the shape.
static iree_status_t linear_index(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                  iree_host_size_t indices_count, const iree_hal_dim_t* indices,
                                  iree_device_size_t* out_index) {
  if (indices_count != shape_rank) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "shape rank/indices mismatch: %" PRIhsz " != %" PRIhsz,
                            shape_rank, indices_count);
  }
  iree_device_size_t index = 0;
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    if (indices[i] >= shape[i]) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "index[%" PRIhsz "] out of bounds: %" PRIdim " >= %" PRIdim, i,
                              indices[i], shape[i]);
    }
    index = index * shape[i] + indices[i];
  }
  *out_index = index;
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_compute_view_offset(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                  iree_hal_element_type_t element_type,
                                                  iree_hal_encoding_type_t encoding_type,
                                                  iree_host_size_t indices_count, const iree_hal_dim_t* indices,
                                                  iree_device_size_t* out_offset) {
  *out_offset = 0;
  IREE_RETURN_IF_ERROR(check_dense(encoding_type));
  if (!iree_hal_element_is_byte_aligned(element_type)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "elements smaller than a byte have no byte offset");
  }
  iree_device_size_t index = 0;
  IREE_RETURN_IF_ERROR(linear_index(shape_rank, shape, indices_count, indices, &index));
  *out_offset = index * iree_hal_element_dense_byte_count(element_type);
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_compute_view_range(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                 iree_hal_element_type_t element_type,
                                                 iree_hal_encoding_type_t encoding_type, iree_host_size_t indices_count,
                                                 const iree_hal_dim_t* start_indices, iree_host_size_t lengths_count,
                                                 const iree_hal_dim_t* lengths, iree_device_size_t* out_start_offset,
                                                 iree_device_size_t* out_length) {
  *out_start_offset = *out_length = 0;
  if (indices_count != lengths_count || indices_count != shape_rank) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "indices/lengths/rank mismatch: %" PRIhsz ", %" PRIhsz ", %" PRIhsz, indices_count,
                            lengths_count, shape_rank);
  }
  enum { MAX_RANK = 64 };
  iree_hal_dim_t last[MAX_RANK];
  if (shape_rank > MAX_RANK) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "rank %" PRIhsz, shape_rank);
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    if (lengths[i] == 0) return iree_ok_status();
    if (__builtin_add_overflow(start_indices[i], lengths[i] - 1, &last[i])) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "length[%" PRIhsz "] is too large", i);
    }
  }
  iree_device_size_t first_offset = 0, last_offset = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_offset(shape_rank, shape, element_type, encoding_type,
                                                           indices_count, start_indices, &first_offset));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_offset(shape_rank, shape, element_type, encoding_type,
                                                           indices_count, last, &last_offset));
  *out_start_offset = first_offset;
  *out_length = last_offset - first_offset + iree_hal_element_dense_byte_count(element_type);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Making
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_buffer_view_allocate_buffer_copy(iree_hal_device_t* device, iree_hal_allocator_t* allocator,
                                                        iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                        iree_hal_element_type_t element_type,
                                                        iree_hal_encoding_type_t encoding_type,
                                                        iree_hal_buffer_params_t buffer_params,
                                                        iree_const_byte_span_t initial_data,
                                                        iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = NULL;
  iree_device_size_t size = 0;
  if (encoding_type == IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR) {
    IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_size(shape_rank, shape, element_type, encoding_type, &size));
  } else {
    size = initial_data.data_length;
  }
  if (!iree_const_byte_span_is_empty(initial_data) && initial_data.data_length != size) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "initial data of %" PRIhsz " bytes does not match the view's %" PRIdsz,
                            initial_data.data_length, size);
  }
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(allocator, buffer_params, size, &buffer));
  iree_status_t status = iree_ok_status();
  if (!iree_const_byte_span_is_empty(initial_data)) {
    status = iree_hal_device_transfer_h2d(device, initial_data.data, buffer, 0, initial_data.data_length,
                                          IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
  }
  if (iree_status_is_ok(status)) {
    status = iree_hal_buffer_view_create(buffer, shape_rank, shape, element_type, encoding_type,
                                         iree_hal_allocator_host_allocator(allocator), out_buffer_view);
  }
  iree_hal_buffer_release(buffer);
  return status;
}

typedef struct generated_t {
  iree_hal_device_t* device;
  iree_hal_allocator_t* allocator;
  iree_host_size_t rank;
  const iree_hal_dim_t* shape;
  iree_hal_element_type_t element_type;
  iree_hal_encoding_type_t encoding_type;
  iree_hal_buffer_params_t params;
  iree_device_size_t size;  // bytes
  iree_hal_buffer_view_generator_callback_t callback;
  void* user_data;
} generated_t;

static iree_status_t allocate_view(const generated_t* g, iree_const_byte_span_t contents,
                                   iree_hal_buffer_view_t** out_view) {
  return iree_hal_buffer_view_allocate_buffer_copy(g->device, g->allocator, g->rank, g->shape, g->element_type,
                                                   g->encoding_type, g->params, contents, out_view);
}

// The callback writes into the mapped buffer.
static iree_status_t generate_mapped(const generated_t* g, iree_hal_buffer_view_t** out_view) {
  iree_hal_buffer_view_t* view = NULL;
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(allocate_view(g, iree_const_byte_span_empty(), &view));
  iree_status_t status = iree_hal_buffer_map_range(iree_hal_buffer_view_buffer(view), IREE_HAL_MAPPING_MODE_SCOPED,
                                                   IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, 0, g->size, &mapping);
  if (iree_status_is_ok(status)) {
    status = g->callback(&mapping, g->user_data);
    if (iree_status_is_ok(status)) status = iree_hal_buffer_mapping_flush_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
    status = iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
  }
  if (!iree_status_is_ok(status)) {
    iree_hal_buffer_view_release(view);
    return status;
  }
  *out_view = view;
  return status;
}

// It writes into memory of the host, and a buffer is made of that when it is done.
static iree_status_t generate_staged(const generated_t* g, iree_hal_buffer_view_t** out_view) {
  iree_allocator_t host_allocator = iree_hal_allocator_host_allocator(g->allocator);
  iree_host_size_t size = (iree_host_size_t)g->size;
  iree_hal_buffer_mapping_t mapping = {.buffer = NULL};
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(host_allocator, size, IREE_HAL_HEAP_BUFFER_ALIGNMENT, 0,
                                                     (void**)&mapping.contents.data));
  mapping.contents.data_length = size;
  iree_status_t status = g->callback(&mapping, g->user_data);
  if (iree_status_is_ok(status)) status = allocate_view(g, iree_const_cast_byte_span(mapping.contents), out_view);
  iree_allocator_free_aligned(host_allocator, mapping.contents.data);
  return status;
}

iree_status_t iree_hal_buffer_view_generate_buffer(iree_hal_device_t* device, iree_hal_allocator_t* allocator,
                                                   iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                   iree_hal_element_type_t element_type,
                                                   iree_hal_encoding_type_t encoding_type,
                                                   iree_hal_buffer_params_t buffer_params,
                                                   iree_hal_buffer_view_generator_callback_t callback, void* user_data,
                                                   iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = NULL;
  iree_hal_buffer_params_canonicalize(&buffer_params);
  generated_t g = {device,        allocator,     shape_rank, shape,    element_type,
                   encoding_type, buffer_params, 0,          callback, user_data};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_size(shape_rank, shape, element_type, encoding_type, &g.size));
  if (!g.size) return allocate_view(&g, iree_const_byte_span_empty(), out_buffer_view);
  iree_hal_buffer_params_t mapped = buffer_params;
  iree_device_size_t size = g.size;
  mapped.type |= IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  mapped.usage |= IREE_HAL_BUFFER_USAGE_MAPPING;
  iree_hal_buffer_compatibility_t can =
      iree_hal_allocator_query_buffer_compatibility(allocator, mapped, size, &mapped, &size);
  bool is_mappable = iree_all_bits_set(can, IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE) &&
                     !iree_any_bit_set(can, IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE);
  if (!is_mappable) return generate_staged(&g, out_buffer_view);
  g.params = mapped;
  return generate_mapped(&g, out_buffer_view);
}

//===----------------------------------------------------------------------------------------------------------------===
// Text
//===----------------------------------------------------------------------------------------------------------------===

typedef struct parse_state_t {
  iree_string_view_t text;  // of the elements; empty for zeros
  iree_hal_element_type_t element_type;
} parse_state_t;

static iree_status_t parse_contents(iree_hal_buffer_mapping_t* mapping, void* user_data) {
  const parse_state_t* state = (const parse_state_t*)user_data;
  memset(mapping->contents.data, 0, mapping->contents.data_length);
  if (iree_string_view_is_empty(state->text)) return iree_ok_status();
  return iree_hal_parse_buffer_elements(state->text, state->element_type, mapping->contents);
}

iree_status_t iree_hal_buffer_view_parse(iree_string_view_t value, iree_hal_device_t* device,
                                         iree_hal_allocator_t* device_allocator,
                                         iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = NULL;
  enum { MAX_RANK = 128 };
  iree_hal_dim_t shape[MAX_RANK];
  iree_host_size_t rank = 0;
  iree_string_view_t type_text;
  parse_state_t state = {iree_string_view_empty(), IREE_HAL_ELEMENT_TYPE_NONE};
  iree_string_view_split(iree_string_view_trim(value), '=', &type_text, &state.text);
  state.text = iree_string_view_trim(state.text);
  IREE_RETURN_IF_ERROR(iree_hal_parse_shape_and_element_type(type_text, MAX_RANK, &rank, shape, &state.element_type));
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT,
  };
  return iree_hal_buffer_view_generate_buffer(device, device_allocator, rank, shape, state.element_type,
                                              IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, parse_contents, &state,
                                              out_buffer_view);
}

static iree_status_t append_view(const iree_hal_buffer_view_t* view, iree_host_size_t max_element_count,
                                 iree_string_builder_t* builder) {
  iree_host_size_t rank = iree_hal_buffer_view_shape_rank(view);
  const iree_hal_dim_t* shape = iree_hal_buffer_view_shape_dims(view);
  iree_hal_element_type_t element_type = iree_hal_buffer_view_element_type(view);
  IREE_RETURN_IF_ERROR(iree_hal_append_shape_and_element_type_string(rank, shape, element_type, builder));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "="));
  iree_hal_buffer_mapping_t mapping;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(iree_hal_buffer_view_buffer(view), IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_READ, 0, IREE_HAL_WHOLE_BUFFER, &mapping));
  iree_status_t status = iree_hal_buffer_mapping_invalidate_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER);
  if (iree_status_is_ok(status)) {
    status = hal_append_buffer_elements(iree_const_cast_byte_span(mapping.contents), rank, shape, element_type,
                                        max_element_count, builder);
  }
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

iree_status_t iree_hal_buffer_view_append_to_builder(iree_hal_buffer_view_t* buffer_view,
                                                     iree_host_size_t max_element_count,
                                                     iree_string_builder_t* builder) {
  return append_view(buffer_view, max_element_count, builder);
}

typedef struct view_text_t {
  const iree_hal_buffer_view_t* view;
  iree_host_size_t max_element_count;
} view_text_t;
static iree_status_t append_view_text(const void* params, iree_string_builder_t* builder) {
  const view_text_t* text = (const view_text_t*)params;
  return append_view(text->view, text->max_element_count, builder);
}

iree_status_t iree_hal_buffer_view_format(const iree_hal_buffer_view_t* buffer_view, iree_host_size_t max_element_count,
                                          iree_host_size_t buffer_capacity, char* buffer,
                                          iree_host_size_t* out_buffer_length) {
  view_text_t text = {buffer_view, max_element_count};
  return hal_format_with(append_view_text, &text, buffer_capacity, buffer, out_buffer_length);
}

iree_status_t iree_hal_buffer_view_fprint(FILE* file, const iree_hal_buffer_view_t* buffer_view,
                                          iree_host_size_t max_element_count, iree_allocator_t host_allocator) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(host_allocator, &builder);
  iree_status_t status = append_view(buffer_view, max_element_count, &builder);
  if (iree_status_is_ok(status)) {
    fwrite(iree_string_builder_buffer(&builder), 1, iree_string_builder_size(&builder), file);
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}
