// JAX's plugin interface (PJRT C API 0.94): the structs that cross it. One table of functions, each of which takes a
// pointer to a struct of arguments and gives NULL or an error. Names of the interface are kept where a reader would
// look for them; fields have the interface's order and types, which is all that counts. Source: openxla/xla,
// xla/pjrt/c/pjrt_c_api.h. Enumerations are ints here.
#ifndef IREE_C_PJRT_INTERFACE_H_
#define IREE_C_PJRT_INTERFACE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PJRT_MAJOR = 0, PJRT_MINOR = 94 };

typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;

// The codes of absl::Status, which are also those of iree_status_code_t.
enum { PJRT_INVALID_ARGUMENT = 3, PJRT_FAILED_PRECONDITION = 9, PJRT_UNIMPLEMENTED = 12, PJRT_INTERNAL = 13 };

typedef enum { PJRT_STRING, PJRT_INT64, PJRT_INT64_LIST, PJRT_FLOAT, PJRT_BOOL } PJRT_NamedValueKind;
typedef struct PJRT_NamedValue {
  size_t struct_size;
  void* extensions;
  const char* name;
  size_t name_size;
  int kind;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_list;
    float float_value;
    bool bool_value;
  };
  size_t value_size;  // characters or elements; 1 for scalars
} PJRT_NamedValue;

typedef struct PJRT_Program {
  size_t struct_size;
  void* extensions;
  char* code;
  size_t code_size;
  const char* format;  // "mlir", "hlo", "hlo_with_config"
  size_t format_size;
} PJRT_Program;

enum { PJRT_LAYOUT_TILED = 0, PJRT_LAYOUT_STRIDES = 1 };
typedef struct PJRT_Buffer_MemoryLayout {
  size_t struct_size;
  void* extensions;
  union {
    struct {
      size_t struct_size;
      void* extensions;
      const int64_t* minor_to_major;
      size_t minor_to_major_size;
      const int64_t* tile_dims;
      const size_t* tile_dim_sizes;
      size_t num_tiles;
    } tiled;
    struct {
      size_t struct_size;
      void* extensions;
      const int64_t* byte_strides;
      size_t num_byte_strides;
    } strides;
  };
  int kind;
} PJRT_Buffer_MemoryLayout;

enum {
  PJRT_HOST_ONLY_DURING_CALL = 0,
  PJRT_HOST_UNTIL_TRANSFER_COMPLETES = 1,
  PJRT_HOST_ZERO_COPY = 2,
  PJRT_HOST_MUTABLE_ZERO_COPY = 3,
};

// What is read of it.
typedef struct PJRT_ExecuteOptions {
  size_t struct_size;
  void* extensions;
  void* send_callbacks;
  void* recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
} PJRT_ExecuteOptions;

// Argument structs: PJRT_Client_Create_Args and so on.
#define CALL(name, ...)               \
  typedef struct PJRT_##name##_Args { \
    size_t struct_size;               \
    void* extensions;                 \
    __VA_ARGS__                       \
  } PJRT_##name##_Args;
#define QUIET(name, ...) CALL(name, __VA_ARGS__)
#define REFUSE(name, why, ...) CALL(name, __VA_ARGS__)
#include "pjrt/calls.def"

typedef struct PJRT_Api {
  size_t struct_size;
  void* extensions;
  struct {
    size_t struct_size;
    void* extensions;
    int major, minor;
  } version;
#define CALL(name, ...) PJRT_Error* (*name)(PJRT_##name##_Args * args);
#define QUIET(name, ...) void (*name)(PJRT_##name##_Args * args);
#define REFUSE(name, why, ...) CALL(name, __VA_ARGS__)
#include "pjrt/calls.def"
} PJRT_Api;

// The extension of layouts (xla/pjrt/c/pjrt_c_api_layouts_extension.h, version 4).
typedef struct PJRT_Layouts_MemoryLayout PJRT_Layouts_MemoryLayout;
typedef struct PJRT_Layouts_MemoryLayout_Destroy_Args {
  size_t struct_size;
  void* extensions;
  PJRT_Layouts_MemoryLayout* layout;
} PJRT_Layouts_MemoryLayout_Destroy_Args;
typedef struct PJRT_Layouts_MemoryLayout_Serialize_Args {
  size_t struct_size;
  void* extensions;
  PJRT_Layouts_MemoryLayout* layout;
  const char* bytes;  // the owner's
  size_t bytes_size;
  void* owner;
  void (*deleter)(void* owner);
} PJRT_Layouts_MemoryLayout_Serialize_Args;
typedef struct PJRT_Layouts_Default_Args {
  size_t struct_size;
  void* extensions;
  void* client;  // or the topology
  int type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout;
} PJRT_Layouts_Default_Args;
typedef struct PJRT_Layouts_Buffer_Args {
  size_t struct_size;
  void* extensions;
  PJRT_Buffer* buffer;
  PJRT_Layouts_MemoryLayout* layout;
} PJRT_Layouts_Buffer_Args;
typedef struct PJRT_Layouts_Executable_Args {
  size_t struct_size;
  void* extensions;
  PJRT_Executable* executable;
  size_t count;
  PJRT_Layouts_MemoryLayout** layouts;  // the executable's
} PJRT_Layouts_Executable_Args;

enum { PJRT_EXTENSION_LAYOUTS = 4 };
typedef struct PJRT_Layouts_Extension {
  size_t struct_size;
  int type;
  void* next;
  PJRT_Error* (*MemoryLayout_Destroy)(PJRT_Layouts_MemoryLayout_Destroy_Args* args);
  PJRT_Error* (*MemoryLayout_Serialize)(PJRT_Layouts_MemoryLayout_Serialize_Args* args);
  PJRT_Error* (*Client_GetDefaultLayout)(PJRT_Layouts_Default_Args* args);
  PJRT_Error* (*Buffer_MemoryLayout)(PJRT_Layouts_Buffer_Args* args);
  PJRT_Error* (*Topology_GetDefaultLayout)(PJRT_Layouts_Default_Args* args);
  PJRT_Error* (*Executable_GetOutputLayouts)(PJRT_Layouts_Executable_Args* args);
  PJRT_Error* (*Executable_GetParameterLayouts)(PJRT_Layouts_Executable_Args* args);
} PJRT_Layouts_Extension;

// What the library exports.
const PJRT_Api* GetPjrtApi(void);

#endif  // IREE_C_PJRT_INTERFACE_H_
