// Traces of instructions; see traces.h.
#include "hal/amdgpu/traces.h"

#include "hal/amdgpu/aqlprofile_memory.h"
#include "hal/amdgpu/executable.h"

// Bytes of a trace, and how many there may be at a time; which compute unit and SIMDs of which shader engines.
enum { TRACE_SIZE = 16 << 20, MAX_TRACES = 64, COMPUTE_UNIT = 1, SHADER_ENGINES = 1, ALL_SIMDS = 15 };

typedef struct tracing_t tracing_t;
typedef struct tracing_gpu_t {
  tracing_t* tracing;
  aqlprofile_memory_t memory;
  iree_slim_mutex_t mutex;  // guards what follows
  uint32_t count;
  dispatch_trace_t* idle;
} tracing_gpu_t;

struct tracing_t {
  iree_allocator_t host_allocator;
  system_t* system;  // retained
  libaqlprofile_t library;
  uint32_t gpu_count;
  tracing_gpu_t gpus[];
};

static void destroy_trace(tracing_t* tracing, dispatch_trace_t* trace) {
  if (trace->handle.handle) tracing->library.aqlprofile_att_delete_packets(trace->handle);
  if (trace->code_handle.handle) tracing->library.aqlprofile_att_delete_packets(trace->code_handle);
  iree_allocator_free(tracing->host_allocator, trace);
}

static iree_status_t create_trace(tracing_gpu_t* gpu, dispatch_trace_t** out_trace) {
  static const aqlprofile_att_parameter_t parameters[] = {
      {AQLPROFILE_ATT_COMPUTE_UNIT, COMPUTE_UNIT},
      {AQLPROFILE_ATT_SE_MASK, SHADER_ENGINES},
      {AQLPROFILE_ATT_SIMDS, ALL_SIMDS},
      {AQLPROFILE_ATT_BUFFER_SIZE, TRACE_SIZE},
      {AQLPROFILE_ATT_TIMESTAMPS, 1},
  };
  tracing_t* tracing = gpu->tracing;
  dispatch_trace_t* trace = NULL;
  aqlprofile_att_profile_t profile = {gpu->memory.gpu->agent, parameters, IREE_ARRAYSIZE(parameters)};
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(tracing->host_allocator, sizeof(*trace), (void**)&trace));
  trace->gpu = gpu;
  iree_status_t status =
      LIBAQLPROFILE_CALL(&tracing->library, aqlprofile_att_create_packets, &trace->handle, &trace->packets, profile,
                         aqlprofile_memory_allocate, aqlprofile_memory_free, aqlprofile_memory_copy, &gpu->memory);
  if (iree_status_is_ok(status)) {
    *out_trace = trace;
  } else {
    iree_allocator_free(tracing->host_allocator, trace);
  }
  return status;
}

// An idle one, or a new one, if there may be more; NULL otherwise.
static dispatch_trace_t* take_trace(tracing_gpu_t* gpu) {
  iree_slim_mutex_lock(&gpu->mutex);
  dispatch_trace_t* trace = gpu->idle;
  bool may_create = !trace && gpu->count < MAX_TRACES;
  if (trace) gpu->idle = trace->next;
  if (may_create) ++gpu->count;
  iree_slim_mutex_unlock(&gpu->mutex);
  if (may_create) iree_status_ignore(create_trace(gpu, &trace));
  return trace;
}

static void free_trace(void* data, uint64_t value) {
  dispatch_trace_t* trace = (dispatch_trace_t*)(uintptr_t)value;
  iree_slim_mutex_lock(&trace->gpu->mutex);
  trace->next = trace->gpu->idle;
  trace->gpu->idle = trace;
  iree_slim_mutex_unlock(&trace->gpu->mutex);
}

static iree_status_t tell_code(dispatch_trace_t* trace, uint64_t id, const hal_profile_code_t* code) {
  tracing_t* tracing = trace->gpu->tracing;
  if (trace->code_id == id) return iree_ok_status();
  if (trace->code_handle.handle) tracing->library.aqlprofile_att_delete_packets(trace->code_handle);
  trace->code_handle.handle = trace->code_id = 0;
  aqlprofile_att_code_t told = {.id = id,
                                .address = (uint64_t)code->load_delta,
                                .size = code->load_size,
                                .agent = trace->gpu->memory.gpu->agent,
                                .from_start = 1};
  IREE_RETURN_IF_ERROR(LIBAQLPROFILE_CALL(&tracing->library, aqlprofile_att_codeobj_marker, &trace->code,
                                          &trace->code_handle, told, aqlprofile_memory_allocate, aqlprofile_memory_free,
                                          &trace->gpu->memory));
  trace->code_id = id;
  return iree_ok_status();
}

static uint64_t make_trace(void* data, const hal_profile_queue_t* queue, uint64_t code_id,
                           const hal_profile_code_t* code) {
  dispatch_trace_t* trace = take_trace(&((tracing_t*)data)->gpus[queue->physical]);
  uint64_t value = (uint64_t)(uintptr_t)trace;
  if (!trace || !iree_status_consume_code(tell_code(trace, code_id, code))) return value;
  free_trace(data, value);
  return 0;
}

typedef struct reader_t {
  hal_profile_trace_fn_t fn;
  void* user_data;
} reader_t;

static hsa_status_t read_part(uint32_t shader_engine, void* buffer, uint64_t size, void* data) {
  const reader_t* reader = (const reader_t*)data;
  reader->fn(reader->user_data, shader_engine, buffer, size);
  return HSA_STATUS_SUCCESS;
}

static bool read_trace(void* data, uint64_t trace, hal_profile_trace_fn_t fn, void* user_data) {
  const tracing_t* tracing = (const tracing_t*)data;
  reader_t reader = {fn, user_data};
  return tracing->library.aqlprofile_att_iterate_data(((const dispatch_trace_t*)(uintptr_t)trace)->handle, read_part,
                                                      &reader) == HSA_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Begin and end
//===----------------------------------------------------------------------------------------------------------------===

static void end_tracing(void* data) {
  tracing_t* tracing = (tracing_t*)data;
  for (uint32_t i = 0; i < tracing->gpu_count; ++i) {
    for (dispatch_trace_t* trace = tracing->gpus[i].idle; trace;) {
      dispatch_trace_t* next = trace->next;
      destroy_trace(tracing, trace);
      trace = next;
    }
    iree_slim_mutex_deinitialize(&tracing->gpus[i].mutex);
  }
  system_release(tracing->system);
  iree_allocator_free(tracing->host_allocator, tracing);
}

// A trace is made at once, so that a library that makes none says why.
static iree_status_t initialize(tracing_t* tracing) {
  const libaqlprofile_t* library = &tracing->library;
  IREE_RETURN_IF_ERROR(libaqlprofile_load(tracing->system->hsa, "traces", tracing->host_allocator, &tracing->library));
  if (!library->aqlprofile_att_create_packets || !library->aqlprofile_att_delete_packets ||
      !library->aqlprofile_att_iterate_data || !library->aqlprofile_att_codeobj_marker) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "this libhsa-amd-aqlprofile64 makes no traces; a newer one does");
  }
  for (uint32_t i = 0; i < tracing->gpu_count; ++i) {
    dispatch_trace_t* trace = NULL;
    IREE_RETURN_IF_ERROR(create_trace(&tracing->gpus[i], &trace));
    ++tracing->gpus[i].count;
    free_trace(tracing, (uint64_t)(uintptr_t)trace);
  }
  return iree_ok_status();
}

static iree_status_t begin_tracing(hal_queued_device_t* base, void** out_tracing) {
  logical_device_t* device = (logical_device_t*)base;
  uint32_t count = device->gpu.domain.physical_count;
  tracing_t* tracing = NULL;
  *out_tracing = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(base->host_allocator, sizeof(*tracing), count,
                                                          sizeof(tracing->gpus[0]), (void**)&tracing));
  tracing->host_allocator = base->host_allocator;
  tracing->system = device->system;
  system_retain(tracing->system);
  tracing->gpu_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    tracing->gpus[i].tracing = tracing;
    tracing->gpus[i].memory = (aqlprofile_memory_t){.system = device->system, .gpu = device->physical[i].gpu};
    iree_slim_mutex_initialize(&tracing->gpus[i].mutex);
  }
  iree_status_t status = initialize(tracing);
  if (iree_status_is_ok(status)) {
    *out_tracing = tracing;
  } else {
    end_tracing(tracing);
  }
  return status;
}

const hal_profile_tracing_t amdgpu_tracing = {
    .format = IREE_HAL_PROFILE_EXECUTABLE_TRACE_FORMAT_AMDGPU_ATT,
    .begin = begin_tracing,
    .end = end_tracing,
    .find_code = amdgpu_executable_find_code,
    .make_trace = make_trace,
    .read_trace = read_trace,
    .free_trace = free_trace,
};
