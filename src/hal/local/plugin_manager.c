// Plugins that provide imports: loading, and lookup through all of them.
#include <dlfcn.h>

#include "hal/local/elf_module.h"
#include "iree/base/threading/mutex.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/local/executable_plugin_manager.h"
#include "iree/io/file_contents.h"

IREE_FLAG_LIST(string, executable_plugin,
               "Loads a plugin that provides functions to CPU executables: `path` of a shared library, or\n"
               "`embedded:path` for one that needs no other libraries. May be repeated; later ones are asked first.");

// A loaded plugin is a provider whose self is this.
typedef struct plugin_t {
  struct plugin_t* next;
  const iree_hal_executable_plugin_v0_t* table;
  void* self;           // from the plugin's load
  void* library;        // of the system's loader; NULL for embedded ones
  elf_module_t module;  // of ours
} plugin_t;

struct iree_hal_executable_plugin_manager_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_slim_mutex_t mutex;
  plugin_t* plugins;
  iree_host_size_t capacity;
  iree_host_size_t count;
  iree_hal_executable_import_provider_t providers[];
};

iree_status_t iree_hal_executable_plugin_manager_create(iree_host_size_t capacity, iree_allocator_t host_allocator,
                                                        iree_hal_executable_plugin_manager_t** out_manager) {
  *out_manager = NULL;
  iree_hal_executable_plugin_manager_t* manager = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*manager), capacity,
                                                          sizeof(manager->providers[0]), (void**)&manager));
  iree_atomic_ref_count_init(&manager->ref_count);
  manager->host_allocator = host_allocator;
  iree_slim_mutex_initialize(&manager->mutex);
  manager->capacity = capacity;
  *out_manager = manager;
  return iree_ok_status();
}

void iree_hal_executable_plugin_manager_retain(iree_hal_executable_plugin_manager_t* manager) {
  if (manager) iree_atomic_ref_count_inc(&manager->ref_count);
}

static void plugin_free(plugin_t* plugin, iree_allocator_t host_allocator) {
  if (plugin->table && plugin->table->unload) plugin->table->unload(plugin->self);
  if (plugin->library) dlclose(plugin->library);
  elf_module_unload(&plugin->module);
  iree_allocator_free(host_allocator, plugin);
}

void iree_hal_executable_plugin_manager_release(iree_hal_executable_plugin_manager_t* manager) {
  if (!manager || iree_atomic_ref_count_dec(&manager->ref_count) != 1) return;
  for (plugin_t *plugin = manager->plugins, *next; plugin; plugin = next) {
    next = plugin->next;
    plugin_free(plugin, manager->host_allocator);
  }
  iree_allocator_free(manager->host_allocator, manager);
}

iree_status_t iree_hal_executable_plugin_manager_register_provider(iree_hal_executable_plugin_manager_t* manager,
                                                                   iree_hal_executable_import_provider_t provider) {
  iree_slim_mutex_lock(&manager->mutex);
  bool has_room = manager->count < manager->capacity;
  if (has_room) manager->providers[manager->count++] = provider;
  iree_slim_mutex_unlock(&manager->mutex);
  if (has_room) return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "at most %" PRIhsz " plugins", manager->capacity);
}

//===----------------------------------------------------------------------------------------------------------------===
// Lookup
//===----------------------------------------------------------------------------------------------------------------===

// Asks each provider for what is still missing. A provider's NOT_FOUND means that it does not have everything.
static iree_status_t manager_resolve(void* self, iree_host_size_t count, const char* const* symbol_names,
                                     void** out_fn_ptrs, void** out_fn_contexts,
                                     iree_hal_executable_import_resolution_t* out_resolution) {
  iree_hal_executable_plugin_manager_t* manager = (iree_hal_executable_plugin_manager_t*)self;
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&manager->mutex);
  for (iree_host_size_t i = manager->count; i-- > 0 && iree_status_is_ok(status);) {
    iree_hal_executable_import_resolution_t resolution = 0;
    status = iree_hal_executable_import_provider_try_resolve(manager->providers[i], count, symbol_names, out_fn_ptrs,
                                                             out_fn_contexts, &resolution);
    if (iree_status_is_not_found(status)) status = iree_status_ignore(status);
  }
  iree_slim_mutex_unlock(&manager->mutex);
  IREE_RETURN_IF_ERROR(status);
  // The null provider reports what is left.
  return iree_hal_executable_import_provider_try_resolve(iree_hal_executable_import_provider_null(), count,
                                                         symbol_names, out_fn_ptrs, out_fn_contexts, out_resolution);
}

iree_hal_executable_import_provider_t iree_hal_executable_plugin_manager_provider(
    iree_hal_executable_plugin_manager_t* manager) {
  iree_hal_executable_import_provider_t provider = {manager, manager_resolve};
  return manager ? provider : iree_hal_executable_import_provider_null();
}

static iree_status_t plugin_resolve(void* self, iree_host_size_t count, const char* const* symbol_names,
                                    void** out_fn_ptrs, void** out_fn_contexts,
                                    iree_hal_executable_import_resolution_t* out_resolution) {
  plugin_t* plugin = (plugin_t*)self;
  iree_hal_executable_plugin_resolve_params_v0_t params = {count, symbol_names, out_fn_ptrs, out_fn_contexts};
  iree_hal_executable_plugin_resolution_t resolution = 0;
  iree_status_t status = (iree_status_t)plugin->table->resolve(plugin->self, &params, &resolution);
  *out_resolution = resolution;
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

static iree_hal_executable_plugin_status_t plugin_allocator_ctl(void* self,
                                                                iree_hal_executable_plugin_allocator_command_t command,
                                                                const void* params, void** inout_ptr) {
  const iree_allocator_t* allocator = (const iree_allocator_t*)self;
  iree_status_t status = allocator->ctl(allocator->self, (iree_allocator_command_t)command, params, inout_ptr);
  return iree_hal_executable_plugin_status_from_code(iree_status_consume_code(status));
}

static iree_status_t check_plugin(const iree_hal_executable_plugin_header_t** header_ptr) {
  if (!header_ptr || !*header_ptr || (*header_ptr)->version > IREE_HAL_EXECUTABLE_PLUGIN_VERSION_LATEST) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "the plugin does not support this version of the runtime");
  }
  iree_hal_executable_plugin_sanitizer_kind_t sanitizer = (*header_ptr)->sanitizer;
  if (sanitizer != IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_NONE &&
      sanitizer != IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "the plugin was built with sanitizer %d, this runtime was not",
                            (int)sanitizer);
  }
  return iree_ok_status();
}

// Takes `plugin`, whose library is open, whatever the outcome.
static iree_status_t add_plugin(iree_hal_executable_plugin_manager_t* manager, plugin_t* plugin, void* query,
                                iree_host_size_t param_count, const iree_string_pair_t* params) {
  const iree_hal_executable_plugin_header_t** header =
      ((iree_hal_executable_plugin_query_fn_t)query)(IREE_HAL_EXECUTABLE_PLUGIN_VERSION_LATEST, /*reserved=*/NULL);
  iree_status_t status = check_plugin(header);
  if (iree_status_is_ok(status)) {
    const iree_hal_executable_plugin_v0_t* table = (const iree_hal_executable_plugin_v0_t*)header;
    iree_hal_executable_plugin_environment_v0_t environment = {{&manager->host_allocator, plugin_allocator_ctl}};
    status = (iree_status_t)table->load(&environment, param_count,
                                        (const iree_hal_executable_plugin_string_pair_t*)params, &plugin->self);
    if (iree_status_is_ok(status)) plugin->table = table;
  }
  if (iree_status_is_ok(status)) {
    iree_hal_executable_import_provider_t provider = {plugin, plugin_resolve};
    status = iree_hal_executable_plugin_manager_register_provider(manager, provider);
  }
  if (!iree_status_is_ok(status)) {
    plugin_free(plugin, manager->host_allocator);
    return status;
  }
  iree_slim_mutex_lock(&manager->mutex);
  plugin->next = manager->plugins;
  manager->plugins = plugin;
  iree_slim_mutex_unlock(&manager->mutex);
  return iree_ok_status();
}

iree_status_t iree_hal_executable_plugin_manager_load_system(iree_hal_executable_plugin_manager_t* manager,
                                                             iree_string_view_t path, iree_host_size_t param_count,
                                                             const iree_string_pair_t* params) {
  plugin_t* plugin = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(manager->host_allocator, sizeof(*plugin), (void**)&plugin));
  char text[IREE_MAX_PATH + 1];
  iree_string_view_to_cstring(path, text, sizeof(text));
  plugin->library = dlopen(text, RTLD_NOW | RTLD_LOCAL);
  void* query = plugin->library ? dlsym(plugin->library, IREE_HAL_EXECUTABLE_PLUGIN_EXPORT_NAME) : NULL;
  if (query) return add_plugin(manager, plugin, query, param_count, params);
  iree_status_t status = iree_make_status(IREE_STATUS_NOT_FOUND, "loading plugin '%s' failed: %s", text, dlerror());
  plugin_free(plugin, manager->host_allocator);
  return status;
}

iree_status_t iree_hal_executable_plugin_manager_load_embedded(iree_hal_executable_plugin_manager_t* manager,
                                                               iree_string_view_t path, iree_host_size_t param_count,
                                                               const iree_string_pair_t* params) {
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(path, manager->host_allocator, &contents));
  plugin_t* plugin = NULL;
  void* query = NULL;
  iree_status_t status = iree_allocator_malloc(manager->host_allocator, sizeof(*plugin), (void**)&plugin);
  if (iree_status_is_ok(status)) status = elf_module_load(contents->const_buffer, &plugin->module);
  if (iree_status_is_ok(status)) {
    status = elf_module_lookup(&plugin->module, IREE_HAL_EXECUTABLE_PLUGIN_EXPORT_NAME, &query);
  }
  iree_io_file_contents_free(contents);
  if (iree_status_is_ok(status)) return add_plugin(manager, plugin, query, param_count, params);
  if (plugin) plugin_free(plugin, manager->host_allocator);
  return iree_status_annotate_f(status, "loading plugin '%.*s'", (int)path.size, path.data);
}

iree_status_t iree_hal_executable_plugin_manager_create_from_flags(iree_allocator_t host_allocator,
                                                                   iree_hal_executable_plugin_manager_t** out_manager) {
  iree_flag_string_list_t specs = FLAG_executable_plugin_list();
  IREE_RETURN_IF_ERROR(iree_hal_executable_plugin_manager_create(specs.count + 8, host_allocator, out_manager));
  for (iree_host_size_t i = 0; i < specs.count; ++i) {
    iree_string_view_t path = specs.values[i];
    bool is_embedded = iree_string_view_consume_prefix(&path, IREE_SV("embedded:"));
    iree_status_t status = is_embedded ? iree_hal_executable_plugin_manager_load_embedded(*out_manager, path, 0, NULL)
                                       : iree_hal_executable_plugin_manager_load_system(*out_manager, path, 0, NULL);
    if (iree_status_is_ok(status)) continue;
    iree_hal_executable_plugin_manager_release(*out_manager);
    *out_manager = NULL;
    return status;
  }
  return iree_ok_status();
}
