// Entry points by name, those that mean another default stream, and those that are known and not supported.
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/driver.h"

// What programs call that are compiled for a default stream of each thread.
#define ENTRY(symbol, name, version, parameters)
#define STREAM(symbol, name, version, suffix, parameters, arguments) \
  result_t symbol##suffix parameters;                                \
  result_t symbol##suffix parameters {                               \
    driver_per_thread = true;                                        \
    result_t result = symbol arguments;                              \
    driver_per_thread = false;                                       \
    return result;                                                   \
  }
#include "softgpu/cuda/entry_points.def"

// Arguments are not looked at.
#define ENTRY(symbol, name, version, parameters)
#define STREAM(symbol, name, version, suffix, parameters, arguments)
#define REFUSED(symbol, name, version) \
  result_t symbol(void);               \
  result_t symbol(void) { return driver_refuse(#symbol, "is not supported"); }
#include "softgpu/cuda/entry_points.def"

typedef struct row_t {
  const char* name;  // without version
  int version;       // of CUDA, since which the name means this
  void* call;
  void* per_thread;  // NULL: the same
} row_t;

static const row_t rows[] = {
#define ENTRY(symbol, name, version, parameters) {#name, version, (void*)symbol, NULL},
#define STREAM(symbol, name, version, suffix, parameters, arguments) \
  {#name, version, (void*)symbol, (void*)symbol##suffix},
#define REFUSED(symbol, name, version) {#name, version, (void*)symbol, NULL},
#define ALIAS(symbol, name, version) {#name, version, (void*)symbol, NULL},
#include "softgpu/cuda/entry_points.def"
};

enum { QUERY_FOUND, QUERY_UNKNOWN, QUERY_TOO_OLD };

static const row_t* find(const char* name, int version, int* out_state) {
  const row_t* found = NULL;
  *out_state = QUERY_UNKNOWN;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (strcmp(rows[i].name, name) != 0) continue;
    if (*out_state == QUERY_UNKNOWN) *out_state = QUERY_TOO_OLD;
    if (rows[i].version <= version && (!found || found->version < rows[i].version)) found = &rows[i];
  }
  if (found) *out_state = QUERY_FOUND;
  return found;
}

result_t cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags, int* out_state) {
  enum { LEGACY = 1, PER_THREAD = 2 };
  int state;
  REQUIRE(name && out && flags <= PER_THREAD, CUDA_ERROR_INVALID_VALUE);
  const row_t* row = find(name, version, &state);
  *out = row ? row->call : NULL;
  if (row && row->per_thread && flags == PER_THREAD) *out = row->per_thread;
  if (out_state) *out_state = state;
  // Who asks for the state reads it there.
  return row || out_state ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
result_t cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, NULL);
}

result_t cuGetExportTable(const void** out, const void* id) {
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = NULL;
  return driver_refuse("cuGetExportTable", "has no tables: they are the vendor's own");
}
