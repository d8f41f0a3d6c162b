// Transfers of files to and from memory that the host cannot map: pieces go through the slots of a ring in turn, so
// that files are read, or written, while queues copy. The ring goes on from one transfer to the next: a read is left to
// the copy of its last piece, which signals what the read does, and the thread turns to what comes then. As many rings
// are kept as have been in use at once, which is one where a single thread does this work.
#include "hal/queued_device.h"

enum { LEAST_SIZE = 64 << 10, PIECE_SIZE = 4 << 20, SLOT_COUNT = 2 };

// Free when its semaphore reaches `value`, or fails: whose copy that was has been told.
typedef struct slot_t {
  iree_hal_buffer_t* buffer;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} slot_t;

typedef struct staging_t {
  hal_idle_t idle;
  iree_hal_allocator_t* allocator;  // retained; of the slots
  uint64_t next;                    // pieces so far: which slot comes
  slot_t slots[SLOT_COUNT];
  iree_host_size_t signal_capacity;
  iree_hal_semaphore_t** semaphores;  // of a last copy's signals
  uint64_t* values;
} staging_t;

typedef struct transfer_t {
  const hal_operation_t* operation;
  staging_t* staging;
  uint64_t first;  // the ring's number of the first piece
  uint64_t piece_count;
} transfer_t;

static bool is_read(const transfer_t* t) { return t->operation->kind == HAL_OPERATION_READ; }

static iree_device_size_t piece_size(const transfer_t* t, uint64_t piece) {
  return iree_min(t->operation->file.length - piece * PIECE_SIZE, (iree_device_size_t)PIECE_SIZE);
}

static slot_t* piece_slot(const transfer_t* t, uint64_t piece) {
  return &t->staging->slots[(t->first + piece) % SLOT_COUNT];
}

//===----------------------------------------------------------------------------------------------------------------===
// Slots
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t wait_copy(const slot_t* slot) {
  return iree_hal_semaphore_wait(slot->semaphore, slot->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

// Waits until nothing uses the slot.
static void free_slot(slot_t* slot) {
  if (!slot->semaphore) return;
  if (iree_status_consume_code(wait_copy(slot)) == IREE_STATUS_OK) return;
  iree_hal_semaphore_release(slot->semaphore);
  slot->semaphore = NULL;
  slot->value = 0;
}

// Slots grow by powers of two up to a whole piece.
static iree_status_t take_slot(const transfer_t* t, uint64_t piece) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  slot_t* slot = piece_slot(t, piece);
  free_slot(slot);
  if (!slot->semaphore) {
    IREE_RETURN_IF_ERROR(iree_hal_semaphore_create((iree_hal_device_t*)t->operation->device,
                                                   IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE,
                                                   &slot->semaphore));
  }
  t->staging->next = t->first + piece + 1;
  if (slot->buffer && iree_hal_buffer_byte_length(slot->buffer) >= piece_size(t, piece)) return iree_ok_status();
  iree_hal_buffer_release(slot->buffer);
  slot->buffer = NULL;
  iree_device_size_t size = LEAST_SIZE;
  while (size < piece_size(t, piece)) size *= 2;
  return iree_hal_allocator_allocate_buffer(t->staging->allocator, params, size, &slot->buffer);
}

static iree_status_t submit_copy(const transfer_t* t, uint64_t piece, iree_hal_semaphore_list_t waits,
                                 iree_hal_semaphore_list_t signals) {
  const hal_operation_t* op = t->operation;
  iree_hal_buffer_t* slot = piece_slot(t, piece)->buffer;
  iree_device_size_t at = op->file.buffer_offset + piece * PIECE_SIZE;
  return iree_hal_device_queue_copy((iree_hal_device_t*)op->device, op->queue_affinity, waits, signals,
                                    is_read(t) ? slot : op->file.buffer, is_read(t) ? 0 : at,
                                    is_read(t) ? op->file.buffer : slot, is_read(t) ? at : 0, piece_size(t, piece),
                                    IREE_HAL_COPY_FLAG_NONE);
}

// A copy that only frees its slot.
static iree_status_t copy_piece(const transfer_t* t, uint64_t piece) {
  slot_t* slot = piece_slot(t, piece);
  uint64_t after = slot->value + 1;
  iree_hal_semaphore_list_t signals = {1, &slot->semaphore, &after};
  IREE_RETURN_IF_ERROR(submit_copy(t, piece, iree_hal_semaphore_list_empty(), signals));
  slot->value = after;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t fit_signals(const transfer_t* t, iree_host_size_t count) {
  staging_t* staging = t->staging;
  iree_allocator_t allocator = t->operation->device->host_allocator;
  if (count <= staging->signal_capacity) return iree_ok_status();
  staging->signal_capacity = 0;
  IREE_RETURN_IF_ERROR(
      iree_allocator_realloc(allocator, count * sizeof(*staging->semaphores), (void**)&staging->semaphores));
  IREE_RETURN_IF_ERROR(iree_allocator_realloc(allocator, count * sizeof(*staging->values), (void**)&staging->values));
  staging->signal_capacity = count;
  return iree_ok_status();
}

// Signals the operation's semaphores too, when the piece before is there as well; those before it are.
_Static_assert(SLOT_COUNT == 2, "the slot of the piece before the last is the only other one");
static iree_status_t copy_last_piece(const transfer_t* t) {
  uint64_t piece = t->piece_count - 1;
  slot_t *slot = piece_slot(t, piece), *before = piece_slot(t, piece + SLOT_COUNT - 1);
  const iree_hal_semaphore_list_t* own = &t->operation->signals;
  IREE_RETURN_IF_ERROR(fit_signals(t, own->count + 1));
  iree_hal_semaphore_list_t waits = {piece ? 1 : 0, &before->semaphore, &before->value};
  iree_hal_semaphore_list_t signals = {own->count + 1, t->staging->semaphores, t->staging->values};
  for (iree_host_size_t i = 0; i < own->count; ++i) {
    signals.semaphores[i] = own->semaphores[i];
    signals.payload_values[i] = own->payload_values[i];
  }
  signals.semaphores[own->count] = slot->semaphore;
  signals.payload_values[own->count] = slot->value + 1;
  IREE_RETURN_IF_ERROR(submit_copy(t, piece, waits, signals));
  ++slot->value;
  return iree_ok_status();
}

static iree_status_t run_read(const transfer_t* t) {
  const hal_file_transfer_t* file = &t->operation->file;
  for (uint64_t i = 0; i < t->piece_count; ++i) {
    IREE_RETURN_IF_ERROR(take_slot(t, i));
    IREE_RETURN_IF_ERROR(iree_hal_file_read(file->file, file->file_offset + i * PIECE_SIZE, piece_slot(t, i)->buffer, 0,
                                            piece_size(t, i)));
    IREE_RETURN_IF_ERROR(i + 1 < t->piece_count ? copy_piece(t, i) : copy_last_piece(t));
  }
  return iree_ok_status();
}

static iree_status_t start_write(const transfer_t* t, uint64_t piece) {
  IREE_RETURN_IF_ERROR(take_slot(t, piece));
  return copy_piece(t, piece);
}

static iree_status_t run_write(const transfer_t* t) {
  const hal_file_transfer_t* file = &t->operation->file;
  for (uint64_t i = 0; i < iree_min(t->piece_count, (uint64_t)SLOT_COUNT); ++i) IREE_RETURN_IF_ERROR(start_write(t, i));
  for (uint64_t i = 0; i < t->piece_count; ++i) {
    IREE_RETURN_IF_ERROR(wait_copy(piece_slot(t, i)));
    IREE_RETURN_IF_ERROR(iree_hal_file_write(file->file, file->file_offset + i * PIECE_SIZE, piece_slot(t, i)->buffer,
                                             0, piece_size(t, i)));
    if (i + SLOT_COUNT < t->piece_count) IREE_RETURN_IF_ERROR(start_write(t, i + SLOT_COUNT));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// What is kept
//===----------------------------------------------------------------------------------------------------------------===

// Copies that are still running keep the slots alive.
static void staging_free(hal_queued_device_t* device, staging_t* staging) {
  for (int i = 0; i < SLOT_COUNT; ++i) {
    iree_hal_semaphore_release(staging->slots[i].semaphore);
    iree_hal_buffer_release(staging->slots[i].buffer);
  }
  iree_hal_allocator_release(staging->allocator);
  iree_allocator_free(device->host_allocator, staging->semaphores);
  iree_allocator_free(device->host_allocator, staging->values);
  iree_allocator_free(device->host_allocator, staging);
}

static staging_t* take_idle(hal_queued_device_t* device) {
  return hal_idle_object(hal_idle_list_take(&device->free_staging), offsetof(staging_t, idle));
}

void hal_staging_trim(hal_queued_device_t* device) {
  for (staging_t* staging; (staging = take_idle(device)) != NULL;) staging_free(device, staging);
}

static iree_status_t staging_create(hal_queued_device_t* device, staging_t** out_staging) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, sizeof(**out_staging), (void**)out_staging));
  (*out_staging)->allocator = device->allocator;
  iree_hal_allocator_retain((*out_staging)->allocator);
  return iree_ok_status();
}

iree_status_t hal_operation_stage_file(const hal_operation_t* op, bool* out_is_submitted) {
  hal_queued_device_t* device = op->device;
  transfer_t t = {.operation = op, .piece_count = (op->file.length + PIECE_SIZE - 1) / PIECE_SIZE};
  *out_is_submitted = false;
  if (t.piece_count == 0) return iree_ok_status();
  t.staging = take_idle(device);
  if (!t.staging) IREE_RETURN_IF_ERROR(staging_create(device, &t.staging));
  t.first = t.staging->next;
  iree_status_t status = (is_read(&t) ? run_read : run_write)(&t);
  *out_is_submitted = iree_status_is_ok(status) && is_read(&t);
  hal_idle_list_give(&device->free_staging, &t.staging->idle);
  return status;
}
