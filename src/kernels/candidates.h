// Candidates for a dispatch's kernel: each strategy whose row (strategies.def) has the root proposes one, or says why
// not. The cheapest is built. What it should cost is the least time that the device needs for the dispatch, for its
// memory or its operations, times the strategy's factor; so costs order the candidates of a dispatch, and are rough as
// times.
#ifndef IREE_C_KERNELS_CANDIDATES_H_
#define IREE_C_KERNELS_CANDIDATES_H_

#include "kernels/strategy.h"

typedef struct strategy_t {
  const char* name;
  device_kind_t kind;
  double factor;
  bool overwrites;  // it knows dispatch_t.overwrites
  int roots[4];
  bool (*proposes)(const dispatch_t* d, candidate_t* c);
  // Fills the kernel's body; the builder stands in the entry block.
  void (*build)(dispatch_t* d);
} strategy_t;

// The candidate to build: the cheapest, or the one that the device's flag forces, where it proposes. NULL where there
// is none.
const strategy_t* candidates_choose(const dispatch_t* d, candidate_t* out);
// Cycles that the device needs at least, roughly; the kernel has been begun, so that sizes are known or guessed.
double candidates_least_cycles(const dispatch_t* d);
// Prints all candidates on standard error, each with its cycles or why it declines.
void candidates_list(const dispatch_t* d, const strategy_t* chosen);
// Why better strategies for the root declined, where the chosen one is slow: "matrix: sentence; ...", else NULL.
const char* candidates_explain(const dispatch_t* d, const strategy_t* chosen, double factor);

// Whether there is such a strategy; names number `index`, or NULL past the last.
bool candidates_know(const char* name);
const char* candidates_name(size_t index);

#endif  // IREE_C_KERNELS_CANDIDATES_H_
