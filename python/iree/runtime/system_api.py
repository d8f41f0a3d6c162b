"""Modules, loaded and linked, with their functions as Python's."""

from . import _binding
from .function import FunctionInvoker, normalize_value
from .system_setup import get_first_device

__all__ = ["BoundModule", "BoundModules", "Config", "SystemContext", "TARGET_BACKEND_TO_DRIVER", "load_vm_flatbuffer",
           "load_vm_flatbuffer_file", "load_vm_module", "load_vm_modules", "normalize_value"]

# Drivers for what was compiled by a backend.
TARGET_BACKEND_TO_DRIVER = {"llvm-cpu": "local-task", "vmvx": "local-task", "cuda": "cuda", "rocm": "hip", "hip": "hip",
                    "amdgpu": "amdgpu"}

_instance = None


def _global_instance():
    global _instance  # one registers types for the whole process
    if _instance is None:
        _instance = _binding.VmInstance()
    return _instance


class Config:
    """A device, an instance and the modules that every context has: Config("local-task").

    Of several names, separated by commas, the first counts whose device can be made.
    """

    def __init__(self, driver_name=None, *, device=None):
        if driver_name is not None and device is not None:
            raise ValueError("give a driver's name or a device, not both")
        self.vm_instance = _global_instance()
        self.device = device or get_first_device(driver_name.split(",") if driver_name else None)
        self.default_vm_modules = (_binding.create_hal_module(self.vm_instance, self.device),)


class BoundModule:
    """A module in a context: its functions are attributes and items."""

    def __init__(self, context, vm_module):
        self._context = context
        self._vm_module = vm_module
        self._functions = {}

    @property
    def name(self):
        return self._vm_module.name

    @property
    def vm_module(self):
        return self._vm_module

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"module '{self.name}' has no function '{name}'") from None

    def __getitem__(self, name):
        if name not in self._functions:
            function = self._vm_module.lookup_function(name)
            if function is None:
                raise KeyError(name)
            self._functions[name] = FunctionInvoker(self._context.vm_context, self._context.config.device, function)
        return self._functions[name]

    def __contains__(self, name):
        return self._vm_module.lookup_function(name) is not None

    def __dir__(self):
        return [*super().__dir__(), *self._vm_module.function_names]

    def __repr__(self):
        return f"<BoundModule {self.name}>"


class BoundModules(dict):
    """Modules of a context by name, which are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no module '{name}'") from None


class SystemContext:
    """Modules linked together; each may import from those before it. Without any it is dynamic; all may get more."""

    def __init__(self, vm_modules=None, config=None):
        self._is_dynamic = vm_modules is None
        self._config = config if config is not None else Config()
        modules = (*self._config.default_vm_modules, *(vm_modules or ()))
        self._vm_context = _binding.VmContext(self._config.vm_instance, modules)
        self._modules = BoundModules((module.name, BoundModule(self, module)) for module in modules)

    @property
    def config(self):
        return self._config

    @property
    def instance(self):
        return self._config.vm_instance

    @property
    def vm_context(self):
        return self._vm_context

    @property
    def is_dynamic(self):
        return self._is_dynamic

    @property
    def modules(self):
        return self._modules

    def add_vm_modules(self, vm_modules):
        vm_modules = list(vm_modules)
        for module in vm_modules:
            if module.name in self._modules:
                raise ValueError(f"the context has a module '{module.name}' already")
        self._vm_context.register_modules(vm_modules)
        for module in vm_modules:
            self._modules[module.name] = BoundModule(self, module)

    def add_vm_module(self, vm_module):
        self.add_vm_modules((vm_module,))


def load_vm_modules(*vm_modules, config=None):
    """BoundModules of a new context, one for each."""
    context = SystemContext(vm_modules=vm_modules, config=config)
    return [context.modules[module.name] for module in vm_modules]


def load_vm_module(vm_module, config=None):
    """The BoundModule of a new context."""
    return load_vm_modules(vm_module, config=config)[0]


def _config_for(driver, backend):
    if (driver is None) == (backend is None):
        raise ValueError("give a driver or a backend, one of the two")
    if driver is None and backend not in TARGET_BACKEND_TO_DRIVER:
        raise ValueError(f"no driver is known for the backend '{backend}'; one of "
                         f"{', '.join(TARGET_BACKEND_TO_DRIVER)} is needed, or a driver")
    return Config(driver or TARGET_BACKEND_TO_DRIVER[backend])


def load_vm_flatbuffer(vm_flatbuffer, *, driver=None, backend=None):
    """The BoundModule of a compiled module's bytes."""
    config = _config_for(driver, backend)
    return load_vm_module(_binding.VmModule.copy_buffer(config.vm_instance, vm_flatbuffer), config)


def load_vm_flatbuffer_file(path, *, driver=None, backend=None, destroy_callback=None):
    """The BoundModule of a .vmfb file, which is mapped; `destroy_callback` is called when it is no longer."""
    config = _config_for(driver, backend)
    return load_vm_module(_binding.VmModule.mmap(config.vm_instance, path, destroy_callback), config)
