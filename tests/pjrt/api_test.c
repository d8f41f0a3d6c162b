// The plugin as JAX loads it: the table of functions, and every kind of call and error.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/interface.h"

static const PJRT_Api* api;
static PJRT_Client* client;

enum { PRED = 1, S8 = 2, S32 = 4, F32 = 11, S4 = 21 };

#define ARGS(name, ...) PJRT_##name##_Args args = {.struct_size = sizeof(args), __VA_ARGS__}
#define OK(call) assert_null(call)

// Checks code and a part of the text, and frees the error.
static void expect_error(PJRT_Error* error, int code, const char* part) {
  assert_non_null(error);
  PJRT_Error_GetCode_Args get = {.struct_size = sizeof(get), .error = error};
  OK(api->Error_GetCode(&get));
  PJRT_Error_Message_Args message = {.struct_size = sizeof(message), .error = error};
  api->Error_Message(&message);
  if (get.code != code || !memmem(message.message, message.message_size, part, strlen(part))) {
    fail_msg("error %d: %.*s", get.code, (int)message.message_size, message.message);
  }
  api->Error_Destroy(&(PJRT_Error_Destroy_Args){.struct_size = sizeof(PJRT_Error_Destroy_Args), .error = error});
}

static void destroy_event(PJRT_Event* event) {
  ARGS(Event_Destroy, .event = event);
  OK(api->Event_Destroy(&args));
}

static void await(PJRT_Event* event) {
  ARGS(Event_Await, .event = event);
  OK(api->Event_Await(&args));
  destroy_event(event);
}

static void destroy_buffer(PJRT_Buffer* buffer) {
  ARGS(Buffer_Destroy, .buffer = buffer);
  OK(api->Buffer_Destroy(&args));
}

static PJRT_Buffer* make_buffer(const void* data, int type, const int64_t* dims, size_t rank) {
  ARGS(Client_BufferFromHostBuffer, .client = client, .data = data, .type = type, .dims = dims, .num_dims = rank);
  OK(api->Client_BufferFromHostBuffer(&args));
  await(args.done_with_host_buffer);
  return args.buffer;
}

static void read_buffer(PJRT_Buffer* buffer, void* data, size_t size) {
  ARGS(Buffer_ToHostBuffer, .src = buffer);
  OK(api->Buffer_ToHostBuffer(&args));
  assert_int_equal(args.dst_size, size);
  args.dst = data;
  OK(api->Buffer_ToHostBuffer(&args));
  await(args.event);
}

static bool is_deleted(PJRT_Buffer* buffer) {
  ARGS(Buffer_IsDeleted, .buffer = buffer);
  OK(api->Buffer_IsDeleted(&args));
  return args.is_deleted;
}

static int load(void** state) {
  (void)state;
  void* library = dlopen(PJRT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  const PJRT_Api* (*get)(void) = (const PJRT_Api* (*)(void))dlsym(library, "GetPjrtApi");
  assert_non_null(get);
  api = get();
  ARGS(Client_Create, .client = NULL);
  OK(api->Client_Create(&args));
  client = args.client;
  return 0;
}

static int unload(void** state) {
  (void)state;
  ARGS(Client_Destroy, .client = client);
  return api->Client_Destroy(&args) != NULL;
}

static void test_table(void** state) {
  (void)state;
  assert_int_equal(api->struct_size, sizeof(*api));
  assert_int_equal(api->version.major, 0);
  void* const* functions = (void* const*)(&api->version + 1);
  for (size_t i = 0; i < (sizeof(*api) - offsetof(PJRT_Api, Error_Destroy)) / sizeof(void*); ++i) {
    assert_non_null(functions[i]);
  }
  ARGS(Plugin_Attributes, .attributes = NULL);
  OK(api->Plugin_Attributes(&args));
  assert_int_equal(args.num_attributes, 2);
  assert_int_equal(args.attributes[0].kind, PJRT_INT64_LIST);
}

// Callers that know fewer fields get by without them; what is no struct is refused.
static void test_struct_sizes(void** state) {
  (void)state;
  PJRT_Client_Create_Args args = {.struct_size = offsetof(PJRT_Client_Create_Args, kv_try_get_callback)};
  memset(&args.kv_try_get_callback, 0xAB, sizeof(args) - args.struct_size);
  OK(api->Client_Create(&args));
  assert_int_equal(((unsigned char*)&args.kv_try_get_callback)[0], 0xAB);
  PJRT_Client_Destroy_Args destroy = {.struct_size = sizeof(destroy), .client = args.client};
  OK(api->Client_Destroy(&destroy));
  args.struct_size = 3;
  expect_error(api->Client_Create(&args), PJRT_INVALID_ARGUMENT, "struct_size");
}

static PJRT_Error* create_with(const char* name, const char* value) {
  PJRT_NamedValue option = {.struct_size = sizeof(option), .name = name, .name_size = strlen(name)};
  option.string_value = value;
  option.value_size = strlen(value);
  ARGS(Client_Create, .create_options = &option, .num_options = 1);
  PJRT_Error* error = api->Client_Create(&args);
  if (error) return error;
  PJRT_Client_Destroy_Args destroy = {.struct_size = sizeof(destroy), .client = args.client};
  return api->Client_Destroy(&destroy);
}

static void test_options(void** state) {
  (void)state;
  OK(create_with("device", "local-sync"));
  expect_error(create_with("device", "toaster"), 5, "toaster");
  expect_error(create_with("device", ""), PJRT_INVALID_ARGUMENT, "is no device");
  expect_error(create_with("color", "red"), PJRT_INVALID_ARGUMENT, "no option 'color'");
}

static PJRT_Device* first_device(void) {
  ARGS(Client_AddressableDevices, .client = client);
  OK(api->Client_AddressableDevices(&args));
  assert_int_equal(args.num_devices, 1);
  return args.devices[0];
}

static void test_devices(void** state) {
  (void)state;
  PJRT_Device* device = first_device();
  ARGS(Device_GetDescription, .device = device);
  OK(api->Device_GetDescription(&args));
  PJRT_DeviceDescription_Kind_Args kind = {.struct_size = sizeof(kind), .description = args.description};
  OK(api->DeviceDescription_Kind(&kind));
  assert_true(kind.text_size > 0);
  PJRT_Device_DefaultMemory_Args memory = {.struct_size = sizeof(memory), .device = device};
  OK(api->Device_DefaultMemory(&memory));
  PJRT_Memory_Kind_Args text = {.struct_size = sizeof(text), .memory = memory.memory};
  OK(api->Memory_Kind(&text));
  assert_string_equal(text.text, "device");
  PJRT_Client_LookupDevice_Args look = {.struct_size = sizeof(look), .client = client, .id = 7};
  expect_error(api->Client_LookupDevice(&look), PJRT_INVALID_ARGUMENT, "no device 7");
  int assignment[2];
  PJRT_Client_DefaultDeviceAssignment_Args assign = {.struct_size = sizeof(assign),
                                                     .client = client,
                                                     .num_replicas = 2,
                                                     .num_partitions = 1,
                                                     .default_assignment_size = 2,
                                                     .default_assignment = assignment};
  expect_error(api->Client_DefaultDeviceAssignment(&assign), PJRT_INVALID_ARGUMENT, "2 devices are needed");
}

static void test_strides(void** state) {
  (void)state;
  float data[6] = {0, 1, 2, 3, 4, 5}, out[6];
  const int64_t dims[] = {3, 2}, strides[] = {4, -12};
  // data as [2,3], read as its transpose with the rows from the last to the first
  ARGS(Client_BufferFromHostBuffer, .client = client, .data = data + 3, .type = F32, .dims = dims, .num_dims = 2,
       .byte_strides = strides, .num_byte_strides = 2);
  OK(api->Client_BufferFromHostBuffer(&args));
  await(args.done_with_host_buffer);
  read_buffer(args.buffer, out, sizeof(out));
  const float wanted[] = {3, 0, 4, 1, 5, 2};
  assert_memory_equal(out, wanted, sizeof(out));
  const int64_t order[] = {0, 1};
  PJRT_Buffer_MemoryLayout layout = {.struct_size = sizeof(layout), .kind = PJRT_LAYOUT_TILED};
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 2;
  PJRT_Buffer_ToHostBuffer_Args read = {
      .struct_size = sizeof(read), .src = args.buffer, .host_layout = &layout, .dst = out, .dst_size = sizeof(out)};
  OK(api->Buffer_ToHostBuffer(&read));
  await(read.event);
  const float columns[] = {3, 4, 5, 0, 1, 2};
  assert_memory_equal(out, columns, sizeof(out));
  read.dst_size = 8;
  expect_error(api->Buffer_ToHostBuffer(&read), PJRT_INVALID_ARGUMENT, "room for 8");
  layout.tiled.num_tiles = 1;
  read.dst_size = sizeof(out);
  expect_error(api->Buffer_ToHostBuffer(&read), PJRT_UNIMPLEMENTED, "tiles");
  destroy_buffer(args.buffer);
  args.num_byte_strides = 1;
  expect_error(api->Client_BufferFromHostBuffer(&args), PJRT_INVALID_ARGUMENT, "1 strides");
}

// Elements below a byte are a byte each on the host, and packed on the device.
static void test_packed(void** state) {
  (void)state;
  const int8_t data[5] = {-8, 7, -1, 0, 3};
  int8_t out[5];
  uint8_t raw[3];
  PJRT_Buffer* buffer = make_buffer(data, S4, (const int64_t[]){5}, 1);
  read_buffer(buffer, out, sizeof(out));
  assert_memory_equal(out, data, sizeof(out));
  ARGS(Buffer_CopyRawToHost, .buffer = buffer, .dst = raw, .offset = 0, .transfer_size = 3);
  OK(api->Buffer_CopyRawToHost(&args));
  await(args.event);
  const uint8_t packed[] = {0x78, 0x0F, 0x03};
  assert_memory_equal(raw, packed, sizeof(raw));
  args.offset = 2;
  expect_error(api->Buffer_CopyRawToHost(&args), 11, "not in a buffer of 3");
  destroy_buffer(buffer);
}

static void test_refused_buffers(void** state) {
  (void)state;
  const int64_t negative[] = {2, -1}, huge[] = {INT64_MAX, 4};
  float data[1] = {0};
  ARGS(Client_BufferFromHostBuffer, .client = client, .data = data, .type = 99, .dims = negative, .num_dims = 2);
  expect_error(api->Client_BufferFromHostBuffer(&args), PJRT_UNIMPLEMENTED, "type 99");
  args.type = F32;
  expect_error(api->Client_BufferFromHostBuffer(&args), PJRT_INVALID_ARGUMENT, "shape");
  args.dims = huge;
  expect_error(api->Client_BufferFromHostBuffer(&args), PJRT_INVALID_ARGUMENT, "shape");
}

// The host's memory is used in place until the buffer goes.
static void test_zero_copy(void** state) {
  (void)state;
  float* data = aligned_alloc(64, 64);
  for (int i = 0; i < 16; ++i) data[i] = (float)i;
  ARGS(Client_BufferFromHostBuffer, .client = client, .data = data, .type = F32, .dims = (const int64_t[]){16},
       .num_dims = 1, .host_buffer_semantics = PJRT_HOST_ZERO_COPY);
  OK(api->Client_BufferFromHostBuffer(&args));
  PJRT_Buffer_UnsafePointer_Args pointer = {.struct_size = sizeof(pointer), .buffer = args.buffer};
  OK(api->Buffer_UnsafePointer(&pointer));
  assert_ptr_equal((void*)pointer.pointer, data);
  PJRT_Event_IsReady_Args ready = {.struct_size = sizeof(ready), .event = args.done_with_host_buffer};
  OK(api->Event_IsReady(&ready));
  assert_false(ready.is_ready);
  destroy_buffer(args.buffer);
  await(args.done_with_host_buffer);
  free(data);
}

static void test_deleted(void** state) {
  (void)state;
  float data[4] = {1, 2, 3, 4};
  PJRT_Buffer* buffer = make_buffer(data, F32, (const int64_t[]){4}, 1);
  PJRT_Buffer_IncreaseExternalReferenceCount_Args more = {.struct_size = sizeof(more), .buffer = buffer};
  OK(api->Buffer_IncreaseExternalReferenceCount(&more));
  PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args pointer = {.struct_size = sizeof(pointer), .buffer = buffer};
  OK(api->Buffer_OpaqueDeviceMemoryDataPointer(&pointer));
  ARGS(Buffer_Delete, .buffer = buffer);
  OK(api->Buffer_Delete(&args));
  assert_true(is_deleted(buffer));
  assert_memory_equal(pointer.pointer, data, sizeof(data));  // as long as somebody holds it
  PJRT_Buffer_DecreaseExternalReferenceCount_Args less = {.struct_size = sizeof(less), .buffer = buffer};
  OK(api->Buffer_DecreaseExternalReferenceCount(&less));
  expect_error(api->Buffer_DecreaseExternalReferenceCount(&less), PJRT_FAILED_PRECONDITION, "nobody");
  PJRT_Buffer_ToHostBuffer_Args read = {.struct_size = sizeof(read), .src = buffer, .dst = data, .dst_size = 16};
  expect_error(api->Buffer_ToHostBuffer(&read), PJRT_INVALID_ARGUMENT, "deleted");
  PJRT_Buffer_ReadyEvent_Args ready = {.struct_size = sizeof(ready), .buffer = buffer};
  OK(api->Buffer_ReadyEvent(&ready));
  PJRT_Event_Await_Args wait = {.struct_size = sizeof(wait), .event = ready.event};
  expect_error(api->Event_Await(&wait), PJRT_INVALID_ARGUMENT, "deleted");
  destroy_event(ready.event);
  destroy_buffer(buffer);
}

static void count_call(PJRT_Error* error, void* user) {
  ++*(int*)user;
  if (error) expect_error(error, 8, "enough");
}

static void test_events(void** state) {
  (void)state;
  int calls = 0;
  ARGS(Event_Create, .event = NULL);
  OK(api->Event_Create(&args));
  PJRT_Event_Error_Args early = {.struct_size = sizeof(early), .event = args.event};
  expect_error(api->Event_Error(&early), PJRT_FAILED_PRECONDITION, "not ready");
  PJRT_Event_OnReady_Args on = {
      .struct_size = sizeof(on), .event = args.event, .callback = count_call, .user_arg = &calls};
  OK(api->Event_OnReady(&on));
  assert_int_equal(calls, 0);
  PJRT_Event_Set_Args set = {
      .struct_size = sizeof(set), .event = args.event, .code = 8, .message = "enough", .message_size = 6};
  OK(api->Event_Set(&set));
  assert_int_equal(calls, 1);
  expect_error(api->Event_Set(&set), PJRT_FAILED_PRECONDITION, "before");
  OK(api->Event_OnReady(&on));
  assert_int_equal(calls, 2);
  PJRT_Event_Await_Args wait = {.struct_size = sizeof(wait), .event = args.event};
  expect_error(api->Event_Await(&wait), 8, "enough");
  destroy_event(args.event);
}

//===----------------------------------------------------------------------------------------------------------------===
// Programs
//===----------------------------------------------------------------------------------------------------------------===

static const char program_text[] =
    "module @jit_f {\n"
    "  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>)\n"
    "      -> (tensor<4xf32>, tensor<4xi1>) {\n"
    "    %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
    "    %1 = stablehlo.compare LT, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n"
    "    return %0, %1 : tensor<4xf32>, tensor<4xi1>\n"
    "  }\n"
    "}\n";

static PJRT_Error* compile(const char* code, const char* format, const char* options, size_t options_size,
                           PJRT_LoadedExecutable** executable) {
  PJRT_Program program = {.struct_size = sizeof(program),
                          .code = (char*)code,
                          .code_size = strlen(code),
                          .format = format,
                          .format_size = strlen(format)};
  ARGS(Client_Compile, .client = client, .program = &program, .compile_options = options,
       .compile_options_size = options_size);
  PJRT_Error* error = api->Client_Compile(&args);
  *executable = args.executable;
  return error;
}

static void destroy_executable(PJRT_LoadedExecutable* executable) {
  ARGS(LoadedExecutable_Destroy, .executable = executable);
  OK(api->LoadedExecutable_Destroy(&args));
}

static PJRT_Error* execute(PJRT_LoadedExecutable* executable, PJRT_Buffer** arguments, size_t count,
                           PJRT_Buffer** results, PJRT_ExecuteOptions* options, PJRT_Event** event) {
  PJRT_Buffer* const* argument_lists[] = {arguments};
  PJRT_Buffer** const output_lists[] = {results};
  ARGS(LoadedExecutable_Execute, .executable = executable, .options = options, .argument_lists = argument_lists,
       .num_devices = 1, .num_args = count, .output_lists = output_lists, .device_complete_events = event);
  return api->LoadedExecutable_Execute(&args);
}

static void run_once(PJRT_LoadedExecutable* executable) {
  float a[4] = {1, 2, 3, 4}, b[4] = {4, 3, 2, 1}, sum[4];
  bool less[4];
  int calls = 0;
  PJRT_Buffer *arguments[] = {make_buffer(a, F32, (const int64_t[]){4}, 1),
                              make_buffer(b, F32, (const int64_t[]){4}, 1)},
              *results[2];
  PJRT_Event* event = NULL;
  const int64_t keep[] = {0};
  PJRT_ExecuteOptions options = {
      .struct_size = sizeof(options), .non_donatable_input_indices = keep, .num_non_donatable_input_indices = 1};
  for (int round = 0; round < 2; ++round) {
    OK(execute(executable, arguments, 2, results, &options, &event));
    PJRT_Event_OnReady_Args on = {
        .struct_size = sizeof(on), .event = event, .callback = count_call, .user_arg = &calls};
    OK(api->Event_OnReady(&on));
    await(event);
    read_buffer(results[0], sum, sizeof(sum));
    read_buffer(results[1], less, sizeof(less));
    for (int i = 0; i < 4; ++i) assert_true(sum[i] == 5 && less[i] == (i < 2));
    destroy_buffer(results[0]);
    destroy_buffer(results[1]);
    assert_int_equal(is_deleted(arguments[0]), round);  // donated when nothing speaks against it
    options.num_non_donatable_input_indices = 0;
  }
  assert_false(is_deleted(arguments[1]));
  PJRT_Buffer* twice[] = {arguments[1], arguments[1]};
  expect_error(execute(executable, twice, 2, results, NULL, NULL), PJRT_INVALID_ARGUMENT, "one of them is donated");
  assert_false(is_deleted(arguments[1]));
  expect_error(execute(executable, arguments, 2, results, NULL, NULL), PJRT_INVALID_ARGUMENT, "donated");
  expect_error(execute(executable, arguments, 1, results, NULL, NULL), PJRT_INVALID_ARGUMENT, "takes 2 arguments");
  destroy_buffer(arguments[0]);
  arguments[0] = make_buffer(less, PRED, (const int64_t[]){4}, 1);
  expect_error(execute(executable, arguments, 2, results, NULL, NULL), PJRT_INVALID_ARGUMENT, "argument 0");
  destroy_buffer(arguments[0]);
  destroy_buffer(arguments[1]);
}

static void test_execute(void** state) {
  (void)state;
  PJRT_LoadedExecutable* executable;
  OK(compile(program_text, "mlir", NULL, 0, &executable));
  run_once(executable);
  ARGS(LoadedExecutable_Delete, .executable = executable);
  OK(api->LoadedExecutable_Delete(&args));
  float a[4] = {0};
  PJRT_Buffer* buffer = make_buffer(a, F32, (const int64_t[]){4}, 1);
  PJRT_Buffer *arguments[] = {buffer, buffer}, *results[2];
  expect_error(execute(executable, arguments, 2, results, NULL, NULL), PJRT_INVALID_ARGUMENT, "was deleted");
  destroy_buffer(buffer);
  destroy_executable(executable);
}

static void test_error_buffer(void** state) {
  (void)state;
  PJRT_LoadedExecutable* executable;
  OK(compile(program_text, "mlir", NULL, 0, &executable));
  ARGS(Client_CreateErrorBuffer, .client = client, .code = 13, .message = "burnt", .message_size = 5,
       .dims = (const int64_t[]){4}, .num_dims = 1, .type = F32);
  OK(api->Client_CreateErrorBuffer(&args));
  PJRT_Buffer *arguments[] = {args.buffer, args.buffer}, *results[2];
  expect_error(execute(executable, arguments, 2, results, NULL, NULL), 13, "burnt");
  destroy_buffer(args.buffer);
  destroy_executable(executable);
}

static void test_compile_errors(void** state) {
  (void)state;
  PJRT_LoadedExecutable* executable;
  // ExecutableBuildOptionsProto with two partitions, an unknown flag, and what is no message
  static const char partitions[] = {3 << 3 | 2, 2, 5 << 3, 2};
  static const char flag[] = {7 << 3 | 2, 12, 1 << 3 | 2, 3, 'a', '-', 'b',
                              2 << 3 | 2, 5,  1 << 3 | 2, 3, 'x', 'y', 'z'};
  static const char broken[] = {3 << 3 | 2, 100};
  // xla_ftz with no value, and with a field of another kind than its own
  static const char no_value[] = {7 << 3 | 2, 9, 1 << 3 | 2, 7, 'x', 'l', 'a', '_', 'f', 't', 'z'};
  static const char no_text[] = {7 << 3 | 2, 13,  1 << 3 | 2, 7,          'x', 'l',    'a', '_',
                                 'f',        't', 'z',        2 << 3 | 2, 2,   1 << 3, 1};
  expect_error(compile("module {", "mlir", NULL, 0, &executable), PJRT_INVALID_ARGUMENT, "error:");
  expect_error(compile("", "hlo", NULL, 0, &executable), PJRT_UNIMPLEMENTED, "not as 'hlo'");
  expect_error(compile("module {}", "mlir", NULL, 0, &executable), PJRT_INVALID_ARGUMENT, "no function main");
  expect_error(compile(program_text, "mlir", partitions, sizeof(partitions), &executable), PJRT_UNIMPLEMENTED,
               "2 partitions");
  expect_error(compile(program_text, "mlir", flag, sizeof(flag), &executable), PJRT_INVALID_ARGUMENT, "a-b");
  expect_error(compile(program_text, "mlir", broken, sizeof(broken), &executable), PJRT_INVALID_ARGUMENT, "no message");
  expect_error(compile(program_text, "mlir", no_value, sizeof(no_value), &executable), PJRT_INVALID_ARGUMENT,
               "'xla_ftz' has no value");
  expect_error(compile(program_text, "mlir", no_text, sizeof(no_text), &executable), PJRT_INVALID_ARGUMENT,
               "no message");
  expect_error(compile("module { func.func @main(%a: tensor<?xf32>) { return } }", "mlir", NULL, 0, &executable),
               PJRT_UNIMPLEMENTED, "tensor<?xf32>");
  expect_error(compile("module { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                       "  %0 = stablehlo.custom_call @nobody(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
                       "  return %0 : tensor<2xf32> } }",
                       "mlir", NULL, 0, &executable),
               PJRT_UNIMPLEMENTED, "nobody");
}

static PJRT_Error* deserialize(const char* bytes, size_t size, PJRT_LoadedExecutable** executable) {
  ARGS(Executable_DeserializeAndLoad, .client = client, .bytes = bytes, .bytes_size = size);
  PJRT_Error* error = api->Executable_DeserializeAndLoad(&args);
  *executable = args.executable;
  return error;
}

static void test_serialize(void** state) {
  (void)state;
  PJRT_LoadedExecutable *loaded, *again;
  OK(compile(program_text, "mlir", NULL, 0, &loaded));
  PJRT_LoadedExecutable_GetExecutable_Args get = {.struct_size = sizeof(get), .loaded = loaded};
  OK(api->LoadedExecutable_GetExecutable(&get));
  destroy_executable(loaded);
  ARGS(Executable_Serialize, .executable = get.executable);
  OK(api->Executable_Serialize(&args));
  OK(deserialize(args.bytes, args.bytes_size, &again));
  run_once(again);
  destroy_executable(again);
  // Cut anywhere, and with each byte of the head changed, it is refused or runs, and nothing else happens.
  for (size_t size = 0; size < 400; ++size) {
    char* part = malloc(size + 1);
    memcpy(part, args.bytes, size);
    expect_error(deserialize(part, size, &again), PJRT_INVALID_ARGUMENT, "no executable");
    free(part);
  }
  char* changed = malloc(args.bytes_size);
  for (size_t i = 0; i < 300; ++i) {
    memcpy(changed, args.bytes, args.bytes_size);
    changed[i] ^= (char)0x80;
    PJRT_Error* error = deserialize(changed, args.bytes_size, &again);
    if (error) {
      api->Error_Destroy(&(PJRT_Error_Destroy_Args){.struct_size = sizeof(PJRT_Error_Destroy_Args), .error = error});
    } else {
      destroy_executable(again);
    }
  }
  free(changed);
  args.deleter(args.owner);
  PJRT_Executable_Destroy_Args destroy = {.struct_size = sizeof(destroy), .executable = get.executable};
  OK(api->Executable_Destroy(&destroy));
}

// The layout has the text, the fastest dimension first.
static void expect_layout(const PJRT_Layouts_Extension* extension, PJRT_Layouts_MemoryLayout* layout,
                          const char* text) {
  PJRT_Layouts_MemoryLayout_Serialize_Args args = {.struct_size = sizeof(args), .layout = layout};
  OK(extension->MemoryLayout_Serialize(&args));
  assert_int_equal(args.bytes_size, strlen(text));
  assert_memory_equal(args.bytes, text, args.bytes_size);
  args.deleter(args.owner);
  PJRT_Layouts_MemoryLayout_Destroy_Args destroy = {.struct_size = sizeof(destroy), .layout = layout};
  OK(extension->MemoryLayout_Destroy(&destroy));
}

static void test_layouts(void** state) {
  (void)state;
  const PJRT_Layouts_Extension* extension = api->extensions;
  assert_int_equal(extension->struct_size, sizeof(*extension));
  assert_int_equal(extension->type, PJRT_EXTENSION_LAYOUTS);
  PJRT_Layouts_Default_Args args = {.struct_size = sizeof(args), .client = client, .num_dims = 12};
  OK(extension->Client_GetDefaultLayout(&args));
  expect_layout(extension, args.layout, "{11,10,9,8,7,6,5,4,3,2,1,0}");
  args.num_dims = 65;
  expect_error(extension->Client_GetDefaultLayout(&args), PJRT_INVALID_ARGUMENT, "rank 65");
  PJRT_Layouts_Buffer_Args of = {.struct_size = sizeof(of), .buffer = make_buffer("ab", S8, (int64_t[]){2, 1}, 2)};
  OK(extension->Buffer_MemoryLayout(&of));
  expect_layout(extension, of.layout, "{1,0}");
  destroy_buffer(of.buffer);
  PJRT_LoadedExecutable* loaded;
  OK(compile("func.func public @main(%a: tensor<2x3xf32>, %b: tensor<i8>) -> tensor<i8> { return %b : tensor<i8> }",
             "mlir", NULL, 0, &loaded));
  PJRT_LoadedExecutable_GetExecutable_Args get = {.struct_size = sizeof(get), .loaded = loaded};
  OK(api->LoadedExecutable_GetExecutable(&get));
  PJRT_Layouts_Executable_Args all = {.struct_size = sizeof(all), .executable = get.executable};
  OK(extension->Executable_GetParameterLayouts(&all));
  assert_int_equal(all.count, 2);
  expect_layout(extension, all.layouts[0], "{1,0}");
  expect_layout(extension, all.layouts[1], "{}");
  OK(extension->Executable_GetOutputLayouts(&all));
  assert_int_equal(all.count, 1);
  expect_layout(extension, all.layouts[0], "{}");
  PJRT_Executable_Destroy_Args destroy = {.struct_size = sizeof(destroy), .executable = get.executable};
  OK(api->Executable_Destroy(&destroy));
  destroy_executable(loaded);
}

static void test_facts(void** state) {
  (void)state;
  PJRT_LoadedExecutable* loaded;
  OK(compile(program_text, "mlir", NULL, 0, &loaded));
  PJRT_LoadedExecutable_GetExecutable_Args get = {.struct_size = sizeof(get), .loaded = loaded};
  OK(api->LoadedExecutable_GetExecutable(&get));
  PJRT_Executable_Name_Args name = {.struct_size = sizeof(name), .executable = get.executable};
  OK(api->Executable_Name(&name));
  assert_string_equal(name.text, "jit_f");
  PJRT_Executable_OutputElementTypes_Args types = {.struct_size = sizeof(types), .executable = get.executable};
  OK(api->Executable_OutputElementTypes(&types));
  assert_int_equal(types.num_types, 2);
  assert_int_equal(types.types[0], F32);
  assert_int_equal(types.types[1], PRED);
  PJRT_Executable_OutputDimensions_Args dims = {.struct_size = sizeof(dims), .executable = get.executable};
  OK(api->Executable_OutputDimensions(&dims));
  assert_int_equal(dims.dim_sizes[0], 1);
  assert_int_equal(dims.dims[1], 4);
  PJRT_Executable_GetCompiledMemoryStats_Args stats = {.struct_size = sizeof(stats), .executable = get.executable};
  OK(api->Executable_GetCompiledMemoryStats(&stats));
  assert_int_equal(stats.argument_size_in_bytes, 32);
  assert_int_equal(stats.output_size_in_bytes, 20);
  PJRT_Executable_Destroy_Args destroy = {.struct_size = sizeof(destroy), .executable = get.executable};
  OK(api->Executable_Destroy(&destroy));
  destroy_executable(loaded);
}

// A program with a token that calls the host: jax.call5 gives twice what it gets, or fails.
static const char calling_text[] =
    "module @jit_g {\n"
    "  func.func @main(%t: !stablehlo.token, %a: tensor<2xf32>) -> (tensor<2xf32>, !stablehlo.token) {\n"
    "    %0:2 = \"stablehlo.custom_call\"(%t, %a) {call_target_name = \"iree.call\", api_version = 4 : i32,\n"
    "        backend_config = {callee = \"jax.call5\"}, has_side_effect = true}\n"
    "        : (!stablehlo.token, tensor<2xf32>) -> (!stablehlo.token, tensor<2xf32>)\n"
    "    return %0#1, %0#0 : tensor<2xf32>, !stablehlo.token\n"
    "  }\n"
    "}\n";

typedef struct host_array_t {
  int64_t type, rank;
  const int64_t* dims;
  float* data;
} host_array_t;

static int double_it(int64_t number, const host_array_t* arguments, size_t argument_count, host_array_t* results,
                     size_t result_count, char* error, size_t error_size) {
  static float values[2];
  static const int64_t dims[] = {2};
  if (arguments[0].data[0] < 0) {
    strncpy(error, "negative", error_size);
    return 1;
  }
  bool fits = number == 5 && argument_count == 1 && result_count == 1;
  for (int i = 0; i < 2 && fits; ++i) values[i] = 2 * arguments[0].data[i];
  // Zero is answered with an array that is not of the program's type.
  results[0] = (host_array_t){arguments[0].data[0] == 0 ? S32 : F32, 1, dims, values};
  return !fits;
}

static PJRT_Client* client_with_callback(int (*callback)(int64_t, const host_array_t*, size_t, host_array_t*, size_t,
                                                         char*, size_t)) {
  PJRT_NamedValue option = {.struct_size = sizeof(option), .name = "host_callback", .name_size = 13};
  option.kind = PJRT_INT64;
  option.int64_value = (int64_t)(uintptr_t)callback;
  option.value_size = 1;
  ARGS(Client_Create, .create_options = &option, .num_options = 1);
  OK(api->Client_Create(&args));
  return args.client;
}

static void call_host(PJRT_LoadedExecutable* executable, const float a[2], int code, const char* error) {
  PJRT_Buffer *argument = make_buffer(a, F32, (const int64_t[]){2}, 1), *results[2],
              *arguments[] = {argument, argument};
  float doubled[2];
  if (error) {
    expect_error(execute(executable, arguments, 2, results, NULL, NULL), code, error);
  } else {
    OK(execute(executable, arguments, 2, results, NULL, NULL));
    read_buffer(results[0], doubled, sizeof(doubled));
    for (int i = 0; i < 2; ++i) assert_true(doubled[i] == 2 * a[i]);
    destroy_buffer(results[0]);
    destroy_buffer(results[1]);
  }
  destroy_buffer(argument);
}

static void test_callbacks(void** state) {
  (void)state;
  PJRT_LoadedExecutable* executable;
  PJRT_Client* without = client;
  client = client_with_callback(double_it);
  OK(compile(calling_text, "mlir", NULL, 0, &executable));
  call_host(executable, (const float[]){1, 2}, 0, NULL);
  call_host(executable, (const float[]){-1, 2}, PJRT_INTERNAL, "negative");
  call_host(executable, (const float[]){0, 2}, PJRT_INVALID_ARGUMENT, "element type mismatch");
  call_host(executable, (const float[]){3, 4}, 0, NULL);
  destroy_executable(executable);
  ARGS(Client_Destroy, .client = client);
  OK(api->Client_Destroy(&args));
  client = without;
  OK(compile(calling_text, "mlir", NULL, 0, &executable));
  call_host(executable, (const float[]){1, 2}, 14, "host_callback");
  destroy_executable(executable);
}

// All memories of a host's device are the same bytes; buffers know which they are in.
static void test_memories(void** state) {
  (void)state;
  static const char* const kinds[] = {"device", "pinned_host", "unpinned_host"};
  float data[2] = {1, 2}, out[2];
  PJRT_Buffer* buffer = make_buffer(data, F32, (const int64_t[]){2}, 1);
  ARGS(Client_AddressableMemories, .client = client);
  OK(api->Client_AddressableMemories(&args));
  assert_int_equal(args.num_memories, 3);
  for (size_t i = 0; i < args.num_memories; ++i) {
    PJRT_Memory_Kind_Args kind = {.struct_size = sizeof(kind), .memory = args.memories[i]};
    OK(api->Memory_Kind(&kind));
    assert_string_equal(kind.text, kinds[i]);
    PJRT_Memory_Id_Args id = {.struct_size = sizeof(id), .memory = args.memories[i]};
    OK(api->Memory_Id(&id));
    assert_int_equal(id.id, i);
    PJRT_Buffer_CopyToMemory_Args copy = {
        .struct_size = sizeof(copy), .buffer = buffer, .dst_memory = args.memories[i]};
    OK(api->Buffer_CopyToMemory(&copy));
    PJRT_Buffer_Memory_Args memory = {.struct_size = sizeof(memory), .buffer = copy.dst_buffer};
    OK(api->Buffer_Memory(&memory));
    assert_ptr_equal(memory.memory, args.memories[i]);
    read_buffer(copy.dst_buffer, out, sizeof(out));
    assert_memory_equal(out, data, sizeof(out));
    destroy_buffer(copy.dst_buffer);
  }
  destroy_buffer(buffer);
  PJRT_LoadedExecutable* executable;
  expect_error(
      compile("module { func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32> {mhlo.memory_kind = \"moon\"}) {\n"
              "  return %a : tensor<2xf32> } }",
              "mlir", NULL, 0, &executable),
      PJRT_UNIMPLEMENTED, "result 0 is wanted in memory 'moon'");
}

static void test_refused(void** state) {
  (void)state;
  ARGS(Compile, .program = NULL);
  expect_error(api->Compile(&args), PJRT_UNIMPLEMENTED, "PJRT_Compile is not supported");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),           cmocka_unit_test(test_struct_sizes), cmocka_unit_test(test_options),
      cmocka_unit_test(test_devices),         cmocka_unit_test(test_strides),      cmocka_unit_test(test_packed),
      cmocka_unit_test(test_refused_buffers), cmocka_unit_test(test_zero_copy),    cmocka_unit_test(test_deleted),
      cmocka_unit_test(test_events),          cmocka_unit_test(test_execute),      cmocka_unit_test(test_error_buffer),
      cmocka_unit_test(test_compile_errors),  cmocka_unit_test(test_serialize),    cmocka_unit_test(test_facts),
      cmocka_unit_test(test_callbacks),       cmocka_unit_test(test_refused),      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_memories),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
