// Groups of graph ops that become one kernel each. Filled by fusion_group (fusion_group.c) and turned into
// graph.dispatch ops by form_dispatches.c.
//
// What a kernel can hold is said here once, for fusion and strategies alike: a group that is formed has a kernel whose
// size and cost grow with the group's, never with the number of paths through it.
#ifndef IREE_C_PASSES_FUSION_H_
#define IREE_C_PASSES_FUSION_H_

#include "dialects/graph.h"
#include "ir/pass.h"

typedef enum {
  FUSION_HOST,         // control flow, sizes, calls, return: stays in the host program
  FUSION_CONSTANT,     // data; splats are copied into each kernel
  FUSION_ELEMENTWISE,  // scalar functions
  FUSION_INDEX_MAP,    // elements of operands at other places: never needs memory of its own
  FUSION_REDUCE,       // rows: softmax, norms
  FUSION_HEAVY,        // everything else: one per kernel, with what can ride along
} fusion_class_t;
fusion_class_t fusion_class(const ir_op_t* op);

// The operand of which a dispatch changes some elements, which it reads for nothing else, or -1 (in_place.c).
int32_t dispatch_updated_operand(const ir_op_t* dispatch);

enum {
  FUSION_NO_GROUP = -1,
  FUSION_MAX_MEMBERS = 96,   // ops in a group
  FUSION_MAX_REDUCES = 8,    // of rows
  FUSION_MAX_MAPS = 24,      // index maps behind each other
  FUSION_MAX_CODE = 1024,    // evaluations of members in the kernel's text
  FUSION_MAX_BINDINGS = 60,  // tensors a kernel reads and writes (of IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT, 64)
  FUSION_MAX_NUMBERS = 30,   // it is given: sizes, scalars (of IREE_HAL_EXECUTABLE_MAX_CONSTANT_COUNT, 64 words)
  FUSION_MAX_OPERANDS = 16,  // of one op that can be split: even with a size each they leave room for other sizes
  FUSION_MAX_REPEAT = 24,    // additions that evaluating an element again may cost: a softmax has its powers twice
  FUSION_VIEWS = 8,          // told apart of a producer
  FUSION_ROOT_VIEWS = 33,    // of a group: sweeps over rows, and once a row
};

// How a member's coordinates relate to those of its group's root.
typedef enum {
  FUSION_SPACE_NONE,    // a producer: evaluated wherever it is needed
  FUSION_SPACE_FULL,    // rows: the shape that is reduced; others: the root's result
  FUSION_SPACE_OUTER,   // rows: without the reduced dimensions
  FUSION_SPACE_KEPT,    // rows: with the reduced dimensions as 1
  FUSION_SPACE_MAPPED,  // behind a transpose or reshape of FULL values
} fusion_space_t;

// Where a kernel evaluates a member: each view is a place in its text, the weight says how often an element is then
// evaluated there. Ops at the same coordinates share views, and with them what they evaluate.
typedef struct fusion_view_t {
  uint32_t id, weight;
} fusion_view_t;
typedef struct fusion_views_t {
  fusion_view_t items[FUSION_VIEWS];
  uint32_t count;
  bool overflow;  // more than there is room for
} fusion_views_t;

// Who uses an op's results, through producers that are copied into their users.
typedef struct fusion_uses_t {
  int32_t group;   // the one group of all users, or FUSION_NO_GROUP
  bool many;       // users in several groups
  bool must_keep;  // a user that needs it in memory
  uint32_t maps;   // most index maps behind each other on the way to the group's root
  fusion_views_t views;
} fusion_uses_t;

typedef struct fusion_node_t {
  ir_op_t* op;
  fusion_class_t class;
  int32_t index;  // position in the block
  int32_t group;  // or FUSION_NO_GROUP
  fusion_space_t space;
  bool is_inline;         // no group of its own: copied into every group that uses it
  bool has_users;         // inline: any
  bool waiting;           // form_dispatches: on its stack, after what it needs
  uint32_t visit;         // marks of searches
  uint32_t map;           // MAPPED: the view behind the index map
  uint32_t level;         // rows: sweeps that are over before it is known
  uint32_t sweeps;        // rows, FULL: bit of each sweep that evaluates it
  uint32_t cone;          // additions it takes to evaluate an element from memory, when loose
  uint32_t reach;         // cheap ops that would be copied with it
  uint32_t maps;          // see fusion_uses_t
  uint32_t outside_uses;  // of its results, by what is not in its group
  int32_t state_before;   // the last op before it that may store to globals, or -1
  fusion_views_t views;
} fusion_node_t;

typedef struct fusion_group_t {
  int32_t* members;
  uint32_t count, capacity;
  int32_t root;         // first member: heavy op, reduction, or any member of an elementwise group
  int32_t first, last;  // least and greatest position of a member
  bool is_rows;
  int64_t reduced[GRAPH_MAX_RANK];  // rows: reduced dimensions
  uint32_t reduced_count, reduces;
  uint32_t view;  // the root's; rows: of the first sweep
  uint32_t code;  // evaluations in the kernel's text
  uint32_t inputs, outputs, numbers;
  uint32_t visit;
  bool emitted, waiting;
} fusion_group_t;

typedef struct fusion_key_t {
  int32_t group;
  const ir_value_t* value;  // or NULL: a free slot
} fusion_key_t;

// What the program is for, as far as groups differ.
typedef struct fusion_target_t {
  bool gpu;  // GPUs only: they turn a right operand around on its way
} fusion_target_t;

typedef struct fusion_t {
  ir_context_t* ctx;
  fusion_target_t target;
  ir_block_t* block;
  fusion_node_t* nodes;
  int32_t node_count;
  fusion_group_t* groups;
  int32_t group_count, group_capacity;
  uint32_t visit;
  uint32_t view_count;
  int32_t* work;  // of searches
  uint32_t work_count, work_capacity;
  fusion_key_t* keys;  // what groups read
  uint32_t key_count, key_capacity;
} fusion_t;

// Assigns every op of the block to a group, or leaves it to the host. Sets op->data to its node. fusion_finish frees
// what it needed.
void fusion_group(fusion_t* fusion, ir_context_t* ctx, ir_block_t* block, const fusion_target_t* target);
void fusion_finish(fusion_t* fusion);
// pass_form_dispatches for a target; the pass is for any.
pass_result_t fusion_form_dispatches(ir_op_t* module, ir_context_t* ctx, const fusion_target_t* target);
static inline fusion_node_t* fusion_node(const ir_op_t* op) { return op ? op->data : NULL; }
// Whether the left operand has hardly any rows: a token or two.
bool fusion_has_few_rows(const ir_op_t* contract);
// Roots whose strategies hand out one element at a time, so that an epilogue can follow.
bool fusion_takes_epilogue(const ir_op_t* root);
// True for constants that are one number.
bool fusion_is_splat(const ir_op_t* op);
// Rows that are not empty: others are no sweeps over anything.
bool fusion_has_rows(const ir_value_t* reduced);
// Calls `visit` for each value from outside that `op` uses, in its regions too.
typedef void (*fusion_use_fn_t)(void* user, ir_value_t* value);
void fusion_each_use(const ir_op_t* op, fusion_use_fn_t visit, void* user);

// Dependence (fusion_depend.c): whether `op` may join the group: nothing it needs from outside needs the group. May
// say no for what lies far apart.
bool fusion_join_is_acyclic(fusion_t* f, const ir_op_t* op, int32_t group);

// Cost (fusion_cost.c) ------------------------------------------------------------------------------------------------
void fusion_cost_start(fusion_t* f, fusion_node_t* node);  // cone and reach, once operands' are known
// Where the user's evaluation needs the operand.
void fusion_add_views(fusion_t* f, const fusion_node_t* user, uint32_t operand, fusion_views_t* out);
// A producer whose users are all in one group: cheap enough to be evaluated where they need it.
bool fusion_may_repeat(const fusion_t* f, const fusion_node_t* node, const fusion_uses_t* uses);
// Rows: whether one more reduction of `operand` repeats little; then notes its sweep.
bool fusion_add_sweep(fusion_t* f, int32_t group, const ir_value_t* operand);
void fusion_start_rows(fusion_t* f, int32_t group, fusion_node_t* node);  // a member at the rows' coordinates

// Bindings (fusion_bindings.c): whether the kernel still has room for what `node` reads and writes; and noting it.
bool fusion_bindings_fit(fusion_t* f, int32_t group, const fusion_node_t* node);
void fusion_bindings_add(fusion_t* f, int32_t group, fusion_node_t* node);
// Notes what every kernel reads that a copy of `node` goes into. False, with nothing noted, when one has no room.
bool fusion_bindings_copy(fusion_t* f, const fusion_node_t* node);

#endif  // IREE_C_PASSES_FUSION_H_
