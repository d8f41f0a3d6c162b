// What the CUDA driver API passes: results, structures and flags, in the layouts of its reference.
#ifndef IREE_C_SOFTGPU_CUDA_TYPES_H_
#define IREE_C_SOFTGPU_CUDA_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int result_t;
enum {
#define RESULT(name, value, text) name = value,
#include "softgpu/cuda/results.def"
};

typedef struct context_t context_t;
typedef struct stream_t stream_t;
typedef struct event_t event_t;
typedef struct module_t module_t;
typedef struct function_t function_t;
typedef struct library_t library_t;
typedef struct kernel_t kernel_t;
typedef struct pool_t pool_t;
typedef struct graph_t graph_t;
typedef struct node_t node_t;
typedef struct exec_t exec_t;
typedef struct physical_t physical_t;
typedef struct link_t link_t;

// Handles of streams that stand for one of the context or of the thread.
#define STREAM_LEGACY ((stream_t*)1)
#define STREAM_PER_THREAD ((stream_t*)2)

enum { STREAM_DEFAULT = 0, STREAM_NON_BLOCKING = 1 };
enum { EVENT_BLOCKING_SYNC = 1, EVENT_DISABLE_TIMING = 2, EVENT_INTERPROCESS = 4 };
enum { MEMORY_TYPE_HOST = 1, MEMORY_TYPE_DEVICE = 2, MEMORY_TYPE_ARRAY = 3, MEMORY_TYPE_UNIFIED = 4 };
enum { CAPTURE_MODE_GLOBAL, CAPTURE_MODE_THREAD_LOCAL, CAPTURE_MODE_RELAXED };
enum { CAPTURE_STATUS_NONE, CAPTURE_STATUS_ACTIVE, CAPTURE_STATUS_INVALIDATED };

// Copies of up to three dimensions; those of two are put into one of these.
typedef struct copy_2d_side_t {
  size_t x, y;
  int type;  // MEMORY_TYPE_*
  void* host;
  uint64_t device;
  void* array;
  size_t pitch;
} copy_2d_side_t;
typedef struct copy_2d_t {
  copy_2d_side_t source, target;
  size_t width, height;
} copy_2d_t;
typedef struct copy_side_t {
  size_t x, y, z, level;
  int type;
  void* host;
  uint64_t device;
  void* array;
  context_t* context;  // of copies between peers, else reserved
  size_t pitch, height;
} copy_side_t;
typedef struct copy_3d_t {
  copy_side_t source, target;
  size_t width, height, depth;
} copy_3d_t;

typedef struct kernel_params_t {
  void* function;
  uint32_t grid[3], block[3];
  uint32_t shared;
  void** parameters;
  void** extra;
  kernel_t* kernel;  // not in the first version of this, as the next
  context_t* context;
} kernel_params_t;
typedef struct fill_params_t {
  uint64_t target;
  size_t pitch;
  uint32_t value, element;
  size_t width, height;
  context_t* context;  // not in the first version of this
} fill_params_t;
typedef struct host_params_t {
  void (*call)(void* data);
  void* data;
} host_params_t;

enum {
  MEM_OP_WAIT_32 = 1,
  MEM_OP_WRITE_32 = 2,
  MEM_OP_FLUSH = 3,
  MEM_OP_WAIT_64 = 4,
  MEM_OP_WRITE_64 = 5,
  MEM_OP_BARRIER = 6
};
enum { WAIT_GEQ, WAIT_EQ, WAIT_AND, WAIT_NOR };
typedef struct mem_op_t {
  int operation;
  uint64_t address;
  uint64_t value;
  uint32_t flags;
  uint64_t alias;
  uint64_t reserved;
} mem_op_t;
typedef struct mem_ops_params_t {
  context_t* context;
  uint32_t count;
  mem_op_t* ops;
  uint32_t flags;
} mem_ops_params_t;

typedef struct launch_attribute_t {
  int id;
  union {
    int number;
    uint32_t size[3];
    uint8_t bytes[64];
  } value __attribute__((aligned(8)));
} launch_attribute_t;
typedef struct launch_config_t {
  uint32_t grid[3], block[3];
  uint32_t shared;
  stream_t* stream;
  launch_attribute_t* attributes;
  uint32_t attribute_count;
} launch_config_t;

typedef struct location_t {
  int type;  // 1: a GPU, 2: the host
  int id;
} location_t;
enum { LOCATION_DEVICE = 1, LOCATION_HOST = 2 };
typedef struct access_t {
  location_t location;
  int flags;  // 0: none, 1: read, 3: read and write
} access_t;
typedef struct physical_props_t {
  int type;  // 1: pinned
  int handle_types;
  location_t location;
  void* reserved;
  uint8_t flags[8];
} physical_props_t;
typedef struct pool_props_t {
  int type;
  int handle_types;
  location_t location;
  void* reserved;
  size_t max_size;
  uint8_t flags[56];
} pool_props_t;

typedef struct edge_t {
  uint8_t from_port, to_port, type, reserved[5];
} edge_t;
enum {
  NODE_KERNEL,
  NODE_COPY,
  NODE_FILL,
  NODE_HOST,
  NODE_GRAPH,
  NODE_EMPTY,
  NODE_WAIT,
  NODE_RECORD,
  NODE_ALLOCATE = 10,
  NODE_FREE,
  NODE_MEM_OPS,
};
typedef struct node_params_t {
  int type;
  int reserved[3];
  union {
    long long pad[29];
    kernel_params_t kernel;
    struct {
      int flags, reserved;
      context_t* context;
      copy_3d_t params;
    } copy;
    fill_params_t fill;
    host_params_t host;
    struct {
      graph_t* graph;
      int ownership;
    } graph;
    event_t* event;
    mem_ops_params_t mem_ops;
  };
  long long reserved2;
} node_params_t;
typedef struct instantiate_params_t {
  uint64_t flags;
  stream_t* upload_stream;
  node_t* error_node;
  int result;
} instantiate_params_t;
typedef struct update_result_t {
  int result;
  node_t *error_node, *error_from;
} update_result_t;

typedef struct device_props_t {
  int max_threads, max_block[3], max_grid[3], shared, constant, warp, pitch, registers, clock, texture_alignment;
} device_props_t;

typedef void (*host_call_t)(void* data);
typedef void (*stream_callback_t)(stream_t* stream, result_t status, void* data);
typedef size_t (*shared_of_block_t)(int threads);

#endif  // IREE_C_SOFTGPU_CUDA_TYPES_H_
