// Parameters: files and memory that have them, indices, providers, and the module that programs get them from.
#include "binding.h"
#include "io/archives.h"
#include "iree/io/formats/irpa/irpa_builder.h"
#include "iree/io/formats/parser_registry.h"
#include "tooling/parameter_archive.h"

//===----------------------------------------------------------------------------------------------------------------===
// Mappings
//===----------------------------------------------------------------------------------------------------------------===

typedef struct view_t {
  PyObject_HEAD;
  iree_io_file_mapping_t* mapping;
} view_t;

static PyTypeObject* view_type;

static void view_dealloc(PyObject* self) {
  iree_io_file_mapping_release(((view_t*)self)->mapping);
  binding_destroy(self);
}

static int view_get_buffer(PyObject* self, Py_buffer* out, int flags) {
  static uint8_t nothing;
  iree_const_byte_span_t span = iree_io_file_mapping_contents_ro(((view_t*)self)->mapping);
  void* data = span.data ? (void*)(uintptr_t)span.data : &nothing;
  return PyBuffer_FillInfo(out, self, data, (Py_ssize_t)span.data_length, /*readonly=*/1, flags);
}

static PyType_Slot view_slots[] = {{Py_tp_dealloc, view_dealloc},
                                   {Py_bf_getbuffer, view_get_buffer},
                                   {Py_tp_doc, "Bytes of a file as a buffer."},
                                   {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static void release_buffer(void* user_data, iree_io_file_handle_primitive_t primitive) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyBuffer_Release(user_data);
  PyMem_Free(user_data);
  PyGILState_Release(state);
}

static PyObject* file_wrap_memory(PyObject* type, PyObject* args) {
  PyObject* object;
  int readable = 1, writable = 0;
  if (!PyArg_ParseTuple(args, "O|pp", &object, &readable, &writable)) return NULL;
  if (!readable || writable) {
    return PyErr_Format(PyExc_ValueError, "memory is read here: readable=True, writable=False");
  }
  Py_buffer* buffer = PyMem_Calloc(1, sizeof(*buffer));
  if (!buffer) return PyErr_NoMemory();
  if (PyObject_GetBuffer(object, buffer, PyBUF_SIMPLE)) {
    PyMem_Free(buffer);
    return NULL;
  }
  iree_io_file_handle_t* handle = NULL;
  iree_io_file_handle_release_callback_t callback = {release_buffer, buffer};
  iree_status_t status = iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(buffer->buf, (iree_host_size_t)buffer->len), callback,
      iree_allocator_system(), &handle);
  if (binding_check(status, "Error wrapping memory")) return binding_wrap(KIND_FILE, handle);
  PyBuffer_Release(buffer);
  PyMem_Free(buffer);
  return NULL;
}

static PyObject* file_open(PyObject* type, PyObject* args) {
  PyObject* path = NULL;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  iree_io_file_handle_t* handle = NULL;
  iree_status_t status = iree_io_file_handle_open(
      IREE_IO_FILE_MODE_READ, iree_make_cstring_view(PyBytes_AsString(path)), iree_allocator_system(), &handle);
  Py_DECREF(path);
  return binding_check(status, "Error opening file") ? binding_wrap(KIND_FILE, handle) : NULL;
}

// Of a descriptor's file, which the handle opens again: the descriptor stays its owner's.
static PyObject* file_wrap_fd(PyObject* type, PyObject* args) {
  int fd, readable = 1, writable = 0;
  if (!PyArg_ParseTuple(args, "i|pp", &fd, &readable, &writable)) return NULL;
  if (!readable || writable) {
    return PyErr_Format(PyExc_ValueError, "files are read here: readable=True, writable=False");
  }
  PyObject* path = PyUnicode_FromFormat("/proc/self/fd/%d", fd);
  PyObject* one = path ? PyTuple_Pack(1, path) : NULL;
  PyObject* file = one ? file_open(type, one) : NULL;
  Py_XDECREF(one);
  Py_XDECREF(path);
  return file;
}

static PyObject* file_map(PyObject* self, PyObject* args) {
  unsigned long long offset, length;
  if (!PyArg_ParseTuple(args, "KK", &offset, &length)) return NULL;
  view_t* view = binding_create(view_type);
  if (!view) return NULL;
  iree_status_t status = iree_io_file_map_view(binding_ptr(self), IREE_IO_FILE_ACCESS_READ, offset, length,
                                               IREE_IO_FILE_MAPPING_FLAG_NONE, iree_allocator_system(), &view->mapping);
  if (!binding_check(status, "Error mapping file")) Py_CLEAR(view);
  return (PyObject*)view;
}

static PyObject* file_is_host_allocation(PyObject* self, void* unused) {
  return PyBool_FromLong(iree_io_file_handle_type(binding_ptr(self)) == IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION);
}

// The memory that was wrapped.
static PyObject* file_host_allocation(PyObject* self, void* unused) {
  iree_io_file_handle_primitive_t primitive = iree_io_file_handle_primitive(binding_ptr(self));
  if (primitive.type != IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION) {
    return PyErr_Format(PyExc_ValueError, "the file is not in memory; map(offset, length) maps it");
  }
  PyObject* args = Py_BuildValue("(KK)", 0ull, (unsigned long long)primitive.value.host_allocation.data_length);
  PyObject* view = args ? file_map(self, args) : NULL;
  PyObject* memory = view ? PyMemoryView_FromObject(view) : NULL;
  Py_XDECREF(view);
  Py_XDECREF(args);
  return memory;
}

static PyMethodDef file_methods[] = {
    {"wrap_memory", file_wrap_memory, METH_VARARGS | METH_STATIC, "wrap_memory(buffer): memory as a file."},
    {"open", file_open, METH_VARARGS | METH_STATIC, "open(path): to read."},
    {"wrap_fd", file_wrap_fd, METH_VARARGS | METH_STATIC,
     "wrap_fd(fd, readable=True, writable=False): the file of a descriptor."},
    {"map", file_map, METH_VARARGS, "map(offset, length): its bytes, as a buffer."},
    {NULL, NULL, 0, NULL}};
static PyObject* file_repr(PyObject* self) {
  iree_io_file_handle_primitive_t primitive = iree_io_file_handle_primitive(binding_ptr(self));
  if (primitive.type == IREE_IO_FILE_HANDLE_TYPE_FD)
    return PyUnicode_FromFormat("FileHandle<fd(%d)>", primitive.value.fd);
  return PyUnicode_FromFormat("FileHandle<host_allocation(%zu bytes)>",
                              (size_t)primitive.value.host_allocation.data_length);
}

static PyGetSetDef file_properties[] = {
    {"is_host_allocation", file_is_host_allocation, NULL, "Whether it is memory.", NULL},
    {"host_allocation", file_host_allocation, NULL, "The memory.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_io_file_handle_slots[] = {
    {Py_tp_methods, file_methods}, {Py_tp_getset, file_properties}, {Py_tp_repr, file_repr}, {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Indices
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* index_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (!PyArg_ParseTuple(args, "")) return NULL;
  iree_io_parameter_index_t* index = NULL;
  iree_status_t status = iree_io_parameter_index_create(iree_allocator_system(), &index);
  return binding_check(status, "Error creating index") ? binding_wrap(KIND_PARAMETERS, index) : NULL;
}

static Py_ssize_t index_length(PyObject* self) { return (Py_ssize_t)iree_io_parameter_index_count(binding_ptr(self)); }

// (key, bytes, metadata, pattern or None, file or None, offset in the file)
static PyObject* describe(const iree_io_parameter_index_entry_t* entry) {
  PyObject* key = binding_text(entry->key);
  PyObject *metadata =
               PyBytes_FromStringAndSize((const char*)entry->metadata.data, (Py_ssize_t)entry->metadata.data_length),
           *pattern = NULL, *file = NULL, *item = NULL;
  bool is_splat = entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT;
  unsigned long long offset = is_splat ? 0 : entry->storage.file.offset;
  if (is_splat) {
    pattern = PyBytes_FromStringAndSize((const char*)entry->storage.splat.pattern, entry->storage.splat.pattern_length);
  } else {
    file = binding_wrap_retain(KIND_FILE, entry->storage.file.handle);
  }
  if (key && metadata && (pattern || file)) {
    item = Py_BuildValue("(OKOOOK)", key, (unsigned long long)entry->length, metadata, pattern ? pattern : Py_None,
                         file ? file : Py_None, offset);
  }
  Py_XDECREF(file);
  Py_XDECREF(pattern);
  Py_XDECREF(metadata);
  Py_XDECREF(key);
  return item;
}

static PyObject* index_get(PyObject* self, Py_ssize_t i) {
  const iree_io_parameter_index_entry_t* entry = NULL;
  iree_status_t status = iree_io_parameter_index_get(binding_ptr(self), (iree_host_size_t)i, &entry);
  return binding_check(status, "Error reading index") ? describe(entry) : NULL;
}

static PyObject* add_entry(PyObject* self, const iree_io_parameter_index_entry_t* entry) {
  return binding_none_or_error(iree_io_parameter_index_add(binding_ptr(self), entry), "Error adding parameter");
}

static PyObject* index_add_splat(PyObject* self, PyObject* args) {
  PyObject* key;
  const char *pattern, *metadata;
  Py_ssize_t pattern_size, metadata_size;
  unsigned long long length;
  if (!PyArg_ParseTuple(args, "Uy#Ky#", &key, &pattern, &pattern_size, &length, &metadata, &metadata_size)) return NULL;
  iree_io_parameter_index_entry_t entry = {.metadata = {(const uint8_t*)metadata, (iree_host_size_t)metadata_size},
                                           .length = length,
                                           .type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT};
  bool fits = pattern_size >= 1 && pattern_size <= IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH &&
              (pattern_size & (pattern_size - 1)) == 0 && length % (size_t)pattern_size == 0;
  if (!fits) {
    return PyErr_Format(PyExc_ValueError,
                        "a pattern has 1, 2, 4, 8 or 16 bytes, and the parameter's length is a multiple of them");
  }
  entry.storage.splat.pattern_length = (uint8_t)pattern_size;
  memcpy(entry.storage.splat.pattern, pattern, (size_t)pattern_size);
  return binding_string(key, &entry.key) ? add_entry(self, &entry) : NULL;
}

static PyObject* index_add_file(PyObject* self, PyObject* args) {
  PyObject* key;
  const char* metadata;
  Py_ssize_t metadata_size;
  unsigned long long offset, length;
  iree_io_file_handle_t* handle;
  if (!PyArg_ParseTuple(args, "UO&KKy#", &key, binding_iree_io_file_handle, &handle, &offset, &length, &metadata,
                        &metadata_size)) {
    return NULL;
  }
  iree_io_parameter_index_entry_t entry = {.metadata = {(const uint8_t*)metadata, (iree_host_size_t)metadata_size},
                                           .length = length,
                                           .type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE,
                                           .storage.file = {handle, offset}};
  return binding_string(key, &entry.key) ? add_entry(self, &entry) : NULL;
}

static PyObject* index_load(PyObject* self, PyObject* args) {
  PyObject* path = NULL;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  iree_string_view_t name = iree_make_cstring_view(PyBytes_AsString(path));
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = archives_add(name, /*preload=*/false, binding_ptr(self), iree_allocator_system());
  Py_END_ALLOW_THREADS;
  Py_DECREF(path);
  return binding_none_or_error(status, "Error reading parameters");
}

static PyObject* index_load_file(PyObject* self, PyObject* args) {
  iree_io_file_handle_t* handle;
  if (!PyArg_ParseTuple(args, "O&", binding_iree_io_file_handle, &handle)) return NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_io_parse_file_index(IREE_SV("memory"), handle, binding_ptr(self), iree_allocator_system());
  Py_END_ALLOW_THREADS;
  return binding_none_or_error(status, "Error reading parameters");
}

static PyObject* index_write(PyObject* self, PyObject* args) {
  PyObject* path = NULL;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  archive_output_t output = {.path = PyBytes_AsString(path), .allocator = iree_allocator_system()};
  iree_io_parameter_archive_file_open_callback_t opener = {archive_output_open, &output};
  iree_io_parameter_index_t* places = NULL;
  iree_status_t status = archive_output_check(output.path);
  Py_BEGIN_ALLOW_THREADS;
  if (iree_status_is_ok(status)) status = iree_io_parameter_index_create(iree_allocator_system(), &places);
  if (iree_status_is_ok(status)) {
    status = iree_io_build_parameter_archive(binding_ptr(self), places, opener, 0, iree_allocator_system());
  }
  iree_io_parameter_index_release(places);
  status = archive_output_close(&output, status);
  Py_END_ALLOW_THREADS;
  Py_DECREF(path);
  return binding_none_or_error(status, "Error writing parameters");
}

static PyObject* index_provider(PyObject* self, PyObject* args) {
  PyObject* scope;
  iree_string_view_t name;
  Py_ssize_t operations = IREE_IO_PARAMETER_INDEX_PROVIDER_DEFAULT_MAX_CONCURRENT_OPERATIONS;
  if (!PyArg_ParseTuple(args, "U|n", &scope, &operations) || !binding_string(scope, &name)) return NULL;
  if (operations < 1) return PyErr_Format(PyExc_ValueError, "at least one operation runs at a time");
  iree_io_parameter_provider_t* provider = NULL;
  iree_status_t status = iree_io_parameter_index_provider_create(name, binding_ptr(self), (iree_host_size_t)operations,
                                                                 iree_allocator_system(), &provider);
  return binding_check(status, "Error creating provider") ? binding_wrap(KIND_PROVIDER, provider) : NULL;
}

static PyMethodDef index_methods[] = {
    {"add_splat", index_add_splat, METH_VARARGS, "add_splat(key, pattern, length, metadata)"},
    {"add_file", index_add_file, METH_VARARGS, "add_file(key, file, offset, length, metadata)"},
    {"load", index_load, METH_VARARGS, "load(path): adds what an archive has."},
    {"load_file", index_load_file, METH_VARARGS, "load_file(file): the same of one that is open, or memory."},
    {"write", index_write, METH_VARARGS, "write(path): a .irpa archive of all."},
    {"provider", index_provider, METH_VARARGS, "provider(scope, max_concurrent_operations)"},
    {NULL, NULL, 0, NULL}};
PyType_Slot binding_iree_io_parameter_index_slots[] = {{Py_tp_new, index_new},
                                                       {Py_tp_methods, index_methods},
                                                       {Py_sq_length, index_length},
                                                       {Py_sq_item, index_get},
                                                       {0, NULL}};
PyType_Slot binding_iree_io_parameter_provider_slots[] = {{0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// The module
//===----------------------------------------------------------------------------------------------------------------===

// create_io_parameters_module(instance, *providers)
static PyObject* create_module(PyObject* self, PyObject* args) {
  iree_vm_instance_t* instance;
  Py_ssize_t count = PyTuple_Size(args) - 1, i = 0;
  if (count < 0) return PyErr_Format(PyExc_TypeError, "an instance is needed, then providers");
  if (!binding_iree_vm_instance(PyTuple_GetItem(args, 0), &instance)) return NULL;
  iree_io_parameter_provider_t** providers = PyMem_Calloc((size_t)count + 1, sizeof(*providers));
  if (!providers) return PyErr_NoMemory();
  while (i < count && binding_iree_io_parameter_provider(PyTuple_GetItem(args, i + 1), &providers[i])) ++i;
  iree_vm_module_t* module = NULL;
  iree_status_t status = iree_ok_status();
  if (i == count) {
    status = iree_io_parameters_module_create(instance, (iree_host_size_t)count, providers, iree_allocator_system(),
                                              &module);
  }
  PyMem_Free(providers);
  if (i < count || !binding_check(status, "Error creating io_parameters module")) return NULL;
  return binding_wrap(KIND_MODULE, module);
}

bool parameters_add(PyObject* module) {
  static PyMethodDef functions[] = {
      {"create_io_parameters_module", create_module, METH_VARARGS,
       "create_io_parameters_module(instance, *providers): what gives programs their parameters."},
      {NULL, NULL, 0, NULL}};
  return binding_add_type(module, &view_type, "iree.runtime._binding.FileView", sizeof(view_t), view_slots, true) &&
         PyModule_AddFunctions(module, functions) == 0;
}
