// Tokenizers. They do not change, so that calls run without the interpreter's lock.
#include "tokenizer.h"

#include "iree/io/file_contents.h"
#include "iree/tokenizer/format/huggingface/tokenizer_json.h"
#include "iree/tokenizer/format/tiktoken/tiktoken.h"

typedef struct tokenizer_t {
  PyObject_HEAD;
  iree_tokenizer_t* ptr;
} tokenizer_t;
static PyTypeObject* tokenizer_type;

iree_tokenizer_t* tokenizer_of(PyObject* self) { return ((tokenizer_t*)self)->ptr; }

static void tokenizer_dealloc(PyObject* self) {
  iree_tokenizer_free(tokenizer_of(self));
  binding_destroy(self);
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

// `config`: of ranks; NULL reads Hugging Face's JSON.
static PyObject* read_tokenizer(iree_string_view_t text, const iree_tokenizer_tiktoken_config_t* config) {
  iree_tokenizer_t* ptr = NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = config ? iree_tokenizer_from_tiktoken(text, config, iree_allocator_system(), &ptr)
                  : iree_tokenizer_from_huggingface_json(text, iree_allocator_system(), &ptr);
  Py_END_ALLOW_THREADS;
  if (!binding_check(status, "Error reading tokenizer")) return NULL;
  tokenizer_t* self = binding_create(tokenizer_type);
  if (!self) return iree_tokenizer_free(ptr), NULL;
  self->ptr = ptr;
  return (PyObject*)self;
}

static const iree_tokenizer_tiktoken_config_t* find_encoding(iree_string_view_t name) {
  const iree_tokenizer_tiktoken_config_t* config = iree_tokenizer_tiktoken_config_by_name(name);
  if (!config) {
    PyErr_SetString(PyExc_ValueError,
                    "the encoding is none of cl100k_base, o200k_base, o200k_harmony, r50k_base, gpt2, p50k_base and "
                    "p50k_edit");
  }
  return config;
}

// A .tiktoken file is called as its encoding.
static PyObject* tokenizer_from_file(PyObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"path", NULL};
  PyObject* path = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", names, PyUnicode_FSConverter, &path)) return NULL;
  iree_string_view_t name = iree_make_cstring_view(PyBytes_AsString(path)), encoding = name;
  const iree_tokenizer_tiktoken_config_t* config = NULL;
  bool is_ranks = iree_string_view_consume_suffix(&encoding, IREE_SV(".tiktoken"));
  iree_host_size_t slash = iree_string_view_find_last_of(encoding, IREE_SV("/"), IREE_STRING_VIEW_NPOS);
  if (slash != IREE_STRING_VIEW_NPOS) encoding = iree_string_view_substr(encoding, slash + 1, IREE_HOST_SIZE_MAX);
  iree_io_file_contents_t* contents = NULL;
  PyObject* self = NULL;
  if ((!is_ranks || (config = find_encoding(encoding))) &&
      binding_check(iree_io_file_contents_read(name, iree_allocator_system(), &contents), "Error reading tokenizer")) {
    iree_const_byte_span_t bytes = contents->const_buffer;
    self = read_tokenizer(iree_make_string_view((const char*)bytes.data, bytes.data_length), config);
    iree_io_file_contents_free(contents);
  }
  Py_DECREF(path);
  return self;
}

static PyObject* tokenizer_from_json(PyObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"json", NULL};
  const char* text;
  Py_ssize_t size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#", names, &text, &size)) return NULL;
  return read_tokenizer(iree_make_string_view(text, (iree_host_size_t)size), NULL);
}

static PyObject* tokenizer_from_tiktoken(PyObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"data", "encoding", NULL};
  const char *text, *encoding;
  Py_ssize_t size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#s", names, &text, &size, &encoding)) return NULL;
  const iree_tokenizer_tiktoken_config_t* config = find_encoding(iree_make_cstring_view(encoding));
  return config ? read_tokenizer(iree_make_string_view(text, (iree_host_size_t)size), config) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Text to tokens and back
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* list_of_ids(const iree_tokenizer_token_id_t* ids, iree_host_size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  for (iree_host_size_t i = 0; list && i < count; ++i) {
    PyObject* id = PyLong_FromLong(ids[i]);
    if (!id || PyList_SetItem(list, (Py_ssize_t)i, id) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject* tokenizer_encode(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"text", "add_special_tokens", "no_special_token_matching", NULL};
  const char* text;
  Py_ssize_t size;
  int special = 0, literal = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#|pp", names, &text, &size, &special, &literal)) return NULL;
  iree_tokenizer_encode_flags_t flags = (special ? IREE_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS : 0) |
                                        (literal ? IREE_TOKENIZER_ENCODE_FLAG_NO_SPECIAL_TOKEN_MATCHING : 0);
  iree_host_size_t count = (iree_host_size_t)size + iree_tokenizer_max_special_token_count(tokenizer_of(self)) + 1;
  iree_tokenizer_token_id_t* ids = NULL;
  iree_status_t status = iree_ok_status();
  do {  // once more where a normalizer makes more of the text
    iree_host_size_t capacity = count;
    iree_status_free(status);
    PyMem_Free(ids);
    if (!(ids = PyMem_New(iree_tokenizer_token_id_t, capacity))) return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS;
    status = iree_tokenizer_encode(tokenizer_of(self), iree_make_string_view(text, (iree_host_size_t)size), flags,
                                   iree_tokenizer_make_token_output(ids, NULL, NULL, capacity), iree_allocator_system(),
                                   &count);
    Py_END_ALLOW_THREADS;
  } while (iree_status_is_resource_exhausted(status));
  PyObject* list = binding_check(status, "Error encoding") ? list_of_ids(ids, count) : NULL;
  PyMem_Free(ids);
  return list;
}

iree_tokenizer_token_id_t* tokenizer_read_ids(PyObject* sequence, iree_host_size_t* out_count) {
  PyObject* all = PySequence_Tuple(sequence);
  if (!all) return NULL;
  Py_ssize_t count = PyTuple_Size(all);
  iree_tokenizer_token_id_t* ids = PyMem_New(iree_tokenizer_token_id_t, (size_t)count + 1);
  if (!ids) PyErr_NoMemory();
  for (Py_ssize_t i = 0; ids && i < count && !PyErr_Occurred(); ++i) {
    long id = PyLong_AsLong(PyTuple_GetItem(all, i));
    if (id != (int32_t)id) PyErr_SetString(PyExc_OverflowError, "a token's number has 32 bits");
    ids[i] = (iree_tokenizer_token_id_t)id;
  }
  Py_DECREF(all);
  if (PyErr_Occurred()) PyMem_Free(ids), ids = NULL;
  *out_count = (iree_host_size_t)count;
  return ids;
}

static PyObject* tokenizer_decode(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"token_ids", "skip_special_tokens", NULL};
  PyObject* sequence;
  int skip = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p", names, &sequence, &skip)) return NULL;
  iree_tokenizer_token_id_list_t tokens = {0};
  iree_tokenizer_token_id_t* ids = tokenizer_read_ids(sequence, &tokens.count);
  if (!(tokens.values = ids)) return NULL;
  iree_tokenizer_decode_flags_t flags = skip ? IREE_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS : 0;
  iree_host_size_t size = 8 * tokens.count + 64;
  char* text = NULL;
  iree_status_t status = iree_ok_status();
  do {
    iree_host_size_t capacity = size;
    iree_status_free(status);
    PyMem_Free(text);
    if (!(text = PyMem_Malloc(capacity))) return PyMem_Free(ids), PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS;
    status = iree_tokenizer_decode(tokenizer_of(self), tokens, flags, (iree_mutable_string_view_t){text, capacity},
                                   iree_allocator_system(), &size);
    Py_END_ALLOW_THREADS;
  } while (iree_status_is_resource_exhausted(status));
  PyMem_Free(ids);
  PyObject* result = NULL;
  if (binding_check(status, "Error decoding")) result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
  PyMem_Free(text);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// The vocabulary
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* number_or_none(int32_t id) { return id < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(id); }

static PyObject* tokenizer_id_to_token(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"token_id", NULL};
  const iree_tokenizer_vocab_t* vocab = iree_tokenizer_vocab(tokenizer_of(self));
  int id;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i", names, &id)) return NULL;
  bool known = id >= 0 && (iree_host_size_t)id < iree_tokenizer_vocab_capacity(vocab) &&
               !(iree_tokenizer_vocab_token_attrs(vocab, id) & IREE_TOKENIZER_TOKEN_ATTR_UNUSED);
  iree_string_view_t text = known ? iree_tokenizer_vocab_token_text(vocab, id) : iree_string_view_empty();
  return known ? PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size, "replace") : Py_NewRef(Py_None);
}

static PyObject* tokenizer_token_to_id(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"token", NULL};
  const char* text;
  Py_ssize_t size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#", names, &text, &size)) return NULL;
  return number_or_none(iree_tokenizer_vocab_lookup(iree_tokenizer_vocab(tokenizer_of(self)),
                                                    iree_make_string_view(text, (iree_host_size_t)size)));
}

static PyObject* tokenizer_vocab_size(PyObject* self, void* unused) {
  return PyLong_FromSize_t(iree_tokenizer_vocab_token_count(iree_tokenizer_vocab(tokenizer_of(self))));
}

static PyObject* tokenizer_model_type(PyObject* self, void* unused) {
  return binding_text(iree_tokenizer_model_type_name(tokenizer_of(self)));
}

static PyObject* tokenizer_special_ids(PyObject* self, void* unused) {
  iree_tokenizer_special_ids_t ids = iree_tokenizer_vocab_special_ids(iree_tokenizer_vocab(tokenizer_of(self)));
  return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "bos", number_or_none(ids.bos), "eos", number_or_none(ids.eos),
                       "unk", number_or_none(ids.unk), "pad", number_or_none(ids.pad), "sep", number_or_none(ids.sep),
                       "cls", number_or_none(ids.cls), "mask", number_or_none(ids.mask));
}

static PyMethodDef tokenizer_methods[] = {
    {"from_file", BINDING_KEYWORDS(tokenizer_from_file) | METH_STATIC,
     "from_file(path): of tokenizer.json, or of a .tiktoken file that is called as its encoding."},
    {"from_huggingface_json", BINDING_KEYWORDS(tokenizer_from_json) | METH_STATIC, "from_huggingface_json(json)"},
    {"from_tiktoken", BINDING_KEYWORDS(tokenizer_from_tiktoken) | METH_STATIC, "from_tiktoken(data, encoding)"},
    {"encode", BINDING_KEYWORDS(tokenizer_encode),
     "encode(text, add_special_tokens=False, no_special_token_matching=False) -> list of numbers"},
    {"decode", BINDING_KEYWORDS(tokenizer_decode), "decode(token_ids, skip_special_tokens=False) -> text"},
    {"encode_stream", BINDING_KEYWORDS(tokenizer_encode_stream),
     "encode_stream(add_special_tokens=False, no_special_token_matching=False): text in pieces."},
    {"decode_stream", BINDING_KEYWORDS(tokenizer_decode_stream),
     "decode_stream(skip_special_tokens=False): tokens in pieces, and text as it is certain."},
    {"id_to_token", BINDING_KEYWORDS(tokenizer_id_to_token), "id_to_token(token_id): its text, or None."},
    {"token_to_id", BINDING_KEYWORDS(tokenizer_token_to_id), "token_to_id(token): its number, or None."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef tokenizer_properties[] = {
    {"vocab_size", tokenizer_vocab_size, NULL, "How many tokens there are.", NULL},
    {"model_type", tokenizer_model_type, NULL, "BPE, WordPiece, Unigram or WordLevel.", NULL},
    {"special_ids", tokenizer_special_ids, NULL, "Numbers of bos, eos, unk, pad, sep, cls and mask, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot tokenizer_slots[] = {{Py_tp_doc, "Text to tokens and back."},
                                        {Py_tp_dealloc, tokenizer_dealloc},
                                        {Py_tp_methods, tokenizer_methods},
                                        {Py_tp_getset, tokenizer_properties},
                                        {0, NULL}};

bool tokenizer_add(PyObject* module) {
  return binding_add_type(module, &tokenizer_type, "iree.runtime._binding.Tokenizer", sizeof(tokenizer_t),
                          tokenizer_slots, true) &&
         tokenizer_stream_add(module);
}
