// TfIdfVectorizer: how often each n-gram of a pool occurs in a sequence, with gaps of up to max_skip_count between its
// items. For each length and gap, all windows of the sequence are compared with all n-grams of the length.
#include <string.h>

#include "import/onnx/ml.h"
#include "import/onnx/names.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/strings.h"

enum { MAX_GRAM = 64, MAX_POOL = 1 << 24, MAX_ITEMS = 1 << 14 };  // items: those of all n-grams, gap by gap

typedef struct ngrams_t {
  onnx_node_t* n;
  int64_t shortest, longest, skips, columns;
  int64_t items;                                       // compared so far
  const ir_attr_t *pool, *starts, *indexes, *weights;  // lists
  ir_value_t* x;                                       // [rows, length or more], i64
  onnx_dim_t length;
} ngrams_t;

static const ir_attr_t* read_ints(onnx_node_t* n, const char* name) {
  const ir_attr_t* list = onnx_attr(n, name);
  bool fits = list && list->kind == IR_ATTR_ARRAY && list->count <= MAX_POOL;
  for (uint32_t i = 0; fits && i < list->count; ++i) fits = list->items[i]->kind == IR_ATTR_INTEGER;
  return fits ? list : (onnx_error(n, "attribute '%s' must be a list of integers", name), NULL);
}

// The pool's strings as numbers: where each is for the last time.
static const ir_attr_t* number_strings(onnx_node_t* n) {
  const ir_attr_t* list = onnx_attr(n, "pool_strings");
  arena_t* arena = ir_context_arena(n->ctx);
  bool fits = list && list->kind == IR_ATTR_ARRAY && list->count <= MAX_POOL;
  for (uint32_t i = 0; fits && i < list->count; ++i) fits = list->items[i]->kind == IR_ATTR_STRING;
  if (!fits) return onnx_error(n, "attribute 'pool_strings' must be a list of strings"), NULL;
  const ir_attr_t** numbers = ARENA_ARRAY(arena, const ir_attr_t*, (size_t)list->count + 1);
  onnx_names_t* places = onnx_names_create(arena, NULL);
  for (uint32_t i = list->count; i-- > 0;) {
    ir_name_t name = ir_intern(n->ctx, list->items[i]->text, list->items[i]->size);
    if (!onnx_names_has(places, name))
      onnx_names_set(places, name, (void*)ir_attr_integer(n->ctx, onnx_si64(n->ctx), i));
    numbers[i] = onnx_names_get(places, name);
  }
  return ir_attr_array(n->ctx, numbers, list->count);
}

static bool read_attributes(ngrams_t* g) {
  onnx_node_t* n = g->n;
  g->shortest = onnx_int(n, "min_gram_length", 0);
  g->longest = onnx_int(n, "max_gram_length", 0);
  g->skips = onnx_int(n, "max_skip_count", 0);
  g->pool = onnx_is_string(n->in[0]) ? number_strings(n) : read_ints(n, "pool_int64s");
  g->starts = g->pool ? read_ints(n, "ngram_counts") : NULL;
  g->indexes = g->starts ? read_ints(n, "ngram_indexes") : NULL;
  if (!g->indexes) return false;
  if (g->shortest < 1 || g->longest < g->shortest || g->longest > MAX_GRAM || g->skips < 0 || g->skips > 1024) {
    return onnx_error(n, "lengths of n-grams must be 1 to %d and skips 0 to 1024", MAX_GRAM);
  }
  for (uint32_t i = 0; i < g->indexes->count; ++i) {
    int64_t index = g->indexes->items[i]->integer;
    if (index < 0 || index >= MAX_POOL)
      return onnx_error(n, "ngram_indexes has the unusable entry %lld", (long long)index);
    if (index >= g->columns) g->columns = index + 1;
  }
  g->weights = onnx_attr(n, "weights");
  bool fits = !g->weights || (g->weights->kind == IR_ATTR_ARRAY && g->weights->count == g->indexes->count);
  return fits || onnx_error(n, "needs one weight for each n-gram");
}

// The part of the pool with the n-grams of one length: its first item, how many n-grams, and the number of the first.
typedef struct pool_part_t {
  int64_t from, count, first;
} pool_part_t;

static bool find_part(ngrams_t* g, int64_t length, pool_part_t* part) {
  int64_t first = 0;
  for (int64_t k = 1; k <= g->starts->count; ++k) {
    bool last = k == g->starts->count;
    int64_t from = g->starts->items[k - 1]->integer, to = last ? g->pool->count : g->starts->items[k]->integer;
    if (from < 0 || to < from || to > g->pool->count || (to - from) % k) {
      return onnx_error(g->n, "ngram_counts does not divide the pool into n-grams");
    }
    if (k == length) return *part = (pool_part_t){from, (to - from) / k, first}, true;
    first += (to - from) / k;
  }
  return *part = (pool_part_t){0, 0, 0}, true;
}

// Item `item` of each n-gram of a part, [count].
static ir_value_t* pool_items(ngrams_t* g, const pool_part_t* part, int64_t length, int64_t item) {
  int64_t* data = ARENA_ARRAY(ir_context_arena(g->n->ctx), int64_t, (size_t)part->count + 1);
  for (int64_t i = 0; i < part->count; ++i) data[i] = g->pool->items[part->from + i * length + item]->integer;
  return onnx_index_vector(g->n, data, part->count);
}

// How often the n-grams of a part occur with one gap: [rows, count] as i64, NULL when the sequence is too short.
static ir_value_t* count_windows(ngrams_t* g, const pool_part_t* part, int64_t length, int64_t gap) {
  onnx_node_t* n = g->n;
  static const int64_t of_window[] = {0, 1};
  const int64_t middle = 1;
  ir_value_t* same = NULL;
  onnx_dim_t windows = onnx_dim_sub(n, g->length, onnx_dim_of((length - 1) * gap));
  windows = onnx_dim_max(n, windows, onnx_dim_of(0));
  if (windows.size == 0) return NULL;
  const onnx_dim_t dims[] = {onnx_dim(n, g->x, 0), windows, onnx_dim_of(part->count)};
  for (int64_t i = 0; i < length; ++i) {
    ir_value_t* items = onnx_broadcast_to(n, pool_items(g, part, length, i), 3, dims);
    onnx_range_t range = {onnx_dim_of(i * gap), windows, onnx_dim_of(1)};
    ir_value_t* x = onnx_broadcast_as(n, onnx_span(n, g->x, 1, range), items, of_window);
    ir_value_t* equal = graph_binary(n->b, SCALAR_eq, x, items);
    same = same ? graph_binary(n->b, SCALAR_and, same, equal) : equal;
  }
  return graph_reduce(n->b, graph_cast(n->b, same, ir_type_int(n->ctx, 64), true), &middle, 1, "add");
}

// Where the counts of a part go: a matrix [count, columns] of ones and zeros times the weights.
static ir_value_t* placing(ngrams_t* g, const pool_part_t* part) {
  onnx_node_t* n = g->n;
  const int64_t dims[] = {part->count, g->columns};
  float* data = ARENA_ARRAY(ir_context_arena(n->ctx), float, (size_t)(part->count * g->columns) + 1);
  bool weighted = g->weights && strcmp(onnx_string(n, "mode", ""), "TF") != 0;
  for (int64_t i = 0; i < part->count; ++i) {
    int64_t gram = part->first + i;
    const ir_attr_t* weight = weighted ? g->weights->items[gram] : NULL;
    data[i * g->columns + g->indexes->items[gram]->integer] = weight ? (float)weight->number : 1;
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, onnx_f32(n->ctx), 2, dims);
  return graph_constant(n->b, ir_attr_elements(n->ctx, type, data, sizeof(float) * (size_t)(dims[0] * dims[1])));
}

// The columns that the n-grams of one length add: [rows, columns], NULL for none. False after a diagnostic.
static bool count_length(ngrams_t* g, int64_t length, ir_value_t** sum) {
  onnx_node_t* n = g->n;
  pool_part_t part;
  ir_value_t* counts = NULL;
  if (!find_part(g, length, &part)) return false;
  if (part.first + part.count > g->indexes->count) return onnx_error(n, "needs one index for each n-gram");
  if (part.count > MAX_POOL / (g->columns + 1)) return onnx_unsupported(n, "the pool is too large");
  for (int64_t gap = 1; part.count && gap <= (length > 1 ? g->skips + 1 : 1); ++gap) {
    if ((g->items += length) > MAX_ITEMS) return onnx_unsupported(n, "too many lengths of n-grams and gaps");
    ir_value_t* more = count_windows(g, &part, length, gap);
    if (more) counts = counts ? graph_binary(n->b, SCALAR_add, counts, more) : more;
  }
  if (!counts) return true;
  if (strcmp(onnx_string(n, "mode", ""), "IDF") == 0) counts = onnx_binary_number(n, SCALAR_min, counts, 1);
  counts = graph_cast(n->b, counts, onnx_f32(n->ctx), false);
  ir_value_t* placed = onnx_matmul(n, counts, placing(g, &part), (graph_contract_t){0}, onnx_f32(n->ctx));
  if (placed) *sum = *sum ? graph_binary(n->b, SCALAR_add, *sum, placed) : placed;
  return placed != NULL;
}

bool onnx_lower_tf_idf(onnx_node_t* n) {
  ngrams_t g = {.n = n};
  const char* mode = onnx_string(n, "mode", "");
  if (strcmp(mode, "TF") != 0 && strcmp(mode, "IDF") != 0 && strcmp(mode, "TFIDF") != 0) {
    return onnx_error(n, "mode '%s' is none of TF, IDF, TFIDF", mode);
  }
  bool strings = onnx_is_string(n->in[0]);
  if (!onnx_check_rank(n, 0, 1, 2) || (!strings && !onnx_is_int(n->in[0])))
    return onnx_error(n, "needs integers or strings of rank 1 or 2");
  if (!read_attributes(&g)) return false;
  ir_value_t *keys = strings ? onnx_string_list(n, "pool_strings") : NULL, *x;
  if (strings && !keys) return false;
  x = strings ? onnx_find_key(n, n->in[0], keys) : onnx_cast(n, n->in[0], onnx_si64(n->ctx)).v;
  int32_t rank = x->type->rank;
  const onnx_dim_t dims[] = {rank == 2 ? onnx_dim(n, x, 0) : onnx_dim_of(1), onnx_dim(n, x, rank - 1)};
  const onnx_dim_t out[] = {dims[0], onnx_dim_of(g.columns)};
  g.x = onnx_reshape(n, x, 2, dims);
  g.length = dims[1];
  if (!onnx_dim_known(g.length)) {  // room for windows that begin behind the end, of which there are none
    const int64_t none[] = {0, 0}, room[] = {0, g.longest * (g.skips + 1)};
    g.x = graph_pad(n->b, g.x, NULL, none, room, NULL, NULL);
  }
  ir_value_t* sum = NULL;
  for (int64_t length = g.shortest; length <= g.longest; ++length) {
    if (!count_length(&g, length, &sum)) return false;
  }
  if (!sum) sum = onnx_broadcast_to(n, graph_scalar_constant(n->b, onnx_f32(n->ctx), 0), 2, out);
  return onnx_return(n, rank == 1 ? onnx_reshape(n, sum, 1, out + 1) : sum, onnx_f32(n->ctx));
}
