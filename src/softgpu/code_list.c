// The code that an engine knows, and kernels in it: found, forgotten, freed.
//
// Loaders tell of code and take it back. Other code is found where an allocation holds it; the program may write there
// what it likes, so it is compared when a dispatch begins, and forgotten with its allocation. What a dispatch may still
// be executing is freed when all that had begun by then have ended.
#include <stdio.h>
#include <stdlib.h>

#include "softgpu/kernel.h"

static code_t* make_code(engine_t* engine, const engine_code_t* given, bool is_known) {
  code_t* code = calloc(1, sizeof(*code));
  if (!code) return NULL;
  code->base = (uint64_t)given->base, code->size = given->size, code->given = *given, code->is_known = is_known;
  for (int i = 0; i < 2; ++i) {
    code->at[i] = calloc(given->size / 4 + 1, sizeof(inst_t*));
    if (!code->at[i]) return code_free(code), NULL;
  }
  code->next = engine->codes;
  engine->codes = code;
  return code;
}

code_t* code_find(engine_t* engine, uint64_t address) {
  for (code_t* code = engine->codes; code; code = code->next) {
    if (code_holds(code, address)) return code;
  }
  memory_range_t range;
  if (!engine->options.memory || !memory_map_find(engine->options.memory, address, &range)) return NULL;
  engine_code_t given = {.base = (const void*)range.base, .size = range.size};
  return address % 4 == 0 ? make_code(engine, &given, false) : NULL;
}

const inst_t* code_find_inst(engine_t* engine, uint32_t lanes, uint64_t address) {
  pthread_mutex_lock(&engine->lock);
  code_t* code = code_find(engine, address);
  const inst_t* inst = code ? code_decode(engine, code, lanes, address) : NULL;
  pthread_mutex_unlock(&engine->lock);
  return inst;
}

// Frees what was forgotten before every running launch began.
static void free_gone(engine_t* engine) {
  uint64_t oldest = UINT64_MAX;
  for (const launch_t* launch = engine->running; launch; launch = launch->other) {
    if (launch->number < oldest) oldest = launch->number;
  }
  for (code_t** at = &engine->gone; *at;) {
    code_t* code = *at;
    if (code->gone >= oldest) {
      at = &code->next;
      continue;
    }
    *at = code->next;
    code_free(code);
  }
}

// Takes code off the list, and its kernels.
static void forget(engine_t* engine, code_t** at) {
  code_t* code = *at;
  for (kernel_t** kernel = &engine->kernels; *kernel;) {
    kernel_t* gone = *kernel;
    if (gone->code != code) {
      kernel = &gone->next;
      continue;
    }
    *kernel = gone->next;
    free(gone);
  }
  *at = code->next;
  code->gone = engine->launches;
  code->next = engine->gone;
  engine->gone = code;
}

// Forgets code that no loader told of and that has bytes in the range.
static void forget_nameless(engine_t* engine, uint64_t base, uint64_t size) {
  for (code_t** at = &engine->codes; *at;) {
    code_t* code = *at;
    bool overlaps = code->base < base + size && base < code->base + code->size;
    if (!code->is_known && overlaps) {
      forget(engine, at);
    } else {
      at = &code->next;
    }
  }
}

void code_enter(engine_t* engine, launch_t* launch) {
  pthread_mutex_lock(&engine->lock);
  for (code_t** at = &engine->codes; *at;) {
    if (code_is_current(*at)) {
      at = &(*at)->next;
    } else {
      forget(engine, at);
    }
  }
  free_gone(engine);
  launch->number = ++engine->launches;
  launch->other = engine->running;
  engine->running = launch;
  pthread_mutex_unlock(&engine->lock);
}

void code_leave(engine_t* engine, launch_t* launch) {
  pthread_mutex_lock(&engine->lock);
  launch_t** at = &engine->running;
  while (*at != launch) at = &(*at)->other;
  *at = launch->other;
  free_gone(engine);
  pthread_mutex_unlock(&engine->lock);
}

bool engine_add_code(engine_t* engine, const engine_code_t* code) {
  pthread_mutex_lock(&engine->lock);
  forget_nameless(engine, (uint64_t)code->base, code->size);
  bool added = make_code(engine, code, true) != NULL;
  free_gone(engine);
  pthread_mutex_unlock(&engine->lock);
  return added;
}

void engine_remove_code(engine_t* engine, const void* base) {
  pthread_mutex_lock(&engine->lock);
  code_t** at = &engine->codes;
  while (*at && (!(*at)->is_known || (*at)->base != (uint64_t)base)) at = &(*at)->next;
  if (*at) {
    uint64_t size = (*at)->size;
    forget(engine, at);
    forget_nameless(engine, (uint64_t)base, size);
  }
  free_gone(engine);
  pthread_mutex_unlock(&engine->lock);
}

void engine_forget_memory(engine_t* engine, uint64_t base, uint64_t size) {
  pthread_mutex_lock(&engine->lock);
  forget_nameless(engine, base, size);
  free_gone(engine);
  pthread_mutex_unlock(&engine->lock);
}

static kernel_t* make_kernel(engine_t* engine, uint64_t address, const kernel_descriptor_t* descriptor,
                             engine_fault_t* fault) {
  bool wave32 = descriptor->properties >> 10 & 1;
  if (wave32 && !isa_has_wave32(engine->target)) {
    *fault = (engine_fault_t){.kind = ENGINE_FAULT_INVALID_KERNEL, .address = address};
    snprintf(fault->message, sizeof(fault->message), "kernel descriptor at 0x%llx: waves of 32 lanes, which %s has not",
             (unsigned long long)address, engine->target->name);
    return NULL;
  }
  uint64_t entry = address + (uint64_t)descriptor->entry_offset;
  // Firmware that preloads arguments skips the prologue that loads them (kernarg_preload, bits 6:0).
  if (descriptor->kernarg_preload & 127) entry += 256;
  code_t* code = code_find(engine, entry);
  const inst_t* inst = code ? code_decode(engine, code, wave32 ? 32 : 64, entry) : NULL;
  kernel_t* kernel = inst ? calloc(1, sizeof(*kernel)) : NULL;
  if (!kernel) {
    launch_refuse(fault, entry, "kernel descriptor at 0x%llx: no code at its entry 0x%llx", address, entry);
    return NULL;
  }
  *kernel = (kernel_t){.address = address,
                       .descriptor = *descriptor,
                       .code = code,
                       .entry = inst,
                       .lanes = wave32 ? 32 : 64,
                       .next = engine->kernels};
  engine->kernels = kernel;
  return kernel;
}

bool code_find_kernel(engine_t* engine, uint64_t address, kernel_t* out, engine_fault_t* fault) {
  kernel_descriptor_t descriptor;
  memcpy(&descriptor, (const void*)address, sizeof(descriptor));
  pthread_mutex_lock(&engine->lock);
  kernel_t* kernel = engine->kernels;
  while (kernel && (kernel->address != address || memcmp(&kernel->descriptor, &descriptor, sizeof(descriptor)) != 0)) {
    kernel = kernel->next;
  }
  if (!kernel) kernel = make_kernel(engine, address, &descriptor, fault);
  if (kernel) *out = *kernel;
  pthread_mutex_unlock(&engine->lock);
  return kernel;
}
