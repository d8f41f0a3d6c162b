// Puts archives of parameters of any format into one .irpa archive, with other names or values where asked for.

#include "iree/base/tooling/flags.h"
#include "iree/io/scope_map.h"
#include "iree/tooling/parameter_util.h"
#include "tooling/context.h"
#include "tooling/parameter_archive.h"

IREE_FLAG_LIST(string, exclude, "Leaves a parameter out.")
IREE_FLAG_LIST(string, rename, "Gives a parameter another name, as `old=new`.")
IREE_FLAG(bool, strip, false, "Replaces all contents by zeros without a place in the file.")
IREE_FLAG_LIST(string, splat,
               "Replaces a parameter's contents by one value over and over without a place in the file: zeros\n"
               "(`name`), or `name=type=value` (`w=i8=123`, `w=f32=4.5`, `w=x32=CAFEF00D`).")
IREE_FLAG(bool, quiet, false, "Does not print what the archive has, nor progress on a terminal.")
IREE_FLAG(string, output, "", "Archive to write (.irpa).")

static const char usage[] =
    "Puts archives of parameters (.irpa, .safetensors, .gguf) into one .irpa archive.\n"
    "\n"
    "Examples:\n"
    "  iree-convert-parameters --parameters=input.safetensors --output=output.irpa\n"
    "  iree-convert-parameters --parameters=a.gguf --parameters=b.safetensors --exclude=unneeded \\\n"
    "      --rename=old_name=new_name --splat=some_name=f32=4.2 --output=ab.irpa\n"
    "  iree-convert-parameters --parameters=input.irpa --strip --splat=special=f32=1.0 --output=output.irpa\n";

// Whether a list of flags has `name` or `name=value`.
static bool find_named(iree_string_view_list_t list, iree_string_view_t name, iree_string_view_t* out_value) {
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    iree_string_view_t key;
    iree_string_view_split(list.values[i], '=', &key, out_value);
    if (iree_string_view_equal(key, name)) return true;
  }
  return false;
}

static iree_status_t set_splat(iree_string_view_t text, iree_io_parameter_index_entry_t* entry) {
  iree_string_view_t type, value;
  uint8_t length = 1, pattern[IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH];
  iree_string_view_split(text, '=', &type, &value);
  if (type.size && !value.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' is not of the form type=value", (int)text.size,
                            text.data);
  }
  IREE_RETURN_IF_ERROR(archive_parse_pattern(type, value, &length, pattern));
  if (entry->length % length) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIu64 " bytes are no multiple of the value's %u",
                            entry->length, length);
  }
  entry->type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT;
  memset(&entry->storage, 0, sizeof(entry->storage));
  entry->storage.splat.pattern_length = length;
  memcpy(entry->storage.splat.pattern, pattern, sizeof(pattern));
  return iree_ok_status();
}

static iree_status_t convert_entry(const iree_io_parameter_index_entry_t* source, iree_io_parameter_index_t* target) {
  iree_io_parameter_index_entry_t entry = *source;
  iree_string_view_t value = iree_string_view_empty();
  if (find_named(FLAG_exclude_list(), source->key, &value)) return iree_ok_status();
  bool splat = find_named(FLAG_splat_list(), source->key, &value);
  if (splat || FLAG_strip) {
    IREE_RETURN_IF_ERROR(set_splat(splat ? value : iree_string_view_empty(), &entry), "in --splat=%.*s",
                         (int)source->key.size, source->key.data);
  }
  if (find_named(FLAG_rename_list(), source->key, &value)) {
    entry.key = value;
    if (!value.size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--rename=%.*s has no new name; it is old=new",
                              (int)source->key.size, source->key.data);
    }
  }
  return iree_io_parameter_index_add(target, &entry);
}

// Names in flags that no archive has are likely to be mistakes.
static iree_status_t check_names(iree_io_scope_map_t* scopes, const char* flag, iree_string_view_list_t list) {
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    iree_string_view_t name, rest;
    iree_string_view_split(list.values[i], '=', &name, &rest);
    bool found = false;
    for (iree_host_size_t s = 0; s < scopes->count && !found; ++s) {
      const iree_io_parameter_index_entry_t* entry = NULL;
      found = iree_status_consume_code(iree_io_parameter_index_lookup(scopes->entries[s]->index, name, &entry)) ==
              IREE_STATUS_OK;
    }
    if (!found) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "--%s=%.*s: no archive has a parameter '%.*s'", flag,
                              (int)list.values[i].size, list.values[i].data, (int)name.size, name.data);
    }
  }
  return iree_ok_status();
}

static iree_status_t convert_all(iree_io_scope_map_t* scopes, iree_io_parameter_index_t* target) {
  if (!scopes->count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no archives; --parameters=[scope=]file names them");
  }
  IREE_RETURN_IF_ERROR(check_names(scopes, "exclude", FLAG_exclude_list()));
  IREE_RETURN_IF_ERROR(check_names(scopes, "rename", FLAG_rename_list()));
  IREE_RETURN_IF_ERROR(check_names(scopes, "splat", FLAG_splat_list()));
  for (iree_host_size_t s = 0; s < scopes->count; ++s) {
    iree_io_parameter_index_t* source = scopes->entries[s]->index;
    for (iree_host_size_t i = 0; i < iree_io_parameter_index_count(source); ++i) {
      const iree_io_parameter_index_entry_t* entry = NULL;
      IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(source, i, &entry));
      IREE_RETURN_IF_ERROR(convert_entry(entry, target));
    }
  }
  return iree_ok_status();
}

static iree_status_t write_archive(iree_io_parameter_index_t* source, iree_allocator_t allocator) {
  archive_output_t output = {.allocator = allocator, .path = FLAG_output, .quiet = FLAG_quiet};
  iree_io_parameter_archive_file_open_callback_t open = {archive_output_open, &output};
  iree_io_parameter_index_t* built = NULL;
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_create(allocator, &built));
  iree_status_t status = iree_io_build_parameter_archive(source, built, open, 0, allocator);
  status = archive_output_close(&output, status);
  if (iree_status_is_ok(status) && !FLAG_quiet) {
    status = iree_io_parameter_index_fprint(stdout, iree_string_view_empty(), built);
  }
  iree_io_parameter_index_release(built);
  return status;
}

static iree_status_t run(iree_allocator_t allocator) {
  iree_io_scope_map_t scopes;
  iree_io_parameter_index_t* target = NULL;
  IREE_RETURN_IF_ERROR(archive_output_check(FLAG_output));
  iree_io_scope_map_initialize(allocator, &scopes);
  iree_status_t status = iree_tooling_build_parameter_indices_from_flags(&scopes);
  if (iree_status_is_ok(status)) status = iree_io_parameter_index_create(allocator, &target);
  if (iree_status_is_ok(status)) status = convert_all(&scopes, target);
  iree_io_scope_map_deinitialize(&scopes);
  if (iree_status_is_ok(status)) status = write_archive(target, allocator);
  iree_io_parameter_index_release(target);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-convert-parameters", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  return archive_tool_finish(iree_status_is_ok(status) ? run(iree_allocator_system()) : status);
}
