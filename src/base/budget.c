// Budgets of steps, time and memory.
#include "iree/base/budget.h"

#include <inttypes.h>
#include <string.h>

#include "iree/base/internal/atomics.h"

struct iree_budget_t {
  iree_atomic_ref_count_t ref_count;  // the owner's, and one for each allocation
  iree_allocator_t allocator;
  uint64_t max_memory;           // UINT64_MAX: any
  iree_atomic_uint64_t memory;   // taken
  iree_atomic_uint64_t steps;    // left; UINT64_MAX: any number
  iree_atomic_uint64_t granted;  // at the beginning
  iree_atomic_int64_t deadline_ns;
  iree_atomic_uint32_t code;  // why the work is stopped; OK: it is not
  iree_atomic_uint32_t has_stopped;
};

iree_status_t iree_budget_create(uint64_t max_memory, iree_allocator_t allocator, iree_budget_t** out_budget) {
  *out_budget = NULL;
  iree_budget_t* budget = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*budget), (void**)&budget));
  iree_atomic_ref_count_init(&budget->ref_count);
  budget->allocator = allocator;
  budget->max_memory = max_memory ? max_memory : UINT64_MAX;
  iree_budget_begin(budget, 0, IREE_TIME_INFINITE_FUTURE);
  *out_budget = budget;
  return iree_ok_status();
}

void iree_budget_retain(iree_budget_t* budget) {
  if (budget) iree_atomic_ref_count_inc(&budget->ref_count);
}

void iree_budget_release(iree_budget_t* budget) {
  if (budget && iree_atomic_ref_count_dec(&budget->ref_count) == 1) iree_allocator_free(budget->allocator, budget);
}

//===----------------------------------------------------------------------------------------------------------------===
// Steps and time
//===----------------------------------------------------------------------------------------------------------------===

void iree_budget_begin(iree_budget_t* budget, uint64_t max_steps, iree_time_t deadline_ns) {
  uint64_t steps = max_steps ? max_steps : UINT64_MAX;
  iree_atomic_store(&budget->granted, steps, iree_memory_order_relaxed);
  iree_atomic_store(&budget->steps, steps, iree_memory_order_relaxed);
  iree_atomic_store(&budget->deadline_ns, deadline_ns, iree_memory_order_relaxed);
  iree_atomic_store(&budget->code, IREE_STATUS_OK, iree_memory_order_release);
}

void iree_budget_stop(iree_budget_t* budget, iree_status_code_t code) {
  uint32_t none = IREE_STATUS_OK;
  iree_atomic_store(&budget->has_stopped, 1, iree_memory_order_relaxed);
  iree_atomic_compare_exchange_strong(&budget->code, &none, (uint32_t)code, iree_memory_order_acq_rel,
                                      iree_memory_order_relaxed);
}

iree_status_code_t iree_budget_code(iree_budget_t* budget) {
  iree_time_t deadline_ns = iree_budget_deadline_ns(budget);
  if (deadline_ns != IREE_TIME_INFINITE_FUTURE && iree_time_now() >= deadline_ns) {
    iree_budget_stop(budget, IREE_STATUS_DEADLINE_EXCEEDED);
  }
  return (iree_status_code_t)iree_atomic_load(&budget->code, iree_memory_order_acquire);
}

bool iree_budget_has_stopped(iree_budget_t* budget) {
  return iree_atomic_load(&budget->has_stopped, iree_memory_order_relaxed) != 0;
}

uint64_t iree_budget_take_steps(iree_budget_t* budget, uint64_t wanted) {
  if (iree_budget_code(budget) != IREE_STATUS_OK) return 0;
  uint64_t left = iree_atomic_load(&budget->steps, iree_memory_order_relaxed);
  for (uint64_t taken;;) {
    if (left == UINT64_MAX) return wanted;
    if (left == 0) {
      iree_budget_stop(budget, IREE_STATUS_RESOURCE_EXHAUSTED);
      return 0;
    }
    taken = left < wanted ? left : wanted;
    if (iree_atomic_compare_exchange_weak(&budget->steps, &left, left - taken, iree_memory_order_relaxed,
                                          iree_memory_order_relaxed)) {
      return taken;
    }
  }
}

void iree_budget_return_steps(iree_budget_t* budget, uint64_t steps) {
  if (!steps || iree_atomic_load(&budget->steps, iree_memory_order_relaxed) == UINT64_MAX) return;
  iree_atomic_fetch_add(&budget->steps, steps, iree_memory_order_relaxed);
}

iree_status_t iree_budget_check(iree_budget_t* budget) {
  iree_status_code_t code = iree_budget_code(budget);
  switch (code) {
    case IREE_STATUS_OK:
      return iree_ok_status();
    case IREE_STATUS_RESOURCE_EXHAUSTED:
      return iree_make_status(code, "stopped after %" PRIu64 " steps, as many as the call may take",
                              iree_atomic_load(&budget->granted, iree_memory_order_relaxed));
    case IREE_STATUS_DEADLINE_EXCEEDED:
      return iree_make_status(code, "stopped at the call's deadline");
    case IREE_STATUS_CANCELLED:
      return iree_make_status(code, "the call was cancelled");
    default:
      return iree_make_status(code, "the call was stopped");
  }
}

iree_time_t iree_budget_deadline_ns(iree_budget_t* budget) {
  return iree_atomic_load(&budget->deadline_ns, iree_memory_order_relaxed);
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_budget_take_memory(iree_budget_t* budget, uint64_t size) {
  uint64_t used = iree_atomic_load(&budget->memory, iree_memory_order_relaxed);
  do {
    if (size > budget->max_memory - used) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                              "%" PRIu64 " bytes are more than may be used: %" PRIu64 " of %" PRIu64 " are taken", size,
                              used, budget->max_memory);
    }
  } while (!iree_atomic_compare_exchange_weak(&budget->memory, &used, used + size, iree_memory_order_relaxed,
                                              iree_memory_order_relaxed));
  return iree_ok_status();
}

void iree_budget_return_memory(iree_budget_t* budget, uint64_t size) {
  iree_atomic_fetch_sub(&budget->memory, size, iree_memory_order_relaxed);
}

uint64_t iree_budget_memory_in_use(iree_budget_t* budget) {
  return iree_atomic_load(&budget->memory, iree_memory_order_relaxed);
}

bool iree_budget_has_memory_limit(iree_budget_t* budget) { return budget->max_memory != UINT64_MAX; }

// Before each allocation of the budget's allocator.
typedef struct charge_t {
  iree_alignas(16) uint64_t size;  // with this
} charge_t;

static iree_status_t charged_allocate(iree_budget_t* budget, iree_allocator_command_t command, uint64_t length,
                                      void** inout_ptr) {
  charge_t* charge = *inout_ptr && command == IREE_ALLOCATOR_COMMAND_REALLOC ? (charge_t*)*inout_ptr - 1 : NULL;
  uint64_t before = charge ? charge->size : 0, size = length + sizeof(*charge);
  if (size < length) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%" PRIu64 " bytes", length);
  if (size > before) IREE_RETURN_IF_ERROR(iree_budget_take_memory(budget, size - before));
  iree_allocator_alloc_params_t params = {size};
  void* ptr = charge;
  iree_status_t status = budget->allocator.ctl(budget->allocator.self, command, &params, &ptr);
  if (!iree_status_is_ok(status)) {
    if (size > before) iree_budget_return_memory(budget, size - before);
    return status;
  }
  if (size < before) iree_budget_return_memory(budget, before - size);
  if (!charge) iree_budget_retain(budget);
  charge = ptr;
  charge->size = size;
  *inout_ptr = charge + 1;
  return status;
}

static void charged_free(iree_budget_t* budget, void* ptr) {
  if (!ptr) return;
  charge_t* charge = (charge_t*)ptr - 1;
  iree_budget_return_memory(budget, charge->size);
  iree_allocator_free(budget->allocator, charge);
  iree_budget_release(budget);
}

static iree_status_t charged_ctl(void* self, iree_allocator_command_t command, const void* params, void** inout_ptr) {
  if (command == IREE_ALLOCATOR_COMMAND_FREE) {
    charged_free(self, *inout_ptr);
    return iree_ok_status();
  }
  return charged_allocate(self, command, ((const iree_allocator_alloc_params_t*)params)->byte_length, inout_ptr);
}

iree_allocator_t iree_budget_allocator(iree_budget_t* budget) { return (iree_allocator_t){budget, charged_ctl}; }
