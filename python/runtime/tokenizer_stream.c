// Streams of tokenizers: tokens come in pieces and give text as it is certain; text comes in pieces. Calls of a stream
// hold the interpreter's lock, so that threads may share it.
#include "tokenizer.h"

typedef struct stream_t {
  PyObject_HEAD;
  PyObject* tokenizer;
  PyObject* text;                        // what an encoder has so far, a list
  iree_tokenizer_decode_state_t* state;  // a decoder's
  bool special, literal, ended;
} stream_t;
static PyTypeObject *encoder_type, *decoder_type;

static void stream_dealloc(PyObject* object) {
  stream_t* self = (stream_t*)object;
  iree_tokenizer_decode_state_deinitialize(self->state);
  PyMem_Free(self->state);
  Py_XDECREF(self->text);
  Py_XDECREF(self->tokenizer);
  binding_destroy(object);
}

static bool is_open(const stream_t* self) {
  if (self->ended) PyErr_SetString(PyExc_ValueError, "the stream is finalized; make another one");
  return !self->ended;
}

static PyObject* stream_enter(PyObject* self, PyObject* unused) { return Py_NewRef(self); }

static PyObject* stream_exit(PyObject* self, PyObject* args) {
  ((stream_t*)self)->ended = true;
  Py_RETURN_NONE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Text to tokens
//===----------------------------------------------------------------------------------------------------------------===

PyObject* tokenizer_encode_stream(PyObject* tokenizer, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"add_special_tokens", "no_special_token_matching", NULL};
  int special = 0, literal = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|pp", names, &special, &literal)) return NULL;
  stream_t* self = binding_create(encoder_type);
  if (!self) return NULL;
  self->special = special;
  self->literal = literal;
  self->tokenizer = Py_NewRef(tokenizer);
  self->text = PyList_New(0);
  if (!self->text) Py_CLEAR(self);
  return (PyObject*)self;
}

static PyObject* encoder_feed(PyObject* object, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"chunk", NULL};
  stream_t* self = (stream_t*)object;
  PyObject* chunk;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U", names, &chunk) || !is_open(self)) return NULL;
  return PyList_Append(self->text, chunk) ? NULL : PyList_New(0);
}

static PyObject* encoder_finalize(PyObject* object, PyObject* unused) {
  stream_t* self = (stream_t*)object;
  if (!is_open(self)) return NULL;
  PyObject *empty = PyUnicode_FromString(""), *text = empty ? PyUnicode_Join(empty, self->text) : NULL, *ids = NULL;
  if (text) {
    ids = PyObject_CallMethod(self->tokenizer, "encode", "OOO", text, self->special ? Py_True : Py_False,
                              self->literal ? Py_True : Py_False);
  }
  self->ended = ids != NULL;
  Py_XDECREF(text);
  Py_XDECREF(empty);
  return ids;
}

//===----------------------------------------------------------------------------------------------------------------===
// Tokens to text
//===----------------------------------------------------------------------------------------------------------------===

PyObject* tokenizer_decode_stream(PyObject* tokenizer, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"skip_special_tokens", NULL};
  int skip = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", names, &skip)) return NULL;
  const iree_tokenizer_t* ptr = tokenizer_of(tokenizer);
  iree_host_size_t size = 0;
  if (!binding_check(iree_tokenizer_decode_state_calculate_size(ptr, &size), "Error decoding")) return NULL;
  uint8_t* storage = PyMem_Malloc(size);
  if (!storage) return PyErr_NoMemory();
  iree_tokenizer_decode_state_t* state = NULL;
  iree_tokenizer_decode_flags_t flags = skip ? IREE_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS : 0;
  iree_status_t status = iree_tokenizer_decode_state_initialize(ptr, flags, iree_make_byte_span(storage, size), &state);
  stream_t* self = binding_check(status, "Error decoding") ? binding_create(decoder_type) : NULL;
  if (!self) return PyMem_Free(storage), NULL;
  self->state = state;
  self->tokenizer = Py_NewRef(tokenizer);
  return (PyObject*)self;
}

// Grows a text by half, and by what the last token may need.
static bool grow(char** text, iree_host_size_t* capacity) {
  char* larger = PyMem_Realloc(*text, *capacity + *capacity / 2 + 64);
  if (!larger) return PyErr_NoMemory(), false;
  *text = larger;
  *capacity += *capacity / 2 + 64;
  return true;
}

// Feeds tokens, or ends the stream if there are none to give.
static PyObject* decode(stream_t* self, iree_tokenizer_token_id_list_t tokens, bool is_end) {
  iree_host_size_t capacity = 0, size = 0;
  char* text = NULL;
  iree_status_t status = iree_ok_status();
  bool ok = grow(&text, &capacity), done = false;
  while (ok && !done) {
    iree_mutable_string_view_t rest = {text + size, capacity - size};
    iree_host_size_t taken = 0, length = 0;
    if (is_end) {
      status = iree_tokenizer_decode_state_finalize(self->state, rest, &length);
      done = !iree_status_is_resource_exhausted(status);
    } else {
      status = iree_tokenizer_decode_state_feed(self->state, tokens, rest, &taken, &length);
      tokens.values += taken;
      tokens.count -= taken;
      done = !iree_status_is_ok(status) || !tokens.count;
    }
    if (!done) iree_status_free(status), length = is_end ? 0 : length, ok = grow(&text, &capacity);
    size += length;
  }
  PyObject* result = NULL;
  if (ok && binding_check(status, "Error decoding")) result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
  PyMem_Free(text);
  return result;
}

static PyObject* decoder_feed(PyObject* object, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"token_ids", NULL};
  stream_t* self = (stream_t*)object;
  PyObject* sequence;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &sequence) || !is_open(self)) return NULL;
  iree_tokenizer_token_id_list_t tokens = {0};
  iree_tokenizer_token_id_t* ids = tokenizer_read_ids(sequence, &tokens.count);
  if (!(tokens.values = ids)) return NULL;
  PyObject* text = decode(self, tokens, false);
  PyMem_Free(ids);
  return text;
}

static PyObject* decoder_feed_one(PyObject* object, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"token_id", NULL};
  iree_tokenizer_token_id_t id;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i", names, &id) || !is_open((stream_t*)object)) return NULL;
  return decode((stream_t*)object, (iree_tokenizer_token_id_list_t){.values = &id, .count = 1}, false);
}

static PyObject* decoder_finalize(PyObject* object, PyObject* unused) {
  stream_t* self = (stream_t*)object;
  PyObject* text = is_open(self) ? decode(self, (iree_tokenizer_token_id_list_t){0}, true) : NULL;
  self->ended |= text != NULL;
  return text;
}

static PyMethodDef encoder_methods[] = {
    {"feed", BINDING_KEYWORDS(encoder_feed),
     "feed(chunk) -> []: more of the text. Its tokens come at the end, as what follows may change them."},
    {"finalize", encoder_finalize, METH_NOARGS, "finalize() -> list of the text's numbers"},
    {"__enter__", stream_enter, METH_NOARGS, NULL},
    {"__exit__", stream_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyMethodDef decoder_methods[] = {
    {"feed", BINDING_KEYWORDS(decoder_feed), "feed(token_ids) -> text that what follows does not change"},
    {"feed_one", BINDING_KEYWORDS(decoder_feed_one), "feed_one(token_id) -> text"},
    {"finalize", decoder_finalize, METH_NOARGS, "finalize() -> the rest of the text"},
    {"__enter__", stream_enter, METH_NOARGS, NULL},
    {"__exit__", stream_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

bool tokenizer_stream_add(PyObject* module) {
  PyType_Slot encoder[] = {{Py_tp_doc, "Text in pieces to tokens."},
                           {Py_tp_dealloc, stream_dealloc},
                           {Py_tp_methods, encoder_methods},
                           {0, NULL}};
  PyType_Slot decoder[] = {{Py_tp_doc, "Tokens in pieces to text."},
                           {Py_tp_dealloc, stream_dealloc},
                           {Py_tp_methods, decoder_methods},
                           {0, NULL}};
  return binding_add_type(module, &encoder_type, "iree.runtime._binding.TokenizerEncodeStream", sizeof(stream_t),
                          encoder, true) &&
         binding_add_type(module, &decoder_type, "iree.runtime._binding.TokenizerDecodeStream", sizeof(stream_t),
                          decoder, true);
}
