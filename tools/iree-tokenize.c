// iree-tokenize: text to tokens and back by tokenizer.json or a .tiktoken file.
#include <inttypes.h>

#include "iree/base/api.h"
#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "iree/tokenizer/format/huggingface/tokenizer_json.h"
#include "iree/tokenizer/format/tiktoken/tiktoken.h"
#include "tokenizer/json.h"

IREE_FLAG(string, tokenizer, "", "The file: tokenizer.json of Hugging Face's, or a .tiktoken file.");
IREE_FLAG(string, encoding, "",
          "Of a .tiktoken file: cl100k_base, o200k_base, o200k_harmony, r50k_base, gpt2, p50k_base or p50k_edit.");
IREE_FLAG(bool, decode, false, "The input is numbers of tokens, apart by commas, of which the text is printed.");
IREE_FLAG(bool, decode_special, false, "Special tokens are part of that text.");
IREE_FLAG(bool, special, true, "Adds the tokens that begin and end a text.");
IREE_FLAG(bool, match_special, true, "Special tokens in the text are those tokens; false: text like other text.");
IREE_FLAG(bool, batch, false, "Each line of stdin is an input.");
IREE_FLAG(bool, json, false, "Prints JSON.");
IREE_FLAG(bool, json_string, false, "The text is a JSON string, in quotation marks or without: \\u00e9 is a letter.");
IREE_FLAG(bool, offsets, false, "Prints of each token which bytes of the text it is.");
IREE_FLAG(bool, info, false, "Prints what the tokenizer is, as JSON.");
IREE_FLAG(int32_t, max_length, 0, "Prints this many tokens at most; 0: all.");

static const char usage[] =
    "Divides text into tokens, and makes text of them.\n"
    "\n"
    "Without an argument the input is stdin.\n"
    "\n"
    "Examples:\n"
    "  iree-tokenize --tokenizer=tokenizer.json \"Hello, world!\"\n"
    "  iree-tokenize --tokenizer=tokenizer.json --decode 101,7592,102\n"
    "  iree-tokenize --tokenizer=cl100k_base.tiktoken --encoding=cl100k_base --json \"Hello\"\n";

typedef struct output_t {
  iree_tokenizer_token_id_t* ids;
  iree_tokenizer_offset_t* offsets;
  iree_host_size_t count;
} output_t;

static void print_list(const output_t* out) {
  for (iree_host_size_t i = 0; i < out->count; ++i) {
    printf("%s%" PRId32, i ? "," : "", out->ids[i]);
    if (FLAG_offsets) printf("[%zu:%zu]", out->offsets[i].start, out->offsets[i].end);
  }
  printf("\n");
}

static void print_json(const output_t* out) {
  printf("{\"ids\":[");
  for (iree_host_size_t i = 0; i < out->count; ++i) printf("%s%" PRId32, i ? "," : "", out->ids[i]);
  printf("]");
  if (FLAG_offsets) {
    printf(",\"offsets\":[");
    for (iree_host_size_t i = 0; i < out->count; ++i) {
      printf("%s[%zu,%zu]", i ? "," : "", out->offsets[i].start, out->offsets[i].end);
    }
    printf("]");
  }
  printf("}\n");
}

static iree_status_t encode(const iree_tokenizer_t* tokenizer, iree_string_view_t text) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_tokenizer_encode_flags_t flags = IREE_TOKENIZER_ENCODE_FLAG_AT_INPUT_START;
  if (FLAG_special) flags |= IREE_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS;
  if (!FLAG_match_special) flags |= IREE_TOKENIZER_ENCODE_FLAG_NO_SPECIAL_TOKEN_MATCHING;
  output_t out = {0};
  // A normalizer may make a text longer; then what is needed is known.
  iree_host_size_t capacity = text.size * 2 + 16;
  iree_status_t status = iree_ok_status();
  for (int attempt = 0; attempt < 2; ++attempt, capacity = out.count) {
    iree_status_ignore(status);
    status = iree_allocator_realloc(allocator, capacity * sizeof(*out.ids), (void**)&out.ids);
    if (iree_status_is_ok(status)) {
      status = iree_allocator_realloc(allocator, capacity * sizeof(*out.offsets), (void**)&out.offsets);
    }
    if (!iree_status_is_ok(status)) break;
    status = iree_tokenizer_encode(tokenizer, text, flags,
                                   iree_tokenizer_make_token_output(out.ids, out.offsets, NULL, capacity), allocator,
                                   &out.count);
    if (!iree_status_is_resource_exhausted(status)) break;
  }
  if (FLAG_max_length > 0) out.count = iree_min(out.count, (iree_host_size_t)FLAG_max_length);
  if (iree_status_is_ok(status)) FLAG_json ? print_json(&out) : print_list(&out);
  iree_allocator_free(allocator, out.ids);
  iree_allocator_free(allocator, out.offsets);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Decoding
//===----------------------------------------------------------------------------------------------------------------===

static void print_text(iree_string_view_t text) {
  if (!FLAG_json) {
    printf("%.*s\n", (int)text.size, text.data);
    return;
  }
  printf("{\"text\":\"");
  for (size_t i = 0; i < text.size; ++i) {
    char c = text.data[i];
    if (c == '"' || c == '\\') {
      printf("\\%c", c);
    } else if ((unsigned char)c < 0x20) {
      printf("\\u%04x", (unsigned)c);
    } else {
      putchar(c);
    }
  }
  printf("\"}\n");
}

static iree_status_t parse_ids(iree_string_view_t text, iree_tokenizer_token_id_t* ids, iree_host_size_t* out_count) {
  for (iree_string_view_t rest = text, item; rest.size;) {
    iree_string_view_split(rest, ',', &item, &rest);
    item = iree_string_view_trim(item);
    if (!iree_string_view_atoi_int32(item, &ids[*out_count])) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' is no token's number; 1,2,3 are wanted",
                              (int)iree_min(item.size, 64), item.data);
    }
    ++*out_count;
  }
  return iree_ok_status();
}

static iree_status_t decode_ids(const iree_tokenizer_t* tokenizer, iree_tokenizer_token_id_list_t ids) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_tokenizer_decode_flags_t flags = FLAG_decode_special ? 0 : IREE_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS;
  iree_mutable_string_view_t text = {NULL, 0};
  iree_host_size_t size = 0;
  iree_status_t status = iree_tokenizer_decode(tokenizer, ids, flags, text, allocator, &size);
  if (iree_status_is_resource_exhausted(status)) {
    iree_status_ignore(status);
    text.size = size;
    status = iree_allocator_malloc(allocator, size, (void**)&text.data);
    if (iree_status_is_ok(status)) status = iree_tokenizer_decode(tokenizer, ids, flags, text, allocator, &size);
  }
  if (iree_status_is_ok(status)) print_text(iree_make_string_view(text.data, size));
  iree_allocator_free(allocator, text.data);
  return status;
}

static iree_status_t decode(const iree_tokenizer_t* tokenizer, iree_string_view_t text) {
  iree_tokenizer_token_id_t* ids = NULL;
  iree_host_size_t count = 0;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(iree_allocator_system(), text.size + 1, sizeof(*ids), (void**)&ids));
  iree_status_t status = parse_ids(text, ids, &count);
  if (iree_status_is_ok(status)) status = decode_ids(tokenizer, iree_tokenizer_make_token_id_list(ids, count));
  iree_allocator_free(iree_allocator_system(), ids);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Inputs
//===----------------------------------------------------------------------------------------------------------------===

static void print_info(const iree_tokenizer_t* tokenizer) {
  const iree_tokenizer_vocab_t* vocab = iree_tokenizer_vocab(tokenizer);
  iree_string_view_t type = iree_tokenizer_model_type_name(tokenizer);
  iree_tokenizer_special_ids_t ids = iree_tokenizer_vocab_special_ids(vocab);
  printf("{\"vocab_size\":%zu,\"model_type\":\"%.*s\"", iree_tokenizer_vocab_capacity(vocab), (int)type.size,
         type.data);
  if (iree_tokenizer_vocab_merge_count(vocab)) printf(",\"merge_count\":%zu", iree_tokenizer_vocab_merge_count(vocab));
  const struct {
    const char* name;
    int32_t id;
  } rows[] = {{"bos", ids.bos}, {"eos", ids.eos}, {"unk", ids.unk},  {"pad", ids.pad},
              {"cls", ids.cls}, {"sep", ids.sep}, {"mask", ids.mask}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].id >= 0) printf(",\"%s_id\":%" PRId32, rows[i].name, rows[i].id);
  }
  printf("}\n");
}

// The text that a JSON string stands for; a line of stdin has an end, which is none of it.
static iree_status_t encode_json(const iree_tokenizer_t* tokenizer, iree_string_view_t text) {
  store_t memory = store_make(iree_allocator_system());
  const json_t* root = NULL;
  char* quoted = NULL;
  iree_string_view_consume_suffix(&text, IREE_SV("\n"));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(memory.allocator, text.size + 2, (void**)&quoted));
  quoted[0] = quoted[text.size + 1] = '"';
  memcpy(quoted + 1, text.data, text.size);
  bool has_quotes = text.size >= 2 && text.data[0] == '"' && text.data[text.size - 1] == '"';
  iree_status_t status = json_parse(has_quotes ? text : iree_make_string_view(quoted, text.size + 2), &memory, &root);
  if (iree_status_is_ok(status)) status = encode(tokenizer, root->text);
  store_free(&memory);
  iree_allocator_free(memory.allocator, quoted);
  return status;
}

static iree_status_t process(const iree_tokenizer_t* tokenizer, iree_string_view_t text) {
  if (FLAG_json_string) return encode_json(tokenizer, text);
  return FLAG_decode ? decode(tokenizer, text) : encode(tokenizer, text);
}

static iree_status_t process_stdin(const iree_tokenizer_t* tokenizer) {
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read_stdin(iree_allocator_system(), &contents));
  iree_string_view_t rest = {(const char*)contents->const_buffer.data, contents->const_buffer.data_length}, line;
  iree_status_t status = iree_ok_status();
  if (!FLAG_batch) status = process(tokenizer, rest);
  while (FLAG_batch && rest.size && iree_status_is_ok(status)) {
    iree_string_view_split(rest, '\n', &line, &rest);
    status = process(tokenizer, line);
  }
  iree_io_file_contents_free(contents);
  return status;
}

static iree_status_t load(iree_tokenizer_t** out_tokenizer) {
  iree_string_view_t path = iree_make_cstring_view(FLAG_tokenizer);
  iree_io_file_contents_t* contents = NULL;
  if (!path.size) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--tokenizer=FILE is needed");
  bool is_ranks = iree_string_view_ends_with(path, IREE_SV(".tiktoken"));
  const iree_tokenizer_tiktoken_config_t* config =
      iree_tokenizer_tiktoken_config_by_name(iree_make_cstring_view(FLAG_encoding));
  if (is_ranks && !config) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "--encoding=%s: a .tiktoken file needs one of cl100k_base, o200k_base, o200k_harmony, "
                            "r50k_base, gpt2, p50k_base and p50k_edit",
                            FLAG_encoding);
  }
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(path, iree_allocator_system(), &contents));
  iree_string_view_t text = {(const char*)contents->const_buffer.data, contents->const_buffer.data_length};
  iree_status_t status = is_ranks ? iree_tokenizer_from_tiktoken(text, config, iree_allocator_system(), out_tokenizer)
                                  : iree_tokenizer_from_huggingface_json(text, iree_allocator_system(), out_tokenizer);
  iree_io_file_contents_free(contents);
  return iree_status_is_ok(status) ? status : iree_status_annotate_f(status, "reading '%s'", FLAG_tokenizer);
}

static iree_status_t run(int argc, char** argv) {
  iree_tokenizer_t* tokenizer = NULL;
  if (argc > 2) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "one text is the input; quote it");
  if (FLAG_batch && argc > 1) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--batch reads stdin, and no text");
  if (FLAG_json_string && FLAG_decode) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--json_string is for text, and --decode reads numbers");
  }
  IREE_RETURN_IF_ERROR(load(&tokenizer));
  iree_status_t status = iree_ok_status();
  if (FLAG_info) {
    print_info(tokenizer);
  } else {
    status = argc == 2 ? process(tokenizer, iree_make_cstring_view(argv[1])) : process_stdin(tokenizer);
  }
  iree_tokenizer_free(tokenizer);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-tokenize", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = run(argc, argv);
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
