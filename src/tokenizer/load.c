// tokenizer.json: its parts are read by those that they are for; added tokens and post-processors here.
#include "iree/tokenizer/format/huggingface/tokenizer_json.h"
#include "tokenizer/tokenizer.h"

//===----------------------------------------------------------------------------------------------------------------===
// Added tokens
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_added(const json_t* json, iree_tokenizer_t* t) {
  added_t* list = NULL;
  size_t count = 0;
  if (!json || json->kind == JSON_NULL) return iree_ok_status();
  if (json->kind != JSON_ARRAY) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "\"added_tokens\" is no list");
  IREE_RETURN_IF_ERROR(store_take(&t->memory, json->count, sizeof(*list), (void**)&list));
  for (const json_t* item = json->first; item; item = item->next) {
    int64_t id = 0;
    const json_t* content = json_member(item, "content");
    if (!json_integer(json_member(item, "id"), WORDS_MAX_ID, &id) || !json_is(content, JSON_STRING)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "added_tokens: number %zu has no \"id\" from 0 to %d and \"content\"", count,
                              WORDS_MAX_ID);
    }
    if (!content->text.size) continue;
    bool special = json_bool(item, "special", false);
    added_t* added = &list[count++];
    *added = (added_t){.id = (int32_t)id,
                       .single_word = json_bool(item, "single_word", false),
                       .lstrip = json_bool(item, "lstrip", false),
                       .rstrip = json_bool(item, "rstrip", false),
                       .normalized = json_bool(item, "normalized", !special),
                       .special = special};
    IREE_RETURN_IF_ERROR(store_copy(&t->memory, content->text, &added->content));
  }
  t->vocab.added = list;
  t->vocab.added_count = count;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Post-processors
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t set_template(iree_tokenizer_t* t, const template_item_t* items, size_t count, template_t* out) {
  template_item_t* copy = NULL;
  if (out->count) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "post_processor: one of a sequence may add tokens; here two do");
  }
  IREE_RETURN_IF_ERROR(store_take(&t->memory, count, sizeof(*copy), (void**)&copy));
  if (count) memcpy(copy, items, count * sizeof(*copy));
  *out = (template_t){copy, count};
  return iree_ok_status();
}

enum { MAX_TEMPLATE = 64 };

// Tokens of {"ids": [...]} in "special_tokens".
static bool put_special(const json_t* special, iree_string_view_t name, uint32_t type, template_item_t* items,
                        size_t* count) {
  const json_t* entry = NULL;
  for (const json_t* item = special ? special->first : NULL; item; item = item->next) {
    if (iree_string_view_equal(item->name, name)) entry = item;
  }
  const json_t* ids = json_member(entry, "ids");
  if (!json_is(ids, JSON_ARRAY)) return false;
  for (const json_t* item = ids->first; item; item = item->next) {
    int64_t id = 0;
    if (*count == MAX_TEMPLATE || !json_integer(item, WORDS_MAX_ID, &id)) return false;
    items[(*count)++] = (template_item_t){(int32_t)id, type};
  }
  return true;
}

static iree_status_t read_template(const json_t* json, const char* name, iree_tokenizer_t* t, template_t* out) {
  const json_t *list = json_member(json, name), *special = json_member(json, "special_tokens");
  template_item_t items[MAX_TEMPLATE];
  size_t count = 0;
  if (!json_is(list, JSON_ARRAY)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "post_processor: \"%s\" is no list", name);
  }
  for (const json_t* item = list->first; item; item = item->next) {
    const json_t *token = json_member(item, "SpecialToken"), *text = json_member(item, "Sequence");
    const json_t* part = token ? token : text;
    iree_string_view_t id = json_text(part, "id", IREE_SV(""));
    int64_t type = 0;
    json_integer(json_member(part, "type_id"), UINT8_MAX, &type);
    bool fits = count < MAX_TEMPLATE;
    if (fits && token) {
      fits = put_special(special, id, (uint32_t)type, items, &count);
    } else if (fits) {
      bool is_second = iree_string_view_equal(id, IREE_SV("B"));
      fits = text && (is_second || iree_string_view_equal(id, IREE_SV("A")));
      items[count++] = (template_item_t){is_second ? TEMPLATE_SECOND : TEMPLATE_FIRST, (uint32_t)type};
    }
    if (!fits) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "post_processor: %s: '%.*s' is no text (A, B) and none of \"special_tokens\"", name,
                              (int)iree_min(id.size, 64), id.data);
    }
  }
  return set_template(t, items, count, out);
}

// ["</s>", 2]
static bool read_named(const json_t* json, const char* name, int32_t* out_id) {
  const json_t* pair = json_member(json, name);
  int64_t id = 0;
  if (!json_is(pair, JSON_ARRAY) || !pair->first || !json_integer(pair->first->next, WORDS_MAX_ID, &id)) return false;
  *out_id = (int32_t)id;
  return true;
}

// [CLS] A [SEP] B [SEP]; with `doubled` <s> A </s> </s> B </s>, all of type 0.
static iree_status_t read_pairs(const json_t* json, bool doubled, iree_tokenizer_t* t) {
  int32_t cls = 0, sep = 0;
  if (!read_named(json, "cls", &cls) || !read_named(json, "sep", &sep)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "post_processor: \"cls\" and \"sep\" are [\"token\", number]");
  }
  uint32_t second = doubled ? 0 : 1;
  const template_item_t single[] = {{cls, 0}, {TEMPLATE_FIRST, 0}, {sep, 0}};
  template_item_t pair[] = {{cls, 0}, {TEMPLATE_FIRST, 0},       {sep, 0},
                            {sep, 0}, {TEMPLATE_SECOND, second}, {sep, second}};
  if (!doubled) memmove(&pair[3], &pair[4], 2 * sizeof(pair[0]));
  IREE_RETURN_IF_ERROR(set_template(t, single, IREE_ARRAYSIZE(single), &t->single));
  return set_template(t, pair, IREE_ARRAYSIZE(pair) - !doubled, &t->pair);
}

static iree_status_t read_processor(const json_t* json, iree_tokenizer_t* t) {
  if (!json || json->kind == JSON_NULL) return iree_ok_status();
  iree_string_view_t type = json_text(json, "type", IREE_SV("nothing"));
  if (iree_string_view_equal(type, IREE_SV("ByteLevel")))
    return iree_ok_status();  // trims offsets, which are whole here
  if (iree_string_view_equal(type, IREE_SV("BertProcessing"))) return read_pairs(json, false, t);
  if (iree_string_view_equal(type, IREE_SV("RobertaProcessing"))) return read_pairs(json, true, t);
  if (iree_string_view_equal(type, IREE_SV("TemplateProcessing"))) {
    IREE_RETURN_IF_ERROR(read_template(json, "single", t, &t->single));
    return read_template(json, "pair", t, &t->pair);
  }
  if (iree_string_view_equal(type, IREE_SV("Sequence"))) {
    const json_t* list = json_member(json, "processors");
    for (const json_t* item = list ? list->first : NULL; item; item = item->next) {
      IREE_RETURN_IF_ERROR(read_processor(item, t));
    }
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "post_processor: %.*s is not known; TemplateProcessing, BertProcessing, RobertaProcessing, "
                          "ByteLevel and Sequence are",
                          (int)iree_min(type.size, 64), type.data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_parts(const json_t* root, iree_tokenizer_t* t) {
  if (!json_is(json_member(root, "model"), JSON_OBJECT)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "this is no tokenizer.json: it has no \"model\"");
  }
  IREE_RETURN_IF_ERROR(normalizer_read(json_member(root, "normalizer"), &t->memory, &t->normalizer));
  IREE_RETURN_IF_ERROR(splitter_read(json_member(root, "pre_tokenizer"), &t->memory, &t->splitter));
  IREE_RETURN_IF_ERROR(model_read(json_member(root, "model"), &t->memory, &t->vocab.model));
  IREE_RETURN_IF_ERROR(decoder_read(json_member(root, "decoder"), &t->memory, &t->decoder));
  IREE_RETURN_IF_ERROR(read_processor(json_member(root, "post_processor"), t));
  IREE_RETURN_IF_ERROR(read_added(json_member(root, "added_tokens"), t));
  return tokenizer_index_added(t);
}

iree_status_t iree_tokenizer_from_huggingface_json(iree_string_view_t json, iree_allocator_t allocator,
                                                   iree_tokenizer_t** out_tokenizer) {
  store_t memory = store_make(allocator);
  iree_tokenizer_t* t = NULL;
  const json_t* root = NULL;
  *out_tokenizer = NULL;
  iree_status_t status = tokenizer_allocate(allocator, &t);
  if (iree_status_is_ok(status)) status = json_parse(json, &memory, &root);
  if (iree_status_is_ok(status)) status = read_parts(root, t);
  store_free(&memory);
  if (iree_status_is_ok(status)) {
    *out_tokenizer = t;
  } else {
    iree_tokenizer_free(t);
  }
  return status;
}
