// What is read of cubins: a file made here, whole, cut and damaged; and those that ptxas made, given as arguments with
// the text they were made of: cubin_test FILE.cubin FILE.ptx
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/stream/cubin.h"
#include "hal/stream/ptx.h"

// A kernel `k` of three parameters, an array behind them where it `has_array`, for blocks of 32x4x1 threads.
typedef struct file_t {
  Elf64_Ehdr header;
  Elf64_Shdr sections[5];  // none, code, names, symbols, attributes
  char names[4];
  Elf64_Sym symbols[2];
  uint32_t info[21];
} file_t;

static file_t make(uint8_t abi, uint32_t flags, uint32_t last_size) {
  file_t file = {
      .header = {.e_machine = 190,
                 .e_flags = flags,
                 .e_shoff = offsetof(file_t, sections),
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shnum = 5},
      .sections = {{0},
                   {.sh_type = SHT_PROGBITS},
                   {.sh_type = SHT_STRTAB, .sh_offset = offsetof(file_t, names), .sh_size = 4},
                   {.sh_type = SHT_SYMTAB, .sh_offset = offsetof(file_t, symbols), .sh_size = 48, .sh_link = 2},
                   {.sh_type = 0x70000000, .sh_offset = offsetof(file_t, info), .sh_size = 84, .sh_info = 1}},
      .names = {0, 'k', 0, 0},
      .symbols = {{.st_name = 1, .st_info = STT_FUNC},
                  {.st_name = 1, .st_info = STT_FUNC, .st_other = 0x10, .st_shndx = 1}},
      .info = {0x000c1704,
               0,
               16u << 16 | 2,
               last_size << 18 | 0x1f000,  // size, 0x17, given behind: word 2
               0x000c1704,
               0,
               8u << 16 | 1,
               8u << 18 | 0x1f400,  // pointer 1
               0x000c1704,
               0,
               0u << 16 | 0,
               8u << 18 | 0x1f400,               // pointer 0
               0x00ff1b03,                       // something else
               (16 + last_size) << 16 | 0x1903,  // bytes of all parameters
               0x000c1004,
               32,
               4,
               1,  // blocks
               0x00041c04,
               0x70,
               0x00004a02},
  };
  memcpy(file.header.e_ident, "\177ELF\2\1\1", 7);
  file.header.e_ident[8] = abi;
  return file;
}

static iree_status_t read(const file_t* file, size_t size, cubin_t* out_cubin) {
  return cubin_read(iree_make_const_byte_span(file, size), iree_allocator_system(), out_cubin);
}

static void kernels(void** state) {
  file_t file = make(7, 0x00500550, 4);
  cubin_t cubin;
  IREE_CHECK_OK(read(&file, sizeof(file), &cubin));
  assert_int_equal(cubin.target, 80);
  assert_int_equal(cubin.count, 1);
  const gpu_function_t* k = cubin.functions;
  assert_true(iree_string_view_equal(k->name, IREE_SV("k")));
  assert_int_equal(k->binding_count, 2);
  assert_int_equal(k->constant_count, 1);
  assert_int_equal(k->argument_size, 20);
  assert_true(k->is_hal);
  const uint32_t size[3] = {32, 4, 1};
  assert_memory_equal(k->workgroup_size, size, sizeof(size));
  cubin_free(&cubin, iree_allocator_system());
}

// The other place of the architecture; an array is no argument of the HAL.
static void other_versions(void** state) {
  file_t file = make(8, 0x06007802, 20);
  cubin_t cubin;
  IREE_CHECK_OK(read(&file, sizeof(file), &cubin));
  assert_int_equal(cubin.target, 120);
  assert_int_equal(cubin.functions->argument_size, 36);
  assert_false(cubin.functions->is_hal);
  cubin_free(&cubin, iree_allocator_system());
}

static void expect_failure(const file_t* file, size_t size, const char* message) {
  cubin_t cubin;
  char buffer[512] = {0};
  iree_status_t status = read(file, size, &cubin);
  iree_status_format(status, sizeof(buffer), buffer, NULL);
  assert_int_equal(iree_status_consume_code(status), IREE_STATUS_INVALID_ARGUMENT);
  if (!strstr(buffer, message)) print_error("have: %s\n", buffer);
  assert_non_null(strstr(buffer, message));
}

static void bad_files(void** state) {
  file_t file = make(9, 0x06007802, 4);
  expect_failure(&file, sizeof(file), "made by a CUDA toolkit that is not known");
  file = make(8, 0x06007802, 4);
  expect_failure(&file, sizeof(file.header) - 1, "not an ELF file for NVIDIA GPUs");
  expect_failure(&file, sizeof(file) - 8, "a section is outside the file");
  file.sections[4].sh_size -= 2;
  expect_failure(&file, sizeof(file), "an attribute is cut");
  file.sections[4].sh_info = 2;
  expect_failure(&file, sizeof(file), "a kernel without attributes");
  file.symbols[1].st_name = 4;
  expect_failure(&file, sizeof(file), "a symbol's name is outside its table");
  file.sections[3].sh_link = 3;
  expect_failure(&file, sizeof(file), "symbols without names");
  file.sections[3].sh_type = SHT_PROGBITS;
  expect_failure(&file, sizeof(file), "no symbols");
  file.header.e_shoff = UINT64_MAX - 64;
  expect_failure(&file, sizeof(file), "a section's header is outside the file");
}

// Every beginning, and every file with a byte that is another, is read to an end.
static void cut_and_damaged(void** state) {
  file_t good = make(7, 0x00500550, 4);
  for (size_t i = 0; i < 4 * sizeof(good); ++i) {
    size_t length = i < sizeof(good) ? i : sizeof(good);
    char* copy = (char*)test_malloc(length + 1);
    memcpy(copy, &good, length);
    if (i >= sizeof(good)) copy[i % sizeof(good)] ^= (char)(i / sizeof(good) == 1 ? 0xFF : i / sizeof(good));
    cubin_t cubin;
    iree_status_t status = cubin_read(iree_make_const_byte_span(copy, length), iree_allocator_system(), &cubin);
    if (iree_status_consume_code(status) == IREE_STATUS_OK) cubin_free(&cubin, iree_allocator_system());
    test_free(copy);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// What ptxas made
//===----------------------------------------------------------------------------------------------------------------===

static const char* const* files;

static iree_const_byte_span_t load(const char* path) {
  iree_byte_span_t span = {0};
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  span.data_length = (size_t)ftell(file);
  rewind(file);
  span.data = test_malloc(span.data_length + 1);
  assert_int_equal(fread(span.data, 1, span.data_length, file), span.data_length);
  fclose(file);
  return iree_make_const_byte_span(span.data, span.data_length);
}

static void check_kernel(const gpu_function_t* code, const ptx_t* text) {
  const gpu_function_t* source = NULL;
  for (iree_host_size_t i = 0; i < text->count; ++i) {
    if (iree_string_view_equal(text->functions[i].name, code->name)) source = &text->functions[i];
  }
  assert_non_null(source);
  assert_memory_equal(code->workgroup_size, source->workgroup_size, sizeof(code->workgroup_size));
  assert_int_equal(code->binding_count, source->binding_count);
  assert_int_equal(code->constant_count, source->constant_count);
  assert_int_equal(code->argument_size, source->argument_size);
  assert_int_equal(code->is_hal, source->is_hal);
}

static void same_as_text(void** state) {
  iree_const_byte_span_t code = load(files[0]), source = load(files[1]);
  cubin_t cubin;
  ptx_t text;
  IREE_CHECK_OK(cubin_read(code, iree_allocator_system(), &cubin));
  IREE_CHECK_OK(
      ptx_read(iree_make_string_view((const char*)source.data, source.data_length), iree_allocator_system(), &text));
  assert_int_equal(cubin.target, text.target.number);
  assert_int_equal(cubin.count, text.count);
  for (iree_host_size_t i = 0; i < cubin.count; ++i) check_kernel(&cubin.functions[i], &text);
  cubin_free(&cubin, iree_allocator_system());
  ptx_free(&text, iree_allocator_system());
  test_free((void*)code.data);
  test_free((void*)source.data);
}

int main(int argc, char** argv) {
  const struct CMUnitTest own[] = {cmocka_unit_test(kernels), cmocka_unit_test(other_versions),
                                   cmocka_unit_test(bad_files), cmocka_unit_test(cut_and_damaged)};
  const struct CMUnitTest given[] = {cmocka_unit_test(same_as_text)};
  files = (const char* const*)argv + 1;
  return argc == 3 ? cmocka_run_group_tests(given, NULL, NULL) : cmocka_run_group_tests(own, NULL, NULL);
}
