// Runs a kernel's work-items on the CPU: each is a fiber; barriers and wave operations switch to the next one.
//
//   void host_run(kernel, arguments, groups, group size, lanes of a wave)
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

enum { HOST_MAX_ITEMS = 1024, HOST_STACK = 256 << 10 };
typedef void (*kernel_t)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static ucontext_t main_context, contexts[HOST_MAX_ITEMS];
static uint32_t current, current_group, size, lanes;
static int is_done[HOST_MAX_ITEMS];
static int32_t values[HOST_MAX_ITEMS];
static kernel_t kernel;
static const uint64_t* arguments;

uint32_t host_item(void) { return current; }
uint32_t host_group(void) { return current_group; }
uint32_t host_group_size(void) { return size; }
uint32_t host_lanes(void) { return lanes; }

// Every work-item runs up to its next switch before one runs on: a barrier of the workgroup, and of each wave too.
void host_barrier(void) { swapcontext(&contexts[current], &main_context); }

int32_t host_shuffle(int32_t value, uint32_t from) {
  values[current] = value;
  host_barrier();
  uint32_t other = current / lanes * lanes + from % lanes;
  int32_t result = values[other < size ? other : current];
  host_barrier();
  return result;
}

uint64_t host_ballot(int32_t value) {
  values[current] = value != 0;
  host_barrier();
  uint64_t mask = 0;
  uint32_t first = current / lanes * lanes;
  for (uint32_t i = 0; i < lanes && first + i < size; ++i) mask |= (uint64_t)(values[first + i] & 1) << i;
  host_barrier();
  return mask;
}

static void run_item(void) {
  const uint64_t* a = arguments;
  kernel(a[0], a[1], a[2], a[3], a[4], a[5]);
  is_done[current] = 1;
  swapcontext(&contexts[current], &main_context);
}

void host_run(kernel_t function, const uint64_t* function_arguments, uint32_t groups, uint32_t group_size,
              uint32_t wave_lanes) {
  static char* stacks;
  if (!stacks) stacks = malloc((size_t)HOST_MAX_ITEMS * HOST_STACK);
  kernel = function, arguments = function_arguments, size = group_size, lanes = wave_lanes;
  for (current_group = 0; current_group < groups; ++current_group) {
    for (uint32_t i = 0; i < size; ++i) {
      getcontext(&contexts[i]);
      contexts[i].uc_stack.ss_sp = stacks + (size_t)i * HOST_STACK;
      contexts[i].uc_stack.ss_size = HOST_STACK;
      contexts[i].uc_link = NULL;
      makecontext(&contexts[i], run_item, 0);
      is_done[i] = 0;
    }
    for (uint32_t left = size; left;) {
      for (uint32_t i = 0; i < size; ++i) {
        if (is_done[i]) continue;
        current = i;
        swapcontext(&main_context, &contexts[i]);
        left -= (uint32_t)is_done[i];
      }
    }
  }
}
