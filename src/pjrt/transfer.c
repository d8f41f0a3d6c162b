// Between host arrays and buffers. Host arrays have a byte for each element below 8 bits; buffers pack them, the first
// into the lowest bits.
#include "pjrt/pjrt.h"

static void pack(uint8_t* target, const uint8_t* source, size_t count, uint32_t bits) {
  uint32_t per_byte = 8 / bits, mask = (1u << bits) - 1;
  memset(target, 0, (count + per_byte - 1) / per_byte);
  for (size_t i = 0; i < count; ++i) {
    target[i / per_byte] |= (uint8_t)((source[i] & mask) << (i % per_byte * bits));
  }
}

// Signed elements are extended by their sign, as host arrays have them.
static void unpack(uint8_t* target, const uint8_t* source, size_t count, const pjrt_type_t* type) {
  uint32_t per_byte = 8 / type->bits, mask = (1u << type->bits) - 1, sign = 1u << (type->bits - 1);
  bool is_signed = iree_hal_element_numerical_type(type->hal) == IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED;
  for (size_t i = 0; i < count; ++i) {
    uint32_t value = source[i / per_byte] >> (i % per_byte * type->bits) & mask;
    target[i] = (uint8_t)(is_signed && value & sign ? value | ~mask : value);
  }
}

PJRT_Error* pjrt_view_create(iree_hal_buffer_t* buffer, const pjrt_type_t* type, size_t rank, const int64_t* dims,
                             iree_hal_buffer_view_t** out_view) {
  static_assert(sizeof(iree_hal_dim_t) == sizeof(int64_t), "shapes are passed as they are");
  return pjrt_error_from_status(iree_hal_buffer_view_create(buffer, rank, (const iree_hal_dim_t*)dims, type->hal,
                                                            IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
                                                            iree_allocator_system(), out_view));
}

// What a call says of an array.
typedef struct array_t {
  PJRT_Memory* memory;
  PJRT_Device* device;
  int number;
  const pjrt_type_t* type;
  const int64_t* dims;
  size_t rank, count;
  int64_t strides[PJRT_MAX_RANK];  // of the host's array
  int64_t dense[PJRT_MAX_RANK];    // in host elements
} array_t;

static size_t device_size(const array_t* array) { return (array->count * array->type->bits + 7) / 8; }

static PJRT_Error* describe(PJRT_Memory* memory, int type, const int64_t* dims, size_t rank, array_t* out) {
  *out = (array_t){.memory = memory, .number = type, .type = pjrt_type_find(type), .dims = dims, .rank = rank};
  out->device = memory->device;
  if (!out->type) return pjrt_error(PJRT_UNIMPLEMENTED, "elements of type %d cannot be in buffers", type);
  if (rank > PJRT_MAX_RANK) return pjrt_error(PJRT_UNIMPLEMENTED, "arrays have at most %d dimensions", PJRT_MAX_RANK);
  if (!pjrt_shape_count(dims, rank, &out->count)) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "the array's shape has too many elements or a negative size");
  }
  pjrt_layout_strides(NULL, dims, rank, pjrt_type_host_bytes(out->type), out->dense);
  memcpy(out->strides, out->dense, sizeof(out->dense));
  return NULL;
}

static PJRT_Error* check_row_major(const PJRT_Buffer_MemoryLayout* layout, const array_t* array) {
  int64_t strides[PJRT_MAX_RANK];
  if (!layout) return NULL;
  bool ok = pjrt_layout_strides(layout, array->dims, array->rank, pjrt_type_host_bytes(array->type), strides);
  for (size_t i = 0; i < array->rank && ok; ++i) ok = array->dims[i] <= 1 || strides[i] == array->dense[i];
  if (ok || !array->count) return NULL;
  return pjrt_error(PJRT_UNIMPLEMENTED, "devices keep arrays in row-major order; other layouts are not supported");
}

static bool is_dense(const array_t* array) {
  for (size_t i = 0; i < array->rank; ++i) {
    if (array->dims[i] > 1 && array->strides[i] != array->dense[i]) return false;
  }
  return true;
}

// Writes the array as the device has it to `target`.
static PJRT_Error* write_array(const array_t* array, const char* source, char* target) {
  size_t bytes = pjrt_type_host_bytes(array->type);
  if (array->type->bits >= 8) {
    pjrt_copy_strided(target, array->dense, source, array->strides, array->dims, array->rank, bytes);
    return NULL;
  }
  char* staging = malloc(array->count * bytes + 1);
  if (!staging) return pjrt_no_memory();
  pjrt_copy_strided(staging, array->dense, source, array->strides, array->dims, array->rank, bytes);
  pack((uint8_t*)target, (const uint8_t*)staging, array->count, array->type->bits);
  free(staging);
  return NULL;
}

static PJRT_Error* fill_mapped(const array_t* array, const char* source, iree_hal_buffer_t* buffer) {
  iree_hal_buffer_mapping_t mapping;
  PJRT_Error* error = pjrt_error_from_status(iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                                       IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, 0,
                                                                       iree_max(device_size(array), 1), &mapping));
  if (error) return error;
  error = write_array(array, source, (char*)mapping.contents.data);
  PJRT_Error* second = pjrt_error_from_status(iree_hal_buffer_unmap_range(&mapping));
  if (!error) return second;
  pjrt_error_free(second);
  return error;
}

static PJRT_Error* send(PJRT_Device* device, const void* data, size_t size, iree_hal_buffer_t* buffer) {
  return pjrt_error_from_status(iree_hal_device_transfer_h2d(
      device->hal, data, buffer, 0, size, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
}

PJRT_Error* pjrt_device_write(PJRT_Device* device, const void* data, size_t size, iree_hal_buffer_t* buffer) {
  if (!device->client->is_host) return send(device, data, size, buffer);
  return pjrt_error_from_status(iree_hal_buffer_map_write(buffer, 0, data, size));
}

static PJRT_Error* fill(const array_t* array, const char* source, iree_hal_buffer_t* buffer) {
  size_t size = device_size(array);
  if (!size) return NULL;
  if (array->device->client->is_host) return fill_mapped(array, source, buffer);
  if (array->type->bits >= 8 && is_dense(array)) return send(array->device, source, size, buffer);
  char* staging = malloc(size);
  if (!staging) return pjrt_no_memory();
  PJRT_Error* error = write_array(array, source, staging);
  if (!error) error = send(array->device, staging, size, buffer);
  free(staging);
  return error;
}

// Takes `buffer` over.
static PJRT_Error* finish(const array_t* array, iree_hal_buffer_t* buffer, PJRT_Buffer** out_buffer) {
  iree_hal_buffer_view_t* view = NULL;
  PJRT_Error* error = pjrt_view_create(buffer, array->type, array->rank, array->dims, &view);
  iree_hal_buffer_release(buffer);
  if (error) return error;
  return pjrt_buffer_create(array->memory, array->number, array->rank, array->dims, view, (pjrt_point_t){0},
                            out_buffer);
}

static PJRT_Error* copy_in(const array_t* array, const char* source, PJRT_Buffer** out_buffer) {
  iree_hal_buffer_t* buffer = NULL;
  PJRT_Error* error = pjrt_memory_allocate(array->memory, device_size(array), &buffer);
  if (error) return error;
  error = source ? fill(array, source, buffer) : NULL;
  if (!error) return finish(array, buffer, out_buffer);
  iree_hal_buffer_release(buffer);
  return error;
}

//===----------------------------------------------------------------------------------------------------------------===
// Host memory in place
//===----------------------------------------------------------------------------------------------------------------===

// A buffer over the array's own memory, or NULL where that cannot be used.
static iree_hal_buffer_t* import(const array_t* array, const void* data, iree_hal_buffer_release_callback_t release) {
  bool fits = array->device->client->is_host && array->type->bits >= 8 && is_dense(array) && array->count &&
              (uintptr_t)data % IREE_HAL_HEAP_BUFFER_ALIGNMENT == 0;
  if (!fits) return NULL;
  iree_hal_external_buffer_t external = {
      .type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
      .size = device_size(array),
      .handle.host_allocation.ptr = (void*)data,
  };
  iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
      .access = IREE_HAL_MEMORY_ACCESS_READ,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
  };
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status = iree_hal_allocator_import_buffer(iree_hal_device_allocator(array->device->hal), params,
                                                          &external, release, &buffer);
  if (iree_status_is_ok(status)) return buffer;
  iree_status_ignore(status);
  return NULL;
}

static void release_event(void* user, iree_hal_buffer_t* buffer) {
  (void)buffer;
  pjrt_event_set(user, NULL);
  pjrt_event_release(user);
}

// With the event that says when the host's memory is free again; false where the array has to be copied.
static bool share(const array_t* array, const void* data, PJRT_Event** event, PJRT_Buffer** out_buffer,
                  PJRT_Error** error) {
  *event = pjrt_event_create();
  if (!*event) return false;
  pjrt_event_retain(*event);
  iree_hal_buffer_t* buffer = import(array, data, (iree_hal_buffer_release_callback_t){release_event, *event});
  if (!buffer) {
    pjrt_event_release(*event);
    pjrt_event_release(*event);
    *event = NULL;
    return false;
  }
  *error = finish(array, buffer, out_buffer);
  if (*error) {
    pjrt_event_release(*event);
    *event = NULL;
  }
  return true;
}

PJRT_Error* api_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  array_t array;
  PJRT_Memory* memory = pjrt_pick_memory(args->client, args->device, args->memory);
  PJRT_Error* error = describe(memory, args->type, args->dims, args->num_dims, &array);
  if (!error) error = check_row_major(args->device_layout, &array);
  if (error) return error;
  if (args->num_byte_strides) {
    if (args->num_byte_strides != args->num_dims) {
      return pjrt_error(PJRT_INVALID_ARGUMENT, "%zu strides were given for %zu dimensions", args->num_byte_strides,
                        args->num_dims);
    }
    memcpy(array.strides, args->byte_strides, array.rank * sizeof(*array.strides));
  }
  bool may_share =
      args->host_buffer_semantics == PJRT_HOST_ZERO_COPY || args->host_buffer_semantics == PJRT_HOST_MUTABLE_ZERO_COPY;
  if (may_share && share(&array, args->data, &args->done_with_host_buffer, &args->buffer, &error)) return error;
  error = copy_in(&array, args->data, &args->buffer);
  if (error) return error;
  args->done_with_host_buffer = pjrt_event_ready(NULL);
  if (args->done_with_host_buffer) return NULL;
  pjrt_buffer_destroy(args->buffer);
  args->buffer = NULL;
  return pjrt_no_memory();
}

PJRT_Error* api_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  array_t array;
  PJRT_Memory* memory = pjrt_pick_memory(args->client, args->device, args->memory);
  PJRT_Error* error = describe(memory, args->type, args->dims, args->num_dims, &array);
  if (!error) error = check_row_major(args->layout, &array);
  return error ? error : copy_in(&array, NULL, &args->buffer);
}

PJRT_Error* api_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args* args) {
  PJRT_Memory* memory = pjrt_pick_memory(args->client, NULL, args->memory);
  PJRT_Error* error =
      pjrt_buffer_create(memory, args->type, args->num_dims, args->dims, NULL, (pjrt_point_t){0}, &args->buffer);
  if (!error) args->buffer->error = pjrt_error_text(args->code, args->message, args->message_size);
  return error;
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory of other libraries
//===----------------------------------------------------------------------------------------------------------------===

typedef struct owner_t {
  void (*fn)(void* pointer, void* user);
  void *pointer, *user;
} owner_t;

static void release_owner(void* user, iree_hal_buffer_t* buffer) {
  owner_t* owner = user;
  (void)buffer;
  if (owner->fn) owner->fn(owner->pointer, owner->user);
  free(owner);
}

static iree_hal_buffer_t* import_device(const array_t* array, void* pointer,
                                        iree_hal_buffer_release_callback_t release) {
  iree_hal_external_buffer_t external = {
      .type = IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
      .size = device_size(array),
      .handle.device_allocation.ptr = (uintptr_t)pointer,
  };
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status = iree_hal_allocator_import_buffer(iree_hal_device_allocator(array->device->hal), params,
                                                          &external, release, &buffer);
  if (iree_status_is_ok(status)) return buffer;
  iree_status_ignore(status);
  return NULL;
}

PJRT_Error* api_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args* args) {
  array_t array;
  PJRT_Memory* memory = pjrt_pick_memory(args->client, args->device, args->memory);
  PJRT_Error* error = describe(memory, args->element_type, args->dims, args->num_dims, &array);
  if (!error) error = check_row_major(args->layout, &array);
  if (error) return error;
  owner_t* owner = malloc(sizeof(*owner));
  if (!owner) return pjrt_no_memory();
  *owner = (owner_t){args->on_delete_callback, args->device_buffer_ptr, args->on_delete_callback_arg};
  iree_hal_buffer_release_callback_t release = {release_owner, owner};
  iree_hal_buffer_t* buffer = array.device->client->is_host ? import(&array, args->device_buffer_ptr, release)
                                                            : import_device(&array, args->device_buffer_ptr, release);
  if (buffer) {
    error = finish(&array, buffer, &args->buffer);
    if (!error) args->buffer->borrowed = true;
    return error;
  }
  if (!array.device->client->is_host) {
    free(owner);
    return pjrt_error(PJRT_UNIMPLEMENTED, "the device cannot use this memory in place; copy it through the host");
  }
  // Memory that is not aligned is copied.
  error = copy_in(&array, args->device_buffer_ptr, &args->buffer);
  if (error) {
    free(owner);
  } else {
    release_owner(owner, NULL);
  }
  return error;
}

//===----------------------------------------------------------------------------------------------------------------===
// To the host
//===----------------------------------------------------------------------------------------------------------------===

// A copy that waits for its contents.
typedef struct fetch_t {
  PJRT_Device* device;
  iree_hal_buffer_view_t* view;
  const pjrt_type_t* type;
  char* target;
  size_t offset, size;  // raw bytes of the device's, when `is_raw`
  bool is_raw;
  PJRT_Event* event;
  size_t rank;
  int64_t dims[PJRT_MAX_RANK], strides[PJRT_MAX_RANK];  // of the target
} fetch_t;

static PJRT_Error* receive(const fetch_t* fetch, size_t offset, void* target, size_t size) {
  iree_hal_buffer_t* buffer = iree_hal_buffer_view_buffer(fetch->view);
  if (fetch->device->client->is_host) {
    return pjrt_error_from_status(iree_hal_buffer_map_read(buffer, offset, target, size));
  }
  return pjrt_error_from_status(iree_hal_device_transfer_d2h(fetch->device->hal, buffer, offset, target, size,
                                                             IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                                             iree_infinite_timeout()));
}

static PJRT_Error* scatter(const fetch_t* fetch, size_t count, const int64_t* dense) {
  size_t bytes = pjrt_type_host_bytes(fetch->type), size = (count * fetch->type->bits + 7) / 8;
  char *data = malloc(size), *elements = fetch->type->bits < 8 ? malloc(count) : data;
  PJRT_Error* error = data && elements ? receive(fetch, 0, data, size) : pjrt_no_memory();
  if (!error) {
    if (elements != data) unpack((uint8_t*)elements, (const uint8_t*)data, count, fetch->type);
    pjrt_copy_strided(fetch->target, fetch->strides, elements, dense, fetch->dims, fetch->rank, bytes);
  }
  if (elements != data) free(elements);
  free(data);
  return error;
}

static PJRT_Error* fetch_array(const fetch_t* fetch) {
  if (fetch->is_raw) return fetch->size ? receive(fetch, fetch->offset, fetch->target, fetch->size) : NULL;
  size_t count = 0, bytes = pjrt_type_host_bytes(fetch->type);
  int64_t dense[PJRT_MAX_RANK];
  if (!pjrt_shape_count(fetch->dims, fetch->rank, &count) || !count) return NULL;
  pjrt_layout_strides(NULL, fetch->dims, fetch->rank, bytes, dense);
  bool is_same = fetch->type->bits >= 8;
  for (size_t i = 0; i < fetch->rank && is_same; ++i) {
    is_same = fetch->dims[i] <= 1 || fetch->strides[i] == dense[i];
  }
  return is_same ? receive(fetch, 0, fetch->target, count * bytes) : scatter(fetch, count, dense);
}

static void run_fetch(void* user, PJRT_Error* error) {
  fetch_t* fetch = user;
  if (!error) error = fetch_array(fetch);
  pjrt_event_set(fetch->event, error);
  pjrt_event_release(fetch->event);
  iree_hal_buffer_view_release(fetch->view);
  free(fetch);
}

// Takes `fetch` over.
static PJRT_Error* start_fetch(PJRT_Buffer* buffer, fetch_t* fetch, PJRT_Event** out_event) {
  pjrt_point_t ready = {0};
  fetch->device = buffer->device;
  fetch->type = buffer->type;
  fetch->event = pjrt_event_create();
  PJRT_Error* error = fetch->event ? pjrt_buffer_acquire(buffer, &fetch->view, &ready) : pjrt_no_memory();
  if (!error) {
    PJRT_Event* event = fetch->event;
    pjrt_event_retain(event);
    error = pjrt_completions_add(&buffer->device->completions, ready, run_fetch, fetch);
    pjrt_point_release(&ready);
    if (!error) {
      *out_event = event;
      return NULL;
    }
    pjrt_event_release(event);
  }
  pjrt_event_release(fetch->event);
  iree_hal_buffer_view_release(fetch->view);
  free(fetch);
  return error;
}

PJRT_Error* api_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  PJRT_Buffer* buffer = args->src;
  if (!buffer->type) return pjrt_error(PJRT_UNIMPLEMENTED, "the buffer's elements have no values");
  size_t size = pjrt_buffer_host_size(buffer);
  if (!args->dst) {
    args->dst_size = size;
    return NULL;
  }
  if (args->dst_size < size) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "the array has %zu bytes; there is room for %zu", size, args->dst_size);
  }
  fetch_t* fetch = calloc(1, sizeof(*fetch));
  if (!fetch) return pjrt_no_memory();
  fetch->target = args->dst;
  fetch->rank = buffer->rank;
  memcpy(fetch->dims, buffer->dims, buffer->rank * sizeof(*fetch->dims));
  if (pjrt_layout_strides(args->host_layout, buffer->dims, buffer->rank, pjrt_type_host_bytes(buffer->type),
                          fetch->strides)) {
    return start_fetch(buffer, fetch, &args->event);
  }
  free(fetch);
  return pjrt_error(PJRT_UNIMPLEMENTED, "host arrays with tiles are not supported");
}

PJRT_Error* api_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args* args) {
  size_t count = 0;
  PJRT_Buffer* buffer = args->buffer;
  bool ok = buffer->type && pjrt_shape_count(buffer->dims, buffer->rank, &count);
  int64_t size = ok ? (int64_t)((count * buffer->type->bits + 7) / 8) : 0;
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > size || args->transfer_size > size - args->offset) {
    return pjrt_error(IREE_STATUS_OUT_OF_RANGE, "bytes %lld to %lld are not in a buffer of %lld",
                      (long long)args->offset, (long long)(args->offset + args->transfer_size), (long long)size);
  }
  fetch_t* fetch = calloc(1, sizeof(*fetch));
  if (!fetch) return pjrt_no_memory();
  fetch->target = args->dst;
  fetch->is_raw = true;
  fetch->offset = (size_t)args->offset;
  fetch->size = (size_t)args->transfer_size;
  return start_fetch(buffer, fetch, &args->event);
}

//===----------------------------------------------------------------------------------------------------------------===
// Between devices
//===----------------------------------------------------------------------------------------------------------------===

static PJRT_Error* copy_across(PJRT_Buffer* buffer, PJRT_Memory* target, PJRT_Buffer** out_buffer) {
  array_t array;
  PJRT_Error* error = describe(target, buffer->type_number, buffer->dims, buffer->rank, &array);
  char* staging = error ? NULL : malloc(device_size(&array) + 1);
  if (!error && !staging) error = pjrt_no_memory();
  fetch_t fetch = {
      .device = buffer->device, .is_raw = true, .target = staging, .size = error ? 0 : device_size(&array)};
  pjrt_point_t ready = {0};
  if (!error) error = pjrt_buffer_acquire(buffer, &fetch.view, &ready);
  if (!error) error = pjrt_point_wait(ready);
  if (!error) error = fetch_array(&fetch);
  iree_hal_buffer_view_release(fetch.view);
  pjrt_point_release(&ready);
  iree_hal_buffer_t* memory = NULL;
  if (!error) error = pjrt_memory_allocate(target, fetch.size, &memory);
  if (!error && fetch.size) error = send(target->device, staging, fetch.size, memory);
  free(staging);
  if (!error) return finish(&array, memory, out_buffer);
  iree_hal_buffer_release(memory);
  return error;
}

static PJRT_Error* copy_to(PJRT_Buffer* buffer, PJRT_Memory* memory, PJRT_Buffer** out_buffer) {
  bool is_near = memory->device == buffer->device;
  return is_near ? pjrt_memory_copy(buffer, memory, out_buffer) : copy_across(buffer, memory, out_buffer);
}

PJRT_Error* api_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args* args) {
  return copy_to(args->buffer, &args->dst_device->memory[PJRT_MEMORY_DEVICE], &args->dst_buffer);
}

PJRT_Error* api_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  return copy_to(args->buffer, args->dst_memory, &args->dst_buffer);
}
