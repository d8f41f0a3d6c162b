// The registry of reference types.

#include "iree/vm/instance.h"

#include <pthread.h>

#include "iree/vm/buffer.h"
#include "iree/vm/list.h"
#include "vm/bytecode/stream.h"

typedef struct type_entry_t {
  const iree_vm_ref_type_descriptor_t* descriptor;
  uint32_t count;  // of registrations
} type_entry_t;

struct iree_vm_instance_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t allocator;
  pthread_mutex_t mutex;  // guards the types
  iree_host_size_t type_count;
  iree_host_size_t type_capacity;
  type_entry_t types[];
};

static void destroy_buffer(void* ptr) {
  iree_vm_buffer_t* buffer = ptr;
  iree_atomic_ref_count_init(&buffer->ref_object.counter);
  iree_vm_buffer_release(buffer);
}

static void destroy_list(void* ptr) {
  iree_vm_list_t* list = ptr;
  iree_atomic_ref_count_init((iree_atomic_ref_count_t*)ptr);
  iree_vm_list_release(list);
}

// The same for every instance.
static iree_vm_ref_type_descriptor_t buffer_descriptor = {.destroy = destroy_buffer,
                                                          .type_name = iree_string_view_literal("vm.buffer")};
static iree_vm_ref_type_descriptor_t list_descriptor = {.destroy = destroy_list,
                                                        .type_name = iree_string_view_literal("vm.list")};

static iree_status_t register_builtin_types(iree_vm_instance_t* instance) {
  IREE_RETURN_IF_ERROR(iree_vm_instance_register_type(instance, &buffer_descriptor, &iree_vm_buffer_registration));
  IREE_RETURN_IF_ERROR(iree_vm_instance_register_type(instance, &list_descriptor, &iree_vm_list_registration));
  return vm_stream_register_type(instance);
}

iree_status_t iree_vm_instance_create(iree_host_size_t type_capacity, iree_allocator_t allocator,
                                      iree_vm_instance_t** out_instance) {
  *out_instance = NULL;
  enum { BUILTIN_TYPES = 3 };
  iree_vm_instance_t* instance = NULL;
  type_capacity += BUILTIN_TYPES;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(allocator, sizeof(*instance), type_capacity,
                                                          sizeof(type_entry_t), (void**)&instance));
  iree_atomic_ref_count_init(&instance->ref_count);
  instance->allocator = allocator;
  instance->type_capacity = type_capacity;
  pthread_mutex_init(&instance->mutex, NULL);
  iree_status_t status = register_builtin_types(instance);
  if (iree_status_is_ok(status)) {
    *out_instance = instance;
  } else {
    iree_vm_instance_release(instance);
  }
  return status;
}

void iree_vm_instance_retain(iree_vm_instance_t* instance) {
  if (instance) iree_atomic_ref_count_inc(&instance->ref_count);
}

void iree_vm_instance_release(iree_vm_instance_t* instance) {
  if (!instance || iree_atomic_ref_count_dec(&instance->ref_count) != 1) return;
  pthread_mutex_destroy(&instance->mutex);
  iree_allocator_free(instance->allocator, instance);
}

iree_allocator_t iree_vm_instance_allocator(iree_vm_instance_t* instance) { return instance->allocator; }

static type_entry_t* find_entry(iree_vm_instance_t* instance, const iree_vm_ref_type_descriptor_t* descriptor) {
  for (iree_host_size_t i = 0; i < instance->type_count; ++i) {
    if (instance->types[i].descriptor == descriptor) return &instance->types[i];
  }
  return NULL;
}

static iree_status_t add_type(iree_vm_instance_t* instance, const iree_vm_ref_type_descriptor_t* descriptor) {
  type_entry_t* entry = find_entry(instance, descriptor);
  if (!entry) {
    if (instance->type_count == instance->type_capacity) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "instance was created for %zu types",
                              instance->type_capacity);
    }
    entry = &instance->types[instance->type_count++];
    *entry = (type_entry_t){.descriptor = descriptor};
  }
  ++entry->count;
  return iree_ok_status();
}

iree_status_t iree_vm_instance_register_type(iree_vm_instance_t* instance,
                                             const iree_vm_ref_type_descriptor_t* descriptor,
                                             iree_vm_ref_type_t* out_registration) {
  if (!descriptor->destroy || iree_string_view_is_empty(descriptor->type_name)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a type needs a name and a destroy function");
  }
  pthread_mutex_lock(&instance->mutex);
  iree_status_t status = add_type(instance, descriptor);
  pthread_mutex_unlock(&instance->mutex);
  if (iree_status_is_ok(status)) *out_registration = iree_vm_make_ref_type(descriptor);
  return status;
}

void iree_vm_instance_unregister_type(iree_vm_instance_t* instance, const iree_vm_ref_type_descriptor_t* descriptor) {
  pthread_mutex_lock(&instance->mutex);
  type_entry_t* entry = find_entry(instance, descriptor);
  if (entry && --entry->count == 0) *entry = instance->types[--instance->type_count];
  pthread_mutex_unlock(&instance->mutex);
}

iree_vm_ref_type_t iree_vm_instance_lookup_type(iree_vm_instance_t* instance, iree_string_view_t full_name) {
  iree_vm_ref_type_t type = IREE_VM_REF_TYPE_NULL;
  pthread_mutex_lock(&instance->mutex);
  for (iree_host_size_t i = 0; i < instance->type_count && !type; ++i) {
    const iree_vm_ref_type_descriptor_t* descriptor = instance->types[i].descriptor;
    if (iree_string_view_equal(descriptor->type_name, full_name)) type = iree_vm_make_ref_type(descriptor);
  }
  pthread_mutex_unlock(&instance->mutex);
  return type;
}

iree_status_t iree_vm_resolve_builtin_types(iree_vm_instance_t* instance) {
  iree_vm_buffer_registration = iree_vm_instance_lookup_type(instance, IREE_SV("vm.buffer"));
  iree_vm_list_registration = iree_vm_instance_lookup_type(instance, IREE_SV("vm.list"));
  return iree_ok_status();
}
