// See memory.h.
#include "tooling/profile/memory.h"

typedef iree_hal_profile_memory_event_t event_t;

static void open_balance(profile_balance_t* balance, uint64_t bytes) {
  ++balance->opened;
  balance->opened_bytes += bytes;
  balance->bytes += bytes;
  ++balance->count;
  balance->most = iree_max(balance->most, balance->count);
  balance->most_bytes = iree_max(balance->most_bytes, balance->bytes);
}

// What was opened before the profile began closes in part.
static void close_balance(profile_balance_t* balance, uint64_t bytes) {
  ++balance->closed;
  balance->closed_bytes += bytes;
  if (!balance->count || balance->bytes < bytes) {
    ++balance->partial;
    balance->partial_bytes += bytes - iree_min(bytes, balance->bytes);
  }
  balance->count -= balance->count ? 1 : 0;
  balance->bytes -= iree_min(bytes, balance->bytes);
}

// What an event opens or closes.
typedef struct effect_t {
  profile_open_t kind;
  int8_t change;  // 1: opens, -1: closes, 0: neither
} effect_t;

static effect_t effect_of(uint32_t type) {
  static const effect_t effects[] = {
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_SLAB_ACQUIRE] = {PROFILE_OPEN_SLAB, 1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_SLAB_RELEASE] = {PROFILE_OPEN_SLAB, -1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RESERVE] = {PROFILE_OPEN_RESERVATION, 1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_MATERIALIZE] = {PROFILE_OPEN_RESERVATION, 0},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RELEASE] = {PROFILE_OPEN_RESERVATION, -1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_WAIT] = {PROFILE_OPEN_RESERVATION, 0},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA] = {PROFILE_OPEN_ALLOCATION, 1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA] = {PROFILE_OPEN_ALLOCATION, -1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE] = {PROFILE_OPEN_BUFFER, 1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE] = {PROFILE_OPEN_BUFFER, -1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_IMPORT] = {PROFILE_OPEN_IMPORT, 1},
      [IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_UNIMPORT] = {PROFILE_OPEN_IMPORT, -1},
  };
  return type < IREE_ARRAYSIZE(effects) ? effects[type] : (effect_t){PROFILE_OPEN_SLAB, 0};
}

static void apply(profile_balance_t* balance, int8_t change, uint64_t bytes) {
  if (change > 0) open_balance(balance, bytes);
  if (change < 0) close_balance(balance, bytes);
}

static iree_status_t find_device(profile_memory_summary_t* summary, uint32_t physical,
                                 profile_memory_device_t** out_device) {
  for (iree_host_size_t i = 0; i < summary->device_count; ++i) {
    *out_device = &summary->devices[i];
    if ((*out_device)->physical == physical) return iree_ok_status();
  }
  if (summary->device_count == summary->device_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(summary->bundle->allocator, 4, sizeof(*summary->devices),
                                                   &summary->device_capacity, (void**)&summary->devices));
  }
  *out_device = &summary->devices[summary->device_count++];
  **out_device = (profile_memory_device_t){.physical = physical};
  return iree_ok_status();
}

static iree_status_t find_entry(profile_memory_summary_t* summary, profile_memory_list_t* list, profile_open_t kind,
                                uint64_t id, const event_t* event, profile_memory_entry_t** out_entry) {
  const uint64_t key[PROFILE_GROUP_KEYS] = {kind, event->physical_device_ordinal, id};
  profile_group_t* group = profile_groups_find(&list->index, key);
  if (!group) return iree_status_clone(list->index.status);
  iree_host_size_t place = (iree_host_size_t)(group - list->index.groups);
  if (place == list->count) {
    if (list->count == list->capacity) {
      IREE_RETURN_IF_ERROR(iree_allocator_grow_array(summary->bundle->allocator, 16, sizeof(*list->entries),
                                                     &list->capacity, (void**)&list->entries));
    }
    list->entries[list->count++] = (profile_memory_entry_t){
        .kind = kind,
        .physical = event->physical_device_ordinal,
        .id = id,
        .pool_id = event->pool_id,
        .backing_id = event->backing_id,
        .memory_type = event->memory_type,
        .buffer_usage = event->buffer_usage,
        .is_external = event->flags & IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_EXTERNALLY_OWNED,
        .first_event = event->event_id,
        .first_queue = UINT32_MAX,
        .last_queue = UINT32_MAX,
        .first_ns = event->host_time_ns,
        .least_free = UINT64_MAX,
    };
  }
  *out_entry = &list->entries[place];
  return iree_ok_status();
}

static void add_to_entry(profile_memory_entry_t* entry, effect_t effect, const event_t* event) {
  ++entry->events;
  entry->waits += event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_WAIT;
  entry->last_event = event->event_id;
  if (event->submission_id) {  // else no queue has to do with it
    if (!entry->first_submission) entry->first_queue = event->queue_ordinal;
    if (!entry->first_submission) entry->first_submission = event->submission_id;
    entry->last_submission = event->submission_id;
    entry->last_queue = event->queue_ordinal;
  }
  entry->last_ns = event->host_time_ns;
  apply(&entry->balance, effect.change, event->length);
  if (event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_MATERIALIZE) {
    ++entry->materializes;
    open_balance(&entry->materialized, event->length);
  }
  bool is_release = event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RELEASE;
  if (is_release && entry->materialized.count) close_balance(&entry->materialized, event->length);
}

static void add_stats(profile_memory_entry_t* entry, const event_t* event) {
  if (!(event->flags & IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_STATS)) return;
  ++entry->stats_samples;
  entry->reserved = event->pool_bytes_reserved;
  entry->free = event->pool_bytes_free;
  entry->committed = event->pool_bytes_committed;
  entry->budget = event->pool_budget_limit;
  entry->reservations = event->pool_reservation_count;
  entry->slabs = event->pool_slab_count;
  entry->most_reserved = iree_max(entry->most_reserved, entry->reserved);
  entry->least_free = iree_min(entry->least_free, entry->free);
  entry->most_committed = iree_max(entry->most_committed, entry->committed);
  entry->most_reservations = iree_max(entry->most_reservations, entry->reservations);
  entry->most_slabs = iree_max(entry->most_slabs, entry->slabs);
}

bool profile_memory_takes(const profile_selection_t* selection, const event_t* event) {
  uint64_t id = (uint64_t)selection->id;
  if (selection->id >= 0 && event->event_id != id && event->allocation_id != id) return false;
  return iree_string_view_match_pattern(iree_make_cstring_view(iree_hal_profile_memory_event_type_name(event->type)),
                                        selection->filter);
}

static iree_status_t add_event(profile_memory_summary_t* summary, const event_t* event) {
  profile_memory_device_t* device = NULL;
  profile_memory_entry_t *pool = NULL, *allocation = NULL;
  effect_t effect = effect_of(event->type);
  IREE_RETURN_IF_ERROR(find_device(summary, event->physical_device_ordinal, &device));
  ++device->events;
  if (event->type < IREE_ARRAYSIZE(device->types)) ++device->types[event->type];
  apply(&device->balances[effect.kind], effect.change, event->length);
  IREE_RETURN_IF_ERROR(find_entry(summary, &summary->pools, effect.kind, event->pool_id, event, &pool));
  uint64_t pool_materialized = pool->materialized.count;
  add_to_entry(pool, effect, event);
  profile_balance_t* materialized = &device->balances[PROFILE_OPEN_MATERIALIZATION];
  if (event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_MATERIALIZE) open_balance(materialized, event->length);
  if (event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RELEASE && pool_materialized) {
    close_balance(materialized, event->length);
  }
  // Sums of a pool are those of its reservations, whichever event tells them.
  profile_memory_entry_t* stats = pool;
  const uint32_t told =
      IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_RESERVATION | IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_STATS;
  if (effect.kind != PROFILE_OPEN_RESERVATION && (event->flags & told) == told) {
    IREE_RETURN_IF_ERROR(find_entry(summary, &summary->pools, PROFILE_OPEN_RESERVATION, event->pool_id, event, &stats));
  }
  add_stats(stats, event);
  IREE_RETURN_IF_ERROR(
      find_entry(summary, &summary->allocations, effect.kind, event->allocation_id, event, &allocation));
  add_to_entry(allocation, effect, event);
  return iree_ok_status();
}

static void collect(void* user_data, const profile_item_t* item) {
  profile_memory_summary_t* summary = (profile_memory_summary_t*)user_data;
  ++summary->total;
  if (!iree_status_is_ok(summary->status) || !profile_memory_takes(&summary->selection, item->record)) return;
  ++summary->matched;
  summary->status = add_event(summary, item->record);
}

iree_status_t profile_memory_collect(const profile_bundle_t* bundle, const profile_selection_t* selection,
                                     profile_memory_summary_t* out_summary) {
  *out_summary = (profile_memory_summary_t){.bundle = bundle, .selection = *selection};
  out_summary->pools.index.allocator = out_summary->allocations.index.allocator = bundle->allocator;
  profile_bundle_each(bundle, PROFILE_KIND_MEMORY_EVENTS, collect, out_summary);
  return out_summary->status;
}

void profile_memory_free(profile_memory_summary_t* summary) {
  iree_allocator_t allocator = summary->bundle->allocator;
  profile_memory_list_t* lists[] = {&summary->pools, &summary->allocations};
  for (int i = 0; i < 2; ++i) {
    iree_allocator_free(allocator, lists[i]->entries);
    iree_status_free(lists[i]->index.status);
    profile_groups_free(&lists[i]->index);
  }
  iree_allocator_free(allocator, summary->devices);
}
