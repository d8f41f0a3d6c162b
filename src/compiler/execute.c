// See execute.h. The system's loader maps the executable from memory: embedded ELF files need no other library.
#include "compiler/execute.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "iree/hal/local/executable_library.h"

struct execute_code_t {
  memory_cleanup_t cleanup;  // unloads it
  void* library;
  const iree_hal_executable_library_v0_t* tables;
};

static const iree_hal_executable_environment_v0_t environment;

static void* load(const void* data, size_t size) {
  char path[64];
  int file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0) return NULL;
  snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  size_t written = 0;
  while (written < size) {
    ssize_t step = write(file, (const char*)data + written, size - written);
    if (step <= 0) break;
    written += (size_t)step;
  }
  void* library = written == size ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  close(file);
  return library;
}

static void unload(void* user) {
  execute_code_t* code = user;
  if (code->library) dlclose(code->library);
}

execute_code_t* execute_open(const target_executable_t* executable) {
  execute_code_t* code = memory_alloc(sizeof(*code));
  memory_cleanup_add(&code->cleanup, unload, code);
  iree_hal_executable_library_query_fn_t query = NULL;
  code->library = load(executable->data, executable->size);
  if (code->library) *(void**)&query = dlsym(code->library, "iree_hal_executable_library_query");
  if (query) code->tables = (const void*)query(IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, &environment);
  if (code->tables && code->tables->exports.count == executable->entry_count) return code;
  execute_close(code);
  return NULL;
}

void execute_close(execute_code_t* code) {
  if (!code) return;
  memory_cleanup_remove(&code->cleanup);
  unload(code);
  memory_free(code);
}

//===----------------------------------------------------------------------------------------------------------------===
// Workgroups
//===----------------------------------------------------------------------------------------------------------------===

typedef struct sharing_t {
  const execute_code_t* code;
  const execute_call_t* call;
  iree_hal_executable_dispatch_state_v0_t state;
  uint64_t count;
  atomic_uint_least64_t next;
  atomic_bool failed;
} sharing_t;

static void* run_share(void* argument) {
  sharing_t* s = argument;
  const execute_call_t* call = s->call;
  const iree_hal_executable_export_table_v0_t* exports = &s->code->tables->exports;
  size_t page = IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE;
  size_t local = exports->attrs ? exports->attrs[call->entry].local_memory_pages * page : 0;
  iree_hal_executable_workgroup_state_v0_t group = {.local_memory = local ? aligned_alloc(page, local) : NULL,
                                                    .local_memory_size = (uint32_t)local};
  if (local && !group.local_memory) s->failed = true;
  for (uint64_t i; !s->failed && (i = atomic_fetch_add(&s->next, 1)) < s->count;) {
    group.workgroup_id_x = (uint32_t)(i % call->workgroups[0]);
    group.workgroup_id_y = (uint32_t)(i / call->workgroups[0] % call->workgroups[1]);
    group.workgroup_id_z = (uint16_t)(i / call->workgroups[0] / call->workgroups[1]);
    if (exports->ptrs[call->entry](&environment, &s->state, &group)) s->failed = true;
  }
  free(group.local_memory);
  return NULL;
}

bool execute_run(const execute_code_t* code, const execute_call_t* call) {
  enum { MOST_THREADS = 64 };
  pthread_t threads[MOST_THREADS];
  uint32_t started = 0, wanted = call->threads > MOST_THREADS ? MOST_THREADS : call->threads;
  sharing_t s = {.code = code,
                 .call = call,
                 .state = {.workgroup_size_x = 1,
                           .workgroup_size_y = 1,
                           .workgroup_size_z = 1,
                           .workgroup_count_x = call->workgroups[0],
                           .workgroup_count_y = call->workgroups[1],
                           .workgroup_count_z = (uint16_t)call->workgroups[2],
                           .constant_count = (uint16_t)call->word_count,
                           .constants = call->words,
                           .binding_count = (uint8_t)call->binding_count,
                           .binding_ptrs = call->bindings,
                           .binding_lengths = call->lengths}};
  s.count = (uint64_t)call->workgroups[0] * call->workgroups[1] * call->workgroups[2];
  while (started + 1 < wanted && started + 1 < s.count && pthread_create(&threads[started], NULL, run_share, &s) == 0) {
    ++started;
  }
  run_share(&s);
  for (uint32_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
  return !s.failed;
}
