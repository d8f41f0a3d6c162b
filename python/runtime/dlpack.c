// DLPack, version 0 (docs: dmlc.github.io/dlpack): a capsule `dltensor` with a tensor of the host's memory, without
// copies where the device can use it as it lies.
#include <stdlib.h>
#include <string.h>

#include "binding.h"

enum { DL_CPU = 1 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };

typedef struct dl_device_t {
  int32_t type, id;
} dl_device_t;
typedef struct dl_type_t {
  uint8_t code, bits;
  uint16_t lanes;
} dl_type_t;
typedef struct dl_tensor_t {
  void* data;
  dl_device_t device;
  int32_t rank;
  dl_type_t type;
  int64_t *shape, *strides;  // strides in elements, or NULL
  uint64_t byte_offset;
} dl_tensor_t;
typedef struct dl_managed_t {
  dl_tensor_t tensor;
  void* context;
  void (*deleter)(struct dl_managed_t* self);
} dl_managed_t;

static const struct {
  uint8_t code, numerical;
} types[] = {{DL_INT, IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED},    {DL_INT, IREE_HAL_NUMERICAL_TYPE_INTEGER},
             {DL_UINT, IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED}, {DL_FLOAT, IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE},
             {DL_BFLOAT, IREE_HAL_NUMERICAL_TYPE_FLOAT_BRAIN},    {DL_COMPLEX, IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX},
             {DL_BOOL, IREE_HAL_NUMERICAL_TYPE_BOOLEAN}};

static bool to_dl_type(iree_hal_element_type_t type, dl_type_t* out) {
  iree_host_size_t bits = iree_hal_element_bit_count(type);
  for (size_t i = 0; i < IREE_ARRAYSIZE(types); ++i) {
    if (iree_hal_element_numerical_type(type) != types[i].numerical || bits % 8) continue;
    *out = (dl_type_t){types[i].code, (uint8_t)bits, 1};
    return true;
  }
  return false;
}

static iree_hal_element_type_t from_dl_type(dl_type_t type) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(types); ++i) {
    if (type.code == types[i].code && type.lanes == 1 && type.bits && type.bits % 8 == 0) {
      return iree_hal_make_element_type(types[i].numerical, type.bits);
    }
  }
  return IREE_HAL_ELEMENT_TYPE_NONE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Export
//===----------------------------------------------------------------------------------------------------------------===

typedef struct export_t {
  dl_managed_t managed;
  iree_hal_buffer_mapping_t mapping;
  int64_t sizes[2 * ARRAY_RANK_LIMIT];
} export_t;

static void export_delete(dl_managed_t* managed) {
  export_t* self = managed->context;
  if (self->mapping.buffer) IREE_IGNORE_ERROR(iree_hal_buffer_unmap_range(&self->mapping));
  free(self);
}

// Of one that nobody took.
static void capsule_delete(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  dl_managed_t* managed = PyCapsule_GetPointer(capsule, "dltensor");
  if (managed->deleter) managed->deleter(managed);
}

static bool fill_tensor(export_t* self, iree_hal_buffer_view_t* view) {
  dl_tensor_t* tensor = &self->managed.tensor;
  iree_host_size_t rank = iree_hal_buffer_view_shape_rank(view);
  if (!to_dl_type(iree_hal_buffer_view_element_type(view), &tensor->type) || rank > ARRAY_RANK_LIMIT) {
    PyErr_SetString(PyExc_BufferError, "DLPack has no such elements; to_host() gives a copy");
    return false;
  }
  tensor->device = (dl_device_t){DL_CPU, 0};
  tensor->rank = (int32_t)rank;
  tensor->shape = self->sizes;
  tensor->strides = self->sizes + ARRAY_RANK_LIMIT;
  int64_t stride = 1;
  for (iree_host_size_t i = rank; i-- > 0;) {
    tensor->shape[i] = (int64_t)iree_hal_buffer_view_shape_dim(view, i);
    tensor->strides[i] = stride;
    stride *= tensor->shape[i];
  }
  iree_status_t status = iree_hal_buffer_map_range(iree_hal_buffer_view_buffer(view), IREE_HAL_MAPPING_MODE_SCOPED,
                                                   IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE, 0,
                                                   iree_hal_buffer_view_byte_length(view), &self->mapping);
  if (!iree_status_is_ok(status)) {
    self->mapping.buffer = NULL;
    iree_status_free(status);
    PyErr_SetString(PyExc_BufferError, "the host does not reach the device's memory; to_host() gives a copy");
    return false;
  }
  tensor->data = self->mapping.contents.data;
  return true;
}

PyObject* dlpack_export(PyObject* device, PyObject* args) {
  iree_hal_buffer_view_t* view;
  int type = DL_CPU, id = 0;
  if (!PyArg_ParseTuple(args, "O&|ii", binding_iree_hal_buffer_view, &view, &type, &id)) return NULL;
  if (type != DL_CPU) {
    return PyErr_Format(PyExc_BufferError, "tensors of the host's memory are shared (device type 1), not of type %d",
                        type);
  }
  export_t* self = calloc(1, sizeof(*self));
  if (!self) return PyErr_NoMemory();
  self->managed.context = self;
  self->managed.deleter = export_delete;
  PyObject* capsule = fill_tensor(self, view) ? PyCapsule_New(&self->managed, "dltensor", capsule_delete) : NULL;
  if (!capsule) export_delete(&self->managed);
  return capsule;
}

//===----------------------------------------------------------------------------------------------------------------===
// Import
//===----------------------------------------------------------------------------------------------------------------===

static void import_release(void* user_data, iree_hal_buffer_t* buffer) {
  dl_managed_t* managed = user_data;
  if (!managed->deleter || !Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();  // producers in Python need it
  managed->deleter(managed);
  PyGILState_Release(state);
}

static bool is_dense(const dl_tensor_t* tensor) {
  if (!tensor->strides) return true;
  int64_t stride = 1;
  for (int32_t i = tensor->rank; i-- > 0;) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != stride) return false;
    stride *= tensor->shape[i];
  }
  return true;
}

// False with an exception for what is no dense tensor of the host's with elements that devices know.
static bool read_tensor(const dl_tensor_t* tensor, iree_hal_dim_t* shape, iree_hal_element_type_t* out_type,
                        size_t* out_size) {
  const char* problem = NULL;
  *out_type = from_dl_type(tensor->type);
  if (tensor->device.type != DL_CPU) problem = "the tensor is not in the host's memory; copy it there first";
  if (!*out_type) problem = "devices have no such elements";
  if (tensor->rank < 0 || tensor->rank > ARRAY_RANK_LIMIT) problem = "the tensor has too many dimensions";
  size_t size = iree_hal_element_dense_byte_count(*out_type);
  for (int32_t i = 0; !problem && i < tensor->rank; ++i) {
    if (tensor->shape[i] < 0) problem = "a dimension is negative";
    shape[i] = (iree_hal_dim_t)tensor->shape[i];
    if (__builtin_mul_overflow(size, (size_t)tensor->shape[i], &size)) problem = "the tensor is too large";
  }
  if (!problem && size && !is_dense(tensor)) problem = "the tensor has strides; make it contiguous first";
  if (problem) PyErr_SetString(PyExc_BufferError, problem);
  *out_size = size;
  return !problem;
}

// A buffer of the tensor's own memory, or NULL.
static iree_hal_buffer_t* import_buffer(iree_hal_device_t* device, dl_managed_t* managed, void* data, size_t size) {
  if (!size || (uintptr_t)data % IREE_HAL_HEAP_BUFFER_ALIGNMENT) return NULL;
  iree_hal_external_buffer_t external = {.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION, .size = size};
  external.handle.host_allocation.ptr = data;
  iree_hal_buffer_params_t params = {.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
                                     .type = IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE};
  iree_hal_buffer_t* buffer = NULL;
  iree_hal_buffer_release_callback_t callback = {import_release, managed};
  IREE_IGNORE_ERROR(
      iree_hal_allocator_import_buffer(iree_hal_device_allocator(device), params, &external, callback, &buffer));
  return buffer;
}

static iree_status_t import_view(iree_hal_device_t* device, dl_managed_t* managed, const iree_hal_dim_t* shape,
                                 iree_hal_element_type_t type, size_t size, iree_hal_buffer_view_t** out_view,
                                 bool* out_kept) {
  const dl_tensor_t* tensor = &managed->tensor;
  void* data = (uint8_t*)tensor->data + tensor->byte_offset;
  iree_hal_buffer_t* buffer = import_buffer(device, managed, data, size);
  *out_kept = buffer != NULL;
  if (buffer) {
    iree_status_t status =
        iree_hal_buffer_view_create(buffer, (iree_host_size_t)tensor->rank, shape, type,
                                    IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, iree_allocator_system(), out_view);
    iree_hal_buffer_release(buffer);
    return status;
  }
  iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  return iree_hal_buffer_view_allocate_buffer_copy(
      device, iree_hal_device_allocator(device), (iree_host_size_t)tensor->rank, shape, type,
      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, iree_make_const_byte_span(data, size), out_view);
}

PyObject* dlpack_import(PyObject* device, PyObject* args) {
  PyObject* capsule;
  if (!PyArg_ParseTuple(args, "O", &capsule)) return NULL;
  if (!PyCapsule_IsValid(capsule, "dltensor")) {
    return PyErr_Format(PyExc_ValueError, "a capsule `dltensor` is needed that nobody has taken yet");
  }
  dl_managed_t* managed = PyCapsule_GetPointer(capsule, "dltensor");
  iree_hal_dim_t shape[ARRAY_RANK_LIMIT];
  iree_hal_element_type_t type;
  size_t size;
  if (!read_tensor(&managed->tensor, shape, &type, &size)) return NULL;
  iree_hal_buffer_view_t* view = NULL;
  bool kept = false;
  iree_status_t status = import_view(binding_ptr(device), managed, shape, type, size, &view, &kept);
  // Taken, whatever the outcome: who keeps it, deletes it.
  PyCapsule_SetName(capsule, "used_dltensor");
  if (!kept && managed->deleter) managed->deleter(managed);
  return binding_check(status, "Error importing tensor") ? binding_wrap(KIND_VIEW, view) : NULL;
}
