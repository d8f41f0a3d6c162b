// Events of the system: who handles them, and those that are asked for, so that it can be seen what programs make of
// them.
//
// IREE_SOFTGPU_EVENT=KIND[:GPU[:KERNEL]], with commas between several: happens in place of that kernel of the GPU,
// counted from 0 over all its queues. A fault stops its queue, as one of a kernel does; the other kinds are the end of
// the GPU: none of its queues goes on, none is made any more, and their error callbacks are not called. As with ROCr a
// handler that returns SUCCESS has handled the event, and a process where none does ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/hsa/queue.h"

// Newer than Debian's headers.
enum { HW_EXCEPTION_EVENT = 1, HW_EXCEPTION_RESET_OTHER = 1 };
enum { HW_EXCEPTION_CAUSE_NONE = 0, HW_EXCEPTION_CAUSE_HANG = 1, HW_EXCEPTION_CAUSE_ECC = 2 };
typedef struct hw_exception_event_t {
  uint32_t type;
  hsa_agent_t agent;
  int32_t reset_type, reset_cause;
} hw_exception_event_t;
_Static_assert(offsetof(hw_exception_event_t, agent) == offsetof(hsa_amd_event_t, memory_fault), "both begin alike");

//===----------------------------------------------------------------------------------------------------------------===
// Handlers
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_HANDLERS = 16 };

static struct {
  hsa_amd_system_event_callback_t callback;
  void* data;
} handlers[MAX_HANDLERS];
static uint32_t handler_count;
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void* data) {
  REQUIRE_OPEN();
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&handlers_lock);
  bool has_room = handler_count < MAX_HANDLERS;
  if (has_room) {
    handlers[handler_count].callback = callback;
    handlers[handler_count++].data = data;
  }
  pthread_mutex_unlock(&handlers_lock);
  return has_room ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

// All are told. True when one has handled it.
static bool tell(const hsa_amd_event_t* event) {
  pthread_mutex_lock(&handlers_lock);
  uint32_t count = handler_count;
  pthread_mutex_unlock(&handlers_lock);
  bool is_handled = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (handlers[i].callback(event, handlers[i].data) == HSA_STATUS_SUCCESS) is_handled = true;
  }
  return is_handled;
}

void event_memory_fault(agent_t* agent, uint64_t address) {
  hsa_amd_event_t event = {.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT};
  event.memory_fault.agent.handle = (uint64_t)agent;
  event.memory_fault.virtual_address = address;
  event.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  tell(&event);
}

//===----------------------------------------------------------------------------------------------------------------===
// Events that are asked for
//===----------------------------------------------------------------------------------------------------------------===

// EVENT(name, cause, what the GPU does): hardware exceptions
#define EVENTS(EVENT)                                     \
  EVENT(ecc, HW_EXCEPTION_CAUSE_ECC, "has memory errors") \
  EVENT(hang, HW_EXCEPTION_CAUSE_HANG, "hangs")           \
  EVENT(reset, HW_EXCEPTION_CAUSE_NONE, "is reset")
static const struct {
  const char* name;
  int32_t cause;
  const char* what;
} kinds[] = {{"fault", 0, NULL},
#define EVENT(name, cause, what) {#name, cause, what},
             EVENTS(EVENT)
#undef EVENT
};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), MAX_REQUESTS = 16, FAULT_ADDRESS = 0xFA000 };

typedef struct request_t {
  uint32_t kind;
  unsigned long gpu, kernel;
  agent_t* agent;  // once it has happened
} request_t;
static request_t requests[MAX_REQUESTS];
static uint32_t request_count;

static bool read_number(const char** at, const char* end, unsigned long* out) {
  if (*at == end) return true;
  char* after;
  if (**at != ':' || (*at)[1] < '0' || (*at)[1] > '9') return false;
  *out = strtoul(*at + 1, &after, 10);
  *at = after;
  return true;
}

static bool read_request(const char* at, const char* end) {
  request_t request = {0};
  size_t size = strcspn(at, ":,");
  while (request.kind < KIND_COUNT &&
         (strlen(kinds[request.kind].name) != size || strncmp(kinds[request.kind].name, at, size) != 0)) {
    ++request.kind;
  }
  at += size;
  bool is_right = request.kind < KIND_COUNT && read_number(&at, end, &request.gpu) &&
                  read_number(&at, end, &request.kernel) && at == end && request_count < MAX_REQUESTS &&
                  request.gpu < runtime.agent_count - 1;
  if (is_right) requests[request_count++] = request;
  return is_right;
}

bool event_open(void) {
  request_count = 0;
  for (const char* at = getenv("IREE_SOFTGPU_EVENT"); at && *at;) {
    size_t size = strcspn(at, ",");
    if (!read_request(at, at + size)) {
      fprintf(stderr,
              "softgpu: IREE_SOFTGPU_EVENT: '%.*s' is not one of at most %d: fault, ecc, hang or reset, followed by "
              ":GPU:KERNEL for one of %u GPUs\n",
              (int)size, at, MAX_REQUESTS, runtime.agent_count - 1);
      return false;
    }
    at += size + (at[size] == ',');
  }
  return true;
}

void event_close(void) {
  pthread_mutex_lock(&handlers_lock);
  handler_count = 0;
  pthread_mutex_unlock(&handlers_lock);
}

// On the thread of handlers: the queue's own must be able to end meanwhile.
static void tell_exception(void* data) {
  const request_t* request = data;
  hw_exception_event_t event = {.type = HW_EXCEPTION_EVENT,
                                .agent = {(uint64_t)request->agent},
                                .reset_type = HW_EXCEPTION_RESET_OTHER,
                                .reset_cause = kinds[request->kind].cause};
  if (tell((const hsa_amd_event_t*)&event)) return;
  fprintf(stderr, "softgpu: GPU %lu %s, and no handler of system events takes care of it\n", request->gpu,
          kinds[request->kind].what);
  abort();
}

static void carry_out(queue_t* queue, request_t* request) {
  if (!kinds[request->kind].what) {
    event_memory_fault(queue->agent, FAULT_ADDRESS);
    queue_fail(queue, (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT, "a memory fault that was asked for");
    return;
  }
  fprintf(stderr, "softgpu: GPU %lu %s\n", request->gpu, kinds[request->kind].what);
  request->agent = queue->agent;
  queue_stop_agent(queue->agent);
  if (hsa_amd_async_function(tell_exception, request) != HSA_STATUS_SUCCESS) abort();
}

bool event_replaces_kernel(queue_t* queue) {
  if (!request_count) return false;
  uint32_t kernel = __atomic_fetch_add(&queue->agent->kernel_count, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < request_count; ++i) {
    if (requests[i].gpu != queue->agent->ordinal || requests[i].kernel != kernel) continue;
    carry_out(queue, &requests[i]);
    return true;
  }
  return false;
}
