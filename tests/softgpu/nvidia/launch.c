// Runs kernels of PTX files on the software NVIDIA GPU's engine, by a script on the standard input:
//
//   load FILE [sm_90]                 a module; replaces the one before
//   run KERNEL GRID BLOCK [SHARED]    threads of the grid and of a block (in x), bytes of dynamic shared memory; then
//   its
//                                     arguments, one a line, and `go`
//   size X Y Z x y z                  blocks and threads of three dimensions, in place of `run`'s
//   in FILE | out BYTES FILE | inout FILE FILE | i32 VALUE | i64 VALUE | scratch BYTES
//   go                                launches, writes the outputs; prints `ok KERNEL` or `failed KERNEL: why`
//   check LIST                        checks from the next `load` on
//   count                             prints the counters
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/nvidia/engine.h"

enum { MAX_BUFFERS = 64, MAX_PARAMETERS = 4096 };

static memory_map_t* map;
static nv_engine_t* engine;
static nv_module_t* module;
static uint32_t checks;
static char module_name[512];

static void* allocate(void* data, size_t size, size_t alignment, const char* kind) {
  size_t align = alignment < 256 ? 256 : alignment, rounded = (size + align - 1) / align * align;
  void* memory = aligned_alloc(align, rounded ? rounded : align);
  if (!memory) return NULL;
  memset(memory, 0, rounded);
  memory_range_t range = {(uint64_t)memory, size ? size : 1, 1, true, kind};
  memory_map_insert(map, &range);
  return memory;
}
static void release(void* data, void* address) {
  memory_map_remove(map, (uint64_t)address);
  free(address);
}

typedef struct run_t {
  char kernel[256];
  uint32_t grid[3], block[3], shared;
  void* buffers[MAX_BUFFERS];
  size_t sizes[MAX_BUFFERS];
  char outputs[MAX_BUFFERS][512];
  int count;
  char parameters[MAX_PARAMETERS];
  uint32_t argument;
} run_t;

static void* read_file(const char* name, size_t* size) {
  FILE* file = fopen(name, "rb");
  if (!file) return fprintf(stderr, "launch: cannot read %s\n", name), exit(1), NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(*size + 1);
  if (fread(data, 1, *size, file) != *size) exit(1);
  fclose(file);
  return data;
}

static void load(const char* name, const char* target) {
  size_t size;
  nv_fault_t fault;
  nv_module_destroy(module);
  nv_engine_destroy(engine);
  nv_options_t options = {.target = nv_target_find(target), .checks = checks, .counts = true, .memory = map};
  options.allocate = allocate, options.release = release;
  if (!options.target) fprintf(stderr, "launch: no target %s\n", target), exit(1);
  engine = nv_engine_create(&options);
  char* text = read_file(name, &size);
  module = nv_module_create(engine, text, size, &fault);
  free(text);
  snprintf(module_name, sizeof(module_name), "%s", name);
  if (!module) printf("failed load %s: %s\n", name, fault.message), fflush(stdout);
}

static void add_argument(run_t* run, const nv_function_t* function, const void* value, size_t size) {
  nv_function_info_t info;
  nv_function_info(function, &info);
  if (run->argument >= info.parameter_count) return;
  const nv_parameter_t* p = &info.parameters[run->argument++];
  if (p->offset + p->size <= MAX_PARAMETERS)
    memcpy(run->parameters + p->offset, value, size < p->size ? size : p->size);
}

static void add_buffer(run_t* run, const nv_function_t* function, void* data, size_t size, const char* output) {
  void* memory = allocate(NULL, size, 256, "device memory");
  if (data) memcpy(memory, data, size);
  free(data);
  run->buffers[run->count] = memory, run->sizes[run->count] = size;
  snprintf(run->outputs[run->count++], sizeof(run->outputs[0]), "%s", output);
  uint64_t address = (uint64_t)memory;
  add_argument(run, function, &address, 8);
}

static void go(run_t* run, const nv_function_t* function) {
  nv_fault_t fault = {0};
  nv_launch_t launch = {.function = function, .dynamic_shared = run->shared, .parameters = run->parameters};
  memcpy(launch.grid, run->grid, sizeof(launch.grid));
  memcpy(launch.block, run->block, sizeof(launch.block));
  if (nv_launch(&launch, &fault)) {
    printf("ok %s\n", run->kernel);
  } else {
    printf("failed %s: %s\n", run->kernel, fault.message);
  }
  fflush(stdout);
  for (int i = 0; i < run->count; ++i) {
    FILE* file = run->outputs[i][0] ? fopen(run->outputs[i], "wb") : NULL;
    if (file) fwrite(run->buffers[i], 1, run->sizes[i], file), fclose(file);
    release(NULL, run->buffers[i]);
  }
}

int main(void) {
  static run_t run;
  char line[2048], word[16], a[512], b[512];
  const nv_function_t* function = NULL;
  map = memory_map_create();
  while (fgets(line, sizeof(line), stdin)) {
    unsigned grid = 1, block = 1, shared = 0;
    a[0] = b[0] = 0;
    if (sscanf(line, "%15s %511s %511s", word, a, b) < 1) continue;
    if (strcmp(word, "load") == 0) {
      load(a, b[0] ? b : "sm_90");
    } else if (strcmp(word, "check") == 0) {
      text_t error = {0};
      if (!engine_parse_checks(a, &checks, &error)) fprintf(stderr, "launch: %s\n", error.data), exit(1);
    } else if (strcmp(word, "run") == 0) {
      memset(&run, 0, sizeof(run));
      sscanf(line, "%*s %255s %u %u %u", run.kernel, &grid, &block, &shared);
      run.grid[0] = (grid + block - 1) / block, run.block[0] = block, run.shared = shared;
      run.grid[1] = run.grid[2] = run.block[1] = run.block[2] = 1;
      function = module ? nv_module_function(module, run.kernel) : NULL;
      if (module && !function) printf("failed %s: no such kernel\n", run.kernel);
    } else if (strcmp(word, "count") == 0 && engine) {
      nv_counters_t counters;
      nv_engine_counters(engine, &counters);
#define COUNTER(name, what) printf("%12llu %s\n", (unsigned long long)counters.name, what);
      NV_COUNTERS(COUNTER)
#undef COUNTER
    } else if (!function) {
      continue;
    } else if (strcmp(word, "size") == 0) {
      sscanf(line, "%*s %u %u %u %u %u %u", &run.grid[0], &run.grid[1], &run.grid[2], &run.block[0], &run.block[1],
             &run.block[2]);
    } else if (strcmp(word, "in") == 0 || strcmp(word, "inout") == 0) {
      size_t size;
      void* data = read_file(a, &size);
      add_buffer(&run, function, data, size, b);
    } else if (strcmp(word, "out") == 0) {
      add_buffer(&run, function, NULL, strtoull(a, NULL, 0), b);
    } else if (strcmp(word, "scratch") == 0) {
      add_buffer(&run, function, NULL, strtoull(a, NULL, 0), "");
    } else if (strcmp(word, "i32") == 0 || strcmp(word, "i64") == 0) {
      int64_t value = strtoll(a, NULL, 0);
      add_argument(&run, function, &value, 8);
    } else if (strcmp(word, "go") == 0) {
      go(&run, function);
    }
  }
  nv_module_destroy(module);
  nv_engine_destroy(engine);
  memory_map_destroy(map);
  return 0;
}
