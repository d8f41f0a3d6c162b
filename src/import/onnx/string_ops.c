// StringConcat, StringNormalizer, RegexFullMatch and StringSplit.
#include <string.h>

#include "import/onnx/automaton.h"
#include "import/onnx/letter_case.h"
#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/regex.h"
#include "import/onnx/strings.h"

static bool check_string(onnx_node_t* n, uint32_t i) {
  return onnx_is_string(n->in[i]) || onnx_error(n, "input %u must be strings", i);
}

// y's characters in the places behind x's: both are in the width of the result, behind x's there are zeros.
bool onnx_lower_string_concat(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *y = n->in[1].v;
  if (!check_string(n, 0) || !check_string(n, 1)) return false;
  onnx_dim_t width = onnx_dim_add(n, onnx_string_width(n, x), onnx_string_width(n, y));
  x = onnx_string_widen(n, x, width), y = onnx_string_widen(n, y, width);
  if (!onnx_broadcast(n, &x, &y)) return false;
  int64_t at[ONNX_MAX_RANK], last = x->type->rank - 1;
  for (int32_t i = 0; i < last; ++i) at[i] = i;
  ir_value_t* place = onnx_iota_like(n, x, last);
  place = graph_binary(n->b, SCALAR_sub, place, onnx_broadcast_as(n, onnx_string_lengths(n, x), x, at));
  ir_value_t* behind = onnx_binary_number(n, SCALAR_ge, place, 0);
  y = onnx_gather_elements(n, y, onnx_binary_number(n, SCALAR_max, place, 0), last);
  return y && onnx_return(n, graph_select(n->b, behind, y, x), onnx_str(n->ctx));
}

ir_value_t* onnx_string_fits(onnx_node_t* n, ir_value_t* x, const char* pattern, size_t size) {
  arena_t* arena = ir_context_arena(n->ctx);
  automaton_t a;
  const char* error;
  onnx_dim_t dims[ONNX_MAX_RANK];
  int32_t* points = ARENA_ARRAY(arena, int32_t, size + 1);
  int64_t length = onnx_decode_utf8(pattern, size, points);
  if (length < 0) return onnx_error(n, "the pattern is not well-formed UTF-8"), NULL;
  if (!regex_compile(arena, points, length, &a, &error)) return onnx_error(n, "pattern '%s': %s", pattern, error), NULL;
  ir_value_t* state = onnx_automaton_run(n, &a, onnx_string_rows(n, x), false);
  const int64_t count = a.state_count;
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 32), 1, &count);
  const ir_attr_t* accepts = ir_attr_elements(n->ctx, type, a.accepts, sizeof(*a.accepts) * a.state_count);
  ir_value_t* found = graph_take(n->b, graph_constant(n->b, accepts), state, 0, false);
  onnx_string_dims(n, x, dims);
  return onnx_reshape(n, onnx_binary_number(n, SCALAR_ne, found, 0), x->type->rank - 1, dims);
}

bool onnx_lower_regex_full_match(onnx_node_t* n) {
  const ir_attr_t* pattern = onnx_attr(n, "pattern");
  if (!check_string(n, 0)) return false;
  if (!pattern || pattern->kind != IR_ATTR_STRING) return onnx_error(n, "attribute 'pattern' is required");
  return onnx_return(n, onnx_string_fits(n, n->in[0].v, pattern->text, pattern->size), onnx_bool(n->ctx));
}

//===----------------------------------------------------------------------------------------------------------------===
// StringNormalizer
//===----------------------------------------------------------------------------------------------------------------===

// Those rows that are none of the stop words, or one that is empty when none is left. NULL after a diagnostic.
static ir_value_t* drop_words(onnx_node_t* n, ir_value_t* rows) {
  static const int64_t last = 1, empty[] = {1, 1};
  bool sensitive = onnx_int(n, "is_case_sensitive", 0) != 0;
  ir_value_t* words = onnx_string_list(n, "stopwords");
  onnx_value_t in[2], kept[3];
  if (!words) return NULL;
  ir_value_t* x = sensitive ? rows : onnx_letters_in_case(n, rows, LETTER_LOWER);
  if (!sensitive) words = onnx_letters_in_case(n, words, LETTER_LOWER);
  ir_value_t* stop = graph_reduce(n->b, onnx_string_matches(n, x, words), &last, 1, "or");
  onnx_dim_t count = onnx_dim(n, rows, 0);
  // Row 0 is the empty one.
  in[0] = onnx_value(onnx_binary_number(n, SCALAR_add, onnx_numbers(n, 1, &count, 0), 1), onnx_si64(n->ctx));
  in[1] = onnx_value(onnx_unary(n, SCALAR_not, stop), onnx_bool(n->ctx));
  if (!onnx_apply(n, "Compress", in, 2, kept)) return NULL;
  ir_value_t* places[] = {kept[0].v,
                          graph_splat_integer(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, empty), 0)};
  ir_value_t* both[] = {graph_splat_integer(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 32), 2, empty), 0), rows};
  onnx_dim_t left = onnx_dim_max(n, onnx_dim(n, kept[0].v, 0), onnx_dim_of(1));
  ir_value_t* chosen = onnx_prefix(n, graph_concat(n->b, places, 2, 0), 0, left);
  onnx_string_align(n, both, 2);
  return graph_take(n->b, graph_concat(n->b, both, 2, 0), chosen, 0, false);
}

bool onnx_lower_string_normalizer(onnx_node_t* n) {
  const char* action = onnx_string(n, "case_change_action", "NONE");
  bool lower = strcmp(action, "LOWER") == 0, upper = strcmp(action, "UPPER") == 0;
  const ir_attr_t* words = onnx_attr(n, "stopwords");
  if (!check_string(n, 0) || !onnx_check_rank(n, 0, 1, 2)) return false;
  if (!lower && !upper && strcmp(action, "NONE") != 0)
    return onnx_error(n, "case_change_action '%s' is none of LOWER, UPPER, NONE", action);
  int32_t rank = onnx_rank(n->in[0]);
  if (rank == 2 && !onnx_require(n, onnx_dim_test(n, SCALAR_eq, onnx_dim(n, n->in[0].v, 0), onnx_dim_of(1)),
                                 "a matrix must have one row"))
    return false;
  ir_value_t* rows = onnx_string_rows(n, n->in[0].v);
  if (words && words->kind == IR_ATTR_ARRAY && words->count) rows = drop_words(n, rows);
  if (!rows) return false;
  if (lower || upper) rows = onnx_letters_in_case(n, rows, lower ? LETTER_LOWER : LETTER_UPPER);
  const onnx_dim_t dims[] = {onnx_dim_of(1), onnx_dim(n, rows, 0), onnx_dim(n, rows, 1)};
  return onnx_return(n, rank == 2 ? onnx_reshape(n, rows, 3, dims) : rows, onnx_str(n->ctx));
}

//===----------------------------------------------------------------------------------------------------------------===
// StringSplit
//===----------------------------------------------------------------------------------------------------------------===

// Of strings [count, width]: which characters begin or end a piece, as the piece's number from 0 on, or -1; and how
// many pieces each string has.
typedef struct pieces_t {
  onnx_node_t* n;
  ir_value_t *rows, *lengths;
  ir_value_t *begins, *ends;  // [count, width]: first and last characters, or those of delimiters in front and behind
  int64_t delimiter;          // characters of a delimiter, 0 for words
  ir_value_t* counts;
  double limit;  // of pieces
} pieces_t;

static ir_value_t* binary(pieces_t* p, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(p->n->b, fn, x, y);
}

static ir_value_t* number(pieces_t* p, ir_value_t* flags) {
  return graph_cast(p->n->b, flags, ir_type_int(p->n->ctx, 32), true);
}

static ir_value_t* running_sum(pieces_t* p, ir_value_t* flags) {
  const ir_named_attr_t attrs[] = {{"axis", ir_attr_i64(p->n->ctx, 1)}, {"kind", ir_attr_cstring(p->n->ctx, "add")}};
  ir_value_t* x = number(p, flags);
  return graph_build(p->n->b, GRAPH_SCAN, &x, 1, x->type, attrs, 2);
}

// x where the flags are set, else -1.
static ir_value_t* only_where(pieces_t* p, ir_value_t* flags, ir_value_t* x) {
  return graph_select(p->n->b, flags, x, graph_splat_like(p->n->b, x, -1));
}

// The largest of each row, at least 0.
static ir_value_t* row_most(pieces_t* p, ir_value_t* x, int64_t axis) {
  return onnx_binary_number(p->n, SCALAR_max, graph_reduce(p->n->b, x, &axis, 1, "max"), 0);
}

// Characters that separate words, as Python sees them.
static ir_value_t* is_space(pieces_t* p) {
  static const int32_t ranges[][2] = {{9, 13},          {28, 32},         {0x85, 0x85},     {0xa0, 0xa0},
                                      {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
                                      {0x205f, 0x205f}, {0x3000, 0x3000}};
  ir_value_t* space = NULL;
  for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); ++i) {
    ir_value_t* from = onnx_binary_number(p->n, SCALAR_sub, p->rows, ranges[i][0]);
    ir_value_t* here = onnx_binary_number(p->n, SCALAR_leu, from, ranges[i][1] - ranges[i][0]);
    space = space ? binary(p, SCALAR_or, space, here) : here;
  }
  return space;
}

// Words are what is between spaces; the last that may be has all the rest.
static void split_words(pieces_t* p) {
  onnx_node_t* n = p->n;
  ir_value_t* used = onnx_string_used(n, p->rows);
  ir_value_t* ink = binary(p, SCALAR_and, used, onnx_unary(n, SCALAR_not, is_space(p)));
  static const int64_t low[] = {0, 1}, high[] = {0, -1};
  ir_value_t* before = graph_pad(n->b, number(p, ink), NULL, low, high, NULL, NULL);
  ir_value_t* starts = binary(p, SCALAR_and, ink, onnx_binary_number(n, SCALAR_eq, before, 0));
  ir_value_t* words = running_sum(p, starts);
  p->counts = onnx_binary_number(n, SCALAR_min, row_most(p, words, 1), p->limit);
  p->begins = only_where(p, starts, onnx_binary_number(n, SCALAR_sub, words, 1));
  ir_value_t* rest = binary(p, SCALAR_and, used, onnx_binary_number(n, SCALAR_ge, words, p->limit));
  words = onnx_binary_number(n, SCALAR_sub, onnx_binary_number(n, SCALAR_min, words, p->limit), 1);
  p->ends = only_where(p, binary(p, SCALAR_or, ink, rest), words);
}

// An automaton that is in state `count` behind each `text`, of which no two overlap.
static automaton_t delimiter_automaton(onnx_node_t* n, const int32_t* text, int32_t count) {
  arena_t* arena = ir_context_arena(n->ctx);
  int32_t classes = 1, *starts = ARENA_ARRAY(arena, int32_t, 2 * (size_t)count + 1);
  starts[0] = 0;
  for (int32_t i = 0; i < 2 * count; ++i) {
    int32_t c = text[i / 2] + i % 2, at = classes;
    while (at > 0 && starts[at - 1] > c) --at;
    if (at && starts[at - 1] == c) continue;
    memmove(starts + at + 1, starts + at, sizeof(*starts) * (size_t)(classes++ - at));
    starts[at] = c;
  }
  int32_t *next = ARENA_ARRAY(arena, int32_t, (size_t)(count + 1) * (size_t)classes), back = 0;
  for (int32_t s = 0; s <= count; ++s) {
    // In state s, the last s characters are the first of the text; `back` is where the automaton were without the
    // first of these.
    for (int32_t k = 0; k < classes; ++k) {
      bool hit = s < count && starts[k] == text[s];
      next[s * classes + k] = hit ? s + 1 : s && s < count ? next[back * classes + k] : 0;
    }
    if (s == count) memcpy(next + s * classes, next, sizeof(*next) * (size_t)classes);
    for (int32_t k = 0; s && s < count && k < classes; ++k) {
      if (starts[k] == text[s]) back = next[back * classes + k];
    }
  }
  return (automaton_t){
      .state_count = (uint32_t)count + 1, .class_count = (uint32_t)classes, .starts = starts, .next = next};
}

// Pieces are what is between delimiters, of which the first count.
static bool split_by(pieces_t* p, const char* delimiter) {
  static const int64_t swap[] = {1, 0}, columns = 1;
  onnx_node_t* n = p->n;
  size_t size = strlen(delimiter);
  int32_t* text = ARENA_ARRAY(ir_context_arena(n->ctx), int32_t, size + 1);
  int64_t count = onnx_decode_utf8(delimiter, size, text);
  if (count < 1 || count > 4096)
    return onnx_error(n, "the delimiter is not well-formed UTF-8 of up to 4096 characters");
  automaton_t a = delimiter_automaton(n, text, (int32_t)count);
  ir_value_t* found =
      count == 1
          ? onnx_binary_number(n, SCALAR_eq, p->rows, text[0])
          : onnx_binary_number(n, SCALAR_eq, graph_transpose(n->b, onnx_automaton_run(n, &a, p->rows, true), swap),
                               (double)count);
  found = binary(p, SCALAR_and, found, onnx_string_used(n, p->rows));
  ir_value_t* seen = running_sum(p, found);
  found = binary(p, SCALAR_and, found, onnx_binary_number(n, SCALAR_lt, seen, p->limit));
  p->counts = onnx_binary_number(n, SCALAR_add, graph_reduce(n->b, number(p, found), &columns, 1, "add"), 1);
  p->begins = only_where(p, found, seen);
  p->ends = only_where(p, found, onnx_binary_number(n, SCALAR_sub, seen, 1));
  p->delimiter = count;
  return true;
}

// The last character of each row that has the number of a piece, as its place plus one; 0 for none. [count, most]
static ir_value_t* last_of(pieces_t* p, ir_value_t* marks, onnx_dim_t most) {
  static const int64_t at[] = {0, 2};
  onnx_node_t* n = p->n;
  const onnx_dim_t dims[] = {onnx_dim(n, marks, 0), most, onnx_dim(n, marks, 1)};
  ir_value_t* table = onnx_broadcast_to(n, onnx_spread(n, marks, 3, at), 3, dims);
  ir_value_t* here = binary(p, SCALAR_eq, table, onnx_iota_like(n, table, 1));
  ir_value_t* place = onnx_binary_number(n, SCALAR_add, onnx_iota_like(n, table, 2), 1);
  return row_most(p, graph_select(n->b, here, place, graph_splat_like(n->b, place, 0)), 2);
}

// The pieces as [count, most, width].
static ir_value_t* cut_pieces(pieces_t* p, onnx_dim_t most) {
  static const int64_t of_row[] = {0, 2}, pair[] = {0, 1}, row = 0;
  onnx_node_t* n = p->n;
  ir_value_t *begin = last_of(p, p->begins, most), *end = last_of(p, p->ends, most);
  ir_value_t* lengths = onnx_broadcast_as(n, p->lengths, end, &row);
  if (!p->delimiter) begin = onnx_binary_number(n, SCALAR_sub, begin, 1);
  if (p->delimiter) {
    ir_value_t* none = onnx_binary_number(n, SCALAR_eq, end, 0);
    end = graph_select(n->b, none, lengths, onnx_binary_number(n, SCALAR_sub, end, (double)p->delimiter));
  }
  ir_value_t* there = binary(p, SCALAR_lt, onnx_iota_like(n, end, 1), onnx_broadcast_as(n, p->counts, end, &row));
  ir_value_t* size = binary(p, SCALAR_sub, end, begin);
  size = graph_select(n->b, there, size, graph_splat_like(n->b, size, 0));
  const onnx_dim_t dims[] = {onnx_dim(n, p->rows, 0), most, onnx_dim(n, p->rows, 1)};
  ir_value_t* x = onnx_broadcast_to(n, onnx_spread(n, p->rows, 3, of_row), 3, dims);
  ir_value_t* place = onnx_iota_like(n, x, 2);
  ir_value_t* used = binary(p, SCALAR_lt, place, onnx_broadcast_as(n, size, x, pair));
  place = binary(p, SCALAR_add, place, onnx_broadcast_as(n, begin, x, pair));
  place = graph_select(n->b, used, place, graph_splat_like(n->b, place, 0));
  x = onnx_gather_elements(n, x, place, 2);
  return x ? graph_select(n->b, used, x, graph_splat_like(n->b, x, 0)) : NULL;
}

bool onnx_lower_string_split(onnx_node_t* n) {
  static const int64_t rows = 0;
  const char* delimiter = onnx_string(n, "delimiter", "");
  int64_t splits = onnx_int(n, "maxsplit", INT32_MAX - 1);
  onnx_dim_t dims[ONNX_MAX_RANK + 1], most;
  if (!check_string(n, 0) || !onnx_check_rank(n, 0, 0, ONNX_MAX_RANK - 2)) return false;
  if (splits < 0 || splits > INT32_MAX - 1) splits = INT32_MAX - 1;
  pieces_t p = {.n = n, .rows = onnx_string_rows(n, n->in[0].v), .limit = (double)splits + 1};
  p.lengths = onnx_string_lengths(n, p.rows);
  if (!*delimiter) split_words(&p);
  if (*delimiter && !split_by(&p, delimiter)) return false;
  ir_value_t* counts = graph_cast(n->b, p.counts, ir_type_int(n->ctx, 64), false);
  if (!onnx_tensor_number(n, row_most(&p, counts, rows), &most)) return false;
  ir_value_t* pieces = cut_pieces(&p, most);
  if (!pieces) return false;
  int32_t rank = onnx_rank(n->in[0]);
  onnx_string_dims(n, n->in[0].v, dims);
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(onnx_reshape(n, counts, rank, dims), onnx_si64(n->ctx));
  dims[rank] = most, dims[rank + 1] = onnx_dim(n, p.rows, 1);
  return onnx_return(n, onnx_reshape(n, pieces, rank + 2, dims), onnx_str(n->ctx));
}
