// What tests tell the double of libamdhip64 (fake_hip.c). One thread at a time, while nothing runs.
#ifndef IREE_C_TESTS_HAL_STREAM_FAKE_HIP_H_
#define IREE_C_TESTS_HAL_STREAM_FAKE_HIP_H_

#define FAKE_HIP_ARCHITECTURE "gfx90a:sramecc+:xnack-"
enum { FAKE_HIP_ERROR = 2 };  // hipErrorOutOfMemory

// From now on, calls of `symbol` numbered `from` to `until` fail, from 1; other symbols' do not.
typedef void (*fake_hip_fail_fn_t)(const char* symbol, int from, int until);
// Calls of that symbol since.
typedef int (*fake_hip_calls_fn_t)(void);
// Memory, registrations, contexts, modules, streams and events that are there.
typedef long (*fake_hip_live_fn_t)(void);

#endif  // IREE_C_TESTS_HAL_STREAM_FAKE_HIP_H_
