// Archives of parameters: their tables, and the module `io_parameters` that programs get them from.
#include "binding.h"
#include "io/archives.h"
#include "io/parameter_file.h"
#include "iree/io/file_contents.h"

//===----------------------------------------------------------------------------------------------------------------===
// Tables
//===----------------------------------------------------------------------------------------------------------------===

// (place in the file's table, key, bytes, offset in the file or None, pattern or None)
static PyObject* describe(const parameter_file_t* file, const parameter_entry_t* entry) {
  PyObject* key = binding_text(entry->key);
  PyObject* item = NULL;
  unsigned long long length = entry->length;
  Py_ssize_t order = (Py_ssize_t)entry->order;
  if (key && entry->data) {
    item = Py_BuildValue("(nOKnO)", order, key, length, (Py_ssize_t)(entry->data - file->contents.data), Py_None);
  } else if (key) {
    item = Py_BuildValue("(nOKOy#)", order, key, length, Py_None, entry->pattern, (Py_ssize_t)entry->pattern_length);
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

// False with an exception when `pairs` are none; the status is that of reading archives.
static bool add_archives(PyObject* pairs, iree_io_scope_map_t* scopes, iree_status_t* status) {
  for (Py_ssize_t i = 0; i < PyList_Size(pairs) && iree_status_is_ok(*status); ++i) {
    iree_string_view_t names[2];
    PyObject *scope, *path, *pair = PyList_GetItem(pairs, i);
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "UU", &scope, &path)) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "pairs (scope, path) are needed");
      return false;
    }
    if (!binding_string(scope, &names[0]) || !binding_string(path, &names[1])) return false;
    Py_BEGIN_ALLOW_THREADS;
    iree_io_parameter_index_t* index = NULL;
    *status = iree_io_scope_map_lookup(scopes, names[0], &index);
    if (iree_status_is_ok(*status)) *status = archives_add(names[1], /*preload=*/false, index, scopes->host_allocator);
    Py_END_ALLOW_THREADS;
  }
  return true;
}

// create_parameters_module(instance, [(scope, path)])
static PyObject* create_module(PyObject* self, PyObject* args) {
  iree_vm_instance_t* instance;
  PyObject* pairs;
  if (!PyArg_ParseTuple(args, "O&O!", binding_iree_vm_instance, &instance, &PyList_Type, &pairs)) return NULL;
  iree_io_scope_map_t scopes;
  iree_vm_module_t* module = NULL;
  iree_status_t status = iree_ok_status();
  iree_io_scope_map_initialize(iree_allocator_system(), &scopes);
  bool valid = add_archives(pairs, &scopes, &status);
  if (valid && iree_status_is_ok(status)) {
    status = archives_create_module(instance, 0, NULL, &scopes, iree_allocator_system(), &module);
  }
  iree_io_scope_map_deinitialize(&scopes);
  if (!valid) iree_status_ignore(status);
  if (!valid || !binding_check(status, "Error creating io_parameters module")) return NULL;
  return binding_wrap(KIND_MODULE, module);
}

bool parameters_add(PyObject* module) {
  static PyMethodDef functions[] = {
      {"read_parameters", read_parameters, METH_VARARGS,
       "read_parameters(path): list of (place, key, bytes, offset in the file or None, pattern or None)."},
      {"create_parameters_module", create_module, METH_VARARGS, "create_parameters_module(instance, [(scope, path)])"},
      {NULL, NULL, 0, NULL}};
  return PyModule_AddFunctions(module, functions) == 0;
}
