// Archives of parameters: their tables, and the module `io_parameters` that programs get them from.
#include "binding.h"
#include "io/parameter_file.h"
#include "io/parameter_module.h"
#include "iree/io/file_contents.h"

//===----------------------------------------------------------------------------------------------------------------===
// Tables
//===----------------------------------------------------------------------------------------------------------------===

// (key, bytes, offset in the file or None, pattern or None)
static PyObject* describe(const parameter_file_t* file, const parameter_entry_t* entry) {
  PyObject* key = binding_text(entry->key);
  PyObject* item = NULL;
  unsigned long long length = entry->length;
  if (key && entry->data) {
    item = Py_BuildValue("(OKnO)", key, length, (Py_ssize_t)(entry->data - file->contents.data), Py_None);
  } else if (key) {
    item = Py_BuildValue("(OKOy#)", key, length, Py_None, entry->pattern, (Py_ssize_t)entry->pattern_length);
  }
  Py_XDECREF(key);
  return item;
}

static PyObject* list_entries(const parameter_file_t* file) {
  PyObject* list = PyList_New(0);
  for (iree_host_size_t i = 0; list && i < file->count; ++i) {
    PyObject* item = describe(file, &file->entries[i]);
    if (!item || PyList_Append(list, item)) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

// read_parameters(path)
static PyObject* read_parameters(PyObject* self, PyObject* args) {
  PyObject *path = NULL, *list = NULL;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  iree_io_file_contents_t* contents = NULL;
  parameter_file_t* file = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  iree_string_view_t name = iree_make_cstring_view(PyBytes_AsString(path));
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_io_file_contents_map(name, IREE_IO_FILE_ACCESS_READ, allocator, &contents);
  if (iree_status_is_ok(status)) status = parameter_file_parse(contents->const_buffer, allocator, &file);
  Py_END_ALLOW_THREADS;
  if (binding_check(status, "Error reading parameters")) list = list_entries(file);
  parameter_file_free(file);
  if (contents) iree_io_file_contents_free(contents);
  Py_DECREF(path);
  return list;
}

//===----------------------------------------------------------------------------------------------------------------===
// The module
//===----------------------------------------------------------------------------------------------------------------===

// create_parameters_module(instance, [(scope, path)])
static PyObject* create_module(PyObject* self, PyObject* args) {
  iree_vm_instance_t* instance;
  PyObject* pairs;
  if (!PyArg_ParseTuple(args, "O&O!", binding_iree_vm_instance, &instance, &PyList_Type, &pairs)) return NULL;
  Py_ssize_t count = PyList_Size(pairs), i = 0;
  parameter_source_t* sources = PyMem_Calloc((size_t)count + 1, sizeof(*sources));
  if (!sources) return PyErr_NoMemory();
  for (; i < count; ++i) {
    PyObject *scope, *path, *pair = PyList_GetItem(pairs, i);
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "UU", &scope, &path)) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "pairs (scope, path) are needed");
      break;
    }
    if (!binding_string(scope, &sources[i].scope) || !binding_string(path, &sources[i].path)) break;
  }
  iree_vm_module_t* module = NULL;
  iree_status_t status = iree_ok_status();
  if (i == count) {
    Py_BEGIN_ALLOW_THREADS;
    status = parameter_module_create(instance, (iree_host_size_t)count, sources, /*mapped=*/true,
                                     iree_allocator_system(), &module);
    Py_END_ALLOW_THREADS;
  }
  PyMem_Free(sources);
  if (i < count || !binding_check(status, "Error creating io_parameters module")) return NULL;
  return binding_wrap(KIND_MODULE, module);
}

bool parameters_add(PyObject* module) {
  static PyMethodDef functions[] = {
      {"read_parameters", read_parameters, METH_VARARGS,
       "read_parameters(path): list of (key, bytes, offset in the file or None, pattern or None)."},
      {"create_parameters_module", create_module, METH_VARARGS, "create_parameters_module(instance, [(scope, path)])"},
      {NULL, NULL, 0, NULL}};
  return PyModule_AddFunctions(module, functions) == 0;
}
