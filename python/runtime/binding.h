// iree.runtime._binding: the runtime's objects for Python, on the stable ABI of Python 3.11 (the first with buffers),
// so that one build serves that and later versions. Calls that may take long release the interpreter.
#ifndef PYTHON_RUNTIME_BINDING_H_
#define PYTHON_RUNTIME_BINDING_H_

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <pythread.h>
#include <stdbool.h>

#include "iree/hal/api.h"
#include "iree/io/parameter_index_provider.h"
#include "iree/modules/hal/types.h"
#include "iree/vm/api.h"

typedef enum kind_t {
#define HANDLE(KIND, python, name, doc) KIND_##KIND,
#include "handles.def"
  KIND_COUNT
} kind_t;
extern PyTypeObject* binding_types[KIND_COUNT];

// Every object of handles.def; contexts and modules have more behind it.
typedef struct handle_t {
  PyObject_HEAD;
  void* ptr;  // owned
} handle_t;
enum { BINDING_OBJECT_SIZE = sizeof(handle_t) + 3 * sizeof(void*) };  // bytes of those two

// Python's object for a pointer whose reference it takes over, also when it fails. NULL with an exception.
PyObject* binding_wrap(kind_t kind, void* ptr);
// The same with a reference of its own.
PyObject* binding_wrap_retain(kind_t kind, void* ptr);
// For PyArg_Parse's O&: the C pointer of an object of that kind; TypeError else. `_or_none`: NULL for None.
#define HANDLE(KIND, python, name, doc)                 \
  int binding_##name(PyObject* object, name##_t** out); \
  int binding_##name##_or_none(PyObject* object, name##_t** out);
#include "handles.def"
bool binding_is(PyObject* object, kind_t kind);
static inline void* binding_ptr(PyObject* object) { return ((handle_t*)object)->ptr; }

// Python's object for what a variant holds: a number, an object of handles.def, a VmRef for other types, None.
PyObject* binding_from_variant(const iree_vm_variant_t* variant);
// What an object of handles.def or a VmRef refers to, retained; false without an exception for others.
bool binding_to_ref(PyObject* object, iree_vm_ref_t* out_ref);
// The same of those and of what gives one as `__iree_vm_ref__` (a value or a method: DeviceArray, others' classes);
// null for None there. False with an exception.
bool binding_object_to_ref(PyObject* object, iree_vm_ref_t* out_ref);

// Raises what the runtime says, behind `what`, and consumes it. False when there was a failure. INVALID_ARGUMENT is a
// ValueError, OUT_OF_RANGE an IndexError, UNIMPLEMENTED a NotImplementedError, and the rest RuntimeErrors.
bool binding_check(iree_status_t status, const char* what);
PyObject* binding_none_or_error(iree_status_t status, const char* what);
// Of a wait: True, or False when the time is over.
PyObject* binding_waited(iree_status_t status);

// From Python's text; NULL gives the empty one. False with an exception.
bool binding_string(PyObject* text, iree_string_view_t* out_string);
PyObject* binding_text(iree_string_view_t string);
// What was built, or NULL with an exception; frees the builder.
PyObject* binding_take_text(iree_string_builder_t* builder, iree_status_t status, const char* what);

// `timeout` (nanoseconds from now) or `deadline` (absolute nanoseconds), whichever is no None: else never.
bool binding_timeout(PyObject* timeout, PyObject* deadline, iree_timeout_t* out_timeout);

void* binding_create(PyTypeObject* type);
void binding_destroy(PyObject* self);
// `made`: only its own functions make objects of the type.
bool binding_add_type(PyObject* module, PyTypeObject** type, const char* name, size_t size, PyType_Slot* slots,
                      bool made);

//===----------------------------------------------------------------------------------------------------------------===
// Parts of the module. Each has slots for its kinds, and what else it adds.
//===----------------------------------------------------------------------------------------------------------------===

#define HANDLE(KIND, python, name, doc) extern PyType_Slot binding_##name##_slots[];
#include "handles.def"

// arrays.c
enum { ARRAY_RANK_LIMIT = 64 };
// A tensor on the device with a copy of what `object` has as a C-contiguous buffer. NULL with a TypeError or
// BufferError where it has none of a type that devices know.
PyObject* arrays_view_of_buffer(iree_hal_device_t* device, PyObject* object);
PyObject* arrays_map_view(PyObject* view, PyObject* unused);
PyObject* arrays_map_buffer(PyObject* buffer, PyObject* unused);
// to_host(device): what map gives, of a copy where the host does not reach the memory.
PyObject* arrays_view_to_host(PyObject* view, PyObject* args);
bool arrays_add(PyObject* module);
bool arrays_shape(PyObject* sequence, iree_host_size_t* out_rank, iree_hal_dim_t* out_shape);

// dlpack.c
PyObject* dlpack_export(PyObject* device, PyObject* args);
PyObject* dlpack_import(PyObject* device, PyObject* args);

// call.c
bool call_add(PyObject* module);
// context.c: calls take turns. `enter` is false with an exception when the thread is in a call already.
bool context_enter(PyObject* context);
void context_leave(PyObject* context);
void context_free_lock(PyObject* context);
// vm.c
bool vm_add(PyObject* module);
typedef struct function_t {
  PyObject_HEAD;
  PyObject* module;
  iree_vm_function_t function;
} function_t;
extern PyTypeObject* vm_function_type;
// py_module.c
bool py_module_add(PyObject* module);
// queue.c
PyObject* queue_wait_any(PyObject* device, PyObject* args, PyObject* kwargs);
PyObject* queue_alloca(PyObject* device, PyObject* args, PyObject* kwargs);
PyObject* queue_dealloca(PyObject* device, PyObject* args, PyObject* kwargs);
PyObject* queue_copy(PyObject* device, PyObject* args, PyObject* kwargs);
PyObject* queue_execute(PyObject* device, PyObject* args, PyObject* kwargs);
PyObject* queue_begin_profiling(PyObject* device, PyObject* args, PyObject* kwargs);
PyObject* queue_begin_external_capture(PyObject* device, PyObject* args, PyObject* kwargs);
PyObject* queue_flush_profiling(PyObject* device, PyObject* unused);
PyObject* queue_end_profiling(PyObject* device, PyObject* unused);
// timepoint.c
PyObject* timepoint_import(PyObject* semaphore, PyObject* args);
PyObject* timepoint_export(PyObject* semaphore, PyObject* args);
// parameters.c
bool parameters_add(PyObject* module);
// tokenizer.c
bool tokenizer_add(PyObject* module);
// hal.c
PyObject* hal_query_drivers(PyObject* self, PyObject* unused);
PyObject* hal_create_driver(PyObject* self, PyObject* args);
PyObject* hal_create_module(PyObject* self, PyObject* args, PyObject* kwargs);

#define BINDING_KEYWORDS(f) (PyCFunction)(void (*)(void)) f, METH_VARARGS | METH_KEYWORDS

#endif  // PYTHON_RUNTIME_BINDING_H_
