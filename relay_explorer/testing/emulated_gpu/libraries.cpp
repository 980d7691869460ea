// The functions of CUDA's driver and runtime libraries that TVM's runtime calls, for the emulated GPU. They behave as
// NVIDIA documents; calls that TVM does not need return an error.
#include "device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

Settings settings;
std::string problem, report;
std::map<Address, Memory> memories;

namespace {
Memory *last_memory = nullptr;
}

Memory *memory_of(Address at) {
  if (last_memory && at >= last_memory->start && at < last_memory->end) return last_memory;
  auto next = memories.upper_bound(at);
  if (next == memories.begin()) return nullptr;
  Memory &candidate = std::prev(next)->second;
  if (at >= candidate.end) return nullptr;
  return last_memory = &candidate;
}

namespace {

int copied(void *to, const void *from, std::size_t size, int kind) {
  auto a = reinterpret_cast<Address>(to), b = reinterpret_cast<Address>(from);
  if (kind == 1 || kind == 3) a -= AWAY;
  if (kind == 2 || kind == 3) b -= AWAY;
  for (auto [at, there] : {std::pair(a, kind == 1 || kind == 3), std::pair(b, kind == 2 || kind == 3)}) {
    if (!there || !size) continue;
    const Memory *memory = memory_of(at);
    if (!memory || at + size > memory->end) {
      problem = "a copy of " + std::to_string(size) + " bytes is not within one allocation of device memory";
      return 1;
    }
  }
  std::memmove(reinterpret_cast<void *>(a), reinterpret_cast<void *>(b), size);
  return 0;
}

int attribute(int which) {
  switch (which) {
    case 1: case 2: case 3: return BLOCK;
    case 4: return 64;
    case 5: return 0x7fffffff;
    case 6: case 7: return 65535;
    case 8: return STATIC_SHARED;
    case 10: return WARP;
    case 12: return 1 << 16;
    case 13: return 1000000;
    case 16: return 1;
    case 39: return 2048;
    case 75: return settings.major;
    case 76: return settings.minor;
    case 97: return 163 << 10;
    default: return 0;
  }
}

}  // namespace

extern "C" {

// -- called from Python

void rx_settings(int present, int major, int minor, int counts) { settings = {present, major, minor, counts}; }
const char *rx_report() { return report.c_str(); }
void rx_forget() { report.clear(); }
const char *rx_problem() { return problem.c_str(); }

// -- the driver

struct Config {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  void *stream, *attributes;
  unsigned number;
};

int cuGetErrorName(int code, const char **text) {
  *text = code == 0 ? "CUDA_SUCCESS" : problem.empty() ? "CUDA_ERROR" : problem.c_str();
  return 0;
}
int cuGetErrorString(int code, const char **text) { return cuGetErrorName(code, text); }

int cuDeviceGetName(char *name, int size, int) {
  std::snprintf(name, size, "emulated");
  return 0;
}

// A module's image is the path of a library: see __init__.py.
int cuModuleLoadData(void **module, const void *image) {
  const char *text = static_cast<const char *>(image), *mark = "emulated:";
  problem = "the code was not compiled for the emulated GPU";
  if (std::strncmp(text, mark, std::strlen(mark))) return 200;
  *module = dlopen(text + std::strlen(mark), RTLD_NOW | RTLD_LOCAL);
  if (*module) return 0;
  problem = dlerror();
  return 200;
}
int cuModuleUnload(void *) { return 0; }

int cuModuleGetFunction(Function **result, void *module, const char *name) {
  auto find = [&](const char *prefix) { return dlsym(module, (std::string(prefix) + name).c_str()); };
  auto run = reinterpret_cast<void (*)(void **)>(find("rx_run_"));
  auto facts = static_cast<const rx_facts *>(find("rx_facts_"));
  problem = "there is no kernel `" + std::string(name) + "`";
  if (!run || !facts) return 500;
  auto shared = reinterpret_cast<void (*)(char **, char **)>(dlsym(module, "rx_shared_range"));
  char *start, *end;
  shared(&start, &end);
  *result = new Function{name, run, facts, 0, start, end};
  return 0;
}

int cuFuncSetAttribute(Function *function, int which, int value) {
  problem = "the requested shared memory exceeds the device's limit";
  if (which != 8 || value > attribute(97)) return 1;
  function->dynamic = value;
  return 0;
}

int cuLaunchKernelEx(const Config *c, Function *function, void **args, void **) {
  return launched({c->grid_x, c->grid_y, c->grid_z}, {c->block_x, c->block_y, c->block_z}, c->shared, function, args);
}
int cuTensorMapEncodeTiled() { return 801; }

// -- the runtime

int cudaGetDeviceCount(int *number) { return *number = settings.present, settings.present ? 0 : 100; }
int cudaDeviceGetAttribute(int *value, int which, int) { return *value = attribute(which), settings.present ? 0 : 100; }
int cudaGetDeviceProperties(char *properties, int) {
  std::strcpy(properties, "emulated");
  std::size_t size = std::size_t(1) << 34;
  std::memcpy(properties + 288, &size, sizeof size);
  return 0;
}
int cudaMemGetInfo(std::size_t *free, std::size_t *total) { return *free = *total = std::size_t(1) << 34, 0; }
int cudaSetDevice(int) { return 0; }
int cudaGetDevice(int *device) { return *device = 0, 0; }
int cudaGetLastError() { return 0; }
int cudaPeekAtLastError() { return 0; }
const char *cudaGetErrorName(int code) {
  const char *text;
  return cuGetErrorName(code, &text), text;
}
const char *cudaGetErrorString(int code) { return cudaGetErrorName(code); }

int cudaMalloc(void **result, std::size_t size) {
  problem = "out of memory: cannot allocate " + std::to_string(size) + " bytes";
  char *here = static_cast<char *>(size > std::size_t(1) << 34 ? nullptr : std::aligned_alloc(256, (size + 511) / 256 * 256));
  if (!here) return 2;
  std::memset(here, UNWRITTEN, size);
  Address at = reinterpret_cast<Address>(here);
  memories[at] = {at, at + size, {}};
  *result = here + AWAY;
  return 0;
}
int cudaFree(void *device) {
  if (!device) return 0;
  last_memory = nullptr;
  void *here = rx_here(device);
  if (!memories.erase(reinterpret_cast<Address>(here))) return 1;
  std::free(here);
  return 0;
}
int cudaMallocHost(void **result, std::size_t size) { return *result = std::malloc(size ? size : 1), *result ? 0 : 2; }
int cudaFreeHost(void *here) { return std::free(here), 0; }
int cudaMemcpyAsync(void *to, const void *from, std::size_t size, int kind, void *) { return copied(to, from, size, kind); }
int cudaMemcpyPeerAsync(void *to, int, const void *from, int, std::size_t size, void *) { return copied(to, from, size, 3); }

int cudaStreamCreate(void **stream) { return *stream = nullptr, 0; }
int cudaStreamCreateWithFlags(void **stream, unsigned) { return *stream = nullptr, 0; }
int cudaStreamDestroy(void *) { return 0; }
int cudaStreamSynchronize(void *) { return 0; }
int cudaStreamWaitEvent(void *, void *, unsigned) { return 0; }
int cudaEventCreate(void **event) { return *event = nullptr, 0; }
int cudaEventDestroy(void *) { return 0; }
int cudaEventRecord(void *, void *) { return 0; }
int cudaEventSynchronize(void *) { return 0; }
int cudaEventElapsedTime(float *time, void *, void *) { return *time = 0, 0; }
int cudaStreamBeginCapture() { return 801; }
int cudaStreamEndCapture() { return 801; }
int cudaGraphDestroy() { return 801; }
int cudaGraphExecDestroy() { return 801; }
int cudaGraphInstantiate() { return 801; }
int cudaGraphLaunch() { return 801; }
}
