// A GPU made of one thread of this machine: the functions of CUDA's two libraries that TVM's runtime calls, and what
// compiled kernels call (kernel.h). Each thread of a block has a stack of its own, and gives way where it waits.
//
// Every access to memory is seen: kernels are compiled with -fsanitize=thread, which puts a call before each, and the
// functions that it calls are those at the end of this file, not the sanitizer's.
//
// An address of the device is its address here plus AWAY, so that whoever takes one for an address of the host faults.
#define RX_GPU
#include "gpu.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

namespace {

using Address = std::uintptr_t;
constexpr Address AWAY = Address(1) << 46;
constexpr unsigned WARP = 32, BLOCK = 1024, STATIC_SHARED = 48 << 10;
constexpr std::size_t STACK = 256 << 10;
constexpr unsigned char UNWRITTEN = 0xff;  // memory before anybody wrote to it: not a number, -1

// -- what is told of a launch

struct Access {  // all accesses of one array, of one kind
  std::uint64_t requests = 0, lanes = 0, units = 0;
};
struct Request {  // of a warp: the n-th time that its threads are at a place of the code
  const void *place;
  std::uint64_t turn;
  unsigned warp;
  bool operator<(const Request &o) const {
    return place != o.place ? place < o.place : turn != o.turn ? turn < o.turn : warp < o.warp;
  }
};
struct Asked {
  std::string array;
  bool shared, writes;
  unsigned lanes = 0;
  std::vector<Address> units;  // pieces of 32 bytes; words of shared memory
};

struct Settings {
  int present = 0, major = 8, minor = 0, counts = 0;
} settings;
std::string problem, report;
std::map<Request, Asked> requests;
std::map<std::string, Access> totals;

// -- memory

struct Touched {  // a byte: who wrote and who read it last, since when
  std::uint32_t writer = 0, reader = 0;          // number of the thread in the grid + 1; MANY
  std::uint32_t wrote_block = 0, read_block = 0;  // barriers of the block until then
  std::uint32_t wrote_warp = 0, read_warp = 0;    // and of the warp
  std::uint32_t wrote_launch = 0, read_launch = 0;
  bool atomic = false;
};
constexpr std::uint32_t MANY = ~0u;

struct Memory {
  Address start, end;
  std::vector<Touched> bytes;  // made when a kernel first touches it
};
std::map<Address, Memory> memories;  // by start
Memory *last_memory = nullptr;
Memory shared_memory{0, 0, {}};

Memory *memory_of(Address at) {
  if (last_memory && at >= last_memory->start && at < last_memory->end) return last_memory;
  auto next = memories.upper_bound(at);
  if (next == memories.begin()) return nullptr;
  Memory &found = std::prev(next)->second;
  if (at >= found.end) return nullptr;
  return last_memory = &found;
}

// -- threads

enum State { READY, AT_BARRIER, AT_WARP, DONE };

struct Thread {
  ucontext_t context;
  jmp_buf here;
  char *stack = nullptr;
  bool begun = false;
  State state = DONE;
  int line = 0;
  rx_dim index{0, 0, 0};
  std::unordered_map<const void *, std::uint64_t> turns;
};
struct Warp {
  std::uint64_t slots[2][WARP];
  std::uint32_t generation, arrived, mask, barriers;
  int line;
};

Thread threads[BLOCK];
Warp warps[BLOCK / WARP];
unsigned count, current, barriers, launch_number, block_number;
jmp_buf scheduler;
bool running = false;

struct Function {
  std::string name;
  void (*run)(void **);
  const rx_facts *facts;
  unsigned dynamic = 0;
  char *shared_start, *shared_end;
};
Function *kernel = nullptr;
void **arguments = nullptr;

std::string triple(const rx_dim &d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

std::string whom() { return "thread " + triple(threadIdx) + " of block " + triple(blockIdx); }

[[noreturn]] void fail(const std::string &what) {
  problem = "`" + kernel->name + "`: " + what;
  _longjmp(scheduler, 2);
}

void give_way() {
  if (!_setjmp(threads[current].here)) _longjmp(scheduler, 1);
}

void life() {
  for (;;) {
    kernel->run(arguments);
    threads[current].state = DONE;
    give_way();
  }
}

void begin(Thread &thread) {
  if (!thread.stack) {
    thread.stack = static_cast<char *>(
        mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack;
  thread.context.uc_stack.ss_size = STACK;
  thread.context.uc_link = nullptr;
  makecontext(&thread.context, life, 0);
  thread.begun = true;
  setcontext(&thread.context);
}

// Lets a thread run until it waits or ends; false where it failed.
__attribute__((noinline)) bool run(unsigned number) {
  current = number;
  threadIdx = threads[number].index;
  switch (_setjmp(scheduler)) {
    case 0:
      if (threads[number].begun) _longjmp(threads[number].here, 1);
      begin(threads[number]);
      return true;
    case 1: return true;
    default:
      for (Thread &thread : threads) thread.begun = false;  // those in the middle never go on
      return false;
  }
}

std::uint32_t alive(unsigned warp) {
  std::uint32_t found = 0;
  for (unsigned lane = 0; lane < WARP; ++lane) {
    unsigned number = warp * WARP + lane;
    if (number < count && threads[number].state != DONE) found |= 1u << lane;
  }
  return found;
}

void release(unsigned warp) {
  Warp &here = warps[warp];
  for (unsigned lane = 0; lane < WARP; ++lane) {
    if (here.arrived >> lane & 1) threads[warp * WARP + lane].state = READY;
  }
  here.arrived = 0;
  here.generation++;
  here.barriers++;
}

// Nobody can run: the block's barrier is open if all threads are there, or a warp's if its other threads wait
// elsewhere (they are not among the active ones then).
bool go_on() {
  for (unsigned warp = 0; warp * WARP < count; ++warp) {
    if (warps[warp].arrived) {
      release(warp);
      return true;
    }
  }
  int line = 0;
  for (unsigned n = 0; n < count; ++n) {
    if (threads[n].state == DONE) continue;
    if (!line) line = threads[n].line;
    if (threads[n].line != line) {
      problem = "`" + kernel->name + "`: threads of block " + triple(blockIdx) + " wait at different barriers, in lines " +
                std::to_string(line) + " and " + std::to_string(threads[n].line);
      return false;
    }
    threads[n].state = READY;
  }
  barriers++;
  return true;
}

bool run_block() {
  barriers = 0;
  ++block_number;
  std::memset(kernel->shared_start, UNWRITTEN, kernel->shared_end - kernel->shared_start);
  for (unsigned n = 0; n < count; ++n) {
    threads[n].state = READY;
    threads[n].turns.clear();
    threads[n].index = {n % blockDim.x, n / blockDim.x % blockDim.y, n / blockDim.x / blockDim.y};
  }
  for (Warp &warp : warps) warp.arrived = warp.generation = warp.barriers = 0;
  for (;;) {
    bool ran = false, left = false;
    for (unsigned n = 0; n < count; ++n) {
      if (threads[n].state == READY) {
        ran = true;
        if (!run(n)) {
          for (Thread &thread : threads) thread.begun = false;
          return false;
        }
      }
      left = left || threads[n].state != DONE;
    }
    if (!left) return true;
    if (!ran && !go_on()) {
      for (Thread &thread : threads) thread.begun = false;
      return false;
    }
  }
}

void wait_for_warp(std::uint32_t mask, int line) {
  Thread &me = threads[current];
  unsigned warp = current / WARP, lane = current % WARP;
  Warp &here = warps[warp];
  if (!(mask >> lane & 1)) fail(whom() + " takes part in line " + std::to_string(line) + ", and is not in the mask");
  if (here.arrived && here.line != line) {
    fail("threads of a warp, one of them " + whom() + ", meet in lines " + std::to_string(here.line) + " and " + std::to_string(line));
  }
  here.line = line;
  here.arrived |= 1u << lane;
  me.state = AT_WARP;
  me.line = line;
  if ((here.arrived & mask) == (alive(warp) & mask)) release(warp);
  else give_way();
}

// -- what is wrong with an access

std::uint32_t me() { return (block_number - 1) * BLOCK + current + 1; }

bool ordered(std::uint32_t other, std::uint32_t block, std::uint32_t warp) {
  std::uint32_t other_block = (other - 1) / BLOCK, other_thread = (other - 1) % BLOCK;
  if (other_block != block_number - 1) return false;
  if (block != barriers) return true;
  return other_thread / WARP == current / WARP && warp != warps[current / WARP].barriers;
}

// The parameter that points into a piece of memory.
std::string parameter(const Memory &memory) {
  for (unsigned n = 0; n < kernel->facts->parameters; ++n) {
    if (!*kernel->facts->names[n]) continue;  // a number
    Address at = reinterpret_cast<Address>(rx_here(*static_cast<void **>(arguments[n])));
    if (at >= memory.start && at < std::max(memory.end, memory.start + 1)) return kernel->facts->names[n];
  }
  return "";
}

std::string named(const Memory &memory) {
  if (&memory == &shared_memory) return "shared memory";
  std::string name = parameter(memory), size = std::to_string(memory.end - memory.start) + " bytes";
  return name.empty() ? "a tensor of " + size : "`" + name + "`, which has " + size;
}

void conflict(const Memory &memory, Address at, bool writes, bool wrote, std::uint32_t other) {
  std::string who = other == MANY ? "others" : "thread number " + std::to_string((other - 1) % BLOCK);
  if (other != MANY && (other - 1) / BLOCK != block_number - 1) who += " of another block";
  fail(whom() + (writes ? " writes" : " reads") + " byte " + std::to_string(at - memory.start) + " of " + named(memory) +
       ", which " + who + (wrote ? " wrote" : " read") + " without a barrier between");
}

void touch(Memory &memory, Address at, std::size_t size, bool writes, bool atomic) {
  if (memory.bytes.empty()) memory.bytes.resize(memory.end - memory.start);
  std::uint32_t self = me(), warp_barriers = warps[current / WARP].barriers;
  for (std::size_t n = 0; n < size; ++n) {
    Touched &byte = memory.bytes[at + n - memory.start];
    // A block's shared memory is no other's, and a launch sees all that the ones before it did.
    bool fresh = &memory == &shared_memory;
    std::uint32_t now = fresh ? block_number : launch_number;
    bool written = byte.writer && byte.wrote_launch == now, was_read = byte.reader && byte.read_launch == now;
    if (written && byte.writer != self && !(atomic && byte.atomic) && !ordered(byte.writer, byte.wrote_block, byte.wrote_warp))
      conflict(memory, at + n, writes, true, byte.writer);
    if (writes && was_read && byte.reader != self && byte.read_block == barriers &&
        (byte.reader == MANY || !ordered(byte.reader, byte.read_block, byte.read_warp)))
      conflict(memory, at + n, true, false, byte.reader);
    if (writes) {
      byte.writer = self;
      byte.wrote_block = barriers;
      byte.wrote_warp = warp_barriers;
      byte.wrote_launch = now;
      byte.atomic = atomic;
    } else {
      bool other = was_read && byte.reader != self && byte.read_block == barriers && byte.read_warp == warp_barriers;
      byte.reader = other ? MANY : self;
      byte.read_block = barriers;
      byte.read_warp = warp_barriers;
      byte.read_launch = now;
    }
  }
}

void count_access(const Memory &memory, Address at, std::size_t size, bool writes, const void *place) {
  bool shared = &memory == &shared_memory;
  std::uint64_t turn = threads[current].turns[place]++;
  Asked &asked = requests[{place, turn, (block_number - 1) * (BLOCK / WARP) + current / WARP}];
  if (asked.array.empty()) {
    asked.array = shared ? "shared" : parameter(memory);
    asked.shared = shared;
    asked.writes = writes;
  }
  asked.lanes++;
  Address unit = shared ? 4 : 32;
  for (Address part = at / unit; part <= (at + size - 1) / unit; ++part) asked.units.push_back(part);
}

void seen(Address at, std::size_t size, bool writes, bool aligned, bool atomic, const void *place) {
  if (!running) return;
  const Thread &thread = threads[current];
  Address stack = reinterpret_cast<Address>(thread.stack);
  if (at >= stack && at < stack + STACK) return;
  Memory *memory = at >= shared_memory.start && at < shared_memory.end ? &shared_memory : memory_of(at);
  if (memory && at + size > memory->end) memory = nullptr;
  if (!memory) {
    auto next = memories.upper_bound(at);
    std::string where = "outside of every tensor";
    if (next != memories.begin()) {
      const Memory &before = std::prev(next)->second;
      if (at - before.start < 1 << 24) {
        where = "at byte " + std::to_string(at - before.start) + " of " + named(before);
      }
    }
    fail(whom() + (writes ? " writes " : " reads ") + std::to_string(size) + " bytes " + where);
  }
  if (aligned && at % size) {
    fail(whom() + (writes ? " writes " : " reads ") + std::to_string(size) + " bytes at an address that is no multiple of it");
  }
  touch(*memory, at, size, writes, atomic);
  if (settings.counts) count_access(*memory, at, size, writes, place);
}

// -- what is told

std::uint64_t turns_of(const std::vector<Address> &words) {
  std::uint64_t banks[WARP] = {}, most = 0;
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (n && words[n] == words[n - 1]) continue;
    most = std::max(most, ++banks[words[n] % WARP]);
  }
  return most;
}

void sum_up() {
  totals.clear();
  for (auto &[key, asked] : requests) {
    std::sort(asked.units.begin(), asked.units.end());
    Access &sum = totals[asked.array + (asked.writes ? " write" : " read")];
    sum.requests++;
    sum.lanes += asked.lanes;
    sum.units += asked.shared ? turns_of(asked.units)
                              : std::unique(asked.units.begin(), asked.units.end()) - asked.units.begin();
  }
  requests.clear();
}

void tell(const rx_dim &grid, const rx_dim &block, std::size_t shared) {
  report += kernel->name + " " + triple(grid) + " " + triple(block) + " " + std::to_string(shared) + "\n";
  if (!settings.counts) return;
  sum_up();
  for (auto &[name, sum] : totals) {
    report += "  " + name + " " + std::to_string(sum.requests) + " " + std::to_string(sum.lanes) + " " + std::to_string(sum.units) + "\n";
  }
}

bool fits(const rx_dim &grid, const rx_dim &block, std::size_t dynamic) {
  problem.clear();
  std::uint64_t size = std::uint64_t(block.x) * block.y * block.z;
  std::string name = "`" + kernel->name + "`: ";
  if (!size || !grid.x || !grid.y || !grid.z) problem = name + "a grid " + triple(grid) + " of blocks " + triple(block) + " has no threads";
  else if (size > BLOCK || block.x > BLOCK || block.y > BLOCK || block.z > 64) problem = name + "a block " + triple(block) + " is too large";
  else if (kernel->facts->threads && size > kernel->facts->threads) problem = name + "a block " + triple(block) + " has more threads than the " + std::to_string(kernel->facts->threads) + " that the kernel says";
  else if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) problem = name + "a grid " + triple(grid) + " is too large";
  else if (kernel->facts->shared > STATIC_SHARED) problem = name + std::to_string(kernel->facts->shared) + " bytes of shared memory are more than 48 KB";
  else if (dynamic > STATIC_SHARED && dynamic > kernel->dynamic) problem = name + std::to_string(dynamic) + " bytes of dynamic shared memory were not asked for";
  return problem.empty();
}

int launched(const rx_dim &grid, const rx_dim &block, std::size_t dynamic, Function *function, void **args) {
  kernel = function;
  arguments = args;
  if (!fits(grid, block, dynamic)) return 1;
  gridDim = grid;
  blockDim = block;
  count = block.x * block.y * block.z;
  shared_memory = {reinterpret_cast<Address>(kernel->shared_start), reinterpret_cast<Address>(kernel->shared_end), {}};
  ++launch_number;
  block_number = 0;
  requests.clear();
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        running = true;
        bool done = run_block();
        running = false;
        if (!done) return 719;
      }
    }
  }
  tell(grid, block, kernel->facts->shared + dynamic);
  return 0;
}

int copied(void *to, const void *from, std::size_t size, int kind) {
  auto a = reinterpret_cast<Address>(to), b = reinterpret_cast<Address>(from);
  if (kind == 1 || kind == 3) a -= AWAY;
  if (kind == 2 || kind == 3) b -= AWAY;
  for (auto [at, there] : {std::pair(a, kind == 1 || kind == 3), std::pair(b, kind == 2 || kind == 3)}) {
    if (!there || !size) continue;
    const Memory *memory = memory_of(at);
    if (!memory || at + size > memory->end) {
      problem = "a copy of " + std::to_string(size) + " bytes is not within one piece of the device's memory";
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

rx_dim threadIdx, blockIdx, blockDim, gridDim;

// -- for Python

void rx_settings(int present, int major, int minor, int counts) { settings = {present, major, minor, counts}; }
const char *rx_report() { return report.c_str(); }
void rx_forget() { report.clear(); }
const char *rx_problem() { return problem.c_str(); }

// -- for kernels

void rx_barrier(int line) {
  threads[current].state = AT_BARRIER;
  threads[current].line = line;
  give_way();
}

void rx_warp(std::uint32_t mask, int line) { wait_for_warp(mask, line); }

std::uint32_t rx_active() { return alive(current / WARP); }

std::uint64_t rx_exchange(std::uint32_t mask, std::uint64_t value, unsigned source, int line) {
  Warp &warp = warps[current / WARP];
  std::uint32_t turn = warp.generation % 2;
  if (!warp.arrived) std::memset(warp.slots[turn], UNWRITTEN, sizeof warp.slots[turn]);
  warp.slots[turn][current % WARP] = value;
  wait_for_warp(mask, line);
  return warp.slots[turn][source % WARP];
}

void rx_atomic(void *at, std::size_t size) {
  seen(reinterpret_cast<Address>(at), size, true, true, true, __builtin_return_address(0));
}

void *rx_here(void *device) { return device ? static_cast<char *>(device) - AWAY : nullptr; }

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
  problem = "the code was not made for the emulated GPU";
  if (std::strncmp(text, mark, std::strlen(mark))) return 200;
  *module = dlopen(text + std::strlen(mark), RTLD_NOW | RTLD_LOCAL);
  if (*module) return 0;
  problem = dlerror();
  return 200;
}
int cuModuleUnload(void *) { return 0; }

int cuModuleGetFunction(Function **made, void *module, const char *name) {
  auto find = [&](const char *prefix) { return dlsym(module, (std::string(prefix) + name).c_str()); };
  auto run = reinterpret_cast<void (*)(void **)>(find("rx_run_"));
  auto facts = static_cast<const rx_facts *>(find("rx_facts_"));
  problem = "there is no kernel `" + std::string(name) + "`";
  if (!run || !facts) return 500;
  auto shared = reinterpret_cast<void (*)(char **, char **)>(dlsym(module, "rx_shared_range"));
  char *start, *end;
  shared(&start, &end);
  *made = new Function{name, run, facts, 0, start, end};
  return 0;
}

int cuFuncSetAttribute(Function *function, int which, int value) {
  problem = "so much shared memory cannot be had";
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

int cudaMalloc(void **made, std::size_t size) {
  problem = "there is no memory for " + std::to_string(size) + " bytes";
  char *here = static_cast<char *>(size > std::size_t(1) << 34 ? nullptr : std::aligned_alloc(256, (size + 511) / 256 * 256));
  if (!here) return 2;
  std::memset(here, UNWRITTEN, size);
  Address at = reinterpret_cast<Address>(here);
  memories[at] = {at, at + size, {}};
  *made = here + AWAY;
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
int cudaMallocHost(void **made, std::size_t size) { return *made = std::malloc(size ? size : 1), *made ? 0 : 2; }
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

// -- what a compiler calls before each access of a kernel

#define RX_SEEN(name, size, writes, aligned)                                                                 \
  void __tsan_##name(void *at) {                                                                             \
    seen(reinterpret_cast<Address>(at), size, writes, aligned, false, __builtin_return_address(0));           \
  }
#define RX_SIZE(size)                          \
  RX_SEEN(read##size, size, false, true)       \
  RX_SEEN(write##size, size, true, true)       \
  RX_SEEN(volatile_read##size, size, false, true) \
  RX_SEEN(volatile_write##size, size, true, true)
#define RX_LOOSE(size)                            \
  RX_SEEN(unaligned_read##size, size, false, false) \
  RX_SEEN(unaligned_write##size, size, true, false)
RX_SIZE(1) RX_SIZE(2) RX_SIZE(4) RX_SIZE(8) RX_SIZE(16)
RX_LOOSE(2) RX_LOOSE(4) RX_LOOSE(8) RX_LOOSE(16)
void __tsan_read_range(void *at, std::size_t size) {
  seen(reinterpret_cast<Address>(at), size, false, false, false, __builtin_return_address(0));
}
void __tsan_write_range(void *at, std::size_t size) {
  seen(reinterpret_cast<Address>(at), size, true, false, false, __builtin_return_address(0));
}
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
}
