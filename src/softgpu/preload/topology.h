// The kernel driver's description of the machine's GPUs, below /sys/class/kfd, as files of this process (topology.c).
#ifndef IREE_C_SOFTGPU_PRELOAD_TOPOLOGY_H_
#define IREE_C_SOFTGPU_PRELOAD_TOPOLOGY_H_

enum { TOPOLOGY_MAX_PATH = 512 };

// Where to look for `path`: `out` when the path is of the description, else the path itself.
const char* topology_path(const char* path, char out[TOPOLOGY_MAX_PATH]);

#endif  // IREE_C_SOFTGPU_PRELOAD_TOPOLOGY_H_
