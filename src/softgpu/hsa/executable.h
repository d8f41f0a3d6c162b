// Executables: code objects loaded for agents, and their symbols. executable.c makes them, executable_symbols.c answers
// what symbols are, executable_loader.c is the extension that looks into them.
#ifndef IREE_C_SOFTGPU_HSA_EXECUTABLE_H_
#define IREE_C_SOFTGPU_HSA_EXECUTABLE_H_

#include "softgpu/hsa/code_object.h"

typedef struct executable_reader_t {
  uint8_t* data;  // own copy, aligned
  size_t size;
} executable_reader_t;

// A code object that was loaded for an agent.
typedef struct executable_loaded_t {
  agent_t* agent;
  struct executable_t* executable;
  uint8_t* file;  // own copy
  code_object_t object;
  uint8_t* image;
  struct executable_loaded_t* next;
} executable_loaded_t;

typedef struct executable_symbol_t {
  executable_loaded_t* loaded;  // NULL: defined by the user
  const agent_t* agent;
  char* name;
  code_object_symbol_t of;
  code_object_kernel_t kernel;
  uint64_t address;
  struct executable_symbol_t* next;
} executable_symbol_t;

typedef struct executable_t {
  executable_loaded_t* loaded;
  executable_symbol_t* symbols;
  bool is_frozen;
  struct executable_t* next;
} executable_t;

// All executables of the process. Lists inside one are not locked: whoever loads into it does not look into it
// meanwhile.
typedef struct executable_list_t {
  pthread_mutex_t lock;
  executable_t* first;
} executable_list_t;
extern executable_list_t executable_list;

// NULL when the handle is none.
executable_t* executable_of(hsa_executable_t handle);

// The symbol that an agent sees, any agent's when NULL; NULL when there is none.
executable_symbol_t* executable_find_symbol(const executable_t* executable, const char* name, const agent_t* agent);

// A reader with room for `size` bytes.
hsa_status_t executable_reader_create(size_t size, executable_reader_t** out);

#endif  // IREE_C_SOFTGPU_HSA_EXECUTABLE_H_
