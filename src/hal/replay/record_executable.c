// Executable caches that record, and dispatches as the file has them. Executables are those of the device behind.
#include "hal/replay/recorder.h"

typedef struct recording_cache_t {
  iree_hal_resource_t resource;
  iree_hal_replay_recorder_t* recorder;  // retained
  uint64_t device_id, id;
  iree_hal_executable_cache_t* base;  // retained
} recording_cache_t;

static recording_cache_t* cast(iree_hal_executable_cache_t* cache) { return (recording_cache_t*)cache; }

static void cache_destroy(iree_hal_executable_cache_t* cache) {
  recording_cache_t* self = cast(cache);
  iree_hal_replay_recorder_t* recorder = self->recorder;
  iree_hal_executable_cache_release(self->base);
  iree_allocator_free(replay_recorder_allocator(recorder), self);
  iree_hal_replay_recorder_release(recorder);
}

static replay_call_t cache_call(const recording_cache_t* self, uint32_t operation) {
  return (replay_call_t){
      .operation = operation,
      .object_type = REPLAY_OBJECT_executable_cache,
      .device_id = self->device_id,
      .object_id = self->id,
  };
}

static iree_status_t cache_infer_format(iree_hal_executable_cache_t* cache,
                                        iree_hal_executable_caching_mode_t caching_mode,
                                        iree_const_byte_span_t executable_data,
                                        iree_host_size_t executable_format_capacity, char* executable_format,
                                        iree_host_size_t* out_inferred_size) {
  recording_cache_t* self = cast(cache);
  replay_call_t call = cache_call(self, REPLAY_EXECUTABLE_CACHE_INFER_FORMAT);
  IREE_RETURN_IF_ERROR(replay_call_begin(self->recorder, &call));
  return replay_call_end(
      self->recorder, &call,
      iree_hal_executable_cache_infer_format(self->base, caching_mode, executable_data, executable_format_capacity,
                                             executable_format, out_inferred_size));
}

static bool cache_can_prepare_format(iree_hal_executable_cache_t* cache,
                                     iree_hal_executable_caching_mode_t caching_mode,
                                     iree_string_view_t executable_format) {
  return iree_hal_executable_cache_can_prepare_format(cast(cache)->base, caching_mode, executable_format);
}

static iree_status_t cache_append_formats(iree_hal_executable_cache_t* cache, iree_string_builder_t* builder) {
  return iree_hal_executable_cache_append_formats(cast(cache)->base, builder);
}

//===----------------------------------------------------------------------------------------------------------------===
// What an executable's functions take
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_PARAMETERS = 256 };

static iree_status_t append(iree_string_builder_t* builder, const void* data, size_t size) {
  return iree_string_builder_append_string(builder, iree_make_string_view((const char*)data, size));
}

static iree_status_t describe_parameters(iree_hal_executable_t* executable, iree_host_size_t index, uint16_t count,
                                         iree_string_builder_t* parameters) {
  iree_hal_executable_function_parameter_t rows[MAX_PARAMETERS];
  if (count > MAX_PARAMETERS) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "a function with %u parameters cannot be recorded", count);
  }
  IREE_RETURN_IF_ERROR(iree_hal_executable_function_parameters(
      executable, iree_hal_executable_function_from_index((uint32_t)index), count, rows));
  for (uint16_t i = 0; i < count; ++i) {
    replay_parameter_t row = {rows[i].offset, rows[i].flags, rows[i].type, rows[i].size, 0};
    IREE_RETURN_IF_ERROR(append(parameters, &row, sizeof(row)));
  }
  return iree_ok_status();
}

// Fills three builders, one for each table.
static iree_status_t describe_functions(iree_hal_executable_t* executable, replay_metadata_t* header,
                                        iree_string_builder_t tables[3]) {
  for (iree_host_size_t i = 0; i < header->function_count; ++i) {
    iree_hal_executable_function_info_t info;
    memset(&info, 0, sizeof(info));
    IREE_RETURN_IF_ERROR(
        iree_hal_executable_function_info(executable, iree_hal_executable_function_from_index((uint32_t)i), &info));
    replay_function_t row = {
        .flags = info.flags,
        .workgroup_size = {info.workgroup_size[0], info.workgroup_size[1], info.workgroup_size[2]},
        .constant_count = info.constant_count,
        .binding_count = info.binding_count,
        .parameter_count = info.parameter_count,
        .name_length = (uint16_t)iree_min(info.name.size, (iree_host_size_t)UINT16_MAX),
    };
    header->parameter_count += row.parameter_count;
    header->name_length += row.name_length;
    IREE_RETURN_IF_ERROR(append(&tables[0], &row, sizeof(row)));
    IREE_RETURN_IF_ERROR(describe_parameters(executable, i, row.parameter_count, &tables[1]));
    IREE_RETURN_IF_ERROR(append(&tables[2], info.name.data, row.name_length));
  }
  return iree_ok_status();
}

static iree_status_t record_prepare(recording_cache_t* self, const iree_hal_executable_params_t* params,
                                    iree_hal_executable_t* executable, uint64_t id, iree_status_t result) {
  replay_metadata_t header = {.function_count = executable ? iree_hal_executable_function_count(executable) : 0};
  iree_string_builder_t tables[3];
  for (int i = 0; i < 3; ++i) iree_string_builder_initialize(replay_recorder_allocator(self->recorder), &tables[i]);
  iree_status_t status = describe_functions(executable, &header, tables);
  size_t length = executable ? sizeof(header) : 0;
  for (int i = 0; i < 3; ++i) length += iree_string_builder_size(&tables[i]);
  replay_executable_prepare_t payload = {
      .queue_affinity = params->queue_affinity,
      .executable_data_length = params->executable_data.data_length,
      .constant_count = params->constant_count,
      .caching_mode = params->caching_mode,
      .executable_format_length = (uint32_t)params->executable_format.size,
      .executable_metadata_length = (uint32_t)length,
  };
  replay_call_t call = cache_call(self, REPLAY_EXECUTABLE_CACHE_PREPARE_EXECUTABLE);
  call.related_id = id;
  call.payload_type = REPLAY_PAYLOAD_executable_prepare;
  replay_call_add(&call, &payload, sizeof(payload));
  replay_call_add(&call, params->executable_format.data, params->executable_format.size);
  replay_call_add(&call, params->executable_data.data, params->executable_data.data_length);
  replay_call_add(&call, params->constants, params->constant_count * sizeof(*params->constants));
  replay_call_add(&call, &header, executable ? sizeof(header) : 0);
  for (int i = 0; i < 3; ++i) {
    replay_call_add(&call, iree_string_builder_buffer(&tables[i]), iree_string_builder_size(&tables[i]));
  }
  if (iree_status_is_ok(status)) status = replay_call_begin(self->recorder, &call);
  for (int i = 0; i < 3; ++i) iree_string_builder_deinitialize(&tables[i]);
  if (!iree_status_is_ok(status)) return iree_status_join(result, status);
  return replay_call_end(self->recorder, &call, result);
}

// Written after the call, by which the functions are known: nobody else has the executable yet.
static iree_status_t cache_prepare_executable(iree_hal_executable_cache_t* cache,
                                              const iree_hal_executable_params_t* executable_params,
                                              iree_hal_executable_t** out_executable) {
  recording_cache_t* self = cast(cache);
  uint64_t id = replay_recorder_next_id(self->recorder);
  iree_hal_executable_t* executable = NULL;
  iree_status_t status = iree_hal_executable_cache_prepare_executable(self->base, executable_params, &executable);
  status = record_prepare(self, executable_params, executable, id, status);
  if (iree_status_is_ok(status)) {
    status = replay_record_object(self->recorder, self->device_id, id, REPLAY_OBJECT_executable, 0, NULL, 0);
  }
  if (iree_status_is_ok(status)) {
    status = replay_recorder_know(self->recorder, executable, id, 0);
  }
  if (iree_status_is_ok(status)) {
    *out_executable = executable;
  } else {
    iree_hal_executable_release(executable);
  }
  return status;
}

static const iree_hal_executable_cache_vtable_t cache_vtable = {
    .destroy = cache_destroy,
    .infer_format = cache_infer_format,
    .can_prepare_format = cache_can_prepare_format,
    .prepare_executable = cache_prepare_executable,
    .append_formats = cache_append_formats,
};

iree_status_t recording_cache_create(recording_device_t* device, uint64_t id, iree_hal_executable_cache_t* base,
                                     iree_hal_executable_cache_t** out_cache) {
  recording_cache_t* self = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(replay_recorder_allocator(device->recorder), sizeof(*self), (void**)&self));
  iree_hal_resource_initialize(&cache_vtable, &self->resource);
  self->recorder = device->recorder;
  self->device_id = device->id;
  self->id = id;
  self->base = base;
  iree_hal_replay_recorder_retain(self->recorder);
  iree_hal_executable_cache_retain(base);
  *out_cache = (iree_hal_executable_cache_t*)self;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t resolve_bindings(recording_device_t* device, iree_hal_buffer_ref_list_t bindings,
                                      recording_dispatch_t* dispatch) {
  if (!bindings.count) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(dispatch->host_allocator, bindings.count,
                                                   sizeof(*dispatch->bindings), (void**)&dispatch->bindings));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(dispatch->host_allocator, bindings.count, sizeof(*dispatch->refs),
                                                   (void**)&dispatch->refs));
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    IREE_RETURN_IF_ERROR(recording_ref_resolve(device, bindings.values[i], &dispatch->bindings[i], &dispatch->refs[i]));
  }
  return iree_ok_status();
}

iree_status_t recording_dispatch_make(recording_device_t* device, const hal_dispatch_t* call,
                                      recording_dispatch_t* out_dispatch) {
  const iree_hal_dispatch_config_t* config = &call->config;
  uint64_t id = replay_recorder_find(device->recorder, call->executable, NULL);
  *out_dispatch = (recording_dispatch_t){
      .payload = {.executable_id = id,
                  .function_ordinal = iree_hal_executable_function_index(call->function),
                  .flags = (uint32_t)call->flags,
                  .dynamic_workgroup_local_memory = config->dynamic_workgroup_local_memory,
                  .constants_length = call->constants.data_length,
                  .binding_count = call->bindings.count},
      .config = *config,
      .host_allocator = replay_recorder_allocator(device->recorder),
  };
  // A function that it does not have is for the device behind to refuse.
  if (!id)
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable was not made by a cache of this device");
  memcpy(out_dispatch->payload.workgroup_size, config->workgroup_size, sizeof(config->workgroup_size));
  memcpy(out_dispatch->payload.workgroup_count, config->workgroup_count, sizeof(config->workgroup_count));
  iree_status_t status = iree_ok_status();
  if (iree_hal_dispatch_uses_indirect_parameters(call->flags)) {
    status = recording_ref_resolve(device, config->workgroup_count_ref, &out_dispatch->config.workgroup_count_ref,
                                   &out_dispatch->payload.workgroup_count_ref);
  }
  if (iree_status_is_ok(status)) status = resolve_bindings(device, call->bindings, out_dispatch);
  if (!iree_status_is_ok(status)) recording_dispatch_free(out_dispatch);
  return status;
}

void recording_dispatch_free(recording_dispatch_t* dispatch) {
  iree_allocator_free(dispatch->host_allocator, dispatch->bindings);
  iree_allocator_free(dispatch->host_allocator, dispatch->refs);
  dispatch->bindings = NULL;
  dispatch->refs = NULL;
}
