// Drivers, devices, memory and tensors.
#include "binding.h"

//===----------------------------------------------------------------------------------------------------------------===
// Drivers
//===----------------------------------------------------------------------------------------------------------------===

PyObject* hal_query_drivers(PyObject* self, PyObject* unused) {
  iree_host_size_t count = 0;
  iree_hal_driver_info_t* infos = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  iree_status_t status =
      iree_hal_driver_registry_enumerate(iree_hal_driver_registry_default(), allocator, &count, &infos);
  if (!binding_check(status, "Error querying drivers")) return NULL;
  PyObject* list = PyList_New(0);
  for (iree_host_size_t i = 0; list && i < count; ++i) {
    PyObject* name = binding_text(infos[i].driver_name);
    if (!name || PyList_Append(list, name)) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  iree_allocator_free(allocator, infos);
  return list;
}

PyObject* hal_create_driver(PyObject* self, PyObject* args) {
  PyObject* uri;
  iree_string_view_t text, name;
  if (!PyArg_ParseTuple(args, "U", &uri) || !binding_string(uri, &text)) return NULL;
  iree_string_view_split(text, ':', &name, NULL);
  iree_hal_driver_t* driver = NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status =
      iree_hal_driver_registry_try_create(iree_hal_driver_registry_default(), name, iree_allocator_system(), &driver);
  Py_END_ALLOW_THREADS;
  return binding_check(status, "Error creating driver") ? binding_wrap(KIND_DRIVER, driver) : NULL;
}

static PyObject* driver_query(PyObject* self, PyObject* unused) { return hal_query_drivers(NULL, NULL); }

static PyObject* driver_devices(PyObject* self, PyObject* unused) {
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  iree_status_t status = iree_hal_driver_query_available_devices(binding_ptr(self), allocator, &count, &infos);
  if (!binding_check(status, "Error querying devices")) return NULL;
  PyObject* list = PyList_New(0);
  for (iree_host_size_t i = 0; list && i < count; ++i) {
    PyObject *path = binding_text(infos[i].path), *name = binding_text(infos[i].name);
    PyObject* info = path && name ? Py_BuildValue("{sKsOsO}", "device_id", (unsigned long long)infos[i].device_id,
                                                  "path", path, "name", name)
                                  : NULL;
    if (!info || PyList_Append(list, info)) Py_CLEAR(list);
    Py_XDECREF(info);
    Py_XDECREF(path);
    Py_XDECREF(name);
  }
  iree_allocator_free(allocator, infos);
  return list;
}

static PyObject* driver_dump(PyObject* self, PyObject* args) {
  unsigned long long id;
  if (!PyArg_ParseTuple(args, "K", &id)) return NULL;
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status = iree_hal_driver_dump_device_info(binding_ptr(self), (iree_hal_device_id_t)id, &builder);
  return binding_take_text(&builder, status, "Error describing device");
}

static PyObject* finish_device(iree_status_t status, iree_hal_device_t* device) {
  return binding_check(status, "Error creating device") ? binding_wrap(KIND_DEVICE, device) : NULL;
}

// Devices have their own allocators here; an empty list of others, and no parameters, are what there is.
static bool check_allocators(PyObject* allocators, PyObject* params) {
  bool plain = (allocators == Py_None || PyObject_Length(allocators) == 0) &&
               (params == Py_None || PyObject_Length(params) == 0);
  if (!plain && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "devices have no other allocators and take their parameters in a URI: create_device_by_uri");
  }
  return plain;
}

static PyObject* driver_default_device(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"allocators", NULL};
  PyObject* allocators = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &allocators) || !check_allocators(allocators, Py_None)) {
    return NULL;
  }
  iree_hal_device_t* device = NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_driver_create_default_device(binding_ptr(self), NULL, iree_allocator_system(), &device);
  Py_END_ALLOW_THREADS;
  return finish_device(status, device);
}

// A number, or one of the dictionaries of query_available_devices.
static PyObject* driver_create_device(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"device_id", "params", "allocators", NULL};
  PyObject *which, *params = Py_None, *allocators = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO", names, &which, &params, &allocators) ||
      !check_allocators(allocators, params)) {
    return NULL;
  }
  PyObject* number = PyDict_Check(which) ? PyDict_GetItemString(which, "device_id") : which;
  unsigned long long id = number ? PyLong_AsUnsignedLongLong(number) : 0;
  if (!number) PyErr_SetString(PyExc_ValueError, "the device's description has no device_id");
  if (PyErr_Occurred()) return NULL;
  iree_hal_device_t* device = NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_driver_create_device_by_id(binding_ptr(self), (iree_hal_device_id_t)id, 0, NULL, NULL,
                                               iree_allocator_system(), &device);
  Py_END_ALLOW_THREADS;
  return finish_device(status, device);
}

static PyObject* driver_device_by_uri(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"device_uri", "allocators", NULL};
  PyObject *uri, *allocators = Py_None;
  iree_string_view_t text;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|O", names, &uri, &allocators) ||
      !check_allocators(allocators, Py_None) || !binding_string(uri, &text)) {
    return NULL;
  }
  iree_hal_device_t* device = NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_driver_create_device_by_uri(binding_ptr(self), text, NULL, iree_allocator_system(), &device);
  Py_END_ALLOW_THREADS;
  return finish_device(status, device);
}

static PyMethodDef driver_methods[] = {
    {"query", driver_query, METH_NOARGS | METH_STATIC, "Names of the drivers of this build."},
    {"query_available_devices", driver_devices, METH_NOARGS, "List of {device_id, path, name}."},
    {"dump_device_info", driver_dump, METH_VARARGS, "dump_device_info(device_id): text about a device."},
    {"create_default_device", BINDING_KEYWORDS(driver_default_device),
     "create_default_device(allocators=None): the driver's default device."},
    {"create_device", BINDING_KEYWORDS(driver_create_device),
     "create_device(device_id or its description, params=None, allocators=None)"},
    {"create_device_by_uri", BINDING_KEYWORDS(driver_device_by_uri),
     "create_device_by_uri('driver://path?key=value', allocators=None)"},
    {NULL, NULL, 0, NULL}};
PyType_Slot binding_iree_hal_driver_slots[] = {{Py_tp_methods, driver_methods}, {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* device_allocator(PyObject* self, void* unused) {
  return binding_wrap_retain(KIND_ALLOCATOR, iree_hal_device_allocator(binding_ptr(self)));
}

static PyObject* device_id(PyObject* self, void* unused) { return binding_text(iree_hal_device_id(binding_ptr(self))); }

static PyObject* device_repr(PyObject* self) {
  PyObject* id = device_id(self, NULL);
  PyObject* text = id ? PyUnicode_FromFormat("<HalDevice %U>", id) : NULL;
  Py_XDECREF(id);
  return text;
}

static PyObject* device_create_semaphore(PyObject* self, PyObject* args) {
  unsigned long long value = 0;
  if (!PyArg_ParseTuple(args, "|K", &value)) return NULL;
  iree_hal_semaphore_t* semaphore = NULL;
  iree_status_t status = iree_hal_semaphore_create(binding_ptr(self), IREE_HAL_QUEUE_AFFINITY_ANY, value,
                                                   IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore);
  return binding_check(status, "Error creating semaphore") ? binding_wrap(KIND_SEMAPHORE, semaphore) : NULL;
}

// upload(array): what the protocol of buffers gives, as a tensor.
static PyObject* device_upload(PyObject* self, PyObject* object) {
  return arrays_view_of_buffer(binding_ptr(self), object);
}

static PyMethodDef device_methods[] = {
    {"create_semaphore", device_create_semaphore, METH_VARARGS, "create_semaphore(initial_value=0)"},
    {"upload", device_upload, METH_O, "upload(buffer): a HalBufferView with a copy of a C-contiguous buffer."},
    {"queue_alloca", BINDING_KEYWORDS(queue_alloca),
     "queue_alloca(allocation_size, wait_semaphores, signal_semaphores): a HalBuffer. Semaphores are a HalFence or "
     "pairs "
     "(semaphore, value)."},
    {"queue_dealloca", BINDING_KEYWORDS(queue_dealloca), "queue_dealloca(buffer, wait_semaphores, signal_semaphores)"},
    {"queue_copy", BINDING_KEYWORDS(queue_copy),
     "queue_copy(source_buffer, target_buffer, wait_semaphores, signal_semaphores)"},
    {"queue_execute", BINDING_KEYWORDS(queue_execute),
     "queue_execute(command_buffer, wait_semaphores, signal_semaphores)"},
    {"begin_profiling", BINDING_KEYWORDS(queue_begin_profiling),
     "begin_profiling(): what the flags --device_profiling_mode= and --device_profiling_output= ask for."},
    {"begin_external_capture", BINDING_KEYWORDS(queue_begin_external_capture), "Says what there is in its place."},
    {"flush_profiling", queue_flush_profiling, METH_NOARGS, "Writes what there is."},
    {"end_profiling", queue_end_profiling, METH_NOARGS, "Ends the profile, and its file."},
    {"wait_any", BINDING_KEYWORDS(queue_wait_any),
     "wait_any(semaphores, timeout=None, deadline=None) -> bool: until one of them is reached."},
    {"create_dlpack_capsule", dlpack_export, METH_VARARGS,
     "create_dlpack_capsule(buffer_view, device_type=1, device_id=0)"},
    {"from_dlpack_capsule", dlpack_import, METH_VARARGS,
     "from_dlpack_capsule(capsule): a HalBufferView, of the same memory where the device can use it."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef device_properties[] = {{"allocator", device_allocator, NULL, "Its memory.", NULL},
                                          {"device_id", device_id, NULL, "Its driver's name for it.", NULL},
                                          {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_hal_device_slots[] = {
    {Py_tp_methods, device_methods}, {Py_tp_getset, device_properties}, {Py_tp_repr, device_repr}, {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* allocator_allocate(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"memory_type", "allowed_usage", "allocation_size", NULL};
  unsigned type, usage;
  unsigned long long size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "IIK", names, &type, &usage, &size)) return NULL;
  iree_hal_buffer_params_t params = {.type = type, .usage = usage};
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status = iree_hal_allocator_allocate_buffer(binding_ptr(self), params, size, &buffer);
  return binding_check(status, "Error allocating buffer") ? binding_wrap(KIND_BUFFER, buffer) : NULL;
}

// A HalBuffer, or a HalBufferView when there is an element type.
static PyObject* allocator_allocate_copy(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"memory_type", "allowed_usage", "device", "buffer", "element_type", NULL};
  unsigned type, usage;
  iree_hal_device_t* device;
  PyObject *object, *element = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "IIO&O|O", names, &type, &usage, binding_iree_hal_device, &device,
                                   &object, &element)) {
    return NULL;
  }
  bool has_type = element != Py_None;
  iree_hal_element_type_t element_type =
      has_type ? (iree_hal_element_type_t)PyLong_AsUnsignedLong(element) : IREE_HAL_ELEMENT_TYPE_UINT_8;
  Py_buffer source;
  if (PyErr_Occurred() || PyObject_GetBuffer(object, &source, PyBUF_C_CONTIGUOUS)) return NULL;
  iree_hal_dim_t shape[ARRAY_RANK_LIMIT] = {(iree_hal_dim_t)source.len};
  iree_host_size_t rank = has_type ? (iree_host_size_t)source.ndim : 1;
  for (iree_host_size_t i = 0; has_type && i < rank; ++i) shape[i] = (iree_hal_dim_t)source.shape[i];
  iree_hal_buffer_params_t params = {.type = type, .usage = usage};
  iree_hal_buffer_view_t* view = NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_buffer_view_allocate_buffer_copy(
      device, binding_ptr(self), rank, shape, element_type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
      iree_make_const_byte_span(source.buf, (iree_host_size_t)source.len), &view);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&source);
  if (!binding_check(status, "Error allocating buffer")) return NULL;
  if (has_type) return binding_wrap(KIND_VIEW, view);
  PyObject* buffer = binding_wrap_retain(KIND_BUFFER, iree_hal_buffer_view_buffer(view));
  iree_hal_buffer_view_release(view);
  return buffer;
}

static PyObject* allocator_statistics(PyObject* self, void* unused) {
  iree_hal_allocator_statistics_t s;
  iree_hal_allocator_query_statistics(binding_ptr(self), &s);
  return Py_BuildValue(
      "{sKsKsKsKsKsK}", "host_bytes_peak", (unsigned long long)s.host_bytes_peak, "host_bytes_allocated",
      (unsigned long long)s.host_bytes_allocated, "host_bytes_freed", (unsigned long long)s.host_bytes_freed,
      "device_bytes_peak", (unsigned long long)s.device_bytes_peak, "device_bytes_allocated",
      (unsigned long long)s.device_bytes_allocated, "device_bytes_freed", (unsigned long long)s.device_bytes_freed);
}

static PyObject* allocator_statistics_text(PyObject* self, void* unused) {
  iree_hal_allocator_statistics_t statistics;
  iree_hal_allocator_query_statistics(binding_ptr(self), &statistics);
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status = iree_hal_allocator_statistics_format(&statistics, &builder);
  return binding_take_text(&builder, status, "Error formatting statistics");
}

static PyObject* allocator_has_statistics(PyObject* self, void* unused) { Py_RETURN_TRUE; }

static void release_host_allocation(void* user_data, iree_hal_buffer_t* buffer) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyBuffer_Release(user_data);
  PyMem_Free(user_data);
  PyGILState_Release(state);
}

// A HalBuffer of memory as it lies, which it keeps.
static PyObject* allocator_import(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"buffer_obj", "memory_type", "allowed_usage", NULL};
  PyObject* object;
  unsigned type, usage;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OII", names, &object, &type, &usage)) return NULL;
  Py_buffer* memory = PyMem_Calloc(1, sizeof(*memory));
  if (!memory) return PyErr_NoMemory();
  if (PyObject_GetBuffer(object, memory, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)) {
    PyMem_Free(memory);
    return NULL;
  }
  iree_hal_external_buffer_t external = {.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                         .size = (iree_device_size_t)memory->len};
  external.handle.host_allocation.ptr = memory->buf;
  iree_hal_buffer_params_t params = {.type = type, .usage = usage};
  iree_hal_buffer_release_callback_t callback = {release_host_allocation, memory};
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status = iree_hal_allocator_import_buffer(binding_ptr(self), params, &external, callback, &buffer);
  if (binding_check(status, "Error importing host memory")) return binding_wrap(KIND_BUFFER, buffer);
  PyBuffer_Release(memory);
  PyMem_Free(memory);
  return NULL;
}

static PyObject* allocator_trim(PyObject* self, PyObject* unused) {
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_allocator_trim(binding_ptr(self));
  Py_END_ALLOW_THREADS;
  return binding_none_or_error(status, "Error trimming the allocator");
}

static PyObject* allocator_compatibility(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"memory_type", "allowed_usage", "intended_usage", "allocation_size", NULL};
  unsigned type, usage, intended;
  unsigned long long size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "IIIK", names, &type, &usage, &intended, &size)) return NULL;
  iree_hal_buffer_params_t params = {.type = type, .usage = usage & intended};
  return PyLong_FromUnsignedLong(
      iree_hal_allocator_query_buffer_compatibility(binding_ptr(self), params, size, NULL, NULL));
}

static PyMethodDef allocator_methods[] = {
    {"allocate_buffer", BINDING_KEYWORDS(allocator_allocate),
     "allocate_buffer(memory_type, allowed_usage, allocation_size)"},
    {"allocate_buffer_copy", BINDING_KEYWORDS(allocator_allocate_copy),
     "allocate_buffer_copy(memory_type, allowed_usage, device, buffer, element_type=None)"},
    {"import_host_allocation", BINDING_KEYWORDS(allocator_import),
     "import_host_allocation(buffer_obj, memory_type, allowed_usage): a HalBuffer of the same memory."},
    {"query_buffer_compatibility", BINDING_KEYWORDS(allocator_compatibility),
     "query_buffer_compatibility(memory_type, allowed_usage, intended_usage, allocation_size)"},
    {"trim", allocator_trim, METH_NOARGS, "Gives unused memory back."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef allocator_properties[] = {
    {"statistics", allocator_statistics, NULL, "Bytes by name.", NULL},
    {"has_statistics", allocator_has_statistics, NULL, "True.", NULL},
    {"formatted_statistics", allocator_statistics_text, NULL, "As text.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_hal_allocator_slots[] = {
    {Py_tp_methods, allocator_methods}, {Py_tp_getset, allocator_properties}, {0, NULL}};

static PyObject* buffer_fill_zero(PyObject* self, PyObject* args) {
  unsigned long long offset, length;
  if (!PyArg_ParseTuple(args, "KK", &offset, &length)) return NULL;
  return binding_none_or_error(iree_hal_buffer_map_zero(binding_ptr(self), offset, length),
                               "Error zero filling buffer");
}

static PyObject* buffer_byte_length(PyObject* self, PyObject* unused) {
  return PyLong_FromUnsignedLongLong(iree_hal_buffer_byte_length(binding_ptr(self)));
}
static PyObject* buffer_memory_type(PyObject* self, PyObject* unused) {
  return PyLong_FromUnsignedLong(iree_hal_buffer_memory_type(binding_ptr(self)));
}
static PyObject* buffer_allowed_usage(PyObject* self, PyObject* unused) {
  return PyLong_FromUnsignedLong(iree_hal_buffer_allowed_usage(binding_ptr(self)));
}
static PyObject* buffer_allowed_access(PyObject* self, PyObject* unused) {
  return PyLong_FromUnsignedLong(iree_hal_buffer_allowed_access(binding_ptr(self)));
}

// Where it lies and what it may be used for: `13 bytes (at offset 0 into 13), memory_type=…`.
static iree_status_t describe_buffer(iree_hal_buffer_t* buffer, iree_string_builder_t* builder) {
  iree_bitfield_string_temp_t type_text, access_text, usage_text;
  iree_string_view_t type = iree_hal_memory_type_format(iree_hal_buffer_memory_type(buffer), &type_text),
                     access = iree_hal_memory_access_format(iree_hal_buffer_allowed_access(buffer), &access_text),
                     usage = iree_hal_buffer_usage_format(iree_hal_buffer_allowed_usage(buffer), &usage_text);
  return iree_string_builder_append_format(
      builder, "%llu bytes (at offset %llu into %llu), memory_type=%.*s, allowed_access=%.*s, allowed_usage=%.*s>",
      (unsigned long long)iree_hal_buffer_byte_length(buffer), (unsigned long long)iree_hal_buffer_byte_offset(buffer),
      (unsigned long long)iree_hal_buffer_allocation_size(buffer), (int)type.size, type.data, (int)access.size,
      access.data, (int)usage.size, usage.data);
}

static PyObject* buffer_repr(PyObject* self) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status = iree_string_builder_append_cstring(&builder, "<HalBuffer ");
  if (iree_status_is_ok(status)) status = describe_buffer(binding_ptr(self), &builder);
  return binding_take_text(&builder, status, "Error formatting");
}

static PyObject* create_view(iree_hal_buffer_t* buffer, PyObject* sequence, unsigned long element_type) {
  iree_hal_dim_t shape[ARRAY_RANK_LIMIT];
  iree_host_size_t rank;
  if (!arrays_shape(sequence, &rank, shape)) return NULL;
  iree_hal_buffer_view_t* view = NULL;
  iree_status_t status =
      iree_hal_buffer_view_create(buffer, rank, shape, (iree_hal_element_type_t)element_type,
                                  IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, iree_allocator_system(), &view);
  return binding_check(status, "Error creating buffer view") ? binding_wrap(KIND_VIEW, view) : NULL;
}

static PyMethodDef buffer_methods[] = {
    {"fill_zero", buffer_fill_zero, METH_VARARGS, "fill_zero(offset, length)"},
    {"byte_length", buffer_byte_length, METH_NOARGS, "Bytes."},
    {"memory_type", buffer_memory_type, METH_NOARGS, "Bits of MemoryType."},
    {"allowed_usage", buffer_allowed_usage, METH_NOARGS, "Bits of BufferUsage."},
    {"allowed_access", buffer_allowed_access, METH_NOARGS, "Bits of MemoryAccess."},
    {"map", arrays_map_buffer, METH_NOARGS, "Its memory, where the host reaches it."},
    {NULL, NULL, 0, NULL}};
PyType_Slot binding_iree_hal_buffer_slots[] = {{Py_tp_methods, buffer_methods}, {Py_tp_repr, buffer_repr}, {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Tensors
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* view_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"buffer", "shape", "element_type", NULL};
  iree_hal_buffer_t* buffer;
  PyObject* shape;
  unsigned long element_type;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&Ok", names, binding_iree_hal_buffer, &buffer, &shape,
                                   &element_type)) {
    return NULL;
  }
  return create_view(buffer, shape, element_type);
}

static PyObject* view_shape(PyObject* self, void* unused) {
  iree_hal_buffer_view_t* view = binding_ptr(self);
  Py_ssize_t rank = (Py_ssize_t)iree_hal_buffer_view_shape_rank(view);
  PyObject* shape = PyTuple_New(rank);
  for (Py_ssize_t i = 0; shape && i < rank; ++i) {
    PyObject* size = PyLong_FromUnsignedLongLong(iree_hal_buffer_view_shape_dim(view, (iree_host_size_t)i));
    if (!size || PyTuple_SetItem(shape, i, size)) Py_CLEAR(shape);
  }
  return shape;
}

static PyObject* view_element_type(PyObject* self, void* unused) {
  return PyLong_FromUnsignedLong(iree_hal_buffer_view_element_type(binding_ptr(self)));
}
static PyObject* view_byte_length(PyObject* self, void* unused) {
  return PyLong_FromUnsignedLongLong(iree_hal_buffer_view_byte_length(binding_ptr(self)));
}
static PyObject* view_get_buffer(PyObject* self, PyObject* unused) {
  return binding_wrap_retain(KIND_BUFFER, iree_hal_buffer_view_buffer(binding_ptr(self)));
}

static PyObject* view_repr(PyObject* self) {
  iree_hal_buffer_view_t* view = binding_ptr(self);
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status = iree_string_builder_append_cstring(&builder, "<HalBufferView (");
  for (iree_host_size_t i = 0; i < iree_hal_buffer_view_shape_rank(view) && iree_status_is_ok(status); ++i) {
    status = iree_string_builder_append_format(&builder, i ? ", %zu" : "%zu",
                                               (size_t)iree_hal_buffer_view_shape_dim(view, i));
  }
  if (iree_status_is_ok(status)) {
    status = iree_string_builder_append_format(&builder, "), element_type=0x%x, ",
                                               (unsigned)iree_hal_buffer_view_element_type(view));
  }
  if (iree_status_is_ok(status)) status = describe_buffer(iree_hal_buffer_view_buffer(view), &builder);
  return binding_take_text(&builder, status, "Error formatting");
}

static PyMethodDef view_methods[] = {
    {"map", arrays_map_view, METH_NOARGS, "Its memory, where the host reaches it."},
    {"to_host", arrays_view_to_host, METH_VARARGS, "to_host(device): what map gives, or a copy."},
    {"get_buffer", view_get_buffer, METH_NOARGS, "Its buffer."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef view_properties[] = {{"shape", view_shape, NULL, "Tuple of sizes.", NULL},
                                        {"element_type", view_element_type, NULL, "A HalElementType's number.", NULL},
                                        {"byte_length", view_byte_length, NULL, "Bytes.", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_hal_buffer_view_slots[] = {{Py_tp_new, view_new},
                                                    {Py_tp_methods, view_methods},
                                                    {Py_tp_getset, view_properties},
                                                    {Py_tp_repr, view_repr},
                                                    {0, NULL}};
