// What programs take and give besides tensors: lists and bytes of the host.
#include "binding.h"

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* list_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"capacity", NULL};
  Py_ssize_t capacity = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|n", names, &capacity)) return NULL;
  if (capacity < 0) return PyErr_Format(PyExc_ValueError, "a list's capacity is not negative");
  iree_vm_list_t* list = NULL;
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), (iree_host_size_t)capacity,
                                             iree_allocator_system(), &list);
  return binding_check(status, "Error creating list") ? binding_wrap(KIND_LIST, list) : NULL;
}

static Py_ssize_t list_length(PyObject* self) { return (Py_ssize_t)iree_vm_list_size(binding_ptr(self)); }
static PyObject* list_size(PyObject* self, void* unused) { return PyLong_FromSsize_t(list_length(self)); }

static PyObject* push_value(PyObject* self, iree_vm_value_t value) {
  return binding_none_or_error(iree_vm_list_push_value(binding_ptr(self), &value), "Could not push value");
}

static PyObject* list_push_float(PyObject* self, PyObject* value) {
  double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return NULL;
  return push_value(self, iree_vm_value_make_f64(number));
}

static PyObject* list_push_int(PyObject* self, PyObject* value) {
  long long number = PyLong_AsLongLong(value);
  if (number == -1 && PyErr_Occurred()) return NULL;
  return push_value(self, iree_vm_value_make_i64(number));
}

static PyObject* list_push_none(PyObject* self, PyObject* unused) {
  iree_vm_variant_t none = iree_vm_variant_empty();
  return binding_none_or_error(iree_vm_list_push_variant_retain(binding_ptr(self), &none), "Could not push None");
}

// An object of the runtime, or one whose method `__iree_vm_ref__` gives it (DeviceArray, VmRef).
static bool to_ref(PyObject* object, iree_vm_ref_t* out_ref) {
  if (binding_to_ref(object, out_ref)) return true;
  PyObject* method = PyObject_GetAttrString(object, "__iree_vm_ref__");
  PyObject* held = method ? PyObject_CallNoArgs(method) : NULL;
  bool called = method != NULL;
  Py_XDECREF(method);
  if (!called) PyErr_Clear();
  bool found = held && (held == Py_None || binding_to_ref(held, out_ref));
  if (!found && !PyErr_Occurred()) {
    PyErr_Format(PyExc_TypeError, "an object of the runtime is needed, not %R", (PyObject*)Py_TYPE(object));
  }
  Py_XDECREF(held);
  return found;
}

// A list that held itself would never be freed.
static PyObject* list_push_ref(PyObject* self, PyObject* object) {
  iree_vm_ref_t ref = iree_vm_ref_null();
  if (object == Py_None) return list_push_none(self, NULL);
  if (!to_ref(object, &ref)) return NULL;
  iree_status_t status = iree_ok_status();
  if (!iree_vm_list_may_hold(binding_ptr(self), ref)) {
    status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the list would hold itself");
  } else {
    status = iree_vm_list_push_ref_retain(binding_ptr(self), &ref);
  }
  iree_vm_ref_release(&ref);
  return binding_none_or_error(status, "Could not push reference");
}

static PyObject* get(PyObject* self, Py_ssize_t index) {
  iree_vm_variant_t variant = iree_vm_variant_empty();
  iree_status_t status = index < 0
                             ? iree_make_status(IREE_STATUS_OUT_OF_RANGE, "index %zd", index)
                             : iree_vm_list_get_variant_assign(binding_ptr(self), (iree_host_size_t)index, &variant);
  return binding_check(status, "Could not access list element") ? binding_from_variant(&variant) : NULL;
}

static PyObject* list_get_variant(PyObject* self, PyObject* args) {
  Py_ssize_t index;
  return PyArg_ParseTuple(args, "n", &index) ? get(self, index) : NULL;
}

static PyObject* list_get_as_object(PyObject* self, PyObject* args) {
  Py_ssize_t index;
  PyObject* type;
  if (!PyArg_ParseTuple(args, "nO", &index, &type)) return NULL;
  PyObject* object = get(self, index);
  int good = object ? PyObject_IsInstance(object, type) : 1;
  if (good == 1) return object;
  if (good == 0) PyErr_Format(PyExc_TypeError, "the element is %R, not a %R", object, type);
  Py_XDECREF(object);
  return NULL;
}

static PyObject* list_get_as_list(PyObject* self, PyObject* args) {
  Py_ssize_t index;
  if (!PyArg_ParseTuple(args, "n", &index)) return NULL;
  PyObject* object = get(self, index);
  if (object && !binding_is(object, KIND_LIST)) {
    PyErr_Format(PyExc_TypeError, "the element is %R, not a list", object);
    Py_CLEAR(object);
  }
  return object;
}

static PyObject* list_repr(PyObject* self) {
  PyObject* items = PyList_New(0);
  for (Py_ssize_t i = 0; items && i < list_length(self); ++i) {
    PyObject* item = get(self, i);
    if (!item || PyList_Append(items, item)) Py_CLEAR(items);
    Py_XDECREF(item);
  }
  PyObject* text = items ? PyUnicode_FromFormat("<VmVariantList(%zd): %R>", list_length(self), items) : NULL;
  Py_XDECREF(items);
  return text;
}

static PyMethodDef list_methods[] = {
    {"push_float", list_push_float, METH_O, "push_float(number)"},
    {"push_int", list_push_int, METH_O, "push_int(number)"},
    {"push_none", list_push_none, METH_NOARGS, "A null reference."},
    {"push_list", list_push_ref, METH_O, "push_list(list)"},
    {"push_ref", list_push_ref, METH_O, "push_ref(object): a tensor, buffer, fence, list, …"},
    {"get_variant", list_get_variant, METH_VARARGS, "get_variant(i): a number or an object."},
    {"get_as_object", list_get_as_object, METH_VARARGS, "get_as_object(i, type)"},
    {"get_as_list", list_get_as_list, METH_VARARGS, "get_as_list(i)"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef list_properties[] = {{"size", list_size, NULL, "Number of elements.", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_vm_list_slots[] = {{Py_tp_new, list_new},
                                            {Py_tp_methods, list_methods},
                                            {Py_tp_getset, list_properties},
                                            {Py_sq_length, list_length},
                                            {Py_sq_item, get},
                                            {Py_tp_repr, list_repr},
                                            {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Bytes
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* bytes_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"length", "alignment", "mutable", NULL};
  Py_ssize_t length, alignment = 0;
  int is_mutable = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|np", names, &length, &alignment, &is_mutable)) return NULL;
  if (length < 0 || alignment < 0) return PyErr_Format(PyExc_ValueError, "lengths and alignments are not negative");
  iree_vm_buffer_access_t access =
      IREE_VM_BUFFER_ACCESS_ORIGIN_HOST | (is_mutable ? IREE_VM_BUFFER_ACCESS_MUTABLE : 0u);
  iree_vm_buffer_t* buffer = NULL;
  iree_status_t status = iree_vm_buffer_create(access, (iree_host_size_t)length, (iree_host_size_t)alignment,
                                               iree_allocator_system(), &buffer);
  return binding_check(status, "Error creating buffer") ? binding_wrap(KIND_BYTES, buffer) : NULL;
}

static int bytes_get_buffer(PyObject* self, Py_buffer* out, int flags) {
  static uint8_t nothing;
  iree_vm_buffer_t* buffer = binding_ptr(self);
  int read_only = !(buffer->access & IREE_VM_BUFFER_ACCESS_MUTABLE);
  return PyBuffer_FillInfo(out, self, buffer->data.data ? buffer->data.data : &nothing,
                           (Py_ssize_t)buffer->data.data_length, read_only, flags);
}

static Py_ssize_t bytes_length(PyObject* self) { return (Py_ssize_t)iree_vm_buffer_length(binding_ptr(self)); }

static PyObject* bytes_repr(PyObject* self) { return PyUnicode_FromFormat("<VmBuffer size %zd>", bytes_length(self)); }

PyType_Slot binding_iree_vm_buffer_slots[] = {{Py_tp_new, bytes_new},
                                              {Py_bf_getbuffer, bytes_get_buffer},
                                              {Py_sq_length, bytes_length},
                                              {Py_tp_repr, bytes_repr},
                                              {0, NULL}};
