// Executables as bytes: a header, the signature, the compile options and the module. What is read is checked; the
// module itself is verified when it is loaded.
#include "base/version.h"
#include "pjrt/pjrt.h"

static const char magic[16] = "IREE-PJRT " IREE_C_VERSION;

typedef struct bytes_t {
  char* data;
  size_t size, capacity;
  bool failed;
} bytes_t;

static void put(bytes_t* b, const void* data, size_t size) {
  if (size > b->capacity - b->size) {
    size_t capacity = 2 * (b->capacity + size);
    char* more = b->failed ? NULL : realloc(b->data, capacity);
    if (!more) {
      b->failed = true;
      return;
    }
    b->data = more;
    b->capacity = capacity;
  }
  if (size) memcpy(b->data + b->size, data, size);
  b->size += size;
}

static void put_number(bytes_t* b, uint64_t value) { put(b, &value, sizeof(value)); }
static void put_text(bytes_t* b, const void* data, size_t size) {
  put_number(b, size);
  put(b, data, size);
}
static void put_values(bytes_t* b, const pjrt_value_t* values, uint32_t count) {
  put_number(b, count);
  for (uint32_t i = 0; i < count; ++i) {
    put_number(b, (uint64_t)values[i].type);
    put_number(b, values[i].memory);
    put_number(b, values[i].donated);
    put_number(b, (uint64_t)(values[i].storage + 1));
    put_number(b, values[i].rank);
    put(b, values[i].dims, values[i].rank * sizeof(*values[i].dims));
  }
}

PJRT_Error* api_Executable_Serialize(PJRT_Executable_Serialize_Args* args) {
  const pjrt_program_t* program = args->executable->program;
  const pjrt_signature_t* s = &program->signature;
  if (s->calls_host) {
    return pjrt_error(PJRT_UNIMPLEMENTED, "an executable that calls functions of this process cannot be serialized");
  }
  bytes_t b = {0};
  put(&b, magic, sizeof(magic));
  put_text(&b, s->name, strlen(s->name));
  put_text(&b, s->function, strlen(s->function));
  put_values(&b, s->arguments, s->argument_count);
  put_values(&b, s->results, s->result_count);
  put_number(&b, s->is_small);
  put(&b, &s->cost, sizeof(s->cost));
  put_text(&b, program->source, program->source_size);
  put_text(&b, program->options, program->options_size);
  put_text(&b, program->code, program->code_size);
  if (b.failed) {
    free(b.data);
    return pjrt_no_memory();
  }
  args->bytes = args->owner = b.data;
  args->bytes_size = b.size;
  args->deleter = free;
  return NULL;
}

typedef struct reader_t {
  const char *at, *end;
} reader_t;

static bool get(reader_t* r, void* data, size_t size) {
  if (size > (size_t)(r->end - r->at)) return false;
  memcpy(data, r->at, size);
  r->at += size;
  return true;
}

static bool get_number(reader_t* r, uint64_t most, uint64_t* value) {
  return get(r, value, sizeof(*value)) && *value <= most;
}

// Terminated, too.
static bool get_text(reader_t* r, char** text, size_t* size) {
  uint64_t length = 0;
  if (!get_number(r, (uint64_t)(r->end - r->at), &length)) return false;
  *text = malloc((size_t)length + 1);
  if (!*text || !get(r, *text, (size_t)length)) return false;
  (*text)[length] = 0;
  if (size) *size = (size_t)length;
  return true;
}

static bool get_value(reader_t* r, pjrt_value_t* value) {
  uint64_t type = 0, memory = 0, donated = 0, storage = 0, rank = 0;
  size_t count = 0;
  if (!get_number(r, INT32_MAX, &type) || !get_number(r, PJRT_MEMORY_KINDS - 1, &memory) ||
      !get_number(r, 1, &donated) || !get_number(r, UINT32_MAX, &storage) || !get_number(r, PJRT_MAX_RANK, &rank) ||
      !(pjrt_type_find((int)type) || type == PJRT_TYPE_TOKEN)) {
    return false;
  }
  *value = (pjrt_value_t){.type = (int)type,
                          .memory = (pjrt_memory_kind_t)memory,
                          .donated = donated,
                          .storage = (int64_t)storage - 1,
                          .rank = (uint32_t)rank};
  value->dims = calloc((size_t)rank + 1, sizeof(*value->dims));
  return value->dims && get(r, value->dims, (size_t)rank * sizeof(*value->dims)) &&
         pjrt_shape_count(value->dims, (size_t)rank, &count);
}

static bool get_values(reader_t* r, pjrt_value_t** values, uint32_t* count) {
  uint64_t number = 0;
  if (!get_number(r, (uint64_t)(r->end - r->at), &number)) return false;
  *values = calloc((size_t)number + 1, sizeof(**values));
  if (!*values) return false;
  *count = (uint32_t)number;
  for (uint32_t i = 0; i < *count; ++i) {
    if (!get_value(r, &(*values)[i])) return false;
  }
  return true;
}

// Memory for results is numbered in the order of the arguments.
static bool count_storage(pjrt_signature_t* s) {
  for (uint32_t i = 0; i < s->argument_count; ++i) {
    if (s->arguments[i].storage < 0) continue;
    if (s->arguments[i].storage != s->storage_count++) return false;
  }
  return true;
}

static bool read_program(const char* bytes, size_t size, pjrt_program_t* program) {
  reader_t r = {bytes, bytes + size};
  char head[sizeof(magic)];
  uint64_t is_small = 0;
  pjrt_signature_t* s = &program->signature;
  bool ok = get(&r, head, sizeof(head)) && memcmp(head, magic, sizeof(magic)) == 0 && get_text(&r, &s->name, NULL) &&
            get_text(&r, &s->function, NULL) && get_values(&r, &s->arguments, &s->argument_count) &&
            get_values(&r, &s->results, &s->result_count) && get_number(&r, 1, &is_small) &&
            get(&r, &s->cost, sizeof(s->cost)) && get_text(&r, &program->source, &program->source_size) &&
            get_text(&r, &program->options, &program->options_size) &&
            get_text(&r, &program->code, &program->code_size) && r.at == r.end;
  s->is_small = is_small;
  return ok && count_storage(s);
}

PJRT_Error* api_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args* args) {
  pjrt_program_t* program = calloc(1, sizeof(*program));
  if (!program) return pjrt_no_memory();
  iree_atomic_ref_count_init(&program->ref_count);
  if (!read_program(args->bytes, args->bytes_size, program)) {
    pjrt_program_release(program);
    return pjrt_error(PJRT_INVALID_ARGUMENT, "these bytes are no executable of this version");
  }
  pjrt_options_t options = {0};
  bool replaced = args->compile_options != NULL;
  PJRT_Error* error = pjrt_options_parse(replaced ? args->compile_options : program->options,
                                         replaced ? args->compile_options_size : program->options_size, &options);
  if (!error && (options.device < 0 || (uint64_t)options.device >= args->client->device_count)) {
    error = pjrt_error(PJRT_INVALID_ARGUMENT, "the executable is for device %lld; there are %zu",
                       (long long)options.device, args->client->device_count);
  }
  if (!error && !pjrt_program_complete(program)) error = pjrt_no_memory();
  if (error) {
    pjrt_program_release(program);
  } else {
    error = pjrt_executable_load(args->client, program, &options, &args->executable);
  }
  pjrt_options_finish(&options);
  return error;
}
