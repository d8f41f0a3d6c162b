// Commands as calls on a stream.
#include "hal/stream/writer.h"

// Patterns that no call fills with: once, word by word, then what is there is copied behind itself.
static iree_status_t fill_by_copies(stream_writer_t* w, const gpu_command_t* command, uint64_t target,
                                    uint64_t length) {
  uint32_t words[4];
  uint64_t done = command->pattern.length;
  memcpy(words, command->pattern.data, sizeof(words));
  for (uint64_t i = 0; i < done / sizeof(uint32_t); ++i) {
    uint64_t at = target + i * sizeof(uint32_t);
    IREE_RETURN_IF_ERROR(STREAM_CALL(w->api, fill_32, at, (int)words[i], 1, w->stream));
  }
  for (; done < length; done *= 2) {
    uint64_t size = iree_min(done, length - done);
    IREE_RETURN_IF_ERROR(STREAM_CALL(w->api, copy, target + done, target, size, w->stream));
  }
  return iree_ok_status();
}

static iree_status_t write_fill(stream_writer_t* w, const gpu_range_t* ranges, const gpu_command_t* command) {
  gpu_range_t range = gpu_ref_resolve(command->target, ranges);
  uint64_t target = range.address, length = range.length - range.length % command->pattern.length;
  uint32_t word;
  void* stream = w->stream;
  memcpy(&word, command->pattern.data, sizeof(word));
  if (length == 0) return iree_ok_status();
  switch (command->pattern.length) {
    case 1:
      return STREAM_CALL(w->api, fill_8, target, (uint8_t)word, length, stream);
    case 2:
      return STREAM_CALL(w->api, fill_16, target, (uint16_t)word, length / 2, stream);
    case 4:
      return STREAM_CALL(w->api, fill_32, target, (int)word, length / 4, stream);
    default:
      return fill_by_copies(w, command, target, length);
  }
}

static iree_status_t write_copy(stream_writer_t* w, const gpu_range_t* ranges, const gpu_command_t* command) {
  gpu_range_t target = gpu_ref_resolve(command->target, ranges), source = gpu_ref_resolve(command->source, ranges);
  uint64_t length = iree_min(target.length, source.length);
  if (length == 0) return iree_ok_status();
  return STREAM_CALL(w->api, copy, target.address, source.address, length, w->stream);
}

static iree_status_t write_update(stream_writer_t* w, const gpu_range_t* ranges, const gpu_command_t* command) {
  gpu_range_t target = gpu_ref_resolve(command->target, ranges);
  if (target.length == 0) return iree_ok_status();
  return STREAM_CALL(w->api, copy_from_host, target.address, command->data, target.length, w->stream);
}

iree_status_t stream_annotate_kernel(iree_status_t status, const gpu_command_t* command) {
  iree_string_view_t name = command->dispatch.function->name;
  return iree_status_annotate_f(status, "kernel '%.*s'", (int)name.size, name.data);
}

static iree_status_t reserve_arguments(stream_writer_t* w, size_t size) {
  if (size <= w->capacity) return iree_ok_status();
  return iree_allocator_grow_array(w->host_allocator, size, 1, &w->capacity, (void**)&w->arguments);
}

iree_status_t stream_find_arguments(stream_writer_t* w, const gpu_range_t* ranges, const gpu_command_t* command,
                                    const uint8_t** out_arguments) {
  *out_arguments = command->dispatch.arguments;
  if (!command->dispatch.patch_count && !w->kept) return iree_ok_status();
  IREE_RETURN_IF_ERROR(reserve_arguments(w, gpu_command_arguments_size(command->dispatch.function)));
  gpu_command_write_arguments(command, ranges, w->arguments);
  *out_arguments = w->arguments;
  return iree_ok_status();
}

// CUlaunchAttribute and CUlaunchConfig.
typedef struct launch_attribute_t {
  int id, unused;
  int value[16];
} launch_attribute_t;
typedef struct launch_config_t {
  uint32_t grid[3], block[3], dynamic_memory;
  void* stream;
  const launch_attribute_t* attributes;
  uint32_t attribute_count;
} launch_config_t;

// Launches it while what is before it in the stream may still run.
static iree_status_t launch_early(stream_writer_t* w, const gpu_command_t* command, const uint32_t counts[3],
                                  stream_launch_t* launch) {
  enum { PROGRAMMATIC_STREAM_SERIALIZATION = 6 };
  const uint16_t* block = command->dispatch.workgroup_size;
  const launch_attribute_t early = {.id = PROGRAMMATIC_STREAM_SERIALIZATION, .value = {1}};
  const launch_config_t config = {{counts[0], counts[1], counts[2]},
                                  {block[0], block[1], block[2]},
                                  command->dispatch.dynamic_memory,
                                  w->stream,
                                  &early,
                                  1};
  return STREAM_CALL(w->api, launch_with, &config,
                     ((const stream_function_t*)command->dispatch.function)->handles[w->physical], NULL,
                     launch->size ? launch->extra : NULL);
}

iree_status_t stream_write_launch(stream_writer_t* w, const gpu_range_t* ranges, const gpu_command_t* command,
                                  const uint32_t counts[3]) {
  const stream_function_t* function = (const stream_function_t*)command->dispatch.function;
  const uint8_t* arguments = NULL;
  if (!counts[0] || !counts[1] || !counts[2]) return iree_ok_status();
  IREE_RETURN_IF_ERROR(stream_find_arguments(w, ranges, command, &arguments));
  stream_launch_t* launch = w->kept ? w->kept : &w->launch;
  *launch = (stream_launch_t){function->base.argument_size,
                              {STREAM_API_LAUNCH_BUFFER, (void*)arguments, STREAM_API_LAUNCH_BUFFER_SIZE, &launch->size,
                               (void*)w->api->library->launch_end}};
  const uint16_t* block = command->dispatch.workgroup_size;
  iree_status_t status = w->launches_early && function->base.waits
                             ? launch_early(w, command, counts, launch)
                             : STREAM_CALL(w->api, launch, function->handles[w->physical], counts[0], counts[1],
                                           counts[2], block[0], block[1], block[2], command->dispatch.dynamic_memory,
                                           w->stream, NULL, launch->size ? launch->extra : NULL);
  return iree_status_is_ok(status) ? status : stream_annotate_kernel(status, command);
}

iree_status_t stream_write_command(stream_writer_t* w, const gpu_range_t* ranges, const gpu_command_t* command) {
  switch (command->kind) {
    case HAL_COMMAND_FILL:
      return write_fill(w, ranges, command);
    case HAL_COMMAND_COPY:
      return write_copy(w, ranges, command);
    case HAL_COMMAND_UPDATE:
      return write_update(w, ranges, command);
    case HAL_COMMAND_DISPATCH:
      return stream_write_launch(w, ranges, command, command->dispatch.workgroup_count);
  }
  return iree_ok_status();
}
