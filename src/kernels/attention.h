// Attention on GPUs as one kernel: what its files share. attention.c has the kernel, attention_scores.c what softmax is
// of, attention_plan.c the choice of instruction and tile, attention_tile.c the way of rows to workgroup memory and
// from there to fragments.
#ifndef IREE_C_KERNELS_ATTENTION_H_
#define IREE_C_KERNELS_ATTENTION_H_

#include "kernels/fragments.h"
#include "kernels/team.h"

enum {
  ATTENTION_MAX_HEAD = 256,      // columns of q, k and v
  ATTENTION_MAX_STEPS = 16,      // of the instruction for the keys of a group
  ATTENTION_MAX_FRAGMENTS = 64,  // of scores, or of the result
  ATTENTION_MAX_QUERIES = 256,   // fragments of queries in registers
  ATTENTION_MAX_PIECES = 64,     // of a thread
  ATTENTION_MAX_LOADS = 64,      // of a thread, in registers at once
  ATTENTION_MAX_BATCH = 4,       // fragments loaded at a time
  ATTENTION_MAX_JOINED = 4,      // steps of the instruction whose fragments of queries or keys are one load
};

// Rows of q, k or v (or of probabilities) in workgroup memory: element (row, column) is at
// (row / run) * stride + column * run + row % run, or where planes say within the stride; turned: at
// column * stride + row.
typedef struct attention_tile_t {
  ir_value_t* tensor;       // NULL: probabilities
  extent_t rows;            // of the tensor
  int64_t columns, padded;  // of the tensor; of the tile
  int64_t size;             // rows of the tile
  int64_t run, stride, elements;
  fragment_planes_t planes;
  bool turned;
  bool is_right, matrices;  // of the second product; fragments are loaded by kernel.load_matrix
  bool copies;              // loads are asynchronous copies
  product_side_t side;      // that fragments are of
  const ir_type_t* element;
  int64_t width;   // elements of a load
  int64_t pieces;  // of a thread
  int64_t part;    // loads of a piece, of as many rows of a run; neighbouring threads have the others
  ir_value_t* memory;
} attention_tile_t;

// An element of a fragment of scores: which fragment of the group, and which element of it.
typedef struct attention_score_t {
  int8_t block, element;
} attention_score_t;

typedef struct attention_t {
  fragments_t f;  // its product is the dispatch and batch, no more
  ir_op_t* op;
  ir_value_t *q, *k, *v, *mask;
  int32_t rank;
  extent_t batch, queries, keys;
  int64_t head, width;  // columns of q and k; of v and the result
  int64_t splits;       // 0: all keys in one workgroup
  bool causal;
  double scale;
  const ir_type_t *element, *multiplied;  // of the operands; of fragments: f32 where no instruction multiplies
  // Choice
  bool turned;                     // keys go down a fragment of scores, queries across
  bool direct;                     // scores become an operand where they are
  bool exchanged;                  // direct, once two halves of a subgroup have exchanged what they hold of a query
  int64_t query_size, other_size;  // of a fragment of scores: along the queries, along the keys
  int64_t waves, down;             // of a workgroup; fragments of queries of a wave
  int64_t tile_keys;
  int64_t registers;  // of a thread, about
  bool queries_held;  // in registers, else in workgroup memory
  bool async;         // keys and values are copied, not loaded and stored
  bool arranged;      // they go through registers to matrix instructions, in an order of our own
  int32_t joined;     // steps of the instruction whose fragments of queries and keys are loaded at once
  place_t frees[2][FRAGMENT_MAX_HELD], depths[2][FRAGMENT_MAX_HELD];  // of those, by side
  int64_t group, steps;  // keys that fragments of scores and steps of the instruction share
  attention_score_t from[ATTENTION_MAX_STEPS * FRAGMENT_MAX_HELD];  // direct: an operand's elements
  place_t key_places[ATTENTION_MAX_STEPS * FRAGMENT_MAX_HELD];      // keys of v's fragments in a group
  int64_t states;                                                   // queries of a lane in a fragment
  int8_t state[FRAGMENT_MAX_HELD];                                  // of an element of scores
  attention_tile_t q_tile, k_tile, v_tile, p_tile;
  // Kernel
  team_t team;
  linear_t coords[GRAPH_MAX_RANK];  // of the batch
  linear_t first_query, wave_query;
  ir_value_t* query_fragments[ATTENTION_MAX_QUERIES];
} attention_t;

// Whether the dispatch, or the op alone, is an attention that this strategy builds, and how.
bool attention_plan(attention_t* a, dispatch_t* d);

static inline int64_t attention_rows(const attention_t* a) { return a->waves * a->down * a->query_size; }
static inline product_side_t attention_side(const attention_t* a, bool queries) {
  return queries != a->turned ? PRODUCT_LEFT : PRODUCT_RIGHT;
}
static inline int64_t attention_depth_steps(const attention_t* a) { return ceil_div(a->head, a->f.row->k); }
static inline int64_t attention_key_blocks(const attention_t* a) { return a->tile_keys / a->other_size; }
static inline int64_t attention_result_blocks(const attention_t* a) { return ceil_div(a->width, a->other_size); }
static inline const place_t* attention_query_place(const attention_t* a, int32_t i) {
  return a->turned ? &a->f.c.column[i] : &a->f.c.row[i];
}
static inline const place_t* attention_other_place(const attention_t* a, int32_t i) {
  return a->turned ? &a->f.c.row[i] : &a->f.c.column[i];
}

static inline kernel_build_t* attention_kernel(attention_t* a) { return &a->f.product.d->k; }
static inline ir_value_t* attention_number_like(kernel_build_t* k, const ir_value_t* x, double value) {
  return kernel_number(&k->b, x->type, value);
}
// The first row of the wave's fragments y, in the tile of queries.
static inline linear_t attention_wave_row(attention_t* a, int64_t y) {
  linear_t row = a->wave_query;
  row.constant += y * a->query_size;
  return row;
}
// Scores are scaled with the exponential, where nothing is added to them.
static inline bool attention_scales_first(const attention_t* a) { return a->mask || a->scale <= 0; }
static inline ir_value_t* attention_multiply(attention_t* a, ir_value_t* queries, ir_value_t* others, ir_value_t* sum) {
  return a->turned ? fragment_multiply_add(&a->f, others, queries, sum)
                   : fragment_multiply_add(&a->f, queries, others, sum);
}

// What both halves of a subgroup have, that of the first one first (attention.c).
ir_value_t* attention_exchange_halves(attention_t* a, ir_value_t* own);

// Scores (attention_scores.c) -----------------------------------------------------------------------------------------

// Brings the tile's queries to where scores take them from.
void attention_hold_queries(attention_t* a);
// Of the keys in workgroup memory, the first of which is `first_key`: fragments of all the wave's queries, in turn.
void attention_scores(attention_t* a, linear_t first_key, ir_value_t** scores);
// Keys that a query sees: all, or up to its own, counted from the last of both.
ir_value_t* attention_seen_keys(attention_t* a, linear_t query);
// `at`, or where the last `width` elements begin.
linear_t attention_clamp(kernel_build_t* k, linear_t at, const extent_t* size, int64_t width);

// Tiles (attention_tile.c) --------------------------------------------------------------------------------------------

// Sets sizes and the place of the tile in workgroup memory; false when a thread would load too much.
bool attention_tile_plan(attention_t* a, attention_tile_t* t);
void attention_tile_alloc(attention_t* a, attention_tile_t* t);
// This thread's loads of the tile that begins at row `first`, in order; then what becomes of them.
uint32_t attention_tile_load(attention_t* a, const attention_tile_t* t, linear_t first, ir_value_t** out);
void attention_tile_store(attention_t* a, const attention_tile_t* t, ir_value_t* const* loads);
// Both at once: as asynchronous copies, which `copies` says are possible; or in any case, to be waited for.
void attention_tile_copy(attention_t* a, const attention_tile_t* t, linear_t first);
void attention_tile_bring(attention_t* a, const attention_tile_t* t, linear_t first);
// A fragment of `held` elements at rows[i], columns[i] from where it begins. `width`: of them lie one behind the other.
typedef struct attention_piece_t {
  linear_t row, column;
  const place_t *rows, *columns;
  int32_t held, width;
} attention_piece_t;
// Of queries or keys, those of joined steps.
static inline attention_piece_t attention_joined_piece(const attention_t* a, product_side_t side, linear_t row,
                                                       linear_t column) {
  int32_t held = fragment_held(&a->f, side)->count, run = fragment_run(&a->f, side);
  return (attention_piece_t){row, column, a->frees[side], a->depths[side], held * a->joined, run * a->joined};
}
ir_value_t* attention_tile_fragment(attention_t* a, const attention_tile_t* t, const attention_piece_t* piece);
// `count` of them, one behind the other across the depth: along the rows, of v along the columns.
void attention_tile_fragments(attention_t* a, const attention_tile_t* t, const attention_piece_t* piece, int64_t count,
                              ir_value_t** out);
// The key at a place of v's tile, which has the keys of a fragment in the order of the operand.
linear_t attention_placed_key(attention_t* a, linear_t place);
// How many of them are best loaded at a time.
int64_t attention_tile_batch(attention_t* a, const attention_tile_t* t);
// A fragment of queries, of joined steps, straight from memory.
ir_value_t* attention_query_fragment(attention_t* a, linear_t row, linear_t column);

#endif  // IREE_C_KERNELS_ATTENTION_H_
