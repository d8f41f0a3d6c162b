// Channels between devices of one process.
//
// A group is found by its key in a list of the process, as its ranks may belong to devices that know nothing of each
// other, and stays there until all ranks have joined. A rank's collectives are counted: the n-th of each rank are one
// round, and whoever posts its last part does it. Sends and receives wait for each other in one list, in order.
// Everything of a group is under its mutex, which is not held while parts are done or completed.
#include "hal/collective.h"
#include "hal/detail.h"
#include "iree/base/threading/call_once.h"
#include "iree/base/threading/mutex.h"
#include "iree/base/threading/notification.h"

enum { MAX_RANKS = 65535 };  // a pair of them is one parameter

typedef struct group_t group_t;

typedef struct round_t {
  struct round_t* next;
  uint64_t number;
  uint32_t arrived;
  hal_collective_part_t* parts[];  // by rank
} round_t;

typedef struct rank_t {
  bool has_joined, has_left;
  bool has_split;  // waits in a split, or takes its result
  int32_t color, key;
  group_t* part;    // of a split, retained; NULL for NO_COLOR
  int32_t rank;     // in it
  uint64_t rounds;  // posted
} rank_t;

struct group_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  group_t* next;  // in the list
  iree_slim_mutex_t mutex;
  iree_notification_t changed;  // splits, and who has left
  uint32_t count, joined, left;
  uint32_t in_split;                // ranks that have called
  uint32_t out_of_split;            // ranks that have still to return
  iree_status_t split_status;       // of all of them
  round_t* rounds;                  // by number
  hal_collective_part_t* messages;  // sends and receives
  iree_host_size_t key_length;
  uint8_t* key;  // behind the ranks
  rank_t ranks[];
};

struct iree_hal_channel_t {
  hal_channel_t base;
  iree_allocator_t host_allocator;
  group_t* group;
  uint32_t rank;
};

static const iree_hal_channel_vtable_t local_vtable;

HAL_DEFINE_LIFETIME(channel)
HAL_DEFINE_LIFETIME(channel_provider)

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

static struct {
  iree_once_flag once;
  iree_slim_mutex_t mutex;
  group_t* groups;  // that have not all their ranks yet; not retained
} open_groups = {.once = IREE_ONCE_FLAG_INIT};

static void initialize_open_groups(void) { iree_slim_mutex_initialize(&open_groups.mutex); }

static void lock_open_groups(void) {
  iree_call_once(&open_groups.once, initialize_open_groups);
  iree_slim_mutex_lock(&open_groups.mutex);
}

static iree_status_t group_create(uint32_t count, iree_const_byte_span_t key, iree_allocator_t host_allocator,
                                  group_t** out_group) {
  group_t* group = NULL;
  iree_host_size_t size = 0;
  if (!iree_host_size_checked_mul_add(sizeof(*group) + key.data_length, count, sizeof(rank_t), &size)) {
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  }
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&group));
  iree_atomic_ref_count_init(&group->ref_count);
  group->host_allocator = host_allocator;
  iree_slim_mutex_initialize(&group->mutex);
  iree_notification_initialize(&group->changed);
  group->count = count;
  group->key_length = key.data_length;
  group->key = (uint8_t*)&group->ranks[count];
  if (key.data_length) memcpy(group->key, key.data, key.data_length);
  *out_group = group;
  return iree_ok_status();
}

static void group_release(group_t* group) {
  if (!group || iree_atomic_ref_count_dec(&group->ref_count) != 1) return;
  for (uint32_t i = 0; i < group->count; ++i) group_release(group->ranks[i].part);
  iree_status_free(group->split_status);
  iree_notification_deinitialize(&group->changed);
  iree_slim_mutex_deinitialize(&group->mutex);
  iree_allocator_free(group->host_allocator, group);
}

static void close_group(group_t* group) {
  for (group_t** link = &open_groups.groups; *link; link = &(*link)->next) {
    if (*link != group) continue;
    *link = group->next;
    return;
  }
}

// Joins the open group of that key, or a new one. The list's mutex is held.
static iree_status_t join_group(uint32_t rank, uint32_t count, iree_const_byte_span_t key,
                                iree_allocator_t host_allocator, group_t** out_group) {
  group_t* group = open_groups.groups;
  while (group && (group->count != count || group->key_length != key.data_length ||
                   memcmp(group->key, key.data, key.data_length) != 0)) {
    group = group->next;
  }
  if (group && group->ranks[rank].has_joined) {
    return iree_make_status(IREE_STATUS_ALREADY_EXISTS, "rank %u of %u has a channel of that group already", rank,
                            count);
  }
  if (group) {
    iree_atomic_ref_count_inc(&group->ref_count);
  } else {
    IREE_RETURN_IF_ERROR(group_create(count, key, host_allocator, &group));
    group->next = open_groups.groups;
    open_groups.groups = group;
  }
  group->ranks[rank].has_joined = true;
  if (++group->joined == count) close_group(group);
  *out_group = group;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Meeting
//===----------------------------------------------------------------------------------------------------------------===

static void complete_list(hal_collective_part_t* parts, iree_status_t status) {
  for (hal_collective_part_t* next; parts; parts = next) {
    next = parts->next;
    parts->complete(parts, iree_status_clone(status));
  }
  iree_status_free(status);
}

static iree_status_t check_match(const hal_collective_part_t* part, const hal_collective_part_t* other, bool same) {
  if (!iree_status_is_ok(part->failure)) return iree_status_clone(part->failure);
  bool matches = part->op.element_type == other->op.element_type && part->element_count == other->element_count;
  if (matches && (!same || (part->op.packed == other->op.packed && part->param == other->param))) {
    return iree_ok_status();
  }
  iree_bitfield_string_temp_t names[2];
  iree_hal_collective_op_format(&part->op, &names[0]);
  iree_hal_collective_op_format(&other->op, &names[1]);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "rank %u has %s of %" PRIdsz " elements with %u where rank %u has %s of %" PRIdsz
                          " elements with %u",
                          part->rank, names[0].buffer, part->element_count, part->param, other->rank, names[1].buffer,
                          other->element_count, other->param);
}

// Does a round that is complete and forgets it.
static void finish_round(group_t* group, round_t* round) {
  const hal_collective_part_t* first = round->parts[0];
  hal_collective_memory_t inline_memory[16], *memory = inline_memory;
  iree_status_t status = iree_ok_status();
  if (group->count > IREE_ARRAYSIZE(inline_memory)) {
    status = iree_allocator_malloc_array(group->host_allocator, group->count, sizeof(*memory), (void**)&memory);
  }
  for (uint32_t i = 0; i < group->count && iree_status_is_ok(status); ++i) {
    memory[i] = round->parts[i]->memory;
    status = check_match(round->parts[i], first, true);
  }
  if (iree_status_is_ok(status)) {
    hal_collective_compute(first->op, first->param, first->element_count, group->count, memory);
  }
  if (memory != inline_memory) iree_allocator_free(group->host_allocator, memory);
  for (uint32_t i = 0; i < group->count; ++i) round->parts[i]->next = i + 1 < group->count ? round->parts[i + 1] : NULL;
  complete_list(round->parts[0], status);
  iree_allocator_free(group->host_allocator, round);
}

// The round of that number, which is in the list. The mutex is held.
static iree_status_t find_round(group_t* group, uint64_t number, round_t*** out_link) {
  round_t** link = &group->rounds;
  while (*link && (*link)->number < number) link = &(*link)->next;
  if (!*link || (*link)->number != number) {
    round_t* round = NULL;
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(group->host_allocator, sizeof(*round), group->count,
                                                            sizeof(round->parts[0]), (void**)&round));
    round->number = number;
    round->next = *link;
    *link = round;
  }
  *out_link = link;
  return iree_ok_status();
}

static iree_status_t fail_left(const group_t* group, uint32_t rank) {
  return iree_make_status(IREE_STATUS_ABORTED, "rank %u of the group of %u has left it", rank, group->count);
}

static iree_status_t check_left(const group_t* group) {
  for (uint32_t i = 0; i < group->count && group->left; ++i) {
    if (group->ranks[i].has_left) return fail_left(group, i);
  }
  return iree_ok_status();
}

static void post_to_round(group_t* group, hal_collective_part_t* part) {
  round_t *round = NULL, **link = NULL;
  iree_slim_mutex_lock(&group->mutex);
  iree_status_t status = check_left(group);
  if (iree_status_is_ok(status)) status = find_round(group, group->ranks[part->rank].rounds, &link);
  if (iree_status_is_ok(status)) {
    ++group->ranks[part->rank].rounds;
    (*link)->parts[part->rank] = part;
    if (++(*link)->arrived == group->count) {
      round = *link;
      *link = round->next;
    }
  }
  iree_slim_mutex_unlock(&group->mutex);
  if (!iree_status_is_ok(status)) part->complete(part, status);
  if (round) finish_round(group, round);
}

static bool is_send(const hal_collective_part_t* part) { return part->op.kind == IREE_HAL_COLLECTIVE_KIND_SEND; }

static bool are_ends(const hal_collective_part_t* part, const hal_collective_part_t* other) {
  return is_send(part) != is_send(other) && part->param == other->rank && other->param == part->rank;
}

static void finish_message(hal_collective_part_t* part, hal_collective_part_t* other) {
  const hal_collective_part_t* send = is_send(part) ? part : other;
  const hal_collective_part_t* recv = is_send(part) ? other : part;
  iree_status_t status = check_match(send, recv, false);
  if (iree_status_is_ok(status) && !iree_status_is_ok(recv->failure)) status = iree_status_clone(recv->failure);
  if (iree_status_is_ok(status)) {
    size_t size = (size_t)send->element_count * iree_hal_collective_element_byte_count(send->op.element_type);
    if (size) memmove(recv->memory.recv, send->memory.send, size);
  }
  part->next = other;
  other->next = NULL;
  complete_list(part, status);
}

static void post_message(group_t* group, hal_collective_part_t* part) {
  hal_collective_part_t* other = NULL;
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&group->mutex);
  hal_collective_part_t** link = &group->messages;
  while (*link && !are_ends(part, *link)) link = &(*link)->next;
  if (*link) {
    other = *link;
    *link = other->next;
  } else if (group->ranks[part->param].has_left) {
    status = fail_left(group, part->param);
  } else {
    part->next = NULL;
    *link = part;
  }
  iree_slim_mutex_unlock(&group->mutex);
  if (!iree_status_is_ok(status)) part->complete(part, status);
  if (other) finish_message(part, other);
}

static void receive_from_nobody(hal_collective_part_t* part) {
  size_t size = (size_t)part->element_count * iree_hal_collective_element_byte_count(part->op.element_type);
  if (iree_status_is_ok(part->failure) && size) memset(part->memory.recv, 0, size);
  part->complete(part, iree_status_clone(part->failure));
}

static void local_post(iree_hal_channel_t* channel, hal_collective_part_t* parts) {
  for (hal_collective_part_t* next; parts; parts = next) {
    next = parts->next;
    parts->rank = channel->rank;
    bool is_recv = parts->op.kind == IREE_HAL_COLLECTIVE_KIND_RECV;
    if (is_recv && parts->param == HAL_COLLECTIVE_NOBODY) {
      receive_from_nobody(parts);
    } else {
      (is_send(parts) || is_recv ? post_message : post_to_round)(channel->group, parts);
    }
  }
}

// Takes what waits for a rank that leaves. The mutex is held.
static hal_collective_part_t* take_waiting(group_t* group, uint32_t rank) {
  hal_collective_part_t* taken = NULL;
  for (hal_collective_part_t** link = &group->messages; *link;) {
    hal_collective_part_t* part = *link;
    if (part->param != rank) {
      link = &part->next;
      continue;
    }
    *link = part->next;
    part->next = taken;
    taken = part;
  }
  for (round_t *round = group->rounds, *next; round; round = next) {
    next = round->next;
    for (uint32_t i = 0; i < group->count; ++i) {
      if (!round->parts[i]) continue;
      round->parts[i]->next = taken;
      taken = round->parts[i];
    }
    iree_allocator_free(group->host_allocator, round);
  }
  group->rounds = NULL;
  return taken;
}

static void leave_group(group_t* group, uint32_t rank) {
  lock_open_groups();
  close_group(group);  // nobody can take the place
  iree_slim_mutex_unlock(&open_groups.mutex);
  iree_slim_mutex_lock(&group->mutex);
  group->ranks[rank].has_left = true;
  ++group->left;
  hal_collective_part_t* waiting = take_waiting(group, rank);
  iree_slim_mutex_unlock(&group->mutex);
  iree_notification_post(&group->changed, IREE_ALL_WAITERS);
  if (waiting) complete_list(waiting, fail_left(group, rank));
  group_release(group);
}

//===----------------------------------------------------------------------------------------------------------------===
// Splitting
//===----------------------------------------------------------------------------------------------------------------===

// How many ranks of a color come before this one.
static uint32_t rank_in_color(const group_t* group, uint32_t rank) {
  const rank_t* self = &group->ranks[rank];
  uint32_t before = 0;
  for (uint32_t i = 0; i < group->count; ++i) {
    const rank_t* other = &group->ranks[i];
    before += other->color == self->color && (other->key < self->key || (other->key == self->key && i < rank));
  }
  return before;
}

// Makes the groups of a split for all ranks. The mutex is held.
static iree_status_t divide_group(group_t* group) {
  for (uint32_t i = 0; i < group->count; ++i) {
    if (group->ranks[i].color == IREE_HAL_CHANNEL_NO_COLOR || group->ranks[i].part) continue;
    uint32_t count = 0;
    for (uint32_t j = i; j < group->count; ++j) count += group->ranks[j].color == group->ranks[i].color;
    group_t* part = NULL;
    IREE_RETURN_IF_ERROR(group_create(count, iree_const_byte_span_empty(), group->host_allocator, &part));
    for (uint32_t j = i; j < group->count; ++j) {
      if (group->ranks[j].color != group->ranks[i].color) continue;
      if (j != i) iree_atomic_ref_count_inc(&part->ref_count);
      group->ranks[j].part = part;
      group->ranks[j].rank = (int32_t)rank_in_color(group, j);
    }
    part->joined = count;
    for (uint32_t j = 0; j < count; ++j) part->ranks[j].has_joined = true;
  }
  return iree_ok_status();
}

// What a rank waits for: the split before to be over, or its own.
typedef struct split_wait_t {
  group_t* group;
  bool is_own;
} split_wait_t;

static bool is_split(void* arg) {
  const split_wait_t* wait = (const split_wait_t*)arg;
  iree_slim_mutex_lock(&wait->group->mutex);
  bool is_over = wait->group->left || (wait->group->out_of_split != 0) == wait->is_own;
  iree_slim_mutex_unlock(&wait->group->mutex);
  return is_over;
}

// Enters a split; the last one to enter makes it. Errors: ABORTED.
static iree_status_t enter_split(group_t* group, uint32_t rank, int32_t color, int32_t key) {
  iree_slim_mutex_lock(&group->mutex);
  iree_status_t status = check_left(group);
  rank_t* self = &group->ranks[rank];
  if (iree_status_is_ok(status) && self->has_split) {
    status = iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "rank %u is in a split already", rank);
  }
  if (iree_status_is_ok(status)) {
    self->has_split = true;
    self->color = color;
    self->key = key;
    if (++group->in_split == group->count) {
      group->split_status = divide_group(group);
      group->out_of_split = group->count;
      group->in_split = 0;
    }
  }
  iree_slim_mutex_unlock(&group->mutex);
  iree_notification_post(&group->changed, IREE_ALL_WAITERS);
  return status;
}

// Takes the part of a rank when the split is over; it is the caller's reference.
static iree_status_t leave_split(group_t* group, uint32_t rank, group_t** out_part, uint32_t* out_rank) {
  iree_slim_mutex_lock(&group->mutex);
  rank_t* self = &group->ranks[rank];
  iree_status_t status = group->out_of_split ? iree_status_clone(group->split_status) : check_left(group);
  *out_part = self->part;
  *out_rank = (uint32_t)self->rank;
  self->part = NULL;
  self->has_split = false;
  if (!group->out_of_split) {
    --group->in_split;
  } else if (--group->out_of_split == 0) {
    iree_status_free(group->split_status);
    group->split_status = iree_ok_status();
  }
  iree_slim_mutex_unlock(&group->mutex);
  iree_notification_post(&group->changed, IREE_ALL_WAITERS);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Channels
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t find_memory(iree_hal_buffer_t* buffer, uint8_t** out_memory) {
  IREE_RETURN_IF_ERROR(hal_buffer_pointer(buffer, out_memory),
                       "collectives within a process are done by the host, which has to see their buffers");
  return iree_ok_status();
}

// Owns the reference to the group, in which the rank has joined.
static iree_status_t channel_create(iree_hal_device_t* device, group_t* group, uint32_t rank,
                                    iree_hal_channel_t** out_channel) {
  iree_allocator_t host_allocator = iree_hal_device_host_allocator(device);
  iree_hal_channel_t* channel = NULL;
  iree_status_t status = iree_allocator_malloc(host_allocator, sizeof(*channel), (void**)&channel);
  if (!iree_status_is_ok(status)) {
    leave_group(group, rank);
    return status;
  }
  iree_hal_resource_initialize(&local_vtable, &channel->base.resource);
  channel->base.device = device;
  channel->base.find_memory = find_memory;
  channel->host_allocator = host_allocator;
  channel->group = group;
  channel->rank = rank;
  *out_channel = channel;
  return iree_ok_status();
}

static void local_destroy(iree_hal_channel_t* channel) {
  leave_group(channel->group, channel->rank);
  iree_allocator_free(channel->host_allocator, channel);
}

static iree_status_t local_split(iree_hal_channel_t* base, int32_t color, int32_t key, iree_hal_channel_flags_t flags,
                                 iree_hal_channel_t** out_split_channel) {
  group_t *group = base->group, *part = NULL;
  split_wait_t before = {group, false}, own = {group, true};
  iree_notification_await(&group->changed, is_split, &before, iree_infinite_timeout());
  IREE_RETURN_IF_ERROR(enter_split(group, base->rank, color, key));
  iree_notification_await(&group->changed, is_split, &own, iree_infinite_timeout());
  uint32_t rank = 0;
  iree_status_t status = leave_split(group, base->rank, &part, &rank);
  if (!part) return status;
  if (iree_status_is_ok(status)) return channel_create(base->base.device, part, rank, out_split_channel);
  leave_group(part, rank);
  return status;
}

static void local_query(const iree_hal_channel_t* channel, int32_t* out_rank, int32_t* out_count) {
  *out_rank = (int32_t)channel->rank;
  *out_count = (int32_t)channel->group->count;
}

static const iree_hal_channel_vtable_t local_vtable = {
    .destroy = local_destroy,
    .split = local_split,
    .query_rank_and_count = local_query,
    .post = local_post,
};

bool hal_channel_takes_parts(iree_hal_channel_t* channel) { return HAL_CALL(channel, iree_hal_channel, post) != NULL; }

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_channel_resolve_rank(iree_hal_channel_provider_t* provider, iree_hal_channel_params_t* params) {
  bool needs_rank = params->rank == IREE_HAL_CHANNEL_RANK_DEFAULT || params->count == IREE_HAL_CHANNEL_COUNT_DEFAULT;
  if (needs_rank && !provider) {
    return iree_make_status(
        IREE_STATUS_FAILED_PRECONDITION,
        "a channel of the default rank or count needs a channel provider; none is set on the device");
  }
  int32_t rank = params->rank, count = params->count;
  if (needs_rank) IREE_RETURN_IF_ERROR(iree_hal_channel_provider_query_default_rank_and_count(provider, &rank, &count));
  if (params->rank == IREE_HAL_CHANNEL_RANK_DEFAULT) params->rank = rank;
  if (params->count == IREE_HAL_CHANNEL_COUNT_DEFAULT) params->count = count;
  if (params->count < 1 || params->count > MAX_RANKS || params->rank < 0 || params->rank >= params->count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "channel rank %d of %d", params->rank, params->count);
  }
  return iree_ok_status();
}

// The provider's id where the parameters have none.
static iree_status_t resolve_id(iree_hal_channel_provider_t* provider, iree_hal_channel_params_t* params,
                                uint8_t id[16]) {
  if (params->id.data_length || !provider) return iree_ok_status();
  params->id = iree_make_const_byte_span(id, 16);
  return iree_hal_channel_provider_exchange_default_id(provider, iree_make_byte_span(id, 16));
}

iree_status_t hal_channel_create_local(iree_hal_device_t* device, iree_hal_channel_provider_t* provider,
                                       const iree_hal_channel_params_t* params, iree_hal_channel_t** out_channel) {
  iree_hal_channel_params_t resolved = *params;
  uint8_t default_id[16] = {0};
  IREE_RETURN_IF_ERROR(hal_channel_resolve_rank(provider, &resolved));
  IREE_RETURN_IF_ERROR(resolve_id(provider, &resolved, default_id));
  // The id's length tells it from the group's name.
  iree_host_size_t id_length = resolved.id.data_length, size = sizeof(id_length);
  uint8_t* key = NULL;
  if (!iree_host_size_checked_add(size, id_length, &size) ||
      !iree_host_size_checked_add(size, resolved.group.size, &size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the channel's id is too long");
  }
  iree_allocator_t host_allocator = iree_hal_device_host_allocator(device);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&key));
  memcpy(key, &id_length, sizeof(id_length));
  if (id_length) memcpy(key + sizeof(id_length), resolved.id.data, id_length);
  if (resolved.group.size) memcpy(key + sizeof(id_length) + id_length, resolved.group.data, resolved.group.size);
  group_t* group = NULL;
  lock_open_groups();
  // Groups outlive the devices of their ranks.
  iree_status_t status = join_group((uint32_t)resolved.rank, (uint32_t)resolved.count,
                                    iree_make_const_byte_span(key, size), iree_allocator_system(), &group);
  iree_slim_mutex_unlock(&open_groups.mutex);
  iree_allocator_free(host_allocator, key);
  IREE_RETURN_IF_ERROR(status);
  return channel_create(device, group, (uint32_t)resolved.rank, out_channel);
}

iree_status_t iree_hal_channel_create(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                      iree_hal_channel_params_t params, iree_hal_channel_t** out_channel) {
  *out_channel = NULL;
  if (params.flags) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "channel flags 0x%" PRIX64 " are not known", params.flags);
  }
  return HAL_CALL(device, iree_hal_device, create_channel)(device, queue_affinity, params, out_channel);
}

iree_status_t iree_hal_channel_split(iree_hal_channel_t* base_channel, int32_t color, int32_t key,
                                     iree_hal_channel_flags_t flags, iree_hal_channel_t** out_split_channel) {
  *out_split_channel = NULL;
  if (flags) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "channel flags 0x%" PRIX64 " are not known", flags);
  if (color < IREE_HAL_CHANNEL_NO_COLOR) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "channel color %d is negative", color);
  }
  return HAL_CALL(base_channel, iree_hal_channel, split)(base_channel, color, key, flags, out_split_channel);
}

void iree_hal_channel_query_rank_and_count(const iree_hal_channel_t* channel, int32_t* out_rank, int32_t* out_count) {
  HAL_CALL(channel, iree_hal_channel, query_rank_and_count)(channel, out_rank, out_count);
}

int32_t iree_hal_channel_rank(const iree_hal_channel_t* channel) {
  int32_t rank = 0, count = 0;
  iree_hal_channel_query_rank_and_count(channel, &rank, &count);
  return rank;
}

int32_t iree_hal_channel_count(const iree_hal_channel_t* channel) {
  int32_t rank = 0, count = 0;
  iree_hal_channel_query_rank_and_count(channel, &rank, &count);
  return count;
}

iree_status_t iree_hal_channel_provider_query_default_rank_and_count(iree_hal_channel_provider_t* channel_provider,
                                                                     int32_t* out_rank, int32_t* out_count) {
  *out_rank = IREE_HAL_CHANNEL_RANK_DEFAULT;
  *out_count = IREE_HAL_CHANNEL_COUNT_DEFAULT;
  return HAL_CALL(channel_provider, iree_hal_channel_provider, query_default_rank_and_count)(channel_provider, out_rank,
                                                                                             out_count);
}

iree_status_t iree_hal_channel_provider_exchange_default_id(iree_hal_channel_provider_t* channel_provider,
                                                            iree_byte_span_t id) {
  return HAL_CALL(channel_provider, iree_hal_channel_provider, exchange_default_id)(channel_provider, id);
}
