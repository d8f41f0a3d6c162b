// The table of functions. Callers may know fewer or more fields of an argument struct than there are here: each call
// works on a struct of the size that is known here, of which as much is copied in and out as both have.
#include "pjrt/pjrt.h"

static size_t common_size(size_t given, size_t known) { return given < known ? given : known; }

static PJRT_Error* check_size(size_t given, const char* name) {
  if (given >= 2 * sizeof(void*)) return NULL;
  return pjrt_error(PJRT_INVALID_ARGUMENT, "PJRT_%s: struct_size is %zu; set it to the size of the arguments", name,
                    given);
}

#define CALL(name, ...)                                                  \
  static PJRT_Error* call_##name(PJRT_##name##_Args* args) {             \
    PJRT_Error* error = check_size(args->struct_size, #name);            \
    if (error) return error;                                             \
    PJRT_##name##_Args known = {0};                                      \
    size_t size = common_size(args->struct_size, sizeof(known));         \
    memcpy(&known, args, size);                                          \
    error = api_##name(&known);                                          \
    size_t head = 2 * sizeof(void*);                                     \
    memcpy((char*)args + head, (const char*)&known + head, size - head); \
    return error;                                                        \
  }
#define QUIET(name, ...) \
  static void call_##name(PJRT_##name##_Args* args) { api_##name(args); }
#define REFUSE(name, why, ...)                                                      \
  static PJRT_Error* call_##name(PJRT_##name##_Args* args) {                        \
    (void)args;                                                                     \
    return pjrt_error(PJRT_UNIMPLEMENTED, "PJRT_%s is not supported: " why, #name); \
  }
#include "pjrt/calls.def"

static const PJRT_Api api = {
    .struct_size = sizeof(PJRT_Api),
    .extensions = (void*)&pjrt_layouts_extension,
    .version = {sizeof(api.version), NULL, PJRT_MAJOR, PJRT_MINOR},
#define CALL(name, ...) .name = call_##name,
#define QUIET(name, ...) .name = call_##name,
#define REFUSE(name, why, ...) .name = call_##name,
#include "pjrt/calls.def"
};

__attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi(void) { return &api; }

PJRT_Error* api_Plugin_Initialize(PJRT_Plugin_Initialize_Args* args) {
  (void)args;
  return NULL;
}

// The newest StableHLO that is read, and the oldest.
PJRT_Error* api_Plugin_Attributes(PJRT_Plugin_Attributes_Args* args) {
  static const int64_t newest[] = {1, 20, 0}, oldest[] = {1, 0, 0};
#define VERSION(text, numbers) \
  {sizeof(PJRT_NamedValue), NULL, text, sizeof(text) - 1, PJRT_INT64_LIST, {.int64_list = numbers}, 3}
  static const PJRT_NamedValue attributes[] = {
      VERSION("stablehlo_current_version", newest),
      VERSION("stablehlo_minimum_version", oldest),
  };
#undef VERSION
  args->attributes = attributes;
  args->num_attributes = sizeof(attributes) / sizeof(attributes[0]);
  return NULL;
}
