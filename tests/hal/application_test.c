// What applications bring and choose themselves: payloads of statuses, sets of pools, drivers with their own options,
// buffers mapped in two steps.
#include "hal_test.h"
#include "iree/base/status_payload.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/cuda/api.h"
#include "iree/hal/drivers/hip/api.h"
#include "iree/hal/drivers/null/api.h"
#include "iree/hal/pool_set.h"
#include "iree/vm/loop_inline.h"

//===----------------------------------------------------------------------------------------------------------------===
// Statuses
//===----------------------------------------------------------------------------------------------------------------===

typedef struct number_t {
  iree_status_payload_t header;
  int value;
} number_t;

static void format_number(const iree_status_payload_t* payload, iree_host_size_t capacity, char* buffer,
                          iree_host_size_t* out_length) {
  *out_length = (iree_host_size_t)snprintf(buffer, capacity, "number %d", ((const number_t*)payload)->value);
}

static iree_status_t attach_number(iree_status_t status, int value) {
  number_t* number = NULL;
  CHECK_OK(iree_allocator_malloc(iree_allocator_system(), sizeof(*number), (void**)&number));
  number->header.type = IREE_STATUS_PAYLOAD_TYPE_MIN_USER;
  number->header.allocator = iree_allocator_system();
  number->header.formatter = format_number;
  number->value = value;
  return iree_status_append_payload(status, NULL, &number->header);
}

typedef struct seen_t {
  int count, stop_at;
  iree_status_payload_type_t types[4];
  char text[64];
} seen_t;

static iree_status_t see(void* user_data, const iree_status_payload_t* payload) {
  seen_t* seen = user_data;
  iree_host_size_t length = 0;
  if (seen->count == seen->stop_at) return iree_status_from_code(IREE_STATUS_CANCELLED);
  seen->types[seen->count++] = iree_status_payload_type(payload);
  iree_status_payload_format(payload, 0, NULL, &length);
  assert_true(length < sizeof(seen->text));
  iree_status_payload_format(payload, sizeof(seen->text), seen->text, &length);
  assert_int_equal(strlen(seen->text), length);
  return iree_ok_status();
}

static void test_payloads(void** state) {
  iree_status_t status = iree_make_status(IREE_STATUS_NOT_FOUND, "first");
  status = iree_status_annotate(status, IREE_SV("second"));
  status = attach_number(status, 42);
  seen_t seen = {.stop_at = 4};
  CHECK_OK(iree_status_enumerate_payloads(status, see, &seen));
  assert_int_equal(seen.count, 2);
  assert_int_equal(seen.types[0], IREE_STATUS_PAYLOAD_TYPE_MESSAGE);
  assert_int_equal(seen.types[1], IREE_STATUS_PAYLOAD_TYPE_MIN_USER);
  assert_string_equal(seen.text, "number 42");
  seen = (seen_t){.stop_at = 1};
  CHECK_CODE(CANCELLED, iree_status_enumerate_payloads(status, see, &seen));
  assert_int_equal(seen.count, 1);
  char text[256];
  assert_true(iree_status_format(status, sizeof(text), text, NULL));
  assert_non_null(strstr(text, "NOT_FOUND; first; second; number 42"));
  status = iree_status_freeze(status);
  iree_string_view_t message = iree_status_message(status);
  assert_true(iree_string_view_equal(message, IREE_SV("first; second; number 42")));
  iree_status_free(status);
  status = attach_number(iree_status_from_code(IREE_STATUS_ABORTED), 1);  // a bare code gets storage
  assert_true(iree_status_is_aborted(status));
  seen = (seen_t){.stop_at = 4};
  CHECK_OK(iree_status_enumerate_payloads(status, see, &seen));
  assert_int_equal(seen.count, 1);
  iree_status_free(status);
  CHECK_OK(attach_number(iree_ok_status(), 1));
}

//===----------------------------------------------------------------------------------------------------------------===
// Pools
//===----------------------------------------------------------------------------------------------------------------===

typedef struct described_pool_t {
  iree_hal_resource_t resource;
  iree_hal_pool_capabilities_t capabilities;
  bool* destroyed;
} described_pool_t;

static void described_destroy(iree_hal_pool_t* pool) { *((described_pool_t*)pool)->destroyed = true; }

static void described_query(const iree_hal_pool_t* pool, iree_hal_pool_capabilities_t* out_capabilities) {
  *out_capabilities = ((const described_pool_t*)pool)->capabilities;
}

static const iree_hal_pool_vtable_t described_vtable = {.destroy = described_destroy,
                                                        .query_capabilities = described_query};

static void test_pool_set(void** state) {
  bool destroyed[6] = {false};
  described_pool_t pools[6] = {0};
  iree_hal_pool_set_t set;
  CHECK_OK(iree_hal_pool_set_initialize(1, iree_allocator_system(), &set));
  for (int i = 0; i < 6; ++i) {
    iree_hal_resource_initialize(&described_vtable, &pools[i].resource);
    pools[i].capabilities = (iree_hal_pool_capabilities_t){
        .memory_type = i % 2 ? IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL : IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
        .supported_usage = IREE_HAL_BUFFER_USAGE_TRANSFER,
        .max_allocation_size = i < 4 ? 1000 : 0};
    pools[i].destroyed = &destroyed[i];
    CHECK_OK(iree_hal_pool_set_register(&set, i < 4 ? 10 : 0, (iree_hal_pool_t*)&pools[i]));
    iree_hal_pool_release((iree_hal_pool_t*)&pools[i]);
    assert_false(destroyed[i]);
  }
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_OPTIMAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE};
  assert_ptr_equal(iree_hal_pool_set_select(&set, params, 1000), &pools[1]);
  assert_ptr_equal(iree_hal_pool_set_select(&set, params, 1001), &pools[5]);
  params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL;
  assert_ptr_equal(iree_hal_pool_set_select(&set, params, 8), &pools[0]);
  params.usage |= IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE;
  assert_null(iree_hal_pool_set_select(&set, params, 8));
  iree_hal_buffer_t* buffer = NULL;
  CHECK_CODE(NOT_FOUND, iree_hal_pool_set_allocate_buffer(&set, params, 8, NULL, iree_immediate_timeout(), &buffer));
  iree_hal_pool_set_deinitialize(&set);
  for (int i = 0; i < 6; ++i) assert_true(destroyed[i]);
}

//===----------------------------------------------------------------------------------------------------------------===
// Drivers
//===----------------------------------------------------------------------------------------------------------------===

static void test_null_driver(void** state) {
#ifdef HAVE_NULL
  char name[] = "mine";
  iree_hal_null_driver_options_t options;
  iree_hal_null_driver_options_initialize(&options);
  iree_hal_driver_t* driver = NULL;
  CHECK_OK(iree_hal_null_driver_create(iree_make_cstring_view(name), &options, iree_allocator_system(), &driver));
  memset(name, 'x', sizeof(name) - 1);  // the name was copied
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = NULL;
  CHECK_OK(iree_hal_driver_query_available_devices(driver, iree_allocator_system(), &count, &infos));
  assert_int_equal(count, 1);
  iree_allocator_free(iree_allocator_system(), infos);
  iree_hal_driver_release(driver);
#endif
}

static void test_refused_params(void** state) {
  iree_hal_driver_t* driver = NULL;
#ifdef HAVE_HIP
  iree_hal_hip_driver_options_t hip;
  iree_hal_hip_device_params_t params;
  iree_hal_hip_driver_options_initialize(&hip);
  iree_hal_hip_device_params_initialize(&params);
  params.allow_inline_execution = true;
  CHECK_CODE(UNIMPLEMENTED,
             iree_hal_hip_driver_create(IREE_SV("hip"), &hip, &params, iree_allocator_system(), &driver));
  iree_hal_hip_device_params_initialize(&params);
  iree_string_view_t nowhere = IREE_SV("file:/nowhere/libamdhip64.so");
  hip.hip_lib_search_paths = &nowhere;
  hip.hip_lib_search_path_count = 1;
  hip.default_device_index = -1;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_hip_driver_create(IREE_SV("hip"), &hip, &params, iree_allocator_system(), &driver));
#endif
#ifdef HAVE_CUDA
  iree_hal_cuda_driver_options_t cuda;
  iree_hal_cuda_device_params_t cuda_params;
  iree_hal_cuda_driver_options_initialize(&cuda);
  iree_hal_cuda_device_params_initialize(&cuda_params);
  cuda_params.queue_count = 0;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_cuda_driver_create(IREE_SV("cuda"), &cuda, &cuda_params, iree_allocator_system(), &driver));
  iree_hal_cuda_device_params_initialize(&cuda_params);
  cuda_params.stream_tracing = 3;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_cuda_driver_create(IREE_SV("cuda"), &cuda, &cuda_params, iree_allocator_system(), &driver));
#endif
  assert_null(driver);
}

//===----------------------------------------------------------------------------------------------------------------===
// Buffers and loops
//===----------------------------------------------------------------------------------------------------------------===

static void test_two_steps(void** state) {
  iree_hal_allocator_t* allocator = NULL;
  iree_hal_buffer_t *buffer = NULL, *whole = NULL;
  iree_hal_buffer_params_t params = {.usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
                                     .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL};
  CHECK_OK(
      iree_hal_allocator_create_heap(IREE_SV("test"), iree_allocator_system(), iree_allocator_system(), &allocator));
  CHECK_OK(iree_hal_allocator_allocate_buffer(allocator, params, 64, &buffer));
  CHECK_OK(iree_hal_subspan_buffer_create(buffer, 0, 64, iree_allocator_system(), &whole));
  assert_ptr_not_equal(whole, buffer);
  assert_ptr_equal(iree_hal_buffer_allocated_buffer(whole), buffer);
  iree_hal_buffer_mapping_t mapping;
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_prepare_map_range(whole, IREE_HAL_MAPPING_MODE_SCOPED,
                                                             IREE_HAL_MEMORY_ACCESS_WRITE, 60, 8, &mapping));
  CHECK_OK(iree_hal_buffer_prepare_map_range(whole, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_WRITE, 8, 4,
                                             &mapping));
  assert_null(mapping.contents.data);
  CHECK_OK(iree_hal_buffer_unmap_range(&mapping));  // never committed
  CHECK_OK(iree_hal_buffer_prepare_map_range(whole, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_WRITE, 8, 4,
                                             &mapping));
  CHECK_OK(
      iree_hal_buffer_commit_map_range(whole, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_WRITE, &mapping));
  memcpy(mapping.contents.data, "abcd", 4);
  CHECK_OK(iree_hal_buffer_unmap_range(&mapping));
  char read[4];
  CHECK_OK(iree_hal_buffer_map_read(buffer, 8, read, sizeof(read)));
  assert_memory_equal(read, "abcd", 4);
  iree_hal_buffer_release(whole);
  iree_hal_buffer_release(buffer);
  iree_hal_allocator_release(allocator);
}

static iree_status_t count_call(void* user_data, iree_vm_loop_t loop, iree_status_t status) {
  int* count = user_data;
  IREE_RETURN_IF_ERROR(status);
  if (++*count < 3) return iree_vm_loop_call(loop, IREE_VM_LOOP_PRIORITY_DEFAULT, count_call, user_data);
  return iree_make_status(IREE_STATUS_DATA_LOSS, "the third");
}

static void test_loop(void** state) {
  iree_vm_loop_inline_storage_t storage;
  iree_vm_loop_t loop = iree_vm_loop_inline_initialize(&storage);
  int count = 0;
  CHECK_OK(iree_vm_loop_wait_until(loop, iree_make_timeout_ms(1), count_call, &count));
  CHECK_OK(iree_vm_loop_drain(loop, iree_infinite_timeout()));
  assert_int_equal(count, 3);
  assert_true(iree_status_is_data_loss(storage.status));
  iree_vm_loop_inline_deinitialize(&storage);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_payloads),       cmocka_unit_test(test_pool_set),  cmocka_unit_test(test_null_driver),
      cmocka_unit_test(test_refused_params), cmocka_unit_test(test_two_steps), cmocka_unit_test(test_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
