// What IREE's HIP driver asks for and HIP 5.2 lacks, in front of libamdhip64.so.5, which gives all the rest:
// run_iree.py builds it as libamdhip64.so.
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { HIP_SUCCESS = 0, HIP_OUT_OF_MEMORY = 2, HIP_NOT_SUPPORTED = 801, CODE_OBJECT_V4 = 2 };

typedef struct ihipStream_t* hipStream_t;
int hipStreamAddCallback(hipStream_t stream, void (*callback)(hipStream_t, int, void*), void* data, unsigned flags);
int hipModuleLoadData(void** module, const void* image);

typedef struct call_t {
  void (*function)(void* data);
  void* data;
} call_t;

static void make_call(hipStream_t stream, int status, void* data) {
  call_t call = *(call_t*)data;
  free(data);
  call.function(call.data);
}

int hipLaunchHostFunc(hipStream_t stream, void (*function)(void*), void* data) {
  call_t* call = malloc(sizeof(*call));
  if (!call) return HIP_OUT_OF_MEMORY;
  *call = (call_t){function, data};
  return hipStreamAddCallback(stream, make_call, call, 0);
}

int hipDrvGraphAddMemcpyNode(void) { return HIP_NOT_SUPPORTED; }

// HIP 5.2 ends the process when memory that the GPU sees at the host's address is no longer registered; unregistered
// memory it copies all the same, and the software GPU reads all of the process.
int hipHostRegister(void* pointer, size_t size, unsigned flags) { return HIP_SUCCESS; }
int hipHostUnregister(void* pointer) { return HIP_SUCCESS; }
int hipHostGetDevicePointer(void** result, void* pointer, unsigned flags) {
  *result = pointer;
  return HIP_SUCCESS;
}

// HIP 5.2 reads code objects up to version 4; versions 5 and 6 differ from it in arguments that these kernels do
// without.
int hipModuleLoadDataEx(void** module, const void* image, unsigned count, const int* options, void** values) {
  const Elf64_Ehdr* header = image;
  size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
  unsigned char* copy = malloc(size);
  if (!copy) return HIP_OUT_OF_MEMORY;
  memcpy(copy, image, size);
  copy[EI_ABIVERSION] = CODE_OBJECT_V4;
  int status = hipModuleLoadData(module, copy);
  free(copy);
  return status;
}
