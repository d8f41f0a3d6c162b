// What code that nobody trusts may use: steps, time and memory. One budget is shared by all threads that work for its
// owner (a VM context); counted, and safe to use from any of them. Not part of IREE's API.

#ifndef IREE_BASE_BUDGET_H_
#define IREE_BASE_BUDGET_H_

#include "iree/base/allocator.h"
#include "iree/base/status.h"
#include "iree/base/time.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef struct iree_budget_t iree_budget_t;

// `max_memory` in bytes; 0: any.
IREE_API_EXPORT iree_status_t iree_budget_create(uint64_t max_memory, iree_allocator_t allocator,
                                                 iree_budget_t** out_budget);
IREE_API_EXPORT void iree_budget_retain(iree_budget_t* budget);
IREE_API_EXPORT void iree_budget_release(iree_budget_t* budget);

// Work begins that may take so many steps (0: any) and must end by `deadline_ns`; forgets why earlier work was stopped.
IREE_API_EXPORT void iree_budget_begin(iree_budget_t* budget, uint64_t max_steps, iree_time_t deadline_ns);
// Stops the work: no more steps are given, and iree_budget_check fails with `code`. The first reason counts.
IREE_API_EXPORT void iree_budget_stop(iree_budget_t* budget, iree_status_code_t code);

// Whether any work was stopped, also earlier work.
IREE_API_EXPORT bool iree_budget_has_stopped(iree_budget_t* budget);

// Takes up to `wanted` steps. 0 when there are none left, the deadline has passed or the work was stopped:
// iree_budget_check says why. What was not used can be given back.
IREE_API_EXPORT uint64_t iree_budget_take_steps(iree_budget_t* budget, uint64_t wanted);
IREE_API_EXPORT void iree_budget_return_steps(iree_budget_t* budget, uint64_t steps);

// OK while work may go on; else DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED (steps), or what the work was stopped with.
IREE_API_EXPORT iree_status_t iree_budget_check(iree_budget_t* budget);
// The same as a code, without the text.
IREE_API_EXPORT iree_status_code_t iree_budget_code(iree_budget_t* budget);
IREE_API_EXPORT iree_time_t iree_budget_deadline_ns(iree_budget_t* budget);

// Takes memory. RESOURCE_EXHAUSTED when there is not as much left.
IREE_API_EXPORT iree_status_t iree_budget_take_memory(iree_budget_t* budget, uint64_t size);
IREE_API_EXPORT void iree_budget_return_memory(iree_budget_t* budget, uint64_t size);
// What is taken now.
IREE_API_EXPORT uint64_t iree_budget_memory_in_use(iree_budget_t* budget);
IREE_API_EXPORT bool iree_budget_has_memory_limit(iree_budget_t* budget);
// An allocator whose memory counts. What it allocated may outlive the owner of the budget.
IREE_API_EXPORT iree_allocator_t iree_budget_allocator(iree_budget_t* budget);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_BASE_BUDGET_H_
