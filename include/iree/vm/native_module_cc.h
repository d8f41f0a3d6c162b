// Modules in C++: a class with the state that each context has, whose methods are the module's functions.
//
//   class State { public: StatusOr<int32_t> Add(int32_t a, int32_t b); Status Print(std::string_view text); };
//   static const vm::NativeFunction<State> functions[] = {vm::MakeNativeFunction("add", &State::Add),
//                                                         vm::MakeNativeFunction("print", &State::Print)};
//   class Module final : public vm::NativeModule<State> {
//     using vm::NativeModule<State>::NativeModule;
//     StatusOr<std::unique_ptr<State>> CreateState(iree_allocator_t allocator) override;
//     StatusOr<std::unique_ptr<State>> ForkState(State* parent, iree_allocator_t allocator) override;
//   };
//   *out_module = (new Module("custom", /*version=*/0, instance, allocator, functions))->interface();
//
// What methods may take and return is in native_module_packing.h. The last release of the interface deletes the object.
// A module may be used by many threads; a state by one at a time.
#ifndef IREE_VM_NATIVE_MODULE_CC_H_
#define IREE_VM_NATIVE_MODULE_CC_H_

#ifndef __cplusplus
#error "This header is for C++."
#endif  // __cplusplus

#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "iree/base/api.h"
#include "iree/base/internal/span.h"
#include "iree/base/status_cc.h"
#include "iree/vm/instance.h"
#include "iree/vm/module.h"
#include "iree/vm/native_module_packing.h"
#include "iree/vm/stack.h"

namespace iree {
namespace vm {

template <typename State>
class NativeModule {
 public:
  // `name` and the table outlive the module.
  NativeModule(const char* name, uint32_t version, iree_vm_instance_t* instance, iree_allocator_t allocator,
               span<const NativeFunction<State>> dispatch_table)
      : name_(name), version_(version), instance_(instance), allocator_(allocator), dispatch_table_(dispatch_table) {
    iree_vm_instance_retain(instance);
    IREE_CHECK_OK(iree_vm_module_initialize(&interface_, this));
    interface_.destroy = [](void* self) { delete From(self); };
    interface_.name = [](void* self) { return iree_make_cstring_view(From(self)->name_); };
    interface_.signature = [](void* self) {
      iree_vm_module_signature_t signature = {};
      signature.version = From(self)->version_;
      signature.export_function_count = From(self)->dispatch_table_.size();
      return signature;
    };
    interface_.enumerate_dependencies = ModuleEnumerateDependencies;
    interface_.lookup_function = ModuleLookupFunction;
    interface_.get_function = ModuleGetFunction;
    interface_.alloc_state = ModuleAllocState;
    interface_.free_state = [](void*, iree_vm_module_state_t* state) { delete FromState(state); };
    interface_.fork_state = ModuleForkState;
    interface_.notify = [](void* self, iree_vm_module_state_t* state, iree_vm_signal_t signal) -> iree_status_t {
      return From(self)->Notify(FromState(state), signal);
    };
    interface_.begin_call = ModuleBeginCall;
  }
  NativeModule(const NativeModule&) = delete;
  NativeModule& operator=(const NativeModule&) = delete;
  virtual ~NativeModule() { iree_vm_instance_release(instance_); }

  iree_vm_instance_t* instance() const { return instance_; }
  iree_allocator_t allocator() const { return allocator_; }
  // With the one reference that the module is born with.
  iree_vm_module_t* interface() { return &interface_; }

 protected:
  // Modules that must be in a context before this one.
  virtual Status EnumerateDependencies(std::function<Status(const iree_vm_module_dependency_t*)> callback) {
    return OkStatus();
  }
  virtual StatusOr<std::unique_ptr<State>> CreateState(iree_allocator_t allocator) = 0;
  virtual StatusOr<std::unique_ptr<State>> ForkState(State* parent_state, iree_allocator_t allocator) = 0;
  virtual Status Notify(State* state, iree_vm_signal_t signal) { return OkStatus(); }

 private:
  static NativeModule* From(void* self) { return static_cast<NativeModule*>(self); }
  static State* FromState(void* state) { return static_cast<State*>(state); }

  static iree_status_t ModuleEnumerateDependencies(void* self, iree_vm_module_dependency_callback_t callback,
                                                   void* user_data) {
    return From(self)->EnumerateDependencies(
        [=](const iree_vm_module_dependency_t* dependency) { return Status(callback(user_data, dependency)); });
  }

  static iree_status_t ModuleGetFunction(void* self, iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                         iree_vm_function_t* out_function, iree_string_view_t* out_name,
                                         iree_vm_function_signature_t* out_signature) {
    NativeModule* module = From(self);
    if (linkage != IREE_VM_FUNCTION_LINKAGE_EXPORT || ordinal >= module->dispatch_table_.size()) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the module has no such function");
    }
    const NativeFunction<State>& function = module->dispatch_table_[ordinal];
    if (out_function) *out_function = module->FunctionAt(ordinal);
    if (out_name) *out_name = function.name;
    if (out_signature) out_signature->calling_convention = function.cconv;
    return iree_ok_status();
  }

  static iree_status_t ModuleLookupFunction(void* self, iree_vm_function_linkage_t linkage, iree_string_view_t name,
                                            const iree_vm_function_signature_t* expected_signature,
                                            iree_vm_function_t* out_function) {
    NativeModule* module = From(self);
    *out_function = iree_vm_function_t{};
    bool exported = linkage == IREE_VM_FUNCTION_LINKAGE_EXPORT || linkage == IREE_VM_FUNCTION_LINKAGE_EXPORT_OPTIONAL;
    for (std::size_t i = 0; exported && i < module->dispatch_table_.size(); ++i) {
      if (!iree_string_view_equal(name, module->dispatch_table_[i].name)) continue;
      *out_function = module->FunctionAt(i);
      return iree_ok_status();
    }
    return iree_make_status(IREE_STATUS_NOT_FOUND, "function `%.*s` is not exported by `%s`", (int)name.size, name.data,
                            module->name_);
  }

  iree_vm_function_t FunctionAt(std::size_t ordinal) {
    iree_vm_function_t function = {};
    function.module = interface();
    function.linkage = IREE_VM_FUNCTION_LINKAGE_EXPORT;
    function.ordinal = static_cast<std::uint32_t>(ordinal);
    return function;
  }

  static iree_status_t ModuleAllocState(void* self, iree_allocator_t allocator, iree_vm_module_state_t** out_state) {
    *out_state = nullptr;
    IREE_ASSIGN_OR_RETURN(std::unique_ptr<State> state, From(self)->CreateState(allocator));
    *out_state = reinterpret_cast<iree_vm_module_state_t*>(state.release());
    return iree_ok_status();
  }

  static iree_status_t ModuleForkState(void* self, iree_vm_module_state_t* parent, iree_allocator_t allocator,
                                       iree_vm_module_state_t** out_state) {
    *out_state = nullptr;
    if (!parent) return iree_ok_status();
    IREE_ASSIGN_OR_RETURN(std::unique_ptr<State> state, From(self)->ForkState(FromState(parent), allocator));
    *out_state = reinterpret_cast<iree_vm_module_state_t*>(state.release());
    return iree_ok_status();
  }

  static iree_status_t ModuleBeginCall(void* self, iree_vm_stack_t* stack, iree_vm_function_call_t call) {
    NativeModule* module = From(self);
    if (call.function.ordinal >= module->dispatch_table_.size()) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the module has no such function");
    }
    const NativeFunction<State>& function = module->dispatch_table_[call.function.ordinal];
    iree_vm_stack_frame_t* frame = nullptr;
    IREE_RETURN_IF_ERROR(iree_vm_stack_function_enter(stack, &call.function, IREE_VM_STACK_FRAME_NATIVE,
                                                      /*frame_size=*/0, /*frame_cleanup_fn=*/nullptr, &frame));
    iree_status_t status = function.call(function.ptr, FromState(frame->module_state), stack, call);
    if (!iree_status_is_ok(status)) {
      return iree_status_annotate_f(status, "while invoking C++ function %s.%.*s", module->name_,
                                    (int)function.name.size, function.name.data);
    }
    return iree_vm_stack_function_leave(stack);
  }

  const char* name_;
  uint32_t version_;
  iree_vm_instance_t* instance_;
  iree_allocator_t allocator_;
  span<const NativeFunction<State>> dispatch_table_;
  iree_vm_module_t interface_;
};

}  // namespace vm
}  // namespace iree

#endif  // IREE_VM_NATIVE_MODULE_CC_H_
