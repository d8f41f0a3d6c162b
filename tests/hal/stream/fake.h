// What tests tell a double of libamdhip64 or libcuda (fake.c). `set_failing`: one thread, while nothing runs.
#ifndef IREE_C_TESTS_HAL_STREAM_FAKE_H_
#define IREE_C_TESTS_HAL_STREAM_FAKE_H_

#define FAKE_HIP_ARCHITECTURE "gfx90a:sramecc+:xnack-"
enum { FAKE_ERROR = 2 };  // hipErrorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY

typedef struct fake_t {
  // From now on, calls of `symbol` numbered `from` to `until` fail, from 1; other symbols' do not.
  void (*set_failing)(const char* symbol, int from, int until);
  // Calls of a symbol since, and of all of them.
  int (*calls)(const char* symbol);
  int (*all_calls)(void);
  // Nodes that captures were told to depend on since.
  long (*dependencies)(void);
  // Memory, registrations, contexts, modules, streams, events, graphs and linkers that are there.
  long (*live)(void);
} fake_t;
#define FAKE_SYMBOL "fake_library"  // of the library's fake_t

#endif  // IREE_C_TESTS_HAL_STREAM_FAKE_H_
