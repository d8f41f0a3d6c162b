// See iree/tooling/function_util.h.
#include "iree/tooling/function_util.h"

#include "iree/modules/hal/types.h"

iree_status_t iree_tooling_append_async_fences(iree_vm_list_t* list, iree_vm_function_t function,
                                               iree_hal_device_t* device, iree_hal_fence_t* wait_fence,
                                               iree_hal_fence_t** out_signal_fence) {
  if (out_signal_fence) *out_signal_fence = NULL;
  iree_string_view_t model = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.abi.model"));
  if (!iree_string_view_equal(model, IREE_SV("coarse-fences"))) return iree_ok_status();
  if (!device) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a function with fences needs a device");
  iree_hal_semaphore_t* semaphore = NULL;
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  iree_status_t status = iree_hal_fence_create_at(semaphore, 1, iree_hal_device_host_allocator(device), &fence);
  iree_hal_semaphore_release(semaphore);
  IREE_RETURN_IF_ERROR(status);
  iree_vm_ref_t wait = wait_fence ? iree_hal_fence_retain_ref(wait_fence) : iree_vm_ref_null();
  iree_vm_ref_t signal = iree_hal_fence_retain_ref(fence);
  status = iree_vm_list_push_ref_move(list, &wait);
  if (iree_status_is_ok(status)) status = iree_vm_list_push_ref_move(list, &signal);
  iree_vm_ref_release(&wait);
  iree_vm_ref_release(&signal);
  if (iree_status_is_ok(status) && out_signal_fence) {
    *out_signal_fence = fence;
  } else {
    iree_hal_fence_release(fence);
  }
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Transfers
//===----------------------------------------------------------------------------------------------------------------===

// Copies follow one another on a timeline.
typedef struct transfer_t {
  iree_hal_device_t* device;  // NULL: by mapping
  iree_hal_allocator_t* allocator;
  iree_hal_buffer_params_t params;
  iree_hal_semaphore_list_t wait;  // of the first copy
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} transfer_t;

static bool is_suitable(const transfer_t* t, iree_hal_buffer_t* buffer) {
  return iree_all_bits_set(iree_hal_buffer_memory_type(buffer), t->params.type) &&
         iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer), t->params.usage);
}

static iree_status_t queue_copy(transfer_t* t, iree_hal_buffer_t* source, iree_hal_buffer_t* target) {
  uint64_t before = t->value, after = before + 1;
  iree_hal_semaphore_list_t wait = before ? (iree_hal_semaphore_list_t){1, &t->semaphore, &before} : t->wait;
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_copy(
      t->device, IREE_HAL_QUEUE_AFFINITY_ANY, wait, (iree_hal_semaphore_list_t){1, &t->semaphore, &after}, source, 0,
      target, 0, iree_hal_buffer_byte_length(source), IREE_HAL_COPY_FLAG_NONE));
  t->value = after;
  return iree_ok_status();
}

static iree_status_t copy_mapped(iree_hal_buffer_t* source, iree_hal_buffer_t* target) {
  iree_hal_buffer_mapping_t mapping = {{0}};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(source, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0,
                                                 IREE_HAL_WHOLE_BUFFER, &mapping));
  iree_status_t status = iree_hal_buffer_map_write(target, 0, mapping.contents.data, mapping.contents.data_length);
  iree_status_t unmapped = iree_hal_buffer_unmap_range(&mapping);
  if (iree_status_is_ok(status)) return unmapped;
  iree_status_ignore(unmapped);
  return status;
}

static iree_status_t copy_buffer(transfer_t* t, iree_hal_buffer_t* source, iree_hal_buffer_t** out_target) {
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_allocate_buffer(t->allocator, t->params, iree_hal_buffer_byte_length(source), out_target));
  if (!iree_hal_buffer_byte_length(source)) return iree_ok_status();
  return t->device ? queue_copy(t, source, *out_target) : copy_mapped(source, *out_target);
}

// The element with its buffer in another place; *out_ref stays null where it can stay.
static iree_status_t transfer_ref(transfer_t* t, iree_vm_ref_t ref, iree_vm_ref_t* out_ref) {
  iree_hal_buffer_view_t* view = iree_hal_buffer_view_isa(ref) ? iree_hal_buffer_view_deref(ref) : NULL;
  iree_hal_buffer_t* source = view                       ? iree_hal_buffer_view_buffer(view)
                              : iree_hal_buffer_isa(ref) ? iree_hal_buffer_deref(ref)
                                                         : NULL;
  if (!source || is_suitable(t, source)) return iree_ok_status();
  iree_hal_buffer_t* target = NULL;
  iree_hal_buffer_view_t* copy = NULL;
  iree_status_t status = copy_buffer(t, source, &target);
  if (iree_status_is_ok(status) && view) {
    status = iree_hal_buffer_view_create_like(target, view, iree_hal_allocator_host_allocator(t->allocator), &copy);
  }
  if (iree_status_is_ok(status) && view) *out_ref = iree_hal_buffer_view_move_ref(copy);
  if (iree_status_is_ok(status) && !view) *out_ref = iree_hal_buffer_retain_ref(target);
  iree_hal_buffer_release(target);
  return status;
}

static iree_status_t transfer_all(transfer_t* t, iree_vm_list_t* list) {
  for (iree_host_size_t i = 0; i < iree_vm_list_size(list); ++i) {
    iree_vm_variant_t variant;
    iree_vm_ref_t moved = iree_vm_ref_null();
    IREE_RETURN_IF_ERROR(iree_vm_list_get_variant_assign(list, i, &variant));
    if (!iree_vm_variant_is_ref(variant)) continue;
    IREE_RETURN_IF_ERROR(transfer_ref(t, variant.ref, &moved), "transferring element %" PRIhsz, i);
    if (moved.ptr) IREE_RETURN_IF_ERROR(iree_vm_list_set_ref_move(list, i, &moved));
  }
  return iree_ok_status();
}

static iree_status_t end_transfer(transfer_t* t, iree_hal_fence_t* wait_fence, iree_hal_fence_t* signal_fence) {
  if (!t->device) return signal_fence ? iree_hal_fence_signal(signal_fence) : iree_ok_status();
  iree_hal_semaphore_list_t wait =
      t->value ? (iree_hal_semaphore_list_t){1, &t->semaphore, &t->value} : iree_hal_fence_semaphore_list(wait_fence);
  if (!signal_fence) {
    return iree_hal_semaphore_list_wait(wait, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  return iree_hal_device_queue_barrier(t->device, IREE_HAL_QUEUE_AFFINITY_ANY, wait,
                                       iree_hal_fence_semaphore_list(signal_fence), IREE_HAL_EXECUTE_FLAG_NONE);
}

iree_status_t iree_tooling_transfer_variants(iree_vm_list_t* list, iree_hal_device_t* target_device,
                                             iree_hal_allocator_t* target_allocator,
                                             iree_hal_buffer_params_t target_params, iree_hal_fence_t* wait_fence,
                                             iree_hal_fence_t* signal_fence) {
  transfer_t t = {.device = target_device,
                  .allocator = target_allocator,
                  .params = target_params,
                  .wait = iree_hal_fence_semaphore_list(wait_fence)};
  iree_status_t status = iree_ok_status();
  if (target_device) {
    status = iree_hal_semaphore_create(target_device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                       &t.semaphore);
  } else if (wait_fence) {
    status = iree_hal_fence_wait(wait_fence, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  if (iree_status_is_ok(status)) status = transfer_all(&t, list);
  if (iree_status_is_ok(status)) status = end_transfer(&t, wait_fence, signal_fence);
  iree_hal_semaphore_release(t.semaphore);
  return status;
}
