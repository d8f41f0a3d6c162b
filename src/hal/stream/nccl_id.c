// Ids of groups.
#include "hal/stream/nccl.h"
#include "iree/base/threading/call_once.h"
#include "iree/base/threading/mutex.h"

// One that ranks of this process share, until all have it.
typedef struct shared_id_t {
  struct shared_id_t* next;
  const nccl_api_t* api;
  nccl_id_t id;
  int32_t count;
  int32_t taken;  // by so many ranks
  iree_host_size_t id_length, group_length;
  uint8_t key[];  // the parameters' id, and the group's name
} shared_id_t;

static struct {
  iree_once_flag once;
  iree_slim_mutex_t mutex;
  shared_id_t* ids;
} shared = {.once = IREE_ONCE_FLAG_INIT};

static void initialize_shared(void) { iree_slim_mutex_initialize(&shared.mutex); }

static bool bytes_equal(const void* a, const void* b, size_t size) { return size == 0 || memcmp(a, b, size) == 0; }

static bool is_of(const shared_id_t* id, const nccl_api_t* api, const iree_hal_channel_params_t* params) {
  return id->api == api && id->count == params->count && id->id_length == params->id.data_length &&
         id->group_length == params->group.size && bytes_equal(id->key, params->id.data, id->id_length) &&
         bytes_equal(id->key + id->id_length, params->group.data, id->group_length);
}

static iree_status_t make_shared(const nccl_api_t* api, const iree_hal_channel_params_t* params, shared_id_t** out_id) {
  shared_id_t* id = NULL;
  iree_host_size_t size = sizeof(*id);
  if (!iree_host_size_checked_add(size, params->id.data_length, &size) ||
      !iree_host_size_checked_add(size, params->group.size, &size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the channel's id is too long");
  }
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(iree_allocator_system(), size, (void**)&id));
  *id = (shared_id_t){
      .api = api, .count = params->count, .id_length = params->id.data_length, .group_length = params->group.size};
  if (id->id_length) memcpy(id->key, params->id.data, id->id_length);
  if (id->group_length) memcpy(id->key + id->id_length, params->group.data, id->group_length);
  iree_status_t status = NCCL_CALL(api, unique_id, &id->id);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(iree_allocator_system(), id);
    return status;
  }
  *out_id = id;
  return status;
}

// The mutex is held.
static iree_status_t take_shared(const nccl_api_t* api, const iree_hal_channel_params_t* params, nccl_id_t* out_id) {
  shared_id_t** link = &shared.ids;
  while (*link && !is_of(*link, api, params)) link = &(*link)->next;
  if (!*link) IREE_RETURN_IF_ERROR(make_shared(api, params, link));
  shared_id_t* id = *link;
  *out_id = id->id;
  if (++id->taken < id->count) return iree_ok_status();
  *link = id->next;
  iree_allocator_free(iree_allocator_system(), id);
  return iree_ok_status();
}

iree_status_t nccl_id_find(const nccl_api_t* api, iree_hal_channel_provider_t* provider,
                           const iree_hal_channel_params_t* params, nccl_id_t* out_id) {
  *out_id = (nccl_id_t){0};
  if (params->id.data_length == sizeof(*out_id)) {
    if (params->group.size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "an id of the library's is of one group: group '%.*s' needs one of its own and no name",
                              (int)params->group.size, params->group.data);
    }
    memcpy(out_id, params->id.data, sizeof(*out_id));
    return iree_ok_status();
  }
  if (!params->id.data_length && provider) {
    if (params->rank == 0) IREE_RETURN_IF_ERROR(NCCL_CALL(api, unique_id, out_id));
    return iree_hal_channel_provider_exchange_default_id(provider,
                                                         iree_make_byte_span((uint8_t*)out_id, sizeof(*out_id)));
  }
  iree_call_once(&shared.once, initialize_shared);
  iree_slim_mutex_lock(&shared.mutex);
  iree_status_t status = take_shared(api, params, out_id);
  iree_slim_mutex_unlock(&shared.mutex);
  return status;
}
