// What the VM's objects promise to C programs, where the obvious way is wrong.

#include "vm_test.h"

// A list is the reference that the wrapped object had last.
static void retains_before_it_releases(void** state) {
  iree_vm_instance_t* instance = NULL;
  iree_vm_list_t* list = NULL;
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, iree_allocator_system(), &instance));
  EXPECT_OK(iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, iree_allocator_system(), &list));
  iree_vm_ref_t ref = iree_vm_list_move_ref(list);
  EXPECT_OK(iree_vm_ref_wrap_retain(ref.ptr, ref.type, &ref));  // the same object
  assert_int_equal(iree_vm_list_size(iree_vm_list_deref(ref)), 0);
  iree_vm_ref_release(&ref);
  EXPECT_STATUS(iree_vm_ref_wrap_retain(&ref, IREE_VM_REF_TYPE_NULL, &ref), INVALID_ARGUMENT, "");
  iree_vm_instance_release(instance);
}

static iree_vm_list_t* typed_list(iree_vm_type_def_t type, size_t count) {
  iree_vm_list_t* list = NULL;
  EXPECT_OK(iree_vm_list_create(type, count, iree_allocator_system(), &list));
  EXPECT_OK(iree_vm_list_resize(list, count));
  return list;
}

static void copies_all_or_nothing(void** state) {
  iree_vm_instance_t* instance = NULL;
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, iree_allocator_system(), &instance));
  iree_vm_list_t* any = typed_list(iree_vm_make_undefined_type_def(), 3);
  iree_vm_list_t* numbers = typed_list(iree_vm_make_value_type_def(IREE_VM_VALUE_TYPE_I32), 3);
  iree_vm_value_t value = iree_vm_value_make_i32(7);
  EXPECT_OK(iree_vm_list_set_value(any, 0, &value));
  value = iree_vm_value_make_i64(8);
  EXPECT_OK(iree_vm_list_set_value(any, 1, &value));
  EXPECT_STATUS(iree_vm_list_copy(any, 0, numbers, 0, 2), INVALID_ARGUMENT, "");
  EXPECT_OK(iree_vm_list_get_value(numbers, 0, &value));
  assert_int_equal(value.i32, 0);
  EXPECT_OK(iree_vm_list_copy(any, 0, numbers, 1, 1));
  EXPECT_OK(iree_vm_list_get_value(numbers, 1, &value));
  assert_int_equal(value.i32, 7);
  EXPECT_STATUS(iree_vm_list_copy(numbers, 0, numbers, 1, 2), INVALID_ARGUMENT, "");
  EXPECT_OK(iree_vm_list_copy(numbers, 1, numbers, 2, 1));
  EXPECT_STATUS(iree_vm_list_copy(numbers, 2, any, 0, 2), OUT_OF_RANGE, "");
  EXPECT_OK(iree_vm_list_copy(numbers, 3, any, 3, 0));
  iree_vm_list_release(any);
  iree_vm_list_release(numbers);
  iree_vm_instance_release(instance);
}

static void asks_for_lengths(void** state) {
  char text[64];
  iree_host_size_t length = 0, whole = 0;
  iree_status_t status = iree_make_status(IREE_STATUS_NOT_FOUND, "nothing");
  assert_true(iree_status_format(status, 0, NULL, &length));
  assert_true(iree_status_format(status, 100, NULL, &length));
  assert_false(iree_status_format(status, 4, text, &whole));
  assert_int_equal(length, whole);
  iree_status_free(status);
  assert_false(iree_string_view_starts_with(IREE_SV("a"), iree_string_view_empty()));
  assert_false(iree_string_view_ends_with(IREE_SV("a"), iree_string_view_empty()));
}

// Lists of arguments are where the struct's compiler puts them, and as long as the caller says.
static void finds_lists(void** state) {
  uint64_t storage[16] = {0};
  const uint16_t sizes[3] = {2, 0, 3};  // an iree_vm_register_list_t of two
  iree_host_size_t size = 0;
  EXPECT_OK(
      iree_vm_function_call_compute_cconv_fragment_size(IREE_SV("rCiD"), (const iree_vm_register_list_t*)sizes, &size));
  iree_vm_abi_rCiD_t* args = (iree_vm_abi_rCiD_t*)storage;
  args->a1_count = 3;
  assert_int_equal(size, sizeof(iree_vm_ref_t) + 4 + 3 * 4);
  assert_ptr_equal(iree_vm_abi_rCiD_checked_deref(iree_make_byte_span(storage, size)), args);
  assert_null(iree_vm_abi_rCiD_checked_deref(iree_make_byte_span(storage, size + 8)));
  args->a1_count = -1;
  assert_null(iree_vm_abi_rCiD_checked_deref(iree_make_byte_span(storage, size)));
}

// The vectors of SipHash's paper; macros that return from the function that they are used in.
static iree_status_t first_words(iree_vm_buffer_t* buffer, iree_host_size_t count, uint32_t* out_sum) {
  const uint32_t* words = NULL;
  iree_vm_buffer_check_ro(buffer, 1, count, uint32_t, words);
  for (iree_host_size_t i = 0; i < count; ++i) *out_sum += words[i] & 0xff;
  return iree_ok_status();
}
static iree_status_t clear_first(iree_vm_buffer_t* buffer) {
  uint8_t* bytes = NULL;
  iree_vm_buffer_check_rw(buffer, 0, 1, uint8_t, bytes);
  bytes[0] = 0;
  return iree_ok_status();
}
static void hashes_buffers(void** state) {
  uint8_t bytes[16];
  for (uint8_t i = 0; i < sizeof(bytes); ++i) bytes[i] = i;
  iree_vm_buffer_t buffer;
  int64_t hash = 0;
  iree_vm_buffer_initialize(IREE_VM_BUFFER_ACCESS_ORIGIN_HOST, iree_make_byte_span(bytes, sizeof(bytes)),
                            iree_allocator_null(), &buffer);
  EXPECT_OK(iree_vm_buffer_hash(&buffer, 0, 15, &hash));
  assert_true((uint64_t)hash == 0xa129ca6149be45e5ull);
  EXPECT_OK(iree_vm_buffer_hash(&buffer, 3, 0, &hash));
  assert_true((uint64_t)hash == 0x726fdb47dd0e0e31ull);
  EXPECT_STATUS(iree_vm_buffer_hash(&buffer, 8, 9, &hash), OUT_OF_RANGE, NULL);
  uint32_t sum = 0;
  EXPECT_OK(first_words(&buffer, 3, &sum));
  assert_int_equal(sum, 4 + 8 + 12);
  EXPECT_STATUS(first_words(&buffer, 4, &sum), OUT_OF_RANGE, NULL);
  EXPECT_STATUS(clear_first(&buffer), PERMISSION_DENIED, NULL);
  iree_vm_buffer_deinitialize(&buffer);
}

static void destroy_module(void* self) { ++*(int*)self; }

// The first reference keeps the module, the last one lets it go, and that over and over.
static void buffers_keep_their_module(void** state) {
  iree_vm_instance_t* instance = NULL;
  uint8_t bytes[4] = {1, 2, 3, 4};
  int destroyed = 0;
  iree_vm_module_t module;
  iree_vm_buffer_t buffer;
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, iree_allocator_system(), &instance));
  EXPECT_OK(iree_vm_module_initialize(&module, &destroyed));
  module.destroy = destroy_module;
  iree_vm_buffer_initialize_module_storage(iree_make_byte_span(bytes, sizeof(bytes)), &module, &buffer);
  for (int round = 0; round < 2; ++round) {
    iree_vm_ref_t ref = iree_vm_buffer_move_ref(&buffer), other = iree_vm_ref_null();
    iree_vm_ref_retain(&ref, &other);
    EXPECT_OK(iree_vm_buffer_wrap_retain(&buffer, &ref));
    iree_vm_ref_release(&other);
    assert_int_equal(iree_atomic_ref_count_load(&module.ref_count), 2);
    iree_vm_ref_release(&ref);
    assert_int_equal(iree_atomic_ref_count_load(&module.ref_count), 1);
  }
  iree_vm_ref_t last = iree_vm_buffer_retain_ref(&buffer);
  iree_vm_module_release(&module);
  assert_int_equal(destroyed, 0);
  assert_int_equal(iree_vm_buffer_contents(iree_vm_buffer_deref(last)).data_length, 0);  // it is read-only
  assert_int_equal(iree_vm_buffer_const_contents(iree_vm_buffer_deref(last)).data_length, 4);
  iree_vm_ref_release(&last);
  assert_int_equal(destroyed, 1);
  iree_vm_buffer_deinitialize(&buffer);
  iree_vm_instance_release(instance);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffers_keep_their_module),  cmocka_unit_test(hashes_buffers),
      cmocka_unit_test(retains_before_it_releases), cmocka_unit_test(copies_all_or_nothing),
      cmocka_unit_test(asks_for_lengths),           cmocka_unit_test(finds_lists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
