// Command line flags.
//
// A flag is declared where it is used, at file scope; static constructors register it:
//
//   IREE_FLAG(int32_t, batch_size, 1, "Requests per call.");   ... FLAG_batch_size ...
//   IREE_FLAG_LIST(string, input, "One input per flag.");      ... FLAG_input_list() ...
//
// Form: `--name=value`; `--name` alone sets a bool to true. White space around name and value is dropped, and a pair of
// quotes around a string. `--help` prints every flag as a flagfile and exits; `--flagfile=path` reads one. A bool is
// `true`, `1`, `false` or `0`; numbers are decimal, and nothing may follow them: another value is INVALID_ARGUMENT. Not
// thread safe: parse before starting threads; values are constant afterwards.
#ifndef IREE_BASE_TOOLING_FLAGS_H_
#define IREE_BASE_TOOLING_FLAGS_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// FLAG_TYPE(name, C type)
#define IREE_FLAG_TYPES(FLAG_TYPE) \
  FLAG_TYPE(bool, bool)            \
  FLAG_TYPE(int32_t, int32_t)      \
  FLAG_TYPE(int64_t, int64_t)      \
  FLAG_TYPE(float, float)          \
  FLAG_TYPE(double, double)        \
  FLAG_TYPE(string, const char*)
#define IREE_FLAG_CTYPE_bool bool
#define IREE_FLAG_CTYPE_int32_t int32_t
#define IREE_FLAG_CTYPE_int64_t int64_t
#define IREE_FLAG_CTYPE_float float
#define IREE_FLAG_CTYPE_double double
#define IREE_FLAG_CTYPE_string const char*

typedef enum iree_flag_type_e {
  IREE_FLAG_TYPE_none = 0,
  IREE_FLAG_TYPE_callback = 1,
#define IREE_FLAG_ENUM_(name, ctype) IREE_FLAG_TYPE_##name,
  IREE_FLAG_TYPES(IREE_FLAG_ENUM_)
#undef IREE_FLAG_ENUM_
} iree_flag_type_t;

// Parses one occurrence of a callback flag. `value` lives as long as the process.
typedef iree_status_t(IREE_API_PTR* iree_flag_parse_callback_fn_t)(iree_string_view_t flag_name, void* storage,
                                                                   iree_string_view_t value);
// Prints a callback flag's present values as flagfile lines.
typedef void(IREE_API_PTR* iree_flag_print_callback_fn_t)(iree_string_view_t flag_name, void* storage, FILE* file);

// What the macros below call. The strings must outlive the process's use of flags. Returns 0.
IREE_API_EXPORT int iree_flag_register(const char* file, int line, iree_flag_type_t type, void* storage,
                                       iree_flag_parse_callback_fn_t parse_callback,
                                       iree_flag_print_callback_fn_t print_callback, iree_string_view_t name,
                                       iree_string_view_t description);

#ifdef __cplusplus
#define IREE_STATIC_INITIALIZER(f) \
  static void f(void);             \
  struct f##_t_ {                  \
    f##_t_(void) { f(); }          \
  };                               \
  static f##_t_ f##_;              \
  static void f(void)
#else
#define IREE_STATIC_INITIALIZER(f)                  \
  static void f(void) __attribute__((constructor)); \
  static void f(void)
#endif

// A flag of one of IREE_FLAG_TYPES, read as FLAG_<name>.
#define IREE_FLAG(type, name, default_value, description)                                            \
  static IREE_FLAG_CTYPE_##type FLAG_##name = (default_value);                                       \
  IREE_STATIC_INITIALIZER(iree_flag_register_##name) {                                               \
    iree_flag_register(__FILE__, __LINE__, IREE_FLAG_TYPE_##type, (void*)&(FLAG_##name), NULL, NULL, \
                       iree_make_cstring_view(#name), iree_make_cstring_view(description));          \
  }

// A flag with parser and printer of its own.
#define IREE_FLAG_CALLBACK(parse_callback, print_callback, storage, name, description)                                \
  IREE_STATIC_INITIALIZER(iree_flag_register_##name) {                                                                \
    iree_flag_register(__FILE__, __LINE__, IREE_FLAG_TYPE_callback, (void*)(storage), parse_callback, print_callback, \
                       iree_make_cstring_view(#name), iree_make_cstring_view(description));                           \
  }

// A repeated flag: FLAG_<name>_list() has the values in order.
typedef iree_string_view_list_t iree_flag_string_list_t;
typedef struct iree_flag_string_list_storage_t {
  iree_host_size_t capacity;
  iree_host_size_t count;
  iree_string_view_t* values;
} iree_flag_string_list_storage_t;
IREE_API_EXPORT iree_status_t iree_flag_string_list_parse(iree_string_view_t flag_name, void* storage,
                                                          iree_string_view_t value);
IREE_API_EXPORT void iree_flag_string_list_print(iree_string_view_t flag_name, void* storage, FILE* file);
#define IREE_FLAG_LIST(type, name, description)                                                                  \
  static iree_flag_##type##_list_storage_t FLAG_##name##_storage;                                                \
  IREE_FLAG_CALLBACK(iree_flag_##type##_list_parse, iree_flag_##type##_list_print, &FLAG_##name##_storage, name, \
                     description)                                                                                \
  static inline iree_flag_##type##_list_t FLAG_##name##_list(void) {                                             \
    const iree_flag_##type##_list_t list = {FLAG_##name##_storage.count, FLAG_##name##_storage.values};          \
    return list;                                                                                                 \
  }

enum iree_flags_parse_mode_bits_t {
  IREE_FLAGS_PARSE_MODE_DEFAULT = 0,
  IREE_FLAGS_PARSE_MODE_UNDEFINED_OK = 1u << 0,         // unknown flags stay in argv
  IREE_FLAGS_PARSE_MODE_CONTINUE_AFTER_HELP = 1u << 1,  // --help does not exit
};
typedef uint32_t iree_flags_parse_mode_t;

enum iree_flag_dump_mode_bits_t {
  IREE_FLAG_DUMP_MODE_DEFAULT = 0u,
  IREE_FLAG_DUMP_MODE_VERBOSE = 1u << 0,  // with descriptions, types and source files
};
typedef uint32_t iree_flag_dump_mode_t;

// Name and text for --help. Both must outlive parsing.
IREE_API_EXPORT void iree_flags_set_usage(const char* program_name, const char* usage);
// Parses and removes flags from argv, which keeps positional arguments. Errors: INVALID_ARGUMENT for unknown flags and
// bad values, NOT_FOUND and others for flagfiles.
IREE_API_EXPORT iree_status_t iree_flags_parse(iree_flags_parse_mode_t mode, int* argc, char*** argv);
// As iree_flags_parse, but prints an error to stderr and exits with status 1.
IREE_API_EXPORT void iree_flags_parse_checked(iree_flags_parse_mode_t mode, int* argc, char*** argv);
// Prints all flags with their present values as a flagfile.
IREE_API_EXPORT void iree_flags_dump(iree_flag_dump_mode_t mode, FILE* file);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_TOOLING_FLAGS_H_
