// The decoder of the software GPU: no bytes may crash it, whatever they are said to be code of. The first byte picks
// target and wave size, the rest is code; it is decoded from its first word and from one in its middle.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const names[] = {"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx950", "gfx900"};
  static engine_t* engines[sizeof(names) / sizeof(names[0])];
  if (size < 5) return 0;
  uint32_t which = data[0] % (sizeof(names) / sizeof(names[0]));
  if (!engines[which]) {
    text_t error = {0};
    engine_options_t options = {.target = isa_target_find(names[which])};
    engines[which] = engine_create(&options, &error);
    if (!engines[which]) abort();
  }
  engine_t* engine = engines[which];
  uint32_t lanes = isa_has_wave32(engine->target) && !(data[0] & 128) ? 32 : 64;
  size_t code_size = (size - 1) & ~(size_t)3;
  uint8_t* code = aligned_alloc(4, code_size);
  memcpy(code, data + 1, code_size);
  engine_add_code(engine, &(engine_code_t){.base = code, .size = code_size, .name = "fuzz"});
  if (!code_find_inst(engine, lanes, (uint64_t)code)) abort();
  if (!code_find_inst(engine, lanes, (uint64_t)code + code_size / 8 * 4)) abort();
  engine_remove_code(engine, code);
  free(code);
  return 0;
}
