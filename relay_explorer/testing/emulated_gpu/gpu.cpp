// An emulated GPU, which runs all its threads as coroutines in one host thread: it launches kernels, and implements the
// functions that they call (kernel.h). Each thread of a block has its own stack, and yields when it waits.
//
// The emulator observes every memory access: kernels are compiled with -fsanitize=thread, which inserts a call before
// each access. These calls go to the functions at the end of this file instead of the sanitizer's.
#include "device.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::size_t STACK = 256 << 10;

// -- statistics of a launch

struct Access {  // all reads or all writes of one array
  std::uint64_t requests = 0, lanes = 0, units = 0;
};
struct Request {  // of a warp: the n-th execution of one instruction (`place`) by its threads
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
  std::vector<Address> units;  // sectors of 32 bytes, or words of shared memory
};

std::map<Request, Asked> requests;
std::map<std::string, Access> totals;

// -- memory

constexpr std::uint32_t MANY = ~0u;

Memory shared_memory{0, 0, {}};

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

// Runs a thread until it waits or ends. Returns false if it failed.
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
      for (Thread &thread : threads) thread.begun = false;  // unfinished threads are never resumed
      return false;
  }
}

std::uint32_t alive(unsigned warp) {
  std::uint32_t mask = 0;
  for (unsigned lane = 0; lane < WARP; ++lane) {
    unsigned number = warp * WARP + lane;
    if (number < count && threads[number].state != DONE) mask |= 1u << lane;
  }
  return mask;
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

// Called when no thread can run. Opens a warp's barrier, because its other threads wait elsewhere and so are not
// active, or else the block's barrier, if all threads that have not ended wait at it.
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
  if (!(mask >> lane & 1)) fail(whom() + " calls a warp function in line " + std::to_string(line) + ", but is not in the mask");
  if (here.arrived && here.line != line) {
    fail("threads of a warp, one of them " + whom() + ", wait in different lines, " + std::to_string(here.line) + " and " + std::to_string(line));
  }
  here.line = line;
  here.arrived |= 1u << lane;
  me.state = AT_WARP;
  me.line = line;
  if ((here.arrived & mask) == (alive(warp) & mask)) release(warp);
  else give_way();
}

// -- checks of accesses

std::uint32_t me() { return (block_number - 1) * BLOCK + current + 1; }

bool ordered(std::uint32_t other, std::uint32_t block, std::uint32_t warp) {
  std::uint32_t other_block = (other - 1) / BLOCK, other_thread = (other - 1) % BLOCK;
  if (other_block != block_number - 1) return false;
  if (block != barriers) return true;
  return other_thread / WARP == current / WARP && warp != warps[current / WARP].barriers;
}

// The name of the parameter that points into an allocation.
std::string parameter(const Memory &memory) {
  for (unsigned n = 0; n < kernel->facts->parameters; ++n) {
    if (!*kernel->facts->names[n]) continue;  // a scalar
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
    // Shared memory belongs to one block, and a launch sees all writes of the launches before it.
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
    fail(whom() + (writes ? " writes " : " reads ") + std::to_string(size) + " bytes at an address that is not a multiple of it");
  }
  touch(*memory, at, size, writes, atomic);
  if (settings.counts) count_access(*memory, at, size, writes, place);
}

// -- the report

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
  else if (kernel->facts->threads && size > kernel->facts->threads) problem = name + "a block " + triple(block) + " has more threads than the " + std::to_string(kernel->facts->threads) + " of its launch bound";
  else if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) problem = name + "a grid " + triple(grid) + " is too large";
  else if (kernel->facts->shared > STATIC_SHARED) problem = name + std::to_string(kernel->facts->shared) + " bytes of shared memory exceed 48 KB";
  else if (dynamic > STATIC_SHARED && dynamic > kernel->dynamic) problem = name + std::to_string(dynamic) + " bytes of dynamic shared memory exceed the kernel's limit";
  return problem.empty();
}

}  // namespace

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

extern "C" {

rx_dim threadIdx, blockIdx, blockDim, gridDim;

// -- called by kernels

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

// -- called before each access of a kernel, by code that the compiler inserts

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
