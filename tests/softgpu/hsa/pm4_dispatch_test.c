// Dispatches by PM4 against the same kernels by AQL, on every family of targets: whole and partial workgroups, indirect
// sizes, first workgroups, scratch, words that a dispatch writes for a later packet. And registers that are refused.
#include "hsa_code.h"
#include "hsa_pm4.h"

enum {
  SHADER = 1 << 0,
  PARTIAL = 1 << 1,
  FROM_ZERO = 1 << 2,
  BY_ITEMS = 1 << 5,
  WAVE32 = 1 << 15,
  COMPUTE_HEADER = 1 << 1,
  MOST_WORDS = 256,
  OUT = 8192,  // numbers
};

// What the build compiled, and the GPU that it is for, of those that open_gpus makes.
static const struct {
  const char* name;
  uint32_t gpu;
} variants[] = {{"pm4-gfx1100", 0},        {"pm4-gfx942", 1},         {"pm4-gfx90a", 2},
                {"pm4-gfx1030", 3},        {"pm4-gfx1201", 4},        {"pm4-gfx1100-wave64", 0},
                {"pm4-gfx1030-wave64", 3}, {"pm4-gfx942-preload", 1}, {"pm4-gfx90a-preload", 2}};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]), GFX1100 = 0, GFX942 = 1 };

static int open_gpus(void** state) { return test_open_gpus("gfx1100,gfx942,gfx90a,gfx1030,gfx1201"); }

// Kernel descriptor, as code objects hold it.
typedef struct descriptor_t {
  uint32_t group_size, private_size, kernarg_size, reserved0;
  int64_t entry;
  uint8_t reserved1[20];
  uint32_t resource3, resource1, resource2;
  uint16_t properties, preload;
  uint32_t reserved2;
} descriptor_t;

typedef struct place_arguments_t {
  uint32_t* out;
  uint32_t width, height, size[3];
} place_arguments_t;
typedef struct turn_arguments_t {
  uint32_t* out;
  uint32_t start;
} turn_arguments_t;

// Registers, in the groups in which drivers set them.
typedef struct registers_t {
  uint32_t program[6], resources[2], resource3, ring, restart[3], limits;
  uint32_t start[3], threads[3], enables[2];
  uint32_t user[16], user_count, initiator;
} registers_t;

typedef struct words_t {
  uint32_t* at;
  uint32_t count;
} words_t;

static words_t make_words(uint32_t gpu) { return (words_t){test_gpu_memory(gpu, MOST_WORDS * 4), 0}; }

static void put(words_t* words, uint32_t word) {
  assert_true(words->count < MOST_WORDS);
  words->at[words->count++] = word;
}

static uint32_t put_registers(words_t* words, uint32_t first, const uint32_t* values, uint32_t count) {
  put(words, PM4(0x76, count + 2));
  put(words, first);
  uint32_t at = words->count;
  for (uint32_t i = 0; i < count; ++i) put(words, values[i]);
  return at;
}

// Index of the word that is the first user register.
static uint32_t put_setup(words_t* words, const registers_t* r) {
  put_registers(words, 0x20c, r->program, 6);
  put_registers(words, 0x212, r->resources, 2);
  put_registers(words, 0x228, &r->resource3, 1);
  put_registers(words, 0x218, &r->ring, 1);
  put_registers(words, 0x21b, r->restart, 3);
  put_registers(words, 0x215, &r->limits, 1);
  put_registers(words, 0x204, r->start, 8);
  return put_registers(words, 0x240, r->user, r->user_count ? r->user_count : 1);
}

static void put_direct(words_t* words, const registers_t* r, uint32_t x, uint32_t y, uint32_t z) {
  put(words, PM4(0x15, 5) | COMPUTE_HEADER);
  put(words, x), put(words, y), put(words, z);
  put(words, r->initiator);
}

static void put_barrier(words_t* words, uint32_t gpu) {
  bool gfx9 = gpu == 1 || gpu == 2;
  put(words, PM4(0x46, 2));
  put(words, 7 | 4 << 8);
  put(words, PM4(0x58, gfx9 ? 7 : 8));
  for (int i = 0; i < (gfx9 ? 6 : 7); ++i) put(words, i == 1 ? UINT32_MAX : 0);
}

// What a driver makes of a kernel's descriptor.
static registers_t registers_of(const descriptor_t* d, uint32_t gpu, const void* arguments, const uint32_t* size) {
  uint64_t program = ((uint64_t)d + (uint64_t)d->entry) >> 8;
  registers_t r = {.program = {(uint32_t)program, (uint32_t)(program >> 32)},
                   .resources = {d->resource1, d->resource2 | (d->group_size + 511) / 512 << 15},
                   .resource3 = d->resource3,
                   .threads = {size[0], size[1], size[2]},
                   .user_count = d->resource2 >> 1 & 31,
                   .initiator = SHADER | FROM_ZERO | (d->properties >> 10 & 1 ? WAVE32 : 0)};
  uint32_t lanes = r.initiator & WAVE32 ? 32 : 64, unit = gpu == 1 || gpu == 2 || gpu == 3 ? 1024 : 256;
  r.ring = 64 | (d->private_size * lanes + unit - 1) / unit << 12;
  uint32_t at = d->properties & 1 ? 4 : 0;
  r.user[at] = (uint32_t)(uintptr_t)arguments, r.user[at + 1] = (uint32_t)((uintptr_t)arguments >> 32);
  memcpy(r.user + at + 2, arguments, (d->preload & 127) * 4);
  return r;
}

typedef struct failure_t {
  hsa_signal_t told;
  hsa_status_t status;
} failure_t;

static void take_failure(hsa_status_t status, hsa_queue_t* queue, void* data) {
  failure_t* failure = data;
  failure->status = status;
  hsa_signal_store_screlease(failure->told, 0);
}

static void run_words(uint32_t gpu, const words_t* words) {
  hsa_queue_t* queue = test_queue(gpu, 64, NULL, NULL);
  hsa_signal_t done = test_signal(1);
  test_submit_words(queue, words->at, words->count, done);
  test_wait_zero(done);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
}

// Kernels of one code object, their arguments and two outputs.
typedef struct setting_t {
  hsa_executable_t executable;
  uint32_t gpu;
  const descriptor_t *place, *turn, *patch;
  uint32_t *by_aql, *by_pm4;
  void* arguments;
} setting_t;

static const descriptor_t* find_kernel(const setting_t* s, const char* name) {
  return (const descriptor_t*)test_symbol_info(test_symbol(s->executable, name, s->gpu),
                                               HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
}

static setting_t open_setting(uint32_t variant) {
  setting_t s = {.gpu = variants[variant].gpu};
  s.executable = test_load_file(variants[variant].name, s.gpu);
  assert_ok(hsa_executable_freeze(s.executable, NULL));
  s.place = find_kernel(&s, "place.kd"), s.turn = find_kernel(&s, "turn.kd"), s.patch = find_kernel(&s, "patch.kd");
  s.by_aql = test_gpu_memory(s.gpu, OUT * 4), s.by_pm4 = test_gpu_memory(s.gpu, OUT * 4);
  s.arguments = test_gpu_memory(s.gpu, 256);
  return s;
}

static void close_setting(setting_t* s) {
  assert_ok(hsa_amd_memory_pool_free(s->by_aql));
  assert_ok(hsa_amd_memory_pool_free(s->by_pm4));
  assert_ok(hsa_amd_memory_pool_free(s->arguments));
  assert_ok(hsa_executable_destroy(s->executable));
}

static void run_aql(const setting_t* s, const descriptor_t* d, const uint32_t* size, const uint32_t* grid) {
  hsa_queue_t* queue = test_queue(s->gpu, 64, NULL, NULL);
  hsa_signal_t done = test_signal(1);
  hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = (uint16_t)size[0],
                                         .workgroup_size_y = (uint16_t)size[1],
                                         .workgroup_size_z = (uint16_t)size[2],
                                         .grid_size_x = grid[0],
                                         .grid_size_y = grid[1],
                                         .grid_size_z = grid[2],
                                         .private_segment_size = d->private_size,
                                         .group_segment_size = d->group_size,
                                         .kernel_object = (uint64_t)d,
                                         .kernarg_address = s->arguments,
                                         .completion_signal = done};
  test_submit(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 3);
  test_wait_zero(done);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
}

static const uint32_t place_size[3] = {8, 5, 3}, place_grid[3] = {29, 11, 7};

// The kernel `place` by AQL, whose grid cuts its last workgroups; its arguments are then those for by_pm4.
static void place_by_aql(setting_t* s) {
  place_arguments_t arguments = {s->by_aql, 32, 15, {place_size[0], place_size[1], place_size[2]}};
  memset(s->by_aql, 0, OUT * 4);
  memset(s->by_pm4, 0, OUT * 4);
  memcpy(s->arguments, &arguments, sizeof(arguments));
  run_aql(s, s->place, place_size, place_grid);
  arguments.out = s->by_pm4;
  memcpy(s->arguments, &arguments, sizeof(arguments));
}

static void check_same(const setting_t* s) { assert_memory_equal(s->by_aql, s->by_pm4, OUT * 4); }

// Three ways to say that the last workgroups are cut.
static void place_by_items(setting_t* s) {
  place_by_aql(s);
  registers_t r = registers_of(s->place, s->gpu, s->arguments, place_size);
  r.initiator |= BY_ITEMS;
  words_t words = make_words(s->gpu);
  put_setup(&words, &r);
  put_direct(&words, &r, place_grid[0], place_grid[1], place_grid[2]);
  put_barrier(&words, s->gpu);
  run_words(s->gpu, &words);
  check_same(s);
  assert_ok(hsa_amd_memory_pool_free(words.at));
}

static void place_by_partial_groups(setting_t* s) {
  place_by_aql(s);
  registers_t r = registers_of(s->place, s->gpu, s->arguments, place_size);
  r.initiator |= PARTIAL;
  uint32_t groups[3];
  for (int i = 0; i < 3; ++i) {
    groups[i] = (place_grid[i] + place_size[i] - 1) / place_size[i];
    r.threads[i] |= (place_grid[i] - (groups[i] - 1) * place_size[i]) << 16;
  }
  words_t words = make_words(s->gpu);
  put_setup(&words, &r);
  put_direct(&words, &r, groups[0], groups[1], groups[2]);
  run_words(s->gpu, &words);
  check_same(s);
  assert_ok(hsa_amd_memory_pool_free(words.at));
}

static void place_indirectly(setting_t* s) {
  place_by_aql(s);
  registers_t r = registers_of(s->place, s->gpu, s->arguments, place_size);
  uint32_t* dims = test_gpu_memory(s->gpu, 64);
  memcpy(dims, place_grid, sizeof(place_grid));
  words_t words = make_words(s->gpu);
  put_setup(&words, &r);
  put(&words, PM4(0x16, 4) | COMPUTE_HEADER);
  const uint32_t rest[] = {ADDRESS(dims), r.initiator | BY_ITEMS};
  for (int i = 0; i < 3; ++i) put(&words, rest[i]);
  run_words(s->gpu, &words);
  check_same(s);
  assert_ok(hsa_amd_memory_pool_free(words.at));
  assert_ok(hsa_amd_memory_pool_free(dims));
}

// Whole workgroups, those from [1, 0, 2] on, and none at all in between.
static void place_from_start(setting_t* s) {
  place_by_aql(s);
  registers_t r = registers_of(s->place, s->gpu, s->arguments, place_size);
  r.initiator &= ~(uint32_t)FROM_ZERO;
  r.start[0] = 1, r.start[2] = 2;
  words_t words = make_words(s->gpu);
  put_setup(&words, &r);
  put_direct(&words, &r, 0, 1, 1);
  put_direct(&words, &r, 3, 3, 2);
  put_direct(&words, &r, 3, 2, 3);
  run_words(s->gpu, &words);
  for (uint32_t z = 0; z < 7; ++z) {
    for (uint32_t y = 0; y < 11; ++y) {
      for (uint32_t x = 0; x < 29; ++x) {
        uint32_t at = x + 32 * (y + 15 * z);
        bool is_there = x >= 8 && x < 24 && y < 10 && z >= 6;
        assert_int_equal(s->by_pm4[at], is_there ? s->by_aql[at] : 0);
      }
    }
  }
  assert_ok(hsa_amd_memory_pool_free(words.at));
}

// A dispatch writes where a later one finds its arguments, and then the later one's buffer is run a second time.
static void place_patched(setting_t* s) {
  static const uint32_t one[3] = {1, 1, 1};
  place_by_aql(s);
  struct {
    uint32_t* words;
    uint64_t value;
  }* arguments = (void*)((char*)s->arguments + 128);
  words_t first = make_words(s->gpu), second = make_words(s->gpu);
  registers_t r = registers_of(s->place, s->gpu, s->arguments, place_size),
              p = registers_of(s->patch, s->gpu, arguments, one);
  uint32_t at = s->place->properties & 1 ? 4 : 0;
  r.initiator |= BY_ITEMS;
  r.user[at] = r.user[at + 1] = 0;
  at += put_setup(&second, &r);
  put_direct(&second, &r, place_grid[0], place_grid[1], place_grid[2]);
  arguments->words = second.at + at, arguments->value = (uint64_t)s->arguments;
  memcpy(p.user + (s->patch->properties & 1 ? 4 : 0) + 2, arguments, (s->patch->preload & 127) * 4);
  put_setup(&first, &p);
  put_direct(&first, &p, 1, 1, 1);
  put_barrier(&first, s->gpu);
  const uint32_t call[] = {PM4(0x3f, 4), ADDRESS(second.at), second.count | 1u << 23};
  const uint32_t jump[] = {PM4(0x3f, 4), ADDRESS(second.at), second.count | 1u << 23 | 1 << 20, 0xdeadbeef};
  for (int i = 0; i < 4; ++i) put(&first, call[i]);
  for (int i = 0; i < 5; ++i) put(&first, jump[i]);
  run_words(s->gpu, &first);
  check_same(s);
  assert_ok(hsa_amd_memory_pool_free(first.at));
  assert_ok(hsa_amd_memory_pool_free(second.at));
}

static void test_place(void** state) {
  for (uint32_t i = 0; i < VARIANTS; ++i) {
    setting_t s = open_setting(i);
    // Preloaded arguments are those of by_aql until they are set again, so the copy in the user registers is not read.
    place_by_items(&s);
    place_by_partial_groups(&s);
    place_indirectly(&s);
    place_from_start(&s);
    place_patched(&s);
    close_setting(&s);
  }
}

static void expect_refused(uint32_t gpu, const words_t* words, hsa_status_t status) {
  failure_t failure = {.told = test_signal(1)};
  hsa_signal_t done = test_signal(1);
  hsa_queue_t* queue = test_queue(gpu, 64, take_failure, &failure);
  test_submit_words(queue, words->at, words->count, done);
  test_wait_zero(failure.told);
  assert_int_equal(failure.status, status);
  assert_int_equal(hsa_signal_load_scacquire(done), 1);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
  assert_ok(hsa_signal_destroy(failure.told));
}

// Where hardware finds scratch by itself; elsewhere it is refused.
static void test_scratch(void** state) {
  static const uint32_t size[3] = {64, 1, 1}, grid[3] = {256, 1, 1};
  for (uint32_t i = 0; i < VARIANTS; ++i) {
    setting_t s = open_setting(i);
    turn_arguments_t arguments = {s.by_aql, 12345};
    memcpy(s.arguments, &arguments, sizeof(arguments));
    run_aql(&s, s.turn, size, grid);
    arguments.out = s.by_pm4;
    memcpy(s.arguments, &arguments, sizeof(arguments));
    registers_t r = registers_of(s.turn, s.gpu, s.arguments, size);
    words_t words = make_words(s.gpu);
    put_setup(&words, &r);
    put_direct(&words, &r, 4, 1, 1);
    if (s.gpu == 2 || s.gpu == 3) {
      expect_refused(s.gpu, &words, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    } else {
      run_words(s.gpu, &words);
      check_same(&s);
    }
    assert_ok(hsa_amd_memory_pool_free(words.at));
    close_setting(&s);
  }
}

// One dispatch after `change` to registers that are right otherwise.
typedef struct change_t {
  uint32_t* word;
  uint32_t value;
} change_t;

static void refuse_dispatch(setting_t* s, const registers_t* r, const uint32_t* dim) {
  words_t words = make_words(s->gpu);
  put_setup(&words, r);
  put_direct(&words, r, dim[0], dim[1], dim[2]);
  expect_refused(s->gpu, &words, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  assert_ok(hsa_amd_memory_pool_free(words.at));
}

static void test_hostile_registers(void** state) {
  static const uint32_t size[3] = {64, 1, 1}, dim[3] = {1, 1, 1};
  for (uint32_t variant = GFX1100; variant <= GFX942; ++variant) {
    setting_t s = open_setting(variant);
    registers_t good = registers_of(s.place, s.gpu, s.arguments, size), r;
    const change_t changes[] = {
        {&r.program[0], 0x123456},                         // no memory
        {&r.program[1], 0xff},                             // no memory
        {&r.resources[0], good.resources[0] | 63},         // registers, of gfx1100
        {&r.resources[1], good.resources[1] | 31 << 1},    // user registers
        {&r.resources[1], good.resources[1] | 511 << 15},  // workgroup memory
        {&r.threads[0], 0},                                // an empty workgroup
        {&r.threads[2], 0xffff0000},                       // and with a partial size
        {&r.threads[1], 17},                               // 1088 work-items
        {&r.threads[1], 65535},                            // millions
        {&r.initiator, 0},                                 // no shader
        {&r.initiator, good.initiator | 1 << 3},           // ordered append
        {&r.initiator, good.initiator | 1 << 14},          // restore
        {&r.initiator, good.initiator | 1u << 31},         // nothing known
        {&r.initiator, good.initiator | PARTIAL},          // and the part is 0
        {&r.initiator, variant == GFX942 ? good.initiator | WAVE32 : 0},
    };
    for (uint32_t i = 0; i < sizeof(changes) / sizeof(changes[0]); ++i) {
      if (changes[i].word == &r.resources[0] && variant == GFX942) continue;
      r = good;
      *changes[i].word = changes[i].value;
      refuse_dispatch(&s, &r, dim);
    }
    static const uint32_t endless[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    refuse_dispatch(&s, &good, endless);
    close_setting(&s);
  }
}

static void refuse_words(uint32_t gpu, const uint32_t* from, uint32_t count) {
  words_t words = make_words(gpu);
  for (uint32_t i = 0; i < count; ++i) put(&words, from[i]);
  expect_refused(gpu, &words, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  assert_ok(hsa_amd_memory_pool_free(words.at));
}
#define REFUSE(...)                                           \
  do {                                                        \
    const uint32_t words[] = {__VA_ARGS__};                   \
    refuse_words(0, words, sizeof(words) / sizeof(words[0])); \
  } while (0)

static void test_hostile_packets(void** state) {
  REFUSE(PM4(0x76, 3), 0x400, 1);              // no such register
  REFUSE(PM4(0x76, 4), 0x3ff, 1, 2);           // the second is none
  REFUSE(PM4(0x9b, 3), 3u << 28 | 0xffff, 1);  // no such register
  REFUSE(PM4(0x76, 3), 0x200, 1);              // DISPATCH_INITIATOR
  REFUSE(PM4(0x15, 5), 1, 1, 1, 1);            // nothing is set
  REFUSE(PM4(0x16, 4), 0x1000, 0, 1);          // sizes in no memory
  REFUSE(PM4(0x16, 3), 0, 1);                  // DISPATCH_INDIRECT of graphics
  REFUSE(PM4(0x3f, 4), 0x1000, 0, 8);          // a buffer in no memory
  // A program that is no code: zeros are executed as what they mean, and do not end.
  words_t words = make_words(0);
  void* zeros = test_gpu_memory(0, 4096);
  static const uint32_t size[3] = {64, 1, 1};
  descriptor_t none = {0};
  registers_t r = registers_of(&none, 0, zeros, size);
  r.program[0] = (uint32_t)((uint64_t)zeros >> 8), r.program[1] = (uint32_t)((uint64_t)zeros >> 40);
  put_setup(&words, &r);
  put_direct(&words, &r, 1, 1, 1);
  expect_refused(0, &words, (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
  assert_ok(hsa_amd_memory_pool_free(words.at));
  assert_ok(hsa_amd_memory_pool_free(zeros));
}

// A buffer that calls itself is refused; one that goes on in itself for ever, and calls that would end after years, end
// with their queue.
static void test_endless_nesting(void** state) {
  words_t words = make_words(0);
  const uint32_t call[] = {PM4(0x3f, 4), ADDRESS(words.at), 4 | 1u << 23};
  for (int i = 0; i < 4; ++i) put(&words, call[i]);
  expect_refused(0, &words, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  words.at[3] |= 1u << 20;
  hsa_queue_t* queue = test_queue(0, 64, NULL, NULL);
  test_submit_words(queue, words.at, words.count, (hsa_signal_t){0});
  usleep(20000);
  assert_ok(hsa_queue_destroy(queue));
  // Five levels, each of many calls of the next.
  enum { CALLS = 20000 };
  uint32_t* levels[5];
  for (int i = 4; i >= 0; --i) {
    levels[i] = test_gpu_memory(0, CALLS * 16);
    for (uint32_t k = 0; k < CALLS; ++k) {
      const uint32_t next[] = {PM4(0x3f, 4), ADDRESS(i < 4 ? levels[i + 1] : words.at), i < 4 ? CALLS * 4 : 0};
      memcpy(levels[i] + k * 4, next, sizeof(next));
    }
  }
  queue = test_queue(0, 64, NULL, NULL);
  test_submit_words(queue, levels[0], CALLS * 4, (hsa_signal_t){0});
  usleep(20000);
  assert_ok(hsa_queue_destroy(queue));
  for (int i = 0; i < 5; ++i) assert_ok(hsa_amd_memory_pool_free(levels[i]));
  assert_ok(hsa_amd_memory_pool_free(words.at));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_place),
      cmocka_unit_test(test_scratch),
      cmocka_unit_test(test_hostile_registers),
      cmocka_unit_test(test_hostile_packets),
      cmocka_unit_test(test_endless_nesting),
  };
  return cmocka_run_group_tests(tests, open_gpus, test_close);
}
