// Functions of the host that programs call: @jax.call<number>, of a module that each client has. The client's option
// `host_callback` is the address of one function for all of them, by which Python's are called. Programs call with
// arrays that are there and wait for what comes back, so that a call of such a program lasts until its last callback.
#include <stdio.h>

#include "iree/modules/hal/types.h"
#include "pjrt/pjrt.h"

enum { ERROR_SIZE = 16 << 10 };

typedef struct host_call_t {
  PJRT_Device* device;
  uint32_t number;
  size_t argument_count, result_count;
  iree_vm_ref_t *arguments, *results;
  pjrt_host_array_t* arrays;  // arguments, then results
  char error[ERROR_SIZE];
} host_call_t;

static iree_status_t from_error(PJRT_Error* error) {
  if (!error) return iree_ok_status();
  PJRT_Error_Message_Args text = {.struct_size = sizeof(text), .error = error};
  api_Error_Message(&text);
  iree_status_t status = iree_make_status(IREE_STATUS_INTERNAL, "%.*s", (int)text.message_size, text.message);
  pjrt_error_free(error);
  return status;
}

// The contents in memory of the host's that is malloc's.
static iree_status_t bring(host_call_t* call, size_t i) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(call->arguments[i], &view));
  size_t size = iree_hal_buffer_view_byte_length(view);
  iree_hal_buffer_t* buffer = iree_hal_buffer_view_buffer(view);
  call->arrays[i].data = malloc(size + 1);
  if (!call->arrays[i].data) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  if (!size) return iree_ok_status();
  if (call->device->client->is_host) return iree_hal_buffer_map_read(buffer, 0, call->arrays[i].data, size);
  return iree_hal_device_transfer_d2h(call->device->hal, buffer, 0, call->arrays[i].data, size,
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}

// A complex array goes to the program as one of its parts, with a dimension more.
static PJRT_Error* make_view(host_call_t* call, const pjrt_host_array_t* array, iree_hal_buffer_view_t** out_view) {
  const pjrt_type_t* type = pjrt_type_find((int)array->type);
  size_t count = 0;
  if (!type || type->bits < 8 || array->rank < 0 || array->rank >= PJRT_MAX_RANK ||
      !pjrt_shape_count(array->dims, (size_t)array->rank, &count)) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "a callback gave an array that cannot be in buffers");
  }
  int64_t dims[PJRT_MAX_RANK + 1];
  size_t rank = (size_t)array->rank, size = count * type->bits / 8;
  if (rank) memcpy(dims, array->dims, rank * sizeof(*dims));
  if (iree_hal_element_numerical_type(type->hal) == IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX) {
    dims[rank++] = 2;
    type = pjrt_type_find(pjrt_type_parse(type->bits == 64 ? "f32" : "f64"));
  }
  iree_hal_buffer_t* buffer = NULL;
  PJRT_Error* error = pjrt_memory_allocate(&call->device->memory[PJRT_MEMORY_DEVICE], size, &buffer);
  if (!error && size) error = pjrt_device_write(call->device, array->data, size, buffer);
  if (!error) error = pjrt_view_create(buffer, type, rank, dims, out_view);
  iree_hal_buffer_release(buffer);
  return error;
}

static iree_status_t invoke(host_call_t* call) {
  const PJRT_Client* client = call->device->client;
  if (!client->host_callback) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "the client was created without the option 'host_callback'");
  }
  for (size_t i = 0; i < call->argument_count; ++i) IREE_RETURN_IF_ERROR(bring(call, i));
  pjrt_host_array_t* results = call->arrays + call->argument_count;
  int failed = client->host_callback(call->number, call->arrays, call->argument_count, results, call->result_count,
                                     call->error, sizeof(call->error));
  if (failed) {
    call->error[sizeof(call->error) - 1] = 0;
    return iree_make_status(IREE_STATUS_INTERNAL, "a callback failed: %s", call->error);
  }
  for (size_t i = 0; i < call->result_count; ++i) {
    iree_hal_buffer_view_t* view = NULL;
    IREE_RETURN_IF_ERROR(from_error(make_view(call, &results[i], &view)));
    call->results[i] = iree_hal_buffer_view_move_ref(view);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// The module
//===----------------------------------------------------------------------------------------------------------------===

// A function that a program has asked for, as it calls it.
typedef struct import_t {
  uint32_t number;
  char* convention;
} import_t;

typedef struct callbacks_t {
  iree_vm_module_t interface;
  PJRT_Device* device;
  import_t* imports;  // by ordinal
  uint32_t count;
} callbacks_t;

static void destroy(void* self) {
  callbacks_t* module = self;
  for (uint32_t i = 0; i < module->count; ++i) free(module->imports[i].convention);
  free(module->imports);
  free(module);
}

static iree_string_view_t get_name(void* self) {
  (void)self;
  return IREE_SV("jax");
}

static iree_vm_module_signature_t get_signature(void* self) {
  (void)self;
  return (iree_vm_module_signature_t){0};
}

static bool add_import(callbacks_t* module, uint32_t number, iree_string_view_t convention) {
  import_t* more = realloc(module->imports, (module->count + 1) * sizeof(*more));
  if (!more) return false;
  module->imports = more;
  more[module->count] = (import_t){number, strndup(convention.data, convention.size)};
  if (!more[module->count].convention) return false;
  ++module->count;
  return true;
}

// Any call<number> of arrays: what it is is found when it is called.
static iree_status_t lookup_function(void* self, iree_vm_function_linkage_t linkage, iree_string_view_t name,
                                     const iree_vm_function_signature_t* expected_signature,
                                     iree_vm_function_t* out_function) {
  callbacks_t* module = self;
  uint32_t number = 0;
  iree_string_view_t convention = expected_signature ? expected_signature->calling_convention : IREE_SV("");
  bool fits = convention.size > 1 && convention.data[0] == '0';
  for (iree_host_size_t i = 1; i < convention.size; ++i) fits &= strchr("rv_", convention.data[i]) != NULL;
  if (!fits || !iree_string_view_consume_prefix(&name, IREE_SV("call")) ||
      !iree_string_view_atoi_uint32(name, &number)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "the module of callbacks has functions call<number> of arrays only");
  }
  if (!add_import(module, number, convention)) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  *out_function = (iree_vm_function_t){&module->interface, (uint16_t)linkage, module->count - 1};
  return iree_ok_status();
}

static iree_status_t get_function(void* self, iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                  iree_vm_function_t* out_function, iree_string_view_t* out_name,
                                  iree_vm_function_signature_t* out_signature) {
  callbacks_t* module = self;
  if (ordinal >= module->count) return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no callback %zu", ordinal);
  if (out_function) *out_function = (iree_vm_function_t){&module->interface, (uint16_t)linkage, (uint32_t)ordinal};
  if (out_name) *out_name = IREE_SV("call");
  if (out_signature) {
    out_signature->calling_convention = iree_make_cstring_view(module->imports[ordinal].convention);
  }
  return iree_ok_status();
}

static iree_status_t alloc_state(void* self, iree_allocator_t allocator, iree_vm_module_state_t** out_module_state) {
  (void)self, (void)allocator;
  *out_module_state = NULL;
  return iree_ok_status();
}

static void free_state(void* self, iree_vm_module_state_t* module_state) { (void)self, (void)module_state; }

static iree_status_t begin_call(void* self, iree_vm_stack_t* stack, iree_vm_function_call_t function_call) {
  (void)stack;
  host_call_t* call = calloc(1, sizeof(*call));
  if (!call) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  const callbacks_t* module = self;
  call->device = module->device;
  call->number = module->imports[function_call.function.ordinal].number;
  call->arguments = (iree_vm_ref_t*)function_call.arguments.data;
  call->results = (iree_vm_ref_t*)function_call.results.data;
  call->argument_count = function_call.arguments.data_length / sizeof(iree_vm_ref_t);
  call->result_count = function_call.results.data_length / sizeof(iree_vm_ref_t);
  call->arrays = calloc(call->argument_count + call->result_count + 1, sizeof(*call->arrays));
  iree_status_t status =
      call->arrays ? invoke(call) : iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  for (size_t i = 0; call->arrays && i < call->argument_count; ++i) free(call->arrays[i].data);
  free(call->arrays);
  free(call);
  return status;
}

PJRT_Error* pjrt_callbacks_create(PJRT_Device* device, iree_vm_module_t** out_module) {
  callbacks_t* module = calloc(1, sizeof(*module));
  if (!module) return pjrt_no_memory();
  module->device = device;
  PJRT_Error* error = pjrt_error_from_status(iree_vm_module_initialize(&module->interface, module));
  if (error) {
    free(module);
    return error;
  }
  module->interface.destroy = destroy;
  module->interface.name = get_name;
  module->interface.signature = get_signature;
  module->interface.lookup_function = lookup_function;
  module->interface.get_function = get_function;
  module->interface.alloc_state = alloc_state;
  module->interface.free_state = free_state;
  module->interface.begin_call = begin_call;
  *out_module = &module->interface;
  return NULL;
}
