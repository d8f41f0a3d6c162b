// Programs with devices: the hand-written executable, and modules around it.
#ifndef TESTS_VM_DEVICE_FIXTURE_H_
#define TESTS_VM_DEVICE_FIXTURE_H_

#include "vm_test.h"
// After cmocka.
#include "iree/hal/drivers/init.h"
#include "iree/io/file_contents.h"
#include "iree/modules/hal/types.h"
#include "iree/runtime/api.h"

// Entry points of kernels.c, in order.
enum { POINT_MUL_F32, POINT_ABS_F32, POINT_SUM_ROWS_I32, POINT_ADD_I32, POINT_ADD2_I32, POINT_FAIL, POINT_COUNT };

typedef struct builder_t {
  module_writer_t* writer;
  iree_io_file_contents_t* kernels;
  uint32_t device, executable;
} builder_t;

// A module with the device and the executable; `format` and `features` as a target has them. Before the code come
// variants of `narrow` formats, if not NULL, whose data is none.
static inline void builder_begin_narrow(builder_t* b, const char* format, const char* features,
                                        const char* const narrow[2]) {
  static const module_point_t points[POINT_COUNT] = {
      {.name = iree_string_view_literal("mul_f32"), .binding_count = 3, .constant_count = 1},
      {.name = iree_string_view_literal("abs_f32"), .binding_count = 2},
      {.name = iree_string_view_literal("sum_rows_i32"), .binding_count = 2, .constant_count = 1},
      {.name = iree_string_view_literal("add_i32"), .binding_count = 2, .constant_count = 1},
      {.name = iree_string_view_literal("add2_i32"), .binding_count = 3},
      {.name = iree_string_view_literal("fail_always")},
  };
  EXPECT_OK(iree_io_file_contents_read(IREE_SV(VM_KERNELS_PATH), iree_allocator_system(), &b->kernels));
  EXPECT_OK(module_writer_create(IREE_SV("module"), iree_allocator_system(), &b->writer));
  b->device = module_writer_device(b->writer, IREE_SV("__device_0"), 0);
  uint32_t target =
      module_writer_target(b->writer, &(module_target_desc_t){.backend = IREE_SV("llvm-cpu"),
                                                              .format = iree_make_cstring_view(format),
                                                              .description = IREE_SV("by hand"),
                                                              .features = iree_make_cstring_view(features)});
  b->executable = module_writer_executable(b->writer, IREE_SV("vm_kernels"), POINT_COUNT);
  for (int i = 0; narrow && i < 2; ++i) {
    module_writer_variant(b->writer, b->executable,
                          &(module_variant_desc_t){.target = target,
                                                   .format = iree_make_cstring_view(narrow[i]),
                                                   .extension = IREE_SV("none"),
                                                   .data = iree_make_const_byte_span("none", 4),
                                                   .points = points});
  }
  module_writer_variant(
      b->writer, b->executable,
      &(module_variant_desc_t){
          .target = target, .extension = IREE_SV("so"), .data = b->kernels->const_buffer, .points = points});
}

static inline void builder_begin(builder_t* b, const char* format, const char* features) {
  builder_begin_narrow(b, format, features, NULL);
}

static inline iree_byte_span_t builder_end(builder_t* b) {
  iree_byte_span_t data;
  EXPECT_OK(module_writer_finish_memory(b->writer, iree_allocator_system(), &data));
  module_writer_destroy(b->writer);
  iree_io_file_contents_free(b->kernels);
  return data;
}

static inline uint32_t add_shape(builder_t* b, const char* name, uint32_t type, uint32_t rank, const int64_t* dims) {
  return module_writer_shape(b->writer, iree_make_cstring_view(name), type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
                             rank, dims);
}

// A session on a device with one module.
typedef struct session_t {
  iree_runtime_instance_t* instance;
  iree_hal_device_t* device;
  iree_runtime_session_t* session;
} session_t;

static inline void session_open(session_t* s, const char* driver) {
  iree_runtime_instance_options_t options;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  EXPECT_OK(iree_runtime_instance_create(&options, iree_allocator_system(), &s->instance));
  EXPECT_OK(iree_runtime_instance_try_create_default_device(s->instance, iree_make_cstring_view(driver), &s->device));
  iree_runtime_session_options_t session_options;
  iree_runtime_session_options_initialize(&session_options);
  EXPECT_OK(iree_runtime_session_create_with_device(s->instance, &session_options, s->device, iree_allocator_system(),
                                                    &s->session));
}

static inline iree_status_t session_load(session_t* s, iree_byte_span_t data) {
  iree_status_t status = iree_runtime_session_append_bytecode_module_from_memory(
      s->session, iree_const_cast_byte_span(data), iree_allocator_system());
  return status;
}

static inline void session_close(session_t* s) {
  iree_runtime_session_release(s->session);
  iree_hal_device_release(s->device);
  iree_runtime_instance_release(s->instance);
}

static inline iree_hal_buffer_view_t* make_view(session_t* s, uint32_t type, size_t rank, const iree_hal_dim_t* dims,
                                                const void* data, size_t size) {
  iree_hal_buffer_view_t* view = NULL;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  EXPECT_OK(iree_hal_buffer_view_allocate_buffer_copy(s->device, iree_hal_device_allocator(s->device), rank, dims, type,
                                                      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
                                                      iree_make_const_byte_span(data, size), &view));
  return view;
}

static inline void read_view(session_t* s, iree_hal_buffer_view_t* view, void* data, size_t size) {
  EXPECT_OK(iree_hal_device_transfer_d2h(s->device, iree_hal_buffer_view_buffer(view), 0, data, size,
                                         IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
}

#endif  // TESTS_VM_DEVICE_FIXTURE_H_
