// --iree-parameter-*: see parameters.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/flags.h"

static bool parse_bytes(const char* flag, const char* text, int64_t* out, text_t* error) {
  if (!text) return true;
  char* end = NULL;
  errno = 0;
  *out = strtoll(text, &end, 10);
  if (end != text && !*end && *out >= 0 && !errno) return true;
  text_printf(error, "--%s=%s: a number of bytes is needed", flag, text);
  return false;
}

// Each flag that names files has one: nothing before or behind '=' is missing.
static bool check_files(const char* flag, const char* const* values, uint32_t count, text_t* error) {
  for (uint32_t i = 0; i < count; ++i) {
    const char* equals = values[i] ? strchr(values[i], '=') : NULL;
    if (!values[i] || (*values[i] && (!equals || equals[1]))) continue;
    text_printf(error, "--%s=%s: [SCOPE=]FILE is needed", flag, values[i]);
    return false;
  }
  return true;
}

// All is done in the phase global-optimization.
static bool check_phases(const compiler_flags_t* flags, const compiler_options_t* out, text_t* error) {
  const parameter_options_t* p = &out->parameters;
  bool any = p->import_count || p->export_to || p->splat_to || p->encoder_to;
  if (!any || out->start_from < COMPILER_PHASE_GLOBAL_OPTIMIZATION) return true;
  text_printf(error,
              "--iree-parameter flags are for programs that have not been through the phase global-optimization yet; "
              "--compile-from=%s says that this one has",
              flags->compile_from);
  return false;
}

bool compiler_flags_resolve_parameters(const compiler_flags_t* flags, compiler_options_t* out, text_t* error) {
  enum { EXPORT_LEAST = 256 };
  parameter_options_t* p = &out->parameters;
  const char* mode = flags->encoder_mode ? flags->encoder_mode : "consolidate";
  *p = (parameter_options_t){.imports = flags->parameter_import.items,
                             .import_count = flags->parameter_import.count,
                             .keys = flags->parameter_import_keys.items,
                             .key_count = flags->parameter_import_keys.count,
                             .import_most = flags->parameter_import_keys.count ? 0 : INT64_MAX,
                             .export_to = flags->parameter_export,
                             .export_least = EXPORT_LEAST,
                             .splat_to = flags->parameter_splat,
                             .encoder_to = flags->encoder_output,
                             .encoder_scope = flags->encoder_scope ? flags->encoder_scope : "encoded",
                             .encoder_overlay = strcmp(mode, "overlay") == 0};
  if (!p->encoder_overlay && strcmp(mode, "consolidate") != 0) {
    text_printf(error, "--iree-parameter-encoder-mode=%s: consolidate and overlay are known", mode);
    return false;
  }
  return parse_bytes("iree-parameter-import-maximum-size", flags->parameter_import_most, &p->import_most, error) &&
         parse_bytes("iree-parameter-export-minimum-size", flags->parameter_export_least, &p->export_least, error) &&
         check_files("iree-parameter-import", p->imports, p->import_count, error) &&
         check_files("iree-parameter-export", &p->export_to, 1, error) && check_phases(flags, out, error);
}
