// libnvidia-ml.so.1 for tests: one GPU, of which everything is known beforehand.
#include <stdio.h>
#include <string.h>

typedef struct activity_t {
  unsigned compute, memory;
} activity_t;
typedef struct memory_t {
  unsigned long long total, free, used;
} memory_t;
static int gpu;

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** out_device) {
  *out_device = &gpu;
  return strcmp(bus, "00000000:01:00.0") ? 6 : 0;
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* out_mhz) {
  *out_mhz = type == 1 ? 1980 : 2619;
  return device != &gpu;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* out_celsius) {
  *out_celsius = 41;
  return sensor;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* out_milliwatts) {
  *out_milliwatts = 123456;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, activity_t* out_activity) {
  *out_activity = (activity_t){75, 25};
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, memory_t* out_memory) {
  *out_memory = (memory_t){100, 60, 40};
  return 0;
}
// Of this it has none.
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* out_millijoules) { return 3; }
