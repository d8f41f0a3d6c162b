// jax_plugins.iree._capsule: DLPack capsules (docs: dmlc.github.io/dlpack) of memory that a Python object keeps, on the
// stable ABI of Python 3.11.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdbool.h>
#include <stdlib.h>

enum { READ_ONLY = 1 };
static const char unversioned[] = "dltensor", versioned[] = "dltensor_versioned";

typedef struct dl_tensor_t {
  void* data;
  int32_t device_type, device_id, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;  // strides in elements
  uint64_t byte_offset;
} dl_tensor_t;
typedef struct dl_managed_t {
  dl_tensor_t tensor;
  void* context;
  void (*deleter)(struct dl_managed_t* self);
} dl_managed_t;
typedef struct dl_versioned_t {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct dl_versioned_t* self);
  uint64_t flags;
  dl_tensor_t tensor;
} dl_versioned_t;

typedef struct capsule_t {
  union {
    dl_managed_t old;
    dl_versioned_t new;
  };
  PyObject* owner;
  int64_t sizes[];
} capsule_t;

// Libraries may call it in any thread, and late.
static void release(capsule_t* self) {
  if (Py_IsInitialized()) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(self->owner);
    PyGILState_Release(state);
  }
  free(self);
}
static void release_old(dl_managed_t* managed) { release(managed->context); }
static void release_new(dl_versioned_t* managed) { release(managed->context); }

// Of one that nobody took; those that somebody has are called used_dltensor.
static void destroy(PyObject* object) {
  for (int i = 0; i < 2; ++i) {
    const char* name = i ? versioned : unversioned;
    if (PyCapsule_IsValid(object, name)) release(PyCapsule_GetPointer(object, name));
  }
}

static bool read_shape(PyObject* shape, dl_tensor_t* tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor->rank; i-- > 0;) {
    tensor->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    tensor->strides[i] = stride;
    stride *= tensor->shape[i];
  }
  return !PyErr_Occurred();
}

// make(owner, address, (device type, device id), (code, bits), shape, is_versioned)
static PyObject* make(PyObject* module, PyObject* args) {
  PyObject *owner, *shape;
  unsigned long long address;
  dl_tensor_t tensor = {.lanes = 1};
  int is_versioned;
  (void)module;
  if (!PyArg_ParseTuple(args, "OK(ii)(bb)O!p", &owner, &address, &tensor.device_type, &tensor.device_id, &tensor.code,
                        &tensor.bits, &PyTuple_Type, &shape, &is_versioned)) {
    return NULL;
  }
  size_t rank = (size_t)PyTuple_Size(shape);
  capsule_t* self = calloc(1, sizeof(*self) + 2 * rank * sizeof(*self->sizes));
  if (!self) return PyErr_NoMemory();
  tensor.data = (void*)(uintptr_t)address;
  tensor.rank = (int32_t)rank;
  tensor.shape = self->sizes;
  tensor.strides = self->sizes + rank;
  if (is_versioned) {
    self->new = (dl_versioned_t){1, 1, self, release_new, READ_ONLY, tensor};
  } else {
    self->old = (dl_managed_t){tensor, self, release_old};
  }
  PyObject* capsule =
      read_shape(shape, &tensor) ? PyCapsule_New(self, is_versioned ? versioned : unversioned, destroy) : NULL;
  if (!capsule) {
    free(self);
    return NULL;
  }
  self->owner = owner;
  Py_INCREF(owner);
  return capsule;
}

static PyMethodDef methods[] = {{"make", make, METH_VARARGS, "A capsule of memory that an object keeps."}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_capsule", .m_methods = methods};

PyMODINIT_FUNC PyInit__capsule(void) { return PyModule_Create(&definition); }
