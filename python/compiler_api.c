// iree.compiler._api: the embedding API's objects for Python, on the stable ABI of Python 3.10, so that one build
// serves that and later versions. Calls that may take long release the interpreter; an object that is at work meanwhile
// refuses other threads.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/version.h"
#include "iree/compiler/embedding_api.h"

typedef struct session_t {
  PyObject_HEAD;
  iree_compiler_session_t* session;
  int running;  // invocations that read its flags in other threads now
} session_t;

typedef struct source_t {
  PyObject_HEAD;
  iree_compiler_source_t* source;
  PyObject* session;
  PyObject* data;  // bytes that the source reads, or NULL
} source_t;

typedef struct output_t {
  PyObject_HEAD;
  iree_compiler_output_t* output;
  bool busy;
} output_t;

typedef struct invocation_t {
  PyObject_HEAD;
  iree_compiler_invocation_t* inv;
  PyObject *session, *source;
  PyObject* diagnostics;  // list of (severity, text)
  bool busy;
} invocation_t;

static PyTypeObject *session_type, *source_type, *output_type, *invocation_type;

// Sets ValueError to the error's text, and frees it. False when there was one.
static bool check(iree_compiler_error_t* error) {
  if (!error) return true;
  PyErr_SetString(PyExc_ValueError, ireeCompilerErrorGetMessage(error));
  ireeCompilerErrorDestroy(error);
  return false;
}

static PyObject* none_or_error(iree_compiler_error_t* error) {
  if (!check(error)) return NULL;
  Py_RETURN_NONE;
}

static bool usable(const void* object, bool busy, const char* what) {
  if (!object) PyErr_Format(PyExc_ValueError, "this %s is closed", what);
  if (object && busy) PyErr_Format(PyExc_RuntimeError, "this %s is at work in another thread", what);
  return object && !busy;
}

static void* create(PyTypeObject* type) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  return allocate(type, 0);
}

static void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

//===----------------------------------------------------------------------------------------------------------------===
// Session
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* session_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (!PyArg_ParseTuple(args, "")) return NULL;
  session_t* self = create(type);
  if (self && !(self->session = ireeCompilerSessionCreate())) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  return (PyObject*)self;
}

static void session_dealloc(PyObject* self) {
  ireeCompilerSessionDestroy(((session_t*)self)->session);
  destroy(self);
}

static PyObject* session_set_flags(PyObject* self, PyObject* args) {
  if (!usable(self, ((session_t*)self)->running, "session")) return NULL;
  Py_ssize_t count = PyTuple_Size(args);
  const char** flags = PyMem_Malloc(sizeof(*flags) * (size_t)(count + 1));
  if (!flags) return PyErr_NoMemory();
  PyObject* result = NULL;
  Py_ssize_t i = 0;
  for (; i < count; ++i) {
    if (!(flags[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(args, i), NULL))) break;
  }
  if (i == count) {
    result = none_or_error(ireeCompilerSessionSetFlags(((session_t*)self)->session, (int)count, flags));
  }
  PyMem_Free(flags);
  return result;
}

static void add_flag(const char* flag, size_t length, void* list) {
  PyObject* text = PyUnicode_FromStringAndSize(flag, (Py_ssize_t)length);
  if (text) PyList_Append(list, text);
  Py_XDECREF(text);
}

static PyObject* session_get_flags(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"non_default_only", NULL};
  int only = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", names, &only)) return NULL;
  PyObject* list = PyList_New(0);
  if (list) ireeCompilerSessionGetFlags(((session_t*)self)->session, only, add_flag, list);
  if (!PyErr_Occurred()) return list;
  Py_XDECREF(list);
  return NULL;
}

static void keep_diagnostic(enum iree_compiler_diagnostic_severity_t severity, const char* message, size_t size,
                            void* user) {
  static const char* const names[] = {"note", "warning", "error", "remark"};
  invocation_t* self = user;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject* text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)size, "replace");
  PyObject* item = text ? Py_BuildValue("(sO)", names[severity], text) : NULL;
  if (!item || PyList_Append(self->diagnostics, item)) PyErr_Clear();  // the outcome tells all the same
  Py_XDECREF(item);
  Py_XDECREF(text);
  PyGILState_Release(state);
}

static PyObject* session_invocation(PyObject* self, PyObject* unused) {
  invocation_t* inv = create(invocation_type);
  if (!inv) return NULL;
  inv->session = self;
  Py_INCREF(self);
  inv->diagnostics = PyList_New(0);
  inv->inv = ireeCompilerInvocationCreate(((session_t*)self)->session);
  if (!inv->diagnostics || !inv->inv) {
    Py_DECREF(inv);
    return PyErr_NoMemory();
  }
  ireeCompilerInvocationEnableCallbackDiagnostics(inv->inv, 0, keep_diagnostic, inv);
  return (PyObject*)inv;
}

static PyMethodDef session_methods[] = {
    {"set_flags", session_set_flags, METH_VARARGS, "set_flags(*flags): flags of iree-compile; all of them or none."},
    {"get_flags", (PyCFunction)(void (*)(void))session_get_flags, METH_VARARGS | METH_KEYWORDS,
     "The flags that were set."},
    {"invocation", session_invocation, METH_NOARGS, "A new Invocation."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot session_slots[] = {{Py_tp_new, session_new},
                                      {Py_tp_dealloc, session_dealloc},
                                      {Py_tp_methods, session_methods},
                                      {Py_tp_doc, "Flags that invocations share."},
                                      {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Source
//===----------------------------------------------------------------------------------------------------------------===

static void source_dealloc(PyObject* object) {
  source_t* self = (source_t*)object;
  ireeCompilerSourceDestroy(self->source);
  Py_XDECREF(self->session);
  Py_XDECREF(self->data);
  destroy(object);
}

static source_t* source_create(PyObject* session) {
  source_t* self = create(source_type);
  if (!self) return NULL;
  self->session = session;
  Py_INCREF(session);
  return self;
}

static PyObject* source_open_file(PyObject* type, PyObject* args) {
  PyObject *session, *path = NULL;
  if (!PyArg_ParseTuple(args, "O!O&", session_type, &session, PyUnicode_FSConverter, &path)) return NULL;
  source_t* self = source_create(session);
  const char* name = PyBytes_AsString(path);
  if (self && name && !check(ireeCompilerSourceOpenFile(((session_t*)session)->session, name, &self->source))) {
    Py_CLEAR(self);
  }
  Py_DECREF(path);
  return (PyObject*)self;
}

static PyObject* source_wrap_buffer(PyObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"session", "buffer", "buffer_name", NULL};
  PyObject *session, *buffer;
  const char* name = "source.mlir";
  char* data;
  Py_ssize_t size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|s", names, session_type, &session, &buffer, &name)) return NULL;
  source_t* self = source_create(session);
  if (!self) return NULL;
  self->data = PyBytes_FromObject(buffer);
  if (!self->data || PyBytes_AsStringAndSize(self->data, &data, &size) ||
      !check(ireeCompilerSourceWrapBuffer(((session_t*)session)->session, name, data, (size_t)size, false,
                                          &self->source))) {
    Py_CLEAR(self);
  }
  return (PyObject*)self;
}

static PyMethodDef source_methods[] = {
    {"open_file", source_open_file, METH_VARARGS | METH_STATIC, "open_file(session, path)"},
    {"wrap_buffer", (PyCFunction)(void (*)(void))source_wrap_buffer, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "wrap_buffer(session, buffer, buffer_name='source.mlir')"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot source_slots[] = {{Py_tp_dealloc, source_dealloc},
                                     {Py_tp_methods, source_methods},
                                     {Py_tp_doc, "A program: a file, or bytes."},
                                     {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Output
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* output_close(PyObject* object, PyObject* unused) {
  output_t* self = (output_t*)object;
  if (self->output && !usable(self->output, self->busy, "output")) return NULL;
  ireeCompilerOutputDestroy(self->output);
  self->output = NULL;
  Py_RETURN_NONE;
}

static void output_dealloc(PyObject* self) {
  ireeCompilerOutputDestroy(((output_t*)self)->output);
  destroy(self);
}

static PyObject* output_open_file(PyObject* type, PyObject* args) {
  PyObject* path = NULL;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  output_t* self = create(output_type);
  const char* name = PyBytes_AsString(path);
  if (self && name && !check(ireeCompilerOutputOpenFile(name, &self->output))) Py_CLEAR(self);
  Py_DECREF(path);
  return (PyObject*)self;
}

static PyObject* output_open_membuffer(PyObject* type, PyObject* unused) {
  output_t* self = create(output_type);
  if (self && !check(ireeCompilerOutputOpenMembuffer(&self->output))) Py_CLEAR(self);
  return (PyObject*)self;
}

static PyObject* output_keep(PyObject* object, PyObject* unused) {
  output_t* self = (output_t*)object;
  if (!usable(self->output, self->busy, "output")) return NULL;
  ireeCompilerOutputKeep(self->output);
  Py_INCREF(object);
  return object;
}

static PyObject* output_write(PyObject* object, PyObject* buffer) {
  output_t* self = (output_t*)object;
  char* data;
  Py_ssize_t size;
  if (!usable(self->output, self->busy, "output")) return NULL;
  PyObject* bytes = PyBytes_FromObject(buffer);
  if (!bytes) return NULL;
  PyObject* result = NULL;
  if (!PyBytes_AsStringAndSize(bytes, &data, &size)) {
    result = none_or_error(ireeCompilerOutputWrite(self->output, data, (size_t)size));
  }
  Py_DECREF(bytes);
  return result;
}

// Of a copy, which outlives the output.
static PyObject* output_map_memory(PyObject* object, PyObject* unused) {
  output_t* self = (output_t*)object;
  void* contents;
  uint64_t size;
  if (!usable(self->output, self->busy, "output")) return NULL;
  if (!check(ireeCompilerOutputMapMemory(self->output, &contents, &size))) return NULL;
  PyObject* bytes = PyBytes_FromStringAndSize(contents, (Py_ssize_t)size);
  PyObject* view = bytes ? PyMemoryView_FromObject(bytes) : NULL;
  Py_XDECREF(bytes);
  return view;
}

static PyObject* enter(PyObject* self, PyObject* unused) {
  Py_INCREF(self);
  return self;
}

static PyObject* output_exit(PyObject* self, PyObject* args) { return output_close(self, NULL); }

static PyMethodDef output_methods[] = {
    {"open_file", output_open_file, METH_VARARGS | METH_STATIC, "open_file(path): deleted unless it is kept."},
    {"open_membuffer", output_open_membuffer, METH_NOARGS | METH_STATIC, "In memory."},
    {"keep", output_keep, METH_NOARGS, "Lets a file stay."},
    {"write", output_write, METH_O, "write(buffer)"},
    {"map_memory", output_map_memory, METH_NOARGS, "What an output in memory has."},
    {"close", output_close, METH_NOARGS, "Twice is fine."},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", output_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot output_slots[] = {{Py_tp_dealloc, output_dealloc},
                                     {Py_tp_methods, output_methods},
                                     {Py_tp_doc, "Where results go: a file, or memory."},
                                     {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Invocation
//===----------------------------------------------------------------------------------------------------------------===

static void invocation_dealloc(PyObject* object) {
  invocation_t* self = (invocation_t*)object;
  ireeCompilerInvocationDestroy(self->inv);
  Py_XDECREF(self->source);
  Py_XDECREF(self->session);
  Py_XDECREF(self->diagnostics);
  destroy(object);
}

static PyObject* invocation_close(PyObject* object, PyObject* unused) {
  invocation_t* self = (invocation_t*)object;
  if (self->inv && !usable(self->inv, self->busy, "invocation")) return NULL;
  ireeCompilerInvocationDestroy(self->inv);
  self->inv = NULL;
  Py_CLEAR(self->source);
  Py_RETURN_NONE;
}

static PyObject* invocation_exit(PyObject* self, PyObject* args) { return invocation_close(self, NULL); }

static PyObject* invocation_console(PyObject* object, PyObject* unused) {
  invocation_t* self = (invocation_t*)object;
  if (!usable(self->inv, self->busy, "invocation")) return NULL;
  ireeCompilerInvocationEnableConsoleDiagnostics(self->inv);
  Py_RETURN_NONE;
}

static PyObject* invocation_phase(PyObject* object, PyObject* args) {
  invocation_t* self = (invocation_t*)object;
  const char* phase;
  if (!usable(self->inv, self->busy, "invocation") || !PyArg_ParseTuple(args, "s", &phase)) return NULL;
  ireeCompilerInvocationSetCompileToPhase(self->inv, phase);
  Py_RETURN_NONE;
}

static void begin_work(invocation_t* self) {
  Py_INCREF((PyObject*)self);
  self->busy = true;
  ++((session_t*)self->session)->running;
}

static void end_work(invocation_t* self) {
  --((session_t*)self->session)->running;
  self->busy = false;
  Py_DECREF((PyObject*)self);
}

static PyObject* invocation_parse(PyObject* object, PyObject* args) {
  invocation_t* self = (invocation_t*)object;
  PyObject* source;
  bool ok;
  if (!usable(self->inv, self->busy, "invocation") || !PyArg_ParseTuple(args, "O!", source_type, &source)) return NULL;
  if (!self->source) {
    self->source = source;
    Py_INCREF(source);
  }
  begin_work(self);
  Py_BEGIN_ALLOW_THREADS;
  ok = ireeCompilerInvocationParseSource(self->inv, ((source_t*)source)->source);
  Py_END_ALLOW_THREADS;
  if (!ok && self->source == source) Py_CLEAR(self->source);
  end_work(self);
  return PyBool_FromLong(ok);
}

static PyObject* invocation_execute(PyObject* object, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"pipeline", NULL};
  invocation_t* self = (invocation_t*)object;
  int pipeline = IREE_COMPILER_PIPELINE_STD;
  bool ok;
  if (!usable(self->inv, self->busy, "invocation") ||
      !PyArg_ParseTupleAndKeywords(args, kwargs, "|i", names, &pipeline)) {
    return NULL;
  }
  begin_work(self);
  Py_BEGIN_ALLOW_THREADS;
  ok = ireeCompilerInvocationPipeline(self->inv, (enum iree_compiler_pipeline_t)pipeline);
  Py_END_ALLOW_THREADS;
  end_work(self);
  return PyBool_FromLong(ok);
}

typedef enum { WRITE_IR, WRITE_BYTECODE, WRITE_MODULE } what_t;

static PyObject* write_to(PyObject* object, PyObject* output, what_t what, int version) {
  invocation_t* self = (invocation_t*)object;
  output_t* to = (output_t*)output;
  iree_compiler_error_t* error;
  if (!usable(self->inv, self->busy, "invocation") || !usable(to->output, to->busy, "output")) return NULL;
  begin_work(self);
  Py_INCREF(output);
  to->busy = true;
  Py_BEGIN_ALLOW_THREADS;
  error = what == WRITE_IR         ? ireeCompilerInvocationOutputIR(self->inv, to->output)
          : what == WRITE_BYTECODE ? ireeCompilerInvocationOutputIRBytecode(self->inv, to->output, version)
                                   : ireeCompilerInvocationOutputVMBytecode(self->inv, to->output);
  Py_END_ALLOW_THREADS;
  to->busy = false;
  Py_DECREF(output);
  end_work(self);
  return none_or_error(error);
}

static PyObject* invocation_output_ir(PyObject* self, PyObject* args) {
  PyObject* output;
  return PyArg_ParseTuple(args, "O!", output_type, &output) ? write_to(self, output, WRITE_IR, 0) : NULL;
}

static PyObject* invocation_output_ir_bytecode(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"output", "bytecode_version", NULL};
  PyObject* output;
  int version = -1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|i", names, output_type, &output, &version)) return NULL;
  return write_to(self, output, WRITE_BYTECODE, version);
}

static PyObject* invocation_output_vm_bytecode(PyObject* self, PyObject* args) {
  PyObject* output;
  return PyArg_ParseTuple(args, "O!", output_type, &output) ? write_to(self, output, WRITE_MODULE, 0) : NULL;
}

static PyObject* invocation_diagnostics(PyObject* object, PyObject* unused) {
  invocation_t* self = (invocation_t*)object;
  return PyList_GetSlice(self->diagnostics, 0, PyList_Size(self->diagnostics));
}

static PyMethodDef invocation_methods[] = {
    {"enable_console_diagnostics", invocation_console, METH_NOARGS, "Diagnostics to standard error, too."},
    {"set_compile_to_phase", invocation_phase, METH_VARARGS, "As iree-compile's --compile-to."},
    {"parse_source", invocation_parse, METH_VARARGS, "parse_source(source) -> bool; the diagnostics say why not."},
    {"execute", (PyCFunction)(void (*)(void))invocation_execute, METH_VARARGS | METH_KEYWORDS,
     "execute(pipeline=0) -> bool; the diagnostics say why not."},
    {"output_ir", invocation_output_ir, METH_VARARGS, "output_ir(output): as text."},
    {"output_ir_bytecode", (PyCFunction)(void (*)(void))invocation_output_ir_bytecode, METH_VARARGS | METH_KEYWORDS,
     "output_ir_bytecode(output, bytecode_version=-1): as MLIR bytecode."},
    {"output_vm_bytecode", invocation_output_vm_bytecode, METH_VARARGS, "output_vm_bytecode(output): the module."},
    {"diagnostics", invocation_diagnostics, METH_NOARGS, "List of (severity, text) so far."},
    {"close", invocation_close, METH_NOARGS, "Twice is fine."},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", invocation_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot invocation_slots[] = {{Py_tp_dealloc, invocation_dealloc},
                                         {Py_tp_methods, invocation_methods},
                                         {Py_tp_doc, "One program on its way."},
                                         {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// The module
//===----------------------------------------------------------------------------------------------------------------===

static void add_name(const char* name, void* list) { add_flag(name, strlen(name), list); }

static PyObject* query_available_targets(PyObject* self, PyObject* unused) {
  PyObject* list = PyList_New(0);
  if (list) ireeCompilerEnumerateRegisteredHALTargetBackends(add_name, list);
  return list;
}

static PyMethodDef functions[] = {
    {"query_available_targets", query_available_targets, METH_NOARGS, "Names of the target backends."},
    {NULL, NULL, 0, NULL}};

// `made`: only its own functions make objects of the type.
static bool add_type(PyObject* module, PyTypeObject** type, const char* name, size_t size, PyType_Slot* slots,
                     bool made) {
  unsigned flags = Py_TPFLAGS_DEFAULT | (made ? Py_TPFLAGS_DISALLOW_INSTANTIATION : 0);
  PyType_Spec spec = {name, (int)size, 0, flags, slots};
  *type = (PyTypeObject*)PyType_FromSpec(&spec);
  return *type && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, (PyObject*)*type) == 0;
}

PyMODINIT_FUNC PyInit__api(void) {
  static struct PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_api", "IREE's compiler.", -1, functions, NULL, NULL, NULL, NULL};
  ireeCompilerGlobalInitialize();
  PyObject* module = PyModule_Create(&definition);
  if (module &&
      (PyModule_AddStringConstant(module, "version", IREE_C_VERSION) ||
       !add_type(module, &session_type, "iree.compiler._api.Session", sizeof(session_t), session_slots, false) ||
       !add_type(module, &source_type, "iree.compiler._api.Source", sizeof(source_t), source_slots, true) ||
       !add_type(module, &output_type, "iree.compiler._api.Output", sizeof(output_t), output_slots, true) ||
       !add_type(module, &invocation_type, "iree.compiler._api.Invocation", sizeof(invocation_t), invocation_slots,
                 true))) {
    Py_CLEAR(module);
  }
  return module;
}
