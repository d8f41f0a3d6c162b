// iree::vm::ref and opaque_ref: who owns which reference.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
// cmocka.h needs those above.
#include <cmocka.h>
}

#include "iree/vm/api.h"

namespace {

int alive = 0;

class Counter : public iree::vm::RefObject<Counter> {
 public:
  explicit Counter(int value) : value(value) { ++alive; }
  ~Counter() { --alive; }
  int count() const { return counter_.load(); }
  int value;
};

// Gone by a function of its own.
class Pooled : public iree::vm::RefObject<Pooled> {
 public:
  static void Delete(Pooled* object) {
    ++returned;
    delete object;
  }
  static int returned;
};
int Pooled::returned = 0;

iree_vm_instance_t* instance = nullptr;

}  // namespace

IREE_VM_DECLARE_TYPE_ADAPTERS(test_counter, Counter);
IREE_VM_DEFINE_TYPE_ADAPTERS(test_counter, Counter);

namespace {

using iree::vm::opaque_ref;
using iree::vm::ref;

void make_counter(int value, Counter** out_counter) { *out_counter = new Counter(value); }

void test_ref_owns(void**) {
  {
    ref<Counter> first = iree::vm::make_ref<Counter>(7);
    assert_true(first.type() == test_counter_type());
    assert_int_equal(first->count(), 1);
    ref<Counter> second = iree::vm::retain_ref(first);
    assert_true(second == first);
    assert_int_equal(first->count(), 2);
    ref<Counter> third(second);
    assert_int_equal(first->count(), 3);
    third = std::move(second);
    assert_false(second);
    assert_int_equal(first->count(), 2);
    third.reset();
    assert_int_equal((*first).count(), 1);
    first = iree::vm::make_ref<Counter>(8);
    assert_int_equal(alive, 1);
    assert_int_equal(first->value, 8);
    first.release()->ReleaseReference();
    assert_int_equal(alive, 0);
    make_counter(9, &first);
    assert_int_equal(first->value, 9);
    assert_true(first.type() == test_counter_type());
    ref<Counter>& same = first;
    first = std::move(same);
    assert_int_equal(first->count(), 1);
  }
  assert_int_equal(alive, 0);
}

void test_ref_goes_through_c(void**) {
  ref<iree_vm_list_t> list;
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, iree_allocator_system(), &list);
  assert_true(iree_status_is_ok(status));
  {
    ref<Counter> counter = iree::vm::make_ref<Counter>(3);
    assert_true(iree_status_is_ok(iree_vm_list_push_ref_retain(list.get(), counter)));
    assert_int_equal(counter->count(), 2);
  }
  assert_int_equal(alive, 1);
  opaque_ref element;
  assert_true(!element);
  assert_true(iree_status_is_ok(iree_vm_list_get_ref_retain(list.get(), 0, &element)));
  assert_int_equal(test_counter_deref(*element.get())->value, 3);
  list.reset();
  assert_int_equal(alive, 1);
  opaque_ref moved(std::move(element));
  assert_true(!element);
  moved = opaque_ref();
  assert_int_equal(alive, 0);
}

// Types that the VM does not know as references have their own functions.
void test_ref_of_unregistered(void**) {
  ref<iree_vm_instance_t> other = iree::vm::retain_ref(instance);
  assert_ptr_equal(other.get(), instance);
  assert_true(other.type() == IREE_VM_REF_TYPE_NULL);
  ref<iree_vm_instance_t> third(other);
  ref<iree_vm_context_t> context;
  assert_true(iree_status_is_ok(
      iree_vm_context_create(instance, IREE_VM_CONTEXT_FLAG_NONE, iree_allocator_system(), &context)));
  assert_true(context);
}

void test_custom_delete(void**) {
  Pooled* pooled = new Pooled();
  pooled->AddReference();
  pooled->ReleaseReference();
  assert_int_equal(Pooled::returned, 0);
  pooled->ReleaseReference();
  assert_int_equal(Pooled::returned, 1);
}

}  // namespace

int main() {
  static iree_vm_ref_type_descriptor_t descriptor = {};
  descriptor.type_name = iree_make_cstring_view("test.counter");
  descriptor.offsetof_counter = Counter::offsetof_counter();
  descriptor.destroy = Counter::DirectDestroy;
  iree_status_t status = iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, iree_allocator_system(), &instance);
  if (iree_status_is_ok(status)) {
    status = iree_vm_instance_register_type(instance, &descriptor, &test_counter_registration);
  }
  if (!iree_status_is_ok(status)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ref_owns),
      cmocka_unit_test(test_ref_goes_through_c),
      cmocka_unit_test(test_ref_of_unregistered),
      cmocka_unit_test(test_custom_delete),
  };
  int failed = cmocka_run_group_tests(tests, nullptr, nullptr);
  iree_vm_instance_unregister_type(instance, &descriptor);
  iree_vm_instance_release(instance);
  return failed;
}
