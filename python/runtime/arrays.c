// Tensors and Python's buffers: what has a buffer becomes a tensor on a device, and tensors' memory becomes one.
#include <stdlib.h>
#include <string.h>

#include "binding.h"

static PyTypeObject* mapped_type;

//===----------------------------------------------------------------------------------------------------------------===
// Element types as formats of the module `struct`
//===----------------------------------------------------------------------------------------------------------------===

typedef struct element_format_t {
  const char* format;  // of MappedMemory; others that mean the same are read, too
  const char* same;
  iree_hal_element_type_t type;
} element_format_t;

static const element_format_t formats[] = {
    {"?", "", IREE_HAL_ELEMENT_TYPE_BOOL_8},
    {"b", "", IREE_HAL_ELEMENT_TYPE_SINT_8},
    {"h", "", IREE_HAL_ELEMENT_TYPE_SINT_16},
    {"i", "", IREE_HAL_ELEMENT_TYPE_SINT_32},
    {"l", "qn", IREE_HAL_ELEMENT_TYPE_SINT_64},
    {"B", "c", IREE_HAL_ELEMENT_TYPE_UINT_8},
    {"H", "", IREE_HAL_ELEMENT_TYPE_UINT_16},
    {"I", "", IREE_HAL_ELEMENT_TYPE_UINT_32},
    {"L", "QN", IREE_HAL_ELEMENT_TYPE_UINT_64},
    {"e", "", IREE_HAL_ELEMENT_TYPE_FLOAT_16},
    {"f", "", IREE_HAL_ELEMENT_TYPE_FLOAT_32},
    {"d", "", IREE_HAL_ELEMENT_TYPE_FLOAT_64},
    {"Zf", "", IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_64},
    {"Zd", "", IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_128},
    {"b", "", IREE_HAL_ELEMENT_TYPE_INT_8},
    {"h", "", IREE_HAL_ELEMENT_TYPE_INT_16},
    {"i", "", IREE_HAL_ELEMENT_TYPE_INT_32},
    {"l", "", IREE_HAL_ELEMENT_TYPE_INT_64},
};
static_assert(sizeof(int) == 4 && sizeof(long) == 8, "the formats of a 64-bit Unix");

static iree_hal_element_type_t type_of_format(const char* format, Py_ssize_t item_size) {
  if (!format) return item_size == 1 ? IREE_HAL_ELEMENT_TYPE_UINT_8 : IREE_HAL_ELEMENT_TYPE_NONE;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  for (size_t i = 0; i < IREE_ARRAYSIZE(formats); ++i) {
    const element_format_t* f = &formats[i];
    bool same = !strcmp(format, f->format) || (format[0] && !format[1] && strchr(f->same, format[0]));
    if (same && (Py_ssize_t)iree_hal_element_dense_byte_count(f->type) == item_size) return f->type;
  }
  return IREE_HAL_ELEMENT_TYPE_NONE;
}

// NULL: what Python has no format for.
static const char* format_of_type(iree_hal_element_type_t type) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(formats); ++i) {
    if (formats[i].type == type) return formats[i].format;
  }
  return NULL;
}

bool arrays_shape(PyObject* sequence, iree_host_size_t* out_rank, iree_hal_dim_t* out_shape) {
  Py_ssize_t rank = PySequence_Size(sequence);
  if (rank < 0) return false;
  if (rank > ARRAY_RANK_LIMIT) {
    PyErr_Format(PyExc_ValueError, "a shape has at most %d dimensions", ARRAY_RANK_LIMIT);
    return false;
  }
  for (Py_ssize_t i = 0; i < rank; ++i) {
    PyObject* item = PySequence_GetItem(sequence, i);
    Py_ssize_t size = item ? PyNumber_AsSsize_t(item, PyExc_OverflowError) : -1;
    Py_XDECREF(item);
    if (size == -1 && PyErr_Occurred()) return false;
    if (size < 0) {
      PyErr_SetString(PyExc_ValueError, "a dimension is negative");
      return false;
    }
    out_shape[i] = (iree_hal_dim_t)size;
  }
  *out_rank = (iree_host_size_t)rank;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// To a device
//===----------------------------------------------------------------------------------------------------------------===

enum { LARGE = 1 << 16 };  // bytes whose copying other threads should not wait for

static iree_status_t copy_to_device(iree_hal_device_t* device, const Py_buffer* source, iree_hal_element_type_t type,
                                    iree_hal_buffer_view_t** out_view) {
  iree_hal_dim_t shape[ARRAY_RANK_LIMIT];
  for (int i = 0; i < source->ndim; ++i) shape[i] = (iree_hal_dim_t)source->shape[i];
  iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  return iree_hal_buffer_view_allocate_buffer_copy(
      device, iree_hal_device_allocator(device), (iree_host_size_t)source->ndim, shape, type,
      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
      iree_make_const_byte_span(source->buf, (iree_host_size_t)source->len), out_view);
}

PyObject* arrays_view_of_buffer(iree_hal_device_t* device, PyObject* object) {
  Py_buffer source;
  if (PyObject_GetBuffer(object, &source, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) return NULL;
  iree_hal_element_type_t type = type_of_format(source.format, source.itemsize);
  if (!type || source.ndim > ARRAY_RANK_LIMIT) {
    PyErr_Format(PyExc_TypeError, "devices have no elements of format '%s'", source.format ? source.format : "");
    PyBuffer_Release(&source);
    return NULL;
  }
  iree_hal_buffer_view_t* view = NULL;
  iree_status_t status;
  if (source.len < LARGE) {
    status = copy_to_device(device, &source, type, &view);
  } else {
    Py_BEGIN_ALLOW_THREADS;
    status = copy_to_device(device, &source, type, &view);
    Py_END_ALLOW_THREADS;
  }
  PyBuffer_Release(&source);
  return binding_check(status, "Error creating device array") ? binding_wrap(KIND_VIEW, view) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// MappedMemory
//===----------------------------------------------------------------------------------------------------------------===

typedef struct mapped_t {
  PyObject_HEAD;
  iree_hal_buffer_mapping_t mapping;  // its `buffer` is retained, and NULL for a copy
  void* copy;
  Py_ssize_t rank;
  Py_ssize_t shape[ARRAY_RANK_LIMIT], strides[ARRAY_RANK_LIMIT];
  const char* format;
  Py_ssize_t item_size;
} mapped_t;

static void mapped_dealloc(PyObject* object) {
  mapped_t* self = (mapped_t*)object;
  if (self->mapping.buffer) IREE_IGNORE_ERROR(iree_hal_buffer_unmap_range(&self->mapping));
  free(self->copy);
  binding_destroy(object);
}

// A line of bytes: what has no format, or elements that are no whole bytes.
static void set_line(mapped_t* self) {
  self->rank = 1;
  self->shape[0] = (Py_ssize_t)self->mapping.contents.data_length;
  self->strides[0] = self->item_size = 1;
  self->format = "B";
}

static void set_tensor(mapped_t* self, const iree_hal_buffer_view_t* view, const char* format) {
  self->rank = (Py_ssize_t)iree_hal_buffer_view_shape_rank(view);
  self->item_size = (Py_ssize_t)iree_hal_buffer_view_element_size(view);
  self->format = format;
  Py_ssize_t stride = self->item_size;
  for (Py_ssize_t i = self->rank; i-- > 0;) {
    self->shape[i] = (Py_ssize_t)iree_hal_buffer_view_shape_dim(view, (iree_host_size_t)i);
    self->strides[i] = stride;
    stride *= self->shape[i];
  }
}

static int mapped_get_buffer(PyObject* object, Py_buffer* out, int flags) {
  static uint8_t nothing;
  mapped_t* self = (mapped_t*)object;
  *out = (Py_buffer){.buf = self->mapping.contents.data ? self->mapping.contents.data : &nothing,
                     .obj = object,
                     .len = (Py_ssize_t)self->mapping.contents.data_length,
                     .itemsize = self->item_size,
                     .ndim = (int)self->rank};
  if (flags & PyBUF_FORMAT) out->format = (char*)(uintptr_t)self->format;
  if (flags & PyBUF_ND) out->shape = self->shape;
  if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) out->strides = self->strides;
  Py_INCREF(object);
  return 0;
}

static PyType_Slot mapped_slots[] = {{Py_tp_dealloc, mapped_dealloc},
                                     {Py_bf_getbuffer, mapped_get_buffer},
                                     {Py_tp_doc, "A tensor's memory as a buffer, which it keeps."},
                                     {0, NULL}};

static mapped_t* map_buffer(iree_hal_buffer_t* buffer, iree_device_size_t length, iree_status_t* out_status) {
  mapped_t* self = binding_create(mapped_type);
  if (!self) return NULL;
  iree_hal_memory_access_t access =
      iree_hal_buffer_allowed_access(buffer) & (IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE);
  *out_status = iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED, access, 0, length, &self->mapping);
  if (iree_status_is_ok(*out_status)) {
    *out_status = iree_hal_buffer_mapping_invalidate_range(&self->mapping, 0, IREE_HAL_WHOLE_BUFFER);
  } else {
    self->mapping.buffer = NULL;
  }
  return self;
}

PyObject* arrays_map_buffer(PyObject* buffer, PyObject* unused) {
  iree_status_t status = iree_ok_status();
  mapped_t* self = map_buffer(binding_ptr(buffer), IREE_HAL_WHOLE_BUFFER, &status);
  if (!self) return NULL;
  set_line(self);
  if (!binding_check(status, "Could not map memory")) Py_CLEAR(self);
  return (PyObject*)self;
}

static PyObject* finish_view(mapped_t* self, iree_hal_buffer_view_t* view, iree_status_t status) {
  const char* format = format_of_type(iree_hal_buffer_view_element_type(view));
  if (format) {
    set_tensor(self, view, format);
  } else {
    set_line(self);
  }
  if (!binding_check(status, "Could not map memory")) Py_CLEAR(self);
  return (PyObject*)self;
}

PyObject* arrays_map_view(PyObject* object, PyObject* unused) {
  iree_hal_buffer_view_t* view = binding_ptr(object);
  iree_status_t status = iree_ok_status();
  mapped_t* self = map_buffer(iree_hal_buffer_view_buffer(view), iree_hal_buffer_view_byte_length(view), &status);
  return self ? finish_view(self, view, status) : NULL;
}

static iree_status_t read_copy(mapped_t* self, iree_hal_device_t* device, iree_hal_buffer_view_t* view) {
  iree_host_size_t length = (iree_host_size_t)iree_hal_buffer_view_byte_length(view);
  self->copy = malloc(length + 1);
  if (!self->copy) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  self->mapping.contents = iree_make_byte_span(self->copy, length);
  if (!length) return iree_ok_status();
  return iree_hal_device_transfer_d2h(device, iree_hal_buffer_view_buffer(view), 0, self->copy, length,
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}

PyObject* arrays_view_to_host(PyObject* object, PyObject* args) {
  iree_hal_device_t* device;
  if (!PyArg_ParseTuple(args, "O&", binding_iree_hal_device, &device)) return NULL;
  iree_hal_buffer_view_t* view = binding_ptr(object);
  iree_hal_buffer_t* buffer = iree_hal_buffer_view_buffer(view);
  if (iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) &&
      (iree_hal_buffer_allowed_usage(buffer) & IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED)) {
    return arrays_map_view(object, NULL);
  }
  mapped_t* self = binding_create(mapped_type);
  if (!self) return NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = read_copy(self, device, view);
  Py_END_ALLOW_THREADS;
  return finish_view(self, view, status);
}

//===----------------------------------------------------------------------------------------------------------------===
// Element types as numbers
//===----------------------------------------------------------------------------------------------------------------===

// {name: number} of all element types.
static PyObject* element_types(void) {
  PyObject* dict = PyDict_New();
#define ELEMENT(name, numerical_type, bits, text)                             \
  if (dict) {                                                                 \
    PyObject* number = PyLong_FromUnsignedLong(IREE_HAL_ELEMENT_TYPE_##name); \
    if (!number || PyDict_SetItemString(dict, #name, number)) Py_CLEAR(dict); \
    Py_XDECREF(number);                                                       \
  }
  IREE_HAL_ELEMENT_TYPES(ELEMENT)
#undef ELEMENT
  return dict;
}

bool arrays_add(PyObject* module) {
  if (!binding_add_type(module, &mapped_type, "iree.runtime._binding.MappedMemory", sizeof(mapped_t), mapped_slots,
                        true)) {
    return false;
  }
  PyObject* types = element_types();
  bool added = types && PyModule_AddObjectRef(module, "element_types", types) == 0;
  Py_XDECREF(types);
  return added;
}
