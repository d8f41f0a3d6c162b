// What the instructions that access memory do, for both interpreters: the runtime's, which only asks where the elements
// are, and the checking one, which also looks for races. Each brings its `locate`, which is compiled into its copy.
#ifndef MODULE_VMVX_ACCESS_H_
#define MODULE_VMVX_ACCESS_H_

#include <string.h>

#include "module/vmvx.h"

typedef enum {
  VMVX_READ,
  VMVX_WRITE,
  VMVX_ATOMIC,
  VMVX_ASYNC  // a write that comes later
} vmvx_access_kind_t;

typedef struct vmvx_access_t {
  uint32_t memory, thread;
  int64_t offset;  // elements
  uint32_t lanes;  // elements
  uint32_t align;  // bytes
  vmvx_access_kind_t kind;
  const uint8_t* value;  // the element that VMVX_WRITE writes, when it is one
} vmvx_access_t;

// Where the elements of an access are, or NULL when it must not happen. Those of VMVX_ATOMIC must lie at a multiple of
// their size, which is what processors can do at once.
typedef uint8_t* (*vmvx_locate_fn_t)(void* self, const vmvx_access_t* access);

// An instruction at work. Lane l of thread t is element l * threads + t of a register, as for vmvx_eval.
typedef struct vmvx_step_t {
  const vmvx_function_t* function;
  const vmvx_instr_t* instr;
  uint8_t* frame;
  uint32_t threads;
  const uint8_t* mask;    // of the threads; NULL: all act
  bool stores_each_lane;  // stores come to `locate` an element at a time
  void* self;             // for `locate`
} vmvx_step_t;

// Inlined, so that `locate` and constants of the step are known to the compiler.
#define VMVX_INLINE static inline __attribute__((always_inline))

VMVX_INLINE const vmvx_register_t* vmvx_step_register(const vmvx_step_t* s, uint32_t i) {
  return &s->function->registers[s->instr->x[i]];
}
VMVX_INLINE uint8_t* vmvx_step_lane(const vmvx_step_t* s, uint32_t i, uint32_t lane, uint32_t thread) {
  const vmvx_register_t* r = vmvx_step_register(s, i);
  return s->frame + (size_t)r->offset * s->threads + ((size_t)lane * s->threads + thread) * r->bytes;
}

// Operand `i` as the offset of all lanes, and of one of them.
VMVX_INLINE int64_t vmvx_step_index(const vmvx_step_t* s, uint32_t i, uint32_t thread) {
  int64_t value;
  memcpy(&value, vmvx_step_lane(s, i, 0, thread), 8);
  return value;
}
VMVX_INLINE int64_t vmvx_step_offset(const vmvx_step_t* s, uint32_t i, uint32_t lane, uint32_t thread) {
  int64_t value;
  vmvx_to_integers(vmvx_step_register(s, i)->type, vmvx_step_lane(s, i, lane, thread), &value, 1);
  return value;
}

VMVX_INLINE void vmvx_copy_element(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  switch (bytes) {
    case 1:
      *to = *from;
      break;
    case 2:
      memcpy(to, from, 2);
      break;
    case 4:
      memcpy(to, from, 4);
      break;
    default:
      memcpy(to, from, 8);
  }
}

static const uint8_t vmvx_zeros[8];

// All lanes of one thread at once. What must not be read is 0.
VMVX_INLINE bool vmvx_access_whole(const vmvx_step_t* s, vmvx_locate_fn_t locate, uint32_t thread, bool stores) {
  const vmvx_register_t* r = vmvx_step_register(s, 0);
  vmvx_access_t access = {s->instr->x[1],
                          thread,
                          vmvx_step_index(s, 2, thread),
                          r->lanes,
                          s->instr->x[3],
                          stores ? VMVX_WRITE : VMVX_READ,
                          r->lanes == 1 ? vmvx_step_lane(s, 0, 0, thread) : NULL};
  uint8_t* data = locate(s->self, &access);
  if (!data && stores) return false;
  if (data && s->threads == 1) {
    uint8_t* value = vmvx_step_lane(s, 0, 0, 0);
    memcpy(stores ? data : value, stores ? value : data, (size_t)r->lanes * r->bytes);
    return true;
  }
  for (uint32_t lane = 0; lane < r->lanes; ++lane) {
    uint8_t *value = vmvx_step_lane(s, 0, lane, thread), *element = data ? data + (size_t)lane * r->bytes : NULL;
    if (stores) vmvx_copy_element(element, value, r->bytes);
    if (!stores) vmvx_copy_element(value, element ? element : vmvx_zeros, r->bytes);
  }
  return data != NULL;
}

VMVX_INLINE bool vmvx_access_lane(const vmvx_step_t* s, vmvx_locate_fn_t locate, vmvx_access_t* access,
                                  uint8_t* value) {
  uint32_t bytes = vmvx_step_register(s, 0)->bytes;
  bool stores = access->kind == VMVX_WRITE;
  access->value = value;
  uint8_t* data = locate(s->self, access);
  if (stores && data) vmvx_copy_element(data, value, bytes);
  if (!stores) vmvx_copy_element(value, data ? data : vmvx_zeros, bytes);
  return data != NULL;
}

// Lane by lane: gathers, scatters, and everything with a mask.
VMVX_INLINE bool vmvx_access_lanes(const vmvx_step_t* s, vmvx_locate_fn_t locate, uint32_t thread, uint32_t form) {
  const vmvx_register_t* r = vmvx_step_register(s, 0);
  bool stores = form & VMVX_FORM_STORE, ok = true;
  int64_t first = form & VMVX_FORM_LANES ? 0 : vmvx_step_index(s, 2, thread);
  vmvx_access_t access = {s->instr->x[1], thread, 0, 1, 1, stores ? VMVX_WRITE : VMVX_READ, NULL};
  for (uint32_t lane = 0; lane < r->lanes; ++lane) {
    uint8_t* value = vmvx_step_lane(s, 0, lane, thread);
    if ((form & VMVX_FORM_MASKED) && !*vmvx_step_lane(s, 3, lane, thread)) {
      if (!stores) vmvx_copy_element(value, vmvx_step_lane(s, 4, lane, thread), r->bytes);
      continue;
    }
    // Behind the last number there is no element: what is left of the sum lies outside of any memory, too.
    access.offset = form & VMVX_FORM_LANES ? vmvx_step_offset(s, 2, lane, thread) : (int64_t)((uint64_t)first + lane);
    if (!vmvx_access_lane(s, locate, &access, value)) ok = false;
  }
  return ok;
}

// Loads, stores, gathers and scatters, with and without mask, as the instruction's `form` says. False when an access
// did not happen; the others did.
VMVX_INLINE bool vmvx_step_access(const vmvx_step_t* s, vmvx_locate_fn_t locate, uint32_t form) {
  const vmvx_register_t* r = vmvx_step_register(s, 0);
  bool stores = form & VMVX_FORM_STORE, ok = true;
  bool whole = !(form & (VMVX_FORM_MASKED | VMVX_FORM_LANES)) && !(stores && s->stores_each_lane);
  for (uint32_t t = 0; t < s->threads; ++t) {
    if (s->mask && !s->mask[t]) continue;
    if (!(whole ? vmvx_access_whole(s, locate, t, stores) : vmvx_access_lanes(s, locate, t, form))) ok = false;
  }
  if (!stores) vmvx_normalize(r->type, r->width, vmvx_step_lane(s, 0, 0, 0), (size_t)r->lanes * s->threads);
  return ok;
}

// The old element, or 0 when the access must not happen, is the result.
VMVX_INLINE bool vmvx_step_atomic(const vmvx_step_t* s, vmvx_locate_fn_t locate) {
  const vmvx_register_t* r = vmvx_step_register(s, 0);
  const uint32_t* x = s->instr->x;
  bool ok = true;
  for (uint32_t t = 0; t < s->threads; ++t) {
    if (s->mask && !s->mask[t]) continue;
    vmvx_access_t access = {x[2], t, vmvx_step_index(s, 3, t), 1, r->bytes, VMVX_ATOMIC, NULL};
    uint8_t* data = locate(s->self, &access);
    uint64_t old = data ? vmvx_eval_atomic(x[4], &s->function->memories[x[2]], data, vmvx_step_lane(s, 1, 0, t)) : 0;
    vmvx_copy_element(vmvx_step_lane(s, 0, 0, t), (const uint8_t*)&old, r->bytes);
    if (!data) ok = false;
  }
  vmvx_normalize(r->type, r->width, vmvx_step_lane(s, 0, 0, 0), s->threads);
  return ok;
}

#endif  // MODULE_VMVX_ACCESS_H_
