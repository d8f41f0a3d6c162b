// See module.h.
#include "module.h"

#include "iree/vm/native_module_cc.h"

namespace {

namespace vm = iree::vm;
using iree::StatusOr;

class State final {
 public:
  StatusOr<int32_t> Next(int32_t step) { return value_ += step; }

 private:
  int32_t value_ = 0;
};

const vm::NativeFunction<State> functions[] = {vm::MakeNativeFunction("next", &State::Next)};

class Module final : public vm::NativeModule<State> {
 public:
  using NativeModule::NativeModule;
  StatusOr<std::unique_ptr<State>> CreateState(iree_allocator_t allocator) override {
    return std::make_unique<State>();
  }
  StatusOr<std::unique_ptr<State>> ForkState(State* parent, iree_allocator_t allocator) override {
    return std::make_unique<State>(*parent);
  }
};

}  // namespace

extern "C" iree_status_t sample_module_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                              iree_vm_module_t** out_module) {
  *out_module = (new Module("sample", /*version=*/0, instance, allocator, functions))->interface();
  return iree_ok_status();
}
