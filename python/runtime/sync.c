// Semaphores and fences.
#include "binding.h"

//===----------------------------------------------------------------------------------------------------------------===
// Semaphores
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* semaphore_query(PyObject* self, PyObject* unused) {
  uint64_t value = 0;
  if (!binding_check(iree_hal_semaphore_query(binding_ptr(self), &value), "Error querying semaphore")) return NULL;
  return PyLong_FromUnsignedLongLong(value);
}

static PyObject* semaphore_signal(PyObject* self, PyObject* args) {
  unsigned long long value;
  if (!PyArg_ParseTuple(args, "K", &value)) return NULL;
  return binding_none_or_error(iree_hal_semaphore_signal(binding_ptr(self), value, NULL), "Error signaling semaphore");
}

static iree_status_t failure_of(const char* message) { return iree_make_status(IREE_STATUS_UNKNOWN, "%s", message); }

static PyObject* semaphore_fail(PyObject* self, PyObject* args) {
  const char* message;
  if (!PyArg_ParseTuple(args, "s", &message)) return NULL;
  iree_hal_semaphore_fail(binding_ptr(self), failure_of(message));
  Py_RETURN_NONE;
}

PyObject* binding_waited(iree_status_t status) {
  if (iree_status_is_deadline_exceeded(status)) {
    iree_status_free(status);
    Py_RETURN_FALSE;
  }
  if (!binding_check(status, "Error waiting")) return NULL;
  Py_RETURN_TRUE;
}

static PyObject* semaphore_wait(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"payload", "timeout", "deadline", NULL};
  unsigned long long value;
  PyObject *timeout_object = NULL, *deadline = NULL;
  iree_timeout_t timeout;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "K|OO", names, &value, &timeout_object, &deadline) ||
      !binding_timeout(timeout_object, deadline, &timeout)) {
    return NULL;
  }
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_semaphore_wait(binding_ptr(self), value, timeout, 0);
  Py_END_ALLOW_THREADS;
  return binding_waited(status);
}

static PyMethodDef semaphore_methods[] = {
    {"query", semaphore_query, METH_NOARGS, "Its value now; a failure is raised."},
    {"signal", semaphore_signal, METH_VARARGS, "signal(value)"},
    {"fail", semaphore_fail, METH_VARARGS, "fail(message)"},
    {"wait", BINDING_KEYWORDS(semaphore_wait),
     "wait(value, timeout=None, deadline=None) -> bool: nanoseconds; False when the time is over."},
    {"import_timepoint", timepoint_import, METH_VARARGS,
     "import_timepoint(value, timepoint): reaches the value when the timepoint is reached."},
    {"export_timepoint", timepoint_export, METH_VARARGS,
     "export_timepoint(value, type, flags, timepoint): makes of the timepoint one that is reached with the value."},
    {NULL, NULL, 0, NULL}};
PyType_Slot binding_iree_hal_semaphore_slots[] = {{Py_tp_methods, semaphore_methods}, {0, NULL}};

//===----------------------------------------------------------------------------------------------------------------===
// Fences
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* fence_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"capacity", NULL};
  Py_ssize_t capacity;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n", names, &capacity)) return NULL;
  if (capacity < 0) return PyErr_Format(PyExc_ValueError, "a fence's capacity is not negative");
  iree_hal_fence_t* fence = NULL;
  iree_status_t status = iree_hal_fence_create((iree_host_size_t)capacity, iree_allocator_system(), &fence);
  return binding_check(status, "Error creating fence") ? binding_wrap(KIND_FENCE, fence) : NULL;
}

static PyObject* fence_create_at(PyObject* type, PyObject* args) {
  iree_hal_semaphore_t* semaphore;
  unsigned long long value;
  if (!PyArg_ParseTuple(args, "O&K", binding_iree_hal_semaphore, &semaphore, &value)) return NULL;
  iree_hal_fence_t* fence = NULL;
  iree_status_t status = iree_hal_fence_create_at(semaphore, value, iree_allocator_system(), &fence);
  return binding_check(status, "Error creating fence") ? binding_wrap(KIND_FENCE, fence) : NULL;
}

static PyObject* fence_join(PyObject* type, PyObject* args) {
  PyObject* sequence;
  if (!PyArg_ParseTuple(args, "O", &sequence)) return NULL;
  PyObject* all = PySequence_Tuple(sequence);
  if (!all) return NULL;
  Py_ssize_t count = PyTuple_Size(all), i = 0;
  iree_hal_fence_t** fences = PyMem_Calloc((size_t)count + 1, sizeof(*fences));
  while (fences && i < count && binding_iree_hal_fence(PyTuple_GetItem(all, i), &fences[i])) ++i;
  iree_hal_fence_t* fence = NULL;
  iree_status_t status = iree_ok_status();
  if (fences && i == count) {
    status = iree_hal_fence_join((iree_host_size_t)count, fences, iree_allocator_system(), &fence);
    // Nothing to wait for is a fence, too.
    if (iree_status_is_ok(status) && !fence) status = iree_hal_fence_create(0, iree_allocator_system(), &fence);
  }
  PyMem_Free(fences);
  Py_DECREF(all);
  if (!fences) return PyErr_NoMemory();
  if (PyErr_Occurred()) return NULL;
  return binding_check(status, "Error joining fences") ? binding_wrap(KIND_FENCE, fence) : NULL;
}

static PyObject* fence_insert(PyObject* self, PyObject* args) {
  iree_hal_semaphore_t* semaphore;
  unsigned long long value;
  if (!PyArg_ParseTuple(args, "O&K", binding_iree_hal_semaphore, &semaphore, &value)) return NULL;
  return binding_none_or_error(iree_hal_fence_insert(binding_ptr(self), semaphore, value),
                               "Error inserting into fence");
}

static PyObject* fence_extend(PyObject* self, PyObject* args) {
  iree_hal_fence_t* from;
  if (!PyArg_ParseTuple(args, "O&", binding_iree_hal_fence, &from)) return NULL;
  return binding_none_or_error(iree_hal_fence_extend(binding_ptr(self), from), "Error extending fence");
}

static PyObject* fence_signal(PyObject* self, PyObject* unused) {
  return binding_none_or_error(iree_hal_fence_signal(binding_ptr(self)), "Error signaling fence");
}

static PyObject* fence_fail(PyObject* self, PyObject* args) {
  const char* message;
  if (!PyArg_ParseTuple(args, "s", &message)) return NULL;
  iree_hal_fence_fail(binding_ptr(self), failure_of(message));
  Py_RETURN_NONE;
}

static PyObject* fence_wait(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"timeout", "deadline", NULL};
  PyObject *timeout_object = NULL, *deadline = NULL;
  iree_timeout_t timeout;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &timeout_object, &deadline) ||
      !binding_timeout(timeout_object, deadline, &timeout)) {
    return NULL;
  }
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_fence_wait(binding_ptr(self), timeout, 0);
  Py_END_ALLOW_THREADS;
  return binding_waited(status);
}

static PyObject* fence_count(PyObject* self, void* unused) {
  return PyLong_FromSize_t(iree_hal_fence_timepoint_count(binding_ptr(self)));
}

static PyMethodDef fence_methods[] = {
    {"create_at", fence_create_at, METH_VARARGS | METH_STATIC, "create_at(semaphore, value)"},
    {"join", fence_join, METH_VARARGS | METH_STATIC, "join(fences): one for all of them."},
    {"insert", fence_insert, METH_VARARGS, "insert(semaphore, value)"},
    {"extend", fence_extend, METH_VARARGS, "extend(fence)"},
    {"signal", fence_signal, METH_NOARGS, "Signals every point."},
    {"fail", fence_fail, METH_VARARGS, "fail(message)"},
    {"wait", BINDING_KEYWORDS(fence_wait),
     "wait(timeout=None, deadline=None) -> bool: nanoseconds; False when the time is over."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef fence_properties[] = {{"timepoint_count", fence_count, NULL, "How many points.", NULL},
                                         {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_hal_fence_slots[] = {
    {Py_tp_new, fence_new}, {Py_tp_methods, fence_methods}, {Py_tp_getset, fence_properties}, {0, NULL}};
