// Finding and loading libcuda.
#include "hal/stream/api.h"

#include <dlfcn.h>

#include "iree/base/threading/call_once.h"

#define ENTRY(name, symbol, parameters) const char stream_api_##name##_symbol[] = symbol;
#include "hal/stream/api.def"

static const char* const library_names[] = {"libcuda.so.1", "libcuda.so"};

iree_status_t stream_api_check(const stream_api_t* api, int result, const char* call) {
  static const struct {
    int result;
    iree_status_code_t code;
  } rows[] = {
      {STREAM_API_INVALID_VALUE, IREE_STATUS_INVALID_ARGUMENT},
      {STREAM_API_OUT_OF_MEMORY, IREE_STATUS_RESOURCE_EXHAUSTED},
      {STREAM_API_NO_DEVICE, IREE_STATUS_UNAVAILABLE},
      {STREAM_API_INVALID_IMAGE, IREE_STATUS_INVALID_ARGUMENT},
      {STREAM_API_NO_BINARY, IREE_STATUS_INCOMPATIBLE},
      {STREAM_API_INVALID_PTX, IREE_STATUS_INVALID_ARGUMENT},
      {STREAM_API_UNSUPPORTED_PTX, IREE_STATUS_INCOMPATIBLE},
  };
  if (result == STREAM_API_SUCCESS) return iree_ok_status();
  iree_status_code_t code = result >= 700 && result < 720 ? IREE_STATUS_ABORTED : IREE_STATUS_INTERNAL;
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].result == result) code = rows[i].code;
  }
  const char *name = NULL, *text = NULL;
  api->error_name(result, &name);
  api->error_text(result, &text);
  return iree_make_status(code, "%s failed with %d (%s): %s", call, result, name ? name : "?",
                          text ? text : "no description");
}

// Fills the table; NULL, or the first symbol that is missing.
static const char* resolve(void* library, stream_api_t* api) {
#define ENTRY(name, symbol, parameters)           \
  *(void**)(&api->name) = dlsym(library, symbol); \
  if (!api->name) return symbol;
#include "hal/stream/api.def"
  return NULL;
}

// The one table of the process.
static struct {
  iree_once_flag once;
  stream_api_t table;
  bool is_usable;
  char why[1024];  // not
} loaded = {.once = IREE_ONCE_FLAG_INIT};

static void load_once(void) {
  size_t used = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(library_names) && !loaded.is_usable; ++i) {
    void* library = dlopen(library_names[i], RTLD_LAZY | RTLD_LOCAL);
    const char* missing = library ? resolve(library, &loaded.table) : NULL;
    int length;
    if (!library) {
      length = snprintf(loaded.why + used, sizeof(loaded.why) - used, "\n  %s: %s", library_names[i], dlerror());
    } else if (missing) {
      length = snprintf(loaded.why + used, sizeof(loaded.why) - used, "\n  %s: too old: it has no entry point %s",
                        library_names[i], missing);
    } else {
      loaded.is_usable = true;
      return;
    }
    if (length > 0) used = iree_min(used + (size_t)length, sizeof(loaded.why) - 1);
  }
}

iree_status_t stream_api_load(const stream_api_t** out_api) {
  *out_api = NULL;
  iree_call_once(&loaded.once, load_once);
  if (!loaded.is_usable) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "CUDA driver library libcuda.so.1 not available; install NVIDIA's driver, or name the "
                            "library's folder with LD_LIBRARY_PATH; tried:%s",
                            loaded.why);
  }
  int result = loaded.table.init(0);
  if (result != STREAM_API_SUCCESS) {
    const char* text = NULL;
    loaded.table.error_text(result, &text);
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "CUDA could not be initialized (%d: %s); is an NVIDIA GPU with its kernel driver present?",
                            result, text ? text : "no description");
  }
  *out_api = &loaded.table;
  return iree_ok_status();
}
