// Models from "model" of tokenizer.json, and from ranks.
#include "tokenizer/model.h"

//===----------------------------------------------------------------------------------------------------------------===
// Vocabularies
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_vocab(const json_t* vocab, store_t* memory, words_t* out) {
  int64_t id = 0;
  size_t most = 0;
  if (!json_is(vocab, JSON_OBJECT)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: \"vocab\" is no object of words and numbers");
  }
  for (const json_t* item = vocab->first; item; item = item->next) {
    if (!json_integer(item, WORDS_MAX_ID, &id)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: vocab: '%.*s' has no number from 0 to %d",
                              (int)iree_min(item->name.size, 64), item->name.data, WORDS_MAX_ID);
    }
    if ((size_t)id > most) most = (size_t)id;
  }
  IREE_RETURN_IF_ERROR(words_create(most, memory, out));
  for (const json_t* item = vocab->first; item; item = item->next) {
    iree_string_view_t text;
    IREE_RETURN_IF_ERROR(store_copy(memory, item->name, &text));
    words_add(out, (uint32_t)item->number, text);
  }
  return iree_ok_status();
}

static void find_byte_words(model_t* model) {
  for (int i = 0; i < 256; ++i) {
    char name[8];
    snprintf(name, sizeof(name), "<0x%02X>", i);
    model->byte_ids[i] = words_find(&model->words, iree_make_cstring_view(name));
  }
}

static iree_status_t find_unknown(const json_t* json, model_t* model, bool needed) {
  const json_t* name = json_member(json, "unk_token");
  model->unknown = json_is(name, JSON_STRING) ? words_find(&model->words, name->text) : -1;
  if (model->unknown >= 0 || !needed) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: \"unk_token\" is needed, and must be in the vocab");
}

//===----------------------------------------------------------------------------------------------------------------===
// BPE
//===----------------------------------------------------------------------------------------------------------------===

// ["a", "b"], or "a b".
static bool split_merge(const json_t* item, iree_string_view_t* out_left, iree_string_view_t* out_right) {
  if (json_is(item, JSON_ARRAY)) {
    const json_t *left = item->first, *right = left ? left->next : NULL;
    if (!json_is(left, JSON_STRING) || !json_is(right, JSON_STRING) || right->next) return false;
    *out_left = left->text;
    *out_right = right->text;
    return true;
  }
  if (!json_is(item, JSON_STRING)) return false;
  return iree_string_view_split(item->text, ' ', out_left, out_right) >= 0 &&
         iree_string_view_find_char(*out_right, ' ', 0) == IREE_STRING_VIEW_NPOS;
}

static iree_status_t add_merge(model_t* model, const json_t* item, uint32_t rank, bytes_t* both) {
  iree_string_view_t left, right;
  int32_t ids[3] = {-1, -1, -1};
  if (split_merge(item, &left, &right)) {
    size_t skipped = iree_string_view_starts_with(right, model->prefix) ? model->prefix.size : 0;
    ids[0] = words_find(&model->words, left);
    ids[1] = words_find(&model->words, right);
    both->size = 0;
    IREE_RETURN_IF_ERROR(bytes_append_view(both, left));
    IREE_RETURN_IF_ERROR(bytes_append_view(both, iree_string_view_remove_prefix(right, skipped)));
    ids[2] = words_find(&model->words, bytes_view(both));
  }
  if (ids[0] < 0 || ids[1] < 0 || ids[2] < 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "model: merges: number %u is no pair of words whose sum is a word too", rank);
  }
  merge_t* merge = (merge_t*)bpe_find_merge(model, ids[0], ids[1]);
  *merge = (merge_t){ids[0], ids[1], ids[2], rank};
  ++model->merge_count;
  return iree_ok_status();
}

static iree_status_t read_merges(const json_t* merges, store_t* memory, model_t* model) {
  bytes_t both = bytes_make(memory->allocator);
  if (!json_is(merges, JSON_ARRAY)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: \"merges\" is no list");
  }
  model->merge_slots = 16;
  while (model->merge_slots < merges->count * 2) model->merge_slots *= 2;
  IREE_RETURN_IF_ERROR(store_take(memory, model->merge_slots, sizeof(merge_t), (void**)&model->merges));
  for (size_t i = 0; i < model->merge_slots; ++i) model->merges[i].left = -1;
  iree_status_t status = iree_ok_status();
  uint32_t rank = 0;
  for (const json_t* item = merges->first; item && iree_status_is_ok(status); item = item->next) {
    status = add_merge(model, item, rank++, &both);
  }
  bytes_free(&both);
  return status;
}

static iree_status_t read_bpe(const json_t* json, store_t* memory, model_t* model) {
  const json_t* dropout = json_member(json, "dropout");
  if (json_is(dropout, JSON_NUMBER) && dropout->number != 0) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "model: BPE with dropout is for training; null is needed");
  }
  model->fuses_unknown = json_bool(json, "fuse_unk", false);
  model->falls_back = json_bool(json, "byte_fallback", false);
  model->ignores_merges = json_bool(json, "ignore_merges", false);
  IREE_RETURN_IF_ERROR(store_copy(memory, json_text(json, "continuing_subword_prefix", IREE_SV("")), &model->prefix));
  IREE_RETURN_IF_ERROR(store_copy(memory, json_text(json, "end_of_word_suffix", IREE_SV("")), &model->suffix));
  IREE_RETURN_IF_ERROR(find_unknown(json, model, false));
  find_byte_words(model);
  return read_merges(json_member(json, "merges"), memory, model);
}

iree_status_t model_from_ranks(const words_t* words, model_t* out) {
  *out = (model_t){.kind = MODEL_BPE, .words = *words, .unknown = -1, .by_rank = true};
  for (int i = 0; i < 256; ++i) {
    char byte = (char)i;
    out->byte_ids[i] = words_find(words, iree_make_string_view(&byte, 1));
  }
  for (size_t i = 0; i < words->capacity; ++i) out->merge_count += words->texts[i].size > 1;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// The others
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_wordpiece(const json_t* json, store_t* memory, model_t* model) {
  enum { LONGEST = 100 };
  int64_t longest = LONGEST;
  const json_t* given = json_member(json, "max_input_chars_per_word");
  if (given && !json_integer(given, INT32_MAX, &longest)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: \"max_input_chars_per_word\" is no number");
  }
  model->longest_word = (size_t)longest;
  IREE_RETURN_IF_ERROR(store_copy(memory, json_text(json, "continuing_subword_prefix", IREE_SV("##")), &model->prefix));
  return find_unknown(json, model, true);
}

// [["word", score], ...], whose places are ids.
static iree_status_t read_unigram(const json_t* json, store_t* memory, model_t* model) {
  const json_t *vocab = json_member(json, "vocab"), *unknown = json_member(json, "unk_id");
  double* scores = NULL;
  int64_t id = -1;
  if (!json_is(vocab, JSON_ARRAY) || vocab->count > WORDS_MAX_ID) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: \"vocab\" is no list of [\"word\", score]");
  }
  size_t most = vocab->count ? vocab->count - 1 : 0;
  IREE_RETURN_IF_ERROR(words_create(most, memory, &model->words));
  IREE_RETURN_IF_ERROR(store_take(memory, most + 1, sizeof(*scores), (void**)&scores));
  uint32_t place = 0;
  for (const json_t* item = vocab->first; item; item = item->next, ++place) {
    const json_t *word = json_is(item, JSON_ARRAY) ? item->first : NULL, *score = word ? word->next : NULL;
    iree_string_view_t text;
    if (!json_is(word, JSON_STRING) || !json_is(score, JSON_NUMBER)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: vocab: number %u is no [\"word\", score]", place);
    }
    IREE_RETURN_IF_ERROR(store_copy(memory, word->text, &text));
    words_add(&model->words, place, text);
    scores[place] = score->number;
    if (!place || score->number < model->least_score) model->least_score = score->number;
  }
  if (unknown && unknown->kind != JSON_NULL && !json_integer(unknown, (int64_t)vocab->count - 1, &id)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "model: \"unk_id\" is no place of the vocab");
  }
  model->unknown = json_is(unknown, JSON_NUMBER) ? (int32_t)id : -1;
  model->scores = scores;
  model->fuses_unknown = true;
  model->falls_back = json_bool(json, "byte_fallback", false);
  find_byte_words(model);
  return iree_ok_status();
}

// Older files do not say what a model is.
static iree_string_view_t guess_type(const json_t* json) {
  if (json_member(json, "merges")) return IREE_SV("BPE");
  if (json_is(json_member(json, "vocab"), JSON_ARRAY)) return IREE_SV("Unigram");
  return json_member(json, "continuing_subword_prefix") ? IREE_SV("WordPiece") : IREE_SV("WordLevel");
}

iree_status_t model_read(const json_t* json, store_t* memory, model_t* out) {
  static const char* const names[] = {"BPE", "WordPiece", "Unigram", "WordLevel"};
  iree_string_view_t type = json_text(json, "type", guess_type(json));
  int kind = 0;
  *out = (model_t){.unknown = -1};
  while (kind < 4 && !iree_string_view_equal(type, iree_make_cstring_view(names[kind]))) ++kind;
  if (kind == 4) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "model: %.*s is not known; BPE, WordPiece, Unigram and WordLevel are",
                            (int)iree_min(type.size, 64), type.data);
  }
  out->kind = (model_kind_t)kind;
  if (kind == MODEL_UNIGRAM) return read_unigram(json, memory, out);
  IREE_RETURN_IF_ERROR(read_vocab(json_member(json, "vocab"), memory, &out->words));
  if (kind == MODEL_BPE) return read_bpe(json, memory, out);
  return kind == MODEL_WORDPIECE ? read_wordpiece(json, memory, out) : find_unknown(json, out, false);
}
