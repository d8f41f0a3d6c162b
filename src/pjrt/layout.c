// The extension of layouts: how the elements of arguments, results and buffers lie. They lie in row-major order, all of
// them, so a layout is its rank. Without the extension, JAX translates a whole program to see that.
#include <stdio.h>

#include "pjrt/pjrt.h"

// A handle is the address of its rank's element.
struct PJRT_Layouts_MemoryLayout {
  char unused;
};
static struct PJRT_Layouts_MemoryLayout layouts[PJRT_MAX_RANK + 1];

PJRT_Layouts_MemoryLayout* pjrt_layout_of_rank(size_t rank) { return rank <= PJRT_MAX_RANK ? &layouts[rank] : NULL; }

static PJRT_Error* get(size_t rank, PJRT_Layouts_MemoryLayout** out_layout) {
  *out_layout = pjrt_layout_of_rank(rank);
  if (*out_layout) return NULL;
  return pjrt_error(PJRT_INVALID_ARGUMENT, "an array of rank %zu; at most %d is supported", rank, (int)PJRT_MAX_RANK);
}

static PJRT_Error* destroy(PJRT_Layouts_MemoryLayout_Destroy_Args* args) {
  (void)args;
  return NULL;
}

// XLA's text, the fastest dimension first: {2,1,0}.
static PJRT_Error* serialize(PJRT_Layouts_MemoryLayout_Serialize_Args* args) {
  size_t rank = (size_t)(args->layout - layouts), capacity = 3 * rank + 3, size = 0;
  char* text = malloc(capacity);
  if (!text) return pjrt_no_memory();
  text[size++] = '{';
  for (size_t i = rank; i > 0; --i) {
    size += (size_t)snprintf(text + size, capacity - size, i > 1 ? "%zu," : "%zu", i - 1);
  }
  text[size++] = '}';
  args->bytes = args->owner = text;
  args->bytes_size = size;
  args->deleter = free;
  return NULL;
}

static PJRT_Error* of_client(PJRT_Layouts_Default_Args* args) { return get(args->num_dims, &args->layout); }

static PJRT_Error* of_buffer(PJRT_Layouts_Buffer_Args* args) { return get(args->buffer->rank, &args->layout); }

static PJRT_Error* of_results(PJRT_Layouts_Executable_Args* args) {
  const pjrt_program_t* program = args->executable->program;
  args->layouts = program->layouts + program->signature.argument_count;
  args->count = program->signature.result_count;
  return NULL;
}

static PJRT_Error* of_arguments(PJRT_Layouts_Executable_Args* args) {
  const pjrt_program_t* program = args->executable->program;
  args->layouts = program->layouts;
  args->count = program->signature.argument_count;
  return NULL;
}

const PJRT_Layouts_Extension pjrt_layouts_extension = {
    .struct_size = sizeof(PJRT_Layouts_Extension),
    .type = PJRT_EXTENSION_LAYOUTS,
    .MemoryLayout_Destroy = destroy,
    .MemoryLayout_Serialize = serialize,
    .Client_GetDefaultLayout = of_client,
    .Buffer_MemoryLayout = of_buffer,
    .Topology_GetDefaultLayout = of_client,
    .Executable_GetOutputLayouts = of_results,
    .Executable_GetParameterLayouts = of_arguments,
};
