// See module.h. In C++, by native_module_cc.h: a class per module and one per context, whose methods are the functions.
#include "module.h"

#include <cstdio>
#include <thread>
#include <vector>

#include "iree/modules/hal/types.h"
#include "iree/vm/native_module_cc.h"

namespace {

namespace vm = iree::vm;
using iree::Status;
using iree::StatusOr;

// Both buffers as the host's memory. Local devices allow it; others need a transfer.
iree_status_t DoubleNumbers(iree_hal_buffer_t* source, iree_hal_buffer_t* target) {
  iree_hal_buffer_mapping_t from = {}, to = {};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(source, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0,
                                                 IREE_HAL_WHOLE_BUFFER, &from));
  iree_status_t status = iree_hal_buffer_map_range(target, IREE_HAL_MAPPING_MODE_SCOPED,
                                                   IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, 0, IREE_HAL_WHOLE_BUFFER, &to);
  if (iree_status_is_ok(status)) {
    const int32_t* numbers = reinterpret_cast<const int32_t*>(from.contents.data);
    int32_t* doubled = reinterpret_cast<int32_t*>(to.contents.data);
    for (size_t i = 0; i < to.contents.data_length / sizeof(int32_t); ++i) doubled[i] = 2 * numbers[i];
    status = iree_hal_buffer_unmap_range(&to);
  }
  return iree_status_join(status, iree_hal_buffer_unmap_range(&from));
}

// What a thread needs, kept until it ends.
struct Work {
  vm::ref<iree_hal_buffer_view_t> source;
  vm::ref<iree_hal_buffer_view_t> target;
  vm::ref<iree_hal_fence_t> wait_fence;
  vm::ref<iree_hal_fence_t> signal_fence;

  // Whatever happens, those that wait for the result hear of it.
  void Run() {
    iree_status_t status = iree_hal_fence_wait(wait_fence.get(), iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
    if (iree_status_is_ok(status)) {
      status = DoubleNumbers(iree_hal_buffer_view_buffer(source.get()), iree_hal_buffer_view_buffer(target.get()));
    }
    if (iree_status_is_ok(status)) status = iree_hal_fence_signal(signal_fence.get());
    if (!iree_status_is_ok(status)) iree_hal_fence_fail(signal_fence.get(), status);
  }
};

class State final {
 public:
  State(iree_hal_device_t* device, iree_allocator_t allocator) : device_(device), allocator_(allocator) {
    iree_hal_device_retain(device);
  }
  ~State() {
    for (std::thread& thread : threads_) thread.join();
    iree_hal_device_release(device_);
  }

  // Gives the result at once; what is in it is there when the second fence is signaled.
  StatusOr<vm::ref<iree_hal_buffer_view_t>> CallAsync(vm::ref<iree_hal_buffer_view_t> view,
                                                      vm::ref<iree_hal_fence_t> wait_fence,
                                                      vm::ref<iree_hal_fence_t> signal_fence) {
    iree_hal_buffer_params_t params = {};
    params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING;
    params.access = IREE_HAL_MEMORY_ACCESS_ALL;
    params.type = IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_DEVICE | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
    vm::ref<iree_hal_buffer_t> buffer;
    IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device_), params,
                                                            iree_hal_buffer_view_byte_length(view.get()), &buffer));
    vm::ref<iree_hal_buffer_view_t> result;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_view_create_like(buffer.get(), view.get(), allocator_, &result));
    std::printf("CALL\n");
    threads_.emplace_back([work = Work{view, result, wait_fence, signal_fence}]() mutable { work.Run(); });
    return result;
  }

 private:
  iree_hal_device_t* device_;
  iree_allocator_t allocator_;
  std::vector<std::thread> threads_;
};

const vm::NativeFunction<State> functions[] = {vm::MakeNativeFunction("call.async", &State::CallAsync)};

class Module final : public vm::NativeModule<State> {
 public:
  Module(iree_vm_instance_t* instance, iree_hal_device_t* device, iree_allocator_t allocator)
      : NativeModule("custom", /*version=*/0, instance, allocator, functions), device_(device) {
    iree_hal_device_retain(device);
  }
  ~Module() override { iree_hal_device_release(device_); }

  StatusOr<std::unique_ptr<State>> CreateState(iree_allocator_t allocator) override {
    return std::make_unique<State>(device_, allocator);
  }
  StatusOr<std::unique_ptr<State>> ForkState(State* parent, iree_allocator_t allocator) override {
    return std::make_unique<State>(device_, allocator);
  }

 private:
  iree_hal_device_t* device_;
};

}  // namespace

extern "C" iree_status_t custom_module_create(iree_vm_instance_t* instance, iree_hal_device_t* device,
                                              iree_allocator_t allocator, iree_vm_module_t** out_module) {
  *out_module = (new Module(instance, device, allocator))->interface();
  return iree_ok_status();
}
