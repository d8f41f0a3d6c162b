// Transfers of files to and from memory that the host cannot map: pieces go through two staging buffers in turn, so
// that the file is read, or written, while the queue copies the other piece.
#include "hal/queued_device.h"

enum { PIECE_SIZE = 4 << 20, SLOT_COUNT = 2 };

typedef struct staging_t {
  const hal_operation_t* operation;
  bool is_read;
  iree_hal_semaphore_t* semaphore;  // reaches i + 1 when the copy of piece i is over
  iree_hal_buffer_t* slots[SLOT_COUNT];
} staging_t;

static iree_device_size_t piece_size(const staging_t* s, uint64_t piece) {
  return iree_min(s->operation->file.length - piece * PIECE_SIZE, (iree_device_size_t)PIECE_SIZE);
}

static iree_status_t submit_copy(const staging_t* s, uint64_t piece) {
  const hal_operation_t* op = s->operation;
  iree_hal_buffer_t* slot = s->slots[piece % SLOT_COUNT];
  iree_device_size_t at = op->file.buffer_offset + piece * PIECE_SIZE;
  uint64_t before = piece, after = piece + 1;
  iree_hal_semaphore_t* semaphore = s->semaphore;
  iree_hal_semaphore_list_t wait = {1, &semaphore, &before}, signal = {1, &semaphore, &after};
  return iree_hal_device_queue_copy((iree_hal_device_t*)op->device, op->queue_affinity, wait, signal,
                                    s->is_read ? slot : op->file.buffer, s->is_read ? 0 : at,
                                    s->is_read ? op->file.buffer : slot, s->is_read ? at : 0, piece_size(s, piece),
                                    IREE_HAL_COPY_FLAG_NONE);
}

static iree_status_t wait_copy(const staging_t* s, uint64_t piece) {
  return iree_hal_semaphore_wait(s->semaphore, piece + 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static iree_status_t run_read(const staging_t* s, uint64_t piece_count) {
  const hal_file_transfer_t* t = &s->operation->file;
  for (uint64_t i = 0; i < piece_count; ++i) {
    if (i >= SLOT_COUNT) IREE_RETURN_IF_ERROR(wait_copy(s, i - SLOT_COUNT));
    IREE_RETURN_IF_ERROR(
        iree_hal_file_read(t->file, t->file_offset + i * PIECE_SIZE, s->slots[i % SLOT_COUNT], 0, piece_size(s, i)));
    IREE_RETURN_IF_ERROR(submit_copy(s, i));
  }
  return iree_ok_status();
}

static iree_status_t run_write(const staging_t* s, uint64_t piece_count) {
  const hal_file_transfer_t* t = &s->operation->file;
  for (uint64_t i = 0; i < iree_min(piece_count, (uint64_t)SLOT_COUNT); ++i) IREE_RETURN_IF_ERROR(submit_copy(s, i));
  for (uint64_t i = 0; i < piece_count; ++i) {
    IREE_RETURN_IF_ERROR(wait_copy(s, i));
    IREE_RETURN_IF_ERROR(
        iree_hal_file_write(t->file, t->file_offset + i * PIECE_SIZE, s->slots[i % SLOT_COUNT], 0, piece_size(s, i)));
    if (i + SLOT_COUNT < piece_count) IREE_RETURN_IF_ERROR(submit_copy(s, i + SLOT_COUNT));
  }
  return iree_ok_status();
}

static iree_status_t allocate_slots(staging_t* s, uint64_t piece_count) {
  hal_queued_device_t* device = s->operation->device;
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  for (uint64_t i = 0; i < iree_min(piece_count, (uint64_t)SLOT_COUNT); ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(device->allocator, params, piece_size(s, i), &s->slots[i]));
  }
  return iree_hal_semaphore_create((iree_hal_device_t*)device, s->operation->queue_affinity, 0,
                                   IREE_HAL_SEMAPHORE_FLAG_NONE, &s->semaphore);
}

iree_status_t hal_operation_stage_file(const hal_operation_t* op) {
  staging_t s = {.operation = op, .is_read = op->kind == HAL_OPERATION_READ};
  uint64_t piece_count = (op->file.length + PIECE_SIZE - 1) / PIECE_SIZE;
  if (piece_count == 0) return iree_ok_status();
  iree_status_t status = allocate_slots(&s, piece_count);
  if (iree_status_is_ok(status)) status = (s.is_read ? run_read : run_write)(&s, piece_count);
  // Copies that are still running keep the slots alive; the target is complete when the last one is.
  if (iree_status_is_ok(status) && s.is_read) status = wait_copy(&s, piece_count - 1);
  iree_hal_semaphore_release(s.semaphore);
  for (int i = 0; i < SLOT_COUNT; ++i) iree_hal_buffer_release(s.slots[i]);
  return status;
}
