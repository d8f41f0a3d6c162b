"""Points of timelines as something else: events of CUDA and HIP, file descriptors."""

from .enums import ExternalTimepointFlags, ExternalTimepointType, SemaphoreCompatibility


class HalExternalTimepoint:
    """What HalSemaphore.import_timepoint takes and export_timepoint fills in.

    Setting one of the handles says what the timepoint is; the others are None. Events are addresses and stay the
    caller's; a descriptor that is imported is the semaphore's from then on.
    """

    __slots__ = ("type", "flags", "compatibility", "handle")

    def __init__(self):
        self.type, self.handle = ExternalTimepointType.NONE, 0
        self.flags, self.compatibility = ExternalTimepointFlags.NONE, SemaphoreCompatibility.NONE

    def _get(self, kind):
        return self.handle if self.type == kind else None

    def _set(self, kind, handle):
        self.type, self.handle = kind, handle

    cuda_event = property(lambda self: self._get(ExternalTimepointType.CUDA_EVENT),
                          lambda self, event: self._set(ExternalTimepointType.CUDA_EVENT, event))
    hip_event = property(lambda self: self._get(ExternalTimepointType.HIP_EVENT),
                         lambda self, event: self._set(ExternalTimepointType.HIP_EVENT, event))
    fd = property(lambda self: self._get(ExternalTimepointType.ASYNC_PRIMITIVE),
                  lambda self, number: self._set(ExternalTimepointType.ASYNC_PRIMITIVE, number))
