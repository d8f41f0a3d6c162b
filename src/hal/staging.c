// Transfers of files to and from memory that the host cannot map: pieces go through two staging buffers in turn, so
// that the file is read, or written, while the queue copies the other piece. The buffers and the semaphore between them
// are kept for the next transfer: as many as have run at once, which is one where a single thread does this work, with
// 8 MiB at most each.
#include "hal/queued_device.h"

enum { LEAST_SIZE = 64 << 10, PIECE_SIZE = 4 << 20, SLOT_COUNT = 2 };

typedef struct staging_t {
  hal_idle_t idle;
  iree_hal_allocator_t* allocator;  // retained; of the slots
  iree_hal_semaphore_t* semaphore;
  uint64_t value;  // of the semaphore, when no copy is under way
  iree_hal_buffer_t* slots[SLOT_COUNT];
} staging_t;

typedef struct transfer_t {
  const hal_operation_t* operation;
  staging_t* staging;  // its semaphore reaches value + i + 1 when the copy of piece i is over
  uint64_t piece_count;
} transfer_t;

static bool is_read(const transfer_t* t) { return t->operation->kind == HAL_OPERATION_READ; }

static iree_device_size_t piece_size(const transfer_t* t, uint64_t piece) {
  return iree_min(t->operation->file.length - piece * PIECE_SIZE, (iree_device_size_t)PIECE_SIZE);
}

static iree_hal_buffer_t* piece_slot(const transfer_t* t, uint64_t piece) {
  return t->staging->slots[piece % SLOT_COUNT];
}

static iree_status_t submit_copy(const transfer_t* t, uint64_t piece) {
  const hal_operation_t* op = t->operation;
  iree_hal_buffer_t* slot = piece_slot(t, piece);
  iree_device_size_t at = op->file.buffer_offset + piece * PIECE_SIZE;
  uint64_t before = t->staging->value + piece, after = before + 1;
  iree_hal_semaphore_t* semaphore = t->staging->semaphore;
  iree_hal_semaphore_list_t wait = {1, &semaphore, &before}, signal = {1, &semaphore, &after};
  return iree_hal_device_queue_copy((iree_hal_device_t*)op->device, op->queue_affinity, wait, signal,
                                    is_read(t) ? slot : op->file.buffer, is_read(t) ? 0 : at,
                                    is_read(t) ? op->file.buffer : slot, is_read(t) ? at : 0, piece_size(t, piece),
                                    IREE_HAL_COPY_FLAG_NONE);
}

static iree_status_t wait_copy(const transfer_t* t, uint64_t piece) {
  return iree_hal_semaphore_wait(t->staging->semaphore, t->staging->value + piece + 1, iree_infinite_timeout(),
                                 IREE_ASYNC_WAIT_FLAG_NONE);
}

// The target is complete when the copy of the last piece is over.
static iree_status_t run_read(const transfer_t* t) {
  const hal_file_transfer_t* file = &t->operation->file;
  for (uint64_t i = 0; i < t->piece_count; ++i) {
    if (i >= SLOT_COUNT) IREE_RETURN_IF_ERROR(wait_copy(t, i - SLOT_COUNT));
    IREE_RETURN_IF_ERROR(
        iree_hal_file_read(file->file, file->file_offset + i * PIECE_SIZE, piece_slot(t, i), 0, piece_size(t, i)));
    IREE_RETURN_IF_ERROR(submit_copy(t, i));
  }
  return wait_copy(t, t->piece_count - 1);
}

static iree_status_t run_write(const transfer_t* t) {
  const hal_file_transfer_t* file = &t->operation->file;
  for (uint64_t i = 0; i < iree_min(t->piece_count, (uint64_t)SLOT_COUNT); ++i) {
    IREE_RETURN_IF_ERROR(submit_copy(t, i));
  }
  for (uint64_t i = 0; i < t->piece_count; ++i) {
    IREE_RETURN_IF_ERROR(wait_copy(t, i));
    IREE_RETURN_IF_ERROR(
        iree_hal_file_write(file->file, file->file_offset + i * PIECE_SIZE, piece_slot(t, i), 0, piece_size(t, i)));
    if (i + SLOT_COUNT < t->piece_count) IREE_RETURN_IF_ERROR(submit_copy(t, i + SLOT_COUNT));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// What is kept
//===----------------------------------------------------------------------------------------------------------------===

static void staging_free(hal_queued_device_t* device, staging_t* staging) {
  iree_hal_semaphore_release(staging->semaphore);
  for (int i = 0; i < SLOT_COUNT; ++i) iree_hal_buffer_release(staging->slots[i]);
  iree_hal_allocator_release(staging->allocator);
  iree_allocator_free(device->host_allocator, staging);
}

static staging_t* take_idle(hal_queued_device_t* device) {
  return hal_idle_object(hal_idle_list_take(&device->free_staging), offsetof(staging_t, idle));
}

void hal_staging_trim(hal_queued_device_t* device) {
  for (staging_t* staging; (staging = take_idle(device)) != NULL;) staging_free(device, staging);
}

static iree_status_t staging_create(hal_queued_device_t* device, staging_t** out_staging) {
  staging_t* staging = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, sizeof(*staging), (void**)&staging));
  staging->allocator = device->allocator;
  iree_hal_allocator_retain(staging->allocator);
  iree_status_t status = iree_hal_semaphore_create((iree_hal_device_t*)device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                   IREE_HAL_SEMAPHORE_FLAG_NONE, &staging->semaphore);
  if (!iree_status_is_ok(status)) {
    staging_free(device, staging);
    return status;
  }
  *out_staging = staging;
  return iree_ok_status();
}

// Slots grow by powers of two up to a whole piece.
static iree_status_t fit_slots(const transfer_t* t) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  for (uint64_t i = 0; i < iree_min(t->piece_count, (uint64_t)SLOT_COUNT); ++i) {
    iree_hal_buffer_t** slot = &t->staging->slots[i];
    if (*slot && iree_hal_buffer_byte_length(*slot) >= piece_size(t, i)) continue;
    iree_hal_buffer_release(*slot);
    *slot = NULL;
    iree_device_size_t size = LEAST_SIZE;
    while (size < piece_size(t, i)) size *= 2;
    IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(t->staging->allocator, params, size, slot));
  }
  return iree_ok_status();
}

iree_status_t hal_operation_stage_file(const hal_operation_t* op) {
  hal_queued_device_t* device = op->device;
  transfer_t t = {.operation = op, .piece_count = (op->file.length + PIECE_SIZE - 1) / PIECE_SIZE};
  if (t.piece_count == 0) return iree_ok_status();
  t.staging = take_idle(device);
  if (!t.staging) IREE_RETURN_IF_ERROR(staging_create(device, &t.staging));
  iree_status_t status = fit_slots(&t);
  if (iree_status_is_ok(status)) status = (is_read(&t) ? run_read : run_write)(&t);
  if (iree_status_is_ok(status)) {
    t.staging->value += t.piece_count;
    hal_idle_list_give(&device->free_staging, &t.staging->idle);
  } else {
    staging_free(device, t.staging);  // copies that are still running keep the slots alive
  }
  return status;
}
