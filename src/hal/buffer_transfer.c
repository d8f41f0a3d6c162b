// Blocking transfers: through mappings where both ends are mappable, else through the device's queue.
#include "iree/hal/buffer_transfer.h"

#include "base/trace.h"
#include "hal/detail.h"

static bool is_mappable(iree_hal_buffer_t* buffer) {
  return iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
         iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer), IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED);
}

static iree_device_size_t end_length(iree_hal_transfer_buffer_t end) {
  return end.device_buffer ? iree_hal_buffer_byte_length(end.device_buffer) : end.host_buffer.data_length;
}

static iree_status_t transfer_mapped(iree_hal_transfer_buffer_t source, iree_device_size_t source_offset,
                                     iree_hal_transfer_buffer_t target, iree_device_size_t target_offset,
                                     iree_device_size_t length) {
  if (source.device_buffer && target.device_buffer) {
    return iree_hal_buffer_map_copy(source.device_buffer, source_offset, target.device_buffer, target_offset, length);
  } else if (source.device_buffer) {
    return iree_hal_buffer_map_read(source.device_buffer, source_offset, target.host_buffer.data + target_offset,
                                    length);
  } else if (target.device_buffer) {
    return iree_hal_buffer_map_write(target.device_buffer, target_offset, source.host_buffer.data + source_offset,
                                     length);
  }
  memcpy(target.host_buffer.data + target_offset, source.host_buffer.data + source_offset, length);
  return iree_ok_status();
}

// Copies between the ends of a transfer, one after the other: the one that is number n signals n.
typedef struct copies_t {
  iree_hal_device_t* device;
  iree_hal_semaphore_t* semaphore;
  uint64_t count;
  iree_timeout_t timeout;
} copies_t;

static iree_status_t copies_begin(iree_hal_device_t* device, iree_timeout_t timeout, copies_t* out_copies) {
  *out_copies = (copies_t){.device = device, .timeout = timeout};
  iree_convert_timeout_to_absolute(&out_copies->timeout);
  return iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                   &out_copies->semaphore);
}

static iree_status_t copies_wait(const copies_t* copies, uint64_t number) {
  return iree_hal_semaphore_wait(copies->semaphore, number, copies->timeout, IREE_ASYNC_WAIT_FLAG_NONE);
}

static iree_status_t copies_add(copies_t* copies, iree_hal_buffer_t* source, iree_device_size_t source_offset,
                                iree_hal_buffer_t* target, iree_device_size_t target_offset,
                                iree_device_size_t length) {
  uint64_t before = copies->count, after = before + 1;
  iree_hal_semaphore_list_t waits = {before ? 1 : 0, &copies->semaphore, &before};
  iree_hal_semaphore_list_t signals = {1, &copies->semaphore, &after};
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_copy(copies->device, IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals, source,
                                                  source_offset, target, target_offset, length,
                                                  IREE_HAL_COPY_FLAG_NONE));
  copies->count = after;
  return iree_ok_status();
}

// A transfer with host memory at one end goes through buffers that the device and the host both reach, piece by piece,
// so that the host copies one while the device copies another. Piece i is copy i + 1.
enum { PIECE_SIZE = 4 << 20, SLOTS = 2 };
typedef struct staged_t {
  copies_t copies;
  iree_hal_buffer_t* slots[SLOTS];
  iree_hal_buffer_t* buffer;  // the device's end
  iree_device_size_t offset, length;
  uint8_t* data;  // the host's
  uint64_t pieces;
} staged_t;

static iree_device_size_t piece_length(const staged_t* s, uint64_t piece) {
  return iree_min(s->length - piece * PIECE_SIZE, (iree_device_size_t)PIECE_SIZE);
}

static iree_status_t staged_begin(staged_t* s) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  s->pieces = (s->length + PIECE_SIZE - 1) / PIECE_SIZE;
  for (uint64_t i = 0; i < iree_min(s->pieces, (uint64_t)SLOTS); ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(s->copies.device), params,
                                                            piece_length(s, 0), &s->slots[i]));
  }
  return iree_ok_status();
}

static iree_status_t send(staged_t* s) {
  for (uint64_t i = 0; i < s->pieces; ++i) {
    iree_hal_buffer_t* slot = s->slots[i % SLOTS];
    if (i >= SLOTS) IREE_RETURN_IF_ERROR(copies_wait(&s->copies, i + 1 - SLOTS));
    IREE_RETURN_IF_ERROR(iree_hal_buffer_map_write(slot, 0, s->data + i * PIECE_SIZE, piece_length(s, i)));
    IREE_RETURN_IF_ERROR(copies_add(&s->copies, slot, 0, s->buffer, s->offset + i * PIECE_SIZE, piece_length(s, i)));
  }
  return copies_wait(&s->copies, s->pieces);
}

static iree_status_t fetch_piece(staged_t* s, uint64_t piece) {
  return copies_add(&s->copies, s->buffer, s->offset + piece * PIECE_SIZE, s->slots[piece % SLOTS], 0,
                    piece_length(s, piece));
}

static iree_status_t fetch(staged_t* s) {
  for (uint64_t i = 0; i < iree_min(s->pieces, (uint64_t)SLOTS); ++i) IREE_RETURN_IF_ERROR(fetch_piece(s, i));
  for (uint64_t i = 0; i < s->pieces; ++i) {
    IREE_RETURN_IF_ERROR(copies_wait(&s->copies, i + 1));
    IREE_RETURN_IF_ERROR(
        iree_hal_buffer_map_read(s->slots[i % SLOTS], 0, s->data + i * PIECE_SIZE, piece_length(s, i)));
    if (i + SLOTS < s->pieces) IREE_RETURN_IF_ERROR(fetch_piece(s, i + SLOTS));
  }
  return iree_ok_status();
}

// By the device's own way, where it has one for this.
static iree_status_t transfer_directly(iree_hal_device_t* device, iree_hal_transfer_buffer_t source,
                                       iree_device_size_t source_offset, iree_hal_transfer_buffer_t target,
                                       iree_device_size_t target_offset, iree_device_size_t length,
                                       iree_timeout_t timeout) {
  const iree_hal_device_vtable_t* vtable = IREE_HAL_VTABLE(device, iree_hal_device);
  if (!vtable->transfer) return iree_status_from_code(IREE_STATUS_DEFERRED);
  if (source.device_buffer) {
    return vtable->transfer(device, /*to_host=*/true, target.host_buffer.data + target_offset, source.device_buffer,
                            source_offset, length, timeout);
  }
  return vtable->transfer(device, /*to_host=*/false, source.host_buffer.data + source_offset, target.device_buffer,
                          target_offset, length, timeout);
}

static iree_status_t transfer_queued(iree_hal_device_t* device, iree_hal_transfer_buffer_t source,
                                     iree_device_size_t source_offset, iree_hal_transfer_buffer_t target,
                                     iree_device_size_t target_offset, iree_device_size_t length,
                                     iree_timeout_t timeout) {
  staged_t s = {.length = length};
  if (!source.device_buffer || !target.device_buffer) {
    iree_status_t direct = transfer_directly(device, source, source_offset, target, target_offset, length, timeout);
    if (!iree_status_is_deferred(direct)) return direct;
    iree_status_ignore(direct);
  }
  IREE_RETURN_IF_ERROR(copies_begin(device, timeout, &s.copies));
  iree_status_t status;
  if (source.device_buffer && target.device_buffer) {
    status = copies_add(&s.copies, source.device_buffer, source_offset, target.device_buffer, target_offset, length);
    if (iree_status_is_ok(status)) status = copies_wait(&s.copies, 1);
  } else {
    bool sends = target.device_buffer != NULL;
    s.buffer = sends ? target.device_buffer : source.device_buffer;
    s.offset = sends ? target_offset : source_offset;
    s.data = sends ? source.host_buffer.data + source_offset : target.host_buffer.data + target_offset;
    status = staged_begin(&s);
    if (iree_status_is_ok(status)) status = sends ? send(&s) : fetch(&s);
  }
  for (int i = 0; i < SLOTS; ++i) iree_hal_buffer_release(s.slots[i]);
  iree_hal_semaphore_release(s.copies.semaphore);
  return status;
}

iree_status_t iree_hal_device_transfer_range(iree_hal_device_t* device, iree_hal_transfer_buffer_t source,
                                             iree_device_size_t source_offset, iree_hal_transfer_buffer_t target,
                                             iree_device_size_t target_offset, iree_device_size_t data_length,
                                             iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout) {
  TRACE_SCOPE("transfer");
  iree_device_size_t offset = 0;
  iree_device_size_t source_length = end_length(source), target_length = end_length(target);
  if (data_length == IREE_HAL_WHOLE_BUFFER) {
    data_length = iree_min(source_length - iree_min(source_offset, source_length),
                           target_length - iree_min(target_offset, target_length));
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, source_length, source_offset, data_length, &offset, NULL));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, target_length, target_offset, data_length, &offset, NULL));
  if (data_length == 0) return iree_ok_status();
  bool mapped = (!source.device_buffer || is_mappable(source.device_buffer)) &&
                (!target.device_buffer || is_mappable(target.device_buffer));
  if (mapped) return transfer_mapped(source, source_offset, target, target_offset, data_length);
  return transfer_queued(device, source, source_offset, target, target_offset, data_length, timeout);
}

iree_status_t iree_hal_device_transfer_h2d(iree_hal_device_t* device, const void* source, iree_hal_buffer_t* target,
                                           iree_device_size_t target_offset, iree_device_size_t data_length,
                                           iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout) {
  return iree_hal_device_transfer_range(device, iree_hal_make_host_transfer_buffer_span((void*)source, data_length), 0,
                                        iree_hal_make_device_transfer_buffer(target), target_offset, data_length, flags,
                                        timeout);
}

iree_status_t iree_hal_device_transfer_d2h(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                           iree_device_size_t source_offset, void* target,
                                           iree_device_size_t data_length, iree_hal_transfer_buffer_flags_t flags,
                                           iree_timeout_t timeout) {
  return iree_hal_device_transfer_range(device, iree_hal_make_device_transfer_buffer(source), source_offset,
                                        iree_hal_make_host_transfer_buffer_span(target, data_length), 0, data_length,
                                        flags, timeout);
}

iree_status_t iree_hal_device_transfer_d2d(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                           iree_device_size_t source_offset, iree_hal_buffer_t* target,
                                           iree_device_size_t target_offset, iree_device_size_t data_length,
                                           iree_hal_transfer_buffer_flags_t flags, iree_timeout_t timeout) {
  return iree_hal_device_transfer_range(device, iree_hal_make_device_transfer_buffer(source), source_offset,
                                        iree_hal_make_device_transfer_buffer(target), target_offset, data_length, flags,
                                        timeout);
}
