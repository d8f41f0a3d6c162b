// The folder is made when something below /sys/class/kfd is first asked for, and goes with the process. Node 0 is the
// CPU, the others are the GPUs of the environment (hsa/runtime.h).
#include "softgpu/preload/topology.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/hsa/gpu_list.h"

static char topology_folder[TOPOLOGY_MAX_PATH / 2];  // empty: there is none
static pid_t topology_owner;
static uint32_t topology_nodes;

__attribute__((format(printf, 2, 3))) static void write_file(const char* path, const char* format, ...) {
  FILE* file = fopen(path, "w");
  if (!file) return;
  va_list args;
  va_start(args, format);
  vfprintf(file, format, args);
  va_end(args);
  fclose(file);
}

// Calls `visit` for each file and folder, what is inside first.
static void each_path(void (*visit)(const char* path, bool is_folder)) {
  static const char* const files[] = {"properties", "gpu_id", "name"};
  char path[TOPOLOGY_MAX_PATH];
  for (uint32_t node = 0; node < topology_nodes; ++node) {
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
      snprintf(path, sizeof(path), "%s/nodes/%u/%s", topology_folder, node, files[i]);
      visit(path, false);
    }
    snprintf(path, sizeof(path), "%s/nodes/%u", topology_folder, node);
    visit(path, true);
  }
  snprintf(path, sizeof(path), "%s/generation_id", topology_folder);
  visit(path, false);
  snprintf(path, sizeof(path), "%s/nodes", topology_folder);
  visit(path, true);
  visit(topology_folder, true);
}

static void remove_path(const char* path, bool is_folder) {
  if (is_folder) {
    rmdir(path);
  } else {
    unlink(path);
  }
}

__attribute__((destructor)) static void remove_folder(void) {
  if (topology_folder[0] && topology_owner == getpid()) each_path(remove_path);
}

static void write_node(uint32_t node, const isa_target_t* t) {
  char path[TOPOLOGY_MAX_PATH];
  snprintf(path, sizeof(path), "%s/nodes/%u", topology_folder, node);
  mkdir(path, 0700);
  snprintf(path, sizeof(path), "%s/nodes/%u/gpu_id", topology_folder, node);
  write_file(path, "%u\n", t ? node : 0);
  snprintf(path, sizeof(path), "%s/nodes/%u/name", topology_folder, node);
  write_file(path, "%s\n", t ? t->name : "");
  snprintf(path, sizeof(path), "%s/nodes/%u/properties", topology_folder, node);
  if (!t) {
    write_file(path, "cpu_cores_count %ld\nsimd_count 0\ngfx_target_version 0\n", sysconf(_SC_NPROCESSORS_ONLN));
    return;
  }
  // A compute unit has four SIMDs up to gfx9 and two since.
  write_file(path,
             "cpu_cores_count 0\nsimd_count %u\nlds_size_in_kb %u\nwave_front_size %u\nsimd_per_cu %u\n"
             "gfx_target_version %u\nvendor_id 4098\nlocation_id %u\ndomain 0\n",
             t->units * (t->major < 10 ? 4u : 2u), t->lds_kib, t->wave, t->major < 10 ? 4u : 2u,
             t->major * 10000u + t->minor * 100u + t->stepping, gpu_list_location(node - 1));
}

static void make_folder(void) {
  gpu_list_t list;
  uint32_t chosen[RUNTIME_MAX_GPUS];
  if (!gpu_list_read(&list, getenv("IREE_SOFTGPU_TARGET"), getenv("IREE_SOFTGPU_GPUS"))) return;
  uint32_t count = gpu_list_select(&list, getenv("ROCR_VISIBLE_DEVICES"), chosen);
  const char* temporary = getenv("TMPDIR");
  char path[TOPOLOGY_MAX_PATH];
  snprintf(topology_folder, sizeof(topology_folder), "%s/iree-softgpu-XXXXXX", temporary ? temporary : "/tmp");
  if (!mkdtemp(topology_folder)) {
    topology_folder[0] = 0;
    return;
  }
  topology_owner = getpid();
  topology_nodes = count + 1;
  snprintf(path, sizeof(path), "%s/nodes", topology_folder);
  mkdir(path, 0700);
  snprintf(path, sizeof(path), "%s/generation_id", topology_folder);
  write_file(path, "1\n");
  for (uint32_t node = 0; node < topology_nodes; ++node) write_node(node, node ? list.targets[chosen[node - 1]] : NULL);
}

const char* topology_path(const char* path, char out[TOPOLOGY_MAX_PATH]) {
  static const char* const roots[] = {"/sys/class/kfd/kfd/topology", "/sys/devices/virtual/kfd/kfd/topology"};
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  for (size_t i = 0; path && i < sizeof(roots) / sizeof(roots[0]); ++i) {
    size_t size = strlen(roots[i]);
    if (strncmp(path, roots[i], size) != 0 || (path[size] && path[size] != '/')) continue;
    pthread_once(&once, make_folder);
    if (!topology_folder[0]) return path;
    int length = snprintf(out, TOPOLOGY_MAX_PATH, "%s%s", topology_folder, path + size);
    return length < TOPOLOGY_MAX_PATH ? out : path;
  }
  return path;
}
