// What benchmark reports say about the machine.

#include <time.h>
#include <unistd.h>

#include "tooling/benchmark.h"

enum { CACHE_LIMIT = 8 };

typedef struct cache_t {
  char type[32];
  int level, sharing;
  long size;  // bytes
} cache_t;

typedef struct host_t {
  char date[64], name[256], executable[1024];
  long cpu_count;
  double mhz;
  bool scaling;
  int cache_count;
  cache_t caches[CACHE_LIMIT];
  double load[3];
} host_t;

static bool read_line(const char* path, char* text, size_t size) {
  FILE* file = fopen(path, "r");
  bool read = file && fgets(text, (int)size, file);
  if (file) fclose(file);
  if (read) text[strcspn(text, "\n")] = 0;
  return read;
}

static double query_mhz(void) {
  char text[256];
  if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text, sizeof(text))) return atof(text) / 1000;
  FILE* file = fopen("/proc/cpuinfo", "r");
  double mhz = 0;
  while (file && !mhz && fgets(text, sizeof(text), file)) {
    const char* colon = strncmp(text, "cpu MHz", 7) == 0 ? strchr(text, ':') : NULL;
    if (colon) mhz = atof(colon + 1);
  }
  if (file) fclose(file);
  return mhz;
}

// Counts the processors in a list such as `0-3,8`.
static int count_cpus(const char* list) {
  int count = 0;
  while (*list) {
    char* end;
    long first = strtol(list, &end, 10), last = first;
    if (end == list) break;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    count += (int)(last - first + 1);
    list = *end == ',' ? end + 1 : end;
  }
  return count;
}

static void query_caches(host_t* host) {
  for (int i = 0; i < CACHE_LIMIT; ++i) {
    char path[128], text[256];
    cache_t* cache = &host->caches[host->cache_count];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
    if (!read_line(path, text, sizeof(text))) return;
    cache->size = atol(text) * (strchr(text, 'M') ? 1 << 20 : strchr(text, 'K') ? 1 << 10 : 1);
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
    cache->level = read_line(path, text, sizeof(text)) ? atoi(text) : 0;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/shared_cpu_list", i);
    cache->sharing = read_line(path, text, sizeof(text)) ? count_cpus(text) : 1;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
    if (!read_line(path, cache->type, sizeof(cache->type))) strcpy(cache->type, "Unified");
    ++host->cache_count;
  }
}

static bool query_scaling(void) {
  char text[64];
  return read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof(text)) &&
         strcmp(text, "performance") != 0;
}

static void query_host(host_t* host) {
  memset(host, 0, sizeof(*host));
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  strftime(host->date, sizeof(host->date), "%FT%T%z", &local);
  size_t length = strlen(host->date);  // +0000 becomes +00:00
  memmove(host->date + length - 1, host->date + length - 2, 3);
  host->date[length - 2] = ':';
  gethostname(host->name, sizeof(host->name) - 1);
  ssize_t size = readlink("/proc/self/exe", host->executable, sizeof(host->executable) - 1);
  if (size < 0) host->executable[0] = 0;
  host->cpu_count = sysconf(_SC_NPROCESSORS_ONLN);
  host->mhz = query_mhz();
  host->scaling = query_scaling();
  query_caches(host);
  if (getloadavg(host->load, 3) != 3) memset(host->load, 0, sizeof(host->load));
}

void benchmark_host_print(FILE* file) {
  host_t host;
  query_host(&host);
  fprintf(file, "%s\nRunning %s\nRun on (%ld X %g MHz CPU s)\n", host.date, host.executable, host.cpu_count, host.mhz);
  if (host.cache_count) fprintf(file, "CPU Caches:\n");
  for (int i = 0; i < host.cache_count; ++i) {
    const cache_t* cache = &host.caches[i];
    fprintf(file, "  L%d %s %ld KiB (x%ld)\n", cache->level, cache->type, cache->size >> 10,
            cache->sharing ? (host.cpu_count + cache->sharing - 1) / cache->sharing : 1);
  }
  fprintf(file, "Load Average: %.2f, %.2f, %.2f\n", host.load[0], host.load[1], host.load[2]);
  if (host.scaling) {
    fprintf(file,
            "***WARNING*** CPU scaling is enabled, the benchmark real time measurements may be noisy and will "
            "incur extra overhead.\n");
  }
}

void benchmark_host_print_json(FILE* file) {
  host_t host;
  query_host(&host);
  fprintf(file,
          "  \"context\": {\n    \"date\": \"%s\",\n    \"host_name\": \"%s\",\n    \"executable\": \"%s\",\n"
          "    \"num_cpus\": %ld,\n    \"mhz_per_cpu\": %.0f,\n    \"cpu_scaling_enabled\": %s,\n    \"caches\": [",
          host.date, host.name, host.executable, host.cpu_count, host.mhz, host.scaling ? "true" : "false");
  for (int i = 0; i < host.cache_count; ++i) {
    const cache_t* cache = &host.caches[i];
    fprintf(file,
            "%s\n      {\n        \"type\": \"%s\",\n        \"level\": %d,\n        \"size\": %ld,\n"
            "        \"num_sharing\": %d\n      }",
            i ? "," : "", cache->type, cache->level, cache->size, cache->sharing);
  }
  fprintf(file,
          "\n    ],\n    \"load_avg\": [%g,%g,%g],\n    \"library_build_type\": \"release\",\n"
          "    \"json_schema_version\": 1\n  },\n",
          host.load[0], host.load[1], host.load[2]);
}
