// Memory that two devices of the process share by a file descriptor, work that waits for the other's, and devices of
// drivers that an application makes. To be run by iree-softgpu with two GPUs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <unistd.h>

#include "hal/amdgpu/logical_device.h"
#include "hal/gpu/queue.h"
#include "iree/hal/drivers/amdgpu/api.h"

#define OK(expr) IREE_CHECK_OK(expr)

static iree_hal_device_t* devices[2];
static iree_hal_semaphore_t* semaphores[2];

static int open_devices(void** state) {
  libhsa_t* hsa = NULL;
  system_t* gpus = NULL;
  logical_device_options_t options = {0};
  OK(libhsa_load(0, NULL, iree_allocator_system(), &hsa));
  OK(system_create(hsa, iree_allocator_system(), &gpus));
  libhsa_release(hsa);
  for (int i = 0; i < 2; ++i) {
    OK(logical_device_create(gpus, 1ull << i, &options, NULL, iree_allocator_system(), &devices[i]));
    OK(iree_hal_semaphore_create(devices[i], IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE,
                                 &semaphores[i]));
  }
  system_release(gpus);
  return 0;
}

static int close_devices(void** state) {
  for (int i = 0; i < 2; ++i) {
    iree_hal_semaphore_release(semaphores[i]);
    iree_hal_device_release(devices[i]);
  }
  return 0;
}

static iree_hal_buffer_t* allocate(int device, iree_device_size_t size) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_buffer_t* buffer = NULL;
  OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(devices[device]), params, size, &buffer));
  return buffer;
}

static iree_status_t export(iree_hal_buffer_t* buffer, iree_hal_external_buffer_t* out_external) {
  return iree_hal_allocator_export_buffer(iree_hal_device_allocator(devices[0]), buffer,
                                          IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD, IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE,
                                          out_external);
}

static iree_status_t import(iree_hal_external_buffer_t external, iree_hal_memory_type_t type,
                            iree_hal_buffer_t** out_buffer) {
  iree_hal_buffer_params_t params = {.type = type, .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  return iree_hal_allocator_import_buffer(iree_hal_device_allocator(devices[1]), params, &external,
                                          iree_hal_buffer_release_callback_null(), out_buffer);
}

static void expect(iree_status_code_t code, iree_status_t status) {
  assert_int_equal(iree_status_consume_code(status), code);
}

// Work of one device, waited for.
static void fill(int device, iree_hal_buffer_t* buffer, iree_device_size_t offset, uint32_t pattern) {
  uint64_t value = 0;
  OK(iree_hal_semaphore_query(semaphores[device], &value));
  ++value;
  iree_hal_semaphore_list_t signals = {1, &semaphores[device], &value};
  OK(iree_hal_device_queue_fill(devices[device], 1, iree_hal_semaphore_list_empty(), signals, buffer, offset, 4,
                                &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  OK(iree_hal_semaphore_wait(semaphores[device], value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static uint32_t read_word(int device, iree_hal_buffer_t* buffer, iree_device_size_t offset) {
  uint32_t word = 0;
  OK(iree_hal_device_transfer_d2h(devices[device], buffer, offset, &word, 4, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                  iree_infinite_timeout()));
  return word;
}

// Either device sees what the other writes, also when the buffer that was exported has gone.
static void both_ways(void** state) {
  iree_hal_buffer_t *buffer = allocate(0, 100000), *shared = NULL;
  iree_hal_external_buffer_t external = {0};
  fill(0, buffer, 99996, 7);
  OK(export(buffer, &external));
  assert_int_equal(external.size, 100000);
  OK(import(external, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, &shared));
  close(external.handle.opaque_fd.fd);
  assert_int_equal(iree_hal_buffer_byte_length(shared), 100000);
  assert_int_equal(read_word(1, shared, 99996), 7);
  fill(1, shared, 0, 8);
  assert_int_equal(read_word(0, buffer, 0), 8);
  fill(0, buffer, 4, 9);
  iree_hal_buffer_release(buffer);
  assert_int_equal(read_word(1, shared, 4), 9);
  iree_hal_buffer_release(shared);
}

static void refusals(void** state) {
  iree_hal_buffer_t *buffer = allocate(0, 8192), *part = NULL, *shared = NULL;
  iree_hal_external_buffer_t external = {0};
  OK(iree_hal_buffer_subspan(buffer, 4096, 4096, iree_allocator_system(), &part));
  expect(IREE_STATUS_UNAVAILABLE, export(part, &external));
  // Memory of a pool has others in it.
  iree_hal_buffer_t* transient = NULL;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  OK(iree_hal_device_queue_alloca(devices[0], 1, iree_hal_semaphore_list_empty(), iree_hal_semaphore_list_empty(), NULL,
                                  params, 4096, IREE_HAL_ALLOCA_FLAG_NONE, &transient));
  expect(IREE_STATUS_UNAVAILABLE, export(transient, &external));
  iree_hal_buffer_release(transient);
  OK(export(buffer, &external));
  expect(IREE_STATUS_UNAVAILABLE,
         import(external, IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE, &shared));
  external.size = 8193;
  expect(IREE_STATUS_OUT_OF_RANGE, import(external, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, &shared));
  close(external.handle.opaque_fd.fd);
  external.handle.opaque_fd.fd = -1;
  expect(IREE_STATUS_INVALID_ARGUMENT, import(external, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, &shared));
  iree_hal_buffer_release(part);
  iree_hal_buffer_release(buffer);
}

// What the devices say of themselves is what they do: points as file descriptors, buffers by importing them.
static void capabilities(void** state) {
  iree_hal_device_capabilities_t all[2];
  for (int i = 0; i < 2; ++i) {
    OK(iree_hal_device_query_capabilities(devices[i], &all[i]));
    assert_true(all[i].semaphore_export_types & IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD);
    assert_true(all[i].semaphore_import_types & IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD);
    assert_true(all[i].buffer_export_types & IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF);
    assert_true(all[i].has_physical_device_uuid);
  }
  assert_memory_not_equal(all[0].physical_device_uuid, all[1].physical_device_uuid, 16);
  iree_hal_topology_edge_t edge =
      iree_hal_topology_edge_from_capabilities(&all[0], &all[1], IREE_SV("amdgpu"), IREE_SV("amdgpu"));
  assert_int_equal(iree_hal_topology_edge_wait_mode(edge.lo), IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE);
  assert_int_equal(iree_hal_topology_edge_buffer_read_mode_noncoherent(edge.lo), IREE_HAL_TOPOLOGY_INTEROP_MODE_IMPORT);
}

// Two GPUs are as near to each other as HSA says, which is PCIe here.
static void links(void** state) {
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_t* group = NULL;
  iree_hal_device_group_builder_initialize(&builder, NULL);
  for (int i = 0; i < 2; ++i) OK(iree_hal_device_group_builder_add_device(&builder, devices[i]));
  OK(iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), &group));
  iree_hal_topology_edge_t edge = iree_hal_topology_query_edge(iree_hal_device_group_topology(group), 0, 1);
  assert_int_equal(iree_hal_topology_edge_link_class(edge.lo), IREE_HAL_TOPOLOGY_LINK_CLASS_PCIE_SAME_ROOT);
  iree_hal_device_group_release(group);
}

//===----------------------------------------------------------------------------------------------------------------===
// Waits
//===----------------------------------------------------------------------------------------------------------------===

enum { LONG = 16 << 20 };

static gpu_queue_t* queue_of(int device) { return ((logical_device_t*)devices[device])->gpu.queues[0]; }

static iree_hal_semaphore_t* make_semaphore(int device) {
  iree_hal_semaphore_t* semaphore = NULL;
  OK(iree_hal_semaphore_create(devices[device], IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE,
                               &semaphore));
  return semaphore;
}

static void fill_all(iree_hal_device_t* device, iree_hal_buffer_t* buffer, uint32_t pattern,
                     iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals) {
  OK(iree_hal_device_queue_fill(device, 1, waits, signals, buffer, 0, iree_hal_buffer_byte_length(buffer), &pattern, 4,
                                IREE_HAL_FILL_FLAG_NONE));
}

#define AT(semaphore, point)                  \
  (iree_hal_semaphore_list_t) {               \
    1, &(semaphore), (uint64_t[]) { (point) } \
  }

// It is in its queue while the other's runs, whichever device the semaphore is of, and reads what that has written.
static void waited_for_by_the_device(void** state) {
  iree_hal_buffer_t *large = allocate(0, LONG), *seen = NULL, *small = allocate(1, 64);
  iree_hal_external_buffer_t external;
  OK(export(large, &external));
  OK(import(external, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, &seen));
  close(external.handle.opaque_fd.fd);
  for (int owner = 0; owner < 2; ++owner) {
    iree_hal_semaphore_t *before = make_semaphore(owner), *after = make_semaphore(1 - owner);
    uint64_t head = gpu_queue_head(queue_of(1)), value = 0;
    fill_all(devices[0], large, 7 + (uint32_t)owner, iree_hal_semaphore_list_empty(), AT(before, 1));
    OK(iree_hal_device_queue_copy(devices[1], 1, AT(before, 1), AT(after, 1), seen, LONG - 64, small, 0, 64,
                                  IREE_HAL_COPY_FLAG_NONE));
    assert_int_equal(gpu_queue_head(queue_of(1)), head + 1);
    OK(iree_hal_semaphore_wait(after, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
    OK(iree_hal_semaphore_query(before, &value));
    assert_int_equal(value, 1);
    assert_int_equal(read_word(1, small, 60), 7 + owner);
    iree_hal_semaphore_release(before);
    iree_hal_semaphore_release(after);
  }
  iree_hal_buffer_release(seen);
  iree_hal_buffer_release(large);
  iree_hal_buffer_release(small);
}

// A device that goes while another's work waits for its.
static void waited_for_and_gone(void** state) {
  const logical_device_t* device = (const logical_device_t*)devices[0];
  logical_device_options_t options = {0};
  iree_hal_device_t* other = NULL;
  iree_hal_semaphore_t *before = make_semaphore(1), *after = make_semaphore(1);
  iree_hal_buffer_t* small = allocate(1, 64);
  iree_hal_buffer_t* large = NULL;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  OK(logical_device_create(device->system, 1, &options, NULL, iree_allocator_system(), &other));
  OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(other), params, LONG, &large));
  fill_all(other, large, 7, iree_hal_semaphore_list_empty(), AT(before, 1));
  // One that waits, one that waits for the host as well, which comes when the device has gone.
  iree_hal_semaphore_t *host = make_semaphore(1), *last = make_semaphore(1);
  iree_hal_semaphore_t* both[] = {before, host};
  uint64_t ones[] = {1, 1};
  fill_all(devices[1], small, 8, AT(before, 1), AT(after, 1));
  fill_all(devices[1], small, 9, (iree_hal_semaphore_list_t){2, both, ones}, AT(last, 1));
  iree_hal_buffer_release(large);
  iree_hal_device_release(other);
  OK(iree_hal_semaphore_signal(host, 1, NULL));
  OK(iree_hal_semaphore_wait(last, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(host);
  iree_hal_semaphore_release(last);
  OK(iree_hal_semaphore_wait(after, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_buffer_release(small);
  iree_hal_semaphore_release(before);
  iree_hal_semaphore_release(after);
}

// A driver with an application's options, whose rings are so small that submissions wait for room.
static void from_options(void** state) {
  iree_hal_amdgpu_driver_options_t options;
  iree_hal_driver_t* driver = NULL;
  iree_hal_device_t *own = NULL, *first = devices[0];
  iree_hal_device_create_params_t create_params = iree_hal_device_create_params_default();
  iree_hal_amdgpu_driver_options_initialize(&options);
  options.default_device_options.host_queues.aql_capacity = 64;
  options.default_device_options.host_queues.kernarg_capacity = 128;
  options.default_device_options.host_queues.notification_capacity = 16;
  options.default_device_options.default_pool.range_length = 1 << 20;
  OK(iree_hal_amdgpu_driver_create(IREE_SV("mine"), &options, iree_allocator_system(), &driver));
  OK(iree_hal_driver_create_default_device(driver, &create_params, iree_allocator_system(), &own));
  iree_hal_driver_release(driver);
  const logical_device_t* device = (const logical_device_t*)own;
  assert_int_equal(device->options.kernarg_size, 128 * 64);
  assert_int_equal(device->options.user.default_pool_range_length, 1 << 20);
  assert_int_equal(device->options.user.command_buffer_mode, AMDGPU_COMMAND_BUFFERS_AQL);
  devices[0] = own;
  iree_hal_semaphore_t* semaphore = make_semaphore(0);
  iree_hal_buffer_t* buffer = allocate(0, 64);
  for (uint64_t i = 0; i < 200; ++i) {
    fill_all(own, buffer, (uint32_t)i, AT(semaphore, i), AT(semaphore, i + 1));
  }
  OK(iree_hal_semaphore_wait(semaphore, 200, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  assert_int_equal(read_word(0, buffer, 60), 199);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(semaphore);
  iree_hal_device_release(own);
  devices[0] = first;
}

// Options that are refused, before a library is looked for.
static void options_refused(void** state) {
  const iree_string_pair_t pair = {.key = IREE_SV("key"), .value = IREE_SV("value")};
  for (int i = 0; i < 8; ++i) {
    iree_hal_amdgpu_driver_options_t options;
    iree_hal_driver_t* driver = NULL;
    iree_hal_amdgpu_driver_options_initialize(&options);
    iree_hal_amdgpu_logical_device_options_t* o = &options.default_device_options;
    switch (i) {
      case 0:
        o->queue_placement = IREE_HAL_AMDGPU_QUEUE_PLACEMENT_DEVICE;
        break;
      case 1:
        o->exclusive_execution = 1;
        break;
      case 2:
        o->wait_active_for_ns = 1;
        break;
      case 3:
        o->pm4_command_buffer_publication_mode = IREE_HAL_AMDGPU_PM4_COMMAND_BUFFER_PUBLICATION_MODE_HOST_ASYNC_COPY;
        break;
      case 4:
        o->default_pool.range_length = 3;
        break;
      case 5:
        o->host_queues.aql_capacity = 100;
        break;
      case 6:
        o->host_queues.aql_capacity = o->host_queues.kernarg_capacity = 64;
        break;
      default:
        o->command_buffer_mode = (iree_hal_amdgpu_command_buffer_mode_t)9;
        break;
    }
    expect(i < 4 ? IREE_STATUS_UNIMPLEMENTED : IREE_STATUS_INVALID_ARGUMENT,
           iree_hal_amdgpu_driver_create(IREE_SV("mine"), &options, iree_allocator_system(), &driver));
    assert_null(driver);
    expect(IREE_STATUS_OK, iree_hal_amdgpu_driver_options_parse(&options, iree_string_pair_list_empty()));
    expect(IREE_STATUS_INVALID_ARGUMENT,
           iree_hal_amdgpu_driver_options_parse(&options, (iree_string_pair_list_t){1, &pair}));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways),
                                     cmocka_unit_test(refusals),
                                     cmocka_unit_test(capabilities),
                                     cmocka_unit_test(links),
                                     cmocka_unit_test(waited_for_by_the_device),
                                     cmocka_unit_test(waited_for_and_gone),
                                     cmocka_unit_test(from_options),
                                     cmocka_unit_test(options_refused)};
  return cmocka_run_group_tests(tests, open_devices, close_devices);
}
