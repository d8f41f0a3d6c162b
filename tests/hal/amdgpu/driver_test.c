// Parts of the amdgpu driver that need no GPU: target names, kernel metadata, the argument ring, device paths, and how
// a missing library is reported.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <stdlib.h>

#include "hal/amdgpu/library.h"
#include "hal/amdgpu/ring.h"
#include "hal/amdgpu/topology.h"
#include "hal/gpu/code_object/metadata.h"

static target_id_t target(const char* text) {
  target_id_t result;
  assert_int_equal(iree_status_consume_code(target_id_parse(iree_make_cstring_view(text), &result)), IREE_STATUS_OK);
  return result;
}

static target_match_t match(const char* code, const char* device) {
  target_id_t a = target(code), b = target(device);
  return target_id_match(&a, &b);
}

static void targets(void** state) {
  target_id_t id = target("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
  assert_string_equal(id.processor, "gfx90a");
  assert_int_equal(id.sramecc, TARGET_FEATURE_ON);
  assert_int_equal(id.xnack, TARGET_FEATURE_OFF);
  assert_int_equal(match("gfx1100", "amdgcn-amd-amdhsa--gfx1100"), TARGET_MATCH_EXACT);
  assert_int_equal(match("gfx11-generic", "gfx1151"), TARGET_MATCH_GENERIC);
  assert_int_equal(match("gfx11-generic", "gfx1201"), TARGET_MATCH_NONE);
  assert_int_equal(match("gfx9-generic", "gfx90a"), TARGET_MATCH_NONE);
  assert_int_equal(match("gfx90a:xnack+", "gfx90a:xnack-"), TARGET_MATCH_NONE);
  static const char* const bad[] = {"", "gfx", "rocm-hsaco-fb", "gfx90a:xnack", "gfx90a:nope+", "x86_64"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(bad); ++i) {
    assert_int_equal(iree_status_consume_code(target_id_parse(iree_make_cstring_view(bad[i]), &id)),
                     IREE_STATUS_INVALID_ARGUMENT);
  }
}

// Spans do not overlap, do not wrap, and all come back.
static void ring(void** state) {
  static uint8_t memory[1024];
  ring_t ring = {.base = memory, .size = sizeof(memory)};
  uint64_t cursor = ring.head;
  assert_ptr_equal(ring_allocate(&ring, &cursor, 100), memory);
  assert_ptr_equal(ring_allocate(&ring, &cursor, 500), memory + 128);
  assert_null(ring_allocate(&ring, &cursor, 500));
  assert_null(ring_allocate(&ring, &cursor, 2000));
  assert_int_equal(ring.head, 0);  // nothing was taken yet
  ring_commit(&ring, cursor);
  ring_reclaim(&ring, 128);
  assert_null(ring_allocate(&ring, &cursor, 400));  // 384 at the end, 128 at the beginning
  assert_ptr_equal(ring_allocate(&ring, &cursor, 128), memory + 640);
  ring_reclaim(&ring, 628);
  uint64_t wrapped = cursor;
  assert_ptr_equal(ring_allocate(&ring, &wrapped, 512), memory);
  ring_reset(&ring);
  cursor = ring.head;
  assert_ptr_equal(ring_allocate(&ring, &cursor, 1024), memory);
}

static iree_const_byte_span_t library_code(const char* name) {
  target_id_t id = target(name);
  iree_const_byte_span_t code = iree_const_byte_span_empty();
  if (iree_status_consume_code(library_select(&id, &code)) != IREE_STATUS_OK) skip();
  return code;
}

static void device_library(void** state) {
  static const char* const names[] = {"gfx900",  "gfx908",  "gfx90a",  "gfx942",
                                      "gfx1010", "gfx1030", "gfx1100", "gfx1201"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(names); ++i) {
    iree_const_byte_span_t code = library_code(names[i]);
    target_id_t made_for, device = target(names[i]);
    assert_int_equal(iree_status_consume_code(target_id_from_elf(code, &made_for)), IREE_STATUS_OK);
    assert_int_not_equal(target_id_match(&made_for, &device), TARGET_MATCH_NONE);
    metadata_t metadata;
    assert_int_equal(iree_status_consume_code(metadata_read(code, iree_allocator_system(), &metadata)), IREE_STATUS_OK);
    assert_int_equal(metadata.kernel_count, LIBRARY_BUILTIN_COUNT);
    assert_int_equal(metadata.kernels[0].explicit_size, LIBRARY_ARGUMENT_SIZE);
    metadata_free(&metadata, iree_allocator_system());
  }
  target_id_t unknown = target("gfx600");
  iree_const_byte_span_t code;
  assert_int_equal(iree_status_consume_code(library_select(&unknown, &code)), IREE_STATUS_UNAVAILABLE);
}

// Cut short or with a byte changed: an error or a result, never a read outside.
static void damaged_metadata(void** state) {
  iree_const_byte_span_t code = library_code("gfx1100");
  metadata_t metadata;
  for (size_t size = 0; size < code.data_length; size += 7) {
    uint8_t* copy = (uint8_t*)malloc(size + 1);
    memcpy(copy, code.data, size);
    iree_status_ignore(metadata_read(iree_make_const_byte_span(copy, size), iree_allocator_system(), &metadata));
    metadata_free(&metadata, iree_allocator_system());
    free(copy);
  }
  uint8_t* copy = (uint8_t*)malloc(code.data_length);
  for (size_t i = 0; i < code.data_length; ++i) {
    memcpy(copy, code.data, code.data_length);
    copy[i] ^= (uint8_t)(1 + i * 37);
    iree_const_byte_span_t damaged = iree_make_const_byte_span(copy, code.data_length);
    iree_status_ignore(metadata_read(damaged, iree_allocator_system(), &metadata));
    metadata_free(&metadata, iree_allocator_system());
  }
  free(copy);
}

static void expect_path(const system_t* system, const char* path, iree_status_code_t code, uint64_t expected) {
  uint64_t mask = 0;
  assert_int_equal(iree_status_consume_code(topology_parse(system, iree_make_cstring_view(path), &mask)), code);
  if (code == IREE_STATUS_OK) assert_int_equal(mask, expected);
}

static void device_paths(void** state) {
  system_t* system = (system_t*)calloc(1, sizeof(*system));
  system->gpu_count = 3;
  static const char* const isas[] = {"gfx1100", "gfx1100", "gfx942"};
  for (uint32_t i = 0; i < 3; ++i) {
    snprintf(system->gpus[i].isa, sizeof(system->gpus[i].isa), "%s", isas[i]);
    snprintf(system->gpus[i].uuid, sizeof(system->gpus[i].uuid), "GPU-00000000000000a%u", i);
  }
  expect_path(system, "", IREE_STATUS_OK, 3);  // those like the first
  expect_path(system, "*", IREE_STATUS_OK, 3);
  expect_path(system, "2", IREE_STATUS_OK, 4);
  expect_path(system, "1,0", IREE_STATUS_OK, 3);
  expect_path(system, "GPU-00000000000000A1", IREE_STATUS_OK, 2);
  expect_path(system, "GPU-0", IREE_STATUS_NOT_FOUND, 0);
  expect_path(system, "3", IREE_STATUS_INVALID_ARGUMENT, 0);
  expect_path(system, "0,0", IREE_STATUS_INVALID_ARGUMENT, 0);
  expect_path(system, "0,2", IREE_STATUS_INVALID_ARGUMENT, 0);
  expect_path(system, "first", IREE_STATUS_INVALID_ARGUMENT, 0);
  free(system);
}

// All that was tried is named, in order.
static void missing_library(void** state) {
  const iree_string_view_t paths[] = {IREE_SVL("/no/such/file.so"), IREE_SVL("/usr")};
  libhsa_t* hsa = NULL;
  setenv("IREE_HAL_AMDGPU_LIBHSA_PATH", "/no/such/first;/no/such/second", 1);
  iree_status_t status = libhsa_load(IREE_ARRAYSIZE(paths), paths, iree_allocator_system(), &hsa);
  if (iree_status_is_ok(status)) {  // the system has one that works
    libhsa_release(hsa);
    skip();
  }
  assert_int_equal(iree_status_code(status), IREE_STATUS_UNAVAILABLE);
  char text[4096];
  iree_status_format(status, sizeof(text), text, NULL);
  iree_status_free(status);
  if (!strstr(text, "was not found")) skip();  // there is one without a GPU
  static const char* const tried[] = {"/no/such/file.so", "/usr/libhsa-runtime64.so.1", "/no/such/first",
                                      "/no/such/second", "\n  libhsa-runtime64.so.1"};
  const char* at = text;
  for (size_t i = 0; i < IREE_ARRAYSIZE(tried); ++i) {
    at = strstr(at, tried[i]);
    assert_non_null(at);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets),          cmocka_unit_test(ring),         cmocka_unit_test(device_library),
      cmocka_unit_test(damaged_metadata), cmocka_unit_test(device_paths), cmocka_unit_test(missing_library),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
