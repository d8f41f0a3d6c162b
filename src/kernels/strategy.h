// Strategies: how a dispatch becomes a kernel. Each is one file and one or two rows of strategies.def; the cheapest of
// those that propose one builds it (candidates.h). `map` takes everything the evaluator knows (eval.h).
#ifndef IREE_C_KERNELS_STRATEGY_H_
#define IREE_C_KERNELS_STRATEGY_H_

#include "kernels/eval.h"

enum { KERNEL_MAX_RULE = 3 + GRAPH_MAX_RANK };

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A dispatch whose kernel is being built.
typedef struct dispatch_t {
  ir_context_t* ctx;
  ir_op_t* op;  // graph.dispatch
  ir_block_t* body;
  ir_op_t* yield;
  ir_op_t* root;  // its heavy op or first reduction, or NULL
  const device_info_t* device;
  kernel_build_t k;
  const int64_t* sizes;   // numbers of the operands that are run-time sizes: of each '?' of operands, then results
  int64_t workgroups[3];  // strategies set this; 1, 1, 1 at first
  // Workgroups along x when they depend on run-time sizes, or none: {factor, divisor, most, numbers of sizes ...}
  // stands for min(ceil(factor * sizes / divisor), most), at least 1.
  int64_t rule[KERNEL_MAX_RULE];
  uint32_t rule_count;
  ir_value_t** outputs;  // per yielded value: a tensor whose source is the output's memory
  bool overwrites;       // outputs may be where operands are (passes/donation.c): each element is made once
} dispatch_t;

// What a strategy says of a dispatch.
typedef struct candidate_t {
  double factor;    // how many times as long as the device needs at least this takes; its row's to begin with
  const char* why;  // it declines: a part of a sentence, without a period
} candidate_t;
// Whether the strategy builds a kernel for the dispatch, whose root is one of its row; and its kernel's body, with the
// builder in the entry block.
#define STRATEGY(name, device, factor, overwrites, ...)                 \
  bool strategy_##name##_proposes(const dispatch_t* d, candidate_t* c); \
  void strategy_##name##_build(dispatch_t* d);
#include "kernels/strategies.def"
// False, with why.
bool candidate_declines(candidate_t* c, const char* why);
// Whether all ops but the root that is given (or NULL) have elements (eval.h), or else why not.
bool candidate_evaluates(const dispatch_t* d, const ir_op_t* but, candidate_t* c);
// Whether attention builds a kernel for the op, wherever that stands.
bool strategy_attention_carries(ir_context_t* ctx, const ir_op_t* op, const device_info_t* device);

// The kernel of one dispatch.
typedef struct kernel_plan_t {
  ir_op_t* func;  // kernel.func
  int64_t workgroups[3];
  int64_t rule[KERNEL_MAX_RULE];  // see dispatch_t
  uint32_t rule_count;
  const char* strategy;
  bool overwrites;   // as the dispatch asked for
  double cycles;     // of the device that it should take
  const char* slow;  // why better strategies declined; NULL: it is not slow
} kernel_plan_t;
enum { GPU_WORKGROUP = 128 };
// Appends the kernel to `into`. Bindings are the dispatch's operands, then its results. False after a diagnostic.
bool kernels_build(ir_context_t* ctx, const ir_op_t* original, ir_block_t* into, const device_info_t* device,
                   kernel_plan_t* out);

// Workgroups along x: min(ceil(count / divisor), most), at least 1 (dispatch_t.rule).
void dispatch_set_rule(dispatch_t* d, const extent_t* count, int64_t divisor, int64_t most);

// Shared pieces -------------------------------------------------------------------------------------------------------

// Independent iterations 0 .. count-1, shared out among workgroups (CPU: a loop over this workgroup's part; GPU: one
// per thread). Between begin and end, `index` is the iteration.
typedef struct iterations_t {
  kernel_loop_t loop;
  kernel_branch_t branch;
  bool has_loop, has_branch;
  linear_t index;
} iterations_t;
// `grain`: least number of iterations worth a workgroup on a CPU.
iterations_t iterations_begin(dispatch_t* d, int64_t count, int64_t grain);
// The same for a count that may be known at run time only; `cost`: a guess at an iteration's scalar operations.
iterations_t iterations_dynamic(dispatch_t* d, const extent_t* count, int64_t cost);
// The part [lower, upper) of a run-time count that is this workgroup's (CPUs): lower a multiple of `block`.
typedef struct share_t {
  ir_value_t *lower, *upper;
} share_t;
share_t iterations_share(dispatch_t* d, const extent_t* count, int64_t cost, int64_t block);
void iterations_end(dispatch_t* d, iterations_t* it);
// Row-major coordinates of a position.
void iterations_split(kernel_build_t* k, linear_t position, const int64_t* sizes, int32_t rank, linear_t* coords);
void iterations_split_extents(kernel_build_t* k, linear_t position, const extent_t* sizes, int32_t rank,
                              linear_t* coords);

// Vector lanes a CPU kernel of this dispatch should use for `size` consecutive elements: registers' width for the
// widest element type, less when there are fewer elements.
int64_t dispatch_lanes(const dispatch_t* d, int64_t size);
int64_t dispatch_extent_lanes(const dispatch_t* d, const extent_t* size);
// The same of several registers, for vectors that go from line to line: what lies side by side comes from memory at
// once.
int64_t dispatch_wide_lanes(const dispatch_t* d, const extent_t* size);
// Rough number of scalar operations per element of the dispatch's largest value.
int64_t dispatch_cost(const dispatch_t* d);
// Scalar operations of all its values, roughly.
double dispatch_operations(const dispatch_t* d);

// After the root's results, or those that are wanted, have been bound (eval_set_bound) at `coords`: computes what
// follows them and stores every output. All but `root` are free again then.
void epilogue_store(dispatch_t* d, ir_value_t* root, const linear_t* coords);
// Whether that is so much code that it is better in a loop than unrolled.
bool epilogue_is_long(const dispatch_t* d);

// Calls `body` for vectors of `lanes` over [0, size): whole ones in a loop, then the rest with a mask (or one by one).
typedef void (*strip_body_fn_t)(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user);
void strips(dispatch_t* d, int64_t size, int64_t lanes, ir_value_t** accumulators, uint32_t accumulator_count,
            strip_body_fn_t body, void* user);
// The same over [low, high) without masks or accumulators: the last vector starts where it ends with the range, so that
// some elements are computed twice.
typedef struct strip_call_t strip_call_t;
void strips_whole(dispatch_t* d, int64_t low, int64_t high, int64_t lanes, const strip_call_t* call);
// The same as strips over a range known at run time. With accumulators the device needs masks, or lanes must be 1, or
// there must be a function for what whole vectors leave of the range.
struct strip_call_t {
  strip_body_fn_t body;
  void* user;
  void (*rest)(dispatch_t* d, share_t part, ir_value_t** accumulators, void* user);  // without masks; may be NULL
};
void strips_between(dispatch_t* d, share_t part, int64_t lanes, ir_value_t** accumulators, uint32_t accumulator_count,
                    const strip_call_t* call);
void strips_extent(dispatch_t* d, const extent_t* size, int64_t lanes, ir_value_t** accumulators,
                   uint32_t accumulator_count, const strip_call_t* call);
// vector<lanes x i1>, true for lane < count.
ir_value_t* lane_mask(kernel_build_t* k, int64_t lanes, int64_t count);
// The same for a count that is an index value.
ir_value_t* lanes_below(kernel_build_t* k, int64_t lanes, ir_value_t* count);

#endif  // IREE_C_KERNELS_STRATEGY_H_
