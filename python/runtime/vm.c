// Instances, modules, functions and contexts.
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "iree/io/file_contents.h"
#include "iree/vm/bytecode/module.h"

PyTypeObject* vm_function_type;

typedef struct module_t {
  handle_t base;
  iree_const_byte_span_t contents;  // of a compiled module, as long as it lives
} module_t;
static_assert(sizeof(module_t) <= BINDING_OBJECT_SIZE, "binding.c makes objects of that size");

//===----------------------------------------------------------------------------------------------------------------===
// Instances
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* instance_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (!PyArg_ParseTuple(args, "")) return NULL;
  iree_vm_instance_t* instance = NULL;
  iree_status_t status = iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, iree_allocator_system(), &instance);
  if (iree_status_is_ok(status)) status = iree_hal_module_register_all_types(instance);
  if (!binding_check(status, "Error creating instance")) {
    iree_vm_instance_release(instance);
    return NULL;
  }
  return binding_wrap(KIND_INSTANCE, instance);
}

PyType_Slot binding_iree_vm_instance_slots[] = {{Py_tp_new, instance_new}, {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// What modules are read from: it lives as long as they do
//===----------------------------------------------------------------------------------------------------------------===

enum { ARCHIVE_ALIGNMENT = 64 };

typedef struct archive_t {
  Py_buffer view;  // of an object that is used where it lies
  void* copy;
  iree_io_file_contents_t* file;
  PyObject* callback;  // called at the end; may be NULL
} archive_t;

// With the interpreter's lock.
static void archive_free(archive_t* archive) {
  if (archive->view.obj) PyBuffer_Release(&archive->view);
  free(archive->copy);
  if (archive->file) iree_io_file_contents_free(archive->file);
  PyObject* result = archive->callback ? PyObject_CallNoArgs(archive->callback) : NULL;
  if (archive->callback && !result) PyErr_WriteUnraisable(archive->callback);
  Py_XDECREF(result);
  Py_XDECREF(archive->callback);
  free(archive);
}

// As an allocator that only frees, by whichever thread releases the module last.
static iree_status_t archive_control(void* self, iree_allocator_command_t command, const void* params, void** ptr) {
  if (command != IREE_ALLOCATOR_COMMAND_FREE) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "only frees");
  if (!Py_IsInitialized()) return iree_ok_status();
  PyGILState_STATE state = PyGILState_Ensure();
  archive_free(self);
  PyGILState_Release(state);
  return iree_ok_status();
}

static PyObject* load(iree_vm_instance_t* instance, archive_t* archive, const void* data, size_t size) {
  iree_vm_module_t* module = NULL;
  iree_allocator_t deallocator = {archive, archive_control};
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status =
      iree_vm_bytecode_module_create(instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE, iree_make_const_byte_span(data, size),
                                     deallocator, iree_allocator_system(), &module);
  Py_END_ALLOW_THREADS;
  if (binding_check(status, "Error creating vm module from buffer")) {
    PyObject* self = binding_wrap(KIND_MODULE, module);
    if (self) ((module_t*)self)->contents = iree_make_const_byte_span(data, size);
    return self;
  }
  Py_CLEAR(archive->callback);
  archive_free(archive);
  return NULL;
}

static archive_t* archive_create(PyObject* callback) {
  archive_t* archive = calloc(1, sizeof(*archive));
  if (!archive) return (archive_t*)PyErr_NoMemory();
  if (callback && callback != Py_None) Py_INCREF(archive->callback = callback);
  return archive;
}

static PyObject* load_buffer(iree_vm_instance_t* instance, PyObject* object, PyObject* callback, bool copy) {
  archive_t* archive = archive_create(callback);
  if (!archive) return NULL;
  if (PyObject_GetBuffer(object, &archive->view, PyBUF_SIMPLE)) {
    archive->view.obj = NULL;
    Py_CLEAR(archive->callback);
    archive_free(archive);
    return NULL;
  }
  size_t size = (size_t)archive->view.len;
  // Constants are used where they lie when the whole is aligned; of others there were copies anyway.
  copy |= (uintptr_t)archive->view.buf % ARCHIVE_ALIGNMENT != 0;
  if (!copy) return load(instance, archive, archive->view.buf, size);
  if (posix_memalign(&archive->copy, ARCHIVE_ALIGNMENT, size + 1)) {
    archive->copy = NULL;
    Py_CLEAR(archive->callback);
    archive_free(archive);
    return PyErr_NoMemory();
  }
  memcpy(archive->copy, archive->view.buf, size);
  PyBuffer_Release(&archive->view);
  archive->view.obj = NULL;
  return load(instance, archive, archive->copy, size);
}

static PyObject* module_copy_buffer(PyObject* type, PyObject* args) {
  iree_vm_instance_t* instance;
  PyObject* object;
  if (!PyArg_ParseTuple(args, "O&O", binding_iree_vm_instance, &instance, &object)) return NULL;
  return load_buffer(instance, object, NULL, /*copy=*/true);
}

static PyObject* module_from_buffer(PyObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"instance", "buffer", "warn_if_copy", NULL};
  iree_vm_instance_t* instance;
  PyObject* object;
  int warn = 1;  // nothing is slower for a copy
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O|p", names, binding_iree_vm_instance, &instance, &object, &warn)) {
    return NULL;
  }
  return load_buffer(instance, object, NULL, /*copy=*/false);
}

static PyObject* module_wrap_buffer(PyObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"instance", "buffer", "destroy_callback", "close_buffer", NULL};
  iree_vm_instance_t* instance;
  PyObject *object, *callback = NULL, *close = NULL;
  int close_buffer = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O|Op", names, binding_iree_vm_instance, &instance, &object,
                                   &callback, &close_buffer)) {
    return NULL;
  }
  bool called = callback && callback != Py_None;
  if (close_buffer && called) {
    return PyErr_Format(PyExc_ValueError, "give close_buffer or a destroy_callback that closes it, not both");
  }
  if (close_buffer && !(callback = close = PyObject_GetAttrString(object, "close"))) return NULL;
  PyObject* module = load_buffer(instance, object, callback, /*copy=*/false);
  Py_XDECREF(close);
  return module;
}

static PyObject* module_mmap(PyObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"instance", "filepath", "destroy_callback", NULL};
  iree_vm_instance_t* instance;
  PyObject *path = NULL, *callback = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O", names, binding_iree_vm_instance, &instance,
                                   PyUnicode_FSConverter, &path, &callback)) {
    return NULL;
  }
  archive_t* archive = archive_create(callback);
  PyObject* module = NULL;
  if (archive) {
    iree_status_t status = iree_io_file_contents_map(iree_make_cstring_view(PyBytes_AsString(path)),
                                                     IREE_IO_FILE_ACCESS_READ, iree_allocator_system(), &archive->file);
    if (binding_check(status, "Error mapping vm module")) {
      iree_const_byte_span_t data = archive->file->const_buffer;
      module = load(instance, archive, data.data, data.data_length);
    } else {
      Py_CLEAR(archive->callback);
      archive_free(archive);
    }
  }
  Py_DECREF(path);
  return module;
}

//===----------------------------------------------------------------------------------------------------------------===
// Modules
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* wrap_function(PyObject* module, iree_vm_function_t function) {
  function_t* self = binding_create(vm_function_type);
  if (!self) return NULL;
  self->module = module;
  Py_INCREF(module);
  self->function = function;
  return (PyObject*)self;
}

static PyObject* module_name(PyObject* self, void* unused) {
  return binding_text(iree_vm_module_name(binding_ptr(self)));
}

static PyObject* module_version(PyObject* self, void* unused) {
  return PyLong_FromUnsignedLong(iree_vm_module_signature(binding_ptr(self)).version);
}

static PyObject* module_function_names(PyObject* self, void* unused) {
  iree_vm_module_t* module = binding_ptr(self);
  iree_host_size_t count = iree_vm_module_signature(module).export_function_count;
  PyObject* list = PyList_New(0);
  for (iree_host_size_t i = 0; list && i < count; ++i) {
    iree_vm_function_t function;
    iree_status_t status =
        iree_vm_module_lookup_function_by_ordinal(module, IREE_VM_FUNCTION_LINKAGE_EXPORT, i, &function);
    PyObject* name =
        binding_check(status, "Error enumerating functions") ? binding_text(iree_vm_function_name(&function)) : NULL;
    if (!name || PyList_Append(list, name)) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

// None when there is no such function.
static PyObject* module_lookup_function(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"name", "linkage", NULL};
  PyObject* text;
  iree_string_view_t name;
  int linkage = IREE_VM_FUNCTION_LINKAGE_EXPORT;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|i", names, &text, &linkage) || !binding_string(text, &name)) {
    return NULL;
  }
  iree_vm_function_t function;
  iree_status_t status =
      iree_vm_module_lookup_function_by_name(binding_ptr(self), (iree_vm_function_linkage_t)linkage, name, &function);
  if (iree_status_is_not_found(status)) {
    iree_status_free(status);
    Py_RETURN_NONE;
  }
  return binding_check(status, "Error looking up function") ? wrap_function(self, function) : NULL;
}

static PyObject* module_repr(PyObject* self) {
  PyObject *name = module_name(self, NULL), *functions = module_function_names(self, NULL);
  PyObject* text = name && functions ? PyUnicode_FromFormat("<VmModule %U : %R>", name, functions) : NULL;
  Py_XDECREF(name);
  Py_XDECREF(functions);
  return text;
}

static iree_status_t add_dependency(void* list, const iree_vm_module_dependency_t* dependency) {
  PyObject* name = binding_text(dependency->name);
  if (name) PyList_Append(list, name);
  Py_XDECREF(name);
  return iree_ok_status();
}

static PyObject* module_dependencies(PyObject* self, void* unused) {
  PyObject* list = PyList_New(0);
  if (!list) return NULL;
  iree_status_t status = iree_vm_module_enumerate_dependencies(binding_ptr(self), add_dependency, list);
  if (!binding_check(status, "Error enumerating dependencies") || PyErr_Occurred()) Py_CLEAR(list);
  return list;
}

// A copy; None for modules that were not compiled.
static PyObject* module_blob(PyObject* self, void* unused) {
  iree_const_byte_span_t contents = ((module_t*)self)->contents;
  if (!contents.data) Py_RETURN_NONE;
  return PyBytes_FromStringAndSize((const char*)contents.data, (Py_ssize_t)contents.data_length);
}

static PyMethodDef module_methods[] = {
    {"copy_buffer", module_copy_buffer, METH_VARARGS | METH_STATIC, "copy_buffer(instance, buffer)"},
    {"from_buffer", (PyCFunction)(void (*)(void))module_from_buffer, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "from_buffer(instance, buffer, warn_if_copy=True): in place where it is aligned."},
    {"from_flatbuffer", (PyCFunction)(void (*)(void))module_from_buffer, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "As from_buffer."},
    {"wrap_buffer", (PyCFunction)(void (*)(void))module_wrap_buffer, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "wrap_buffer(instance, buffer, destroy_callback=None, close_buffer=False): keeps the buffer."},
    {"mmap", (PyCFunction)(void (*)(void))module_mmap, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "mmap(instance, filepath, destroy_callback=None)"},
    {"lookup_function", BINDING_KEYWORDS(module_lookup_function),
     "lookup_function(name, linkage=2): a VmFunction, or None."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef module_properties[] = {
    {"name", module_name, NULL, "Its name.", NULL},
    {"version", module_version, NULL, "Its version.", NULL},
    {"function_names", module_function_names, NULL, "Names of its exports.", NULL},
    {"dependencies", module_dependencies, NULL, "Names of the modules that it imports from.", NULL},
    {"stashed_flatbuffer_blob", module_blob, NULL, "What it was loaded from, as bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_vm_module_slots[] = {
    {Py_tp_methods, module_methods}, {Py_tp_getset, module_properties}, {Py_tp_repr, module_repr}, {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static void function_dealloc(PyObject* object) {
  Py_XDECREF(((function_t*)object)->module);
  binding_destroy(object);
}

static PyObject* function_name(PyObject* self, void* unused) {
  return binding_text(iree_vm_function_name(&((function_t*)self)->function));
}

static PyObject* function_module_name(PyObject* self, void* unused) {
  return binding_text(iree_vm_module_name(((function_t*)self)->function.module));
}

static PyObject* function_cconv(PyObject* self, void* unused) {
  return binding_text(iree_vm_function_signature(&((function_t*)self)->function).calling_convention);
}

static PyObject* function_reflection(PyObject* self, void* unused) {
  PyObject* dict = PyDict_New();
  iree_string_pair_t pair;
  for (iree_host_size_t i = 0; dict; ++i) {
    iree_status_t status = iree_vm_function_get_attr(((function_t*)self)->function, i, &pair);
    if (iree_status_is_out_of_range(status)) {
      iree_status_free(status);
      break;
    }
    if (!binding_check(status, "Error reading attributes")) {
      Py_CLEAR(dict);
      break;
    }
    PyObject *key = binding_text(pair.key), *value = binding_text(pair.value);
    if (!key || !value || PyDict_SetItem(dict, key, value)) Py_CLEAR(dict);
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return dict;
}

static PyObject* function_repr(PyObject* self) {
  PyObject *name = function_name(self, NULL), *convention = function_cconv(self, NULL);
  PyObject* text = name && convention ? PyUnicode_FromFormat("<VmFunction %U(%U)>", name, convention) : NULL;
  Py_XDECREF(convention);
  Py_XDECREF(name);
  return text;
}

static PyObject* function_ordinal(PyObject* self, void* unused) {
  return PyLong_FromUnsignedLong(((function_t*)self)->function.ordinal);
}

static PyObject* function_linkage(PyObject* self, void* unused) {
  return PyLong_FromUnsignedLong(((function_t*)self)->function.linkage);
}

static PyGetSetDef function_properties[] = {
    {"ordinal", function_ordinal, NULL, "Its place among the module's functions.", NULL},
    {"linkage", function_linkage, NULL, "A Linkage's number.", NULL},
    {"name", function_name, NULL, "Its name.", NULL},
    {"module_name", function_module_name, NULL, "Its module's name.", NULL},
    {"calling_convention", function_cconv, NULL, "`0`, argument letters, `_`, result letters.", NULL},
    {"reflection", function_reflection, NULL, "Its attributes.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot function_slots[] = {{Py_tp_dealloc, function_dealloc},
                                       {Py_tp_getset, function_properties},
                                       {Py_tp_repr, function_repr},
                                       {Py_tp_doc, "An exported function."},
                                       {0, NULL}};

bool vm_add(PyObject* module) {
  return binding_add_type(module, &vm_function_type, "iree.runtime._binding.VmFunction", sizeof(function_t),
                          function_slots, true);
}
