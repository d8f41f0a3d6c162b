// One function for inputs of any size: main dynamic_shapes.vmfb [driver]
#include <stdio.h>

#include "common/session.h"

// Calls dynamic_shapes.`name` and prints argument and result.
static iree_status_t call(iree_runtime_session_t* session, const char* name, iree_host_size_t rank,
                          const iree_hal_dim_t* shape, const int32_t* data) {
  char full_name[64];
  iree_runtime_call_t call;
  iree_hal_buffer_view_t *input = NULL, *output = NULL;
  snprintf(full_name, sizeof(full_name), "dynamic_shapes.%s", name);
  IREE_RETURN_IF_ERROR(iree_runtime_call_initialize_by_name(session, iree_make_cstring_view(full_name), &call));
  iree_status_t status = sample_tensor_create(session, rank, shape, IREE_HAL_ELEMENT_TYPE_INT_32, data, &input);
  if (iree_status_is_ok(status)) status = iree_runtime_call_inputs_push_back_buffer_view(&call, input);
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, /*flags=*/0);
  if (iree_status_is_ok(status)) status = iree_runtime_call_outputs_pop_front_buffer_view(&call, &output);
  if (iree_status_is_ok(status)) {
    printf("%s(", name);
    status = iree_hal_buffer_view_fprint(stdout, input, 100, iree_allocator_system());
    printf(") = ");
  }
  if (iree_status_is_ok(status)) {
    status = iree_hal_buffer_view_fprint(stdout, output, 100, iree_allocator_system());
    printf("\n");
  }
  iree_hal_buffer_view_release(input);
  iree_hal_buffer_view_release(output);
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t run(iree_runtime_session_t* session, void* path) {
  static const int32_t numbers[9] = {1, 10, 100, 2, 20, 200, 3, 30, 300};
  IREE_RETURN_IF_ERROR(iree_runtime_session_append_bytecode_module_from_file(session, path));
  for (iree_hal_dim_t rows = 1; rows <= 3; ++rows) {
    const iree_hal_dim_t count = 3 * rows, shape[2] = {rows, 3};
    IREE_RETURN_IF_ERROR(call(session, "reduce_sum_1d", 1, &count, numbers));
    IREE_RETURN_IF_ERROR(call(session, "reduce_sum_2d", 2, shape, numbers));
    IREE_RETURN_IF_ERROR(call(session, "add_one", 1, &count, numbers));
  }
  return iree_ok_status();
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s dynamic_shapes.vmfb [driver]\n", argv[0]);
    return 1;
  }
  return sample_run(argc > 2 ? argv[2] : "local-task", run, argv[1]);
}
