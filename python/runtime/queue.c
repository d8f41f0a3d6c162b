// Work of a device's queues: memory, copies and command buffers, between points on timelines.
#include <stdlib.h>

#include "binding.h"
#include "iree/tooling/device_util.h"

//===----------------------------------------------------------------------------------------------------------------===
// Points on timelines: a HalFence, or a sequence of pairs (semaphore, value)
//===----------------------------------------------------------------------------------------------------------------===

typedef struct points_t {
  iree_hal_semaphore_list_t list;
  PyObject* pairs;  // keeps the semaphores; NULL for a fence
} points_t;

static void points_free(points_t* points) {
  if (points->pairs) {
    PyMem_Free(points->list.semaphores);
    PyMem_Free(points->list.payload_values);
  }
  Py_CLEAR(points->pairs);
}

static bool read_pair(PyObject* pair, iree_hal_semaphore_t** out_semaphore, uint64_t* out_value) {
  PyObject *semaphore = PySequence_GetItem(pair, 0), *value = semaphore ? PySequence_GetItem(pair, 1) : NULL;
  // The pair keeps it.
  bool good = value && binding_iree_hal_semaphore(semaphore, out_semaphore);
  if (good) *out_value = PyLong_AsUnsignedLongLong(value);
  Py_XDECREF(semaphore);
  Py_XDECREF(value);
  return good && !PyErr_Occurred();
}

// For PyArg_Parse's O&. Freed by points_free, also when this fails.
static int points_read(PyObject* object, void* out) {
  points_t* points = out;
  *points = (points_t){0};
  if (object == Py_None) return 1;
  if (binding_is(object, KIND_FENCE)) {
    points->list = iree_hal_fence_semaphore_list(binding_ptr(object));
    return 1;
  }
  if (!(points->pairs = PySequence_Tuple(object))) return 0;
  Py_ssize_t count = PyTuple_Size(points->pairs);
  points->list.semaphores = PyMem_Calloc((size_t)count + 1, sizeof(*points->list.semaphores));
  points->list.payload_values = PyMem_Calloc((size_t)count + 1, sizeof(*points->list.payload_values));
  if (!points->list.semaphores || !points->list.payload_values) {
    PyErr_NoMemory();
    return 0;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!read_pair(PyTuple_GetItem(points->pairs, i), &points->list.semaphores[i], &points->list.payload_values[i])) {
      return 0;
    }
  }
  points->list.count = (iree_host_size_t)count;
  return 1;
}

typedef struct order_t {
  points_t wait, signal;
} order_t;

static PyObject* order_free(order_t* order, PyObject* result) {
  points_free(&order->wait);
  points_free(&order->signal);
  return result;
}

PyObject* queue_wait_any(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"semaphores", "timeout", "deadline", NULL};
  points_t points = {0};
  PyObject *timeout_object = NULL, *deadline = NULL, *result = NULL;
  iree_timeout_t timeout;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "O&|OO", names, points_read, &points, &timeout_object, &deadline) &&
      binding_timeout(timeout_object, deadline, &timeout)) {
    iree_status_t status;
    Py_BEGIN_ALLOW_THREADS;
    status = iree_hal_device_wait_semaphores(binding_ptr(self), IREE_ASYNC_WAIT_MODE_ANY, points.list, timeout, 0);
    Py_END_ALLOW_THREADS;
    result = binding_waited(status);
  }
  points_free(&points);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory and copies
//===----------------------------------------------------------------------------------------------------------------===

PyObject* queue_alloca(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"allocation_size", "wait_semaphores", "signal_semaphores", NULL};
  order_t order = {0};
  unsigned long long size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KO&O&", names, &size, points_read, &order.wait, points_read,
                                   &order.signal)) {
    return order_free(&order, NULL);
  }
  iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status =
      iree_hal_device_queue_alloca(binding_ptr(self), IREE_HAL_QUEUE_AFFINITY_ANY, order.wait.list, order.signal.list,
                                   /*pool=*/NULL, params, size, IREE_HAL_ALLOCA_FLAG_NONE, &buffer);
  Py_END_ALLOW_THREADS;
  order_free(&order, NULL);
  return binding_check(status, "Error allocating memory on queue") ? binding_wrap(KIND_BUFFER, buffer) : NULL;
}

PyObject* queue_dealloca(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"buffer", "wait_semaphores", "signal_semaphores", NULL};
  order_t order = {0};
  iree_hal_buffer_t* buffer;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&", names, binding_iree_hal_buffer, &buffer, points_read,
                                   &order.wait, points_read, &order.signal)) {
    return order_free(&order, NULL);
  }
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_device_queue_dealloca(binding_ptr(self), IREE_HAL_QUEUE_AFFINITY_ANY, order.wait.list,
                                          order.signal.list, buffer, IREE_HAL_DEALLOCA_FLAG_NONE);
  Py_END_ALLOW_THREADS;
  return order_free(&order, binding_none_or_error(status, "Error deallocating memory on queue"));
}

PyObject* queue_copy(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"source_buffer", "target_buffer", "wait_semaphores", "signal_semaphores", NULL};
  order_t order = {0};
  iree_hal_buffer_t *source, *target;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&", names, binding_iree_hal_buffer, &source,
                                   binding_iree_hal_buffer, &target, points_read, &order.wait, points_read,
                                   &order.signal)) {
    return order_free(&order, NULL);
  }
  iree_device_size_t length = iree_hal_buffer_byte_length(source);
  if (length > iree_hal_buffer_byte_length(target)) {
    PyErr_Format(PyExc_ValueError,
                 "the source's length must be less than or equal to the target's: %llu bytes, not %llu",
                 (unsigned long long)iree_hal_buffer_byte_length(target), (unsigned long long)length);
    return order_free(&order, NULL);
  }
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_hal_device_queue_copy(binding_ptr(self), IREE_HAL_QUEUE_AFFINITY_ANY, order.wait.list,
                                      order.signal.list, source, 0, target, 0, length, IREE_HAL_COPY_FLAG_NONE);
  Py_END_ALLOW_THREADS;
  return order_free(&order, binding_none_or_error(status, "Error copying buffer on queue"));
}

PyObject* queue_execute(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"command_buffer", "wait_semaphores", "signal_semaphores", NULL};
  order_t order = {0};
  iree_hal_command_buffer_t* commands;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&", names, binding_iree_hal_command_buffer, &commands,
                                   points_read, &order.wait, points_read, &order.signal)) {
    return order_free(&order, NULL);
  }
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status =
      iree_hal_device_queue_execute(binding_ptr(self), IREE_HAL_QUEUE_AFFINITY_ANY, order.wait.list, order.signal.list,
                                    commands, iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE);
  Py_END_ALLOW_THREADS;
  return order_free(&order, binding_none_or_error(status, "Error executing command buffer on queue"));
}

//===----------------------------------------------------------------------------------------------------------------===
// Profiles: what the flags --device_profiling_... ask for, of flags.parse_flags or IREE_PY_RUNTIME_FLAGS
//===----------------------------------------------------------------------------------------------------------------===

// One for each device that is profiled; with the interpreter's lock.
typedef struct profile_t {
  struct profile_t* next;
  iree_hal_device_t* device;  // retained
  iree_hal_profiling_from_flags_t* profiling;
} profile_t;

static profile_t* profiles;

static profile_t** find_profile(iree_hal_device_t* device) {
  profile_t** at = &profiles;
  while (*at && (*at)->device != device) at = &(*at)->next;
  return at;
}

PyObject* queue_begin_profiling(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"mode", NULL};
  PyObject* mode = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &mode)) return NULL;
  if (mode != Py_None) {
    return PyErr_Format(PyExc_ValueError,
                        "a mode alone has no profile sink; flags.parse_flags('--device_profiling_mode=%S', "
                        "'--device_profiling_output=FILE') before begin_profiling() has one",
                        mode);
  }
  iree_hal_device_t* device = binding_ptr(self);
  if (*find_profile(device)) return PyErr_Format(PyExc_RuntimeError, "the device is profiled already");
  profile_t* profile = calloc(1, sizeof(*profile));
  if (!profile) return PyErr_NoMemory();
  iree_status_t status = iree_hal_begin_profiling_from_flags(device, iree_allocator_system(), &profile->profiling);
  if (!iree_status_is_ok(status) || !profile->profiling) {
    free(profile);
    return binding_none_or_error(status, "Error starting device profiling");
  }
  profile->device = device;
  iree_hal_device_retain(device);
  profile->next = profiles;
  profiles = profile;
  Py_RETURN_NONE;
}

PyObject* queue_begin_external_capture(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"provider", "file_path", "label", NULL};
  const char *provider, *path = NULL, *label = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|zz", names, &provider, &path, &label)) return NULL;
  return PyErr_Format(PyExc_NotImplementedError,
                      "UNIMPLEMENTED: devices start no capture of '%s'; begin_profiling() profiles, and the flag "
                      "--device_replay_output= captures for iree-run-replay",
                      provider);
}

PyObject* queue_flush_profiling(PyObject* self, PyObject* unused) {
  profile_t* profile = *find_profile(binding_ptr(self));
  if (!profile) Py_RETURN_NONE;
  return binding_none_or_error(iree_hal_flush_profiling_from_flags(profile->profiling),
                               "Error flushing device profiling");
}

PyObject* queue_end_profiling(PyObject* self, PyObject* unused) {
  profile_t **at = find_profile(binding_ptr(self)), *profile = *at;
  if (!profile) Py_RETURN_NONE;
  *at = profile->next;
  iree_status_t status = iree_hal_end_profiling_from_flags(profile->profiling);
  iree_hal_device_release(profile->device);
  free(profile);
  return binding_none_or_error(status, "Error ending device profiling");
}

//===----------------------------------------------------------------------------------------------------------------===
// Command buffers: each command begins when those before it have ended
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* commands_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"device", "binding_capacity", "begin", NULL};
  iree_hal_device_t* device;
  Py_ssize_t capacity = 0;
  int begin = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|np", names, binding_iree_hal_device, &device, &capacity, &begin)) {
    return NULL;
  }
  if (capacity < 0) return PyErr_Format(PyExc_ValueError, "a command buffer's capacity is not negative");
  iree_hal_command_buffer_t* commands = NULL;
  iree_status_t status =
      iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, IREE_HAL_COMMAND_CATEGORY_TRANSFER,
                                     IREE_HAL_QUEUE_AFFINITY_ANY, (iree_host_size_t)capacity, &commands);
  if (iree_status_is_ok(status) && begin) status = iree_hal_command_buffer_begin(commands);
  if (binding_check(status, "Error creating command buffer")) return binding_wrap(KIND_COMMANDS, commands);
  iree_hal_command_buffer_release(commands);
  return NULL;
}

static PyObject* commands_begin(PyObject* self, PyObject* unused) {
  return binding_none_or_error(iree_hal_command_buffer_begin(binding_ptr(self)), "Error beginning command buffer");
}

static PyObject* commands_end(PyObject* self, PyObject* unused) {
  return binding_none_or_error(iree_hal_command_buffer_end(binding_ptr(self)), "Error ending command buffer");
}

// What every command does at its end.
static PyObject* recorded(PyObject* self, iree_status_t status, bool end) {
  iree_hal_command_buffer_t* commands = binding_ptr(self);
  if (iree_status_is_ok(status)) {
    status = end ? iree_hal_command_buffer_end(commands)
                 : iree_hal_command_buffer_execution_barrier(
                       commands, IREE_HAL_EXECUTION_STAGE_TRANSFER | IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
                       IREE_HAL_EXECUTION_STAGE_TRANSFER | IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE,
                       IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL);
  }
  return binding_none_or_error(status, "Error recording command");
}

// A length that was given, or what is left of a buffer behind an offset.
static bool read_length(PyObject* length, iree_hal_buffer_t* buffer, unsigned long long offset,
                        iree_device_size_t* out_length) {
  iree_device_size_t size = iree_hal_buffer_byte_length(buffer);
  *out_length = size > offset ? size - offset : 0;
  if (length != Py_None) *out_length = PyLong_AsUnsignedLongLong(length);
  return !PyErr_Occurred();
}

static PyObject* commands_copy(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"source_buffer", "target_buffer", "source_offset", "target_offset", "length", "end", NULL};
  iree_hal_buffer_t *source, *target;
  unsigned long long source_offset = 0, target_offset = 0;
  PyObject* given = Py_None;
  iree_device_size_t length;
  int end = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|KKOp", names, binding_iree_hal_buffer, &source,
                                   binding_iree_hal_buffer, &target, &source_offset, &target_offset, &given, &end) ||
      !read_length(given, source, source_offset, &length)) {
    return NULL;
  }
  iree_status_t status = iree_hal_command_buffer_copy_buffer(
      binding_ptr(self), iree_hal_make_buffer_ref(source, source_offset, length),
      iree_hal_make_buffer_ref(target, target_offset, length), IREE_HAL_COPY_FLAG_NONE);
  return recorded(self, status, end);
}

static PyObject* commands_fill(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"target_buffer", "pattern", "target_offset", "length", "end", NULL};
  iree_hal_buffer_t* target;
  PyObject *object, *given = Py_None;
  unsigned long long offset = 0;
  iree_device_size_t length;
  int end = 0;
  Py_buffer pattern;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O|KOp", names, binding_iree_hal_buffer, &target, &object, &offset,
                                   &given, &end) ||
      !read_length(given, target, offset, &length) || PyObject_GetBuffer(object, &pattern, PyBUF_C_CONTIGUOUS)) {
    return NULL;
  }
  iree_status_t status =
      iree_hal_command_buffer_fill_buffer(binding_ptr(self), iree_hal_make_buffer_ref(target, offset, length),
                                          pattern.buf, (iree_host_size_t)pattern.len, IREE_HAL_FILL_FLAG_NONE);
  PyBuffer_Release(&pattern);
  return recorded(self, status, end);
}

static PyMethodDef commands_methods[] = {
    {"begin", commands_begin, METH_NOARGS, "Begins to record, where that was left out when it was made."},
    {"end", commands_end, METH_NOARGS, "Ends what is recorded."},
    {"copy", BINDING_KEYWORDS(commands_copy),
     "copy(source_buffer, target_buffer, source_offset=0, target_offset=0, length=None, end=False)"},
    {"fill", BINDING_KEYWORDS(commands_fill),
     "fill(target_buffer, pattern, target_offset=0, length=None, end=False): a pattern of 1, 2, 4, 8 or 16 bytes."},
    {NULL, NULL, 0, NULL}};
PyType_Slot binding_iree_hal_command_buffer_slots[] = {
    {Py_tp_new, commands_new}, {Py_tp_methods, commands_methods}, {0, NULL}};
