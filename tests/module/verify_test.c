// The verifier: a program with any byte changed is refused or harmless, and each kind of damage has its message.

#include "module/archive.h"
#include "module/dump.h"
#include "module_test.h"

static iree_status_t write_to_memory(void* sink, uint64_t offset, const void* data, size_t length) {
  if (length) memcpy(((iree_byte_span_t*)sink)->data + offset, data, length);
  return iree_ok_status();
}

// A program with loops, calls, globals, lists and a table.
static iree_byte_span_t make_program(void) {
  module_writer_t* w = NULL;
  EXPECT_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &w));
  uint32_t global = module_writer_global(w, IREE_SV("g"), VM_TYPE_I32, 5);
  uint32_t import = module_writer_import(w, IREE_SV("other.fn"), IREE_SV("0ri_I"), true);
  uint32_t device = module_writer_device(w, IREE_SV("d"), 0);
  module_table_t* t = module_writer_table(w, IREE_SV("t"), 1);
  uint32_t slot = module_table_argument_slot(t, 0, 64);
  module_table_fill(t, (module_binding_t){slot, MODULE_LIT(0), MODULE_PARAM(0)}, MODULE_LIT(1), 2);
  module_function_t* f = module_writer_function(w, IREE_SV("f"), IREE_SV("0iIr_Ir"));
  module_reg_t i = module_function_argument(f, 0), n = module_function_argument(f, 1),
               r = module_function_argument(f, 2);
  module_label_t loop = module_function_label(f), end = module_function_label(f);
  module_reg_t stream = module_function_ref(f);
  module_emit(f, hal_stream_begin, MODULE_REG(stream), MODULE_INDEX(device), MODULE_REG(r), MODULE_IMM(1));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), MODULE_LIST(1, &n),
              MODULE_LIST(1, &r));
  module_function_bind(f, loop);
  module_reg_t g = module_emit_value(f, i32_add, MODULE_REG(i), MODULE_REG(i));
  module_emit(f, global_load, MODULE_REG(g), MODULE_INDEX(global));
  module_emit(f, call_import, MODULE_LIST(1, &n), MODULE_INDEX(import), MODULE_LIST(2, ((module_reg_t[]){r, g})));
  uint32_t spans = module_writer_import(w, IREE_SV("other.spans"), IREE_SV("0CiIDr_I"), true);
  module_emit(f, call_import_spans, MODULE_LIST(1, &n), MODULE_INDEX(spans),
              MODULE_LIST(5, ((module_reg_t[]){g, n, i, n, r})), MODULE_IMMS(1, (&(int64_t){2})));
  module_emit(f, fail_if, MODULE_REG(g), MODULE_IMM(3), MODULE_INDEX(module_writer_string(w, IREE_SV("no"))));
  module_emit(f, br_if, MODULE_REG(g), MODULE_LABEL(loop), MODULE_LABEL(end));
  module_function_bind(f, end);
  module_emit(f, return, MODULE_LIST(2, ((module_reg_t[]){n, r})));
  module_function_t* h = module_writer_function(w, IREE_SV("h"), IREE_SV("0v_v"));
  module_reg_t hn = module_function_i64(h, 3), hr = module_function_ref(h), hi = module_function_i32(h, 1);
  module_emit(h, call, MODULE_LIST(2, ((module_reg_t[]){hn, hr})), MODULE_INDEX(module_function_index(f)),
              MODULE_LIST(3, ((module_reg_t[]){hi, hn, hr})));
  module_label_t out = module_function_label(h);
  module_emit(h, switch, MODULE_REG(hi), MODULE_LABEL(out), MODULE_LABELS(1, &out));
  module_function_bind(h, out);
  module_emit(h, return, MODULE_LIST(0, NULL));
  module_writer_initializer(w, h);
  module_writer_export(w, IREE_SV("f"), f, 1, (module_pair_t[]){{IREE_SV("k"), IREE_SV("v")}});
  iree_byte_span_t data;
  EXPECT_OK(module_writer_finish_memory(w, iree_allocator_system(), &data));
  module_writer_destroy(w);
  return data;
}

// The program entry in an archive with right checksums.
static iree_byte_span_t wrap(iree_const_byte_span_t program) {
  archive_entry_t entry = {IREE_SV(MODULE_ENTRY_PROGRAM), 64, 1, &program, NULL};
  uint64_t size = module_archive_size(1, &entry);
  iree_byte_span_t data = {malloc(size), size};
  archive_target_t target = {.write = write_to_memory, .sink = &data, .threads = 1};
  EXPECT_OK(module_archive_write(1, &entry, &target, iree_allocator_system()));
  return data;
}

static iree_status_t try_program(iree_const_byte_span_t program) {
  iree_byte_span_t data = wrap(program);
  module_image_t image;
  iree_status_t status = module_image_open(iree_const_cast_byte_span(data), iree_allocator_system(), &image);
  if (iree_status_is_ok(status)) {
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);  // touches everything
    module_dump_disassembly(&image, true, file);
    module_dump_json(&image, false, file);
    fclose(file);
    free(text);
    module_image_close(&image, iree_allocator_system());
  }
  free(data.data);
  return status;
}

typedef struct fixture_t {
  iree_byte_span_t data, program;
  module_image_t image;
} fixture_t;

static int setup(void** state) {
  fixture_t* fixture = calloc(1, sizeof(*fixture));
  fixture->data = make_program();
  EXPECT_OK(module_image_open(iree_const_cast_byte_span(fixture->data), iree_allocator_system(), &fixture->image));
  const archive_file_t* file = module_archive_find(&fixture->image.archive, IREE_SV(MODULE_ENTRY_PROGRAM));
  fixture->program = iree_make_byte_span((void*)(uintptr_t)file->data.data, file->data.data_length);
  *state = fixture;
  return 0;
}

static int teardown(void** state) {
  fixture_t* fixture = *state;
  module_image_close(&fixture->image, iree_allocator_system());
  iree_allocator_free(iree_allocator_system(), fixture->data.data);
  free(fixture);
  return 0;
}

static void test_any_byte(void** state) {
  fixture_t* fixture = *state;
  static const uint8_t masks[] = {0x01, 0x80, 0xFF, 0x10};
  EXPECT_OK(try_program(iree_const_cast_byte_span(fixture->program)));
  for (size_t i = 0; i < fixture->program.data_length; ++i) {
    for (size_t k = 0; k < sizeof(masks); ++k) {
      fixture->program.data[i] ^= masks[k];
      iree_status_ignore(try_program(iree_const_cast_byte_span(fixture->program)));
      fixture->program.data[i] ^= masks[k];
    }
  }
}

// Every function has the code of all of them: each of the instructions is right, but there would be too many.
static void test_shared_code(void** state) {
  enum { FUNCTIONS = 4000 };
  module_writer_t* w = NULL;
  EXPECT_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &w));
  for (int i = 0; i < FUNCTIONS; ++i) {
    module_function_t* f = module_writer_function(w, IREE_SV("f"), IREE_SV("0v_v"));
    module_emit(f, return, MODULE_LIST(0, NULL));
  }
  iree_byte_span_t data;
  EXPECT_OK(module_writer_finish_memory(w, iree_allocator_system(), &data));
  module_writer_destroy(w);
  module_image_t image;
  EXPECT_OK(module_image_open(iree_const_cast_byte_span(data), iree_allocator_system(), &image));
  module_function_row_t* rows = (module_function_row_t*)(uintptr_t)image.functions;
  for (uint32_t i = 0; i < image.functions_count; ++i) {
    rows[i].code_first = 0;
    rows[i].code_count = image.code_count;
  }
  const archive_file_t* program = module_archive_find(&image.archive, IREE_SV(MODULE_ENTRY_PROGRAM));
  EXPECT_STATUS(try_program(program->data), INVALID_ARGUMENT, "rows are shared by more");
  module_image_close(&image, iree_allocator_system());
  iree_allocator_free(iree_allocator_system(), data.data);
}

static void test_any_length(void** state) {
  fixture_t* fixture = *state;
  for (size_t length = 0; length < fixture->program.data_length; ++length) {
    iree_status_t status = try_program(iree_make_const_byte_span(fixture->program.data, length));
    assert_int_equal(iree_status_consume_code(status), IREE_STATUS_INVALID_ARGUMENT);
  }
}

// Changes one field, expects a message, changes it back.
#define EXPECT_DAMAGE(field, value, part)                                                                        \
  expect_damage(fixture, (void*)(uintptr_t)&fixture->image.field, sizeof(fixture->image.field), (value), (part), \
                __LINE__)

static void expect_damage(fixture_t* fixture, void* at, size_t size, uint64_t value, const char* part, int line) {
  uint64_t old = 0;
  memcpy(&old, at, size);
  memcpy(at, &value, size);
  expect_status(try_program(iree_const_cast_byte_span(fixture->program)), IREE_STATUS_INVALID_ARGUMENT, part, __FILE__,
                line);
  memcpy(at, &old, size);
}

static void test_messages(void** state) {
  fixture_t* fixture = *state;
  EXPECT_DAMAGE(strings[1].length, 1u << 30, "strings row 1: string");
  EXPECT_DAMAGE(exports[0].function, 9, "exports row 0: function 9 out of range (2)");
  EXPECT_DAMAGE(exports[0].attr_count, 5, "exports row 0: attributes");
  EXPECT_DAMAGE(globals[0].type, 7, "globals row 0: type 7");
  EXPECT_DAMAGE(functions[0].code_count, fixture->image.functions[0].code_count - 1, "truncated");
  EXPECT_DAMAGE(functions[0].value_count, 1, "argument register");
  EXPECT_DAMAGE(functions[1].ref_count, 0, "wrong register");
  EXPECT_DAMAGE(slots[0].kind, 2, "slots row 0: kind");
  EXPECT_DAMAGE(slots[0].index, 1, "operands do not fit the command table");
  EXPECT_DAMAGE(commands[0].entry, 3, "pattern length 3");
  EXPECT_DAMAGE(commands[0].push_count, 2, "push constants 2");
  EXPECT_DAMAGE(commands[0].kind, 9, "commands row 0: kind 9");
  EXPECT_DAMAGE(bindings[0].slot, 1, "slot 1 out of range (1)");
  EXPECT_DAMAGE(bindings[0].offset, 100, "offset 100 out of range");
  EXPECT_DAMAGE(literals[1], 65, "binding offset 65 out of range (64)");
  EXPECT_DAMAGE(tables[0].param_count, 2, "operands do not fit the command table");
  EXPECT_DAMAGE(code[0], 0xFFFF, "unknown instruction");
}

static void test_version(void** state) {
  fixture_t* fixture = *state;
  module_header_t* header = (module_header_t*)fixture->program.data;
  header->version_minor = 9;
  EXPECT_OK(try_program(iree_const_cast_byte_span(fixture->program)));
  header->version_major = 9;
  EXPECT_STATUS(try_program(iree_const_cast_byte_span(fixture->program)), INCOMPATIBLE, "format version 9.9");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_any_byte, setup, teardown),
      cmocka_unit_test_setup_teardown(test_any_length, setup, teardown),
      cmocka_unit_test(test_shared_code),
      cmocka_unit_test_setup_teardown(test_messages, setup, teardown),
      cmocka_unit_test_setup_teardown(test_version, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
