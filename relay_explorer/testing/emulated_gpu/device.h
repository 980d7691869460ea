// The memory and the settings of the emulated GPU, which its two parts share. gpu.cpp runs kernels; libraries.cpp
// implements the functions of NVIDIA's libraries that TVM's runtime calls.
//
// A device address is the host address plus AWAY, so that a host program that dereferences one faults.
#pragma once
#define RX_GPU
#include "gpu.h"

#include <map>
#include <string>
#include <vector>

using Address = std::uintptr_t;
constexpr Address AWAY = Address(1) << 46;
constexpr unsigned WARP = 32, BLOCK = 1024, STATIC_SHARED = 48 << 10;
constexpr unsigned char UNWRITTEN = 0xff;  // fills uninitialized memory: NaN as a float, -1 as an int

struct Settings {
  int present = 0, major = 8, minor = 0, counts = 0;
};
extern Settings settings;
extern std::string problem, report;  // the message of the last error; the launches, as text

struct Touched {  // the last write and the last read of a byte
  std::uint32_t writer = 0, reader = 0;          // the thread's number in the grid + 1, or MANY
  std::uint32_t wrote_block = 0, read_block = 0;  // the number of barriers that the block had passed
  std::uint32_t wrote_warp = 0, read_warp = 0;    // the number that the warp had passed
  std::uint32_t wrote_launch = 0, read_launch = 0;
  bool atomic = false;
};
struct Memory {
  Address start, end;
  std::vector<Touched> bytes;  // allocated when a kernel first accesses the memory
};
extern std::map<Address, Memory> memories;  // by start address
Memory *memory_of(Address at);  // the allocation that contains an address, or NULL

struct Function {
  std::string name;
  void (*run)(void **);
  const rx_facts *facts;
  unsigned dynamic = 0;
  char *shared_start, *shared_end;
};

// Runs a kernel. Returns 0, or an error code, and describes the error in `problem`.
int launched(const rx_dim &grid, const rx_dim &block, std::size_t dynamic, Function *function, void **args);
