// Names of executables' formats by their first bytes, sizes by what headers say, and files that end too soon.
#include "iree/hal/local/executable_format.h"

#include <elf.h>

#include "hal_test.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/local_sync/sync_device.h"

typedef iree_status_t (*infer_fn_t)(iree_const_byte_span_t, iree_host_size_t, char*, iree_host_size_t*);

// With a length: each shorter one fails, or gives the same name; without: the size that the file says.
static void check(infer_fn_t infer, const uint8_t* data, size_t length, size_t least, const char* name, size_t size) {
  char format[64];
  iree_host_size_t inferred = 0;
  CHECK_OK(infer(iree_make_const_byte_span(data, length), sizeof(format), format, &inferred));
  assert_string_equal(format, name);
  assert_int_equal(inferred, length);
  CHECK_OK(infer(iree_make_const_byte_span(data, 0), sizeof(format), format, &inferred));
  assert_string_equal(format, name);
  assert_int_equal(inferred, size);
  CHECK_OK(infer(iree_make_const_byte_span(data, length), 0, NULL, &inferred));
  CHECK_CODE(OUT_OF_RANGE, infer(iree_make_const_byte_span(data, length), strlen(name), format, &inferred));
  for (size_t i = 1; i < least; ++i) {
    uint8_t* copy = malloc(i);  // exactly so long, for sanitizers
    memcpy(copy, data, i);
    iree_status_t status = infer(iree_make_const_byte_span(copy, i), sizeof(format), format, &inferred);
    assert_false(iree_status_is_ok(status));
    iree_status_free(status);
    free(copy);
  }
}

static void elf(void** state) {
  struct {
    Elf64_Ehdr header;
    Elf64_Shdr sections[2];
  } file = {.header = {.e_ident = "\x7F"
                                  "ELF\x02\x01\x01",
                       .e_machine = EM_X86_64,
                       .e_shoff = sizeof(Elf64_Ehdr),
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = 2}};
  file.sections[0] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = 300, .sh_size = 50};
  file.sections[1] = (Elf64_Shdr){.sh_type = SHT_NOBITS, .sh_offset = 350, .sh_size = 9999};
  const uint8_t* data = (const uint8_t*)&file;
  check(iree_hal_executable_infer_elf_format, data, sizeof(file), 20, "embedded-elf-x86_64", 350);
  check(iree_hal_executable_infer_system_format, data, sizeof(file), 20, "system-elf-x86_64", 350);
  file.header.e_machine = EM_RISCV;
  check(iree_hal_executable_infer_elf_format, data, sizeof(file), 20, "embedded-elf-riscv_64", 350);
  file.header.e_machine = 12345;
  check(iree_hal_executable_infer_elf_format, data, sizeof(file), 20, "embedded-elf-unknown", 350);
  file.sections[0].sh_offset = UINT64_MAX;
  iree_host_size_t size = 0;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_executable_infer_elf_format(iree_make_const_byte_span(data, 0), 0, NULL, &size));
  struct {
    Elf32_Ehdr header;
    Elf32_Shdr section;
  } small = {.header = {.e_ident = "\x7F"
                                   "ELF\x01\x02\x01",
                        .e_machine = __builtin_bswap16(EM_ARM),
                        .e_shoff = __builtin_bswap32(sizeof(Elf32_Ehdr)),
                        .e_shentsize = __builtin_bswap16(sizeof(Elf32_Shdr)),
                        .e_shnum = __builtin_bswap16(1)}};
  small.section.sh_offset = __builtin_bswap32(1000);
  small.section.sh_size = __builtin_bswap32(24);
  check(iree_hal_executable_infer_elf_format, (const uint8_t*)&small, sizeof(small), 20, "embedded-elf-arm_32", 1024);
}

static void fatelf(void** state) {
  uint8_t file[8 + 24] = {0xFA, 0x70, 0x0E, 0x1F, 1, 0, 1};
  file[16] = 64;  // the record's offset and size
  file[24] = 16;
  check(iree_hal_executable_infer_elf_format, file, sizeof(file), 4, "embedded-fatelf", 80);
  check(iree_hal_executable_infer_system_format, file, sizeof(file), 4, "system-fatelf", 80);
}

static void dll(void** state) {
  uint8_t file[64 + 24 + 40] = {'M', 'Z'};
  file[60] = 64;
  memcpy(file + 64, "PE\0\0\x64\x86\x01", 7);
  file[64 + 24 + 17] = 1;  // 256 bytes from 512 on
  file[64 + 24 + 21] = 2;
  check(iree_hal_executable_infer_dll_format, file, sizeof(file), 86, "system-dll-x86_64", 768);
  iree_host_size_t size = 0;
  file[64] = 'N';
  CHECK_CODE(INCOMPATIBLE,
             iree_hal_executable_infer_dll_format(iree_make_const_byte_span(file, sizeof(file)), 0, NULL, &size));
  file[63] = 0x7F;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_executable_infer_dll_format(iree_make_const_byte_span(file, sizeof(file)), 0, NULL, &size));
}

static void macho(void** state) {
  uint8_t file[32 + 72] = {0xCF, 0xFA, 0xED, 0xFE, 12, 0, 0, 1};
  file[16] = 1;  // load command: a segment of 96 bytes from 256 on
  file[20] = 72;
  file[32] = 0x19;
  file[36] = 72;
  file[32 + 41] = 1;
  file[32 + 48] = 96;
  check(iree_hal_executable_infer_macho_format, file, sizeof(file), 8, "system-dylib-arm_64", 352);
  iree_host_size_t size = 0;
  file[36] = 0;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_executable_infer_macho_format(iree_make_const_byte_span(file, 0), 0, NULL, &size));
  uint8_t old[28] = {0xFE, 0xED, 0xFA, 0xCE, 0, 0, 0, 7};
  check(iree_hal_executable_infer_macho_format, old, sizeof(old), 8, "system-dylib-x86_32", 28);
  CHECK_CODE(INCOMPATIBLE, iree_hal_executable_infer_macho_format(
                               iree_make_const_byte_span("\xCA\xFE\xBA\xBE\0\0\0\1", 8), 0, NULL, &size));
}

static void wasm(void** state) {
  // A memory of its own, and one that is imported behind a function; each of 64 bits when its flags have 4.
  uint8_t own[] = {0, 'a', 's', 'm', 1, 0, 0, 0, 1, 1, 0, 5, 3, 1, 4, 1, 10, 1, 0};
  check(iree_hal_executable_infer_wasm_format, own, sizeof(own), 8, "wasm_64", 0);
  own[14] = 0;
  check(iree_hal_executable_infer_wasm_format, own, sizeof(own), 8, "wasm_32", 0);
  uint8_t imported[] = {0,   'a', 's', 'm', 1,   0, 0,   0, 2, 12, 2, 1,  'e', 1,
                        'f', 0,   0,   1,   'e', 1, 'm', 2, 5, 1,  2, 10, 1,   0};
  imported[9] = 15;
  check(iree_hal_executable_infer_wasm_format, imported, sizeof(imported), 8, "wasm_64", 0);
}

static void others(void** state) {
  iree_host_size_t size = 0;
  static const infer_fn_t all[] = {iree_hal_executable_infer_elf_format, iree_hal_executable_infer_dll_format,
                                   iree_hal_executable_infer_macho_format, iree_hal_executable_infer_wasm_format,
                                   iree_hal_executable_infer_system_format};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    CHECK_CODE(INCOMPATIBLE, all[i](iree_make_const_byte_span("nothing", 7), 0, NULL, &size));
    CHECK_CODE(INVALID_ARGUMENT, all[i](iree_make_const_byte_span("n", 1), 0, NULL, &size));
  }
}

// What no device, executable or file here has, in the words of the interface.
static void absent(void** state) {
  iree_hal_device_t* device = NULL;
  iree_hal_allocator_t* allocator = NULL;
  iree_hal_sync_device_params_t params;
  iree_hal_sync_device_params_initialize(&params);
  CHECK_OK(iree_hal_allocator_create_heap(IREE_SV("h"), iree_allocator_system(), iree_allocator_system(), &allocator));
  CHECK_OK(iree_hal_sync_device_create(IREE_SV("sync"), &params, NULL, 0, NULL, allocator, iree_allocator_system(),
                                       &device));
  iree_hal_device_external_capture_options_t options = {.provider = IREE_SV("renderdoc")};
  CHECK_CODE(UNIMPLEMENTED, iree_hal_device_external_capture_begin(device, &options));
  options.provider = iree_string_view_empty();
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_device_external_capture_begin(device, &options));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_device_external_capture_end(device));
  iree_hal_buffer_t* buffer = (iree_hal_buffer_t*)device;
  CHECK_CODE(UNIMPLEMENTED, iree_hal_executable_lookup_global_by_name(NULL, IREE_SV("x"), 0, &buffer));
  assert_null(buffer);
  uint8_t contents[8] = {1, 2, 3};
  iree_io_file_handle_t* handle = NULL;
  iree_hal_file_t* file = NULL;
  CHECK_OK(iree_io_file_handle_wrap_host_allocation(IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(contents, 8),
                                                    iree_io_file_handle_release_callback_null(),
                                                    iree_allocator_system(), &handle));
  assert_false(iree_io_file_handle_uses_async_io(handle));
  CHECK_OK(iree_hal_file_from_handle(IREE_HAL_MEMORY_ACCESS_READ, handle, iree_allocator_system(), &file));
  assert_true(iree_hal_file_supports_synchronous_io(file));
  iree_hal_file_release(file);
  iree_io_file_handle_release(handle);
  iree_hal_device_release(device);
  iree_hal_allocator_release(allocator);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elf),  cmocka_unit_test(fatelf), cmocka_unit_test(dll),    cmocka_unit_test(macho),
      cmocka_unit_test(wasm), cmocka_unit_test(others), cmocka_unit_test(absent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
