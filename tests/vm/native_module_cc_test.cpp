// A module in C++: what its methods take and return, its state, and how failures come out.
#include "iree/vm/native_module_cc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
// cmocka.h needs those above.
#include <cmocka.h>
}

#include <array>
#include <string>
#include <tuple>

#include "iree/vm/api.h"

namespace {

using iree::OkStatus;
using iree::Status;
using iree::StatusCode;
using iree::StatusOr;
namespace vm = iree::vm;

class State {
 public:
  StatusOr<int32_t> Count(int32_t by) { return count_ += by; }
  StatusOr<std::tuple<int64_t, float>> Numbers(int64_t a, float b, double c) {
    return std::make_tuple(a + static_cast<int64_t>(c), b * 2);
  }
  StatusOr<int64_t> Length(std::string_view text, iree_vm_list_t* list) {
    return static_cast<int64_t>(text.size() + (list ? iree_vm_list_size(list) : 100));
  }
  StatusOr<vm::ref<iree_vm_list_t>> Same(vm::ref<iree_vm_list_t> list) { return list; }
  StatusOr<int32_t> Sum(std::array<int32_t, 3> values) { return values[0] + 10 * values[1] + 100 * values[2]; }
  Status Fail() { return Status(StatusCode::kDataLoss, "lost"); }
  Status Nothing() { return OkStatus(); }
  StatusOr<int32_t> Add(int32_t start, iree::span<const int64_t> values, iree::span<iree_vm_list_t* const> lists) {
    for (int64_t value : values) start += static_cast<int32_t>(value);
    for (iree_vm_list_t* list : lists) start += list ? 1000 : 0;
    return start;
  }

 private:
  int32_t count_ = 0;
};

const vm::NativeFunction<State> functions[] = {
    vm::MakeNativeFunction("add", &State::Add),         vm::MakeNativeFunction("count", &State::Count),
    vm::MakeNativeFunction("fail", &State::Fail),       vm::MakeNativeFunction("length", &State::Length),
    vm::MakeNativeFunction("nothing", &State::Nothing), vm::MakeNativeFunction("numbers", &State::Numbers),
    vm::MakeNativeFunction("same", &State::Same),       vm::MakeNativeFunction("sum", &State::Sum),
};

class Module final : public vm::NativeModule<State> {
 public:
  using vm::NativeModule<State>::NativeModule;
  StatusOr<std::unique_ptr<State>> CreateState(iree_allocator_t) override { return std::make_unique<State>(); }
  StatusOr<std::unique_ptr<State>> ForkState(State* parent, iree_allocator_t) override {
    return std::make_unique<State>(*parent);
  }
};

struct Fixture {
  vm::ref<iree_vm_instance_t> instance;
  vm::ref<iree_vm_module_t> module;
  vm::ref<iree_vm_context_t> context;
  vm::ref<iree_vm_list_t> inputs, outputs;

  Fixture() {
    iree_allocator_t allocator = iree_allocator_system();
    IREE_CHECK_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &instance));
    module = vm::ref<iree_vm_module_t>((new Module("custom", 3, instance.get(), allocator, functions))->interface());
    iree_vm_module_t* modules[] = {module.get()};
    IREE_CHECK_OK(iree_vm_context_create_with_modules(instance.get(), IREE_VM_CONTEXT_FLAG_NONE, 1, modules, allocator,
                                                      &context));
    IREE_CHECK_OK(iree_vm_list_create(iree_vm_make_undefined_type_def(), 4, allocator, &inputs));
    IREE_CHECK_OK(iree_vm_list_create(iree_vm_make_undefined_type_def(), 4, allocator, &outputs));
  }
  void Push(iree_vm_value_t value) { IREE_CHECK_OK(iree_vm_list_push_value(inputs.get(), &value)); }
  void PushNull() {
    iree_vm_ref_t null = iree_vm_ref_null();
    IREE_CHECK_OK(iree_vm_list_push_ref_move(inputs.get(), &null));
  }
  iree_vm_function_t Find(const char* name) {
    iree_vm_function_t function;
    IREE_CHECK_OK(iree_vm_context_resolve_function(context.get(), iree_make_cstring_view(name), &function));
    return function;
  }
  Status Call(const char* name) {
    iree_vm_list_clear(outputs.get());
    Status status = iree_vm_invoke(context.get(), Find(name), IREE_VM_INVOCATION_FLAG_NONE, nullptr, inputs.get(),
                                   outputs.get(), iree_allocator_system());
    iree_vm_list_clear(inputs.get());
    return status;
  }
  iree_vm_value_t Result(iree_host_size_t i) {
    iree_vm_value_t value;
    IREE_CHECK_OK(iree_vm_list_get_value(outputs.get(), i, &value));
    return value;
  }
};

std::string ConventionOf(Fixture& f, const char* name) {
  iree_vm_function_t function = f.Find(name);
  iree_string_view_t text = iree_vm_function_signature(&function).calling_convention;
  return std::string(text.data, text.size);
}

void has_conventions(void**) {
  Fixture f;
  assert_string_equal(ConventionOf(f, "custom.numbers").c_str(), "0IfF_If");
  assert_string_equal(ConventionOf(f, "custom.length").c_str(), "0rr_I");
  assert_string_equal(ConventionOf(f, "custom.same").c_str(), "0r_r");
  assert_string_equal(ConventionOf(f, "custom.sum").c_str(), "0iii_i");
  assert_string_equal(ConventionOf(f, "custom.nothing").c_str(), "0v_v");
  assert_string_equal(ConventionOf(f, "custom.add").c_str(), "0iCIDCrD_i");
  assert_int_equal(iree_vm_module_signature(f.module.get()).version, 3);
}

void passes_values(void**) {
  Fixture f;
  for (int32_t i = 1; i <= 2; ++i) {  // the context's state stays
    f.Push(iree_vm_value_make_i32(5));
    assert_true(f.Call("custom.count").ok());
    assert_int_equal(f.Result(0).i32, 5 * i);
  }
  f.Push(iree_vm_value_make_i64(1ll << 40));
  f.Push(iree_vm_value_make_f32(1.5f));
  f.Push(iree_vm_value_make_f64(3));
  assert_true(f.Call("custom.numbers").ok());
  assert_true(f.Result(0).i64 == (1ll << 40) + 3 && f.Result(1).f32 == 3.0f);
  for (int32_t i = 1; i <= 3; ++i) f.Push(iree_vm_value_make_i32(i));
  assert_true(f.Call("custom.sum").ok());
  assert_int_equal(f.Result(0).i32, 321);
  assert_true(f.Call("custom.nothing").ok());
}

void passes_references(void**) {
  Fixture f;
  iree_vm_ref_t list = iree_vm_list_retain_ref(f.outputs.get());
  IREE_CHECK_OK(iree_vm_list_push_ref_retain(f.inputs.get(), &list));
  assert_true(f.Call("custom.same").ok());
  assert_ptr_equal(iree_vm_list_get_ref_deref(f.outputs.get(), 0, iree_vm_list_type()), f.outputs.get());
  iree_vm_list_clear(f.outputs.get());
  f.PushNull();
  f.PushNull();
  assert_true(f.Call("custom.length").ok());
  assert_int_equal(f.Result(0).i64, 100);
  IREE_CHECK_OK(iree_vm_list_push_ref_retain(f.inputs.get(), &list));  // no buffer
  f.PushNull();
  assert_true(f.Call("custom.length").code() == StatusCode::kInvalidArgument);
  iree_vm_ref_release(&list);
}

// Lists of arguments, packed as the VM does.
void unpacks_spans(void**) {
  struct {
    int32_t start, count;
    int64_t values[2];
    int32_t list_count;
    iree_vm_ref_t lists[1];
  } arguments = {1, 2, {20, 300}, 1, {iree_vm_ref_null()}};
  int32_t result = 0;
  State state;
  iree_vm_function_call_t call = {};
  call.arguments = iree_make_byte_span(&arguments, sizeof(arguments));
  call.results = iree_make_byte_span(&result, sizeof(result));
  IREE_CHECK_OK(functions[0].call(functions[0].ptr, &state, nullptr, call));
  assert_int_equal(result, 321);
  arguments.count = -1;
  assert_true(Status(functions[0].call(functions[0].ptr, &state, nullptr, call)).code() ==
              StatusCode::kInvalidArgument);
  arguments.count = 1 << 30;
  assert_true(Status(functions[0].call(functions[0].ptr, &state, nullptr, call)).code() ==
              StatusCode::kInvalidArgument);
}

void fails_with_its_name(void**) {
  Fixture f;
  Status status = f.Call("custom.fail");
  assert_true(status.code() == StatusCode::kDataLoss);
  assert_true(status.ToString().find("lost; while invoking C++ function custom.fail") != std::string::npos);
  StatusOr<int> none = iree_make_status(IREE_STATUS_NOT_FOUND, "no number");
  assert_false(none.ok());
  assert_int_equal(none.value_or(4), 4);
  Status moved = std::move(none).status();
  assert_true(moved == StatusCode::kNotFound);
}

}  // namespace

int main() {
  const struct CMUnitTest tests[] = {cmocka_unit_test(has_conventions), cmocka_unit_test(passes_values),
                                     cmocka_unit_test(passes_references), cmocka_unit_test(unpacks_spans),
                                     cmocka_unit_test(fails_with_its_name)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
