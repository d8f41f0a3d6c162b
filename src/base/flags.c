// Command line flags: the registry that static constructors fill, parsing, flagfiles and --help.
//
// Text that flags point to (copies of values, flagfiles) is kept until the process ends.
#include "iree/base/tooling/flags.h"

#include <assert.h>
#include <errno.h>

#include "base/flag_table.h"
#include "base/near.h"
#include "base/version.h"
#include "iree/io/file_contents.h"

#define MAX_FLAGS 512
#define MAX_VALUES 64

typedef struct flag_t {
  const char* file;
  int line;
  iree_flag_type_t type;
  void* storage;
  iree_flag_parse_callback_fn_t parse_callback;
  iree_flag_print_callback_fn_t print_callback;
  iree_string_view_t name;
  iree_string_view_t description;
} flag_t;

static struct {
  const char *name, *usage, *guide;
} program = {"", "", NULL};

static struct {
  size_t count;
  flag_t flags[MAX_FLAGS];
  size_t values_count;
  struct {
    const char *name, *values;
  } values[MAX_VALUES];
  struct kept_text_t* kept;
} registry;

int iree_flag_register(const char* file, int line, iree_flag_type_t type, void* storage,
                       iree_flag_parse_callback_fn_t parse_callback, iree_flag_print_callback_fn_t print_callback,
                       iree_string_view_t name, iree_string_view_t description) {
  assert(registry.count < MAX_FLAGS);
  registry.flags[registry.count++] =
      (flag_t){file, line, type, storage, parse_callback, print_callback, name, description};
  return 0;
}

void flag_values_register(const char* name, const char* values) {
  assert(registry.values_count < MAX_VALUES);
  registry.values[registry.values_count].name = name;
  registry.values[registry.values_count++].values = values;
}

static const char* values_of(iree_string_view_t name) {
  for (size_t i = 0; i < registry.values_count; ++i) {
    if (iree_string_view_equal(name, iree_make_cstring_view(registry.values[i].name))) return registry.values[i].values;
  }
  return NULL;
}

void flags_set_guide(const char* markdown) { program.guide = markdown; }

void iree_flags_set_usage(const char* program_name, const char* usage) {
  program.name = program_name;
  program.usage = usage;
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

typedef struct kept_text_t {
  struct kept_text_t* next;
  char text[];
} kept_text_t;

// A NUL-terminated copy that lives as long as the process.
static iree_status_t keep_text(iree_string_view_t value, const char** out_text) {
  kept_text_t* kept = (kept_text_t*)malloc(sizeof(*kept) + value.size + 1);
  if (!kept) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  iree_string_view_to_cstring(value, kept->text, value.size + 1);
  kept->next = registry.kept;
  registry.kept = kept;
  *out_text = kept->text;
  return iree_ok_status();
}

static iree_string_view_t strip_quotes(iree_string_view_t value) {
  if (value.size >= 2 && value.data[0] == '"' && value.data[value.size - 1] == '"') {
    return iree_string_view_substr(value, 1, value.size - 2);
  }
  return value;
}

static bool parse_bool(const char* text, bool* out) {
  *out = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  return *out || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static bool parse_integer(const char* text, int64_t least, int64_t most, int64_t* out) {
  char* end = NULL;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return end != text && !*end && !errno && *out >= least && *out <= most;
}

static bool parse_number(const char* text, double* out) {
  char* end = NULL;
  *out = strtod(text, &end);
  return end != text && !*end;
}

static iree_status_t refuse_value(const flag_t* flag, const char* wanted, const char* text) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%.*s= takes %s; got '%s'", (int)flag->name.size,
                          flag->name.data, wanted, text);
}

static iree_status_t flag_set(const flag_t* flag, bool has_value, iree_string_view_t value) {
  const char* text = NULL;
  IREE_RETURN_IF_ERROR(keep_text(strip_quotes(value), &text));
  int64_t integer = 0;
  double number = 0;
  switch (flag->type) {
    case IREE_FLAG_TYPE_callback:
      return flag->parse_callback(flag->name, flag->storage, iree_make_cstring_view(text));
    case IREE_FLAG_TYPE_bool:
      if (!parse_bool(has_value ? text : "true", (bool*)flag->storage)) {
        return refuse_value(flag, "true, false, 1 or 0", text);
      }
      break;
    case IREE_FLAG_TYPE_int32_t:
      if (!parse_integer(text, INT32_MIN, INT32_MAX, &integer)) return refuse_value(flag, "an integer", text);
      *(int32_t*)flag->storage = (int32_t)integer;
      break;
    case IREE_FLAG_TYPE_int64_t:
      if (!parse_integer(text, INT64_MIN, INT64_MAX, &integer)) return refuse_value(flag, "an integer", text);
      *(int64_t*)flag->storage = integer;
      break;
    case IREE_FLAG_TYPE_float:
      if (!parse_number(text, &number)) return refuse_value(flag, "a number", text);
      *(float*)flag->storage = (float)number;
      break;
    case IREE_FLAG_TYPE_double:
      if (!parse_number(text, &number)) return refuse_value(flag, "a number", text);
      *(double*)flag->storage = number;
      break;
    case IREE_FLAG_TYPE_string:
      *(const char**)flag->storage = text;
      break;
    default:
      return iree_make_status(IREE_STATUS_INTERNAL, "flag type %d", (int)flag->type);
  }
  return iree_ok_status();
}

static void flag_print(const flag_t* flag, FILE* file) {
  fprintf(file, "--%.*s", (int)flag->name.size, flag->name.data);
  switch (flag->type) {
    case IREE_FLAG_TYPE_bool:
      fprintf(file, "=%s\n", *(bool*)flag->storage ? "true" : "false");
      break;
    case IREE_FLAG_TYPE_int32_t:
      fprintf(file, "=%" PRId32 "\n", *(int32_t*)flag->storage);
      break;
    case IREE_FLAG_TYPE_int64_t:
      fprintf(file, "=%" PRId64 "\n", *(int64_t*)flag->storage);
      break;
    case IREE_FLAG_TYPE_float:
      fprintf(file, "=%g\n", *(float*)flag->storage);
      break;
    case IREE_FLAG_TYPE_double:
      fprintf(file, "=%g\n", *(double*)flag->storage);
      break;
    case IREE_FLAG_TYPE_string:
      fprintf(file, "=\"%s\"\n", *(const char**)flag->storage ? *(const char**)flag->storage : "");
      break;
    default:
      fprintf(file, "\n");
      break;
  }
}

iree_status_t iree_flag_string_list_parse(iree_string_view_t flag_name, void* storage, iree_string_view_t value) {
  iree_flag_string_list_storage_t* list = (iree_flag_string_list_storage_t*)storage;
  if (list->count == list->capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(iree_allocator_system(), iree_max(4, list->count + 1),
                                                   sizeof(list->values[0]), &list->capacity, (void**)&list->values));
  }
  list->values[list->count++] = value;
  return iree_ok_status();
}

void iree_flag_string_list_print(iree_string_view_t flag_name, void* storage, FILE* file) {
  iree_flag_string_list_storage_t* list = (iree_flag_string_list_storage_t*)storage;
  if (list->count == 0) fprintf(file, "# --%.*s=...\n", (int)flag_name.size, flag_name.data);
  for (iree_host_size_t i = 0; i < list->count; ++i) {
    fprintf(file, "--%.*s=\"%.*s\"\n", (int)flag_name.size, flag_name.data, (int)list->values[i].size,
            list->values[i].data);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Printing
//===----------------------------------------------------------------------------------------------------------------===

static int compare_flags(const void* lhs, const void* rhs) {
  const flag_t *a = (const flag_t*)lhs, *b = (const flag_t*)rhs;
  int order = strcmp(a->file, b->file);
  return order ? order : a->line - b->line;
}

// The file as the repository has it, without the directories before its root.
static const char* short_file(const char* file) {
  static const char* const roots[] = {"/src/", "/tools/", "/include/", "/tests/"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(roots); ++i) {
    const char* found = strstr(file, roots[i]);
    if (found) return found + 1;
  }
  return file;
}

// What the flags of a file are about, for manual pages.
static const char* group_title(const char* file) {
  static const struct {
    const char *file, *title;
  } titles[] = {{"tooling/benchmark", "Measuring"},
                {"tooling/context", "Modules"},
                {"tooling/devices", "Devices"},
                {"tooling/parameter", "Parameters"},
                {"tooling/run", "Running"},
                {"tooling/results", "Results"},
                {"tooling/profiling", "Profiles"},
                {"tooling/compar", "Comparing"},
                {"tooling/replay", "Replays"},
                {"tooling/capture", "Captures"},
                {"src/hal", "Drivers"},
                {"tooling/inputs", "Inputs"},
                {"tools/", "This tool"}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(titles); ++i) {
    if (strstr(file, titles[i].file)) return titles[i].title;
  }
  return short_file(file);
}

static const char thin_rule[] = "# ===----------------------------------------------------------------------===\n";
static const char thick_rule[] = "# ============================================================================\n";

static void print_comment(iree_string_view_t text, FILE* file) {
  for (iree_string_view_t rest = text, line; rest.size;) {
    iree_string_view_split(rest, '\n', &line, &rest);
    fprintf(file, line.size ? "# %.*s\n" : "#%.*s\n", (int)line.size, line.data);
  }
}

void iree_flags_dump(iree_flag_dump_mode_t mode, FILE* file) {
  qsort(registry.flags, registry.count, sizeof(flag_t), compare_flags);
  bool verbose = mode & IREE_FLAG_DUMP_MODE_VERBOSE;
  const char* last_file = "";
  for (size_t i = 0; i < registry.count; ++i) {
    const flag_t* flag = &registry.flags[i];
    if (verbose && strcmp(flag->file, last_file) != 0) {
      fprintf(file, "%s%s# Flags in %s\n%s\n", i ? "\n" : "", thin_rule, short_file(flag->file), thin_rule);
      last_file = flag->file;
    }
    if (verbose) print_comment(flag->description, file);
    if (verbose && values_of(flag->name)) fprintf(file, "# Values: %s\n", values_of(flag->name));
    if (flag->type == IREE_FLAG_TYPE_callback) {
      flag->print_callback(flag->name, flag->storage, file);
    } else {
      flag_print(flag, file);
    }
    if (verbose) fprintf(file, "\n");
  }
}

static void print_help(FILE* file) {
  fprintf(file, "%s# \xF0\x9F\x91\xBB IREE: %s\n%s\n", thick_rule, program.name, thick_rule);
  if (program.usage[0]) {
    print_comment(iree_string_view_trim(iree_make_cstring_view(program.usage)), file);
    fprintf(file, "\n");
  }
  iree_flags_dump(IREE_FLAG_DUMP_MODE_VERBOSE, file);
}

// As a table, of which the first sentence of the usage is the summary.
static void print_table(flag_table_format_t format, FILE* file) {
  static const flag_entry_t own[] = {{"--flagfile", "=FILE", NULL, "Flags of a file, one a line.", "All tools"},
                                     {"--help", "[=FORMAT]", FLAG_TABLE_FORMATS, "Prints this and exits.", NULL},
                                     {"--agents_md", "", NULL, "Prints this as Markdown and exits.", NULL},
                                     {"--version", "", NULL, "Prints the version and exits.", NULL}};
  static flag_entry_t entries[MAX_FLAGS + IREE_ARRAYSIZE(own)];
  static char names[MAX_FLAGS][64];
  static const char* const arguments[] = {[IREE_FLAG_TYPE_bool] = "[=BOOL]",   [IREE_FLAG_TYPE_int32_t] = "=N",
                                          [IREE_FLAG_TYPE_int64_t] = "=N",     [IREE_FLAG_TYPE_float] = "=NUMBER",
                                          [IREE_FLAG_TYPE_double] = "=NUMBER", [IREE_FLAG_TYPE_string] = "=VALUE",
                                          [IREE_FLAG_TYPE_callback] = "=VALUE"};
  qsort(registry.flags, registry.count, sizeof(flag_t), compare_flags);
  for (size_t i = 0; i < registry.count; ++i) {
    const flag_t* flag = &registry.flags[i];
    bool same = i && strcmp(group_title(flag->file), group_title(registry.flags[i - 1].file)) == 0;
    snprintf(names[i], sizeof(names[i]), "--%.*s", (int)flag->name.size, flag->name.data);
    entries[i] = (flag_entry_t){.name = names[i],
                                .argument = arguments[flag->type],
                                .choices = flag->type == IREE_FLAG_TYPE_bool ? "true,false" : values_of(flag->name),
                                .help = flag->description.data,
                                .group = same ? NULL : group_title(flag->file)};
  }
  memcpy(&entries[registry.count], own, sizeof(own));
  static char summary[512];
  const char *usage = program.usage, *end = strchr(usage, '\n');
  snprintf(summary, sizeof(summary), "%.*s", (int)(end ? end - usage : (ptrdiff_t)strlen(usage)), usage);
  flag_table_t table = {.program = program.name,
                        .summary = summary,
                        .synopsis = "[options]",
                        .description = end ? end + 1 : "",
                        .guide = program.guide,
                        .entries = entries,
                        .count = registry.count + IREE_ARRAYSIZE(own)};
  flag_table_print(&table, format, file);
}

//===----------------------------------------------------------------------------------------------------------------===
// Parsing
//===----------------------------------------------------------------------------------------------------------------===

static const flag_t* find_flag(iree_string_view_t name) {
  for (size_t i = 0; i < registry.count; ++i) {
    if (iree_string_view_equal(registry.flags[i].name, name)) return &registry.flags[i];
  }
  return NULL;
}

static iree_status_t parse_file(iree_flags_parse_mode_t mode, iree_string_view_t path, int depth);

// What to use in place of a flag of IREE's; NULL for other names.
static const char* instead_of(iree_string_view_t name) {
  static const char* const refused[][2] = {
#define REFUSED(flag, text) {flag, text},
#include "base/flags_refused.def"
#undef REFUSED
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(refused); ++i) {
    if (iree_string_view_match_pattern(name, iree_make_cstring_view(refused[i][0]))) return refused[i][1];
  }
  return NULL;
}

static iree_status_t unknown_flag(iree_string_view_t name) {
  const char* instead = instead_of(name);
  if (instead) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "flag '%.*s' is IREE's and not here: %s", (int)name.size,
                            name.data, instead);
  }
  near_t near = near_begin(name.data, name.size);
  for (size_t i = 0; i < registry.count; ++i) near_offer(&near, registry.flags[i].name.data);  // literals
  const char* best = near_result(&near);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "flag '%.*s' not recognized; %s%s%s--help lists what is",
                          (int)name.size, name.data, best ? "did you mean '--" : "", best ? best : "",
                          best ? "'? " : "");
}

// Handles one `--name[=value]`. *out_known is false when nobody knows the name and that is fine.
static iree_status_t parse_flag(iree_flags_parse_mode_t mode, iree_string_view_t argument, int depth, bool* out_known) {
  iree_string_view_t name, value;
  bool has_value = iree_string_view_split(iree_string_view_remove_prefix(argument, 2), '=', &name, &value) >= 0;
  name = iree_string_view_trim(name);
  value = iree_string_view_trim(value);
  *out_known = true;
  if (iree_string_view_equal(name, IREE_SV("version"))) {
    printf("IREE (https://iree.dev):\n  iree-c runtime version %s\n", IREE_C_VERSION);
    exit(0);
  }
  if (iree_string_view_equal(name, IREE_SV("agents_md"))) {
    print_table(FLAG_TABLE_MARKDOWN, stdout);
    exit(0);
  }
  if (iree_string_view_equal(name, IREE_SV("help"))) {
    flag_table_format_t format = FLAG_TABLE_HELP;
    char text[32];
    iree_string_view_to_cstring(iree_string_view_substr(argument, 0, sizeof(text) - 1), text, sizeof(text));
    flag_table_wants(text, &format);
    if (format == FLAG_TABLE_HELP) {
      print_help(stdout);
    } else {
      print_table(format, stdout);
    }
    if (!(mode & IREE_FLAGS_PARSE_MODE_CONTINUE_AFTER_HELP)) exit(0);
    return iree_ok_status();
  }
  if (iree_string_view_equal(name, IREE_SV("flagfile"))) return parse_file(mode, strip_quotes(value), depth + 1);
  const flag_t* flag = find_flag(name);
  if (flag) return flag_set(flag, has_value, value);
  *out_known = false;
  if (mode & IREE_FLAGS_PARSE_MODE_UNDEFINED_OK) return iree_ok_status();
  return unknown_flag(name);
}

static iree_status_t parse_lines(iree_flags_parse_mode_t mode, iree_string_view_t path, iree_string_view_t contents,
                                 int depth) {
  int line_number = 0;
  for (iree_string_view_t rest = contents, line; rest.size;) {
    iree_string_view_split(rest, '\n', &line, &rest);
    line = iree_string_view_trim(line);
    ++line_number;
    if (line.size == 0 || line.data[0] == '#' || iree_string_view_starts_with(line, IREE_SV("//"))) continue;
    if (!iree_string_view_starts_with(line, IREE_SV("--"))) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%.*s:%d: positional arguments not allowed in flag files",
                              (int)path.size, path.data, line_number);
    }
    bool known = false;
    IREE_RETURN_IF_ERROR(parse_flag(mode, line, depth, &known), "%.*s:%d", (int)path.size, path.data, line_number);
  }
  return iree_ok_status();
}

static iree_status_t parse_file(iree_flags_parse_mode_t mode, iree_string_view_t path, int depth) {
  if (depth > 16) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "flag files include each other too deeply");
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(path, iree_allocator_system(), &contents));
  iree_string_view_t text =
      iree_make_string_view((const char*)contents->const_buffer.data, contents->const_buffer.data_length);
  iree_status_t status = parse_lines(mode, path, text, depth);
  iree_io_file_contents_free(contents);
  return status;
}

iree_status_t iree_flags_parse(iree_flags_parse_mode_t mode, int* argc, char*** argv) {
  if (*argc == 0) return iree_ok_status();
  if (program.name[0] == 0) {
    const char* slash = strrchr((*argv)[0], '/');
    program.name = slash ? slash + 1 : (*argv)[0];
  }
  int kept = 1;
  bool only_positional = false;
  for (int i = 1; i < *argc; ++i) {
    iree_string_view_t argument = iree_make_cstring_view((*argv)[i]);
    bool known = false;
    if (!only_positional && iree_string_view_equal(argument, IREE_SV("--"))) {
      only_positional = true;
      continue;
    }
    if (!only_positional && iree_string_view_equal(argument, IREE_SV("-h"))) argument = IREE_SV("--help");
    if (!only_positional && iree_string_view_starts_with(argument, IREE_SV("--"))) {
      IREE_RETURN_IF_ERROR(parse_flag(mode, argument, 0, &known));
    }
    if (!known) (*argv)[kept++] = (*argv)[i];
  }
  *argc = kept;
  (*argv)[kept] = NULL;
  return iree_ok_status();
}

void iree_flags_parse_checked(iree_flags_parse_mode_t mode, int* argc, char*** argv) {
  iree_status_t status = iree_flags_parse(mode, argc, argv);
  if (iree_status_is_ok(status)) return;
  fprintf(stderr,
          "\x1b[31mFLAGS ERROR: (\xE2\x95\xAF\xC2\xB0\xE2\x96\xA1\xC2\xB0)\xE2\x95\xAF\xEF\xB8\xB5"
          "\xF0\x9F\x91\xBB\x1b[0m\n");
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  exit(1);
}
