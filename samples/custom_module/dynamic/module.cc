// A module in a shared library, which tools load beside a program:
//
//   iree-run-module --module=custom.so@create_custom_module?greeting=hello --module=example.vmfb --function=main
//
// The library has a copy of the runtime's functions in it and shares none with the program that loads it; so it asks
// the instance for the types that are registered there.
#include <cstdio>
#include <string>

#include "iree/modules/hal/types.h"
#include "iree/vm/api.h"
#include "iree/vm/dynamic/api.h"
#include "iree/vm/native_module_cc.h"

namespace {

namespace vm = iree::vm;
using iree::OkStatus;
using iree::Status;
using iree::StatusOr;

class State final {
 public:
  explicit State(std::string greeting) : greeting_(std::move(greeting)) {}

  Status Print(iree_hal_buffer_view_t* view) {
    char text[256];
    iree_host_size_t length = 0;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_view_format(view, /*max_element_count=*/16, sizeof(text), text, &length));
    std::printf("%s %.*s\n", greeting_.c_str(), static_cast<int>(length), text);
    return OkStatus();
  }
  // How often it was called in this context.
  StatusOr<int32_t> Count() { return ++count_; }

 private:
  std::string greeting_;
  int32_t count_ = 0;
};

const vm::NativeFunction<State> functions[] = {vm::MakeNativeFunction("count", &State::Count),
                                               vm::MakeNativeFunction("print", &State::Print)};

class Module final : public vm::NativeModule<State> {
 public:
  Module(iree_vm_instance_t* instance, iree_allocator_t allocator, std::string greeting)
      : NativeModule("custom", /*version=*/0, instance, allocator, functions), greeting_(std::move(greeting)) {}
  StatusOr<std::unique_ptr<State>> CreateState(iree_allocator_t allocator) override {
    return std::make_unique<State>(greeting_);
  }
  StatusOr<std::unique_ptr<State>> ForkState(State* parent, iree_allocator_t allocator) override {
    return std::make_unique<State>(*parent);
  }

 private:
  std::string greeting_;
};

}  // namespace

extern "C" IREE_VM_DYNAMIC_MODULE_EXPORT iree_status_t create_custom_module(
    iree_vm_dynamic_module_version_t max_version, iree_vm_instance_t* instance, iree_host_size_t param_count,
    const iree_string_pair_t* params, iree_allocator_t allocator, iree_vm_module_t** out_module) {
  if (max_version < IREE_VM_DYNAMIC_MODULE_VERSION_LATEST) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the runtime knows version %u only", max_version);
  }
  IREE_RETURN_IF_ERROR(iree_hal_module_resolve_all_types(instance));
  std::string greeting = "value:";
  for (iree_host_size_t i = 0; i < param_count; ++i) {
    if (!iree_string_view_equal(params[i].key, IREE_SV("greeting"))) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the module has a greeting, no '%.*s'",
                              static_cast<int>(params[i].key.size), params[i].key.data);
    }
    greeting.assign(params[i].value.data, params[i].value.size);
  }
  *out_module = (new Module(instance, allocator, std::move(greeting)))->interface();
  return iree_ok_status();
}
