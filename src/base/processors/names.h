// Code names and products of GPUs, by which an architecture may be called.
#ifndef IREE_C_BASE_PROCESSORS_NAMES_H_
#define IREE_C_BASE_PROCESSORS_NAMES_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct processor_name_t {
  const char* name;  // "mi300x", "hopper"
  const char* arch;  // "gfx942", "sm_90"
  int units;         // compute units or multiprocessors of a product; 0: of no product
} processor_name_t;

typedef enum { PROCESSOR_AMD, PROCESSOR_NVIDIA } processor_vendor_t;

// Rows of CODE_NAME and SKU; NULL past the end.
const processor_name_t* processor_name_at(processor_vendor_t vendor, uint32_t index);
// NULL when there is no such name.
const processor_name_t* processor_name_find(processor_vendor_t vendor, const char* name);
// Case, blanks, '-' and '_' do not count.
bool processor_name_is(const char* name, const char* given);

#endif  // IREE_C_BASE_PROCESSORS_NAMES_H_
