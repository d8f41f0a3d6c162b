// What the plugin's files share: clients, devices, buffers, executables and events behind the interface's handles.
//
//   api.c         the table of functions, and what every call goes through
//   error.c       errors; event.c  events; completion.c  what runs when a device has come to a point of its timeline
//   client.c      clients and their devices, device.c  what is asked of devices; memory.c  where arrays may be
//   types.c       element types; buffer.c  buffers; transfer.c  between host arrays and buffers
//   options.c     compile options (a protocol buffer); signature.c  what a program takes and gives, estimate.c  what it
//                 costs
//   compile.c     programs become executables; executable.c  what is asked of them; execute.c  their runs
//   callback.c    functions of the host that they call; serialize.c  executables as bytes; layout.c  how arrays lie
//
// A device has one timeline, a semaphore on which work is numbered. Work waits for the number before it and signals its
// own, so a buffer is ready when the timeline has come to the number of the work that makes it: a *point*. Points,
// events and buffers may be used by any thread.
#ifndef IREE_C_PJRT_PJRT_H_
#define IREE_C_PJRT_PJRT_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/flags.h"
#include "iree/hal/api.h"
#include "iree/runtime/api.h"
#include "pjrt/interface.h"

// The functions that the table names.
#define CALL(name, ...) PJRT_Error* api_##name(PJRT_##name##_Args* args);
#define QUIET(name, ...) void api_##name(PJRT_##name##_Args* args);
#define REFUSE(name, why, ...)
#include "pjrt/calls.def"

//===----------------------------------------------------------------------------------------------------------------===
// Errors
//===----------------------------------------------------------------------------------------------------------------===

// printf's; never NULL.
PJRT_Error* pjrt_error(int code, const char* format, ...) __attribute__((format(printf, 2, 3)));
PJRT_Error* pjrt_error_text(int code, const char* text, size_t size);
PJRT_Error* pjrt_no_memory(void);
// Consumes the status; NULL when it is OK.
PJRT_Error* pjrt_error_from_status(iree_status_t status);
PJRT_Error* pjrt_error_clone(const PJRT_Error* error);
void pjrt_error_free(PJRT_Error* error);

//===----------------------------------------------------------------------------------------------------------------===
// Points, events
//===----------------------------------------------------------------------------------------------------------------===

// The semaphore is owned; NULL: reached since ever.
typedef struct pjrt_point_t {
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} pjrt_point_t;
static inline pjrt_point_t pjrt_point_retain(pjrt_point_t point) {
  iree_hal_semaphore_retain(point.semaphore);
  return point;
}
static inline void pjrt_point_release(pjrt_point_t* point) {
  iree_hal_semaphore_release(point->semaphore);
  *point = (pjrt_point_t){0};
}
// Whether it is reached or will never be; then *error says which (NULL: reached).
bool pjrt_point_poll(pjrt_point_t point, PJRT_Error** error);
PJRT_Error* pjrt_point_wait(pjrt_point_t point);

// Runs in the device's completion thread, or at once; owns `error`.
typedef void (*pjrt_completion_fn_t)(void* user, PJRT_Error* error);
typedef struct pjrt_completion_t {
  struct pjrt_completion_t* next;
  pjrt_point_t point;
  pjrt_completion_fn_t fn;
  void* user;
} pjrt_completion_t;
typedef struct pjrt_completions_t {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pjrt_completion_t *first, **last;
  pthread_t thread;
  bool started, ending;
} pjrt_completions_t;
void pjrt_completions_initialize(pjrt_completions_t* completions);
// Waits for what is pending.
void pjrt_completions_finish(pjrt_completions_t* completions);
// Calls fn(user, error) once the point is reached or fails. An error means that it will not be called.
PJRT_Error* pjrt_completions_add(pjrt_completions_t* completions, pjrt_point_t point, pjrt_completion_fn_t fn,
                                 void* user);

// An event that somebody sets, and one that a point stands for. Both have one reference, the caller's; NULL when there
// is no memory.
PJRT_Event* pjrt_event_create(void);
PJRT_Event* pjrt_event_at(PJRT_Device* device, pjrt_point_t point);
// One that is set; consumes `error`.
PJRT_Event* pjrt_event_ready(PJRT_Error* error);
void pjrt_event_retain(PJRT_Event* event);
void pjrt_event_release(PJRT_Event* event);
// Consumes `error`; false when it was set before.
bool pjrt_event_set(PJRT_Event* event, PJRT_Error* error);

//===----------------------------------------------------------------------------------------------------------------===
// Clients, devices, memories
//===----------------------------------------------------------------------------------------------------------------===

struct PJRT_DeviceDescription {
  int id;
  char kind[96], debug[128], text[64];
};

typedef enum {
  PJRT_MEMORY_DEVICE,
  PJRT_MEMORY_PINNED_HOST,
  PJRT_MEMORY_UNPINNED_HOST,
  PJRT_MEMORY_KINDS
} pjrt_memory_kind_t;
const char* pjrt_memory_kind_text(pjrt_memory_kind_t kind);
bool pjrt_memory_kind_parse(const char* text, pjrt_memory_kind_t* out_kind);

struct PJRT_Memory {
  PJRT_Device* device;
  pjrt_memory_kind_t kind;
  int id;
  char debug[128], text[64];
};

struct PJRT_Device {
  PJRT_Client* client;
  PJRT_DeviceDescription description;
  PJRT_Memory memory[PJRT_MEMORY_KINDS];  // by their kinds
  PJRT_Memory* memories[PJRT_MEMORY_KINDS];
  size_t memory_count;
  iree_hal_device_t* hal;
  iree_hal_device_t* inline_hal;  // of a host: executes in the caller's thread, in the same memory
  char target[64];                // of a GPU: "sm_90", "gfx942"
  pthread_mutex_t lock;           // the timeline, and executions
  iree_hal_semaphore_t* timeline;
  uint64_t submitted;  // the last number that is given
  uint64_t calls;      // of programs
  pjrt_completions_t completions;
};

struct PJRT_TopologyDescription {
  PJRT_Client* client;
};

// A dense array of the host's. Of arguments only `data` is set, and is the caller's; what a callback gives has to last
// until the next callback in its thread. `type` is the interface's.
typedef struct pjrt_host_array_t {
  int64_t type, rank;
  const int64_t* dims;
  void* data;
} pjrt_host_array_t;
// Non-zero: failed, with a text.
typedef int (*pjrt_host_callback_t)(int64_t number, const pjrt_host_array_t* arguments, size_t argument_count,
                                    pjrt_host_array_t* results, size_t result_count, char* error, size_t error_size);

struct PJRT_Client {
  iree_runtime_instance_t* instance;
  char driver[32];  // "local-task"
  bool is_host;     // devices work in host memory
  char version[96];
  char* flags;                         // more of the compiler's, separated by blanks
  pjrt_host_callback_t host_callback;  // or NULL
  PJRT_TopologyDescription topology;
  size_t device_count, memory_count;
  PJRT_Device** devices;
  PJRT_DeviceDescription** descriptions;
  PJRT_Memory** memories;
};

// The next number of the timeline, and the point before it; the device is locked. A timeline that failed is replaced.
PJRT_Error* pjrt_device_begin(PJRT_Device* device, pjrt_point_t* before, uint64_t* number);

// Devices for a client that has its driver's name; on errors, what is there is freed with the client.
PJRT_Error* pjrt_client_open_devices(PJRT_Client* client);
void pjrt_device_destroy(PJRT_Device* device);

//===----------------------------------------------------------------------------------------------------------------===
// Element types, buffers
//===----------------------------------------------------------------------------------------------------------------===

enum {
#define TYPE(name, hal, bits, text) PJRT_TYPE_##name,
#include "pjrt/types.def"
};

typedef struct pjrt_type_t {
  const char* name;
  iree_hal_element_type_t hal;
  uint32_t bits;
  const char* text;
} pjrt_type_t;
// NULL for numbers that are no type, and types that have no values here (tokens).
const pjrt_type_t* pjrt_type_find(int type);
// The number of a type with this text, or 0.
int pjrt_type_parse(const char* text);
static inline size_t pjrt_type_host_bytes(const pjrt_type_t* type) { return (type->bits + 7) / 8; }
// Elements of a shape; false when there are too many to address, or fewer than none.
bool pjrt_shape_count(const int64_t* dims, size_t rank, size_t* count);

struct PJRT_Buffer {
  PJRT_Device* device;
  PJRT_Memory* memory;
  const pjrt_type_t* type;
  int type_number;
  pthread_mutex_t lock;
  iree_hal_buffer_view_t* view;  // NULL once it is deleted and nobody reads it, and for errors
  pjrt_point_t ready;
  PJRT_Error* error;  // instead of contents
  bool deleted;
  uint32_t readers;  // others that read its memory in place
  bool borrowed;     // its memory is another library's
  uint64_t call;     // the last of its device's that took it, and whether it was donated to that; the device's lock
  bool is_donated;
  iree_hal_buffer_mapping_t mapping;
  size_t rank;
  int64_t* minor_to_major;  // behind the dims
  int64_t dims[];
};

// Takes the view and the point over, also when it fails.
PJRT_Error* pjrt_buffer_create(PJRT_Memory* memory, int type, size_t rank, const int64_t* dims,
                               iree_hal_buffer_view_t* view, pjrt_point_t ready, PJRT_Buffer** out_buffer);
void pjrt_buffer_destroy(PJRT_Buffer* buffer);
void pjrt_buffer_delete(PJRT_Buffer* buffer);
// The contents, retained, and when they are there; an error for buffers that are deleted or stand for one.
PJRT_Error* pjrt_buffer_acquire(PJRT_Buffer* buffer, iree_hal_buffer_view_t** out_view, pjrt_point_t* out_ready);
// The memory of a buffer that the caller acquired once, retained, and the buffer is deleted; NULL where somebody else
// has it, too.
iree_hal_buffer_t* pjrt_buffer_give_up(PJRT_Buffer* buffer);
// Bytes of the contents in a dense host array.
size_t pjrt_buffer_host_size(const PJRT_Buffer* buffer);
// The memories of a device that knows its client and id.
void pjrt_memories_initialize(PJRT_Device* device);
// The memory of a call that names a device, a memory or neither.
PJRT_Memory* pjrt_pick_memory(PJRT_Client* client, PJRT_Device* device, PJRT_Memory* memory);
// A buffer that holds `size` bytes, its contents undefined.
PJRT_Error* pjrt_memory_allocate(PJRT_Memory* memory, size_t size, iree_hal_buffer_t** out_buffer);
// The memory that a buffer of the device's was allocated in.
PJRT_Memory* pjrt_memory_of(PJRT_Device* device, iree_hal_buffer_t* buffer);
// The same contents in a memory of the same device; the device is not locked.
PJRT_Error* pjrt_memory_copy(PJRT_Buffer* buffer, PJRT_Memory* memory, PJRT_Buffer** out_buffer);
// Writes from the host's memory to the head of a buffer, and waits for it.
PJRT_Error* pjrt_device_write(PJRT_Device* device, const void* data, size_t size, iree_hal_buffer_t* buffer);
PJRT_Error* pjrt_view_create(iree_hal_buffer_t* buffer, const pjrt_type_t* type, size_t rank, const int64_t* dims,
                             iree_hal_buffer_view_t** out_view);

// Byte strides of a layout (NULL: row major), for elements of `bytes`. False for layouts with tiles.
bool pjrt_layout_strides(const PJRT_Buffer_MemoryLayout* layout, const int64_t* dims, size_t rank, size_t bytes,
                         int64_t* strides);
// Copies elements of `bytes` between arrays of the same shape with strides of their own.
void pjrt_copy_strided(char* target, const int64_t* target_strides, const char* source, const int64_t* source_strides,
                       const int64_t* dims, size_t rank, size_t bytes);

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

enum { PJRT_MAX_RANK = 64 };

typedef struct pjrt_value_t {
  int type;
  pjrt_memory_kind_t memory;  // results: where it is wanted
  bool donated;               // arguments: what it had may be gone afterwards
  int64_t
      storage;  // of a donated one: the number of the function's argument for a result that may be where it is, or -1
  uint32_t rank;
  int64_t* dims;
} pjrt_value_t;

// What a program costs to run, once through each of its loops' bodies.
typedef struct pjrt_cost_t {
  double flops, transcendentals;
} pjrt_cost_t;

typedef struct pjrt_signature_t {
  char* name;      // of the program
  char* function;  // of its entry: "module.main"
  uint32_t argument_count, result_count;
  pjrt_value_t *arguments, *results;
  uint32_t storage_count;
  bool is_small;  // no op of it is worth a second thread
  bool calls_host;
  pjrt_cost_t cost;
} pjrt_signature_t;
void pjrt_signature_finish(pjrt_signature_t* signature);
int64_t pjrt_value_bytes(const pjrt_value_t* value);
// Reads a program's; errors have the reader's messages.
PJRT_Error* pjrt_signature_read(const char* code, size_t size, pjrt_signature_t* out_signature);

struct ir_region_t;
// Fills in what is said about the program's ops (estimate.c): is_small, calls_host, cost.
void pjrt_estimate(const struct ir_region_t* region, pjrt_signature_t* out);

typedef struct pjrt_options_t {
  int64_t device, replicas, partitions;
  char** flags;  // "--name=value" of the compiler's
  size_t flag_count;
} pjrt_options_t;
PJRT_Error* pjrt_options_parse(const char* bytes, size_t size, pjrt_options_t* out_options);
void pjrt_options_finish(pjrt_options_t* options);

// Shared by the handles of one executable.
typedef struct pjrt_program_t {
  iree_atomic_ref_count_t ref_count;
  pjrt_signature_t signature;
  char* options;  // as they were given
  size_t options_size;
  char* source;  // as it was given
  size_t source_size;
  char* code;  // the module
  size_t code_size;
  char fingerprint[33];
  size_t inputs, outputs;  // of the function: the signature's without tokens; memory for results is behind the inputs
  // What is asked for as arrays.
  int* types;
  size_t *ranks, *kind_sizes;
  int64_t* dims;
  const char** kinds;
  PJRT_Layouts_MemoryLayout** layouts;  // of the arguments and then of the results
  PJRT_NamedValue cost[3];
} pjrt_program_t;
void pjrt_program_release(pjrt_program_t* program);
// FNV-1a over more bytes; the first call's `hash` is any number.
uint64_t pjrt_hash(uint64_t hash, const void* bytes, size_t size);
// Fills in what follows from signature and module. False when there is no memory.
bool pjrt_program_complete(pjrt_program_t* program);

// The layout of arrays of this rank; NULL for more than PJRT_MAX_RANK.
PJRT_Layouts_MemoryLayout* pjrt_layout_of_rank(size_t rank);
extern const PJRT_Layouts_Extension pjrt_layouts_extension;

struct PJRT_Executable {
  pjrt_program_t* program;
};

struct PJRT_LoadedExecutable {
  pjrt_program_t* program;
  PJRT_Device* device;
  iree_runtime_session_t* session;  // NULL once it is deleted
  iree_vm_function_t function;
  pthread_mutex_t lock;  // calls of programs that call the host, which do not hold the device's
};
// The module of the host's functions.
PJRT_Error* pjrt_callbacks_create(PJRT_Device* device, iree_vm_module_t** out_module);
// Takes the program over, also when it fails.
PJRT_Error* pjrt_executable_load(PJRT_Client* client, pjrt_program_t* program, const pjrt_options_t* options,
                                 PJRT_LoadedExecutable** out_executable);
// Compiles the source of a program, whose signature is known, for a device.
PJRT_Error* pjrt_compile(PJRT_Device* device, const pjrt_options_t* options, pjrt_program_t* program);

#endif  // IREE_C_PJRT_PJRT_H_
