// See names.h; the tables are amd.def and nvidia.def.
#include "base/processors/names.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const processor_name_t amd_names[] = {
#define CODE_NAME(name, arch) {#name, #arch, 0},
#define SKU(name, arch, units) {#name, #arch, units},
#include "base/processors/amd.def"
};
static const processor_name_t nvidia_names[] = {
#define CODE_NAME(name, arch) {#name, #arch, 0},
#define SKU(name, arch, units) {#name, #arch, units},
#include "base/processors/nvidia.def"
};
static const struct {
  const processor_name_t* rows;
  uint32_t count;
} tables[] = {[PROCESSOR_AMD] = {amd_names, sizeof(amd_names) / sizeof(amd_names[0])},
              [PROCESSOR_NVIDIA] = {nvidia_names, sizeof(nvidia_names) / sizeof(nvidia_names[0])}};

const processor_name_t* processor_name_at(processor_vendor_t vendor, uint32_t index) {
  return index < tables[vendor].count ? &tables[vendor].rows[index] : NULL;
}

// The next character that counts, in lower case; 0 at the end.
static int next(const char** at) {
  *at += strspn(*at, " -_");
  return **at ? tolower((unsigned char)*(*at)++) : 0;
}

bool processor_name_is(const char* name, const char* given) {
  for (;;) {
    int c = next(&name);
    if (c != next(&given)) return false;
    if (!c) return true;
  }
}

const processor_name_t* processor_name_find(processor_vendor_t vendor, const char* name) {
  const processor_name_t* row = NULL;
  for (uint32_t i = 0; (row = processor_name_at(vendor, i)) && !processor_name_is(row->name, name);) ++i;
  return row;
}
