// What the tests of the conformance suite share: the device under test and short ways to use it.
#ifndef TESTS_CTS_CTS_H_
#define TESTS_CTS_CTS_H_

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include "iree/hal/api.h"
#include "iree/io/file_contents.h"
#include "iree/io/file_handle.h"
#include "kernels.h"

// The value of specialization constant 0 of cts->executable.
#define CTS_CONSTANT_VALUE 0x5EEDu

typedef struct cts_t {
  const char* driver_name;
  iree_allocator_t host_allocator;
  iree_hal_driver_t* driver;
  iree_hal_device_t* device;
  iree_hal_allocator_t* allocator;  // the device's
  iree_io_file_contents_t* kernels;
  char format[64];  // of the kernels
  bool is_amd;
  bool fault_is_final;      // a kernel that fails ends the process's use of the vendor's library
  bool fault_ends_process;  // the library aborts it
  bool executes;            // at least one workgroup at a time (hal.dispatch :: concurrency), else commands do nothing
  bool is_gpu;              // functions cannot fail, run in order, or take specialization constants
  bool is_recorded;         // by a device around the one under test, which keeps more alive
  bool has_streams;         // of a vendor's library: cuda, hip
  bool makes_graphs;        // of recordings, by the vendor's library
  bool has_library_channels;      // all channels are the vendor's library's, with a GPU for each rank
  bool has_host_channels;         // none are
  iree_host_size_t device_count;  // that the driver lists by a path
  iree_hal_executable_cache_t* cache;
  iree_hal_executable_t* executable;
  struct sigaction fault_action;  // of memory faults, outside of tests
  bool is_indirect;               // cts_ref names buffers by slots of a table
  iree_host_size_t binding_count;
  iree_hal_buffer_binding_t bindings[64];  // that table
} cts_t;

extern cts_t cts;

// For tests of what GPUs do not have.
#define SKIP_ON_GPU() \
  if (cts.is_gpu) skip()

// For tests that need what commands have done.
#define SKIP_WITHOUT_RESULTS() \
  if (!cts.executes) skip()

// For tests that count who keeps objects.
#define SKIP_RECORDED() \
  if (cts.is_recorded) skip()

// For tests that need buffers themselves, or have tables of their own.
#define SKIP_INDIRECT() \
  if (cts.is_indirect) skip()

// Fails the test with the status's text.
#define CHECK_OK(expr) cts_check((expr), IREE_STATUS_OK, __FILE__, __LINE__)
#define CHECK_CODE(code, expr) cts_check((expr), IREE_STATUS_##code, __FILE__, __LINE__)
void cts_check(iree_status_t status, iree_status_code_t code, const char* file, int line);

// A buffer that the host can map, of `size` bytes, all `fill`.
iree_hal_buffer_t* cts_buffer(iree_device_size_t size, uint8_t fill);
void cts_read(iree_hal_buffer_t* buffer, void* data, iree_device_size_t size);
uint32_t cts_word(iree_hal_buffer_t* buffer, iree_host_size_t index);
// Checks that bytes [begin, end) are `value`.
void cts_expect_bytes(iree_hal_buffer_t* buffer, iree_device_size_t begin, iree_device_size_t end, uint8_t value);

iree_hal_semaphore_t* cts_semaphore(uint64_t initial_value);
// The caller's memory as a file.
iree_hal_file_t* cts_memory_file(void* data, iree_host_size_t size, iree_io_file_access_t access);

// The device of the suites goes, with all that its work still holds, and comes again: for tests that count.
void cts_close_device(void);
// A device as the command line says; and the one that the driver lists there.
iree_hal_device_t* cts_create_device(void);
iree_hal_device_t* cts_create_device_at(int ordinal);
void cts_open_device(void);

// A device of the test's own with the test functions, for it to break or to load (own.c).
typedef struct cts_own_t {
  iree_hal_device_t* device;
  iree_hal_executable_cache_t* cache;
  iree_hal_executable_t* executable;
} cts_own_t;
cts_own_t cts_own_open(void);
cts_own_t cts_own_open_at(int ordinal);
void cts_own_close(cts_own_t* own);
// On any device, from any thread. The semaphore begins with 0, the buffer is mappable and full of zeros.
iree_hal_semaphore_t* cts_semaphore_of(iree_hal_device_t* device);
iree_hal_buffer_t* cts_buffer_of(iree_hal_device_t* device, iree_device_size_t size);

// A list of one; `storage` holds it.
typedef struct cts_point_t {
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} cts_point_t;
#define CTS_POINT(semaphore, value) cts_point_list(&(cts_point_t){(semaphore), (value)})
iree_hal_semaphore_list_t cts_point_list(cts_point_t* point);

// A range of a buffer for recording: the buffer itself, or a slot of the table that cts_execute uses when it is given
// none. Every suite that records runs with both.
iree_hal_buffer_ref_t cts_ref(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t length);
iree_hal_command_buffer_t* cts_begin(iree_hal_command_buffer_mode_t mode, iree_host_size_t binding_capacity);
void cts_barrier(iree_hal_command_buffer_t* command_buffer);
// Ends recording.
void cts_end(iree_hal_command_buffer_t* command_buffer);
// Executes, waits and returns the outcome.
iree_status_t cts_execute(iree_hal_command_buffer_t* command_buffer, iree_host_size_t binding_count,
                          const iree_hal_buffer_binding_t* bindings);
// Ends, executes, checks and releases.
void cts_finish(iree_hal_command_buffer_t* command_buffer);

// Records a dispatch of a test function.
iree_status_t cts_dispatch(iree_hal_command_buffer_t* command_buffer, uint32_t function, uint32_t group_count,
                           iree_host_size_t constant_count, const uint32_t* constants, iree_host_size_t binding_count,
                           const iree_hal_buffer_ref_t* bindings);
// The same of one that writes `counts` into `count`, at byte 4, and behind a barrier one of so many workgroups, each of
// which adds 1 to the word `out`.
void cts_dispatch_counted(iree_hal_command_buffer_t* command_buffer, const uint32_t counts[3], iree_hal_buffer_t* count,
                          iree_hal_buffer_t* out);

// Tables of tests, one per file.
typedef struct cts_suite_t {
  const char* name;
  const struct CMUnitTest* tests;
  size_t count;
  bool records;  // run twice, also with is_indirect
} cts_suite_t;
#define CTS_SUITE(suite, ...)                                     \
  static const struct CMUnitTest suite##_tests[] = {__VA_ARGS__}; \
  const cts_suite_t cts_##suite = {#suite, suite##_tests, IREE_ARRAYSIZE(suite##_tests), false}
#define CTS_RECORDING_SUITE(suite, ...)                           \
  static const struct CMUnitTest suite##_tests[] = {__VA_ARGS__}; \
  const cts_suite_t cts_##suite = {#suite, suite##_tests, IREE_ARRAYSIZE(suite##_tests), true}

#endif  // TESTS_CTS_CTS_H_
