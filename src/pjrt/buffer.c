// Buffers: a view of device memory, or an error in its place, with the point at which the contents are there.
#include "hal/buffer_view.h"
#include "pjrt/pjrt.h"

PJRT_Error* pjrt_buffer_create(PJRT_Memory* memory, int type, size_t rank, const int64_t* dims,
                               iree_hal_buffer_view_t* view, pjrt_point_t ready, PJRT_Buffer** out_buffer) {
  PJRT_Buffer* buffer = calloc(1, sizeof(*buffer) + 2 * rank * sizeof(int64_t));
  if (!buffer) {
    iree_hal_buffer_view_release(view);
    pjrt_point_release(&ready);
    return pjrt_no_memory();
  }
  pthread_mutex_init(&buffer->lock, NULL);
  buffer->device = memory->device;
  buffer->memory = memory;
  buffer->type = pjrt_type_find(type);
  buffer->type_number = type;
  buffer->view = view;
  buffer->ready = ready;
  buffer->rank = rank;
  buffer->minor_to_major = buffer->dims + rank;
  for (size_t i = 0; i < rank; ++i) {
    buffer->dims[i] = dims[i];
    buffer->minor_to_major[i] = (int64_t)(rank - 1 - i);
  }
  *out_buffer = buffer;
  return NULL;
}

static void drop(PJRT_Buffer* buffer) {
  if (buffer->mapping.buffer) iree_status_ignore(iree_hal_buffer_unmap_range(&buffer->mapping));
  memset(&buffer->mapping, 0, sizeof(buffer->mapping));
  iree_hal_buffer_view_release(buffer->view);
  buffer->view = NULL;
  pjrt_point_release(&buffer->ready);
}

void pjrt_buffer_delete(PJRT_Buffer* buffer) {
  pthread_mutex_lock(&buffer->lock);
  buffer->deleted = true;
  if (!buffer->readers) drop(buffer);
  pthread_mutex_unlock(&buffer->lock);
}

void pjrt_buffer_destroy(PJRT_Buffer* buffer) {
  if (!buffer) return;
  drop(buffer);
  pjrt_error_free(buffer->error);
  pthread_mutex_destroy(&buffer->lock);
  free(buffer);
}

static PJRT_Error* check_alive(const PJRT_Buffer* buffer) {
  if (buffer->deleted) return pjrt_error(PJRT_INVALID_ARGUMENT, "the buffer was deleted or donated");
  return pjrt_error_clone(buffer->error);
}

PJRT_Error* pjrt_buffer_acquire(PJRT_Buffer* buffer, iree_hal_buffer_view_t** out_view, pjrt_point_t* out_ready) {
  pthread_mutex_lock(&buffer->lock);
  PJRT_Error* error = check_alive(buffer);
  if (!error) {
    iree_hal_buffer_view_retain(buffer->view);
    *out_view = buffer->view;
    if (out_ready) *out_ready = pjrt_point_retain(buffer->ready);
  }
  pthread_mutex_unlock(&buffer->lock);
  return error;
}

iree_hal_buffer_t* pjrt_buffer_give_up(PJRT_Buffer* buffer) {
  iree_hal_buffer_t* memory = NULL;
  pthread_mutex_lock(&buffer->lock);
  bool is_own = !buffer->deleted && buffer->view && !buffer->readers && !buffer->borrowed &&
                hal_buffer_view_references(buffer->view) == 2;
  if (is_own) memory = iree_hal_buffer_view_buffer(buffer->view);
  if (is_own && iree_all_bits_set(iree_hal_buffer_allowed_access(memory), IREE_HAL_MEMORY_ACCESS_WRITE)) {
    iree_hal_buffer_retain(memory);
    buffer->deleted = true;
  } else {
    memory = NULL;
  }
  pthread_mutex_unlock(&buffer->lock);
  return memory;
}

size_t pjrt_buffer_host_size(const PJRT_Buffer* buffer) {
  size_t count = 0;
  return pjrt_shape_count(buffer->dims, buffer->rank, &count) ? count * pjrt_type_host_bytes(buffer->type) : 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is asked of buffers
//===----------------------------------------------------------------------------------------------------------------===

PJRT_Error* api_Buffer_Destroy(PJRT_Buffer_Destroy_Args* args) {
  pjrt_buffer_destroy(args->buffer);
  return NULL;
}

PJRT_Error* api_Buffer_Delete(PJRT_Buffer_Delete_Args* args) {
  pjrt_buffer_delete(args->buffer);
  return NULL;
}

PJRT_Error* api_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  pthread_mutex_lock(&args->buffer->lock);
  args->is_deleted = args->buffer->deleted;
  pthread_mutex_unlock(&args->buffer->lock);
  return NULL;
}

PJRT_Error* api_Buffer_ElementType(PJRT_Buffer_ElementType_Args* args) {
  args->type = args->buffer->type_number;
  return NULL;
}

PJRT_Error* api_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args* args) {
  args->dims = args->buffer->dims;
  args->num_dims = args->buffer->rank;
  return NULL;
}

PJRT_Error* api_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  args->dims = args->buffer->dims;
  args->num_dims = args->buffer->rank;
  return NULL;
}

PJRT_Error* api_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  args->indices = NULL;
  args->num_indices = 0;
  return NULL;
}

PJRT_Error* api_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  args->layout = (PJRT_Buffer_MemoryLayout){.struct_size = sizeof(args->layout), .kind = PJRT_LAYOUT_TILED};
  args->layout.tiled.struct_size = sizeof(args->layout.tiled);
  args->layout.tiled.minor_to_major = args->buffer->minor_to_major;
  args->layout.tiled.minor_to_major_size = args->buffer->rank;
  return NULL;
}

PJRT_Error* api_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  size_t count = 0;
  PJRT_Buffer* buffer = args->buffer;
  bool ok = buffer->type && pjrt_shape_count(buffer->dims, buffer->rank, &count);
  args->size_in_bytes = ok ? (count * buffer->type->bits + 7) / 8 : 0;
  return NULL;
}

PJRT_Error* api_Buffer_Device(PJRT_Buffer_Device_Args* args) {
  args->device = args->buffer->device;
  return NULL;
}

PJRT_Error* api_Buffer_Memory(PJRT_Buffer_Memory_Args* args) {
  args->memory = args->buffer->memory;
  return NULL;
}

PJRT_Error* api_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args* args) {
  args->is_on_cpu = args->buffer->device->client->is_host;
  return NULL;
}

PJRT_Error* api_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  PJRT_Buffer* buffer = args->buffer;
  pthread_mutex_lock(&buffer->lock);
  PJRT_Error* error = check_alive(buffer);
  args->event = error ? pjrt_event_ready(error) : pjrt_event_at(buffer->device, buffer->ready);
  pthread_mutex_unlock(&buffer->lock);
  return args->event ? NULL : pjrt_no_memory();
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory in place
//===----------------------------------------------------------------------------------------------------------------===

// The buffer is locked. On hosts the mapping, elsewhere the driver's address.
static PJRT_Error* find_pointer(PJRT_Buffer* buffer, void** out_pointer) {
  PJRT_Error* error = check_alive(buffer);
  if (error) return error;
  iree_hal_buffer_t* memory = iree_hal_buffer_view_buffer(buffer->view);
  if (!buffer->device->client->is_host) {
    iree_hal_external_buffer_t external = {0};
    error = pjrt_error_from_status(iree_hal_allocator_export_buffer(
        iree_hal_device_allocator(buffer->device->hal), memory, IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
        IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
    *out_pointer = (void*)(uintptr_t)external.handle.device_allocation.ptr;
    return error;
  }
  if (!buffer->mapping.buffer) {
    error = pjrt_error_from_status(iree_hal_buffer_map_range(
        memory, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0, IREE_HAL_WHOLE_BUFFER, &buffer->mapping));
  }
  *out_pointer = buffer->mapping.contents.data;
  return error;
}

static PJRT_Error* get_pointer(PJRT_Buffer* buffer, void** out_pointer) {
  pthread_mutex_lock(&buffer->lock);
  PJRT_Error* error = find_pointer(buffer, out_pointer);
  pthread_mutex_unlock(&buffer->lock);
  return error;
}

PJRT_Error* api_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args* args) {
  void* pointer = NULL;
  PJRT_Error* error = get_pointer(args->buffer, &pointer);
  args->pointer = (uintptr_t)pointer;
  return error;
}

PJRT_Error* api_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
  return get_pointer(args->buffer, &args->pointer);
}

PJRT_Error* api_Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) {
  pthread_mutex_lock(&args->buffer->lock);
  PJRT_Error* error = check_alive(args->buffer);
  if (!error) ++args->buffer->readers;
  pthread_mutex_unlock(&args->buffer->lock);
  return error;
}

PJRT_Error* api_Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
  PJRT_Buffer* buffer = args->buffer;
  pthread_mutex_lock(&buffer->lock);
  bool had = buffer->readers > 0;
  if (had && !--buffer->readers && buffer->deleted) drop(buffer);
  pthread_mutex_unlock(&buffer->lock);
  return had ? NULL : pjrt_error(PJRT_FAILED_PRECONDITION, "nobody holds the buffer's memory");
}
