// Module states: variables, imports, devices and constants of a module in one context.

#include "vm/bytecode/state.h"

#include "iree/modules/hal/types.h"
#include "vm/wait.h"

//===----------------------------------------------------------------------------------------------------------------===
// Life
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t allocate_arrays(iree_vm_module_state_t* state) {
  const module_image_t* image = &state->module->image;
  iree_allocator_t allocator = state->allocator;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, image->globals_count + 1, sizeof(*state->global_values),
                                                   (void**)&state->global_values));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, image->globals_count + 1, sizeof(*state->global_refs),
                                                   (void**)&state->global_refs));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, vm_module_import_count(state->module) + 1,
                                                   sizeof(*state->imports), (void**)&state->imports));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, image->devices_count + 1, sizeof(*state->devices),
                                                   (void**)&state->devices));
  return iree_allocator_malloc_array(allocator, image->constants_count + 1, sizeof(*state->constants),
                                     (void**)&state->constants);
}

iree_status_t vm_state_create(bytecode_module_t* module, iree_allocator_t allocator,
                              iree_vm_module_state_t** out_state) {
  *out_state = NULL;
  iree_vm_module_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*state), (void**)&state));
  state->module = module;
  state->allocator = allocator;
  iree_status_t status = allocate_arrays(state);
  if (!iree_status_is_ok(status)) {
    vm_state_destroy(state);
    return status;
  }
  for (uint32_t i = 0; i < module->image.globals_count; ++i) {
    state->global_values[i].bits = module->image.globals[i].initial;
  }
  *out_state = state;
  return status;
}

static void drop_fences(iree_vm_module_state_t* state);

void vm_state_destroy(iree_vm_module_state_t* state) {
  if (!state) return;
  const module_image_t* image = &state->module->image;
  iree_allocator_t allocator = state->allocator;
  drop_fences(state);
  for (uint32_t i = 0; state->global_refs && i < image->globals_count; ++i) iree_vm_ref_release(&state->global_refs[i]);
  for (uint32_t i = 0; state->devices && i < image->devices_count; ++i) {
    if (!state->devices[i]) continue;
    vm_device_close(state->devices[i]);
    vm_device_release(state->devices[i]);
  }
  for (uint32_t i = 0; state->constants && i < image->constants_count; ++i) {
    iree_hal_buffer_release(state->constants[i]);
  }
  iree_allocator_free(allocator, state->global_values);
  iree_allocator_free(allocator, state->global_refs);
  iree_allocator_free(allocator, state->imports);
  iree_allocator_free(allocator, state->devices);
  iree_allocator_free(allocator, state->constants);
  iree_budget_release(state->budget);
  iree_allocator_free(allocator, state);
}

static iree_status_t copy_state(iree_vm_module_state_t* parent, iree_vm_module_state_t* state) {
  const module_image_t* image = &state->module->image;
  state->is_ready = parent->is_ready;
  state->budget = parent->budget;
  iree_budget_retain(state->budget);
  memcpy(state->global_values, parent->global_values, image->globals_count * sizeof(*state->global_values));
  for (uint32_t i = 0; i < image->globals_count; ++i) {
    iree_vm_ref_retain(&parent->global_refs[i], &state->global_refs[i]);
  }
  memcpy(state->imports, parent->imports, vm_module_import_count(state->module) * sizeof(*state->imports));
  for (uint32_t i = 0; i < image->devices_count; ++i) {
    if (parent->devices[i]) {
      IREE_RETURN_IF_ERROR(vm_device_fork(parent->devices[i], state->allocator, &state->devices[i]));
    }
  }
  for (uint32_t i = 0; i < image->constants_count; ++i) {
    state->constants[i] = parent->constants[i];
    iree_hal_buffer_retain(state->constants[i]);
  }
  return iree_ok_status();
}

iree_status_t vm_state_fork(iree_vm_module_state_t* parent, iree_allocator_t allocator,
                            iree_vm_module_state_t** out_state) {
  IREE_RETURN_IF_ERROR(vm_state_create(parent->module, allocator, out_state));
  iree_status_t status = copy_state(parent, *out_state);
  if (iree_status_is_ok(status)) return status;
  vm_state_destroy(*out_state);
  *out_state = NULL;
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Fences
//===----------------------------------------------------------------------------------------------------------------===

// Forgets those that nobody else has.
static void prune_fences(iree_vm_module_state_t* state) {
  iree_host_size_t kept = 0;
  for (iree_host_size_t i = 0; i < state->fence_count; ++i) {
    iree_hal_semaphore_t* semaphore = state->fences[i];
    if (iree_atomic_ref_count_load(&((iree_hal_resource_t*)semaphore)->ref_count) == 1) {
      iree_hal_semaphore_release(semaphore);
    } else {
      state->fences[kept++] = semaphore;
    }
  }
  state->fence_count = kept;
}

static iree_status_t reserve_fence(iree_vm_module_state_t* state) {
  if (state->fence_count < state->fence_capacity) return iree_ok_status();
  prune_fences(state);
  if (state->fence_count < state->fence_capacity / 2) return iree_ok_status();
  return iree_allocator_grow_array(state->allocator, state->fence_count + 8, sizeof(*state->fences),
                                   &state->fence_capacity, (void**)&state->fences);
}

iree_status_t vm_state_create_fence(iree_vm_module_state_t* state, iree_hal_device_t* device,
                                    iree_hal_fence_t** out_fence) {
  iree_hal_semaphore_t* semaphore = NULL;
  IREE_RETURN_IF_ERROR(reserve_fence(state));
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  state->fences[state->fence_count++] = semaphore;
  return iree_hal_fence_create_at(semaphore, 1, state->allocator, out_fence);
}

// After a call that was stopped nobody may be there to signal them, and work that waits for them would never end.
static void drop_fences(iree_vm_module_state_t* state) {
  bool fails = state->budget && iree_budget_has_stopped(state->budget);
  for (iree_host_size_t i = 0; i < state->fence_count; ++i) {
    uint64_t value = 0;
    iree_status_t status = iree_hal_semaphore_query(state->fences[i], &value);
    if (fails && iree_status_is_ok(status) && !value) {
      iree_hal_semaphore_fail(state->fences[i],
                              iree_make_status(IREE_STATUS_CANCELLED, "the program that made the fence is gone"));
    }
    iree_status_ignore(status);
    iree_hal_semaphore_release(state->fences[i]);
  }
  iree_allocator_free(state->allocator, state->fences);
}

//===----------------------------------------------------------------------------------------------------------------===
// Imports
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t vm_state_resolve_import(iree_vm_module_state_t* state, uint32_t ordinal,
                                      const iree_vm_function_t* function) {
  vm_import_t* import = &state->imports[ordinal];
  import->function = *function;
  if (ordinal >= state->module->image.imports_count) return iree_ok_status();  // packed where they are called
  iree_vm_function_signature_t signature = {
      module_image_string(&state->module->image, state->module->image.imports[ordinal].convention)};
  iree_string_view_t arguments, results;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_get_cconv_fragments(&signature, &arguments, &results));
  if (!iree_vm_function_call_is_variadic_cconv(arguments)) {  // else each call has its size
    IREE_RETURN_IF_ERROR(iree_vm_function_call_compute_cconv_fragment_size(arguments, NULL, &import->argument_size));
  }
  return iree_vm_function_call_compute_cconv_fragment_size(results, NULL, &import->result_size);
}

iree_status_t vm_import_check(const vm_import_t* import) {
  if (!iree_vm_function_is_null(import->function)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND, "the optional import that is called was not found");
}

iree_status_t vm_import_call(const vm_import_t* import, iree_vm_stack_t* stack, iree_byte_span_t arguments,
                             iree_byte_span_t results) {
  IREE_RETURN_IF_ERROR(vm_import_check(import));
  iree_vm_function_call_t call = {import->function, arguments, results};
  iree_status_t status = import->function.module->begin_call(import->function.module->self, stack, call);
  status = vm_wait_finish(stack, results, status);
  return iree_status_is_ok(status) ? status : iree_status_annotate_f(status, "while calling import");
}

//===----------------------------------------------------------------------------------------------------------------===
// Setup
//===----------------------------------------------------------------------------------------------------------------===

static const vm_import_t* implicit_import(const iree_vm_module_state_t* state, vm_implicit_import_t import) {
  return &state->imports[state->module->image.imports_count + import];
}

static iree_status_t find_device(iree_vm_module_state_t* state, iree_vm_stack_t* stack, int32_t ordinal,
                                 iree_vm_ref_t* out_device) {
  int32_t count = 0;
  IREE_RETURN_IF_ERROR(vm_import_call(implicit_import(state, VM_IMPLICIT_DEVICE_COUNT), stack, iree_byte_span_empty(),
                                      iree_make_byte_span(&count, sizeof(count))));
  if (ordinal < 0 || ordinal >= count) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "%d devices are available", count);
  }
  return vm_import_call(implicit_import(state, VM_IMPLICIT_DEVICE_GET), stack,
                        iree_make_byte_span(&ordinal, sizeof(ordinal)),
                        iree_make_byte_span(out_device, sizeof(*out_device)));
}

static iree_status_t setup_device(iree_vm_module_state_t* state, iree_vm_stack_t* stack, uint32_t row) {
  const module_image_t* image = &state->module->image;
  iree_vm_ref_t ref = iree_vm_ref_null();
  iree_status_t status = find_device(state, stack, (int32_t)image->devices[row].ordinal, &ref);
  if (!iree_status_is_ok(status)) {
    iree_string_view_t name = module_image_string(image, image->devices[row].name);
    return iree_status_annotate_f(status, "HAL device `%.*s` not found or unavailable", (int)name.size, name.data);
  }
  iree_hal_device_t* handle = NULL;
  status = iree_hal_device_check_deref(ref, &handle);
  if (iree_status_is_ok(status)) {
    vm_device_desc_t desc = {.image = image,
                             .row = row,
                             .handle = handle,
                             .budget = state->budget,
                             .portable_only = state->module->portable_only};
    status = vm_device_create(&desc, state->allocator, &state->devices[row]);
  }
  iree_vm_ref_release(&ref);
  return status;
}

static void release_owner(void* user_data, iree_hal_buffer_t* buffer) { iree_vm_module_release(user_data); }

iree_status_t vm_state_setup(iree_vm_module_state_t* state, iree_vm_stack_t* stack) {
  const module_image_t* image = &state->module->image;
  if (state->is_ready) return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "initializers run once");
  state->is_ready = true;
  state->budget = iree_vm_stack_budget(stack);
  iree_budget_retain(state->budget);
  for (uint32_t i = 0; i < image->devices_count; ++i) IREE_RETURN_IF_ERROR(setup_device(state, stack, i));
  for (uint32_t i = 0; i < image->constants_count; ++i) {
    const module_constant_t* row = &image->constants[i];
    iree_const_byte_span_t segment = image->segment_data[row->segment];
    iree_vm_module_retain(&state->module->interface);
    IREE_RETURN_IF_ERROR(
        vm_device_import(
            state->devices[row->device], iree_make_const_byte_span(segment.data + row->offset, row->length),
            (iree_hal_buffer_release_callback_t){release_owner, &state->module->interface}, &state->constants[i]),
        "creating constant %u", i);
  }
  return iree_ok_status();
}
