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

enum { REF_DEPTH = 8 };  // objects that only give other objects

bool binding_object_to_ref(PyObject* object, iree_vm_ref_t* out_ref) {
  PyObject* held = Py_NewRef(object);
  bool found = false;
  for (int depth = 0; held && depth < REF_DEPTH && !found; ++depth) {
    found = (depth && held == Py_None) || binding_to_ref(held, out_ref);
    if (found) break;
    PyObject* given = PyObject_GetAttrString(held, "__iree_vm_ref__");
    if (!given && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    if (given && PyCallable_Check(given)) {
      PyObject* called = PyObject_CallNoArgs(given);
      Py_DECREF(given);
      given = called;
    }
    Py_DECREF(held);
    held = given;
  }
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
  if (!binding_object_to_ref(object, &ref)) return NULL;
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

// Text of an element: lists as `List[…]`, numbers as they are, tensors by shape and type.
static PyObject* describe_list(PyObject* list);
static PyObject* describe_item(PyObject* item) {
  if (binding_is(item, KIND_LIST)) return describe_list(item);
  if (binding_is(item, KIND_FENCE)) {
    return PyUnicode_FromFormat("fence(%zu)", (size_t)iree_hal_fence_timepoint_count(binding_ptr(item)));
  }
  if (!binding_is(item, KIND_VIEW)) return PyObject_Repr(item);
  iree_hal_buffer_view_t* view = binding_ptr(item);
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status = iree_string_builder_append_cstring(&builder, "HalBufferView(");
  for (iree_host_size_t i = 0; i < iree_hal_buffer_view_shape_rank(view) && iree_status_is_ok(status); ++i) {
    status = iree_string_builder_append_format(&builder, i ? "x%zu" : "%zu",
                                               (size_t)iree_hal_buffer_view_shape_dim(view, i));
  }
  if (iree_status_is_ok(status)) {
    status = iree_string_builder_append_format(&builder, ":0x%08x)", (unsigned)iree_hal_buffer_view_element_type(view));
  }
  return binding_take_text(&builder, status, "Error formatting");
}

// `[1, 0.5, List[2]]` without what stands before the bracket.
static PyObject* describe_items(PyObject* self) {
  PyObject *texts = PyList_New(0), *comma = PyUnicode_FromString(", ");
  for (Py_ssize_t i = 0; texts && i < list_length(self); ++i) {
    PyObject* item = get(self, i);
    PyObject* text = item ? describe_item(item) : NULL;
    if (!text || PyList_Append(texts, text)) Py_CLEAR(texts);
    Py_XDECREF(text);
    Py_XDECREF(item);
  }
  PyObject* joined = texts && comma ? PyUnicode_Join(comma, texts) : NULL;
  Py_XDECREF(texts);
  Py_XDECREF(comma);
  return joined;
}

// Lists cannot hold themselves, but their depth is a program's.
static PyObject* describe_list(PyObject* list) {
  if (Py_EnterRecursiveCall(" in a list's repr")) return NULL;
  PyObject* items = describe_items(list);
  Py_LeaveRecursiveCall();
  PyObject* text = items ? PyUnicode_FromFormat("List[%U]", items) : NULL;
  Py_XDECREF(items);
  return text;
}

static PyObject* list_repr(PyObject* self) {
  PyObject* items = describe_items(self);
  PyObject* text = items ? PyUnicode_FromFormat("<VmVariantList(%zd): [%U]>", list_length(self), items) : NULL;
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
