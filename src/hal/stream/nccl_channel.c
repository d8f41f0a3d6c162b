// Channels of the library.
#include "hal/detail.h"
#include "hal/stream/device.h"
#include "hal/stream/nccl.h"

// Between two looks at work that takes long; those before come at once.
enum { EAGER_LOOKS = 200, LOOK_INTERVAL_NS = 50000 };

// Batches in the stream at a time.
enum { MOST_RUNNING = 8 };

enum { INVALID_USAGE = 5 };  // ncclResult_t

typedef struct nccl_channel_t {
  hal_channel_t base;
  iree_allocator_t host_allocator;
  const stream_api_t* stream_api;
  stream_context_t context;  // retained
  nccl_rank_t rank;          // comm: NULL before it has joined, and after a failure
  nccl_id_t id;
  iree_thread_t* thread;
  iree_notification_t changed;
  // The thread's: batches in the stream, in a ring, and what is recorded behind each.
  struct {
    hal_collective_part_t* parts;
    void* event;
  } running[MOST_RUNNING];
  uint32_t first_running, running_count;
  iree_slim_mutex_t mutex;  // guards what follows
  bool has_joined;          // or failed to
  bool is_busy;             // somebody uses the communicator
  bool is_closing;
  bool is_orphan;                      // the thread frees it
  hal_collective_part_t *head, *tail;  // posted
  iree_status_t failure;               // the first, for good; changed by who is busy
} nccl_channel_t;

static const iree_hal_channel_vtable_t nccl_vtable;
// Of the channels' threads: theirs.
static _Thread_local const nccl_channel_t* channel_of_thread;

static nccl_channel_t* cast(iree_hal_channel_t* base) { return (nccl_channel_t*)base; }

//===----------------------------------------------------------------------------------------------------------------===
// Errors
//===----------------------------------------------------------------------------------------------------------------===

// What the library has found out since: a rank that is gone, a network that fails.
static iree_status_t check_error(const nccl_channel_t* channel) {
  const nccl_api_t* api = channel->rank.api;
  int error = 0;
  IREE_RETURN_IF_ERROR(NCCL_CALL(api, comm_error, channel->rank.comm, &error));
  iree_status_t status = nccl_api_check(api, error, "a collective");
  if (iree_status_is_ok(status)) return status;
  return iree_status_annotate_f(status, "rank %d of %d", channel->rank.rank, channel->rank.count);
}

// The channel is lost. Consumes the status; who calls is busy. What runs on the stream ends.
static void fail(nccl_channel_t* channel, iree_status_t status) {
  void* comm = channel->rank.comm;
  channel->rank.comm = NULL;
  channel->failure = status;
  if (comm) channel->rank.api->comm_abort(comm);
  if (channel->rank.stream) channel->stream_api->stream_synchronize(channel->rank.stream);
}

//===----------------------------------------------------------------------------------------------------------------===
// Batches
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t start_part(const nccl_channel_t* channel, const hal_collective_part_t* part) {
  bool is_from_nobody = part->op.kind == IREE_HAL_COLLECTIVE_KIND_RECV && part->param == HAL_COLLECTIVE_NOBODY;
  if (!is_from_nobody) return nccl_calls_start(&channel->rank, part);
  size_t size = (size_t)part->element_count * iree_hal_collective_element_byte_count(part->op.element_type);
  if (!size) return iree_ok_status();
  return STREAM_CALL(channel->stream_api, fill_8, (uint64_t)(uintptr_t)part->memory.recv, 0, size,
                     channel->rank.stream);
}

// One group of calls: sends and receives may need each other.
static iree_status_t start_calls(const nccl_channel_t* channel, const hal_collective_part_t* parts) {
  const nccl_api_t* api = channel->rank.api;
  IREE_RETURN_IF_ERROR(NCCL_CALL(api, group_start));
  iree_status_t status = iree_ok_status();
  for (; parts && iree_status_is_ok(status); parts = parts->next) status = start_part(channel, parts);
  iree_status_t end = NCCL_CALL(api, group_end);
  if (iree_status_is_ok(status)) return end;
  iree_status_ignore(end);
  return status;
}

// Between what it comes behind, where a queue says so, and an event that what comes behind it may wait for.
static iree_status_t start_batch(const nccl_channel_t* channel, const hal_collective_part_t* parts, void* event) {
  const stream_api_t* api = channel->stream_api;
  void* stream = channel->rank.stream;
  if (parts->before) IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_wait, stream, parts->before, 0));
  IREE_RETURN_IF_ERROR(start_calls(channel, parts));
  return STREAM_CALL(api, event_record, event, stream);
}

// A rank that cannot take part leaves for good: the others would wait for it.
static iree_status_t check_parts(const hal_collective_part_t* parts) {
  for (; parts; parts = parts->next) {
    if (!iree_status_is_ok(parts->failure)) return iree_status_clone(parts->failure);
  }
  return iree_ok_status();
}

static void tell_started(const nccl_channel_t* channel, hal_collective_part_t* parts, void* event) {
  for (; parts; parts = parts->next) {
    if (!parts->started) continue;
    parts->after = event;
    parts->started(parts, iree_status_clone(channel->failure));
  }
}

// Puts a batch into the stream. Where that fails the channel has.
static void run_batch(nccl_channel_t* channel, hal_collective_part_t* parts) {
  uint32_t index = (channel->first_running + channel->running_count) % MOST_RUNNING;
  void* event = channel->running[index].event;
  if (iree_status_is_ok(channel->failure)) {
    iree_status_t status = check_parts(parts);
    if (iree_status_is_ok(status)) status = start_batch(channel, parts, event);
    if (!iree_status_is_ok(status)) fail(channel, status);
  }
  channel->running[index].parts = parts;
  ++channel->running_count;
  tell_started(channel, parts, event);
}

// Whether the oldest batch is over, or the channel has failed.
static bool is_over(nccl_channel_t* channel) {
  const stream_api_t* api = channel->stream_api;
  if (!iree_status_is_ok(channel->failure)) return true;
  int result = api->event_query(channel->running[channel->first_running].event);
  bool is_running = result == STREAM_API_NOT_READY;
  iree_status_t status =
      is_running ? iree_ok_status() : stream_api_check(api, result, api->library->symbols.event_query.name);
  if (iree_status_is_ok(status)) status = check_error(channel);
  if (!iree_status_is_ok(status)) fail(channel, status);
  return !is_running || !iree_status_is_ok(channel->failure);
}

//===----------------------------------------------------------------------------------------------------------------===
// The thread
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t join_group(nccl_channel_t* channel) {
  nccl_rank_t* rank = &channel->rank;
  IREE_RETURN_IF_ERROR(stream_context_enter(&channel->context));
  // Transfers that nobody waited for before there was a channel.
  IREE_RETURN_IF_ERROR(STREAM_CALL(channel->stream_api, context_synchronize));
  IREE_RETURN_IF_ERROR(STREAM_CALL(channel->stream_api, stream_create, &rank->stream, STREAM_API_STREAM_NON_BLOCKING));
  for (uint32_t i = 0; i < MOST_RUNNING; ++i) {
    IREE_RETURN_IF_ERROR(
        STREAM_CALL(channel->stream_api, event_create, &channel->running[i].event, STREAM_API_EVENT_DISABLE_TIMING));
  }
  if (rank->comm) return iree_ok_status();  // of a split
  int result = rank->api->comm_init(&rank->comm, rank->count, channel->id, rank->rank);
  iree_status_t status = nccl_api_check(rank->api, result, nccl_symbol_comm_init);
  if (result != INVALID_USAGE) return status;
  return iree_status_annotate_f(status, "rank %d of %d, on GPU %d: each rank needs a GPU of its own", rank->rank,
                                rank->count, channel->context.device);
}

static void set_idle(nccl_channel_t* channel) {
  iree_slim_mutex_lock(&channel->mutex);
  channel->has_joined = true;
  channel->is_busy = false;
  iree_slim_mutex_unlock(&channel->mutex);
  iree_notification_post(&channel->changed, IREE_ALL_WAITERS);
}

// Takes a batch, whose end is busy's.
static hal_collective_part_t* take_batch(nccl_channel_t* channel) {
  hal_collective_part_t *batch = channel->head, *last = batch;
  while (last->next && !last->next->starts_batch) last = last->next;
  channel->head = last->next;
  if (!channel->head) channel->tail = NULL;
  last->next = NULL;
  channel->is_busy = true;
  return batch;
}

// What the thread waits for.
typedef struct turn_t {
  nccl_channel_t* channel;
  hal_collective_part_t* batch;
} turn_t;

// The channel may be this thread's already.
static bool is_turn(void* arg) {
  turn_t* turn = (turn_t*)arg;
  nccl_channel_t* channel = turn->channel;
  bool is_mine = channel->running_count > 0;
  iree_slim_mutex_lock(&channel->mutex);
  if (channel->head && (is_mine || !channel->is_busy)) turn->batch = take_batch(channel);
  bool has_turn = turn->batch || (channel->is_closing && !channel->head);
  iree_slim_mutex_unlock(&channel->mutex);
  return has_turn;
}

// The next batch; NULL when there is none yet while others run, or none will come.
static hal_collective_part_t* next_batch(nccl_channel_t* channel) {
  turn_t turn = {.channel = channel};
  if (channel->running_count == MOST_RUNNING) return NULL;
  if (channel->running_count) {
    is_turn(&turn);
  } else {
    iree_notification_await(&channel->changed, is_turn, &turn, iree_infinite_timeout());
  }
  return turn.batch;
}

static void complete_batch(hal_collective_part_t* parts, iree_status_t status) {
  for (hal_collective_part_t* next; parts; parts = next) {
    next = parts->next;
    parts->complete(parts, iree_status_clone(status));
  }
  iree_status_free(status);
}

// Completes the oldest batch, which may release the channel: it stays until its thread ends.
static void retire_batch(nccl_channel_t* channel) {
  hal_collective_part_t* parts = channel->running[channel->first_running].parts;
  channel->first_running = (channel->first_running + 1) % MOST_RUNNING;
  if (--channel->running_count == 0) set_idle(channel);
  complete_batch(parts, iree_status_clone(channel->failure));
}

static void pause(int* looks) {
  if (++*looks < EAGER_LOOKS) {
    iree_thread_yield();
  } else {
    iree_wait_until(iree_time_now() + LOOK_INTERVAL_NS);
  }
}

static void channel_free(nccl_channel_t* channel) {
  stream_context_t* context = &channel->context;
  if (context->handle) iree_status_ignore(stream_context_enter(context));
  if (channel->rank.comm) channel->rank.api->comm_destroy(channel->rank.comm);
  for (uint32_t i = 0; i < MOST_RUNNING; ++i) {
    if (channel->running[i].event) channel->stream_api->event_destroy(channel->running[i].event);
  }
  if (channel->rank.stream) channel->stream_api->stream_destroy(channel->rank.stream);
  stream_context_release(context);
  iree_status_free(channel->failure);
  iree_notification_deinitialize(&channel->changed);
  iree_slim_mutex_deinitialize(&channel->mutex);
  iree_allocator_free(channel->host_allocator, channel);
  stream_users_remove();
}

static int channel_main(void* arg) {
  nccl_channel_t* channel = (nccl_channel_t*)arg;
  channel_of_thread = channel;
  iree_status_t status = join_group(channel);
  if (!iree_status_is_ok(status)) fail(channel, status);
  set_idle(channel);
  for (int looks = 0;;) {
    hal_collective_part_t* batch = next_batch(channel);
    if (batch) {
      run_batch(channel, batch);
      looks = 0;
    } else if (!channel->running_count) {
      break;
    } else if (is_over(channel)) {
      retire_batch(channel);
      looks = 0;
    } else {
      pause(&looks);
    }
  }
  if (channel->is_orphan) channel_free(channel);
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Channels
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t find_memory(iree_hal_buffer_t* buffer, uint8_t** out_memory) {
  uint64_t address = 0;
  IREE_RETURN_IF_ERROR(gpu_buffer_address(buffer, &address));
  *out_memory = (uint8_t*)(uintptr_t)address;
  return iree_ok_status();
}

static iree_status_t check_op(const hal_channel_t* channel, iree_hal_collective_op_t op) {
  return nccl_calls_check(op);
}

typedef struct channel_params_t {
  iree_hal_device_t* device;
  const stream_context_t* context;
  nccl_rank_t rank;  // without a stream; owns the communicator, if there is one
  nccl_id_t id;      // where there is none
  iree_allocator_t host_allocator;
} channel_params_t;

static iree_status_t channel_create(const channel_params_t* params, iree_hal_channel_t** out_channel) {
  nccl_channel_t* channel = NULL;
  iree_status_t status = iree_allocator_malloc(params->host_allocator, sizeof(*channel), (void**)&channel);
  if (!iree_status_is_ok(status)) {
    if (params->rank.comm) params->rank.api->comm_abort(params->rank.comm);
    return status;
  }
  stream_users_add();
  iree_hal_resource_initialize(&nccl_vtable, &channel->base.resource);
  channel->base.device = params->device;
  channel->base.find_memory = find_memory;
  channel->base.check = check_op;
  channel->base.order = stream_order_batch;
  channel->host_allocator = params->host_allocator;
  channel->stream_api = params->context->api;
  channel->rank = params->rank;
  channel->id = params->id;
  channel->is_busy = true;
  iree_slim_mutex_initialize(&channel->mutex);
  iree_notification_initialize(&channel->changed);
  status = stream_context_retain(params->context->api, params->context->device, &channel->context);
  if (iree_status_is_ok(status)) {
    iree_thread_create_params_t thread = {.name = IREE_SV("collectives")};
    status = iree_thread_create(channel_main, channel, thread, channel->host_allocator, &channel->thread);
  }
  if (!iree_status_is_ok(status)) {
    channel_free(channel);
    return status;
  }
  *out_channel = (iree_hal_channel_t*)channel;
  return status;
}

static void nccl_destroy(iree_hal_channel_t* base) {
  nccl_channel_t* channel = cast(base);
  iree_thread_t* thread = channel->thread;
  bool is_own = channel_of_thread == channel;
  iree_slim_mutex_lock(&channel->mutex);
  channel->is_closing = true;
  channel->is_orphan = is_own;
  iree_slim_mutex_unlock(&channel->mutex);
  iree_notification_post(&channel->changed, IREE_ALL_WAITERS);
  iree_thread_release(thread);  // after its end, unless this is it
  if (!is_own) channel_free(channel);
}

static void nccl_post(iree_hal_channel_t* base, hal_collective_part_t* parts) {
  nccl_channel_t* channel = cast(base);
  hal_collective_part_t* last = parts;
  for (hal_collective_part_t* part = parts; part; part = part->next) {
    part->rank = (uint32_t)channel->rank.rank;
    part->starts_batch = part == parts;
    last = part;
  }
  iree_slim_mutex_lock(&channel->mutex);
  *(channel->tail ? &channel->tail->next : &channel->head) = parts;
  channel->tail = last;
  iree_slim_mutex_unlock(&channel->mutex);
  iree_notification_post(&channel->changed, IREE_ALL_WAITERS);
}

static void nccl_query(const iree_hal_channel_t* base, int32_t* out_rank, int32_t* out_count) {
  const nccl_channel_t* channel = (const nccl_channel_t*)base;
  *out_rank = channel->rank.rank;
  *out_count = channel->rank.count;
}

// Whether what was posted before is over; then the caller is busy.
static bool becomes_busy(void* arg) {
  nccl_channel_t* channel = (nccl_channel_t*)arg;
  iree_slim_mutex_lock(&channel->mutex);
  bool is_idle = channel->has_joined && !channel->is_busy && !channel->head;
  if (is_idle) channel->is_busy = true;
  iree_slim_mutex_unlock(&channel->mutex);
  return is_idle;
}

// The caller is busy.
static iree_status_t split(const nccl_channel_t* channel, int32_t color, int32_t key, nccl_rank_t* out_rank) {
  const nccl_api_t* api = channel->rank.api;
  if (!iree_status_is_ok(channel->failure)) return iree_status_clone(channel->failure);
  if (!api->comm_split) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "%s is too old to split channels: it has no %s", api->path,
                            nccl_symbol_comm_split);
  }
  IREE_RETURN_IF_ERROR(stream_context_enter(&channel->context));
  IREE_RETURN_IF_ERROR(NCCL_CALL(api, comm_split, channel->rank.comm, color, key, &out_rank->comm, NULL));
  if (!out_rank->comm) return iree_ok_status();
  IREE_RETURN_IF_ERROR(NCCL_CALL(api, comm_rank, out_rank->comm, &out_rank->rank));
  return NCCL_CALL(api, comm_count, out_rank->comm, &out_rank->count);
}

static iree_status_t nccl_split(iree_hal_channel_t* base, int32_t color, int32_t key, iree_hal_channel_flags_t flags,
                                iree_hal_channel_t** out_split_channel) {
  nccl_channel_t* channel = cast(base);
  channel_params_t params = {.device = channel->base.device,
                             .context = &channel->context,
                             .rank = {.api = channel->rank.api},
                             .host_allocator = channel->host_allocator};
  iree_notification_await(&channel->changed, becomes_busy, channel, iree_infinite_timeout());
  iree_status_t status = split(channel, color, key, &params.rank);
  set_idle(channel);
  if (iree_status_is_ok(status)) return params.rank.comm ? channel_create(&params, out_split_channel) : status;
  if (params.rank.comm) params.rank.api->comm_abort(params.rank.comm);
  return status;
}

static const iree_hal_channel_vtable_t nccl_vtable = {
    .destroy = nccl_destroy,
    .split = nccl_split,
    .query_rank_and_count = nccl_query,
    .post = nccl_post,
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

// Whether ranks of other processes may be in the group: who has an id, or asks for one, has agreed with others on it.
static bool may_leave_process(const iree_hal_channel_params_t* params, iree_hal_channel_provider_t* provider) {
  return params->id.data_length == sizeof(nccl_id_t) || (!params->id.data_length && provider);
}

// Where the host does collectives there is no table. It reaches no ranks of other processes: a group that may have such
// needs the library. Rank and count are known.
static iree_status_t choose_api(const stream_device_t* device, const iree_hal_channel_params_t* params,
                                const nccl_api_t** out_api) {
  stream_collectives_t choice = device->options.collectives;
  *out_api = NULL;
  if (choice == STREAM_COLLECTIVES_HOST) return iree_ok_status();
  if (choice == STREAM_COLLECTIVES_AUTO && !may_leave_process(params, device->gpu.base.channel_provider)) {
    return iree_ok_status();
  }
  iree_status_t status = nccl_api_load(device->platform->nccl, out_api);
  if (choice == STREAM_COLLECTIVES_LIBRARY || !iree_status_is_unavailable(status)) return status;
  if (params->count == 1) return iree_status_ignore(status);
  return iree_status_annotate_f(status,
                                "the group may have ranks in other processes; --%s_collectives=host is for those of "
                                "this process alone",
                                device->platform->backend.name);
}

iree_status_t stream_channel_create(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                    const iree_hal_channel_params_t* params, iree_hal_channel_t** out_channel) {
  const stream_device_t* device = (const stream_device_t*)base;
  iree_hal_channel_provider_t* provider = device->gpu.base.channel_provider;
  const nccl_api_t* api = NULL;
  iree_hal_channel_params_t resolved = *params;
  IREE_RETURN_IF_ERROR(hal_channel_resolve_rank(provider, &resolved));
  IREE_RETURN_IF_ERROR(choose_api(device, &resolved, &api));
  if (!api) return hal_channel_create_local(base, provider, &resolved, out_channel);
  uint32_t gpu = gpu_domain_physical(device->gpu.domain, gpu_domain_first(device->gpu.domain, queue_affinity));
  channel_params_t channel = {.device = base,
                              .context = &device->gpus[gpu].context,
                              .rank = {.api = api, .rank = resolved.rank, .count = resolved.count},
                              .host_allocator = device->gpu.base.host_allocator};
  IREE_RETURN_IF_ERROR(stream_context_enter(channel.context));
  IREE_RETURN_IF_ERROR(nccl_id_find(api, provider, &resolved, &channel.id));
  return channel_create(&channel, out_channel);
}
