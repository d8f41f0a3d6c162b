// Command buffers with collectives: their recording is divided at them, and executing one enqueues what is between them
// and the batches in turn, each waiting for the one before on a timeline of the submission's own.
//
// A batch is over when all of its parts are, on whatever thread does the last one. When the chain fails, the end of the
// timeline posts the batches that were not, as failures: other ranks wait for them. Batches whose channels can are
// ordered by the queue: it posts them, its operation ends when they have, and what waits behind them is in it already.
#include "hal/collective.h"
#include "hal/detail.h"
#include "hal/recording.h"
#include "iree/base/threading/notification.h"

typedef struct batch_t {
  const hal_command_t* commands;
  iree_host_size_t count;
  iree_hal_command_buffer_t* next;  // what follows; NULL: nothing before the next batch or the end
} batch_t;

struct hal_collectives_t {
  iree_allocator_t host_allocator;
  bool has_first;  // there are commands before the first batch
  iree_host_size_t part_count, step_count;
  iree_host_size_t batch_count;
  batch_t batches[];
};

//===----------------------------------------------------------------------------------------------------------------===
// Recording
//===----------------------------------------------------------------------------------------------------------------===

static bool is_collective(const hal_command_t* command) { return command->kind == HAL_COMMAND_COLLECTIVE; }

// Commands from `begin` that are one batch, or in no batch.
static iree_host_size_t measure(const hal_recording_t* recording, iree_host_size_t begin) {
  bool in_batch = is_collective(&recording->commands[begin]);
  iree_host_size_t end = begin + 1;
  while (end < recording->count && is_collective(&recording->commands[end]) == in_batch &&
         !(in_batch && recording->commands[end].waits)) {
    ++end;
  }
  return end - begin;
}

static hal_recording_t slice(const hal_recording_t* recording, iree_host_size_t begin, iree_host_size_t count) {
  hal_recording_t part = *recording;
  part.commands = recording->commands + begin;
  part.count = count;
  return part;
}

// A command buffer like `first` for commands that it keeps alive.
static iree_status_t lower_rest(iree_hal_command_buffer_t* first, const hal_recording_t* rest,
                                iree_hal_device_t* device, iree_hal_command_buffer_t** out_command_buffer) {
  iree_hal_command_buffer_mode_t mode =
      first->mode | IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED | IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED;
  IREE_RETURN_IF_ERROR(HAL_CALL(device, iree_hal_device, create_command_buffer)(
      device, mode, first->allowed_categories, first->queue_affinity, first->binding_capacity, out_command_buffer));
  return hal_recorded_lower(*out_command_buffer, rest);
}

static iree_status_t add_batch(hal_collectives_t* collectives, const hal_command_t* commands, iree_host_size_t count) {
  batch_t* batch = &collectives->batches[collectives->batch_count++];
  batch->commands = commands;
  batch->count = count;
  ++collectives->step_count;
  for (iree_host_size_t i = 0; i < count; ++i) {
    collectives->part_count += commands[i].collective.op.kind == IREE_HAL_COLLECTIVE_KIND_SEND_RECV ? 2 : 1;
  }
  return iree_ok_status();
}

iree_status_t hal_collectives_divide(iree_hal_command_buffer_t* command_buffer, const hal_recording_t* recording,
                                     hal_recording_t* out_first, hal_collectives_t** out_collectives) {
  iree_host_size_t count = 0, capacity = 0;
  iree_hal_device_t* device = NULL;
  *out_first = slice(recording, 0, 0);
  for (iree_host_size_t i = 0; i < recording->count; i += count) {
    count = measure(recording, i);
    if (!is_collective(&recording->commands[i])) continue;
    device = hal_channel_cast(recording->commands[i].collective.channel)->device;
    ++capacity;
  }
  hal_collectives_t* collectives = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(recording->host_allocator, sizeof(*collectives), capacity,
                                                          sizeof(batch_t), (void**)&collectives));
  collectives->host_allocator = recording->host_allocator;
  *out_collectives = collectives;
  for (iree_host_size_t i = 0; i < recording->count; i += count) {
    count = measure(recording, i);
    if (is_collective(&recording->commands[i])) {
      IREE_RETURN_IF_ERROR(add_batch(collectives, &recording->commands[i], count));
      continue;
    }
    ++collectives->step_count;
    hal_recording_t part = slice(recording, i, count);
    if (i == 0) {
      collectives->has_first = true;
      *out_first = part;
    } else {
      batch_t* batch = &collectives->batches[collectives->batch_count - 1];
      IREE_RETURN_IF_ERROR(lower_rest(command_buffer, &part, device, &batch->next));
    }
  }
  return iree_ok_status();
}

void hal_collectives_free(hal_collectives_t* collectives) {
  if (!collectives) return;
  for (iree_host_size_t i = 0; i < collectives->batch_count; ++i) {
    iree_hal_command_buffer_release(collectives->batches[i].next);
  }
  iree_allocator_free(collectives->host_allocator, collectives);
}

//===----------------------------------------------------------------------------------------------------------------===
// Submissions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct submission_t submission_t;

// A batch of a submission.
struct hal_collective_batch_t {
  submission_t* submission;
  iree_host_size_t first_part, part_count;
  bool is_ordered;                    // by the queue
  iree_hal_semaphore_list_t signals;  // a clone; none where it is ordered
  hal_collective_start_t start;       // where it is ordered
  iree_atomic_uint32_t is_posted;
  iree_atomic_uint32_t starting;  // parts that have not started, plus one while they are posted
  iree_atomic_uint32_t pending;   // parts that are not over, likewise
  iree_atomic_intptr_t failure;   // iree_status_t, the first
  iree_notification_t ended;      // posted when nothing is pending
};
typedef hal_collective_batch_t live_batch_t;

typedef struct live_part_t {
  hal_collective_part_t base;
  live_batch_t* batch;
  iree_hal_channel_t* channel;
  bool is_posted;
  iree_hal_buffer_ref_t send, recv;  // direct; buffers are retained
} live_part_t;

struct submission_t {
  iree_hal_resource_t resource;  // kept by the batches, the end and operations of batches
  iree_allocator_t host_allocator;
  iree_hal_command_buffer_t* command_buffer;  // retained
  const hal_collectives_t* collectives;
  iree_hal_semaphore_t* timeline;  // retained: grows by one with each step
  iree_async_semaphore_timepoint_t end;
  iree_hal_semaphore_list_t signals;  // the caller's and the timeline's end, for the last step; while it is submitted
  live_part_t* parts;
  live_batch_t batches[];
};

static void submission_destroy(iree_hal_resource_t* object) {
  submission_t* submission = (submission_t*)object;
  for (iree_host_size_t i = 0; i < submission->collectives->part_count; ++i) {
    iree_hal_buffer_release(submission->parts[i].send.buffer);
    iree_hal_buffer_release(submission->parts[i].recv.buffer);
    iree_status_free(submission->parts[i].base.failure);
  }
  for (iree_host_size_t i = 0; i < submission->collectives->batch_count; ++i) {
    iree_status_free((iree_status_t)iree_atomic_load(&submission->batches[i].failure, iree_memory_order_acquire));
    iree_notification_deinitialize(&submission->batches[i].ended);
  }
  iree_hal_semaphore_release(submission->timeline);
  iree_hal_command_buffer_release(submission->command_buffer);
  iree_allocator_free(submission->host_allocator, submission);
}

static const iree_hal_resource_vtable_t submission_vtable = {.destroy = submission_destroy};

static void submission_release(submission_t* submission) { iree_hal_resource_release(submission); }

static void batch_fail(live_batch_t* batch, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_status_is_ok(status) &&
      !iree_atomic_compare_exchange_strong(&batch->failure, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
  }
}

iree_status_t hal_collective_batch_failure(hal_collective_batch_t* batch) {
  return iree_status_clone((iree_status_t)iree_atomic_load(&batch->failure, iree_memory_order_acquire));
}

// One part less, or the last post.
static void batch_advance(live_batch_t* batch, iree_status_t status) {
  batch_fail(batch, status);
  if (iree_atomic_fetch_sub(&batch->pending, 1, iree_memory_order_acq_rel) != 1) return;
  iree_hal_semaphore_list_t signals = batch->signals;
  submission_t* submission = batch->submission;
  iree_allocator_t host_allocator = submission->host_allocator;
  iree_status_t failure = hal_collective_batch_failure(batch);
  iree_notification_post(&batch->ended, IREE_ALL_WAITERS);
  submission_release(submission);
  if (iree_status_is_ok(failure)) {
    IREE_IGNORE_ERROR(iree_hal_semaphore_list_signal(signals, NULL));
  } else {
    iree_hal_semaphore_list_fail(signals, failure);
  }
  iree_hal_semaphore_list_free(signals, host_allocator);
}

static void part_complete(hal_collective_part_t* part, iree_status_t status) {
  batch_advance(((live_part_t*)part)->batch, status);
}

// One part more that has started, or all are posted.
static void batch_start(live_batch_t* batch) {
  if (iree_atomic_fetch_sub(&batch->starting, 1, iree_memory_order_acq_rel) != 1) return;
  if (batch->start.started) batch->start.started(batch->start.user_data, batch->start.argument);
}

static void part_started(hal_collective_part_t* part, iree_status_t status) {
  live_batch_t* batch = ((live_part_t*)part)->batch;
  batch_fail(batch, status);
  batch_start(batch);
}

// Finds the memory of a range, at its first byte.
static iree_status_t find_memory(const live_part_t* part, const iree_hal_buffer_ref_t* ref, uint8_t** out_memory) {
  *out_memory = NULL;
  if (!ref->buffer) return iree_ok_status();
  uint8_t* begin = NULL;
  IREE_RETURN_IF_ERROR(hal_channel_cast(part->channel)->find_memory(ref->buffer, &begin));
  *out_memory = begin + ref->offset;
  return iree_ok_status();
}

static void prepare_part(live_part_t* part, iree_status_t failure) {
  uint8_t *send = NULL, *recv = NULL;
  if (iree_status_is_ok(failure)) failure = find_memory(part, &part->send, &send);
  if (iree_status_is_ok(failure)) failure = find_memory(part, &part->recv, &recv);
  part->base.memory = (hal_collective_memory_t){send, recv};
  part->base.failure = failure;
  part->base.before = part->batch->start.before;
  part->base.started = part->batch->is_ordered ? part_started : NULL;
}

// Posts what is of the first part's channel, as one list.
static void post_channel(live_part_t* parts, iree_host_size_t count) {
  hal_collective_part_t** link = &parts->base.next;
  for (iree_host_size_t i = 1; i < count; ++i) {
    if (parts[i].channel != parts->channel) continue;
    parts[i].is_posted = true;
    *link = &parts[i].base;
    link = &parts[i].base.next;
  }
  *link = NULL;
  HAL_CALL(parts->channel, iree_hal_channel, post)(parts->channel, &parts->base);
}

// The one time that a batch is posted; false when that was before.
static bool batch_claim(live_batch_t* batch) {
  return !iree_atomic_exchange(&batch->is_posted, 1u, iree_memory_order_acq_rel);
}

// Posts a claimed batch, with a failure, of which there need not be one, of all its parts.
static void batch_post(live_batch_t* batch, iree_hal_semaphore_list_t signals, iree_status_t failure) {
  live_part_t* parts = &batch->submission->parts[batch->first_part];
  iree_host_size_t count = batch->part_count;
  batch->signals = signals;
  iree_atomic_store(&batch->starting, (uint32_t)count + 1, iree_memory_order_release);
  iree_atomic_store(&batch->pending, (uint32_t)count + 1, iree_memory_order_release);
  for (iree_host_size_t i = 0; i < count; ++i) prepare_part(&parts[i], iree_status_clone(failure));
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (!parts[i].is_posted) post_channel(&parts[i], count - i);
  }
  batch_start(batch);
  batch_advance(batch, failure);
}

static bool is_over(void* arg) {
  return iree_atomic_load(&((live_batch_t*)arg)->pending, iree_memory_order_acquire) == 0;
}

iree_status_t hal_collective_batch_await(hal_collective_batch_t* batch) {
  iree_notification_await(&batch->ended, is_over, batch, iree_infinite_timeout());
  return hal_collective_batch_failure(batch);
}

iree_hal_resource_t* hal_collective_batch_resource(hal_collective_batch_t* batch) {
  return &batch->submission->resource;
}

static iree_status_t fail_posted(void) {
  return iree_make_status(IREE_STATUS_ABORTED, "the submission has failed before");
}

iree_status_t hal_collective_batch_post(hal_collective_batch_t* batch, const hal_collective_start_t* start) {
  if (!batch_claim(batch)) return fail_posted();
  batch->start = *start;
  batch_post(batch, iree_hal_semaphore_list_empty(), iree_ok_status());
  return iree_ok_status();
}

bool hal_collective_batch_is_posted(hal_collective_batch_t* batch) { return batch->start.started != NULL; }

bool hal_collective_batch_has_started(hal_collective_batch_t* batch) {
  return iree_atomic_load(&batch->starting, iree_memory_order_acquire) == 0;
}

void* hal_collective_batch_after(hal_collective_batch_t* batch, iree_host_size_t index) {
  return index < batch->part_count ? batch->submission->parts[batch->first_part + index].base.after : NULL;
}

static iree_status_t call_batch(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  submission_t* submission = (submission_t*)user_data;
  iree_hal_semaphore_list_t signals;
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_list_clone(&context->signal_semaphore_list, submission->host_allocator, &signals));
  if (!batch_claim(&submission->batches[args[0]])) {
    iree_hal_semaphore_list_free(signals, submission->host_allocator);
    return fail_posted();
  }
  batch_post(&submission->batches[args[0]], signals, iree_ok_status());
  return iree_status_from_code(IREE_STATUS_DEFERRED);
}

// The timeline is over, or has failed before its end.
static void submission_end(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  submission_t* submission = (submission_t*)user_data;
  for (iree_host_size_t i = 0; i < submission->collectives->batch_count; ++i) {
    if (!batch_claim(&submission->batches[i])) continue;
    batch_post(&submission->batches[i], iree_hal_semaphore_list_empty(), iree_status_clone(status));
  }
  iree_status_free(status);
  submission_release(submission);
}

//===----------------------------------------------------------------------------------------------------------------===
// Submitting
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t resolve(iree_hal_buffer_binding_table_t table, iree_hal_buffer_ref_t ref,
                             iree_hal_buffer_ref_t* out_ref) {
  iree_hal_buffer_ref_t resolved = {0};
  if (ref.length) IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, ref, &resolved));
  iree_hal_buffer_retain(resolved.buffer);
  *out_ref = resolved;
  return iree_ok_status();
}

static live_part_t* add_part(live_batch_t* batch, const hal_collective_t* collective) {
  live_part_t* part = &batch->submission->parts[batch->first_part + batch->part_count++];
  part->base.op = collective->op;
  part->base.param = collective->param;
  part->base.element_count = collective->element_count;
  part->base.complete = part_complete;
  part->batch = batch;
  part->channel = collective->channel;
  return part;
}

// SEND_RECV as its halves, of which either may have nobody at its other end.
static iree_status_t add_halves(live_batch_t* batch, iree_hal_buffer_binding_table_t table,
                                const hal_collective_t* collective) {
  uint32_t target = collective->param & UINT16_MAX, source = collective->param >> 16;
  if (target != HAL_COLLECTIVE_NOBODY) {
    live_part_t* send = add_part(batch, collective);
    send->base.op.kind = IREE_HAL_COLLECTIVE_KIND_SEND;
    send->base.param = target;
    IREE_RETURN_IF_ERROR(resolve(table, collective->send, &send->send));
  }
  live_part_t* recv = add_part(batch, collective);
  recv->base.op.kind = IREE_HAL_COLLECTIVE_KIND_RECV;
  recv->base.param = source;
  return resolve(table, collective->recv, &recv->recv);
}

static iree_status_t add_parts(live_batch_t* batch, iree_hal_buffer_binding_table_t table,
                               const hal_collective_t* collective) {
  if (collective->op.kind == IREE_HAL_COLLECTIVE_KIND_SEND_RECV) return add_halves(batch, table, collective);
  live_part_t* part = add_part(batch, collective);
  IREE_RETURN_IF_ERROR(resolve(table, collective->send, &part->send));
  return resolve(table, collective->recv, &part->recv);
}

static iree_status_t fill_batches(submission_t* submission, iree_hal_buffer_binding_table_t table) {
  iree_host_size_t part_count = 0;
  for (iree_host_size_t i = 0; i < submission->collectives->batch_count; ++i) {
    const batch_t* source = &submission->collectives->batches[i];
    live_batch_t* batch = &submission->batches[i];
    batch->submission = submission;
    batch->first_part = part_count;
    iree_notification_initialize(&batch->ended);
    for (iree_host_size_t j = 0; j < source->count; ++j) {
      IREE_RETURN_IF_ERROR(add_parts(batch, table, &source->commands[j].collective));
    }
    part_count += batch->part_count;
  }
  return iree_ok_status();
}

static void fill_signals(submission_t* submission, iree_hal_semaphore_list_t signals, void* storage) {
  iree_hal_semaphore_list_t* all = &submission->signals;
  all->count = signals.count + 1;
  all->payload_values = (uint64_t*)storage;
  all->semaphores = (iree_hal_semaphore_t**)(all->payload_values + all->count);
  for (iree_host_size_t i = 0; i < signals.count; ++i) {
    all->semaphores[i] = signals.semaphores[i];
    all->payload_values[i] = signals.payload_values[i];
  }
  all->semaphores[signals.count] = submission->timeline;
  all->payload_values[signals.count] = submission->collectives->step_count;
}

static iree_status_t submission_create(const hal_execution_t* execution, const hal_collectives_t* collectives,
                                       submission_t** out_submission) {
  submission_t* submission = NULL;
  iree_allocator_t host_allocator = iree_hal_device_host_allocator(execution->device);
  iree_host_size_t parts_at = sizeof(*submission) + collectives->batch_count * sizeof(live_batch_t);
  iree_host_size_t signals_at = parts_at + collectives->part_count * sizeof(live_part_t);
  iree_host_size_t size =
      signals_at + (execution->signals.count + 1) * (sizeof(uint64_t) + sizeof(iree_hal_semaphore_t*));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&submission));
  iree_hal_resource_initialize(&submission_vtable, &submission->resource);
  submission->host_allocator = host_allocator;
  submission->command_buffer = execution->command_buffer;
  iree_hal_command_buffer_retain(execution->command_buffer);
  submission->collectives = collectives;
  submission->parts = (live_part_t*)((uint8_t*)submission + parts_at);
  iree_status_t status = fill_batches(submission, execution->binding_table);
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_create(execution->device, execution->queue_affinity, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                       &submission->timeline);
  }
  if (!iree_status_is_ok(status)) {
    submission_release(submission);
    return status;
  }
  fill_signals(submission, execution->signals, (uint8_t*)submission + signals_at);
  *out_submission = submission;
  return iree_ok_status();
}

// A chain of queue operations, the steps of a submission.
typedef struct chain_t {
  const hal_execution_t* execution;
  submission_t* submission;
  iree_host_size_t step;  // enqueued
  uint64_t wait_value, signal_value;
} chain_t;

// The lists of the next step, which are the chain's until then.
static void next_step(chain_t* chain, iree_hal_semaphore_list_t* out_waits, iree_hal_semaphore_list_t* out_signals) {
  submission_t* submission = chain->submission;
  chain->wait_value = chain->step++;
  chain->signal_value = chain->step;
  iree_hal_semaphore_list_t wait = {1, &submission->timeline, &chain->wait_value};
  iree_hal_semaphore_list_t signal = {1, &submission->timeline, &chain->signal_value};
  *out_waits = chain->step == 1 ? chain->execution->waits : wait;
  *out_signals = chain->step == submission->collectives->step_count ? submission->signals : signal;
}

static iree_status_t chain_execute(chain_t* chain, iree_hal_command_buffer_t* command_buffer) {
  const hal_execution_t* execution = chain->execution;
  iree_hal_semaphore_list_t waits, signals;
  next_step(chain, &waits, &signals);
  return HAL_CALL(execution->device, iree_hal_device, queue_execute)(execution->device, execution->queue_affinity,
                                                                     waits, signals, command_buffer,
                                                                     execution->binding_table, execution->flags);
}

static iree_status_t chain_call(chain_t* chain, uint64_t batch) {
  iree_hal_semaphore_list_t waits, signals;
  next_step(chain, &waits, &signals);
  uint64_t args[4] = {batch};
  return iree_hal_device_queue_host_call(chain->execution->device, chain->execution->queue_affinity, waits, signals,
                                         iree_hal_make_host_call(call_batch, chain->submission), args,
                                         IREE_HAL_HOST_CALL_FLAG_NONE);
}

// How the batch is put into a queue; NULL: by the host.
static hal_collective_order_fn_t find_order(const chain_t* chain, const live_batch_t* batch) {
  const live_part_t* parts = &chain->submission->parts[batch->first_part];
  const hal_channel_t* first = hal_channel_cast(parts[0].channel);
  for (iree_host_size_t i = 0; i < batch->part_count; ++i) {
    const hal_channel_t* channel = hal_channel_cast(parts[i].channel);
    if (channel->order != first->order || channel->device != chain->execution->device) return NULL;
  }
  return first->order;
}

static iree_status_t chain_batch(chain_t* chain, iree_host_size_t index) {
  live_batch_t* batch = &chain->submission->batches[index];
  hal_collective_order_fn_t put = find_order(chain, batch);
  if (!put) return chain_call(chain, index);
  hal_collective_order_t order = {
      .device = chain->execution->device, .queue_affinity = chain->execution->queue_affinity, .batch = batch};
  batch->is_ordered = true;
  next_step(chain, &order.waits, &order.signals);
  return put(&order);
}

static iree_status_t enqueue(chain_t* chain) {
  const hal_collectives_t* collectives = chain->submission->collectives;
  if (collectives->has_first) IREE_RETURN_IF_ERROR(chain_execute(chain, chain->submission->command_buffer));
  for (iree_host_size_t i = 0; i < collectives->batch_count; ++i) {
    IREE_RETURN_IF_ERROR(chain_batch(chain, i));
    iree_hal_command_buffer_t* next = collectives->batches[i].next;
    if (next) IREE_RETURN_IF_ERROR(chain_execute(chain, next));
  }
  return iree_ok_status();
}

iree_status_t hal_collectives_execute(const hal_execution_t* execution, const hal_collectives_t* collectives) {
  submission_t* submission = NULL;
  IREE_RETURN_IF_ERROR(submission_create(execution, collectives, &submission));
  // One reference for each batch, one for the end, and one for this call, in which the chain may end.
  for (iree_host_size_t i = 0; i <= collectives->batch_count; ++i) iree_hal_resource_retain(submission);
  submission->end.callback = submission_end;
  submission->end.user_data = submission;
  chain_t chain = {.execution = execution, .submission = submission};
  iree_status_t status =
      iree_async_semaphore_acquire_timepoint(submission->timeline, collectives->step_count, &submission->end);
  if (iree_status_is_ok(status)) status = enqueue(&chain);
  if (!iree_status_is_ok(status)) iree_hal_semaphore_fail(submission->timeline, iree_status_clone(status));
  submission_release(submission);
  return status;
}
