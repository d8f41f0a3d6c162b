// Buffer views.
#include "hal/buffer_view.h"

#include "hal/detail.h"
#include "iree/hal/buffer_view_util.h"

struct iree_hal_buffer_view_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_hal_buffer_t* buffer;
  iree_hal_element_type_t element_type;
  iree_hal_encoding_type_t encoding_type;
  iree_device_size_t byte_length;
  iree_host_size_t shape_capacity;
  iree_host_size_t shape_rank;
  iree_hal_dim_t shape[];
};

// Checks that the dense shape fits the buffer; *out_byte_length is the buffer's own for other encodings.
static iree_status_t view_byte_length(iree_hal_buffer_t* buffer, iree_host_size_t shape_rank,
                                      const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
                                      iree_hal_encoding_type_t encoding_type, iree_device_size_t* out_byte_length) {
  *out_byte_length = iree_hal_buffer_byte_length(buffer);
  if (encoding_type != IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR) return iree_ok_status();
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_compute_view_size(shape_rank, shape, element_type, encoding_type, out_byte_length));
  if (*out_byte_length <= iree_hal_buffer_byte_length(buffer)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "buffer byte length %" PRIdsz " is too small for a view of %" PRIdsz " bytes",
                          iree_hal_buffer_byte_length(buffer), *out_byte_length);
}

iree_status_t iree_hal_buffer_view_create(iree_hal_buffer_t* buffer, iree_host_size_t shape_rank,
                                          const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
                                          iree_hal_encoding_type_t encoding_type, iree_allocator_t host_allocator,
                                          iree_hal_buffer_view_t** out_buffer_view) {
  *out_buffer_view = NULL;
  if (shape_rank > 4096) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "rank %" PRIhsz, shape_rank);
  iree_device_size_t byte_length = 0;
  IREE_RETURN_IF_ERROR(view_byte_length(buffer, shape_rank, shape, element_type, encoding_type, &byte_length));
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*view), shape_rank,
                                                          sizeof(view->shape[0]), (void**)&view));
  iree_atomic_ref_count_init(&view->ref_count);
  view->host_allocator = host_allocator;
  view->buffer = buffer;
  iree_hal_buffer_retain(buffer);
  view->element_type = element_type;
  view->encoding_type = encoding_type;
  view->byte_length = byte_length;
  view->shape_capacity = view->shape_rank = shape_rank;
  if (shape_rank) memcpy(view->shape, shape, shape_rank * sizeof(shape[0]));
  *out_buffer_view = view;
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_view_create_like(iree_hal_buffer_t* buffer, iree_hal_buffer_view_t* like_view,
                                               iree_allocator_t host_allocator,
                                               iree_hal_buffer_view_t** out_buffer_view) {
  return iree_hal_buffer_view_create(buffer, like_view->shape_rank, like_view->shape, like_view->element_type,
                                     like_view->encoding_type, host_allocator, out_buffer_view);
}

void iree_hal_buffer_view_retain(iree_hal_buffer_view_t* buffer_view) {
  if (buffer_view) iree_atomic_ref_count_inc(&buffer_view->ref_count);
}

int32_t hal_buffer_view_references(const iree_hal_buffer_view_t* view) {
  return iree_atomic_ref_count_load(&view->ref_count);
}

void iree_hal_buffer_view_release(iree_hal_buffer_view_t* buffer_view) {
  if (buffer_view && iree_atomic_ref_count_dec(&buffer_view->ref_count) == 1) {
    iree_hal_buffer_view_destroy(buffer_view);
  }
}

void iree_hal_buffer_view_destroy(iree_hal_buffer_view_t* buffer_view) {
  iree_hal_buffer_release(buffer_view->buffer);
  iree_allocator_free(buffer_view->host_allocator, buffer_view);
}

iree_hal_buffer_t* iree_hal_buffer_view_buffer(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->buffer;
}
iree_host_size_t iree_hal_buffer_view_shape_rank(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->shape_rank;
}
const iree_hal_dim_t* iree_hal_buffer_view_shape_dims(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->shape;
}
iree_hal_dim_t iree_hal_buffer_view_shape_dim(const iree_hal_buffer_view_t* buffer_view, iree_host_size_t index) {
  return index < buffer_view->shape_rank ? buffer_view->shape[index] : 0;
}

iree_status_t iree_hal_buffer_view_shape(const iree_hal_buffer_view_t* buffer_view, iree_host_size_t rank_capacity,
                                         iree_hal_dim_t* out_shape, iree_host_size_t* out_shape_rank) {
  if (out_shape_rank) *out_shape_rank = buffer_view->shape_rank;
  if (rank_capacity < buffer_view->shape_rank) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  for (iree_host_size_t i = 0; i < buffer_view->shape_rank; ++i) out_shape[i] = buffer_view->shape[i];
  return iree_ok_status();
}

iree_host_size_t iree_hal_buffer_view_element_count(const iree_hal_buffer_view_t* buffer_view) {
  iree_host_size_t count = 1;
  for (iree_host_size_t i = 0; i < buffer_view->shape_rank; ++i) count *= buffer_view->shape[i];
  return count;
}

iree_status_t iree_hal_buffer_view_reshape(iree_hal_buffer_view_t* buffer_view, const iree_hal_dim_t* shape,
                                           iree_host_size_t shape_rank) {
  if (shape_rank > buffer_view->shape_capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "rank %" PRIhsz " is more than the view's %" PRIhsz, shape_rank,
                            buffer_view->shape_capacity);
  }
  iree_device_size_t count = 1;
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    if (!iree_device_size_checked_mul(count, shape[i], &count)) count = IREE_DEVICE_SIZE_MAX;
  }
  if (count != iree_hal_buffer_view_element_count(buffer_view)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "reshaping must keep the element count; have %" PRIhsz ", requested %" PRIdsz,
                            iree_hal_buffer_view_element_count(buffer_view), count);
  }
  buffer_view->shape_rank = shape_rank;
  for (iree_host_size_t i = 0; i < shape_rank; ++i) buffer_view->shape[i] = shape[i];
  return iree_ok_status();
}

iree_hal_element_type_t iree_hal_buffer_view_element_type(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->element_type;
}
iree_host_size_t iree_hal_buffer_view_element_size(const iree_hal_buffer_view_t* buffer_view) {
  return iree_hal_element_dense_byte_count(buffer_view->element_type);
}
iree_hal_encoding_type_t iree_hal_buffer_view_encoding_type(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->encoding_type;
}
iree_device_size_t iree_hal_buffer_view_byte_length(const iree_hal_buffer_view_t* buffer_view) {
  return buffer_view->byte_length;
}

iree_status_t iree_hal_buffer_view_compute_offset(const iree_hal_buffer_view_t* buffer_view,
                                                  iree_host_size_t indices_count, const iree_hal_dim_t* indices,
                                                  iree_device_size_t* out_offset) {
  return iree_hal_buffer_compute_view_offset(buffer_view->shape_rank, buffer_view->shape, buffer_view->element_type,
                                             buffer_view->encoding_type, indices_count, indices, out_offset);
}

iree_status_t iree_hal_buffer_view_compute_range(const iree_hal_buffer_view_t* buffer_view,
                                                 iree_host_size_t indices_count, const iree_hal_dim_t* start_indices,
                                                 iree_host_size_t lengths_count, const iree_hal_dim_t* lengths,
                                                 iree_device_size_t* out_start_offset, iree_device_size_t* out_length) {
  return iree_hal_buffer_compute_view_range(buffer_view->shape_rank, buffer_view->shape, buffer_view->element_type,
                                            buffer_view->encoding_type, indices_count, start_indices, lengths_count,
                                            lengths, out_start_offset, out_length);
}
