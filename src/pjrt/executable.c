// What is asked of executables, and their serialized form.
#include <stdio.h>

#include "pjrt/pjrt.h"

static void destroy_program(pjrt_program_t* program) {
  pjrt_signature_finish(&program->signature);
  free(program->options);
  free(program->source);
  free(program->code);
  free(program->types);
  free(program->ranks);
  free(program->kind_sizes);
  free(program->dims);
  free(program->kinds);
  free(program->layouts);
  free(program);
}

void pjrt_program_release(pjrt_program_t* program) {
  if (program && iree_atomic_ref_count_dec(&program->ref_count) == 1) destroy_program(program);
}

static int64_t total_bytes(const pjrt_value_t* values, uint32_t count) {
  int64_t total = 0;
  for (uint32_t i = 0; i < count; ++i) total += pjrt_value_bytes(&values[i]);
  return total;
}

uint64_t pjrt_hash(uint64_t hash, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const uint8_t*)bytes)[i]) * 0x100000001b3u;
  return hash;
}

// Of the module and what it was made with, twice.
static void mark(pjrt_program_t* program) {
  uint64_t hash[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
  for (int h = 0; h < 2; ++h) {
    hash[h] = pjrt_hash(hash[h], program->code, program->code_size);
    hash[h] = pjrt_hash(hash[h], program->options, program->options_size);
  }
  snprintf(program->fingerprint, sizeof(program->fingerprint), "%016llx%016llx", (unsigned long long)hash[0],
           (unsigned long long)hash[1]);
}

static size_t count_tensors(const pjrt_value_t* values, size_t count) {
  size_t tensors = 0;
  for (size_t i = 0; i < count; ++i) tensors += values[i].type != PJRT_TYPE_TOKEN;
  return tensors;
}

static bool set_layouts(pjrt_program_t* program) {
  const pjrt_signature_t* s = &program->signature;
  program->layouts = calloc((size_t)s->argument_count + s->result_count + 1, sizeof(*program->layouts));
  PJRT_Layouts_MemoryLayout** next = program->layouts;
  for (size_t i = 0; next && i < s->argument_count; ++i) *next++ = pjrt_layout_of_rank(s->arguments[i].rank);
  for (size_t i = 0; next && i < s->result_count; ++i) *next++ = pjrt_layout_of_rank(s->results[i].rank);
  return program->layouts;
}

bool pjrt_program_complete(pjrt_program_t* program) {
  const pjrt_signature_t* s = &program->signature;
  size_t count = s->result_count, dims = 0;
  for (size_t i = 0; i < count; ++i) dims += s->results[i].rank;
  program->types = calloc(count + 1, sizeof(*program->types));
  program->ranks = calloc(count + 1, sizeof(*program->ranks));
  program->kind_sizes = calloc(count + 1, sizeof(*program->kind_sizes));
  program->kinds = calloc(count + 1, sizeof(*program->kinds));
  program->dims = calloc(dims + 1, sizeof(*program->dims));
  if (!program->types || !program->ranks || !program->kind_sizes || !program->kinds || !program->dims) return false;
  int64_t* next = program->dims;
  for (size_t i = 0; i < count; ++i) {
    program->types[i] = s->results[i].type;
    program->ranks[i] = s->results[i].rank;
    program->kinds[i] = pjrt_memory_kind_text(s->results[i].memory);
    program->kind_sizes[i] = strlen(program->kinds[i]);
    if (s->results[i].rank) memcpy(next, s->results[i].dims, s->results[i].rank * sizeof(*next));
    next += s->results[i].rank;
  }
  static const char* const names[] = {"flops", "transcendentals", "bytes accessed"};
  int64_t bytes = total_bytes(s->arguments, s->argument_count) + total_bytes(s->results, s->result_count);
  const float values[] = {(float)s->cost.flops, (float)s->cost.transcendentals, (float)bytes};
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
    PJRT_NamedValue value = {sizeof(value), NULL, names[i], strlen(names[i]), PJRT_FLOAT, {0}, 1};
    value.float_value = values[i];
    program->cost[i] = value;
  }
  if (!set_layouts(program)) return false;
  program->inputs = count_tensors(s->arguments, s->argument_count);
  program->outputs = count_tensors(s->results, s->result_count);
  mark(program);
  return true;
}

static iree_status_t append_modules(PJRT_LoadedExecutable* executable) {
  const pjrt_program_t* program = executable->program;
  if (program->signature.calls_host) {
    iree_vm_module_t* callbacks = NULL;
    PJRT_Error* error = pjrt_callbacks_create(executable->device, &callbacks);
    if (error) {
      pjrt_error_free(error);
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    }
    iree_status_t status = iree_runtime_session_append_module(executable->session, callbacks);
    iree_vm_module_release(callbacks);
    IREE_RETURN_IF_ERROR(status);
  }
  iree_const_byte_span_t code = iree_make_const_byte_span(program->code, program->code_size);
  return iree_runtime_session_append_bytecode_module_from_memory(executable->session, code, iree_allocator_null());
}

// Serialized executables say both what the function takes and what the program does.
static iree_status_t check_function(const PJRT_LoadedExecutable* executable) {
  const pjrt_program_t* program = executable->program;
  iree_string_view_t has = iree_vm_function_signature(&executable->function).calling_convention;
  size_t inputs = program->inputs + program->signature.storage_count + 2, outputs = program->outputs,
         size = inputs + 2 + iree_max(outputs, 1);
  bool fits = has.size == size && has.data[0] == '0' && has.data[inputs + 1] == '_';
  for (size_t i = 1; i < size && fits; ++i) {
    fits = i == inputs + 1 || has.data[i] == (i > inputs && !outputs ? 'v' : 'r');
  }
  if (fits) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the function is '%.*s', which is not what the program says",
                          (int)has.size, has.data);
}

// Recursive: a callback may call the program that called it.
static void initialize_lock(pthread_mutex_t* lock) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

PJRT_Error* pjrt_executable_load(PJRT_Client* client, pjrt_program_t* program, const pjrt_options_t* options,
                                 PJRT_LoadedExecutable** out_executable) {
  PJRT_LoadedExecutable* executable = calloc(1, sizeof(*executable));
  if (!executable) {
    pjrt_program_release(program);
    return pjrt_no_memory();
  }
  executable->program = program;
  executable->device = client->devices[options->device];
  PJRT_Device* device = executable->device;
  bool is_inline = device->inline_hal && program->signature.is_small;
  iree_runtime_session_options_t session_options;
  iree_runtime_session_options_initialize(&session_options);
  iree_status_t status = iree_runtime_session_create_with_device(client->instance, &session_options,
                                                                 is_inline ? device->inline_hal : device->hal,
                                                                 iree_allocator_system(), &executable->session);
  if (iree_status_is_ok(status)) status = append_modules(executable);
  if (iree_status_is_ok(status)) {
    status = iree_runtime_session_lookup_function(
        executable->session, iree_make_cstring_view(program->signature.function), &executable->function);
  }
  if (iree_status_is_ok(status)) status = check_function(executable);
  if (iree_status_is_ok(status)) {
    initialize_lock(&executable->lock);
    *out_executable = executable;
    return NULL;
  }
  iree_runtime_session_release(executable->session);
  pjrt_program_release(program);
  free(executable);
  return pjrt_error_from_status(status);
}

//===----------------------------------------------------------------------------------------------------------------===
// Handles
//===----------------------------------------------------------------------------------------------------------------===

PJRT_Error* api_Executable_Destroy(PJRT_Executable_Destroy_Args* args) {
  if (args->executable) pjrt_program_release(args->executable->program);
  free(args->executable);
  return NULL;
}

static void unload(PJRT_LoadedExecutable* executable) {
  pthread_mutex_lock(&executable->lock);
  pthread_mutex_lock(&executable->device->lock);
  iree_runtime_session_t* session = executable->session;
  executable->session = NULL;
  // Work under way keeps what it uses, but for the module's memory, which is the program's.
  pjrt_point_t last = pjrt_point_retain((pjrt_point_t){executable->device->timeline, executable->device->submitted});
  pthread_mutex_unlock(&executable->device->lock);
  pthread_mutex_unlock(&executable->lock);
  if (session) pjrt_error_free(pjrt_point_wait(last));
  pjrt_point_release(&last);
  iree_runtime_session_release(session);
}

PJRT_Error* api_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  PJRT_LoadedExecutable* executable = args->executable;
  if (!executable) return NULL;
  unload(executable);
  pthread_mutex_destroy(&executable->lock);
  pjrt_program_release(executable->program);
  free(executable);
  return NULL;
}

PJRT_Error* api_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args* args) {
  unload(args->executable);
  return NULL;
}

PJRT_Error* api_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  args->is_deleted = !args->executable->session;
  return NULL;
}

PJRT_Error* api_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  PJRT_Executable* executable = calloc(1, sizeof(*executable));
  if (!executable) return pjrt_no_memory();
  executable->program = args->loaded->program;
  iree_atomic_ref_count_inc(&executable->program->ref_count);
  args->executable = executable;
  return NULL;
}

PJRT_Error* api_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  PJRT_Device* device = args->executable->device;
  args->devices = &device->client->devices[device->description.id];
  args->num_devices = 1;
  return NULL;
}

// DeviceAssignmentProto: one replica of one computation.
PJRT_Error* api_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  char* bytes = malloc(16);
  if (!bytes) return pjrt_no_memory();
  const char head[] = {1 << 3, 1, 2 << 3, 1, 3 << 3 | 2, 2, 1 << 3, (char)args->executable->device->description.id};
  memcpy(bytes, head, sizeof(head));  // ids below 128 are one byte
  args->bytes = args->owner = bytes;
  args->bytes_size = sizeof(head);
  args->deleter = free;
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Facts
//===----------------------------------------------------------------------------------------------------------------===

PJRT_Error* api_Executable_Name(PJRT_Executable_Name_Args* args) {
  args->text = args->executable->program->signature.name;
  args->text_size = strlen(args->text);
  return NULL;
}

PJRT_Error* api_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args* args) {
  args->count = 1;
  return NULL;
}

PJRT_Error* api_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args* args) {
  args->count = 1;
  return NULL;
}

PJRT_Error* api_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  args->count = args->executable->program->signature.result_count;
  return NULL;
}

PJRT_Error* api_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  args->size_in_bytes = (int64_t)args->executable->program->code_size;
  return NULL;
}

PJRT_Error* api_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args* args) {
  const pjrt_program_t* program = args->executable->program;
  args->properties = program->cost;
  args->num_properties = sizeof(program->cost) / sizeof(program->cost[0]);
  return NULL;
}

PJRT_Error* api_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  const pjrt_signature_t* s = &args->executable->program->signature;
  *args =
      (PJRT_Executable_GetCompiledMemoryStats_Args){.struct_size = args->struct_size, .executable = args->executable};
  args->generated_code_size_in_bytes = (int64_t)args->executable->program->code_size;
  args->argument_size_in_bytes = total_bytes(s->arguments, s->argument_count);
  args->output_size_in_bytes = total_bytes(s->results, s->result_count);
  args->peak_memory_in_bytes = args->argument_size_in_bytes + args->output_size_in_bytes;
  args->total_size_in_bytes = args->peak_memory_in_bytes + args->generated_code_size_in_bytes;
  return NULL;
}

PJRT_Error* api_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args* args) {
  args->types = args->executable->program->types;
  args->num_types = args->executable->program->signature.result_count;
  return NULL;
}

PJRT_Error* api_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args* args) {
  args->num_outputs = args->executable->program->signature.result_count;
  args->dims = args->executable->program->dims;
  args->dim_sizes = args->executable->program->ranks;
  return NULL;
}

PJRT_Error* api_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  args->num_outputs = args->executable->program->signature.result_count;
  args->kinds = args->executable->program->kinds;
  args->kind_sizes = args->executable->program->kind_sizes;
  return NULL;
}

// The program as it was given: what it becomes is no StableHLO. The caller asks for the size first.
PJRT_Error* api_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  static const char format[] = "mlir";
  const pjrt_program_t* program = args->executable->program;
  args->program->format = format;
  args->program->format_size = sizeof(format) - 1;
  if (args->program->code && args->program->code_size < program->source_size) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "the program has %zu bytes", program->source_size);
  }
  if (args->program->code) memcpy(args->program->code, program->source, program->source_size);
  args->program->code_size = program->source_size;
  return NULL;
}

PJRT_Error* api_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  args->text = args->executable->program->fingerprint;
  args->text_size = strlen(args->text);
  return NULL;
}

PJRT_Error* api_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args* args) {
  args->text = args->executable->program->fingerprint;
  args->text_size = strlen(args->text);
  return NULL;
}

PJRT_Error* api_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args* args) {
  const pjrt_program_t* program = args->executable->program;
  char* bytes = malloc(program->options_size + 1);
  if (!bytes) return pjrt_no_memory();
  memcpy(bytes, program->options, program->options_size);
  args->bytes = args->owner = bytes;
  args->bytes_size = program->options_size;
  args->deleter = free;
  return NULL;
}

PJRT_Error* api_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args* args) {
  args->context = malloc(1);
  return args->context ? NULL : pjrt_no_memory();
}

PJRT_Error* api_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args* args) {
  free(args->context);
  return NULL;
}
