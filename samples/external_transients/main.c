// A call that allocates nothing: the program says how much memory it needs between arguments and result, and the caller
// brings that, too: main chain.vmfb
//
// First result and transients lie apart, then in one allocation.
#include <stdio.h>

#include "common/session.h"
#include "iree/modules/hal/types.h"

enum { SIZE = 16, BYTES = SIZE * SIZE * sizeof(float) };

// What the compiler found; every device that the module is for can do with it.
static iree_status_t query_transients(iree_vm_function_t* function, iree_device_size_t* out_size) {
  uint64_t size = 0;
  iree_string_view_t text =
      iree_vm_function_lookup_attr_by_name(function, IREE_SV("iree.abi.transients.size.constant"));
  if (iree_string_view_is_empty(text)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "the function does not say what memory it needs");
  }
  if (!iree_string_view_atoi_uint64(text, &size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "`%.*s` is no size", (int)text.size, text.data);
  }
  *out_size = size;
  return iree_ok_status();
}

static iree_status_t allocate(iree_runtime_session_t* session, iree_device_size_t size,
                              iree_hal_buffer_t** out_buffer) {
  const iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                           .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  return iree_hal_allocator_allocate_buffer(iree_runtime_session_device_allocator(session), params, size, out_buffer);
}

// Both parts of one allocation, or two.
static iree_status_t allocate_both(iree_runtime_session_t* session, bool together, iree_device_size_t transients,
                                   iree_hal_buffer_t* out_buffers[2]) {
  const iree_device_size_t sizes[2] = {BYTES, transients};
  iree_hal_buffer_t* all = NULL;
  iree_allocator_t allocator = iree_runtime_session_host_allocator(session);
  iree_status_t status = together ? allocate(session, sizes[0] + sizes[1], &all) : iree_ok_status();
  for (int i = 0; i < 2 && iree_status_is_ok(status); ++i) {
    status = together ? iree_hal_buffer_subspan(all, i ? sizes[0] : 0, sizes[i], allocator, &out_buffers[i])
                      : allocate(session, sizes[i], &out_buffers[i]);
  }
  iree_hal_buffer_release(all);
  return status;
}

static iree_status_t push_ones(iree_runtime_session_t* session, iree_vm_list_t* inputs) {
  static float ones[SIZE * SIZE];
  const iree_hal_dim_t shape[2] = {SIZE, SIZE};
  iree_hal_buffer_view_t* view = NULL;
  for (int i = 0; i < SIZE * SIZE; ++i) ones[i] = 1;
  IREE_RETURN_IF_ERROR(sample_tensor_create(session, 2, shape, IREE_HAL_ELEMENT_TYPE_FLOAT_32, ones, &view));
  iree_vm_ref_t ref = iree_hal_buffer_view_move_ref(view);
  iree_status_t status = iree_vm_list_push_ref_move(inputs, &ref);
  iree_vm_ref_release(&ref);
  return status;
}

// Every element of 1 * 1 * 1 is 16 * 16, and the result lies where it was to.
static iree_status_t check(iree_runtime_session_t* session, iree_vm_list_t* outputs, iree_hal_buffer_t* expected) {
  float result[SIZE * SIZE] = {0};
  iree_hal_buffer_view_t* view = iree_vm_list_get_buffer_view_assign(outputs, 0);
  if (!view || iree_hal_buffer_view_buffer(view) != expected) {
    return iree_make_status(IREE_STATUS_UNKNOWN, "the result is not in the caller's memory");
  }
  IREE_RETURN_IF_ERROR(sample_tensor_read(session, view, result, sizeof(result)));
  for (int i = 0; i < SIZE * SIZE; ++i) {
    if (result[i] != 256) return iree_make_status(IREE_STATUS_UNKNOWN, "element %d is %g, not 256", i, result[i]);
  }
  return iree_ok_status();
}

static iree_status_t call(iree_runtime_session_t* session, iree_vm_function_t* function,
                          iree_hal_buffer_t* const buffers[2]) {
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  iree_allocator_t allocator = iree_runtime_session_host_allocator(session);
  IREE_RETURN_IF_ERROR(iree_vm_list_create(iree_vm_make_undefined_type_def(), 4, allocator, &inputs));
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, allocator, &outputs);
  for (int i = 0; i < 2 && iree_status_is_ok(status); ++i) status = push_ones(session, inputs);
  for (int i = 0; i < 2 && iree_status_is_ok(status); ++i) {
    iree_vm_ref_t ref = iree_hal_buffer_retain_ref(buffers[i]);
    status = iree_vm_list_push_ref_move(inputs, &ref);
    iree_vm_ref_release(&ref);
  }
  if (iree_status_is_ok(status)) status = iree_runtime_session_call(session, function, inputs, outputs);
  if (iree_status_is_ok(status)) status = check(session, outputs, buffers[0]);
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

static iree_status_t run(iree_runtime_session_t* session, void* path) {
  iree_vm_function_t function;
  iree_device_size_t transients = 0;
  IREE_RETURN_IF_ERROR(iree_runtime_session_append_bytecode_module_from_file(session, path));
  IREE_RETURN_IF_ERROR(iree_runtime_session_lookup_function(session, IREE_SV("program.chain"), &function));
  IREE_RETURN_IF_ERROR(query_transients(&function, &transients));
  printf("transients: %d bytes\n", (int)transients);
  for (int together = 0; together < 2; ++together) {
    iree_hal_buffer_t* buffers[2] = {NULL, NULL};
    iree_status_t status = allocate_both(session, together, transients, buffers);
    if (iree_status_is_ok(status)) status = call(session, &function, buffers);
    for (int i = 0; i < 2; ++i) iree_hal_buffer_release(buffers[i]);
    IREE_RETURN_IF_ERROR(status);
    printf("%s: all elements are 256\n", together ? "together" : "apart");
  }
  return iree_ok_status();
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s chain.vmfb\n", argv[0]);
    return 1;
  }
  return sample_run("local-sync", run, argv[1]);
}
