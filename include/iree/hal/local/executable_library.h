// The binary interface between the runtime and native CPU executables ("libraries").
//
// A library exports one function, IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME, that returns tables: imports it needs,
// entry points it has, how many specialization constants it takes. The tables are plain data of the library's, live as
// long as it, and are only read. The header includes nothing but the language's own headers, so that static libraries
// and hand-written ones need nothing else of the runtime.
//
// Every structure's layout is fixed: fields are added only where `reserved` is, or with a new version.
#ifndef IREE_HAL_LOCAL_EXECUTABLE_LIBRARY_H_
#define IREE_HAL_LOCAL_EXECUTABLE_LIBRARY_H_

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

//===----------------------------------------------------------------------------------------------------------------===
// Header and query
//===----------------------------------------------------------------------------------------------------------------===

enum iree_hal_executable_library_feature_bits_t {
  IREE_HAL_EXECUTABLE_LIBRARY_FEATURE_NONE = 0u,
};
typedef uint32_t iree_hal_executable_library_features_t;

// The sanitizer a library was built with. It loads only into a runtime built with the same.
typedef enum iree_hal_executable_library_sanitizer_kind_e {
  IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_NONE = 0,
  IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_ADDRESS = 1,
  IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_MEMORY = 2,
  IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_THREAD = 3,
  IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_UNDEFINED = 4,
  IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_MAX_ENUM = INT32_MAX,
} iree_hal_executable_library_sanitizer_kind_t;

typedef uint32_t iree_hal_executable_library_version_t;
#define IREE_HAL_EXECUTABLE_LIBRARY_VERSION_0_6 0x00000006u
#define IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST IREE_HAL_EXECUTABLE_LIBRARY_VERSION_0_6

typedef struct iree_hal_executable_library_header_t {
  iree_hal_executable_library_version_t version;  // which iree_hal_executable_library_v*_t follows
  const char* name;                               // NUL-terminated; for messages
  iree_hal_executable_library_features_t features;
  iree_hal_executable_library_sanitizer_kind_t sanitizer;
} iree_hal_executable_library_header_t;

typedef struct iree_hal_executable_environment_v0_t iree_hal_executable_environment_v0_t;

// Returns the library's table for the newest version that both sides know, or NULL when there is none. The result is
// a pointer to a structure whose first field is a pointer to the header. `environment` may be NULL.
typedef const iree_hal_executable_library_header_t** (*iree_hal_executable_library_query_fn_t)(
    iree_hal_executable_library_version_t max_version, const iree_hal_executable_environment_v0_t* environment);
#define IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME "iree_hal_executable_library_query"

//===----------------------------------------------------------------------------------------------------------------===
// Imports
//===----------------------------------------------------------------------------------------------------------------===

// A function the runtime provides. `params` is a structure that caller and callee agreed on, `context` what the
// provider gave with the function. 0 is success.
typedef int (*iree_hal_executable_import_v0_t)(void* params, void* context, void* reserved);

// Calls `fn_ptr`, converting between calling conventions where library and runtime differ. Libraries call imports
// through it always.
typedef int (*iree_hal_executable_import_thunk_v0_t)(iree_hal_executable_import_v0_t fn_ptr, void* params,
                                                     void* context, void* reserved);

// Names of imports, sorted by the library. A name that starts with `?` may stay unresolved: its function is NULL.
typedef struct iree_hal_executable_import_table_v0_t {
  uint32_t count;
  const char* const* symbols;
} iree_hal_executable_import_table_v0_t;

//===----------------------------------------------------------------------------------------------------------------===
// What entry points are called with
//===----------------------------------------------------------------------------------------------------------------===

#define IREE_HAL_PROCESSOR_DATA_CAPACITY_V0 8

// What the processor can do: the words of iree/base/internal/cpu.h.
typedef struct iree_hal_processor_v0_t {
  uint64_t data[IREE_HAL_PROCESSOR_DATA_CAPACITY_V0];
} iree_hal_processor_v0_t;
static_assert(sizeof(iree_hal_processor_v0_t) == 64, "eight words");

// One per loaded library; constant while it is loaded.
struct iree_hal_executable_environment_v0_t {
  const uint32_t* constants;                            // specialization constants
  iree_hal_executable_import_thunk_v0_t import_thunk;   // never NULL
  const iree_hal_executable_import_v0_t* import_funcs;  // one per import
  const void** import_contexts;                         // one per import
  iree_hal_processor_v0_t processor;
};

// One per dispatch; shared by its workgroups and constant while they run.
typedef struct iree_hal_executable_dispatch_state_v0_t {
  uint32_t workgroup_size_x;
  uint32_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t constant_count;
  uint32_t workgroup_count_x;
  uint32_t workgroup_count_y;
  uint16_t workgroup_count_z;
  uint8_t max_concurrency;  // most workgroups that run at once; 0 when unknown
  uint8_t binding_count;
  const uint32_t* constants;
  void* const* binding_ptrs;      // first byte of each binding
  const size_t* binding_lengths;  // in bytes
} iree_hal_executable_dispatch_state_v0_t;
static_assert(sizeof(iree_hal_executable_dispatch_state_v0_t) <= 64, "one cache line");

// One per worker, changed between workgroups.
typedef struct iree_hal_executable_workgroup_state_v0_t {
  uint32_t workgroup_id_x;
  uint32_t workgroup_id_y;
  uint16_t workgroup_id_z;
  uint16_t reserved;           // 0
  uint32_t processor_id;       // logical processor at some recent time; 0 when unknown
  void* local_memory;          // scratch for this workgroup alone, with undefined contents; page-aligned
  uint32_t local_memory_size;  // bytes; at least what the entry point asked for
} iree_hal_executable_workgroup_state_v0_t;
static_assert(sizeof(iree_hal_executable_workgroup_state_v0_t) <= 64, "one cache line");

// Runs one workgroup. 0 is success; anything else fails the dispatch. Thread safe: workgroups run in any order and at
// the same time.
typedef int (*iree_hal_executable_dispatch_v0_t)(const iree_hal_executable_environment_v0_t* environment,
                                                 const iree_hal_executable_dispatch_state_v0_t* dispatch_state,
                                                 const iree_hal_executable_workgroup_state_v0_t* workgroup_state);

//===----------------------------------------------------------------------------------------------------------------===
// Exports
//===----------------------------------------------------------------------------------------------------------------===

// The unit of local_memory_pages, in bytes.
#define IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE 4096
// Most constants (32-bit words) and bindings of one entry point.
#define IREE_HAL_EXECUTABLE_MAX_CONSTANT_COUNT 64
#define IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT 64

enum iree_hal_executable_dispatch_flag_v0_bits_e {
  IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_NONE = 0ull,
  // Workgroups run one after the other, in order.
  IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_SEQUENTIAL = 1ull << 0,
  // The caller chooses the workgroup size.
  IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_WORKGROUP_SIZE_DYNAMIC = 1ull << 1,
};
typedef uint64_t iree_hal_executable_dispatch_flags_v0_t;

typedef struct iree_hal_executable_dispatch_attrs_v0_t {
  iree_hal_executable_dispatch_flags_v0_t flags;
  uint16_t local_memory_pages;  // scratch that each workgroup needs
  uint8_t constant_count;       // 32-bit words
  uint8_t binding_count;
  uint32_t workgroup_size_x;  // 0: 1
  uint32_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t parameter_count;  // rows in the export table's `params`
  uint64_t reserved_1[5];    // 0
} iree_hal_executable_dispatch_attrs_v0_t;
static_assert(sizeof(iree_hal_executable_dispatch_attrs_v0_t) == 64, "one cache line");

enum iree_hal_executable_dispatch_parameter_type_v0_e {
  IREE_HAL_EXECUTABLE_DISPATCH_PARAM_TYPE_V0_CONSTANT = 0,
  IREE_HAL_EXECUTABLE_DISPATCH_PARAM_TYPE_V0_BINDING = 1,
  IREE_HAL_EXECUTABLE_DISPATCH_PARAM_TYPE_V0_BUFFER_PTR = 2,
};
typedef uint8_t iree_hal_executable_dispatch_parameter_type_v0_t;
enum iree_hal_executable_dispatch_parameter_flag_v0_bits_e {
  IREE_HAL_EXECUTABLE_DISPATCH_PARAM_FLAG_V0_NONE = 0,
};
typedef uint16_t iree_hal_executable_dispatch_parameter_flags_v0_t;

// Describes one parameter, for people and tools.
typedef struct iree_hal_executable_dispatch_parameter_v0_t {
  iree_hal_executable_dispatch_parameter_type_v0_t type;
  uint8_t size;  // bytes, for constants
  iree_hal_executable_dispatch_parameter_flags_v0_t flags;
  uint16_t name;    // row of the export table's parameter_names
  uint16_t offset;  // bytes among the constants, or the binding's ordinal
} iree_hal_executable_dispatch_parameter_v0_t;

typedef struct iree_hal_executable_dispatch_occupancy_v0_t {
  int reserved;
} iree_hal_executable_dispatch_occupancy_v0_t;

typedef struct iree_hal_executable_source_location_v0_t {
  uint32_t line;
  uint32_t path_length;
  const char* path;
} iree_hal_executable_source_location_v0_t;

typedef struct iree_hal_executable_stage_location_table_v0_t {
  uint32_t count;
  const char* const* names;
  const iree_hal_executable_source_location_v0_t* locations;
} iree_hal_executable_stage_location_table_v0_t;

// One row per entry point in every array. Only `ptrs` is always there; the others may be NULL.
typedef struct iree_hal_executable_export_table_v0_t {
  uint32_t count;
  const iree_hal_executable_dispatch_v0_t* ptrs;
  const iree_hal_executable_dispatch_attrs_v0_t* attrs;
  const iree_hal_executable_dispatch_parameter_v0_t** params;
  const iree_hal_executable_dispatch_occupancy_v0_t* occupancy;
  const char* const* names;
  const char* const* tags;
  const char* const* parameter_names;
  const iree_hal_executable_source_location_v0_t* source_locations;
  const iree_hal_executable_stage_location_table_v0_t* stage_locations;
} iree_hal_executable_export_table_v0_t;

typedef struct iree_hal_executable_constant_table_v0_t {
  uint32_t count;  // 32-bit words in environment->constants
} iree_hal_executable_constant_table_v0_t;

typedef struct iree_hal_executable_source_file_v0_t {
  uint32_t path_length;
  const char* path;
  uint32_t content_length;
  const uint8_t* content;
} iree_hal_executable_source_file_v0_t;

typedef struct iree_hal_executable_source_file_table_v0_t {
  uint32_t count;
  const iree_hal_executable_source_file_v0_t* files;
} iree_hal_executable_source_file_table_v0_t;

// The table behind a header of version 0.x.
typedef struct iree_hal_executable_library_v0_t {
  const iree_hal_executable_library_header_t* header;
  iree_hal_executable_import_table_v0_t imports;
  iree_hal_executable_export_table_v0_t exports;
  iree_hal_executable_constant_table_v0_t constants;
  iree_hal_executable_source_file_table_v0_t sources;
} iree_hal_executable_library_v0_t;

#endif  // IREE_HAL_LOCAL_EXECUTABLE_LIBRARY_H_
