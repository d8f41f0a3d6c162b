// Calls: arguments become values of the program, results Python's.
//
//   Invoker(context, device, function, to_view, from_view)(*arguments) -> a result, a tuple of them, or None
//
// `to_view(value, position)` makes a HalBufferView of what is neither an object of the runtime nor a buffer;
// `from_view(device, view)` makes of a tensor what the caller gets. Functions with fences (iree.abi.model =
// coarse-fences) get a null one to wait for and one of their own to signal, which is waited for.
#include <string.h>

#include "binding.h"

typedef struct invoker_t {
  PyObject_HEAD;
  PyObject *context, *device, *function, *to_view, *from_view;
  PyObject* signature;                    // bytes: the calling convention
  iree_string_view_t arguments, results;  // in it; without fences
  bool has_fences;
} invoker_t;

static PyTypeObject* invoker_type;

//===----------------------------------------------------------------------------------------------------------------===
// Arguments
//===----------------------------------------------------------------------------------------------------------------===

static bool push_value(iree_vm_list_t* list, iree_vm_value_t value) {
  return binding_check(iree_vm_list_push_value(list, &value), "Error passing argument");
}

static bool push_integer(iree_vm_list_t* list, PyObject* value, bool wide) {
  PyObject* number = PyNumber_Index(value);
  if (!number) return false;
  int overflow = 0;
  long long n = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow > 0 && wide) {  // as unsigned
    n = (long long)PyLong_AsUnsignedLongLong(number);
    overflow = PyErr_Occurred() != NULL;
  }
  bool fits = !overflow && (wide || (n >= INT32_MIN && n <= (long long)UINT32_MAX));
  if (!fits && !PyErr_Occurred()) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit in an integer of %d bits", number, wide ? 64 : 32);
  }
  Py_DECREF(number);
  return fits && push_value(list, wide ? iree_vm_value_make_i64(n) : iree_vm_value_make_i32((int32_t)n));
}

static bool push_float(iree_vm_list_t* list, PyObject* value, bool wide) {
  double n = PyFloat_AsDouble(value);
  if (n == -1 && PyErr_Occurred()) return false;
  return push_value(list, wide ? iree_vm_value_make_f64(n) : iree_vm_value_make_f32((float)n));
}

static bool push_ref(iree_vm_list_t* list, iree_vm_ref_t* ref) {
  bool pushed = binding_check(iree_vm_list_push_ref_move(list, ref), "Error passing argument");
  iree_vm_ref_release(ref);
  return pushed;
}

// What `to_view` makes of a value: a tensor, or None for a null reference.
static PyObject* ask_for_view(invoker_t* self, PyObject* value, Py_ssize_t position) {
  PyObject* index = PyLong_FromSsize_t(position);
  PyObject* view = index ? PyObject_CallFunctionObjArgs(self->to_view, value, index, NULL) : NULL;
  Py_XDECREF(index);
  return view;
}

static bool push_object(invoker_t* self, iree_vm_list_t* list, PyObject* value, Py_ssize_t position) {
  iree_vm_ref_t ref = iree_vm_ref_null();
  if (value == Py_None || binding_to_ref(value, &ref)) return push_ref(list, &ref);
  PyObject* view = NULL;
  if (PyObject_CheckBuffer(value) && self->device != Py_None) {
    view = arrays_view_of_buffer(binding_ptr(self->device), value);
    // Elements that buffers have no formats for, and arrays with strides, are for `to_view`.
    bool other = !view && (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_BufferError) ||
                           PyErr_ExceptionMatches(PyExc_ValueError));
    if (!view && !other) return false;
    PyErr_Clear();
  }
  if (!view && !(view = ask_for_view(self, value, position))) return false;
  if (view != Py_None && !binding_to_ref(view, &ref)) {
    PyErr_Format(PyExc_TypeError, "argument %zd: %R is no value of a program", position, (PyObject*)Py_TYPE(value));
    Py_DECREF(view);
    return false;
  }
  Py_DECREF(view);
  return push_ref(list, &ref);
}

static bool push_argument(invoker_t* self, iree_vm_list_t* list, PyObject* value, Py_ssize_t position) {
  char letter = self->arguments.data[position];
  switch (letter) {
    case IREE_VM_CCONV_TYPE_I32:
    case IREE_VM_CCONV_TYPE_I64:
      return push_integer(list, value, letter == IREE_VM_CCONV_TYPE_I64);
    case IREE_VM_CCONV_TYPE_F32:
    case IREE_VM_CCONV_TYPE_F64:
      return push_float(list, value, letter == IREE_VM_CCONV_TYPE_F64);
    default:
      return push_object(self, list, value, position);
  }
}

static bool push_arguments(invoker_t* self, iree_vm_list_t* list, PyObject* args) {
  Py_ssize_t count = PyTuple_Size(args), expected = (Py_ssize_t)self->arguments.size;
  if (count != expected) {
    iree_string_view_t name = iree_vm_function_name(&((function_t*)self->function)->function);
    PyObject* text = binding_text(name);
    if (text) PyErr_Format(PyExc_ValueError, "%U takes %zd arguments, not %zd", text, expected, count);
    Py_XDECREF(text);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!push_argument(self, list, PyTuple_GetItem(args, i), i)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Results
//===----------------------------------------------------------------------------------------------------------------===

static PyObject* result_at(invoker_t* self, const iree_vm_list_t* list, iree_host_size_t i) {
  iree_vm_variant_t variant = iree_vm_variant_empty();
  if (!binding_check(iree_vm_list_get_variant_assign(list, i, &variant), "Error reading result")) return NULL;
  PyObject* object = binding_from_variant(&variant);
  if (!object || !binding_is(object, KIND_VIEW) || self->from_view == Py_None) return object;
  PyObject* array = PyObject_CallFunctionObjArgs(self->from_view, self->device, object, NULL);
  Py_DECREF(object);
  return array;
}

static PyObject* results_of(invoker_t* self, const iree_vm_list_t* list) {
  iree_host_size_t count = iree_vm_list_size(list);
  if (count == 0) Py_RETURN_NONE;
  if (count == 1) return result_at(self, list, 0);
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (iree_host_size_t i = 0; tuple && i < count; ++i) {
    PyObject* item = result_at(self, list, i);
    if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item)) Py_CLEAR(tuple);
  }
  return tuple;
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t make_fence(iree_hal_device_t* device, iree_hal_fence_t** out_fence) {
  iree_hal_semaphore_t* semaphore = NULL;
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  iree_status_t status = iree_hal_fence_create_at(semaphore, 1, iree_allocator_system(), out_fence);
  iree_hal_semaphore_release(semaphore);
  return status;
}

// Without the interpreter's lock.
static iree_status_t call(invoker_t* self, iree_vm_list_t* inputs, iree_vm_list_t* outputs) {
  iree_hal_fence_t* fence = NULL;
  if (self->has_fences) {
    iree_vm_ref_t none = iree_vm_ref_null();
    IREE_RETURN_IF_ERROR(make_fence(binding_ptr(self->device), &fence));
    iree_vm_ref_t ref = iree_hal_fence_retain_ref(fence);
    iree_status_t status = iree_vm_list_push_ref_move(inputs, &none);
    if (iree_status_is_ok(status)) status = iree_vm_list_push_ref_move(inputs, &ref);
    iree_vm_ref_release(&ref);
    if (!iree_status_is_ok(status)) {
      iree_hal_fence_release(fence);
      return status;
    }
  }
  iree_status_t status = iree_vm_invoke(binding_ptr(self->context), ((function_t*)self->function)->function,
                                        IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, outputs, iree_allocator_system());
  if (iree_status_is_ok(status)) status = iree_hal_fence_wait(fence, iree_infinite_timeout(), 0);
  iree_hal_fence_release(fence);
  return status;
}

static PyObject* call_with(invoker_t* self, PyObject* args, iree_vm_list_t* inputs, iree_vm_list_t* outputs) {
  if (!push_arguments(self, inputs, args) || !context_enter(self->context)) return NULL;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = call(self, inputs, outputs);
  Py_END_ALLOW_THREADS;
  context_leave(self->context);
  return binding_check(status, "Error invoking function") ? results_of(self, outputs) : NULL;
}

static PyObject* invoker_call(PyObject* object, PyObject* args, PyObject* kwargs) {
  invoker_t* self = (invoker_t*)object;
  if (kwargs && PyDict_Size(kwargs)) return PyErr_Format(PyExc_TypeError, "arguments have no names");
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), self->arguments.size + 2,
                                             iree_allocator_system(), &inputs);
  if (iree_status_is_ok(status)) {
    status =
        iree_vm_list_create(iree_vm_make_undefined_type_def(), self->results.size, iree_allocator_system(), &outputs);
  }
  PyObject* result = NULL;
  if (binding_check(status, "Error invoking function")) result = call_with(self, args, inputs, outputs);
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// The type
//===----------------------------------------------------------------------------------------------------------------===

static void invoker_dealloc(PyObject* object) {
  invoker_t* self = (invoker_t*)object;
  Py_XDECREF(self->context);
  Py_XDECREF(self->device);
  Py_XDECREF(self->function);
  Py_XDECREF(self->to_view);
  Py_XDECREF(self->from_view);
  Py_XDECREF(self->signature);
  binding_destroy(object);
}

static bool read_signature(invoker_t* self) {
  iree_vm_function_t function = ((function_t*)self->function)->function;
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  iree_string_view_t cconv = signature.calling_convention;
  self->signature = PyBytes_FromStringAndSize(cconv.data, (Py_ssize_t)cconv.size);
  if (!self->signature) return false;
  signature.calling_convention.data = PyBytes_AsString(self->signature);
  iree_status_t status = iree_vm_function_call_get_cconv_fragments(&signature, &self->arguments, &self->results);
  if (!binding_check(status, "Error reading signature")) return false;
  iree_string_view_t model = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.abi.model"));
  self->has_fences = iree_string_view_equal(model, IREE_SV("coarse-fences")) && self->arguments.size >= 2;
  if (!self->has_fences) return true;
  self->arguments.size -= 2;
  if (self->device != Py_None) return true;
  PyErr_SetString(PyExc_ValueError, "functions with fences need a device");
  return false;
}

static PyObject* invoker_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject *context, *device, *function, *to_view, *from_view;
  iree_hal_device_t* unused;
  if (!PyArg_ParseTuple(args, "O!OO!OO", binding_types[KIND_CONTEXT], &context, &device, vm_function_type, &function,
                        &to_view, &from_view) ||
      !binding_iree_hal_device_or_none(device, &unused)) {
    return NULL;
  }
  invoker_t* self = binding_create(type);
  if (!self) return NULL;
  Py_INCREF(self->context = context);
  Py_INCREF(self->device = device);
  Py_INCREF(self->function = function);
  Py_INCREF(self->to_view = to_view);
  Py_INCREF(self->from_view = from_view);
  if (!read_signature(self)) Py_CLEAR(self);
  return (PyObject*)self;
}

static PyType_Slot invoker_slots[] = {{Py_tp_new, invoker_new},
                                      {Py_tp_dealloc, invoker_dealloc},
                                      {Py_tp_call, invoker_call},
                                      {Py_tp_doc, "Invoker(context, device, function, to_view, from_view)"},
                                      {0, NULL}};

bool call_add(PyObject* module) {
  return binding_add_type(module, &invoker_type, "iree.runtime._binding.Invoker", sizeof(invoker_t), invoker_slots,
                          false);
}
