// The ELF loader on good, truncated and damaged images; the layout of the library interface.
#include <elf.h>

#include "hal/local/elf_module.h"
#include "hal_test.h"
#include "iree/hal/local/executable_library.h"
#include "iree/io/file_contents.h"

static iree_io_file_contents_t* image;

static int set_up(void** state) {
  CHECK_OK(iree_io_file_contents_read(IREE_SV(CTS_KERNELS_PATH), iree_allocator_system(), &image));
  return 0;
}

static int tear_down(void** state) {
  iree_io_file_contents_free(image);
  return 0;
}

static void good(void** state) {
  elf_module_t module;
  void* query = NULL;
  CHECK_OK(elf_module_load(image->const_buffer, &module));
  CHECK_OK(elf_module_lookup(&module, IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME, &query));
  assert_true(elf_module_is_code(&module, query));
  assert_true(elf_module_contains(&module, query, 1));
  assert_false(elf_module_contains(&module, &module, 1));
  CHECK_CODE(NOT_FOUND, elf_module_lookup(&module, "no_such_symbol", &query));
  const iree_hal_executable_library_header_t** header = NULL;
  CHECK_OK(elf_module_lookup(&module, IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME, &query));
  header = ((iree_hal_executable_library_query_fn_t)query)(IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, NULL);
  assert_string_equal((*header)->name, "cts_kernels");
  size_t size = 0;
  assert_true(elf_module_sniff(image->const_buffer, &size));
  assert_in_range(size, 64, image->const_buffer.data_length);
  elf_module_unload(&module);
  elf_module_unload(&module);
}

// Loading must end in an error or a module; it must never touch memory that is not its own.
static bool load(const uint8_t* data, size_t size) {
  elf_module_t module;
  void* query = NULL;
  iree_status_t status = elf_module_load(iree_make_const_byte_span(data, size), &module);
  bool loaded = iree_status_is_ok(status);
  if (loaded) status = elf_module_lookup(&module, IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME, &query);
  iree_status_free(status);
  elf_module_unload(&module);
  return loaded;
}

// The data is copied to its exact size, so that reads past the end are seen by sanitizers.
static void truncated(void** state) {
  for (size_t size = 0; size < image->const_buffer.data_length; size = size < 4096 ? size + 1 : size + 97) {
    uint8_t* data = malloc(size + !size);
    if (size) memcpy(data, image->const_buffer.data, size);
    bool loaded = load(data, size);
    if (size < 1024) assert_false(loaded);
    free(data);
  }
}

static void bit_flips(void** state) {
  size_t size = image->const_buffer.data_length;
  uint8_t* data = malloc(size);
  memcpy(data, image->const_buffer.data, size);
  for (size_t i = 0; i < size; ++i) {
    // Every bit of the headers and of what else is small; one bit of each byte after.
    int bits = size < 32768 || i < 2048 ? 8 : 1;
    for (int bit = 0; bit < bits; ++bit) {
      data[i] ^= (uint8_t)(1u << (bits == 8 ? bit : (int)(i % 8)));
      load(data, size);
      data[i] = image->const_buffer.data[i];
    }
  }
  assert_true(load(data, size));
  free(data);
}

static void random_damage(void** state) {
  size_t size = image->const_buffer.data_length;
  uint8_t* data = malloc(size);
  uint32_t random = 1;
  for (int round = 0; round < 20000; ++round) {
    memcpy(data, image->const_buffer.data, size);
    for (int i = 0; i < 1 + round % 8; ++i) {
      random = random * 1664525 + 1013904223;
      size_t at = (random >> 8) % (i % 2 ? size : 1024);
      random = random * 1664525 + 1013904223;
      static const uint8_t edges[] = {0, 1, 0x7F, 0x80, 0xFF};
      data[at] = edges[(random >> 16) % sizeof(edges)];
    }
    load(data, size);
  }
  free(data);
}

static void refused(void** state) {
  size_t size = image->const_buffer.data_length;
  uint8_t* data = malloc(size);
  elf_module_t module;
  Elf64_Ehdr header;
  memcpy(data, image->const_buffer.data, size);
  memcpy(&header, data, sizeof(header));
  header.e_machine = EM_AMDGPU;
  memcpy(data, &header, sizeof(header));
  CHECK_CODE(INCOMPATIBLE, elf_module_load(iree_make_const_byte_span(data, size), &module));
  assert_false(elf_module_sniff(iree_make_const_byte_span(data, size), NULL));
  memcpy(data, image->const_buffer.data, size);
  memcpy(&header, data, sizeof(header));
  // Any program header that asks for thread-local storage or for pages both writable and executable.
  Elf64_Phdr program;
  memcpy(&program, data + header.e_phoff, sizeof(program));
  Elf64_Phdr changed = program;
  changed.p_type = PT_TLS;
  memcpy(data + header.e_phoff, &changed, sizeof(changed));
  CHECK_CODE(UNIMPLEMENTED, elf_module_load(iree_make_const_byte_span(data, size), &module));
  changed = program;
  changed.p_type = PT_LOAD;
  changed.p_flags = PF_R | PF_W | PF_X;
  memcpy(data + header.e_phoff, &changed, sizeof(changed));
  CHECK_CODE(INVALID_ARGUMENT, elf_module_load(iree_make_const_byte_span(data, size), &module));
  header.e_type = ET_EXEC;
  memcpy(data, &header, sizeof(header));
  CHECK_CODE(INVALID_ARGUMENT, elf_module_load(iree_make_const_byte_span(data, size), &module));
  free(data);
}

// Compilers emit code against these numbers.
static void library_layout(void** state) {
  assert_int_equal(sizeof(iree_hal_executable_environment_v0_t), 96);
  assert_int_equal(offsetof(iree_hal_executable_environment_v0_t, import_thunk), 8);
  assert_int_equal(offsetof(iree_hal_executable_environment_v0_t, import_funcs), 16);
  assert_int_equal(offsetof(iree_hal_executable_environment_v0_t, import_contexts), 24);
  assert_int_equal(offsetof(iree_hal_executable_environment_v0_t, processor), 32);
  assert_int_equal(sizeof(iree_hal_executable_dispatch_state_v0_t), 48);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, workgroup_size_z), 8);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, constant_count), 10);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, workgroup_count_x), 12);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, workgroup_count_z), 20);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, max_concurrency), 22);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, binding_count), 23);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, constants), 24);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, binding_ptrs), 32);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_state_v0_t, binding_lengths), 40);
  assert_int_equal(sizeof(iree_hal_executable_workgroup_state_v0_t), 32);
  assert_int_equal(offsetof(iree_hal_executable_workgroup_state_v0_t, workgroup_id_z), 8);
  assert_int_equal(offsetof(iree_hal_executable_workgroup_state_v0_t, processor_id), 12);
  assert_int_equal(offsetof(iree_hal_executable_workgroup_state_v0_t, local_memory), 16);
  assert_int_equal(offsetof(iree_hal_executable_workgroup_state_v0_t, local_memory_size), 24);
  assert_int_equal(sizeof(iree_hal_executable_dispatch_attrs_v0_t), 64);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_attrs_v0_t, local_memory_pages), 8);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_attrs_v0_t, workgroup_size_x), 12);
  assert_int_equal(offsetof(iree_hal_executable_dispatch_attrs_v0_t, parameter_count), 22);
  assert_int_equal(sizeof(iree_hal_executable_export_table_v0_t), 80);
  assert_int_equal(offsetof(iree_hal_executable_library_v0_t, imports), 8);
  assert_int_equal(offsetof(iree_hal_executable_library_v0_t, exports), 24);
  assert_int_equal(offsetof(iree_hal_executable_library_v0_t, constants), 104);
  assert_int_equal(offsetof(iree_hal_executable_library_v0_t, sources), 112);
  assert_int_equal(sizeof(iree_hal_executable_library_v0_t), 128);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(good),      cmocka_unit_test(truncated),
                                     cmocka_unit_test(bit_flips), cmocka_unit_test(random_damage),
                                     cmocka_unit_test(refused),   cmocka_unit_test(library_layout)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
