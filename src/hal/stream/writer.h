// Commands as calls on a stream: of a queue, or of one that is captured for a graph.
#ifndef IREE_C_HAL_STREAM_WRITER_H_
#define IREE_C_HAL_STREAM_WRITER_H_

#include "hal/stream/device.h"

// What the library is told of a launch's arguments. HIP 5.2 reads it when a graph runs that the launch is captured for.
typedef struct stream_launch_t {
  size_t size;  // bytes
  void* extra[5];
} stream_launch_t;

typedef struct stream_writer_t {
  const stream_api_t* api;
  void* stream;
  uint32_t physical;    // GPU of the device
  bool launches_early;  // kernels that wait by themselves
  iree_allocator_t host_allocator;
  uint8_t* arguments;  // of one launch
  size_t capacity;     // bytes
  stream_launch_t launch;
  stream_launch_t* kept;  // the next launch's, where it and `arguments`, large enough, must stay; NULL: `launch`
} stream_writer_t;

// `ranges` are those of the command's slots. The context is entered.
iree_status_t stream_write_command(stream_writer_t* writer, const gpu_range_t* ranges, const gpu_command_t* command);
// A dispatch with these counts of workgroups.
iree_status_t stream_write_launch(stream_writer_t* writer, const gpu_range_t* ranges, const gpu_command_t* command,
                                  const uint32_t counts[3]);
// With the name of a dispatch's kernel.
iree_status_t stream_annotate_kernel(iree_status_t status, const gpu_command_t* command);

// A dispatch's arguments with the addresses of slots; in memory of the writer where there are any.
iree_status_t stream_find_arguments(stream_writer_t* writer, const gpu_range_t* ranges, const gpu_command_t* command,
                                    const uint8_t** out_arguments);

// graph.c, for gpu_backend_t: a graph of commands whose counts of workgroups are known when recording ends. Where all
// addresses are, too, it is made at once, else when it is submitted a second time. Errors: those of the library.
iree_status_t stream_graph_create(gpu_device_t* device, const gpu_work_t* work, void** inout_graph);
void stream_graph_clear(void* graph);
void stream_graph_free(void* graph);
// Adds it to a stream of the device, with the ranges of the recording's slots. When it cannot be for those, or is not
// made yet, nothing is added.
iree_status_t stream_graph_launch(void* graph, const gpu_range_t* ranges, void* stream, bool* out_is_launched);

#endif  // IREE_C_HAL_STREAM_WRITER_H_
