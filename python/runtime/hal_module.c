// The module `hal`, which gives programs their devices, and where it sends the tensors that programs trace.
#include "binding.h"
#include "iree/modules/hal/module.h"

//===----------------------------------------------------------------------------------------------------------------===
// Debug sinks: a callable that gets a key and a list of HalBufferViews
//===----------------------------------------------------------------------------------------------------------------===

static void release_sink(void* user_data) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject*)user_data);
  PyGILState_Release(state);
}

static PyObject* list_views(iree_host_size_t count, iree_hal_buffer_view_t** views) {
  PyObject* list = PyList_New(0);
  for (iree_host_size_t i = 0; list && i < count; ++i) {
    PyObject* view = binding_wrap_retain(KIND_VIEW, views[i]);
    if (!view || PyList_Append(list, view)) Py_CLEAR(list);
    Py_XDECREF(view);
  }
  return list;
}

// An exception is printed and ends the call.
static iree_status_t trace(void* user_data, iree_string_view_t key, iree_host_size_t count,
                           iree_hal_buffer_view_t** views, iree_allocator_t allocator) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *name = binding_text(key), *list = list_views(count, views);
  PyObject* result = name && list ? PyObject_CallFunctionObjArgs(user_data, name, list, NULL) : NULL;
  bool ok = result != NULL;
  if (!ok) PyErr_WriteUnraisable(user_data);
  Py_XDECREF(result);
  Py_XDECREF(list);
  Py_XDECREF(name);
  PyGILState_Release(state);
  return ok ? iree_ok_status()
            : iree_make_status(IREE_STATUS_UNKNOWN, "the debug sink raised an exception for '%.*s'", (int)key.size,
                               key.data);
}

static iree_hal_module_debug_sink_t make_sink(PyObject* callback) {
  if (callback == Py_None) return iree_hal_module_debug_sink_stdio(stderr);
  Py_INCREF(callback);
  return (iree_hal_module_debug_sink_t){.release = {release_sink, callback}, .buffer_view_trace = {trace, callback}};
}

//===----------------------------------------------------------------------------------------------------------------===
// The module `hal`
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t make_group(PyObject* devices, iree_hal_device_group_t** out_group) {
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, /*frontier_tracker=*/NULL);
  iree_status_t status = iree_ok_status();
  for (Py_ssize_t i = 0; i < PyTuple_Size(devices) && iree_status_is_ok(status); ++i) {
    status = iree_hal_device_group_builder_add_device(&builder, binding_ptr(PyTuple_GetItem(devices, i)));
  }
  if (iree_status_is_ok(status)) {
    return iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), out_group);
  }
  iree_hal_device_group_builder_deinitialize(&builder);
  return status;
}

static bool check_devices(PyObject* devices) {
  iree_hal_device_t* device;
  for (Py_ssize_t i = 0; i < PyTuple_Size(devices); ++i) {
    if (!binding_iree_hal_device(PyTuple_GetItem(devices, i), &device)) return false;
  }
  return true;
}

static PyObject* create_module(iree_vm_instance_t* instance, PyObject* devices, PyObject* callback) {
  iree_hal_device_group_t* group = NULL;
  iree_vm_module_t* module = NULL;
  iree_status_t status = make_group(devices, &group);
  if (iree_status_is_ok(status)) {
    status = iree_hal_module_create(instance, iree_hal_module_device_policy_default(), group, IREE_HAL_MODULE_FLAG_NONE,
                                    make_sink(callback), iree_allocator_system(), &module);
  }
  iree_hal_device_group_release(group);
  return binding_check(status, "Error creating hal module") ? binding_wrap(KIND_MODULE, module) : NULL;
}

PyObject* hal_create_module(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"instance", "device", "devices", "debug_sink", NULL};
  iree_vm_instance_t* instance;
  PyObject *device = Py_None, *devices = Py_None, *sink = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|OOO", names, binding_iree_vm_instance, &instance, &device,
                                   &devices, &sink)) {
    return NULL;
  }
  if ((device == Py_None) == (devices == Py_None)) {
    PyErr_SetString(PyExc_ValueError, "give a device, or several as `devices`");
    return NULL;
  }
  PyObject* all = devices == Py_None ? PyTuple_Pack(1, device) : PySequence_Tuple(devices);
  PyObject* module = all && check_devices(all) ? create_module(instance, all, sink) : NULL;
  Py_XDECREF(all);
  return module;
}
