// The `check` module.

#include "iree/modules/check/module.h"

#include <math.h>
#include <string.h>

#include "iree/hal/api.h"
#include "iree/modules/hal/types.h"
#include "modules/check/elements.h"

enum { CHECK_PRINTED_ELEMENTS = 1024 };

typedef struct check_module_t {
  iree_check_module_reporter_t reporter;
  iree_allocator_t allocator;
} check_module_t;

//===----------------------------------------------------------------------------------------------------------------===
// Reports
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t report(check_module_t* self, iree_string_view_t message) {
  if (self->reporter.fn) return self->reporter.fn(self->reporter.user_data, message);
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "%.*s", (int)message.size, message.data);
}

static iree_status_t append_view(iree_string_builder_t* text, const char* name, iree_hal_buffer_view_t* view) {
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(text, "\n  %s:\n    ", name));
  return iree_hal_buffer_view_append_to_builder(view, CHECK_PRINTED_ELEMENTS, text);
}

//===----------------------------------------------------------------------------------------------------------------===
// Values on the host
//===----------------------------------------------------------------------------------------------------------------===

typedef struct check_value_t {
  iree_hal_buffer_view_t* view;  // in memory that the host can read; owned
  uint8_t* data;                 // owned
  iree_host_size_t size, count;  // bytes of an element; elements
  iree_hal_element_type_t type;
} check_value_t;

static void value_finish(check_value_t* value, iree_allocator_t allocator) {
  iree_hal_buffer_view_release(value->view);
  iree_allocator_free(allocator, value->data);
}

// The view's contents, and a view of a copy in host memory, which can be printed whatever the device.
static iree_status_t value_read(iree_hal_device_t* device, iree_hal_buffer_view_t* view, iree_allocator_t allocator,
                                check_value_t* out_value) {
  iree_device_size_t length = iree_hal_buffer_view_byte_length(view);
  memset(out_value, 0, sizeof(*out_value));
  out_value->type = iree_hal_buffer_view_element_type(view);
  out_value->size = iree_hal_element_dense_byte_count(out_value->type);
  out_value->count = iree_hal_buffer_view_element_count(view);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, (iree_host_size_t)length + 1, (void**)&out_value->data));
  IREE_RETURN_IF_ERROR(iree_hal_device_transfer_d2h(device, iree_hal_buffer_view_buffer(view), 0, out_value->data,
                                                    length, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                                    iree_infinite_timeout()));
  iree_hal_allocator_t* heap = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_create_heap(IREE_SV("check"), allocator, allocator, &heap));
  iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
  };
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status = iree_hal_allocator_allocate_buffer(heap, params, length, &buffer);
  if (iree_status_is_ok(status) && length) status = iree_hal_buffer_map_write(buffer, 0, out_value->data, length);
  if (iree_status_is_ok(status)) status = iree_hal_buffer_view_create_like(buffer, view, allocator, &out_value->view);
  iree_hal_buffer_release(buffer);
  iree_hal_allocator_release(heap);
  return status;
}

static bool same_shape(const iree_hal_buffer_view_t* a, const iree_hal_buffer_view_t* b) {
  iree_host_size_t rank = iree_hal_buffer_view_shape_rank(a);
  bool same = rank == iree_hal_buffer_view_shape_rank(b);
  for (iree_host_size_t i = 0; same && i < rank; ++i) {
    same = iree_hal_buffer_view_shape_dim(a, i) == iree_hal_buffer_view_shape_dim(b, i);
  }
  return same;
}

//===----------------------------------------------------------------------------------------------------------------===
// Comparisons
//===----------------------------------------------------------------------------------------------------------------===

typedef struct check_tolerance_t {
  float absolute, relative;
} check_tolerance_t;

static bool numbers_close(double a, double b, const check_tolerance_t* tolerance) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  return isfinite(b) && fabs(a - b) <= (double)tolerance->absolute + (double)tolerance->relative * fabs(b);
}

// The first element that does not fit, or `count`. Without a tolerance floats must be equal or the same bits.
static iree_status_t find_difference(const check_value_t* a, const check_value_t* b, const check_tolerance_t* tolerance,
                                     iree_host_size_t* out_index) {
  bool numbers = tolerance || check_element_is_float(a->type);
  iree_host_size_t bytes = (iree_host_size_t)iree_hal_buffer_view_byte_length(a->view), i = a->count;
  *out_index = a->count;
  if (!numbers) {
    if (memcmp(a->data, b->data, bytes) != 0) *out_index = 0;
    return iree_ok_status();
  }
  for (i = 0; i < a->count; ++i) {
    const uint8_t *x = a->data + i * a->size, *y = b->data + i * b->size;
    double u = 0, v = 0;
    IREE_RETURN_IF_ERROR(check_element_decode(a->type, x, &u));
    IREE_RETURN_IF_ERROR(check_element_decode(b->type, y, &v));
    bool fits = tolerance ? numbers_close(u, v, tolerance) : u == v || memcmp(x, y, a->size) == 0;
    if (!fits) break;
  }
  *out_index = i;
  return iree_ok_status();
}

static iree_status_t describe_difference(const check_value_t* a, const check_value_t* b, iree_host_size_t index,
                                         const check_tolerance_t* tolerance, iree_string_builder_t* text) {
  if (!tolerance) return iree_string_builder_append_cstring(text, " Contents does not match.");
  double x = 0, y = 0;
  IREE_RETURN_IF_ERROR(check_element_decode(a->type, a->data + index * a->size, &x));
  IREE_RETURN_IF_ERROR(check_element_decode(b->type, b->data + index * b->size, &y));
  return iree_string_builder_append_format(
      text,
      " Contents does not match to tolerance parameters atol=%g, rtol=%g. The first failure occurs at index %" PRIhsz
      " as the lhs value %g differs from the rhs value %g by %.3e.",
      (double)tolerance->absolute, (double)tolerance->relative, index, x, y, y - x);
}

static iree_status_t describe(check_module_t* self, const check_value_t* a, const check_value_t* b,
                              const check_tolerance_t* tolerance, iree_string_builder_t* text, bool* out_fits) {
  bool types = a->type == b->type, shapes = same_shape(a->view, b->view), contents = true;
  iree_host_size_t index = 0;
  if (types && shapes) {
    IREE_RETURN_IF_ERROR(find_difference(a, b, tolerance, &index));
    contents = index == a->count;
  }
  *out_fits = types && shapes && contents;
  if (*out_fits) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(
      text, tolerance ? "Expected near equality of these values." : "Expected equality of these values."));
  if (!types) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(text, " Element types do not match."));
  if (!shapes) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(text, " Shapes do not match."));
  if (!contents) IREE_RETURN_IF_ERROR(describe_difference(a, b, index, tolerance, text));
  IREE_RETURN_IF_ERROR(append_view(text, "lhs", a->view));
  return append_view(text, "rhs", b->view);
}

typedef struct check_operands_t {
  iree_hal_device_t* device;
  iree_hal_buffer_view_t *lhs, *rhs;
} check_operands_t;

static iree_status_t operands_of(iree_vm_ref_t device, iree_vm_ref_t lhs, iree_vm_ref_t rhs,
                                 check_operands_t* out_operands) {
  IREE_RETURN_IF_ERROR(iree_hal_device_check_deref(device, &out_operands->device), "the device");
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(lhs, &out_operands->lhs), "the lhs");
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(rhs, &out_operands->rhs), "the rhs");
  return iree_ok_status();
}

static iree_status_t expect_same(check_module_t* self, const check_operands_t* operands,
                                 const check_tolerance_t* tolerance) {
  check_value_t lhs = {0}, rhs = {0};
  iree_string_builder_t text;
  iree_string_builder_initialize(self->allocator, &text);
  bool fits = true;
  iree_status_t status = value_read(operands->device, operands->lhs, self->allocator, &lhs);
  if (iree_status_is_ok(status)) status = value_read(operands->device, operands->rhs, self->allocator, &rhs);
  if (iree_status_is_ok(status)) status = describe(self, &lhs, &rhs, tolerance, &text, &fits);
  if (iree_status_is_ok(status) && !fits) status = report(self, iree_string_builder_view(&text));
  iree_string_builder_deinitialize(&text);
  value_finish(&lhs, self->allocator);
  value_finish(&rhs, self->allocator);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions: rows sorted by name
//===----------------------------------------------------------------------------------------------------------------===

IREE_VM_ABI_FIXED_STRUCT(rrrff, {
  iree_vm_ref_t r0;
  iree_vm_ref_t r1;
  iree_vm_ref_t r2;
  float f3;
  float f4;
})
// clang-format off
static IREE_VM_ABI_DEFINE_SHIM(i, v)
static IREE_VM_ABI_DEFINE_SHIM(rrr, v)
static IREE_VM_ABI_DEFINE_SHIM(rrrff, v)
    // clang-format on

    static iree_status_t report_number(check_module_t* self, int32_t value, const char* what) {
  char text[96];
  int length = snprintf(text, sizeof(text), "Expected %" PRIi32 " to be %s.", value, what);
  return report(self, iree_make_string_view(text, (iree_host_size_t)length));
}

IREE_VM_ABI_EXPORT(expect_true, void, i, v) {
  return args->i0 ? iree_ok_status() : report_number(module, args->i0, "nonzero");
}

IREE_VM_ABI_EXPORT(expect_false, void, i, v) {
  return args->i0 ? report_number(module, args->i0, "zero") : iree_ok_status();
}

static iree_status_t check_nonzero(check_module_t* self, const check_value_t* value) {
  for (iree_host_size_t i = 0; i < value->count; ++i) {
    bool zero = false;
    IREE_RETURN_IF_ERROR(check_element_is_zero(value->type, value->data + i * value->size, &zero));
    if (!zero) continue;
    iree_string_builder_t text;
    iree_string_builder_initialize(self->allocator, &text);
    iree_status_t status = iree_string_builder_append_format(
        &text, "Expected all elements to be nonzero; element %" PRIhsz " is zero.", i);
    if (iree_status_is_ok(status)) status = append_view(&text, "value", value->view);
    if (iree_status_is_ok(status)) status = report(self, iree_string_builder_view(&text));
    iree_string_builder_deinitialize(&text);
    return status;
  }
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(expect_all_true, void, rr, v) {
  check_module_t* self = module;
  iree_hal_device_t* device = NULL;
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_device_check_deref(args->r0, &device), "the device");
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r1, &view), "the value");
  check_value_t value = {0};
  iree_status_t status = value_read(device, view, self->allocator, &value);
  if (iree_status_is_ok(status)) status = check_nonzero(self, &value);
  value_finish(&value, self->allocator);
  return status;
}

IREE_VM_ABI_EXPORT(expect_eq, void, rrr, v) {
  check_operands_t operands = {0};
  IREE_RETURN_IF_ERROR(operands_of(args->r0, args->r1, args->r2, &operands));
  return expect_same(module, &operands, NULL);
}

IREE_VM_ABI_EXPORT(expect_almost_eq, void, rrrff, v) {
  check_operands_t operands = {0};
  check_tolerance_t tolerance = {args->f3, args->f4};
  IREE_RETURN_IF_ERROR(operands_of(args->r0, args->r1, args->r2, &operands));
  return expect_same(module, &operands, &tolerance);
}

// EXPORT(name, argument types)
#define CHECK_EXPORTS(EXPORT)     \
  EXPORT(expect_all_true, rr)     \
  EXPORT(expect_almost_eq, rrrff) \
  EXPORT(expect_eq, rrr)          \
  EXPORT(expect_false, i)         \
  EXPORT(expect_true, i)

static const iree_vm_native_export_descriptor_t exports[] = {
#define EXPORT(name, types) {iree_string_view_literal(#name), iree_string_view_literal("0" #types "_v"), 0, NULL},
    CHECK_EXPORTS(EXPORT)
#undef EXPORT
};

static const iree_vm_native_function_ptr_t functions[] = {
#define EXPORT(name, types) \
  {(iree_vm_native_function_shim_t)(void*)iree_vm_shim_##types##_v, (iree_vm_native_function_target_t)(void*)name},
    CHECK_EXPORTS(EXPORT)
#undef EXPORT
};

static const iree_vm_native_module_descriptor_t descriptor = {
    .name = iree_string_view_literal("check"),
    .export_count = IREE_ARRAYSIZE(exports),
    .exports = exports,
    .function_count = IREE_ARRAYSIZE(functions),
    .functions = functions,
};

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

static void destroy(void* self) {
  check_module_t* module = self;
  iree_allocator_free(module->allocator, module);
}

iree_status_t iree_check_module_create_with_reporter(iree_vm_instance_t* instance,
                                                     iree_check_module_reporter_t reporter,
                                                     iree_allocator_t host_allocator, iree_vm_module_t** out_module) {
  *out_module = NULL;
  check_module_t* module = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*module), (void**)&module));
  *module = (check_module_t){reporter, host_allocator};
  iree_vm_module_t interface;
  iree_status_t status = iree_vm_module_initialize(&interface, module);
  interface.destroy = destroy;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, host_allocator, out_module);
  }
  if (!iree_status_is_ok(status)) iree_allocator_free(host_allocator, module);
  return status;
}

iree_status_t iree_check_module_create(iree_vm_instance_t* instance, iree_allocator_t host_allocator,
                                       iree_vm_module_t** out_module) {
  return iree_check_module_create_with_reporter(instance, (iree_check_module_reporter_t){0}, host_allocator,
                                                out_module);
}
