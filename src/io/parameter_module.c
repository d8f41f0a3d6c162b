// See parameter_module.h.
#include "io/parameter_module.h"

#include <string.h>

#include "io/parameter_file.h"
#include "iree/io/file_contents.h"

typedef struct scoped_file_t {
  char* scope;
  iree_io_file_contents_t* contents;
  parameter_file_t* file;
} scoped_file_t;

typedef struct parameter_module_t {
  iree_allocator_t allocator;
  iree_vm_module_t* interface;  // itself
  iree_host_size_t count;
  scoped_file_t files[];
} parameter_module_t;

//===----------------------------------------------------------------------------------------------------------------===
// find
//===----------------------------------------------------------------------------------------------------------------===

IREE_VM_ABI_FIXED_STRUCT(rrI, {
  iree_vm_ref_t r0;
  iree_vm_ref_t r1;
  int64_t i2;
})
IREE_VM_ABI_DEFINE_SHIM(rrI, r)

static const parameter_entry_t* find_entry(const parameter_module_t* module, iree_string_view_t scope,
                                           iree_string_view_t key) {
  const parameter_entry_t* entry = NULL;
  for (iree_host_size_t i = 0; i < module->count && !entry; ++i) {
    const scoped_file_t* file = &module->files[i];
    if (iree_string_view_equal(scope, iree_make_cstring_view(file->scope))) {
      entry = parameter_file_find(file->file, key);
    }
  }
  return entry;
}

// Contents of a file are not copied: the buffer keeps this module.
static iree_status_t make_buffer(parameter_module_t* module, const parameter_entry_t* entry,
                                 iree_vm_buffer_t** out_buffer) {
  iree_host_size_t own = entry->data ? 0 : (iree_host_size_t)entry->length;
  iree_vm_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_ORIGIN_MODULE, own, 0, module->allocator, &buffer));
  if (entry->data) {
    buffer->data = iree_make_byte_span((uint8_t*)(uintptr_t)entry->data, (iree_host_size_t)entry->length);
    buffer->storage_module = module->interface;
    iree_vm_module_retain(module->interface);
  } else {
    parameter_entry_read(entry, buffer->data.data);
  }
  *out_buffer = buffer;
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(find, void, rrI, r) {
  parameter_module_t* self = module;
  iree_vm_buffer_t *scope_buffer = NULL, *key_buffer = NULL, *buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r0, &scope_buffer));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r1, &key_buffer));
  iree_string_view_t scope = iree_vm_buffer_as_string(scope_buffer), key = iree_vm_buffer_as_string(key_buffer);
  const parameter_entry_t* entry = find_entry(self, scope, key);
  if (!entry) {
    return iree_make_status(
        IREE_STATUS_NOT_FOUND, "no parameter '%.*s' in scope '%.*s'; --parameters=%.*s%sFILE names an archive",
        (int)key.size, key.data, (int)scope.size, scope.data, (int)scope.size, scope.data, scope.size ? "=" : "");
  }
  if (args->i2 < 0 || entry->length != (uint64_t)args->i2) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "parameter '%.*s' has %" PRIu64 " bytes where the program needs %" PRIi64, (int)key.size,
                            key.data, entry->length, args->i2);
  }
  IREE_RETURN_IF_ERROR(make_buffer(self, entry, &buffer));
  rets->r0 = iree_vm_buffer_move_ref(buffer);
  return iree_ok_status();
}

static const iree_vm_native_export_descriptor_t exports[] = {
    {iree_string_view_literal("find"), iree_string_view_literal("0rrI_r"), 0, NULL},
};
static const iree_vm_native_function_ptr_t functions[] = {
    {(iree_vm_native_function_shim_t)(void*)iree_vm_shim_rrI_r, (iree_vm_native_function_target_t)(void*)find},
};
static const iree_vm_native_module_descriptor_t descriptor = {
    .name = iree_string_view_literal("io_parameters"),
    .export_count = IREE_ARRAYSIZE(exports),
    .exports = exports,
    .function_count = IREE_ARRAYSIZE(functions),
    .functions = functions,
};

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

static void destroy(void* self) {
  parameter_module_t* module = self;
  for (iree_host_size_t i = 0; i < module->count; ++i) {
    parameter_file_free(module->files[i].file);
    if (module->files[i].contents) iree_io_file_contents_free(module->files[i].contents);
    iree_allocator_free(module->allocator, module->files[i].scope);
  }
  iree_allocator_free(module->allocator, module);
}

static iree_status_t open_source(parameter_module_t* module, const parameter_source_t* source, bool mapped) {
  scoped_file_t* file = &module->files[module->count++];
  iree_allocator_t allocator = module->allocator;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, source->scope.size + 1, (void**)&file->scope));
  if (source->scope.size) memcpy(file->scope, source->scope.data, source->scope.size);
  file->scope[source->scope.size] = 0;
  iree_status_t status =
      mapped ? iree_io_file_contents_map(source->path, IREE_IO_FILE_ACCESS_READ, allocator, &file->contents)
             : iree_io_file_contents_read(source->path, allocator, &file->contents);
  if (iree_status_is_ok(status)) status = parameter_file_parse(file->contents->const_buffer, allocator, &file->file);
  return iree_status_is_ok(status)
             ? status
             : iree_status_annotate_f(status, "opening parameters '%.*s'", (int)source->path.size, source->path.data);
}

iree_status_t parameter_module_create(iree_vm_instance_t* instance, iree_host_size_t count,
                                      const parameter_source_t* sources, bool mapped, iree_allocator_t allocator,
                                      iree_vm_module_t** out_module) {
  parameter_module_t* module = NULL;
  iree_host_size_t size = sizeof(*module) + count * sizeof(module->files[0]);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, size, (void**)&module));
  memset(module, 0, size);
  module->allocator = allocator;
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    status = open_source(module, &sources[i], mapped);
  }
  iree_vm_module_t interface;
  if (iree_status_is_ok(status)) status = iree_vm_module_initialize(&interface, module);
  interface.destroy = destroy;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, allocator, out_module);
  }
  if (!iree_status_is_ok(status)) {
    destroy(module);
    return status;
  }
  module->interface = *out_module;
  return status;
}
