// Compile options: a protocol buffer (xla/pjrt/proto/compile_options.proto). Read are how many replicas and partitions
// there are to be, the device, and options of the compiler's, which are its flags. Options `xla_...` are checked by the
// table of those that say how XLA is to work (options.def), and change nothing here.
#include <stdio.h>

#include "pjrt/pjrt.h"

// A piece of a message, and the field at its head.
typedef struct wire_t {
  const uint8_t *at, *end;
  uint32_t field, kind;
  uint64_t number;             // of a varint
  const uint8_t *data, *stop;  // of a string or message
} wire_t;

static wire_t wire_open(const void* data, size_t size) {
  return (wire_t){.at = data, .end = (const uint8_t*)data + size};
}
static wire_t wire_inside(const wire_t* wire) { return (wire_t){.at = wire->data, .end = wire->stop}; }

static bool read_varint(wire_t* wire, uint64_t* out_value) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
    uint8_t byte = *wire->at++;
    value |= (uint64_t)(byte & 0x7F) << shift;
    *out_value = value;
    if (byte < 0x80) return true;
  }
  return false;
}

static bool skip(wire_t* wire, uint64_t size) {
  if (size > (uint64_t)(wire->end - wire->at)) return false;
  wire->data = wire->at;
  wire->at += size;
  wire->stop = wire->at;
  return true;
}

// The next field; false at the end and, with *ok false, at what is no message.
static bool wire_next(wire_t* wire, bool* ok) {
  uint64_t key = 0, size = 0;
  if (wire->at >= wire->end) return false;
  *ok = *ok && read_varint(wire, &key);
  wire->field = (uint32_t)(key >> 3);
  wire->kind = (uint32_t)(key & 7);
  switch (wire->kind) {
    case 0:
      *ok = *ok && read_varint(wire, &wire->number);
      break;
    case 1:
      *ok = *ok && skip(wire, 8);
      break;
    case 2:
      *ok = *ok && read_varint(wire, &size) && skip(wire, size);
      break;
    case 5:
      *ok = *ok && skip(wire, 4);
      break;
    default:
      *ok = false;
  }
  return *ok;
}

static bool add_flag(pjrt_options_t* options, char* flag) {
  char** flags = flag ? realloc(options->flags, (options->flag_count + 1) * sizeof(*flags)) : NULL;
  if (!flags) {
    free(flag);
    return false;
  }
  options->flags = flags;
  options->flags[options->flag_count++] = flag;
  return true;
}

// The value of an option: its text, as a flag has it, and the kind that it came as.
typedef enum { NONE, STRING, BOOL, INTEGER, FLOAT } kind_t;
typedef struct value_t {
  kind_t kind;
  char* text;  // malloc's
} value_t;

// OptionOverrideProto; a later field replaces an earlier one. Without a text, there is no memory or no value.
static value_t read_value(wire_t wire, bool* ok) {
  value_t value = {0};
  while (wire_next(&wire, ok)) {
    if (wire.field < 1 || wire.field > 4) continue;
    static const uint32_t wire_kinds[] = {2, 0, 0, 1};  // of the fields from the first on
    if (wire.kind != wire_kinds[wire.field - 1]) *ok = false;
    if (!*ok) break;
    free(value.text);
    value = (value_t){.kind = (kind_t)wire.field};
    double number = 0;
    int size = 0;
    switch (value.kind) {
      case STRING:
        value.text = strndup((const char*)wire.data, (size_t)(wire.stop - wire.data));
        break;
      case BOOL:
        value.text = strdup(wire.number ? "true" : "false");
        break;
      case INTEGER:
        size = asprintf(&value.text, "%lld", (long long)wire.number);
        break;
      default:
        memcpy(&number, wire.data, sizeof(number));
        size = asprintf(&value.text, "%.17g", number);
    }
    if (size < 0) value.text = NULL;
  }
  return value;
}

static const struct {
  const char* name;
  kind_t kind;
  const char* flag;  // that it stands for, or NULL
} hints[] = {
#define HINT(name, kind) {#name, kind, NULL},
#define FLAG(name, kind, flag) {#name, kind, flag},
#include "pjrt/options.def"
#undef FLAG
#undef HINT
};

// Strings may say numbers; a number of another kind may be one where it has the same value.
static bool is_valid(const value_t* value, kind_t kind) {
  char* end = NULL;
  switch (kind) {
    case BOOL:
      if (value->kind == BOOL) return true;
      return value->kind == STRING && (strcmp(value->text, "True") == 0 || strcmp(value->text, "False") == 0 ||
                                       strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0);
    case INTEGER:
      if (value->kind == BOOL) return true;
      strtoll(value->text, &end, 10);
      return end != value->text && !*end;
    case FLOAT:
      strtod(value->text, &end);
      return end != value->text && !*end;
    default:
      return value->kind == STRING;
  }
}

// *flag is the name of the flag that the option stands for, or NULL.
static PJRT_Error* check_hint(const char* name, const value_t* value, const char** flag) {
  static const char* const kinds[] = {"", "string", "bool", "integer", "float"};
  for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); ++i) {
    if (strcmp(hints[i].name, name) != 0) continue;
    *flag = hints[i].flag;
    if (is_valid(value, hints[i].kind)) return NULL;
    return pjrt_error(PJRT_INVALID_ARGUMENT, "While setting option %s, '%.200s' is not a valid %s value.", name,
                      value->text, kinds[hints[i].kind]);
  }
  return pjrt_error(
      PJRT_INVALID_ARGUMENT,
      "No such compile option: '%.200s'; flags of iree-compile are, and options of XLA's that say how it works", name);
}

// An entry of env_option_overrides: a key, and a value that is a string, a boolean or a number.
static PJRT_Error* read_override(wire_t entry, pjrt_options_t* options, bool* ok) {
  wire_t key = {0}, value = {0};
  while (wire_next(&entry, ok)) {
    if (entry.field == 1 && entry.kind == 2) key = wire_inside(&entry);
    if (entry.field == 2 && entry.kind == 2) value = wire_inside(&entry);
  }
  value_t read = read_value(value, ok);
  if (!*ok) {
    free(read.text);
    return NULL;
  }
  char *name = strndup((const char*)key.at, (size_t)(key.end - key.at)), *flag = NULL;
  const char* flag_name = name;
  PJRT_Error* error = NULL;
  if (!name || (read.kind != NONE && !read.text)) {
    error = pjrt_no_memory();
  } else if (read.kind == NONE) {
    error = pjrt_error(PJRT_INVALID_ARGUMENT, "the compile option '%.200s' has no value", name);
  } else if (strncmp(name, "xla_", 4) == 0) {
    error = check_hint(name, &read, &flag_name);
  }
  if (!error && flag_name && (asprintf(&flag, "--%s=%s", flag_name, read.text) < 0 || !add_flag(options, flag))) {
    error = pjrt_no_memory();
  }
  free(name);
  free(read.text);
  return error;
}

// DeviceAssignmentProto: the first device of the first computation.
static void read_assignment(wire_t assignment, pjrt_options_t* options, bool* ok) {
  while (wire_next(&assignment, ok)) {
    if (assignment.field != 3 || assignment.kind != 2) continue;
    wire_t devices = wire_inside(&assignment);
    while (wire_next(&devices, ok)) {
      if (devices.field != 1) continue;
      wire_t packed = wire_inside(&devices);
      if (devices.kind == 2 && !read_varint(&packed, &devices.number)) continue;
      options->device = (int64_t)devices.number;
      return;
    }
  }
}

// ExecutableBuildOptionsProto.
static void read_build(wire_t build, pjrt_options_t* options, bool* ok) {
  while (wire_next(&build, ok)) {
    if (build.field == 1 && build.kind == 0 && (int64_t)build.number >= 0) options->device = (int64_t)build.number;
    if (build.field == 4 && build.kind == 0) options->replicas = (int64_t)build.number;
    if (build.field == 5 && build.kind == 0) options->partitions = (int64_t)build.number;
    if (build.field == 9 && build.kind == 2) read_assignment(wire_inside(&build), options, ok);
  }
}

void pjrt_options_finish(pjrt_options_t* options) {
  for (size_t i = 0; i < options->flag_count; ++i) free(options->flags[i]);
  free(options->flags);
  *options = (pjrt_options_t){0};
}

PJRT_Error* pjrt_options_parse(const char* bytes, size_t size, pjrt_options_t* out_options) {
  pjrt_options_t options = {.replicas = 1, .partitions = 1};
  bool ok = true;
  PJRT_Error* error = NULL;
  wire_t wire = wire_open(bytes, size);
  while (!error && wire_next(&wire, &ok)) {
    if (wire.field == 3 && wire.kind == 2) read_build(wire_inside(&wire), &options, &ok);
    if (wire.field == 7 && wire.kind == 2) error = read_override(wire_inside(&wire), &options, &ok);
  }
  if (!ok && !error) error = pjrt_error(PJRT_INVALID_ARGUMENT, "the compile options are no message of their kind");
  if (error) {
    pjrt_options_finish(&options);
  } else {
    *out_options = options;
  }
  return error;
}
