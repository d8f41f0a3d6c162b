// See binding.h: the module itself, and what its parts share.
#include "binding.h"

#include <string.h>

#include "base/version.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/drivers/init.h"

PyTypeObject* binding_types[KIND_COUNT];

//===----------------------------------------------------------------------------------------------------------------===
// Objects
//===----------------------------------------------------------------------------------------------------------------===

void* binding_create(PyTypeObject* type) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  return allocate(type, 0);
}

void binding_destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static void retain(kind_t kind, void* ptr) {
  switch (kind) {
#define HANDLE(KIND, python, name, doc) \
  case KIND_##KIND:                     \
    name##_retain(ptr);                 \
    break;
#include "handles.def"
    default:
      break;
  }
}

// Releasing may wait for work of the device, so the interpreter goes on meanwhile.
static void release(kind_t kind, void* ptr) {
  if (!ptr) return;
  Py_BEGIN_ALLOW_THREADS;
  switch (kind) {
#define HANDLE(KIND, python, name, doc) \
  case KIND_##KIND:                     \
    name##_release(ptr);                \
    break;
#include "handles.def"
    default:
      break;
  }
  Py_END_ALLOW_THREADS;
}

PyObject* binding_wrap(kind_t kind, void* ptr) {
  handle_t* self = binding_create(binding_types[kind]);
  if (self) {
    self->ptr = ptr;
  } else {
    release(kind, ptr);
  }
  return (PyObject*)self;
}

PyObject* binding_wrap_retain(kind_t kind, void* ptr) {
  retain(kind, ptr);
  return binding_wrap(kind, ptr);
}

bool binding_is(PyObject* object, kind_t kind) { return PyObject_TypeCheck(object, binding_types[kind]); }

static int convert(PyObject* object, kind_t kind, const char* name, void** out) {
  if (!binding_is(object, kind)) {
    PyErr_Format(PyExc_TypeError, "a %s is needed, not %R", name, (PyObject*)Py_TYPE(object));
    return 0;
  }
  *out = binding_ptr(object);
  return 1;
}

#define HANDLE(KIND, python, name, doc)                            \
  int binding_##name(PyObject* object, name##_t** out) {           \
    void* ptr = NULL;                                              \
    if (!convert(object, KIND_##KIND, #python, &ptr)) return 0;    \
    *out = ptr;                                                    \
    return 1;                                                      \
  }                                                                \
  int binding_##name##_or_none(PyObject* object, name##_t** out) { \
    *out = NULL;                                                   \
    return object == Py_None || binding_##name(object, out);       \
  }                                                                \
  static void dealloc_##KIND(PyObject* self) {                     \
    if (KIND_##KIND == KIND_CONTEXT) context_free_lock(self);      \
    release(KIND_##KIND, binding_ptr(self));                       \
    binding_destroy(self);                                         \
  }
#include "handles.def"

//===----------------------------------------------------------------------------------------------------------------===
// References
//===----------------------------------------------------------------------------------------------------------------===

bool binding_to_ref(PyObject* object, iree_vm_ref_t* out_ref) {
#define HANDLE(KIND, python, name, doc)
#define REF(KIND, python, name, doc)                   \
  if (binding_is(object, KIND_##KIND)) {               \
    *out_ref = name##_retain_ref(binding_ptr(object)); \
    return true;                                       \
  }
#include "handles.def"
  return false;
}

static PyObject* from_ref(iree_vm_ref_t ref) {
#define HANDLE(KIND, python, name, doc)
#define REF(KIND, python, name, doc) \
  if (name##_isa(ref)) return binding_wrap_retain(KIND_##KIND, ref.ptr);
#include "handles.def"
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Errors and conversions
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* exception_of(iree_status_code_t code) {
  switch (code) {
    case IREE_STATUS_INVALID_ARGUMENT:
      return PyExc_ValueError;
    case IREE_STATUS_OUT_OF_RANGE:
      return PyExc_IndexError;
    case IREE_STATUS_UNIMPLEMENTED:
      return PyExc_NotImplementedError;
    default:
      return PyExc_RuntimeError;
  }
}

bool binding_check(iree_status_t status, const char* what) {
  if (iree_status_is_ok(status)) return true;
  iree_allocator_t allocator = iree_allocator_system();
  char* text = NULL;
  iree_host_size_t length = 0;
  const char* shown = iree_status_code_string(iree_status_code(status));
  if (iree_status_to_string(status, &allocator, &text, &length)) shown = text;
  PyErr_Format(exception_of(iree_status_code(status)), "%s: %s", what, shown);
  iree_allocator_free(allocator, text);
  iree_status_free(status);
  return false;
}

PyObject* binding_none_or_error(iree_status_t status, const char* what) {
  if (!binding_check(status, what)) return NULL;
  Py_RETURN_NONE;
}

bool binding_string(PyObject* text, iree_string_view_t* out_string) {
  *out_string = iree_string_view_empty();
  if (!text || text == Py_None) return true;
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data) *out_string = iree_make_string_view(data, (iree_host_size_t)size);
  return data != NULL;
}

PyObject* binding_text(iree_string_view_t string) {
  return PyUnicode_DecodeUTF8(string.data ? string.data : "", (Py_ssize_t)string.size, "replace");
}

PyObject* binding_take_text(iree_string_builder_t* builder, iree_status_t status, const char* what) {
  iree_string_view_t built =
      iree_make_string_view(iree_string_builder_buffer(builder), iree_string_builder_size(builder));
  PyObject* text = binding_check(status, what) ? binding_text(built) : NULL;
  iree_string_builder_deinitialize(builder);
  return text;
}

bool binding_timeout(PyObject* timeout, PyObject* deadline, iree_timeout_t* out_timeout) {
  bool has_timeout = timeout && timeout != Py_None, has_deadline = deadline && deadline != Py_None;
  *out_timeout = iree_infinite_timeout();
  if (has_timeout && has_deadline) {
    PyErr_SetString(PyExc_ValueError, "give a timeout or a deadline, not both");
    return false;
  }
  if (has_timeout) *out_timeout = iree_make_timeout_ns(PyLong_AsLongLong(timeout));
  if (has_deadline) *out_timeout = iree_make_deadline(PyLong_AsLongLong(deadline));
  return !PyErr_Occurred();
}

//===----------------------------------------------------------------------------------------------------------------===
// The module
//===----------------------------------------------------------------------------------------------------------------===

bool binding_add_type(PyObject* module, PyTypeObject** type, const char* name, size_t size, PyType_Slot* slots,
                      bool made) {
  unsigned flags = Py_TPFLAGS_DEFAULT | (made ? Py_TPFLAGS_DISALLOW_INSTANTIATION : 0);
  PyType_Spec spec = {name, (int)size, 0, flags, slots};
  *type = (PyTypeObject*)PyType_FromSpec(&spec);
  return *type && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, (PyObject*)*type) == 0;
}

// Those that a kind has itself, and what all kinds have.
static bool add_handle_type(PyObject* module, kind_t kind, const char* name, destructor dealloc, const char* doc,
                            const PyType_Slot* own) {
  PyType_Slot slots[16] = {{Py_tp_dealloc, dealloc}, {Py_tp_doc, (void*)(uintptr_t)doc}};
  bool can_be_made = false;
  int count = 2;
  for (; own->slot; ++own) {
    can_be_made |= own->slot == Py_tp_new;
    slots[count++] = *own;
  }
  bool has_more = kind == KIND_CONTEXT || kind == KIND_MODULE;
  size_t size = has_more ? BINDING_OBJECT_SIZE : sizeof(handle_t);
  return binding_add_type(module, &binding_types[kind], name, size, slots, !can_be_made);
}

static bool add_handle_types(PyObject* module) {
#define HANDLE(KIND, python, name, doc)                                                            \
  if (!add_handle_type(module, KIND_##KIND, "iree.runtime._binding." #python, dealloc_##KIND, doc, \
                       binding_##name##_slots)) {                                                  \
    return false;                                                                                  \
  }
#include "handles.def"
  return true;
}

// parse_flags(*flags). Flags keep pointing at their text.
static PyObject* parse_flags(PyObject* self, PyObject* args) {
  static PyObject* kept;
  if (!kept && !(kept = PyList_New(0))) return NULL;
  int count = (int)PyTuple_Size(args) + 1;
  char** all = PyMem_Calloc((size_t)count + 1, sizeof(*all));
  if (!all) return PyErr_NoMemory();
  char **argv = all, program[] = "iree.runtime";
  all[0] = program;
  PyObject* result = NULL;
  int i = 1;
  for (; i < count; ++i) {
    PyObject* flag = PyTuple_GetItem(args, i - 1);
    const char* text = PyUnicode_AsUTF8AndSize(flag, NULL);
    if (!text || PyList_Append(kept, flag)) break;
    all[i] = (char*)(uintptr_t)text;
  }
  if (i == count) {
    iree_status_t status = iree_flags_parse(IREE_FLAGS_PARSE_MODE_CONTINUE_AFTER_HELP, &count, &argv);
    if (iree_status_is_ok(status) && count > 1) {
      status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%s' is no flag; flags are --name=value", argv[1]);
    }
    result = binding_none_or_error(status, "Error parsing flags");
  }
  PyMem_Free(all);
  return result;
}

static PyMethodDef functions[] = {
    {"parse_flags", parse_flags, METH_VARARGS, "parse_flags(*flags): flags of the runtime's tools."},
    {"query_available_drivers", hal_query_drivers, METH_NOARGS, "Names of the drivers of this build."},
    {"create_hal_driver", hal_create_driver, METH_VARARGS, "create_hal_driver(uri)"},
    {"create_hal_module", BINDING_KEYWORDS(hal_create_module),
     "create_hal_module(instance, device=None, *, devices=None, debug_sink=None): what gives programs their devices."},
    {NULL, NULL, 0, NULL}};

PyObject* binding_from_variant(const iree_vm_variant_t* variant) {
  if (iree_vm_variant_is_ref(*variant)) {
    if (!variant->ref.ptr) Py_RETURN_NONE;
    PyObject* object = from_ref(variant->ref);
    if (object || PyErr_Occurred()) return object;
    PyObject* name = binding_text(iree_vm_ref_type_name(variant->ref.type));
    if (name) PyErr_Format(PyExc_TypeError, "there is no Python type for a reference of type %U", name);
    Py_XDECREF(name);
    return NULL;
  }
  switch (iree_vm_type_def_as_value(variant->type)) {
    case IREE_VM_VALUE_TYPE_I8:
      return PyLong_FromLong(variant->i8);
    case IREE_VM_VALUE_TYPE_I16:
      return PyLong_FromLong(variant->i16);
    case IREE_VM_VALUE_TYPE_I32:
      return PyLong_FromLong(variant->i32);
    case IREE_VM_VALUE_TYPE_I64:
      return PyLong_FromLongLong(variant->i64);
    case IREE_VM_VALUE_TYPE_F32:
      return PyFloat_FromDouble(variant->f32);
    case IREE_VM_VALUE_TYPE_F64:
      return PyFloat_FromDouble(variant->f64);
    default:
      Py_RETURN_NONE;
  }
}

PyMODINIT_FUNC PyInit__binding(void) {
  static struct PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_binding", "IREE's runtime.", -1, functions, NULL, NULL, NULL, NULL};
  PyObject* module = PyModule_Create(&definition);
  if (!module) return NULL;
  iree_status_t status = iree_hal_register_all_available_drivers(iree_hal_driver_registry_default());
  if (!binding_check(status, "Error registering drivers") ||
      PyModule_AddStringConstant(module, "version", IREE_C_VERSION) || !add_handle_types(module) ||
      !arrays_add(module) || !vm_add(module) || !py_module_add(module) || !call_add(module) ||
      !parameters_add(module) || !tokenizer_add(module)) {
    Py_CLEAR(module);
  }
  return module;
}
