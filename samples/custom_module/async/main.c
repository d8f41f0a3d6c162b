// Calls a program that goes on while it is called, and waits for it: main example.vmfb example.main
#include <stdio.h>

#include "common/session.h"
#include "iree/modules/hal/types.h"
#include "module.h"

static const int32_t input[5] = {1, 2, 3, 4, 5};

static iree_status_t add_modules(iree_runtime_session_t* session, const char* path) {
  iree_vm_module_t* custom = NULL;
  iree_vm_instance_t* instance = iree_runtime_instance_vm_instance(iree_runtime_session_instance(session));
  IREE_RETURN_IF_ERROR(
      custom_module_create(instance, iree_runtime_session_device(session), iree_allocator_system(), &custom));
  iree_status_t status = iree_runtime_session_append_module(session, custom);
  iree_vm_module_release(custom);
  return iree_status_is_ok(status) ? iree_runtime_session_append_bytecode_module_from_file(session, path) : status;
}

static iree_status_t push_fence(iree_vm_list_t* list, iree_hal_fence_t* fence) {
  iree_vm_ref_t ref = iree_hal_fence_retain_ref(fence);
  iree_status_t status = iree_vm_list_push_ref_move(list, &ref);
  iree_vm_ref_release(&ref);
  return status;
}

// The argument is there at value 1 of the timeline, the result at value 2.
static iree_status_t push_arguments(iree_runtime_session_t* session, iree_vm_list_t* inputs,
                                    iree_hal_fence_t* fences[2]) {
  const iree_hal_dim_t shape[1] = {5};
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(sample_tensor_create(session, 1, shape, IREE_HAL_ELEMENT_TYPE_INT_32, input, &view));
  iree_vm_ref_t ref = iree_hal_buffer_view_move_ref(view);
  iree_status_t status = iree_vm_list_push_ref_move(inputs, &ref);
  iree_vm_ref_release(&ref);
  if (iree_status_is_ok(status)) status = push_fence(inputs, fences[0]);
  if (iree_status_is_ok(status)) status = push_fence(inputs, fences[1]);
  return status;
}

static iree_status_t check(iree_runtime_session_t* session, iree_vm_list_t* outputs) {
  int32_t output[5] = {0};
  iree_hal_buffer_view_t* view = iree_vm_list_get_buffer_view_assign(outputs, 0);
  if (!view) return iree_make_status(IREE_STATUS_NOT_FOUND, "the result is no tensor");
  IREE_RETURN_IF_ERROR(sample_tensor_read(session, view, output, sizeof(output)));
  for (int i = 0; i < 5; ++i) {
    int32_t expected = 4 * input[i] * input[i] * input[i] * input[i];
    if (output[i] != expected) {
      return iree_make_status(IREE_STATUS_UNKNOWN, "result %d is %d, not %d", i, output[i], expected);
    }
  }
  printf("MATCHED!\n");
  return iree_ok_status();
}

static iree_status_t call(iree_runtime_session_t* session, const char* name, iree_hal_fence_t* fences[2]) {
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  iree_allocator_t allocator = iree_runtime_session_host_allocator(session);
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 3, allocator, &inputs);
  if (iree_status_is_ok(status)) {
    status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, allocator, &outputs);
  }
  if (iree_status_is_ok(status)) status = push_arguments(session, inputs, fences);
  printf("INVOKE BEGIN %s\n", name);
  if (iree_status_is_ok(status)) {
    status = iree_runtime_session_call_by_name(session, iree_make_cstring_view(name), inputs, outputs);
  }
  printf("INVOKE END\n");
  // Only now may it begin; that the call is over shows that nothing in it waited.
  if (iree_status_is_ok(status)) status = iree_hal_fence_signal(fences[0]);
  if (iree_status_is_ok(status)) {
    status = iree_hal_fence_wait(fences[1], iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  if (iree_status_is_ok(status)) status = check(session, outputs);
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

static iree_status_t run(iree_runtime_session_t* session, void* user_data) {
  char** arguments = user_data;
  iree_hal_semaphore_t* timeline = NULL;
  iree_hal_fence_t* fences[2] = {NULL, NULL};
  iree_allocator_t allocator = iree_runtime_session_host_allocator(session);
  IREE_RETURN_IF_ERROR(add_modules(session, arguments[1]));
  iree_status_t status = iree_hal_semaphore_create(iree_runtime_session_device(session), IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                   IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &timeline);
  for (uint64_t i = 0; i < 2 && iree_status_is_ok(status); ++i) {
    status = iree_hal_fence_create_at(timeline, i + 1, allocator, &fences[i]);
  }
  if (iree_status_is_ok(status)) status = call(session, arguments[2], fences);
  for (int i = 0; i < 2; ++i) iree_hal_fence_release(fences[i]);
  iree_hal_semaphore_release(timeline);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODULE.vmfb module.function\n", argv[0]);
    return 1;
  }
  return sample_run("local-task", run, argv);
}
