"""IREE's runtime: loads compiled modules and calls their functions with NumPy arrays.

    import iree.runtime as rt

    module = rt.load_vm_flatbuffer_file("model.vmfb", driver="local-task")
    print(module.main(x))

Flags of the runtime's tools are taken from the variable IREE_PY_RUNTIME_FLAGS, or by flags.parse_flags.
"""

from . import flags
from ._binding import (
    HalAllocator,
    HalBuffer,
    HalBufferView,
    HalCommandBuffer,
    HalDevice,
    HalDriver,
    HalFence,
    HalSemaphore,
    MappedMemory,
    PyModuleInterface,
    Tokenizer,
    TokenizerDecodeStream,
    TokenizerEncodeStream,
    VmBuffer,
    VmContext,
    VmFunction,
    VmInstance,
    VmModule,
    VmVariantList,
    create_hal_module,
)
from .array_interop import DeviceArray, asdevicearray
from .benchmark import BenchmarkResult, BenchmarkTimeoutError, BenchmarkToolError, benchmark_exe, benchmark_module
from .enums import (
    BufferCompatibility,
    BufferUsage,
    ExternalTimepointFlags,
    ExternalTimepointType,
    HalElementType,
    Linkage,
    MemoryAccess,
    MemoryType,
    SemaphoreCompatibility,
)
from .function import FunctionInvoker
from .io import (
    FileHandle,
    ParameterIndex,
    ParameterIndexEntry,
    ParameterProvider,
    SplatValue,
    create_io_parameters_module,
    parameter_index_add_numpy_ndarray,
    parameter_index_entry_as_numpy_flat_ndarray,
    parameter_index_entry_as_numpy_ndarray,
    save_archive_file,
)
from .loop import HalDeviceLoopBridge
from .system_api import (
    TARGET_BACKEND_TO_DRIVER,
    BoundModule,
    BoundModules,
    Config,
    SystemContext,
    load_vm_flatbuffer,
    load_vm_flatbuffer_file,
    load_vm_module,
    load_vm_modules,
    normalize_value,
)
from .system_setup import get_device, get_driver, get_first_device, query_available_drivers
from .timepoints import HalExternalTimepoint
from .values import HalModuleDebugSink, Shape, VmRef
