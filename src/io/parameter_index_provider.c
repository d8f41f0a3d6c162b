// Providers of an index: transfers between its files and buffers, in chains of queue operations.
#include "iree/io/parameter_index_provider.h"

#include "io/index_provider.h"

enum { CHAIN_LIMIT = 32 };

typedef struct index_provider_t {
  iree_io_parameter_provider_t base;
  iree_allocator_t host_allocator;
  iree_io_parameter_index_t* index;
  iree_host_size_t chain_count;
  iree_string_view_t scope;  // its text is behind the struct
} index_provider_t;

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

// Where operations run and what they wait for. Those of a chain follow one another.
typedef struct transfer_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t affinity;
  iree_hal_semaphore_list_t wait;
  iree_host_size_t chain_count, next;
  iree_hal_semaphore_t* semaphores[CHAIN_LIMIT];  // NULL: nothing yet in this chain
  uint64_t values[CHAIN_LIMIT];
} transfer_t;

// One operation: the next one of its chain.
typedef struct step_t {
  iree_host_size_t chain;
  iree_hal_semaphore_list_t wait, signal;
  uint64_t signal_value;
} step_t;

static iree_status_t begin_step(transfer_t* t, step_t* step) {
  step->chain = t->next++ % t->chain_count;
  iree_hal_semaphore_t** semaphore = &t->semaphores[step->chain];
  step->wait = *semaphore ? (iree_hal_semaphore_list_t){1, semaphore, &t->values[step->chain]} : t->wait;
  if (!*semaphore) {
    IREE_RETURN_IF_ERROR(
        iree_hal_semaphore_create(t->device, t->affinity, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, semaphore));
  }
  step->signal_value = t->values[step->chain] + 1;
  step->signal = (iree_hal_semaphore_list_t){1, semaphore, &step->signal_value};
  return iree_ok_status();
}

static iree_status_t end_step(transfer_t* t, const step_t* step, iree_status_t status) {
  if (iree_status_is_ok(status)) t->values[step->chain] = step->signal_value;
  return status;
}

// Signals what waits for all of it, unless something failed.
static iree_status_t end_transfer(transfer_t* t, iree_status_t status, iree_hal_semaphore_list_t signal) {
  iree_hal_semaphore_list_t wait = {0, t->semaphores, t->values};
  while (wait.count < t->chain_count && t->semaphores[wait.count]) ++wait.count;
  if (iree_status_is_ok(status)) {
    status = iree_hal_device_queue_barrier(t->device, t->affinity, wait.count ? wait : t->wait, signal,
                                           IREE_HAL_EXECUTE_FLAG_NONE);
  }
  for (iree_host_size_t i = 0; i < wait.count; ++i) iree_hal_semaphore_release(t->semaphores[i]);
  return status;
}

void index_provider_expand(const iree_io_parameter_index_entry_t* splat, uint64_t phase, uint8_t* target,
                           iree_host_size_t length) {
  uint8_t size = splat->storage.splat.pattern_length;
  for (iree_host_size_t i = 0; i < length; ++i) target[i] = splat->storage.splat.pattern[(phase + i) % size];
}

// Patterns that the device does not fill with, or not there, are written out.
static iree_status_t update_splat(transfer_t* t, const iree_io_parameter_index_entry_t* entry,
                                  const iree_io_parameter_span_t* span, iree_hal_buffer_t* buffer) {
  uint8_t block[4096];
  for (iree_device_size_t done = 0; done < span->length;) {
    iree_device_size_t now = iree_min(span->length - done, sizeof(block));
    step_t step;
    index_provider_expand(entry, span->parameter_offset + done, block, (iree_host_size_t)now);
    IREE_RETURN_IF_ERROR(begin_step(t, &step));
    iree_status_t status =
        iree_hal_device_queue_update(t->device, t->affinity, step.wait, step.signal, block, 0, buffer,
                                     span->buffer_offset + done, now, IREE_HAL_UPDATE_FLAG_NONE);
    IREE_RETURN_IF_ERROR(end_step(t, &step, status));
    done += now;
  }
  return iree_ok_status();
}

static iree_status_t fill_splat(transfer_t* t, const iree_io_parameter_index_entry_t* entry,
                                const iree_io_parameter_span_t* span, iree_hal_buffer_t* buffer) {
  iree_host_size_t size = entry->storage.splat.pattern_length;
  if (!iree_is_power_of_two_uint64(size) || span->parameter_offset % size || span->buffer_offset % size ||
      span->length % size) {
    return update_splat(t, entry, span, buffer);
  }
  step_t step;
  IREE_RETURN_IF_ERROR(begin_step(t, &step));
  return end_step(
      t, &step,
      iree_hal_device_queue_fill(t->device, t->affinity, step.wait, step.signal, buffer, span->buffer_offset,
                                 span->length, entry->storage.splat.pattern, size, IREE_HAL_FILL_FLAG_NONE));
}

typedef iree_status_t (*move_fn_t)(transfer_t* t, const iree_io_parameter_index_entry_t* entry,
                                   const iree_io_parameter_span_t* span, iree_hal_buffer_t* buffer);

// Between a buffer and the entry's file.
static iree_status_t move_span(transfer_t* t, const iree_io_parameter_index_entry_t* entry,
                               const iree_io_parameter_span_t* span, iree_hal_buffer_t* buffer,
                               iree_hal_memory_access_t access) {
  uint64_t offset = entry->storage.file.offset + span->parameter_offset;
  iree_hal_file_t* file = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_file_import(t->device, t->affinity, access, entry->storage.file.handle,
                                            IREE_HAL_EXTERNAL_FILE_FLAG_NONE, &file));
  step_t step;
  iree_status_t status = begin_step(t, &step);
  if (iree_status_is_ok(status)) {
    status =
        access == IREE_HAL_MEMORY_ACCESS_READ
            ? iree_hal_device_queue_read(t->device, t->affinity, step.wait, step.signal, file, offset, buffer,
                                         span->buffer_offset, span->length, IREE_HAL_READ_FLAG_NONE)
            : iree_hal_device_queue_write(t->device, t->affinity, step.wait, step.signal, buffer, span->buffer_offset,
                                          file, offset, span->length, IREE_HAL_WRITE_FLAG_NONE);
    status = end_step(t, &step, status);
  }
  iree_hal_file_release(file);
  return status;
}

static iree_status_t read_span(transfer_t* t, const iree_io_parameter_index_entry_t* entry,
                               const iree_io_parameter_span_t* span, iree_hal_buffer_t* buffer) {
  if (!span->length) return iree_ok_status();
  if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT) return fill_splat(t, entry, span, buffer);
  return move_span(t, entry, span, buffer, IREE_HAL_MEMORY_ACCESS_READ);
}

static iree_status_t write_span(transfer_t* t, const iree_io_parameter_index_entry_t* entry,
                                const iree_io_parameter_span_t* span, iree_hal_buffer_t* buffer) {
  if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "parameter '%.*s' is a splat, which cannot be written",
                            (int)entry->key.size, entry->key.data);
  }
  if (!span->length) return iree_ok_status();
  return move_span(t, entry, span, buffer, IREE_HAL_MEMORY_ACCESS_WRITE);
}

//===----------------------------------------------------------------------------------------------------------------===
// Provider
//===----------------------------------------------------------------------------------------------------------------===

static void provider_destroy(iree_io_parameter_provider_t* IREE_RESTRICT base) {
  index_provider_t* provider = (index_provider_t*)base;
  iree_io_parameter_index_release(provider->index);
  iree_allocator_free(provider->host_allocator, provider);
}

static bool provider_query_support(iree_io_parameter_provider_t* base, iree_string_view_t scope) {
  return iree_string_view_equal(((index_provider_t*)base)->scope, scope);
}

// The entry of span `i`, which lies inside of it.
static iree_status_t resolve(const index_provider_t* provider, iree_io_parameter_enumerator_t enumerator,
                             iree_host_size_t i, const iree_io_parameter_index_entry_t** out_entry,
                             iree_io_parameter_span_t* out_span) {
  iree_string_view_t key = iree_string_view_empty();
  IREE_RETURN_IF_ERROR(enumerator.fn(enumerator.user_data, i, &key, out_span));
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_lookup(provider->index, key, out_entry), "in scope '%.*s'",
                       (int)provider->scope.size, provider->scope.data);
  uint64_t length = (*out_entry)->length;
  if (out_span->parameter_offset <= length && out_span->length <= length - out_span->parameter_offset) {
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "%" PRIu64 " bytes at %" PRIu64 " of parameter '%.*s', which has %" PRIu64,
                          (uint64_t)out_span->length, out_span->parameter_offset, (int)key.size, key.data, length);
}

static transfer_t make_transfer(const index_provider_t* provider, iree_hal_device_t* device,
                                iree_hal_queue_affinity_t affinity, iree_hal_semaphore_list_t wait) {
  return (transfer_t){.device = device, .affinity = affinity, .wait = wait, .chain_count = provider->chain_count};
}

static iree_status_t move_spans(index_provider_t* provider, transfer_t* t, move_fn_t move, iree_hal_buffer_t* buffer,
                                iree_host_size_t count, iree_io_parameter_enumerator_t enumerator) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    const iree_io_parameter_index_entry_t* entry = NULL;
    iree_io_parameter_span_t span = {0};
    IREE_RETURN_IF_ERROR(resolve(provider, enumerator, i, &entry, &span));
    IREE_RETURN_IF_ERROR(move(t, entry, &span, buffer));
  }
  return iree_ok_status();
}

static iree_status_t provider_gather(iree_io_parameter_provider_t* base, iree_hal_device_t* device,
                                     iree_hal_queue_affinity_t queue_affinity, const iree_hal_semaphore_list_t wait,
                                     const iree_hal_semaphore_list_t signal, iree_string_view_t source_scope,
                                     iree_hal_buffer_t* target_buffer, iree_host_size_t count,
                                     iree_io_parameter_enumerator_t enumerator) {
  index_provider_t* provider = (index_provider_t*)base;
  transfer_t t = make_transfer(provider, device, queue_affinity, wait);
  return end_transfer(&t, move_spans(provider, &t, read_span, target_buffer, count, enumerator), signal);
}

static iree_status_t provider_scatter(iree_io_parameter_provider_t* base, iree_hal_device_t* device,
                                      iree_hal_queue_affinity_t queue_affinity, const iree_hal_semaphore_list_t wait,
                                      const iree_hal_semaphore_list_t signal, iree_hal_buffer_t* source_buffer,
                                      iree_string_view_t target_scope, iree_host_size_t count,
                                      iree_io_parameter_enumerator_t enumerator) {
  index_provider_t* provider = (index_provider_t*)base;
  transfer_t t = make_transfer(provider, device, queue_affinity, wait);
  return end_transfer(&t, move_spans(provider, &t, write_span, source_buffer, count, enumerator), signal);
}

static void release_handle(void* user_data, iree_hal_buffer_t* buffer) { iree_io_file_handle_release(user_data); }

// The span's memory as a buffer; *out_buffer stays NULL where that cannot be.
static void import_span(iree_hal_device_t* device, iree_hal_buffer_params_t params,
                        const iree_io_parameter_index_entry_t* entry, const iree_io_parameter_span_t* span,
                        iree_hal_buffer_t** out_buffer) {
  if (entry->type != IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE || !span->length || !params.access ||
      (params.access & ~(iree_hal_memory_access_t)IREE_HAL_MEMORY_ACCESS_READ)) {
    return;
  }
  iree_io_file_handle_t* handle = entry->storage.file.handle;
  if (iree_io_file_handle_type(handle) != IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION) return;
  uint8_t* data = iree_io_file_handle_value(handle).host_allocation.data;
  iree_hal_external_buffer_t external = {
      .type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
      .size = span->length,
      .handle = {.host_allocation = {.ptr = data + entry->storage.file.offset + span->parameter_offset}},
  };
  iree_hal_buffer_release_callback_t callback = {release_handle, handle};
  iree_io_file_handle_retain(handle);
  iree_status_t status =
      iree_hal_allocator_import_buffer(iree_hal_device_allocator(device), params, &external, callback, out_buffer);
  if (!iree_status_is_ok(status)) iree_io_file_handle_release(handle);
  iree_status_ignore(status);
}

static iree_status_t load_span(transfer_t* t, iree_hal_buffer_params_t params,
                               const iree_io_parameter_index_entry_t* entry, iree_io_parameter_span_t span,
                               iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  import_span(t->device, params, entry, &span, out_buffer);
  if (*out_buffer) return iree_ok_status();
  params.access = params.access ? params.access | IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE : 0;
  params.usage |= IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET;
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(t->device), params, span.length, out_buffer));
  span.buffer_offset = 0;
  return read_span(t, entry, &span, *out_buffer);
}

static iree_status_t load_spans(index_provider_t* provider, transfer_t* t, iree_hal_buffer_params_t params,
                                iree_host_size_t count, iree_io_parameter_enumerator_t enumerator,
                                iree_io_parameter_emitter_t emitter) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    const iree_io_parameter_index_entry_t* entry = NULL;
    iree_io_parameter_span_t span = {0};
    iree_hal_buffer_t* buffer = NULL;
    IREE_RETURN_IF_ERROR(resolve(provider, enumerator, i, &entry, &span));
    iree_status_t status = load_span(t, params, entry, span, &buffer);
    if (iree_status_is_ok(status)) status = emitter.fn(emitter.user_data, i, buffer);
    iree_hal_buffer_release(buffer);
    IREE_RETURN_IF_ERROR(status);
  }
  return iree_ok_status();
}

static iree_status_t provider_load(iree_io_parameter_provider_t* base, iree_hal_device_t* device,
                                   iree_hal_queue_affinity_t queue_affinity, const iree_hal_semaphore_list_t wait,
                                   const iree_hal_semaphore_list_t signal, iree_string_view_t source_scope,
                                   iree_hal_buffer_params_t target_params, iree_host_size_t count,
                                   iree_io_parameter_enumerator_t enumerator, iree_io_parameter_emitter_t emitter) {
  index_provider_t* provider = (index_provider_t*)base;
  transfer_t t = make_transfer(provider, device, queue_affinity, wait);
  return end_transfer(&t, load_spans(provider, &t, target_params, count, enumerator, emitter), signal);
}

static const iree_io_parameter_provider_vtable_t provider_vtable = {
    .destroy = provider_destroy,
    .query_support = provider_query_support,
    .load = provider_load,
    .gather = provider_gather,
    .scatter = provider_scatter,
};

iree_status_t iree_io_parameter_index_provider_create(iree_string_view_t scope, iree_io_parameter_index_t* index,
                                                      iree_host_size_t max_concurrent_operations,
                                                      iree_allocator_t host_allocator,
                                                      iree_io_parameter_provider_t** out_provider) {
  *out_provider = NULL;
  index_provider_t* provider = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*provider) + scope.size, (void**)&provider));
  iree_atomic_ref_count_init(&provider->base.ref_count);
  provider->base.vtable = &provider_vtable;
  provider->host_allocator = host_allocator;
  provider->index = index;
  iree_io_parameter_index_retain(index);
  provider->chain_count = iree_min(iree_max(1, max_concurrent_operations), CHAIN_LIMIT);
  if (scope.size) memcpy(provider + 1, scope.data, scope.size);
  provider->scope = iree_make_string_view((const char*)(provider + 1), scope.size);
  *out_provider = &provider->base;
  return iree_ok_status();
}

iree_io_parameter_index_t* index_provider_index(iree_io_parameter_provider_t* provider) {
  return provider->vtable == &provider_vtable ? ((index_provider_t*)provider)->index : NULL;
}
