// Constant evaluation for passes: the graph dialect's reference evaluator.
#ifndef IREE_C_PASSES_EVALUATE_H_
#define IREE_C_PASSES_EVALUATE_H_

#include "dialects/evaluate.h"

#endif  // IREE_C_PASSES_EVALUATE_H_
