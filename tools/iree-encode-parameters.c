// Computes parameters ahead of a program: runs the functions of an encoder, which iree-compile writes, and puts their
// results into archives.

#include "iree/base/tooling/flags.h"
#include "iree/io/parameter_index.h"
#include "iree/modules/hal/types.h"
#include "iree/tooling/context_util.h"
#include "tooling/context.h"
#include "tooling/parameter_archive.h"

IREE_FLAG(bool, list_targets, false, "Lists the targets that the encoder has parameters for, and exits.")
IREE_FLAG(bool, list_parameters, false, "Lists the parameters that it makes, and exits.")
IREE_FLAG(string, target, "", "Target to encode for; the first one without the flag.")
IREE_FLAG(bool, quiet, false, "Does not print what the archives have, nor progress on a terminal.")
IREE_FLAG_LIST(string, output,
               "Archive to write (.irpa), `scope=file`, or `file` for the scope without a name; one for each scope.")

static const char usage[] =
    "Computes parameters ahead of a program, by an encoder that iree-compile writes.\n"
    "\n"
    "Example:\n"
    "  iree-compile model.mlir --iree-parameter-encoder-output-file=encoder.mlir -o model.vmfb ...\n"
    "  iree-compile encoder.mlir -o encoder.vmfb ...\n"
    "  iree-encode-parameters --module=encoder.vmfb --parameters=model=model.irpa --output=encoded=encoded.irpa\n"
    "  iree-run-module --module=model.vmfb --parameters=encoded=encoded.irpa ...\n";

//===----------------------------------------------------------------------------------------------------------------===
// The encoder's functions
//===----------------------------------------------------------------------------------------------------------------===

// A function that gives one parameter, by the strings that it is exported with.
typedef struct entry_t {
  iree_vm_function_t function;
  iree_string_view_t target, scope, key;
  uint64_t length;  // bytes
} entry_t;

typedef struct entry_list_t {
  entry_t* entries;
  iree_host_size_t count;
} entry_list_t;

static iree_status_t read_entry(iree_vm_function_t function, entry_t* out_entry) {
  iree_string_view_t length = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.encode.length"));
  *out_entry = (entry_t){.function = function,
                         .target = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.encode.target")),
                         .scope = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.encode.scope")),
                         .key = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.encode.key"))};
  if (out_entry->target.size && out_entry->key.size && iree_string_view_atoi_uint64(length, &out_entry->length)) {
    return iree_ok_status();
  }
  iree_string_view_t name = iree_vm_function_name(&function);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "function '%.*s' does not say which parameter it gives (iree.encode.target, .key, .length)",
                          (int)name.size, name.data);
}

static iree_status_t find_entries(const iree_vm_module_t* module, iree_allocator_t allocator, entry_list_t* out_list) {
  iree_host_size_t count = iree_vm_module_signature(module).export_function_count;
  *out_list = (entry_list_t){0};
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, count + 1, sizeof(entry_t), (void**)&out_list->entries));
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_vm_function_t function;
    IREE_RETURN_IF_ERROR(
        iree_vm_module_lookup_function_by_ordinal(module, IREE_VM_FUNCTION_LINKAGE_EXPORT, i, &function));
    iree_string_view_t kind = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.encode.function"));
    bool again = iree_string_view_ends_with(iree_vm_function_name(&function), IREE_SV("$async"));
    if (!iree_string_view_equal(kind, IREE_SV("encode")) || again) continue;
    IREE_RETURN_IF_ERROR(read_entry(function, &out_list->entries[out_list->count++]));
  }
  if (out_list->count) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "the module has no functions that encode parameters; iree-compile "
                          "--iree-parameter-encoder-output-file= writes such modules");
}

// Those of the target that is asked for.
static iree_status_t choose_target(entry_list_t* list) {
  iree_string_view_t target = iree_make_cstring_view(FLAG_target);
  iree_host_size_t count = 0;
  if (!target.size) target = list->entries[0].target;
  for (iree_host_size_t i = 0; i < list->count; ++i) {
    if (iree_string_view_equal(list->entries[i].target, target)) list->entries[count++] = list->entries[i];
  }
  list->count = count;
  if (count) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "target '%s' not found in the encoder; --list_targets lists those it has", FLAG_target);
}

static void print_targets(const iree_vm_module_t* module, const entry_list_t* list) {
  iree_string_view_t name = iree_vm_module_name(module), last = iree_string_view_empty();
  printf("Encoder module: %.*s\nAvailable targets:\n", (int)name.size, name.data);
  for (iree_host_size_t i = 0; i < list->count; ++i) {
    const entry_t* entry = &list->entries[i];
    if (!iree_string_view_equal(entry->target, last)) printf("  %.*s\n", (int)entry->target.size, entry->target.data);
    last = entry->target;
  }
}

static void print_parameters(const entry_list_t* list) {
  for (iree_host_size_t i = 0; i < list->count; ++i) {
    const entry_t* entry = &list->entries[i];
    if (!i || !iree_string_view_equal(entry->scope, entry[-1].scope)) {
      printf("Scope: \"%.*s\"\n", (int)entry->scope.size, entry->scope.data);
    }
    printf("  %.*s: DATA, %" PRIu64 " bytes, alignment %d\n", (int)entry->key.size, entry->key.data, entry->length,
           IREE_IO_PARAMETER_ARCHIVE_DEFAULT_DATA_ALIGNMENT);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Archives
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t write_result(const tooling_context_t* context, iree_vm_list_t* outputs, const entry_t* entry,
                                  iree_io_stream_t* stream) {
  iree_hal_buffer_view_t* view = iree_vm_list_get_buffer_view_assign(outputs, 0);
  iree_byte_span_t data = iree_byte_span_empty();
  if (!view || iree_hal_buffer_view_byte_length(view) != entry->length) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "it gives no tensor of %" PRIu64 " bytes (iree.encode.length)", entry->length);
  }
  IREE_RETURN_IF_ERROR(tooling_view_read(view, context->device, context->allocator, &data));
  iree_status_t status = iree_io_stream_write(stream, data.data_length, data.data);
  iree_allocator_free(context->allocator, data.data);
  return status;
}

// Calls the function and writes what it gives to the entry's place.
static iree_status_t encode_entry(const tooling_context_t* context, const entry_t* entry,
                                  iree_io_parameter_index_t* index, iree_io_stream_t* stream) {
  const iree_io_parameter_index_entry_t* place = NULL;
  tooling_call_t call = {0};
  iree_vm_list_t* outputs = NULL;
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_lookup(index, entry->key, &place));
  IREE_RETURN_IF_ERROR(
      iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, (iree_io_stream_pos_t)place->storage.file.offset));
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, context->allocator, &outputs);
  if (iree_status_is_ok(status)) {
    status = tooling_call_prepare(context, entry->function, (iree_string_view_list_t){0}, &call);
  }
  if (iree_status_is_ok(status)) status = tooling_call_invoke(context, &call, outputs);
  if (iree_status_is_ok(status)) status = write_result(context, outputs, entry, stream);
  tooling_call_finish(&call);
  iree_vm_list_release(outputs);
  return iree_status_annotate_f(status, "encoding parameter '%.*s'", (int)entry->key.size, entry->key.data);
}

static iree_status_t encode_all(const tooling_context_t* context, const entry_list_t* list, iree_string_view_t scope,
                                const iree_io_parameter_archive_builder_t* builder, iree_io_file_handle_t* handle) {
  iree_io_parameter_index_t* index = NULL;
  iree_io_stream_t* stream = NULL;
  iree_status_t status = iree_io_parameter_index_create(context->allocator, &index);
  if (iree_status_is_ok(status)) {
    status = iree_io_stream_open(IREE_IO_STREAM_MODE_WRITABLE | IREE_IO_STREAM_MODE_SEEKABLE, handle, 0,
                                 context->allocator, &stream);
  }
  if (iree_status_is_ok(status)) {
    status = iree_io_parameter_archive_builder_write(builder, handle, 0, stream, index);
  }
  for (iree_host_size_t i = 0; i < list->count && iree_status_is_ok(status); ++i) {
    if (!iree_string_view_equal(list->entries[i].scope, scope)) continue;
    status = encode_entry(context, &list->entries[i], index, stream);
  }
  iree_io_stream_release(stream);
  if (iree_status_is_ok(status) && !FLAG_quiet) status = iree_io_parameter_index_fprint(stdout, scope, index);
  iree_io_parameter_index_release(index);
  return status;
}

static iree_status_t write_archive(const tooling_context_t* context, const entry_list_t* list, iree_string_view_t scope,
                                   const char* path) {
  iree_io_parameter_archive_builder_t builder;
  archive_output_t output = {.allocator = context->allocator, .path = path, .quiet = FLAG_quiet};
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(iree_io_parameter_archive_builder_initialize(context->allocator, &builder));
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < list->count && iree_status_is_ok(status); ++i) {
    const entry_t* entry = &list->entries[i];
    if (!iree_string_view_equal(entry->scope, scope)) continue;
    status = iree_io_parameter_archive_builder_add_data_entry(&builder, entry->key, iree_const_byte_span_empty(),
                                                              IREE_IO_PARAMETER_ARCHIVE_DEFAULT_DATA_ALIGNMENT,
                                                              entry->length);
  }
  if (iree_status_is_ok(status) && iree_io_parameter_archive_builder_is_empty(&builder)) {
    status = iree_make_status(IREE_STATUS_NOT_FOUND, "the encoder makes no parameters of scope '%.*s'", (int)scope.size,
                              scope.data);
  }
  if (iree_status_is_ok(status)) {
    status = archive_output_open(&output, 0, iree_io_parameter_archive_builder_total_size(&builder), &handle);
  }
  if (iree_status_is_ok(status)) status = encode_all(context, list, scope, &builder, handle);
  iree_io_file_handle_release(handle);
  iree_io_parameter_archive_builder_deinitialize(&builder);
  return archive_output_close(&output, status);
}

static iree_status_t write_archives(iree_allocator_t allocator) {
  tooling_context_t context;
  entry_list_t list = {0};
  iree_status_t status = tooling_context_create(allocator, NULL, &context);
  if (iree_status_is_ok(status)) status = find_entries(context.main, allocator, &list);
  if (iree_status_is_ok(status)) status = choose_target(&list);
  for (iree_host_size_t i = 0; i < FLAG_output_list().count && iree_status_is_ok(status); ++i) {
    iree_string_view_t value = FLAG_output_list().values[i], scope, path;
    bool scoped = iree_string_view_split(value, '=', &scope, &path) >= 0;
    if (!scoped) scope = iree_string_view_empty(), path = value;
    status = write_archive(&context, &list, scope, path.data);  // values of flags end with a NUL
  }
  iree_allocator_free(allocator, list.entries);
  return iree_status_join(status, tooling_context_destroy(&context));
}

//===----------------------------------------------------------------------------------------------------------------===
// The tool
//===----------------------------------------------------------------------------------------------------------------===

// What lists need, of a module whose parameters may be elsewhere.
static iree_status_t list_entries(iree_allocator_t allocator) {
  iree_vm_instance_t* instance = NULL;
  iree_tooling_module_list_t modules;
  entry_list_t list = {0};
  iree_tooling_module_list_initialize(&modules);
  iree_status_t status = iree_tooling_create_instance(allocator, &instance);
  if (iree_status_is_ok(status)) status = iree_tooling_load_modules_from_flags(instance, allocator, &modules);
  const iree_vm_module_t* module = iree_tooling_module_list_back(&modules);
  if (iree_status_is_ok(status)) status = find_entries(module, allocator, &list);
  if (iree_status_is_ok(status) && FLAG_list_targets) print_targets(module, &list);
  if (iree_status_is_ok(status) && FLAG_list_parameters) {
    status = choose_target(&list);
    if (iree_status_is_ok(status)) print_parameters(&list);
  }
  iree_allocator_free(allocator, list.entries);
  iree_tooling_module_list_reset(&modules);
  iree_vm_instance_release(instance);
  return status;
}

static iree_status_t run(iree_allocator_t allocator) {
  if (FLAG_list_targets || FLAG_list_parameters) return list_entries(allocator);
  for (iree_host_size_t i = 0; i < FLAG_output_list().count; ++i) {
    iree_string_view_t value = FLAG_output_list().values[i];
    if (value.size && value.data[value.size - 1] != '=') continue;
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--output=%.*s has no file; the form is [scope=]file.irpa",
                            (int)value.size, value.data);
  }
  if (FLAG_output_list().count) return write_archives(allocator);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no output; --output=[scope=]file.irpa names it");
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-encode-parameters", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  return archive_tool_finish(iree_status_is_ok(status) ? run(iree_allocator_system()) : status);
}
