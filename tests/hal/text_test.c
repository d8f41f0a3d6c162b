// Buffer views as text: every element type, shapes, truncation, bad input.
#include "hal_test.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/local_sync/sync_device.h"

static iree_hal_device_t* device;
static iree_hal_allocator_t* allocator;

static int set_up(void** state) {
  iree_hal_sync_device_params_t params;
  iree_hal_sync_device_params_initialize(&params);
  CHECK_OK(
      iree_hal_allocator_create_heap(IREE_SV("text"), iree_allocator_system(), iree_allocator_system(), &allocator));
  CHECK_OK(iree_hal_sync_device_create(IREE_SV("text"), &params, NULL, 0, NULL, allocator, iree_allocator_system(),
                                       &device));
  return 0;
}

static int tear_down(void** state) {
  iree_hal_device_release(device);
  iree_hal_allocator_release(allocator);
  return 0;
}

// Parses `text` and prints it again with at most `max` elements.
static void round_trip(const char* text, iree_host_size_t max, const char* expected) {
  iree_hal_buffer_view_t* view = NULL;
  CHECK_OK(iree_hal_buffer_view_parse(iree_make_cstring_view(text), device, allocator, &view));
  char buffer[1024];
  iree_host_size_t length = 0;
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_view_format(view, max, 0, NULL, &length));
  assert_int_equal(length, strlen(expected));
  CHECK_OK(iree_hal_buffer_view_format(view, max, sizeof(buffer), buffer, &length));
  assert_string_equal(buffer, expected);
  iree_hal_buffer_view_release(view);
}

static void types(void** state) {
  static const struct {
    const char *text, *expected;
  } rows[] = {
      {"4xi8=1 -2 127 -128", "4xi8=1 -2 127 -128"},
      {"4xui8=1 2 255 0", "4xui8=1 2 255 0"},
      {"2xsi16=-5 7", "2xsi16=-5 7"},
      {"2xi16=65535 1", "2xi16=-1 1"},
      {"3xi32=1,2,3", "3xi32=1 2 3"},
      {"2xui32=4294967295 0", "2xui32=4294967295 0"},
      {"2xi64=9223372036854775807 -9223372036854775808", "2xi64=9223372036854775807 -9223372036854775808"},
      {"1xui64=18446744073709551615", "1xui64=18446744073709551615"},
      {"4xf32=1 1.1 1e10 -0.5", "4xf32=1 1.1 1E+10 -0.5"},
      {"3xf32=nan inf -inf", "3xf32=NAN INF -INF"},
      {"2xf64=3.14159265358979 1e-300", "2xf64=3.14159 1E-300"},
      {"4xf16=1 0.1 65504 1e9", "4xf16=1 0.0999756 65504 INF"},
      {"3xbf16=1 3.14159 1e30", "3xbf16=1 3.14062 1.00026E+30"},
      {"3xf8E5M2=1 0.3 -2", "3xf8E5M2=1 0.3125 -2"},
      {"3xf8E4M3FN=1 0.3 448", "3xf8E4M3FN=1 0.3125 448"},
      {"2xf8E5M2FNUZ=1 -2", "2xf8E5M2FNUZ=1 -2"},
      {"2xf8E4M3FNUZ=1 -2", "2xf8E4M3FNUZ=1 -2"},
      {"2xf8E8M0FNU=1 4", "2xf8E8M0FNU=1 4"},
      {"4xi1=01 00 1 false", "4xi1=01 00 01 00"},
      {"3xi4=1 -2 7", "3xi4=1 -2 7"},
      {"3xui4=1 15 7", "3xui4=1 15 7"},
      {"5xi2=1 -2 -1 3 0", "5xi2=1 -2 -1 -1 0"},
      {"5xui2=1 2 3 0 1", "5xui2=1 2 3 0 1"},
      {"9xi3=-4 -3 -2 -1 0 1 2 3 -4", "9xi3=-4 -3 -2 -1 0 1 2 3 -4"},
      {"5xui6=63 0 33 5 62", "5xui6=63 0 33 5 62"},
      {"5xf4E2M1FN=0.5 -6 9 2.4 -0", "5xf4E2M1FN=0.5 -6 6 2 -0"},
      {"3xui6=63 1 2", "3xui6=63 1 2"},
      {"3xf4E2M1FN=1.5", "3xf4E2M1FN=1.5 1.5 1.5"},
      {"5xf6E2M3FN=7.5 -0.125 1 100 -1.5", "5xf6E2M3FN=7.5 -0.125 1 7.5 -1.5"},
      {"5xf6E3M2FN=28 -0.0625 1 100 -1.5", "5xf6E3M2FN=28 -0.0625 1 28 -1.5"},
      {"4xf8E4M3=240 1e9 -inf nan", "4xf8E4M3=240 INF -INF NAN"},
      {"3xf8E3M4=15.5 -16 0.015625", "3xf8E3M4=15.5 -INF 0.015625"},
      {"3xf8E4M3B11FNUZ=30 31 -0.125", "3xf8E4M3B11FNUZ=30 NAN -0.125"},
      {"3xf8E8M0FNU=1.5 0 1e-40", "3xf8E8M0FNU=2 NAN 5.87747E-39"},
      {"2xcf64=000000000000803F 0000003F0000803F", "2xcf64=000000000000803F 0000003F0000803F"},
      {"2xx32=01020304 aabbccdd", "2x*32=01020304 AABBCCDD"},
      {"2x*16=0102 0304", "2x*16=0102 0304"},
      {"4xi8=-6 250 0xFF -0x10", "4xi8=-6 -6 -1 -16"},
      {"2xui16=0xFFff 010", "2xui16=65535 10"},
      {"f32=-2", "f32=-2"},
      {"i32", "i32=0"},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) round_trip(rows[i].text, 100, rows[i].expected);
}

static void shapes(void** state) {
  round_trip("2x3xi32=[1 2 3][4 5 6]", 100, "2x3xi32=[1 2 3][4 5 6]");
  round_trip("2x3xi32=1,2,3,4,5,6", 100, "2x3xi32=[1 2 3][4 5 6]");
  round_trip("2x2x2xi32=1 2 3 4 5 6 7 8", 100, "2x2x2xi32=[[1 2][3 4]][[5 6][7 8]]");
  round_trip("2x2xf32=7", 100, "2x2xf32=[7 7][7 7]");
  round_trip("3xf32", 100, "3xf32=0 0 0");
  round_trip("0x4xf32", 100, "0x4xf32=");
  round_trip("4xf32=3 3 3 3", 1, "4xf32=3...");
  round_trip("2x4xf32=2 4 6 8 1 3 5 7", 3, "2x4xf32=[2 4 6...][...]");
  round_trip("f32=1", 0, "f32=...");
}

static void errors(void** state) {
  static const struct {
    const char* text;
    iree_status_code_t code;
  } rows[] = {
      {"4xf32=1 2", IREE_STATUS_OUT_OF_RANGE},
      {"2xf32=1 2 3", IREE_STATUS_OUT_OF_RANGE},
      {"2xf32=1 x", IREE_STATUS_INVALID_ARGUMENT},
      {"2xi8=1 128x", IREE_STATUS_INVALID_ARGUMENT},
      {"2xi8=1 256", IREE_STATUS_INVALID_ARGUMENT},
      {"2xi8=1 -129", IREE_STATUS_INVALID_ARGUMENT},
      {"2xui4=1 16", IREE_STATUS_INVALID_ARGUMENT},
      {"9xi2=1 2", IREE_STATUS_OUT_OF_RANGE},
      {"2xi65=1 2", IREE_STATUS_INVALID_ARGUMENT},
      {"2xi04=1 2", IREE_STATUS_INVALID_ARGUMENT},
      {"2xui8=1 -1", IREE_STATUS_INVALID_ARGUMENT},
      {"2xq32=1", IREE_STATUS_INVALID_ARGUMENT},
      {"", IREE_STATUS_INVALID_ARGUMENT},
      {"2x", IREE_STATUS_INVALID_ARGUMENT},
      {"?x2xf32", IREE_STATUS_INVALID_ARGUMENT},
      {"2xx32=0102", IREE_STATUS_INVALID_ARGUMENT},
      {"-1xf32", IREE_STATUS_INVALID_ARGUMENT},
      {"99999999999999999999xf32", IREE_STATUS_INVALID_ARGUMENT},
      {"4294967296x4294967296x4xf32", IREE_STATUS_OUT_OF_RANGE},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    iree_hal_buffer_view_t* view = NULL;
    check_status(iree_hal_buffer_view_parse(iree_make_cstring_view(rows[i].text), device, allocator, &view),
                 rows[i].code, rows[i].text, (int)i);
    assert_null(view);
  }
}

static void views(void** state) {
  const iree_hal_dim_t shape[] = {2, 3, 4};
  const float data[24] = {1, 2, 3};
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  iree_hal_buffer_view_t *view = NULL, *like = NULL;
  CHECK_OK(iree_hal_buffer_view_allocate_buffer_copy(device, allocator, 3, shape, IREE_HAL_ELEMENT_TYPE_FLOAT_32,
                                                     IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
                                                     iree_make_const_byte_span(data, sizeof(data)), &view));
  assert_int_equal(iree_hal_buffer_view_element_count(view), 24);
  assert_int_equal(iree_hal_buffer_view_byte_length(view), 96);
  assert_int_equal(iree_hal_buffer_view_shape_dim(view, 2), 4);
  const iree_hal_dim_t indices[] = {1, 2, 3}, outside[] = {1, 3, 0}, lengths[] = {1, 1, 2};
  const iree_hal_dim_t starts[] = {1, 0, 1};
  iree_device_size_t offset = 0, length = 0;
  CHECK_OK(iree_hal_buffer_view_compute_offset(view, 3, indices, &offset));
  assert_int_equal(offset, 92);
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_view_compute_offset(view, 3, outside, &offset));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_buffer_view_compute_offset(view, 2, indices, &offset));
  CHECK_OK(iree_hal_buffer_view_compute_range(view, 3, starts, 3, lengths, &offset, &length));
  assert_int_equal(offset, 52);
  assert_int_equal(length, 8);
  const iree_hal_dim_t flat[] = {24}, wrong[] = {25};
  CHECK_OK(iree_hal_buffer_view_reshape(view, flat, 1));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_buffer_view_reshape(view, wrong, 1));
  CHECK_OK(iree_hal_buffer_view_create_like(iree_hal_buffer_view_buffer(view), view, iree_allocator_system(), &like));
  assert_int_equal(iree_hal_buffer_view_shape_rank(like), 1);
  iree_hal_buffer_view_release(like);
  const iree_hal_dim_t large[] = {1000};
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_buffer_view_create(iree_hal_buffer_view_buffer(view), 1, large, IREE_HAL_ELEMENT_TYPE_FLOAT_32,
                                         IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, iree_allocator_system(), &like));
  CHECK_CODE(OUT_OF_RANGE,
             iree_hal_buffer_view_allocate_buffer_copy(device, allocator, 1, large, IREE_HAL_ELEMENT_TYPE_FLOAT_32,
                                                       IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
                                                       iree_make_const_byte_span(data, sizeof(data)), &like));
  iree_hal_buffer_view_release(view);
}

static void element_types(void** state) {
  static const struct {
    const char* text;
    iree_hal_element_type_t type;
  } rows[] = {
#define ROW(name, numerical_type, bits, text) {text, IREE_HAL_ELEMENT_TYPE_##name},
      IREE_HAL_ELEMENT_TYPES(ROW)
#undef ROW
  };
  for (size_t i = 1; i < IREE_ARRAYSIZE(rows); ++i) {
    iree_hal_element_type_t type = 0;
    char text[32];
    CHECK_OK(iree_hal_parse_element_type(iree_make_cstring_view(rows[i].text), &type));
    assert_int_equal(type, rows[i].type);
    CHECK_OK(iree_hal_format_element_type(type, sizeof(text), text, NULL));
    assert_string_equal(text, rows[i].text);
  }
  // Opaque ones of any width, by both names.
  iree_hal_element_type_t opaque = 0;
  char text[32];
  CHECK_OK(iree_hal_parse_element_type(IREE_SV("x24"), &opaque));
  CHECK_OK(iree_hal_format_element_type(opaque, sizeof(text), text, NULL));
  assert_string_equal(text, "*24");
  CHECK_OK(iree_hal_format_element_type(IREE_HAL_ELEMENT_TYPE_NONE, sizeof(text), text, NULL));
  assert_string_equal(text, "*0");
  // The numbers that are in messages and in modules.
  assert_int_equal(IREE_HAL_ELEMENT_TYPE_FLOAT_32, 0x21000020);
  assert_int_equal(IREE_HAL_ELEMENT_TYPE_INT_32, 0x10000020);
}

static void bits(void** state) {
  iree_bitfield_string_temp_t temp;
  iree_hal_memory_type_t type = 0;
  iree_hal_buffer_usage_t usage = 0;
  CHECK_OK(iree_hal_memory_type_parse(IREE_SV("DEVICE_LOCAL|HOST_VISIBLE"), &type));
  assert_int_equal(type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE);
  CHECK_TEXT(iree_hal_memory_type_format(type, &temp), "DEVICE_LOCAL|HOST_VISIBLE");
  CHECK_OK(iree_hal_buffer_usage_parse(IREE_SV("TRANSFER|DISPATCH_STORAGE_READ"), &usage));
  CHECK_TEXT(iree_hal_buffer_usage_format(usage, &temp), "TRANSFER|DISPATCH_STORAGE_READ");
  CHECK_TEXT(iree_hal_memory_access_format(IREE_HAL_MEMORY_ACCESS_READ, &temp), "READ");
}

// Memory that the host sees, or does not: then contents are made before there is a buffer.
typedef struct counting_t {
  iree_hal_resource_t resource;
  bool is_mappable;
  int allocated, allocated_before;  // at the callback
} counting_t;
static void counting_destroy(iree_hal_allocator_t* base) {}
static iree_allocator_t counting_host(const iree_hal_allocator_t* base) { return iree_allocator_system(); }
static iree_hal_buffer_compatibility_t counting_query(iree_hal_allocator_t* base, iree_hal_buffer_params_t* params,
                                                      iree_device_size_t* size) {
  bool maps = params->usage & IREE_HAL_BUFFER_USAGE_MAPPING;
  return maps && !((counting_t*)base)->is_mappable ? IREE_HAL_BUFFER_COMPATIBILITY_NONE
                                                   : IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE;
}
static iree_status_t counting_allocate(iree_hal_allocator_t* base, const iree_hal_buffer_params_t* params,
                                       iree_device_size_t size, iree_hal_buffer_t** out_buffer) {
  ++((counting_t*)base)->allocated;
  return iree_hal_allocator_allocate_buffer(allocator, *params, size, out_buffer);
}
static iree_status_t write_numbers(iree_hal_buffer_mapping_t* mapping, void* user_data) {
  counting_t* counting = user_data;
  counting->allocated_before = counting->allocated;
  assert_int_equal(mapping->contents.data_length, 4);
  memcpy(mapping->contents.data, (const uint8_t[]){1, 2, 3, 4}, 4);
  return counting->is_mappable || counting->allocated ? iree_ok_status() : iree_status_from_code(IREE_STATUS_ABORTED);
}

static void generated(void** state) {
  static const iree_hal_allocator_vtable_t vtable = {.destroy = counting_destroy,
                                                     .host_allocator = counting_host,
                                                     .query_buffer_compatibility = counting_query,
                                                     .allocate_buffer = counting_allocate};
  static const iree_hal_dim_t shape[] = {4};
  counting_t counting = {.is_mappable = true};
  iree_hal_resource_initialize(&vtable, &counting.resource);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
                                     .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING};
  iree_hal_buffer_view_t* view = NULL;
  iree_hal_allocator_t* base = (iree_hal_allocator_t*)&counting;
  CHECK_OK(iree_hal_buffer_view_generate_buffer(device, base, 1, shape, IREE_HAL_ELEMENT_TYPE_INT_8,
                                                IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, write_numbers,
                                                &counting, &view));
  assert_int_equal(counting.allocated_before, 1);
  iree_hal_buffer_view_release(view);
  counting.is_mappable = false;
  CHECK_OK(iree_hal_buffer_view_generate_buffer(device, base, 1, shape, IREE_HAL_ELEMENT_TYPE_INT_8,
                                                IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, write_numbers,
                                                &counting, &view));
  assert_int_equal(counting.allocated_before, 1);  // still
  assert_int_equal(counting.allocated, 2);
  char text[32];
  CHECK_OK(iree_hal_buffer_view_format(view, 4, sizeof(text), text, NULL));
  assert_string_equal(text, "4xi8=1 2 3 4");
  iree_hal_buffer_view_release(view);
  counting.allocated = 0;
  CHECK_CODE(ABORTED, iree_hal_buffer_view_generate_buffer(device, base, 1, shape, IREE_HAL_ELEMENT_TYPE_INT_8,
                                                           IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
                                                           write_numbers, &counting, &view));
  assert_null(view);
  assert_int_equal(counting.allocated, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generated), cmocka_unit_test(types),         cmocka_unit_test(shapes), cmocka_unit_test(errors),
      cmocka_unit_test(views),     cmocka_unit_test(element_types), cmocka_unit_test(bits)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
