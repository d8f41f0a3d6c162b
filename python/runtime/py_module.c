// Modules whose functions are Python's: PyModuleInterface(name, constructor), `export`, then `create`, once.
#include <stdlib.h>
#include <string.h>

#include "binding.h"

static PyTypeObject* interface_type;

typedef struct export_t {
  char *name, *convention;
  iree_string_view_t arguments, results;  // letters of the convention
  PyObject* callable;
} export_t;

// The module is a part of the object, which lives as long as it does.
typedef struct interface_t {
  PyObject_HEAD;
  iree_vm_module_t module;
  char* name;
  PyObject* constructor;  // state = constructor(interface), for each context
  export_t* exports;
  size_t count;
  bool is_created, is_destroyed;
} interface_t;

//===----------------------------------------------------------------------------------------------------------------===
// What programs call: without the interpreter's lock
//===----------------------------------------------------------------------------------------------------------------===

static void module_destroy(void* self) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  ((interface_t*)self)->is_destroyed = true;
  Py_DECREF((PyObject*)self);
  PyGILState_Release(state);
}

static iree_string_view_t module_name(void* self) { return iree_make_cstring_view(((interface_t*)self)->name); }

static iree_vm_module_signature_t module_signature(void* self) {
  return (iree_vm_module_signature_t){.export_function_count = ((interface_t*)self)->count};
}

static iree_status_t module_dependencies(void* self, iree_vm_module_dependency_callback_t callback, void* user_data) {
  return iree_ok_status();
}

static bool is_export(iree_vm_function_linkage_t linkage) {
  return linkage == IREE_VM_FUNCTION_LINKAGE_EXPORT || linkage == IREE_VM_FUNCTION_LINKAGE_EXPORT_OPTIONAL;
}

static iree_status_t module_get_function(void* object, iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                         iree_vm_function_t* out_function, iree_string_view_t* out_name,
                                         iree_vm_function_signature_t* out_signature) {
  interface_t* self = object;
  if (!is_export(linkage) || ordinal >= self->count) return iree_make_status(IREE_STATUS_NOT_FOUND);
  export_t* each = &self->exports[ordinal];
  if (out_function) *out_function = (iree_vm_function_t){&self->module, (uint16_t)linkage, (uint32_t)ordinal};
  if (out_name) *out_name = iree_make_cstring_view(each->name);
  if (out_signature) out_signature->calling_convention = iree_make_cstring_view(each->convention);
  return iree_ok_status();
}

static iree_status_t module_lookup(void* object, iree_vm_function_linkage_t linkage, iree_string_view_t name,
                                   const iree_vm_function_signature_t* expected, iree_vm_function_t* out_function) {
  interface_t* self = object;
  for (size_t i = 0; i < self->count && is_export(linkage); ++i) {
    if (!iree_string_view_equal(name, iree_make_cstring_view(self->exports[i].name))) continue;
    return module_get_function(self, linkage, i, out_function, NULL, NULL);
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "module '%s' has no function '%.*s'", self->name, (int)name.size,
                          name.data);
}

// Python's exception as a status: `ValueError: text`.
static iree_status_t take_exception(const char* where) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL, *text = value ? PyObject_Str(value) : NULL;
  const char *kind = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL,
             *said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  iree_status_t status =
      iree_make_status(IREE_STATUS_UNKNOWN, "%s: %s: %s", where, kind ? kind : "exception", said ? said : "");
  PyErr_Clear();
  Py_XDECREF(name);
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return status;
}

static iree_status_t module_alloc_state(void* object, iree_allocator_t allocator, iree_vm_module_state_t** out_state) {
  interface_t* self = object;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject* made = PyObject_CallFunctionObjArgs(self->constructor, (PyObject*)self, NULL);
  iree_status_t status = made ? iree_ok_status() : take_exception("Exception in call to PyModule constructor");
  *out_state = (iree_vm_module_state_t*)made;
  PyGILState_Release(state);
  return status;
}

static void module_free_state(void* self, iree_vm_module_state_t* module_state) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  Py_XDECREF((PyObject*)module_state);
  PyGILState_Release(state);
}

static iree_status_t module_fork_state(void* self, iree_vm_module_state_t* parent, iree_allocator_t allocator,
                                       iree_vm_module_state_t** out_child) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "contexts with modules of Python's cannot be forked");
}

static iree_status_t module_resolve_import(void* self, iree_vm_module_state_t* module_state, iree_host_size_t ordinal,
                                           const iree_vm_function_t* function,
                                           const iree_vm_function_signature_t* signature) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "modules of Python's import nothing");
}

static iree_status_t module_notify(void* self, iree_vm_module_state_t* module_state, iree_vm_signal_t signal) {
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls: arguments and results lie as in a struct, one behind the other
//===----------------------------------------------------------------------------------------------------------------===

typedef struct place_t {
  uint8_t* data;
  size_t offset;  // of the next one
} place_t;

static uint8_t* advance(place_t* place, size_t size, size_t alignment) {
  size_t start = iree_host_align(place->offset, alignment);
  place->offset = start + size;
  return place->data + start;
}

// A number, or a VmRef of an object of the runtime. NULL with an exception.
static PyObject* unpack(char letter, place_t* place) {
  iree_vm_variant_t variant = iree_vm_variant_empty();
#define NUMBER(LETTER, T, member)                                                                                    \
  case IREE_VM_CCONV_TYPE_##LETTER:                                                                                  \
    memcpy(&variant.member, advance(place, sizeof(variant.member), sizeof(variant.member)), sizeof(variant.member)); \
    variant.type = iree_vm_make_value_type_def(T);                                                                   \
    break;
  switch (letter) {
    NUMBER(I32, IREE_VM_VALUE_TYPE_I32, i32)
    NUMBER(I64, IREE_VM_VALUE_TYPE_I64, i64)
    NUMBER(F32, IREE_VM_VALUE_TYPE_F32, f32)
    NUMBER(F64, IREE_VM_VALUE_TYPE_F64, f64)
    default: {  // a reference, which the call keeps
      memcpy(&variant.ref, advance(place, sizeof(variant.ref), _Alignof(iree_vm_ref_t)), sizeof(variant.ref));
      variant.type = iree_vm_make_ref_type_def(variant.ref.type);
      PyObject* object = variant.ref.ptr ? binding_from_variant(&variant) : Py_NewRef(Py_None);
      PyObject* values = object ? PyImport_ImportModule("iree.runtime.values") : NULL;
      PyObject* ref = values ? PyObject_CallMethod(values, "VmRef", "O", object) : NULL;
      Py_XDECREF(values);
      Py_XDECREF(object);
      return ref;
    }
  }
#undef NUMBER
  return binding_from_variant(&variant);
}

static PyObject* unpack_arguments(iree_string_view_t letters, place_t place, PyObject* state) {
  PyObject* arguments = PyList_New(0);
  if (arguments && PyList_Append(arguments, state)) Py_CLEAR(arguments);
  for (iree_host_size_t i = 0; arguments && i < letters.size; ++i) {
    if (letters.data[i] == IREE_VM_CCONV_TYPE_VOID) continue;
    PyObject* value = unpack(letters.data[i], &place);
    if (!value || PyList_Append(arguments, value)) Py_CLEAR(arguments);
    Py_XDECREF(value);
  }
  PyObject* tuple = arguments ? PyList_AsTuple(arguments) : NULL;
  Py_XDECREF(arguments);
  return tuple;
}

static bool pack(char letter, PyObject* value, place_t* place) {
#define STORE(T, expression)                                                         \
  do {                                                                               \
    T number = (T)(expression);                                                      \
    memcpy(advance(place, sizeof(number), sizeof(number)), &number, sizeof(number)); \
  } while (0)
  switch (letter) {
    case IREE_VM_CCONV_TYPE_I32: {
      long long wide = PyLong_AsLongLong(value);
      if (wide != (int32_t)wide && !PyErr_Occurred()) {
        PyErr_Format(PyExc_OverflowError, "%lld has more than 32 bits", wide);
      }
      STORE(int32_t, wide);
      break;
    }
    case IREE_VM_CCONV_TYPE_I64:
      STORE(int64_t, PyLong_AsLongLong(value));
      break;
    case IREE_VM_CCONV_TYPE_F32:
      STORE(float, PyFloat_AsDouble(value));
      break;
    case IREE_VM_CCONV_TYPE_F64:
      STORE(double, PyFloat_AsDouble(value));
      break;
    default: {
      iree_vm_ref_t ref = iree_vm_ref_null();
      if (value != Py_None && !binding_object_to_ref(value, &ref)) return false;
      memcpy(advance(place, sizeof(ref), _Alignof(iree_vm_ref_t)), &ref, sizeof(ref));
    }
  }
#undef STORE
  return !PyErr_Occurred();
}

// One result is itself, several are a sequence, none may be anything.
static bool pack_results(iree_string_view_t letters, PyObject* returned, place_t place) {
  if (!letters.size || letters.data[0] == IREE_VM_CCONV_TYPE_VOID) return true;
  if (letters.size == 1) return pack(letters.data[0], returned, &place);
  PyObject* all = PySequence_Tuple(returned);
  bool good = all != NULL;
  if (good && PyTuple_Size(all) != (Py_ssize_t)letters.size) {
    PyErr_Format(PyExc_ValueError, "%zu results are needed, not %zd", (size_t)letters.size, PyTuple_Size(all));
    good = false;
  }
  for (iree_host_size_t i = 0; good && i < letters.size; ++i) {
    good = pack(letters.data[i], PyTuple_GetItem(all, (Py_ssize_t)i), &place);
  }
  Py_XDECREF(all);
  return good;
}

static iree_status_t call_python(const export_t* each, PyObject* state, const iree_vm_function_call_t* call) {
  PyObject* arguments = unpack_arguments(each->arguments, (place_t){call->arguments.data}, state);
  PyObject* returned = arguments ? PyObject_CallObject(each->callable, arguments) : NULL;
  bool good = returned && pack_results(each->results, returned, (place_t){call->results.data});
  iree_status_t status = good ? iree_ok_status() : take_exception("Exception raised from Python module");
  Py_XDECREF(arguments);
  Py_XDECREF(returned);
  return status;
}

static iree_status_t module_begin_call(void* object, iree_vm_stack_t* stack, iree_vm_function_call_t call) {
  interface_t* self = object;
  if (call.function.ordinal >= self->count) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no such function");
  const export_t* each = &self->exports[call.function.ordinal];
  iree_host_size_t arguments = 0, results = 0;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_compute_cconv_fragment_size(each->arguments, NULL, &arguments));
  IREE_RETURN_IF_ERROR(iree_vm_function_call_compute_cconv_fragment_size(each->results, NULL, &results));
  if (call.arguments.data_length != arguments || call.results.data_length != results) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%s' takes %zu and gives %zu bytes, not %zu and %zu",
                            each->name, arguments, results, call.arguments.data_length, call.results.data_length);
  }
  iree_vm_stack_frame_t* frame = NULL;
  IREE_RETURN_IF_ERROR(
      iree_vm_stack_function_enter(stack, &call.function, IREE_VM_STACK_FRAME_NATIVE, 0, NULL, &frame));
  memset(call.results.data, 0, call.results.data_length);
  PyGILState_STATE state = PyGILState_Ensure();
  iree_status_t status = call_python(each, (PyObject*)frame->module_state, &call);
  PyGILState_Release(state);
  return iree_status_is_ok(status) ? iree_vm_stack_function_leave(stack) : status;
}

//===----------------------------------------------------------------------------------------------------------------===
// PyModuleInterface
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t initialize(interface_t* self) {
  IREE_RETURN_IF_ERROR(iree_vm_module_initialize(&self->module, self));
  self->module.destroy = module_destroy;
  self->module.name = module_name;
  self->module.signature = module_signature;
  self->module.enumerate_dependencies = module_dependencies;
  self->module.lookup_function = module_lookup;
  self->module.get_function = module_get_function;
  self->module.alloc_state = module_alloc_state;
  self->module.free_state = module_free_state;
  self->module.fork_state = module_fork_state;
  self->module.resolve_import = module_resolve_import;
  self->module.notify = module_notify;
  self->module.begin_call = module_begin_call;
  return iree_ok_status();
}

static PyObject* interface_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"module_name", "ctor", NULL};
  const char* name;
  PyObject* constructor;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO", names, &name, &constructor)) return NULL;
  interface_t* self = binding_create(interface_type);
  if (!self) return NULL;
  self->name = strdup(name);
  self->constructor = Py_NewRef(constructor);
  if (!self->name) PyErr_NoMemory();
  if (!self->name || !binding_check(initialize(self), "Error creating module")) Py_CLEAR(self);
  return (PyObject*)self;
}

static void interface_dealloc(PyObject* object) {
  interface_t* self = (interface_t*)object;
  for (size_t i = 0; i < self->count; ++i) {
    free(self->exports[i].name);
    free(self->exports[i].convention);
    Py_XDECREF(self->exports[i].callable);
  }
  free(self->exports);
  free(self->name);
  Py_XDECREF(self->constructor);
  binding_destroy(object);
}

// Letters of numbers and references; lists of them are not known here.
static iree_status_t split_convention(export_t* each) {
  iree_vm_function_signature_t signature = {iree_make_cstring_view(each->convention)};
  IREE_RETURN_IF_ERROR(iree_vm_function_call_get_cconv_fragments(&signature, &each->arguments, &each->results));
  iree_host_size_t size;
  if (iree_vm_function_call_is_variadic_cconv(each->arguments) ||
      iree_vm_function_call_is_variadic_cconv(each->results)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "functions of Python's take a fixed number of arguments, not %s",
                            each->convention);
  }
  IREE_RETURN_IF_ERROR(iree_vm_function_call_compute_cconv_fragment_size(each->arguments, NULL, &size));
  return iree_vm_function_call_compute_cconv_fragment_size(each->results, NULL, &size);
}

static bool check_export(interface_t* self, const char* name, PyObject* callable) {
  if (self->is_created) {
    PyErr_Format(PyExc_RuntimeError, "module '%s' is created already", self->name);
  } else if (!PyCallable_Check(callable)) {
    PyErr_Format(PyExc_TypeError, "a callable is needed, not %R", callable);
  }
  for (size_t i = 0; i < self->count && !PyErr_Occurred(); ++i) {
    if (!strcmp(self->exports[i].name, name)) PyErr_Format(PyExc_ValueError, "there is a function '%s' already", name);
  }
  return !PyErr_Occurred();
}

static PyObject* interface_export(PyObject* object, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"name", "cconv", "callable", NULL};
  interface_t* self = (interface_t*)object;
  const char *name, *convention;
  PyObject* callable;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ssO", names, &name, &convention, &callable) ||
      !check_export(self, name, callable)) {
    return NULL;
  }
  export_t* exports = realloc(self->exports, (self->count + 1) * sizeof(*exports));
  if (!exports) return PyErr_NoMemory();
  self->exports = exports;
  export_t* each = &exports[self->count];
  *each = (export_t){.name = strdup(name), .convention = strdup(convention)};
  iree_status_t status =
      each->name && each->convention ? split_convention(each) : iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  if (!binding_check(status, "Unparsable calling convention")) {
    free(each->name);
    free(each->convention);
    return NULL;
  }
  each->callable = Py_NewRef(callable);
  ++self->count;
  Py_RETURN_NONE;
}

static PyObject* interface_create(PyObject* object, PyObject* unused) {
  interface_t* self = (interface_t*)object;
  if (self->is_created) return PyErr_Format(PyExc_RuntimeError, "module '%s' is created already", self->name);
  self->is_created = true;
  Py_INCREF(object);  // the module's
  return binding_wrap(KIND_MODULE, &self->module);
}

static PyObject* interface_initialized(PyObject* self, void* unused) {
  return PyBool_FromLong(((interface_t*)self)->is_created);
}
static PyObject* interface_destroyed(PyObject* self, void* unused) {
  return PyBool_FromLong(((interface_t*)self)->is_destroyed);
}

static PyObject* interface_repr(PyObject* object) {
  interface_t* self = (interface_t*)object;
  return PyUnicode_FromFormat("<PyModuleInterface '%s'%s>", self->name,
                              self->is_destroyed ? " destroyed"
                              : self->is_created ? " initialized"
                                                 : "");
}

bool py_module_add(PyObject* module) {
  static PyMethodDef methods[] = {{"export", BINDING_KEYWORDS(interface_export),
                                   "export(name, cconv, callable): `0`, letters of arguments (i, I, f, F, r), `_`, "
                                   "letters of results; the callable "
                                   "gets the context's state first."},
                                  {"create", interface_create, METH_NOARGS, "The VmModule, once."},
                                  {NULL, NULL, 0, NULL}};
  static PyGetSetDef properties[] = {
      {"initialized", interface_initialized, NULL, "Whether the module was created.", NULL},
      {"destroyed", interface_destroyed, NULL, "Whether it is gone.", NULL},
      {NULL, NULL, NULL, NULL, NULL}};
  static PyType_Slot slots[] = {
      {Py_tp_new, interface_new},
      {Py_tp_dealloc, interface_dealloc},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_repr, interface_repr},
      {Py_tp_doc,
       "PyModuleInterface(module_name, ctor): a module of Python's functions; ctor(interface) is a "
       "context's state."},
      {0, NULL}};
  return binding_add_type(module, &interface_type, "iree.runtime._binding.PyModuleInterface", sizeof(interface_t),
                          slots, false);
}
