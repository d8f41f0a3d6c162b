// Replays executables, captured or substituted: functions are found again by name.
#include "hal/replay/executor.h"

enum { ALIGNMENT = 64, FORMAT_SIZE = 128 };

// The metadata's tables.
typedef struct metadata_t {
  replay_metadata_t header;
  const uint8_t *functions, *names;
} metadata_t;

static iree_status_t read_metadata(const plan_record_t* r, metadata_t* out_metadata) {
  iree_const_byte_span_t data = replay_part(r, 3);
  replay_metadata_t* header = &out_metadata->header;
  uint64_t left = data.data_length;
  if (left < sizeof(*header)) return iree_make_status(IREE_STATUS_DATA_LOSS, "the executable's metadata is too short");
  memcpy(header, data.data, sizeof(*header));
  left -= sizeof(*header);
  if (header->function_count > left / sizeof(replay_function_t) || header->pad0) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "the executable's metadata is damaged");
  }
  left -= header->function_count * sizeof(replay_function_t);
  if (header->parameter_count > left / sizeof(replay_parameter_t)) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "the executable's metadata is damaged");
  }
  left -= header->parameter_count * sizeof(replay_parameter_t);
  if (left != header->name_length) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "the executable's metadata is damaged");
  }
  out_metadata->functions = data.data + sizeof(*header);
  out_metadata->names = data.data + (data.data_length - left);
  return iree_ok_status();
}

// What a dispatch gives has to be what the function takes; sizes of workgroups are each target's own. What was captured
// with its workgroups in order is lost without that order: as if the function were not there.
static iree_status_t check_function(iree_hal_executable_t* executable, const replay_function_t* captured,
                                    iree_hal_executable_function_t* function) {
  iree_hal_executable_function_info_t info;
  memset(&info, 0, sizeof(info));
  IREE_RETURN_IF_ERROR(iree_hal_executable_function_info(executable, *function, &info));
  if (captured->flags & ~info.flags & IREE_HAL_EXECUTABLE_FUNCTION_FLAG_SEQUENTIAL) {
    *function = iree_hal_executable_function_invalid();
  }
  if (info.constant_count == captured->constant_count && info.binding_count == captured->binding_count) {
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          "ABI mismatch: it was captured with %u constants and %u bindings, and has %u and %u",
                          captured->constant_count, captured->binding_count, info.constant_count, info.binding_count);
}

static iree_status_t map_functions(replay_object_t* object, const metadata_t* metadata, uint64_t executable_id) {
  uint64_t name_offset = 0;
  for (uint64_t i = 0; i < object->function_count; ++i) {
    replay_function_t captured;
    memcpy(&captured, metadata->functions + i * sizeof(captured), sizeof(captured));
    if (captured.name_length > metadata->header.name_length - name_offset) {
      return iree_make_status(IREE_STATUS_DATA_LOSS, "the executable's metadata is damaged");
    }
    iree_string_view_t name = iree_make_string_view((const char*)metadata->names + name_offset, captured.name_length);
    name_offset += captured.name_length;
    iree_status_t status = iree_ok_status();
    if (name.size) {
      status = iree_hal_executable_lookup_function_by_name(object->executable, name, &object->functions[i]);
    } else {
      object->functions[i] = iree_hal_executable_function_from_index((uint32_t)i);
    }
    if (iree_status_is_not_found(status)) {
      // A substitute needs no more than what is dispatched.
      iree_status_ignore(status);
      object->functions[i] = iree_hal_executable_function_invalid();
      continue;
    }
    if (iree_status_is_ok(status)) status = check_function(object->executable, &captured, &object->functions[i]);
    if (!iree_status_is_ok(status)) {
      return iree_status_annotate_f(
          status, "looking up replay function '%.*s' for executable %" PRIu64 " captured function %" PRIu64,
          (int)name.size, name.data, executable_id, i);
    }
  }
  return iree_ok_status();
}

static iree_status_t place_executable(replay_executor_t* x, const plan_record_t* r, iree_hal_executable_t* executable) {
  metadata_t metadata;
  replay_object_t* object = NULL;
  uint64_t id = r->record.header.related_object_id;
  iree_status_t status = read_metadata(r, &metadata);
  if (iree_status_is_ok(status)) status = replay_place(x, id, REPLAY_OBJECT_executable, &object);
  if (!iree_status_is_ok(status)) {
    iree_hal_executable_release(executable);
    return status;
  }
  object->executable = executable;
  object->function_count = metadata.header.function_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(x->host_allocator, (iree_host_size_t)object->function_count + 1,
                                                   sizeof(*object->functions), (void**)&object->functions));
  return map_functions(object, &metadata, id);
}

static iree_status_t infer_format(iree_hal_executable_cache_t* cache, iree_hal_executable_params_t* params,
                                  char* format) {
  iree_host_size_t size = 0;
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_infer_format(cache, params->caching_mode, params->executable_data,
                                                              FORMAT_SIZE, format, &size));
  params->executable_format = iree_make_cstring_view(format);
  return iree_ok_status();
}

static iree_status_t substitute(replay_executor_t* x, const plan_record_t* r, iree_hal_executable_cache_t* cache,
                                iree_hal_executable_params_t* params, char* format,
                                iree_hal_replay_executable_substitution_t* out_substitution) {
  const replay_record_header_t* header = &r->record.header;
  iree_hal_replay_executable_substitution_request_t request = {header->sequence_ordinal, header->device_id,
                                                               header->object_id, header->related_object_id, params};
  memset(out_substitution, 0, sizeof(*out_substitution));
  if (!x->options->executable_substitution_callback.fn) return iree_ok_status();
  IREE_RETURN_IF_ERROR(x->options->executable_substitution_callback.fn(
      x->options->executable_substitution_callback.user_data, &request, out_substitution));
  if (!out_substitution->substitute) return iree_ok_status();
  iree_string_view_t captured = params->executable_format;
  params->executable_data = out_substitution->executable_data;
  params->executable_format = out_substitution->executable_format;
  if (!params->executable_format.size) {
    IREE_RETURN_IF_ERROR(infer_format(cache, params, format));
  }
  // Specialization constants are the captured format's own.
  if (!iree_string_view_equal(params->executable_format, captured)) params->constant_count = 0;
  return iree_ok_status();
}

static iree_status_t prepare(replay_executor_t* x, const plan_record_t* r, iree_hal_executable_cache_t* cache,
                             iree_hal_executable_params_t* params) {
  char format[FORMAT_SIZE];
  iree_hal_replay_executable_substitution_t substitution;
  iree_hal_executable_t* executable = NULL;
  iree_status_t status = substitute(x, r, cache, params, format, &substitution);
  if (iree_status_is_ok(status)) status = iree_hal_executable_cache_prepare_executable(cache, params, &executable);
  if (iree_status_is_ok(status)) status = place_executable(x, r, executable);
  if (iree_status_is_ok(status)) return status;
  uint64_t id = r->record.header.related_object_id;
  if (substitution.substitute) {
    return iree_status_annotate_f(status, "executable %" PRIu64 " from '%.*s'", id, (int)substitution.source.size,
                                  substitution.source.data);
  }
  return iree_status_annotate_f(status,
                                "executable %" PRIu64 ", captured as '%.*s'; --replay_executable_substitution=%" PRIu64
                                "=FILE replaces it",
                                id, (int)params->executable_format.size, params->executable_format.data, id);
}

iree_status_t replay_prepare_executable(replay_executor_t* x, const plan_record_t* r) {
  REPLAY_FIELDS(r, executable_prepare, p);
  replay_object_t* cache = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, r->record.header.object_id, REPLAY_OBJECT_executable_cache, &cache));
  iree_const_byte_span_t format = replay_part(r, 0), data = replay_part(r, 1), constants = replay_part(r, 2);
  // The file has them anywhere, loaders want them aligned.
  uint8_t* copy = NULL;
  iree_host_size_t offset = iree_host_align(data.data_length, ALIGNMENT);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(x->host_allocator, offset + constants.data_length + 1, ALIGNMENT,
                                                     0, (void**)&copy));
  if (data.data_length) memcpy(copy, data.data, data.data_length);
  if (constants.data_length) memcpy(copy + offset, constants.data, constants.data_length);
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.queue_affinity = p.queue_affinity;
  params.caching_mode = p.caching_mode & ~(uint32_t)IREE_HAL_EXECUTABLE_CACHING_MODE_ALIAS_PROVIDED_DATA;
  params.executable_format = iree_make_string_view((const char*)format.data, format.data_length);
  params.executable_data = iree_make_const_byte_span(copy, data.data_length);
  params.constant_count = (iree_host_size_t)p.constant_count;
  params.constants = (const uint32_t*)(copy + offset);
  iree_status_t status = prepare(x, r, cache->cache, &params);
  iree_allocator_free_aligned(x->host_allocator, copy);
  return status;
}
