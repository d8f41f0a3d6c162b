// Contexts. Calls into one must not overlap: threads that call take turns, each without the interpreter's lock.
#include "binding.h"

typedef struct context_t {
  handle_t base;
  PyThread_type_lock lock;
  unsigned long owner;  // the thread that is in a call
} context_t;
static_assert(sizeof(context_t) <= BINDING_OBJECT_SIZE, "binding.c makes objects of that size");

static iree_status_t append_modules(PyObject* list, iree_vm_context_t* context) {
  Py_ssize_t count = PyTuple_Size(list);
  iree_vm_module_t** modules = PyMem_Calloc((size_t)count + 1, sizeof(*modules));
  if (!modules) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  for (Py_ssize_t i = 0; i < count; ++i) modules[i] = binding_ptr(PyTuple_GetItem(list, i));
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_vm_context_register_modules(context, (iree_host_size_t)count, modules);
  Py_END_ALLOW_THREADS;
  PyMem_Free(modules);
  return status;
}

// Takes the lock; false with an exception when the thread has it.
static bool enter(context_t* self) {
  if (self->owner == PyThread_get_thread_ident()) {
    PyErr_SetString(PyExc_RuntimeError, "the context is in a call of this thread; calls of a context do not nest");
    return false;
  }
  if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS;
  }
  self->owner = PyThread_get_thread_ident();
  return true;
}

static void leave(context_t* self) {
  self->owner = 0;
  PyThread_release_lock(self->lock);
}

static PyObject* register_modules(PyObject* self, PyObject* sequence) {
  PyObject* list = PySequence_Tuple(sequence);
  if (!list) return NULL;
  iree_vm_module_t* module;
  bool good = true;
  for (Py_ssize_t i = 0; good && i < PyTuple_Size(list); ++i) {
    good = binding_iree_vm_module(PyTuple_GetItem(list, i), &module);
  }
  PyObject* result = NULL;
  if (good && enter((context_t*)self)) {
    iree_status_t status = append_modules(list, binding_ptr(self));
    leave((context_t*)self);
    result = binding_none_or_error(status, "Error registering modules");
  }
  Py_DECREF(list);
  return result;
}

static PyObject* context_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"instance", "modules", NULL};
  iree_vm_instance_t* instance;
  PyObject* modules = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|O", names, binding_iree_vm_instance, &instance, &modules)) {
    return NULL;
  }
  iree_vm_context_t* context = NULL;
  iree_status_t status = iree_vm_context_create(instance, IREE_VM_CONTEXT_FLAG_NONE, iree_allocator_system(), &context);
  if (!binding_check(status, "Error creating vm context")) return NULL;
  PyObject* self = binding_wrap(KIND_CONTEXT, context);
  if (!self) return NULL;
  ((context_t*)self)->lock = PyThread_allocate_lock();
  if (!((context_t*)self)->lock) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  if (modules == Py_None) return self;
  PyObject* done = register_modules(self, modules);
  if (!done) Py_CLEAR(self);
  Py_XDECREF(done);
  return self;
}

bool context_enter(PyObject* self) { return enter((context_t*)self); }
void context_leave(PyObject* self) { leave((context_t*)self); }

void context_free_lock(PyObject* self) {
  if (((context_t*)self)->lock) PyThread_free_lock(((context_t*)self)->lock);
}

static PyObject* context_invoke(PyObject* self, PyObject* args) {
  PyObject* function;
  iree_vm_list_t *inputs, *outputs;
  if (!PyArg_ParseTuple(args, "O!O&O&", vm_function_type, &function, binding_iree_vm_list, &inputs,
                        binding_iree_vm_list, &outputs) ||
      !enter((context_t*)self)) {
    return NULL;
  }
  iree_vm_function_t target = ((function_t*)function)->function;
  iree_status_t status;
  Py_BEGIN_ALLOW_THREADS;
  status = iree_vm_invoke(binding_ptr(self), target, IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, outputs,
                          iree_allocator_system());
  Py_END_ALLOW_THREADS;
  leave((context_t*)self);
  return binding_none_or_error(status, "Error invoking function");
}

static PyObject* context_id(PyObject* self, void* unused) {
  return PyLong_FromSsize_t(iree_vm_context_id(binding_ptr(self)));
}

static PyObject* context_instance(PyObject* self, void* unused) {
  return binding_wrap_retain(KIND_INSTANCE, iree_vm_context_instance(binding_ptr(self)));
}

static PyMethodDef context_methods[] = {
    {"register_modules", register_modules, METH_O, "register_modules(modules): links more of them."},
    {"invoke", context_invoke, METH_VARARGS, "invoke(function, inputs, outputs): lists of arguments and results."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef context_properties[] = {{"context_id", context_id, NULL, "A number.", NULL},
                                           {"instance", context_instance, NULL, "Its instance.", NULL},
                                           {NULL, NULL, NULL, NULL, NULL}};
PyType_Slot binding_iree_vm_context_slots[] = {
    {Py_tp_new, context_new}, {Py_tp_methods, context_methods}, {Py_tp_getset, context_properties}, {0, NULL}};
