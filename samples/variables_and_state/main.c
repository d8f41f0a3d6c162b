// Calls that change what later calls see: main counter.vmfb [driver]
//
// The variable is the session's: a second one of the same module begins anew.
#include <stdio.h>
#include <string.h>

#include "common/session.h"

// Calls counter.`name` with a number or without (NULL).
static iree_status_t call(iree_runtime_session_t* session, const char* name, const int32_t* argument,
                          int32_t* out_result) {
  char full_name[64];
  iree_runtime_call_t call;
  iree_hal_buffer_view_t *input = NULL, *output = NULL;
  snprintf(full_name, sizeof(full_name), "counter.%s", name);
  IREE_RETURN_IF_ERROR(iree_runtime_call_initialize_by_name(session, iree_make_cstring_view(full_name), &call));
  iree_status_t status = iree_ok_status();
  if (argument) {
    status = sample_tensor_create(session, 0, NULL, IREE_HAL_ELEMENT_TYPE_INT_32, argument, &input);
    if (iree_status_is_ok(status)) status = iree_runtime_call_inputs_push_back_buffer_view(&call, input);
    iree_hal_buffer_view_release(input);
  }
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, /*flags=*/0);
  if (iree_status_is_ok(status) && out_result) {
    status = iree_runtime_call_outputs_pop_front_buffer_view(&call, &output);
    if (iree_status_is_ok(status)) status = sample_tensor_read(session, output, out_result, sizeof(*out_result));
    iree_hal_buffer_view_release(output);
  }
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t show(iree_runtime_session_t* session, const char* after) {
  int32_t value = 0;
  IREE_RETURN_IF_ERROR(call(session, "get_value", NULL, &value));
  printf("%-22s: %d\n", after, value);
  return iree_ok_status();
}

static iree_status_t run(iree_runtime_session_t* session, void* path) {
  IREE_RETURN_IF_ERROR(iree_runtime_session_append_bytecode_module_from_file(session, path));
  IREE_RETURN_IF_ERROR(show(session, "at first"));
  const int32_t start = 101, more = 20, less = -50;
  IREE_RETURN_IF_ERROR(call(session, "set_value", &start, NULL));
  IREE_RETURN_IF_ERROR(show(session, "after set_value(101)"));
  IREE_RETURN_IF_ERROR(call(session, "add_to_value", &more, NULL));
  IREE_RETURN_IF_ERROR(show(session, "after add_to_value(20)"));
  IREE_RETURN_IF_ERROR(call(session, "add_to_value", &less, NULL));
  IREE_RETURN_IF_ERROR(show(session, "after add_to_value(-50)"));
  IREE_RETURN_IF_ERROR(call(session, "reset_value", NULL, NULL));
  return show(session, "after reset_value()");
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s counter.vmfb [driver]\n", argv[0]);
    return 1;
  }
  return sample_run(argc > 2 ? argv[2] : "local-task", run, argv[1]);
}
