// A program whose parameters come from memory, from a file, or from both: main program.vmfb [archive]
//
// The archive (.irpa, .safetensors, .gguf) has what the program's own index has not; iree-create-parameters makes one.
#include <stdio.h>

#include "common/session.h"
#include "iree/io/file_handle.h"
#include "iree/io/formats/parser_registry.h"
#include "iree/io/parameter_index.h"
#include "iree/io/parameter_index_provider.h"
#include "iree/modules/io/parameters/module.h"

static float weights[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
static float bias[3] = {10, 20, 30};

// An entry over memory that outlives the index.
static iree_status_t add_array(iree_io_parameter_index_t* index, const char* name, void* data, iree_host_size_t size) {
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(data, size), iree_io_file_handle_release_callback_null(),
      iree_allocator_system(), &handle));
  const iree_io_parameter_index_entry_t entry = {
      .key = iree_make_cstring_view(name),
      .length = size,
      .type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE,
      .storage.file = {.handle = handle, .offset = 0},
  };
  iree_status_t status = iree_io_parameter_index_add(index, &entry);
  iree_io_file_handle_release(handle);
  return status;
}

// All entries of an archive, which is mapped: nothing is read before it is used.
static iree_status_t add_archive(iree_io_parameter_index_t* index, const char* path) {
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(
      iree_io_file_handle_open(IREE_IO_FILE_MODE_READ, iree_make_cstring_view(path), iree_allocator_system(), &handle));
  iree_status_t status = iree_io_parse_file_index(iree_make_cstring_view(path), handle, index, iree_allocator_system());
  iree_io_file_handle_release(handle);
  return status;
}

// The module `io_parameters` with the index as the scope `model`.
static iree_status_t append_parameters(iree_runtime_session_t* session, iree_io_parameter_index_t* index) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_io_parameter_provider_t* provider = NULL;
  iree_vm_module_t* module = NULL;
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_provider_create(
      IREE_SV("model"), index, IREE_IO_PARAMETER_INDEX_PROVIDER_DEFAULT_MAX_CONCURRENT_OPERATIONS, allocator,
      &provider));
  iree_vm_instance_t* instance = iree_runtime_instance_vm_instance(iree_runtime_session_instance(session));
  iree_status_t status = iree_io_parameters_module_create(instance, 1, &provider, allocator, &module);
  iree_io_parameter_provider_release(provider);
  if (iree_status_is_ok(status)) status = iree_runtime_session_append_module(session, module);
  iree_vm_module_release(module);
  return status;
}

static iree_status_t add_parameters(iree_runtime_session_t* session, const char* archive) {
  iree_io_parameter_index_t* index = NULL;
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_create(iree_allocator_system(), &index));
  iree_status_t status = archive ? add_archive(index, archive) : add_array(index, "weights", weights, sizeof(weights));
  if (iree_status_is_ok(status)) status = add_array(index, "bias", bias, sizeof(bias));
  if (iree_status_is_ok(status)) status = append_parameters(session, index);
  iree_io_parameter_index_release(index);
  return status;
}

static iree_status_t call(iree_runtime_session_t* session) {
  static const float x[4] = {1, 2, 3, 4};
  const iree_hal_dim_t shape[2] = {1, 4};
  iree_runtime_call_t call;
  iree_hal_buffer_view_t *input = NULL, *output = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_call_initialize_by_name(session, IREE_SV("program.main"), &call));
  iree_status_t status = sample_tensor_create(session, 2, shape, IREE_HAL_ELEMENT_TYPE_FLOAT_32, x, &input);
  if (iree_status_is_ok(status)) status = iree_runtime_call_inputs_push_back_buffer_view(&call, input);
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, /*flags=*/0);
  if (iree_status_is_ok(status)) status = iree_runtime_call_outputs_pop_front_buffer_view(&call, &output);
  if (iree_status_is_ok(status)) status = iree_hal_buffer_view_fprint(stdout, output, 16, iree_allocator_system());
  printf("\n");
  iree_hal_buffer_view_release(input);
  iree_hal_buffer_view_release(output);
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t run(iree_runtime_session_t* session, void* user_data) {
  char** arguments = user_data;
  IREE_RETURN_IF_ERROR(add_parameters(session, arguments[2]));
  IREE_RETURN_IF_ERROR(iree_runtime_session_append_bytecode_module_from_file(session, arguments[1]));
  return call(session);
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s program.vmfb [archive]\n", argv[0]);
    return 1;
  }
  return sample_run("local-task", run, argv);
}
