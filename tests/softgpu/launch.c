// Runs kernels of code objects through the HSA interface, by a script on the standard input:
//
//   load FILE                                          a code object; replaces the one before
//   without KERNEL+OFFSET                              an instruction that is left out of what is loaded next
//   run KERNEL GRID GROUP LDS STACK                    bytes to add to either; then its arguments, one a line, and `go`
//   in FILE | out BYTES FILE | inout FILE FILE | i32 VALUE | i64 VALUE | at NAME OFFSET
//   size X Y Z x y z                                   grid and workgroup of three dimensions, in place of `run`'s
//   go [TIMES]                                         launches, waits, writes the outputs; prints `ok KERNEL` or
//                                                      `failed KERNEL: why`
//   buffer NAME BYTES FILE                             memory with a name, for `at`; FILE's bytes, or zeros where it is
//   - save NAME FILE                                     writes it release frees all memory with names
//
// libhsa-runtime64.so.1 is found as any program finds it.
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BUFFERS = 16, MAX_NAMED = 64, KERNARG_BYTES = 1024 };

#define CHECK(call)                                                               \
  do {                                                                            \
    hsa_status_t status_ = (call);                                                \
    if (status_ != HSA_STATUS_SUCCESS) {                                          \
      fprintf(stderr, "launch: " #call " failed with 0x%x\n", (unsigned)status_); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

static hsa_agent_t gpu;
static hsa_queue_t* queue;
static hsa_executable_t executable;
static bool is_loaded;
static char queue_error[64];

typedef struct run_t {
  char kernel[128];
  unsigned grid[3], group[3], lds, stack;
  void* buffers[MAX_BUFFERS];
  size_t sizes[MAX_BUFFERS];
  char outputs[MAX_BUFFERS][512];
  int count;
  size_t used;
} run_t;
static char* kernarg;

static struct {
  char name[64];
  char* data;
  size_t size;
} named[MAX_NAMED];
static int named_count;

static hsa_status_t pick_gpu(hsa_agent_t agent, void* found) {
  hsa_device_type_t type;
  CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
  *(hsa_agent_t*)found = agent;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t pick_region(hsa_region_t region, void* found) {
  uint32_t flags = 0;
  hsa_region_segment_t segment;
  CHECK(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment));
  if (segment != HSA_REGION_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  CHECK(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags));
  if (!(flags & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED)) return HSA_STATUS_SUCCESS;
  *(hsa_region_t*)found = region;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t pick_cpu_region(hsa_agent_t agent, void* found) {
  hsa_device_type_t type;
  CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type != HSA_DEVICE_TYPE_CPU) return HSA_STATUS_SUCCESS;
  return hsa_agent_iterate_regions(agent, pick_region, found);
}

static void on_queue_error(hsa_status_t status, hsa_queue_t* source, void* data) {
  snprintf(queue_error, sizeof(queue_error), "queue error 0x%x", (unsigned)status);
}

static void* allocate(size_t bytes) {
  static hsa_region_t region;
  if (!region.handle) hsa_iterate_agents(pick_cpu_region, &region);
  void* memory = NULL;
  CHECK(hsa_memory_allocate(region, bytes ? bytes : 1, &memory));
  memset(memory, 0, bytes ? bytes : 1);
  return memory;
}

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) fprintf(stderr, "launch: cannot read %s\n", path), exit(1);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char* data = malloc(*size + 1);
  if (!data || fread(data, 1, *size, file) != *size) fprintf(stderr, "launch: cannot read %s\n", path), exit(1);
  fclose(file);
  return data;
}

static void load(const char* path) {
  if (is_loaded) CHECK(hsa_executable_destroy(executable));
  size_t size;
  static char* data;
  free(data);
  data = read_file(path, &size);
  hsa_code_object_reader_t reader;
  CHECK(hsa_code_object_reader_create_from_memory(data, size, &reader));
  CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
  CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  CHECK(hsa_executable_freeze(executable, NULL));
  CHECK(hsa_code_object_reader_destroy(reader));
  is_loaded = true;
}

static void write_file(const char* path, const void* data, size_t size) {
  FILE* file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
    fprintf(stderr, "launch: cannot write %s\n", path);
    exit(1);
  }
}

static void name_buffer(const char* name, size_t bytes, const char* path) {
  if (named_count == MAX_NAMED) fprintf(stderr, "launch: too many buffers\n"), exit(1);
  size_t size = 0;
  char* data = strcmp(path, "-") != 0 ? read_file(path, &size) : NULL;
  if (size > bytes) fprintf(stderr, "launch: %s does not fit %s\n", path, name), exit(1);
  snprintf(named[named_count].name, sizeof(named[0].name), "%.63s", name);
  named[named_count].size = bytes;
  named[named_count].data = allocate(bytes);
  if (data) memcpy(named[named_count].data, data, size);
  ++named_count;
  free(data);
}

static int find_buffer(const char* name) {
  for (int i = 0; i < named_count; ++i) {
    if (strcmp(named[i].name, name) == 0) return i;
  }
  fprintf(stderr, "launch: there is no buffer %s\n", name);
  exit(1);
}

static void release_buffers(void) {
  while (named_count > 0) CHECK(hsa_memory_free(named[--named_count].data));
}

static void add_argument(run_t* run, const void* value, size_t bytes) {
  run->used = (run->used + bytes - 1) & ~(bytes - 1);
  memcpy(kernarg + run->used, value, bytes);
  run->used += bytes;
}

static void add_buffer(run_t* run, const char* input, size_t bytes, const char* output) {
  char* data = input ? read_file(input, &bytes) : NULL;
  int i = run->count++;
  run->buffers[i] = allocate(bytes);
  run->sizes[i] = bytes;
  if (data) memcpy(run->buffers[i], data, bytes);
  free(data);
  snprintf(run->outputs[i], sizeof(run->outputs[i]), "%s", output ? output : "");
  add_argument(run, &run->buffers[i], 8);
}

// Implicit arguments of code object version 5, behind the explicit ones.
static void put_implicit(const run_t* run) {
  char* at = kernarg + ((run->used + 7) & ~(size_t)7);
  uint32_t blocks[3];
  uint16_t sizes[6], dimensions = 1;
  for (int i = 0; i < 3; ++i) {
    blocks[i] = run->grid[i] / run->group[i];
    sizes[i] = (uint16_t)run->group[i];
    sizes[3 + i] = (uint16_t)(run->grid[i] % run->group[i]);
    if (run->grid[i] > 1) dimensions = (uint16_t)(i + 1);
  }
  memcpy(at, blocks, sizeof(blocks));
  memcpy(at + 12, sizes, sizeof(sizes));
  memcpy(at + 64, &dimensions, 2);
}

static bool launch(const run_t* run) {
  hsa_executable_symbol_t symbol;
  char name[140];
  snprintf(name, sizeof(name), "%s.kd", run->kernel);
  CHECK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
  uint64_t object;
  uint32_t group_size, private_size;
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &group_size));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &private_size));
  hsa_signal_t done;
  CHECK(hsa_signal_create(1, 0, NULL, &done));
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  hsa_kernel_dispatch_packet_t* packet = (hsa_kernel_dispatch_packet_t*)queue->base_address + index % queue->size;
  memset((char*)packet + 4, 0, sizeof(*packet) - 4);
  packet->workgroup_size_x = (uint16_t)run->group[0], packet->grid_size_x = run->grid[0];
  packet->workgroup_size_y = (uint16_t)run->group[1], packet->grid_size_y = run->grid[1];
  packet->workgroup_size_z = (uint16_t)run->group[2], packet->grid_size_z = run->grid[2];
  packet->group_segment_size = group_size + run->lds;
  packet->private_segment_size = private_size + run->stack;
  packet->kernel_object = object;
  packet->kernarg_address = kernarg;
  packet->completion_signal = done;
  uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE | 3 << 16;
  __atomic_store_n((uint32_t*)packet, header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
  while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 100000000, HSA_WAIT_STATE_BLOCKED) >= 1) {
    if (queue_error[0]) return false;
  }
  CHECK(hsa_signal_destroy(done));
  return !queue_error[0];
}

static void make_queue(void) {
  queue_error[0] = 0;
  CHECK(hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, on_queue_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
}

static void finish(run_t* run, unsigned times) {
  put_implicit(run);
  bool worked = true;
  for (unsigned i = 0; i < times && worked; ++i) worked = launch(run);
  for (int i = 0; i < run->count; ++i) {
    if (worked && run->outputs[i][0]) write_file(run->outputs[i], run->buffers[i], run->sizes[i]);
    CHECK(hsa_memory_free(run->buffers[i]));
  }
  if (worked) {
    printf("ok %s\n", run->kernel);
  } else {
    printf("failed %s: %s\n", run->kernel, queue_error);
    hsa_queue_destroy(queue);
    make_queue();
  }
  fflush(stdout);
  memset(run, 0, sizeof(*run));
  memset(kernarg, 0, KERNARG_BYTES);
}

// A line that gives the launch an argument or its size; false where it is none.
static bool describe(run_t* run, const char* line) {
  char first[1024], second[1024];
  unsigned long size;
  unsigned *grid = run->grid, *group = run->group;
  if (sscanf(line, "run %127s %u %u %u %u", run->kernel, &grid[0], &group[0], &run->lds, &run->stack) == 5) {
    grid[1] = grid[2] = group[1] = group[2] = 1;
  } else if (sscanf(line, "size %u %u %u %u %u %u", &grid[0], &grid[1], &grid[2], &group[0], &group[1], &group[2]) ==
             6) {
  } else if (sscanf(line, "inout %1023s %1023s", first, second) == 2) {
    add_buffer(run, first, 0, second);
  } else if (sscanf(line, "in %1023s", first) == 1) {
    add_buffer(run, first, 0, NULL);
  } else if (sscanf(line, "out %lu %1023s", &size, second) == 2) {
    add_buffer(run, NULL, size, second);
  } else if (sscanf(line, "at %1023s %lu", first, &size) == 2) {
    char* pointer = named[find_buffer(first)].data + size;
    add_argument(run, &pointer, sizeof(pointer));
  } else if (sscanf(line, "i32 %lu", &size) == 1) {
    add_argument(run, &(int32_t){(int32_t)size}, 4);
  } else if (sscanf(line, "i64 %lu", &size) == 1) {
    add_argument(run, &size, 8);
  } else {
    return false;
  }
  return true;
}

int main(void) {
  CHECK(hsa_init());
  hsa_iterate_agents(pick_gpu, &gpu);
  if (!gpu.handle) return fprintf(stderr, "launch: there is no GPU\n"), 1;
  make_queue();
  kernarg = allocate(KERNARG_BYTES);
  static run_t run;
  char line[2048], name[64], first[1024], second[1024];
  unsigned long size;
  while (fgets(line, sizeof(line), stdin)) {
    if (describe(&run, line)) {
    } else if (sscanf(line, "without %1023s", first) == 1) {
      setenv("IREE_SOFTGPU_LEAVE_OUT", first, 1);
    } else if (sscanf(line, "load %1023s", first) == 1) {
      load(first);
    } else if (sscanf(line, "buffer %63s %lu %1023s", name, &size, second) == 3) {
      name_buffer(name, size, second);
    } else if (sscanf(line, "save %1023s %1023s", first, second) == 2) {
      int i = find_buffer(first);
      write_file(second, named[i].data, named[i].size);
    } else if (strncmp(line, "release", 7) == 0) {
      release_buffers();
    } else if (strncmp(line, "go", 2) == 0) {
      unsigned times = 1;
      sscanf(line, "go %u", &times);
      finish(&run, times);
    } else {
      return fprintf(stderr, "launch: what is '%s'?\n", line), 1;
    }
  }
  release_buffers();
  CHECK(hsa_queue_destroy(queue));
  if (is_loaded) CHECK(hsa_executable_destroy(executable));
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}
