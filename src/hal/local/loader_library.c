// Loaders of native libraries: embedded ELF files through our own loader, shared libraries through the system's, and
// libraries linked into the program.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hal/local/elf_module.h"
#include "hal/local/executable.h"
#include "iree/hal/local/executable_plugin_manager.h"
#include "iree/hal/local/loaders/embedded_elf_loader.h"
#include "iree/hal/local/loaders/static_library_loader.h"
#include "iree/hal/local/loaders/system_library_loader.h"

#define EMBEDDED_FORMAT "embedded-elf-" IREE_ARCH
#define SYSTEM_FORMAT "system-elf-" IREE_ARCH
#define STATIC_FORMAT "static"

typedef struct library_loader_t {
  iree_hal_executable_loader_t base;
  iree_allocator_t host_allocator;
  iree_hal_executable_plugin_manager_t* plugin_manager;  // retained; may be NULL
  // Static libraries.
  iree_host_size_t library_count;
  iree_hal_executable_library_query_fn_t library_query_fns[];
} library_loader_t;

static void loader_destroy(iree_hal_executable_loader_t* base) {
  library_loader_t* loader = (library_loader_t*)base;
  iree_hal_executable_plugin_manager_release(loader->plugin_manager);
  iree_allocator_free(loader->host_allocator, loader);
}

static iree_status_t loader_create(const iree_hal_executable_loader_vtable_t* vtable,
                                   iree_hal_executable_plugin_manager_t* plugin_manager, iree_host_size_t library_count,
                                   iree_allocator_t host_allocator, library_loader_t** out_loader) {
  *out_loader = NULL;
  library_loader_t* loader = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*loader), library_count,
                                                          sizeof(loader->library_query_fns[0]), (void**)&loader));
  iree_hal_executable_loader_initialize(vtable, iree_hal_executable_plugin_manager_provider(plugin_manager),
                                        &loader->base);
  loader->host_allocator = host_allocator;
  loader->plugin_manager = plugin_manager;
  iree_hal_executable_plugin_manager_retain(plugin_manager);
  loader->library_count = library_count;
  *out_loader = loader;
  return iree_ok_status();
}

static iree_status_t set_format(const char* format, iree_host_size_t capacity, char* out_format) {
  if (capacity <= strlen(format)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "format name '%s' does not fit", format);
  }
  memcpy(out_format, format, strlen(format) + 1);
  return iree_ok_status();
}

static bool is_format(iree_string_view_t format, const char* name) {
  return iree_string_view_equal(format, iree_make_cstring_view(name));
}

//===----------------------------------------------------------------------------------------------------------------===
// Embedded ELF
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t embedded_infer_format(iree_hal_executable_loader_t* base,
                                           iree_hal_executable_caching_mode_t caching_mode,
                                           iree_const_byte_span_t executable_data, iree_host_size_t capacity,
                                           char* executable_format, iree_host_size_t* out_inferred_size) {
  if (!elf_module_sniff(executable_data, out_inferred_size)) return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);
  return set_format(EMBEDDED_FORMAT, capacity, executable_format);
}

static bool embedded_query_support(iree_hal_executable_loader_t* base, iree_hal_executable_caching_mode_t caching_mode,
                                   iree_string_view_t executable_format) {
  return is_format(executable_format, EMBEDDED_FORMAT);
}

typedef struct embedded_image_t {
  iree_allocator_t host_allocator;
  elf_module_t module;
} embedded_image_t;

static void embedded_unload(void* self) {
  embedded_image_t* image = (embedded_image_t*)self;
  elf_module_unload(&image->module);
  iree_allocator_free(image->host_allocator, image);
}

static bool embedded_contains(const void* self, const void* ptr, size_t size) {
  return elf_module_contains(&((const embedded_image_t*)self)->module, ptr, size);
}

static bool embedded_is_code(const void* self, const void* ptr) {
  return elf_module_is_code(&((const embedded_image_t*)self)->module, ptr);
}

static iree_status_t embedded_load_image(iree_const_byte_span_t data, embedded_image_t* image,
                                         iree_hal_executable_library_query_fn_t* out_query) {
  IREE_RETURN_IF_ERROR(elf_module_load(data, &image->module));
  void* query = NULL;
  IREE_RETURN_IF_ERROR(elf_module_lookup(&image->module, IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME, &query));
  if (!elf_module_is_code(&image->module, query)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'" IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME "' is not code");
  }
  *out_query = (iree_hal_executable_library_query_fn_t)query;
  return iree_ok_status();
}

static iree_status_t embedded_try_load(iree_hal_executable_loader_t* base,
                                       const iree_hal_executable_params_t* executable_params,
                                       iree_host_size_t worker_capacity, iree_hal_executable_t** out_executable) {
  library_loader_t* loader = (library_loader_t*)base;
  embedded_image_t* image = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(loader->host_allocator, sizeof(*image), (void**)&image));
  image->host_allocator = loader->host_allocator;
  local_library_source_t source = {.bounds = {image, embedded_contains, embedded_is_code},
                                   .import_provider = base->import_provider,
                                   .unload = embedded_unload,
                                   .unload_self = image};
  iree_status_t status = embedded_load_image(executable_params->executable_data, image, &source.query);
  if (!iree_status_is_ok(status)) {
    embedded_unload(image);
    return iree_status_annotate(status, IREE_SV("loading an embedded ELF executable"));
  }
  return local_library_load(&source, executable_params, loader->host_allocator, out_executable);
}

static const iree_hal_executable_loader_vtable_t embedded_vtable = {
    .destroy = loader_destroy,
    .infer_format = embedded_infer_format,
    .query_support = embedded_query_support,
    .try_load = embedded_try_load,
};

iree_status_t iree_hal_embedded_elf_loader_create(iree_hal_executable_plugin_manager_t* plugin_manager,
                                                  iree_allocator_t host_allocator,
                                                  iree_hal_executable_loader_t** out_executable_loader) {
  return loader_create(&embedded_vtable, plugin_manager, 0, host_allocator, (library_loader_t**)out_executable_loader);
}

//===----------------------------------------------------------------------------------------------------------------===
// System libraries
//===----------------------------------------------------------------------------------------------------------------===

// Any ELF file looks like one; the embedded loader comes first in lists of loaders.
static iree_status_t system_infer_format(iree_hal_executable_loader_t* base,
                                         iree_hal_executable_caching_mode_t caching_mode,
                                         iree_const_byte_span_t executable_data, iree_host_size_t capacity,
                                         char* executable_format, iree_host_size_t* out_inferred_size) {
  if (!elf_module_sniff(executable_data, out_inferred_size)) return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);
  return set_format(SYSTEM_FORMAT, capacity, executable_format);
}

static bool system_query_support(iree_hal_executable_loader_t* base, iree_hal_executable_caching_mode_t caching_mode,
                                 iree_string_view_t executable_format) {
  return is_format(executable_format, SYSTEM_FORMAT);
}

static void system_unload(void* self) { dlclose(self); }

// The system's loader wants a file: an anonymous one, named through /proc.
static iree_status_t system_open(iree_const_byte_span_t data, void** out_library) {
  int fd = memfd_create("iree_executable", MFD_CLOEXEC);
  if (fd < 0) return iree_make_status(iree_status_code_from_errno(errno), "creating a memory file failed");
  size_t done = 0;
  while (done < data.data_length) {
    ssize_t count = write(fd, data.data + done, data.data_length - done);
    if (count <= 0) break;
    done += (size_t)count;
  }
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  *out_library = done == data.data_length ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  const char* message = *out_library ? NULL : dlerror();
  close(fd);
  if (*out_library) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "loading a system library executable failed: %s",
                          message ? message : "out of memory");
}

static iree_status_t system_try_load(iree_hal_executable_loader_t* base,
                                     const iree_hal_executable_params_t* executable_params,
                                     iree_host_size_t worker_capacity, iree_hal_executable_t** out_executable) {
  library_loader_t* loader = (library_loader_t*)base;
  void* library = NULL;
  IREE_RETURN_IF_ERROR(system_open(executable_params->executable_data, &library));
  local_library_source_t source = {
      .import_provider = base->import_provider, .unload = system_unload, .unload_self = library};
  source.query = (iree_hal_executable_library_query_fn_t)dlsym(library, IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME);
  if (!source.query) {
    dlclose(library);
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "shared library does not export '" IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME "'");
  }
  return local_library_load(&source, executable_params, loader->host_allocator, out_executable);
}

static const iree_hal_executable_loader_vtable_t system_vtable = {
    .destroy = loader_destroy,
    .infer_format = system_infer_format,
    .query_support = system_query_support,
    .try_load = system_try_load,
};

iree_status_t iree_hal_system_library_loader_create(iree_hal_executable_plugin_manager_t* plugin_manager,
                                                    iree_allocator_t host_allocator,
                                                    iree_hal_executable_loader_t** out_executable_loader) {
  return loader_create(&system_vtable, plugin_manager, 0, host_allocator, (library_loader_t**)out_executable_loader);
}

//===----------------------------------------------------------------------------------------------------------------===
// Static libraries
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t static_infer_format(iree_hal_executable_loader_t* base,
                                         iree_hal_executable_caching_mode_t caching_mode,
                                         iree_const_byte_span_t executable_data, iree_host_size_t capacity,
                                         char* executable_format, iree_host_size_t* out_inferred_size) {
  return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);  // a name looks like nothing in particular
}

static bool static_query_support(iree_hal_executable_loader_t* base, iree_hal_executable_caching_mode_t caching_mode,
                                 iree_string_view_t executable_format) {
  return is_format(executable_format, STATIC_FORMAT);
}

static const char* static_library_name(iree_hal_executable_library_query_fn_t query) {
  const iree_hal_executable_environment_v0_t environment = {0};
  const iree_hal_executable_library_header_t** header = query(IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, &environment);
  return header && *header ? (*header)->name : NULL;
}

static iree_status_t static_try_load(iree_hal_executable_loader_t* base,
                                     const iree_hal_executable_params_t* executable_params,
                                     iree_host_size_t worker_capacity, iree_hal_executable_t** out_executable) {
  library_loader_t* loader = (library_loader_t*)base;
  iree_const_byte_span_t data = executable_params->executable_data;
  iree_string_view_t name = iree_make_string_view((const char*)data.data, data.data_length);
  while (name.size && name.data[name.size - 1] == 0) --name.size;
  for (iree_host_size_t i = 0; i < loader->library_count; ++i) {
    iree_string_view_t library_name = iree_make_cstring_view(static_library_name(loader->library_query_fns[i]));
    if (!iree_string_view_equal(library_name, name)) continue;
    local_library_source_t source = {.query = loader->library_query_fns[i], .import_provider = base->import_provider};
    return local_library_load(&source, executable_params, loader->host_allocator, out_executable);
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no static library with the name '%.*s' registered",
                          (int)iree_min(name.size, 128), name.data);
}

static const iree_hal_executable_loader_vtable_t static_vtable = {
    .destroy = loader_destroy,
    .infer_format = static_infer_format,
    .query_support = static_query_support,
    .try_load = static_try_load,
};

iree_status_t iree_hal_static_library_loader_create(iree_host_size_t library_count,
                                                    const iree_hal_executable_library_query_fn_t* library_query_fns,
                                                    iree_hal_executable_import_provider_t import_provider,
                                                    iree_allocator_t host_allocator,
                                                    iree_hal_executable_loader_t** out_executable_loader) {
  *out_executable_loader = NULL;
  for (iree_host_size_t i = 0; i < library_count; ++i) {
    if (static_library_name(library_query_fns[i])) continue;
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "static library %" PRIhsz " does not support this version of the runtime", i);
  }
  library_loader_t* loader = NULL;
  IREE_RETURN_IF_ERROR(loader_create(&static_vtable, NULL, library_count, host_allocator, &loader));
  loader->base.import_provider = import_provider;
  for (iree_host_size_t i = 0; i < library_count; ++i) loader->library_query_fns[i] = library_query_fns[i];
  *out_executable_loader = &loader->base;
  return iree_ok_status();
}
