// Files of ranks, and the encodings that have names.
#include "iree/tokenizer/format/tiktoken/tiktoken.h"

#include "tokenizer/tokenizer.h"

//===----------------------------------------------------------------------------------------------------------------===
// Encodings
//===----------------------------------------------------------------------------------------------------------------===

#define GPT2_PATTERN "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"
#define CL100K_PATTERN                                                   \
  "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| " \
  "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|"                 \
  "\\s+(?!\\S)|\\s"
#define O200K_PATTERN                                                                                                  \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|" \
  "'d)?|"                                                                                                              \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|" \
  "'d)?|"                                                                                                              \
  "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

typedef struct encoding_t {
  iree_string_view_t name;
  iree_tokenizer_tiktoken_config_t config;
} encoding_t;

#define END_OF_TEXT IREE_SVL("<|endoftext|>")
static const iree_string_view_t end_strings[] = {END_OF_TEXT};
static const int32_t r50k_ids[] = {50256};
static const iree_string_view_t fim_strings[] = {END_OF_TEXT, IREE_SVL("<|fim_prefix|>"), IREE_SVL("<|fim_middle|>"),
                                                 IREE_SVL("<|fim_suffix|>"), IREE_SVL("<|endofprompt|>")};
static const int32_t p50k_edit_ids[] = {50256, 50281, 50282, 50283};
static const int32_t cl100k_ids[] = {100257, 100258, 100259, 100260, 100276};
static const iree_string_view_t o200k_strings[] = {END_OF_TEXT, IREE_SVL("<|endofprompt|>")};
static const int32_t o200k_ids[] = {199999, 200018};
static const iree_string_view_t harmony_strings[] = {IREE_SVL("<|startoftext|>"), END_OF_TEXT,
                                                     IREE_SVL("<|return|>"),      IREE_SVL("<|constrain|>"),
                                                     IREE_SVL("<|channel|>"),     IREE_SVL("<|start|>"),
                                                     IREE_SVL("<|end|>"),         IREE_SVL("<|message|>"),
                                                     IREE_SVL("<|call|>"),        IREE_SVL("<|endofprompt|>")};
static const int32_t harmony_ids[] = {199998, 199999, 200002, 200003, 200005, 200006, 200007, 200008, 200012, 200018};

#define ENCODING(name, pattern, count, strings, ids)           \
  {                                                            \
    IREE_SVL(name), { IREE_SVL(pattern), count, strings, ids } \
  }
static const encoding_t encodings[] = {
    ENCODING("cl100k_base", CL100K_PATTERN, 5, fim_strings, cl100k_ids),
    ENCODING("o200k_base", O200K_PATTERN, 2, o200k_strings, o200k_ids),
    ENCODING("o200k_harmony", O200K_PATTERN, 10, harmony_strings, harmony_ids),
    ENCODING("r50k_base", GPT2_PATTERN, 1, end_strings, r50k_ids),
    ENCODING("gpt2", GPT2_PATTERN, 1, end_strings, r50k_ids),
    ENCODING("p50k_base", GPT2_PATTERN, 1, end_strings, r50k_ids),
    ENCODING("p50k_edit", GPT2_PATTERN, 4, fim_strings, p50k_edit_ids),
};

const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_by_name(iree_string_view_t name) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(encodings); ++i) {
    if (iree_string_view_equal(encodings[i].name, name)) return &encodings[i].config;
  }
  return NULL;
}

const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_cl100k_base(void) {
  return &encodings[0].config;
}
const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_o200k_base(void) { return &encodings[1].config; }
const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_o200k_harmony(void) {
  return &encodings[2].config;
}
const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_r50k_base(void) { return &encodings[3].config; }
const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_gpt2(void) { return &encodings[4].config; }
const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_p50k_base(void) { return &encodings[5].config; }
const iree_tokenizer_tiktoken_config_t* iree_tokenizer_tiktoken_config_p50k_edit(void) { return &encodings[6].config; }

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool decode_base64(iree_string_view_t text, bytes_t* out, iree_status_t* status) {
  uint32_t bits = 0;
  int count = 0;
  out->size = 0;
  while (text.size && text.data[text.size - 1] == '=') --text.size;
  for (size_t i = 0; i < text.size; ++i) {
    int value = base64_value(text.data[i]);
    if (value < 0) return false;
    bits = bits << 6 | (uint32_t)value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    char byte = (char)(bits >> count);
    *status = bytes_append(out, &byte, 1);
    if (!iree_status_is_ok(*status)) return false;
  }
  return out->size && count < 6;
}

typedef iree_status_t (*visit_t)(void* user_data, uint32_t rank, iree_string_view_t token);

// Each line's rank and bytes.
static iree_status_t visit_lines(iree_string_view_t data, bytes_t* token, visit_t visit, void* user_data) {
  size_t number = 0;
  for (iree_string_view_t rest = data, line; rest.size;) {
    iree_string_view_t encoded, rank_text;
    uint32_t rank = 0;
    iree_status_t status = iree_ok_status();
    iree_string_view_split(rest, '\n', &line, &rest);
    line = iree_string_view_trim(line);
    ++number;
    if (!line.size) continue;
    iree_string_view_split(line, ' ', &encoded, &rank_text);
    bool fits = iree_string_view_atoi_uint32(rank_text, &rank) && rank <= WORDS_MAX_ID;
    fits = fits && decode_base64(encoded, token, &status);
    IREE_RETURN_IF_ERROR(status);
    if (!fits) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "line %zu is no token in base64 and a rank", number);
    }
    IREE_RETURN_IF_ERROR(visit(user_data, rank, bytes_view(token)));
  }
  return iree_ok_status();
}

static iree_status_t see_rank(void* user_data, uint32_t rank, iree_string_view_t token) {
  int64_t* most = user_data;
  if ((int64_t)rank > *most) *most = rank;
  return iree_ok_status();
}

typedef struct adding_t {
  store_t* memory;
  words_t* words;
} adding_t;

static iree_status_t add_rank(void* user_data, uint32_t rank, iree_string_view_t token) {
  adding_t* adding = user_data;
  iree_string_view_t copy;
  IREE_RETURN_IF_ERROR(store_copy(adding->memory, token, &copy));
  words_add(adding->words, rank, copy);
  return iree_ok_status();
}

static iree_status_t add_specials(const iree_tokenizer_tiktoken_config_t* config, iree_tokenizer_t* t) {
  added_t* added = NULL;
  size_t count = config->special_token_count;
  IREE_RETURN_IF_ERROR(store_take(&t->memory, count, sizeof(*added), (void**)&added));
  for (size_t i = 0; i < count; ++i) {
    int32_t id = config->special_token_ids[i];
    if (id < 0 || id > WORDS_MAX_ID || !config->special_token_strings[i].size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "special token %zu has no text and number", i);
    }
    added[i] = (added_t){.id = id, .special = true};
    IREE_RETURN_IF_ERROR(store_copy(&t->memory, config->special_token_strings[i], &added[i].content));
  }
  t->vocab.added = added;
  t->vocab.added_count = count;
  return tokenizer_index_added(t);
}

static iree_status_t load(iree_string_view_t data, const iree_tokenizer_tiktoken_config_t* config, bytes_t* token,
                          iree_tokenizer_t* t) {
  words_t words;
  int64_t most = -1;
  adding_t adding = {&t->memory, &words};
  IREE_RETURN_IF_ERROR(visit_lines(data, token, see_rank, &most));
  if (most < 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the file has no tokens");
  IREE_RETURN_IF_ERROR(words_create((size_t)most, &t->memory, &words));
  IREE_RETURN_IF_ERROR(visit_lines(data, token, add_rank, &adding));
  IREE_RETURN_IF_ERROR(model_from_ranks(&words, &t->vocab.model));
  IREE_RETURN_IF_ERROR(splitter_from_pattern(config->pattern, &t->memory, &t->splitter));
  IREE_RETURN_IF_ERROR(decoder_plain(&t->memory, &t->decoder));
  return add_specials(config, t);
}

iree_status_t iree_tokenizer_from_tiktoken(iree_string_view_t data, const iree_tokenizer_tiktoken_config_t* config,
                                           iree_allocator_t allocator, iree_tokenizer_t** out_tokenizer) {
  iree_tokenizer_t* t = NULL;
  bytes_t token = bytes_make(allocator);
  *out_tokenizer = NULL;
  iree_status_t status = tokenizer_allocate(allocator, &t);
  if (iree_status_is_ok(status)) status = load(data, config, &token, t);
  bytes_free(&token);
  if (iree_status_is_ok(status)) {
    *out_tokenizer = t;
  } else {
    iree_tokenizer_free(t);
  }
  return status;
}
