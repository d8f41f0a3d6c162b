// Streams as queues: a part of an operation is a run of calls.
//
// Work starts when it is written: nothing is left to publish. The end of what is last in a stream is seen at the stream
// itself, where the library can; others by marks: events that are recorded when somebody asks for an end, behind all
// that is in the stream by then, or when more work comes while somebody looks at the stream. Workgroup counts in memory
// come to the host first, in a part of their own, whose end lets the operation go on.
#include "hal/stream/queue.h"

#include "hal/stream/activity.h"
#include "hal/stream/counters.h"
#include "iree/base/threading/thread.h"

#define SPIN_NS 20000  // how long a thread polls before it lets others run

enum { DEFAULT_DEPTH = 256 };

static stream_queue_t* cast(gpu_queue_t* base) { return (stream_queue_t*)base; }

//===----------------------------------------------------------------------------------------------------------------===
// Marks
//===----------------------------------------------------------------------------------------------------------------===

uint64_t stream_queue_ended(stream_queue_t* queue) {
  return iree_atomic_load(&queue->ended, iree_memory_order_acquire);
}

static void raise_to(iree_atomic_uint64_t* value, uint64_t least) {
  uint64_t now = iree_atomic_load(value, iree_memory_order_relaxed);
  while (now < least &&
         !iree_atomic_compare_exchange_weak(value, &now, least, iree_memory_order_acq_rel, iree_memory_order_relaxed)) {
  }
}

// The oldest mark behind the part; NULL when there is none. Those of parts that ended go. The mutex is held.
static const stream_mark_t* find_mark(stream_queue_t* queue, uint64_t epoch) {
  uint64_t ended = stream_queue_ended(queue);
  while (queue->mark_count && queue->marks[queue->first_mark].epoch <= ended) {
    queue->first_mark = (queue->first_mark + 1) % STREAM_MARKS;
    --queue->mark_count;
  }
  for (uint32_t i = 0; i < queue->mark_count; ++i) {
    const stream_mark_t* mark = &queue->marks[(queue->first_mark + i) % STREAM_MARKS];
    if (mark->epoch >= epoch) return mark;
  }
  return NULL;
}

// A mark behind a part that was written. Who asked for an event may find it recorded again when it is used: then what
// it stood for is over, or it stands for that and more. The context is entered.
static iree_status_t mark(stream_queue_t* queue, uint64_t epoch, stream_mark_t* out_mark) {
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&queue->mark_mutex);
  const stream_mark_t* found = find_mark(queue, epoch);
  if (!found) {
    bool is_full = queue->mark_count == STREAM_MARKS;
    uint32_t index = (queue->first_mark + queue->mark_count - (is_full ? 1 : 0)) % STREAM_MARKS;
    stream_mark_t* next = &queue->marks[index];
    // Parts are counted when they are in the stream.
    uint64_t covered = iree_max(gpu_queue_head(&queue->base), epoch);
    status = STREAM_CALL(queue->context->api, event_record, next->event, queue->writer.stream);
    if (iree_status_is_ok(status)) {
      next->epoch = covered;
      queue->mark_count += is_full ? 0 : 1;
      found = next;
    }
  }
  if (found) *out_mark = *found;
  iree_slim_mutex_unlock(&queue->mark_mutex);
  return status;
}

// Before more work comes into the stream: who looks at it goes on with an event behind what it waits for, of which it
// needs no second one, however long it is off the processor. Who begins to look just now may wait for that work, too.
static iree_status_t mark_for_onlookers(stream_queue_t* queue) {
  stream_mark_t behind = {0};
  uint64_t head = gpu_queue_head(&queue->base);
  if (!iree_atomic_load(&queue->onlookers, iree_memory_order_seq_cst)) return iree_ok_status();
  uint64_t looked_for = iree_atomic_load(&queue->looked_for, iree_memory_order_relaxed);
  if (looked_for <= queue->marked_for_onlookers || stream_queue_ended(queue) >= head) return iree_ok_status();
  queue->marked_for_onlookers = head;
  return mark(queue, head, &behind);
}

// Behind a part of a stream that others use, before they put more there, for which it must not wait.
static iree_status_t mark_before_others(stream_queue_t* queue) {
  stream_mark_t behind = {0};
  return mark(queue, gpu_queue_head(&queue->base) + 1, &behind);
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

//===----------------------------------------------------------------------------------------------------------------===

static stream_timer_t* timer_of(const gpu_operation_t* operation, uint32_t command) {
  const hal_profile_operation_t* profile = operation->base.profile;
  return hal_profile_is_timed(profile) ? (stream_timer_t*)(uintptr_t)hal_profile_timer(profile, command) : NULL;
}

// Whether CUPTI records what kernels do.
static bool is_recorded(const stream_queue_t* queue) {
  const stream_device_t* device = (const stream_device_t*)queue->base.device;
  return iree_atomic_load(&device->is_recorded, iree_memory_order_relaxed);
}

static iree_status_t write_launch(stream_queue_t* queue, const gpu_operation_t* operation, uint32_t index,
                                  const uint32_t counts[3]) {
  stream_writer_t* writer = &queue->writer;
  stream_timer_t* timer = timer_of(operation, index);
  if (is_recorded(queue)) {
    if (timer) timer->is_recorded = true;
    return stream_write_launch(writer, operation->ranges, &operation->work.commands[index], counts);
  }
  IREE_RETURN_IF_ERROR(stream_timer_begin(writer->api, timer, writer->stream));
  IREE_RETURN_IF_ERROR(stream_write_launch(writer, operation->ranges, &operation->work.commands[index], counts));
  return stream_timer_end(writer->api, timer, writer->stream);
}

// A launch with its times and counters. Nothing is launched for an empty grid, which has none.
static iree_status_t write_timed(stream_queue_t* queue, const gpu_operation_t* operation, uint32_t index,
                                 const uint32_t counts[3]) {
  if (!counts[0] || !counts[1] || !counts[2]) return iree_ok_status();
  uint64_t sample = hal_profile_sample(operation->base.profile, index);
  const stream_counting_t* counting = ((const stream_device_t*)queue->base.device)->platform->counting;
  if (sample) counting->begin_launch(sample, &operation->work.commands[index], counts);
  iree_status_t status = write_launch(queue, operation, index, counts);
  if (sample) counting->end_launch(sample);
  return status;
}

// Counts in memory: the first time they are asked for; when they are here, they are used.
static iree_status_t write_indirect(stream_queue_t* queue, const gpu_operation_t* operation, uint32_t index,
                                    bool* out_waits) {
  *out_waits = queue->counts_epoch == 0;
  if (!*out_waits) {
    queue->counts_epoch = 0;
    return write_timed(queue, operation, index, queue->counts);
  }
  gpu_range_t source = gpu_ref_resolve(operation->work.commands[index].target, operation->ranges);
  IREE_RETURN_IF_ERROR(STREAM_CALL(queue->context->api, copy, (uint64_t)(uintptr_t)queue->counts, source.address,
                                   3 * sizeof(uint32_t), queue->writer.stream));
  queue->counts_epoch = gpu_queue_head(&queue->base) + 1;
  return iree_ok_status();
}

// Nobody else's work comes between the event and the batch: the queue holds it.
static iree_status_t write_batch(stream_queue_t* queue, const gpu_operation_t* operation, bool* out_waits) {
  stream_mark_t before = {0};
  if (!hal_collective_batch_is_posted(operation->batch)) {
    IREE_RETURN_IF_ERROR(mark(queue, gpu_queue_head(&queue->base) + 1, &before));
  }
  return stream_write_batch(queue, operation, before.event, out_waits);
}

static iree_status_t write_command(stream_queue_t* queue, const gpu_operation_t* operation, uint32_t index,
                                   bool* out_waits) {
  const gpu_command_t* command = &operation->work.commands[index];
  if (command->kind == HAL_COMMAND_COLLECTIVE) return write_batch(queue, operation, out_waits);
  if (command->kind != HAL_COMMAND_DISPATCH) return stream_write_command(&queue->writer, operation->ranges, command);
  if (command->dispatch.is_indirect) return write_indirect(queue, operation, index, out_waits);
  return write_timed(queue, operation, index, command->dispatch.workgroup_count);
}

// What a graph launches has its times recorded.
static void note_launched(const gpu_operation_t* operation) {
  const gpu_work_t* work = &operation->work;
  for (uint32_t i = 0; i < work->count; ++i) {
    const gpu_command_t* command = &work->commands[i];
    if (command->kind != HAL_COMMAND_DISPATCH) continue;
    const uint32_t* counts = command->dispatch.workgroup_count;
    stream_timer_t* timer = timer_of(operation, i);
    if (timer) timer->is_recorded = counts[0] && counts[1] && counts[2];
  }
}

// Nothing takes times of a graph's dispatches but records: where there are none they are launched one by one.
static iree_status_t write_commands(stream_queue_t* queue, const gpu_operation_t* operation, gpu_part_t* part) {
  const gpu_work_t* work = &operation->work;
  bool is_timed = hal_profile_is_timed(operation->base.profile);
  if (work->plan && part->next == 0 && (!is_timed || is_recorded(queue))) {
    bool is_launched = false;
    IREE_RETURN_IF_ERROR(stream_graph_launch(work->plan, operation->ranges, queue->writer.stream, &is_launched));
    if (is_launched) part->next = work->count;
    if (is_launched && is_timed) note_launched(operation);
  }
  for (bool waits = false; part->next < work->count; ++part->next) {
    IREE_RETURN_IF_ERROR(write_command(queue, operation, part->next, &waits));
    if (waits) return iree_ok_status();
  }
  return iree_ok_status();
}

static iree_status_t write_work(stream_queue_t* queue, const gpu_operation_t* operation, gpu_part_t* part) {
  const stream_api_t* api = queue->context->api;
  stream_timer_t* timer = (stream_timer_t*)(uintptr_t)hal_profile_operation_timer(operation->base.profile);
  IREE_RETURN_IF_ERROR(stream_transfers_precede(queue));
  IREE_RETURN_IF_ERROR(stream_timer_begin(api, timer, queue->writer.stream));
  bool is_numbered = hal_profile_is_timed(operation->base.profile) && is_recorded(queue);
  if (is_numbered) activity_push(stream_part_number(&queue->base, part));
  iree_status_t status = write_commands(queue, operation, part);
  if (is_numbered) activity_pop();
  IREE_RETURN_IF_ERROR(status);
  return part->next == operation->work.count ? stream_timer_end(api, timer, queue->writer.stream) : iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Parts
//===----------------------------------------------------------------------------------------------------------------===

// The event is recorded in the other queue's context.
static iree_status_t write_barrier(const stream_queue_t* queue, const gpu_barrier_t* barrier) {
  stream_queue_t* other = cast(barrier->queue);
  stream_mark_t before = {0};
  if (barrier->is_implied || stream_queue_ended(other) >= barrier->epoch ||
      gpu_queue_has_ended(&other->base, barrier->epoch)) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(stream_context_enter(other->context));
  IREE_RETURN_IF_ERROR(mark(other, barrier->epoch, &before));
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  return STREAM_CALL(queue->context->api, stream_wait, queue->writer.stream, before.event, 0);
}

// Work of a device that is gone is over, or has failed.
static iree_status_t write_far_wait(const stream_queue_t* queue, const gpu_kept_wait_t* wait) {
  uint64_t now = 0;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_query(wait->semaphore, &now));
  gpu_queue_t* other = gpu_far_producer_enter(&wait->far);
  if (!other) return iree_ok_status();
  gpu_barrier_t barrier = {.queue = other, .epoch = wait->far.producer.epoch};
  iree_status_t status = write_barrier(queue, &barrier);
  gpu_gate_leave(wait->far.gate);
  return status;
}

// What failed before waits for nothing, which may never come.
static iree_status_t write_barriers(const stream_queue_t* queue, const gpu_operation_t* operation) {
  if (iree_atomic_load(&operation->base.failure, iree_memory_order_relaxed)) return iree_ok_status();
  for (uint32_t i = 0; i < operation->barrier_count; ++i) {
    IREE_RETURN_IF_ERROR(write_barrier(queue, &operation->barriers[i]));
  }
  for (uint32_t i = 0; i < operation->kept_count; ++i) {
    if (operation->kept_waits[i].far.gate) IREE_RETURN_IF_ERROR(write_far_wait(queue, &operation->kept_waits[i]));
  }
  return iree_ok_status();
}

// Whether no counts are on their way.
static bool has_counts(stream_queue_t* queue) { return gpu_queue_tail(&queue->base) >= queue->counts_epoch; }

iree_status_t stream_queue_write(gpu_queue_t* base, const gpu_operation_t* op, gpu_part_t* part) {
  stream_queue_t* queue = cast(base);
  part->is_held = stream_batch_is_held(op);
  if (!has_counts(queue) || part->is_held) return iree_ok_status();
  part->is_written = true;
  bool is_empty = !op->barrier_count && !op->kept_count && !op->work.count;
  if (is_empty) return iree_ok_status();  // it ends with what is before it
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  iree_status_t status = mark_for_onlookers(queue);
  if (iree_status_is_ok(status)) status = write_barriers(queue, op);
  if (iree_status_is_ok(status) && op->work.count) status = write_work(queue, op, part);
  if (iree_status_is_ok(status) && queue->borrows_stream) status = mark_before_others(queue);
  if (!iree_status_is_ok(status)) {
    // What came before may be running: the operation ends when it has.
    queue->counts_epoch = 0;
    part->failure = status;
    part->next = op->work.count;
  }
  return iree_ok_status();
}

void stream_queue_publish(gpu_queue_t* base, const gpu_part_t* part) {}

// Names the kernels of the parts that did not end up to that one, where they have some. Which of several it was the
// library does not tell.
static iree_status_t name_kernels(gpu_queue_t* base, uint64_t last, iree_status_t status) {
  enum { MAX_NAMED = 8 };
  iree_slim_mutex_lock(&base->mutex);
  last = iree_min(last, gpu_queue_head(base));
  for (uint64_t epoch = gpu_queue_tail(base) + 1, named = 0; epoch <= last; ++epoch) {
    const gpu_part_t* part = gpu_queue_part(base, epoch);
    const gpu_work_t* work = &part->operation->work;
    for (uint32_t i = part->first; i < iree_min(part->next, work->count) && named < MAX_NAMED; ++i) {
      if (work->commands[i].kind != HAL_COMMAND_DISPATCH) continue;
      status = stream_annotate_kernel(status, &work->commands[i]);
      ++named;
    }
  }
  iree_slim_mutex_unlock(&base->mutex);
  return status;
}

// What is looked at for the end of a part: an event, or the stream itself while the part is the last one in it.
typedef struct sight_t {
  void* event;  // NULL: the stream
  uint64_t epoch;
  iree_time_t until;
} sight_t;

static int look(const stream_queue_t* queue, const sight_t* sight) {
  const stream_api_t* api = queue->context->api;
  return sight->event ? api->event_query(sight->event) : api->stream_query(queue->writer.stream);
}

static bool is_last(stream_queue_t* queue, uint64_t epoch) { return gpu_queue_head(&queue->base) <= epoch; }

// Looks until it is over, the part has ended for somebody else, more work came behind it, or for long enough: a status
// of the library.
static int spin(stream_queue_t* queue, const sight_t* sight) {
  iree_time_t yields_from = iree_min(sight->until, iree_time_now() + SPIN_NS);
  for (;;) {
    int result = look(queue, sight);
    if (result != STREAM_API_NOT_READY || gpu_queue_has_ended(&queue->base, sight->epoch)) return result;
    if (!sight->event && !is_last(queue, sight->epoch)) return result;
    iree_time_t now = iree_time_now();
    if (now >= sight->until) return result;
    if (now >= yields_from) iree_thread_yield();
  }
}

// False when an event is needed: the library cannot, or more work came behind the part, which others may have put
// there.
static bool spin_at_stream(stream_queue_t* queue, uint64_t epoch, iree_time_t until, int* out_result) {
  const stream_api_t* api = queue->context->api;
  *out_result = STREAM_API_NOT_READY;
  if (!api->library->sees_streams || !api->stream_query || queue->borrows_stream) return false;
  raise_to(&queue->looked_for, epoch);
  iree_atomic_fetch_add(&queue->onlookers, 1, iree_memory_order_seq_cst);
  bool was_last = is_last(queue, epoch);
  if (was_last) *out_result = spin(queue, &(sight_t){NULL, epoch, until});
  iree_atomic_fetch_sub(&queue->onlookers, 1, iree_memory_order_release);
  return was_last && (*out_result != STREAM_API_NOT_READY || is_last(queue, epoch));
}

// What a look found: what has ended then is in `*out_ended`, which `behind` has if it is over; also of a failure.
static iree_status_t conclude(stream_queue_t* queue, int result, const stream_symbol_t* symbol, uint64_t behind,
                              uint64_t* out_ended) {
  *out_ended = result == STREAM_API_NOT_READY ? stream_queue_ended(queue) : behind;
  return result == STREAM_API_NOT_READY ? iree_ok_status()
                                        : stream_api_check(queue->context->api, result, symbol->name);
}

// By looks, then asleep, as `poll` of gpu_backend_t.
static iree_status_t await_part(stream_queue_t* queue, uint64_t epoch, iree_time_t spin_until, bool may_sleep,
                                uint64_t* out_ended) {
  const stream_api_t* api = queue->context->api;
  const stream_symbols_t* symbols = &api->library->symbols;
  bool looks = !may_sleep || spin_until > 0;
  int result = STREAM_API_NOT_READY;
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  if (looks && spin_at_stream(queue, epoch, spin_until, &result)) {
    looks = false;
    bool is_over = result != STREAM_API_NOT_READY || !may_sleep || gpu_queue_has_ended(&queue->base, epoch);
    if (is_over) return conclude(queue, result, &symbols->stream_query, epoch, out_ended);
  }
  stream_mark_t behind = {0};
  IREE_RETURN_IF_ERROR(mark(queue, epoch, &behind));
  if (looks) result = spin(queue, &(sight_t){behind.event, epoch, spin_until});
  bool is_over = result != STREAM_API_NOT_READY || !may_sleep || gpu_queue_has_ended(&queue->base, epoch);
  if (is_over) return conclude(queue, result, &symbols->event_query, behind.epoch, out_ended);
  return conclude(queue, api->event_synchronize(behind.event), &symbols->event_synchronize, behind.epoch, out_ended);
}

bool stream_queue_poll(gpu_queue_t* base, uint64_t epoch, iree_time_t spin_until, bool may_sleep, uint64_t* out_ended) {
  stream_queue_t* queue = cast(base);
  *out_ended = stream_queue_ended(queue);
  if (*out_ended >= epoch) return true;
  iree_status_t status = await_part(queue, epoch, spin_until, may_sleep, out_ended);
  if (!iree_status_is_ok(status)) {
    gpu_queue_fail(base, name_kernels(base, iree_max(*out_ended, epoch), status));
    return false;
  }
  raise_to(&queue->ended, *out_ended);
  return *out_ended >= epoch;
}

bool stream_queue_await(gpu_queue_t* base, uint64_t seen, uint64_t* out_ended) {
  *out_ended = seen;
  bool has_more = gpu_queue_head(base) > seen;
  if (iree_atomic_load(&base->is_woken, iree_memory_order_acquire)) return false;
  if (!has_more) return true;
  return stream_queue_poll(base, seen + 1, IREE_TIME_INFINITE_PAST, /*may_sleep=*/true, out_ended);
}

uint64_t stream_queue_wake(gpu_queue_t* base) {
  return iree_atomic_load(&cast(base)->ended, iree_memory_order_acquire);
}

void stream_queue_stop(gpu_queue_t* base) {
  stream_queue_t* queue = cast(base);
  const stream_api_t* api = queue->context->api;
  stream_mark_t last = {0};
  if (queue->borrows_stream && stream_queue_ended(queue) >= gpu_queue_head(base)) return;
  iree_status_ignore(stream_context_enter(queue->context));
  if (queue->borrows_stream && iree_status_is_ok(iree_status_ignore(mark(queue, gpu_queue_head(base), &last)))) {
    api->event_synchronize(last.event);  // what others have behind it is theirs
  } else {
    api->stream_synchronize(queue->writer.stream);
  }
}

iree_status_t stream_queue_retire(gpu_queue_t* base, uint64_t epoch, const gpu_part_t* part) {
  if (part->operation->base.profile) stream_note_times(base, part);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

void stream_queue_destroy(gpu_queue_t* base) {
  stream_queue_t* queue = cast(base);
  const stream_api_t* api = queue->context->api;
  iree_allocator_t host_allocator = base->device->base.host_allocator;
  iree_status_ignore(stream_context_enter(queue->context));
  stream_transfers_deinitialize(queue);
  for (uint32_t i = 0; i < STREAM_MARKS; ++i) {
    if (queue->marks[i].event) api->event_destroy(queue->marks[i].event);
  }
  if (queue->writer.stream && !queue->borrows_stream) api->stream_destroy(queue->writer.stream);
  if (queue->counts) api->host_free(queue->counts);
  iree_slim_mutex_deinitialize(&queue->mark_mutex);
  gpu_queue_deinitialize(base);
  iree_allocator_free(host_allocator, queue->writer.arguments);
  iree_allocator_free(host_allocator, queue);
}

static iree_status_t initialize(stream_queue_t* queue, uint32_t depth) {
  const stream_api_t* api = queue->context->api;
  iree_slim_mutex_initialize(&queue->mark_mutex);
  IREE_RETURN_IF_ERROR(gpu_queue_initialize(&queue->base, depth));
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  if (!queue->borrows_stream) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &queue->writer.stream, STREAM_API_STREAM_NON_BLOCKING));
  }
  for (uint32_t i = 0; i < STREAM_MARKS; ++i) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_create, &queue->marks[i].event,
                                     STREAM_API_EVENT_BLOCKING_SYNC | STREAM_API_EVENT_DISABLE_TIMING));
  }
  IREE_RETURN_IF_ERROR(stream_transfers_initialize(queue));
  IREE_RETURN_IF_ERROR(
      STREAM_CALL(api, host_allocate, (void**)&queue->counts, 3 * sizeof(uint32_t), STREAM_API_HOST_PORTABLE));
  return gpu_queue_start(&queue->base);
}

iree_status_t stream_queue_create(stream_device_t* device, uint32_t bit, gpu_queue_t** out_queue) {
  *out_queue = NULL;
  stream_queue_t* queue = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->gpu.base.host_allocator, sizeof(*queue), (void**)&queue));
  const stream_gpu_t* gpu = &device->gpus[gpu_domain_physical(device->gpu.domain, bit)];
  queue->base.backend = device->gpu.backend;
  queue->base.device = &device->gpu;
  queue->base.bit = bit;
  queue->base.waits_for_queues = queue->base.forgets_queues = true;
  queue->base.pool = gpu->pool;
  queue->context = &gpu->context;
  queue->borrows_stream = device->options.has_stream;
  queue->writer.stream = device->options.stream;
  queue->writer.api = device->api;
  queue->writer.physical = gpu_domain_physical(device->gpu.domain, bit);
  queue->writer.host_allocator = device->gpu.base.host_allocator;
  iree_status_t status = initialize(queue, device->options.depth ? device->options.depth : DEFAULT_DEPTH);
  if (!iree_status_is_ok(status)) {
    gpu_queue_destroy(&queue->base);
    return status;
  }
  *out_queue = &queue->base;
  return iree_ok_status();
}

const char* stream_architecture(const gpu_device_t* device) {
  return ((const stream_device_t*)device)->gpus[0].architecture;
}
