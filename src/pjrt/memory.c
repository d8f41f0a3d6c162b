// Memories of a device: its own, where arrays are unless something else is asked for, and the host's, which the device
// reads and writes, too, a GPU across its bus. Devices that are hosts have one memory under three names.
#include <stdio.h>

#include "pjrt/pjrt.h"

static const char* const kinds[] = {"device", "pinned_host", "unpinned_host"};
static_assert(sizeof(kinds) / sizeof(kinds[0]) == PJRT_MEMORY_KINDS, "each kind has a name");

const char* pjrt_memory_kind_text(pjrt_memory_kind_t kind) { return kinds[kind]; }

bool pjrt_memory_kind_parse(const char* text, pjrt_memory_kind_t* out_kind) {
  for (int i = 0; i < PJRT_MEMORY_KINDS; ++i) {
    if (strcmp(kinds[i], text) != 0) continue;
    *out_kind = (pjrt_memory_kind_t)i;
    return true;
  }
  return false;
}

void pjrt_memories_initialize(PJRT_Device* device) {
  // What is not pinned, GPUs do not reach.
  device->memory_count = device->client->is_host ? PJRT_MEMORY_KINDS : PJRT_MEMORY_UNPINNED_HOST;
  for (size_t i = 0; i < device->memory_count; ++i) {
    PJRT_Memory* memory = &device->memory[i];
    *memory = (PJRT_Memory){.device = device, .kind = (pjrt_memory_kind_t)i};
    memory->id = device->description.id * PJRT_MEMORY_KINDS + (int)i;
    snprintf(memory->text, sizeof(memory->text), "IreeMemory(id=%d)", memory->id);
    snprintf(memory->debug, sizeof(memory->debug), "%s memory of iree %s:%d", kinds[i], device->client->driver,
             device->description.id);
    device->memories[i] = memory;
  }
}

PJRT_Memory* pjrt_pick_memory(PJRT_Client* client, PJRT_Device* device, PJRT_Memory* memory) {
  return memory ? memory : &(device ? device : client->devices[0])->memory[PJRT_MEMORY_DEVICE];
}

PJRT_Error* pjrt_memory_allocate(PJRT_Memory* memory, size_t size, iree_hal_buffer_t** out_buffer) {
  PJRT_Device* device = memory->device;
  bool is_host = device->client->is_host, is_pinned = !is_host && memory->kind != PJRT_MEMORY_DEVICE;
  iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | (is_host || is_pinned ? IREE_HAL_BUFFER_USAGE_MAPPING : 0),
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = is_pinned ? IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE
                        : IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | (is_host ? IREE_HAL_MEMORY_TYPE_HOST_VISIBLE : 0),
  };
  return pjrt_error_from_status(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device->hal), params,
                                                                   iree_max(size, 1), out_buffer));
}

PJRT_Memory* pjrt_memory_of(PJRT_Device* device, iree_hal_buffer_t* buffer) {
  bool is_pinned = !device->client->is_host &&
                   iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_HOST_LOCAL);
  return &device->memory[is_pinned ? PJRT_MEMORY_PINNED_HOST : PJRT_MEMORY_DEVICE];
}

// Contents do not change while somebody else has the view, so that a copy in the same memory is the same bytes.
static PJRT_Error* share(PJRT_Buffer* buffer, PJRT_Memory* memory, PJRT_Buffer** out_buffer) {
  iree_hal_buffer_view_t* view = NULL;
  pjrt_point_t ready = {0};
  PJRT_Error* error = pjrt_buffer_acquire(buffer, &view, &ready);
  if (!error) {
    error = pjrt_buffer_create(memory, buffer->type_number, buffer->rank, buffer->dims, view, ready, out_buffer);
  }
  if (!error) (*out_buffer)->borrowed = buffer->borrowed;
  return error;
}

// Puts the copy on the device's timeline; *done is its point.
static PJRT_Error* enqueue_copy(PJRT_Device* device, iree_hal_buffer_t* source, pjrt_point_t ready,
                                iree_hal_buffer_t* target, size_t size, pjrt_point_t* done) {
  pjrt_point_t before;
  uint64_t number = 0;
  PJRT_Error* error = pjrt_device_begin(device, &before, &number);
  if (!error && ready.semaphore != before.semaphore) error = pjrt_point_wait(ready);
  if (error) return error;
  iree_hal_semaphore_list_t wait = {1, &before.semaphore, &before.value}, signal = {1, &before.semaphore, &number};
  error = pjrt_error_from_status(iree_hal_device_queue_copy(device->hal, IREE_HAL_QUEUE_AFFINITY_ANY, wait, signal,
                                                            source, 0, target, 0, size, IREE_HAL_COPY_FLAG_NONE));
  if (error) return error;
  device->submitted = number;
  *done = pjrt_point_retain((pjrt_point_t){before.semaphore, number});
  return NULL;
}

static PJRT_Error* copy(PJRT_Buffer* buffer, PJRT_Memory* memory, PJRT_Buffer** out_buffer) {
  PJRT_Device* device = memory->device;
  iree_hal_buffer_view_t *view = NULL, *copied = NULL;
  iree_hal_buffer_t* target = NULL;
  pjrt_point_t ready = {0}, done = {0};
  PJRT_Error* error = pjrt_buffer_acquire(buffer, &view, &ready);
  if (error) return error;
  iree_hal_buffer_t* source = iree_hal_buffer_view_buffer(view);
  size_t count = 0, size = 0;
  if (pjrt_shape_count(buffer->dims, buffer->rank, &count)) size = (count * buffer->type->bits + 7) / 8;
  error = pjrt_memory_allocate(memory, size, &target);
  if (!error && !size) done = pjrt_point_retain(ready);
  if (!error && size) {
    pthread_mutex_lock(&device->lock);
    error = enqueue_copy(device, source, ready, target, size, &done);
    pthread_mutex_unlock(&device->lock);
  }
  if (!error) error = pjrt_view_create(target, buffer->type, buffer->rank, buffer->dims, &copied);
  iree_hal_buffer_release(target);
  iree_hal_buffer_view_release(view);
  pjrt_point_release(&ready);
  if (!error)
    return pjrt_buffer_create(memory, buffer->type_number, buffer->rank, buffer->dims, copied, done, out_buffer);
  pjrt_point_release(&done);
  return error;
}

PJRT_Error* pjrt_memory_copy(PJRT_Buffer* buffer, PJRT_Memory* memory, PJRT_Buffer** out_buffer) {
  bool is_same = buffer->memory == memory || memory->device->client->is_host;
  return is_same ? share(buffer, memory, out_buffer) : copy(buffer, memory, out_buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// What is asked of memories
//===----------------------------------------------------------------------------------------------------------------===

PJRT_Error* api_Memory_Id(PJRT_Memory_Id_Args* args) {
  args->id = args->memory->id;
  return NULL;
}

PJRT_Error* api_Memory_Kind(PJRT_Memory_Kind_Args* args) {
  args->text = kinds[args->memory->kind];
  args->text_size = strlen(args->text);
  return NULL;
}

PJRT_Error* api_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args* args) {
  args->kind_id = (int)args->memory->kind;
  return NULL;
}

PJRT_Error* api_Memory_DebugString(PJRT_Memory_DebugString_Args* args) {
  args->text = args->memory->debug;
  args->text_size = strlen(args->text);
  return NULL;
}

PJRT_Error* api_Memory_ToString(PJRT_Memory_ToString_Args* args) {
  args->text = args->memory->text;
  args->text_size = strlen(args->text);
  return NULL;
}

PJRT_Error* api_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args* args) {
  PJRT_Device* device = args->memory->device;
  args->devices = &device->client->devices[device->description.id];
  args->num_devices = 1;
  return NULL;
}
