// Bytecode that jaxlib wrote (tests/ir/bytecode/write.py) says what the same programs say as text; damaged bytecode is
// refused with a message that tells where.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

#include "base/text.h"
#include "dialects/register.h"
#include "ir/bytecode.h"
#include "ir/ir.h"

#define FOLDER "tests/ir/bytecode/files/"

typedef struct message_t {
  char text[512];
  int errors, notes;
} message_t;

static void remember(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* rendered) {
  message_t* message = user;
  message->notes += severity == IR_NOTE;
  if (severity != IR_ERROR || message->errors++) return;
  strncpy(message->text, text, sizeof(message->text) - 1);
}

static text_t read_file(const char* path) {
  text_t text = {0};
  char buffer[4096];
  FILE* file = fopen(path, "rb");
  if (!file) fail_msg("cannot open '%s'", path);
  for (size_t size; (size = fread(buffer, 1, sizeof(buffer), file)) > 0;) text_append(&text, buffer, size);
  fclose(file);
  return text;
}

// The generic form of a program in either form; false when it is refused.
static bool print_program(const char* path, const void* data, size_t size, text_t* out, message_t* message) {
  ir_context_t* ctx = ir_context_create();
  memset(message, 0, sizeof(*message));
  ir_context_set_diagnostics(ctx, remember, message);
  dialects_register_all(ctx);
  ir_op_t* module = ir_parse_module(ctx, path, data, size);
  bool ok = module && ir_verify(ctx, module);
  if (ok) ir_print_op(ctx, out, module, IR_PRINT_GENERIC, 0);
  ir_context_destroy(ctx);
  return ok;
}

static text_t print_file(const char* name) {
  char path[512];
  message_t message;
  snprintf(path, sizeof(path), FOLDER "%s", name);
  text_t data = read_file(path), out = {0};
  if (!print_program(path, data.data, data.size, &out, &message)) fail_msg("%s: %s", path, message.text);
  text_finish(&data);
  return out;
}

static void test_bytecode_says_what_text_says(void** unused) {
  DIR* folder = opendir(FOLDER);
  assert_non_null(folder);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder));) {
    const char* dot = strchr(entry->d_name, '.');
    if (!dot || !strstr(dot, ".mlirbc")) continue;
    char name[256];
    snprintf(name, sizeof(name), "%.*s.mlir", (int)(dot - entry->d_name), entry->d_name);
    text_t have = print_file(entry->d_name), want = print_file(name);
    if (strcmp(have.data, want.data) != 0) fail_msg("%s differs from %s", entry->d_name, name);
    text_finish(&have);
    text_finish(&want);
    ++count;
  }
  closedir(folder);
  assert_in_range(count, 100, 1000);
}

// `path` as bytecode of a version.
static text_t write_program(const char* path, const text_t* source, int64_t version) {
  text_t out = {0};
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  ir_op_t* module = ir_parse_module(ctx, path, source->data, source->size);
  assert_non_null(module);
  assert_true(ir_write_bytecode(ctx, module, version, &out));
  ir_context_destroy(ctx);
  return out;
}

static void test_what_is_written_reads_again(void** unused) {
  static const char* const files[] = {"types.mlir", "upstream.mlir", "resources.mlir", "nested.mlir",
                                      "calls.mlir", "bodies.mlir",   "dynamic.mlir",   "special.mlir"};
  for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); ++f) {
    char path[512];
    message_t message;
    snprintf(path, sizeof(path), FOLDER "%s", files[f]);
    text_t source = read_file(path), want = print_file(files[f]);
    for (int64_t version = 0; version <= IR_BYTECODE_VERSION; ++version) {
      text_t data = write_program(path, &source, version), have = {0};
      assert_true(ir_is_bytecode(data.data, data.size));
      if (!print_program(path, data.data, data.size, &have, &message)) fail_msg("%s: %s", path, message.text);
      if (strcmp(have.data, want.data) != 0) fail_msg("%s differs as version %d", path, (int)version);
      text_finish(&data);
      text_finish(&have);
    }
    text_finish(&source);
    text_finish(&want);
  }
}

static void test_shardings_leave_a_note(void** unused) {
  text_t data = read_file(FOLDER "sharded.b6.mlirbc"), out = {0};
  message_t message;
  assert_true(print_program("sharded.mlirbc", data.data, data.size, &out, &message));
  assert_int_equal(message.notes, 1);
  assert_null(strstr(out.data, "sdy"));
  text_finish(&data);
  text_finish(&out);
}

// Wherever a file ends too early or has another byte: a message, or a program that can be printed.
static void test_damage_is_harmless(void** unused) {
  static const char* const files[] = {"nested.1.17.0.mlirbc", "mlp.1.17.0.mlirbc", "upstream.b5.mlirbc",
                                      "resources.b4.mlirbc"};
  for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); ++f) {
    char path[512];
    message_t message;
    snprintf(path, sizeof(path), FOLDER "%s", files[f]);
    text_t data = read_file(path), out = {0};
    unsigned char* copy = malloc(data.size);
    assert_non_null(copy);
    for (size_t i = 4; i < data.size; i += 3) {
      memcpy(copy, data.data, i);
      assert_false(print_program("cut.mlirbc", copy, i, &out, &message));
      assert_int_equal(message.errors, 1);
      assert_non_null(strstr(message.text, "MLIR bytecode"));
      memcpy(copy, data.data, data.size);
      copy[i] ^= (unsigned char)(1u << i % 8);
      out.size = 0;
      if (!print_program("bent.mlirbc", copy, data.size, &out, &message)) assert_int_not_equal(message.errors, 0);
    }
    free(copy);
    text_finish(&data);
    text_finish(&out);
  }
}

static text_t constant_program(const char* value) {
  text_t text = {0};
  text_printf(&text, "func.func @f() {\n  %%0 = stablehlo.constant dense<%s> : tensor<5xi4>\n  return\n}\n", value);
  return text;
}

// Bits beyond an element's width do not make it another: 0x15 and 0x05 are both 5 as i4.
static void test_unused_bits_are_cleared(void** unused) {
  text_t different = constant_program("[5, 7, 5, 7, 5]"), equal = constant_program("5"), want = {0}, have = {0};
  message_t message;
  text_t data = write_program("test.mlir", &different, IR_BYTECODE_VERSION);
  assert_true(print_program("test.mlir", equal.data, equal.size, &want, &message));
  char* bytes = memmem(data.data, data.size, "\x0b\x05\x07\x05\x07\x05", 6);  // with their size
  assert_non_null(bytes);
  memcpy(bytes + 1, "\x15\x05\x35\x05\x75", 5);
  assert_true(print_program("test.mlirbc", data.data, data.size, &have, &message));
  assert_string_equal(have.data, want.data);
  text_finish(&different);
  text_finish(&equal);
  text_finish(&want);
  text_finish(&have);
  text_finish(&data);
}

static void refuse(const char* data, size_t size, const char* expected) {
  message_t message;
  text_t out = {0};
  assert_false(print_program("test.mlirbc", data, size, &out, &message));
  assert_int_equal(message.errors, 1);
  if (!strstr(message.text, expected)) fail_msg("'%s' lacks '%s'", message.text, expected);
  text_finish(&out);
}

static void test_messages(void** unused) {
  refuse("ML\xefR\x0fname\0", 10, "version 7 of the format is not known");
  refuse("ML\xefR\x0dname", 9, "the name of the producer does not end");
  refuse("ML\xefR\x0d\0", 6, "section 0 is missing");
  refuse("ML\xefR\x0d\0\x7f\x01", 8, "unknown kind of section: 127");
  refuse("ML\xefR\x0d\0\x00\xff", 8, "127 bytes are announced where 0 are left (MLIR bytecode, at byte 8)");
  refuse("ML\xefR\x0d\0\x00\x03\x01\x00\x03\x01", 12, "section 0 is there twice");
  refuse(
      "ML\xefR\x0d\0\x00\x0d\x03\x09"
      "a.b\0\x01\x07\x03\x01\x01\x02\x01\x03\x01\x04\x01",
      25, "'a.b' is no name of a dialect");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytecode_says_what_text_says), cmocka_unit_test(test_what_is_written_reads_again),
      cmocka_unit_test(test_shardings_leave_a_note),       cmocka_unit_test(test_damage_is_harmless),
      cmocka_unit_test(test_unused_bits_are_cleared),      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
