// Merging of metadata notes: a code object with several of them has one afterwards, with all kernels in their order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "target/amdgpu/metadata_note.h"

enum { NOTES_AT = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + sizeof(Elf64_Shdr), CAPACITY = 65536 };

static _Alignas(8) uint8_t code[NOTES_AT + CAPACITY];
static size_t notes_size;

static Elf64_Ehdr* header(void) { return (Elf64_Ehdr*)code; }
static Elf64_Phdr* segment(void) { return (Elf64_Phdr*)(code + sizeof(Elf64_Ehdr)); }
static Elf64_Shdr* section(void) { return (Elf64_Shdr*)(code + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)); }

static void begin(void) {
  memset(code, 0, sizeof(code));
  notes_size = 0;
  header()->e_phoff = sizeof(Elf64_Ehdr);
  header()->e_shoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  header()->e_phnum = header()->e_shnum = 1;
  segment()->p_type = PT_NOTE;
  section()->sh_type = SHT_NOTE;
  segment()->p_offset = section()->sh_offset = NOTES_AT;
}

static void add_note(const void* document, size_t size) {
  Elf64_Nhdr note = {.n_namesz = 7, .n_descsz = (Elf64_Word)size, .n_type = 32};
  uint8_t* at = code + NOTES_AT + notes_size;
  memcpy(at, &note, sizeof(note));
  memcpy(at + sizeof(note), "AMDGPU", 7);
  memcpy(at + sizeof(note) + 8, document, size);
  notes_size += sizeof(note) + 8 + ((size + 3) & ~(size_t)3);
  segment()->p_filesz = segment()->p_memsz = section()->sh_size = notes_size;
}

// A document whose kernels are the strings of one character from `first` on.
static size_t make_document(uint8_t* out, int kernel_count, char first) {
  uint8_t* at = out;
  memcpy(at,
         "\x83\xAE"
         "amdhsa.kernels",
         16);
  at += 16;
  if (kernel_count < 16) {
    *at++ = (uint8_t)(0x90 | kernel_count);
  } else {
    *at++ = 0xDC;
    *at++ = 0;
    *at++ = (uint8_t)kernel_count;
  }
  for (int i = 0; i < kernel_count; ++i) {
    *at++ = 0xA1;
    *at++ = (uint8_t)(first + i);
  }
  static const char rest[] =
      "\xAD"
      "amdhsa.target"
      "\xA3"
      "gfx"
      "\xAE"
      "amdhsa.version"
      "\x92\x01\x02";
  memcpy(at, rest, sizeof(rest) - 1);
  return (size_t)(at + sizeof(rest) - 1 - out);
}

static void add_kernels(int kernel_count, char first) {
  uint8_t document[512];
  add_note(document, make_document(document, kernel_count, first));
}

static bool merge(void) {
  text_t error = {0};
  bool ok = metadata_note_merge(code, NOTES_AT + notes_size, &error);
  assert_true(ok == (error.size == 0));
  text_finish(&error);
  return ok;
}

// The notes are one, with `count` kernels from `first` on.
static void expect(int count, char first) {
  uint8_t document[512];
  size_t size = make_document(document, 16, first);  // with a head of three bytes
  Elf64_Nhdr note;
  memcpy(&note, code + NOTES_AT, sizeof(note));
  const uint8_t* found = code + NOTES_AT + sizeof(note) + 8;
  assert_int_equal(note.n_descsz, size + (size_t)(count - 16) * 2);
  assert_memory_equal(found, document, 16);
  assert_int_equal(found[16], 0xDC);
  assert_int_equal(found[17] << 8 | found[18], count);
  for (int i = 0; i < count; ++i) assert_int_equal(found[19 + 2 * i + 1], first + i);
  assert_memory_equal(found + 19 + 2 * count, document + 19 + 2 * 16, size - 19 - 2 * 16);
  size_t total = sizeof(note) + 8 + ((note.n_descsz + 3u) & ~3u);
  assert_int_equal(segment()->p_filesz, total);
  assert_int_equal(segment()->p_memsz, total);
  assert_int_equal(section()->sh_size, total);
}

static void several(void** state) {
  begin();
  add_kernels(3, 'A');
  add_kernels(2, 'D');
  assert_true(merge());
  expect(5, 'A');
  begin();
  add_kernels(20, 'A');
  add_kernels(0, 'X');
  add_kernels(1, 'U');
  assert_true(merge());
  expect(21, 'A');
}

static void single(void** state) {
  begin();
  add_kernels(2, 'A');
  static uint8_t before[sizeof(code)];
  memcpy(before, code, sizeof(code));
  assert_true(merge());
  assert_memory_equal(before, code, sizeof(code));
}

// Every byte of it damaged, or its end missing: a message or a result, never a read outside.
static void damaged(void** state) {
  static uint8_t whole[sizeof(code)];
  begin();
  add_kernels(3, 'A');
  add_kernels(2, 'D');
  memcpy(whole, code, sizeof(code));
  size_t size = NOTES_AT + notes_size;
  for (size_t i = 0; i < size; ++i) {
    uint8_t* copy = (uint8_t*)malloc(size);
    text_t error = {0};
    memcpy(copy, whole, size);
    copy[i] ^= 0x55;
    metadata_note_merge(copy, size, &error);
    memcpy(copy, whole, size);
    metadata_note_merge(copy, i, &error);
    text_finish(&error);
    free(copy);
  }
  begin();
  add_note("\x81\xA1x\x01", 4);
  assert_false(merge());
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(several), cmocka_unit_test(single), cmocka_unit_test(damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
