// Measures one function of an executable, without a program around it.

#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "iree/modules/hal/module.h"
#include "tooling/benchmark.h"
#include "tooling/context.h"
#include "tooling/devices.h"

IREE_FLAG(string, executable_file, "", "File with the executable; '-': standard input.")
IREE_FLAG(string, executable_format, "",
          "Format of the executable, as modules name it (embedded-elf-x86_64, vmvx-bytecode-fb, cuda-nvptx-fb, ...).\n"
          "Without one the device looks at the file.")
IREE_FLAG(int32_t, entry_point, 0, "Ordinal of the function among those of the executable.")
IREE_FLAG_LIST(string, binding,
               "A buffer of the function, in order, as iree-run-module takes inputs: `shapextype[=values]`,\n"
               "`shapextype=@file`, `@file.npy`, `+file.npy`, `*file.npy`.")
IREE_FLAG_LIST(string, constant, "A 32-bit constant of the dispatch, in order.")
IREE_FLAG_LIST(string, executable_constant, "A 32-bit constant of the executable, in order.")
IREE_FLAG_LIST(string, workgroup_count, "Workgroups of a dispatch, `x,y,z`. Each makes one benchmark.")
IREE_FLAG(int32_t, batch_size, 64, "Dispatches of one submission, one after the other.")
IREE_FLAG(bool, print_statistics, false, "Prints what the devices allocated, to stderr, at the end.")

static const char usage[] =
    "Measures one function of an executable: dispatches it over and over with the same buffers.\n"
    "Executables are entries of a module, which is a ZIP file, or what --iree-hal-dump-executable-binaries-to= "
    "writes.\n"
    "\n"
    "Example:\n"
    "  iree-benchmark-executable --device=local-task --executable_format=embedded-elf-x86_64 \\\n"
    "      --executable_file=kernel.so --binding=512xf32 --binding=512xf32 --workgroup_count=8,1,1\n";

typedef struct words_t {
  uint32_t* values;
  iree_host_size_t count;
} words_t;

typedef struct session_t {
  iree_allocator_t allocator;
  iree_vm_instance_t* instance;
  iree_hal_device_group_t* group;
  tooling_device_t device;
  iree_io_file_contents_t* contents;
  words_t constants, executable_constants;
  iree_hal_executable_cache_t* cache;
  iree_hal_executable_t* executable;
  iree_vm_list_t* binding_list;
  iree_hal_buffer_ref_list_t bindings;  // owned
} session_t;

// A benchmark: dispatches with one workgroup count.
typedef struct dispatch_t {
  const session_t* session;
  uint32_t workgroup_count[3];
  char name[64];
} dispatch_t;

//===----------------------------------------------------------------------------------------------------------------===
// Flags
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t parse_words(const char* flag, iree_flag_string_list_t list, iree_allocator_t allocator,
                                 words_t* out_words) {
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(allocator, list.count + 1, sizeof(uint32_t), (void**)&out_words->values));
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    if (!iree_string_view_atoi_uint32(list.values[i], &out_words->values[i])) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s= takes a 32-bit number; got '%.*s'", flag,
                              (int)list.values[i].size, list.values[i].data);
    }
  }
  out_words->count = list.count;
  return iree_ok_status();
}

static iree_status_t parse_workgroup_count(iree_string_view_t text, uint32_t out_count[3]) {
  iree_string_view_t rest = text, part;
  for (int i = 0; i < 3; ++i) {
    bool more = iree_string_view_split(rest, ',', &part, &rest) >= 0;
    if (!iree_string_view_atoi_uint32(part, &out_count[i]) || more != (i < 2)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--workgroup_count= takes x,y,z; got '%.*s'",
                              (int)text.size, text.data);
    }
  }
  return iree_ok_status();
}

static iree_status_t check_flags(void) {
  if (!FLAG_executable_file[0]) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no executable; --executable_file= names its file");
  }
  if (!FLAG_workgroup_count_list().count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no --workgroup_count=x,y,z; at least one is needed");
  }
  if (FLAG_batch_size >= 1) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--batch_size= is at least 1");
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t load_executable(session_t* session) {
  iree_string_view_t path = iree_make_cstring_view(FLAG_executable_file);
  char inferred[128];
  IREE_RETURN_IF_ERROR(iree_string_view_equal(path, IREE_SV("-"))
                           ? iree_io_file_contents_read_stdin(session->allocator, &session->contents)
                           : iree_io_file_contents_read(path, session->allocator, &session->contents));
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_create(session->device.device, IREE_SV("benchmark"), &session->cache));
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_data = session->contents->const_buffer;
  params.executable_format = iree_make_cstring_view(FLAG_executable_format);
  if (!params.executable_format.size) {
    iree_host_size_t size = 0;
    IREE_RETURN_IF_ERROR(
        iree_hal_executable_cache_infer_format(session->cache, params.caching_mode, params.executable_data,
                                               sizeof(inferred), inferred, &size),
        "--executable_format= can name it");
    params.executable_format = iree_make_cstring_view(inferred);
  }
  params.constant_count = session->executable_constants.count;
  params.constants = session->executable_constants.values;
  return iree_hal_executable_cache_prepare_executable(session->cache, &params, &session->executable);
}

static iree_status_t check_function(const session_t* session) {
  iree_host_size_t count = iree_hal_executable_function_count(session->executable);
  if (FLAG_entry_point < 0 || (iree_host_size_t)FLAG_entry_point >= count) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "--entry_point=%d: the executable has %" PRIhsz " functions",
                            FLAG_entry_point, count);
  }
  iree_hal_executable_function_info_t info;
  IREE_RETURN_IF_ERROR(iree_hal_executable_function_info(
      session->executable, iree_hal_executable_function_from_index((uint32_t)FLAG_entry_point), &info));
  if (info.binding_count != session->bindings.count || info.constant_count != session->constants.count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function '%.*s' takes %u buffers and %u constants; --binding= and --constant= give "
                            "%" PRIhsz " and %" PRIhsz,
                            (int)info.name.size, info.name.data, info.binding_count, info.constant_count,
                            session->bindings.count, session->constants.count);
  }
  return iree_ok_status();
}

static iree_status_t make_bindings(session_t* session) {
  iree_string_view_list_t specs = {FLAG_binding_list().count, FLAG_binding_list().values};
  char* letters = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(session->allocator, specs.count + 1, (void**)&letters));
  memset(letters, 'r', specs.count);
  iree_status_t status =
      tooling_inputs_parse(iree_make_string_view(letters, specs.count), specs, session->device, &session->binding_list);
  iree_allocator_free(session->allocator, letters);
  IREE_RETURN_IF_ERROR(status);
  iree_host_size_t count = iree_vm_list_size(session->binding_list);
  iree_hal_buffer_ref_t* refs = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(session->allocator, count + 1, sizeof(*refs), (void**)&refs));
  session->bindings = (iree_hal_buffer_ref_list_t){count, refs};
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_vm_ref_t value = iree_vm_ref_null();
    IREE_RETURN_IF_ERROR(iree_vm_list_get_ref_assign(session->binding_list, i, &value));
    iree_hal_buffer_t* buffer = iree_hal_buffer_isa(value) ? iree_hal_buffer_deref(value) : NULL;
    if (iree_hal_buffer_view_isa(value)) buffer = iree_hal_buffer_view_buffer(iree_hal_buffer_view_deref(value));
    if (!buffer) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "binding %" PRIhsz " is no buffer", i);
    refs[i] = iree_hal_make_buffer_ref(buffer, 0, iree_hal_buffer_byte_length(buffer));
  }
  return iree_ok_status();
}

static iree_status_t session_begin(session_t* session) {
  iree_allocator_t allocator = session->allocator;
  IREE_RETURN_IF_ERROR(parse_words("constant", FLAG_constant_list(), allocator, &session->constants));
  IREE_RETURN_IF_ERROR(
      parse_words("executable_constant", FLAG_executable_constant_list(), allocator, &session->executable_constants));
  IREE_RETURN_IF_ERROR(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &session->instance));
  IREE_RETURN_IF_ERROR(iree_hal_module_register_all_types(session->instance));
  IREE_RETURN_IF_ERROR(tooling_devices_create(iree_string_view_empty(), allocator, &session->group));
  iree_hal_device_t* device = iree_hal_device_group_device_at(session->group, 0);
  session->device = (tooling_device_t){device, iree_hal_device_allocator(device)};
  IREE_RETURN_IF_ERROR(load_executable(session), "loading executable '%s'", FLAG_executable_file);
  IREE_RETURN_IF_ERROR(make_bindings(session));
  return check_function(session);
}

static void session_end(session_t* session) {
  iree_allocator_free(session->allocator, (void*)session->bindings.values);
  iree_vm_list_release(session->binding_list);
  iree_hal_executable_release(session->executable);
  iree_hal_executable_cache_release(session->cache);
  iree_hal_device_group_release(session->group);
  iree_vm_instance_release(session->instance);
  iree_io_file_contents_free(session->contents);
  iree_allocator_free(session->allocator, session->constants.values);
  iree_allocator_free(session->allocator, session->executable_constants.values);
}

//===----------------------------------------------------------------------------------------------------------------===
// Measuring
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t record(const dispatch_t* dispatch, iree_hal_command_buffer_t* commands) {
  const session_t* session = dispatch->session;
  const uint32_t* count = dispatch->workgroup_count;
  iree_const_byte_span_t constants =
      iree_make_const_byte_span(session->constants.values, session->constants.count * sizeof(uint32_t));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(commands));
  for (int32_t i = 0; i < FLAG_batch_size; ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_command_buffer_dispatch(
        commands, session->executable, iree_hal_executable_function_from_index((uint32_t)FLAG_entry_point),
        iree_hal_make_static_dispatch_config(count[0], count[1], count[2]), constants, session->bindings,
        IREE_HAL_DISPATCH_FLAG_NONE));
    IREE_RETURN_IF_ERROR(iree_hal_command_buffer_execution_barrier(
        commands, IREE_HAL_EXECUTION_STAGE_DISPATCH | IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
        IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE | IREE_HAL_EXECUTION_STAGE_DISPATCH,
        IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL));
  }
  return iree_hal_command_buffer_end(commands);
}

static iree_status_t submit(iree_hal_device_t* device, iree_hal_command_buffer_t* commands,
                            iree_hal_semaphore_t* semaphore, uint64_t value) {
  iree_hal_semaphore_list_t signal = {.count = 1, .semaphores = &semaphore, .payload_values = &value};
  IREE_RETURN_IF_ERROR(
      iree_hal_device_queue_execute(device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), signal,
                                    commands, iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
  return iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

// `iterations` is a multiple of the batch.
static iree_status_t run_dispatches(void* user_data, uint64_t iterations) {
  const dispatch_t* dispatch = user_data;
  iree_hal_device_t* device = dispatch->session->device.device;
  iree_hal_command_buffer_t* commands = NULL;
  iree_hal_semaphore_t* semaphore = NULL;
  iree_status_t status =
      iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, IREE_HAL_COMMAND_CATEGORY_DISPATCH,
                                     IREE_HAL_QUEUE_AFFINITY_ANY, 0, &commands);
  if (iree_status_is_ok(status)) status = record(dispatch, commands);
  if (iree_status_is_ok(status)) {
    status =
        iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore);
  }
  uint64_t batches = iterations / (uint64_t)FLAG_batch_size;
  for (uint64_t i = 1; i <= batches && iree_status_is_ok(status); ++i) status = submit(device, commands, semaphore, i);
  iree_hal_semaphore_release(semaphore);
  iree_hal_command_buffer_release(commands);
  return status;
}

static iree_status_t make_benchmarks(const session_t* session, dispatch_t* dispatches, benchmark_t* benchmarks) {
  for (iree_host_size_t i = 0; i < FLAG_workgroup_count_list().count; ++i) {
    uint32_t* count = dispatches[i].workgroup_count;
    IREE_RETURN_IF_ERROR(parse_workgroup_count(FLAG_workgroup_count_list().values[i], count));
    dispatches[i].session = session;
    snprintf(dispatches[i].name, sizeof(dispatches[i].name), "BM_dispatch_%ux%ux%u/process_time/real_time", count[0],
             count[1], count[2]);
    benchmarks[i] = (benchmark_t){.name = dispatches[i].name,
                                  .fn = run_dispatches,
                                  .user_data = &dispatches[i],
                                  .items_per_iteration = (uint64_t)count[0] * count[1] * count[2],
                                  .batch = (uint64_t)FLAG_batch_size,
                                  .unit = "ns"};
  }
  return iree_ok_status();
}

static iree_status_t run(iree_allocator_t allocator) {
  IREE_RETURN_IF_ERROR(check_flags());
  session_t session = {.allocator = allocator};
  iree_host_size_t count = FLAG_workgroup_count_list().count;
  dispatch_t* dispatches = calloc(count, sizeof(*dispatches));
  benchmark_t* benchmarks = calloc(count, sizeof(*benchmarks));
  iree_status_t status = dispatches && benchmarks ? make_benchmarks(&session, dispatches, benchmarks)
                                                  : iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  if (iree_status_is_ok(status)) status = session_begin(&session);
  if (iree_status_is_ok(status)) status = benchmark_run_all((uint32_t)count, benchmarks);
  if (iree_status_is_ok(status) && FLAG_print_statistics) {
    status = tooling_devices_print_statistics(session.group, stderr);
  }
  session_end(&session);
  free(benchmarks);
  free(dispatches);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-benchmark-executable", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  if (iree_status_is_ok(status)) status = run(iree_allocator_system());
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
