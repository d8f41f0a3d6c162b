// Points of timelines as something else: events of CUDA and HIP, file descriptors. The timepoint itself is Python's
// (iree/runtime/timepoints.py): an object with the attributes type, flags, compatibility and handle.
#include "binding.h"

static bool number_of(PyObject* object, const char* name, unsigned long long* out_number) {
  PyObject* number = PyObject_GetAttrString(object, name);
  if (!number) return false;
  *out_number = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  return !PyErr_Occurred();
}

static bool set_number(PyObject* object, const char* name, unsigned long long number) {
  PyObject* value = PyLong_FromUnsignedLongLong(number);
  bool set = value && PyObject_SetAttrString(object, name, value) == 0;
  Py_XDECREF(value);
  return set;
}

PyObject* timepoint_import(PyObject* semaphore, PyObject* args) {
  unsigned long long value, type, flags, compatibility, handle;
  PyObject* object;
  if (!PyArg_ParseTuple(args, "KO", &value, &object) || !number_of(object, "type", &type) ||
      !number_of(object, "flags", &flags) || !number_of(object, "compatibility", &compatibility) ||
      !number_of(object, "handle", &handle)) {
    return NULL;
  }
  iree_hal_external_timepoint_t point = {.type = (iree_hal_external_timepoint_type_t)type,
                                         .flags = (iree_hal_external_timepoint_flags_t)flags,
                                         .compatibility = (iree_hal_semaphore_compatibility_t)compatibility};
  if (type == IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE) {
    point.handle.async_primitive = iree_async_primitive_from_fd((int)handle);
  } else {
    point.handle.hip_event = (void*)(uintptr_t)handle;  // where CUDA's is, too
  }
  iree_status_t status =
      iree_hal_semaphore_import_timepoint(binding_ptr(semaphore), value, IREE_HAL_QUEUE_AFFINITY_ANY, point);
  return binding_none_or_error(status, "Error importing timepoint");
}

PyObject* timepoint_export(PyObject* semaphore, PyObject* args) {
  unsigned long long value;
  unsigned int type, flags;
  PyObject* object;
  if (!PyArg_ParseTuple(args, "KIIO", &value, &type, &flags, &object)) return NULL;
  iree_hal_external_timepoint_t point = {0};
  iree_status_t status = iree_hal_semaphore_export_timepoint(binding_ptr(semaphore), value, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                             (iree_hal_external_timepoint_type_t)type, flags, &point);
  if (!binding_check(status, "Error exporting timepoint")) return NULL;
  bool is_file = point.type == IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE;
  unsigned long long handle =
      is_file ? (unsigned long long)point.handle.async_primitive.value.fd : (uintptr_t)point.handle.hip_event;
  if (!set_number(object, "type", point.type) || !set_number(object, "flags", point.flags) ||
      !set_number(object, "compatibility", point.compatibility) || !set_number(object, "handle", handle)) {
    return NULL;
  }
  Py_RETURN_NONE;
}
