// Compile options: a protocol buffer (xla/pjrt/proto/compile_options.proto). Read are how many replicas and partitions
// there are to be, the device, and options of the compiler's, which are its flags. Options `xla_...` are about XLA's
// own passes and files, and change nothing here.
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

// An entry of env_option_overrides: a key, and a value that is a string, a boolean or a number.
static bool read_override(wire_t entry, pjrt_options_t* options, bool* ok) {
  wire_t key = {0}, value = {0};
  while (wire_next(&entry, ok)) {
    if (entry.field == 1 && entry.kind == 2) key = wire_inside(&entry);
    if (entry.field == 2 && entry.kind == 2) value = wire_inside(&entry);
  }
  char* flag = NULL;
  int size = -1, length = (int)(key.end - key.at);
  if (length >= 4 && memcmp(key.at, "xla_", 4) == 0) return true;  // about another compiler
  while (wire_next(&value, ok)) {
    free(flag);
    flag = NULL;
    const char* name = (const char*)key.at;
    double number = 0;
    switch (value.field) {
      case 1:
        size = asprintf(&flag, "--%.*s=%.*s", length, name, (int)(value.stop - value.data), value.data);
        break;
      case 2:
        size = asprintf(&flag, "--%.*s=%s", length, name, value.number ? "true" : "false");
        break;
      case 3:
        size = asprintf(&flag, "--%.*s=%lld", length, name, (long long)value.number);
        break;
      case 4:
        if (value.kind == 1) memcpy(&number, value.data, sizeof(number));
        size = asprintf(&flag, "--%.*s=%.17g", length, name, number);
        break;
      default:
        break;
    }
    if (size < 0) flag = NULL;
  }
  return add_flag(options, flag);
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
  bool ok = true, has_memory = true;
  wire_t wire = wire_open(bytes, size);
  while (has_memory && wire_next(&wire, &ok)) {
    if (wire.field == 3 && wire.kind == 2) read_build(wire_inside(&wire), &options, &ok);
    if (wire.field == 7 && wire.kind == 2) has_memory = read_override(wire_inside(&wire), &options, &ok);
  }
  if (ok && has_memory) {
    *out_options = options;
    return NULL;
  }
  pjrt_options_finish(&options);
  return ok ? pjrt_no_memory() : pjrt_error(PJRT_INVALID_ARGUMENT, "the compile options are no message of their kind");
}
