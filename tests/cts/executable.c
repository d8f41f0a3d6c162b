// Executables and caches: formats, reflection, bad data; driver and device facts.
#include "container.h"
#include "counting.h"
#include "cts.h"

static iree_status_t prepare(iree_const_byte_span_t data, const char* format, iree_host_size_t constant_count,
                             iree_hal_executable_t** out_executable) {
  static const uint32_t constants[] = {1, 2};
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = iree_make_cstring_view(format);
  params.executable_data = data;
  params.constant_count = cts.is_gpu && constant_count == 1 ? 0 : constant_count;
  params.constants = constants;
  return iree_hal_executable_cache_prepare_executable(cts.cache, &params, out_executable);
}

static void formats(void** state) {
  char format[64];
  iree_host_size_t size = 0;
  iree_const_byte_span_t data = cts.kernels->const_buffer;
  CHECK_OK(iree_hal_executable_cache_infer_format(cts.cache, 0, data, sizeof(format), format, &size));
  assert_in_range(size, 1, data.data_length);
  assert_true(iree_hal_executable_cache_can_prepare_format(cts.cache, 0, iree_make_cstring_view(format)));
  assert_false(iree_hal_executable_cache_can_prepare_format(cts.cache, 0, IREE_SV("no-such-format")));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_executable_cache_infer_format(cts.cache, 0, data, 3, format, &size));
  CHECK_CODE(INCOMPATIBLE, iree_hal_executable_cache_infer_format(cts.cache, 0, iree_make_const_byte_span("abc", 3),
                                                                  sizeof(format), format, &size));
  if (!cts.is_amd) return;
  // A code object, but for no processor that is known: not somebody else's data.
  uint8_t header[64];
  memcpy(header, data.data, sizeof(header));
  header[48] = 0xFE;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_executable_cache_infer_format(cts.cache, 0, iree_make_const_byte_span(header, sizeof(header)),
                                                    sizeof(format), format, &size));
}

// GPUs take the containers of IREE's compiler, too.
static void containers(void** state) {
  static const struct {
    const char *identifier, *format;
    uint32_t field;
    bool is_amd;
  } rows[] = {{"HIP1", "rocm-hsaco-fb", 1, true}, {"AMD1", NULL, 2, true}, {"CDA1", "cuda-nvptx-fb", 1, false}};
  bool is_amd = strncmp(cts.format, "cuda", 4) != 0;  // or hip
  for (size_t i = 0; cts.is_gpu && i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].is_amd != is_amd) continue;
    iree_byte_span_t container = container_make(rows[i].identifier, rows[i].field, cts.kernels->const_buffer);
    iree_const_byte_span_t data = iree_const_cast_byte_span(container);
    char format[64];
    iree_host_size_t size = 0;
    CHECK_OK(iree_hal_executable_cache_infer_format(cts.cache, 0, data, sizeof(format), format, &size));
    assert_int_equal(size, data.data_length);
    assert_string_equal(format, rows[i].format ? rows[i].format : cts.format);
    iree_hal_executable_t* executable = NULL;
    CHECK_OK(prepare(data, format, 1, &executable));
    assert_int_equal(iree_hal_executable_function_count(executable), CTS_KERNEL_COUNT);
    iree_hal_executable_release(executable);
    free(container.data);
  }
}

static void reflection(void** state) {
  iree_hal_executable_function_info_t info;
  iree_hal_executable_function_t function;
  assert_int_equal(iree_hal_executable_function_count(cts.executable), CTS_KERNEL_COUNT);
  CHECK_OK(iree_hal_executable_lookup_function_by_name(cts.executable, IREE_SV("scale"), &function));
  CHECK_OK(iree_hal_executable_function_info(cts.executable, function, &info));
  assert_true(iree_string_view_equal(info.name, IREE_SV("scale")));
  assert_int_equal(info.constant_count, 2);
  assert_int_equal(info.binding_count, 2);
  assert_int_equal(info.parameter_count, 4);
  assert_int_equal(info.workgroup_size[0], 1);
  iree_hal_executable_function_parameter_t parameters[4];
  CHECK_OK(iree_hal_executable_function_parameters(cts.executable, function, 4, parameters));
  if (!cts.is_gpu) {
    assert_true(iree_string_view_equal(parameters[1].name, IREE_SV("offset")));
    assert_int_equal(parameters[1].type, IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT);
    assert_int_equal(parameters[1].offset, 4);
    assert_int_equal(parameters[3].type, IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING);
    CHECK_OK(iree_hal_executable_function_info(cts.executable, iree_hal_executable_function_from_index(CTS_SEQUENTIAL),
                                               &info));
    assert_true(info.flags & IREE_HAL_EXECUTABLE_FUNCTION_FLAG_SEQUENTIAL);
  }
  CHECK_CODE(NOT_FOUND, iree_hal_executable_lookup_function_by_name(cts.executable, IREE_SV("nope"), &function));
  assert_false(iree_hal_executable_function_is_valid(function));
  CHECK_CODE(OUT_OF_RANGE,
             iree_hal_executable_function_info(cts.executable, iree_hal_executable_function_invalid(), &info));
}

static void bad_data(void** state) {
  iree_hal_executable_t* executable = NULL;
  iree_const_byte_span_t data = cts.kernels->const_buffer;
  CHECK_CODE(NOT_FOUND, prepare(data, "no-such-format", 1, &executable));
  CHECK_CODE(INVALID_ARGUMENT,
             prepare(iree_make_const_byte_span(data.data, data.data_length / 2), cts.format, 1, &executable));
  CHECK_CODE(INVALID_ARGUMENT, prepare(iree_const_byte_span_empty(), cts.format, 1, &executable));
  CHECK_CODE(INVALID_ARGUMENT, prepare(iree_make_const_byte_span("nonsense", 8), cts.format, 1, &executable));
  if (cts.is_gpu) {
    CHECK_CODE(UNIMPLEMENTED, prepare(data, cts.format, 2, &executable));
  } else {
    CHECK_CODE(FAILED_PRECONDITION, prepare(data, cts.format, 2, &executable));
  }
  assert_null(executable);
}

static void many_executables(void** state) {
  iree_hal_executable_t* executables[8];
  for (int i = 0; i < 8; ++i) CHECK_OK(prepare(cts.kernels->const_buffer, cts.format, 1, &executables[i]));
  for (int i = 0; i < 8; ++i) {
    assert_int_equal(iree_hal_executable_function_count(executables[i]), CTS_KERNEL_COUNT);
    iree_hal_executable_release(executables[i]);
  }
}

static void device_facts(void** state) {
  int64_t value = 0;
  assert_true(iree_string_view_equal(iree_hal_device_id(cts.device), iree_make_cstring_view(cts.driver_name)));
  CHECK_OK(
      iree_hal_device_query_i64(cts.device, IREE_SV("hal.device.id"), iree_make_cstring_view(cts.driver_name), &value));
  assert_int_equal(value, 1);
  CHECK_OK(iree_hal_device_query_i64(cts.device, IREE_SV("hal.device.id"), IREE_SV("nope*"), &value));
  assert_int_equal(value, 0);
  CHECK_OK(iree_hal_device_query_i64(cts.device, IREE_SV("hal.executable.format"), iree_make_cstring_view(cts.format),
                                     &value));
  assert_int_equal(value, 1);
  // Nothing can fail on the way to an answer, which would then read as a no.
  uint64_t calls = counting_calls();
  CHECK_OK(iree_hal_device_query_i64(cts.device, IREE_SV("hal.executable.format"), iree_make_cstring_view(cts.format),
                                     &value));
  CHECK_OK(iree_hal_device_query_i64(cts.device, IREE_SV("hal.executable.format"), IREE_SV("no-such-format"), &value));
  assert_int_equal(value, 0);
  assert_int_equal(counting_calls() - calls, 0);
  CHECK_OK(iree_hal_device_query_i64(cts.device, IREE_SV("hal.dispatch"), IREE_SV("concurrency"), &value));
  assert_true(value >= cts.executes);
  CHECK_CODE(NOT_FOUND, iree_hal_device_query_i64(cts.device, IREE_SV("nope"), IREE_SV("nope"), &value));
}

static void driver_facts(void** state) {
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = NULL;
  CHECK_OK(iree_hal_driver_query_available_devices(cts.driver, cts.host_allocator, &count, &infos));
  assert_true(count >= 1);
  iree_allocator_free(cts.host_allocator, infos);
  iree_string_builder_t builder;
  iree_string_builder_initialize(cts.host_allocator, &builder);
  CHECK_OK(iree_hal_driver_dump_device_info(cts.driver, IREE_HAL_DEVICE_ID_DEFAULT, &builder));
  assert_true(iree_string_builder_size(&builder) > 0);
  iree_string_builder_deinitialize(&builder);
  iree_hal_device_t* device = NULL;
  CHECK_OK(iree_hal_driver_create_device_by_ordinal(cts.driver, 0, 0, NULL, NULL, cts.host_allocator, &device));
  iree_hal_device_release(device);
  CHECK_CODE(NOT_FOUND,
             iree_hal_driver_create_device_by_ordinal(cts.driver, 1000, 0, NULL, NULL, cts.host_allocator, &device));
}

static void device_uris(void** state) {
  iree_hal_driver_registry_t* registry = iree_hal_driver_registry_default();
  iree_hal_device_t* device = NULL;
  char uri[128];
  static const char* const good[] = {"%s", "%s:", "%s://"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(good); ++i) {
    snprintf(uri, sizeof(uri), good[i], cts.driver_name);
    CHECK_OK(iree_hal_create_device(registry, iree_make_cstring_view(uri), NULL, cts.host_allocator, &device));
    iree_hal_device_release(device);
  }
  snprintf(uri, sizeof(uri), "%s://no-such-path", cts.driver_name);
  cts_check(iree_hal_create_device(registry, iree_make_cstring_view(uri), NULL, cts.host_allocator, &device),
            cts.is_gpu ? IREE_STATUS_INVALID_ARGUMENT : IREE_STATUS_NOT_FOUND, __FILE__, __LINE__);
  snprintf(uri, sizeof(uri), "%s://?no_such_key=1", cts.driver_name);
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_create_device(registry, iree_make_cstring_view(uri), NULL, cts.host_allocator, &device));
  snprintf(uri, sizeof(uri), "%s?x=y", cts.driver_name);
  CHECK_CODE(NOT_FOUND,
             iree_hal_create_device(registry, iree_make_cstring_view(uri), NULL, cts.host_allocator, &device));
}

CTS_SUITE(executable, cmocka_unit_test(formats), cmocka_unit_test(containers), cmocka_unit_test(reflection),
          cmocka_unit_test(bad_data), cmocka_unit_test(many_executables), cmocka_unit_test(device_facts),
          cmocka_unit_test(driver_facts), cmocka_unit_test(device_uris));
