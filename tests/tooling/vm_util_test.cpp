// Lists from strings and back, in C++.
#include "iree/tooling/vm_util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
// cmocka.h needs those above.
#include <cmocka.h>
}

#include <sstream>

#include "iree/modules/hal/types.h"

namespace {

class Fixture {
 public:
  Fixture() {
    iree_allocator_t system = iree_allocator_system();
    IREE_CHECK_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, system, &instance_));
    IREE_CHECK_OK(iree_hal_module_register_all_types(instance_));
    IREE_CHECK_OK(iree_hal_allocator_create_heap(IREE_SV("heap"), system, system, &allocator_));
  }
  ~Fixture() {
    iree_hal_allocator_release(allocator_);
    iree_vm_instance_release(instance_);
  }
  iree::Status Parse(std::vector<std::string> texts, iree_vm_list_t** out_list) {
    return iree::ParseToVariantList(allocator_, iree::span<const std::string>(texts.data(), texts.size()),
                                    iree_allocator_system(), out_list);
  }

 private:
  iree_vm_instance_t* instance_ = nullptr;
  iree_hal_allocator_t* allocator_ = nullptr;
};

void test_round_trip(void**) {
  Fixture fixture;
  iree::vm::ref<iree_vm_list_t> list;
  IREE_CHECK_OK(fixture.Parse({"-7", "2.5", "2x2xi32=[[1 2][3 4]]", "(null)"}, &list));
  assert_int_equal(iree_vm_list_size(list.get()), 4);
  std::ostringstream text;
  IREE_CHECK_OK(iree::PrintVariantList(list.get(), &text));
  assert_string_equal(text.str().c_str(),
                      "result[0]: i32=-7\nresult[1]: f32=2.5\nresult[2]: hal.buffer_view\n2x2xi32=[1 2][3 4]\n"
                      "result[3]: (null)\n");
  text.str("");
  IREE_CHECK_OK(iree::PrintVariantList(list.get(), 1, &text));
  assert_non_null(strstr(text.str().c_str(), "2x2xi32=[1...][...]"));
}

void test_failure(void**) {
  Fixture fixture;
  iree::vm::ref<iree_vm_list_t> list;
  iree::Status status = fixture.Parse({"2xi32=1 2 3"}, &list);
  assert_int_equal(status.code(), iree::StatusCode::kOutOfRange);
  assert_null(list.get());
}

}  // namespace

int main() {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_failure)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
