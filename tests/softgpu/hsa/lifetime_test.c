// What ends, and what stays, while kernels run: queues are destroyed under kernels that never end, code in memory that
// no loader told of is written anew, freed, and unloaded beside others.
#include "hsa_code.h"

enum { LONG = 4096, CODE = 256, ENTRY = 4096, ITEMS = 64 };

static const char* const names[] = {"lifetime-gfx1100", "lifetime-gfx942"};

// A kernel's descriptor and code, copied out of a loaded executable.
typedef struct image_t {
  uint8_t descriptor[64], code[CODE];
} image_t;

static image_t copy_image(hsa_executable_t executable, const char* name, uint32_t gpu) {
  image_t image;
  const uint8_t* object =
      (const uint8_t*)test_symbol_info(test_symbol(executable, name, gpu), HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
  int64_t entry = 0;
  memcpy(image.descriptor, object, sizeof(image.descriptor));
  memcpy(&entry, object + 16, sizeof(entry));
  memcpy(image.code, object + entry, CODE);
  entry = ENTRY;
  memcpy(image.descriptor + 16, &entry, sizeof(entry));
  return image;
}

// Puts a kernel at the start of memory that no loader knows.
static void put_image(uint8_t* memory, const image_t* image) {
  memcpy(memory, image->descriptor, sizeof(image->descriptor));
  memcpy(memory + ENTRY, image->code, CODE);
}

typedef struct fixture_t {
  uint32_t gpu;
  hsa_executable_t executable;
  hsa_queue_t* queue;
  uint32_t* out;
  uint32_t** arguments;
} fixture_t;

static fixture_t open_fixture(uint32_t gpu) {
  fixture_t f = {.gpu = gpu, .executable = test_load_file(names[gpu], gpu)};
  assert_ok(hsa_executable_freeze(f.executable, NULL));
  f.queue = test_queue(gpu, 64, NULL, NULL);
  f.out = test_gpu_memory(gpu, LONG);
  f.arguments = test_gpu_memory(gpu, 64);
  *f.arguments = f.out;
  return f;
}

static void close_fixture(fixture_t* f) {
  if (f->queue) assert_ok(hsa_queue_destroy(f->queue));
  assert_ok(hsa_amd_memory_pool_free(f->out));
  assert_ok(hsa_amd_memory_pool_free(f->arguments));
  assert_ok(hsa_executable_destroy(f->executable));
}

static hsa_signal_t submit(const fixture_t* f, uint64_t object, uint32_t groups, uint32_t items) {
  hsa_signal_t done = test_signal(1);
  hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = (uint16_t)items,
                                         .workgroup_size_y = 1,
                                         .workgroup_size_z = 1,
                                         .grid_size_x = groups * items,
                                         .grid_size_y = 1,
                                         .grid_size_z = 1,
                                         .kernel_object = object,
                                         .kernarg_address = f->arguments,
                                         .completion_signal = done};
  test_submit(f->queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
  return done;
}

static uint64_t object_of(const fixture_t* f, const char* name) {
  return test_symbol_info(test_symbol(f->executable, name, f->gpu), HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
}

static void wait_begun(const fixture_t* f) {
  while (!__atomic_load_n(&f->out[0], __ATOMIC_ACQUIRE)) usleep(100);
}

static void let_go(const fixture_t* f) { __atomic_store_n(&f->out[1], 1, __ATOMIC_RELEASE); }

// Kernels that never end, of one workgroup and of many, with waves that wait at a barrier.
static void test_destroy(void** state) {
  static const char* const kernels[] = {"spin.kd", "hold.kd"};
  for (uint32_t gpu = 0; gpu < 2; ++gpu) {
    for (uint32_t i = 0; i < 4; ++i) {
      fixture_t f = open_fixture(gpu);
      hsa_signal_t done = submit(&f, object_of(&f, kernels[i % 2]), i < 2 ? 1 : 600, 128);
      wait_begun(&f);
      assert_ok(hsa_queue_destroy(f.queue));
      f.queue = NULL;
      assert_int_equal(hsa_signal_load_scacquire(done), 1);
      assert_int_equal(f.out[2], 0);
      assert_ok(hsa_signal_destroy(done));
      close_fixture(&f);
    }
  }
}

static void count_error(hsa_status_t status, hsa_queue_t* queue, void* data) { ++*(int*)data; }

static void test_inactivate(void** state) {
  int errors = 0;
  fixture_t f = open_fixture(0);
  assert_ok(hsa_queue_destroy(f.queue));
  f.queue = test_queue(0, 64, count_error, &errors);
  hsa_signal_t done = submit(&f, object_of(&f, "spin.kd"), 1, 64), next = submit(&f, object_of(&f, "one.kd"), 1, 64);
  wait_begun(&f);
  assert_ok(hsa_queue_inactivate(f.queue));
  let_go(&f);
  usleep(5000);
  assert_int_equal(hsa_signal_load_scacquire(done), 1);
  assert_int_equal(hsa_signal_load_scacquire(next), 1);
  assert_int_equal(f.out[2], 0);
  assert_int_equal(errors, 0);
  assert_ok(hsa_signal_destroy(done));
  assert_ok(hsa_signal_destroy(next));
  close_fixture(&f);
}

// Two queues' kernels run when the runtime goes.
static void test_shut_down(void** state) {
  fixture_t f[2] = {open_fixture(0), open_fixture(1)};
  for (uint32_t i = 0; i < 2; ++i) submit(&f[i], object_of(&f[i], "spin.kd"), 3, 64);
  for (uint32_t i = 0; i < 2; ++i) wait_begun(&f[i]);
  assert_ok(hsa_shut_down());
  assert_int_equal(hsa_queue_inactivate(f[0].queue), HSA_STATUS_ERROR_NOT_INITIALIZED);
  test_open(state);
}

static void shut_down_in_callback(hsa_status_t status, hsa_queue_t* queue, void* data) {
  int* step = data;
  if (*step == 1) assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_shut_down());
  __atomic_store_n(step, 2, __ATOMIC_RELEASE);
}

// An error's callback shuts the runtime down, after it destroyed its queue or before.
static void test_shut_down_in_callback(void** state) {
  for (int destroys = 0; destroys < 2; ++destroys) {
    int step = destroys;
    hsa_queue_t *queue = test_queue(0, 64, shut_down_in_callback, &step), *other = test_queue(1, 64, NULL, NULL);
    hsa_barrier_and_packet_t nothing = {0};
    assert_non_null(other);
    test_write(test_slot(queue, 0), &nothing, 77, 0);
    while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != 2) usleep(100);
    test_open(state);
  }
}

static void expect(const fixture_t* f, const uint8_t* memory, uint32_t value) {
  memset(f->out, 0, LONG);
  hsa_signal_t done = submit(f, (uint64_t)memory, 1, ITEMS);
  test_wait_zero(done);
  for (uint32_t i = 0; i < ITEMS; ++i) assert_int_equal(f->out[i], value);
  assert_ok(hsa_signal_destroy(done));
}

// Other code where there was some, with the same descriptor.
static void test_written_anew(void** state) {
  for (uint32_t gpu = 0; gpu < 2; ++gpu) {
    fixture_t f = open_fixture(gpu);
    image_t one = copy_image(f.executable, "one.kd", gpu), two = copy_image(f.executable, "two.kd", gpu);
    memcpy(two.descriptor, one.descriptor, sizeof(two.descriptor));
    uint8_t* memory = test_gpu_memory(gpu, 3 * LONG);
    for (int round = 0; round < 3; ++round) {
      put_image(memory, &one);
      expect(&f, memory, 1);
      put_image(memory, &two);
      expect(&f, memory, 2);
    }
    // Bytes that were no instruction of the kernel may be: what was refused then runs.
    assert_ok(hsa_amd_memory_pool_free(memory));
    close_fixture(&f);
  }
}

// Memory that was freed comes back with other code; pools give the same addresses again.
static void test_freed(void** state) {
  fixture_t f = open_fixture(0);
  image_t one = copy_image(f.executable, "one.kd", 0), two = copy_image(f.executable, "two.kd", 0);
  uint32_t same = 0;
  uint8_t* last = NULL;
  for (uint32_t i = 0; i < 20; ++i) {
    uint8_t* memory = test_gpu_memory(0, 3 * LONG);
    same += memory == last;
    last = memory;
    put_image(memory, i % 2 ? &two : &one);
    expect(&f, memory, i % 2 ? 2 : 1);
    assert_ok(i % 3 ? hsa_amd_memory_pool_free(memory) : hsa_memory_free(memory));
  }
  assert_true(same > 0);
  close_fixture(&f);
}

// An executable goes, and memory, and code is written, while nameless code runs; then its own memory goes.
static void test_beside_running(void** state) {
  for (uint32_t own = 0; own < 2; ++own) {
    fixture_t f = open_fixture(0), other = open_fixture(0);
    image_t one = copy_image(f.executable, "one.kd", 0), two = copy_image(f.executable, "two.kd", 0);
    image_t spin = copy_image(f.executable, "spin.kd", 0);
    uint8_t *memory = test_gpu_memory(0, 3 * LONG), *else_where = test_gpu_memory(0, 3 * LONG);
    put_image(memory, &spin);
    put_image(else_where, &one);
    hsa_signal_t done = submit(&f, (uint64_t)memory, 8, ITEMS);
    wait_begun(&f);
    expect(&other, else_where, 1);
    hsa_executable_t executable = test_load_file(names[0], 0);
    assert_ok(hsa_executable_freeze(executable, NULL));
    assert_ok(hsa_executable_destroy(executable));
    put_image(else_where, &two);
    expect(&other, else_where, 2);
    assert_ok(hsa_amd_memory_pool_free(else_where));
    if (own) assert_ok(hsa_amd_memory_pool_free(memory));
    usleep(5000);
    let_go(&f);
    test_wait_zero(done);
    assert_int_equal(f.out[2], 3);
    if (!own) assert_ok(hsa_amd_memory_pool_free(memory));
    assert_ok(hsa_signal_destroy(done));
    close_fixture(&f);
    close_fixture(&other);
  }
}

// The code of a running kernel is unloaded: an error of the program, which the process outlives.
static void test_unloaded_running(void** state) {
  fixture_t f = open_fixture(1);
  hsa_signal_t done = submit(&f, object_of(&f, "spin.kd"), 8, ITEMS);
  wait_begun(&f);
  assert_ok(hsa_executable_destroy(f.executable));
  f.executable = test_load_file(names[1], 1);
  assert_ok(hsa_executable_freeze(f.executable, NULL));
  let_go(&f);
  test_wait_zero(done);
  assert_int_equal(f.out[2], 3);
  assert_ok(hsa_signal_destroy(done));
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_destroy),        cmocka_unit_test(test_inactivate),
      cmocka_unit_test(test_shut_down),      cmocka_unit_test(test_shut_down_in_callback),
      cmocka_unit_test(test_written_anew),   cmocka_unit_test(test_freed),
      cmocka_unit_test(test_beside_running), cmocka_unit_test(test_unloaded_running),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
