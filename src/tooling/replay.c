// See replay.h.
#include "tooling/replay.h"

#include "iree/base/tooling/flags.h"

IREE_FLAG_LIST(string, replay_file_remap,
               "Opens files whose captured paths begin with one prefix with another: `captured=replay`. Repeated.");
IREE_FLAG_LIST(string, replay_executable_substitution,
               "Replaces a captured executable, or all: `ID=file`, `ID@FORMAT=file`, `all=file`, `all@FORMAT=file`.\n"
               "iree-dump-replay shows their numbers. Repeated.");

// One --replay_executable_substitution.
typedef struct substitution_t {
  uint64_t id;  // 0: all
  iree_string_view_t format, path;
  iree_io_file_contents_t* contents;
} substitution_t;

struct tooling_replay_options_t {
  iree_hal_replay_execute_options_t execute;
  iree_host_size_t substitution_count;
  substitution_t* substitutions;
  iree_hal_replay_file_path_remap_t* remaps;
};

static iree_status_t substitute(void* user_data, const iree_hal_replay_executable_substitution_request_t* request,
                                iree_hal_replay_executable_substitution_t* out_substitution) {
  const tooling_replay_options_t* options = user_data;
  for (iree_host_size_t i = 0; i < options->substitution_count; ++i) {
    const substitution_t* substitution = &options->substitutions[i];
    if (substitution->id && substitution->id != request->executable_id) continue;
    *out_substitution = (iree_hal_replay_executable_substitution_t){true, substitution->path, substitution->format,
                                                                    substitution->contents->const_buffer};
  }
  return iree_ok_status();
}

// `ID[@FORMAT]=file`
static iree_status_t parse_substitution(iree_string_view_t text, substitution_t* out_substitution) {
  iree_string_view_t name, id;
  bool has_path = iree_string_view_split(text, '=', &name, &out_substitution->path) >= 0;
  iree_string_view_split(name, '@', &id, &out_substitution->format);
  bool is_all = iree_string_view_equal(id, IREE_SV("all"));
  if (!has_path || !out_substitution->path.size ||
      (!is_all && (!iree_string_view_atoi_uint64(id, &out_substitution->id) || !out_substitution->id))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "--replay_executable_substitution=%.*s is none of ID=file, ID@FORMAT=file, all=file, "
                            "all@FORMAT=file",
                            (int)text.size, text.data);
  }
  return iree_io_file_contents_read(out_substitution->path, iree_allocator_system(), &out_substitution->contents);
}

static iree_status_t parse_flags(tooling_replay_options_t* options) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_flag_string_list_t remaps = FLAG_replay_file_remap_list();
  iree_flag_string_list_t substitutions = FLAG_replay_executable_substitution_list();
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(allocator, remaps.count + 1, sizeof(*options->remaps), (void**)&options->remaps));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, substitutions.count + 1, sizeof(*options->substitutions),
                                                   (void**)&options->substitutions));
  for (iree_host_size_t i = 0; i < remaps.count; ++i) {
    iree_hal_replay_file_path_remap_t* remap = &options->remaps[i];
    if (iree_string_view_split(remaps.values[i], '=', &remap->captured_prefix, &remap->replay_prefix) < 0 ||
        !remap->captured_prefix.size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--replay_file_remap=%.*s is not captured=replay",
                              (int)remaps.values[i].size, remaps.values[i].data);
    }
  }
  for (iree_host_size_t i = 0; i < substitutions.count; ++i) {
    ++options->substitution_count;
    IREE_RETURN_IF_ERROR(parse_substitution(substitutions.values[i], &options->substitutions[i]));
  }
  options->execute.file_path_remap_count = remaps.count;
  options->execute.file_path_remaps = options->remaps;
  options->execute.executable_substitution_callback =
      (iree_hal_replay_executable_substitution_callback_t){substitute, options};
  return iree_ok_status();
}

iree_status_t tooling_replay_options_create(tooling_replay_options_t** out_options) {
  tooling_replay_options_t* options = NULL;
  *out_options = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(iree_allocator_system(), sizeof(*options), (void**)&options));
  iree_status_t status = parse_flags(options);
  if (iree_status_is_ok(status)) {
    *out_options = options;
  } else {
    tooling_replay_options_free(options);
  }
  return status;
}

void tooling_replay_options_free(tooling_replay_options_t* options) {
  if (!options) return;
  for (iree_host_size_t i = 0; i < options->substitution_count; ++i) {
    iree_io_file_contents_free(options->substitutions[i].contents);
  }
  iree_allocator_free(iree_allocator_system(), options->substitutions);
  iree_allocator_free(iree_allocator_system(), options->remaps);
  iree_allocator_free(iree_allocator_system(), options);
}

iree_hal_replay_execute_options_t* tooling_replay_execute_options(tooling_replay_options_t* options) {
  return &options->execute;
}
