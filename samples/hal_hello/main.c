// The HAL without compiler and VM: a device fills memory and copies it, ordered by a barrier, and the host looks at it.
//
//   main --device=local-task
#include <stdio.h>

#include "iree/async/frontier_tracker.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/threading/numa.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"

IREE_FLAG(string, device, "local-task", "The device.")

enum { ELEMENTS = 1024, PATTERN = 0x0badf00d };

typedef struct hello_t {
  iree_allocator_t allocator;
  iree_hal_device_t* device;
  iree_hal_device_group_t* group;  // which keeps the device alive, too
  iree_hal_buffer_t* source;       // the device's own
  iree_hal_buffer_t* target;       // where the host can look
  iree_hal_command_buffer_t* commands;
  iree_hal_semaphore_t* done;
} hello_t;

static iree_status_t create_device(hello_t* h) {
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  iree_async_proactor_pool_t* pool = NULL;
  iree_async_frontier_tracker_t* tracker = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_register_all_available_drivers(iree_hal_driver_registry_default()));
  IREE_RETURN_IF_ERROR(iree_async_proactor_pool_create(
      iree_numa_node_count(), /*node_ids=*/NULL, iree_async_proactor_pool_options_default(), h->allocator, &pool));
  params.proactor_pool = pool;
  iree_status_t status = iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(FLAG_device),
                                                &params, h->allocator, &h->device);
  iree_async_proactor_pool_release(pool);
  if (iree_status_is_ok(status)) {
    status = iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_default(), h->allocator, &tracker);
  }
  if (iree_status_is_ok(status)) {
    status = iree_hal_device_group_create_from_device(h->device, tracker, h->allocator, &h->group);
  }
  iree_async_frontier_tracker_release(tracker);
  return status;
}

static iree_status_t create_buffers(hello_t* h) {
  iree_hal_allocator_t* memory = iree_hal_device_allocator(h->device);
  const iree_device_size_t size = ELEMENTS * sizeof(uint32_t);
  const iree_hal_buffer_params_t own = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE | IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET};
  const iree_hal_buffer_params_t shared = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET | IREE_HAL_BUFFER_USAGE_MAPPING};
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(memory, own, size, &h->source));
  return iree_hal_allocator_allocate_buffer(memory, shared, size, &h->target);
}

// The barrier: the copy begins when the fill has ended.
static iree_status_t record(hello_t* h) {
  const uint32_t pattern = PATTERN;
  const iree_device_size_t size = ELEMENTS * sizeof(uint32_t);
  const iree_hal_memory_barrier_t barrier = {.source_scope = IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE,
                                             .target_scope = IREE_HAL_ACCESS_SCOPE_TRANSFER_READ};
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(h->device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                                      IREE_HAL_COMMAND_CATEGORY_TRANSFER, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                      /*binding_capacity=*/0, &h->commands));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(h->commands));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_fill_buffer(h->commands, iree_hal_make_buffer_ref(h->source, 0, size),
                                                           &pattern, sizeof(pattern), IREE_HAL_FILL_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_execution_barrier(
      h->commands, IREE_HAL_EXECUTION_STAGE_TRANSFER, IREE_HAL_EXECUTION_STAGE_TRANSFER,
      IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 1, &barrier, 0, NULL));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_copy_buffer(h->commands, iree_hal_make_buffer_ref(h->source, 0, size),
                                                           iree_hal_make_buffer_ref(h->target, 0, size),
                                                           IREE_HAL_COPY_FLAG_NONE));
  return iree_hal_command_buffer_end(h->commands);
}

// Submits, and waits for the timeline's first point.
static iree_status_t execute(hello_t* h) {
  uint64_t value = 1;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_create(h->device, IREE_HAL_QUEUE_AFFINITY_ANY, /*initial_value=*/0,
                                                 IREE_HAL_SEMAPHORE_FLAG_NONE, &h->done));
  const iree_hal_semaphore_list_t signal = {1, &h->done, &value};
  IREE_RETURN_IF_ERROR(
      iree_hal_device_queue_execute(h->device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), signal,
                                    h->commands, iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
  return iree_hal_semaphore_wait(h->done, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static iree_status_t check(hello_t* h) {
  uint32_t data[ELEMENTS] = {0};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_read(h->target, 0, data, sizeof(data)));
  for (int i = 0; i < ELEMENTS; ++i) {
    if (data[i] != PATTERN) {
      return iree_make_status(IREE_STATUS_DATA_LOSS, "element %d is 0x%08x, not 0x%08x", i, data[i], PATTERN);
    }
  }
  iree_string_view_t id = iree_hal_device_id(h->device);
  printf("%.*s: all %d elements are 0x%08x\n", (int)id.size, id.data, ELEMENTS, PATTERN);
  return iree_ok_status();
}

int main(int argc, char** argv) {
  hello_t h = {.allocator = iree_allocator_system()};
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = create_device(&h);
  if (iree_status_is_ok(status)) status = create_buffers(&h);
  if (iree_status_is_ok(status)) status = record(&h);
  if (iree_status_is_ok(status)) status = execute(&h);
  if (iree_status_is_ok(status)) status = check(&h);
  iree_hal_semaphore_release(h.done);
  iree_hal_command_buffer_release(h.commands);
  iree_hal_buffer_release(h.target);
  iree_hal_buffer_release(h.source);
  iree_hal_device_group_release(h.group);
  iree_hal_device_release(h.device);
  if (iree_status_is_ok(status)) return 0;
  int code = (int)iree_status_code(status);
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return code;
}
